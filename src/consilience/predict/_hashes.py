"""Rows by a number each, so that one that was clustered is known again without keeping it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._parallel import by_rows

__all__ = ["Hashes", "known_rows", "row_hashes"]

Hashes = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Values hashed together: small enough for the cache.
_TOGETHER = 2**16


def row_hashes(X: Any, n_jobs: int | None = None) -> Hashes:
    """A 64-bit number of every row: equal for equal values, be they dense, sparse, -0.0 or 0.0.

    The sum over the values that are not 0 of a mixture of value and column (the finaliser of
    splitmix64). Two of a million different rows share one with a chance of 1 to 40 million.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_features), or CSR matrix
    n_jobs : int or None
        Threads, of a dense table.

    Examples
    --------
    >>> hashes = row_hashes(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, -0.0]]))
    >>> bool(hashes[0] == hashes[2] != hashes[1]), int(hashes[3])
    (True, 0)
    """
    salts = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _GOLDEN)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()  # the caller's stays as it is
            X.sum_duplicates()
        terms = _terms(X.data, salts[X.indices])
        # Sums that overflow wrap around, and so do their differences.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    out = np.empty(X.shape[0], np.uint64)

    def put(rows: slice) -> None:
        out[rows] = _terms(X[rows], salts).sum(axis=1, dtype=np.uint64)

    by_rows(put, X.shape[0], n_jobs, size=max(1, _TOGETHER // max(X.shape[1], 1)))
    return out


def _terms(values: NDArray[Any], salts: Hashes) -> Hashes:
    """Values mixed with the salts of their columns; 0 of a 0."""
    # Adding 0.0 makes a positive zero of a negative one.
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    return np.where(bits == 0, np.uint64(0), _mixed(bits ^ salts))


def _mixed(bits: Hashes) -> Hashes:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def known_rows(
    seen: Hashes, order: NDArray[np.int64], labels: NDArray[np.int32], new: Hashes
) -> NDArray[np.int64]:
    """The object with the same row for each new one, -1 where there is none.

    Copies of a row may have different labels: then it is one of the label that most of them
    have. All rows again, in the same order, are themselves.

    Parameters
    ----------
    seen : (n_objects,) uint64
    order : (n_objects,) int64
        ``seen.argsort(kind="stable")``.
    labels : (n_objects,) int32
    new : (n_new,) uint64

    Examples
    --------
    >>> seen = np.array([7, 5, 7, 7], np.uint64)
    >>> order = seen.argsort(kind="stable")
    >>> known_rows(seen, order, np.array([1, 0, 2, 2], np.int32), np.array([7, 6], np.uint64))
    array([ 2, -1])
    """
    if np.array_equal(seen, new):
        return np.arange(len(seen))
    ordered = seen[order]
    first = np.searchsorted(ordered, new)
    last = np.searchsorted(ordered, new, side="right")
    twins = np.where(last > first, order[np.minimum(first, len(order) - 1)], -1)
    several = np.flatnonzero(last - first > 1)
    # One look for each different row: many new objects may be the same.
    runs, places = np.unique(first[several], return_inverse=True)
    ends = np.zeros(len(runs), np.int64)
    ends[places] = last[several]
    chosen = np.array(
        [_usual(order[a:b], labels) for a, b in zip(runs, ends, strict=True)], np.int64
    )
    if len(several):
        twins[several] = chosen[places]
    return twins


def _usual(objects: NDArray[np.int64], labels: NDArray[np.int32]) -> int:
    """The first object that has the most frequent label."""
    names, counts = np.unique(labels[objects], return_counts=True)
    return int(objects[np.argmax(labels[objects] == names[counts.argmax()])])
