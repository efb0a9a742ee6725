"""Many k-means runs side by side: their state, and one assignment pass for all of them.

Every member has its own number of clusters, features and rows, so what belongs to centres and
clusters lies end to end in flat arrays; :func:`member_of` cuts out one member's part.

Most objects keep their centre in most iterations, and a bound can tell (Hamerly 2010, Making
k-means even faster, SIAM Data Mining, section 3). At an object's last scan its second centre was
farther than its own by some gap. Since then its own centre moved a known length, and no other moved
more than the longest of the others: while the gap exceeds the sum of the two, the label cannot
change. Both lengths depend on the object's cluster only, so they are added up per cluster
(``drift``), and the sum at the time of the scan is added to the object's gap. The test is one
comparison, ``gap > drift``, and nothing is written for objects that stay.

Centres are means of sums kept in twice the working precision (Ogita, Rump, Oishi 2005, Accurate
sum and dot product, SIAM J. Sci. Comput. 26(6), algorithm 4.4). So objects leave and join at the
cost of the moves alone, and the centres are those that adding afresh would give.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, first_at
from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.scan import (
    LANES,
    TILE,
    Sieve,
    certain_gap,
    gather,
    judged_gap,
    padded_columns,
    scan,
    two_nearest,
)
from consilience.kernels.kmeans.sums import touch

# Objects a member visits before the next one does: what all of them read stays in the second-level
# cache, and the few objects a late iteration still looks at fill a scan.
BLOCK = BLOCK_ROWS
assert BLOCK % TILE == 0, "tiles end where blocks end"
# Columns of `Members.at`: where a member's part of each flat array starts.
CLUSTER, FEATURE, COLUMN, CENTRE, COARSE, ROW = range(6)


class Members(NamedTuple):
    """State of many runs, in few arrays: each takes its time wherever it is handed on in kernels.

    ``at[m]`` is where member m's parts of the flat arrays start, ``at[m + 1]`` where they end.
    """

    at: NDArray[np.intp]  # (n_members + 1, 6)
    features: NDArray[np.intp]
    columns: NDArray[np.intp]
    centres: NDArray[np.float64]
    coarse: NDArray[np.float32]
    reach: NDArray[np.float64]
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    drift: NDArray[np.float64]
    weights: NDArray[np.float32]
    whole: NDArray[np.bool_]
    rows: NDArray[np.intp]
    labels: NDArray[np.int32]
    gaps: NDArray[np.float32]

    @property
    def n_members(self) -> int:
        """How many runs there are."""
        return len(self.at) - 1


class Member(NamedTuple):
    """State of one run, as views."""

    features: NDArray[np.intp]
    columns: NDArray[np.intp]  # the strips it reads
    centres: NDArray[np.float64]  # (n_clusters, n_features)
    coarse: NDArray[np.float32]  # the centres as the sieve sees them
    reach: NDArray[np.float64]  # (1,): length of the longest of them
    sums: NDArray[np.float64]  # (n_clusters, 2, n_features): sum, and what rounding took from it
    counts: NDArray[np.int64]
    drift: NDArray[np.float64]  # (n_clusters + 1,): that of cluster c at c + 1
    weights: NDArray[np.float32]  # of a cluster's distances
    whole: bool  # whether all objects are its own
    rows: NDArray[np.intp]  # its own objects if not, sorted
    labels: NDArray[np.int32]  # (n_objects,): -1 before the first visit
    gaps: NDArray[np.float32]  # (n_objects,): -inf: look at it, +inf: leave it alone


def make_members(
    starts: Sequence[NDArray[np.float64]],
    features: Sequence[NDArray[np.intp]],
    sieve: Sieve,
    labels: NDArray[np.int32],
    rows: Sequence[NDArray[np.intp] | None] | None = None,
) -> Members:
    """State of one run a start, before its first pass over the data; labels go to ``labels``.

    ``rows`` are each member's own objects, None for all. Labels and bounds of the objects are
    filled in by the first pass (`open_rows`).
    """
    own = [None] * len(starts) if rows is None else list(rows)
    listed = [np.empty(0, np.intp) if one is None else one for one in own]
    columns = [padded_columns(one, sieve.shift.size) for one in features]
    k = np.array([len(start) for start in starts], np.intp)
    at = np.zeros((k.size + 1, 6), np.intp)
    d, width = (np.array([one.size for one in many], np.intp) for many in (features, columns))
    n_own = np.array([one.size for one in listed], np.intp)
    at[1:] = np.cumsum([k, d, width, k * d, k * width, n_own], axis=1).T
    n_clusters, n_values = at[-1, CLUSTER], at[-1, CENTRE]
    members = Members(
        at=at,
        features=np.concatenate(features),
        columns=np.concatenate(columns),
        centres=np.concatenate([np.ravel(start) for start in starts]),
        coarse=np.zeros(at[-1, COARSE], np.float32),
        reach=np.zeros(k.size),
        sums=np.zeros(2 * n_values),
        counts=np.zeros(n_clusters, np.int64),
        drift=np.zeros(n_clusters + k.size),
        weights=np.ones(n_clusters, np.float32),
        whole=np.array([one is None for one in own], np.bool_),
        rows=np.concatenate(listed),
        labels=labels,
        gaps=np.empty(labels.shape, np.float32),
    )
    for m in range(k.size):
        coarsen(member_view(members, m), sieve)
    return members


@compiled
def member_of(members, m):
    """Member m's state, as views into the state of all."""
    at = members.at
    first, last = at[m, CLUSTER], at[m + 1, CLUSTER]
    start, stop, k = at[m, CENTRE], at[m + 1, CENTRE], last - first
    features = members.features[at[m, FEATURE] : at[m + 1, FEATURE]]
    columns = members.columns[at[m, COLUMN] : at[m + 1, COLUMN]]
    coarse = members.coarse[at[m, COARSE] : at[m + 1, COARSE]]
    return Member(
        features,
        columns,
        members.centres[start:stop].reshape((k, features.size)),
        coarse.reshape((k, columns.size)),
        members.reach[m : m + 1],
        members.sums[2 * start : 2 * stop].reshape((k, 2, features.size)),
        members.counts[first:last],
        members.drift[first + m : last + m + 1],
        members.weights[first:last],
        members.whole[m],
        members.rows[at[m, ROW] : at[m + 1, ROW]],
        members.labels[m],
        members.gaps[m],
    )


