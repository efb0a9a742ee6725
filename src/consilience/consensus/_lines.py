"""Lines of evidence: ways to cluster that fail in different places, each asked for many numbers.

What several of them come to by themselves is hardly an accident of one of them. They all look
at the same objects, a sample of large data.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn import config_context
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state

from consilience.consensus._rules import Link
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.kernels._parallel import in_threads
from consilience.kernels.links.trees import cut_merges
from consilience.partition import kmeans_labels, leading_eigenvectors

__all__ = [
    "CHAINS",
    "COMPACT",
    "LOOSE",
    "OF_DATA",
    "ROUND",
    "Partition",
    "Scene",
    "narrow",
    "partitions",
]

Labels = NDArray[np.int32]
Floats = NDArray[np.float64]

#: Lines that follow groups of any shape: they ask how objects hang together, not how far they lie.
LOOSE = ("graph", "single link", "density")
#: Lines that see groups around a centre only, each by a rule of its own.
ROUND = ("k-means", "Ward", "mixture")
#: Lines whose groups a silhouette can judge.
COMPACT = ("k-means", "Ward", "graph", "mixture")
#: Groups that no step as long as those within them crosses; asked only where others say little.
CHAINS = "chains"
#: Lines that look at the data themselves where there are any; the others look at the members.
OF_DATA = (*COMPACT, "density")

# Lines start alike whatever the seed of the members, and whatever numbers are asked for: how many
# groups there are must not hang on luck.
_SEED = 0

# A mixture is not tried with more groups once this many numbers in a row were no better.
_PATIENCE = 6
# Mixtures are fitted on so many principal components at most, and on half as many as objects.
_MOST_COLUMNS = 60
_SHAPES = ("full", "tied", "diag", "spherical")
_LEAST_OF_DENSITY = (5, 10, 20, 40)
# How much longer the shortest step between chains is than the longest within one, and the objects
# and the share of all that make a chain.
_LONGER, _LEAST_OF_CHAIN, _SHARE_OF_CHAIN = 1.5, 5, 0.04


@dataclass(frozen=True)
class Scene:
    """What the lines look at.

    Attributes
    ----------
    distances : ndarray of shape (n, n)
        Between objects: Euclidean, or 1 - co-association where there are no data.
    points : ndarray of shape (n, d) or None
        The data.
    ensemble : Ensemble
        Members, of these objects.
    graph : sparse array of shape (n, n)
        1 where one of two objects is among the nearest neighbours of the other.
    n_starts : int
        Starts of k-means.
    """

    distances: Floats
    points: Floats | None
    ensemble: Ensemble
    graph: Any
    n_starts: int

    @property
    def n_objects(self) -> int:
        """Objects looked at."""
        return len(self.distances)


@dataclass(frozen=True)
class Partition:
    """What a line says for one number of groups; ``labels`` are 0, 1, ... without gaps."""

    line: str
    labels: Labels

    @property
    def n_clusters(self) -> int:
        """Groups there are; may be fewer than the line was asked for."""
        return int(self.labels.max()) + 1


def partitions(scene: Scene, numbers: Sequence[int], n_jobs: int | None = None) -> list[Partition]:
    """Everything that the lines say: no partition twice in a line, none of one group."""
    distinct: dict[tuple[str, bytes], Partition] = {}
    for said in chain.from_iterable(in_threads(_said, _ways(scene, numbers), n_jobs)):
        labels = by_first_appearance(ConsensusResult(said.labels)).labels
        key = (said.line, labels.tobytes())
        if labels.max() > 0:
            distinct.setdefault(key, replace(said, labels=labels))
    return list(distinct.values())


def _said(way: Callable[[], Iterator[Partition]]) -> list[Partition]:
    # Every thread has settings of scikit-learn of its own.
    with config_context(array_api_dispatch=False):
        return list(way())


def _ways(scene: Scene, numbers: Sequence[int]) -> list[Callable[[], Iterator[Partition]]]:
    """What the lines do, in pieces that know nothing of each other: each may have its thread."""
    ways: list[Callable[[], Iterator[Partition]]] = [
        partial(_by_tree, "average", scene, numbers),
        partial(_by_tree, "single", scene, numbers),
        partial(_by_graph, scene, numbers),
        partial(_by_density, scene),
        partial(_by_ward, scene, numbers),
    ]
    if scene.points is None:
        return [*ways, partial(_by_members, scene)]
    ways += [partial(_by_kmeans, scene, scene.points, k) for k in numbers]
    narrowed = narrow(scene.points)
    ways += [partial(_by_mixture, narrowed, shape, numbers) for shape in _SHAPES]
    return [*ways, partial(_by_chains, scene, max(numbers))]


def _by_members(scene: Scene) -> Iterator[Partition]:
    """The members themselves, those that place everybody."""
    for member in scene.ensemble.members:
        if (member >= 0).all():
            yield Partition("members", member)


def _by_kmeans(scene: Scene, points: Floats, k: int) -> Iterator[Partition]:
    yield Partition("k-means", _kmeans(points, k, scene))


def _kmeans(points: Floats, k: int, scene: Scene) -> Labels:
    return kmeans_labels(points, k, None, check_random_state(_SEED), n_init=scene.n_starts)


def _by_tree(link: Link, scene: Scene, numbers: Sequence[int]) -> Iterator[Partition]:
    """Cuts of the tree of co-association."""
    tree = eac(scene.ensemble, 1, linkage=link).linkage
    for k in numbers:
        yield Partition(f"{link} link", cut_merges(tree, k))


def _by_ward(scene: Scene, numbers: Sequence[int]) -> Iterator[Partition]:
    between = squareform(scene.distances, checks=False)
    tree = linkage(between if scene.points is not None else np.sqrt(between), "ward")
    for k in numbers:
        yield Partition("Ward", fcluster(tree, k, "maxclust"))


def _by_graph(scene: Scene, numbers: Sequence[int]) -> Iterator[Partition]:
    """k-means on the leading eigenvectors of the graph of neighbours."""
    normal, root = _normal(scene.graph)
    count = min(max(numbers), scene.n_objects - 1)
    rng = check_random_state(_SEED)
    _, vectors = leading_eigenvectors(np.asarray(normal.todense()), count, rng)
    vectors = vectors / root[:, None]
    for k in numbers:
        if k <= count:
            yield Partition("graph", _kmeans(vectors[:, :k], k, scene))


def _normal(graph: Any) -> tuple[Any, Floats]:
    """The graph over the roots of its degrees, and these; everybody is its own neighbour too."""
    whole = graph + sparse.eye_array(graph.shape[0])
    root = np.sqrt(np.asarray(whole.sum(axis=1)).ravel())
    return whole / root[:, None] / root[None, :], root


def _by_density(scene: Scene) -> Iterator[Partition]:
    """HDBSCAN for several sizes; who is in no group goes with the nearest who is in one."""
    n = scene.n_objects
    for size in _LEAST_OF_DENSITY:
        if 2 * size > n:
            return
        model = HDBSCAN(min_cluster_size=size, metric="precomputed", copy=True)
        labels = model.fit(scene.distances).labels_
        inside = np.flatnonzero(labels >= 0)
        if inside.size:
            nearest = inside[scene.distances[:, inside].argmin(axis=1)]
            yield Partition("density", labels[nearest])


def _by_chains(scene: Scene, most: int) -> Iterator[Partition]:
    """Single link of the distances, cut where steps between groups are far longer than within.

    The finest such cut, if there is one. Members and densities look at several neighbours, and lose
    a thin chain whose objects lie nearly as far from each other as from the next chain.
    """
    n = scene.n_objects
    tree = linkage(squareform(scene.distances, checks=False), "single")
    steps = np.append(tree[::-1, 2], 0.0)
    for k in range(min(most, n - 1), 1, -1):
        if steps[k - 2] > 0 and steps[k - 2] >= _LONGER * steps[k - 1]:
            labels = fcluster(tree, k, "maxclust") - 1
            if np.bincount(labels).min() >= max(_LEAST_OF_CHAIN, _SHARE_OF_CHAIN * n):
                yield Partition(CHAINS, labels)
                return


def _by_mixture(points: Floats, shape: str, numbers: Sequence[int]) -> Iterator[Partition]:
    """Mixtures of Gaussians of one shape, while there is hope for a better BIC."""
    least, last = np.inf, 0
    for k in numbers:
        model = GaussianMixture(k, covariance_type=shape, reg_covar=1e-3, random_state=_SEED)
        model.fit(points)
        value = model.bic(points)
        yield Partition("mixture", model.predict(points))
        if value < least:
            least, last = value, k
        if k - last >= _PATIENCE:
            break


def narrow(points: Floats) -> Floats:
    """As few columns as Gaussians can be fitted in."""
    most = min(_MOST_COLUMNS, len(points) // 2)
    if points.shape[1] <= most:
        return points
    return np.asarray(PCA(most, svd_solver="full").fit_transform(points))
