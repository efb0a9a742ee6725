"""Count, for one object and a block of others, the members that joined or saw both.

One idea: labels lie member-major and narrow, so a block of objects is compared with one label
after the other and the hits are added into byte counters. The loop has no reduction and no
branch, it vectorises, and the block's labels stay in the cache for the next object.

Both counts are the same loop. *Joined* counts labels equal to the object's own. *Seen* counts
labels equal to ``UNSEEN``, among the members that saw the object, or among those that did not,
whichever are fewer; what is wanted then follows by subtraction.
"""

import numpy as np

from consilience.kernels._jit import compiled

NOISE = -1
UNSEEN = -2
# Never a label: what a padded query asks for, so that it matches nobody.
NOBODY = -3

# Labels taken in one turn of the inner loop: loads and stores of the counters are shared by them.
LANES = 4
# Labels after which byte counters may be full; a multiple of LANES below 256.
BYTE_FULL = 252
# Bytes of labels a block of objects may take: half of a usual second-level cache.
BLOCK_BYTES = 1 << 19


def block_width(members: np.ndarray) -> int:
    """Objects per block, so that their labels stay in the second-level cache."""
    width = BLOCK_BYTES // max(1, members.shape[0] * members.itemsize)
    return int(min(8192, max(1024, width // 64 * 64)))


def count_type(n_members: int) -> type:
    """Narrowest unsigned integer that can count to ``n_members``."""
    if n_members <= 255:
        return np.uint8
    return np.uint16 if n_members <= 65535 else np.uint32


@compiled
def count_seen_by(members):
    """Members that saw each object, (n_objects,) int64."""
    n_seen = np.zeros(members.shape[1], np.int64)
    for r in range(members.shape[0]):
        labels = members[r]
        for j in range(labels.shape[0]):
            n_seen[j] += labels[j] != UNSEEN
    return n_seen


@compiled
def make_query(members):
    """Room for the labels asked of each member: member numbers, labels."""
    room = members.shape[0] + LANES
    return np.empty(room, np.int64), np.empty(room, members.dtype)


@compiled
def _pad_query(asked, wanted, length):
    """Fill the query up to full lanes with labels nobody has; its new length."""
    while length % LANES != 0:
        asked[length] = 0
        wanted[length] = NOBODY
        length += 1
    return length


@compiled
def ask_joined(labels, asked, wanted):
    """Query for the objects joined to the one with these labels; its length."""
    length = 0
    for r in range(labels.shape[0]):
        if labels[r] >= 0:
            asked[length] = r
            wanted[length] = labels[r]
            length += 1
    return _pad_query(asked, wanted, length)


@compiled
def ask_unseen(labels, saw, asked, wanted):
    """Query for the unseen, of the members that saw (or did not see) these labels; its length."""
    length = 0
    for r in range(labels.shape[0]):
        if (labels[r] != UNSEEN) == saw:
            asked[length] = r
            wanted[length] = UNSEEN
            length += 1
    return _pad_query(asked, wanted, length)


def _add_matches_in_arrays(members, asked, wanted, first, last, lo, counts):
    labels = members[asked[first:last], lo : lo + counts.shape[0]]
    counts += (labels == wanted[first:last, None]).sum(axis=0, dtype=counts.dtype)


@compiled(plain=_add_matches_in_arrays)
def _add_matches(members, asked, wanted, first, last, lo, counts):
    """Add to byte counters the matches of entries [first, last) of a query."""
    hi = lo + counts.shape[0]
    for q in range(first, last, LANES):
        labels0, want0 = members[asked[q], lo:hi], wanted[q]
        labels1, want1 = members[asked[q + 1], lo:hi], wanted[q + 1]
        labels2, want2 = members[asked[q + 2], lo:hi], wanted[q + 2]
        labels3, want3 = members[asked[q + 3], lo:hi], wanted[q + 3]
        for j in range(counts.shape[0]):
            # Left to right on purpose: plain numpy would add two truths to one truth.
            counts[j] = (
                counts[j]
                + (labels0[j] == want0)
                + (labels1[j] == want1)
                + (labels2[j] == want2)
                + (labels3[j] == want3)
            )


@compiled
def count_matches(members, asked, wanted, length, lo, scratch, counts):
    """Fill ``counts`` with the matches of a query among objects lo, lo + 1, ...

    ``scratch`` holds at least as many bytes as there are counts; ``counts`` may be of any
    integer type that holds the result.
    """
    partial = scratch[: counts.shape[0]]
    counts[:] = 0
    for first in range(0, length, BYTE_FULL):
        partial[:] = 0
        last = min(length, first + BYTE_FULL)
        _add_matches(members, asked, wanted, first, last, lo, partial)
        for j in range(counts.shape[0]):
            counts[j] += partial[j]


@compiled
def count_joined(members, labels, lo, query, scratch, joined):
    """Fill ``joined`` with the members that put objects lo, lo + 1, ... with these labels."""
    asked, wanted = query
    length = ask_joined(labels, asked, wanted)
    count_matches(members, asked, wanted, length, lo, scratch, joined)


@compiled
def count_seen(members, labels, n_seen, lo, query, scratch, seen):
    """Fill ``seen`` with the members that saw both these labels and objects lo, lo + 1, ...

    ``n_seen`` is `count_seen_by` of ``members``.
    """
    asked, wanted = query
    n_saw = 0
    for r in range(labels.shape[0]):
        n_saw += labels[r] != UNSEEN
    saw = 2 * n_saw <= labels.shape[0]
    length = ask_unseen(labels, saw, asked, wanted)
    count_matches(members, asked, wanted, length, lo, scratch, seen)
    if saw:
        for j in range(seen.shape[0]):
            seen[j] = n_saw - seen[j]
    else:
        # Both unseen = matches; so both seen = n_seen - (missed by this one, seen by that one).
        n_missed = labels.shape[0] - n_saw
        for j in range(seen.shape[0]):
            seen[j] = n_seen[lo + j] + seen[j] - n_missed
