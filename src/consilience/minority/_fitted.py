"""What a fitted EWOCS keeps to go on, and to judge objects it has not seen."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._units import check_range
from consilience._validation import as_numbers
from consilience.engines import engine_for
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.kernels.data.scaling import column_ranges
from consilience.kernels.labels.signatures import taken
from consilience.minority._batches import Scorer
from consilience.minority._groups import Groups, by_clusterer, by_consensus
from consilience.minority._neighbours import N_NEIGHBOURS, NeighbourScores, Reach
from consilience.minority._scaling import Scaling, fit_scaling
from consilience.minority._stopping import Progress
from consilience.minority._width import gamma_of_distances
from consilience.minority.divergences import (
    Divergence,
    Euclidean,
    Gaussian,
    Kernel,
    Mahalanobis,
    Precomputed,
    resolve,
)
from consilience.minority.scores import Running, score_new
from consilience.minority.weak import (
    SAMPLE,
    Draw,
    RandomBregman,
    RandomSplit,
    WeakClusterer,
    blocks,
    random,
)
from consilience.rows import Stored, rows_of

__all__ = [
    "MEMBERS",
    "Fitted",
    "Grid",
    "asked_divergence",
    "check_objects",
    "check_same_objects",
    "checked_weights",
    "chosen_divergence",
    "chosen_scaling",
    "is_pairwise",
    "scaled_objects",
    "takes_sparse",
]

Floats = NDArray[np.float64]

# Weak clusterings whose labels tell the groups of the foreground apart: at most, at least.
MEMBERS, _FEWEST = 100, 20
# Scaled values up to which outliers do not matter.
_FAR = 1e15
# Objects whose clusters are found at once.
_BLOCK = 8192


@dataclass(frozen=True)
class Fitted:
    """A run so far, and what new objects need of it.

    Attributes
    ----------
    weak : WeakClusterer
    running : Running
    progress : Progress
    scaling : Scaling or None
    kept : array or None
        The objects that were seeds, scaled.
    draws : list of Draw
        The run's draws with rows of ``kept``.
    groups : Groups or None
        Groups of the foreground, None where there is no foreground.
    sums : array
        Sums of the columns: whether the same objects come again.
    neighbours : NeighbourScores or None
        Where distances to the nearest objects are the score.
    reach : Reach or None
        How far from the fitted objects the foreground may be; None where that is not known.
    """

    weak: WeakClusterer
    running: Running
    progress: Progress
    scaling: Scaling | None
    kept: Any = None
    draws: list[Draw] = field(default_factory=list)
    groups: Groups | None = None
    sums: Any = None
    neighbours: NeighbourScores | None = None
    reach: Reach | None = None

    def scaled(self, X: Any, n_jobs: int | None) -> Any:
        """The objects on the scale and in the precision the models were made in."""
        X = scaled_objects(self.scaling, X, getattr(self.weak, "divergence", None), n_jobs)
        typed = hasattr(self.kept, "dtype") and not isinstance(X, Stored)
        return X.astype(self.kept.dtype, copy=False) if typed else X

    def keep_seeds(self, X: Any, data: Any) -> "Fitted":
        """The same run with its seeds: at most as many objects as there are."""
        sums = _sums(X)
        draws, weak = self.running.draws, self.weak
        divergence = getattr(weak, "divergence", None)
        if isinstance(weak, RandomBregman) and isinstance(divergence, Precomputed):
            # Seeds are columns of whatever matrix comes; the fitted one can go.
            weak = replace(weak, divergence=replace(divergence, kernel=None))
            return replace(self, weak=weak, kept=data[:0], draws=draws, sums=sums)
        if divergence is None:
            return replace(self, kept=data[:0], draws=draws, sums=sums)
        rows = [draw.rows for draw in draws if draw.rows is not None]
        used = np.unique(np.concatenate(rows))
        kept = divergence.take(data, used)
        moved = [Draw(len(r), rows=np.searchsorted(used, r)) for r in rows]
        return replace(self, kept=kept, draws=moved, sums=sums)

    def score(self, X: Any, n_jobs: int | None) -> Floats:
        """Scores of any objects."""
        data = self.scaled(X, n_jobs)
        if self.neighbours is not None:
            return self.neighbours.known(data)
        return score_new(self.running, self.weak, self.kept, self.draws, data, n_jobs=n_jobs)

    def members(
        self, data: Any, rows: NDArray[np.int64], n_jobs: int | None
    ) -> NDArray[np.int16 | np.int32]:
        """Clusters of some objects in the weak clusterings that divide them, members by objects."""
        draws = self.informative_draws()
        kind = np.int16 if max(draw.n_clusters for draw in draws) < 2**15 else np.int32
        members = np.empty((len(draws), len(rows)), kind)
        some = _rows(data, rows, n_jobs)
        if Scorer.takes(self.weak, some):
            with Scorer(self.weak, some, n_jobs, len(draws)) as scorer:
                scorer.nearest(self.kept, draws, members)
            return members
        parts = blocks(self.weak.objects(some), _BLOCK)
        for member, draw in zip(members, draws, strict=True):
            model = self.weak.model(self.kept, draw)
            for number, part in enumerate(parts):
                start = number * _BLOCK
                member[start : start + _BLOCK] = self.weak.labels(part, model)
        return members

    def informative_draws(self) -> list[Draw]:
        """The weak clusterings that tell groups apart.

        Clusters of few objects each separate everything from everything: of small data only the
        coarse clusterings count, as far as there are enough of them.
        """
        counts = np.array([draw.n_clusters for draw in self.draws])
        excess = np.maximum(counts - 2 * np.sqrt(self.weak.n_objects), 0)
        order = np.argsort(excess, kind="stable")[:MEMBERS]
        wanted = max(int((excess[order] == 0).sum()), _FEWEST)
        return [self.draws[i] for i in order[:wanted]]

    def split(
        self, owner: Any, X: Any, data: Any, foreground: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Labels of the fitted objects: -1, or the group of the foreground.

        The groups are noted in ``owner``.
        """
        labels = np.full(len(foreground), -1, np.int32)
        rows = np.flatnonzero(foreground)
        if not len(rows):
            owner._fitted = replace(self, groups=None)
            return labels
        members = self.members(data, rows, owner.n_jobs)
        counts = [draw.n_clusters for draw in self.informative_draws()]
        if owner.clusterer is None or isinstance(owner.clusterer, str):
            wanted = 1 if owner.clusterer is None else _at_most(owner.n_clusters, len(rows))
            rng = random(owner.seed_, SAMPLE, 0)
            near = _rows(data, rows) if self._near_is_distance(data) else None
            groups, labels[rows] = by_consensus(members, counts, wanted, rng, owner.n_jobs, near)
        else:
            part = _rows(X, rows)
            if isinstance(getattr(self.weak, "divergence", None), Precomputed):
                part = part[:, rows]
            groups, labels[rows] = by_clusterer(members, counts, part, owner.clusterer)
        owner._fitted = replace(self, groups=groups)
        return labels

    def _near_is_distance(self, data: Any) -> bool:
        """Whether rows that are near each other are so by the distance between them."""
        divergence = getattr(self.weak, "divergence", None)
        return hasattr(data, "shape") and (
            divergence is None or isinstance(divergence, Euclidean | Gaussian)
        )

    def with_neighbours(self, score: str, data: Any) -> "Fitted":
        """The same run; where distances to neighbours are the score, with the neighbours."""
        if score != "knn":
            return self
        if not hasattr(data, "shape") or self.is_pairwise:
            raise InvalidInputError(
                "score_by='knn' needs columns. Use 'sizes' with a kernel over other objects."
            )
        return replace(self, neighbours=NeighbourScores.of(data, N_NEIGHBOURS, self.weak.counts))

    def with_reach(self, data: Any, foreground: NDArray[np.bool_], n_jobs: int | None) -> "Fitted":
        """The same run, knowing how far from its objects the foreground goes."""
        if foreground.sum() < 2 or not hasattr(data, "shape") or self.is_pairwise:
            # Kernels over any objects have no columns to measure distances in.
            return replace(self, reach=None)
        return replace(self, reach=Reach(_rows(data, np.flatnonzero(foreground), n_jobs)))

    @property
    def is_pairwise(self) -> bool:
        """Whether objects come as rows of a kernel matrix."""
        return is_pairwise(getattr(self.weak, "divergence", None))

    def place(self, X: Any, foreground: NDArray[np.bool_], n_jobs: int | None) -> NDArray[np.int32]:
        """Labels of any objects, given which of them score as foreground.

        Those that are farther from all fitted objects than any fitted foreground is are not.
        """
        labels = np.full(len(foreground), -1, np.int32)
        rows = np.flatnonzero(foreground)
        if self.groups is None or not len(rows):
            return labels
        data = self.scaled(X, n_jobs)
        if self.reach is not None:
            rows = rows[self.reach.holds(data[rows])]
        if len(rows):
            labels[rows] = self.groups.place(self.members(data, rows, n_jobs), n_jobs)
        return labels


