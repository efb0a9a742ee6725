"""The algorithms of correlation clustering, on distinct rows: a `Problem` in, a `Run` out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import memory_in_bytes
from consilience.consensus._correlation import (
    Labeling,
    Problem,
    Run,
    attach,
    completed,
    numbered,
    twin_rows,
    within,
)
from consilience.consensus._rows import Rows, several
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.kernels.trees import cut_merges

__all__ = ["Options", "balls", "best_member", "cluster", "furthest", "sampling", "search_from"]

# Heights this close to one half are one half: to merge there changes no cost.
_ROUNDING = 1e-9
# The dendrogram is a start of the local search while its matrix of rows stays small.
_MOST_ROWS_FOR_TREE = 5000
# Rows whose costs of joining are held at once.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Options:
    """The method's own parameters."""

    algorithm: str
    alpha: float
    n_init: int
    max_iter: int
    sample_size: int | None
    pair_weight: str
    max_memory: float | str
    n_jobs: int | None

    @property
    def budget(self) -> int:
        """Bytes for tables and trees."""
        return memory_in_bytes(self.max_memory, owner="CorrelationClustering")


def cluster(placed: Ensemble, cap: int, options: Options, seeds: list[int]) -> ConsensusResult:
    """Cluster objects that some member placed."""
    rows = twin_rows(placed)
    jobs = options.n_jobs or 1
    problem = Problem(
        rows.members,
        rows.counts,
        by_seen=options.pair_weight == "seen",
        max_bytes=options.budget,
        n_jobs=jobs,
    )
    found = _run(problem, placed, rows, min(cap, problem.n_rows), options, seeds)
    return ConsensusResult(
        found.labels[rows.inverse],
        objective=float(problem.costs([found.labels])[0]),
        n_iter=found.n_iter,
        converged=found.converged,
        solver=options.algorithm,
        details={"start": found.start} if found.start else {},
    )


def _run(
    problem: Problem, placed: Ensemble, rows: Rows, cap: int, options: Options, seeds: list[int]
) -> Run:
    """The algorithm asked for."""
    if options.algorithm == "best":
        best = best_member(problem, cap)
        return best._replace(labels=numbered(best.labels))
    if options.algorithm == "balls":
        return balls(problem, options.alpha, cap)
    if options.algorithm == "furthest":
        return furthest(problem, cap)
    if options.algorithm == "agglomerative":
        return _dendrogram(placed, rows, cap, options)
    if options.algorithm == "sampling":
        size = options.sample_size or math.ceil(200 * math.log(placed.n_objects + 1))
        return sampling(problem, size, cap=cap, seeds=seeds, max_iter=options.max_iter)
    extra = []
    # Ten bytes a pair: two counts and a share.
    if problem.n_rows <= min(_MOST_ROWS_FOR_TREE, math.isqrt(options.budget // 5)):
        extra.append(_dendrogram(placed, rows, cap, options))
    hot = options.algorithm == "annealing"
    return search_from(problem, extra, cap=cap, seeds=seeds, max_iter=options.max_iter, hot=hot)


def _dendrogram(placed: Ensemble, rows: Rows, cap: int, options: Options) -> Run:
    """Average link on the co-association, cut where clusters would be further than 1/2."""
    # In the order of the rows: one object of each is then found by its count.
    order = np.argsort(rows.inverse, kind="stable")
    sorted_objects = Ensemble._trusted(np.ascontiguousarray(placed.members[:, order]))
    found = eac(sorted_objects, 1, max_memory=options.max_memory, n_jobs=options.n_jobs)
    first = np.cumsum(rows.counts) - rows.counts
    return Run(cut_at_half(found.linkage, cap)[first], "dendrogram")


def best_member(problem: Problem, cap: int) -> Run:
    """The member of least cost, completed."""
    return _ranked(problem, cap)[0]


def _ranked(problem: Problem, cap: int) -> list[Run]:
    """All members as labelings, by increasing cost; equal ones in their order."""
    runs = [
        Run(completed(problem, member, cap), f"member {member}")
        for member in range(len(problem.members))
    ]
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
        return Run(found.labels, start.start, found.n_iter, found.converged)

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
        left = np.delete(left, chosen)
        joined = _suitable(sample, found, problem.data.rows, left)
        labels[left[joined >= 0]] = used + joined[joined >= 0]
        left = left[joined < 0]
        used += int(found.max()) + 1
        rounds += 1
    if left.size:
        labels = attach(problem, labels, left, may_stay=False)
    return Run(labels, n_iter=rounds)


def _suitable(
    sample: Problem, found: Labeling, rows: NDArray[Any], left: NDArray[np.int64]
) -> Labeling:
    """The sample's cluster that each row left suits best, -1 where it is better off alone."""
    k = int(found.max()) + 1
    joined = np.full(len(left), -1, np.int32)
    for start in range(0, len(left), _BLOCK):
        block = left[start : start + _BLOCK]
        costs = sample.joins_of(rows[block], found, k)
        best = costs.argmin(axis=1)
        suits = costs[np.arange(len(block)), best] <= 0
        joined[start : start + _BLOCK] = np.where(suits, best, -1)
    return joined


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
