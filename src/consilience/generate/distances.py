"""Members that need distances only: any metric, or a matrix of distances that somebody has."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import squareform
from sklearn.metrics import pairwise_distances

from consilience._labels import UNSEEN
from consilience._threads import one_thread
from consilience._validation import COUNT, N_MEMBERS, Options, Satisfies
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    check_share,
    draw_subset,
    subset_size,
)
from consilience.generate.graphs import cluster_graph, links_of
from consilience.kernels.data.pam import pam
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges
from consilience.partition import kmeans_labels, largest_eigenvectors
from consilience.rows import Rows, rows_of

__all__ = ["METRICS", "DistanceEnsemble", "check_distances", "distances_between", "spectral_rows"]

Floats = NDArray[np.float64]

#: Names of distances; "precomputed" takes a matrix of them.
METRICS = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "correlation",
    "canberra",
    "braycurtis",
    "hamming",
    "jaccard",
    "precomputed",
)
METRIC = Options(METRICS)

_WAYS = ("PAM", "average link", "complete link", "spectral", "graph")
# Most objects of a member: its matrix is copied, and some ways take the cube of their number.
_MOST_OBJECTS = 2000
_NEIGHBOURS = 10
# Distances may differ by so much of the largest, where they should be the same, or 0.
_ROUNDED = 1e-6


def distances_between(X: Any, metric: str, *, owner: str) -> Floats:
    """The distances of all objects by a metric, or those given, checked.

    Memory 8 n^2 bytes.

    Examples
    --------
    >>> distances_between(np.array([[0.0, 0.0], [1.0, 2.0]]), "manhattan", owner="example")
    array([[0., 3.],
           [3., 0.]])
    """
    if metric == "precomputed":
        return check_distances(X, owner=owner)
    if metric == "braycurtis" and X.min() < 0:
        raise InvalidInputError(
            f"The metric 'braycurtis' of {owner} is for values of at least 0, such as counts. Got "
            f"{X.min():g}. Take another metric."
        )
    values = X.astype(bool) if metric == "jaccard" else X
    try:
        with np.errstate(all="ignore"):
            D = np.asarray(pairwise_distances(values, metric=metric), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"The 'metric' parameter of {owner} cannot be {metric!r} for these data: {error}."
        ) from error
    # The row that nobody has a distance to, not those that have none to it.
    wrong = (~np.isfinite(D)).sum(axis=1)
    if metric in ("cosine", "correlation"):
        wrong = _without_direction(X, centred=metric == "correlation").astype(np.int64)
    if wrong.any():
        why = {"cosine": " (it holds only zeros)", "correlation": " (all its values are the same)"}
        raise InvalidInputError(
            f"The metric {metric!r} of {owner} is not defined for row {int(wrong.argmax())}"
            f"{why.get(metric, '')}. Leave such rows out, or take another metric."
        )
    np.fill_diagonal(D, 0.0)
    return np.asarray(np.maximum((D + D.T) / 2.0, 0.0))


def _without_direction(X: Any, *, centred: bool) -> NDArray[np.bool_]:
    """Rows of length 0, or of values that are all the same."""
    if not isinstance(X, np.ndarray):
        return np.asarray(np.asarray(abs(X).sum(axis=1)).ravel() == 0)
    return np.asarray(np.ptp(X, axis=1) == 0 if centred else ~X.any(axis=1))


def check_distances(D: Any, *, owner: str) -> Floats:
    """A matrix of distances, symmetric to the last bit; raises if it is none."""
    D = np.asarray(D, np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise InvalidInputError(
            f"The distances of {owner} must be a square matrix, one row and one column an object. "
            f"Got shape {D.shape} instead. For a table of columns name another metric."
        )
    largest = float(np.abs(D).max(initial=0.0))
    at = None
    for wrong, what in (
        (~np.isfinite(D), "finite"),
        (D < 0, "at least 0"),
        (np.abs(D - D.T) > _ROUNDED * largest, "the same both ways"),
        (np.diag(D.diagonal() > _ROUNDED * largest), "0 from an object to itself"),
    ):
        if wrong.any():
            at = tuple(int(place) for place in np.argwhere(wrong)[0])
            raise InvalidInputError(
                f"The distances of {owner} must be {what}. Got {D[at]:g} in row {at[0]}, column "
                f"{at[1]}, and {D[at[::-1]]:g} the other way round. Similarities are no distances: "
                "take one less them, or their largest less them."
            )
    D = (D + D.T) / 2.0
    np.fill_diagonal(D, 0.0)
    return D


def _are_ways(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(one, str) and one in _WAYS for one in value)
    )


class DistanceEnsemble(Generator):
    """Many clusterings by distances of any kind: medoids, links, spectral, graphs of neighbours.

    Parameters
    ----------
    n_members : int, default=100
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=("sqrt/2", "sqrt")
        Clusters of a member, as in `KMeansEnsemble`.
    metric : str, default="euclidean"
        "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "canberra", "braycurtis",
        "hamming", "jaccard" (of what is not 0), or "precomputed": X is then the matrix of distances
        of all objects, square, symmetric, with a diagonal of 0.
    ways : sequence of {"PAM", "average link", "complete link", "spectral", "graph"}
        How members cluster, in turn; all of them by default.
    n_neighbors : int, default=10
        Of "graph": two objects are linked if each is among so many nearest of the other.
    max_samples : float, int or (low, high), default=0.8
        Objects a member sees, as in `KMeansEnsemble`; of many objects at most 2,000.
    assign : {"nearest", "unseen"}, default="nearest"
        Objects a member did not see go to the cluster of the nearest it saw (of the nearest medoid
        for "PAM"), or stay unseen.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.

    Notes
    -----
    Time of a member of m objects O(m^2) for links and medoids a round, O(m^3) for "spectral";
    memory 8 n^2 bytes for the distances and 8 m^2 for a member.

    References
    ----------
    Kaufman & Rousseeuw (1990), Finding groups in data; Ng, Jordan & Weiss (2002), On spectral
    clustering: analysis and an algorithm, NIPS 14.

    Examples
    --------
    >>> D = np.array([[0.0, 1, 8, 9], [1, 0, 9, 8], [8, 9, 0, 1], [9, 8, 1, 0]])
    >>> ens = DistanceEnsemble(4, 2, metric="precomputed", max_samples=1.0, random_state=0)
    >>> ens.generate(D).labels[:, 0].tolist()
    [0, 0, 1, 1]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "metric": [METRIC],
        "ways": [Satisfies(_are_ways, f"a list of {', '.join(map(repr, _WAYS))}")],
        "n_neighbors": COUNT,
        "max_samples": [SHARE],
        "assign": [Options(("nearest", "unseen"))],
    }

    def __init__(
        self,
        n_members: int = 100,
        n_clusters: Any = ("sqrt/2", "sqrt"),
        *,
        metric: str = "euclidean",
        ways: Any = _WAYS,
        n_neighbors: int = _NEIGHBOURS,
        max_samples: Any = 0.8,
        assign: str = "nearest",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.metric = metric
        self.ways = ways
        self.n_neighbors = n_neighbors
        self.max_samples = max_samples
        self.assign = assign
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rows(self, X: Any) -> Rows:
        return rows_of(X, owner=self, kind="float64", min_objects=2)

    def _prepared(self, X: Any) -> Any:
        return distances_between(X, self.metric, owner=type(self).__name__)

    def _prepare(self, X: Any) -> int:
        high, owner = self._clusters(X).high, type(self).__name__
        check_share("max_samples", self.max_samples, "objects, n_samples", len(X), owner)
        seen = min(subset_size(self.max_samples, len(X)), _MOST_OBJECTS)
        if high > seen:
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {owner} must be at most the number of objects a "
                f"member sees, {seen}. Got {self.n_clusters!r} instead. Ask for fewer clusters."
            )
        return self.n_members

    def _clusters(self, X: Any) -> Clusters:
        return Clusters.resolve(self.n_clusters, X.shape[0], owner=type(self).__name__)

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        with one_thread():
            return [self._make_one(X, order) for order in orders]

    def _make_one(self, D: Floats, order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        k = self._clusters(D).draw(rng, order.number)
        rows = draw_subset(rng, self.max_samples, len(D))
        chosen = np.arange(len(D)) if rows is None else rows
        if len(chosen) > _MOST_OBJECTS:
            chosen = np.sort(rng.choice(chosen, _MOST_OBJECTS, replace=False))
        way = self.ways[order.number % len(self.ways)]
        record = {
            "algorithm": f"{way}, {self.metric}",
            "seed": order.seed,
            "n_clusters": k,
            "n_objects": None if len(chosen) == len(D) else len(chosen),
        }
        try:
            labels = self._labels(D, chosen, way, k, rng)
        except ArpackNoConvergence as error:
            message = f"{type(error).__name__}: {error}"
            return Made(None, {**record, "seconds": watch.seconds(), "error": message})
        return Made(compact(labels), {**record, "seconds": watch.seconds(), "error": None})

    def _labels(
        self, D: Floats, chosen: NDArray[np.int64], way: str, k: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of all objects by those of the objects chosen."""
        part = D if len(chosen) == len(D) else D[np.ix_(chosen, chosen)]
        own, anchors = _clustered(part, way, k, self.n_neighbors, rng)
        labels = np.full(len(D), UNSEEN, np.int64)
        labels[chosen] = own
        loose = chosen[own < 0]
        others = loose if self.assign == "unseen" else np.setdiff1d(np.arange(len(D)), chosen)
        others = np.union1d(others, loose)
        if others.size:
            near = D[np.ix_(others, chosen[anchors])].argmin(axis=1)
            labels[others] = own[anchors][near]
        return labels


def _clustered(
    D: Floats, way: str, k: int, n_neighbors: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels by a way to cluster, -1 for loose objects, and the objects that others go by."""
    if way == "PAM":
        partition = pam(np.ascontiguousarray(D), k)
        return partition.labels.astype(np.int64), partition.medoids.astype(np.int64)
    pairs = squareform(D, checks=False)
    if way.endswith(" link"):
        tree = agglomerate(pairs, way.removesuffix(" link"))
        labels = cut_merges(tree, k).astype(np.int64)
    elif way == "spectral":
        start = np.random.RandomState(int(rng.integers(2**31 - 1)))
        labels = kmeans_labels(spectral_rows(pairs, k), k, None, start).astype(np.int64)
    else:
        labels = _by_graph(D, k, n_neighbors, rng)
    return labels, np.flatnonzero(labels >= 0)


def _by_graph(D: Floats, k: int, n_neighbors: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Clusters of the graph of objects that are among the nearest of each other."""
    m = len(D)
    if k >= m:
        return np.arange(m)
    alone = D + np.diag(np.full(m, np.inf))
    nearest = np.argsort(alone, axis=1, kind="stable")[:, : min(n_neighbors, m - 1)]
    return cluster_graph(links_of(nearest), np.ones(m, np.int64), k, n_neighbors, rng)[0]


def spectral_rows(distances: Floats, n_clusters: int, scale: float | str = "median") -> Floats:
    """Leading eigenvectors of the normalised affinity of condensed distances, rows of length 1."""
    if scale == "median":  # of one object there are none
        scale = float(np.median(distances)) if distances.size else 0.0
    # Of 0 more than half of all pairs coincide.
    sigma = float(scale) or float(distances.max(initial=0.0)) or 1.0
    with np.errstate(over="ignore"):  # of widths so narrow that their squares vanish
        affinity = squareform(np.exp(-((distances / sigma) ** 2) / 2))
    root = np.sqrt(np.maximum(affinity.sum(axis=1), np.finfo(float).tiny))
    affinity /= root[:, None] * root[None, :]
    _, rows = largest_eigenvectors(affinity, n_clusters)
    # The sign of an eigenvector is arbitrary, and no distance between rows depends on it.
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths))
