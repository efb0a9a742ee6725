"""Which groups are joined first: a tree over groups, and how much of it hangs on few members."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import euclidean_distances

from consilience.ensemble import UNSEEN, Ensemble

__all__ = ["Node", "group_tree"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Halves of the members that the tree is made of again.
_HALVES = 50


@dataclass(frozen=True)
class Node:
    """Groups that are one at some level, and the two parts they fall into.

    Attributes
    ----------
    parts : tuple of two tuples of int
        Groups of either part, in order; the part with the smallest number first.
    together : float
        Mean co-association of objects of one part with those of the other.
    stability : float
        Share of random halves of members and objects whose tree has these two parts as well.
    """

    parts: tuple[tuple[int, ...], tuple[int, ...]]
    together: float
    stability: float

    @property
    def groups(self) -> tuple[int, ...]:
        """All of its groups."""
        return tuple(sorted(self.parts[0] + self.parts[1]))


def group_tree(
    ensemble: Ensemble,
    labels: Labels,
    rng: np.random.RandomState,
    points: Floats | None = None,
) -> list[Node]:
    """Average link of groups by co-association: the last join, which parts all, comes first.

    Groups that no member ever joins with another are equally far by that. Of equals those are
    joined whose means are nearest; without points the first, and stability says that it is a toss.

    Parameters
    ----------
    ensemble : Ensemble
        Members that say how near groups are.
    labels : ndarray of shape (n_objects,)
        Groups 0, ..., k - 1; negative where there is none.
    rng : RandomState
        Draws the halves.
    points : ndarray of shape (n_objects, d), optional
        Where the objects lie.
    """
    R = ensemble.n_members
    halves = np.zeros((_HALVES, R))
    for half in halves:
        half[rng.permutation(R)[: max(1, R // 2)]] = 1.0
    together, seen = _pair_sums(ensemble, labels, np.vstack([np.ones(R), halves]))
    sizes = np.bincount(labels[labels >= 0])
    places = _places(points, labels, sizes, rng)
    trees = [
        _joins(joined, both, euclidean_distances(means), sizes)
        for joined, both, means in zip(together, seen, places, strict=True)
    ]
    joins, others = trees[0], [{parts for parts, _ in tree} for tree in trees[1:]]
    return [
        Node(parts, near, float(np.mean([parts in other for other in others])))
        for parts, near in reversed(joins)
    ]


def _pair_sums(ensemble: Ensemble, labels: Labels, weights: Floats) -> tuple[Floats, Floats]:
    """Pairs of objects of two groups that members join, and that they saw; by draw of members."""
    k = int(labels.max()) + 1
    together, seen = np.zeros((2, len(weights), k, k))
    placed = labels >= 0
    for member, weight in zip(ensemble.members, weights.T, strict=True):
        own, groups = member[placed], labels[placed]
        here = own >= 0
        counts = np.zeros((int(own.max(initial=-1)) + 1, k))
        np.add.at(counts, (own[here], groups[here]), 1.0)
        there = np.bincount(groups[own != UNSEEN], minlength=k).astype(float)
        used = weight > 0
        together[used] += counts.T @ counts
        seen[used] += np.outer(there, there)
    return together, seen


def _places(
    points: Floats | None, labels: Labels, sizes: NDArray[np.int64], rng: np.random.RandomState
) -> Floats:
    """Means of the groups; first as they are, then as halves of the objects would have them."""
    k = len(sizes)
    if points is None:  # the first of equals, and then anyone
        return np.concatenate([np.zeros((1, k, 1)), rng.normal(size=(_HALVES, k, 1))])
    inside = np.flatnonzero(labels >= 0)
    which = sparse.csr_array((np.ones(len(inside)), (labels[inside], inside)), (k, len(labels)))
    means = which @ points / sizes[:, None]
    # The mean of half of n objects is off that of all by a standard deviation over root n.
    error = np.sqrt(np.maximum(which @ points**2 / sizes[:, None] - means**2, 0) / sizes[:, None])
    return np.stack([means, *(means + error * rng.normal(size=(_HALVES, *means.shape)))])


def _joins(
    together: Floats, seen: Floats, apart: Floats, sizes: NDArray[np.int64]
) -> list[tuple[Any, float]]:
    """Parts that are joined and how near they are, the nearest first."""
    pairs = np.outer(sizes, sizes).astype(np.float64)
    together, seen, far = together.copy(), seen.copy(), apart * pairs
    parts: dict[int, tuple[int, ...]] = {g: (g,) for g in range(len(together))}
    near = np.divide(together, seen, out=np.zeros_like(together), where=seen > 0)
    np.fill_diagonal(near, -1.0)
    joins = []
    for _ in range(len(together) - 1):
        # Of equals the least far, and of those the first: groups are numbered by their objects,
        # whatever the order of rows.
        equal = np.where(near == near.max(), far / pairs, np.inf)
        a, b = sorted(int(i) for i in np.unravel_index(equal.argmin(), near.shape))
        joins.append(((parts[a], parts[b]), float(near[a, b])))
        for sums in (together, seen, far, pairs):
            sums[a] += sums[b]
            sums[:, a] += sums[:, b]
        with np.errstate(invalid="ignore", divide="ignore"):
            row = np.nan_to_num(together[a] / seen[a])
        row[near[a] < 0] = -1.0
        row[b] = -1.0
        near[a], near[:, a] = row, row
        near[b], near[:, b] = -1.0, -1.0
        parts[a] = tuple(sorted(parts[a] + parts.pop(b)))
    return joins