def asked_divergence(estimator: Any) -> Any:
    """The divergence data are measured by: of a weak clusterer that was given, its own.

    None where there is none, as with hyperplanes.
    """
    if isinstance(estimator.weak, RandomSplit) or _is(estimator.weak, "split"):
        return None
    return getattr(estimator.weak, "divergence", estimator.divergence)


def chosen_divergence(estimator: Any, X: Any) -> Divergence:
    """The divergence an estimator's parameters ask for, its kernel's width found for X."""
    if estimator.divergence != "gaussian":
        return resolve(estimator.divergence)
    gamma = estimator.gamma
    if not isinstance(gamma, str):
        return resolve("gaussian", alpha=estimator.alpha, gamma=gamma)
    if estimator.weak != "soft":
        # The nearest seed is the same whatever the width.
        return resolve("gaussian", alpha=estimator.alpha)
    if gamma == "distance":
        gamma = gamma_of_distances(X, estimator.seed_, estimator.n_jobs)
        return resolve("gaussian", alpha=estimator.alpha, gamma=gamma)
    return _tuned(estimator, X)


def _tuned(estimator: Any, X: Any) -> Gaussian:
    """The Gaussian kernel of `tune_gaussian`."""
    # It scores objects by the same engine, so it stands above this module.
    from consilience.minority.tuning import tune_gaussian

    tuning = tune_gaussian(
        X, method=estimator.gamma, random_state=estimator.seed_, n_jobs=estimator.n_jobs
    )
    return Gaussian(alpha=tuning.alpha, gamma=tuning.gamma)


