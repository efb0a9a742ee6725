"""Numbers that may stand for "not known": 0 where nothing comes near it, -1, 99, -999.

They cannot be told from values for sure, so nothing is done about them but to say so: objects
that share a code look alike, and make groups of their own.
"""

from collections.abc import Iterable

import numpy as np

from consilience._words import listed, plural
from consilience.datasets._columns import Columns, Floats

__all__ = ["missing_code", "note_codes"]

# Columns with fewer other values are grades and kinds.
_FEWEST_VALUES = 10
# Of more rows a share is enough to see how far apart values are.
_ENOUGH = 10_000
_FEWEST_ZEROS, _MOST_ZEROS = 3, 0.6


def missing_code(values: Floats) -> float | None:
    """The lowest or highest value of a column if it may be a code for missing ones, else None.

    It is 0, -1, or a number of nines, and stands far off the others: by more than three times
    what lies between the values next to it, and half a standard deviation of the others. A
    negative one among numbers from 0 on need not be far off; -1 counts among such only.

    >>> pressure = np.array([0, 0, 0, *range(60, 90)], float)
    >>> missing_code(pressure), missing_code(pressure[3:])
    (0.0, None)
    """
    ends = [float(values.min()), float(values.max())]
    if len(values) > _ENOUGH:
        values = np.concatenate([ends, values[:: len(values) // _ENOUGH]])
    return next((end for end in ends if _is_code(end) and _stands_off(end, values)), None)


def _is_code(value: float) -> bool:
    """Whether people write such a number for a value that they do not have."""
    return value in (0.0, -1.0) or (value % 1 == 0 and set(f"{abs(value):.0f}") == {"9"})


def _stands_off(code: float, values: Floats) -> bool:
    others = np.unique(values[values != code])
    if len(others) < _FEWEST_VALUES:
        return False
    count = int((values == code).sum())
    if code == 0 and not _FEWEST_ZEROS <= count <= _MOST_ZEROS * len(values):
        return False
    if code < 0 <= others[0]:
        return True
    if code == -1:  # the end of a scale from -1 to 1
        return False
    away = np.sort(np.abs(others - code))[:_FEWEST_VALUES]
    spread = float(values[values != code].std())
    return bool(away[0] > 3 * np.median(np.diff(away)) and away[0] > spread / 2)


def note_codes(columns: Columns, features: Iterable[tuple[str, Floats]]) -> None:
    """Note columns of numbers that seem to hold codes for missing values beside any gaps."""
    said = []
    for name, column in features:
        known = np.isfinite(column)
        values = column if known.all() else column[known]
        code = missing_code(values)
        if code is not None:
            rest = values[values != code]
            rows = plural(int((values == code).sum()), "row")
            said.append(
                f"{name!r} is {code:g} in {rows} and else {rest.min():.6g} to {rest.max():.6g}"
            )
    if columns.whole:  # of a frame
        remedy = "set those cells to missing and say gaps='keep', or leave the columns out."
    else:
        remedy = (
            "empty those cells and say impute='median' or 'drop-rows' (--impute), or leave the "
            "columns out with ignore (--ignore)."
        )
    if said:
        columns.notes.append(
            f"Numbers in {columns.source.name!r} may be codes for missing values: "
            f"{listed(said, most=8)}. They are clustered as they are, and objects that share "
            f"one look alike. If they are codes, {remedy}"
        )
