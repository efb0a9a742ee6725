"""Numbers as a page wants them: short, finite or null, counted in words.

>>> rounded([1 / 3, float("nan"), 250.0])
[0.333, None, 250.0]
>>> counted(1, "object"), counted(12_000, "object"), percent(1, 40)
('1 object', '12,000 objects', '2.5 %')
"""

import math
from typing import Any

import numpy as np

__all__ = ["counted", "finite", "in_range", "percent", "rounded"]


def rounded(values: Any, decimals: int = 3) -> list[float | None]:
    """Numbers rounded to so many decimals; what is not finite becomes null."""
    flat = np.asarray(values, np.float64).ravel().tolist()
    # Plus zero turns -0.0, which would be printed with its sign, into 0.0.
    return [round(value, decimals) + 0.0 if math.isfinite(value) else None for value in flat]


def in_range(values: Any, digits: int = 4) -> list[float | None]:
    """Numbers rounded to so many digits of their range: what a picture can show of them.

    >>> in_range([100000.12345, 100000.56789])
    [100000.1234, 100000.5679]
    """
    array = np.asarray(values, np.float64).ravel()
    known = array[np.isfinite(array)]
    if not known.size:
        return [None] * len(array)
    reach = float(known.max()) - float(known.min())
    if not (math.isfinite(reach) and reach > 0):
        reach = float(np.abs(known).max()) or 1.0
    decimals = digits - 1 - math.floor(math.log10(reach))
    return rounded(array, decimals)


def finite(value: Any, digits: int = 4) -> float | None:
    """One number with so many significant digits, or null."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def counted(n: int, noun: str) -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def percent(part: float, whole: float) -> str:
    """A share in words: no more digits than it deserves, and never 0 % or 100 % by rounding."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "under 0.1 %"
    if 99.9 < share < 100:
        return "over 99.9 %"
    return f"{share:.1f}".removesuffix(".0") + " %"
