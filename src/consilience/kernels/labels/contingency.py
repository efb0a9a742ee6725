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

__all__ = ["cluster_contingency", "first_columns"]

Labels = NDArray[np.signedinteger[Any]]


def first_columns(members: Labels) -> NDArray[np.int64]:
    """First column of each member among all clusters, and the number of clusters last."""
    counts = np.maximum(members.max(axis=1).astype(np.int64) + 1, 0)
    return np.concatenate([[0], np.cumsum(counts)])


def cluster_contingency(
    members: Labels, weights: NDArray[np.floating[Any]] | None = None, *, n_jobs: int = 1
) -> NDArray[np.float64]:
    """Weight of the objects in both of two clusters, for all pairs of clusters.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; negative labels are in no cluster.
    weights : (n_objects,) floats, optional
        1 for every object if not given: then the tables count objects, exactly.
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
    starts = first_columns(members)
    table = np.zeros((int(starts[-1]), int(starts[-1])))
    w = np.ones(1) if weights is None else np.ascontiguousarray(weights, np.float64)
    pairs = np.stack(np.triu_indices(len(members)), axis=1)
    taken = counter()
    with Team(n_jobs, len(pairs)) as team:
        team.run(lambda _: _fill_pairs(members, starts, w, pairs, taken, table))
    return table


@compiled
def _fill_pairs(members, starts, weights, pairs, taken, table):
    """Fill the tables of pairs of members, as long as there are any."""
    pair = next_task(taken)
    while pair < pairs.shape[0]:
        _fill_pair(members, starts, weights, pairs[pair, 0], pairs[pair, 1], table)
        pair = next_task(taken)


@compiled
def _fill_pair(members, starts, weights, r, s, table):
    step = 0 if weights.shape[0] == 1 else 1
    one, other = members[r], members[s]
    k_r, k_s = starts[r + 1] - starts[r], starts[s + 1] - starts[s]
    # One row and column more than clusters catches negative labels without a branch.
    small = np.zeros((k_r + 1, k_s + 1))
    for i in range(members.shape[1]):
        a, b = one[i], other[i]
        a = k_r if a < 0 else a
        b = k_s if b < 0 else b
        small[a, b] += weights[i * step]
    for a in range(k_r):
        for b in range(k_s):
            table[starts[r] + a, starts[s] + b] = small[a, b]
            table[starts[s] + b, starts[r] + a] = small[a, b]
