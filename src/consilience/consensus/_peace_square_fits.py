"""Fits of the squared error between co-association and soft assignment."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._peace_fits import (
    EVERY,
    GAIN,
    LEAST,
    NO_MASS,
    REFRESH,
    Fit,
    largest_gap,
)
from consilience.consensus._peace_pairs import Pairs
from consilience.kernels.peace_square import square_rows, square_steps

__all__ = ["fit_square", "grow", "polish", "slope_and_loss"]

Floats = NDArray[np.float64]
State = tuple[Floats, Floats, float]
Sweep = Callable[[Floats, Floats, float], State]

# The first damping of the adaptive rule, as a share of what is always safe; how it changes.
_FIRST, _RAISE, _LOWER = 0.1, 2.0, 1.5


def slope_and_loss(pairs: Pairs, Y: Floats, by_seen: bool) -> tuple[Floats, float]:
    """A quarter of the falling slope for one object of each group, and the loss."""
    out = pairs.over(square_rows, np.empty((len(Y), Y.shape[1] + 1)), Y, by_seen)
    return np.ascontiguousarray(out[:, :-1]), float(out[:, -1].sum())


def _scale(pairs: Pairs, by_seen: bool) -> Floats:
    """The weight of one object's pairs, for each group."""
    return pairs.scale if by_seen else pairs.partners


def _step(Y: Floats, G: Floats, damping: Floats) -> Floats:
    """Columns in proportion to y (damping + G)."""
    grown = Y * (damping[:, None] + G)
    total = grown.sum(axis=1, keepdims=True)
    grown = np.divide(grown, total, out=Y.copy(), where=total > 0)
    grown[grown < NO_MASS] = 0.0
    return grown


def _adaptive(pairs: Pairs, by_seen: bool) -> Sweep:
    """A sweep whose damping is as small as the loss allows."""
    safe = float(_scale(pairs, by_seen).max())
    mu = _FIRST * safe

    def sweep(Y: Floats, G: Floats, loss: float) -> State:
        nonlocal mu
        least = np.maximum(0.0, -G.min(axis=1))
        while True:
            trial = _step(Y, G, least + mu)
            slope, now = slope_and_loss(pairs, trial, by_seen)
            if now <= loss:
                mu /= _LOWER
                return trial, slope, now
            # With so much the loss cannot rise but by rounding: there is nothing left to gain.
            if mu > safe:
                return Y, G, loss
            mu *= _RAISE

    return sweep


def grow(
    pairs: Pairs, Y: Floats, *, rule: str, by_seen: bool, max_sweeps: int
) -> tuple[Floats, int, list[float]]:
    """Growth sweeps until the loss hardly falls: columns, sweeps, the loss after each."""
    safe = _scale(pairs, by_seen)
    G, loss = slope_and_loss(pairs, Y, by_seen)
    adaptive = _adaptive(pairs, by_seen)
    path = [loss]
    for n_sweeps in range(1, max_sweeps + 1):
        if rule == "safe":
            Y = _step(Y, G, safe)
            G, loss = slope_and_loss(pairs, Y, by_seen)
        else:
            Y, G, loss = adaptive(Y, G, loss)
        path.append(loss)
        if n_sweeps >= LEAST and path[-1 - EVERY] - loss <= GAIN * loss:
            break
    return Y, n_sweeps, path


def polish(
    pairs: Pairs, Y: Floats, *, by_seen: bool, tol: float, max_steps: int
) -> tuple[Floats, int, float, float]:
    """Pair steps until every gap is at most ``tol``: columns, steps, the gap left, the loss."""
    scale = _scale(pairs, by_seen)
    inside = pairs.own if by_seen else pairs.weights - 1.0
    steps = 0
    while True:
        G, loss = slope_and_loss(pairs, Y, by_seen)
        gap = largest_gap(Y, G, scale)
        if gap <= tol or steps >= max_steps:
            return Y, steps, gap, loss
        turned = [np.array(a.T, order="C") for a in (Y, G)]
        most = min(REFRESH, max_steps - steps)
        taken, _ = square_steps(
            pairs.store, pairs.weights, inside, scale, by_seen, tol, most, *turned
        )
        steps += taken
        moved = np.array(turned[0].T, order="C")
        if np.array_equal(moved, Y):
            return Y, steps, gap, loss
        Y = moved


def fit_square(
    pairs: Pairs,
    start: Floats,
    *,
    solver: str,
    rule: str,
    by_seen: bool,
    tol: float,
    max_iter: int,
    max_sweeps: int,
) -> Fit:
    """One run from a start: growth unless pair steps alone are wanted, then pair steps."""
    Y, sweeps, path = start, 0, [slope_and_loss(pairs, start, by_seen)[1]]
    if solver == "growth":
        Y, sweeps, path = grow(pairs, Y, rule=rule, by_seen=by_seen, max_sweeps=max_sweeps)
    Y, steps, gap, loss = polish(pairs, Y, by_seen=by_seen, tol=tol, max_steps=max_iter)
    return Fit(Y, loss, gap, gap <= tol, sweeps, steps, [*path, loss])
