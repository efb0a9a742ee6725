"""Repetitions through Python, block by block, for weak clusterers that compiled passes cannot make.

Those of a kernel over any objects, of a matrix made before, or of a user's own class. All others
go by `consilience.minority._batches`.
"""

from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._parallel import streamed
from consilience.kernels.minority.weak import Scratch, weighted_scores, weighted_sizes
from consilience.minority._divergence import Terms
from consilience.minority.weak import Draw, WeakClusterer

__all__ = ["Order", "Repetition", "in_order"]

Floats = NDArray[np.float64]
# The number of a repetition to draw, or a draw with the sizes its clusters had.
Order = tuple[int | Draw, Floats | None]

# Scores a task may return, in numbers.
_RETURNED = 2**22
# Tasks a thread: the last ones should end together.
_TASKS = 16


class Repetition(NamedTuple):
    """One weak clustering: what was drawn, the sizes of its clusters, the scores it gave."""

    draw: Draw
    sizes: Floats
    scores: Floats


def in_order(
    weak: WeakClusterer,
    X: Any,
    parts: list[Terms],
    orders: Sequence[Order],
    *,
    seed: int,
    kept: int,
    workers: int,
) -> Iterator[Repetition]:
    """Repetitions in the order asked for, whoever makes them.

    Parameters
    ----------
    weak : WeakClusterer
        Fitted.
    X : array or CSR matrix
        The objects that seeds are drawn from.
    parts : list of Terms
        The objects to score, block by block.
    orders : sequence of (int, None) or (Draw, sizes)
    seed : int
    kept : int
        Bytes of grades that all threads together may keep from a repetition's first pass.
    workers : int
        Threads.
    """
    if workers == 1:
        maker = _Maker(weak, X, parts, seed, kept)
        yield from (maker.make(order) for order in orders)
        return
    free: SimpleQueue[_Maker] = SimpleQueue()
    for _ in range(workers):
        free.put(_Maker(weak, X, parts, seed, kept // workers))

    def task(group: Sequence[Order]) -> list[Repetition]:
        maker = free.get()
        try:
            return [maker.make(order) for order in group]
        finally:
            free.put(maker)

    n = max(sum(len(part.offset) for part in parts), 1)
    size = max(1, min(len(orders) // (_TASKS * workers), _RETURNED // n))
    groups = [orders[start : start + size] for start in range(0, len(orders), size)]
    for _, made in streamed(task, groups, workers):
        yield from made


class _Maker:
    """Makes repetitions one after another, in memory that is taken once; one a thread."""

    def __init__(
        self, weak: WeakClusterer, X: Any, parts: list[Terms], seed: int, kept: int
    ) -> None:
        self.weak, self.X, self.parts, self.seed, self.kept = weak, X, parts, seed, kept
        self.lightest = weak.lightest
        self.lengths = [len(part.offset) for part in parts]
        self.n_objects = sum(self.lengths)
        self.buffer: NDArray[Any] = np.empty(0)

    def make(self, order: Order) -> Repetition:
        """The repetition asked for."""
        which, sizes = order
        draw = which if isinstance(which, Draw) else self.weak.draw(self.seed, which)
        model = self.weak.model(self.X, draw)
        is_new = sizes is not None
        if not self.weak.soft:
            sizes, scores = self._hard(model, sizes)
        else:
            sizes, scores = self._soft(model, sizes, Scratch(model.offset.dtype))
        if is_new or self.weak.counts is not None:
            # An object that counted for nothing may be alone in its cluster. Others have more than
            # this, so that fitted objects get the scores they had.
            np.maximum(scores, self.lightest / draw.n_clusters, out=scores)
        return Repetition(draw, sizes, scores)

    def _hard(self, model: Terms, sizes: Floats | None) -> tuple[Floats, Floats]:
        """Sizes of the clusters and the size of each object's own."""
        labels = np.concatenate([self.weak.labels(part, model) for part in self.parts])
        if sizes is None:
            counts = self.weak.counts
            sizes = np.bincount(labels, counts, minlength=len(model.offset)).astype(np.float64)
        return sizes, np.maximum(sizes, self.lightest)[labels]

    def _soft(self, model: Terms, sizes: Floats | None, scratch: Scratch) -> tuple[Floats, Floats]:
        """Sizes of the clusters, and each object's mean of them by its grades."""
        dtype, k = model.offset.dtype, len(model.offset)
        keep = bool(self.n_objects * k * dtype.itemsize <= self.kept)
        places = self._places(k, dtype, keep)
        made: list[Any] = []
        if sizes is None:
            sizes, start = np.zeros(k), 0
            for part, place in zip(self.parts, places, strict=True):
                grades = self.weak.weights(part, model, scratch, place)
                weighted_sizes(grades[0], self._counted(grades[1], start), sizes)
                start += len(part.offset)
                if keep:
                    made.append(grades)
        scores = np.empty(self.n_objects)
        start = 0
        for number, (part, place) in enumerate(zip(self.parts, places, strict=True)):
            grades = made[number] if made else self.weak.weights(part, model, scratch, place)
            weighted_scores(*grades, sizes, scores[start : start + len(part.offset)])
            start += len(part.offset)
        return sizes, scores

    def _counted(self, inverse: NDArray[Any], start: int) -> NDArray[Any]:
        """One over the sums of grades, each as often as its object counts."""
        counts = self.weak.counts
        if counts is None:
            return inverse
        own = counts[start : start + len(inverse)]
        return np.asarray(inverse * own, inverse.dtype)

    def _places(self, k: int, dtype: Any, keep: bool) -> list[NDArray[Any]]:
        """An array of shape (k, b) for every block; the same memory for all if not kept."""
        starts = np.cumsum([0, *self.lengths[:-1]]) if keep else np.zeros(len(self.lengths), int)
        needed = k * (self.n_objects if keep else max(self.lengths))
        if self.buffer.size < needed or self.buffer.dtype != dtype:
            self.buffer = np.empty(needed, dtype)
        return [
            self.buffer[k * start : k * (start + length)].reshape(k, length)
            for start, length in zip(starts, self.lengths, strict=True)
        ]
