"""Squared error between co-association and soft assignment: its sums, and its pair steps.

The loss is the sum of v (S - p)^2 over all ordered pairs, S = joined / seen, p = sum_k y_ik y_jk
and v = 1, or the members that saw the pair; pairs nobody saw have v = 0. Blocks, lanes and
groups of equal objects are those of `consilience.kernels.peace.growth`.
"""

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.peace.growth import LANES, lane_counts, load_lanes
from consilience.kernels.peace.pair_steps import column_gaps, lane_total, pair_ends, worst_object
from consilience.kernels.peace.rows import row_counts, row_room

__all__ = ["quartic_change", "square_rows", "square_step", "square_steps"]


@compiled
def _together(Y, j, tile, p):
    """Chances that object j and each lane are in one cluster."""
    n_clusters, m = tile.shape
    for lane in range(m):
        p[lane] = 0.0
    for k in range(n_clusters):
        y, row = Y[j, k], tile[k]
        for lane in range(m):
            p[lane] += y * row[lane]


@compiled
def square_rows(joined, seen, column, start, stop, n_members, weights, own, Y, by_seen, out):
    """Fill ``out`` (n, n_clusters + 1) of objects start..stop-1.

    The first columns hold G, a quarter of the falling slope of the loss for one object of a
    group; the last one the loss of the group's ordered pairs. Arguments as in
    `consilience.kernels.peace.growth.growth_rows`; ``by_seen`` weights pairs by the members
    that saw them.
    """
    n, n_clusters = Y.shape
    for first in range(start, stop, LANES):
        m = min(LANES, stop - first)
        tile, total, loss = np.empty((n_clusters, m)), np.zeros((n_clusters, m)), np.zeros(m)
        p, c, r = np.empty(m), np.empty(m), np.empty(m)
        load_lanes(Y, first, tile)
        for j in range(n):
            _together(Y, j, tile, p)
            lane_counts(joined, seen, j, column + first - start, n_members, c, r)
            if first <= j < first + m:
                c[j - first] = 0.0
                r[j - first] = 0.0
            for lane in range(m):
                count = c[lane] + r[lane]
                weight = weights[j] * (count if by_seen else min(count, 1.0))
                error = c[lane] / max(count, 1.0) - p[lane]
                p[lane] = weight * error
                loss[lane] += p[lane] * error
            for k in range(n_clusters):
                y, row = Y[j, k], total[k]
                for lane in range(m):
                    row[lane] += p[lane] * y
        for lane in range(m):
            i = first + lane
            square = 0.0
            for k in range(n_clusters):
                square += Y[i, k] * Y[i, k]
            error = (own[i] if by_seen else weights[i] - 1.0) * (1.0 - square)
            for k in range(n_clusters):
                out[i, k] = total[k, lane] + error * Y[i, k]
            out[i, n_clusters] = weights[i] * (loss[lane] + error * (1.0 - square))


@compiled
def quartic_change(step, slope, bend, inside, lean, square):
    """Change of the halved loss by a step; see `square_step`."""
    # The difference of two squares as a product: tiny steps must not vanish in rounding.
    longer = 2.0 * step * (lean + step)
    group = longer * (2.0 * (1.0 - square) - longer)
    return step * (step * bend - 2.0 * slope) - 0.5 * inside * group


@compiled
def square_step(mass, slope, bend, inside, lean, square):
    """The mass to move so that the loss falls, at most ``mass``; 0 if it cannot fall.

    ``slope`` and ``bend`` are the sums of weight * error * d and of weight * d^2 over the
    other objects, ``inside`` the weight of the pairs in the object's own group, ``lean`` the
    difference of the two masses and ``square`` the squared length of the column. Without
    pairs inside the loss is a parabola; they make it a polynomial of degree four.
    """
    if inside <= 0.0:
        if slope <= 0.0:
            return 0.0
        return mass if slope >= mass * bend else slope / bend
    low, high = 0.0, mass
    for _ in range(60):
        here = 0.5 * (low + high)
        rest = 1.0 - square - 2.0 * here * (lean + here)
        if slope - here * bend + inside * rest * (lean + 2.0 * here) > 0.0:
            low = here
        else:
            high = here
    best = low
    if quartic_change(mass, slope, bend, inside, lean, square) <= quartic_change(
        best, slope, bend, inside, lean, square
    ):
        best = mass
    for _ in range(60):
        if quartic_change(best, slope, bend, inside, lean, square) < 0.0:
            return best
        best *= 0.5
    return 0.0


