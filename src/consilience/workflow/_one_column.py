"""Groups that are no more than the values of one column, such as a sex of 0 and 1.

A column of few values is a row of sharp groups by itself: beside measurements it wins, and the
groups look clear. That is no mistake, but hardly what anybody looked for.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import plural
from consilience.errors import warn
from consilience.metrics import consistency_index
from consilience.workflow._data import Data

__all__ = ["the_one_column", "warn_of_divided", "warn_of_one_column"]

_NEARLY = 0.99
# Columns of more values are measurements.
_MOST_VALUES = 20
# Objects that tell whether a column is worth a whole look.
_SOME = 1000


def the_one_column(data: Data, labels: NDArray[np.integer]) -> tuple[str, float] | None:
    """The column whose values the groups are, and the share of the objects where they agree.

    None where there is no such column, or it is the only one.
    """
    X, names = data.original, data.sources or data.original_columns
    if not isinstance(X, np.ndarray) or labels.max() < 1:
        return None
    columns: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        columns.setdefault(name, []).append(j)
    if len(columns) < 2:
        return None
    some = slice(None, None, max(1, len(X) // _SOME))
    for name, at in columns.items():
        if len(at) > _MOST_VALUES or _agreement(X[some, at], labels[some]) < _NEARLY - 0.02:
            continue
        share = _agreement(X[:, at], labels)
        if share >= _NEARLY:
            return name, share
    return None


def warn_of_divided(data: Data, labels: NDArray[np.integer]) -> None:
    """Say so where there are more clusters than different rows: then equal objects were divided."""
    X, k = data.X, int(labels.max()) + 1
    if not isinstance(X, np.ndarray) or k < 2:
        return
    some = np.unique(X[: max(_SOME, 2 * k)], axis=0)  # nearly always enough
    if len(some) < k and len(np.unique(X, axis=0)) < k:
        n = len(np.unique(X, axis=0))
        warn(
            f"There are only {plural(n, 'different row')}, and {k} clusters: equal objects were "
            f"divided between clusters by chance. Ask for at most {n}."
        )


def _agreement(values: NDArray[Any], labels: NDArray[np.integer]) -> float:
    """Share of the objects in the group that is matched to their value; 0 of many values."""
    rows = values[:, 0] if values.shape[1] == 1 else values
    distinct, codes = np.unique(rows, axis=0, return_inverse=True)
    if not 2 <= len(distinct) <= _MOST_VALUES:
        return 0.0
    return float(consistency_index(codes.ravel(), labels))


def warn_of_one_column(data: Data, labels: NDArray[np.integer]) -> None:
    """Say so where the groups are the values of one column."""
    match = the_one_column(data, labels)
    if match is not None:
        name, share = match
        warn(
            f"The groups are the values of column {name!r} ({share:.1%} of the objects): a column "
            "of few values makes groups by itself. Leave it out (--ignore) to see what the other "
            "columns say."
        )
