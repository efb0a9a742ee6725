"""Sums over all pairs that the binomial model of co-association needs, a block of objects a call.

One idea: a group of objects lies side by side in lanes, all others pass by one after the
other, and everything that happens to a pair happens to all lanes at once. No sum runs across
lanes, each runs over the others in their order, so that nothing depends on blocks or threads.

The model: a member joins i and j with probability p = rate1 * s + rate0 * t, where
s = sum_k y_ik y_jk is the chance that both are in one cluster and t = sum_k y_ik z_jk,
z_jk = sum of y_jl over l != k, that they are not. The published model has rates 0 and 1.
Neither 1 - p nor 1 - y is ever formed by subtraction: all terms are at least 0.
"""

import math

import numpy as np

from consilience.kernels._jit import compiled

__all__ = [
    "LANES",
    "growth_rows",
    "inside_rows",
    "lane_counts",
    "likelihood_rows",
    "load_lanes",
    "others",
    "rate_rows",
    "total_rows",
    "xlog",
]

# Objects side by side: their tables stay in the first cache, their loops fill vector registers.
LANES = 64
# Below every probability that can occur; division by it stands for division by zero.
TINY = 1e-300


@compiled
def others(Y, Z):
    """Fill Z[i, k] with the sum of Y[i, l] over l != k, without subtraction."""
    n, n_clusters = Y.shape
    for i in range(n):
        before = 0.0
        for k in range(n_clusters):
            Z[i, k] = before
            before += Y[i, k]
        behind = 0.0
        for k in range(n_clusters - 1, -1, -1):
            Z[i, k] += behind
            behind += Y[i, k]


@compiled
def load_lanes(Y, first, tile):
    """Lay objects first, first + 1, ... into lanes: tile[k, lane]."""
    for lane in range(tile.shape[1]):
        for k in range(tile.shape[0]):
            tile[k, lane] = Y[first + lane, k]


@compiled
def _meet(Y, Z, j, tile, s, t):
    """Chances that object j and each lane are in one cluster (s), and that they are not (t)."""
    n_clusters, m = tile.shape
    for lane in range(m):
        s[lane] = 0.0
        t[lane] = 0.0
    # Four clusters a turn: the sums go to memory and back a fourth as often.
    for k in range(0, n_clusters - 3, 4):
        y0, y1, y2, y3 = Y[j, k], Y[j, k + 1], Y[j, k + 2], Y[j, k + 3]
        z0, z1, z2, z3 = Z[j, k], Z[j, k + 1], Z[j, k + 2], Z[j, k + 3]
        a, b, c, d = tile[k], tile[k + 1], tile[k + 2], tile[k + 3]
        for lane in range(m):
            s[lane] += y0 * a[lane] + y1 * b[lane] + y2 * c[lane] + y3 * d[lane]
            t[lane] += z0 * a[lane] + z1 * b[lane] + z2 * c[lane] + z3 * d[lane]
    for k in range(n_clusters - n_clusters % 4, n_clusters):
        y, z, row = Y[j, k], Z[j, k], tile[k]
        for lane in range(m):
            s[lane] += y * row[lane]
            t[lane] += z * row[lane]


@compiled
def _gather(Y, Z, j, s, t, total):
    """Add the pull of object j, towards its clusters and away from them, to all lanes."""
    n_clusters, m = total.shape
    for k in range(0, n_clusters - 1, 2):
        y0, y1, z0, z1 = Y[j, k], Y[j, k + 1], Z[j, k], Z[j, k + 1]
        a, b = total[k], total[k + 1]
        for lane in range(m):
            a[lane] += s[lane] * y0 + t[lane] * z0
            b[lane] += s[lane] * y1 + t[lane] * z1
    if n_clusters % 2 == 1:
        y, z, row = Y[j, n_clusters - 1], Z[j, n_clusters - 1], total[n_clusters - 1]
        for lane in range(m):
            row[lane] += s[lane] * y + t[lane] * z


