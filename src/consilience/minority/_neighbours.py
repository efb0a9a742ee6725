"""Distances to the nearest fitted objects: the plain rival of the scores, and who is far away."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["N_NEIGHBOURS", "NeighbourScores", "Reach"]

Floats = NDArray[np.float64]

# Neighbours whose mean distance is the score.
N_NEIGHBOURS = 20
# With weights so many times as many are looked at, and again where they weigh too little.
_MORE = 4
# A weight that is short by less is short by rounding only.
_ENOUGH = 1 - 1e-9
# Distances that exist at once while more neighbours are looked at.
_DISTANCES = 2**22
# Distances are at least this share of the typical one: equal objects are not infinitely dense.
_EQUAL = 1e-9
# An object nearer to a fitted one than this share of the way to its neighbours is that one.
_SAME = 1e-6
# New objects may be rounded otherwise than the fitted ones.
_SLACK = 1 + 1e-6


@dataclass(frozen=True)
class NeighbourScores:
    """Minus the logarithm of the mean distance to the nearest objects.

    Attributes
    ----------
    tree : NearestNeighbors
        Of the fitted objects.
    weights : array or None
        How often each of them counts, with mean 1.
    count : int
        Neighbours.
    floor : float
        Least distance.
    """

    tree: NearestNeighbors
    weights: Floats | None
    count: int
    floor: float

    @classmethod
    def of(cls, X: Any, count: int, weights: Floats | None = None) -> "NeighbourScores":
        """The scores of these objects, and of others among them."""
        tree = NearestNeighbors().fit(X)
        scores = cls(tree, weights, max(1, min(count, X.shape[0] - 1)), 0.0)
        floor = _EQUAL * float(np.median(scores._means(X[:1000], own=False)))
        return cls(tree, weights, scores.count, max(floor, np.finfo(np.float64).tiny))

    def fitted(self, X: Any) -> Floats:
        """Scores of the fitted objects, each without itself."""
        return self._logarithm(self._means(X, own=True))

    def __call__(self, X: Any) -> Floats:
        """Scores of other objects."""
        return self._logarithm(self._means(X, own=False))

    def known(self, X: Any) -> Floats:
        """Scores of any objects; fitted ones among them score as they did, without themselves."""
        means = self._means(X, own=False)
        nearest = self.tree.kneighbors(X, 1)[0][:, 0]
        again = np.flatnonzero(nearest <= _SAME * means)
        if again.size:
            means[again] = self._means(X[again], own=True)
        return self._logarithm(means)

    def _logarithm(self, means: Floats) -> Floats:
        return -np.log(np.maximum(means, self.floor))

    def _means(self, X: Any, *, own: bool) -> Floats:
        wanted = self.count if self.weights is None else _MORE * self.count
        means, is_short = self._of_nearest(X, wanted, own=own)
        # Neighbours of little or no weight make nothing dense: whoever counts is farther away.
        short = np.flatnonzero(is_short)
        while short.size and wanted < self.tree.n_samples_fit_:
            wanted = min(_MORE * wanted, self.tree.n_samples_fit_)
            step = max(1, _DISTANCES // wanted)
            for start in range(0, len(short), step):
                rows = short[start : start + step]
                means[rows], is_short[rows] = self._of_nearest(X[rows], wanted, own=own)
            short = short[is_short[short]]
        return means

    def _of_nearest(self, X: Any, wanted: int, *, own: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """Mean distances to the nearest of so many, and where they weigh less than is asked for."""
        wanted = min(wanted + own, self.tree.n_samples_fit_)
        # A fitted object is its own nearest, or an equal one is, which comes to the same.
        distances, rows = self.tree.kneighbors(X, wanted)
        if own and wanted > 1:
            distances, rows = distances[:, 1:], rows[:, 1:]
        if self.weights is None:
            return np.asarray(distances.mean(axis=1)), np.zeros(len(distances), bool)
        shares = self.weights[rows]
        before = np.cumsum(shares, axis=1) - shares
        shares = np.clip(self.count - before, 0.0, shares)
        total = shares.sum(axis=1)
        means = (distances * shares).sum(axis=1) / np.where(total > 0, total, 1.0)
        # Where nobody else counts, nobody is near.
        means = np.where(total > 0, means, distances[:, -1])
        return means, total < _ENOUGH * self.count


@dataclass(frozen=True)
class Reach:
    """How far an object may be from the fitted foreground to belong to it.

    The published score of an object that is far from everything is not the lowest: its grades
    are equal for all seeds. No fitted object of the foreground is farther from the others than
    this.

    It is measured when new objects first ask: most fits are never asked.

    Attributes
    ----------
    foreground : array or CSR matrix
        The fitted objects of the foreground, two at least.
    """

    foreground: Any

    @cached_property
    def _measured(self) -> tuple[NearestNeighbors, float]:
        """A tree of the objects, and the longest distance of one to the nearest other."""
        tree = NearestNeighbors().fit(self.foreground)
        nearest = tree.kneighbors(self.foreground, 2)[0]
        # The nearest of all is the object itself.
        return tree, _SLACK * float(nearest[:, 1].max())

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether objects are near enough to be foreground."""
        tree, longest = self._measured
        return np.asarray(tree.kneighbors(X, 1)[0][:, 0] <= longest)
