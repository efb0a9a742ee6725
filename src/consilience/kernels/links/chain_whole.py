"""Average link by the chain of `consilience.kernels.links.chain`, where all rows fit in memory.

The counts of all pairs are made first, by all threads; then one compiled call merges. The rows
of merged clusters follow later merges when they are wanted, as in `chain_store`, but none is ever
put out. Ties, heights and the order of merges are those of `chain`, so the tree is the same.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.links.chain import (
    SQUEEZE_BELOW,
    most_similar,
    quotient_room,
    sums_have_room,
)
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.counts import count_pairs

__all__ = ["average_link_whole", "whole_bytes"]

Labels = NDArray[np.signedinteger[Any]]


def whole_bytes(members: Labels, weights: NDArray[np.integer[Any]]) -> int:
    """Bytes that `average_link_whole` may take."""
    n = members.shape[1]
    count = np.dtype(count_type(len(members))).itemsize
    return n * n * (count + _row_type(members, weights).itemsize)


def average_link_whole(
    members: Labels,
    weights: NDArray[np.integer[Any]],
    *,
    counts: NDArray[np.unsignedinteger[Any]] | None = None,
    n_jobs: int | None = 1,
) -> NDArray[np.float64]:
    """Average-link tree of the co-association distance; nothing may be unseen.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise.
    weights : (n_objects,) positive integers
    counts : (n_objects, n_objects) unsigned integers, optional
        How many members joined each pair, where they are counted already.
    n_jobs : int or None
        Threads that count pairs; merging has one.

    Returns
    -------
    ndarray of shape (n_objects - 1, 4), float64
        As `consilience.kernels.links.chain.average_link` returns it.

    Examples
    --------
    >>> members = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 2]], np.int8)
    >>> average_link_whole(members, np.ones(4, np.int64))
    array([[0.    , 1.    , 0.25  , 2.    ],
           [2.    , 3.    , 0.5   , 2.    ],
           [4.    , 5.    , 0.9375, 4.    ]])
    """
    n = members.shape[1]
    sizes = np.asarray(weights, np.int64)
    total = int(sizes.sum())
    if not sums_have_room(total, len(members), by_pair=False):
        raise OverflowError(f"sums over pairs of {total} objects leave the range of integers.")
    if counts is None:
        counts, _ = count_pairs(members, with_seen=False, n_jobs=n_jobs)
    rows = np.empty((n, n), _row_type(members, weights))
    left, right, heights = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    common = counts, sizes, float(len(members)), SQUEEZE_BELOW, rows, quotient_room()
    _merge_all(*common, left, right, heights)
    return linkage_table(left, right, heights, sizes)


def _row_type(members: Labels, weights: NDArray[np.integer[Any]]) -> np.dtype[Any]:
    """The type that holds the largest sum there can be."""
    largest = int(weights.sum()) ** 2 * len(members)
    return np.dtype(np.int32 if largest < 2**31 else np.int64)


@compiled
def _new_row(line, weights, weight, slot_of, row):
    """Sums of one object's counts with every cluster; ``line`` are its counts with all objects.

    Without weights where there are none: looking them up takes as long as adding.
    """
    row[:] = 0
    if weights.size == 0:
        for j in range(line.size):
            row[slot_of[j]] += line[j]
        return
    for j in range(line.size):
        row[slot_of[j]] += weights[j] * line[j]
    for s in range(row.size):
        row[s] *= weight


@compiled
def _follow(row, log):
    """Apply merges to a row: the kept slot takes the other's entry."""
    for t in range(log.shape[0]):
        row[log[t, 0]] += row[log[t, 1]]


@compiled
def _wanted(slot, counts, weights, slots, store):
    """Where the row of a slot is, made or brought up to date."""
    slot_of, first, _, _ = slots
    rows, place_of, synced, free, log, state = store
    n_slots, logged = state[0], state[1]
    place = place_of[slot]
    if place < 0:
        # Only single objects have none yet. Places of rows that are gone are used first.
        state[2] -= 1
        place = free[state[2]]
        place_of[slot] = place
        i = first[slot]
        weight = weights[i] if weights.size > 0 else 1
        _new_row(counts[i], weights, weight, slot_of, rows[place, :n_slots])
    elif synced[place] < logged:
        _follow(rows[place, :n_slots], log[synced[place] : logged])
    synced[place] = logged
    return place


