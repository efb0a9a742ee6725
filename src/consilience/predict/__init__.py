"""New objects: where members place them, which group that is nearest to, and what is unlike all."""

from consilience.predict._learn import learn
from consilience.predict._placer import Placer, placed
from consilience.predict._prediction import Prediction

__all__ = ["Placer", "Prediction", "learn", "placed"]
