"""Modes of a density over a graph of neighbours: which objects belong to which hill.

Objects come from the highest to the lowest. Each joins the hill of its highest neighbour that has
come; where hills meet, the lower one is given up unless it stands out of the place where they meet.
So one pass over the edges is enough, and a hill is judged when it meets another for the first time
and at every later place, which is lower and lets it stand out more.
"""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["hills"]


@compiled
def hills(order, heights, starts, neighbours, depth, least):
    """Fill and return for each object the top of its hill, the index of an object.

    ``order`` are the objects by falling height, the neighbours of i (both ways) are
    ``neighbours[starts[i] : starts[i + 1]]``. A hill of fewer than ``least`` objects goes to the
    one that it meets. Of others that meet, both stay if the lower top is ``depth`` above the
    place; or if it is more than half of that, and the smaller of the two is one and a half
    times as deep.
    """
    n = order.shape[0]
    parent = np.arange(n)
    sizes = np.zeros(n, np.int64)
    rank = np.empty(n, np.int64)
    for r in range(n):
        rank[order[r]] = r
    for r in range(n):
        i = order[r]
        best = i
        for e in range(starts[i], starts[i + 1]):
            if rank[neighbours[e]] < rank[best]:
                best = neighbours[e]
        own = _top(parent, best)
        parent[i] = own
        sizes[own] += 1
        for e in range(starts[i], starts[i + 1]):
            if rank[neighbours[e]] >= r:
                continue
            other = _top(parent, neighbours[e])
            own = _top(parent, i)
            if other == own:
                continue
            high, low = (own, other) if rank[own] < rank[other] else (other, own)
            if not _stay(heights, sizes, high, low, heights[i], depth, least):
                parent[low] = high
                sizes[high] += sizes[low]
    for i in range(n):
        parent[i] = _top(parent, i)
    return parent


@compiled
def _stay(heights, sizes, high, low, place, depth, least):
    """Whether two hills that meet are two."""
    if sizes[low] < least or sizes[high] < least:
        return False
    stands = heights[low] - place
    smaller = low if sizes[low] <= sizes[high] else high
    return stands >= depth or (stands >= 0.57 * depth and heights[smaller] - place >= 1.43 * depth)


@compiled
def _top(parent, i):
    """The top of the hill of i; the way there is shortened."""
    top = i
    while parent[top] != top:
        top = parent[top]
    while parent[i] != top:
        step = parent[i]
        parent[i] = top
        i = step
    return top
