"""Counts of one object with all others, from a matrix that is there or from the labels.

The models of co-association ask for one row after the other. A `Store` holds either the
matrix of counts (narrow integers) or nothing but the labels; both give the same rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.pairs.compare import (
    block_width,
    count_joined,
    count_seen,
    count_seen_by,
    count_type,
    make_query,
)
from consilience.kernels.pairs.counts import count_pairs, count_pairs_block, has_unseen

__all__ = ["BLOCK", "Store", "block_of_columns", "make_store", "row_counts", "row_room"]

Labels = NDArray[np.signedinteger[Any]]
Counts = NDArray[np.unsignedinteger[Any]]

# Objects of a block made from labels: their labels are read once for all of them.
BLOCK = 256


class Store(NamedTuple):
    """What gives the counts of pairs.

    Attributes
    ----------
    joined, seen : (n_objects, n_objects) unsigned integers, or (0, 0)
        Members that joined and that saw a pair. Empty if rows are made from the labels;
        ``seen`` is empty as well where every member saw every object.
    members : (n_members, n_objects) signed integers, C-contiguous
    n_seen : (n_objects,) int64, or (0,)
        Members that saw each object; empty where every member saw every object.
    width : int
        Objects that are compared at once.
    """

    joined: Counts
    seen: Counts
    members: Labels
    n_seen: NDArray[np.int64]
    width: int


def make_store(members: Labels, *, dense: bool, n_jobs: int = 1) -> Store:
    """Counts of all pairs of these objects (memory n^2), or the labels alone.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, -2]], np.int8)
    >>> make_store(members, dense=True).joined
    array([[2, 1, 0],
           [1, 2, 0],
           [0, 0, 1]], dtype=uint8)
    >>> make_store(members, dense=False).joined.shape
    (0, 0)
    """
    unseen = has_unseen(members)
    n_seen = count_seen_by(members) if unseen else np.empty(0, np.int64)
    none: Counts = np.empty((0, 0), count_type(len(members)))
    joined, seen = none, None
    if dense:
        joined, seen = count_pairs(members, with_seen=unseen, n_jobs=n_jobs)
    return Store(joined, none if seen is None else seen, members, n_seen, block_width(members))


def block_of_columns(store: Store, start: int, stop: int) -> tuple[Counts, Counts, int]:
    """Counts of all objects with objects start..stop-1: joined, seen, their first column.

    Both are C-contiguous with one row an object; ``seen`` is empty where every member saw
    every object. The whole matrix is handed out where there is one.
    """
    if store.joined.shape[0]:
        return store.joined, store.seen, start
    shape = (stop - start, store.members.shape[1])
    joined = np.empty(shape, store.joined.dtype)
    seen = np.empty_like(joined) if store.n_seen.size else None
    count_pairs_block(store.members, start, stop, joined, seen)
    # The matrix is symmetric: rows of these objects, turned, are their columns.
    turned = store.seen if seen is None else np.ascontiguousarray(seen.T)
    return np.ascontiguousarray(joined.T), turned, 0


@compiled
def row_room(store):
    """Room that `row_counts` works in."""
    n = store.members.shape[1]
    counts = np.empty(n, np.int32), np.empty(n, np.int32)
    labels = np.empty(store.members.shape[0], store.members.dtype)
    return counts, labels, make_query(store.members), np.empty(store.width, np.uint8)


@compiled
def row_counts(store, i, room, joined, apart):
    """Fill, for object i and all objects, who joined them and who saw both and parted them.

    Both are floats. Object i itself gets 0 and 0.
    """
    n_members, n = store.members.shape
    if store.joined.shape[0] > 0:
        row = store.joined[i]
        if store.seen.shape[0] == 0:
            for j in range(n):
                joined[j] = row[j]
                apart[j] = n_members - joined[j]
        else:
            both = store.seen[i]
            for j in range(n):
                joined[j] = row[j]
                apart[j] = both[j] - joined[j]
    else:
        counts, labels, query, scratch = room
        for r in range(n_members):
            labels[r] = store.members[r, i]
        every = store.n_seen.shape[0] == 0
        for lo in range(0, n, store.width):
            hi = min(n, lo + store.width)
            count_joined(store.members, labels, lo, query, scratch, counts[0][lo:hi])
            if not every:
                count_seen(
                    store.members, labels, store.n_seen, lo, query, scratch, counts[1][lo:hi]
                )
        for j in range(n):
            joined[j] = counts[0][j]
            apart[j] = (n_members if every else counts[1][j]) - joined[j]
    joined[i] = 0.0
    apart[i] = 0.0
