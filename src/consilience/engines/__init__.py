"""The few passes over rows that must run where the rows are; chosen by the kind of rows."""

from consilience.engines._choice import engine_for
from consilience.engines._engine import Engine

__all__ = ["Engine", "engine_for"]
