"""The k-means of SEC and KCC on distinct label rows: prices of centres, starts, best run."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._rows import Rows, draw_seeds, several, spectral_start
from consilience.consensus._soft_rows import SoftRows
from consilience.kernels._parallel import of_use
from consilience.kernels.kmeans.labels import LabelRuns, Price, threads_of_pass

__all__ = ["LabelKMeans", "Utility", "kcc_labellings", "kcc_problem", "label_runs", "sec_problem"]

Utility = Literal["c", "h", "cos", "lp"]
Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

_FLOOR = 1e-12
_SAMPLE_ABOVE = 50_000
_SAMPLE = 20_000
# More than any machine has.
_MOST_THREADS = 1 << 20


def sec_degrees(rows: Rows, weights: Floats, n_jobs: int | None = None) -> tuple[Floats, Floats]:
    """Row sums d_i of the weighted co-association, and the weight of each row's members."""
    own = np.repeat(weights, np.diff(rows.starts))
    loads = own * rows.cluster_sizes(n_jobs=n_jobs)
    degree = rows.row_sums(loads[:, None], n_jobs=n_jobs)[:, 0]
    return np.ascontiguousarray(degree), rows.row_squares(own, n_jobs=n_jobs)


def sec_price(rows: Rows, weights: Floats, n_jobs: int | None = None) -> Price:
    """Prices of SEC's centres: mu_q = sqrt(w) counts_q / d(q), with d(q) from the counts too."""
    w = np.repeat(weights, np.diff(rows.starts))
    degree, present = sec_degrees(rows, weights, n_jobs)
    loads = w * rows.cluster_sizes(n_jobs=n_jobs)
    total = float((rows.counts * present / degree).sum())

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        mass = loads @ table
        # A centre without objects has mass 0 and counts 0: any divisor will do.
        share = table / np.where(mass > 0, mass, 1.0)
        norms = w @ share**2
        return -2.0 * w[:, None] * share, norms, total - float(norms @ mass)

    return price


def kcc_price(
    rows: Rows,
    weights: Floats,
    utility: Utility,
    p: float,
    normalised: bool,
    n_jobs: int | None = None,
) -> Price:
    """Prices of KCC's centres: what a label costs where its member's clusters have shares m."""
    widths = np.diff(rows.starts)
    edges = rows.starts[:-1][widths > 0]
    of = _Members(edges, np.repeat(np.arange(len(edges)), widths[widths > 0]))
    cost, own = _DISTANCES[utility]
    whole = rows.cluster_sizes(n_jobs=n_jobs)[:, None]
    overall = whole / of.sums(whole)
    w = np.repeat(weights, widths)[:, None]
    if normalised:
        unit = own(overall, of, p)
        # A member with one cluster has no entropy, and costs nothing anyway.
        w = np.divide(w, unit, out=np.zeros_like(w), where=unit > 0)

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        seen = of.sums(table.astype(float))
        m = np.where(seen > 0, table / np.where(seen > 0, seen, 1.0), overall)
        costs = w * cost(m, of, p)
        return costs, np.zeros(table.shape[1]), float((table * costs).sum())

    return price


class _Members(NamedTuple):
    """Where the clusters of each member are among all: what is found there, for each of them."""

    edges: NDArray[np.int64]
    place: NDArray[np.int64]

    def sums(self, values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, self.edges, axis=0)[self.place])

    def largest(self, values: Floats) -> Floats:
        return np.asarray(np.maximum.reduceat(values, self.edges, axis=0)[self.place])


def _entropy(m: Floats, of: _Members, _: float) -> Floats:
    return of.sums(-m * np.log(np.maximum(m, _FLOOR)))


def _norm(m: Floats, of: _Members, p: float) -> Floats:
    # Over the largest: powers of small shares would all be 0.
    largest = of.largest(m)
    return np.asarray(largest * of.sums((m / largest) ** p) ** (1.0 / p))


# Per utility: cost of a label at a centre, and the utility of a member's own distribution.
_DISTANCES: dict[str, tuple[Callable[..., Floats], Callable[..., Floats]]] = {
    "c": (lambda m, of, _: 1.0 - 2.0 * m + of.sums(m**2), lambda m, of, _: of.sums(m**2)),
    "h": (lambda m, *_: -np.log(np.maximum(m, _FLOOR)), _entropy),
    "cos": (lambda m, of, _: 1.0 - m / _norm(m, of, 2.0), lambda m, of, _: _norm(m, of, 2.0)),
    "lp": (lambda m, of, p: 1.0 - (m / _norm(m, of, p)) ** (p - 1.0), _norm),
}


