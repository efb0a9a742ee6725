"""Local search for correlation clustering: single objects move while that lowers the cost.

A cluster of many rows is a column of tables (`consilience.kernels.pairs.correlation`): to look at
it costs one addition a member. Clusters of few rows, and there may be as many as objects, lie
together in a pool (`kernels.pairs.small_clusters`): their rows are compared with an object's
labels byte by byte, and only when one of them could win at all. Where every pair has a
denominator of its own, everything is in the pool.

Costs are whole numbers in units of one member, exact in floats too; or sums of shares.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.pairs.compare import (
    UNSEEN,
    block_width,
    count_type,
    make_query,
)
from consilience.kernels.pairs.correlation import LabelRows, add_row, empty_tables, join_costs
from consilience.kernels.pairs.small_clusters import (
    ALL,
    GROUPS,
    MOST_WEIGHT,
    POOLED,
    SEEN,
    SHARE,
    best_group,
    count_pool,
    empty_pool,
    enter_pool,
    group_costs,
    heaviest,
    join_group,
    largest,
    leave_pool,
    new_group,
    part_group,
    reach,
)

__all__ = ["Moved", "local_search"]

# Rows from which a cluster is better off in the tables.
MANY_ROWS = 8
# Sums of rounded shares: a smaller gain than this is none.
_SLACK = 1e-9
# Where an object may go, beside the tables' clusters 0, 1, ...: groups of the pool follow below.
NEW, FIRST_GROUP = -1, -2


class Moved(NamedTuple):
    """Where a search ended: labels 0..k-1, sweeps, whether no move was left."""

    labels: NDArray[np.int32]
    n_iter: int
    converged: bool


def local_search(
    data: LabelRows,
    labels: NDArray[np.int32],
    *,
    cap: int,
    rng: np.random.Generator,
    max_iter: int = 100,
    share: bool = False,
    heat: float = 0.0,
    cooling: float = 0.9,
    max_bytes: int = 2**30,
) -> Moved:
    """Move single objects, in random order, until no move lowers the cost.

    Parameters
    ----------
    data : LabelRows
    labels : (n_objects,) int32
        A start. A negative label is in no cluster yet and goes to the best one (or a new
        one) on its first visit.
    cap : int
        Most clusters. A start with more keeps them until they empty.
    rng : Generator
        Order of the visits, and the moves tried while it is hot.
    max_iter : int
        Most sweeps, hot and cold ones each.
    share : bool, default=False
        Whether a pair counts by its share of the members that saw both.
    heat : float, default=0
        Temperature of the first sweep, in units of one member (of one pair with ``share``).
        While it is above zero an object tries one random cluster and moves there with
        probability exp(-rise / heat); each sweep multiplies it by ``cooling``.
    max_bytes : int
        For the tables. Clusters that find no room there stay in the pool: this changes
        time only.

    Returns
    -------
    Moved

    Examples
    --------
    >>> from consilience.kernels.pairs.correlation import label_rows
    >>> members = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]], np.int8)
    >>> data = label_rows(members, np.ones(6, np.int64))
    >>> start = np.array([0, 0, 1, 1, 2, 2], np.int32)
    >>> local_search(data, start, cap=6, rng=np.random.default_rng(0)).labels
    array([0, 2, 0, 2, 1, 1], dtype=int32)
    """
    state = _State(data, labels, share, max_bytes)
    n = len(labels)
    order = rng.permutation(n)
    n_iter, moves = 0, -1
    for _ in range(max_iter if heat > 0 else 0):
        n_iter += 1
        if not state.sweep(order, cap, heat, rng.random((2, n))):
            break
        heat *= cooling
    for _ in range(max_iter):
        n_iter += 1
        moves = state.sweep(order, cap, 0.0, np.empty((2, 0)))
        if moves == 0:
            break
    return Moved(state.labels(), n_iter, moves == 0)


class _State:
    """Where every row is: in a column of the tables, in a group of the pool, or nowhere yet."""

    def __init__(
        self, data: LabelRows, labels: NDArray[np.int32], share: bool, max_bytes: int
    ) -> None:
        self.data = data
        self.kind = SHARE if share else (SEEN if data.by_seen else ALL)
        self.n_seen = (data.rows != UNSEEN).sum(axis=1)
        sizes = np.bincount(labels[labels >= 0])
        one = empty_tables(data, 1)
        per_cluster = sum(array.nbytes for array in one)
        self._most = 0 if share else max_bytes // per_cluster
        large = np.argsort(-sizes, kind="stable")[
            : min(self._most, int((sizes >= MANY_ROWS).sum()))
        ]
        self.tables = empty_tables(data, min(self._most, 2 * len(large) + 24))
        self.pool = empty_pool(data.rows)
        self.slot = np.full(len(labels), -1, np.int64)
        column = np.full(len(sizes), -1)
        column[large] = np.arange(len(large))
        rows, starts, weights = data[:3]
        _place(
            rows, starts, weights, self.n_seen, labels, column, self.slot, self.tables, self.pool
        )
        self._width = min(block_width(self.pool.labels), len(labels))
        joined: NDArray[Any] = np.empty(len(labels), count_type(data.rows.shape[1]))
        self._counts = (joined, np.empty_like(joined), np.empty(self._width, np.uint8))

    def sweep(self, order: Any, cap: int, heat: float, draws: NDArray[np.float64]) -> int:
        """Visit every object once; the number that moved."""
        self._settle()
        rows = (self.data[:4], self.n_seen, self.kind, self.slot, self.tables, self.pool)
        return int(_sweep(*rows, order, cap, heat, draws, self._counts, self._width))

    def _settle(self) -> None:
        """Move groups that have become large into the tables, as far as there is memory."""
        rows, starts, weights = self.data[:3]
        while (g := largest(self.pool)) >= 0 and self.pool.n_rows[g] >= MANY_ROWS:
            empty = np.flatnonzero(self.tables.sizes == 0)
            if not empty.size:
                if len(self.tables.sizes) >= self._most:
                    break
                empty = np.array([len(self.tables.sizes)])
                self._widen()
            _promote(rows, starts, weights, g, empty[0], self.slot, self.tables, self.pool)
        self.pool.counts[MOST_WEIGHT] = heaviest(self.pool)

    def _widen(self) -> None:
        held = len(self.tables.sizes)
        wider = empty_tables(self.data, min(2 * held + 8, self._most))
        for new, old in zip(wider, self.tables, strict=True):
            new[..., :held] = old
        self.tables = wider

    def labels(self) -> NDArray[np.int32]:
        """Clusters, numbered 0..k-1."""
        codes = np.where(self.slot >= 0, self.slot, len(self.tables.sizes) + self.pool.group)
        return np.unique(codes, return_inverse=True)[1].astype(np.int32)


@compiled
def _place(rows, starts, weights, n_seen, labels, column, slot, tables, pool):
    """Lay every row where its label says: large clusters into tables, others into the pool."""
    groups = np.full(column.shape[0], -1, np.int64)
    for i in range(labels.shape[0]):
        label = labels[i]
        if label < 0:
            continue
        if column[label] >= 0:
            slot[i] = column[label]
            add_row(rows[i], starts, weights[i], slot[i], tables)
            continue
        if groups[label] < 0:
            groups[label] = new_group(pool)
        enter_pool(pool, i, rows[i], n_seen[i])
        join_group(pool, i, weights[i], groups[label])


@compiled
def _promote(rows, starts, weights, g, q, slot, tables, pool):
    """Move the rows of a group into column q of the tables."""
    # Backwards: a row that takes the place of one that left has been looked at.
    for p in range(pool.counts[POOLED] - 1, -1, -1):
        i = pool.held[p]
        if pool.group[i] == g:
            part_group(pool, i, weights[i])
            leave_pool(pool, i)
            add_row(rows[i], starts, weights[i], q, tables)
            slot[i] = q


@compiled
def _best_column(sizes, k, here, costs):
    """The cheapest of the first k columns but ``here`` (-1: none), and how many are in use."""
    best, n_used = -1, 0
    for q in range(k):
        if sizes[q] > 0:
            n_used += 1
            if q != here and (best < 0 or costs[q] < costs[best]):
                best = q
    return best, n_used


@compiled
def _first_empty(sizes):
    """A column that holds nothing, -1 if there is none."""
    for q in range(sizes.shape[0]):
        if sizes[q] == 0:
            return q
    return -1


@compiled
def _last_used(sizes):
    """The last column that holds anything, -1 if none does."""
    for q in range(sizes.shape[0] - 1, -1, -1):
        if sizes[q] > 0:
            return q
    return -1


@compiled
def _random_target(sizes, slot, group, n_columns, pool, may_open, draw):
    """A column, or the group of some row in the pool, or a new cluster; all about as likely."""
    n_others = n_columns - (slot >= 0)
    n_targets = n_others + pool.counts[GROUPS] + may_open
    if n_targets == 0:
        return slot if slot >= 0 else FIRST_GROUP - group
    skip = min(int(draw * n_targets), n_targets - 1)
    if skip < n_others:
        q = -1
        while skip >= 0:
            q += 1
            if q != slot and sizes[q] > 0:
                skip -= 1
        return q
    if skip < n_others + pool.counts[GROUPS]:
        n = pool.counts[POOLED]
        p = min(int((draw * n_targets - skip) * n), n - 1)
        return FIRST_GROUP - pool.group[pool.held[p]]
    return NEW


@compiled
def _move(i, labels, starts, weight, n_seen, target, slot, tables, pool):
    """Take object i out of where it is and into a column, a group or a new group."""
    if slot[i] >= 0:
        add_row(labels, starts, -weight, slot[i], tables)
        slot[i] = -1
    pooled = pool.group[i] >= 0
    if pooled:
        part_group(pool, i, weight)
    if target >= 0:
        if pooled:
            leave_pool(pool, i)
        add_row(labels, starts, weight, target, tables)
        slot[i] = target
        return
    if not pooled:
        enter_pool(pool, i, labels, n_seen)
    g = new_group(pool) if target == NEW else FIRST_GROUP - target
    join_group(pool, i, weight, g)


@compiled
def _cost_of(target, columns, groups):
    """Cost of joining a target; a new cluster costs nothing."""
    if target == NEW:
        return 0.0
    return float(columns[target]) if target >= 0 else groups[FIRST_GROUP - target]


@compiled
def _survey(i, data, kind, q, g, tables, k, pool, heat, room):
    """What there is for object i: cheapest target, its cost, the cost to stay, columns used."""
    rows, starts, weights, own = data
    counts, width, query, columns, groups = room
    join_costs(rows[i], starts, tables, k, columns)
    if q >= 0:
        columns[q] -= own[i]
    best, n_columns = _best_column(tables.sizes, k, q, columns)
    target, lowest = NEW, np.inf
    if best >= 0:
        target, lowest = best, float(columns[best])
    stay = float(columns[q]) if q >= 0 else np.inf
    alone = g >= 0 and pool.n_rows[g] == 1
    if alone:
        stay = 0.0
    # Most objects need not look at every group: none can offer more than all its weight.
    most = reach(rows.shape[1], kind, pool)
    mates = g >= 0 and not alone
    if mates or heat > 0 or min(lowest, stay) > -most:
        surplus = count_pool(i, rows[i], kind, pool, counts, width, query)
        if mates or heat > 0 or min(lowest, stay) > -reach(surplus, kind, pool):
            group_costs(i, rows.shape[1], weights, kind, pool, counts, groups)
            other = best_group(pool, g, groups)
            if other >= 0 and groups[other] < lowest:
                target, lowest = FIRST_GROUP - other, groups[other]
            if mates:
                stay = groups[g]
    return target, lowest, stay, n_columns


@compiled
def _sweep(data, n_seen, kind, slot, tables, pool, order, cap, heat, draws, counts, width):
    """Visit the objects in order, each moving where it costs least; the number that moved."""
    rows, starts, weights, _ = data
    sizes = tables.sizes
    columns, groups = np.zeros(sizes.shape[0], sizes.dtype), np.zeros(rows.shape[0])
    room = (counts, width, make_query(pool.labels), columns, groups)
    slack = _SLACK if kind == SHARE else 0.0
    k, moves = _last_used(sizes) + 1, 0
    for at in range(order.shape[0]):
        i = order[at]
        q, g = slot[i], pool.group[i]
        target, cost, stay, n_columns = _survey(i, data, kind, q, g, tables, k, pool, heat, room)
        alone = (q >= 0 and sizes[q] == weights[i]) or (g >= 0 and pool.n_rows[g] == 1)
        may_open = not alone and n_columns + pool.counts[GROUPS] < cap
        if heat > 0 and (q >= 0 or g >= 0):
            target = _random_target(sizes, q, g, n_columns, pool, may_open, draws[0, at])
            rise = (_cost_of(target, columns, groups) - stay) * weights[i]
            goes = rise <= 0 or draws[1, at] < np.exp(-rise / heat)
        else:
            if may_open and cost > 0:
                target, cost = NEW, 0.0
            goes = cost < stay - slack
        here = q if q >= 0 else FIRST_GROUP - g
        if goes and (target != here or (q < 0 and g < 0)):
            _move(i, rows[i], starts, weights[i], n_seen[i], target, slot, tables, pool)
            moves += 1
            g, empty = pool.group[i], -1
            if kind != SHARE and g >= 0 and pool.n_rows[g] >= MANY_ROWS:
                empty = _first_empty(sizes)
            if empty >= 0:
                _promote(rows, starts, weights, g, empty, slot, tables, pool)
                k = max(k, empty + 1)
    return moves
