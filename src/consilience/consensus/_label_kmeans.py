"""The k-means of SEC and KCC on distinct label rows: prices of centres, starts, best run."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._rows import Rows, draw_seeds, several, spectral_start
from consilience.kernels.consensus_kmeans import LabelRuns, Price, lloyd
from consilience.kernels.label_products import cluster_sums, row_sums

__all__ = ["Utility", "kcc_price", "label_runs", "sec_degrees", "sec_price"]

Utility = Literal["c", "h", "cos", "lp"]
Floats = NDArray[np.float64]
Sums = Callable[[Floats], Floats]

_FLOOR = 1e-12


def cluster_sizes(rows: Rows) -> Floats:
    """Objects in each cluster of each member."""
    return cluster_sums(rows.members, rows.starts, rows.counts[:, None].astype(float))[:, 0]


def sec_degrees(rows: Rows, weights: Floats) -> tuple[Floats, Floats]:
    """Row sums d_i of the weighted co-association, and the weight of each row's members."""
    per_cluster = np.repeat(weights, np.diff(rows.starts)) * cluster_sizes(rows)
    degree = row_sums(rows.members, rows.starts, per_cluster[:, None])[:, 0]
    return degree, weights @ (rows.members >= 0)


def sec_price(rows: Rows, weights: Floats) -> Price:
    """Prices of SEC's centres: mu_q = sqrt(w) counts_q / d(q), with d(q) from the counts too."""
    w = np.repeat(weights, np.diff(rows.starts))
    degree, present = sec_degrees(rows, weights)
    loads = w * cluster_sizes(rows)
    total = float((rows.counts * present / degree).sum())

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        mass = loads @ table
        # A centre without objects has mass 0 and counts 0: any divisor will do.
        share = table / np.where(mass > 0, mass, 1.0)
        norms = w @ share**2
        return -2.0 * w[:, None] * share, norms, total - float(norms @ mass)

    return price


def kcc_price(rows: Rows, weights: Floats, utility: Utility, p: float, normalised: bool) -> Price:
    """Prices of KCC's centres: what a label costs where its member's clusters have shares m."""
    widths = np.diff(rows.starts)
    edges = rows.starts[:-1][widths > 0]
    place = np.repeat(np.arange(len(edges)), widths[widths > 0])

    def per_member(values: Floats) -> Floats:
        """Sums over each member's clusters, repeated for each of them."""
        return np.add.reduceat(values, edges, axis=0)[place]

    cost, own = _DISTANCES[utility]
    whole = cluster_sizes(rows)[:, None]
    overall = whole / per_member(whole)
    w = np.repeat(weights, widths)[:, None]
    if normalised:
        unit = own(overall, per_member, p)
        # A member with one cluster has no entropy, and costs nothing anyway.
        w = np.divide(w, unit, out=np.zeros_like(w), where=unit > 0)

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        seen = per_member(table.astype(float))
        m = np.where(seen > 0, table / np.where(seen > 0, seen, 1.0), overall)
        costs = w * cost(m, per_member, p)
        return costs, np.zeros(table.shape[1]), float((table * costs).sum())

    return price


def _entropy(m: Floats, sums: Sums, _: float) -> Floats:
    return sums(-m * np.log(np.maximum(m, _FLOOR)))


def _norm(m: Floats, sums: Sums, p: float) -> Floats:
    return sums(m**p) ** (1.0 / p)


# Per utility: cost of a label at a centre, and the utility of a member's own distribution.
_DISTANCES: dict[str, tuple[Callable[..., Floats], Callable[..., Floats]]] = {
    "c": (lambda m, sums, _: 1.0 - 2.0 * m + sums(m**2), lambda m, sums, _: sums(m**2)),
    "h": (lambda m, *_: -np.log(np.maximum(m, _FLOOR)), _entropy),
    "cos": (
        lambda m, sums, _: 1.0 - m / _norm(m, sums, 2.0),
        lambda m, sums, _: _norm(m, sums, 2.0),
    ),
    "lp": (lambda m, sums, p: 1.0 - (m / _norm(m, sums, p)) ** (p - 1.0), _norm),
}


def label_runs(
    rows: Rows,
    k: int,
    price: Price,
    *,
    n_init: int,
    max_iter: int,
    random_state: Any,
    n_jobs: int | None,
    scale: Floats | None = None,
    shift: Floats | None = None,
) -> list[LabelRuns]:
    """Runs of k-means: the first from the spectral start, the others from random labels."""
    u = rows.n_rows
    scale = np.ones(u) if scale is None else scale
    shift = np.zeros(u) if shift is None else shift
    seeds = draw_seeds(random_state, n_init)
    first = spectral_start(rows, k, seeds[0])

    def run(number: int) -> LabelRuns:
        labels = first if number == 0 else None
        if labels is None:
            labels = np.random.default_rng(seeds[number]).integers(0, k, u, np.int32)
        return lloyd(
            rows.members,
            rows.starts,
            rows.counts,
            scale,
            shift,
            labels,
            k,
            price,
            max_iter=max_iter,
        )

    return several(run, range(n_init), n_jobs)