class LabelKMeans(NamedTuple):
    """The rows, how distances are scaled and shifted, and what centres cost.

    Where ``there`` is not None the rows are on a torch ``device``, and the rounds go on there.
    """

    rows: Rows
    scale: Floats
    shift: Floats
    price: Price
    device: str | None = None
    there: Any = None

    def on(self, device: str | None) -> "LabelKMeans":
        """The same problem on a torch device; None is the processor."""
        if device is None or isinstance(self.rows, SoftRows):
            return self  # memberships stay on the processor
        from consilience.engines.torch import label_problem, label_rows

        labels = label_rows(self.rows.members, self.rows.starts, device)
        there = label_problem(labels, self.rows.counts, self.scale, self.shift)
        return self._replace(device=device, there=there)

    def run(self, labels: Labels, k: int, max_iter: int, n_jobs: int | None = None) -> LabelRuns:
        """Lloyd's rounds from the labels given."""
        if self.there is not None:
            return LabelRuns(*self.there.run(labels, k, self.price, max_iter))
        return self.rows.lloyd(
            self.scale, self.shift, labels, k, self.price, max_iter=max_iter, n_jobs=n_jobs
        )

    def take(self, chosen: NDArray[np.int64]) -> "LabelKMeans":
        """The same problem on some of the rows."""
        rows = self.rows.take(chosen)
        part = self._replace(rows=rows, scale=self.scale[chosen], shift=self.shift[chosen])
        return part.on(self.device)

    def nearest(
        self, table: NDArray[np.int64], sizes: NDArray[np.int64], n_jobs: int | None = None
    ) -> Labels:
        """Labels of all rows by the centres of other rows."""
        costs, offset, _ = self.price(table, sizes)
        if self.there is not None:
            labels, _ = self.there.nearest(self.there.none(), costs, offset)
            return np.asarray(labels.cpu().numpy()).astype(np.int32)
        return self.rows.nearest(self.scale, costs, offset, n_jobs=n_jobs)


def random_labels(
    problem: LabelKMeans, k: int, max_iter: int, seed: int, n_jobs: int | None = None
) -> Labels:
    """Random labels of the rows; of many rows, those nearest to the centres of a sample.

    From random labels all centres start next to the mean, and k-means takes long to part
    them: on many rows that is left to a random sample of them.
    """
    rng = np.random.default_rng(seed)
    u = problem.rows.n_rows
    if u <= _SAMPLE_ABOVE:
        return rng.integers(0, k, u, np.int32)
    sample = problem.take(np.sort(rng.choice(u, _SAMPLE, replace=False)))
    run = sample.run(rng.integers(0, k, _SAMPLE, np.int32), k, max_iter, n_jobs)
    return problem.nearest(*sample.rows.count_table(run.labels, k), n_jobs)


def label_runs(
    problem: LabelKMeans,
    k: int,
    *,
    n_init: int,
    max_iter: int,
    random_state: Any,
    n_jobs: int | None,
) -> list[LabelRuns]:
    """Runs of k-means: the first from the spectral start, the others from random labels."""
    seeds = draw_seeds(random_state, n_init)
    first = spectral_start(problem.rows, k, seeds[0], n_jobs=n_jobs)
    # Where there are rows for all threads these share them, run after run: none waits at the end.
    by_rows = threads_of_pass(problem.rows.members, k, n_jobs) == of_use(n_jobs, _MOST_THREADS)
    inside, outside = (n_jobs, None) if by_rows else (None, n_jobs)
    if problem.there is not None:
        outside = None  # a device is shared by nobody

    def run(number: int) -> LabelRuns:
        labels = first if number == 0 else None
        if labels is None:
            labels = random_labels(problem, k, max_iter, seeds[number], inside)
        return problem.run(labels, k, max_iter, inside)

    return several(run, range(n_init), outside)


def sec_problem(rows: Rows, weights: Floats, *, n_jobs: int | None = None) -> LabelKMeans:
    """The weighted k-means of SEC."""
    degree, present = sec_degrees(rows, weights, n_jobs)
    price = sec_price(rows, weights, n_jobs)
    return LabelKMeans(rows, 1.0 / degree, present / degree**2, price)


def kcc_problem(
    rows: Rows,
    weights: Floats,
    utility: Utility,
    p: float,
    normalised: bool,
    *,
    n_jobs: int | None = None,
) -> LabelKMeans:
    """The k-means of KCC for a utility."""
    price = kcc_price(rows, weights, utility, p, normalised, n_jobs)
    return LabelKMeans(rows, np.ones(rows.n_rows), np.zeros(rows.n_rows), price)


def kcc_labellings(
    rows: Rows, k: int, n_runs: int, random_state: Any, n_jobs: int | None
) -> list[NDArray[np.int32]]:
    """Labellings of the rows by KCC (category utility), the best first: starts of others."""
    weights = np.full(len(rows.members), 1.0 / len(rows.members))
    problem = kcc_problem(rows, weights, "c", 2.0, False, n_jobs=n_jobs)
    runs = label_runs(
        problem, k, n_init=n_runs, max_iter=100, random_state=random_state, n_jobs=n_jobs
    )
    return [run.labels for run in sorted(runs, key=lambda run: run.objective)]
