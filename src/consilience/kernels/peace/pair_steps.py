"""Pair steps: move mass between two clusters of the object furthest from its optimum.

The published iteration of PEACE with its signs put right, for groups of equal objects and
for any two rates of joining (see `consilience.kernels.peace.growth` for the model). A step
costs O(n) for each cluster in which the object has mass, and one row of counts.

Everything lies cluster-major here, (n_clusters, n): a step changes few clusters of all
objects.
"""

import math

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.peace.rows import row_counts, row_room

__all__ = [
    "LEFT",
    "best_step",
    "column_gaps",
    "lane_total",
    "line_gain",
    "line_slope",
    "pair_ends",
    "pair_steps",
    "worst_object",
]

TINY = 1e-300
# A step leaves at least this share of the probability of an event that was observed: at
# zero the log-likelihood has a wall, which rounding must not turn into a slope.
LEFT = 1e-10
# The slope left at the end of a step, relative to that at its start.
FLAT = 1e-3
# A step is known to this share of the mass it could move.
NARROW = 1e-12


@compiled
def column_gaps(Y, G, scale, low, high, gaps):
    """Fill the gap of each object: the best derivative less the worst where there is mass.

    In units of ``scale``, the observations of the object; 0 where it has none.
    """
    n_clusters, n = Y.shape
    for i in range(n):
        low[i] = math.inf
        high[i] = -math.inf
    for k in range(n_clusters):
        y, g = Y[k], G[k]
        for i in range(n):
            high[i] = max(high[i], g[i])
            low[i] = min(low[i], g[i] if y[i] > 0.0 else math.inf)
    for i in range(n):
        gaps[i] = (high[i] - low[i]) / scale[i] if scale[i] > 0.0 else 0.0


