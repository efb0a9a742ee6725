"""Partitioning around medoids of weighted objects: BUILD, then exchanges until none helps.

One sweep over the objects around a candidate yields the change in cost of exchanging it for *each*
medoid (Schubert & Rousseeuw): an object that the candidate draws away from its medoid counts for
all exchanges alike; everything else concerns only the exchange with the object's own medoid, whose
removal would send it to its second nearest.

Ties go to the smallest index everywhere: in BUILD, between exchanges (candidate first, then
medoid), and when objects are assigned to medoids.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.kernels._jit import compiled


class Medoids(NamedTuple):
    """What `pam` found: cluster c is the objects nearest to ``medoids[c]``."""

    medoids: NDArray[np.int64]
    """Object numbers of the k medoids, ascending."""
    labels: NDArray[np.int32]
    """Cluster of every object, 0..k-1; each medoid lies in its own cluster."""
    cost: float
    """Weighted sum of the distances to the nearest medoid."""
    n_swaps: int
    """Exchanges made after the start."""
    converged: bool
    """Whether no exchange lowers the cost any more; False if ``max_swaps`` cut in."""


def pam(
    distances: NDArray[Any],
    k: int,
    *,
    weights: ArrayLike | None = None,
    init: Literal["build"] | ArrayLike = "build",
    swap: Literal["faster", "best"] = "faster",
    max_swaps: int | None = None,
    tol: float = 1e-9,
) -> Medoids:
    """Medoids, labels and cost of a local optimum of the k-medoids problem.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64, float32 or integer
        Symmetric, finite, not negative, zero diagonal. Only read.
    k : int
        Number of clusters, 1 to n.
    weights : array-like of shape (n,), optional
        How many identical objects each row stands for, positive. One each by default.
    init : "build" or array-like of k distinct objects
        Where to start. BUILD takes the object nearest to all, then time and again the object that
        lowers the cost most.
    swap : {"faster", "best"}
        "best" makes the best of all exchanges each time, as plain PAM does and with the same result
        (FastPAM1): O(n²) a swap. "faster" makes any exchange that helps as soon as it is seen
        (FasterPAM): another local optimum of the same quality, in a few sweeps of O(n²) in all.
    max_swaps : int, optional
        Stop after so many exchanges. No limit by default: the cost falls with each one.
    tol : float, default 1e-9
        An exchange must gain more than this share of the largest distance.

    Returns
    -------
    Medoids
        With k distinct medoids always, also among objects at distance zero. k = 1 gives the global
        optimum.

    Notes
    -----
    Costs that differ by less than 1e-12 of the cost (float32: 1.2e-7) tie. Memory: a few arrays of
    length n besides ``distances``. BUILD keeps the gains of earlier rounds as upper bounds (a gain
    can only shrink) and computes few of them again, so it costs little more than O(n²).

    References
    ----------
    Kaufman & Rousseeuw (1990), Finding Groups in Data, chapter 2. Schubert & Rousseeuw (2021), Fast
    and eager k-medoids clustering, Information Systems 101, 101804.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> pam(np.abs(x[:, None] - x), 2)
    Medoids(medoids=array([1, 4]), labels=array([0, 0, 0, 1, 1, 1], dtype=int32), cost=4.0,
        n_swaps=1, converged=True)
    """
    n = len(distances)
    assert distances.shape == (n, n)
    assert 1 <= k <= n
    assert swap in ("faster", "best")
    counts = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    tie = float(np.finfo(np.float32).eps) if distances.dtype == np.float32 else 1e-12
    largest = float(distances.max())
    if isinstance(init, str):
        medoids = _build(distances, counts, k, tie)
    else:
        medoids = np.array(init, np.int64)
    assert medoids.shape == (k,)
    if k == 1:
        # There is no second nearest medoid to fall back on; but the optimum is BUILD's first.
        start, medoids = medoids, _build(distances, counts, 1, tie)
        n_swaps, converged = int(start[0] != medoids[0]), True
    else:
        limit = np.iinfo(np.int64).max if max_swaps is None else max_swaps
        search = _swap_best if swap == "best" else _swap_eagerly
        n_swaps, converged = search(distances, counts, medoids, tie, tol * largest, limit)
    medoids.sort()
    labels, cost = _assign(distances, counts, medoids, tie * largest)
    return Medoids(medoids, labels, float(cost), int(n_swaps), bool(converged))


@compiled
def _first_at_most(values, bound):
    for i in range(len(values)):
        if values[i] <= bound:
            return i
    return -1


@compiled
def _gain(row, weights, near):
    """How much the cost falls if the object of this row becomes one more medoid."""
    n = len(row)
    # Four sums side by side: one would wait for each addition to end.
    a = b = c = d = 0.0
    for o in range(0, n - 3, 4):
        a += weights[o] * max(0.0, near[o] - row[o])
        b += weights[o + 1] * max(0.0, near[o + 1] - row[o + 1])
        c += weights[o + 2] * max(0.0, near[o + 2] - row[o + 2])
        d += weights[o + 3] * max(0.0, near[o + 3] - row[o + 3])
    for o in range(n // 4 * 4, n):
        a += weights[o] * max(0.0, near[o] - row[o])
    return (a + b) + (c + d)


@compiled
def _gains(distances, weights, near):
    """`_gain` of every object.

    Object by object into all candidates at once (the matrix is symmetric): that loop vectorises.
    """
    n = len(distances)
    gains = np.zeros(n)
    for o in range(n):
        row, weight, d = distances[o], weights[o], near[o]
        for i in range(n):
            fall = d - row[i]
            gains[i] += weight * (fall if fall > 0.0 else 0.0)
    return gains


@compiled
def _totals(distances, weights):
    """Weighted sum of the distances to every object."""
    n = len(distances)
    totals = np.zeros(n)
    for o in range(n):
        row, weight = distances[o], weights[o]
        for i in range(n):
            totals[i] += weight * row[i]
    return totals


@compiled
def _build(distances, weights, k, tie):
    n = len(distances)
    medoids = np.empty(k, np.int64)
    totals = _totals(distances, weights)
    medoids[0] = _first_at_most(totals, totals.min() * (1.0 + tie))
    near = distances[medoids[0]].astype(np.float64)
    bound = _gains(distances, weights, near)
    bound[medoids[0]] = -np.inf
    for turn in range(1, k):
        slack = tie * np.sum(weights * near)
        best = _next_medoid(distances, weights, near, bound, slack)
        medoids[turn] = best
        bound[best] = -np.inf
        for o in range(n):
            near[o] = min(near[o], distances[best, o])
    return medoids


@compiled
def _next_medoid(distances, weights, near, bound, slack):
    """First object of the largest gain; ``bound`` holds gains of earlier turns, never too small."""
    best = -np.inf
    for i in np.argsort(-bound):
        if bound[i] < best - slack:
            break
        bound[i] = _gain(distances[i], weights, near)
        best = max(best, bound[i])
    return _first_at_most(-bound, slack - best)


@compiled
def _two_nearest(row, medoids):
    """Positions of the nearest and the second nearest medoid of one object."""
    first, second = (0, 1) if row[medoids[0]] <= row[medoids[1]] else (1, 0)
    for c in range(2, len(medoids)):
        d = row[medoids[c]]
        if d < row[medoids[first]]:
            first, second = c, first
        elif d < row[medoids[second]]:
            second = c
    return first, second


@compiled
def _start(distances, weights, medoids):
    """First and second medoid of each object, the distances to them, the loss of each medoid."""
    n = len(distances)
    ranks = np.empty((2, n), np.int64)
    near = np.empty((2, n))
    for o in range(n):
        ranks[0, o], ranks[1, o] = _two_nearest(distances[o], medoids)
        near[0, o] = distances[o, medoids[ranks[0, o]]]
        near[1, o] = distances[o, medoids[ranks[1, o]]]
    return ranks, near, _removal(weights, ranks, near, len(medoids))


@compiled
def _removal(weights, ranks, near, k):
    """What taking away each medoid costs."""
    removal = np.zeros(k)
    for o in range(len(weights)):
        removal[ranks[0, o]] += weights[o] * (near[1, o] - near[0, o])
    return removal


@compiled
def _exchange(row, weights, ranks, near, removal, change):
    """Change in cost when this row's object replaces each medoid, into ``change``; the smallest."""
    change[:] = removal
    shared = 0.0
    for o in range(len(row)):
        d = row[o]
        if d < near[1, o]:
            if d < near[0, o]:
                shared += weights[o] * (d - near[0, o])
                d = near[0, o]
            change[ranks[0, o]] += weights[o] * (d - near[1, o])
    change += shared
    return change.min()