@compiled
def lane_counts(joined, seen, j, first, n_members, c, r):
    """Members that joined object j and each lane (c), and that saw and parted them (r)."""
    # Slices, not sums of indices: the loops vectorise, and are three times as fast.
    row = joined[j, first : first + c.shape[0]]
    if seen.shape[0] == 0:
        for lane in range(row.shape[0]):
            c[lane] = row[lane]
            r[lane] = n_members - c[lane]
    else:
        both = seen[j, first : first + c.shape[0]]
        for lane in range(row.shape[0]):
            c[lane] = row[lane]
            r[lane] = both[lane] - c[lane]


@compiled(error_model="numpy")
def _pull(s, t, c, r, weight, rate0, rate1):
    """Turn s and t into the pull of object j towards its clusters, and away from them."""
    for lane in range(s.shape[0]):
        p = rate1 * s[lane] + rate0 * t[lane]
        q = (1.0 - rate1) * s[lane] + (1.0 - rate0) * t[lane]
        together = weight * c[lane] / max(p, TINY)
        parted = weight * r[lane] / max(q, TINY)
        s[lane] = rate1 * together + (1.0 - rate1) * parted
        t[lane] = rate0 * together + (1.0 - rate0) * parted


@compiled
def growth_rows(joined, seen, column, start, stop, n_members, weights, own, Y, Z, rates, G):
    """Fill G of objects start..stop-1: the derivative of the log-likelihood as a polynomial.

    Parameters
    ----------
    joined, seen : (n, n_columns) unsigned integers
        Counts; column ``column`` is object ``start``. ``seen`` of shape (0, 0) means that
        ``n_members`` saw every pair.
    weights : (n,) float64
        How many equal objects each stands for.
    own : (n,) float64
        (weight - 1) * members that saw it: the pairs inside a group of equal objects.
    Y, Z : (n, n_clusters) float64
        Soft assignment, and its `others`.
    rates : (2,) float64
        Rates of joining across clusters and inside one.
    G : (n, n_clusters) float64
        Per object of a group. Along directions whose entries add up to 0 it is the
        gradient of the log-likelihood; ``Y * G`` adds up to the number of observations.
    """
    n, n_clusters = Y.shape
    rate0, rate1 = rates[0], rates[1]
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile, total = np.empty((n_clusters, m)), np.zeros((n_clusters, m))
        s, t, c, r = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        load_lanes(Y, first, tile)
        for j in range(n):
            _meet(Y, Z, j, tile, s, t)
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            _pull(s, t, c, r, weights[j], rate0, rate1)
            if first <= j < first + m:
                s[j - first] = 0.0
                t[j - first] = 0.0
            _gather(Y, Z, j, s, t, total)
        for lane in range(m):
            i = first + lane
            p = 0.0
            for k in range(n_clusters):
                p += Y[i, k] * (rate1 * Y[i, k] + rate0 * Z[i, k])
            for k in range(n_clusters):
                inside = rate1 * Y[i, k] + rate0 * Z[i, k]
                G[i, k] = total[k, lane] + own[i] * inside / max(p, TINY)


@compiled
def xlog(count, p):
    """``count * log(p)`` with 0 log 0 = 0."""
    if count <= 0.0:
        return 0.0
    return count * math.log(p) if p > 0.0 else -math.inf


@compiled
def likelihood_rows(joined, seen, column, start, stop, n_members, weights, own, Y, Z, rates, out):
    """Fill ``out`` of objects start..stop-1 with the log-likelihood of their later pairs.

    Arguments as in `growth_rows`; ``out`` is (n,). Pairs inside a group belong to it.
    """
    n, n_clusters = Y.shape
    rate0, rate1 = rates[0], rates[1]
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile = np.empty((n_clusters, m))
        s, t, c, r = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        load_lanes(Y, first, tile)
        for lane in range(m):
            i = first + lane
            p = 0.0
            for k in range(n_clusters):
                p += Y[i, k] * (rate1 * Y[i, k] + rate0 * Z[i, k])
            out[i] = 0.5 * weights[i] * xlog(own[i], p)
        for j in range(first + 1, n):
            _meet(Y, Z, j, tile, s, t)
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            for lane in range(min(m, j - first)):
                p = rate1 * s[lane] + rate0 * t[lane]
                q = (1.0 - rate1) * s[lane] + (1.0 - rate0) * t[lane]
                value = xlog(c[lane], p) + xlog(r[lane], q)
                out[first + lane] += weights[first + lane] * weights[j] * value


