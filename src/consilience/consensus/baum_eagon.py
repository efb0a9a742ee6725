"""BaumEagon: soft clusters whose overlaps are nearest to the co-association, by least squares."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import NoneValue, Options, memory_in_bytes
from consilience.consensus._peace_fits import EVERY, GAIN, LEAST, NO_MASS, REFRESH, Fit, largest_gap
from consilience.consensus._peace_pairs import Pairs, make_pairs
from consilience.consensus._peace_starts import (
    RULES,
    Init,
    SoftConsensus,
    Solver,
    all_objects,
    best_of,
    make_starts,
)
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.kernels.peace.square import square_rows, square_steps

__all__ = ["BaumEagon", "baumeagon"]

Floats = NDArray[np.float64]
State = tuple[Floats, Floats, float]
Sweep = Callable[[Floats, Floats, float], State]
Step = Literal["adaptive", "safe"]

# The first damping of the adaptive rule, as a share of what is always safe; how it changes.
_FIRST, _RAISE, _LOWER = 0.1, 2.0, 1.5


@consensus_method(
    estimator="BaumEagon",
    few_clusters=True,
    paper="Rota Bulò, Lourenço, Fred & Pelillo 2010",
    memory="n^2 bytes, or n (R + k) past max_memory",
    rules={
        **RULES,
        "step": [Options(("adaptive", "safe"))],
        "weights": [Options(("seen",)), NoneValue()],
    },
)
def baumeagon(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: Solver = "growth",
    step: Step = "adaptive",
    weights: Literal["seen"] | None = None,
    init: Init = "mixed",
    n_init: int = 10,
    tol: float = 1e-4,
    max_iter: int | None = None,
    max_sweeps: int = 1000,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Soft clusters whose overlaps fit the co-association best in least squares.

    Object i is in cluster k with probability y_ik; the sum of (S_ij - sum_k y_ik y_jk)^2
    over all ordered pairs of different objects is minimised, S the co-association.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody; a pair that no
        member saw has no weight.
    solver : {"growth", "pair"}, default="growth"
        "growth" moves all objects at once by the Baum-Eagon transform and ends with pair
        steps; "pair" takes pair steps from the start, each to the minimum on its line.
    step : {"adaptive", "safe"}, default="adaptive"
        How far growth goes: as far as the loss falls, or with the constant that is always
        safe (the published rule, many times slower).
    weights : {"seen"} or None, default=None
        Count all pairs alike, or each by the members that saw it.
    init, n_init, tol, max_iter, max_sweeps, max_memory
        As in `consilience.consensus.peace`; the run with the smallest loss wins.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the y, ``objective`` the loss, ``converged`` whether the gap is
        at most ``tol``. In ``details``: ``loss``, ``gap``, ``spread`` (of the loss over the
        starts), ``objectives``, ``start_labels``, ``best_start``, ``sweeps``,
        ``pair_steps``, ``path`` and ``matrix_free``.

    Notes
    -----
    Objects that are together in every member that saw them get equal columns: the loss is
    minimised under that condition, pairs inside such a group included. A sweep takes time
    O(u^2 k) for u groups, a pair step O(u k).

    References
    ----------
    Rota Bulò, Lourenço, Fred & Pelillo (2010), Pairwise probabilistic clustering using
    evidence accumulation, SSPR & SPR, pages 395-404.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [5, 5, 5, 7, 7, 7]])
    >>> result = baumeagon(ens, 2, random_state=0)
    >>> result.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result.memberships[:3].round(2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.67, 0.33]]
    """
    budget = memory_in_bytes(max_memory, owner="BaumEagon")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        pairs = make_pairs(placed, budget, n_jobs=n_jobs, n_runs=1 if init == "labels" else n_init)
        starts = make_starts(pairs, k, init, n_init, random_state)
        fits = several(
            lambda start: fit_square(
                pairs,
                start,
                solver=solver,
                rule=step,
                by_seen=weights is not None,
                tol=tol,
                max_iter=100 * pairs.n_groups if max_iter is None else max_iter,
                max_sweeps=max_sweeps,
            ),
            starts,
            n_jobs,
        )
        best, _labels = best_of(fits, pairs, highest=False, solver=solver)
        best.details["loss"] = best.objective
        return best

    return all_objects(
        solve(ensemble, n_clusters, run, owner="BaumEagon", X=X),
        ensemble,
        "start_labels",
    )


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


class BaumEagon(SoftConsensus, function=baumeagon, attributes=("loss",)):
    """Cluster by least squares on the co-association; see `baumeagon` for the method.

    Attributes
    ----------
    loss_ : float
        See `baumeagon`, under ``details``.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> BaumEagon(2, random_state=0).fit(ensemble=members).labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """

    solver: Solver = "growth"
    step: Step = "adaptive"
    weights: Literal["seen"] | None = None
    init: Init = "mixed"
    n_init: int = 10
    tol: float = 1e-4
    max_iter: int | None = None
    max_sweeps: int = 1000
    max_memory: float | str = "4 GiB"
