"""Where k-means starts: objects at random, or spread out (k-means++)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.sparse import own_part, squared_lengths

# Objects whose distances are added up together: they stay in the first-level cache.
_BLOCK = 1024


def random_start(
    rng: np.random.Generator, n_or_rows: int | NDArray[np.integer], k: int
) -> NDArray[np.intp]:
    """Rows of k distinct objects drawn at random.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_or_rows : int or int array
        How many objects there are, or the rows to draw from.
    k : int
        At most the number of objects.

    Returns
    -------
    ndarray of shape (k,), intp
        In random order. Distinct objects may have equal features: starts can coincide.

    Examples
    --------
    >>> rows = random_start(np.random.default_rng(0), np.array([3, 5, 8]), 3)
    >>> sorted(rows.tolist())
    [3, 5, 8]
    """
    return rng.choice(n_or_rows, size=k, replace=False).astype(np.intp, copy=False)


def plusplus_start(
    X: Any,
    k: int,
    rng: np.random.Generator,
    *,
    rows: NDArray[np.integer] | None = None,
    features: NDArray[np.integer] | None = None,
) -> NDArray[np.intp]:
    """Rows of k distinct objects that lie apart: greedy k-means++.

    The first object is drawn at random. For each further one, 2 + floor(log k) candidates are drawn
    with probability proportional to their squared distance to the nearest object chosen so far, and
    the candidate that leaves the smallest sum of these distances is chosen (the variant
    scikit-learn uses). When all remaining distances are zero the rest is drawn at random.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_features), C order; or a CSR matrix
    k : int
        At most the number of objects to choose from.
    rng : numpy.random.Generator
    rows, features : int array, optional
        Rows to choose from and features to measure by; all by default.

    Returns
    -------
    ndarray of shape (k,), intp
        Rows of X, in the order they were chosen.

    Notes
    -----
    Memory: a feature-major float64 copy of the rows and features (CSR data: none), and 16 bytes
    an object and candidate.

    References
    ----------
    Arthur & Vassilvitskii (2007), k-means++: the advantages of careful seeding, SODA, sections
    2.2 and 7.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> rows = plusplus_start(X, 2, np.random.default_rng(0))
    >>> sorted((rows // 2).tolist())
    [0, 1]
    """
    own = np.arange(X.shape[0]) if rows is None else np.asarray(rows, np.intp)
    columns = np.arange(X.shape[1]) if features is None else np.asarray(features, np.intp)
    first = int(rng.integers(own.size))
    before = rng.bit_generator.state
    draws = rng.random((k - 1, 2 + int(np.log(k))))
    if sparse.issparse(X):
        chosen = _spread_sparse(own_part(X, own, columns), first, draws)
    else:
        part = X if rows is None else X[own]
        part = part if features is None else part[:, columns]
        chosen = _spread(np.ascontiguousarray(part.T, dtype=np.float64), first, draws)
    if chosen.size < k:
        # Every object lies on one that was chosen. As if the draws left over had not been made.
        rng.bit_generator.state = before
        rng.random((chosen.size - 1, draws.shape[1]))
        others = np.setdiff1d(np.arange(own.size), chosen)
        rest = rng.choice(others, size=k - chosen.size, replace=False)
        chosen = np.concatenate([chosen, rest])
    return own[chosen]


def _spread_sparse(part: Any, first: int, draws: NDArray[np.float64]) -> NDArray[np.int64]:
    """As `_spread`, for the rows of a sparse matrix."""
    squares = squared_lengths(part)

    def distances_to(places: NDArray[np.integer]) -> NDArray[np.float64]:
        # A few dense columns: a product of two sparse matrices costs more in small steps.
        products = (part @ part[places].toarray().T).T
        return np.maximum(squares[places, None] - 2.0 * products + squares, 0.0)

    chosen = [first]
    closest = distances_to(np.array(chosen))[0]
    for draw in draws:
        closest[chosen] = 0.0  # products of sparse rows may leave a trace there
        candidates = _draw_places(np.cumsum(closest), draw)
        if not candidates.size:
            break
        left = np.minimum(distances_to(candidates), closest)
        best = int(left.sum(axis=1).argmin())
        chosen.append(int(candidates[best]))
        closest = left[best]
    return np.array(chosen, np.int64)


@compiled
def _spread(strips, first, draws):
    """Places of objects that lie apart, one and then one a row of ``draws``.

    Parameters
    ----------
    strips : (n_features, n_objects) float64
    first : int
    draws : (k - 1, n_candidates) float64
        In [0, 1).

    Returns
    -------
    (k,) int64
        Fewer where every object lies on one that was chosen.
    """
    n, m = strips.shape[1], draws.shape[1]
    chosen = np.empty(draws.shape[0] + 1, np.int64)
    chosen[0] = first
    left, sums = np.empty((m, n)), np.empty(m)
    closest = np.full(n, np.inf)
    _approach(strips, first, closest, closest)
    for t in range(draws.shape[0]):
        candidates = _draw_places(np.cumsum(closest), draws[t])
        if candidates.size == 0:
            return chosen[: t + 1]
        for c in range(m):
            sums[c] = _approach(strips, candidates[c], closest, left[c])
        best = np.argmin(sums)
        chosen[t + 1] = candidates[best]
        closest[:] = left[best]
    return chosen


@compiled
def _draw_places(cumulative, draw):
    """Places drawn in proportion to what was summed up; none where the sum is 0."""
    total = cumulative[-1]
    if not total > 0:
        return np.empty(0, np.int64)
    # Never past the last object of positive distance, whatever rounding did to the product.
    last = np.searchsorted(cumulative, total)
    return np.minimum(np.searchsorted(cumulative, total * draw, side="right"), last)


@compiled
def _approach(strips, place, closest, out):
    """Fill ``out`` with the smaller of ``closest`` and the squared distance to a place; its sum."""
    total = 0.0
    block = np.empty(_BLOCK)
    for start in range(0, strips.shape[1], _BLOCK):
        stop = min(start + _BLOCK, strips.shape[1])
        near = block[: stop - start]
        near[:] = 0.0
        for f in range(strips.shape[0]):
            centre, strip = strips[f, place], strips[f, start:stop]
            for r in range(near.size):
                difference = strip[r] - centre
                near[r] += difference * difference
        for r in range(near.size):
            out[start + r] = min(near[r], closest[start + r])
            total += out[start + r]
    return total