@compiled(error_model="numpy")
def rate_rows(joined, seen, column, start, stop, n_members, weights, own, Y, Z, rates, out):
    """Fill ``out`` (n, 4) of objects start..stop-1 with expected counts of the two rates.

    For each object, over all its pairs (each pair comes twice): joined across clusters, all
    across, joined inside a cluster, all inside. Arguments as in `growth_rows`.
    """
    n, n_clusters = Y.shape
    rate0, rate1 = rates[0], rates[1]
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile = np.empty((n_clusters, m))
        s, t, c, r = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
        total = np.zeros((4, m))
        load_lanes(Y, first, tile)
        for j in range(n):
            _meet(Y, Z, j, tile, s, t)
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            if first <= j < first + m:
                c[j - first] = own[j] / max(weights[j], 1.0)
                r[j - first] = 0.0
            for lane in range(m):
                p = rate1 * s[lane] + rate0 * t[lane]
                q = (1.0 - rate1) * s[lane] + (1.0 - rate0) * t[lane]
                together = weights[j] * c[lane] / max(p, TINY)
                parted = weights[j] * r[lane] / max(q, TINY)
                across, inside = rate0 * t[lane] * together, rate1 * s[lane] * together
                total[0, lane] += across
                total[1, lane] += across + (1.0 - rate0) * t[lane] * parted
                total[2, lane] += inside
                total[3, lane] += inside + (1.0 - rate1) * s[lane] * parted
        for lane in range(m):
            for e in range(4):
                out[first + lane, e] = weights[first + lane] * total[e, lane]


@compiled
def total_rows(joined, seen, column, start, stop, n_members, weights, own, out):
    """Fill ``out`` (n, 3) of objects start..stop-1: observations, how many joined, pairs seen.

    Per object of a group, over all other objects, those of its group included.
    """
    n = weights.shape[0]
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        c, r = np.empty(m), np.empty(m)
        for lane in range(m):
            out[first + lane, 0] = own[first + lane]
            out[first + lane, 1] = own[first + lane]
            out[first + lane, 2] = weights[first + lane] - 1.0
        for j in range(n):
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            for lane in range(m):
                if first + lane != j and c[lane] + r[lane] > 0.0:
                    out[first + lane, 0] += weights[j] * (c[lane] + r[lane])
                    out[first + lane, 1] += weights[j] * c[lane]
                    out[first + lane, 2] += weights[j]


@compiled(error_model="numpy")
def inside_rows(joined, seen, column, start, stop, n_members, weights, own, labels, out):
    """Fill ``out`` (n, 2) of objects start..stop-1 from pairs with equal labels.

    The sum of joined / seen over the pairs that somebody saw, and how many these are; each
    pair comes twice, once for either object.
    """
    n = weights.shape[0]
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        c, r = np.empty(m), np.empty(m)
        for lane in range(m):
            i = first + lane
            pairs = weights[i] * (weights[i] - 1.0) if own[i] > 0.0 else 0.0
            out[i, 0] = pairs
            out[i, 1] = pairs
        for j in range(n):
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            for lane in range(m):
                i = first + lane
                if i != j and labels[i] == labels[j] and c[lane] + r[lane] > 0.0:
                    pairs = weights[i] * weights[j]
                    out[i, 0] += pairs * c[lane] / (c[lane] + r[lane])
                    out[i, 1] += pairs
