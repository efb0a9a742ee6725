"""Scores of the objects over many weak clusterings, streamed: no clustering is ever kept.

A repetition passes over the objects twice, in blocks: once for the sizes of its clusters, once
for the objects' scores, the mean size of the clusters an object is in. Threads share the blocks
of a batch of repetitions; sums over objects go by the numbers of the blocks and scores are added
in the order of the repetitions, so that neither the number of threads nor how a run was divided
changes a digit.
"""

import functools
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from consilience._threads import one_thread
from consilience._validation import (
    COUNT,
    Interval,
    Options,
    Satisfies,
    check_jobs,
    check_value,
)
from consilience.engines import label_room
from consilience.kernels._parallel import Team, workers
from consilience.kernels.minority.passes import Batch, Scale, add_scores
from consilience.minority._batches import Drawn, Scorer
from consilience.minority._divergence import Terms
from consilience.minority._repetitions import Order, Repetition, in_order
from consilience.minority.weak import Draw, WeakClusterer, blocks

if TYPE_CHECKING:
    from consilience.minority._on_device import DeviceScorer

__all__ = ["Running", "Scored", "extend", "in_blocks", "score_new", "score_objects"]

Floats = NDArray[np.float64]

# Objects a block: products with a hundred seeds stay in the second cache. A constant, because
# sums are taken block by block.
_BLOCK = 1024
# Soft grades of one repetition are kept for its second pass up to this many bytes, all threads
# together; beyond, they are computed again.
_KEPT = 2**29


@dataclass
class Running:
    """Sums over the repetitions so far, and the models to score new objects with.

    Attributes
    ----------
    aggregate : {"mean", "log"}
        Mean of relative sizes ``s / n``, or of their logarithms ``log(s k / n)``.
    total : ndarray of shape (n_objects,)
        Sum of the scores of all repetitions.
    squares : ndarray of shape (n_objects,)
        Sum of squares of the scores, those of each repetition centred.
    rounding : float
        Relative rounding of the numbers the scores are made of: that of the data's type.
    shift : float
        Sum of the repetitions' mean scores.
    draws, sizes : list
        One of each a repetition.
    changes : list of float
        Mean squared change of the scores, mapped onto [0, 1], by each repetition from the
        second on; filled where the published rule to stop is followed.
    """

    aggregate: str
    total: Floats
    squares: Floats
    rounding: float = float(np.finfo(np.float64).eps)
    shift: float = 0.0
    draws: list[Draw] = field(default_factory=list)
    sizes: list[Floats] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)

    @classmethod
    def empty(cls, n_objects: int, aggregate: str, dtype: Any = np.float64) -> "Running":
        """No repetitions yet, of data of that type."""
        single = dtype == np.float32
        rounding = float(np.finfo(np.float32 if single else np.float64).eps)
        total, squares = (label_room((n_objects,), np.float64) for _ in range(2))
        total[:], squares[:] = 0.0, 0.0
        return cls(aggregate, total, squares, rounding)

    @property
    def n_repetitions(self) -> int:
        """Repetitions so far."""
        return len(self.draws)

    @property
    def scores(self) -> Floats:
        """Mean score of each object."""
        return self.total / max(self.n_repetitions, 1)

    @property
    def resolution(self) -> float:
        """Scores nearer to each other than this tell nothing apart.

        Logarithms of sizes are off by as much as the sizes are relatively, however small they
        are themselves. Two thirds of the digits: of those left, sums over seeds, distances and
        a change of the data in their last digits have taken some.
        """
        return self._resolution(self.scores)

    def _resolution(self, scores: Floats) -> float:
        largest = 1.0
        if self.aggregate == "mean":
            largest = float(np.abs(scores).max(initial=0.0))
        return self.rounding ** (2 / 3) * largest

    @property
    def is_flat(self) -> bool:
        """Whether no score differs from another by more than rounding."""
        return self._is_flat(self.scores)

    def _is_flat(self, scores: Floats) -> bool:
        return float(np.ptp(scores)) <= self._resolution(scores)

    def add(self, found: Repetition, *, with_change: bool) -> None:
        """Count one more repetition, the next by its number."""
        n = len(self.total)
        before = _unit(self.total) if with_change and self.n_repetitions else None
        scores = _aggregated(found.scores, found.draw.n_clusters, n, self.aggregate)
        mean = float(scores.mean())
        self.total += scores
        self.shift += mean
        scores -= mean
        self.squares += scores**2
        self.draws.append(found.draw)
        self.sizes.append(found.sizes)
        if before is not None:
            self.changes.append(float(((_unit(self.total) - before) ** 2).mean()))

    def add_batch(self, drawn: Drawn, team: Team, *, with_changes: bool) -> None:
        """Count the repetitions of a batch, the next by their numbers; each thread its objects."""
        self.draws.extend(drawn.draws)
        self.sizes.extend(drawn.sizes)
        self.shift = functools.reduce(float.__add__, drawn.batch.means.tolist(), self.shift)
        if not with_changes:
            add_scores(drawn.batch, self.total, self.squares, team)
            return
        done = self.n_repetitions - len(drawn.draws)
        for scores, mean in zip(drawn.batch.scores, drawn.batch.means, strict=True):
            before = _unit(self.total)
            one = Batch(np.empty(0), scores[None], mean[None])
            add_scores(one, self.total, self.squares, team)
            if done:
                self.changes.append(float(((_unit(self.total) - before) ** 2).mean()))
            done += 1

    def changed_to(self, total: Floats, done: int) -> None:
        """Take sums after one more repetition, of so many before; note the change."""
        if done:
            self.changes.append(float(((_unit(total) - _unit(self.total)) ** 2).mean()))
        self.total[:] = total

    def variances(self) -> Floats:
        """Variance of each object's centred score between repetitions; infinite after one."""
        R = self.n_repetitions
        if R < 2:
            return np.full(len(self.total), np.inf)
        return np.maximum(self.squares - (self.total - self.shift) ** 2 / R, 0) / (R - 1)

    def standard_errors(self) -> Floats:
        """How far each mean score may be off: the root of its variance over the repetitions."""
        return np.sqrt(self.variances() / max(self.n_repetitions, 1))

    def reliability(self) -> float:
        """Estimated squared correlation of the scores with their limit, from 0 to 1.

        One minus the share of noise in the variance of the scores between objects. 1 where
        all objects score alike to rounding and nothing is left to learn; 0 after one repetition.
        """
        scores = self.scores
        if self._is_flat(scores):
            return 1.0
        noise = float((self.variances() / max(self.n_repetitions, 1)).mean())
        between = float(scores.var())
        if noise == 0:
            return 1.0
        return max(0.0, 1.0 - noise / between) if between > 0 else 0.0


