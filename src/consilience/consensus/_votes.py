"""What voting counts: information that members share, votes passed on, columns merged."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._rows import Rows
from consilience.kernels.contingency import cluster_contingency
from consilience.kernels.votes import pass_on

__all__ = [
    "entropies",
    "information_with",
    "merge_columns",
    "mutual_information",
    "pass_on_votes",
    "shared_information",
    "shared_pairs",
]

Floats = NDArray[np.float64]
# From counts to what is added up over a table; from those sums to a score of two members.
Of = Callable[[Any], Any]
Score = Callable[[Any, Any, Any, Any], Any]

# All contingency tables at once while they have at most this many rows: 128 MB.
_MOST_CLUSTERS = 4000
# Rows whose shares are worked on at once.
_BLOCK = 1 << 13
# Below this an entropy is that of a single cluster, up to rounding.
_NO_ENTROPY = 1e-12


def _xlogx(x: Any) -> Any:
    return x * np.log(np.where(x > 0, x, 1.0))


def entropies(rows: Rows) -> Floats:
    """Entropy of each member's distribution of placed objects over its clusters, in nats."""
    found = np.zeros(len(rows.members))
    for r, labels in enumerate(rows.members):
        placed = labels >= 0
        if placed.any():
            sizes = np.bincount(labels[placed], rows.counts[placed])
            found[r] = np.log(sizes.sum()) - _xlogx(sizes).sum() / sizes.sum()
    return found


def shared_information(rows: Rows, *, n_jobs: int = 1) -> Floats:
    """Normalised mutual information of all pairs of members, over objects both placed.

    Geometric mean of the entropies; 0 where no object counts or only one has one cluster.
    """
    return _of_all_pairs(rows, _xlogx, _normalised, n_jobs)


def shared_pairs(rows: Rows, *, n_jobs: int = 1) -> Floats:
    """Adjusted Rand index of all pairs of members, over objects both placed.

    Unlike information it is 0 on average for a random member, however many clusters it has.
    """
    return _of_all_pairs(rows, np.square, _adjusted, n_jobs)


def _of_all_pairs(rows: Rows, of_count: Of, score: Score, n_jobs: int) -> Floats:
    """A score of all pairs of members from sums over the cells and margins of their tables."""
    if rows.starts[-1] > _MOST_CLUSTERS:
        return np.stack([_with_labels(rows, own, of_count, score) for own in rows.members])
    widths = np.diff(rows.starts)
    used = np.flatnonzero(widths)
    found = np.zeros((len(widths), len(widths)))
    if not used.size:
        return found
    edges = rows.starts[used]
    table = cluster_contingency(rows.members, rows.counts.astype(float), n_jobs=n_jobs)
    # Per cluster and member: objects of the cluster that the member placed.
    margins = np.add.reduceat(table, edges, axis=1)
    totals = np.add.reduceat(margins, edges, axis=0)
    own = np.add.reduceat(of_count(margins), edges, axis=0)
    cells = np.add.reduceat(np.add.reduceat(of_count(table), edges, axis=0), edges, axis=1)
    found[np.ix_(used, used)] = score(cells, own, own.T, totals)
    return found


def information_with(rows: Rows, labels: NDArray[Any]) -> Floats:
    """Normalised mutual information of a labeling of the rows with every member."""
    return _with_labels(rows, labels, _xlogx, _normalised)


def _with_labels(rows: Rows, labels: NDArray[Any], of_count: Of, score: Score) -> Floats:
    k = int(labels.max(initial=-1)) + 1
    found = np.zeros(len(rows.members))
    for r, member in enumerate(rows.members):
        both = np.flatnonzero((member >= 0) & (labels >= 0))
        width = int(rows.starts[r + 1] - rows.starts[r])
        codes = labels[both].astype(np.int64) * width + member[both]
        table = np.bincount(codes, rows.counts[both], k * width).reshape(k, width)
        own, others = (of_count(table.sum(axis=axis)).sum() for axis in (1, 0))
        found[r] = score(of_count(table).sum(), own, others, table.sum())
    return found