def chosen_scaling(estimator: Any, X: Any) -> Scaling | None:
    """The scaling an estimator's parameters ask for."""
    kind, divergence = estimator.scaling, asked_divergence(estimator)
    if kind == "auto":
        split = divergence is None
        unit = _is(divergence, "gaussian") and estimator.gamma not in ("contrast", "auto")
        # A width found from distances fits the middle of the columns; stated ones fit the box.
        kind = "box" if split or estimator.gamma != "distance" else "robust"
        kind = kind if (split or unit) and not sparse.issparse(X) else "none"
    if kind != "none" and (not hasattr(X, "shape") or is_pairwise(divergence)):
        raise InvalidInputError(
            f"scaling={kind!r} needs columns. Use scaling='none' with a kernel over other objects."
        )
    scaling = fit_scaling(kind, X, owner="EWOCS", n_jobs=estimator.n_jobs)
    if estimator.scaling == "auto" and kind == "robust" and scaling is not None:
        ends = scaling.apply(_ends(X, estimator.n_jobs))
        # Outliers whose squares would leave the range of numbers have to set the scale.
        if not (np.abs(ends) < _FAR).all():
            return fit_scaling("box", X, owner="EWOCS", n_jobs=estimator.n_jobs)
    return scaling


def _ends(X: Any, n_jobs: int | None) -> Any:
    """Least and largest value of every column, (2, n_features), in the type of the data."""
    if isinstance(X, Stored):
        facts = engine_for(X).column_facts()
        return np.stack([facts.low, facts.high]).astype(X.dtype)
    return np.stack(column_ranges(np.ascontiguousarray(X), n_jobs))


def scaled_objects(scaling: Scaling | None, X: Any, divergence: Any, n_jobs: int | None = 1) -> Any:
    """The objects on their scale, checked that distances between them are numbers."""
    data = X if scaling is None else scaling.apply(X, n_jobs)
    # Mahalanobis has no unit; kernels take what they take.
    free = isinstance(divergence, Mahalanobis | Kernel) or _is(divergence, "mahalanobis")
    if hasattr(data, "shape") and not free and not is_pairwise(divergence):
        seen = _ends(data, n_jobs) if isinstance(data, Stored) else data
        check_range(seen, owner="EWOCS", what="X" if scaling is None else "X, scaled,")
    return data


def is_pairwise(divergence: Any) -> bool:
    """Whether data come as a matrix of objects by objects."""
    return isinstance(divergence, Precomputed) or _is(divergence, "precomputed")


def _is(value: Any, name: str) -> bool:
    """Whether a value is that name, and no object that may compare as it likes."""
    return isinstance(value, str) and value == name


def takes_sparse(estimator: Any) -> bool:
    """Whether the divergence, where there is one, works on rows without their zeros."""
    divergence = asked_divergence(estimator)
    return not (
        is_pairwise(divergence)
        or isinstance(divergence, Mahalanobis)
        or _is(divergence, "mahalanobis")
    )


