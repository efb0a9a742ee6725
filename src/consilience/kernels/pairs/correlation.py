"""What correlation clustering counts: the cost of a clustering, and of joining a cluster.

Joining cluster q costs an object the sum over q of (share of members against joining) less
(share of members for it). Summed member by member that needs one table only, the weight of
every cluster of every member inside every q: memory n_c x k. All tables hold whole numbers
(costs are scaled by the number of members), so sums are exact in any order.

Where every pair has its own denominator, see `consilience.kernels.pairs.correlation_unseen`; the
search that uses both is in `consilience.kernels.pairs.moves`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.pairs.compare import UNSEEN

__all__ = [
    "LabelRows",
    "Tables",
    "disagreements",
    "empty_tables",
    "label_rows",
    "table_joins",
]

Labels = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelRows(NamedTuple):
    """Label rows object by object (a search reads them in any order), with their weights.

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
        rows = np.ascontiguousarray(self.rows[chosen])
        return _with_own(rows, self.starts, weights, self.by_seen)


class Tables(NamedTuple):
    """What k clusters hold of every cluster of every member, of what a member saw, in all."""

    table: NDArray[Any]
    seen: NDArray[Any]
    sizes: NDArray[Any]


def label_rows(members: Labels, weights: Ints, *, by_seen: bool = False) -> LabelRows:
    """Label rows made ready for tables.

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


def empty_tables(data: LabelRows, k: int) -> Tables:
    """Tables of k clusters that hold nothing yet."""
    n_members = data.rows.shape[1]
    # The largest sum is 2 * R * (all weights): narrow numbers where they hold it.
    wide = 2 * n_members * int(data.weights.sum()) >= 2**31
    kind = np.int64 if wide else np.int32
    return Tables(
        np.zeros((int(data.starts[-1]), k), kind),
        np.zeros((n_members if data.by_seen else 0, k), kind),
        np.zeros(k, kind),
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
    tables = empty_tables(data, k)
    _add_rows(data.rows, data.starts, data.weights, labels, tables)
    out = np.empty((len(queries), k), tables.sizes.dtype)
    _query_costs(queries, data.starts, tables, out)
    return out / float(queries.shape[1])


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
        total += int(_member_disagreements(member, weights, labels, k, width, by_seen))
    return total


@compiled
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


@compiled
def add_row(labels, starts, weight, q, tables):
    """Add a weight to what cluster q holds; a negative one takes it away."""
    tables.sizes[q] += weight
    for r in range(labels.shape[0]):
        if labels[r] >= 0:
            tables.table[starts[r] + labels[r], q] += weight
        if tables.seen.shape[0] > 0 and labels[r] != UNSEEN:
            tables.seen[r, q] += weight


@compiled
def _add_rows(rows, starts, weights, labels, tables):
    for i in range(rows.shape[0]):
        if labels[i] >= 0:
            add_row(rows[i], starts, weights[i], labels[i], tables)


@compiled
def join_costs(labels, starts, tables, k, costs):
    """Fill ``costs`` with the cost of joining each of the first k clusters, times the members."""
    table, seen, sizes = tables
    n_members = labels.shape[0]
    costs[:k] = 0
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


@compiled
def _query_costs(queries, starts, tables, out):
    for i in range(queries.shape[0]):
        join_costs(queries[i], starts, tables, out.shape[1], out[i])
