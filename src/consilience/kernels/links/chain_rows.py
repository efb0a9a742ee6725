"""Similarity of one cluster to all others, summed from labels: integers, so sums are exact.

A row holds, for one cluster, the sum over its objects i and the objects j of every other
cluster of ``w_i * w_j * value(i, j)``. The value is the number of members that joined the pair;
or, where every pair has its own denominator, its share joined / seen in fixed point. Either is an
integer: a sum does not depend on its order, and clusters that tie in exact arithmetic tie here.
"""

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.pairs.compare import count_joined, count_seen, make_query


@compiled(plain_up_to=100_000)
def sum_rows(members, n_seen, scale, weights, slot_of, objects, width, row):
    """Fill ``row`` by comparing each of ``objects`` with all: best for few objects.

    ``n_seen`` is empty where the value is a plain count, else the value is joined / seen times
    ``scale``.
    """
    n = members.shape[1]
    query, scratch = make_query(members), np.empty(width, np.uint8)
    room = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int64)
    labels = np.empty(members.shape[0], members.dtype)
    row[:] = 0
    for lo in range(0, n, width):
        hi = min(n, lo + width)
        joined, seen, total = room[0][: hi - lo], room[1][: hi - lo], room[2][: hi - lo]
        total[:] = 0
        for a in range(objects.shape[0]):
            weight = weights[objects[a]]
            for r in range(members.shape[0]):
                labels[r] = members[r, objects[a]]
            count_joined(members, labels, lo, query, scratch, joined)
            if n_seen.shape[0] == 0:
                _add_counts(joined, weight, total)
            else:
                count_seen(members, labels, n_seen, lo, query, scratch, seen)
                _add_shares(joined, seen, scale, weight, total)
        _gather_slots(total, weights[lo:hi], slot_of[lo:hi], row)


@compiled
def sum_histogram(members, n_clusters, weights, slot_of, objects, width, row):
    """Fill ``row`` from the label histogram of ``objects``: best for many objects.

    Counts only. One pass over the labels whatever the number of objects, because the sum of
    joined(i, j) over i is the sum over members of how many of the objects have j's label.
    """
    n = members.shape[1]
    total_room, table = np.empty(width, np.int64), np.empty(np.max(n_clusters) + 2, np.int64)
    row[:] = 0
    for lo in range(0, n, width):
        hi = min(n, lo + width)
        total = total_room[: hi - lo]
        total[:] = 0
        for r in range(members.shape[0]):
            _count_labels(members[r], weights, objects, table[: n_clusters[r] + 2])
            _look_up(members[r, lo:hi], table, total)
        _gather_slots(total, weights[lo:hi], slot_of[lo:hi], row)


@compiled
def _add_counts(joined, weight, total):
    for j in range(total.shape[0]):
        total[j] += weight * joined[j]


# Without a check for division by zero, which there is not: it would keep the loop scalar.
@compiled(error_model="numpy")
def _add_shares(joined, seen, scale, weight, total):
    for j in range(total.shape[0]):
        # A function of the share alone: 1/3 and 2/6 become the same integer.
        share = np.floor(scale * (joined[j] / max(1, seen[j])) + 0.5)
        total[j] += weight * np.int64(share)


@compiled
def _gather_slots(total, weights, slot_of, row):
    for j in range(total.shape[0]):
        row[slot_of[j]] += weights[j] * total[j]


@compiled
def _count_labels(labels, weights, objects, table):
    """Weight of the objects with each label; label -2 comes first, and negative ones count 0."""
    table[:] = 0
    for a in range(objects.shape[0]):
        table[np.int64(labels[objects[a]]) + 2] += weights[objects[a]]
    table[0] = table[1] = 0


@compiled
def _look_up(labels, table, total):
    for j in range(total.shape[0]):
        total[j] += table[np.int64(labels[j]) + 2]
