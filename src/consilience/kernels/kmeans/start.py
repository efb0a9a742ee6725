"""Where k-means starts: objects at random, or spread out (k-means++)."""

from collections.abc import Callable
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
    distances_to = _measure(X, own, columns)
    chosen = [int(rng.integers(own.size))]
    closest = distances_to(np.array(chosen))[0]
    while len(chosen) < k:
        closest[chosen] = 0.0  # products of sparse rows may leave a trace there
        cumulative = np.cumsum(closest)
        if not cumulative[-1] > 0:
            others = np.setdiff1d(np.arange(own.size), chosen)
            chosen += rng.choice(others, size=k - len(chosen), replace=False).tolist()
            break
        points = cumulative[-1] * rng.random(2 + int(np.log(k)))
        # Never past the last object of positive distance, whatever rounding did to the product.
        last = np.searchsorted(cumulative, cumulative[-1])
        candidates = np.minimum(np.searchsorted(cumulative, points, side="right"), last)
        left = np.minimum(distances_to(candidates), closest)
        best = int(left.sum(axis=1).argmin())
        chosen.append(int(candidates[best]))
        closest = left[best]
    return own[chosen]


def _measure(
    X: Any, rows: NDArray[np.intp], features: NDArray[np.intp]
) -> Callable[[NDArray[np.intp]], NDArray[np.float64]]:
    """A function from places in ``rows`` to squared distances, (n_places, n_rows)."""
    if not sparse.issparse(X):
        strips = np.ascontiguousarray(X[np.ix_(rows, features)].T, dtype=np.float64)
        return lambda places: _distances(strips, places)
    part = own_part(X, rows, features)
    squares = squared_lengths(part)

    def distances_to(places: NDArray[np.intp]) -> NDArray[np.float64]:
        # A few dense columns: a product of two sparse matrices costs more in small steps.
        products = (part @ part[places].toarray().T).T
        return np.maximum(squares[places, None] - 2.0 * products + squares, 0.0)

    return distances_to


@compiled
def _distances(strips, places):
    d, n = strips.shape
    out = np.zeros((places.size, n))
    for start in range(0, n, _BLOCK):
        for c in range(places.size):
            total = out[c, start : start + _BLOCK]
            for f in range(d):
                centre, strip = strips[f, places[c]], strips[f, start : start + _BLOCK]
                for r in range(total.size):
                    difference = strip[r] - centre
                    total[r] += difference * difference
    return out
