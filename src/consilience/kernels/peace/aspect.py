"""Sums over all pairs that the aspect model of co-clustered pairs needs.

A pair that was put together is a draw from P(i, j) = sum_r a_ir b_jr, with b_r a distribution
over objects and a_ir = p_r b_ir. Counts are scaled to the same number of members for all
pairs. Blocks, lanes and groups are those of `consilience.kernels.peace.growth`.
"""

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.peace.growth import LANES, TINY, lane_counts, load_lanes, xlog

__all__ = ["aspect_likelihood_rows", "aspect_rows"]


@compiled
def _draws(B, j, tile, joined, seen, column, n_members, P, c, r):
    """Chances of object j and each lane (P), and how often they were drawn (c)."""
    n_clusters, m = tile.shape
    for lane in range(m):
        P[lane] = 0.0
    for k in range(n_clusters):
        b, row = B[j, k], tile[k]
        for lane in range(m):
            P[lane] += b * row[lane]
    lane_counts(joined, seen, j, column, n_members, c, r)
    if seen.shape[0] > 0:
        for lane in range(m):
            c[lane] = c[lane] * n_members / max(c[lane] + r[lane], 1.0)


@compiled(error_model="numpy")
def aspect_rows(joined, seen, column, start, stop, n_members, weights, own, A, B, out):
    """Fill ``out`` (n, n_clusters) of objects start..stop-1: the pull on b of each object.

    Sum over the others of weight * count / P * b; ``A * out`` are expected draws.
    """
    n, n_clusters = B.shape
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile, total = np.empty((n_clusters, m)), np.zeros((n_clusters, m))
        P, c, r = np.empty(m), np.empty(m), np.empty(m)
        load_lanes(A, first, tile)
        for j in range(n):
            _draws(B, j, tile, joined, seen, column + first - start, n_members, P, c, r)
            if first <= j < first + m:
                # Pairs of equal objects: joined by all members that saw them.
                c[j - first] = (weights[j] - 1.0) * n_members / weights[j]
            for lane in range(m):
                P[lane] = weights[j] * c[lane] / max(P[lane], TINY)
            for k in range(n_clusters):
                b, row = B[j, k], total[k]
                for lane in range(m):
                    row[lane] += P[lane] * b
        for lane in range(m):
            for k in range(n_clusters):
                out[first + lane, k] = total[k, lane]


@compiled
def aspect_likelihood_rows(joined, seen, column, start, stop, n_members, weights, own, A, B, out):
    """Fill ``out`` (n,) of objects start..stop-1: the sum of count * log P over ordered pairs.

    Each pair is counted, twice, at its earlier object.
    """
    n, n_clusters = B.shape
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile = np.empty((n_clusters, m))
        P, c, r = np.empty(m), np.empty(m), np.empty(m)
        load_lanes(A, first, tile)
        for lane in range(m):
            out[first + lane] = 0.0
        for j in range(first, n):
            _draws(B, j, tile, joined, seen, column + first - start, n_members, P, c, r)
            for lane in range(min(m, j - first)):
                pairs = 2.0 * weights[first + lane] * weights[j]
                out[first + lane] += pairs * xlog(c[lane], P[lane])
            if j < first + m:
                inside = (weights[j] - 1.0) * n_members
                out[j] += weights[j] * xlog(inside, P[j - first])
