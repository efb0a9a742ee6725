"""The distribution of consensus values: histograms of pairs and what is read off them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.engines import engine_for
from consilience.ensemble import UNSEEN, Ensemble

__all__ = [
    "Pairs",
    "Values",
    "ambiguous_share",
    "consensus_values",
    "cumulative",
    "delta_areas",
    "mean_value",
    "permuted",
    "random_pairs",
]

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


class Values(NamedTuple):
    """Consensus values that occur, and how many pairs have each; pairs nobody saw left out."""

    values: Floats
    counts: NDArray[np.int64]


def random_pairs(n: int, size: int, rng: np.random.Generator) -> Pairs | None:
    """Random pairs of different objects; None where there are no more than ``size`` in all."""
    if n * (n - 1) // 2 <= size:
        return None
    first = rng.integers(0, n, size)
    return first, (first + rng.integers(1, n, size)) % n


def consensus_values(ensemble: Ensemble, pairs: Pairs | None, *, n_jobs: int = 1) -> Values:
    """Joined / seen over all pairs of objects, or over some of them.

    Exact: pairs are counted by the two whole numbers. Memory: two bytes a pair (up to 255
    members), and a table of R^2.
    """
    n_members = ensemble.n_members
    if pairs is None:
        joined, seen = engine_for(ensemble.members).pair_counts(
            with_seen=ensemble.has_unseen, condensed=True, n_jobs=n_jobs
        )
    else:
        joined, seen = _count(ensemble, *pairs)
    codes = joined.astype(np.int64)
    codes += (n_members + 1) * (n_members if seen is None else seen.astype(np.int64))
    table = np.bincount(codes, minlength=(n_members + 1) ** 2)
    occurs = np.flatnonzero(table)
    denominators, numerators = np.divmod(occurs, n_members + 1)
    together = denominators > 0
    values, place = np.unique(numerators[together] / denominators[together], return_inverse=True)
    counts = np.bincount(place, table[occurs][together]).astype(np.int64)
    return Values(values, counts)


def _count(
    ensemble: Ensemble, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Members that joined and that saw each of some pairs."""
    joined, seen = np.zeros(len(first), np.int64), np.zeros(len(first), np.int64)
    for labels in ensemble:
        a, b = labels[first], labels[second]
        joined += (a == b) & (a >= 0)
        seen += (a != UNSEEN) & (b != UNSEEN)
    return joined, seen


def cumulative(consensus: Values, thresholds: Floats) -> Floats:
    """Share of the pairs with a consensus of at most each threshold; 1 where there are none."""
    below = np.concatenate([[0], np.cumsum(consensus.counts)])
    places = np.searchsorted(consensus.values, thresholds, side="right")
    return below[places] / below[-1] if below[-1] else np.ones(len(thresholds))


def mean_value(consensus: Values) -> float:
    """Mean consensus of the pairs; 0 where there are none."""
    total = int(consensus.counts.sum())
    return float(consensus.values @ consensus.counts) / total if total else 0.0


def ambiguous_share(consensus: Values, low: float, high: float) -> float:
    """Share of the pairs whose consensus lies above ``low`` and not above ``high``."""
    below, above = cumulative(consensus, np.array([low, high]))
    return float(above - below)


def delta_areas(areas: Floats) -> Floats:
    """Gain of each area over the largest before it, relative to that; the first area itself."""
    deltas = areas.copy()
    for place in range(1, len(areas)):
        before = areas[:place].max()
        if before > 0:
            deltas[place] = (areas[place] - before) / before
    return deltas


def permuted(X: Any, rng: np.random.Generator) -> Any:
    """Data whose columns are shuffled independently: the same features, no structure."""
    if not sparse.issparse(X):
        return rng.permuted(X, axis=0)
    columns = sparse.csc_array(X, copy=True)
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[start:stop] = rng.permutation(X.shape[0])[: stop - start]
    columns.has_sorted_indices = False
    return sparse.csr_array(columns)