@compiled
def _smallest_medoid(change, medoids, bound):
    """Position of the smallest medoid whose exchange changes the cost by at most ``bound``."""
    best = -1
    for c in range(len(medoids)):
        if change[c] <= bound and (best < 0 or medoids[c] < medoids[best]):
            best = c
    return best


@compiled
def _replace(distances, weights, medoids, c, new, ranks, near):
    """Make ``new`` the medoid at position c; update the neighbours, return the removal losses."""
    medoids[c] = new
    for o in range(len(distances)):
        d = np.float64(distances[new, o])
        if ranks[0, o] != c and d < near[0, o]:
            ranks[1, o], near[1, o] = ranks[0, o], near[0, o]
            ranks[0, o], near[0, o] = c, d
        elif ranks[0, o] == c and d <= near[1, o]:
            near[0, o] = d
        elif ranks[0, o] != c and d <= near[1, o]:
            ranks[1, o], near[1, o] = c, d
        elif ranks[0, o] == c or ranks[1, o] == c:
            ranks[0, o], ranks[1, o] = _two_nearest(distances[o], medoids)
            near[0, o] = distances[o, medoids[ranks[0, o]]]
            near[1, o] = distances[o, medoids[ranks[1, o]]]
    return _removal(weights, ranks, near, len(medoids))


