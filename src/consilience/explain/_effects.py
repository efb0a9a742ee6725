"""How far a group stands apart in one column, as an effect size with an interval.

One scale serves numbers and categories. Of numbers it is Cliff's delta: the chance that an object
of the group has the larger value than one of the rest, less the chance of the smaller. Of a
category it is the difference of its shares, which is Cliff's delta of "has it" as 0 and 1. Both
hang on no unit, on no outlier and on no shape of the values.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "Ranked",
    "Shares",
    "corrected",
    "quartiles",
    "rank_effects",
    "share_effects",
    "superiority_interval",
]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

# Halvings of an interval of length 1 until floats cannot be told apart.
_HALVINGS = 55
# Runs of equal values times groups that are looked at together.
_CELLS = 10**6


class Ranked(NamedTuple):
    """Columns of numbers, each group against the rest; arrays of shape (n_groups, n_columns).

    ``delta`` is Cliff's, ``low`` and ``high`` its interval, ``p`` of the rank-sum test, ``known``
    the values of each group. ``explained``, one a column, is the groups' share of the variance of
    the ranks, ``attainable`` what it would be if no two groups overlapped. NaN where the group or
    the rest has no value.
    """

    delta: Floats
    low: Floats
    high: Floats
    p: Floats
    known: Counts
    explained: Floats
    attainable: Floats


class Shares(NamedTuple):
    """Shares of objects, inside against outside: their difference, and the log odds ratio."""

    delta: Floats
    low: Floats
    high: Floats
    p: Floats
    log_odds: Floats
    log_odds_low: Floats
    log_odds_high: Floats


def quartiles(values: Floats) -> Floats:
    """Quartiles of each column, of what is not NaN, as (3, n_columns); NaN where nothing is."""
    if len(values) and not np.isnan(values).any():
        return np.asarray(np.quantile(values, (0.25, 0.5, 0.75), axis=0))
    bounds = np.full((3, values.shape[1]), np.nan)
    for j, column in enumerate(values.T):
        known = column[~np.isnan(column)]
        if len(known):
            bounds[:, j] = np.quantile(known, (0.25, 0.5, 0.75))
    return bounds


def rank_effects(
    values: Floats, groups: NDArray[np.integer], n_groups: int, *, level: float = 0.95
) -> Ranked:
    """Each group against the rest in every column of numbers.

    Parameters
    ----------
    values : array of shape (n_objects, n_columns)
        What is not finite is missing.
    groups : array of int of shape (n_objects,)
        0..n_groups-1; objects below 0 count nowhere.
    n_groups : int
    level : float
        Of the intervals.

    Notes
    -----
    The interval is `superiority_interval`, p the normal approximation of the rank-sum test with
    ties and a correction for continuity.

    Examples
    --------
    >>> effects = rank_effects(np.array([[1.0], [2], [3], [4]]), np.array([0, 0, 1, 1]), 2)
    >>> effects.delta.ravel().tolist(), effects.explained.tolist()
    ([-1.0, 1.0], [0.8])
    """
    d = values.shape[1]
    theta, variance = np.full((n_groups, d), np.nan), np.full((n_groups, d), np.nan)
    known, ties = np.zeros((n_groups, d), np.int64), np.zeros(d)
    explained, attainable = np.full(d, np.nan), np.full(d, np.nan)
    for j in range(d):
        used = np.isfinite(values[:, j]) & (groups >= 0)
        group = groups[used]
        # Equal values are one run: every sum below goes over runs.
        _, run = np.unique(values[used, j], return_inverse=True)
        total = np.bincount(run).astype(np.float64)
        rank = np.cumsum(total) - total / 2.0  # mean rank of a run, less one half
        known[:, j] = np.bincount(group, minlength=n_groups)
        step = max(1, _CELLS // max(len(total), 1))
        for g in range(0, n_groups, step):
            some = slice(g, min(g + step, n_groups))
            theta[some, j], variance[some, j] = _superiority(run, group, some, total, rank)
        ties[j] = float(np.sum(total**3 - total))
        sums = np.bincount(group, rank[run], minlength=n_groups)
        explained[j], attainable[j] = _explained(sums, known[:, j], rank, total)
    others = known.sum(axis=0) - known
    low, high = superiority_interval(theta, known, others, variance, level=level)
    p = _rank_sum_p(theta, known.astype(np.float64), others, ties)
    return Ranked(2 * theta - 1, 2 * low - 1, 2 * high - 1, p, known, explained, attainable)


def _superiority(
    run: Counts, group: NDArray[np.integer], some: slice, total: Floats, rank: Floats
) -> tuple[Floats, Floats]:
    """P(group > rest) + P(equal) / 2 of some groups, and its variance by DeLong's placements.

    From the run of equal values and the group of each object, all objects of each run, and the
    runs' ranks. NaN where one side has no value; the variance, where it has one only.
    """
    k = some.stop - some.start
    here = (group >= some.start) & (group < some.stop)
    cells = run[here] * k + (group[here] - some.start)
    own = np.bincount(cells, minlength=len(total) * k).reshape(len(total), k).astype(np.float64)
    below = np.cumsum(own, axis=0) - own / 2.0
    m = own.sum(axis=0)
    rest = total.sum() - m
    with np.errstate(divide="ignore", invalid="ignore"):
        above_rest = (rank[:, None] - below) / rest
        theta = np.einsum("rg,rg->g", own, above_rest) / m
        spread = np.einsum("rg,rg->g", own, (above_rest - theta) ** 2) / (m - 1)
        away = (below / m - (1 - theta)) ** 2
        spread_rest = np.einsum("rg,rg->g", total[:, None] - own, away) / (rest - 1)
        variance = spread / m + spread_rest / rest
    theta[(m < 1) | (rest < 1)] = np.nan
    variance[(m < 2) | (rest < 2)] = np.nan
    return theta, variance


def superiority_interval(
    theta: Floats,
    m: NDArray[np.number],
    n: NDArray[np.number],
    variance: Floats,
    *,
    level: float = 0.95,
) -> tuple[Floats, Floats]:
    """Interval of a probability of superiority, also where two samples do not overlap.

    Parameters
    ----------
    theta : array
        P(X > Y) + P(X = Y) / 2, as found in ``m`` values of X and ``n`` of Y.
    m, n : arrays
    variance : array
        DeLong's, of ``theta``; NaN where there is none.
    level : float

    Returns
    -------
    tuple of arrays
        Both ends, in [0, 1].

    Notes
    -----
    Newcombe's fifth method (2006), a score interval: it holds every value from which ``theta`` is
    no farther than so many standard errors *at that value*, and has a width where samples do not
    overlap and every estimated variance is 0. Its variance supposes alike spreads; where DeLong's
    is larger (a wide small group), it is made larger by the same factor, and the quantile is
    Student's with the degrees of freedom of the smaller sample.

    References
    ----------
    Newcombe (2006), Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic, part 2, Statistics in Medicine 25. DeLong, DeLong & Clarke-Pearson (1988),
    Biometrics 44.

    Examples
    --------
    >>> low, high = superiority_interval(np.array([1.0]), np.array([20]), np.array([30]),
    ...                                  np.array([0.0]))
    >>> low.round(2).tolist(), high.tolist()
    ([0.92], [1.0])
    """
    theta, m, n = (np.asarray(part, np.float64) for part in (theta, m, n))
    own = _score_variance(theta, m, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(own > 0, variance / own, 1.0)
        wide = np.isfinite(factor) & (factor > 1.0)
    tail = (1 + level) / 2
    z = np.where(wide, stats.t.ppf(tail, np.maximum(np.minimum(m, n) - 1, 1)), stats.norm.ppf(tail))
    reach = z * np.sqrt(np.where(wide, factor, 1.0))
    low = _score_end(theta, m, n, reach)
    high = 1.0 - _score_end(1.0 - theta, m, n, reach)
    return low, high


def _score_variance(theta: Floats, m: Floats, n: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = 1 + ((m + n) / 2 - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return np.asarray(theta * (1 - theta) / (m * n) * pairs)


def _score_end(theta: Floats, m: Floats, n: Floats, reach: Floats) -> Floats:
    """The value below ``theta`` that lies ``reach`` of its own standard errors away."""
    near, far = theta.copy(), np.zeros_like(theta)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        inside = theta - middle <= reach * np.sqrt(_score_variance(middle, m, n))
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.where(np.isnan(theta), np.nan, near)


def _rank_sum_p(theta: Floats, m: Floats, n: Floats, ties: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        both = m + n
        variance = (both + 1 - ties / (both * (both - 1))) / (12 * m * n)
        away = np.maximum(np.abs(theta - 0.5) - 0.5 / (m * n), 0.0)
        p = 2 * stats.norm.sf(away / np.sqrt(variance))
    # Equal values only: nothing tells anything apart.
    return np.where(np.isnan(theta), np.nan, np.where(variance > 0, p, 1.0))


def _explained(
    sums: NDArray[Any], known: Counts, rank: Floats, total: Floats
) -> tuple[float, float]:
    """Share of the variance of the ranks between the groups, and the most it could be.

    The most, if the same ranks were dealt to the groups in the order of their means. NaN of a
    constant.
    """
    n = total.sum()
    mean = float(total @ rank) / n if n else 0.0
    whole = float(total @ (rank - mean) ** 2)
    if not whole > 0:
        return float("nan"), float("nan")
    there = known > 0
    sizes, means = known[there], sums[there] / known[there]
    order = np.argsort(means)
    dealt = np.concatenate([[0.0], np.cumsum(np.repeat(rank, total.astype(np.int64)))])
    ends = np.concatenate([[0], np.cumsum(sizes[order])])
    best = np.diff(dealt[ends]) / sizes[order]
    between, most = (
        float(weights @ (values - mean) ** 2)
        for weights, values in ((sizes, means), (sizes[order], best))
    )
    return min(between / whole, 1.0), min(most / whole, 1.0)


def share_effects(
    inside: NDArray[np.integer],
    n_inside: NDArray[np.integer],
    outside: NDArray[np.integer],
    n_outside: NDArray[np.integer],
    *,
    level: float = 0.95,
) -> Shares:
    """Shares inside a group against those outside, of any shape.

    Parameters
    ----------
    inside, outside : arrays of int
        Objects that have it.
    n_inside, n_outside : arrays of int
        All objects of which it is known.
    level : float
        Of the intervals.

    Notes
    -----
    The interval of the difference is Newcombe's hybrid of two score intervals (1998, method 10);
    one half is added to all four counts for the log odds ratio and its interval (Gart 1966), so
    that both are finite; p is Fisher's exact, twice the smaller tail. NaN where one side is
    empty.

    Examples
    --------
    >>> effects = share_effects(*np.array([[9], [10], [1], [10]]))
    >>> effects.delta.tolist(), effects.log_odds.round(2).tolist()
    ([0.8], [3.69])
    """
    a, m, c, n = np.broadcast_arrays(
        *(np.asarray(part, np.float64) for part in (inside, n_inside, outside, n_outside))
    )
    z = stats.norm.ppf((1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        own, other = a / m, c / n
        own_low, own_high = _wilson(own, m, z)
        other_low, other_high = _wilson(other, n, z)
        delta = own - other
        low = delta - np.hypot(own - own_low, other_high - other)
        high = delta + np.hypot(own_high - own, other - other_low)
        odds = np.log((a + 0.5) * (n - c + 0.5) / ((m - a + 0.5) * (c + 0.5)))
        error = np.sqrt(1 / (a + 0.5) + 1 / (m - a + 0.5) + 1 / (c + 0.5) + 1 / (n - c + 0.5))
        p = _exact_p(a, m, c, n)
    empty = (m == 0) | (n == 0)
    parts = (delta, low.clip(-1, 1), high.clip(-1, 1), p, odds, odds - z * error, odds + z * error)
    return Shares(*(np.where(empty, np.nan, part) for part in parts))


def _wilson(share: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Rounding must not lift an end over a share of 0 or 1.
    return np.minimum(middle - half, share), np.maximum(middle + half, share)


def _exact_p(a: Floats, m: Floats, c: Floats, n: Floats) -> Floats:
    """Twice the smaller tail of the hypergeometric distribution.

    Of each combination of counts once: of thousands of words most are alike in them.
    """
    counts = np.stack([part.ravel() for part in (a, m, c, n)])
    different, place = np.unique(counts, axis=1, return_inverse=True)
    x, drawn, other, left = different
    dealt = stats.hypergeom(drawn + left, x + other, drawn)
    above = x * (drawn + left) > drawn * (x + other)  # the tail away from the mean is the smaller
    tail = np.where(above, dealt.sf(x - 1), dealt.cdf(x))
    return np.asarray(np.minimum(2 * tail, 1.0)[place.ravel()].reshape(a.shape))


def corrected(p: Floats) -> Floats:
    """Benjamini-Hochberg's corrected p-values over all comparisons; NaN are none of them.

    >>> corrected(np.array([0.01, 0.04, np.nan, 0.03])).round(3).tolist()
    [0.03, 0.04, nan, 0.04]
    """
    known = np.isfinite(p)
    adjusted = np.full(p.shape, np.nan)
    if known.any():
        adjusted[known] = stats.false_discovery_control(p[known])
    return adjusted
