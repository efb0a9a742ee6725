"""HDS and AutoHDS: how dense groups fall apart as objects are shaved off, and which last."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from consilience._validation import MEMORY, Interval, check_params
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.minority.hds import follow_levels, tree_of_matrix, tree_of_points
from consilience.minority._hierarchy import Hierarchy, level_sizes, most_stable, stability_of
from consilience.minority._rivals import (
    Rival,
    Space,
    check_budget,
    checked_array,
    checked_values,
    no_contrast,
    square_rows,
)

__all__ = ["AutoHDS", "AutoHDSResult", "Hierarchy", "autohds", "hds", "hds_memory"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]

_RULES: dict[str, list[Any]] = {
    "n_eps": [Interval(Integral, 1)],
    "n_part": [Interval(Integral, 0)],
    "r_shave": [Interval(Real, 1e-6, 0.999999)],
    "f_shave": [Interval(Real, 0, 0.999999)],
    "max_memory": MEMORY,
}


@dataclass(frozen=True)
class AutoHDSResult:
    """The clusters `autohds` chose, and where they come from.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        -1 background, clusters 0, 1, ... from the most stable on.
    clusters : ndarray of shape (n_clusters,), int64
        Their numbers in the hierarchy.
    stability : ndarray of shape (n_clusters,), float64
        Infinite if all objects are equal.
    hierarchy : Hierarchy or None
        None where there was nothing to do.
    flag : str or None
        "degenerate" for one object, which is background; "no_contrast" where all objects are
        equal, which makes them one cluster.
    """

    labels: Labels
    clusters: Ints
    stability: Floats
    hierarchy: Hierarchy | None
    flag: str | None = None


def hds_memory(n_objects: int, n_features: int, *, matrix: bool = False) -> int:
    """Bytes that `hds` takes beside the data.

    Parameters
    ----------
    n_objects, n_features : int
    matrix : bool, default=False
        Whether the divergence has no coordinates, so that all pairs are kept, in 4 bytes each.
        Of the divergences by name this is so for "kl", "itakura-saito", "logistic",
        "precomputed", and for all on sparse data.

    Examples
    --------
    >>> hds_memory(13_000, 8) // 2**20, hds_memory(13_000, 8, matrix=True) // 2**20
    (70, 711)
    """
    blocks = 4 * min(2**24, 8 * n_objects**2) + 16 * n_objects  # a block of rows, twice partitioned
    vectors = 220 * n_objects
    pairs = 4 * n_objects**2 if matrix else 4 * 8 * n_objects * n_features
    return blocks + vectors + pairs


def hds(
    X: Any,
    *,
    n_eps: int = 200,
    n_part: int = 30,
    r_shave: float = 0.01,
    f_shave: float = 0.01,
    divergence: Any = "mahalanobis",
    max_memory: float | str = "4 GiB",
) -> Hierarchy:
    """Hierarchy of the dense groups that are left as the sparsest objects are shaved off.

    At a level with n dense objects the radius is the smallest that gives n objects ``n_eps``
    neighbours within it; clusters are connected components of dense objects within that
    radius of each other.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        CSR where the divergence takes it.
    n_eps : int, default=200
        Neighbours that make an object dense, itself counted.
    n_part : int, default=30
        When a cluster falls apart, parts of at most this many objects are dropped.
    r_shave : float, default=0.01
        Share of the dense objects shaved off from level to level.
    f_shave : float, default=0.01
        Share of all objects shaved off before the first level.
    divergence : str, Divergence or callable, default="mahalanobis"
        Only the order of the pairs counts. One that is not symmetric is averaged over both
        directions.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        See `hds_memory`; more raises `MemoryBudgetError` before anything is done.

    Returns
    -------
    Hierarchy
        With a single level if ``n_eps`` is at least the number of objects: no object is denser
        than another by that measure.

    Notes
    -----
    All levels come from one minimum spanning tree of the mutual reachability, max(core of both,
    distance): O(n ** 2 d) time, O(n d) memory, no matrix of levels. Objects that tie at a
    radius are all dense, so a level may hold more than its size.

    References
    ----------
    Gupta, Liu & Ghosh (2010), Automated hierarchical density shaving: a robust automated
    clustering and visualization framework for large biological data sets, IEEE/ACM TCBB 7(2).

    Examples
    --------
    >>> X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20)])[:, None]
    >>> result = hds(X, n_eps=3, n_part=5)
    >>> sorted(set(result.labels_at(0).tolist()) - {-1})
    [0, 1]
    """
    checked_values(
        _RULES,
        {"n_eps": n_eps, "n_part": n_part, "r_shave": r_shave, "f_shave": f_shave},
        owner="hds",
    )
    X = checked_array(X, sparse=True, owner="hds")
    n = X.shape[0]
    space = Space(X, divergence)
    points = space.points()
    memory = hds_memory(n, X.shape[1], matrix=points is None)
    remedy = "fit a sample" if points is not None else "use a divergence with coordinates"
    check_budget(memory, max_memory, owner="hds", remedy=remedy)
    core, (left, right, weights) = _spanning_tree(space, points, min(n_eps, n))
    table = linkage_table(left, right, weights)
    sizes = level_sizes(n, r_shave, f_shave)[: 1 if n_eps >= n else None]
    radii = np.sort(core)[sizes - 1]
    clusters = follow_levels(
        table[:, :2].astype(np.int64), np.ascontiguousarray(table[:, 2]), core, radii, n_part
    )
    parent, first, last, last_cluster, last_level = clusters
    stability = stability_of(sizes, first, last, r_shave)
    return Hierarchy(
        sizes, radii, core, parent, first, last, stability, last_cluster, last_level, memory
    )


def _spanning_tree(
    space: Space, points: Floats | None, n_eps: int
) -> tuple[Floats, tuple[Labels, Labels, Floats]]:
    """Core values and edges, both from the same arithmetic: levels compare them by ``<=``."""
    core = np.empty(space.n_objects)
    if points is not None:
        for low, block in square_rows(points):
            core[low : low + len(block)] = np.partition(block, n_eps - 1, axis=1)[:, n_eps - 1]
        return core, tree_of_points(np.ascontiguousarray(points.T), core)
    matrix = _symmetric_matrix(space)
    for i in range(space.n_objects):
        core[i] = np.partition(matrix[i], n_eps - 1)[n_eps - 1]
    return core, tree_of_matrix(matrix, core)


def _symmetric_matrix(space: Space) -> NDArray[np.float32]:
    """Divergences of all pairs, the mean of both directions, 0 on the diagonal."""
    n, step = space.n_objects, 1024
    matrix = np.empty((n, n), np.float32)
    for low, block in space.rows():
        matrix[low : low + len(block)] = block
    for a in range(0, n, step):
        for b in range(a, n, step):
            one, other = matrix[a : a + step, b : b + step], matrix[b : b + step, a : a + step]
            mean = (one + other.T) / 2
            one[...] = mean
            other[...] = mean.T
    np.fill_diagonal(matrix, 0.0)
    return matrix


def autohds(
    X: Any,
    *,
    n_eps: int = 200,
    n_part: int = 30,
    r_shave: float = 0.01,
    f_shave: float = 0.01,
    divergence: Any = "mahalanobis",
    max_memory: float | str = "4 GiB",
) -> AutoHDSResult:
    """The most stable clusters of the density hierarchy, none above another.

    Parameters
    ----------
    X, n_eps, n_part, r_shave, f_shave, divergence, max_memory
        As in `hds`.

    Returns
    -------
    AutoHDSResult
        The method gives no ranking of the objects, and no answer for new ones.

    Notes
    -----
    Clusters are taken by falling stability; each one taken discards those it came from and
    those that came from it. Everything else of the hierarchy is thus covered: if the whole is
    the most stable of all, nearly everything becomes foreground.

    References
    ----------
    Gupta, Liu & Ghosh (2010), Automated hierarchical density shaving, IEEE/ACM TCBB 7(2).

    Examples
    --------
    >>> X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20)])[:, None]
    >>> result = autohds(X, n_eps=3, n_part=5)
    >>> [int((result.labels == c).sum()) for c in range(len(result.clusters))]
    [20, 20]
    """
    values: dict[str, Any] = {
        "n_eps": n_eps,
        "n_part": n_part,
        "r_shave": r_shave,
        "f_shave": f_shave,
    }
    checked_values(_RULES, values, owner="AutoHDS")
    X = checked_array(X, sparse=True, owner="AutoHDS")
    if flag := no_contrast(X):
        # Equal objects are one cluster that no shaving takes apart; a single one is no group.
        one = int(flag == "no_contrast")
        labels = np.full(X.shape[0], one - 1, np.int32)
        return AutoHDSResult(labels, np.zeros(one, np.int64), np.full(one, np.inf), None, flag)
    hierarchy = hds(X, **values, divergence=divergence, max_memory=max_memory)
    chosen = most_stable(hierarchy)
    return AutoHDSResult(
        hierarchy.labels_of(chosen), chosen, hierarchy.stability[chosen], hierarchy
    )


class AutoHDS(ClusterMixin, Rival):
    """The most stable dense groups; see `autohds` for the method.

    Parameters
    ----------
    n_eps, n_part, r_shave, f_shave, divergence, max_memory
        As in `hds`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        -1 background, clusters 0, 1, ... from the most stable on. The method does not rank
        objects, so there are no scores, and has no answer for new ones, so no `predict`.
    stability_ : ndarray of shape (n_clusters,), float64
    n_clusters_ : int
    hierarchy_ : Hierarchy or None
        All levels; None for one object or equal objects.
    memory_ : int
        Bytes announced before the work began; see `hds_memory`.
    flag_ : str or None
        "degenerate" or "no_contrast"; see `AutoHDSResult`.

    Examples
    --------
    >>> X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20)])[:, None]
    >>> AutoHDS(n_eps=3, n_part=5).fit(X).n_clusters_
    2
    """

    _constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        *,
        n_eps: int = 200,
        n_part: int = 30,
        r_shave: float = 0.01,
        f_shave: float = 0.01,
        divergence: Any = "mahalanobis",
        max_memory: float | str = "4 GiB",
    ) -> None:
        self.n_eps = n_eps
        self.n_part = n_part
        self.r_shave = r_shave
        self.f_shave = f_shave
        self.divergence = divergence
        self.max_memory = max_memory

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the dense groups of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = self._checked(X, reset=True)
        result = autohds(X, **self.get_params(deep=False))
        self.labels_ = result.labels
        self.stability_ = result.stability
        self.n_clusters_ = len(result.clusters)
        self.hierarchy_ = result.hierarchy
        self.memory_ = 0 if result.hierarchy is None else result.hierarchy.memory
        self.flag_ = result.flag
        return self
