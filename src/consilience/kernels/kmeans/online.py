"""The second phase of k-means: single objects move while that lowers the sum of squares.

Lloyd's iteration stops where every object is nearest to its own centre. Taking x out of cluster a
and into b also moves both centres, and changes the sum of squares by

    |b| / (|b| + 1) * d(x, c_b)^2 - |a| / (|a| - 1) * d(x, c_a)^2,

which can be negative at such a stop (Hartigan & Wong 1979, Algorithm AS 136, Applied Statistics
28(1)). A pass collects the objects that would gain with the centres as they are, then visits them
in order, checks each again with the centres as they are by then, and moves it at once. Passes end
when none moves. No cluster is emptied; an empty one is the cheapest to join.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.kmeans.lloyd import mean_of
from consilience.kernels.kmeans.members import Member, Members, coarsen, member_view, tally
from consilience.kernels.kmeans.scan import (
    LANES,
    TILE,
    Sieve,
    certain_gap,
    gather,
    make_scratch,
    scan,
    squared_distance,
)
from consilience.kernels.kmeans.sums import flush, make_parts, part_view, push, touch


def many_online(
    X: NDArray[np.floating],
    sieve: Sieve,
    members: Members,
    max_iter: int,
    edges: NDArray[np.int64],
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Passes of the second phase of each member, and whether the last found nothing to move.

    Starts from the labels of the members' own rows; changes labels and centres in place. A
    member's objects move one after another: threads share members here, not rows.
    """
    n_members = members.n_members
    passes = np.zeros(n_members, np.int32)
    ended = np.zeros(n_members, np.bool_)

    def turn(first: int, step: int) -> None:
        scratch = make_scratch(X.shape[1])
        for m in range(first, n_members, step):
            one = member_view(members, m)
            own = np.arange(X.shape[0]) if one.whole else one.rows
            _sums_afresh(X, own, np.searchsorted(own, edges), one)
            passes[m], ended[m] = _online(X, own, sieve, one, scratch, max_iter)

    in_turns(turn, n_members, threads)
    return passes, ended


def _sums_afresh(
    X: NDArray[np.floating], own: NDArray[np.intp], edges: NDArray[np.intp], one: Member
) -> None:
    """Sums and counts of the clusters from the labels, by blocks and in their tree."""
    blocks = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    n_levels = max(1, (len(blocks) - 1).bit_length())
    k, d = one.centres.shape
    stack = make_parts(n_levels + 2, k * d, k)
    place = (0, 0, k, d)
    part, total = part_view(stack, n_levels, place), part_view(stack, n_levels + 1, place)
    for block, some in enumerate(blocks):
        clusters = one.labels[own[some]]
        touch(part, clusters)
        tally(X, one.features, own[some], clusters, 1.0, part.sums, part.counts)
        push(stack, place, n_levels, block, total)
    flush(stack, place, n_levels, total)
    one.sums[:] = np.where(total.touched[:, None, None], total.sums, 0.0)
    one.counts[:] = np.where(total.touched, total.counts, 0)


@compiled
def _online(X, rows, sieve, one, scratch, max_iter):
    for c in range(one.counts.size):
        if one.counts[c] > 0:
            mean_of(one.sums, one.counts, c, False, one.centres[c])
    candidates = np.empty(rows.size, np.intp)
    passes, moved = 0, 1
    while moved > 0 and passes < max_iter:
        coarsen(one, sieve)
        n = _candidates(X, rows, sieve, one, scratch, candidates)
        moved = _visit(X, candidates[:n], one)
        passes += 1
    # Leave what the sieve knows as a plain assignment wants it.
    one.weights[:] = 1
    coarsen(one, sieve)
    return passes, moved == 0


@compiled
def _candidates(X, rows, sieve, one, scratch, out):
    """Objects that would gain by a move with the centres as they are; how many."""
    columns, reach, d = one.columns, one.reach[0], one.columns.size
    for c in range(one.counts.size):
        one.weights[c] = one.counts[c] / (one.counts[c] + 1.0)
    n = 0
    for at in range(0, rows.size, TILE):
        some = rows[at : at + TILE]
        width = (some.size + LANES - 1) // LANES * LANES
        gather(sieve.strips, columns, some, scratch)
        scan(scratch.strips, scratch.columns[:d], width, one.coarse, one.weights, scratch)
        _weigh_own(some, one.labels, one.counts, scratch.label, scratch.nearest)
        norms = scratch.strips[d]
        certain_gap(scratch.nearest, scratch.second, norms, width, reach, d, scratch.gap)
        n = _confirm(X, some, one, scratch.gap, out, n)
    return n


@compiled
def _weigh_own(rows, labels, counts, label, nearest):
    """Turn the cost of joining its own cluster into what leaving it saves; else, a certain gain."""
    for a in range(rows.size):
        own = labels[rows[a]]
        if label[a] != own:
            nearest[a] = np.float32(3e38)
        elif counts[own] > 1:
            nearest[a] *= np.float32((counts[own] + 1.0) / (counts[own] - 1.0))
        else:
            nearest[a] = 0


@compiled
def _confirm(X, rows, one, gap, out, n):
    features, centres, counts, labels = one.features, one.centres, one.counts, one.labels
    for a in range(rows.size):
        if not gap[a] > 0 and _best_move(X, rows[a], features, centres, counts, labels) >= 0:
            out[n] = rows[a]
            n += 1
    return n


@compiled
def _best_move(X, i, features, centres, counts, labels):
    """Cluster that object i should move to; -1 if it should stay."""
    own = labels[i]
    if counts[own] <= 1:
        return -1
    here = squared_distance(X, i, features, centres, own) * (counts[own] / (counts[own] - 1.0))
    best, least = -1, np.inf
    for c in range(counts.size):
        if c != own:
            there = 0.0
            if counts[c] > 0:
                there = squared_distance(X, i, features, centres, c)
                there *= counts[c] / (counts[c] + 1.0)
            if there < least:
                best, least = c, there
    # A gain within rounding is none: two clusters could pass an object to and fro for ever.
    return best if here - least > (features.size + 16) * 2.0**-51 * here else -1


@compiled
def _visit(X, candidates, one):
    """Move every candidate that still gains; how many moved."""
    features, centres, counts, labels = one.features, one.centres, one.counts, one.labels
    sums, moved, mover, cluster = one.sums, 0, np.zeros(1, np.intp), np.zeros(1, np.int32)
    for i in candidates:
        new = _best_move(X, i, features, centres, counts, labels)
        if new < 0:
            continue
        old = labels[i]
        mover[0], cluster[0] = i, old
        tally(X, features, mover, cluster, -1.0, sums, counts)
        cluster[0] = labels[i] = new
        tally(X, features, mover, cluster, 1.0, sums, counts)
        mean_of(sums, counts, old, False, centres[old])
        mean_of(sums, counts, new, False, centres[new])
        moved += 1
    return moved
