"""k-means on label rows: every distance is a sum of entries of one clusters x k table.

An object is a row with one label a member. For the k-means forms of consensus the distance
to centre q is ``scale_i * sum_r costs[g_r(i), q] + offset_q + shift_i``, where g_r(i) is the
object's cluster in member r. What an update needs is the weight of every cluster
inside every centre, a table of whole numbers: sums are exact in any order, so the result
does not depend on blocks or threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team, in_turns, of_use
from consilience.kernels._tasks import counter, next_task

__all__ = ["LabelRuns", "assign", "count_table", "lloyd", "nearest", "threads_of_pass"]

Labels = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# Objects whose distances are held at once: 64 x 20 floats fit the first cache.
_BLOCK = 64
# Blocks that a thread takes at once.
_BLOCKS = 64
# Additions of a pass that are worth a thread: a fifth of a millisecond.
_WORTH = 2**21


class LabelRuns(NamedTuple):
    """One run of k-means: labels, what was minimised, how it ended."""

    labels: NDArray[np.int32]
    objective: float
    n_iter: int
    converged: bool


# From the counts (n_clusters, k) and sizes (k,): costs, offset and objective of the centres.
Price = Callable[[Counts, Counts], tuple[Floats, Floats, float]]


def lloyd(
    members: Labels,
    starts: NDArray[np.int64],
    weights: Counts,
    scale: Floats,
    shift: Floats,
    labels: NDArray[np.int32],
    k: int,
    price: Price,
    *,
    max_iter: int,
    n_jobs: int | None = 1,
) -> LabelRuns:
    """Labels of a local optimum of k-means, from the labels given.

    Parameters
    ----------
    members : (n_members, n_rows) signed integers, C-contiguous
        Label rows; negative labels are left out of every sum.
    starts : (n_members + 1,) int64
        First row of each member in the tables.
    weights : (n_rows,) int64
        Objects with that row.
    scale : (n_rows,) float64
        Factor of each row's sum (ones for KCC, 1 / d_i for SEC).
    shift : (n_rows,) float64
        The part of each row's distances that is the same to all centres.
    labels : (n_rows,) int32
        Start, 0..k-1; not changed.
    k : int
        Centres.
    price : callable
        ``price(counts, sizes) -> (costs, offset, objective)`` of the centres of a labelling.
    max_iter : int
        Most rounds of assignment.
    n_jobs : int or None, default=1
        Threads that share the rows; fewer where a pass is over sooner than they begin.

    Returns
    -------
    LabelRuns
        Its objective never rises from round to round. A centre left empty takes the row
        farthest from its own centre.
    """
    labels = labels.copy()
    best = np.zeros(len(labels))
    counts, sizes, rows = count_table(members, starts, weights, labels, k, n_jobs=n_jobs)
    costs, offset, objective = price(counts, sizes)
    with Team(threads_of_pass(members, k, n_jobs), len(labels)) as team:
        for n_iter in range(1, max_iter + 1):
            before = labels.copy()
            # Nothing is near a centre that does not exist.
            offset = np.where(rows > 0, offset, np.inf)
            moved = _assign_all(
                team, members, starts, weights, scale, costs, offset, labels, best, counts, sizes,
                rows,
            )  # fmt: skip
            moved += _fill_empty(members, starts, weights, labels, best, shift, counts, sizes, rows)
            if not moved:
                return LabelRuns(labels, objective, n_iter, True)
            costs, offset, lower = price(counts, sizes)
            # Rounding can trade equal rows back and forth for ever; no gain is the end.
            if not lower < objective:
                return LabelRuns(before, objective, n_iter, True)
            objective = lower
    return LabelRuns(labels, objective, max_iter, False)


def threads_of_pass(members: Labels, k: int, n_jobs: int | None) -> int:
    """Threads that a pass over all rows can use."""
    return of_use(n_jobs, members.size * k // _WORTH)


def nearest(
    members: Labels,
    starts: NDArray[np.int64],
    weights: Counts,
    scale: Floats,
    costs: Floats,
    offset: Floats,
    *,
    n_jobs: int | None = 1,
) -> NDArray[np.int32]:
    """The nearest centre of every row; parameters as in `lloyd`, prices as in `Price`."""
    labels, best, k = np.zeros(members.shape[1], np.int32), np.empty(members.shape[1]), len(offset)
    tables = [np.zeros((len(costs), k), np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)]
    with Team(threads_of_pass(members, k, n_jobs), len(labels)) as team:
        _assign_all(team, members, starts, weights, scale, costs, offset, labels, best, *tables)
    return labels


def _assign_all(
    team: Team,
    members: Labels,
    starts: NDArray[np.int64],
    weights: Counts,
    scale: Floats,
    costs: Floats,
    offset: Floats,
    labels: NDArray[np.int32],
    best: Floats,
    *tables: Counts,
) -> int:
    """`assign` of all rows by a team. Tables are whole numbers: each thread notes its changes."""
    fixed = (members, starts, weights, scale, costs, offset, labels, best)
    if team.size == 1:
        return int(assign(*fixed, *tables, counter()))
    changes = [np.zeros((team.size, *table.shape), np.int64) for table in tables]
    taken = counter()

    def turn(at: int) -> int:
        return int(assign(*fixed, *(change[at] for change in changes), taken))

    moved = sum(team.run(turn))
    for table, change in zip(tables, changes, strict=True):
        table += change.sum(axis=0)
    return moved


def count_table(
    members: Labels,
    starts: NDArray[np.int64],
    weights: Counts,
    labels: NDArray[np.int32],
    k: int,
    *,
    n_jobs: int | None = 1,
) -> tuple[Counts, Counts, Counts]:
    """Weight of every cluster inside every centre, weight of and rows in every centre.

    Examples
    --------
    >>> members = np.array([[0, 1, 1]], np.int8)
    >>> count_table(members, np.array([0, 2]), np.array([2, 3, 4]), np.array([0, 0, 1]), 2)
    (array([[2, 0], [3, 4]]), array([5, 4]), array([2, 1]))
    """
    counts = np.zeros((int(starts[-1]), k), np.int64)
    sizes = np.zeros(k, np.int64)
    rows = np.zeros(k, np.int64)
    in_turns(
        lambda at, step: _count(members, starts, weights, labels, at, step, counts, sizes, rows),
        min(len(members), threads_of_pass(members, 1, n_jobs)),
        n_jobs,
    )
    return counts, sizes, rows


@compiled
def _count(members, starts, weights, labels, at, step, counts, sizes, rows):
    """Fill the counts of every ``step``-th member; the first turn also those of the centres."""
    n_members, n_rows = members.shape
    for r in range(at, n_members, step):
        for i in range(n_rows):
            if members[r, i] >= 0:
                counts[starts[r] + members[r, i], labels[i]] += weights[i]
    if at == 0:
        for i in range(n_rows):
            sizes[labels[i]] += weights[i]
            rows[labels[i]] += 1


@compiled
def assign(
    members, starts, weights, scale, costs, offset, labels, best, counts, sizes, rows, taken
):
    """Move every row to its nearest centre, several blocks a task; how many of them moved.

    A row leaves its centre only for a strictly nearer one. ``labels``, ``counts``, ``sizes``
    and ``rows`` are brought up to date; ``best`` receives the distance to the own centre
    without its ``shift``.
    """
    n_members, n_rows = members.shape
    k = costs.shape[1]
    sums = np.empty((_BLOCK, k))
    moved, begin = 0, next_task(taken) * _BLOCK * _BLOCKS
    while begin < n_rows:
        for first in range(begin, min(begin + _BLOCK * _BLOCKS, n_rows), _BLOCK):
            size = min(_BLOCK, n_rows - first)
            sums[:] = 0.0
            for r in range(n_members):
                for i in range(size):
                    label = members[r, first + i]
                    if label >= 0:
                        g = starts[r] + label
                        for q in range(k):
                            sums[i, q] += costs[g, q]
            for i in range(size):
                x = first + i
                old = labels[x]
                new = old
                low = scale[x] * sums[i, old] + offset[old]
                for q in range(k):
                    distance = scale[x] * sums[i, q] + offset[q]
                    if distance < low:
                        low = distance
                        new = q
                best[x] = low
                if new != old:
                    moved += 1
                    _move(members, starts, weights, labels, counts, sizes, rows, x, new)
        begin = next_task(taken) * _BLOCK * _BLOCKS
    return moved


@compiled
def _move(members, starts, weights, labels, counts, sizes, rows, x, new):
    """Give row x the label ``new`` and carry its weight over in the tables."""
    old = labels[x]
    for r in range(members.shape[0]):
        label = members[r, x]
        if label >= 0:
            counts[starts[r] + label, old] -= weights[x]
            counts[starts[r] + label, new] += weights[x]
    sizes[old] -= weights[x]
    sizes[new] += weights[x]
    rows[old] -= 1
    rows[new] += 1
    labels[x] = new


def _fill_empty(
    members: Labels,
    starts: NDArray[np.int64],
    weights: Counts,
    labels: NDArray[np.int32],
    best: Floats,
    shift: Floats,
    counts: Counts,
    sizes: Counts,
    rows: Counts,
) -> int:
    """Give every empty centre the farthest row of a centre with several; how many moved."""
    empty = np.flatnonzero(rows == 0)
    for q in empty:
        distance = np.where(rows[labels] > 1, best + shift, -np.inf)
        x = int(distance.argmax())
        if distance[x] == -np.inf:
            return 0
        _move(members, starts, weights, labels, counts, sizes, rows, x, np.int32(q))
        best[x] = -np.inf
    return len(empty)
