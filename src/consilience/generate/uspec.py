"""Ultra-scalable spectral clustering (U-SPEC), a base clusterer, and ensembles of it."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from consilience._units import squarable
from consilience._validation import N_MEMBERS, Interval, NoneValue, RandomState, check_params
from consilience.engines import Blocks, engine_for, label_room, releasing
from consilience.errors import InvalidParameterError
from consilience.generate._base import (
    Generator,
    Made,
    Order,
    Session,
    Stopwatch,
    compact,
    compact_in_place,
)
from consilience.generate._draw import N_CLUSTERS, Clusters
from consilience.generate._spectral import Graph, Links, StoredGraph, eigenvectors
from consilience.generate._tables import squarable_table
from consilience.kernels.kmeans.start import plusplus_start
from consilience.partition import one_thread
from consilience.rows import Rows, Stored, rows_of

__all__ = ["USPEC", "USPECEnsemble"]

Floats = NDArray[np.float64]

_COUNT = Interval(Integral, 1)
# Objects drawn for each representative wanted.
_DRAWN = 10
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
        """Cluster ``X`` of shape (n_objects, n_features); see `USPECEnsemble` for large tables."""
        check_params(self)
        X = _rows(X, owner=self, fitted=self).values
        with releasing(X):
            return self._fit(X)

    def _fit(self, X: Any) -> Self:
        """Cluster checked rows."""
        _check_fits(self, self.n_clusters, len(X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        partition = _uspec(X, self.n_clusters, seed, **_settings(self, self.n_clusters, len(X)))
        if isinstance(X, Stored):
            labels: Any = compact_in_place(partition.labels).astype(np.int32)
            self.labels_ = X.in_its_blocks(labels)
        else:
            _, labels = np.unique(partition.labels, return_inverse=True)
            self.labels_ = labels.astype(np.int32)
        self.representatives_ = partition.representatives
        self.sigma_ = partition.sigma
        self.n_iter_ = partition.n_iter
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

    Data that are not in memory (`consilience.open_rows`, or a Dask array) are gone through in
    blocks, with the same members: two passes for the graph, one for starts, one for each
    iteration and one for the labels of each member; links are made anew in each.

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
        "n_members": [N_MEMBERS],
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
        return _rows(X, owner=self)

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

    def _stream(
        self, X: Any, groups: Sequence[Sequence[Order]], in_order: bool, session: Session
    ) -> Iterator[tuple[Sequence[Order], list[Made]]]:
        if not isinstance(X, Stored):
            return super()._stream(X, groups, in_order, session)
        return (
            ([order], [self._make_one(X, order, session.pieces([order.number]))])
            for group in groups
            for order in group
        )

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Any, order: Order, keeper: Any = None) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        n_clusters = self._clusters(X).draw(rng, order.number)
        settings = _settings(self, self._clusters(X).high, len(X))
        seed = int(rng.integers(2**31 - 1))
        partition = _uspec(X, n_clusters, seed, keeper=keeper, **settings)
        record = {
            "algorithm": "U-SPEC",
            "seed": order.seed,
            "n_clusters": n_clusters,
            "n_representatives": len(partition.representatives),
            "sigma": partition.sigma,
            "iterations": partition.n_iter,
            "seconds": watch.seconds(),
            "error": None,
        }
        narrowed = compact_in_place if isinstance(X, Stored) else compact
        return Made(narrowed(partition.labels), record)


def _rows(X: Any, *, owner: Any, fitted: Any = None) -> Rows:
    """Rows of float64, in memory or not."""
    how: dict[str, Any] = {"allow_sparse": False, "kind": "float64", "allow_stored": True}
    rows = rows_of(X, owner=owner, fitted=fitted, min_objects=2, **how)
    if not rows.is_stored or rows.dtype == np.float64:
        return rows
    return Rows(rows.values.mapped(_as_it_is), rows.names, rows.index)


def _as_it_is(block: NDArray[Any]) -> NDArray[Any]:
    return block


class _Member(NamedTuple):
    labels: NDArray[np.signedinteger[Any]]
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
    X: Any,
    n_clusters: int,
    seed: int,
    *,
    n_representatives: int,
    n_neighbors: int,
    n_init: int,
    max_iter: int,
    keeper: Any = None,
) -> _Member:
    """One run, everything drawn from the seed."""
    rng = np.random.default_rng(seed)
    stored = isinstance(X, Stored)
    X, power = squarable_table(X) if stored else squarable(X)
    links = Links(*_representatives(X, n_representatives, rng), n_neighbors)
    graph = StoredGraph(X, links) if stored else Graph(X, links)
    W, used = graph.between_representatives()
    k = min(n_clusters, len(used))
    if k == 1:
        nobody = label_room((len(X),), np.int8 if stored else np.int32)
        nobody[:] = 0
        return _Member(nobody, *_unscaled(links.points, graph.sigma, power), 1)
    with one_thread():
        V = eigenvectors(W, k, np.random.RandomState(int(rng.integers(2**31 - 1))))
        embedded = graph.embedded(V, used)
    engine = engine_for(embedded)
    if isinstance(engine, Blocks):
        engine.keeper = keeper
    runs = engine.lloyd(_starts(embedded, k, n_init, rng), max_iter=max_iter)
    best = int(runs.inertia.argmin())
    unscaled = _unscaled(links.points, graph.sigma, power)
    return _Member(runs.labels[best], *unscaled, int(runs.n_iter[best]))


def _unscaled(points: Floats, sigma: float, power: int) -> tuple[Floats, float]:
    """Representatives and width in the data's own unit."""
    if not power:
        return points, sigma
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(points, power), float(np.ldexp(sigma, power))


def _starts(E: Any, k: int, n_init: int, rng: np.random.Generator) -> list[Floats]:
    """Spread-out rows to start k-means from, chosen among some of many."""
    some = E[:]
    if len(E) > _START_ROWS:
        some = E[np.sort(rng.choice(len(E), _START_ROWS, replace=False))]
    return [some[plusplus_start(some, k, rng)] for _ in range(n_init)]


def _representatives(
    X: Any, n_wanted: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Representatives, group after group; the first of each group; the groups' centres."""
    if n_wanted >= len(X):
        points = np.unique(X[:], axis=0)
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
