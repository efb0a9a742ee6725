"""Which of several parts an object goes to: that of the largest share, ties by a hash."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.labels.signatures import hash_of, hash_rows

__all__ = ["most_shared"]

# What the parts add to a hash, and what scatters it: the increment and finaliser of splitmix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BY_30, _BY_27, _BY_31 = np.uint64(30), np.uint64(27), np.uint64(31)


def most_shared(
    shares: NDArray[np.float64],
    members: NDArray[np.signedinteger[Any]],
    seed: int,
    labels: NDArray[np.int32],
) -> None:
    """Fill ``labels`` with the part of each object's largest share.

    Ties go by a hash of the object's labels, the part and the seed: they hang neither on the order
    of the objects nor on that of the parts, and equal objects stay together.

    Parameters
    ----------
    shares : (n_objects, n_parts) float64
    members : (n_members, n_objects) signed integers
    seed : int
    labels : (n_objects,) int32
        Where to write.
    """
    with np.errstate(over="ignore"):  # the hash wraps around; plain numpy would warn of it
        _most_shared(shares, members, seed, labels)


def _most_shared_in_arrays(shares, members, seed, labels):
    labels[:] = shares.argmax(axis=1)
    best = shares[np.arange(len(shares)), labels]
    tied = np.flatnonzero((shares == best[:, None]).sum(axis=1) > 1)
    if tied.size:
        keys = np.empty(tied.size, np.uint64)
        hash_rows(np.ascontiguousarray(members[:, tied]), keys)
        salt = np.arange(1, shares.shape[1] + 1, dtype=np.uint64) * _STEP
        drawn = _scattered(keys[:, None] + salt[None, :] + np.uint64(seed))
        drawn[shares[tied] < best[tied, None]] = 0
        labels[tied] = drawn.argmax(axis=1)


def _scattered(keys):
    """64-bit keys mixed so that neighbours have nothing in common."""
    keys = (keys ^ (keys >> _BY_30)) * _FIRST
    keys = (keys ^ (keys >> _BY_27)) * _SECOND
    return keys ^ (keys >> _BY_31)


_scattered_one = compiled(_scattered)


@compiled(plain_up_to=400_000, plain=_most_shared_in_arrays)
def _most_shared(shares, members, seed, labels):
    """`most_shared`, object by object."""
    for i in range(labels.size):
        best, n_best = 0, 1
        for q in range(1, shares.shape[1]):
            if shares[i, q] > shares[i, best]:
                best, n_best = q, 1
            elif shares[i, q] == shares[i, best]:
                n_best += 1
        if n_best > 1:
            key, highest, largest = hash_of(members, i), np.uint64(0), shares[i, best]
            for q in range(best, shares.shape[1]):
                if shares[i, q] == largest:
                    drawn = _scattered_one(key + np.uint64(q + 1) * _STEP + np.uint64(seed))
                    if drawn > highest:
                        best, highest = q, drawn
        labels[i] = best
