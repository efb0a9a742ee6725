"""Ultra-scalable spectral clustering (U-SPEC), a base clusterer, and ensembles of it."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from consilience._units import squarable
from consilience._validation import Interval, NoneValue, RandomState, check_params
from consilience.engines import engine_for
from consilience.errors import InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import N_CLUSTERS, Clusters
from consilience.kernels.data.representatives import nearest_representatives
from consilience.kernels.data.tall import csr_gram
from consilience.kernels.kmeans.start import plusplus_start
from consilience.partition import leading_eigenvectors, one_thread, unit_rows
from consilience.rows import Rows, rows_of

__all__ = ["USPEC", "USPECEnsemble"]

Floats = NDArray[np.float64]

_COUNT = Interval(Integral, 1)
# Objects drawn for each representative wanted, and candidates for each neighbour wanted.
_DRAWN = 10
_CANDIDATES = 10
# Representatives unless told otherwise: the published number, and objects for each of them.
_MOST_REPRESENTATIVES = 1000
_LEAST_REPRESENTATIVES = 20
_OBJECTS_EACH = 5
# Iterations of the k-means that makes representatives, and of the one that groups them.
_REPRESENTATIVE_ITERATIONS = 10
_GROUP_ITERATIONS = 20
# Rows among which the starts of the last k-means are chosen.
_START_ROWS = 10_000


class USPEC(ClusterMixin, BaseEstimator):
    """Spectral clustering of many objects through their links to a few representatives.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted, fewer than representatives; fewer are found where fewer
        representatives differ.
    n_representatives : int or None, default=None
        Means of a k-means on ten times as many random objects; the distinct objects
        themselves if there are no more of them. None is 1000, the published number, but at
        most one for five objects (but 20, and twice ``n_clusters``): nearer to one an object
        the graph falls into pieces.
    n_neighbors : int, default=5
        Representatives an object is linked to.
    n_init : int, default=3
        Starts of the k-means on the spectral embedding.
    max_iter : int, default=100
        Iterations of that k-means.
    random_state : int, RandomState or None
        Draws the objects and the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
    representatives_ : ndarray of shape (p, n_features)
    sigma_ : float
        Width of the Gaussian kernel: the mean distance of the links.
    n_iter_ : int
        Iterations of the best run of the last k-means.

    Notes
    -----
    An object looks for its nearest representative in the nearest of sqrt(p) groups of
    representatives, then for its ``n_neighbors`` nearest among ten times as many neighbours
    of that one. The links, exp(-d^2 / (2 sigma^2)), are a graph of objects and
    representatives, whose normalised cut comes from a p x p eigenproblem. Time
    O(n sqrt(p) d + p^3), memory O(n (n_neighbors + k) + p^2).

    References
    ----------
    Huang, Wang, Wu, Lai & Kwoh (2020), Ultra-scalable spectral clustering and ensemble
    clustering, IEEE TKDE 32(6), section 3.1.

    Examples
    --------
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    >>> X = np.repeat([1.0, 4.0], 200)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> np.bincount(USPEC(2, n_representatives=100, random_state=0).fit_predict(X)).tolist()
    [200, 200]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [_COUNT],
        "n_representatives": [Interval(Integral, 2), NoneValue()],
        "n_neighbors": [_COUNT],
        "n_init": [_COUNT],
        "max_iter": [_COUNT],
        "random_state": [RandomState()],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_representatives: int | None = None,
        n_neighbors: int = 5,
        n_init: int = 3,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        _check_fits(self, self.n_clusters, len(X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        found = _uspec(X, self.n_clusters, seed, **_settings(self, self.n_clusters, len(X)))
        _, labels = np.unique(found.labels, return_inverse=True)
        self.labels_ = labels.astype(np.int32)
        self.representatives_ = found.representatives
        self.sigma_ = found.sigma
        self.n_iter_ = found.n_iter
        return self


class USPECEnsemble(Generator):
    """Many ultra-scalable spectral clusterings, each with its own representatives.

    Parameters
    ----------
    n_members : int, default=20
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=(20, 60)
        Clusters of a member, as in `KMeansEnsemble`. A range is cut off below the number of
        representatives; where that is None, at half of it (and its lower end at a sixth).
    n_representatives, n_neighbors
        As in `USPEC`.
    n_init, max_iter : int, default=1 and 5
        Of the k-means on the spectral embedding; members need not be perfect.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.

    Notes
    -----
    Memory beside the members: O(n (n_neighbors + k) + p^2) for each member under way.

    References
    ----------
    Huang, Wang, Wu, Lai & Kwoh (2020), Ultra-scalable spectral clustering and ensemble
    clustering, IEEE TKDE 32(6), section 3.2.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> USPECEnsemble(5, (3, 6), n_representatives=50, random_state=0).generate(X)
    Ensemble(n_objects=300, n_members=5, n_clusters=3..6, noise=0, unseen=0)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [_COUNT],
        "n_clusters": [N_CLUSTERS],
        "n_representatives": [Interval(Integral, 2), NoneValue()],
        "n_neighbors": [_COUNT],
        "n_init": [_COUNT],
        "max_iter": [_COUNT],
    }

    def __init__(
        self,
        n_members: int = 20,
        n_clusters: Any = (20, 60),
        *,
        n_representatives: int | None = None,
        n_neighbors: int = 5,
        n_init: int = 1,
        max_iter: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rows(self, X: Any) -> Rows:
        return rows_of(X, owner=self, allow_sparse=False, kind="float64", min_objects=2)

    def _prepare(self, X: Any) -> int:
        _check_fits(self, self._clusters(X).high, X.shape[0])
        return self.n_members

    def _clusters(self, X: Floats) -> Clusters:
        clusters = Clusters.resolve(self.n_clusters, X.shape[0], owner=type(self).__name__)
        if not isinstance(self.n_clusters, tuple):
            return clusters
        # A range follows the representatives, not they it.
        p = min(_n_representatives(self, 1, X.shape[0]), X.shape[0])
        least = most = max(p - 1, 1)
        if self.n_representatives is None:
            least, most = min(max(p // 6, 2), most), min(max(p // 2, 2), most)
        return Clusters(min(clusters.low, least), min(clusters.high, most))

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Floats, order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        n_clusters = self._clusters(X).draw(rng, order.number)
        settings = _settings(self, self._clusters(X).high, len(X))
        found = _uspec(X, n_clusters, int(rng.integers(2**31 - 1)), **settings)
        record = {
            "algorithm": "U-SPEC",
            "seed": order.seed,
            "n_clusters": n_clusters,
            "n_representatives": len(found.representatives),
            "sigma": found.sigma,
            "iterations": found.n_iter,
            "seconds": watch.seconds(),
            "error": None,
        }
        return Made(compact(found.labels), record)


class _Found(NamedTuple):
    labels: NDArray[np.int32]
    representatives: Floats
    sigma: float
    n_iter: int


def _settings(owner: Any, n_clusters: int, n_objects: int) -> dict[str, int]:
    names = ("n_neighbors", "n_init", "max_iter")
    n_representatives = _n_representatives(owner, n_clusters, n_objects)
    return {
        "n_representatives": n_representatives,
        **{name: int(getattr(owner, name)) for name in names},
    }


def _n_representatives(owner: Any, n_clusters: int, n_objects: int) -> int:
    """As asked for; by default enough to have some objects each, and more than clusters."""
    if owner.n_representatives is not None:
        return int(owner.n_representatives)
    most = min(_MOST_REPRESENTATIVES, n_objects // _OBJECTS_EACH)
    return max(most, min(max(2 * n_clusters, _LEAST_REPRESENTATIVES), n_objects), 2)


def _check_fits(owner: Any, n_clusters: int, n_objects: int) -> None:
    most = min(_n_representatives(owner, n_clusters, n_objects), n_objects)
    if n_clusters >= most:
        raise InvalidParameterError(
            f"The 'n_clusters' parameter of {type(owner).__name__} must be below the number of "
            f"representatives, {most} (n_representatives={owner.n_representatives}, "
            f"n_samples={n_objects}). Got {owner.n_clusters!r} instead."
        )


def _uspec(
    X: Floats,
    n_clusters: int,
    seed: int,
    *,
    n_representatives: int,
    n_neighbors: int,
    n_init: int,
    max_iter: int,
) -> _Found:
    """One run, everything drawn from the seed."""
    rng = np.random.default_rng(seed)
    X, power = squarable(X)
    points, heads, centres = _representatives(X, n_representatives, rng)
    which, squares = _links(X, points, heads, centres, n_neighbors)
    links, sigma = _affinities(which, squares, len(points))
    k = min(n_clusters, links.shape[1])
    if k == 1:
        return _Found(np.zeros(len(X), np.int32), *_unscaled(points, sigma, power), 1)
    with one_thread():
        embedded = _embedding(links, k, np.random.RandomState(int(rng.integers(2**31 - 1))))
    runs = engine_for(embedded).lloyd(_starts(embedded, k, n_init, rng), max_iter=max_iter)
    best = int(runs.inertia.argmin())
    return _Found(runs.labels[best], *_unscaled(points, sigma, power), int(runs.n_iter[best]))


def _unscaled(points: Floats, sigma: float, power: int) -> tuple[Floats, float]:
    """Representatives and width in the data's own unit."""
    if not power:
        return points, sigma
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(points, power), float(np.ldexp(sigma, power))


def _starts(E: Floats, k: int, n_init: int, rng: np.random.Generator) -> list[Floats]:
    """Spread-out rows to start k-means from, chosen among some of many."""
    some = None
    if len(E) > _START_ROWS:
        some = np.sort(rng.choice(len(E), _START_ROWS, replace=False))
    return [E[plusplus_start(E, k, rng, rows=some)] for _ in range(n_init)]


def _representatives(
    X: Floats, n_wanted: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Representatives, group after group; the first of each group; the groups' centres."""
    if n_wanted >= len(X):
        points = np.unique(X, axis=0)
    else:
        n_drawn = min(_DRAWN * n_wanted, len(X))
        drawn = X[np.sort(rng.choice(len(X), n_drawn, replace=False))]
        points = _means(drawn, n_wanted, _REPRESENTATIVE_ITERATIONS, rng)[0]
    n_groups = int(np.sqrt(len(points)))
    centres, labels = _means(points, n_groups, _GROUP_ITERATIONS, rng)
    order = np.argsort(labels, kind="stable")
    heads = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    return np.ascontiguousarray(points[order]), heads, centres


def _means(
    X: Floats, k: int, max_iter: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.int64]]:
    """Centres and labels of a k-means from random objects, less its empty clusters."""
    start = X[rng.choice(len(X), k, replace=False)]
    runs = engine_for(X).lloyd([start], max_iter=max_iter)
    used, labels = np.unique(runs.labels[0], return_inverse=True)
    return np.ascontiguousarray(runs.centres[0][used], np.float64), labels


def _links(
    X: Floats,
    points: Floats,
    heads: NDArray[np.int64],
    centres: Floats,
    n_neighbors: int,
) -> tuple[NDArray[np.int32], Floats]:
    """The nearest representatives of each object, and their squared distances."""
    p = len(points)
    K = min(n_neighbors, p)
    # A representative is its own nearest candidate.
    n_near = min(_CANDIDATES * K + 1, p)
    gaps = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(gaps, -1.0)
    near = np.argsort(gaps, axis=1, kind="stable")[:, :n_near].astype(np.int32)
    return nearest_representatives(X, centres, heads, points, near, K)


def _affinities(
    which: NDArray[np.int32], squares: Floats, n_points: int
) -> tuple[sparse.csr_array, float]:
    """Gaussian links of objects to representatives, and the width of the Gaussian."""
    sigma = float(np.sqrt(squares).mean())
    # Objects that are their own representatives all: every link is as strong.
    values = np.exp(-squares / (2 * sigma**2)) if sigma > 0 else np.ones_like(squares)
    # A link so weak that it vanishes is still a link.
    np.maximum(values, np.finfo(float).eps, out=values)
    n, K = which.shape
    starts = np.arange(0, n * K + 1, K)
    links = sparse.csr_array((values.ravel(), which.ravel(), starts), shape=(n, n_points))
    used = np.flatnonzero(np.bincount(which.ravel(), minlength=n_points))
    return (links if len(used) == n_points else links[:, used]), sigma


def _embedding(links: sparse.csr_array, k: int, rng: np.random.RandomState) -> Floats:
    """Objects as rows of unit length in the space of the transfer cut's k eigenvectors.

    Li, Wu & Chang (2012), Segmentation using superpixels, CVPR, section 3.
    """
    degrees = np.asarray(links.sum(axis=1)).ravel()
    W = np.zeros((links.shape[1], links.shape[1]))
    csr_gram(links.indptr, links.indices, links.data, 1.0 / degrees, W)
    scale = 1.0 / np.sqrt(W.sum(axis=1))
    N = W * scale[:, None] * scale
    _, V = leading_eigenvectors((N + N.T) / 2.0, k, rng)
    return unit_rows(np.asarray(links @ (V * scale[:, None])) / degrees[:, None])
