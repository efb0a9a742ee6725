"""Clusters that dense objects form by following cheaper ones, for any number of neighbours."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels.minority.density import count_founders, found_clusters
from consilience.minority._rivals import BLOCK_BYTES, Space, check_budget, smallest

__all__ = ["Seeds", "dgrade_memory", "longest_run", "seed_clusters"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Lengths of the neighbour lists made one after the other, while the search needs more.
_STAGES = (256, 1024, 4096)
_BITS, _INDEX = np.uint64(32), np.uint64(2**32 - 1)


def dgrade_memory(n_objects: int, n_neighbours: int) -> int:
    """Bytes that `dgrade` takes beside the data while its lists hold so many neighbours.

    The lists start with 256 neighbours and grow to 1024, 4096 and all objects where the search
    for the smoothing needs them.

    Examples
    --------
    >>> [dgrade_memory(13_000, k) // 2**20 for k in (256, 1024, 4096, 13_000)]
    [75, 154, 470, 1385]
    """
    width = min(n_neighbours, n_objects)
    height = min(max(1, BLOCK_BYTES // (8 * n_objects)), n_objects)
    lists = 8 * n_objects * width
    block = height * (3 * 8 * n_objects + 24 * width)
    return lists + block + 64 * n_objects


class Seeds(NamedTuple):
    labels: NDArray[np.int32]
    smoothing: int
    counts: Ints
    memory: int


def seed_clusters(space: Space, size: int, smoothing: int | str, max_memory: float | str) -> Seeds:
    """Clusters of the dense objects."""
    search = _Search(space, size, max_memory)
    counts: list[int] = []
    if isinstance(smoothing, str):
        chosen = longest_run(search.counts(), counts)
        # The lists are long enough: the search went past the run's first smoothing.
        search.restart()
    else:
        chosen = min(int(smoothing), space.n_objects)
        search.make_lists(chosen)
    labels = search.labels(chosen)
    return Seeds(labels, chosen, np.array(counts, np.int64), search.memory)


def longest_run(counts: Iterator[int], seen: list[int]) -> int:
    """First place, from 1, of the longest stretch of equal counts above one.

    The first on ties. Ends as soon as a count is 1, or the stretch at hand is the longest and
    has count 2. What was asked for is appended to ``seen``.

    >>> longest_run(iter([9, 5, 4, 4, 4, 3, 3, 2, 1]), [])
    3
    >>> longest_run(iter([1]), [])
    1
    """
    best_start, best_length = 1, 0
    start = 1
    for place, count in enumerate(counts, 1):
        seen.append(count)
        if count == 1:
            break
        if place > 1 and count != seen[-2]:
            start = place
        if place - start + 1 > best_length:
            best_start, best_length = start, place - start + 1
            if count == 2:
                break
    return best_start


class _Search:
    """Neighbour lists, and costs that grow by one neighbour at a time."""

    def __init__(self, space: Space, size: int, max_memory: float | str) -> None:
        self.space, self.size, self.max_memory = space, size, max_memory
        self.memory = 0
        self.neighbours = np.empty((0, 0), np.int32)
        self.lengths = np.empty((0, 0), np.float32)
        self.restart()

    def restart(self) -> None:
        """Begin with no neighbour counted."""
        self.costs = np.zeros(self.space.n_objects)
        self.n_counted = 0

    def counts(self) -> Iterator[int]:
        """Number of clusters for 1, 2, ... neighbours."""
        witness = np.zeros(self.space.n_objects, np.int32)
        for s in range(1, self.space.n_objects + 1):
            self._advance()
            # Order does not matter to the count.
            dense = smallest(self.costs, self.size)
            yield int(count_founders(self.neighbours, self.costs, dense, s, witness))

    def labels(self, smoothing: int) -> NDArray[np.int32]:
        """DGRADE's clusters of the dense objects, -1 elsewhere."""
        while self.n_counted < smoothing:
            self._advance()
        dense = smallest(self.costs, self.size)
        dense = dense[np.argsort(self.costs[dense], kind="stable")]
        labels = np.full(self.space.n_objects, -1, np.int32)
        found_clusters(self.neighbours, self.costs, dense, smoothing, labels)
        return labels

    def _advance(self) -> None:
        """Count one more neighbour of every object."""
        if self.n_counted == len(self.lengths):
            n = self.space.n_objects
            longer = (k for k in (*_STAGES, n) if k > self.n_counted)
            self.make_lists(min(next(longer), n))
        self.costs += self.lengths[self.n_counted]
        self.n_counted += 1

    def make_lists(self, width: int) -> None:
        """The nearest objects of every object by (divergence, index), itself first."""
        n = self.space.n_objects
        memory = dgrade_memory(n, width)
        check_budget(memory, self.max_memory, owner="DGRADE", remedy="draw a sample (n_sample)")
        self.memory = max(self.memory, memory)
        del self.neighbours, self.lengths
        self.neighbours = np.empty((n, width), np.int32)
        self.lengths = np.empty((width, n), np.float32)
        for low, block in self.space.rows():
            high = low + len(block)
            near = _nearest_keys(block, low, width)
            self.neighbours[low:high] = near & _INDEX
            self.neighbours[low:high, 0] = np.arange(low, high)
            lengths = (near >> _BITS).astype(np.uint32).view(np.float32)
            self.lengths[:, low:high] = lengths.T


def _nearest_keys(block: Floats, low: int, width: int) -> NDArray[np.uint64]:
    """The ``width`` smallest of each row by (value, index), each as one whole number.

    The bits of a float of at least 0 sort as it does: they stand above those of the index. The
    object itself, row ``low`` and on, comes first whatever duplicates there are.
    """
    height, n = block.shape
    with np.errstate(over="ignore"):
        keys = block.astype(np.float32).view(np.uint32).astype(np.uint64)
    keys <<= _BITS
    keys |= np.arange(n, dtype=np.uint64)
    keys[np.arange(height), low + np.arange(height)] = 0
    if width < n:
        keys.partition(width - 1, axis=1)
    keys = np.ascontiguousarray(keys[:, :width])
    keys.sort(axis=1)
    return keys
