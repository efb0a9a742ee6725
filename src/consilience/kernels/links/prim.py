"""Minimum spanning tree of the co-association, its rows made as they are needed.

Prim's algorithm asks for one row of distances at a time, against the objects not reached yet.
A row is counted from the labels in one pass, so memory is O(n_objects * n_members) bytes: the
labels, and a copy of the labels of those not reached, which is packed anew whenever a quarter
of it has been reached.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.pairs.compare import (
    block_width,
    count_joined,
    count_seen,
    count_seen_by,
    make_query,
)
from consilience.kernels.pairs.counts import has_unseen

Labels = NDArray[np.signedinteger[Any]]
Missing = Literal["pair", "all"]

# Share of the packed labels still of use below which they are packed anew.
PACK_BELOW = 0.75


def prim_order(
    members: Labels, *, missing: Missing, start: int = 0, pack_below: float = PACK_BELOW
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Objects in the order in which a growing tree reaches them, from where, and how far.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    missing : {"pair", "all"}
        Distance is 1 - joined / seen (a pair nobody saw is at distance 1), or
        1 - joined / n_members.
    start : int
        The first object.
    pack_below : float
        Labels are packed when this share of them is still of use. Changes time only.

    Returns
    -------
    order : (n_objects,) int32
        Always the object nearest to those reached so far; the smallest index on ties.
    parent : (n_objects,) int32
        ``parent[t]`` is the object ``order[t]`` was reached from, the first of the nearest
        ones; -1 for the first object.
    distance : (n_objects,) float64
        Length of that edge, 0 for the first object.

    Notes
    -----
    O(n_objects ** 2 * n_members) byte comparisons, O(n_objects * n_members) bytes.

    References
    ----------
    Bezdek & Hathaway (2002), VAT: a tool for visual assessment of (cluster) tendency.

    Examples
    --------
    >>> members = np.array([[0, 1, 0, 1], [0, 1, 0, 0]], np.int8)
    >>> prim_order(members, missing="all")
    (array([0, 2, 3, 1], dtype=int32), array([-1,  0,  0,  3], dtype=int32),
     array([0. , 0. , 0.5, 0.5]))
    """
    n_members, n = members.shape
    by_pair = missing == "pair" and has_unseen(members)
    # Similarities are compared as whole counts where one denominator serves all pairs, else as
    # quotients: equal shares give equal floats, and floats above zero sort as their bits do.
    nearness = np.full(n, -1, np.float64 if by_pair else np.int64)
    n_seen = count_seen_by(members) if by_pair else np.empty(0, np.int64)
    order, parent = np.empty(n, np.int32), np.empty(n, np.int32)
    reached = np.empty(n, nearness.dtype)
    # What the tree keeps of each object; and room for a block of counts and one object's labels.
    # Made here, where it costs nothing: in a kernel each kind of array takes its time to compile.
    kept = np.arange(n), np.ones(n, np.int8), np.zeros(n, np.int32), np.empty(n, np.int64)
    width = block_width(members)
    room = np.empty(width, np.uint8), np.empty(width, np.int32), np.empty(width, np.int32)
    labels = np.empty(n_members, members.dtype)
    _grow_tree(
        members, n_seen, start, pack_below, kept, room, labels, nearness, order, parent, reached
    )
    distance = np.asarray(1.0 - (reached if by_pair else reached / n_members), np.float64)
    distance[0] = 0.0
    return order, parent, distance


