"""Counts of pairs as shares: one pass, in the order of memory, by several threads."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns

Counts = NDArray[np.integer[Any]]
Shares = NDArray[np.floating[Any]]

# Pairs that a thread turns into shares before it takes its next turn: memory is written in order,
# and the last turns are short.
BLOCK = 1 << 18


def shares_of(
    joined: Counts,
    seen: Counts | None,
    n_members: int,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = 1,
) -> Shares:
    """Members that joined each pair, as a share of those that saw it (0 / 0 is 0), or of all.

    Parameters
    ----------
    joined : integers of any shape, C-contiguous
        0 to ``n_members``.
    seen : like ``joined``, or None
        None divides by ``n_members``.
    n_members : int
    dtype : floating-point type
        Of the shares.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Examples
    --------
    >>> shares_of(np.array([0, 1, 2]), None, 2)
    array([0. , 0.5, 1. ])
    >>> shares_of(np.array([0, 1, 2]), np.array([0, 1, 4]), 4)
    array([0. , 1. , 0.5])
    """
    shares = np.empty(joined.shape, dtype)
    flat, out = joined.reshape(-1), shares.reshape(-1)
    n_blocks = -(-flat.size // BLOCK)
    if seen is None:
        in_turns(lambda at, step: _of_all(flat, n_members, at, step, out), n_blocks, n_jobs)
    else:
        both = seen.reshape(-1)
        in_turns(lambda at, step: _of_seen(flat, both, at, step, out), n_blocks, n_jobs)
    return shares


@compiled(plain_up_to=500_000)
def _of_all(joined, n_members, first, step, out):
    # Divided several at once by the processor, which looking up in a table is not.
    whole = out.dtype.type(n_members)
    for start in range(first * BLOCK, out.shape[0], step * BLOCK):
        # Slices: of positions that count from 0 the compiler knows that they are not negative.
        counts, shares = joined[start : start + BLOCK], out[start : start + BLOCK]
        for j in range(shares.shape[0]):
            shares[j] = shares.dtype.type(counts[j]) / whole


@compiled
def _of_seen(joined, seen, first, step, out):
    for start in range(first * BLOCK, out.shape[0], step * BLOCK):
        counts, shares = joined[start : start + BLOCK], out[start : start + BLOCK]
        both = seen[start : start + BLOCK]
        for j in range(shares.shape[0]):
            # Divided in the type of the shares, as numpy would; nobody joins what nobody saw.
            shares[j] = shares.dtype.type(counts[j]) / shares.dtype.type(max(both[j], 1))