@compiled
def _squeeze(slot_weights, heights, slots, store, chain):
    """Number the slots anew without the dead ones, in their order; rows are brought up to date."""
    slot_of, first, last, _ = slots
    rows, place_of, synced, _, log, state = store
    n_slots, logged = state[0], state[1]
    new = np.empty(n_slots, np.int64)
    alive = 0
    for slot in range(n_slots):
        new[slot] = alive
        alive += slot_weights[slot] > 0
    keep = np.flatnonzero(slot_weights[:n_slots] > 0)
    for t in range(alive):
        slot = keep[t]
        place = place_of[slot]
        if place >= 0:
            row = rows[place]
            _follow(row[:n_slots], log[synced[place] : logged])
            for s in range(alive):
                row[s] = row[keep[s]]
            synced[place] = 0
        place_of[t], first[t], last[t] = place, first[slot], last[slot]
        slot_weights[t], heights[t] = slot_weights[slot], heights[slot]
    for j in range(slot_of.size):
        slot_of[j] = new[slot_of[j]]
    for c in range(chain.size):
        chain[c] = new[chain[c]]
    state[0], state[1] = alive, 0


@compiled
def _join(kept, gone, places, slot_weights, slots, store):
    """Give the objects and the row of one slot to another."""
    slot_of, first, last, following = slots
    rows, place_of, _, free, log, state = store
    n_slots = state[0]
    slot_weights[kept] += slot_weights[gone]
    slot_weights[gone] = -1.0
    i = first[gone]
    while i >= 0:
        slot_of[i] = kept
        i = following[i]
    following[last[kept]] = first[gone]
    last[kept] = last[gone]
    row, other = rows[places[0]], rows[places[1]]
    for s in range(n_slots):
        row[s] += other[s]
    log[state[1], 0], log[state[1], 1] = kept, gone
    state[1] += 1
    place_of[gone] = -1
    free[state[2]] = places[1]
    state[2] += 1


@compiled
def _merge_all(counts, weights, scale, squeeze_below, rows, room, left, right, heights):
    """All merges, as `chain.average_link` makes them."""
    n = weights.size
    slot_weights, own_heights = weights.astype(np.float64), np.zeros(n)
    slots = (np.arange(n), np.arange(n), np.arange(n), np.full(n, -1))
    # Slots, merges in the log, free places: numbers that change together with the arrays.
    state = np.array([n, 0, n])
    free = np.arange(n)[::-1].copy()
    log = np.empty((n, 2), np.int64)
    store = (rows, np.full(n, -1), np.zeros(n, np.int64), free, log, state)
    chain, length, start = np.empty(n + 1, np.int64), 0, 0
    if weights.max() == 1:
        weights = weights[:0]
    for t in range(n - 1):
        if n - t < squeeze_below * state[0]:
            chain[length] = start
            _squeeze(slot_weights, own_heights, slots, store, chain[: length + 1])
            start = chain[length]
        if length == 0:
            chain[0], length = start, 1
        while True:
            top, previous = chain[length - 1], chain[length - 2] if length > 1 else -1
            place = _wanted(top, counts, weights, slots, store)
            alive = slot_weights[: state[0]]
            nearest = most_similar(rows[place, : state[0]], alive, top, previous, *room)
            if nearest == previous:
                break
            chain[length] = nearest
            length += 1
        a, b = chain[length - 1], chain[length - 2]
        length -= 2
        left[t], right[t] = slots[1][a], slots[1][b]
        kept, gone = min(a, b), max(a, b)
        places = (
            _wanted(kept, counts, weights, slots, store),
            _wanted(gone, counts, weights, slots, store),
        )
        pairs = slot_weights[kept] * slot_weights[gone]
        height = 1.0 - float(rows[places[1], kept]) / pairs / scale
        # Never below its parts, not even by rounding: the order of merges relies on it.
        heights[t] = max(height, own_heights[kept], own_heights[gone])
        own_heights[kept] = heights[t]
        _join(kept, gone, places, slot_weights, slots, store)
        start = kept
