"""k-means of many weighted rows from given centres, by threads whose number changes nothing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import add_in_tree
from consilience.kernels._parallel import Team

__all__ = ["weighted_kmeans"]

Floats = NDArray[np.float64]

# Rows worked on at once: sums of blocks are added in a tree, so that this decides the last bits.
_BLOCK = 1 << 13
# Ends when the centres move by less than this share of the variance, as in scikit-learn.
_TOL = 1e-4


def weighted_kmeans(
    E: Floats,
    centres: Floats,
    weights: NDArray[Any] | None,
    *,
    max_iter: int,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Labels by Lloyd's iterations from the centres given.

    Parameters
    ----------
    E : ndarray of shape (n_rows, d)
    centres : ndarray of shape (k, d)
    weights : ndarray of shape (n_rows,) or None
        How much each row counts in the means; 1 if not given.
    max_iter : int
    n_jobs : int or None
        Threads; the result does not depend on it. Linear algebra should have one thread.

    Returns
    -------
    ndarray of shape (n_rows,), int32
        Ties go to the smaller number. A cluster left empty takes the row farthest from its
        centre, weighted or not; ends when no label changes or, as in scikit-learn, the squared
        moves of the centres add up to at most 1e-4 of the mean variance of the columns.

    Examples
    --------
    >>> E = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> weighted_kmeans(E, E[:2], None, max_iter=100)
    array([0, 0, 1, 1], dtype=int32)
    """
    w = np.ones(len(E)) if weights is None else np.ascontiguousarray(weights, np.float64)
    with Team(n_jobs, -(-len(E) // _BLOCK)) as team:
        passes = _Passes(team, E, w, len(centres))
        tol = _TOL * passes.mean_variance()
        for _ in range(max_iter):
            moved, fresh = passes.assign(centres)
            shift = float(((fresh - centres) ** 2).sum())
            centres = fresh
            if not moved:
                return passes.labels
            if shift <= tol:
                break
        passes.assign(centres)
    return passes.labels


class _Passes:
    """Passes over the rows, in blocks that are the same for any number of threads."""

    def __init__(self, team: Team, E: Floats, weights: Floats, k: int) -> None:
        self.team, self.E, self.weights, self.k = team, E, weights, k
        self.labels = np.full(len(E), -1, np.int32)
        self.away = np.empty(len(E))
        self.blocks = [slice(at, at + _BLOCK) for at in range(0, len(E), _BLOCK)]

    def mean_variance(self) -> float:
        """Mean over the columns of the variance of the rows, each counted once."""
        n, d = self.E.shape
        mean = self._sum_of(lambda rows: self.E[rows].sum(axis=0), d) / n
        return float(
            self._sum_of(lambda rows: ((self.E[rows] - mean) ** 2).sum(axis=0), d).mean() / n
        )

    def assign(self, centres: Floats) -> tuple[bool, Floats]:
        """Give every row its nearest centre: whether any label changed, and the new centres."""
        k, d = centres.shape
        norms = (centres * centres).sum(axis=1)
        twice = np.ascontiguousarray(-2.0 * centres.T)
        moved = np.zeros(len(self.blocks), bool)

        def of_block(rows: slice) -> Floats:
            E, w = self.E[rows], self.weights[rows]
            distance = E @ twice
            distance += norms
            labels = distance.argmin(axis=1)
            self.away[rows] = distance[np.arange(len(E)), labels]
            moved[rows.start // _BLOCK] = (labels != self.labels[rows]).any()
            self.labels[rows] = labels
            inside = np.zeros((len(E), k))
            inside[np.arange(len(E)), labels] = w
            return np.column_stack([inside.T @ E, inside.sum(axis=0)]).ravel()

        sums = self._sum_of(of_block, k * (d + 1)).reshape(k, d + 1)
        totals, mass = sums[:, :d], sums[:, d]
        refilled = self._fill_empty(totals, mass)
        means = np.divide(totals, mass[:, None], out=centres.copy(), where=mass[:, None] > 0)
        return bool(moved.any()) or refilled, means

    def _fill_empty(self, totals: Floats, mass: Floats) -> bool:
        """Move the rows farthest from their centres to the clusters without any, in the sums."""
        empty = np.flatnonzero(np.bincount(self.labels, minlength=self.k) == 0)
        if not empty.size:
            return False
        lengths = (self.E * self.E).sum(axis=1) + self.away
        for cluster, row in zip(empty, np.argsort(-lengths, kind="stable"), strict=False):
            old, w = self.labels[row], self.weights[row]
            for c, sign in ((old, -1.0), (cluster, 1.0)):
                totals[c] += sign * w * self.E[row]
                mass[c] += sign * w
            self.labels[row] = cluster
        return True

    def _sum_of(self, of_block: Any, size: int) -> Floats:
        """Sum over blocks of what a call makes of each, added in a tree."""
        parts = np.empty((len(self.blocks), size))

        def turn(at: int) -> None:
            for number in range(at, len(self.blocks), self.team.size):
                parts[number] = of_block(self.blocks[number])

        self.team.run(turn)
        return add_in_tree(parts)
