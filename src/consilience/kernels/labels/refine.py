"""Numbers for objects that depend on neither the names of clusters nor any order.

Colour refinement of the graph of objects and clusters: a cluster is known by the objects in it, an
object by the clusters it is in, and both are told apart a little better in every round. The first
round knows clusters by size, the next by which sizes their objects are used to, and so on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["refined_keys"]

# Random ensembles of a hundred objects are told apart after two rounds; one to spare.
_ROUNDS = 3
_PRIME, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def refined_keys(
    members: NDArray[np.signedinteger[Any]], counts: NDArray[np.integer[Any]]
) -> NDArray[np.uint64]:
    """A 64-bit key of every label row, the same whatever clusters and rows are numbered.

    Parameters
    ----------
    members : ndarray of shape (n_members, n_rows)
        Labels; -1 is noise, -2 unseen.
    counts : ndarray of shape (n_rows,)
        How many objects have each row.

    Returns
    -------
    ndarray of shape (n_rows,), uint64
        Also the same for members in another order. Rows that a symmetry of the ensemble
        exchanges have equal keys; so have some others that refinement cannot tell apart.

    Examples
    --------
    >>> keys = refined_keys(np.array([[0, 0, 1], [0, 1, 1]], np.int8), np.array([1, 1, 5]))
    >>> other = refined_keys(np.array([[1, 1, 0], [1, 0, 0]], np.int8), np.array([1, 1, 5]))
    >>> (keys == other).all().item(), len(set(keys.tolist()))
    (True, 3)
    """
    widths = members.max(axis=1).astype(np.int64).clip(-1) + 1
    keys = np.zeros(members.shape[1], np.uint64)
    table = np.empty(int(widths.max(initial=0)) + 2, np.uint64)
    with np.errstate(over="ignore"):  # sums wrap around; plain numpy would warn of it
        for _ in range(_ROUNDS):
            keys = _refine(members, counts.astype(np.uint64), keys, table)
    return keys


@compiled
def _mix(value):
    """A value that tells nothing of the one it comes from."""
    mixed = (value ^ np.uint64(0x243F6A8885A308D3)) * _PRIME
    mixed = (mixed ^ (mixed >> _SHIFT)) * _PRIME
    return mixed ^ (mixed >> _SHIFT)


@compiled(plain_up_to=50_000)
def _refine(members, counts, keys, table):
    """One round: sums over the objects of clusters, then over the clusters of objects.

    Sums of mixed keys, because a sum does not know its order.
    """
    n_members, n_rows = members.shape
    mixed = np.empty(n_rows, np.uint64)
    for i in range(n_rows):
        mixed[i] = _mix(keys[i]) * counts[i]
    new_keys, two = np.zeros(n_rows, np.uint64), np.int64(2)
    for r in range(n_members):
        table[:] = np.uint64(0)
        labels = members[r]
        for i in range(n_rows):
            table[labels[i] + two] += mixed[i]
        for x in range(table.shape[0]):
            # Noise and unseen are no clusters: who else is in them says nothing.
            table[x] = _mix(table[x]) if x > 1 else np.uint64(x)
        for i in range(n_rows):
            new_keys[i] += table[labels[i] + two]
    return new_keys