@compiled
def _swap_best(distances, weights, medoids, tie, threshold, max_swaps):
    """FastPAM1: the best exchange of all, until none gains more than the threshold."""
    n = len(distances)
    ranks, near, removal = _start(distances, weights, medoids)
    change, best = np.empty(len(medoids)), np.empty(n)
    n_swaps = 0
    while True:
        for x in range(n):
            best[x] = _exchange(distances[x], weights, ranks, near, removal, change)
        best[medoids] = np.inf
        if best.min() >= -threshold:
            return n_swaps, True
        if n_swaps >= max_swaps:
            return n_swaps, False
        # A tied exchange must itself gain enough, or the search could go round in circles.
        slack = tie * np.sum(weights * near[0])
        bound = min(best.min() + slack, np.nextafter(-threshold, -np.inf))
        x = _first_at_most(best, bound)
        _exchange(distances[x], weights, ranks, near, removal, change)
        c = _smallest_medoid(change, medoids, bound)
        removal = _replace(distances, weights, medoids, c, x, ranks, near)
        n_swaps += 1


@compiled
def _swap_eagerly(distances, weights, medoids, tie, threshold, max_swaps):
    """FasterPAM: every exchange that gains more than the threshold, as soon as it is seen."""
    n = len(distances)
    ranks, near, removal = _start(distances, weights, medoids)
    change = np.empty(len(medoids))
    chosen = np.zeros(n, np.bool_)
    chosen[medoids] = True
    x, idle, n_swaps = 0, 0, 0
    while idle < n:
        idle += 1
        if not chosen[x]:
            least = _exchange(distances[x], weights, ranks, near, removal, change)
            if least < -threshold:
                if n_swaps >= max_swaps:
                    return n_swaps, False
                slack = tie * np.sum(weights * near[0])
                bound = min(least + slack, np.nextafter(-threshold, -np.inf))
                c = _smallest_medoid(change, medoids, bound)
                chosen[medoids[c]] = False
                chosen[x] = True
                removal = _replace(distances, weights, medoids, c, x, ranks, near)
                n_swaps += 1
                idle = 0
        x = (x + 1) % n
    return n_swaps, True


@compiled
def _assign(distances, weights, medoids, slack):
    """Nearest medoid of every object, the first on ties, and the cost; medoids keep themselves."""
    n, k = len(distances), len(medoids)
    labels = np.empty(n, np.int32)
    cost = 0.0
    for o in range(n):
        least = np.float64(distances[o, medoids[0]])
        for c in range(1, k):
            least = min(least, np.float64(distances[o, medoids[c]]))
        cost += weights[o] * least
        c = 0
        while distances[o, medoids[c]] > least + slack:
            c += 1
        labels[o] = c
    for c in range(k):
        labels[medoids[c]] = c
    return labels, cost
