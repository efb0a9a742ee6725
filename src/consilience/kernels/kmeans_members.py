"""Many k-means runs side by side: their state, and one assignment pass for all of them.

Every member has its own number of clusters, features and rows, so what belongs to clusters lies
end to end in flat arrays; :func:`centres_of` and its like cut out one member's part.

Most objects keep their centre in most iterations, and a bound can tell (Hamerly 2010, Making
k-means even faster, SDM, section 3). At an object's last scan its second centre was farther than
its own by some gap. Since then its own centre moved a known length, and no other moved more than
the longest of the others: while the gap exceeds the sum, the label cannot change. Both lengths
depend on the object's cluster only, so they are added up per cluster (``drift``), the sum at the
time of the scan is added to the object's gap, and the test is one comparison, ``gap > drift``, with
nothing to update for objects that stay.

Centres are means of sums kept in twice the working precision (Ogita, Rump, Oishi 2005, Accurate
sum and dot product, SIAM J. Sci. Comput. 26(6), algorithm 4.4), so that objects may leave and join
at the cost of the moves alone and still leave the rounded sum that adding afresh would.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from consilience.kernels.kmeans_scan import (
    LANES,
    TILE,
    Scratch,
    Sieve,
    judged_gap,
    scan,
    two_nearest,
)

# Objects a member visits before the next member does: what all of them read stays in the
# second-level cache, and the few a late iteration still looks at fill a scan.
BLOCK = 8 * TILE


class Members(NamedTuple):
    """State of many runs; ``at`` and ``cluster_at`` say where a member's centres and clusters start."""

    n_clusters: NDArray[np.intp]
    n_features: NDArray[np.intp]
    at: NDArray[np.intp]
    cluster_at: NDArray[np.intp]
    feature_at: NDArray[np.intp]
    features: NDArray[np.intp]
    centres: NDArray[np.float64]
    coarse: NDArray[np.float32]  # the centres as the sieve sees them
    reach: NDArray[np.float64]  # length of the longest of them
    sums: NDArray[np.float64]  # pairs: the sum, and what rounding took from it
    counts: NDArray[np.int64]
    drift: NDArray[np.float64]
    labels: NDArray[np.int32]  # (n_members, n_objects), -1 before the first visit
    gaps: NDArray[np.float64]  # likewise; -inf: look at it, +inf: leave it alone


def make_members(
    starts: Sequence[NDArray[np.float64]],
    features: Sequence[NDArray[np.intp]],
    n_objects: int,
    labels: NDArray[np.int32],
    sieve: Sieve,
) -> Members:
    """State of one run a start, before its first pass over the data."""
    sizes = np.array([start.shape for start in starts], np.intp).reshape(-1, 2)
    k, d = sizes[:, 0].copy(), sizes[:, 1].copy()
    at, cluster_at, feature_at = (np.concatenate([[0], np.cumsum(s)]) for s in (k * d, k, d))
    centres = np.concatenate([np.ravel(start) for start in starts])
    members = Members(
        k, d, at, cluster_at, feature_at, np.concatenate(features), centres,
        np.zeros(centres.size, np.float32), np.zeros(k.size),
        np.zeros((centres.size, 2)),
        np.zeros(cluster_at[-1], np.int64), np.zeros(cluster_at[-1]),
        labels, np.full((k.size, n_objects), -np.inf),
    )  # fmt: skip
    labels.fill(-1)
    for m in range(k.size):
        coarsen(members, sieve, m)
    return members


@njit(cache=True, nogil=True)
def features_of(members, m):
    return members.features[members.feature_at[m] : members.feature_at[m + 1]]


@njit(cache=True, nogil=True)
def of_centres(flat, members, m):
    """Member m's (n_clusters, n_features) part of an array laid out as the centres are."""
    part = flat[members.at[m] : members.at[m + 1]]
    return part.reshape((members.n_clusters[m], members.n_features[m]) + flat.shape[1:])


@njit(cache=True, nogil=True)
def of_clusters(flat, members, m):
    """Member m's part of an array with one entry a cluster."""
    return flat[members.cluster_at[m] : members.cluster_at[m + 1]]


@njit(cache=True, nogil=True)
def coarsen(members, sieve, m):
    """Renew what the sieve knows of member m's centres."""
    centres, coarse = (
        of_centres(members.centres, members, m),
        of_centres(members.coarse, members, m),
    )
    features = features_of(members, m)
    longest = 0.0
    for c in range(centres.shape[0]):
        total = 0.0
        for f in range(features.size):
            value = (centres[c, f] - sieve.shift[features[f]]) * sieve.scale
            coarse[c, f] = value
            total += value * value
        longest = max(longest, total)
    members.reach[m] = np.sqrt(longest) * (1.0 + 1e-9)


