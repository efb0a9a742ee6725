"""Correlation clustering where members saw different objects: every pair has its own share.

Tables of clusters cannot hold joined / seen of every pair. What is kept instead is the cost
of each object's joining each cluster, objects x k; a move changes it by one row of shares,
counted on the fly. Memory O(n k), time O(n^2 R) for a start and O(n R) for each move.
"""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numba import njit
from numpy.typing import NDArray

from consilience.kernels.compare import (
    block_width,
    count_joined,
    count_seen,
    count_seen_by,
    count_type,
    make_query,
)
from consilience.kernels.moves import FULL, choose

__all__ = ["JoinPairs", "own_costs", "pair_costs", "pair_joins"]

Labels = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Costs are sums of rounded shares: a smaller gain than this is none.
_SLACK = 1e-9
# Queries answered in one turn of a thread.
_QUERIES = 256


def pair_joins(
    queries: Labels,
    members: Labels,
    weights: Ints,
    labels: NDArray[np.int32],
    k: int,
    *,
    n_jobs: int = 1,
) -> Floats:
    """Cost of each query's joining each of k clusters of objects, (n_queries, k).

    Parameters
    ----------
    queries : (n_queries, n_members) signed integers, C-contiguous
        Label rows. A query that is one of the objects meets itself there, by the rule of any
        other pair.
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) int64
    labels : (n_objects,) int32
        Clusters of the objects; negative for none.
    n_jobs : int, default=1
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_queries, k)
        Sum over the cluster of 1 - 2 joined / seen, 0/0 being 0.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, -2, 1]], np.int8)
    >>> labels = np.array([0, -1, 1], np.int32)
    >>> pair_joins(np.ascontiguousarray(members.T), members, np.ones(3, np.int64), labels, 2)
    array([[-1.,  1.],
           [-1.,  1.],
           [ 1., -1.]])
    """
    out = np.zeros((len(queries), k))
    fixed = (members, count_seen_by(members), weights, labels, _buffer(members))

    def fill(start: int) -> None:
        _query_costs(queries[start : start + _QUERIES], *fixed, out[start : start + _QUERIES])

    starts = range(0, len(queries), _QUERIES)
    if n_jobs == 1:
        for start in starts:
            fill(start)
    else:
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(fill)(start) for start in starts)
    return out


def pair_costs(
    members: Labels, rows: Labels, weights: Ints, labelings: NDArray[np.int32]
) -> Floats:
    """Sum of 1 - 2 joined / seen over the pairs that each of several clusterings joins.

    Parameters
    ----------
    members, rows, weights
        As in `JoinPairs`.
    labelings : (n_labelings, n_objects) int32
        Clusterings; a negative label is a cluster of its own. One more pass over pairs of
        objects serves them all.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, -2, 1]], np.int8)
    >>> labelings = np.array([[0, 0, 0], [0, 0, 1]], np.int32)
    >>> pair_costs(members, np.ascontiguousarray(members.T), np.ones(3, np.int64), labelings)
    array([ 1., -1.])
    """
    out = np.zeros(len(labelings))
    seen_by = count_seen_by(members)
    _pair_costs(members, rows, seen_by, weights, _buffer(members), labelings, out)
    return out


def _buffer(members: Labels) -> NDArray[Any]:
    """An array of the type and width of the counts of one block, as a pattern."""
    return np.empty(min(block_width(members), members.shape[1]), count_type(len(members)))


