"""The nearest few of many representatives for every object, without looking at all of them.

Representatives lie in groups. An object looks for its nearest group, in there for its nearest
representative, its *home*, and then only among the neighbours of that one. Objects with the
same home share one table of candidates. Points are stored feature-major, so that loops over
points vectorise; a distance is the sum of squared differences in the order of the features,
and depends on nothing but its object and its point.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["nearest_representatives"]

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]


def nearest_representatives(
    X: Floats, centres: Floats, heads: Integers, points: Floats, near: Integers, n_nearest: int
) -> tuple[NDArray[np.int32], Floats]:
    """Representatives near each object and their squared distances, nearest first.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
        Objects.
    centres : (n_groups, d) float64
        Centres of the groups of representatives.
    heads : (n_groups + 1,) integers
        First representative of each group, and their number last; no group is empty.
    points : (p, d) float64
        Representatives, group after group.
    near : (p, m) integers
        Candidates of each representative.
    n_nearest : int
        How many are wanted, at most m.

    Returns
    -------
    which, squares : ndarrays of shape (n, n_nearest), int32 and float64
        The nearest candidates of the object's home: the nearest representative in the group
        with the nearest centre. Ties go to what comes first. Time O(n (n_groups + size of a
        group + m) d), memory O(n n_nearest).

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> near = np.array([[0, 1], [1, 0], [2, 3], [3, 2]])
    >>> nearest_representatives(
    ...     np.array([[0.9], [5.2]]), np.array([[0.5], [5.5]]), np.array([0, 2, 4]), points, near, 1
    ... )[0].tolist()
    [[1], [2]]
    """
    points_t = np.ascontiguousarray(points.T)
    homes = np.empty(len(X), np.int64)
    widest = max(len(centres), int(np.diff(heads).max()))
    _find_homes(X, np.ascontiguousarray(centres.T), heads, points_t, np.empty(widest), homes)
    which = np.empty((len(X), n_nearest), np.int32)
    squares = np.empty((len(X), n_nearest))
    order = np.argsort(homes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(homes, minlength=len(points)))])
    _near_homes(X, order, bounds, points_t, near, which, squares)
    return which, squares


@compiled
def _measure(x, points_t, start, stop, out):
    """Squared distances of x to the points [start, stop) into the front of ``out``."""
    width, d = stop - start, x.shape[0]
    part = out[:width]
    part[:] = 0.0
    # Four features a pass: fewer loads and stores, and the same order of additions.
    for f in range(0, d - 3, 4):
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        r0, r1 = points_t[f, start:stop], points_t[f + 1, start:stop]
        r2, r3 = points_t[f + 2, start:stop], points_t[f + 3, start:stop]
        for c in range(width):
            g0, g1, g2, g3 = x0 - r0[c], x1 - r1[c], x2 - r2[c], x3 - r3[c]
            part[c] = part[c] + g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
    for f in range(d - d % 4, d):
        value, row = x[f], points_t[f, start:stop]
        for c in range(width):
            gap = value - row[c]
            part[c] += gap * gap


@compiled
def _first_least(values, width):
    best = 0
    for c in range(1, width):
        if values[c] < values[best]:
            best = c
    return best


@compiled
def _find_homes(X, centres_t, heads, points_t, scratch, homes):
    n_groups = centres_t.shape[1]
    for i in range(X.shape[0]):
        _measure(X[i], centres_t, 0, n_groups, scratch)
        group = _first_least(scratch, n_groups)
        start, stop = heads[group], heads[group + 1]
        _measure(X[i], points_t, start, stop, scratch)
        homes[i] = start + _first_least(scratch, stop - start)


@compiled
def _near_homes(X, order, bounds, points_t, near, which, squares):
    """For the objects of each home, order[bounds[h]:bounds[h + 1]], its nearest candidates."""
    d, p = points_t.shape
    m, K = near.shape[1], which.shape[1]
    block, scratch = np.empty((d, m)), np.empty(m)
    for home in range(p):
        if bounds[home] == bounds[home + 1]:
            continue
        for f in range(d):
            for c in range(m):
                block[f, c] = points_t[f, near[home, c]]
        for s in range(bounds[home], bounds[home + 1]):
            i = order[s]
            _measure(X[i], block, 0, m, scratch)
            _keep_least(scratch, near[home], K, which[i], squares[i])


@compiled
def _keep_least(values, names, K, which, least):
    """The K smallest values, rising, and their names; the first on ties."""
    least[:] = np.inf
    which[:] = names[:K]  # where distances overflow, none is the least
    for c in range(values.shape[0]):
        value = values[c]
        if value < least[K - 1]:
            at = K - 1
            while at > 0 and least[at - 1] > value:
                least[at], which[at] = least[at - 1], which[at - 1]
                at -= 1
            least[at], which[at] = value, names[c]
