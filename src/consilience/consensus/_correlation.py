"""The algorithms of correlation clustering, and what they share: rows, costs, joins, moves.

A labeling here is int32 over rows (objects at distance zero are one row); a negative label is
a cluster of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._validation import memory_in_bytes
from consilience.consensus._order import row_order
from consilience.consensus._rows import Rows, rows_in_order, several
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.accumulation import eac
from consilience.ensemble import UNSEEN, Ensemble
from consilience.evidence import CoAssociation, twins
from consilience.kernels.links.trees import cut_merges
from consilience.kernels.pairs.correlation import LabelRows, disagreements, label_rows, table_joins
from consilience.kernels.pairs.correlation_unseen import own_costs, pair_costs, pair_joins
from consilience.kernels.pairs.moves import Moved, local_search

__all__ = ["Options", "Problem", "cluster", "twin_rows"]

Labeling = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Objects whose costs of joining are held at once.
_BLOCK = 1 << 16
# Heights this close to one half are one half: to merge there changes no cost.
_ROUNDING = 1e-9
# The dendrogram is a start of the local search while its matrix of rows stays small.
_MOST_ROWS_FOR_TREE = 5000


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


def twin_rows(ensemble: Ensemble) -> Rows:
    """Objects at distance zero as one row, in an order that does not depend on theirs.

    Rows with noise stay apart: noise is together with nobody, equal labels or not.
    """
    distinct, inverse, counts = twins(ensemble, missing="pair")
    return rows_in_order(row_order(distinct.members), distinct.members, inverse, counts)


class Run(NamedTuple):
    """A clustering of the rows and how it was found."""

    labels: Labeling
    start: str = ""
    n_iter: int | None = None
    converged: bool | None = None


class Problem:
    """Rows to be clustered, and what it costs to join them.

    Parameters
    ----------
    members : (n_members, n_rows) labels, C-contiguous
    weights : (n_rows,) int64
        Objects a row stands for.
    by_seen : bool
        Whether a pair counts by the members that saw both; otherwise every pair counts
        once, by its own share of members.
    max_bytes : int
        For the tables of one search.
    data : LabelRows, optional
        The rows made ready, where that was done before.
    """

    def __init__(
        self,
        members: NDArray[Any],
        weights: Ints,
        *,
        by_seen: bool,
        max_bytes: int,
        n_jobs: int = 1,
        data: LabelRows | None = None,
    ) -> None:
        self.members = members
        self.weights = np.asarray(weights, np.int64)
        self.by_seen = by_seen
        self.max_bytes = max_bytes
        self.n_jobs = n_jobs
        self.data = label_rows(members, self.weights, by_seen=by_seen) if data is None else data
        # Without unseen labels all pairs have one denominator, and tables are exact.
        self.pairwise = not by_seen and bool((members == UNSEEN).any())
        self._joined_in_all: float | None = None

    @property
    def n_rows(self) -> int:
        """Rows to be clustered."""
        return len(self.weights)

    def take(self, chosen: Ints, weights: Ints) -> "Problem":
        """The problem on some of the rows, with weights of their own."""
        return Problem(
            np.ascontiguousarray(self.members[:, chosen]),
            weights,
            by_seen=self.by_seen,
            max_bytes=self.max_bytes,
            n_jobs=self.n_jobs,
            data=self.data.take(chosen, weights),
        )

    def costs(self, labelings: list[Labeling]) -> Floats:
        """Disagreement of each labeling with the members."""
        if not self.pairwise:
            counts = [
                disagreements(
                    self.members, self.weights, without_singles(one), by_seen=self.by_seen
                )
                for one in labelings
            ]
            return np.array(counts, float) / len(self.members)
        if self._joined_in_all is None:
            # Sum of the shares over all pairs, from their sum of 1 - 2 shares.
            once = self._pair_costs([np.zeros(self.n_rows, np.int32)])[0]
            total = int(self.weights.sum())
            pairs = (total * total - int(self.weights @ self.weights)) / 2
            self._joined_in_all = (pairs - once) / 2
        return self._joined_in_all + self._pair_costs(labelings)

    def _pair_costs(self, labelings: list[Labeling]) -> Floats:
        return pair_costs(self.members, self.data.rows, self.weights, np.stack(labelings))

    def joins(self, objects: Ints, labels: Labeling, k: int) -> Floats:
        """Cost of some rows' joining each of k clusters, themselves left out, per object."""
        costs = self.joins_of(self.data.rows[objects], labels, k)
        if self.pairwise:
            own = own_costs(self.data.rows[objects], self.weights[objects])
        else:
            own = self.data.own[objects] / len(self.members)
        inside = np.flatnonzero(labels[objects] >= 0)
        costs[inside, labels[objects][inside]] -= own[inside]
        return costs

    def joins_of(self, queries: NDArray[Any], labels: Labeling, k: int) -> Floats:
        """Cost of other rows' joining each of k clusters of these rows."""
        if self.pairwise:
            return pair_joins(queries, self.members, self.weights, labels, k, n_jobs=self.n_jobs)
        return table_joins(queries, self.data, labels, k)

    def improve(
        self, labels: Labeling, *, cap: int, seed: int, max_iter: int, hot: bool = False
    ) -> Moved:
        """A local optimum reached from a labeling, after annealing if ``hot``."""
        rng = np.random.default_rng(seed)
        heat = self._mean_change(labels, rng) if hot else 0.0
        return local_search(
            self.data,
            labels,
            cap=cap,
            rng=rng,
            max_iter=max_iter,
            share=self.pairwise,
            heat=heat,
            max_bytes=self.max_bytes,
        )

    def _mean_change(self, labels: Labeling, rng: np.random.Generator) -> float:
        """Mean change of the cost by a random move, in the units of a search."""
        some = rng.choice(self.n_rows, min(self.n_rows, 1000), replace=False)
        k = int(labels.max(initial=-1)) + 1
        costs = np.column_stack([self.joins(some, labels, k), np.zeros(len(some))])
        here = np.where(labels[some] >= 0, labels[some], k)
        changes = np.abs(costs - costs[np.arange(len(some)), here][:, None])
        unit = 1 if self.pairwise else len(self.members)
        return float((changes * self.weights[some][:, None]).sum() / (len(some) * max(k, 1))) * unit

    def totals(self) -> Floats:
        """Summed distance of each row to all others, up to scale."""
        everything = np.arange(self.n_rows)
        return self.joins(everything, np.zeros(self.n_rows, np.int32), 1)[:, 0]

    def rows(self) -> CoAssociation:
        """Rows of the co-association on demand."""
        return CoAssociation(Ensemble._trusted(self.members), missing="pair")