# For plain Python: an interrupt while compiled code hands a named tuple back may end the process.
member_view = getattr(member_of, "py_func", member_of)


@compiled(plain_up_to=20_000)
def coarsen(one, sieve):
    """Renew what the sieve knows of a member's centres."""
    # Fields are taken out of tuples before loops: each time, references are counted.
    features, centres, coarse, shift = one.features, one.centres, one.coarse, sieve.shift
    longest = 0.0
    for c in range(centres.shape[0]):
        total = 0.0
        for f in range(features.size):
            value = (centres[c, f] - shift[features[f]]) * sieve.scale
            coarse[c, f] = value
            total += value * value
        longest = max(longest, total)
    one.reach[0] = np.sqrt(longest) * (1.0 + 1e-9)


@compiled
def own_rows(one, start, stop):
    """Where a member's own objects among start..stop-1 are listed; they themselves if all are."""
    if one.whole:
        return start, stop
    return first_at(one.rows, start), first_at(one.rows, stop)


@compiled
def open_rows(one, start, stop):
    """Before the first visit of objects start..stop-1: look at the member's own, and no others."""
    one.labels[start:stop] = -1
    one.gaps[start:stop] = -np.inf if one.whole else np.inf
    if not one.whole:
        begin, end = own_rows(one, start, stop)
        for a in range(begin, end):
            one.gaps[one.rows[a]] = -np.inf


