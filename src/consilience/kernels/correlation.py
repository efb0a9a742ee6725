"""What correlation clustering counts: the cost of a clustering, and of joining a cluster.

Joining cluster q costs an object the sum over q of (share of members against joining) less
(share of members for it). Summed member by member that needs one table only, the weight of
every cluster of every member inside every q: memory n_c x k, time O(n R k) a sweep. All
tables hold whole numbers (costs are scaled by the number of members), so that a move is an
improvement or it is not, whatever the order of the sums.

Where every pair has its own denominator, see `consilience.kernels.correlation_pairs`; the
moves of both are in `consilience.kernels.moves`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from consilience.kernels.compare import UNSEEN
from consilience.kernels.contingency import first_columns
from consilience.kernels.moves import FULL, choose

__all__ = ["JoinTables", "LabelRows", "disagreements", "label_rows", "table_joins"]

Labels = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelRows(NamedTuple):
    """Label rows object by object (a sweep reads them in any order), with their weights.

    ``own`` is what an object's own weight adds to the cost of its cluster; ``by_seen`` whether
    a pair counts by the members that saw both (otherwise all members count for every pair).
    """

    rows: Labels
    starts: Ints
    weights: Ints
    own: Ints
    by_seen: bool

    def take(self, chosen: Ints, weights: Ints) -> "LabelRows":
        """Some of the rows, with weights of their own."""
        return _with_own(
            np.ascontiguousarray(self.rows[chosen]), self.starts, weights, self.by_seen
        )


def label_rows(members: Labels, weights: Ints, *, by_seen: bool = False) -> LabelRows:
    """Label rows made ready for `JoinTables` and `table_joins`.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) positive whole numbers
    by_seen : bool, default=False
        Count a pair by the members that saw both. Without unseen labels both are the same.
    """
    starts = first_columns(members)
    return _with_own(np.ascontiguousarray(members.T), starts, weights, by_seen)


def _with_own(rows: Labels, starts: Ints, weights: Ints, by_seen: bool) -> LabelRows:
    weights = np.asarray(weights, np.int64)
    seen = (rows != UNSEEN).sum(axis=1) if by_seen else rows.shape[1]
    own = weights * (seen - 2 * (rows >= 0).sum(axis=1))
    return LabelRows(rows, starts, weights, own, by_seen)


class JoinTables:
    """Weight of every cluster of every member inside every cluster of a clustering.

    Parameters
    ----------
    data : LabelRows
    labels : (n_objects,) int32
        The clustering, 0..k-1; negative labels are in none.
    max_bytes : int
        For the tables: (n_c + R) * k numbers of 4 or 8 bytes. What the labels themselves need
        is taken in any case.
    n_clusters : int, default=0
        Make room for at least so many clusters.
    """

    def __init__(
        self, data: LabelRows, labels: NDArray[np.int32], max_bytes: int, n_clusters: int = 0
    ) -> None:
        self.data = data
        n_members = data.rows.shape[1]
        # The largest sum is 2 * R * (all weights): narrow numbers where they hold it.
        wide = 2 * n_members * int(data.weights.sum()) >= 2**31
        self._kind = np.int64 if wide else np.int32
        k = max(int(labels.max(initial=-1)) + 1, n_clusters)
        per_cluster = (int(data.starts[-1]) + n_members) * np.dtype(self._kind).itemsize
        self._most = max(k + 1, max_bytes // per_cluster)
        self._make(min(k + 8, self._most))
        _add_rows(data.rows, data.starts, data.weights, labels, self.table, self.seen, self.sizes)

    def _make(self, room: int) -> None:
        self.table = np.zeros((int(self.data.starts[-1]), room), self._kind)
        n_seen = self.data.rows.shape[1] if self.data.by_seen else 0
        self.seen = np.zeros((n_seen, room), self._kind)
        self.sizes = np.zeros(room, self._kind)

    @property
    def room(self) -> int:
        """Clusters there is room for."""
        return len(self.sizes)

    def widen(self) -> bool:
        """Make room for more clusters; False if there is no memory for it."""
        old, held = (self.table, self.seen, self.sizes), self.room
        if held >= self._most:
            return False
        self._make(min(2 * held, self._most))
        for mine, before in zip((self.table, self.seen, self.sizes), old, strict=True):
            mine[..., :held] = before
        return True

    def sweep(
        self, labels: Any, order: Any, first: int, cap: int, heat: float, draws: Floats
    ) -> tuple[int, int]:
        """Visit objects from place ``first``: where it stopped for want of room, moves made."""
        return _sweep_tables(
            *self.data[:4],
            order,
            first,
            labels,
            self.table,
            self.seen,
            self.sizes,
            cap,
            heat,
            draws,
        )


def table_joins(queries: Labels, data: LabelRows, labels: NDArray[np.int32], k: int) -> Floats:
    """Cost of each query's joining each of k clusters of other rows, (n_queries, k).

    Parameters
    ----------
    queries : (n_queries, n_members) signed integers
        Label rows. A query that is one of the clustered rows meets itself there.
    data : LabelRows
        The clustered rows; ``labels`` are their clusters, negative for none.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    >>> data = label_rows(members, np.ones(3, np.int64))
    >>> table_joins(data.rows, data, np.array([0, -1, 1], np.int32), 2)
    array([[-1.,  1.],
           [ 0.,  0.],
           [ 1., -1.]])
    """
    tables = JoinTables(data, labels, 0, k)
    out = np.empty((len(queries), tables.room), tables.sizes.dtype)
    _query_costs(queries, data.starts, tables.table, tables.seen, tables.sizes, out)
    return out[:, :k] / float(queries.shape[1])


def disagreements(members: Labels, weights: Ints, labels: Labels, *, by_seen: bool) -> int:
    """Pairs of objects on which members and a clustering differ, summed over members.

    Parameters
    ----------
    members, weights, by_seen
        As in `label_rows`. The objects a row stands for (its weight) are together in the
        clustering; members join them unless their label is noise.
    labels : (n_objects,) integers
        The clustering; a negative label is a cluster of its own.

    Returns
    -------
    int
        Divided by the number of members, the cost of correlation clustering. From
        contingency tables, one member at a time: exact, O(n R).

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    >>> disagreements(members, np.ones(3, np.int64), np.array([0, 0, 0]), by_seen=False)
    4
    """
    k = int(labels.max(initial=-1)) + 1
    starts = first_columns(members)
    total = 0
    for r, member in enumerate(members):
        width = int(starts[r + 1] - starts[r])
        total += _member_disagreements(member, weights, labels, k, width, by_seen)
    return total


@njit(cache=True, nogil=True)
def _member_disagreements(member, weights, labels, k, width, by_seen):
    """Pairs joined by one of the two, seen by the member if ``by_seen``."""
    table = np.zeros((k, width), np.int64)
    held, sizes = np.zeros(k, np.int64), np.zeros(width, np.int64)
    total = 0
    for i in range(member.shape[0]):
        w, label, q = weights[i], member[i], labels[i]
        if label >= 0:
            sizes[label] += w
        if q < 0:
            # A row alone: its objects are together.
            if label >= 0:
                total -= w * (w - 1)
            if label != UNSEEN or not by_seen:
                total += w * (w - 1) // 2
            continue
        if label != UNSEEN or not by_seen:
            held[q] += w
        if label >= 0:
            table[q, label] += w
    for label in range(width):
        total += sizes[label] * (sizes[label] - 1) // 2
    for q in range(k):
        total += held[q] * (held[q] - 1) // 2
        for label in range(width):
            total -= table[q, label] * (table[q, label] - 1)
    return total


@njit(cache=True, nogil=True)
def _add_row(labels, starts, weight, q, table, seen, sizes):
    """Add a weight (or take it away) to what cluster q holds."""
    sizes[q] += weight
    for r in range(labels.shape[0]):
        if labels[r] >= 0:
            table[starts[r] + labels[r], q] += weight
        if seen.shape[0] > 0 and labels[r] != UNSEEN:
            seen[r, q] += weight


@njit(cache=True, nogil=True)
def _add_rows(rows, starts, weights, labels, table, seen, sizes):
    for i in range(rows.shape[0]):
        if labels[i] >= 0:
            _add_row(rows[i], starts, weights[i], labels[i], table, seen, sizes)


@njit(cache=True, nogil=True)
def _join_costs(labels, starts, table, seen, sizes, costs):
    """Fill ``costs`` with the cost of joining each cluster, times the number of members."""
    k = sizes.shape[0]
    n_members = labels.shape[0]
    costs[:] = 0
    for r in range(n_members):
        if labels[r] >= 0:
            g = starts[r] + labels[r]
            for q in range(k):
                costs[q] -= table[g, q]
    if seen.shape[0] == 0:
        for q in range(k):
            costs[q] = 2 * costs[q] + n_members * sizes[q]
        return
    for q in range(k):
        costs[q] = 2 * costs[q]
    for r in range(n_members):
        if labels[r] != UNSEEN:
            for q in range(k):
                costs[q] += seen[r, q]


@njit(cache=True, nogil=True)
def _query_costs(queries, starts, table, seen, sizes, out):
    for i in range(queries.shape[0]):
        _join_costs(queries[i], starts, table, seen, sizes, out[i])


@njit(cache=True, nogil=True)
def _sweep_tables(
    rows, starts, weights, own, order, first, labels, table, seen, sizes, cap, heat, draws
):
    """Visit objects from place ``first``: where it stopped for want of room, moves made."""
    costs = np.empty(sizes.shape[0], table.dtype)
    moves = 0
    for place in range(first, order.shape[0]):
        i = order[place]
        here, weight = labels[i], weights[i]
        _join_costs(rows[i], starts, table, seen, sizes, costs)
        if here >= 0:
            costs[here] -= own[i]
        draw, chance = (draws[0, place], draws[1, place]) if heat > 0 else (0.0, 0.0)
        there = choose(costs, sizes, here, weight, cap, 0, heat, draw, chance)
        if there == FULL:
            return place, moves
        if there != here:
            if here >= 0:
                _add_row(rows[i], starts, -weight, here, table, seen, sizes)
            _add_row(rows[i], starts, weight, there, table, seen, sizes)
            labels[i] = there
            moves += 1
    return order.shape[0], moves
