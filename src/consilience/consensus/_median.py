"""The algorithms of correlation clustering, on distinct rows: a `Problem` in, a `Run` out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._correlation import (
    Labeling,
    Problem,
    Run,
    attach,
    completed,
    numbered,
    within,
)
from consilience.consensus._rows import several
from consilience.kernels.agglomerate import agglomerate
from consilience.kernels.trees import cut_merges

__all__ = ["balls", "best_member", "cut_at_half", "furthest", "sampling", "search_from"]

# Heights this close to one half are one half: to merge there changes no cost.
_ROUNDING = 1e-9


def best_member(problem: Problem, cap: int) -> Run:
    """The member of least cost, completed."""
    return _ranked(problem, cap)[0]


def _ranked(problem: Problem, cap: int) -> list[Run]:
    """All members as labelings, by increasing cost; equal ones in their order."""
    runs = []
    for member in range(len(problem.members)):
        labels = completed(problem, member, cap)
        if labels is not None:
            runs.append(Run(labels, f"member {member}"))
    costs = problem.costs([run.labels for run in runs])
    return [runs[place] for place in np.argsort(costs, kind="stable")]


def search_from(
    problem: Problem,
    extra: Sequence[Run],
    *,
    cap: int,
    seeds: Sequence[int],
    max_iter: int,
    hot: bool = False,
) -> Run:
    """The best of local searches, one from each of the best members and each extra start."""
    starts = [*_ranked(problem, cap)[: len(seeds)], *extra]

    def improve(number: int) -> Run:
        start = starts[number]
        found = problem.improve(
            start.labels, cap=cap, seed=seeds[number % len(seeds)], max_iter=max_iter, hot=hot
        )
        return Run(numbered(found.labels), start.start, *found[1:])

    runs = several(improve, range(len(starts)), problem.n_jobs)
    costs = problem.costs([run.labels for run in runs])
    return runs[int(costs.argmin())]


def cut_at_half(tree: NDArray[np.float64], cap: int) -> Labeling:
    """Clusters whose mean distance is below one half, or ``cap`` of them if that is fewer."""
    n = len(tree) + 1
    merges = int((tree[:, 2] < 0.5 - _ROUNDING).sum())
    return cut_merges(tree, max(1, min(n - merges, cap)))


def balls(problem: Problem, alpha: float, cap: int) -> Run:
    """Balls around objects in order of their summed distance; see `correlationclustering`."""
    rows, weights = problem.rows(), problem.weights
    labels = np.full(problem.n_rows, -1, np.int32)
    k = 0
    for centre in np.argsort(problem.totals(), kind="stable"):
        if labels[centre] >= 0:
            continue
        shares = rows.row(int(centre))
        near = (labels < 0) & (shares >= 0.5)
        near[centre] = False
        labels[centre] = k
        # The centre's own twins are in the ball, at distance zero.
        held = weights[near].sum() + weights[centre] - 1
        if held and weights[near] @ (1.0 - shares[near]) <= alpha * held:
            labels[near] = k
        k += 1
    return Run(within(problem, labels, cap))


def furthest(problem: Problem, cap: int) -> Run:
    """Centres as far apart as possible, while more of them lower the cost."""
    rows = problem.rows()
    labels = np.zeros(problem.n_rows, np.int32)
    nearest = 1.0 - rows.row(int(problem.totals().argmax()))
    cost = problem.costs([labels])[0]
    for k in range(1, cap):
        centre = int(nearest.argmax())
        distances = 1.0 - rows.row(centre)
        closer = distances < nearest
        trial = np.where(closer, np.int32(k), labels)
        trial_cost = problem.costs([trial])[0]
        if nearest[centre] == 0 or trial_cost >= cost:
            break
        labels, cost = trial, trial_cost
        nearest = np.minimum(nearest, distances)
    return Run(labels)


def sampling(problem: Problem, size: int, *, cap: int, seeds: Sequence[int], max_iter: int) -> Run:
    """Local search on a sample, the others attached; again on those that suit no cluster."""
    rng = np.random.default_rng(seeds[0])
    labels = np.full(problem.n_rows, -1, np.int32)
    left = np.arange(problem.n_rows)
    used, rounds = 0, 0
    while left.size and used < cap:
        chosen, weights = _draw(problem.weights[left], size, rng)
        sample = problem.take(left[chosen], weights)
        found = search_from(sample, (), cap=cap - used, seeds=seeds, max_iter=max_iter).labels
        labels[left[chosen]] = used + found
        others = np.setdiff1d(left, left[chosen], assume_unique=True)
        k = int(found.max()) + 1
        joined = np.full(len(others), -1, np.int32)
        for start in range(0, len(others), _BLOCK):
            block = others[start : start + _BLOCK]
            costs = sample.joins_of(problem.data.rows[block], found, k)
            best = costs.argmin(axis=1)
            suits = costs[np.arange(len(block)), best] <= 0
            joined[start : start + _BLOCK][suits] = best[suits]
        labels[others[joined >= 0]] = used + joined[joined >= 0]
        left = others[joined < 0]
        used += k
        rounds += 1
    if left.size:
        labels = attach(problem, labels, left, may_stay=False)
    return Run(labels, n_iter=rounds)


_BLOCK = 1 << 16


def _draw(
    weights: NDArray[np.int64], size: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ``size`` objects drawn without replacement, and how many each row got."""
    total = int(weights.sum())
    if total <= size:
        return np.arange(len(weights)), weights
    objects = rng.choice(total, size, replace=False, shuffle=False)
    rows = np.searchsorted(np.cumsum(weights), objects, side="right")
    return np.unique(rows, return_counts=True)
