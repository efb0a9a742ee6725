"""How near each object is to its own cluster of a consensus, and to the best other one.

Both go through small tables: how many objects of each consensus cluster are in each cluster of
each member. An object adds up the rows of its own clusters, and is done; no pair is looked at.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.pairs.compare import UNSEEN

__all__ = ["Nearness", "nearness"]

Labels = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]

# Objects whose sums are held at once: small enough for the first cache with k about 20.
_BLOCK = 128
# Blocks that a thread takes at once: what it reads of a member are some whole lines of the cache.
_BLOCKS = 8
# Labels that are worth a thread.
_WORTH = 2**18
# Objects of a part that is counted by itself, and most parts: so many that threads end together
# also where members are few, and the part's consensus stays in the second cache.
_PART, _PARTS = 2**15, 8


class Nearness(NamedTuple):
    """Mean co-association with the own and the best other cluster, and which that is or -1."""

    own: NDArray[np.float64]
    other: NDArray[np.float64]
    runner_up: NDArray[np.int32]


def nearness(
    members: Labels,
    labels: Ints,
    n_clusters: int,
    *,
    by_seen: bool,
    starts: Ints | None = None,
    counts: Ints | None = None,
    share: NDArray[np.float64] | None = None,
    n_jobs: int | None = 1,
) -> Nearness:
    """Means over the other objects of each cluster, objects in no cluster left out.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    labels : (n_objects,) int64
        A consensus: 0..n_clusters-1, or negative.
    n_clusters : int
    by_seen : bool
        False: pairs count by the share of all members that joined them. True: by the share of
        the members that saw them, and a pair weighs as much as members saw it: the sum of joined
        over the sum of seen.
    starts : (n_members + 1,) int64, optional
        `first_columns` of the members, where they are known.
    counts : (n_objects,) int64, optional
        How many objects each stands for, where equal ones are one; 1 by default.
    share : (n_objects,) float64, optional
        Overwritten by ``own / (own + other)``, 0 where both are.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Nearness
        Time O(n_objects n_members n_clusters), memory O(clusters of all members x n_clusters)
        beside the result.

    Examples
    --------
    >>> members = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], np.int8)
    >>> result = nearness(members, np.array([0, 0, 0, 1, 1, 1]), 2, by_seen=False)
    >>> result.own.tolist(), result.other.round(2).tolist()
    ([0.75, 0.75, 0.5, 1.0, 1.0, 1.0], [0.0, 0.0, 0.5, 0.17, 0.17, 0.17])
    """
    n_members, n = members.shape
    starts = first_columns(members) if starts is None else starts
    # Not filled here: every thread is the first to touch what it writes.
    means = Nearness(np.empty(n), np.empty(n), np.empty(n, np.int32))
    share = np.empty(n) if share is None else share
    each = np.ones(1, np.int64) if counts is None else counts
    cells = int(starts[-1]) * n_clusters
    n_parts = max(1, min(-(-n // _PART), _PARTS, members.size // max(cells, 1)))
    # Of every part: of clusters by consensus clusters, of who was seen, and of the consensus.
    tables = np.zeros((n_parts, int(starts[-1]), n_clusters), np.int64)
    seen = np.zeros((n_parts, n_members if by_seen else 0, n_clusters), np.int64)
    sizes = np.zeros((n_parts, n_clusters), np.int64)
    given, sums, taken = (members, starts, labels), (tables, seen, sizes), counter()
    with Team(n_jobs, min(-(-n // _BLOCK), -(-members.size // _WORTH))) as team:
        team.run(lambda _: _fill_tables(*given, each, *sums, taken))
        whole = [parts[0] if n_parts == 1 else parts.sum(axis=0) for parts in sums]
        taken = counter()
        team.run(lambda _: _judge(*given, *whole, taken, *means, share))
    return means


@compiled(plain_up_to=100_000)
def _fill_tables(members, starts, labels, counts, tables, seen, sizes, taken):
    """Objects of each consensus cluster in each cluster, by parts of the objects.

    A task is a part and a member, or a part and the consensus itself. A thread counts in a table
    of its own: the last cells of a member share a line of the cache with the first of the next.
    """
    once = 0 if counts.size == 1 else 1
    widest = 0
    for r in range(members.shape[0]):
        widest = max(widest, starts[r + 1] - starts[r])
    of_thread = np.empty((widest, tables.shape[2]), np.int64)
    n_members, n = members.shape
    n_parts = tables.shape[0]
    task = next_task(taken)
    while task < n_parts * (n_members + 1):
        part, r = task // (n_members + 1), task % (n_members + 1)
        begin, end = n * part // n_parts, n * (part + 1) // n_parts
        if r == n_members:
            for i in range(begin, end):
                if labels[i] >= 0:
                    sizes[part, labels[i]] += counts[i * once]
        else:
            table = of_thread[: starts[r + 1] - starts[r]]
            table[:] = 0
            for i in range(begin, end):
                if labels[i] >= 0:
                    if members[r, i] >= 0:
                        table[members[r, i], labels[i]] += counts[i * once]
                    if seen.shape[1] > 0 and members[r, i] != UNSEEN:
                        seen[part, r, labels[i]] += counts[i * once]
            tables[part, starts[r] : starts[r + 1]] = table
        task = next_task(taken)


@compiled
def _add_up(members, starts, start, stop, tables, seen, joined, both, times):
    """Sums of a block of objects over their clusters, member by member: labels lie so.

    Fills ``joined``, ``both`` (where members that saw count), and in ``times`` how many members
    placed and saw each object.
    """
    joined[:] = 0
    both[:] = 0
    times[:] = 0
    for r in range(members.shape[0]):
        for i in range(start, stop):
            label, a = members[r, i], i - start
            if label >= 0:
                times[0, a] += 1
                row = tables[starts[r] + label]
                for c in range(row.shape[0]):
                    joined[a, c] += row[c]
            if seen.shape[0] > 0 and label != UNSEEN:
                times[1, a] += 1
                for c in range(seen.shape[1]):
                    both[a, c] += seen[r, c]


@compiled(
    plain_up_to=400_000, size=lambda members, _0, _1, tables, *_: members.size * tables.shape[1]
)
def _judge(members, starts, labels, tables, seen, sizes, taken, own, other, runner_up, share):
    """Blocks of objects: own cluster, best other one, and which that is."""
    n_members, n = members.shape
    k = sizes.shape[0]
    by_seen = seen.shape[0] > 0
    joined, times = np.zeros((_BLOCK, k), np.int64), np.zeros((2, _BLOCK), np.int64)
    both = np.zeros((_BLOCK if by_seen else 1, k), np.int64)
    pairs = n_members * sizes
    begin = _BLOCKS * _BLOCK * next_task(taken)
    while begin < n:
        for start in range(begin, min(n, begin + _BLOCKS * _BLOCK), _BLOCK):
            stop = min(n, start + _BLOCK)
            _add_up(members, starts, start, stop, tables, seen, joined, both, times)
            for i in range(start, stop):
                mine, a = labels[i], i - start
                own[i], other[i], runner_up[i], share[i] = 0.0, 0.0, -1, 0.0
                if mine < 0:
                    continue
                if by_seen:
                    pairs = both[a]
                # Among the others of its own cluster the object itself does not count.
                mates = pairs[mine] - (times[1, a] if by_seen else n_members)
                own[i] = 1.0
                if sizes[mine] > 1:
                    own[i] = (joined[a, mine] - times[0, a]) / mates if mates > 0 else 0.0
                for c in range(k):
                    if c != mine and pairs[c] > 0 and joined[a, c] / pairs[c] > other[i]:
                        other[i] = joined[a, c] / pairs[c]
                        runner_up[i] = c
                if own[i] + other[i] > 0:
                    share[i] = own[i] / (own[i] + other[i])
        begin = _BLOCKS * _BLOCK * next_task(taken)