def _normalised(cells: Any, rows: Any, columns: Any, totals: Any) -> Any:
    """Information over the geometric mean of entropies, from sums of x log x."""
    n = np.maximum(totals, 1.0)
    log = np.log(n)
    entropy_a, entropy_b = log - rows / n, log - columns / n
    single_a, single_b = entropy_a < _NO_ENTROPY, entropy_b < _NO_ENTROPY
    mean = np.sqrt(np.where(single_a | single_b, 1.0, entropy_a * entropy_b))
    shared = (log + (cells - rows - columns) / n) / mean
    shared = np.where(single_a | single_b, (single_a & single_b).astype(float), shared)
    # Rounded, so that equal members tie whatever the order of the sums.
    return np.where(totals > 0, np.clip(shared, 0.0, 1.0).round(12), 0.0)


def _adjusted(cells: Any, rows: Any, columns: Any, totals: Any) -> Any:
    """Adjusted Rand index from sums of squares of the cells and margins; 0 if undefined."""
    joined, own, others, pairs = ((x - totals) / 2 for x in (cells, rows, columns, totals**2))
    by_chance = own * others / np.maximum(pairs, 1.0)
    most = (own + others) / 2 - by_chance
    defined = most > _NO_ENTROPY
    # Rounded, so that equal members tie whatever the order of the sums.
    return np.where(defined, (joined - by_chance) / np.where(defined, most, 1.0), 0.0).round(12)


def pass_on_votes(rows: Rows, order: NDArray[np.int64]) -> Floats:
    """Shares of each row in the clusters of the first member, after all have voted in order."""
    first = rows.members[order[0]]
    shares = np.zeros((rows.n_rows, int(first.max()) + 1))
    placed = np.flatnonzero(first >= 0)
    shares[placed, first[placed]] = 1.0
    n_votes = (first >= 0).astype(np.int64)
    for member in order[1:]:
        width = int(rows.starts[member + 1] - rows.starts[member])
        pass_on(rows.members[member], width, rows.counts, shares, n_votes)
    silent = n_votes == 0
    if silent.any():
        overall = rows.counts @ shares
        shares[silent] = overall / overall.sum()
    return shares


def merge_columns(shares: Floats, counts: NDArray[np.int64], k: int) -> tuple[Floats, float]:
    """Shares with at most k columns, merged with the least loss of information, and the loss."""
    weights = counts / counts.sum()
    kept = list(range(shares.shape[1]))
    if len(kept) <= k:
        return shares, 0.0
    shares = shares.copy()
    pi = weights @ shares
    own = sum(_xlogx(weights[b, None] * shares[b]).sum(axis=0) for b in _blocks(len(shares)))
    loss = np.full((len(kept), len(kept)), np.inf)
    for a in kept[:-1]:
        loss[a, a + 1 :] = _losses(shares, weights, pi, own, a, np.arange(a + 1, len(kept)))
    lost = 0.0
    while len(kept) > k:
        a, b = (int(q) for q in np.unravel_index(loss.argmin(), loss.shape))
        lost += max(float(loss[a, b]), 0.0)
        shares[:, a] += shares[:, b]
        pi[a] += pi[b]
        own[a] = sum(_xlogx(weights[c] * shares[c, a]).sum() for c in _blocks(len(shares)))
        kept.remove(b)
        loss[b], loss[:, b] = np.inf, np.inf
        others = np.array([q for q in kept if q != a])
        if others.size:
            fresh = _losses(shares, weights, pi, own, a, others)
            loss[np.minimum(a, others), np.maximum(a, others)] = fresh
    return np.ascontiguousarray(shares[:, kept]), lost


def _losses(
    shares: Floats, weights: Floats, pi: Floats, own: Floats, a: int, others: NDArray[np.int64]
) -> Floats:
    """Information lost if column a is merged with each of the others.

    (pi_a + pi_b) JS = sum over objects of f(p_a) + f(p_b) - f(p_a + p_b), less the same of
    pi, with f(x) = x log x; what depends on an object's own weight cancels.
    """
    together = np.zeros(len(others))
    for block in _blocks(len(shares)):
        joint = weights[block, None] * (shares[block, a, None] + shares[block][:, others])
        together += _xlogx(joint).sum(axis=0)
    apart = own[a] + own[others] - together
    return apart - (_xlogx(pi[a]) + _xlogx(pi[others]) - _xlogx(pi[a] + pi[others]))


def mutual_information(shares: Floats, counts: NDArray[np.int64]) -> float:
    """Mutual information of columns and objects, in nats."""
    weights = counts / counts.sum()
    total = 0.0
    for block in _blocks(len(shares)):
        total += float(weights[block] @ _xlogx(shares[block]).sum(axis=1))
    return max(total - float(_xlogx(weights @ shares).sum()), 0.0)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
