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
    BLOCK,
    LANES,
    TILE,
    Scratch,
    Sieve,
    judged_gap,
    scan,
    two_nearest,
)


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
    sums: NDArray[np.float64]
    errors: NDArray[np.float64]  # what rounding took from the sums
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
        np.zeros(centres.size), np.zeros(centres.size),
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
    return part.reshape((members.n_clusters[m], members.n_features[m]))


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
    for block in range((X.shape[0] + BLOCK - 1) // BLOCK):
        for m in running:
            moved[m] += _visit(X, sieve, members, scratch, m, block, learn)


@njit(cache=True, nogil=True)
def _visit(X, sieve, members, scratch, m, block, learn):
    start = block * BLOCK
    stop = min(start + BLOCK, X.shape[0])
    labels, gaps = members.labels[m, start:stop], members.gaps[m, start:stop]
    n_picked = _pick(gaps, labels, of_clusters(members.drift, members, m), scratch.picked)
    if n_picked == 0:
        return 0
    moved = 0
    features, coarse = features_of(members, m), of_centres(members.coarse, members, m)
    # Gathering an object costs about as much as scanning it: above half a block, scan the block.
    whole = 2 * n_picked > stop - start
    n_left = stop - start if whole else n_picked
    done = 0
    for t in range(0, n_left, TILE):
        width = min(TILE, n_left - t)
        padded = (width + LANES - 1) // LANES * LANES
        if whole:
            strips = sieve.strips[(start + t) // TILE]
            scan(strips, features, strips[-1], padded, coarse, members.reach[m], scratch)
            upto = done
            while upto < n_picked and scratch.picked[upto] < t + TILE:
                upto += 1
            moved += _settle(X, sieve, members, scratch, m, start, done, upto, t, True, learn)
            done = upto
        else:
            strips = scratch.strips
            picked = scratch.picked[t : t + width]
            _gather(sieve.strips[start // TILE :], features, picked, strips)
            scan(
                strips,
                scratch.identity,
                strips[features.size],
                padded,
                coarse,
                members.reach[m],
                scratch,
            )
            moved += _settle(X, sieve, members, scratch, m, start, t, t + width, t, False, learn)
    return moved


@njit(cache=True, nogil=True)
def _pick(gaps, labels, drift, picked):
    n = 0
    for r in range(gaps.size):
        picked[n] = r
        # Written so that a gap that is not a number counts as unsure.
        n += not gaps[r] > drift[labels[r]]
    return n


@njit(cache=True, nogil=True)
def _gather(strips, features, picked, out):
    for f in range(features.size):
        g, into = features[f], out[f]
        for a in range(picked.size):
            into[a] = strips[picked[a] // TILE, g, picked[a] % TILE]
    into = out[features.size]
    for a in range(picked.size):
        into[a] = strips[picked[a] // TILE, strips.shape[1] - 1, picked[a] % TILE]


@njit(cache=True, nogil=True)
def _settle(X, sieve, members, scratch, m, start, first, last, t, whole, learn):
    """Write the scan's labels and gaps of the picked objects; ask the judge where it is unsure."""
    labels, gaps = members.labels[m], members.gaps[m]
    centres, features = of_centres(members.centres, members, m), features_of(members, m)
    sums, errors = of_centres(members.sums, members, m), of_centres(members.errors, members, m)
    counts, drift = of_clusters(members.counts, members, m), of_clusters(members.drift, members, m)
    d = features.size
    moved = 0
    for a in range(first, last):
        r = scratch.picked[a]
        p = (r if whole else a) - t
        i = start + r
        new = scratch.label[p]
        gap = np.float64(scratch.gap[p])
        if not gap > 0:
            winner, nearest, second = two_nearest(X, i, features, centres)
            new = np.int32(winner)
            gap = judged_gap(nearest, second, d) * sieve.scale
        gap += drift[new]
        gaps[i] = gap - 1e-15 * abs(gap)  # what rounding the sum may have added
        old = labels[i]
        if new != old:
            moved += 1
            labels[i] = new
            if learn:
                move(X, i, features, old, new, sums, errors, counts)
    return moved


@njit(cache=True, nogil=True)
def move(X, i, features, old, new, sums, errors, counts):
    """Take object i out of cluster ``old`` (negative: it was in none) and put it into ``new``."""
    if old >= 0:
        counts[old] -= 1
        _add(X, i, features, -1.0, sums[old], errors[old])
    counts[new] += 1
    _add(X, i, features, 1.0, sums[new], errors[new])


@njit(cache=True, nogil=True)
def _add(X, i, features, sign, total, error):
    for f in range(features.size):
        value = sign * X[i, features[f]]
        before = total[f]
        after = before + value
        # Knuth's two-sum: exactly what rounding took from `after`.
        part = after - before
        error[f] += (before - (after - part)) + (value - part)
        total[f] = after
