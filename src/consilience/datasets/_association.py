"""How much a category says of other columns: what makes groups shows in more than one column.

Numbers have places where objects are dense; a category has none of its own. A column of categories
is worth as much as it is associated with other columns: one that hangs together with nothing only
adds the same distance between any two objects.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

__all__ = ["LEAST_WEIGHT", "association_weights"]

Floats = NDArray[np.float64]

#: Of a category that hangs together with nothing: it may be the only one that knows.
LEAST_WEIGHT = 0.1
# Numbers are looked at in so many bins of equal count.
_BINS = 6
# Objects that are enough to see an association.
_ENOUGH = 5_000
_LEVEL = 0.05


def association_weights(table: Floats, categorical: Sequence[int]) -> Floats:
    """A weight for each column: 1 of numbers, of categories by what they say of other columns.

    Parameters
    ----------
    table : ndarray of shape (n_objects, n_columns)
        Numbers, and places of categories; NaN where nothing is known.
    categorical : sequence of int
        Columns that hold places of categories.

    Returns
    -------
    ndarray of shape (n_columns,)
        In [0.1, 1]: the root of the sum of squared Cramér's V (less what chance gives; Bergsma
        2013) over the other columns with which the association is significant (5 %, Bonferroni
        over these columns), relative to the largest. The first 5,000 objects of a fixed draw are
        looked at.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(3, size=200)
    >>> table = np.column_stack([group + rng.normal(0, 0.2, 200), group, rng.integers(3, size=200)])
    >>> association_weights(table, [1, 2])
    array([1. , 1. , 0.1])
    """
    weights = np.ones(table.shape[1])
    if not len(categorical):
        return weights
    n = len(table)
    some = table
    if n > _ENOUGH:
        some = table[np.sort(np.random.default_rng(0).permutation(n)[:_ENOUGH])]
    is_category = np.zeros(table.shape[1], bool)
    is_category[list(categorical)] = True
    codes = [_codes(column, kind) for column, kind in zip(some.T, is_category, strict=True)]
    level = _LEVEL / max(len(codes) - 1, 1)
    squared = np.zeros((len(codes), len(codes)))
    for i in np.flatnonzero(is_category).tolist():
        for j in range(len(codes)):
            if j < i or not is_category[j]:
                squared[i, j] = squared[j, i] = _squared_association(codes[i], codes[j], level)
    own = np.sqrt(squared.sum(axis=1))[is_category]
    largest = float(own.max())
    weights[is_category] = np.maximum(own / largest if largest > 0 else 0.0, LEAST_WEIGHT)
    return weights


def _codes(column: Floats, is_category: bool) -> NDArray[np.int64]:
    """Categories, or bins of equal count; -1 where nothing is known."""
    known = np.isfinite(column)
    codes = np.full(len(column), -1, np.int64)
    if not known.any():
        return codes
    values: NDArray[Any] = column[known]
    if not is_category:
        edges = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
        values = np.searchsorted(edges, values, side="right")
    codes[known] = np.unique(values, return_inverse=True)[1]
    return codes


def _squared_association(one: Any, other: Any, level: float) -> float:
    """Squared Cramér's V less what chance gives; 0 where chance may have given all of it."""
    known = (one >= 0) & (other >= 0)
    n = int(known.sum())
    if not n:
        return 0.0
    width = int(other.max()) + 1
    cells = one[known] * width + other[known]
    counts = np.bincount(cells, minlength=(int(one.max()) + 1) * width).reshape(-1, width)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if not freedom:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    statistic = float(((counts - expected) ** 2 / expected).sum())
    if gammaincc(freedom / 2, statistic / 2) >= level:
        return 0.0
    excess = statistic / n - freedom / (n - 1)
    return max(excess, 0.0) / (min(counts.shape) - 1)