@dataclass(frozen=True)
class Scored:
    """Scores of the objects and how settled they are.

    Attributes
    ----------
    scores : ndarray of shape (n_objects,)
        Larger = more foreground.
    standard_errors : ndarray of shape (n_objects,)
    reliability : float
        See `Running.reliability`.
    n_repetitions : int
    is_flat : bool
        Whether the scores differ by rounding only.
    """

    scores: Floats
    standard_errors: Floats
    reliability: float
    n_repetitions: int
    is_flat: bool = False


def score_objects(
    X: Any,
    weak: WeakClusterer,
    n_repetitions: int = 100,
    *,
    seed: int = 0,
    aggregate: str = "mean",
    n_jobs: int | None = None,
) -> Scored:
    """Scores of the objects over a number of weak clusterings (Algorithm 1 without threshold).

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features), or what the divergence takes
    weak : WeakClusterer
        Fitted here on X, see `consilience.minority.weak.weak_clusterer`.
    n_repetitions : int, default=100
    seed : int, default=0
        The same seed draws the same models, whatever the divergence.
    aggregate : {"mean", "log"}, default="mean"
        Mean of relative sizes as published, or of their logarithms.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    Scored

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Algorithm 1.

    Examples
    --------
    >>> from consilience.minority.weak import weak_clusterer
    >>> X = np.r_[np.random.default_rng(0).uniform(-9, 9, (50, 2)), np.full((10, 2), 3.0)]
    >>> result = score_objects(X, weak_clusterer("hard", k_max=20), 50)
    >>> result.scores[50:].min() > np.median(result.scores[:50])
    np.True_
    """
    of_weak = Satisfies(lambda value: isinstance(value, WeakClusterer), "what weak_clusterer makes")
    check_value("weak", weak, [of_weak], owner="score_objects")
    check_value("n_repetitions", n_repetitions, COUNT, owner="score_objects")
    check_value("seed", seed, [Interval(Integral, 0)], owner="score_objects")
    check_value("aggregate", aggregate, [Options(("mean", "log"))], owner="score_objects")
    check_jobs(n_jobs, owner="score_objects")
    weak = weak.fit(X)
    running = Running.empty(weak.n_objects, aggregate, getattr(X, "dtype", None))
    extend(running, weak, X, range(n_repetitions), seed=seed, n_jobs=n_jobs)
    return Scored(
        running.scores,
        running.standard_errors(),
        running.reliability(),
        running.n_repetitions,
        running.is_flat,
    )