class JoinPairs:
    """Cost of every object's joining every cluster of a clustering, itself left out.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
    rows : (n_objects, n_members) signed integers, C-contiguous
        The same, object by object.
    weights : (n_objects,) int64
    labels : (n_objects,) int32
        The clustering, 0..k-1; negative labels are in none.
    max_bytes : int
        For the costs: 8 bytes an object and cluster. What the labels themselves need is
        taken in any case.
    n_jobs : int, default=1
        Threads for the first costs.
    """

    def __init__(
        self,
        members: Labels,
        rows: Labels,
        weights: Ints,
        labels: NDArray[np.int32],
        max_bytes: int,
        n_jobs: int = 1,
    ) -> None:
        self._data = (members, rows, count_seen_by(members), weights, _buffer(members))
        k = int(labels.max(initial=-1)) + 1
        self._most = max(k + 1, max_bytes // (8 * len(labels)))
        room = min(k + 8, self._most)
        self.joins = pair_joins(rows, members, weights, labels, room, n_jobs=n_jobs)
        placed = np.flatnonzero(labels >= 0)
        self.joins[placed, labels[placed]] -= own_costs(rows[placed], weights[placed])
        self.sizes = np.bincount(labels[placed], weights[placed], room).astype(np.int64)

    @property
    def room(self) -> int:
        """Clusters there is room for."""
        return len(self.sizes)

    def widen(self) -> bool:
        """Make room for more clusters; False if there is no memory for it."""
        held = self.room
        more = min(held, self._most - held)
        if more <= 0:
            return False
        self.joins = np.concatenate([self.joins, np.zeros((len(self.joins), more))], axis=1)
        self.sizes = np.concatenate([self.sizes, np.zeros(more, np.int64)])
        return True

    def sweep(
        self, labels: Any, order: Any, first: int, cap: int, heat: float, draws: Floats
    ) -> tuple[int, int]:
        """Visit objects from place ``first``: where it stopped for want of room, moves made."""
        return _sweep_pairs(
            *self._data, order, first, labels, self.joins, self.sizes, cap, heat, draws
        )


def own_costs(rows: Labels, weights: Ints) -> Floats:
    """What each object adds to `pair_joins` when it meets itself."""
    seen = np.maximum((rows != -2).sum(axis=1), 1)
    return weights * (1.0 - 2.0 * ((rows >= 0).sum(axis=1) / seen))


@njit(cache=True, nogil=True)
def _query_costs(queries, members, n_seen, weights, labels, pattern, out):
    """Add to ``out`` what each query's joining costs, block by block of objects."""
    n, width = members.shape[1], pattern.shape[0]
    joined, seen = np.empty_like(pattern), np.empty_like(pattern)
    scratch, query = np.empty(width, np.uint8), make_query(members)
    for lo in range(0, n, width):
        size = min(width, n - lo)
        for i in range(queries.shape[0]):
            count_joined(members, queries[i], lo, query, scratch, joined[:size])
            count_seen(members, queries[i], n_seen, lo, query, scratch, seen[:size])
            for j in range(size):
                q = labels[lo + j]
                if q >= 0:
                    share = joined[j] / seen[j] if seen[j] > 0 else 0.0
                    out[i, q] += weights[lo + j] * (1.0 - 2.0 * share)


@njit(cache=True, nogil=True)
def _pair_costs(members, rows, n_seen, weights, pattern, labelings, out):
    """Add to ``out`` the joined pairs i < j of every labeling, block by block of j."""
    n, width = members.shape[1], pattern.shape[0]
    joined, seen = np.empty_like(pattern), np.empty_like(pattern)
    scratch, query = np.empty(width, np.uint8), make_query(members)
    costs = np.empty(width)
    for lo in range(0, n, width):
        size = min(width, n - lo)
        for i in range(lo + size):
            count_joined(members, rows[i], lo, query, scratch, joined[:size])
            count_seen(members, rows[i], n_seen, lo, query, scratch, seen[:size])
            skip = max(0, i + 1 - lo)
            for j in range(skip, size):
                share = joined[j] / seen[j] if seen[j] > 0 else 0.0
                costs[j] = weights[i] * weights[lo + j] * (1.0 - 2.0 * share)
            for one in range(labelings.shape[0]):
                own, total = labelings[one, i], 0.0
                if own >= 0:
                    for j in range(skip, size):
                        total += costs[j] if labelings[one, lo + j] == own else 0.0
                    out[one] += total


@njit(cache=True, nogil=True)
def _sweep_pairs(
    members, rows, n_seen, weights, pattern, order, first, labels, joins, sizes, cap, heat, draws
):
    """Visit objects from place ``first``: where it stopped for want of room, moves made."""
    joined, seen = np.empty_like(pattern), np.empty_like(pattern)
    scratch, query = np.empty(pattern.shape[0], np.uint8), make_query(members)
    moves = 0
    for place in range(first, order.shape[0]):
        i = order[place]
        here, weight = labels[i], weights[i]
        draw, chance = (draws[0, place], draws[1, place]) if heat > 0 else (0.0, 0.0)
        there = choose(joins[i], sizes, here, weight, cap, _SLACK, heat, draw, chance)
        if there == FULL:
            return place, moves
        if there == here:
            continue
        for lo in range(0, members.shape[1], pattern.shape[0]):
            size = min(pattern.shape[0], members.shape[1] - lo)
            count_joined(members, rows[i], lo, query, scratch, joined[:size])
            count_seen(members, rows[i], n_seen, lo, query, scratch, seen[:size])
            _shift(i, weight, here, there, lo, joined[:size], seen[:size], joins)
        if here >= 0:
            sizes[here] -= weight
        sizes[there] += weight
        labels[i] = there
        moves += 1
    return order.shape[0], moves


@njit(cache=True, nogil=True)
def _shift(i, weight, here, there, lo, joined, seen, joins):
    """Take object i out of one cluster and into another, for a block of the others."""
    for j in range(joined.shape[0]):
        if lo + j == i:
            continue
        share = joined[j] / seen[j] if seen[j] > 0 else 0.0
        cost = weight * (1.0 - 2.0 * share)
        if here >= 0:
            joins[lo + j, here] -= cost
        joins[lo + j, there] += cost
