"""Which groups are joined first: a tree over groups, and how much of it hangs on few members."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        Share of random halves of the members whose tree has these two parts as well.
    """

    parts: tuple[tuple[int, ...], tuple[int, ...]]
    together: float
    stability: float

    @property
    def groups(self) -> tuple[int, ...]:
        """All of its groups."""
        return tuple(sorted(self.parts[0] + self.parts[1]))


def group_tree(ensemble: Ensemble, labels: Labels, rng: np.random.RandomState) -> list[Node]:
    """Average link of groups by co-association: the last join, which parts all, comes first.

    Parameters
    ----------
    ensemble : Ensemble
        Members that say how near groups are.
    labels : ndarray of shape (n_objects,)
        Groups 0, ..., k - 1; negative where there is none.
    rng : RandomState
        Draws the halves.
    """
    R = ensemble.n_members
    halves = np.zeros((_HALVES, R))
    for half in halves:
        half[rng.permutation(R)[: max(1, R // 2)]] = 1.0
    together, seen = _pair_sums(ensemble, labels, np.vstack([np.ones(R), halves]))
    joins = _joins(together[0], seen[0])
    others = [
        {parts for parts, _ in _joins(*sums)} for sums in zip(together[1:], seen[1:], strict=True)
    ]
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


def _joins(together: Floats, seen: Floats) -> list[tuple[Any, float]]:
    """Parts that are joined and how near they are, the nearest first."""
    together, seen = together.copy(), seen.copy()
    parts: dict[int, tuple[int, ...]] = {g: (g,) for g in range(len(together))}
    near = np.divide(together, seen, out=np.zeros_like(together), where=seen > 0)
    np.fill_diagonal(near, -1.0)
    found = []
    for _ in range(len(together) - 1):
        # The first of equals: groups are numbered by their objects, whatever the order of rows.
        a, b = sorted(int(i) for i in np.unravel_index(near.argmax(), near.shape))
        found.append(((parts[a], parts[b]), float(near[a, b])))
        for sums in (together, seen):
            sums[a] += sums[b]
            sums[:, a] += sums[:, b]
        with np.errstate(invalid="ignore", divide="ignore"):
            row = np.nan_to_num(together[a] / seen[a])
        row[near[a] < 0] = -1.0
        row[b] = -1.0
        near[a], near[:, a] = row, row
        near[b], near[:, b] = -1.0, -1.0
        parts[a] = tuple(sorted(parts[a] + parts.pop(b)))
    return found