@compiled
def visit(X, sieve, one, scratch, start, stop, learn, part):
    """Give a member's objects in start..stop-1 their nearest centres; how many labels changed.

    With ``learn`` the changes of its clusters are added to ``part``, one object after the other in
    their order: what bounds let a pass skip must not change the last bit of a sum.
    """
    gaps, labels, drift, doubtful = one.gaps, one.labels, one.drift, scratch.picked
    # Not plain 0 and -1: constants are types of their own, for which callees are compiled again.
    moved, n_waiting, gathered = 0, np.int64(0), np.int64(-1)
    # Tiles are those of the sieve; a block of which only some rows are there may begin inside one.
    for tile in range(start - start % TILE, stop, TILE):
        first, last = max(tile, start), min(tile + TILE, stop)
        n_picked = _pick(gaps, labels, drift, first, last, doubtful, n_waiting)
        # Gathering an object costs about as much as scanning it: scan the tile where it lies.
        in_place = 2 * (n_picked - n_waiting) > last - tile
        n_gathered = n_waiting if in_place else n_picked
        if n_gathered > 0 and (in_place or 2 * n_gathered > TILE or last == stop):
            picked, norms = doubtful[:n_gathered], scratch.strips[one.columns.size]
            gather(sieve.strips, one.columns, picked, scratch)
            measure(
                scratch.strips, scratch.columns[: one.columns.size], norms, n_gathered, one, scratch
            )
            moved += _settle(X, sieve.scale, one, scratch, picked, gathered, learn, part)
            n_gathered = np.int64(0)
        if in_place:
            strips = sieve.strips[tile // TILE]
            measure(strips, one.columns, strips[-1], last - tile, one, scratch)
            picked = doubtful[n_waiting:n_picked]
            moved += _settle(X, sieve.scale, one, scratch, picked, tile, learn, part)
        n_waiting = n_gathered
    return moved


@compiled
def _pick(gaps, labels, drift, first, last, picked, n):
    """Append the objects whose bound leaves their label in doubt; how many there are now."""
    # Unsigned indices are not checked for being negative: the loop is twice as fast.
    n = np.uint64(n)
    for i in range(np.uint64(first), np.uint64(last)):
        picked[n] = i
        # Written so that a gap that is not a number counts as doubt.
        n += np.uint64(not gaps[i] > drift[np.uint64(labels[i] + 1)])
    return np.int64(n)


@compiled
def measure(strips, columns, norms, width, one, scratch):
    """Nearest centre of each of ``width`` objects and how certain that is, into the scratch."""
    width = (width + LANES - 1) // LANES * LANES
    scan(strips, columns, width, one.coarse, one.weights, scratch)
    nearest, second, gap = scratch.nearest, scratch.second, scratch.gap
    certain_gap(nearest, second, norms, width, one.reach[0], columns.size, gap)


@compiled
def _settle(X, scale, one, scratch, picked, first, learn, part):
    """Write what the scan found of the picked objects; ask the judge where that is in doubt.

    Object i was column ``i - first`` of the scan, or the picked ones were gathered (first < 0).
    """
    labels, gaps, drift, scanned, certain = (
        one.labels,
        one.gaps,
        one.drift,
        scratch.label,
        scratch.gap,
    )
    movers, left, joined = scratch.movers, scratch.left, scratch.joined
    features, centres = one.features, one.centres
    moved = 0
    for a in range(picked.size):
        i = picked[a]
        p = a if first < 0 else i - first
        new, gap = scanned[p], np.float64(certain[p])
        if not gap > 0:
            winner, nearest, second = two_nearest(X, i, features, centres)
            new = np.int32(winner)
            gap = judged_gap(nearest, second, features.size) * scale
        gap += drift[new + 1]
        gaps[i] = gap - 2e-7 * abs(gap)  # rounded down to float32
        movers[moved], left[moved], joined[moved] = i, labels[i], new
        moved += new != labels[i]
        labels[i] = new
    if learn and moved > 0:
        add_moves(X, features, movers[:moved], left[:moved], joined[:moved], part)
    return moved


@compiled
def add_moves(X, features, objects, left, joined, part):
    """Add to a part that objects change their clusters, each leaving its old one (or none, < 0)."""
    touch(part, left)
    touch(part, joined)
    sums, counts, every_feature = part.sums, part.counts, features.size == X.shape[1]
    for a in range(objects.size):
        i, old, new = objects[a], left[a], joined[a]
        if old >= 0:
            counts[old] -= 1
            if every_feature:  # without the detour through `features` the loop vectorises
                for f in range(X.shape[1]):
                    _add(sums, old, f, -X[i, f])
            else:
                for f in range(features.size):
                    _add(sums, old, f, -X[i, features[f]])
        if new >= 0:
            counts[new] += 1
            if every_feature:
                for f in range(X.shape[1]):
                    _add(sums, new, f, X[i, f])
            else:
                for f in range(features.size):
                    _add(sums, new, f, X[i, features[f]])


@compiled
def tally(X, features, objects, clusters, sign, sums, counts):
    """Add objects to their clusters' sums and counts (sign = 1.0), or take them out (-1.0)."""
    every_feature = features.size == X.shape[1]
    for a in range(objects.size):
        i, c = objects[a], clusters[a]
        if c < 0:
            continue
        counts[c] += np.int64(sign)
        if every_feature:  # without the detour through `features` the loop vectorises
            for f in range(X.shape[1]):
                _add(sums, c, f, sign * X[i, f])
        else:
            for f in range(features.size):
                _add(sums, c, f, sign * X[i, features[f]])


@compiled
def _add(sums, c, f, value):
    before = sums[c, 0, f]
    after = before + value
    # Knuth's two-sum: exactly what rounding took from `after`.
    part = after - before
    sums[c, 1, f] += (before - (after - part)) + (value - part)
    sums[c, 0, f] = after
