"""How much a column matters for the grouping as a whole, on one scale for all kinds.

It is the share of the column's variance that lies between the groups, on a scale from what chance
alone gives (0) to what groups that nowhere overlap would have (1). Of numbers it is the share of
the variance of their ranks (as of Kruskal and Wallis); of categories Cramér's V squared with
Bergsma's correction. On columns of 0 and 1 and two groups the two are the same number, where the
ones can be one of the groups.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["category_importance", "share_explained", "without_chance"]

Floats = NDArray[np.float64]


def without_chance(
    explained: Floats,
    n: NDArray[np.integer],
    n_groups: NDArray[np.integer],
    attainable: Floats | float = 1.0,
) -> Floats:
    """Shares of variance from 0, what so many groups explain by chance, to 1, all they could.

    NaN where every object is a group of its own, or nothing varies.

    >>> without_chance(np.array([0.5, 0.8]), np.array([11]), np.array([3]), 0.8).round(9).tolist()
    [0.5, 1.0]
    """
    n, n_groups = np.asarray(n, np.float64), np.asarray(n_groups, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = (n_groups - 1) / (n - 1)
        share = (explained - chance) / (attainable - chance)
    sensible = (n > n_groups) & (n_groups > 1) & (np.asarray(attainable) > chance)
    return np.where(sensible & ~np.isnan(explained), np.clip(share, 0.0, 1.0), np.nan)


def share_explained(counts: NDArray[np.integer], sizes: NDArray[np.integer]) -> Floats:
    """Share of the variance of 0 and 1 between groups; from the ones and sizes of each group.

    ``counts`` is (n_groups, n_columns). NaN where all are 0 or all are 1.
    """
    objects = sizes.astype(np.float64)[:, None]
    n = objects.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = counts.sum(axis=0) / n
        between = np.sum(
            np.where(objects > 0, objects * (counts / objects - mean) ** 2, 0.0), axis=0
        )
        return np.asarray(between / (n * mean * (1 - mean)))


def category_importance(counts: NDArray[np.integer]) -> float:
    """Cramér's V squared of groups x categories, with Bergsma's correction; NaN of a constant.

    References
    ----------
    Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean
    Statistical Society 42.

    Examples
    --------
    >>> round(category_importance(np.array([[10, 0, 0], [0, 10, 0], [0, 0, 10]])), 6)
    1.0
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    n = table.sum()
    k, levels = table.shape
    if k < 2 or levels < 2 or n < 3:
        return float("nan")
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / n
    phi = float(np.sum((table - expected) ** 2 / expected)) / n
    phi = max(0.0, phi - (k - 1) * (levels - 1) / (n - 1))
    narrow = min(k - (k - 1) ** 2 / (n - 1), levels - (levels - 1) ** 2 / (n - 1)) - 1
    return float(min(phi / narrow, 1.0)) if narrow > 0 else float("nan")
