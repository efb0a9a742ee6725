"""k-means of many weighted rows from given centres: a pass over the rows and their sums."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, add_in_tree, n_blocks_of
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team, by_rows
from consilience.kernels._tasks import counter, next_task
from consilience.kernels.data.columns import column_facts

__all__ = ["weighted_kmeans"]

Floats = NDArray[np.float64]

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
    E : ndarray of shape (n_rows, d), float64, C order
    centres : ndarray of shape (k, d)
    weights : ndarray of shape (n_rows,) or None
        How much each row counts in the means; 1 if not given.
    max_iter : int
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_rows,), int32
        Ties go to the smaller number. A cluster left empty takes the row farthest from its
        centre, whatever its weight; ends when no label changes or, as in scikit-learn, the squared
        moves of the centres add up to at most 1e-4 of the mean variance of the columns.

    Examples
    --------
    >>> E = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> weighted_kmeans(E, E[:2], None, max_iter=100)
    array([0, 0, 1, 1], dtype=int32)
    """
    E = np.ascontiguousarray(E, np.float64)
    w = np.ones(len(E)) if weights is None else np.ascontiguousarray(weights, np.float64)
    tol = _TOL * float(column_facts(E, n_jobs=n_jobs).variance.mean())
    labels, away = np.full(len(E), -1, np.int32), np.empty(len(E))
    with Team(n_jobs, n_blocks_of(len(E))) as team:
        for _ in range(max_iter):
            moved, fresh = _pass(team, E, w, centres, labels, away)
            shift = float(((fresh - centres) ** 2).sum())
            centres = fresh
            if not moved:
                return labels
            if shift <= tol:
                break
        _pass(team, E, w, centres, labels, away)
    return labels


def _pass(
    team: Team, E: Floats, weights: Floats, centres: Floats, labels: NDArray[np.int32], away: Floats
) -> tuple[bool, Floats]:
    """Give every row its nearest centre: whether any label changed, and the new centres."""
    (k, d), step = centres.shape, team.size
    norms, twice = (centres * centres).sum(axis=1), np.ascontiguousarray(-2.0 * centres.T)
    # The blocks, and the order in which their sums are added, are those of any team.
    parts, moved = np.zeros((n_blocks_of(len(E)), k, d + 1)), np.zeros(step, np.int64)
    held, taken = np.zeros((step, k), np.int64), counter()
    given = (E, weights, twice, norms, taken)
    team.run(lambda at: _assign(*given, labels, away, moved[at : at + 1], held[at], parts))
    sums = add_in_tree(parts)
    totals, mass = sums[:, :d], sums[:, d]
    empty = np.flatnonzero(held.sum(axis=0) == 0)
    filled = empty.size > 0
    if filled:
        _fill(empty, E, weights, labels, away, totals, mass, n_jobs=step)
    means = np.divide(totals, mass[:, None], out=centres.copy(), where=mass[:, None] > 0)
    return bool(moved.any()) or filled, means


@compiled
def _assign(E, weights, twice, norms, taken, labels, away, moved, held, parts):
    """Nearest centres of one block of rows after the other, and each block's weighted sums.

    Distances to all centres side by side; without the row's own length, the same for all.
    """
    (n, d), k = E.shape, norms.size
    distance = np.empty(k)
    block = next_task(taken)
    while block < parts.shape[0]:
        for i in range(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, n)):
            for q in range(k):
                distance[q] = norms[q]
            for f in range(d):
                for q in range(k):
                    distance[q] += E[i, f] * twice[f, q]
            best = 0
            for q in range(1, k):
                if distance[q] < distance[best]:
                    best = q
            away[i] = distance[best]
            if labels[i] != best:
                labels[i] = best
                moved[0] += 1
            held[best] += 1
            for f in range(d):
                parts[block, best, f] += weights[i] * E[i, f]
            parts[block, best, d] += weights[i]
        block = next_task(taken)


def _fill(
    empty: NDArray[np.intp],
    E: Floats,
    weights: Floats,
    labels: NDArray[np.int32],
    away: Floats,
    totals: Floats,
    mass: Floats,
    n_jobs: int,
) -> None:
    """Move the rows farthest from their centres to these clusters, also in the sums."""
    lengths = np.empty(len(E))

    def measure(rows: slice) -> None:
        lengths[rows] = np.einsum("ij,ij->i", E[rows], E[rows]) + away[rows]

    by_rows(measure, len(E), n_jobs)
    for cluster in empty:
        row = int(lengths.argmax())
        lengths[row] = -np.inf
        for c, sign in ((labels[row], -1.0), (cluster, 1.0)):
            totals[c] += sign * weights[row] * E[row]
            mass[c] += sign * weights[row]
        labels[row] = cluster
