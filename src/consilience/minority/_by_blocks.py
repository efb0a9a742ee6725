"""Repetitions on objects that are not in memory, a few at a time; see `Blocks.add_scores`."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience.engines import Blocks, engine_for
from consilience.engines._weak_pieces import Sums
from consilience.errors import InvalidParameterError
from consilience.kernels.minority.blocks import Models
from consilience.kernels.minority.passes import Scale
from consilience.minority.weak import Draw, WeakClusterer
from consilience.rows import Stored

__all__ = ["BlockScorer", "score_stored"]

# Scores of a batch, all objects together: 1 GiB of them lie in files, or with the workers.
_SCORES = 2**27
_MOST = 32


class BlockScorer:
    """Scores the objects of a stored table; what `Scorer` is for objects in memory."""

    def __init__(self, weak: WeakClusterer, table: Stored, n_jobs: int | None) -> None:
        engine = engine_for(table)
        assert isinstance(engine, Blocks)
        self.weak, self.table, self.n_jobs, self.engine = weak, table, n_jobs, engine
        grading = weak.grading(table.dtype)
        if grading is None:
            raise InvalidParameterError(
                f"The 'weak' parameter of EWOCS must be 'soft', 'hard' or 'split' for data that "
                f"are not in memory. Got {weak!r} instead."
            )
        self.grading = grading

    def add_to(self, running: Any, X: Any, numbers: range, *, seed: int, each: bool) -> None:
        """Count the repetitions of these numbers, as `consilience.minority.scores.extend` does."""
        n = self.table.shape[0]
        most = 1 if each else max(1, min(_MOST, _SCORES // n))
        scale = Scale(n, running.aggregate == "log")
        sums = Sums(running.total, running.squares)
        # One pass takes the seeds of all repetitions out of the table.
        draws = [self.weak.draw(seed, number) for number in numbers]
        kept, moved = self._seeds(draws)
        for start in range(0, len(draws), most):
            some = slice(start, start + most)
            before = running.total.copy() if each else None
            models = self._models(kept, moved[some])
            how = (self.weak.objects, models, self.grading, scale, sums)
            sizes, means = self.engine.add_scores(*how, n_jobs=self.n_jobs)
            if before is not None:
                after, running.total[:] = running.total.copy(), before
                running.changed_to(after, running.n_repetitions)
            running.draws.extend(draws[some])
            running.sizes.extend(np.split(sizes, models.bounds[1:-1]))
            running.shift = functools.reduce(float.__add__, means.tolist(), running.shift)

    def _seeds(self, draws: Sequence[Draw]) -> tuple[NDArray[Any], list[Draw]]:
        """Objects that are seeds, and the draws with their places among these."""
        rows = [draw.rows for draw in draws if draw.rows is not None]
        if not rows:
            return np.empty((0, self.table.shape[1]), self.table.dtype), list(draws)
        used = np.unique(np.concatenate(rows))
        moved = [Draw(len(own), rows=np.searchsorted(used, own)) for own in rows]
        return self.table.take(used), moved

    def _models(self, kept: NDArray[Any], draws: Sequence[Draw]) -> Models:
        terms = [self.weak.model(kept, draw) for draw in draws]
        matrices, columns = zip(*terms, strict=True)
        return Models.stacked(matrices, columns, self.table.dtype, wide=False)


def score_stored(score: Any, table: Stored, out: NDArray[Any]) -> Any:
    """What a function of rows says of the objects of a stored table, in the blocks of that."""
    for start, stop in table.pieces():
        out[start:stop] = score(table.read(start, stop))
        let_go(out)
    return table.in_its_blocks(out)
