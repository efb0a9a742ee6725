"""Average link of the co-association by a nearest-neighbour chain, without the n x n matrix.

The chain steps from a cluster to the one most similar to it until two clusters are each other's
nearest; those merge, and the chain goes on from what is left of it (Murtagh 1983; exact for average
link, which is reducible). Each step asks for one row: the similarity of one cluster to all.
Rows of merged clusters are sums of rows; single objects' rows are counted from the labels when
the chain first meets them; a bounded store keeps the rows dear to sum again, that is, of the
clusters with most objects. See `chain_rows` and `chain_store`.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.links.chain_rows import sum_histogram, sum_rows
from consilience.kernels.links.chain_store import RowStore
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.pairs.compare import block_width, count_seen_by
from consilience.kernels.pairs.counts import has_unseen

Labels = NDArray[np.signedinteger[Any]]
Missing = Literal["pair", "all"]

MAX_MEMORY = 1 << 28
# Objects from which a histogram is faster than comparing them one by one: comparing runs at
# about forty times the rate of looking up.
LARGE = 40
# Slots are numbered anew when this share of them is alive.
SQUEEZE_BELOW = 0.7
# A similarity must beat that of the previous cluster by more than rounding: otherwise quotients
# that tie up to the last bit could lead the chain round in a circle.
CLEARLY = 1.0 + 1e-15
# Similarities that are compared at once.
_BLOCK = 1024
# Sums lie below 2 ** 63. Shares with fewer binary digits than this would be too rough to compare.
_SUM_BITS, _FEWEST_DIGITS = 63, 10


def digits_for(n_copies: int) -> int:
    """Binary digits that shares may have so that sums over all pairs of copies have room."""
    return int(np.floor(_SUM_BITS - 2 * np.log2(float(n_copies)) - 1e-9))


def sums_have_room(n_copies: int, n_members: int, *, by_pair: bool) -> bool:
    """Whether sums over all pairs of that many copies of objects stay exact whole numbers.

    ``by_pair`` says that every pair has its own denominator, so that shares are added.

    >>> sums_have_room(10**8, 100, by_pair=False), sums_have_room(10**9, 100, by_pair=False)
    (True, False)
    """
    fine = not by_pair or digits_for(n_copies) >= _FEWEST_DIGITS
    return fine and int(n_copies) ** 2 * int(n_members) < 2**_SUM_BITS


def average_link(
    members: Labels,
    weights: NDArray[np.integer[Any]] | None = None,
    *,
    missing: Missing,
    max_memory: int = MAX_MEMORY,
    large: int = LARGE,
    squeeze_below: float = SQUEEZE_BELOW,
) -> NDArray[np.float64]:
    """Average-link tree of the co-association distance, (n_objects - 1, 4) as SciPy writes it.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) positive integers, optional
        Multiplicity of each object, 1 if not given: the tree is that of all copies (whose
        merges with each other are left out), sizes (column 4) count the copies.
    missing : {"pair", "all"}
        Similarity is joined / seen (0/0 is 0), or joined / n_members.
    max_memory : int
        Bytes for stored rows, beside O(n_objects * n_members) bytes for the rest. At least
        three rows of n_objects numbers are taken. Changes time only.
    large, squeeze_below
        Thresholds of the method; change time only.

    Returns
    -------
    ndarray of shape (n_objects - 1, 4), float64
        Sorted by height, 1 - mean similarity; children with the smaller number first. Heights
        are those of integer sums. Where every pair has its own denominator, shares are rounded
        to multiples of 2**-q first, q = floor(63 - 2 log2(sum of weights)): an error of at most
        6e-14 for a thousand objects, 3e-10 for 50,000.

    Raises
    ------
    OverflowError
        Sums over all pairs would not be exact: see `sums_have_room`.

    Notes
    -----
    Ties: the smallest slot among the most similar, but the previous cluster of the chain
    if it is one of them; a merged cluster keeps the smaller slot; slots start in the order of
    the objects; the chain starts at the first object and goes on from the merged cluster when
    it is used up.

    O(n_objects ** 2 * n_members) byte comparisons for the objects, as much again for each time
    that small clusters' rows are counted anew.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, section 3.
    Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms.

    Examples
    --------
    >>> members = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 1, 2]], np.int8)
    >>> average_link(members, missing="all")
    array([[0.    , 1.    , 0.25  , 2.    ],
           [2.    , 3.    , 0.5   , 2.    ],
           [4.    , 5.    , 0.9375, 4.    ]])
    """
    n = members.shape[1]
    sizes = np.ones(n, np.int64) if weights is None else np.asarray(weights, np.int64)
    clusters = _Clusters(members, sizes, missing, max_memory, large)
    left, right = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    heights = np.empty(n - 1)
    chain: list[int] = []
    start = 0
    for t in range(n - 1):
        if clusters.n_alive < squeeze_below * clusters.n_slots:
            chain, start = clusters.squeeze(chain, start)
        _find_mutual(clusters, chain, start)
        a, b = chain.pop(), chain.pop()
        left[t], right[t] = clusters.first[a], clusters.first[b]
        start, heights[t] = clusters.merge(min(a, b), max(a, b))
    return linkage_table(left, right, heights, sizes)


def _find_mutual(clusters: "_Clusters", chain: list[int], start: int) -> None:
    """Lengthen the chain until its last two clusters are each other's nearest."""
    if not chain:
        chain.append(start)
    while True:
        previous = chain[-2] if len(chain) > 1 else -1
        nearest = clusters.nearest(chain[-1], previous, depth=len(chain))
        if nearest == previous:
            return
        chain.append(nearest)


