"""Base clusterers the papers used that scikit-learn does not have.

`PAM`, `Linkage` (with centroid link, also on unsquared distances) and `NJW` spectral
clustering. All work on the full matrix of distances, of any metric: memory O(n_objects squared).
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from consilience._units import check_range
from consilience._validation import (
    Boolean,
    Interval,
    NoneValue,
    Options,
    RandomState,
    check_n_clusters,
    check_params,
)
from consilience.errors import warn
from consilience.generate.distances import METRIC, distances_between, spectral_rows
from consilience.kernels.data.pam import pam
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges
from consilience.rows import rows_of

__all__ = ["NJW", "PAM", "Linkage"]


class _ByDistances(ClusterMixin, BaseEstimator):
    """A clusterer of distances, which may be given."""

    metric: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _condensed(X: NDArray[np.float64], clusterer: Any) -> NDArray[np.float64]:
    """Distances of all pairs in SciPy's order, by the metric of a clusterer."""
    if clusterer.metric == "euclidean":
        return np.asarray(pdist(X))
    D = distances_between(X, clusterer.metric, owner=type(clusterer).__name__)
    return np.asarray(squareform(D, checks=False))


class PAM(_ByDistances):
    """Partitioning around medoids.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted.
    swap : {"faster", "best"}, default="faster"
        Take every improving exchange at once (FasterPAM), or the best one of all each
        time (the original's path, smallest index on ties).
    metric : str, default="euclidean"
        A name of distances, or "precomputed": X is then their matrix; see `DistanceEnsemble`.

    Attributes
    ----------
    labels_, medoid_indices_, cluster_centers_, cost_, n_swaps_
        Centres are None of distances that were given.

    References
    ----------
    Kaufman & Rousseeuw (1990), Finding groups in data, chapter 2; Schubert & Rousseeuw
    (2021), Fast and eager k-medoids clustering, Information Systems 101.

    Examples
    --------
    >>> PAM(2).fit_predict([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]])
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1)],
        "swap": [Options(("faster", "best"))],
        "metric": [METRIC],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        swap: Literal["faster", "best"] = "faster",
        metric: str = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.swap = swap
        self.metric = metric

    def fit(self, X: Any, y: Any = None) -> "PAM":
        """Find the medoids of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(X, owner=self, fitted=self, allow_sparse=False, kind="float64").values
        check_range(X, owner="PAM")
        check_n_clusters(self.n_clusters, len(X), owner="PAM")
        partition = pam(squareform(_condensed(X, self)), self.n_clusters, swap=self.swap)
        self.labels_ = partition.labels
        self.medoid_indices_ = partition.medoids
        self.cluster_centers_ = None if self.metric == "precomputed" else X[partition.medoids]
        self.cost_ = partition.cost
        self.n_swaps_ = partition.n_swaps
        return self


class Linkage(_ByDistances):
    """Agglomerative clustering, cut by undoing merges; ties go to the smallest index.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Clusters wanted: the last ``n_clusters - 1`` merges are undone. None takes 2, and warns.
    method : {"single", "complete", "average", "centroid", "ward"}, default="average"
        How far two clusters are apart.
    squared : bool, default=True
        For centroid and Ward link: work on squared distances, as the geometry asks.
        False applies the rule to the distances as they are, which statistical packages
        do when handed plain distances, and which paper 003's tables need.
    metric : str, default="euclidean"
        A name of distances, or "precomputed": X is then their matrix; see `DistanceEnsemble`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
    linkage_ : ndarray of shape (n_objects - 1, 4), SciPy's format

    References
    ----------
    Lance & Williams (1967), A general theory of classificatory sorting strategies.

    Examples
    --------
    >>> Linkage(2, method="centroid").fit_predict([[0.0], [1.0], [9.0], [10.0]])
    array([0, 0, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1), NoneValue()],
        "method": [Options(("single", "complete", "average", "centroid", "ward"))],
        "squared": [Boolean()],
        "metric": [METRIC],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        method: str = "average",
        squared: bool = True,
        metric: str = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.squared = squared
        self.metric = metric

    def fit(self, X: Any, y: Any = None) -> "Linkage":
        """Build the tree of ``X`` of shape (n_objects, n_features) and cut it."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        check_range(X, owner="Linkage")
        wanted = self.n_clusters
        if wanted is None:
            warn("The number of clusters was not given to Linkage: 2 are taken.")
            wanted = 2
        check_n_clusters(wanted, len(X), owner="Linkage")
        self.linkage_ = agglomerate(_condensed(X, self), self.method, squared=self.squared)
        self.labels_ = cut_merges(self.linkage_, wanted)
        return self


class NJW(_ByDistances):
    """Spectral clustering as Ng, Jordan and Weiss published it.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted.
    scale : float or "median", default="median"
        Width sigma of the Gaussian affinity exp(-d^2 / (2 sigma^2)); by default the
        median distance.
    n_init : int, default=10
        Starts of the k-means on the rows of the embedding.
    metric : str, default="euclidean"
        A name of distances, or "precomputed": X is then their matrix; see `DistanceEnsemble`.
    random_state : int, RandomState or None
        For those starts.

    References
    ----------
    Ng, Jordan & Weiss (2002), On spectral clustering: analysis and an algorithm, NIPS 14.

    Examples
    --------
    >>> labels = NJW(2, random_state=0).fit_predict([[0.0], [1.0], [9.0], [10.0]])
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1)],
        "scale": [Options(("median",)), Interval(Real, 0, open_low=True)],
        "n_init": [Interval(Integral, 1)],
        "metric": [METRIC],
        "random_state": [RandomState()],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale: float | str = "median",
        n_init: int = 10,
        metric: str = "euclidean",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.n_init = n_init
        self.metric = metric
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "NJW":
        """Cluster ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        check_range(X, owner="NJW")
        check_n_clusters(self.n_clusters, len(X), owner="NJW")
        rows = spectral_rows(_condensed(X, self), self.n_clusters, self.scale)
        rng = check_random_state(self.random_state)
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
        self.labels_ = model.fit(rows).labels_.astype(np.int32)
        return self
