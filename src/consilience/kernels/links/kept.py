"""Trees of the co-association of selected clusters, without the matrix of pairs.

For objects in n_i and n_j of the selected clusters, n_ij of them common, the similarity is
n_ij / max(n_i, n_j). Every pair has its own denominator, but it follows from the two objects
alone: rows are counted from the labels, as `chain` and `prim` do for the plain co-association.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.links.chain import (
    LARGE,
    SQUEEZE_BELOW,
    _Clusters,
    _find_mutual,
    digits_for,
    sums_have_room,
)
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.pairs.compare import count_joined, make_query
from consilience.kernels.pairs.counts import count_row

__all__ = ["kept_average_link", "kept_single_link"]

Labels = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


def kept_average_link(
    members: Labels, weights: NDArray[np.integer[Any]], *, max_memory: int
) -> Floats:
    """Average-link tree of one minus n_ij / max(n_i, n_j), (n_objects - 1, 4) as SciPy writes it.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member, negative where an object is in none of its selected clusters; every
        object is in at least one.
    weights : (n_objects,) positive integers
        Multiplicity of each object; sizes (column 4) count the copies.
    max_memory : int
        Bytes for stored rows, see `consilience.kernels.links.chain.average_link`.

    Returns
    -------
    ndarray of shape (n_objects - 1, 4), float64
        Ties and rounding as in `consilience.kernels.links.chain.average_link` with pairs of their
        own denominators. Time O(n_objects ** 2 n_members), memory O(n_objects n_members).

    Examples
    --------
    >>> members = np.array([[0, 0, -1], [0, 1, 1]], np.int8)
    >>> kept_average_link(members, np.ones(3, np.int64), max_memory=2**20)
    array([[0.  , 1.  , 0.5 , 2.  ],
           [2.  , 3.  , 0.75, 3.  ]])
    """
    n = members.shape[1]
    sizes = np.asarray(weights, np.int64)
    clusters = _KeptClusters(members, sizes, max_memory)
    left, right = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    heights = np.empty(n - 1)
    chain: list[int] = []
    start = 0
    for t in range(n - 1):
        if clusters.n_alive < SQUEEZE_BELOW * clusters.n_slots:
            chain, start = clusters.squeeze(chain, start)
        _find_mutual(clusters, chain, start)
        a, b = chain.pop(), chain.pop()
        left[t], right[t] = clusters.first[a], clusters.first[b]
        start, heights[t] = clusters.merge(min(a, b), max(a, b))
    return linkage_table(left, right, heights, sizes)


class _KeptClusters(_Clusters):
    """The clusters of the chain, with shares over the larger number of selected clusters."""

    def __init__(self, members: Labels, weights: NDArray[np.int64], max_memory: int) -> None:
        super().__init__(members, weights, "all", max_memory, LARGE)
        self._cover = (members >= 0).sum(axis=0).astype(np.int64)
        # Shares in fixed point with as many digits as sums have room for, as in the base.
        total = int(weights.sum())
        if not sums_have_room(total, len(members), by_pair=True):
            raise OverflowError(f"sums over pairs of {total} objects leave the range of integers.")
        self._scale = 2.0 ** min(52, digits_for(total))

    def _row(self, slot: int, worth: int) -> NDArray[np.int64]:
        row = self._store.find(slot)
        if row is not None:
            self._store.set_worth(slot, worth)
            return row
        row = self._store.make_room(slot, worth)
        objects = np.flatnonzero(self._slot_of == slot)
        _sum_rows(
            self._members,
            self._cover,
            self._scale,
            self._weights,
            self._slot_of,
            objects,
            self._width,
            row,
        )
        return row


@compiled
def _sum_rows(members, cover, scale, weights, slot_of, objects, width, row):
    """Fill ``row``: for every slot the summed shares of its objects with ``objects``."""
    n = members.shape[1]
    query, scratch = make_query(members), np.empty(width, np.uint8)
    joined_room, total_room = np.empty(width, np.int32), np.empty(width, np.int64)
    for j in range(row.shape[0]):
        row[j] = 0
    for lo in range(0, n, width):
        hi = min(n, lo + width)
        joined, total = joined_room[: hi - lo], total_room[: hi - lo]
        for j in range(hi - lo):
            total[j] = 0
        for a in range(objects.shape[0]):
            i = objects[a]
            count_joined(members, members[:, i], lo, query, scratch, joined)
            for j in range(hi - lo):
                share = joined[j] / max(cover[i], cover[lo + j])
                total[j] += weights[i] * np.int64(np.floor(scale * share + 0.5))
        for j in range(hi - lo):
            row[slot_of[lo + j]] += weights[lo + j] * total[j]


def kept_single_link(members: Labels, weights: NDArray[np.integer[Any]]) -> Floats:
    """Single-link tree of one minus n_ij / max(n_i, n_j), by a minimum spanning tree.

    Parameters, format and cost as in `kept_average_link`. The tree grows from the first object
    to the nearest one, the smallest index on ties.

    Examples
    --------
    >>> members = np.array([[0, 0, -1], [0, 1, 1]], np.int8)
    >>> kept_single_link(members, np.ones(3, np.int64))
    array([[0. , 1. , 0.5, 2. ],
           [2. , 3. , 0.5, 3. ]])
    """
    n = members.shape[1]
    cover = (members >= 0).sum(axis=0)
    nearness, nearest = np.full(n, -1.0), np.zeros(n, np.int64)
    reached = np.zeros(n, bool)
    left, right = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    heights = np.empty(n - 1)
    i = 0
    for t in range(n - 1):
        reached[i] = True
        shares = count_row(members, i)[0] / np.maximum(cover[i], cover)
        closer = ~reached & (shares > nearness)
        nearness[closer], nearest[closer] = shares[closer], i
        i = int(np.argmax(np.where(reached, -2.0, nearness)))
        left[t], right[t], heights[t] = nearest[i], i, 1.0 - nearness[i]
    return linkage_table(left, right, heights, np.asarray(weights, np.int64))