def check_objects(estimator: Any, X: Any, *, reset: bool) -> Any:
    """The objects as floats, or as the list a kernel function takes."""
    kernel = asked_divergence(estimator)
    any_objects = isinstance(kernel, Kernel) or (
        callable(kernel) and not isinstance(kernel, Divergence)
    )
    if any_objects and not sparse.issparse(X) and np.ndim(_first(X)) != 1:
        X = list(X)
        if not X:
            raise InvalidInputError("Found 0 objects, a minimum of 1 is required.")
        return X
    allowed = takes_sparse(estimator)
    how: dict[str, Any] = {"fitted": estimator, "reset": reset, "allow_sparse": allowed}
    values = rows_of(X, owner=estimator, allow_stored=True, **how).values
    if isinstance(values, Stored):
        _check_stored(estimator, values)
    return values


def _check_stored(estimator: Any, table: Stored) -> None:
    """Refuse what cannot be made of data that are not in memory."""
    wrong = None
    if not isinstance(estimator.weak, str):
        wrong = "weak", estimator.weak, "'soft', 'hard' or 'split'"
    elif estimator.weak != "split" and estimator.divergence not in ("gaussian", "euclidean"):
        wrong = "divergence", estimator.divergence, "'gaussian' or 'euclidean'"
    elif estimator.gamma in ("contrast", "auto"):
        wrong = "gamma", estimator.gamma, "'distance' or a number"
    elif estimator.score_by != "sizes":
        wrong = "score_by", estimator.score_by, "'sizes'"
    if wrong is not None:
        raise InvalidParameterError(
            f"The {wrong[0]!r} parameter of EWOCS must be {wrong[2]} for data that are not in "
            f"memory, and {table.what} is read block by block. Got {wrong[1]!r} instead."
        )


def checked_weights(sample_weight: Any, X: Any) -> Floats | None:
    """How often each object counts, with mean 1; None where all count alike."""
    if sample_weight is None:
        return None
    if isinstance(X, Stored):
        raise InvalidInputError("EWOCS takes 'sample_weight' with data in memory only.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    weights = as_numbers("sample_weight", sample_weight, owner="EWOCS.fit", shape=(n,))
    if (weights < 0).any() or not weights.any():
        raise InvalidInputError(
            "The 'sample_weight' parameter of EWOCS.fit must hold numbers of at least 0, how often "
            "each object counts, and not only zero weights."
        )
    if (weights == weights[0]).all():
        return None
    return np.asarray(weights / weights.mean(), np.float64)


def check_same_objects(fitted: Fitted, X: Any) -> None:
    """Raise unless these look like the objects a run was made on."""
    if not np.array_equal(_sums(X), fitted.sums, equal_nan=True):
        raise InvalidInputError(
            "EWOCS.more needs the objects the model was fitted on. Got others. Call fit for new "
            "objects, or predict to judge them by this model."
        )


@dataclass(frozen=True)
class Grid:
    """What scores are rounded to: equal objects have equal scores wherever they stand.

    Attributes
    ----------
    origin, step : float
    """

    origin: float
    step: float

    @classmethod
    def of(cls, running: Running) -> "Grid":
        """A grid so fine that only rounding is lost on it; where all is rounding, all is one.

        Logarithms of sizes have an absolute grid: near 0 they are differences of numbers that
        were rounded near 1.
        """
        scores = running.scores
        if running.is_flat:
            middle = float(scores.min() + np.ptp(scores) / 2)
            return cls(middle, 2 * running.resolution)
        largest = float(np.abs(scores).max())
        largest = largest if running.aggregate == "mean" else max(largest, 1.0)
        return cls(0.0, float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 44)))

    @classmethod
    def fine(cls, scores: Floats) -> "Grid":
        """The grid of scores that are logarithms."""
        largest = max(float(np.abs(scores).max()), 1.0)
        return cls(0.0, float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 44)))

    def round(self, scores: Floats) -> Floats:
        """The scores on the grid."""
        if self.step == 0:
            return scores
        steps = np.rint((scores - self.origin) / self.step)
        return np.asarray(self.origin + steps * self.step)


def _rows(X: Any, rows: NDArray[np.int64], n_jobs: int | None = 1) -> Any:
    if isinstance(X, np.ndarray):
        return taken(X, rows, n_jobs)
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def _first(X: Any) -> Any:
    try:
        return X[0]
    except (TypeError, IndexError, KeyError):
        return None


def _sums(X: Any) -> Any:
    if isinstance(X, Stored):
        return np.r_[X.shape[0], engine_for(X).column_facts().mean]
    if hasattr(X, "shape"):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.r_[X.shape[0], np.asarray(X.sum(axis=0)).ravel()]
    return np.array([len(X)])


def _at_most(n_clusters: int | None, n_foreground: int) -> int | None:
    if n_clusters is None or n_clusters <= n_foreground:
        return n_clusters
    warn(
        f"n_clusters={n_clusters} groups were asked for, but only {n_foreground} objects are "
        "foreground; each is its own group.",
    )
    return n_foreground
