"""One order of objects and of label rows, whatever order the objects came in.

Co-association is full of ties, random starts are drawn row by row, and partitioners go by the
numbers of vertices. So every method sees its rows in an order that is a function of the labels
alone: permuting the objects permutes the partition.

Two orders serve. That of a hash of the label row is cheap; it hangs on the names of clusters.
Trees of tied shares take that of `refined_keys`, which does not, where it tells rows apart. Rows
that it cannot tell apart, such as those that a symmetry of the ensemble exchanges, go by the hash.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.consensus._solve import ConsensusResult, Run
from consilience.ensemble import Ensemble
from consilience.kernels._parallel import by_rows
from consilience.kernels.labels.refine import refined_keys
from consilience.kernels.labels.signatures import hash_rows, stable_order

__all__ = ["object_order", "ordered", "row_order", "tie_order"]

Labels = NDArray[np.signedinteger[Any]]
Order = NDArray[np.int64]
Keys = NDArray[np.uint64]

_PRIME, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def row_order(members: Labels) -> Order:
    """Rows (members x rows) in the order of a hash of their labels."""
    return np.argsort(_hashed(members), kind="stable")


def tie_order(members: Labels, counts: NDArray[np.integer[Any]]) -> Order:
    """Rows in an order that hangs neither on names nor, but for symmetries, on anything else.

    Examples
    --------
    >>> members, counts = np.array([[0, 0, 1], [0, 1, 1]], np.int8), np.array([1, 1, 5])
    >>> tie_order(members, counts).tolist() == tie_order(1 - members, counts).tolist()
    True
    """
    return np.lexsort((_hashed(members), refined_keys(members, counts)))


def object_order(ensemble: Ensemble, *more: Any, n_jobs: int | None = None) -> Order:
    """Objects in the order of their labels, those with equal labels by what else is given.

    Parameters
    ----------
    ensemble : Ensemble
    *more : arrays or CSR matrices of shape (n_objects, ...)
        Data or weights of the objects, where the method looks at them.
    n_jobs : int or None
        Threads.
    """
    # Members that divide nothing must change nothing.
    divides = ensemble.members.max(axis=1) != ensemble.members.min(axis=1)
    members = ensemble.members if divides.all() else ensemble.members[divides]
    keys = np.empty(ensemble.n_objects, np.uint64)
    hash_rows(members, keys, n_jobs)
    if not more:
        return stable_order(keys, n_jobs)
    return np.lexsort([keys, *(_hashed_values(values, n_jobs) for values in more)][::-1])


def ordered(
    run: Callable[..., ConsensusResult],
    weights: Any = None,
    *,
    data: bool = False,
    n_jobs: int | None = None,
) -> Run:
    """A method that goes by the order of its objects, given them in that of their labels.

    Parameters
    ----------
    run : callable
        ``run(placed, k, X)``; with weights ``run(placed, k, X, weights)``.
    weights : ndarray of shape (n_placed,), optional
        Weights of the objects placed; given to ``run`` in its order.
    data : bool, default=False
        Whether the method looks at X, so that X tells objects with equal labels apart.
    n_jobs : int or None
        Threads.
    """

    def in_order(placed: Ensemble, k: int, X: Any) -> ConsensusResult:
        of_objects = () if weights is None else (weights,)
        seen = (X, *of_objects) if data and X is not None else of_objects
        order = object_order(placed, *seen, n_jobs=n_jobs)
        result = run(
            placed._in_order(order),
            k,
            None if X is None else X[order],
            *(values[order] for values in of_objects),
        )
        labels = np.empty_like(result.labels)
        labels[order] = result.labels
        memberships = result.memberships
        if memberships is not None:
            memberships = np.empty_like(memberships)
            memberships[order] = result.memberships
        return replace(result, labels=labels, memberships=memberships)

    return in_order


def _hashed(members: Labels) -> Keys:
    keys = np.empty(members.shape[1], np.uint64)
    hash_rows(members, keys)
    return keys


def _hashed_values(values: Any, n_jobs: int | None = None) -> Keys:
    """A hash of each object's numbers: sums over columns, so that zeros may be left out."""
    if sparse.issparse(values):
        parts = _mixed(values.data, values.indices.astype(np.uint64))
        sums = np.append(np.uint64(0), np.cumsum(parts, dtype=np.uint64))
        keys: Keys = sums[values.indptr[1:]] - sums[values.indptr[:-1]]
        return keys
    table = np.asarray(values).reshape(len(values), -1)
    places = np.arange(table.shape[1], dtype=np.uint64)
    total = np.empty(len(table), np.uint64)

    def put(rows: slice) -> None:
        total[rows] = _mixed(table[rows], places).sum(axis=1, dtype=np.uint64)

    by_rows(put, len(table), n_jobs)
    return total


def _mixed(values: Any, column: Any) -> Keys:
    # Adding 0.0 makes one zero of two.
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    mixed = (bits ^ (column + np.uint64(1))) * _PRIME
    mixed = (mixed ^ (mixed >> _SHIFT)) * _PRIME
    return np.where(bits == 0, np.uint64(0), mixed ^ (mixed >> _SHIFT))
