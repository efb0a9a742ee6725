"""A table that is cut into blocks in any way, and what k-means finds of it in memory."""

import numpy as np

from consilience.engines.cpu import Cpu
from consilience.kernels._blocks import BLOCK_ROWS

RNG = np.random.default_rng(0)
N = 4 * BLOCK_ROWS + 321
X = RNG.permutation(np.concatenate([RNG.normal(c, 0.7, (-(-N // 4), 3)) for c in (0, 2, 4, 6)])[:N])
STARTS = [X[:3], X[[5, 6000, 9000, 12000]], np.repeat(X[:1], 3, axis=0)]
SOME = [None, np.arange(7, N, 3), np.arange(4000, 9000)]


def chunked(values, sizes):
    """A Dask array of blocks whose sizes are in these proportions, some maybe empty."""
    import dask.array as da

    edges = np.concatenate([[0], np.cumsum(sizes)]) / max(sum(sizes), 1)
    counts = np.diff((edges * len(values)).astype(int))
    counts[-1] += len(values) - counts.sum()
    return da.from_array(values, chunks=(tuple(map(int, counts)), (1, 2)))


def runs_in_memory():
    """Exact k-means in memory."""
    return Cpu(X).lloyd(STARTS, objects=SOME)


def check_same(one, other):
    """Two runs of k-means are the same, bit for bit."""
    np.testing.assert_array_equal(one.labels, other.labels)
    for a, b in zip(one.centres, other.centres, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("inertia", "n_iter", "converged"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