def minimum_spanning_tree(
    members: Labels, *, missing: Missing, start: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """The n_objects - 1 edges of a minimum spanning tree: ends and distance, as they are found.

    Parameters, distances, ties and cost are those of `prim_order`.

    Examples
    --------
    >>> minimum_spanning_tree(np.array([[0, 1, 0], [0, 1, 1]], np.int8), missing="all")
    (array([0, 2], dtype=int32), array([2, 1], dtype=int32), array([0.5, 0.5]))
    """
    order, parent, distance = prim_order(members, missing=missing, start=start)
    return parent[1:], order[1:], distance[1:]


def single_link(
    members: Labels, weights: NDArray[np.integer[Any]] | None = None, *, missing: Missing
) -> NDArray[np.float64]:
    """Single-link tree of the co-association distance, (n_objects - 1, 4) as SciPy writes it.

    ``weights`` are multiplicities of the objects: they change the sizes (column 4) and
    nothing else. Edges of equal length merge in the order in which `prim_order` finds them.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, section 3.

    Examples
    --------
    >>> single_link(np.array([[0, 1, 0], [0, 1, 1]], np.int8), missing="all")
    array([[0. , 2. , 0.5, 2. ],
           [1. , 3. , 0.5, 3. ]])
    """
    left, right, distance = minimum_spanning_tree(members, missing=missing)
    return linkage_table(left, right, distance, weights)


@compiled(plain_up_to=250_000, size=lambda members, *_: members.shape[1] ** 2)
def _grow_tree(
    members, n_seen, start, pack_below, kept, room, labels, nearness, order, parent, reached
):
    """Prim's algorithm; fills the order, the parents and the nearness of every edge."""
    n = members.shape[1]
    active, query = members, make_query(members)
    objects, waiting, link, places = kept
    place, n_waiting = start, n
    parent[0] = -1
    for t in range(n):
        order[t] = objects[place]
        if t > 0:
            parent[t] = link[place]
        reached[t] = nearness[place]
        waiting[place] = 0
        nearness[place] = -1
        n_waiting -= 1
        if n_waiting < pack_below * objects.shape[0]:
            # By explicit loops, in place: NumPy's selections take seconds to compile.
            at = np.int64(0)
            for j in range(objects.shape[0]):
                places[at] = j
                at += np.int64(waiting[j])
            active = _pack(active, places[:at])
            for j in range(at):
                keep = places[j]
                objects[j], link[j], nearness[j] = objects[keep], link[keep], nearness[keep]
                waiting[j] = 1
                if n_seen.shape[0] > 0:
                    n_seen[j] = n_seen[keep]
            objects, link, waiting = objects[:at], link[:at], waiting[:at]
            nearness, n_seen = nearness[:at], n_seen[:at]
        # One by one: assigning an array to a slice makes numba compile two seconds of messages.
        for r in range(members.shape[0]):
            labels[r] = members[r, order[t]]
        place = _reach(active, n_seen, labels, order[t], waiting, query, room, nearness, link)


@compiled
def _pack(members, keep):
    """Labels of the objects to keep."""
    packed = np.empty((members.shape[0], keep.shape[0]), members.dtype)
    for r in range(members.shape[0]):
        source, target = members[r], packed[r]
        for j in range(keep.shape[0]):
            target[j] = source[keep[j]]
    return packed


@compiled
def _reach(active, n_seen, labels, i, waiting, query, room, nearness, link):
    """Update who is nearest to the tree after object i joined it; the place of the nearest."""
    scratch, n, width = room[0], nearness.shape[0], room[0].shape[0]
    best, best_lo = -2, 0
    bits = nearness.view(np.int64)
    for lo in range(0, n, width):
        hi = min(n, lo + width)
        joined, seen = room[1][: hi - lo], room[2][: hi - lo]
        count_joined(active, labels, lo, query, scratch, joined)
        if n_seen.shape[0] == 0:
            _approach(joined, waiting[lo:hi], i, nearness[lo:hi], link[lo:hi])
        else:
            count_seen(active, labels, n_seen, lo, query, scratch, seen)
            _approach_by_pair(joined, seen, waiting[lo:hi], i, nearness[lo:hi], link[lo:hi])
        block_best = _largest(bits[lo:hi])
        if block_best > best:
            best, best_lo = block_best, lo
    for place in range(best_lo, n):
        if bits[place] == best:
            return place
    return 0


@compiled
def _approach(joined, waiting, i, nearness, link):
    """Take object i as the nearest one of the tree where it is nearer than any before."""
    for j in range(joined.shape[0]):
        value = joined[j] * waiting[j] + (waiting[j] - 1)
        nearer = value > nearness[j]
        nearness[j] = value if nearer else nearness[j]
        link[j] = i if nearer else link[j]


# Without a check for division by zero, which there is not: it would keep the loop scalar.
@compiled(error_model="numpy")
def _approach_by_pair(joined, seen, waiting, i, nearness, link):
    """The same with the share of the members that saw both."""
    for j in range(joined.shape[0]):
        value = joined[j] / max(1, seen[j]) * waiting[j] + (waiting[j] - 1)
        nearer = value > nearness[j]
        nearness[j] = value if nearer else nearness[j]
        link[j] = i if nearer else link[j]


@compiled
def _largest(values):
    """Largest of some integers."""
    largest = values[0]
    for j in range(values.shape[0]):
        largest = max(largest, values[j])
    return largest
