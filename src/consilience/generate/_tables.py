"""Tables that are not in memory, in the units that members are made in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._units import squarable
from consilience.engines import engine_for
from consilience.rows import Stored

__all__ = ["squarable_table"]


def squarable_table(table: Stored) -> tuple[Stored, int]:
    """As `consilience._units.squarable`: one pass for the largest value."""
    facts = engine_for(table).column_facts()
    ends = np.array([facts.low.min(), facts.high.max()], table.dtype)
    power = squarable(ends)[1]
    return (table if not power else table.mapped(_Shifted(-power), dtype=table.dtype)), power


class _Shifted:
    """Numbers times a power of two."""

    def __init__(self, power: int) -> None:
        self.power = power

    def __call__(self, block: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.ldexp(block, self.power))
