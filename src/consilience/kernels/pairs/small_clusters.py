"""Small clusters of a search: the label rows they hold, side by side, and what joining costs.

Rows lie member-major, so that all of them can be compared with one row at once. A group is a
small cluster; groups and rows come and go, numbers of groups are used again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.pairs.compare import count_joined, count_seen

__all__ = ["ALL", "GROUPS", "MOST_WEIGHT", "POOLED", "SEEN", "SHARE", "Pool", "empty_pool"]

Ints = NDArray[np.int64]

# How a pair counts: by all members, by those that saw both, or by their share.
ALL, SEEN, SHARE = 0, 1, 2
# Places in ``Pool.counts``: rows held, groups in use, most weight of a group so far.
POOLED, GROUPS, MOST_WEIGHT = 0, 1, 2


class Pool(NamedTuple):
    """Rows of small clusters, by place in the pool, by row, by group.

    Attributes
    ----------
    labels : (n_members, n_rows)
        Labels of the row in each place; only the first ``counts[POOLED]`` places count.
    seen_by : (n_rows,)
        Members that saw the row in each place.
    held, place : (n_rows,)
        The row in each place; the place of each row.
    group : (n_rows,)
        The group of each row, -1 if it is not in the pool.
    n_rows, weight : (n_rows,)
        Rows and weight of each group.
    free : (n_rows,)
        Numbers of groups; those from ``counts[GROUPS]`` on are not in use.
    counts : (3,)
    """

    labels: NDArray[Any]
    seen_by: Ints
    held: Ints
    place: Ints
    group: Ints
    n_rows: Ints
    weight: Ints
    free: Ints
    counts: Ints


def empty_pool(rows: NDArray[np.signedinteger[Any]]) -> Pool:
    """A pool with room for all of these rows; memory is taken as they enter."""
    n, n_members = rows.shape
    empty, none = np.empty(n, np.int64), np.zeros(n, np.int64)
    return Pool(
        labels=np.empty((n_members, n), rows.dtype),
        seen_by=empty.copy(),
        held=empty.copy(),
        place=empty.copy(),
        group=np.full(n, -1, np.int64),
        n_rows=none.copy(),
        weight=none.copy(),
        free=np.arange(n),
        counts=np.zeros(3, np.int64),
    )


@compiled
def new_group(pool):
    """Number of a group without rows."""
    g = pool.free[pool.counts[GROUPS]]
    pool.counts[GROUPS] += 1
    return g


@compiled
def join_group(pool, i, weight, g):
    """Put a row that is in the pool, but in no group, into group g."""
    pool.group[i] = g
    pool.n_rows[g] += 1
    pool.weight[g] += weight
    pool.counts[MOST_WEIGHT] = max(pool.counts[MOST_WEIGHT], pool.weight[g])


@compiled
def part_group(pool, i, weight):
    """Take a row out of its group; the group's number is free again if it was the last."""
    g = pool.group[i]
    pool.group[i] = -1
    pool.n_rows[g] -= 1
    pool.weight[g] -= weight
    if pool.n_rows[g] == 0:
        pool.counts[GROUPS] -= 1
        pool.free[pool.counts[GROUPS]] = g


@compiled
def enter_pool(pool, i, labels, n_seen):
    """Lay a row's labels into the pool."""
    p = pool.counts[POOLED]
    for r in range(labels.shape[0]):
        pool.labels[r, p] = labels[r]
    pool.seen_by[p] = n_seen
    pool.held[p] = i
    pool.place[i] = p
    pool.counts[POOLED] += 1


@compiled
def leave_pool(pool, i):
    """Take a row out of the pool; the last row moves to its place."""
    last = pool.counts[POOLED] - 1
    p, other = pool.place[i], pool.held[last]
    for r in range(pool.labels.shape[0]):
        pool.labels[r, p] = pool.labels[r, last]
    pool.seen_by[p] = pool.seen_by[last]
    pool.held[p] = other
    pool.place[other] = p
    pool.counts[POOLED] = last


@compiled
def heaviest(pool):
    """Most weight of a group now in use."""
    most = 0
    for p in range(pool.counts[POOLED]):
        most = max(most, pool.weight[pool.group[pool.held[p]]])
    return most


@compiled
def largest(pool):
    """The group with the most rows, -1 if there is none."""
    best = -1
    for p in range(pool.counts[POOLED]):
        g = pool.group[pool.held[p]]
        if best < 0 or pool.n_rows[g] > pool.n_rows[best]:
            best = g
    return best


@compiled
def count_pool(i, labels, kind, pool, counts, width, query):
    """Count who joined and saw object i and each row of the pool; the best row's surplus.

    The surplus is the members for joining less those against; that of i itself is left out.
    """
    joined, seen, scratch = counts
    n = pool.counts[POOLED]
    for lo in range(0, n, width):
        hi = min(lo + width, n)
        count_joined(pool.labels, labels, lo, query, scratch, joined[lo:hi])
        if kind != ALL:
            count_seen(pool.labels, labels, pool.seen_by, lo, query, scratch, seen[lo:hi])
    if pool.group[i] >= 0:
        joined[pool.place[i]] = 0
    best = -labels.shape[0]
    if kind == ALL:
        most = joined[0] if n > 0 else 0
        for p in range(n):
            most = max(most, joined[p])
        return 2 * int(most) - labels.shape[0]
    for p in range(n):
        best = max(best, 2 * int(joined[p]) - int(seen[p]))
    return best


@compiled
def group_costs(i, n_members, weights, kind, pool, counts, costs):
    """Fill ``costs`` of the groups in use with what joining them costs object i."""
    joined, seen, _ = counts
    n = pool.counts[POOLED]
    for p in range(n):
        costs[pool.group[pool.held[p]]] = 0.0
    for p in range(n):
        other = pool.held[p]
        gap = float(n_members) if kind == ALL else float(seen[p])
        gap -= 2.0 * joined[p]
        if kind == SHARE:
            gap = gap / seen[p] if seen[p] > 0 else 1.0
        if other != i:
            costs[pool.group[other]] += weights[other] * gap


@compiled
def best_group(pool, here, costs):
    """The cheapest group but ``here``, the first in the pool on ties; -1 if there is none."""
    best = -1
    for p in range(pool.counts[POOLED]):
        g = pool.group[pool.held[p]]
        if g != here and (best < 0 or costs[g] < costs[best]):
            best = g
    return best


@compiled
def reach(surplus, kind, pool):
    """The most that any group can offer, knowing the best row's surplus."""
    if surplus <= 0:
        return float(surplus)
    most = pool.counts[MOST_WEIGHT]
    return float(most) if kind == SHARE else float(surplus * most)
