"""All contingency tables of an ensemble at once: clusters x clusters, M = B^T diag(w) B.

B is the sparse matrix of objects x all clusters. Work is split by pairs of members, whose
tables are small and stay in cache, so that any number of threads gives the same sums.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task
from consilience.kernels.labels.cells import BEFORE, Tiles, cell, count_tile

__all__ = ["cluster_contingency", "first_columns"]

Labels = NDArray[np.signedinteger[Any]]


def first_columns(members: Labels) -> NDArray[np.int64]:
    """First column of each member among all clusters, and the number of clusters last."""
    counts = np.maximum(members.max(axis=1).astype(np.int64) + 1, 0)
    return np.concatenate([[0], np.cumsum(counts)])


def cluster_contingency(
    members: Labels,
    weights: NDArray[np.floating[Any]] | None = None,
    *,
    starts: NDArray[np.int64] | None = None,
    n_jobs: int = 1,
) -> NDArray[np.float64]:
    """Weight of the objects in both of two clusters, for all pairs of clusters.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) floats, optional
        1 for every object if not given: then the tables count objects, exactly.
    starts : (n_members + 1,) int64, optional
        What `first_columns` finds, where it is known.
    n_jobs : int, default=1
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters), float64
        Symmetric; the diagonal holds the clusters' weights; clusters of one member share
        nothing. Memory O(n_clusters ** 2).

    Examples
    --------
    >>> cluster_contingency(np.array([[0, 0, 1], [0, 1, 1]], np.int8)).astype(int)
    array([[2, 0, 1, 1],
           [0, 1, 0, 1],
           [1, 0, 1, 0],
           [1, 1, 0, 2]])
    """
    starts = first_columns(members) if starts is None else starts
    table = np.zeros((int(starts[-1]), int(starts[-1])))
    # Objects that all count once are told by one number: nothing is read for each of them.
    once = weights is None or bool((weights == 1).all())
    w = np.ones(1) if once else np.ascontiguousarray(weights, np.float64)
    pairs = np.stack(np.triu_indices(len(members)), axis=1).astype(np.int64)
    tiles, taken = Tiles.of(pairs, np.diff(starts) + BEFORE), counter()
    with Team(n_jobs, len(tiles.edges) - 1) as team:
        given = (members, starts, w, tuple(tiles.by_tile), tiles.edges)
        team.run(lambda _: _fill_tiles(*given, taken, table))
    return table


@compiled
def _fill_tiles(members, starts, weights, tables, edges, taken, table):
    """Fill the tables of some members with some others, as long as there are any."""
    pairs, places, strides, _ = tables
    tile = next_task(taken)
    while tile < edges.size - 1:
        first, last = edges[tile], edges[tile + 1]
        height = starts[pairs[last - 1, 0] + 1] - starts[pairs[last - 1, 0]] + BEFORE
        cells = np.zeros(places[last - 1] - places[first] + height * strides[last - 1])
        count_tile(members, weights, tables, first, last, cells)
        for p in range(first, last):
            r, s = pairs[p]
            at = cells[places[p] - places[first] :]
            _copy(at, strides[p], starts[r : r + 2], starts[s : s + 2], table)
        tile = next_task(taken)


@compiled
def _copy(cells, stride, rows, columns, table):
    """Write the clusters of a pair of members to both sides of the matrix."""
    for a in range(rows[1] - rows[0]):
        for b in range(columns[1] - columns[0]):
            value = cells[cell(a, b, stride)]
            table[rows[0] + a, columns[0] + b] = value
            table[columns[0] + b, rows[0] + a] = value
