"""Merge lists as SciPy writes them: sorted by height, clusters numbered in order of birth."""

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled


def linkage_table(
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    heights: NDArray[np.float64],
    weights: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """SciPy's linkage matrix (n - 1, 4) from n - 1 merges in any order.

    Parameters
    ----------
    left, right : (n - 1,) integers
        Any object of each of the two clusters that merge.
    heights : (n - 1,) float64
        Sorted here; merges of equal height keep the order they came in, so a cluster must
        come after those it is made of wherever heights tie.
    weights : (n,) integers, optional
        Multiplicity of each object; sizes of clusters (column 4) are sums of them.

    Examples
    --------
    >>> linkage_table(np.array([0, 1]), np.array([2, 0]), np.array([0.2, 0.5]))
    array([[0. , 2. , 0.2, 2. ],
           [1. , 3. , 0.5, 3. ]])
    """
    n = heights.size + 1
    sizes = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    order = np.argsort(heights, kind="stable")
    table = np.empty((n - 1, 4))
    table[:, 2] = heights[order]
    nodes, total = np.arange(2 * n - 1), np.empty(2 * n - 1)
    total[:n] = sizes
    # One type of numbers, whatever the caller's: compiled once.
    ends = np.asarray(left, np.int64)[order], np.asarray(right, np.int64)[order]
    _number_merges(*ends, nodes, total, table)
    return table


@compiled
def _find(parent, i):
    """Root of i; halves the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled(plain_up_to=20_000)
def _number_merges(left, right, parent, total, table):
    """Fill the two children (smaller number first) and the size of every merge."""
    n = left.shape[0] + 1
    for t in range(n - 1):
        a, b = _find(parent, left[t]), _find(parent, right[t])
        parent[a] = parent[b] = n + t
        total[n + t] = total[a] + total[b]
        table[t, 0], table[t, 1] = min(a, b), max(a, b)
        table[t, 3] = total[n + t]
