"""Repetitions of soft clusterings by a Gaussian kernel, from the pairs that are near each other.

See `consilience.kernels.minority.near` for what is computed. Here it goes block by block; what
the first pass found is kept for the second as far as memory allows, else found again.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels.minority.near import entries_needed, near_scores, near_sizes, near_weights
from consilience.kernels.minority.weak import Scratch
from consilience.minority._divergence import Terms
from consilience.minority.weak import WeakClusterer

__all__ = ["Near"]

Floats = NDArray[np.float64]

# Bytes of an entry's place: four whole numbers.
_PLACE = 32


class Near:
    """Sizes and scores of one repetition after another; memory is taken once, for one thread.

    Parameters
    ----------
    weak : WeakClusterer
        One whose ``near_kernel`` is not None.
    parts : list of Terms
        The objects, block by block.
    kept : int
        Bytes that may be kept from the first pass for the second.
    """

    def __init__(self, weak: WeakClusterer, parts: list[Terms], kept: int) -> None:
        self.weak, self.parts, self.kept = weak, parts, kept
        lengths = [len(part.offset) for part in parts]
        self.starts: list[int] = np.cumsum([0, *lengths]).tolist()
        self.needed = [entries_needed(length) for length in lengths]
        self.longest = max(lengths, default=0)
        self.n_clusters = 0

    def repetition(self, model: Terms, sizes: Floats | None) -> tuple[Floats, Floats]:
        """Sizes of the clusters, unless given, and each object's mean of them by its grades."""
        self._take_memory(len(model.offset), model.offset.dtype)
        excess = np.zeros(len(model.offset))
        used, again = self._first_pass(model, excess)
        if sizes is None:
            # A weight is 1 and its excess.
            sizes = excess + self.inverse.sum(dtype=np.float64)
        scores = np.full(len(self.inverse), sizes.sum())
        near_scores(self.entries, 0, used, sizes, scores)
        for number in again:
            end, _ = self._block(model, number, self.spare)
            near_scores(self.entries, self.spare[0], end, sizes, scores)
        scores *= self.inverse
        return sizes, scores

    def _first_pass(self, model: Terms, sizes: Floats) -> tuple[int, list[int]]:
        """Number of entries kept, and the blocks whose entries are not."""
        k, again, free = len(model.offset), [], (0, 0)
        for number, needed in enumerate(self.needed):
            length = self.starts[number + 1] - self.starts[number]
            keep = free[0] + k * needed <= self.spare[0] and free[1] + k * length <= self.spare[1]
            begin = free if keep else self.spare
            end = self._block(model, number, begin)
            near_sizes(self.entries, begin[0], end[0], self.inverse, sizes)
            if keep:
                free = end
            else:
                again.append(number)
        return free[0], again

    def _block(self, model: Terms, number: int, begin: tuple[int, int]) -> tuple[int, int]:
        """Make the entries of a block, from this entry and number on; where they end."""
        part, k = self.parts[number], len(model.offset)
        start, stop = self.starts[number : number + 2]
        out = self.products[: k * (stop - start)].reshape(k, -1)
        products = self.weak.products(part, model, out)
        inverse = self.inverse[start:stop]
        terms = (products, part.offset, model.offset, self.kernel, self.constants)
        end: tuple[int, int] = near_weights(*terms, start, self.entries, *begin, inverse)
        return end

    def _take_memory(self, k: int, dtype: Any) -> None:
        """Arrays for k clusters; what they do not come to hold is never really taken."""
        if k <= self.n_clusters:
            return
        self.n_clusters = k
        self.constants = Scratch(dtype).constants
        self.kernel = self.weak.near_kernel(self.constants)
        numbers, entries = k * self.starts[-1], k * sum(self.needed)
        share = min(1.0, self.kept / max(numbers * dtype.itemsize + entries * _PLACE, 1))
        # Behind what is kept there is room for one block that is not.
        self.spare = (int(entries * share), int(numbers * share))
        values = np.empty(self.spare[1] + k * self.longest, dtype)
        places = np.empty((self.spare[0] + k * max(self.needed, default=0), 4), np.int64)
        self.entries = (values, places)
        self.products = np.empty(k * self.longest, dtype)
        self.inverse = np.empty(self.starts[-1], dtype)