@compiled
def lane_total(values):
    """Sum of the values, in four sums taken in turn: additions do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    m = values.shape[0]
    for e in range(0, m - 3, 4):
        a += values[e]
        b += values[e + 1]
        c += values[e + 2]
        d += values[e + 3]
    for e in range(m - m % 4, m):
        a += values[e]
    return (a + b) + (c + d)


@compiled(error_model="numpy")
def line_slope(step, line, m, own):
    """Slope of the log-likelihood along a step, and the slope's own slope.

    ``line`` is (7, at least m): for m objects whose probability the step changes p,
    q = 1 - p, the change of p per unit, their weighted counts joined and apart; the last two
    rows are room to work in. ``own`` describes the pairs inside the object's group: how
    many, half the change of the squared length per unit, its square, and the two rates.
    """
    p, q, d, joined, apart = line[0, :m], line[1, :m], line[2, :m], line[3, :m], line[4, :m]
    slopes, bends = line[5, :m], line[6, :m]
    for e in range(m):
        x, z = p[e] + step * d[e], q[e] - step * d[e]
        inverse = d[e] / (x * z)
        up, down = joined[e] * z * inverse, apart[e] * x * inverse
        slopes[e] = up - down
        bends[e] = (up * z + down * x) * inverse
    slope, bend = lane_total(slopes), -lane_total(bends)
    if own[0] > 0.0:
        share = own[4] - own[3]
        inside = own[3] + share * (own[2] + 2.0 * step * (own[1] + step))
        lean = own[1] + 2.0 * step
        slope += own[0] * share * lean / inside
        bend += own[0] * share * 2.0 * (1.0 - share * lean * lean / inside) / inside
    return slope, bend


@compiled
def line_gain(step, line, m, own):
    """Growth of the log-likelihood by a step; arguments as in `line_slope`."""
    total = 0.0
    for e in range(m):
        change = step * line[2, e]
        if line[3, e] > 0.0:
            total += line[3, e] * math.log1p(change / line[0, e])
        if line[4, e] > 0.0:
            total += line[4, e] * math.log1p(-change / line[1, e])
    if own[0] > 0.0:
        share = own[4] - own[3]
        before = own[3] + share * own[2]
        total += 0.5 * own[0] * math.log1p(2.0 * share * step * (own[1] + step) / before)
    return total


@compiled
def _reach(mass, line, m):
    """The longest step that keeps every observed event possible, at most ``mass``."""
    far = mass
    for e in range(m):
        d = line[2, e]
        if d < 0.0 and line[3, e] > 0.0:
            far = min(far, (1.0 - LEFT) * line[0, e] / -d)
        elif d > 0.0 and line[4, e] > 0.0:
            far = min(far, (1.0 - LEFT) * line[1, e] / d)
    return far


@compiled
def _rise(mass, line, m, own):
    """A step to where the log-likelihood stops rising, at most ``mass``; 0 if it cannot rise.

    Newton's steps inside a bracket, which is halved when they leave it. The end on the
    rising side is taken: on a concave line the log-likelihood has certainly grown.
    """
    far = _reach(mass, line, m)
    start, bend = line_slope(0.0, line, m, own)
    if far <= 0.0 or start <= 0.0:
        return 0.0
    if line_slope(far, line, m, own)[0] >= 0.0:
        return far
    low, high = 0.0, far
    here = min(-start / bend, 0.5 * far) if bend < 0.0 else 0.5 * far
    for _ in range(100):
        slope, bend = line_slope(here, line, m, own)
        if slope >= 0.0:
            low = here
        else:
            high = here
        if high - low <= NARROW * mass or 0.0 <= slope <= FLAT * start:
            break
        change = -slope / bend if bend < 0.0 else 0.0
        # Close on the falling side twice as far: the next point should be on the rising one.
        here += 2.0 * change if slope < 0.0 and change > -1e-6 * mass else change
        if not low < here < high:
            here = 0.5 * (low + high)
    return low


@compiled
def best_step(mass, line, m, own):
    """The mass to move so that the log-likelihood grows, at most ``mass``; 0 if it cannot.

    Arguments as in `line_slope`. Without pairs inside a group the line is concave and the
    step goes to its top; they make it bend both ways, and the step is halved until it pays.
    """
    step = _rise(mass, line, m, own)
    if own[0] <= 0.0:
        return step
    for _ in range(60):
        if step <= 0.0 or line_gain(step, line, m, own) > 0.0:
            return step
        step *= 0.5
    return 0.0


@compiled
def _chances(Y, Z, column, rates, p, q):
    """Chances that a member joins (p) or parts (q) each object and one with this column."""
    n_clusters, n = Y.shape
    for i in range(n):
        p[i] = 0.0
        q[i] = 0.0
    for k in range(n_clusters):
        mass = column[k]
        if mass > 0.0:
            y, z = Y[k], Z[k]
            for i in range(n):
                p[i] += mass * y[i]
                q[i] += mass * z[i]
    if rates[0] != 0.0 or rates[1] != 1.0:
        for i in range(n):
            s, t = p[i], q[i]
            p[i] = rates[1] * s + rates[0] * t
            q[i] = (1.0 - rates[1]) * s + (1.0 - rates[0]) * t


@compiled
def _lay_line(up, down, joined, apart, weights, p, q, share, room):
    """Pack the objects that a step from ``down`` to ``up`` touches; their number."""
    m = 0
    for i in range(p.shape[0]):
        d = share * (up[i] - down[i])
        if d != 0.0 and joined[i] + apart[i] > 0.0:
            # What was not observed has no weight: any probability that stays above zero will do.
            room[0, m] = p[i] if joined[i] > 0.0 else 2.0
            room[1, m] = q[i] if apart[i] > 0.0 else 2.0
            room[2, m] = d
            room[3, m] = weights[i] * joined[i]
            room[4, m] = weights[i] * apart[i]
            m += 1
    return m


@compiled(error_model="numpy")
def _renew(J, old, new, joined, apart, weights, own, rates, before, after, Y, Z, G):
    """Bring G up to date after object J went from column ``old`` to ``new``.

    ``before`` and ``after`` hold p and q for both columns. The counts of J with itself are 0.
    """
    n_clusters, n = Y.shape
    share = rates[1] - rates[0]
    was, now = before[0], after[0]
    for i in range(n):
        was[i] = share * (joined[i] / max(was[i], TINY) - apart[i] / max(before[1][i], TINY))
        now[i] = share * (joined[i] / max(now[i], TINY) - apart[i] / max(after[1][i], TINY))
    weight = weights[J]
    for k in range(n_clusters):
        if old[k] > 0.0 or new[k] > 0.0:
            a, b, g = weight * new[k], weight * old[k], G[k]
            for i in range(n):
                g[i] += now[i] * a - was[i] * b
    inside = 0.0
    for k in range(n_clusters):
        Y[k, J] = new[k]
        inside += new[k] * new[k]
    inside = rates[0] + share * inside
    for i in range(n):
        now[i] *= weights[i]
    for k in range(n_clusters):
        y = Y[k]
        for i in range(n):
            was[i] = now[i] * y[i]
        G[k, J] = lane_total(was) + own[J] * share * new[k] / inside
        rest = 0.0
        for other in range(n_clusters):
            if other != k:
                rest += new[other]
        Z[k, J] = rest


@compiled
def worst_object(gaps, stuck):
    """The object with the largest gap that is not stuck, the first on ties; -1 if all are."""
    J = -1
    for i in range(gaps.shape[0]):
        if not stuck[i] and (J < 0 or gaps[i] > gaps[J]):
            J = i
    return J


@compiled
def pair_ends(Y, G, J):
    """The cluster object J should gain, and the one with mass it should lose."""
    up, down = 0, -1
    for k in range(Y.shape[0]):
        if G[k, J] > G[up, J]:
            up = k
        if Y[k, J] > 0.0 and (down < 0 or G[k, J] < G[down, J]):
            down = k
    return up, down


@compiled
def pair_steps(store, weights, own, scale, rates, tol, n_steps, Y, Z, G):
    """Take up to ``n_steps`` pair steps, until every gap is at most ``tol``.

    Parameters
    ----------
    store : Store
    weights, own : (n,) float64
        See `consilience.kernels.peace.growth.growth_rows`.
    scale : (n,) float64
        Observations of each object.
    rates : (2,) float64
    Y, Z, G : (n_clusters, n) float64
        Assignment, its others and G; all three are moved along.

    Returns
    -------
    int, float
        Steps taken, and the largest gap that G shows at the end.
    """
    n_clusters, n = Y.shape
    room, line = row_room(store), np.empty((7, n))
    joined, apart = np.empty(n), np.empty(n)
    before, after = (np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    old, new, facts = np.empty(n_clusters), np.empty(n_clusters), np.empty(5)
    gaps, stuck = np.empty(n), np.zeros(n, np.bool_)
    column_gaps(Y, G, scale, before[0], before[1], gaps)
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
        row_counts(store, J, room, joined, apart)
        _chances(Y, Z, old, rates, before[0], before[1])
        share = rates[1] - rates[0]
        m = _lay_line(Y[up], Y[down], joined, apart, weights, before[0], before[1], share, line)
        facts[0], facts[1], facts[2] = own[J], old[up] - old[down], square
        facts[3], facts[4] = rates[0], rates[1]
        step = best_step(old[down], line, m, facts)
        if step <= 0.0:
            stuck[J] = True
            continue
        new[up] = old[up] + step
        new[down] = 0.0 if step == old[down] else old[down] - step
        _chances(Y, Z, new, rates, after[0], after[1])
        _renew(J, old, new, joined, apart, weights, own, rates, before, after, Y, Z, G)
        column_gaps(Y, G, scale, before[0], before[1], gaps)
    return taken, gaps.max()