@njit(cache=True, nogil=True)
def sweep(X, sieve, members, scratch, running, learn, moved):
    """Give every object of the running members its nearest centre: one pass over the data.

    ``moved[m]`` becomes the number of labels that changed. With ``learn`` the sums and counts of
    the clusters follow.
    """
    moved[running] = 0
    for start in range(0, X.shape[0], BLOCK):
        stop = min(start + BLOCK, X.shape[0])
        for m in running:
            moved[m] += _visit(X, sieve, members, scratch, m, start, stop, learn)


@njit(cache=True, nogil=True)
def _visit(X, sieve, members, scratch, m, start, stop, learn):
    """One member's part of a sweep over objects start..stop-1; the number of labels changed."""
    features, coarse = features_of(members, m), of_centres(members.coarse, members, m)
    labels, gaps = members.labels[m], members.gaps[m]
    drift, reach = of_clusters(members.drift, members, m), members.reach[m]
    centres = of_centres(members.centres, members, m)
    sums, counts = of_centres(members.sums, members, m), of_clusters(members.counts, members, m)
    total, nearest, second, gap, label = scratch.total, scratch.nearest, scratch.second, scratch.gap, scratch.label
    waiting, movers, left, sstrips, identity = scratch.picked, scratch.movers, scratch.left, scratch.strips, scratch.identity
    moved, n_waiting = 0, 0
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        n_picked = _pick(gaps, labels, drift, first, last, waiting, n_waiting)
        if 2 * n_picked > last - first:
            # Gathering an object costs about as much as scanning it: scan them all in place.
            strips = sieve.strips[first // TILE]
            width = (last - first + LANES - 1) // LANES * LANES
            scan(strips, features, strips[-1], width, coarse, reach, total, nearest, second, label, gap)
            n = _settle(X, centres, features, sieve.scale, labels, gaps, drift, label, gap, waiting, n_waiting, n_waiting+n_picked, first, movers, left)
            if learn: _learn(X, features, labels, sums, counts, movers, left, n)
            moved += n
        else:
            n_waiting += n_picked
        if 2 * n_waiting > TILE or (n_waiting > 0 and last == stop):
            _gather(sieve.strips, features, waiting, n_waiting, sstrips)
            width = (n_waiting + LANES - 1) // LANES * LANES
            scan(sstrips, identity, sstrips[features.size], width, coarse, reach, total, nearest, second, label, gap)
            n = _settle(X, centres, features, sieve.scale, labels, gaps, drift, label, gap, waiting, 0, n_waiting, -1, movers, left)
            if learn: _learn(X, features, labels, sums, counts, movers, left, n)
            moved += n
            n_waiting = 0
    return moved


@njit(cache=True, nogil=True)
def _pick(gaps, labels, drift, first, last, picked, n0):
    """Objects whose bound leaves their label in doubt, into ``picked``; how many."""
    n = n0
    for i in range(first, last):
        picked[n] = i
        # Written so that a gap that is not a number counts as doubt.
        n += not gaps[i] > drift[labels[i]]
    return n - n0


@njit(cache=True, nogil=True)
def _gather(strips, features, picked, n, out):
    d = features.size
    for f in range(d + 1):
        g, into = features[f] if f < d else strips.shape[1] - 1, out[f]
        for a in range(n):
            into[a] = strips[picked[a] // TILE, g, picked[a] % TILE]


@njit(cache=True, nogil=True)
def _settle(X, centres, features, scale, labels, gaps, drift, label, sgap, picked, p0, p1, first, movers, left):
    """Write the scan's labels and gaps of the picked objects; ask the judge where it is unsure.

    Object i was column ``i - first`` of the scan, or the picked ones were gathered (first < 0).
    """
    moved = 0
    for a in range(p0, p1):
        i = picked[a]
        p = a if first < 0 else i - first
        new, gap = label[p], np.float64(sgap[p])
        if not gap > 0:
            winner, nearest, second = two_nearest(X, i, features, centres)
            new = np.int32(winner)
            gap = judged_gap(nearest, second, features.size) * scale
        gap += drift[new]
        gaps[i] = gap - 1e-15 * abs(gap)  # what rounding the sum may have added
        movers[moved] = i
        left[moved] = labels[i]
        moved += new != labels[i]
        labels[i] = new
    return moved


@njit(cache=True, nogil=True)
def _learn(X, features, labels, sums, counts, movers, left, n):
    for a in range(n):
        move(X, movers[a], features, left[a], labels[movers[a]], sums, counts)


@njit(cache=True, nogil=True)
def move(X, i, features, old, new, sums, counts):
    """Take object i out of cluster ``old`` (negative: it was in none) and put it into ``new``."""
    if old >= 0:
        counts[old] -= 1
        _add(X, i, features, -1.0, sums, old)
    counts[new] += 1
    _add(X, i, features, 1.0, sums, new)


@njit(cache=True, nogil=True)
def _add(X, i, features, sign, sums, c):
    for f in range(features.size):
        value = sign * X[i, features[f]]
        before = sums[c, f, 0]
        after = before + value
        # Knuth's two-sum: exactly what rounding took from `after`.
        part = after - before
        sums[c, f, 1] += (before - (after - part)) + (value - part)
        sums[c, f, 0] = after
