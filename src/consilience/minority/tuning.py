"""Parameters of the Gaussian kernel without a truth: where clusters collapse, or scores part."""

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from sklearn.utils import check_random_state

from consilience._threads import one_thread
from consilience._validation import (
    Boolean,
    Interval,
    NoneValue,
    Options,
    RandomState,
    check_jobs,
    check_value,
)
from consilience.errors import warn
from consilience.kernels._parallel import in_threads
from consilience.minority._rivals import Space, checked_array, no_contrast
from consilience.minority._score_mixture import fit, to_unit
from consilience.minority.divergences import Euclidean, Gaussian
from consilience.minority.scores import score_objects
from consilience.minority.soft_bubbles import box_log_density, fit_em, hard_start
from consilience.minority.weak import weak_clusterer

__all__ = ["GaussianTuning", "Surface", "tune_gaussian"]

Floats = NDArray[np.float64]

# Centres nearer than this, squared, have collapsed (the paper's epsilon), in data where two
# objects are typically this far apart, squared (its two-dimensional sets).
_EPSILON, _REFERENCE = 1e-3, 5.3
# Objects that the search looks at.
_AUTO_SAMPLE, _CONTRAST_SAMPLE = 2000, 20_000
_EM_STEPS, _EM_TOLERANCE = 20, 1e-6
_REPETITIONS, _K_MAX, _VARIANCE_FLOOR = 60, 100, 1e-4


@dataclass(frozen=True)
class Surface:
    """Values of a criterion over a grid of parameters.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
    gammas : ndarray of shape (n_gammas,)
    values : ndarray of shape (n_alphas, n_gammas)
    """

    alphas: Floats
    gammas: Floats
    values: Floats


@dataclass(frozen=True)
class GaussianTuning:
    """The parameters chosen, and the whole surface they were chosen from.

    Attributes
    ----------
    alpha, gamma : float
        Parameters of the kernel ``alpha exp(-gamma |x - y|^2)``.
    surface : ndarray of shape (n_alphas, n_gammas)
        The criterion at every point of the first grid: the least squared distance of two
        centres, in units of the paper's data ("auto"), or how far the scores part ("contrast").
    alphas, gammas : ndarray
        Axes of the surface.
    why : str
        The choice in a sentence.
    method : {"auto", "contrast"}
        What chose: "contrast" also where "auto" found nothing to choose from.
    finer : tuple of Surface
        Further grids around the first choice.
    scale : float
        Median squared distance of two objects, the unit of 1 / gamma.
    flag : str or None
        "degenerate" for one object, "no_contrast" for equal objects (the parameters are then
        10 and 10), "collapsed" where "auto" fell back to "contrast".
    """

    alpha: float
    gamma: float
    surface: Floats
    alphas: Floats
    gammas: Floats
    why: str
    method: str
    finer: tuple[Surface, ...] = field(default=())
    scale: float = 1.0
    flag: str | None = None

    @property
    def divergence(self) -> Gaussian:
        """The divergence with these parameters."""
        return Gaussian(alpha=self.alpha, gamma=self.gamma)


