"""Locally adaptive clustering (LAC) and ensembles of it: every cluster weighs the features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from consilience._labels import smallest_type
from consilience._units import check_range
from consilience._validation import (
    N_MEMBERS,
    Interval,
    Options,
    RandomState,
    Satisfies,
    check_n_clusters,
    check_params,
)
from consilience.ensemble import Ensemble
from consilience.generate._base import Generator, Made, Order, Stopwatch
from consilience.generate._draw import N_CLUSTERS, Clusters
from consilience.kernels.kmeans.lac import LACFit, feature_weights, lac
from consilience.rows import Rows, rows_of

__all__ = ["LAC", "LACEnsemble", "LACRun", "refit_lac"]

Floats = NDArray[np.float64]

_STARTS = Options(("random", "scattered"))
_INV_H = Interval(Real, 0)
_GRID = tuple(round(0.01 * step, 2) for step in range(1, 11))


@dataclass(frozen=True)
class LACRun:
    """Centres and feature weights of the clusters of one run.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
    weights : ndarray of shape (n_clusters, n_features)
        Positive, rows sum to 1. Row j of both belongs to cluster j of the member.
    """

    centres: Floats
    weights: Floats


class LAC(ClusterMixin, BaseEstimator):
    """Cluster objects by distances in which every cluster weighs the features its own way.

    A cluster gives a feature weight ``exp(-v / h)`` (scaled to sum 1), where v is the mean
    squared deviation of its objects from its centre in that feature.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted; fewer are found where a cluster loses all its objects.
    inv_h : float, default=0.1
        1 / h. 0 is k-means; the larger, the more each cluster relies on its tightest
        feature.
    init : {"random", "scattered"}, default="random"
        Start from random objects, or from objects far apart (each the farthest from those
        chosen before, the first at random).
    max_iter : int, default=100
        Iterations at most.
    random_state : int, RandomState or None
        For the start.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
    cluster_centers_, feature_weights_ : ndarrays of shape (n_clusters, n_features)
        Rows of clusters that lost all objects are what they were before.
    n_iter_ : int
    converged_ : bool

    Notes
    -----
    Time O(iterations * n * k * d). Features should have comparable scales: ``v / h`` is in
    squared units of the data.

    References
    ----------
    Domeniconi, Gunopulos, Ma, Yan, Al-Razgan & Papadopoulos (2007), Locally adaptive metrics
    for clustering high dimensional data, Data Mining and Knowledge Discovery 14. The
    weights are those of the error with entropy; an empty cluster is left where it was.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 4.0], [9.0, 5.0], [13.0, 5.0]]
    >>> model = LAC(2, inv_h=1.0, init="scattered", random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1)],
        "inv_h": [_INV_H],
        "init": [_STARTS],
        "max_iter": [Interval(Integral, 1)],
        "random_state": [RandomState()],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        inv_h: float = 0.1,
        init: str = "random",
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.inv_h = inv_h
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        check_range(X, owner="LAC")
        check_n_clusters(self.n_clusters, len(X), owner="LAC")
        rng = check_random_state(self.random_state)
        chosen = _start(X, self.n_clusters, self.init, rng.permutation(len(X)))
        partition = lac(X, X[chosen], float(self.inv_h), self.max_iter)
        self.labels_ = partition.labels
        self.cluster_centers_ = partition.centres
        self.feature_weights_ = partition.weights
        self.n_iter_ = partition.n_iter
        self.converged_ = partition.converged
        return self


def _is_grid(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_INV_H.accepts, value))


@dataclass(frozen=True)
class _MadeLAC(Made):
    run: LACRun | None = None


