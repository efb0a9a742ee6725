"""Lloyd's iteration for many members at once: new centres, refilled clusters, who goes on.

One iteration is one :func:`sweep` over the data for every member still running (the assignment),
then a step per member on its clusters alone: emptied clusters take the objects farthest from their
centres, centres move to their means, and the bounds of :mod:`consilience.kernels.kmeans_members`
grow by the lengths of the moves. A member leaves when a sweep changes none of its labels.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from consilience.kernels.kmeans_members import (
    Members,
    coarsen,
    features_of,
    move,
    of_centres,
    of_clusters,
    sweep,
)
from consilience.kernels.kmeans_scan import Scratch, Sieve, squared_distance

# Rounding of one addition to a drift, and more.
_INFLATE = 1.0 + 2.0**-51
RUNNING, STRICT, SMALL_SHIFT = 0, 1, 2


def lloyd(
    X: NDArray[np.floating],
    sieve: Sieve,
    members: Members,
    scratch: Scratch,
    *,
    max_iter: int,
    tols: NDArray[np.float64],
    spherical: bool,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Iterations taken and whether they ended by themselves; labels and centres in ``members``.

    Labels always belong to the returned centres: a member stopped by ``max_iter`` or by its
    tolerance is assigned once more.
    """
    n_members = members.n_clusters.size
    n_iter = np.zeros(n_members, np.int32)
    ended = np.full(n_members, RUNNING)
    moved = np.zeros(n_members, np.int64)
    for _ in range(max_iter):
        running = np.flatnonzero(ended == RUNNING)
        if running.size == 0:
            break
        sweep(X, sieve, members, scratch, running, True, moved)
        n_iter[running] += 1
        advance(X, sieve, members, running, moved, tols, spherical, ended)
    unsettled = np.flatnonzero(ended != STRICT)
    sweep(X, sieve, members, scratch, unsettled, False, moved)
    return n_iter, ended != RUNNING


@njit(cache=True, nogil=True)
def advance(X, sieve, members, running, moved, tols, spherical, ended):
    """Finish an iteration of the running members after its sweep; ``ended`` says who stops."""
    for m in running:
        counts = of_clusters(members.counts, members, m)
        if np.any(counts == 0):
            moved[m] += refill(X, members, m)
        if moved[m] == 0:
            ended[m] = STRICT
            continue
        shift = move_centres(members, sieve, m, spherical)
        coarsen(members, sieve, m)
        if tols[m] > 0 and shift <= tols[m]:
            ended[m] = SMALL_SHIFT


@njit(cache=True, nogil=True)
def refill(X, members, m):
    """Give every empty cluster the object farthest from its centre; how many were moved.

    Ties go to the smaller object, clusters are never emptied, and objects that lie on their centre
    stay: with too few distinct objects some clusters remain empty.
    """
    features, centres = features_of(members, m), of_centres(members.centres, members, m)
    counts, labels = of_clusters(members.counts, members, m), members.labels[m]
    sums = of_centres(members.sums, members, m)
    distance = np.zeros(labels.size)
    for i in range(labels.size):
        if labels[i] >= 0:  # the member's own rows; before the end no others have a label
            distance[i] = squared_distance(X, i, features, centres[labels[i]])
    n_moved = 0
    for c in range(counts.size):
        if counts[c] > 0:
            continue
        far = _farthest(distance, labels, counts)
        if far < 0:
            break
        move(X, far, features, labels[far], c, sums, counts)
        labels[far] = c
        members.gaps[m, far] = -np.inf  # it may be nearer to another centre
        distance[far] = 0.0
        n_moved += 1
    return n_moved


@njit(cache=True, nogil=True)
def _farthest(distance, labels, counts):
    far, length = -1, 0.0
    for i in range(labels.size):
        if distance[i] > length and counts[labels[i]] > 1:
            far, length = i, distance[i]
    return far


@njit(cache=True, nogil=True)
def move_centres(members, sieve, m, spherical):
    """Move the centres to the means of their objects; the sum of the squared shifts."""
    centres = of_centres(members.centres, members, m)
    k, d = centres.shape
    shifts = np.zeros(k)
    total = 0.0
    fresh = np.empty(d)
    for c in range(k):
        if of_clusters(members.counts, members, m)[c] == 0:
            continue  # nobody to be the mean of: it stays
        mean_of(members, m, c, spherical, fresh)
        squared = 0.0
        for f in range(d):
            squared += (fresh[f] - centres[c, f]) ** 2
            centres[c, f] = fresh[f]
        shifts[c] = np.sqrt(squared)
        total += squared
    _lengthen(of_clusters(members.drift, members, m), shifts, d, sieve.scale)
    return total


@njit(cache=True, nogil=True)
def mean_of(members, m, c, spherical, out):
    """Mean of cluster c, or their direction where ``spherical`` (no direction: zero)."""
    sums = of_centres(members.sums, members, m)
    count = of_clusters(members.counts, members, m)[c]
    length = 0.0
    for f in range(out.size):
        out[f] = (sums[c, f, 0] + sums[c, f, 1]) / count
        length += out[f] * out[f]
    if spherical and length > 0:
        length = np.sqrt(length)
        for f in range(out.size):
            out[f] /= length


@njit(cache=True, nogil=True)
def _lengthen(drift, shifts, d, scale):
    """Add to each cluster's drift its own shift and the longest of the others."""
    first = np.argmax(shifts)
    longest, runner_up = shifts[first], 0.0
    for c in range(shifts.size):
        if c != first:
            runner_up = max(runner_up, shifts[c])
    share = 1.0 + (d + 16) * 2.0**-51
    for c in range(shifts.size):
        step = shifts[c] + (runner_up if c == first else longest)
        drift[c] = (drift[c] + step * scale * share) * _INFLATE