def extend(
    running: Running,
    weak: WeakClusterer,
    X: Any,
    numbers: range,
    *,
    seed: int,
    n_jobs: int | None = None,
    with_changes: bool = False,
    scorer: "Scorer | DeviceScorer | None" = None,
) -> None:
    """Add the repetitions of these numbers, which must follow those already counted.

    Parameters
    ----------
    running : Running
        Changed in place.
    weak : WeakClusterer
        Fitted on ``X``.
    X : array or CSR matrix
        The objects.
    numbers : range
        Numbers of the repetitions.
    seed : int
    n_jobs : int or None
    with_changes : bool, default=False
        Whether to note by how much every repetition changes the scores.
    scorer : Scorer or DeviceScorer, optional
        Of these objects, if it is at hand.
    """
    if scorer is not None and not isinstance(scorer, Scorer):
        scorer.add_to(running, X, numbers, seed=seed, each=with_changes)
        return
    orders: list[Order] = [(number, None) for number in numbers]
    if scorer is not None:
        scale = Scale(len(running.total), running.aggregate == "log")
        with one_thread():
            for drawn in scorer.batches(X, orders, scale, seed=seed):
                running.add_batch(drawn, scorer.team, with_changes=with_changes)
        return
    if Scorer.takes(weak, X):
        with Scorer(weak, X, n_jobs, len(orders)) as scorer:
            options: dict[str, Any] = {"seed": seed, "with_changes": with_changes, "scorer": scorer}
            extend(running, weak, X, numbers, **options)
        return
    parts, threads = in_blocks(weak, X), workers(n_jobs, len(orders))
    with one_thread():
        for repetition in in_order(weak, X, parts, orders, seed=seed, kept=_KEPT, workers=threads):
            running.add(repetition, with_change=with_changes)


def score_new(
    running: Running,
    weak: WeakClusterer,
    kept: Any,
    draws: list[Draw],
    X: Any,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Scores of other objects by the models of a run (Algorithm 2 without threshold).

    Parameters
    ----------
    running : Running
    weak : WeakClusterer
        As it was fitted.
    kept : array or CSR matrix
        The objects that were seeds.
    draws : list of Draw
        The run's draws, with rows of ``kept``.
    X : array or CSR matrix
        Other objects; those of the run get the scores they have, to rounding.
    n_jobs : int or None
    """
    orders: list[Order] = list(zip(draws, running.sizes, strict=True))
    if Scorer.takes(weak, X):
        total = np.zeros(X.shape[0])
        scale = Scale(len(running.total), running.aggregate == "log", floors=True)
        with one_thread(), Scorer(weak, X, n_jobs, len(orders)) as scorer:
            for drawn in scorer.batches(kept, orders, scale, seed=0):
                add_scores(drawn.batch, total, None, scorer.team)
        return total / max(running.n_repetitions, 1)
    parts, threads = in_blocks(weak, X), workers(n_jobs, len(orders))
    total = np.zeros(sum(len(part.offset) for part in parts))
    with one_thread():
        for repetition in in_order(weak, kept, parts, orders, seed=0, kept=_KEPT, workers=threads):
            k, trained = repetition.draw.n_clusters, len(running.total)
            total += _aggregated(repetition.scores, k, trained, running.aggregate)
    return total / max(running.n_repetitions, 1)


def in_blocks(weak: WeakClusterer, X: Any) -> list[Terms]:
    """The objects as the weak clusterer wants them, a block at a time."""
    return blocks(weak.objects(X), _BLOCK)


def _aggregated(scores: Floats, k: int, n: int, aggregate: str) -> Floats:
    """A repetition's scores on the scale that is averaged; a new array."""
    return scores / n if aggregate == "mean" else np.log(scores * (k / n))


def _unit(values: Floats) -> Floats:
    """Values mapped onto [0, 1]; equal values onto 0."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros(len(values))