def without_singles(labels: Labeling) -> Labeling:
    """The labeling with clusters of one row as negative labels: they need no table."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    alone = (labels < 0) | (sizes[labels] == 1)
    labeling = np.full(len(labels), -1, np.int32)
    labeling[~alone] = np.unique(labels[~alone], return_inverse=True)[1]
    return labeling


def numbered(labels: Labeling) -> Labeling:
    """The labeling with a number for every cluster, 0..k-1, clusters of one row too."""
    labels = labels.copy()
    alone = labels < 0
    labels[alone] = int(labels.max(initial=-1)) + 1 + np.arange(int(alone.sum()))
    labeling: Labeling = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return labeling


def within(problem: Problem, labels: Labeling, cap: int) -> Labeling:
    """The labeling with at most ``cap`` clusters: rows of the smallest join the others."""
    labels = numbered(labels)
    sizes = np.bincount(labels, problem.weights)
    if len(sizes) <= cap:
        return labels
    kept = np.argsort(-sizes, kind="stable")[:cap]
    name = np.full(len(sizes), -1, np.int32)
    name[kept] = np.arange(cap)
    labels = name[labels]
    return attach(problem, labels, np.flatnonzero(labels < 0), may_stay=False)


def attach(problem: Problem, labels: Labeling, objects: Ints, *, may_stay: bool) -> Labeling:
    """The labeling with some rows in the cluster that suits them best, or alone if none does.

    All look at the same clusters, so that their order does not matter.
    """
    k = int(labels.max(initial=-1)) + 1
    labeling = labels.copy()
    for start in range(0, len(objects), _BLOCK):
        block = objects[start : start + _BLOCK]
        costs = problem.joins(block, labels, k)
        best = costs.argmin(axis=1)
        stays = may_stay & (costs[np.arange(len(block)), best] > 0)
        labeling[block] = np.where(stays, -1, best)
    return labeling


def completed(problem: Problem, member: int, cap: int) -> Labeling:
    """A member as a labeling of all rows: unseen rows go where they suit, noise is alone."""
    given = problem.members[member]
    placed = np.flatnonzero(given >= 0)
    labels = np.full(problem.n_rows, -1, np.int32)
    labels[placed] = np.unique(given[placed], return_inverse=True)[1]
    gaps = np.flatnonzero(given == UNSEEN)
    if gaps.size and placed.size:
        labels = attach(problem, labels, gaps, may_stay=True)
    n_clusters = int(labels.max()) + 1 + int((labels < 0).sum())
    return within(problem, labels, cap) if n_clusters > cap else labels


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
    run = _run(problem, placed, rows, min(cap, problem.n_rows), options, seeds)
    return ConsensusResult(
        run.labels[rows.inverse],
        objective=float(problem.costs([run.labels])[0]),
        n_iter=run.n_iter,
        converged=run.converged,
        solver=options.algorithm,
        details={"start": run.start} if run.start else {},
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
    result = eac(sorted_objects, 1, max_memory=options.max_memory, n_jobs=options.n_jobs)
    first = np.cumsum(rows.counts) - rows.counts
    return Run(cut_at_half(result.linkage, cap)[first], "dendrogram")


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
        optimum = problem.improve(
            start.labels, cap=cap, seed=seeds[number % len(seeds)], max_iter=max_iter, hot=hot
        )
        return Run(optimum.labels, start.start, optimum.n_iter, optimum.converged)

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
        clusters = search_from(sample, (), cap=cap - used, seeds=seeds, max_iter=max_iter).labels
        labels[left[chosen]] = used + clusters
        left = np.delete(left, chosen)
        joined = _suitable(sample, clusters, problem.data.rows, left)
        labels[left[joined >= 0]] = used + joined[joined >= 0]
        left = left[joined < 0]
        used += int(clusters.max()) + 1
        rounds += 1
    if left.size:
        labels = attach(problem, labels, left, may_stay=False)
    return Run(labels, n_iter=rounds)


def _suitable(
    sample: Problem, clusters: Labeling, rows: NDArray[Any], left: NDArray[np.int64]
) -> Labeling:
    """The sample's cluster that each row left suits best, -1 where it is better off alone."""
    k = int(clusters.max()) + 1
    joined = np.full(len(left), -1, np.int32)
    for start in range(0, len(left), _BLOCK):
        block = left[start : start + _BLOCK]
        costs = sample.joins_of(rows[block], clusters, k)
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
