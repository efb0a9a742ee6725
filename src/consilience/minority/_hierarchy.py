"""The hierarchy of density levels: its clusters, their lives, and the most stable of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hierarchy", "level_sizes", "most_stable", "stability_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Hierarchy:
    """Clusters of dense objects at falling radii, and how they descend from each other.

    Attributes
    ----------
    level_sizes : ndarray of shape (n_levels,), int64
        Dense objects wanted at each level, falling.
    radii : ndarray of shape (n_levels,), float64
        Radius of each level, not increasing. In squared units for distances.
    core : ndarray of shape (n_objects,), float64
        The radius at which each object becomes dense.
    parent, first, last : ndarrays of shape (n_clusters,), int32
        The cluster each came from (-1 if none; always a smaller number), and the first and last
        level at which it lives.
    stability : ndarray of shape (n_clusters,), float64
        How many times a share ``r_shave`` of the objects was shaved off while it lived.
    last_cluster, last_level : ndarrays of shape (n_objects,), int32
        The innermost cluster an object was in and the last level it was in it; -1 if none.
    memory : int
        Bytes announced before the work began.
    """

    level_sizes: Ints
    radii: Floats
    core: Floats
    parent: Labels
    first: Labels
    last: Labels
    stability: Floats
    last_cluster: Labels
    last_level: Labels
    memory: int

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return len(self.radii)

    @property
    def n_clusters(self) -> int:
        """Number of clusters over all levels."""
        return len(self.parent)

    def labels_at(self, level: int) -> Labels:
        """Cluster of every object at one level, -1 where it is in none."""
        alive = (self.first <= level) & (level <= self.last)
        clusters = self._under(np.flatnonzero(alive))[self.last_cluster]
        return np.where(self.last_level >= level, clusters, -1).astype(np.int32)

    def labels_of(self, clusters: Any) -> Labels:
        """Labels 0, 1, ... by clusters of which none descends from another, -1 elsewhere.

        Members of a cluster are those at its first level.
        """
        chosen = np.asarray(clusters, np.int64)
        rank = np.full(self.n_clusters + 1, -1, np.int32)
        rank[chosen] = np.arange(len(chosen))
        return rank[self._under(chosen)[self.last_cluster]]

    def _under(self, clusters: Ints) -> Labels:
        """For every cluster the one of these it is or descends from, -1 if none; -1 last."""
        ancestors = np.full(self.n_clusters + 1, -1, np.int32)
        ancestors[clusters] = clusters
        for c in range(self.n_clusters):  # parents come first
            if ancestors[c] < 0:
                ancestors[c] = ancestors[self.parent[c]]
        return ancestors


def level_sizes(n: int, r_shave: float, f_shave: float) -> Ints:
    """Dense objects of the levels: distinct sizes from (1 - f_shave) n down to 1."""
    top = max(1, math.floor((1 - f_shave) * n + 0.5))
    n_levels = math.ceil(math.log(2 * top) / -math.log1p(-r_shave)) + 1
    sizes = np.floor(top * (1 - r_shave) ** np.arange(n_levels) + 0.5)
    # Sizes fall, so distinct ones come in order when reversed. Large steps may go past 1.
    return np.unique(np.maximum(sizes, 1).astype(np.int64))[::-1].copy()


def stability_of(sizes: Ints, first: Labels, last: Labels, r_shave: float) -> Floats:
    """Shavings a cluster lived through: log of the sizes before its first and at its last level."""
    logs = np.log(np.r_[sizes[0] / (1 - r_shave), sizes])
    return np.asarray((logs[first] - logs[last + 1]) / -np.log1p(-r_shave))


def most_stable(hierarchy: Hierarchy) -> Ints:
    """Clusters by falling stability, without relatives of those before; the older one on ties."""
    children: list[list[int]] = [[] for _ in range(hierarchy.n_clusters)]
    for c, parent in enumerate(hierarchy.parent.tolist()):
        if parent >= 0:
            children[parent].append(c)
    gone = np.zeros(hierarchy.n_clusters, bool)
    chosen = []
    for c in np.argsort(-hierarchy.stability, kind="stable").tolist():
        if gone[c]:
            continue
        chosen.append(c)
        above = int(hierarchy.parent[c])
        while above >= 0 and not gone[above]:
            gone[above] = True
            above = int(hierarchy.parent[above])
        below = [c]
        while below:
            at = below.pop()
            gone[at] = True
            below.extend(children[at])
    return np.array(chosen, np.int64)
