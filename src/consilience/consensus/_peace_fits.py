"""Fits of the binomial model of co-association: growth of all columns, then pair steps."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._peace_pairs import Pairs
from consilience.kernels.peace.growth import growth_rows, likelihood_rows, others, rate_rows
from consilience.kernels.peace.pair_steps import column_gaps, pair_steps

__all__ = ["PUBLISHED", "Fit", "fit_peace", "gradient", "grow", "log_likelihood", "polish"]

Floats = NDArray[np.float64]

# Rates of joining across clusters and inside one, in the published model.
PUBLISHED = (0.0, 1.0)
# Growth ends when the log-likelihood gains less than this share of itself in so many sweeps.
GAIN, EVERY, LEAST = 1e-2, 10, 50
# Mass below this is none: growth never reaches zero, and tiny numbers are slow.
NO_MASS = 1e-100
# Pair steps between two fresh gradients.
REFRESH = 2000
# Rates stay this far from 0 and 1, and are known to the second number.
_RATE_EDGE, _RATE_TOL, _RATE_ROUNDS = 1e-9, 1e-5, 30


class Fit(NamedTuple):
    """One run: the soft assignment of the groups, what it reached, how it ended."""

    memberships: Floats
    objective: float
    gap: float | None
    converged: bool
    sweeps: int
    steps: int
    path: list[float]
    rates: tuple[float, float] | None = None


def _others(Y: Floats) -> Floats:
    Z = np.empty_like(Y)
    others(Y, Z)
    return Z


def gradient(pairs: Pairs, Y: Floats, rates: Floats) -> Floats:
    """The derivative of the log-likelihood for one object of each group, (n_groups, K).

    Up to a constant in each row: only differences between clusters mean something.
    """
    return pairs.over(growth_rows, np.empty_like(Y), Y, _others(Y), rates)


def log_likelihood(pairs: Pairs, Y: Floats, rates: Floats) -> float:
    """Sum of c log p + (N - c) log(1 - p) over all pairs of objects."""
    each = pairs.over(likelihood_rows, np.empty(pairs.n_groups), Y, _others(Y), rates)
    return float(each.sum())


def largest_gap(Y: Floats, G: Floats, scale: Floats) -> float:
    """The largest gap of any group, in units of its observations."""
    n = len(Y)
    gaps = np.empty(n)
    columns = np.ascontiguousarray(Y.T), np.ascontiguousarray(G.T)
    column_gaps(*columns, scale, np.empty(n), np.empty(n), gaps)
    return float(gaps.max())


def sweep(pairs: Pairs, Y: Floats, rates: Floats) -> Floats:
    """All columns after one growth step; the log-likelihood has not fallen."""
    grown = Y * gradient(pairs, Y, rates)
    total = grown.sum(axis=1, keepdims=True)
    grown = np.divide(grown, total, out=Y.copy(), where=total > 0)
    grown[grown < NO_MASS] = 0.0
    return grown


def fitted_rates(pairs: Pairs, Y: Floats, rates: Floats) -> Floats:
    """The two rates after one step of EM, the inner one not below the outer."""
    out = np.empty((pairs.n_groups, 4))
    across, all_across, inside, all_inside = pairs.over(rate_rows, out, Y, _others(Y), rates).sum(
        axis=0
    )
    new = np.array(
        [
            across / all_across if all_across > 0 else rates[0],
            inside / all_inside if all_inside > 0 else rates[1],
        ]
    )
    if new[0] > new[1]:
        # The best pair of equal rates: the likelihood is concave in both.
        new[:] = (across + inside) / (all_across + all_inside)
    return np.clip(new, _RATE_EDGE, 1.0 - _RATE_EDGE)


def grow(
    pairs: Pairs, Y: Floats, rates: Floats, *, fit_rates: bool, max_sweeps: int
) -> tuple[Floats, Floats, int, list[float]]:
    """Growth sweeps until the log-likelihood hardly rises: columns, rates, sweeps, its path."""
    path = [log_likelihood(pairs, Y, rates)]
    for n_sweeps in range(1, max_sweeps + 1):
        grown = sweep(pairs, Y, rates)
        if fit_rates:
            rates = fitted_rates(pairs, Y, rates)
        Y = grown
        if n_sweeps % EVERY == 0:
            path.append(log_likelihood(pairs, Y, rates))
            if n_sweeps >= LEAST and path[-1] - path[-2] <= GAIN * abs(path[-1]):
                break
    return Y, rates, n_sweeps, path


def polish(
    pairs: Pairs, Y: Floats, rates: Floats, *, tol: float, max_steps: int
) -> tuple[Floats, int, float]:
    """Pair steps until every gap is at most ``tol``: columns, steps, the gap left."""
    steps = 0
    while True:
        G = gradient(pairs, Y, rates)
        gap = largest_gap(Y, G, pairs.scale)
        if gap <= tol or steps >= max_steps:
            return Y, steps, gap
        turned = [np.array(a.T, order="C") for a in (Y, _others(Y), G)]
        taken, _ = pair_steps(
            pairs.store,
            pairs.weights,
            pairs.own,
            pairs.scale,
            rates,
            tol,
            min(REFRESH, max_steps - steps),
            *turned,
        )
        steps += taken
        moved = np.array(turned[0].T, order="C")
        if np.array_equal(moved, Y):
            return Y, steps, gap
        Y = moved


def fit_peace(
    pairs: Pairs,
    start: Floats,
    *,
    solver: str,
    rates: Floats | None,
    tol: float,
    max_iter: int,
    max_sweeps: int,
) -> Fit:
    """One run from a start; ``rates`` are fitted from there, None keeps the published ones."""
    now = np.array(PUBLISHED) if rates is None else rates
    Y, sweeps, path = start, 0, [log_likelihood(pairs, start, now)]
    if solver == "growth":
        Y, now, sweeps, path = grow(
            pairs, Y, now, fit_rates=rates is not None, max_sweeps=max_sweeps
        )
    steps = 0
    for _ in range(_RATE_ROUNDS):
        Y, taken, gap = polish(pairs, Y, now, tol=tol, max_steps=max_iter - steps)
        steps += taken
        path.append(log_likelihood(pairs, Y, now))
        if rates is None:
            break
        fresh = fitted_rates(pairs, Y, now)
        settled = np.abs(fresh - now).max() <= _RATE_TOL
        now = fresh
        if settled or steps >= max_iter:
            break
    return Fit(Y, path[-1], gap, gap <= tol, sweeps, steps, path, (float(now[0]), float(now[1])))