class _Clusters:
    """The clusters alive: slots with weights, lists of objects, and rows of similarities."""

    def __init__(
        self,
        members: Labels,
        weights: NDArray[np.int64],
        missing: Missing,
        max_memory: int,
        large: int,
    ) -> None:
        n = members.shape[1]
        self.n_slots = self.n_alive = n
        # First and last object of each slot, and the next one of each object.
        self.first, self._last, self._next = np.arange(n), np.arange(n), np.full(n, -1)
        self._n_objects = np.ones(n, np.int64)
        self._weights = weights
        # As floats, -1 where the slot is dead: such a quotient never is the largest.
        self._slot_weights = weights.astype(np.float64)
        self._heights = np.zeros(n)
        self._slot_of = np.arange(n)
        self._members, self._width = members, block_width(members)
        self._n_clusters = members.max(axis=1).astype(np.int64).clip(-1) + 1
        by_pair = missing == "pair" and has_unseen(members)
        self._n_seen = count_seen_by(members) if by_pair else np.empty(0, np.int64)
        # Whole counts, or shares in fixed point with as many digits as sums have room for.
        total = int(weights.sum())
        if not sums_have_room(total, len(members), by_pair=by_pair):
            raise OverflowError(f"sums over pairs of {total} objects leave the range of integers.")
        self._scale = 2.0 ** min(52, digits_for(total)) if by_pair else float(members.shape[0])
        self._large = n + 1 if by_pair else large
        self._store = RowStore(n, max_memory)
        self._room = quotient_room()

    def nearest(self, slot: int, previous: int, depth: int) -> int:
        """The slot most similar to this one; the previous one of the chain if it ties."""
        # On the chain a row will be wanted soon, and that of the top first of all.
        row = self._row(slot, self._members.shape[1] + depth)
        return int(most_similar(row, self._slot_weights, slot, previous, *self._room))

    def merge(self, kept: int, gone: int) -> tuple[int, float]:
        """Merge two slots; the slot kept and the height."""
        # One of the rows may have been put out while the chain was longer. Summing it must not
        # put out the other one: nothing on the chain is worth as much.
        most = 2 * self._members.shape[1] + 1
        self._row(kept, most)
        row = self._row(gone, most)
        pairs = self._slot_weights[kept] * self._slot_weights[gone]
        height = 1.0 - float(row[kept]) / pairs / self._scale
        # Never below its parts, not even by rounding: the order of merges relies on it.
        height = max(height, self._heights[kept], self._heights[gone])
        self._heights[kept] = height
        self._slot_weights[kept] += self._slot_weights[gone]
        self._slot_weights[gone] = -1.0
        self._n_objects[kept] += self._n_objects[gone]
        _relabel(self._slot_of, self._next, self.first[gone], kept)
        self._next[self._last[kept]] = self.first[gone]
        self._last[kept] = self._last[gone]
        self._store.merge(kept, gone, int(self._n_objects[kept]))
        self.n_alive -= 1
        return kept, height

    def squeeze(self, chain: list[int], start: int) -> tuple[list[int], int]:
        """Number the slots anew without the dead ones; the chain and the start renumbered."""
        keep = np.flatnonzero(self._slot_weights > 0)
        new = np.cumsum(self._slot_weights > 0) - 1
        self.first, self._last = self.first[keep], self._last[keep]
        self._n_objects, self._heights = self._n_objects[keep], self._heights[keep]
        self._slot_weights = self._slot_weights[keep]
        self._slot_of = new[self._slot_of]
        self._store.squeeze(keep)
        self.n_slots = keep.size
        return [int(new[slot]) for slot in chain], int(new[start])

    def _row(self, slot: int, worth: int) -> NDArray[np.int64]:
        """The row of a slot, from the store or summed from the labels."""
        row = self._store.find(slot)
        if row is not None:
            self._store.set_worth(slot, worth)
            return row
        row = self._store.make_room(slot, worth)
        objects = _list_objects(self._next, self.first[slot], self._n_objects[slot])
        common = self._weights, self._slot_of, objects, self._width, row
        if objects.size < self._large:
            sum_rows(self._members, self._n_seen, self._scale, *common)
        else:
            sum_histogram(self._members, self._n_clusters, *common)
        return row


