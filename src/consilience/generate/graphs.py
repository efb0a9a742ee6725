"""Ensembles of graph clusterings: neighbours that choose each other, a spectral embedding, k-means.

Members follow groups of any shape, where those of k-means cut them into balls.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.neighbors import NearestNeighbors

from consilience._labels import UNSEEN
from consilience._units import squarable
from consilience._validation import COUNT, N_MEMBERS, Options
from consilience.errors import InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    Indices,
    check_fits,
    draw_subset,
)
from consilience.partition import kmeans_labels, leading_eigenvectors, one_thread, unit_rows

__all__ = ["GraphEnsemble"]

Floats = NDArray[np.float64]

# Most objects of a member's graph.
_MOST_OBJECTS = 20_000
# Vertices past which the few eigenvectors wanted come from Lanczos on the sparse matrix, and how
# true they are: labels hang on directions, not on digits.
_DENSE = 1000
_TOLERANCE = 1e-4


class GraphEnsemble(Generator):
    """Many spectral clusterings of mutual nearest-neighbour graphs, each of other objects.

    Parameters
    ----------
    n_members : int, default=100
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=("sqrt/2", "sqrt")
        Clusters of a member, as in `KMeansEnsemble`; fewer where fewer objects differ. With
        K groups in mind, (K, 4 K) was measured to serve well.
    n_neighbors : int, default=10
        Two objects are linked if each is among so many nearest of the other.
    max_samples, max_features : float, int or (low, high), default=0.8 and 1.0
        Objects and features a member sees, as in `KMeansEnsemble`; of many objects at most
        20,000.
    assign : {"nearest", "unseen"}, default="nearest"
        Objects a member did not see go to the cluster of the nearest object it saw, or stay
        unseen.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.

    Notes
    -----
    Equal objects are one vertex, which counts as often in k-means. A graph in several
    components is divided exactly: the k leading eigenvalues of all of them say how many
    clusters each gets, and k-means runs in each by itself. Components of fewer objects than
    half of ``n_neighbors`` are no groups, and of more components than k the largest k are kept:
    the objects of others go to the cluster of the nearest object that is kept. Thin groups of
    which few clusters are asked need more neighbours, lest they fall into more pieces than k.

    Time of a member, for m objects seen: O(m^2 d) at worst for the neighbours and O(m k^2) a
    restart of Lanczos; memory O(m (k + n_neighbors)), m^2 up to 1000 vertices.

    References
    ----------
    Ng, Jordan & Weiss (2001), On spectral clustering, NIPS 14; von Luxburg (2007), A tutorial on
    spectral clustering, Statistics and Computing 17(4), sections 2.2 (mutual neighbours) and 4.

    Examples
    --------
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 300)
    >>> X = np.repeat([1.0, 4.0], 150)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> ens = GraphEnsemble(5, (2, 4), n_neighbors=20, random_state=0).generate(X)
    >>> [len(set(labels[:150]) & set(labels[150:])) for labels in ens]
    [0, 0, 0, 0, 0]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "n_neighbors": COUNT,
        "max_samples": [SHARE],
        "max_features": [SHARE],
        "assign": [Options(("nearest", "unseen"))],
    }

    def __init__(
        self,
        n_members: int = 100,
        n_clusters: Any = ("sqrt/2", "sqrt"),
        *,
        n_neighbors: int = 10,
        max_samples: Any = 0.8,
        max_features: Any = 1.0,
        assign: str = "nearest",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.max_samples = max_samples
        self.max_features = max_features
        self.assign = assign
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _prepared(self, X: Any) -> Any:
        return squarable(X)[0]

    def _prepare(self, X: Any) -> int:
        clusters = self._clusters(X)
        check_fits(self, clusters, X.shape)
        if clusters.high > _MOST_OBJECTS:
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be at most the number "
                f"of objects of a graph, {_MOST_OBJECTS}. Got {self.n_clusters!r} instead."
            )
        return self.n_members

    def _clusters(self, X: Any) -> Clusters:
        return Clusters.resolve(self.n_clusters, X.shape[0], owner=type(self).__name__)

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Any, order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        n_clusters = self._clusters(X).draw(rng, order.number)
        rows = _fewer(draw_subset(rng, self.max_samples, X.shape[0]), X.shape[0], rng)
        features = draw_subset(rng, self.max_features, X.shape[1])
        known = X if features is None else X[:, features]
        record = {
            "algorithm": "mutual neighbours, spectral",
            "seed": order.seed,
            "n_clusters": n_clusters,
            "n_objects": None if rows is None else len(rows),
            "features": None if features is None else features.tolist(),
        }
        try:
            with one_thread():
                member = _members_of(known, rows, n_clusters, self.n_neighbors, self.assign, rng)
        except ArpackNoConvergence as error:
            message = f"{type(error).__name__}: {error}"
            return Made(None, {**record, "seconds": watch.seconds(), "error": message})
        record |= {"n_components": member.n_components, "n_loose": member.n_loose}
        return Made(compact(member.labels), {**record, "seconds": watch.seconds(), "error": None})


class _Member(NamedTuple):
    """Labels of all objects, components of the graph, and objects in none that was kept."""

    labels: NDArray[np.int64]
    n_components: int
    n_loose: int


