"""How an iteration of k-means ends: refilled clusters, new centres, whether it goes on.

After a pass over the data (:mod:`consilience.kernels.kmeans.passes`) a member has a step to take on
its clusters alone: emptied clusters take the objects farthest from their centres, centres move to
their means, and the bounds of :mod:`consilience.kernels.kmeans.members` grow by the lengths of the
moves. A member ends when a pass changes none of its labels.
"""

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.members import coarsen, tally
from consilience.kernels.kmeans.scan import squared_distance
from consilience.kernels.kmeans.sums import add_sums

# How a member stands after an iteration: labels still change, none did, or its centres moved so
# little that this is the end by its tolerance.
GOES_ON, UNCHANGED, SMALL_SHIFT = 0, 1, 2


@compiled
def end_round(X, sieve, one, change, moved, tol, spherical):
    """Finish an iteration in which ``moved`` labels changed, the clusters by ``change``."""
    if take_change(one, change):
        moved += _refill(X, one)
    return move_on(sieve, one, moved, tol, spherical)


@compiled
def take_change(one, change):
    """Add to a member's sums and counts what changed; whether a cluster is empty now."""
    empty = False
    for c in range(one.counts.size):
        if change.touched[c]:
            change.touched[c] = False
            one.counts[c] += change.counts[c]
            add_sums(one.sums[c], change.sums[c])
        empty |= one.counts[c] == 0
    return empty


@compiled
def move_on(sieve, one, moved, tol, spherical):
    """Move a member's centres if any label changed; how it stands."""
    if moved == 0:
        return UNCHANGED
    shift = _move_centres(one, sieve, spherical)
    return SMALL_SHIFT if tol > 0 and shift <= tol else GOES_ON


@compiled
def _refill(X, one):
    """Give every empty cluster the object farthest from its centre; how many were moved.

    Ties go to the smaller object, no cluster loses its only object, and objects that lie on their
    centre stay: with too few distinct objects some clusters remain empty.
    """
    labels, counts, features, centres = one.labels, one.counts, one.features, one.centres
    distance = np.zeros(labels.size)
    for i in range(labels.size):
        if labels[i] >= 0:  # a row of this member: no other has a label yet
            distance[i] = squared_distance(X, i, features, centres, labels[i])
    taken, clusters = np.zeros(1, np.intp), np.zeros(1, np.int32)
    n_moved = 0
    for c in range(counts.size):
        if counts[c] > 0:
            continue
        far = _farthest(distance, labels, counts)
        if far < 0:
            break
        taken[0] = far
        clusters[0] = labels[far]
        tally(X, features, taken, clusters, -1.0, one.sums, counts)
        labels[far] = clusters[0] = c
        tally(X, features, taken, clusters, 1.0, one.sums, counts)
        one.gaps[far] = -np.inf  # the bound was that of its old cluster
        n_moved += 1
    return n_moved


@compiled
def _farthest(distance, labels, counts):
    far, length = -1, 0.0
    for i in range(labels.size):
        if distance[i] > length and counts[labels[i]] > 1:
            far, length = i, distance[i]
    return far


@compiled
def _move_centres(one, sieve, spherical):
    """Move the centres to the means of their objects; the sum of the squared shifts."""
    centres, sums, counts = one.centres, one.sums, one.counts
    k, d = centres.shape
    shifts, fresh = np.zeros(k), np.empty(d)
    total = 0.0
    for c in range(k):
        if counts[c] == 0:
            continue  # nobody to be the mean of: it stays
        mean_of(sums, counts, c, spherical, fresh)
        squared = 0.0
        for f in range(d):
            squared += (fresh[f] - centres[c, f]) ** 2
            centres[c, f] = fresh[f]
        shifts[c] = np.sqrt(squared)
        total += squared
    _lengthen(one.drift, shifts, d, sieve.scale)
    coarsen(one, sieve)
    return total


@compiled
def mean_of(sums, counts, c, spherical, out):
    """Mean of cluster c; its direction where ``spherical`` (zero where it has none)."""
    squared = 0.0
    for f in range(out.size):
        out[f] = (sums[c, 0, f] + sums[c, 1, f]) / counts[c]
        squared += out[f] * out[f]
    if spherical and squared > 0:
        length = np.sqrt(squared)
        for f in range(out.size):
            out[f] /= length


@compiled
def _lengthen(drift, shifts, d, scale):
    """Add to each cluster's drift its own shift and the longest of the others, rounded up."""
    # NumPy's argmax and any bring error texts along, which take longer to compile than all this.
    top = 0
    for c in range(shifts.size):
        top = c if shifts[c] > shifts[top] else top
    longest, runner_up = shifts[top], 0.0
    for c in range(shifts.size):
        if c != top:
            runner_up = max(runner_up, shifts[c])
    # The first factor keeps distances apart by more than float64 can confuse when the bound is
    # used up; the second covers the rounding of this addition.
    share, inflate = 1.0 + (d + 16) * 2.0**-51, 1.0 + 2.0**-51
    for c in range(shifts.size):
        step = shifts[c] + (runner_up if c == top else longest)
        drift[c + 1] = (drift[c + 1] + step * scale * share) * inflate
