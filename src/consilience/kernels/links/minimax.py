"""Visual assessment on a distance matrix: the order, and minimax path distances from it.

In an order grown by Prim's algorithm every set of objects linked by steps of at most h is one
run of positions: a growing tree takes all it can reach with such steps before it takes a longer
one. So the smallest possible longest step between positions q < t is the largest of the lengths
at which positions q + 1 .. t were appended, and the whole iVAT picture follows from those n
lengths alone, each row by itself.
"""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["minimax_block_sums", "minimax_rows", "prim_dense"]


@compiled
def prim_dense(distances, start):
    """Order, parent positions and lengths of a tree grown over a square matrix.

    The nearest object comes next, the smallest index on ties; its parent is the earliest of
    the nearest ones, -1 for the first. Reads each row once; O(n) memory.
    """
    n = distances.shape[0]
    order, parent, length = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n)
    best, link = np.full(n, np.inf), np.full(n, -1, np.int64)
    waiting = np.ones(n, np.bool_)
    current = start
    for t in range(n):
        order[t] = current
        parent[t] = link[current]
        if t > 0:
            length[t] = best[current]
        waiting[current] = False
        row = distances[current]
        nearest = -1
        for j in range(n):
            if waiting[j]:
                if row[j] < best[j]:
                    best[j] = row[j]
                    link[j] = t
                if nearest < 0 or best[j] < best[nearest]:
                    nearest = j
        current = nearest
    return order, parent, length


@compiled
def minimax_rows(length, start, stop, out):
    """Fill ``out`` with rows start..stop-1 of the minimax distances between positions.

    ``length`` holds the length at which each position was appended; the first is not used.
    """
    n = length.shape[0]
    for t in range(start, stop):
        row = out[t - start]
        row[t] = 0.0
        longest = 0.0
        for q in range(t + 1, n):
            longest = max(longest, length[q])
            row[q] = longest
        longest = 0.0
        for q in range(t - 1, -1, -1):
            longest = max(longest, length[q + 1])
            row[q] = longest


@compiled
def minimax_block_sums(length, edges, out):
    """Fill ``out`` with sums of minimax distances over blocks of positions.

    Block I is edges[I]..edges[I + 1] - 1. Takes O(n * n_blocks + n ** 2 / n_blocks) time: of
    two blocks, the way out of the first only shortens and the way into the second only
    lengthens along the positions, so their maxima are summed by merging two sorted lists.
    """
    n_blocks = edges.shape[0] - 1
    for a in range(n_blocks):
        out[a, a] = 2.0 * _sum_within(length, edges[a], edges[a + 1])
        ways_out = _ways_out(length, edges[a], edges[a + 1])
        rest = ways_out.sum()
        n_below = 0  # ways out that are no longer than the way in, so far
        way_in = 0.0
        for b in range(a + 1, n_blocks):
            total = 0.0
            for t in range(edges[b], edges[b + 1]):
                way_in = max(way_in, length[t])
                while n_below < ways_out.shape[0] and ways_out[n_below] <= way_in:
                    rest -= ways_out[n_below]
                    n_below += 1
                if n_below == ways_out.shape[0]:
                    rest = 0.0  # what rounding left over
                total += n_below * way_in + rest
            out[a, b] = total
            out[b, a] = total


@compiled
def _sum_within(length, first, last):
    """Sum over pairs of positions inside one block, each pair once."""
    total = 0.0
    for q in range(first, last):
        longest = 0.0
        for t in range(q + 1, last):
            longest = max(longest, length[t])
            total += longest
    return total


@compiled
def _ways_out(length, first, last):
    """Longest step from each position to the end of its block, shortest first."""
    ways = np.empty(last - first)
    longest = 0.0
    for q in range(last - 1, first - 1, -1):
        ways[last - 1 - q] = longest
        longest = max(longest, length[q])
    return ways
