"""The group of every object of the foreground, by the clusters it shares with the groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team

__all__ = ["most_shared"]

# Objects at a time: their sums stay in the nearest cache.
_BLOCK = 512
# Labels that are worth a thread.
_WORTH = 2**18


def most_shared(
    members: NDArray[Any], shares: list[NDArray[np.float64]], n_jobs: int | None = 1
) -> NDArray[np.int32]:
    """The group of each object whose shares in the object's clusters sum to most.

    Parameters
    ----------
    members : integer array of shape (n_members, n_objects)
    shares : list of ndarray of shape (n_clusters of the member, n_groups)
    n_jobs : int or None

    Returns
    -------
    ndarray of shape (n_objects,)
        Ties to the first group.

    Examples
    --------
    >>> shares = [np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5, 0.5]])]
    >>> most_shared(np.array([[0, 1, 1], [0, 0, 0]]), shares)
    array([0, 1, 1], dtype=int32)
    """
    first = np.cumsum([0, *map(len, shares[:-1])])
    stacked = np.ascontiguousarray(np.concatenate(shares))
    members = np.ascontiguousarray(members)
    groups = np.empty(members.shape[1], np.int32)
    n_blocks = -(-members.shape[1] // _BLOCK)
    with Team(n_jobs, min(n_blocks, -(-members.size // _WORTH))) as team:
        team.run(lambda at: _choose(members, first, stacked, at, team.size, groups))
    return groups


@compiled
def _choose(members, first, shares, at, step, groups):
    n, n_groups = members.shape[1], shares.shape[1]
    total = np.empty((_BLOCK, n_groups))
    for start in range(at * _BLOCK, n, step * _BLOCK):
        stop = min(start + _BLOCK, n)
        for i in range(stop - start):
            for g in range(n_groups):
                total[i, g] = 0.0
        for m in range(members.shape[0]):
            for i in range(start, stop):
                share = shares[first[m] + members[m, i]]
                for g in range(n_groups):
                    total[i - start, g] += share[g]
        for i in range(start, stop):
            best = 0
            for g in range(1, n_groups):
                if total[i - start, g] > total[i - start, best]:
                    best = g
            groups[i] = best
