"""Pairs of some objects: how often they were joined, and the tree that follows from it."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.evidence import co_association
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges

__all__ = ["MadeTree", "PairView", "cut_height", "folded", "pair_view", "restricted"]

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
        That of the method, or average link of one less the co-association, in SciPy's format.
    """

    joined: Floats
    order: Positions
    bounds: Positions
    tree: Floats


@dataclass(frozen=True, eq=False)
class MadeTree:
    """The tree that a method made of all objects.

    Attributes
    ----------
    merges : ndarray of shape (n - 1, 4)
        In SciPy's format, heights rising.
    link : {"average", "single", "complete"} or None
        How heights follow from the co-association; None: from a similarity of the method's own.
    """

    merges: Floats
    link: str | None

    def cut(self, labels: Positions, k: int) -> float | None:
        """The height that gives these k groups, negative labels aside; None if none does."""
        # Objects in no group join last, one by one.
        pieces = k + int((labels < 0).sum())
        if pieces > len(labels):
            return None
        made = cut_merges(self.merges, pieces)
        pairs = np.unique(np.stack([labels, made])[:, labels >= 0], axis=1)
        same = pairs.shape[1] == k and len(np.unique(pairs[1])) == k
        return cut_height(self.merges, pieces) if same else None


def pair_view(ensemble: Ensemble, labels: Positions, tree: Floats | None = None) -> PairView:
    """Co-association of all objects of a small ensemble, their order and their tree.

    ``tree`` is one that was made before; by default it is that of average link.
    """
    with warnings.catch_warnings():
        # Pairs that nobody saw together count as apart, here as in the consensus.
        warnings.simplefilter("ignore", ConsilienceWarning)
        joined = co_association(ensemble)
    n = len(joined)
    leaves = np.arange(n)
    if tree is None:
        tree = agglomerate(1.0 - joined[np.triu_indices(n, 1)], "average")
    if n > 1:
        leaves = np.asarray(hierarchy.leaves_list(tree), np.int64)
    place = np.empty(n, np.int64)
    place[leaves] = np.arange(n)
    order = np.lexsort((place, _cluster_ranks(labels, place)))
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return PairView(joined, order, bounds, tree)


def _cluster_ranks(labels: Positions, place: Positions) -> Positions:
    """Order of the clusters along the tree, for each object; -1 comes last."""
    groups, group = np.unique(labels, return_inverse=True)
    middle = np.bincount(group, place) / np.bincount(group)
    middle[groups < 0] = np.inf
    rank = np.empty(len(groups), np.int64)
    rank[np.argsort(middle, kind="stable")] = np.arange(len(groups))
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


def restricted(tree: Floats, objects: Positions) -> Floats:
    """The tree of some of its objects: they join where they joined, the others are left out.

    >>> tree = np.array([[0, 1, 0.1, 2], [2, 4, 0.3, 3], [3, 5, 0.7, 4]])
    >>> restricted(tree, np.array([3, 1, 2]))
    array([[1. , 2. , 0.3, 2. ],
           [0. , 3. , 0.7, 3. ]])
    """
    n, m = len(tree) + 1, len(objects)
    # The node of the small tree that stands for each node, -1 where none of its objects is in.
    stands = np.full(n + len(tree), -1, np.int64)
    stands[objects] = np.arange(m)
    small = np.empty((m - 1, 4))
    sizes = np.append(np.ones(m), np.zeros(m - 1))
    made = 0
    for row, (left, right, height, _) in enumerate(tree):
        a, b = stands[int(left)], stands[int(right)]
        stands[n + row] = max(a, b)
        if min(a, b) >= 0:
            stands[n + row] = m + made
            sizes[m + made] = sizes[a] + sizes[b]
            small[made] = min(a, b), max(a, b), height, sizes[m + made]
            made += 1
    return small


def _most_frequent(labels: Positions) -> int:
    groups, counts = np.unique(labels, return_counts=True)
    return int(groups[counts.argmax()])


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