class LACEnsemble(Generator):
    """Many locally adaptive clusterings, each with its own start and its own ``inv_h``.

    Parameters
    ----------
    n_members : int, default=100
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=("sqrt/2", "sqrt")
        Clusters of a member, as in `KMeansEnsemble`.
    inv_h : float or list of float, default=(0.01, 0.02, ..., 0.1)
        1 / h of the members, taken in turn.
    init, max_iter
        As in `LAC`.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    runs_ : tuple of LACRun
        After `generate`: centres and feature weights of every member, which `wspa` and
        `wbpa` take as ``runs``.

    Notes
    -----
    The grid behind the published tables is not stated; this one, with random starts,
    reproduces most of them, and scattered starts do not.

    References
    ----------
    Al-Razgan & Domeniconi (2006), Weighted clustering ensembles, SIAM Data Mining.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> generator = LACEnsemble(5, 3, random_state=0)
    >>> generator.generate(X)
    Ensemble(n_objects=60, n_members=5, n_clusters=3..3, noise=0, unseen=0)
    >>> generator.runs_[0].weights.shape
    (3, 2)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "inv_h": [_INV_H, Satisfies(_is_grid, "a list of at least one such number")],
        "init": [_STARTS],
        "max_iter": [Interval(Integral, 1)],
    }

    def __init__(
        self,
        n_members: int = 100,
        n_clusters: Any = ("sqrt/2", "sqrt"),
        *,
        inv_h: Any = _GRID,
        init: str = "random",
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.inv_h = inv_h
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rows(self, X: Any) -> Rows:
        return rows_of(X, owner=self, allow_sparse=False, kind="float64", min_objects=2)

    def _prepare(self, X: Any) -> int:
        check_range(X, owner=type(self).__name__)
        check_n_clusters(self._clusters(X).high, X.shape[0], owner=type(self).__name__)
        return self.n_members

    def _clusters(self, X: Floats) -> Clusters:
        return Clusters.resolve(self.n_clusters, X.shape[0], owner=type(self).__name__)

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Floats, order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        n_clusters = self._clusters(X).draw(rng, order.number)
        grid = self.inv_h if isinstance(self.inv_h, list | tuple) else [self.inv_h]
        inv_h = float(grid[order.number % len(grid)])
        chosen = _start(X, n_clusters, self.init, rng.permutation(len(X)))
        fit = lac(X, X[chosen], inv_h, self.max_iter)
        record = {
            "algorithm": "LAC",
            "seed": order.seed,
            "n_clusters": n_clusters,
            "inv_h": inv_h,
            "iterations": fit.n_iter,
            "converged": fit.converged,
            "seconds": watch.seconds(),
            "error": None,
        }
        return _made(fit, record)

    def _extras(self, made: Made) -> dict[str, NDArray[Any]]:
        run = made.run if isinstance(made, _MadeLAC) else None
        return {} if run is None else {"centres": run.centres, "weights": run.weights}

    def _restored(
        self, labels: NDArray[Any], record: dict[str, Any], extras: Mapping[str, NDArray[Any]]
    ) -> Made:
        return _MadeLAC(labels, record, LACRun(extras["centres"], extras["weights"]))

    def _ensemble(self, made: list[Made], wanted: int, X: Any) -> Ensemble:
        self.runs_ = tuple(m.run for m in made if isinstance(m, _MadeLAC))
        return super()._ensemble(made, wanted, X)


def _made(fit: LACFit, record: dict[str, Any]) -> _MadeLAC:
    """A member without its empty clusters; rows of the run are the clusters left."""
    used, codes = np.unique(fit.labels, return_inverse=True)
    labels = codes.astype(smallest_type(len(used)))
    return _MadeLAC(labels, record, LACRun(fit.centres[used], fit.weights[used]))


def _start(X: Floats, n_clusters: int, init: str, order: NDArray[Any]) -> NDArray[Any]:
    """Objects to start from, given all objects in random order."""
    if init == "random":
        return order[:n_clusters]
    chosen = [int(order[0])]
    gaps = ((X - X[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < n_clusters:
        chosen.append(int(gaps.argmax()))
        np.minimum(gaps, ((X - X[chosen[-1]]) ** 2).sum(axis=1), out=gaps)
    return np.array(chosen)


def refit_lac(X: Floats, labels: NDArray[Any], inv_h: float) -> LACRun:
    """Centres and feature weights that LAC would give the clusters of a labeling.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_features)
    labels : ndarray of shape (n_objects,)
        Clusters 0..k-1, none empty; negative for objects in no cluster.
    inv_h : float
        1 / h.

    Returns
    -------
    LACRun
        Means, and the weights of the deviations from them: what a run that has settled on
        this labeling has, up to the last step of its centres.

    Examples
    --------
    >>> run = refit_lac(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([0, 0]), 1.0)
    >>> run.centres, run.weights.round(2)
    (array([[0., 2.]]), array([[0.98, 0.02]]))
    """
    placed = labels >= 0
    X, labels = X[placed], labels[placed]
    counts = np.bincount(labels)[:, None]
    which = (labels, np.arange(len(labels)))
    onehot = sparse.csr_array((np.ones(len(labels)), which), shape=(len(counts), len(labels)))
    centres = onehot @ X / counts
    deviation = onehot @ (X - centres[labels]) ** 2 / counts
    return LACRun(centres, feature_weights(deviation, inv_h))
