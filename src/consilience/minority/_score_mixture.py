"""Mixtures of Gaussians on a vector of scores: one dimension, deterministic, no restarts.

The scores are first condensed into points with counts: the distinct values, or above
`EXACT_UP_TO` objects the occupied bins of a histogram. Everything after that works on points,
so its cost does not grow with the number of objects.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import NO_NUMBERS, as_array
from consilience.errors import InvalidInputError

__all__ = [
    "EXACT_UP_TO",
    "MAX_COMPONENTS",
    "VARIANCE_FLOOR",
    "ScoreMixture",
    "ScorePoints",
    "choose",
    "condense",
    "finite_scores",
    "fit",
    "fit_points",
    "to_unit",
]

Floats = NDArray[np.float64]

MAX_COMPONENTS = 10
EXACT_UP_TO = 20_000
N_BINS = 4096
VARIANCE_FLOOR = 1e-12
_MAX_ITERATIONS = 100
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ScorePoints:
    """Scores condensed into ``values`` (descending) that stand for ``counts`` objects each.

    ``bin_width`` is 0 where the values are the scores themselves.
    """

    values: Floats
    counts: Floats
    bin_width: float


@dataclass(frozen=True)
class ScoreMixture:
    """A fitted mixture; components come in decreasing order of their means.

    Attributes
    ----------
    log_likelihood : float
        Of all objects, under the parameters below.
    means, variances, weights : ndarray of shape (n_components,)
        In the units of the scores that were given.
    posteriors : ndarray of shape (n_scores, n_components)
        Probability of each component for each score (or point); rows sum to 1.
    """

    log_likelihood: float
    means: Floats
    variances: Floats
    weights: Floats
    posteriors: Floats

    @property
    def n_components(self) -> int:
        """How many Gaussians the mixture has."""
        return len(self.means)

    def bic(self, n_objects: int) -> float:
        """Twice the log-likelihood less log n for each of 3K - 1 parameters; larger is better."""
        return 2.0 * self.log_likelihood - (3 * self.n_components - 1) * float(np.log(n_objects))


def finite_scores(scores: Any, *, owner: str) -> Floats:
    """The scores as a vector of float64, or an error: empty, not a vector, NaN, infinite."""
    vector = as_array(scores)
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInputError(
            f"{owner} needs a vector with one score for each object. "
            f"Got an array of shape {vector.shape} instead."
        )
    try:
        if vector.dtype.kind == "c":
            raise TypeError
        vector = vector.astype(np.float64)
    except NO_NUMBERS:
        raise InvalidInputError(
            f"{owner} needs numbers as scores. Got values of type {vector.dtype} instead."
        ) from None
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InvalidInputError(
            f"{owner} needs finite scores. The score of object {place} is {vector[place]}."
        )
    return vector


def to_unit(scores: Floats) -> Floats:
    """Scores mapped linearly onto [0, 1]; all 0 if they are all equal (eq. 14 of the paper)."""
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        return np.zeros(len(scores))
    if not np.isfinite(high - low):  # the range of huge scores overflows
        scores, low, high = scores / 2, low / 2, high / 2
    return np.asarray((scores - low) / (high - low))


def condense(descending: Floats) -> ScorePoints:
    """Points of scores sorted from high to low: distinct values, or bins if there are many."""
    n = len(descending)
    low, high = float(descending[-1]), float(descending[0])
    if n <= EXACT_UP_TO or low == high:
        first = np.flatnonzero(np.r_[True, descending[1:] != descending[:-1]])
        counts = np.diff(np.r_[first, n])
        return ScorePoints(descending[first], counts.astype(np.float64), 0.0)
    width = (high - low) / N_BINS
    bins = np.minimum(((descending - low) / width).astype(np.int64), N_BINS - 1)
    first = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])
    counts = np.diff(np.r_[first, n])
    return ScorePoints(low + (bins[first] + 0.5) * width, counts.astype(np.float64), width)


def fit(scores: Any, n_components: int, variance_floor: float = VARIANCE_FLOOR) -> ScoreMixture:
    """Mixture of ``n_components`` Gaussians fitted to a vector of scores by EM.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite numbers, fitted in their own units: map them with `to_unit` first where the
        floor is meant for scores in [0, 1].
    n_components : int
        At least 1. More components than distinct scores are allowed and coincide.
    variance_floor : float
        No variance falls below it, so that no component collapses onto a group of ties.

    Returns
    -------
    ScoreMixture
        With the posteriors of the scores in their own order. Above 20,000 objects EM runs on a
        histogram of 4096 bins, and the variances do not fall below that of a uniform bin.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.4.

    Examples
    --------
    >>> result = fit([0.0, 0.1, 0.2, 0.9, 1.0, 1.1], 2)
    >>> result.means.round(2).tolist(), result.weights.tolist()
    ([1.0, 0.1], [0.5, 0.5])
    >>> result.posteriors[0].round(3).tolist()
    [0.0, 1.0]
    """
    vector = finite_scores(scores, owner="fit")
    points = condense(np.sort(vector)[::-1])
    mixture = fit_points(points, n_components, variance_floor)
    posteriors = np.empty((n_components, len(vector)))
    _normalise(_log_joint(vector, mixture.means, mixture.variances, mixture.weights, posteriors))
    return ScoreMixture(
        mixture.log_likelihood,
        mixture.means,
        mixture.variances,
        mixture.weights,
        np.ascontiguousarray(posteriors.T),
    )


def fit_points(
    points: ScorePoints, n_components: int, variance_floor: float = VARIANCE_FLOOR
) -> ScoreMixture:
    """Mixture fitted to condensed scores; its posteriors are those of the points."""
    values, counts = points.values, points.counts
    # Inside a bin nothing is known: without this floor a component shrinks onto one bin and
    # the likelihood of its objects grows without end.
    floor = max(variance_floor, points.bin_width**2 / 12)
    shares = _equal_slices(counts, n_components)
    mass = np.empty_like(shares)
    means = np.full(n_components, values.mean())
    variances = np.full(n_components, floor)
    before = -np.inf
    for _ in range(_MAX_ITERATIONS):
        np.multiply(shares, counts, out=mass)
        means, variances, weights = _maximise(values, mass, means, variances, floor, shares)
        log_density = _normalise(_log_joint(values, means, variances, weights, shares))
        # Not a product by BLAS: waking its threads takes longer than the round.
        likelihood = float(np.einsum("p,p->", counts, log_density))
        if likelihood - before < _TOLERANCE * abs(before):
            break
        before = likelihood
    order = np.argsort(-means, kind="stable")
    return ScoreMixture(
        likelihood,
        means[order],
        variances[order],
        weights[order],
        np.ascontiguousarray(shares[order].T),
    )


def choose(points: ScorePoints, max_components: int = MAX_COMPONENTS) -> ScoreMixture:
    """The mixture with the largest BIC among 1 to ``max_components`` Gaussians.

    No more components than points are tried; of equal criteria the smaller mixture is taken.
    """
    n = int(points.counts.sum())
    tried = range(1, min(max_components, len(points.values)) + 1)
    return max((fit_points(points, k) for k in tried), key=lambda mixture: mixture.bic(n))


def _equal_slices(counts: Floats, n_components: int) -> Floats:
    """First shares (n_components, n_points): the sorted objects in slices of equal count.

    A group of ties that lies in two slices belongs to both in part, which gives the same sums
    as splitting its objects.
    """
    n = counts.sum()
    ends = np.cumsum(counts)
    edges = np.floor(np.arange(n_components + 1) * n / n_components)
    upper = np.minimum(ends, edges[1:, None])
    lower = np.maximum(ends - counts, edges[:-1, None])
    return np.asarray(np.maximum(upper - lower, 0.0) / counts)


def _maximise(
    values: Floats, mass: Floats, means: Floats, variances: Floats, floor: float, work: Floats
) -> tuple[Floats, Floats, Floats]:
    """M-step: means, floored variances, weights with one object added to each component.

    ``mass`` (n_components, n_points) is how many objects of each point a component holds. A
    component that holds nothing keeps the mean and variance it had. ``work`` is overwritten:
    fresh arrays of this size in every round cost more than the arithmetic.
    """
    sizes = mass.sum(axis=1)
    held = sizes > 0
    divisor = np.where(held, sizes, 1.0)
    means = np.where(held, np.einsum("cp,p->c", mass, values) / divisor, means)
    np.subtract(values, means[:, None], out=work)
    spread = np.einsum("cp,cp,cp->c", mass, work, work) / divisor
    variances = np.where(held, np.maximum(spread, floor), variances)
    weights = (sizes + 1.0) / (sizes.sum() + len(sizes))
    return means, variances, weights


def _log_joint(
    values: Floats, means: Floats, variances: Floats, weights: Floats, out: Floats
) -> Floats:
    """Log of weight times density, written to ``out`` (n_components, n_points)."""
    constant = np.log(weights) - 0.5 * np.log(2 * np.pi * variances)
    np.subtract(values, means[:, None], out=out)
    out *= out
    out *= (-0.5 / variances)[:, None]
    out += constant[:, None]
    return out


def _normalise(logs: Floats) -> Floats:
    """Log density of each point; ``logs`` is turned into posteriors in place."""
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=0)
    logs /= total
    return np.asarray(top + np.log(total))
