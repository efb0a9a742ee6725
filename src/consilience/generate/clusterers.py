"""Base clusterers the papers used that scikit-learn does not have.

`PAM`, `Linkage` (with centroid link, also on unsquared distances) and `NJW` spectral
clustering. All work on the full matrix of distances: memory O(n_objects squared).
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
from consilience.kernels.data.pam import pam
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges
from consilience.partition import largest_eigenvectors
from consilience.rows import rows_of

__all__ = ["NJW", "PAM", "Linkage"]


class PAM(ClusterMixin, BaseEstimator):
    """Partitioning around medoids on Euclidean distances.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted.
    swap : {"faster", "best"}, default="faster"
        Take every improving exchange at once (FasterPAM), or the best one of all each
        time (the original's path, smallest index on ties).

    Attributes
    ----------
    labels_, medoid_indices_, cluster_centers_, cost_, n_swaps_

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
    }

    def __init__(self, n_clusters: int = 8, *, swap: Literal["faster", "best"] = "faster") -> None:
        self.n_clusters = n_clusters
        self.swap = swap

    def fit(self, X: Any, y: Any = None) -> "PAM":
        """Find the medoids of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(X, owner=self, fitted=self, allow_sparse=False, kind="float64").values
        check_range(X, owner="PAM")
        check_n_clusters(self.n_clusters, len(X), owner="PAM")
        found = pam(squareform(pdist(X)), self.n_clusters, swap=self.swap)
        self.labels_ = found.labels
        self.medoid_indices_ = found.medoids
        self.cluster_centers_ = X[found.medoids]
        self.cost_ = found.cost
        self.n_swaps_ = found.n_swaps
        return self


class Linkage(ClusterMixin, BaseEstimator):
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
    }

    def __init__(
        self, n_clusters: int | None = None, *, method: str = "average", squared: bool = True
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.squared = squared

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
        self.linkage_ = agglomerate(pdist(X), self.method, squared=self.squared)
        self.labels_ = cut_merges(self.linkage_, wanted)
        return self


class NJW(ClusterMixin, BaseEstimator):
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
        "random_state": [RandomState()],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        scale: float | str = "median",
        n_init: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.scale = scale
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "NJW":
        """Cluster ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        check_range(X, owner="NJW")
        check_n_clusters(self.n_clusters, len(X), owner="NJW")
        rows = _spectral_rows(pdist(X), self.n_clusters, self.scale)
        rng = check_random_state(self.random_state)
        model = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
        self.labels_ = model.fit(rows).labels_.astype(np.int32)
        return self


def _spectral_rows(
    distances: NDArray[np.float64], n_clusters: int, scale: float | str
) -> NDArray[np.float64]:
    """Leading eigenvectors of the normalised affinity, rows scaled to unit length."""
    sigma = float(np.median(distances)) if scale == "median" else float(scale)
    if sigma == 0:  # more than half of all pairs coincide
        sigma = float(distances.max()) or 1.0
    with np.errstate(over="ignore"):  # of widths so narrow that their squares vanish
        affinity = squareform(np.exp(-((distances / sigma) ** 2) / 2))
    root = np.sqrt(np.maximum(affinity.sum(axis=1), np.finfo(float).tiny))
    affinity /= root[:, None] * root[None, :]
    _, rows = largest_eigenvectors(affinity, n_clusters)
    # The sign of an eigenvector is arbitrary, and no distance between rows depends on it.
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths))
