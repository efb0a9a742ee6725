"""The few passes over rows that must run where the rows are; chosen by the kind of rows."""

from consilience.engines._choice import engine_for
from consilience.engines._engine import Engine
from consilience.engines._pieces import label_room, watched
from consilience.engines._staying import labels_stay
from consilience.engines.blocks import Blocks
from consilience.engines.dask import releasing, workers_at

__all__ = [
    "Blocks",
    "Engine",
    "engine_for",
    "label_room",
    "labels_stay",
    "releasing",
    "watched",
    "workers_at",
]