def tune_gaussian(
    X: Any,
    method: str = "auto",
    *,
    n_clusters: int | None = None,
    n_sample: int | None = None,
    epsilon: float = _EPSILON,
    background_correction: bool = False,
    refine: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> GaussianTuning:
    """Parameters of the Gaussian kernel for a data set, found without a truth.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        Dense or CSR.
    method : {"auto", "contrast"}, default="auto"
        "auto", as published: cluster softly at every point of a grid and take the vertex of
        the region where no two centres collapse: the fuzziest kernel that still keeps them
        apart. "contrast": of 13 kernels with alpha = 10 take the one whose scores separate
        best into two groups.
    n_clusters : int or None
        Components of "auto"; None takes the square root of the number of all objects, but at
        least 2 and at most a tenth of the sample. Far fewer give far too small a gamma.
    n_sample : int or None
        Objects looked at; None is 2000 for "auto" and 20,000 for "contrast".
    epsilon : float, default=0.001
        "auto": squared distance at which centres have collapsed, in units of the paper's data.
    background_correction : bool, default=False
        "auto": multiply the distance by the mean share of the background, which removes a
        spurious region where the background has no objects yet.
    refine : bool, default=False
        "contrast": look again between the neighbours of the best gamma.
    random_state : int, RandomState or None
        Draws the sample, the starts and the weak clusterings.
    n_jobs : int or None
        Threads, over points of the grid; None means one. Changes time only.

    Returns
    -------
    GaussianTuning

    Warns
    -----
    ConsilienceWarning
        If centres collapse everywhere; then "contrast" chooses.

    Notes
    -----
    Both are unchanged by a change of unit. "auto" starts every point of the grid from the same
    clustering: hard clusters under the kernel are those under the Euclidean distance, so the
    published start does not depend on the parameters. It fits 182 mixtures, then 147 around
    the vertex. "contrast" runs 13 times 60 weak clusterings, the same for every gamma. Memory
    is that of the sample by the components.

    References
    ----------
    Gonzàlez & Turmo (2015), Unsupervised ensemble minority clustering, Machine Learning 98,
    section 4.3. The criterion follows Schwämmle & Jensen (2010), A simple and fast method to
    determine the parameters for fuzzy c-means cluster analysis, Bioinformatics 26.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-2, 2, (150, 2)), rng.normal(1, 0.05, (50, 2))])
    >>> result = tune_gaussian(X, "contrast", random_state=0)
    >>> result.alpha, result.surface.shape, bool(result.gamma > 1)
    (10.0, (1, 13), True)
    """
    _check(method, n_clusters, n_sample, epsilon, random_state)
    for name, value in (("background_correction", background_correction), ("refine", refine)):
        check_value(name, value, [Boolean()], owner="tune_gaussian")
    check_jobs(n_jobs, owner="tune_gaussian")
    X = checked_array(X, sparse=True, owner="tune_gaussian")
    if flag := no_contrast(X):
        why = "There is one object only." if flag == "degenerate" else "All objects are equal."
        ten = np.full(1, 10.0)
        return GaussianTuning(10.0, 10.0, np.zeros((1, 1)), ten, ten, why, method, flag=flag)
    rng = check_random_state(random_state)
    order, seed = rng.permutation(X.shape[0]), int(rng.randint(2**31 - 1))
    if method == "contrast":
        return _contrast(X, order, seed, n_sample, refine, n_jobs)
    search = _Collapse(X, order, n_clusters, n_sample, epsilon, background_correction, seed, n_jobs)
    tuning = search.run()
    if tuning is not None:
        return tuning
    warn(
        "Centres collapse for every alpha and gamma of the grid: method='contrast' chose instead "
        "of 'auto'. Rescale the data, or try n_clusters.",
    )
    return _contrast(X, order, seed, n_sample, refine, n_jobs, flag="collapsed")


def _check(method: Any, n_clusters: Any, n_sample: Any, epsilon: Any, random_state: Any) -> None:
    rules: dict[str, tuple[Any, list[Any]]] = {
        "method": (method, [Options(("auto", "contrast"))]),
        "n_clusters": (n_clusters, [Interval(Integral, 2), NoneValue()]),
        "n_sample": (n_sample, [Interval(Integral, 2), NoneValue()]),
        "epsilon": (epsilon, [Interval(Real, 0, open_low=True)]),
        "random_state": (random_state, [RandomState()]),
    }
    for name, (value, allowed) in rules.items():
        check_value(name, value, allowed, owner="tune_gaussian")


def _typical_distance(X: Any, order: NDArray[Any]) -> float:
    """Median squared distance of two objects of a thousand; where it is 0 the mean, or of all."""
    part = X[order[:1000]]
    gaps = np.asarray(Euclidean().pair(part, part), np.float64)
    pairs = gaps[np.triu_indices(len(gaps), 1)]
    return float(np.median(pairs)) or float(pairs.mean()) or _mean_distance(X, part[:1])


def _mean_distance(X: Any, one: Any) -> float:
    """Mean squared distance of two objects, of which nearly all equal this one."""
    n, one = X.shape[0], np.asarray(one.todense() if sparse.issparse(one) else one, np.float64)
    apart = Euclidean().pair(X, one).mean(dtype=np.float64)
    shift = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() - one.ravel()
    return float(2 * n / (n - 1) * (apart - shift @ shift))


class _Collapse:
    """G(AUTO): where in the plane of alpha and gamma the centres of Soft BBC collapse."""

    def __init__(
        self,
        X: Any,
        order: NDArray[Any],
        n_clusters: int | None,
        n_sample: int | None,
        epsilon: float,
        background_correction: bool,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        n = X.shape[0]
        size = min(n, n_sample or _AUTO_SAMPLE)
        self.X = X[np.sort(order[:size])]
        wanted = min(math.isqrt(n), size // 10) if n_clusters is None else n_clusters
        self.n_clusters = min(max(2, wanted), size)
        self.scale = _typical_distance(X, order)
        self.log_density = _unitless_density(X, self.scale)
        self.epsilon, self.corrected = epsilon, background_correction
        self.seed, self.n_jobs = seed, n_jobs
        self.space = Space(self.X, "euclidean")

    def run(self) -> GaussianTuning | None:
        """The vertex of two grids; None if centres collapse everywhere."""
        alphas = np.geomspace(0.3, 300, 13)
        gammas = np.geomspace(0.1, 1e4, 14) / self.scale
        first = self.surface(alphas, gammas, 1)
        at = vertex(first, self.epsilon)
        if at is None:
            return None
        # Half the range of each logarithm, around the vertex.
        near = at[0] * np.geomspace(1000**-0.25, 1000**0.25, 7)
        wide = at[1] * np.geomspace(1e5**-0.25, 1e5**0.25, 7)
        second = self.surface(near, wide, 3)
        alpha, gamma = vertex(second, self.epsilon) or at
        why = (
            f"alpha={alpha:.3g}, gamma={gamma:.3g} is where the region without collapsed centres "
            f"begins ({self.n_clusters} components, {self.space.n_objects} objects)."
        )
        return GaussianTuning(
            alpha, gamma, first.values, alphas, gammas, why, "auto", (second,), self.scale
        )

    def surface(self, alphas: Floats, gammas: Floats, n_repeats: int) -> Surface:
        """Median over some starts of the least distance of two centres, everywhere."""
        starts = [self._start(number) for number in range(n_repeats)]
        points = [(float(a), float(g)) for a in alphas for g in gammas]
        with one_thread():
            distances = in_threads(lambda point: self._median(starts, *point), points, self.n_jobs)
        return Surface(alphas, gammas, np.reshape(distances, (len(alphas), len(gammas))))

    def _start(self, number: int) -> Floats:
        rng = np.random.RandomState(self.seed + number)
        return hard_start(self.space, self.n_clusters, rng)

    def _median(self, starts: list[Floats], alpha: float, gamma: float) -> float:
        return float(np.median([self._distance(start, alpha, gamma) for start in starts]))

    def _distance(self, start: Floats, alpha: float, gamma: float) -> float:
        """Least squared distance of two live centres, in units of the paper's data."""
        space = Space(self.X, Gaussian(alpha=alpha, gamma=gamma))
        bubbles = fit_em(
            space, start, beta=1.0, background=None, log_density=self.log_density,
            max_iter=_EM_STEPS, tol=_EM_TOLERANCE,
        )  # fmt: skip
        centres = bubbles.centres[bubbles.alive]
        if len(centres) < 2:
            return 0.0
        gaps = np.asarray(Euclidean().pair(centres, centres), np.float64)
        least = float(gaps[np.triu_indices(len(gaps), 1)].min()) * _REFERENCE / self.scale
        return least * float(1 - bubbles.scores.mean()) if self.corrected else least


def _unitless_density(X: Any, scale: float) -> float:
    """Log-density of the box in the unit in which the paper's data would be as wide as these.

    Two objects of the box [-2, 2]^d are 8 d / 3 apart, squared. Without this the balance of
    background and components, whose densities have no unit, would hang on the unit of X.
    """
    if hasattr(X, "toarray"):
        widths = (X.max(axis=0).toarray() - X.min(axis=0).toarray()).ravel()
    else:
        widths = np.ptp(X, axis=0)
    d = int((widths > 0).sum())
    return box_log_density(X, Euclidean()) + 0.5 * d * math.log(3 * scale / (8 * d))


def vertex(surface: Surface, epsilon: float) -> tuple[float, float] | None:
    """The least alpha of the largest region above epsilon, and its mean gamma there.

    Regions are connected by sides, because single starts make islands; the first of equally
    large ones. None if nothing is above epsilon.
    """
    regions, n_regions = ndimage.label(surface.values > epsilon)
    if n_regions == 0:
        return None
    largest = regions == 1 + int(np.bincount(regions.ravel())[1:].argmax())
    row = int(np.flatnonzero(largest.any(axis=1))[0])
    gamma = np.exp(np.log(surface.gammas[largest[row]]).mean())
    return float(surface.alphas[row]), float(gamma)


def _contrast(
    X: Any,
    order: NDArray[Any],
    seed: int,
    n_sample: int | None,
    refine: bool,
    n_jobs: int | None,
    flag: str | None = None,
) -> GaussianTuning:
    """G(CONTRAST): the gamma whose scores two Gaussians explain best over one."""
    alpha = 10.0
    size = min(X.shape[0], n_sample or _CONTRAST_SAMPLE)
    scale = _typical_distance(X, order)
    part = X if size == X.shape[0] else X[np.sort(order[:size])]

    def measure(gammas: Floats) -> Surface:
        values = [contrast(part, alpha, float(g), seed, n_jobs) for g in gammas]
        return Surface(np.full(1, alpha), gammas, np.array([values]))

    first = measure(np.geomspace(1.0, 1e4, 13) / scale)
    best = first
    finer: tuple[Surface, ...] = ()
    if refine:
        at = int(first.values.argmax())
        low, high = first.gammas[max(at - 1, 0)], first.gammas[min(at + 1, 12)]
        finer = (measure(np.geomspace(low, high, 9)),)
        best = max((first, *finer), key=lambda grid: grid.values.max())
    gamma = float(best.gammas[best.values.argmax()])
    why = (
        f"The scores of gamma={gamma:.3g} separate best into two groups "
        f"({best.values.max():.3f} per object)."
    )
    return GaussianTuning(
        alpha, gamma, first.values, first.alphas, first.gammas, why, "contrast", finer, scale, flag
    )


def contrast(X: Any, alpha: float, gamma: float, seed: int, n_jobs: int | None) -> float:
    """Gain of two Gaussians over one, per object, of the scores, times their reliability.

    The floor of the variances keeps a component from collapsing onto a few scores, which would
    make the most extreme kernels win.
    """
    weak = weak_clusterer("soft", divergence=Gaussian(alpha=alpha, gamma=gamma), k_max=_K_MAX)
    scored = score_objects(X, weak, _REPETITIONS, seed=seed, n_jobs=n_jobs)
    if scored.is_flat:
        return 0.0
    scores = to_unit(scored.scores)
    one, two = (fit(scores, k, variance_floor=_VARIANCE_FLOOR).log_likelihood for k in (1, 2))
    return scored.reliability * (two - one) / len(scores)
