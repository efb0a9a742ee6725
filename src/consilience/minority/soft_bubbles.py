"""Soft BBC: a mixture of Bregman components over a flat background, fitted by EM."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from consilience._validation import (
    Interval,
    NoneValue,
    RandomState,
    check_n_clusters,
    check_params,
)
from consilience.errors import InvalidInputError
from consilience.minority._bubbles import packed_labels, settle
from consilience.minority._rivals import (
    Rival,
    Space,
    checked_array,
    checked_values,
    no_contrast,
)
from consilience.minority.divergences import Divergence, resolve

__all__ = ["SoftBBC", "SoftBubbles", "box_log_density", "softbbc"]

Floats = NDArray[np.float64]

# Less weight than this of all objects together is none: nothing but underflow. A component that
# has lost its objects still has a little of all of them, and its centre falls to their mean.
_DEAD = 1e-280

_RULES: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1)],
    "beta": [Interval(Real, 0, 1_000_000, open_low=True)],
    "background": [Interval(Real, 0, 1), NoneValue()],
    # Sums over objects stay in the range of numbers.
    "log_density": [Interval(Real, -1e100, 1e100), NoneValue()],
    "max_iter": [Interval(Integral, 1)],
    "tol": [Interval(Real, 0)],
    "random_state": [RandomState()],
}


@dataclass(frozen=True)
class SoftBubbles:
    """Components, their shares, and how much each object belongs to them.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        -1 where the background has more than half, otherwise the likeliest component;
        components that win no object have no label.
    scores : ndarray of shape (n_objects,), float64
        One minus the probability of the background.
    memberships : ndarray of shape (n_objects, n_components), float64
        Probability of each component; with that of the background, rows sum to 1.
    centres : array of shape (n_components, n_features)
    weights : ndarray of shape (n_components + 1,), float64
        Shares of the components, and last of the background.
    alive : ndarray of shape (n_components,), bool
        Whether any object has a part in the component.
    log_density : float
        Logarithm of the density of the background.
    path : tuple of float
        What EM raises, after each step: the log-likelihood (of densities that are not
        normalised) and the prior of one object for each share that is fitted.
    n_iter : int
    converged : bool
    divergence : Divergence or None
    flag : str or None
        "degenerate" for one object, "no_contrast" for equal objects: all are background.
    """

    labels: NDArray[np.int32]
    scores: Floats
    memberships: Floats
    centres: Any
    weights: Floats
    alive: NDArray[np.bool_]
    log_density: float
    path: tuple[float, ...]
    n_iter: int
    converged: bool
    divergence: Divergence | None = None
    flag: str | None = None


def softbbc(
    X: Any,
    n_clusters: int,
    *,
    divergence: Any = "mahalanobis",
    beta: float = 1.0,
    background: float | None = None,
    log_density: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: Any = None,
) -> SoftBubbles:
    """Mixture of components exp(-beta D) over a flat background, fitted by EM.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        CSR where the divergence takes it.
    n_clusters : int
        Components.
    divergence : str, Divergence or callable, default="mahalanobis"
        See `consilience.minority.divergences`. For the Gaussian kernel centres are means in
        the input space.
    beta : float, default=1.0
        Sharpness. The densities of the components are not normalised, so it also sets how
        soon an object falls to the background: the larger, the less is foreground.
    background : float or None
        Share of the background; None fits it.
    log_density : float or None
        Logarithm of the density of the background; None takes the box around the data.
    max_iter : int, default=100
        Steps of EM at most.
    tol : float, default=1e-6
        EM ends when its objective gains less than this, relative to its size.
    random_state : int, RandomState or None
        Draws the objects that the first clustering starts from.

    Returns
    -------
    SoftBubbles

    Notes
    -----
    Starts from a hard clustering of all objects under the same divergence. O(n k d) time a
    step, O(n k) memory. As beta grows the method becomes `bbc`.

    References
    ----------
    Gupta & Ghosh (2006), Bregman bubble clustering, IEEE ICDM: Soft BBC-EM. The density of the
    background is that of the authors of EWOCS (Gonzàlez & Turmo 2015).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (60, 2)), rng.normal(2, 0.1, (30, 2))])
    >>> result = softbbc(X, 2, divergence="euclidean", beta=10.0, random_state=0)
    >>> int((result.labels[60:] >= 0).sum()), int((result.labels[:60] >= 0).sum())
    (30, 2)
    """
    values = {"n_clusters": n_clusters, "beta": beta, "background": background,
              "log_density": log_density, "max_iter": max_iter, "tol": tol,
              "random_state": random_state}  # fmt: skip
    checked_values(_RULES, values, owner="SoftBBC")
    X = checked_array(X, sparse=True, owner="SoftBBC")
    if flag := no_contrast(X):
        return _nothing(X, flag)
    check_n_clusters(n_clusters, X.shape[0], owner="SoftBBC")
    space = Space(X, divergence)
    if log_density is None:
        log_density = box_log_density(X, space.divergence)
    start = hard_start(space, n_clusters, check_random_state(random_state))
    return fit_em(
        space, start, beta=beta, background=background, log_density=log_density,
        max_iter=max_iter, tol=tol,
    )  # fmt: skip


def box_log_density(X: Any, divergence: Divergence) -> float:
    """Logarithm of the uniform density over the box around the data, constant columns left out."""
    if not divergence.vectors:
        raise InvalidInputError(
            "SoftBBC has no box around objects known by a kernel only. Give the logarithm of the "
            "background density as log_density."
        )
    if sparse.issparse(X):
        widths = X.max(axis=0).toarray().ravel() - X.min(axis=0).toarray().ravel()
    else:
        widths = np.ptp(X, axis=0)
    return float(-np.log(widths[widths > 0]).sum())


def hard_start(space: Space, n_clusters: int, rng: np.random.RandomState) -> Floats:
    """First memberships: a hard clustering of all objects, started from random ones."""
    chosen = rng.permutation(space.n_objects)[:n_clusters]
    bubbles = settle(space, space.n_objects, space.seeds(chosen), 100)
    return (bubbles.labels[:, None] == np.arange(bubbles.n_clusters)).astype(np.float64)


def fit_em(
    space: Space,
    memberships: Floats,
    *,
    beta: float,
    background: float | None,
    log_density: float,
    max_iter: int,
    tol: float,
) -> SoftBubbles:
    """EM from first memberships (n_objects, n_components)."""
    centres = space.means(memberships)
    path: list[float] = []
    converged = False
    while len(path) < max_iter and not converged:
        mass = memberships.sum(axis=0)
        alive = mass > _DEAD
        moved = space.means(memberships)
        centres = np.where(alive[:, None], moved, centres)
        weights = _shares(mass, space.n_objects, background)
        memberships, value = _expect(space.divergences(centres), beta, weights, log_density)
        fitted = weights if background is None else weights[:-1]
        value += float(np.log(fitted[fitted > 0]).sum())
        converged = bool(path) and value - path[-1] <= tol * abs(path[-1])
        path.append(value)
    scores = memberships.sum(axis=1)
    labels = packed_labels(np.where(scores >= 0.5, memberships.argmax(axis=1), -1))[1]
    return SoftBubbles(
        labels.astype(np.int32), scores, memberships, centres, weights,
        memberships.sum(axis=0) > _DEAD, log_density, tuple(path), len(path), converged,
        space.divergence,
    )  # fmt: skip


def _shares(mass: Floats, n: int, background: float | None) -> Floats:
    """Shares of the components and of the background, one object added to each."""
    k = len(mass)
    if background is not None:
        return np.r_[(1 - background) * (mass + 1) / (mass.sum() + k), background]
    return np.r_[mass + 1, max(0.0, n - mass.sum()) + 1] / (n + k + 1)


def _expect(gaps: Floats, beta: float, weights: Floats, log_density: float) -> tuple[Floats, float]:
    """Memberships of the components, and the log-likelihood; ``gaps`` is overwritten."""
    with np.errstate(divide="ignore"):
        shares = np.log(weights)
    flat = shares[-1] + log_density
    gaps *= -beta
    gaps += shares[:-1]
    top = np.maximum(gaps.max(axis=1), flat)
    gaps -= top[:, None]
    np.exp(gaps, out=gaps)
    total = gaps.sum(axis=1) + np.exp(flat - top)
    gaps /= total[:, None]
    return gaps, float((top + np.log(total)).sum())


def _nothing(X: Any, flag: str) -> SoftBubbles:
    n = X.shape[0]
    none = np.zeros((n, 0))
    return SoftBubbles(
        np.full(n, -1, np.int32), np.zeros(n), none, np.empty((0, X.shape[1])), np.ones(1),
        np.zeros(0, bool), 0.0, (), 0, True, flag=flag,
    )  # fmt: skip


class SoftBBC(ClusterMixin, Rival):
    """Mixture of bubbles over a flat background; see `softbbc` for the method.

    Parameters
    ----------
    n_clusters : int, default=7
        Components.
    divergence, beta, background, log_density, max_iter, tol, random_state
        As in `softbbc`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        -1 where the background has more than half, otherwise the likeliest component.
    scores_ : ndarray of shape (n_objects,), float64
        One minus the probability of the background.
    threshold_ : float
        One half: objects with at least this score are foreground. Infinite if nothing stands
        out.
    memberships_ : ndarray of shape (n_objects, n_components), float64
    cluster_centers_ : ndarray of shape (n_components, n_features)
        Of all components; ``components_`` says which of them each label is.
    components_ : ndarray of shape ``(n_clusters_,)``, int64
    weights_ : ndarray of shape (n_components + 1,), float64
        Shares of the components, and last of the background.
    n_clusters_ : int
        Components that win an object.
    n_iter_ : int
    converged_ : bool
    divergence_ : Divergence
        As fitted.
    flag_ : str or None
        "degenerate" for one object, "no_contrast" for equal objects: all are background.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (60, 2)), rng.normal(2, 0.1, (30, 2))])
    >>> model = SoftBBC(2, divergence="euclidean", beta=10.0, random_state=0).fit(X)
    >>> model.predict([[2.0, 2.0], [0.0, 0.0]]) >= 0
    array([ True, False])
    """

    _constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        n_clusters: int = 7,
        *,
        divergence: Any = "mahalanobis",
        beta: float = 1.0,
        background: float | None = None,
        log_density: float | None = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.beta = beta
        self.background = background
        self.log_density = log_density
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the mixture to ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = self._checked(X, reset=True)
        bubbles = softbbc(X, **self.get_params(deep=False))
        self.labels_, self.scores_ = bubbles.labels, bubbles.scores
        self.threshold_ = np.inf if bubbles.flag else 0.5
        self.memberships_ = bubbles.memberships
        self.cluster_centers_, self.weights_ = bubbles.centres, bubbles.weights
        winners = np.where(bubbles.scores >= 0.5, _likeliest(bubbles.memberships), -1)
        self.components_ = packed_labels(winners)[0]
        self.n_clusters_ = len(self.components_)
        self.n_iter_, self.converged_ = bubbles.n_iter, bubbles.converged
        self.divergence_ = bubbles.divergence or resolve(self.divergence)
        self.flag_ = bubbles.flag
        self._log_density = bubbles.log_density
        return self

    def score_samples(self, X: Any) -> Floats:
        """One minus the probability of the background, for new objects, (n_objects,)."""
        return self._memberships(X).sum(axis=1)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The likeliest component of new objects, or -1 for the background, (n_objects,).

        -1 also where the likeliest component won no object of those fitted on.
        """
        memberships = self._memberships(X)
        label = np.full(memberships.shape[1] + 1, -1, np.int32)
        label[self.components_] = np.arange(self.n_clusters_)
        winners = np.where(memberships.sum(axis=1) >= 0.5, _likeliest(memberships), -1)
        return label[winners]

    def _memberships(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if not len(self.cluster_centers_):
            return np.zeros((X.shape[0], 0))
        gaps = np.asarray(self.divergence_.pair(X, self.cluster_centers_), np.float64)
        return _expect(gaps, self.beta, self.weights_, self._log_density)[0]


def _likeliest(memberships: Floats) -> NDArray[Any]:
    """The component each object belongs to most; 0 where there is none."""
    if not memberships.shape[1]:
        return np.zeros(len(memberships), np.int64)
    return memberships.argmax(axis=1)