def _fewer(rows: Indices | None, n_objects: int, rng: np.random.Generator) -> Indices | None:
    """The objects a member sees, some of them where they are too many for a graph."""
    seen = n_objects if rows is None else len(rows)
    if seen <= _MOST_OBJECTS:
        return rows
    some = np.sort(rng.choice(seen, _MOST_OBJECTS, replace=False))
    return some if rows is None else rows[some]


def _members_of(
    X: Any,
    rows: Indices | None,
    n_clusters: int,
    n_neighbors: int,
    assign: str,
    rng: np.random.Generator,
) -> _Member:
    """Labels of all objects by the graph of some of them."""
    chosen = np.arange(X.shape[0]) if rows is None else rows
    seen = X if rows is None else X[rows]
    points, inverse, copies = _distinct(seen)
    at_points, n_components = _cluster_points(points, copies, n_clusters, n_neighbors, rng)
    own = at_points[inverse]
    kept = own >= 0
    labels = np.full(X.shape[0], UNSEEN, np.int64)
    labels[chosen[kept]] = own[kept]
    others = chosen[~kept] if assign == "unseen" else np.flatnonzero(labels < 0)
    if others.size:
        index = NearestNeighbors(n_neighbors=1).fit(seen[kept])
        labels[others] = own[kept][index.kneighbors(X[others], return_distance=False)[:, 0]]
    return _Member(labels, n_components, int((~kept).sum()))


def _distinct(X: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of a table, which of them each row is, and how often each is there."""
    if not sparse.issparse(X):
        points, inverse, copies = np.unique(X, axis=0, return_inverse=True, return_counts=True)
        return points, inverse.ravel(), copies
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    keys = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends]
    numbers: dict[tuple[bytes, bytes], int] = {}
    inverse = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    _, first, copies = np.unique(inverse, return_index=True, return_counts=True)
    return X[first], inverse, copies


def _cluster_points(
    points: Any,
    copies: NDArray[np.int64],
    n_clusters: int,
    n_neighbors: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], int]:
    """Clusters of different points by their graph, -1 for loose ones, and its components."""
    m = points.shape[0]
    if n_clusters >= m:
        return np.arange(m), m
    graph = mutual_graph(points, min(n_neighbors, m - 1))
    return cluster_graph(graph, copies, n_clusters, n_neighbors, rng)


def cluster_graph(
    graph: sparse.csr_array,
    copies: NDArray[np.int64],
    n_clusters: int,
    n_neighbors: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], int]:
    """Clusters of the vertices of a graph, -1 for loose ones, and its components."""
    m = graph.shape[0]
    n_components, component = connected_components(graph, directed=False)
    held = np.bincount(component, copies)
    kept = np.argsort(-held, kind="stable")[:n_clusters]
    large = kept[held[kept] >= n_neighbors / 2]
    groups = [np.flatnonzero(component == c) for c in (large if large.size else kept)]
    start = np.random.RandomState(int(rng.integers(2**31 - 1)))
    spaces = [_embedding(graph, g, n_clusters - len(groups) + 1, start) for g in groups]
    labels, used = np.full(m, -1, np.int64), 0
    for group, (_, vectors), k in zip(groups, spaces, _shares(spaces, n_clusters), strict=True):
        labels[group] = used
        if k > 1:
            E = unit_rows(vectors[:, :k])
            labels[group] += kmeans_labels(E, k, copies[group].astype(np.float64), start)
        used += k
    return labels, int(n_components)


def mutual_graph(points: Any, n_neighbors: int) -> sparse.csr_array:
    """Ones for pairs of points that are among the nearest of each other; symmetric.

    >>> mutual_graph(np.array([[0.0], [1.0], [1.5], [9.0]]), 1).toarray().astype(int).tolist()
    [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    """
    index = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    return links_of(index.kneighbors(return_distance=False))


def links_of(nearest: NDArray[np.int64]) -> sparse.csr_array:
    """Ones for pairs that are among the nearest of each other, from the nearest of everybody."""
    m, n_neighbors = nearest.shape
    links = sparse.csr_array(
        (np.ones(nearest.size), nearest.ravel(), np.arange(0, nearest.size + 1, n_neighbors)),
        shape=(m, m),
    )
    return sparse.csr_array(links.minimum(links.T))


def _embedding(
    graph: sparse.csr_array, group: NDArray[np.intp], k: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """The k leading eigenvalues, falling, of a component's normalised graph, and the vectors."""
    if len(group) == 1:
        return np.ones(1), np.ones((1, 1))
    part = graph if len(group) == graph.shape[0] else graph[group][:, group]
    scale = sparse.diags_array(1.0 / np.sqrt(np.asarray(part.sum(axis=1)).ravel()))
    N = scale @ part @ scale
    k = min(k, len(group))
    if len(group) <= _DENSE or k > len(group) // 4:
        return leading_eigenvectors(N.toarray(), k, rng)
    values, vectors = eigsh(N, k=k, which="LA", v0=rng.standard_normal(len(group)), tol=_TOLERANCE)
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _shares(spaces: Sequence[tuple[Floats, Floats]], k: int) -> NDArray[np.int64]:
    """Clusters of each component: how many of the k largest eigenvalues are its own.

    The largest of each is 1, so that every component has one.
    """
    owner = np.repeat(np.arange(len(spaces)), [len(values) - 1 for values, _ in spaces])
    rest = np.concatenate([values[1:] for values, _ in spaces])
    best = np.argsort(-rest, kind="stable")[: k - len(spaces)]
    return 1 + np.bincount(owner[best], minlength=len(spaces))