def quotient_room() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Room for a block of quotients, and the same as whole numbers."""
    quotients = np.empty(_BLOCK)
    return quotients, quotients.view(np.int64)


@compiled(plain_up_to=10_000)
def most_similar(row, weights, slot, previous, quotients, bits):
    """First slot with the largest mean similarity, or ``previous`` if that is not beaten.

    ``quotients`` and ``bits``: see `quotient_room`.
    """
    width = _BLOCK  # not the size of the room: the compiler is to know it
    own_weight = weights[slot]
    weights[slot] = -1.0
    best, best_lo = np.int64(-1), 0
    for lo in range(0, row.shape[0], width):
        size = min(width, row.shape[0] - lo)
        block_best = _divide(row[lo : lo + size], weights[lo : lo + size], quotients, bits)
        if block_best > best:
            best, best_lo = block_best, lo
    size = min(width, row.shape[0] - best_lo)
    _divide(row[best_lo : best_lo + size], weights[best_lo : best_lo + size], quotients, bits)
    weights[slot] = own_weight
    place = 0
    while bits[place] != best:
        place += 1
    if previous >= 0 and quotients[place] <= row[previous] / weights[previous] * CLEARLY:
        return previous
    return best_lo + place


def _divide_in_arrays(row, weights, quotients, bits):
    np.divide(row, weights, out=quotients[: row.shape[0]])
    return bits[: row.shape[0]].max()


# No weight is zero; a check for it would keep the loop scalar.
@compiled(error_model="numpy", plain=_divide_in_arrays)
def _divide(row, weights, quotients, bits):
    """Fill quotients; the bits of the largest (floats above zero sort as their bits do)."""
    for j in range(row.shape[0]):
        quotients[j] = row[j] / weights[j]
    best = bits[0]
    for j in range(row.shape[0]):
        best = max(best, bits[j])
    return best


@compiled(plain_up_to=20_000)
def _relabel(slot_of, following, i, slot):
    """Give all objects of a list to a slot."""
    while i >= 0:
        slot_of[i] = slot
        i = following[i]


@compiled(plain_up_to=20_000)
def _list_objects(following, i, size):
    """Objects of a list as an array."""
    objects = np.empty(size, np.int64)
    for a in range(size):
        objects[a] = i
        i = following[i]
    return objects
