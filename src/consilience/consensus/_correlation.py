"""What the algorithms of correlation clustering share: rows, costs, joins, single moves.

A labeling here is int32 over rows (objects at distance zero are one row); a negative label is
a cluster of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._order import row_order
from consilience.consensus._rows import Rows, rows_in_order
from consilience.ensemble import UNSEEN, Ensemble
from consilience.evidence import CoAssociation, twins
from consilience.kernels.correlation import LabelRows, disagreements, label_rows, table_joins
from consilience.kernels.correlation_pairs import own_costs, pair_costs, pair_joins
from consilience.kernels.moves import Found, local_search

__all__ = ["Problem", "attach", "completed", "numbered", "twin_rows", "within"]

Labeling = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Objects whose costs of joining are held at once.
_BLOCK = 1 << 16


def twin_rows(ensemble: Ensemble) -> Rows:
    """Objects at distance zero as one row, in an order that does not depend on theirs.

    Rows with noise stay apart: noise is together with nobody, equal labels or not.
    """
    found, inverse, counts = twins(ensemble, missing="pair")
    return rows_in_order(row_order(found.members), found.members, inverse, counts)


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
        found = self.joins_of(self.data.rows[objects], labels, k)
        if self.pairwise:
            own = own_costs(self.data.rows[objects], self.weights[objects])
        else:
            own = self.data.own[objects] / len(self.members)
        inside = np.flatnonzero(labels[objects] >= 0)
        found[inside, labels[objects][inside]] -= own[inside]
        return found

    def joins_of(self, queries: NDArray[Any], labels: Labeling, k: int) -> Floats:
        """Cost of other rows' joining each of k clusters of these rows."""
        if self.pairwise:
            return pair_joins(queries, self.members, self.weights, labels, k, n_jobs=self.n_jobs)
        return table_joins(queries, self.data, labels, k)

    def improve(
        self, labels: Labeling, *, cap: int, seed: int, max_iter: int, hot: bool = False
    ) -> Found:
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
    found = np.full(len(labels), -1, np.int32)
    found[~alone] = np.unique(labels[~alone], return_inverse=True)[1]
    return found


def numbered(labels: Labeling) -> Labeling:
    """The labeling with a number for every cluster, 0..k-1, clusters of one row too."""
    labels = labels.copy()
    alone = labels < 0
    labels[alone] = int(labels.max(initial=-1)) + 1 + np.arange(int(alone.sum()))
    found: Labeling = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return found


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
    found = labels.copy()
    for start in range(0, len(objects), _BLOCK):
        block = objects[start : start + _BLOCK]
        costs = problem.joins(block, labels, k)
        best = costs.argmin(axis=1)
        stays = may_stay & (costs[np.arange(len(block)), best] > 0)
        found[block] = np.where(stays, -1, best)
    return found


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
