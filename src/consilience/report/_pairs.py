"""Pairs of some objects: how often they were joined, and the tree that follows from it."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.evidence import co_association
from consilience.kernels.agglomerate import agglomerate

__all__ = ["PairView", "cut_height", "folded", "pair_view"]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairView:
    """Objects in the order of their clusters and of the tree.

    Attributes
    ----------
    joined : ndarray of shape (n, n)
        Co-association, objects in the order given.
    order : ndarray of shape (n,)
        The object at each place: clusters follow each other, -1 last; inside a cluster by the
        tree.
    bounds : ndarray
        Places at which another cluster begins, the first one left out.
    tree : ndarray of shape (n - 1, 4)
        Average link of one less the co-association, in SciPy's format.
    """

    joined: Floats
    order: Positions
    bounds: Positions
    tree: Floats


def pair_view(ensemble: Ensemble, labels: Positions) -> PairView:
    """Co-association of all objects of a small ensemble, their order and their tree."""
    with warnings.catch_warnings():
        # Pairs that nobody saw together count as apart, here as in the consensus.
        warnings.simplefilter("ignore", ConsilienceWarning)
        joined = co_association(ensemble)
    n = len(joined)
    tree = np.empty((0, 4))
    leaves = np.arange(n)
    if n > 1:
        tree = agglomerate(1.0 - joined[np.triu_indices(n, 1)], "average")
        leaves = np.asarray(hierarchy.leaves_list(tree), np.int64)
    place = np.empty(n, np.int64)
    place[leaves] = np.arange(n)
    order = np.lexsort((place, _cluster_ranks(labels, place)))
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return PairView(joined, order, bounds, tree)


def _cluster_ranks(labels: Positions, place: Positions) -> Positions:
    """Order of the clusters along the tree, for each object; -1 comes last."""
    found, group = np.unique(labels, return_inverse=True)
    middle = np.bincount(group, place) / np.bincount(group)
    middle[found < 0] = np.inf
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(middle, kind="stable")] = np.arange(len(found))
    return rank[group]


def folded(tree: Floats, labels: Positions, max_leaves: int) -> tuple[Floats, Positions, Positions]:
    """The last merges as a tree of their own: what was joined before them is one leaf.

    Returns
    -------
    tree : ndarray of shape (n_leaves - 1, 4)
        The last column counts objects.
    sizes : ndarray of shape (n_leaves,)
        Objects of each leaf.
    clusters : ndarray of shape (n_leaves,)
        The most frequent label among them.
    """
    n = len(tree) + 1
    n_leaves = min(max_leaves, n)
    first = n - n_leaves
    made = n + first  # the node that the first merge shown makes
    small = tree[first:].copy()
    children = small[:, :2].astype(np.int64)
    nodes = np.sort(children[children < made])
    small[:, :2] = np.where(
        children < made, np.searchsorted(nodes, children), children - made + n_leaves
    )
    under: dict[int, list[int]] = {}
    for row, (left, right) in enumerate(tree[:first, :2].astype(np.int64).tolist()):
        under[n + row] = under.pop(left, [left]) + under.pop(right, [right])
    groups = [np.array(under.get(node, [node])) for node in nodes.tolist()]
    sizes = np.array([len(group) for group in groups], np.int64)
    return small, sizes, np.array([_most_frequent(labels[group]) for group in groups], np.int64)


def _most_frequent(labels: Positions) -> int:
    found, counts = np.unique(labels, return_counts=True)
    return int(found[counts.argmax()])


def cut_height(tree: Floats, n_clusters: int) -> float:
    """Height half-way between the merges that a cut into so many clusters keeps and undoes."""
    heights = tree[:, 2]
    n = len(tree) + 1
    k = min(max(n_clusters, 1), n)
    top = float(heights.max(initial=0.0))
    if k == 1:
        return 1.05 * top if top else 1.0
    low = float(heights[n - k - 1]) if k < n else 0.0
    return (low + float(heights[n - k])) / 2
