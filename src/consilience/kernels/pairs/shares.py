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
        # Looked up: as exact as a division, and faster.
        values = np.arange(n_members + 1).astype(dtype) / out.dtype.type(n_members)
        in_turns(lambda at, step: _of_all(flat, values, at, step, out), n_blocks, n_jobs)
    else:
        both = seen.reshape(-1)
        in_turns(lambda at, step: _of_seen(flat, both, at, step, out), n_blocks, n_jobs)
    return shares


@compiled
def _of_all(joined, values, first, step, out):
    for start in range(first * BLOCK, out.shape[0], step * BLOCK):
        for j in range(start, min(out.shape[0], start + BLOCK)):
            out[j] = values[joined[j]]


@compiled
def _of_seen(joined, seen, first, step, out):
    for start in range(first * BLOCK, out.shape[0], step * BLOCK):
        for j in range(start, min(out.shape[0], start + BLOCK)):
            # Divided in the type of the shares, as numpy would.
            out[j] = joined[j]
            if seen[j] > 0:
                out[j] = out[j] / out.dtype.type(seen[j])
