"""Repetitions in batches: models are drawn and stacked, one compiled call makes all of a batch.

For weak clusterers whose products are those of matrices. Others, such as kernels over any
objects, go block by block through Python: see `consilience.minority._repetitions`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._threads import one_thread
from consilience.engines import engine_for
from consilience.kernels._parallel import Team
from consilience.kernels.minority.blocks import (
    BLOCK,
    Models,
    Objects,
    dense_objects,
    sparse_objects,
)
from consilience.kernels.minority.passes import (
    Batch,
    Grading,
    Memory,
    Scale,
    nearest_seeds,
)
from consilience.minority._divergence import Terms, as_floats
from consilience.minority._repetitions import Order
from consilience.minority.weak import Draw, WeakClusterer, hard_grading

__all__ = ["Drawn", "Scorer"]

Floats = NDArray[np.float64]

# Pairs of an object and a seed that a thread grades in one pass: some tens of milliseconds, beside
# which starting the threads is nothing.
_PAIRS = 2**23
# Pairs that are worth a thread.
_WORTH_A_THREAD = 2**19
# Numbers of the batch's scores, and of the stacked seeds, at most.
_SCORES, _SEEDS = 2**25, 2**23
# Bytes of grades kept from a batch's first pass for its second, for up to eight threads and for
# each more: what they make in the time that a pass should take.
_KEPT, _KEPT_EACH = 2**29, 2**26
# Of the bytes to keep, the share that batches are planned by: threads take unequal parts.
_PLANNED = 0.7


class Drawn(NamedTuple):
    """A batch, and what was drawn for it; scores are in memory that the next batch uses."""

    draws: list[Draw]
    sizes: list[Floats]
    batch: Batch


class Scorer:
    """Objects in blocks, threads and memory to score them: used as a context.

    Parameters
    ----------
    weak : WeakClusterer
        Fitted, one whose ``grading`` is not None.
    X : array or CSR matrix
        The objects to score.
    n_jobs : int or None
    n_repetitions : int
        How many there will be, about.
    """

    def __init__(self, weak: WeakClusterer, X: Any, n_jobs: int | None, n_repetitions: int) -> None:
        self.weak, self.engine = weak, engine_for(X)
        n_tasks = -(-X.shape[0] // BLOCK) * n_repetitions
        n_pairs = X.shape[0] * n_repetitions * weak.k_max // 2
        self.team = Team(n_jobs, min(n_tasks, -(-n_pairs // _WORTH_A_THREAD)))
        self.memory = Memory(_KEPT + _KEPT_EACH * max(self.team.size - 8, 0), self.team.size)
        with one_thread():
            self.objects = _in_blocks(weak, as_floats(X), self.team)

    @staticmethod
    def takes(weak: WeakClusterer, X: Any) -> bool:
        """Whether these objects can be scored so."""
        if not hasattr(X, "shape") or len(X.shape) != 2 or X.shape[0] == 0:
            return False
        return weak.grading(np.dtype(np.float64)) is not None

    def __enter__(self) -> Self:
        self.team.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.team.__exit__(*error)

    def batches(
        self, X: Any, orders: Sequence[Order], scale: Scale, *, seed: int
    ) -> Iterator[Drawn]:
        """Repetitions in the order asked for, a batch at a time.

        To be gone through with linear algebra on one thread (`one_thread`).

        Parameters
        ----------
        X : array or CSR matrix
            The objects that seeds are drawn from.
        orders : sequence of (int, None) or (Draw, sizes)
        scale : Scale
        seed : int
        """
        grading = self.weak.grading(self.objects.rows.dtype)
        assert grading is not None
        source = _Source(self.weak, X, self.objects, orders, seed)
        for draws, sizes, models in self._models(source, grading):
            given = None if sizes[0] is None else np.concatenate(sizes)
            threads: dict[str, Any] = {"team": self.team, "memory": self.memory}
            batch = self.engine.repetitions(
                self.objects, models, grading, scale, sizes=given, **threads
            )
            yield Drawn(draws, np.split(batch.sizes, models.bounds[1:-1]), batch)

    def nearest(self, X: Any, draws: Sequence[Draw], out: NDArray[Any]) -> None:
        """Write the cluster of every object in every weak clustering, (n_draws, n_objects)."""
        grading = hard_grading(self.objects.rows.dtype)
        source = _Source(self.weak, X, self.objects, [(draw, None) for draw in draws], 0)
        done = 0
        with one_thread():
            for taken, _, models in self._models(source, grading):
                some = out[done : done + len(taken)]
                nearest_seeds(self.objects, models, grading, some, team=self.team)
                done += len(taken)

    def _models(self, source: "_Source", grading: Grading) -> Iterator[Any]:
        """What the source gives, the next while the last is worked on."""
        following = None
        while following is not None or source.waiting:
            batch = source.next(self._most_seeds(grading)) if following is None else following()
            following = None
            if source.waiting:
                following = self.team.aside(partial(source.next, self._most_seeds(grading)))
            yield batch

    def _most_seeds(self, grading: Grading) -> int:
        """Seeds of a batch: enough for threads to work a while, as many as memory has room for."""
        n, itemsize = len(self.objects.rows), self.objects.rows.dtype.itemsize
        enough = _PAIRS * self.team.size // n
        if grading.kind == "hard":
            return enough
        room = _PLANNED * self.memory.kept / (n * itemsize * max(self.memory.share, 0.05))
        return min(enough, int(room))


def _in_blocks(weak: WeakClusterer, X: Any, team: Team) -> Objects:
    if sparse.issparse(X):
        terms = weak.objects(X)
        if sparse.issparse(terms.matrix):
            return sparse_objects(terms.matrix, terms.offset)
        return dense_objects(lambda *rows: (part[slice(*rows)] for part in terms), X.shape[0], team)
    return dense_objects(lambda *rows: weak.objects(X[slice(*rows)]), X.shape[0], team)


class _Source:
    """Models of the repetitions asked for, stacked for one batch after another."""

    def __init__(
        self, weak: WeakClusterer, X: Any, objects: Objects, orders: Sequence[Order], seed: int
    ) -> None:
        self.weak, self.X, self.orders, self.seed = weak, X, orders, seed
        self.wide = len(objects.matrix) > 2
        self.dtype = objects.rows.dtype
        self.most_seeds = _SEEDS // max(int(objects.matrix[-1]), 1)
        self.most_draws = _SCORES // len(objects.rows)
        self.done = 0

    @property
    def waiting(self) -> bool:
        """Whether there is another batch."""
        return self.done < len(self.orders)

    def next(self, most: int) -> tuple[list[Draw], list[Any], Models]:
        """Draws, sizes and models of repetitions that together have about so many seeds."""
        draws: list[Draw] = []
        sizes: list[Any] = []
        terms: list[Terms] = []
        n_seeds, most = 0, min(most, self.most_seeds)
        while self.waiting and (not draws or (n_seeds < most and len(draws) < self.most_draws)):
            which, own = self.orders[self.done]
            draw = which if isinstance(which, Draw) else self.weak.draw(self.seed, which)
            draws.append(draw)
            sizes.append(own)
            terms.append(self.weak.model(self.X, draw))
            n_seeds += draw.n_clusters
            self.done += 1
        matrices, columns = zip(*terms, strict=True)
        return draws, sizes, Models.stacked(matrices, columns, self.dtype, wide=self.wide)
