"""The nearest few of many representatives for every object, without looking at all of them.

Representatives lie in groups. An object looks for its nearest group, in there for its nearest
representative, and then only among the neighbours of that one. Distances are sums of squared
differences in the order of the features: a result depends on nothing but its own object.
"""

import numpy as np
from numba import njit

__all__ = ["nearest_representatives"]

# Features added up before a distance is given up as too large.
_CHUNK = 16


@njit(cache=True, nogil=True)
def _squared_distance(x, y, bound):
    """Squared distance, or a part of it above ``bound`` if it exceeds that."""
    total = 0.0
    d = x.shape[0]
    for start in range(0, d, _CHUNK):
        for f in range(start, min(start + _CHUNK, d)):
            gap = x[f] - y[f]
            total += gap * gap
        if total > bound:
            break
    return total


@njit(cache=True, nogil=True)
def _nearest(x, points, start, stop):
    """The point in [start, stop) nearest to x, the first on ties."""
    best, least = start, np.inf
    for p in range(start, stop):
        value = _squared_distance(x, points[p], least)
        if value < least:
            best, least = p, value
    return best


@njit(cache=True, nogil=True)
def nearest_representatives(X, centres, heads, points, near, which, squares):
    """Fill ``which`` and ``squares`` with the representatives found for each object of X.

    Parameters
    ----------
    X : (n, d) floats
    centres : (n_groups, d) float64
        Centres of the groups.
    heads : (n_groups + 1,) integers
        First representative of each group, and their number last; no group is empty.
    points : (p, d) float64
        Representatives, group after group.
    near : (p, m) integers
        Candidates of each representative, nearest first, itself among them.
    which : (n, K) integers, K <= m
        The K nearest candidates of the nearest representative in the nearest group, nearest
        first; on ties the candidate that comes first.
    squares : (n, K) float64
        Their squared distances.
    """
    K = which.shape[1]
    for i in range(X.shape[0]):
        x = X[i]
        group = _nearest(x, centres, 0, centres.shape[0])
        home = _nearest(x, points, heads[group], heads[group + 1])
        row, values = which[i], squares[i]
        values[:] = np.inf
        for c in range(near.shape[1]):
            p = near[home, c]
            value = _squared_distance(x, points[p], values[K - 1])
            if value >= values[K - 1]:
                continue
            at = K - 1
            while at > 0 and values[at - 1] > value:
                values[at], row[at] = values[at - 1], row[at - 1]
                at -= 1
            values[at], row[at] = value, p
