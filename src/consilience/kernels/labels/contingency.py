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

# Tables of one member with so many others are made at once.
_AT_ONCE = 4


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
    # Objects that all count once are told by one number: nothing is read for each of them.
    once = weights is None or bool((weights == 1).all())
    w = np.ones(1) if once else np.ascontiguousarray(weights, np.float64)
    n_members = len(members)
    # A member with itself and with some later ones, those of most members first.
    groups = [(r, s) for r in range(n_members) for s in range(r, n_members, _AT_ONCE)]
    tasks, taken = np.array(groups, np.int64).reshape(-1, 2), counter()
    with Team(n_jobs, len(tasks)) as team:
        team.run(lambda _: _fill_groups(members, starts, w, tasks, taken, table))
    return table


@compiled
def _fill_groups(members, starts, weights, tasks, taken, table):
    """Fill the tables of a member and some others, as long as there are any."""
    n_members = members.shape[0]
    task = next_task(taken)
    while task < tasks.shape[0]:
        r, s = tasks[task]
        if s + _AT_ONCE <= n_members:
            _fill_four(members, starts, weights, r, s, table)
        else:
            for other in range(s, n_members):
                _fill_pair(members, starts, weights, r, other, table)
        task = next_task(taken)


@compiled
def _fill_four(members, starts, weights, r, s, table):
    """Tables of member r with members s to s + 3, whose labels and weights are read once.

    An addition to a cell waits for the last one to it: four tables at a time wait for each other
    less. Every cell gets the objects in their order, as from `_fill_pair`.
    """
    step = 0 if weights.shape[0] == 1 else 1
    one, k_r = members[r], starts[r + 1] - starts[r]
    first, second, third, fourth = members[s], members[s + 1], members[s + 2], members[s + 3]
    most = 0
    for q in range(s, s + _AT_ONCE):
        most = max(most, starts[q + 1] - starts[q])
    # One row and column more than clusters catches negative labels without a branch.
    small = np.zeros((_AT_ONCE, k_r + 1, most + 1))
    for i in range(members.shape[1]):
        a, weight = one[i], weights[i * step]
        a = k_r if a < 0 else a
        b, c, d, e = first[i], second[i], third[i], fourth[i]
        small[0, a, most if b < 0 else b] += weight
        small[1, a, most if c < 0 else c] += weight
        small[2, a, most if d < 0 else d] += weight
        small[3, a, most if e < 0 else e] += weight
    for q in range(_AT_ONCE):
        for a in range(k_r):
            for b in range(starts[s + q + 1] - starts[s + q]):
                table[starts[r] + a, starts[s + q] + b] = small[q, a, b]
                table[starts[s + q] + b, starts[r] + a] = small[q, a, b]


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