@compiled
def _errors(Y, column, share, weight, error):
    """Fill weight * (share - p) for all objects and one with this column."""
    n_clusters, n = Y.shape
    for i in range(n):
        error[i] = 0.0
    for k in range(n_clusters):
        mass = column[k]
        if mass > 0.0:
            y = Y[k]
            for i in range(n):
                error[i] += mass * y[i]
    for i in range(n):
        error[i] = weight[i] * (share[i] - error[i])


@compiled
def _shares(joined, apart, by_seen):
    """Turn counts into co-association and the weight of each pair."""
    for i in range(joined.shape[0]):
        count = joined[i] + apart[i]
        joined[i] = joined[i] / max(count, 1.0)
        apart[i] = count if by_seen else min(count, 1.0)


@compiled
def _renew(J, old, new, was, now, weights, inside, Y, G, work):
    """Bring G up to date after object J went from column ``old`` to ``new``."""
    n_clusters, n = Y.shape
    square = 0.0
    for k in range(n_clusters):
        Y[k, J] = new[k]
        square += new[k] * new[k]
        if old[k] > 0.0 or new[k] > 0.0:
            a, b, g = weights[J] * new[k], weights[J] * old[k], G[k]
            for i in range(n):
                g[i] += now[i] * a - was[i] * b
    for k in range(n_clusters):
        y = Y[k]
        for i in range(n):
            work[i] = weights[i] * now[i] * y[i]
        G[k, J] = lane_total(work) + inside * (1.0 - square) * new[k]


@compiled
def square_steps(store, weights, inside, scale, by_seen, tol, n_steps, Y, G):
    """Take up to ``n_steps`` pair steps, until every gap is at most ``tol``.

    As `consilience.kernels.peace.pair_steps.pair_steps`; ``inside`` is the weight of the pairs in
    each group, for one of its objects. Steps taken, and the largest gap at the end.
    """
    n_clusters, n = Y.shape
    room, share, weight = row_room(store), np.empty(n), np.empty(n)
    was, now, work, change = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    old, new = np.empty(n_clusters), np.empty(n_clusters)
    gaps, stuck = np.empty(n), np.zeros(n, np.bool_)
    column_gaps(Y, G, scale, work, change, gaps)
    taken = 0
    while taken < n_steps:
        J = worst_object(gaps, stuck)
        if J < 0 or gaps[J] <= tol:
            break
        taken += 1
        up, down = pair_ends(Y, G, J)
        square = 0.0
        for k in range(n_clusters):
            old[k] = Y[k, J]
            new[k] = old[k]
            square += old[k] * old[k]
        row_counts(store, J, room, share, weight)
        _shares(share, weight, by_seen)
        _errors(Y, old, share, weight, was)
        for i in range(n):
            change[i] = Y[up, i] - Y[down, i]
            work[i] = weights[i] * was[i] * change[i]
            change[i] = weights[i] * weight[i] * change[i] * change[i]
        step = square_step(
            old[down], lane_total(work), lane_total(change), inside[J], old[up] - old[down], square
        )
        if step <= 0.0:
            stuck[J] = True
            continue
        new[up] = old[up] + step
        new[down] = 0.0 if step == old[down] else old[down] - step
        _errors(Y, new, share, weight, now)
        _renew(J, old, new, was, now, weights, inside[J], Y, G, work)
        column_gaps(Y, G, scale, work, change, gaps)
    return taken, gaps.max()
