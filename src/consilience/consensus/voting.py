"""Consensus by vote: clusters matched one to one, or votes passed on as shares."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from consilience._validation import Options
from consilience.consensus._base import FixedNumber
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._soft_rows import SoftRows
from consilience.consensus._solve import ConsensusResult, cluster_order, solve
from consilience.consensus.kmeans_forms import kcc
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.kernels._parallel import by_rows, in_threads

__all__ = ["CumulativeVoting", "Voting", "cumulativevoting", "voting"]

Floats = NDArray[np.float64]
Reference = Literal["agreement", "entropy"]
# From counts to what is added up over a table; from those sums to a score of two members.
Of = Callable[[Any], Any]
Score = Callable[[Any, Any, Any, Any], Any]

# All contingency tables at once while they have at most this many rows: 128 MB.
_MOST_CLUSTERS = 4000
# Rows whose shares are worked on at once.
_BLOCK = 1 << 13
# Below this an entropy is that of a single cluster, up to rounding.
_NO_ENTROPY = 1e-12


@consensus_method(
    estimator="Voting",
    by_rows=True,
    paper="Dudoit & Fridlyand 2003",
    memory="n (R + k) + n_c^2",
)
def voting(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by plurality vote, after matching each member's clusters to a reference.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all. A member has no vote on
        objects it calls noise or did not see.
    n_clusters : int
        Clusters wanted; those that win no object vanish.
    random_state : int, RandomState or None
        Breaks ties of votes, and seeds `kcc` where that is the reference. The order of the
        objects does not matter, and equal objects stay together.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the shares of the votes cast on each object; ``objective`` the
        mean share of the winner. ``details["reference"]`` is the number of the member that
        the others were matched to, or "kcc"; ``details["matches"]`` the cluster that each
        cluster of each member voted for.

    Notes
    -----
    The reference is the member that shares the most information with the others (mean
    normalised mutual information) if it has ``n_clusters`` clusters, otherwise the result
    of `kcc`, which then has no vote of its own. The other members follow by decreasing
    information shared with the reference: their clusters are matched one to one to the
    columns of the votes so far, with the largest overlap (Hungarian method); clusters left
    over go where their overlap is largest. Time O(n R (R + k) + R k^3), on distinct rows.

    References
    ----------
    Dudoit & Fridlyand (2003), Bagging to improve the accuracy of a clustering procedure,
    Bioinformatics 19(9), BagClust1. Topchy, Law, Jain & Fred (2004), Analysis of consensus
    partition in cluster ensembles, ICDM.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = voting(ens, 2, random_state=0)
    >>> result.labels, result.memberships[3].round(2).tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [0.33, 0.67])
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rng = check_random_state(random_state)
        rows = distinct_rows(placed, n_jobs=n_jobs)
        start, reference, order = _reference(placed, rows, k, rng, n_jobs)
        votes, matches = _collect(rows, start, reference, order, k, n_jobs)
        labels = _plurality(votes, rng, n_jobs)
        shares, top = _shares(votes, labels, n_jobs)
        labels = rows.of_objects(labels, n_jobs)
        number = np.argsort(cluster_order(labels, k, n_jobs=n_jobs)).tolist()
        matches = [[number[cluster] for cluster in match] for match in matches]
        return ConsensusResult(
            labels,
            objective=float(rows.counts @ top / rows.counts.sum()),
            memberships=rows.of_objects(shares, n_jobs),
            details={"reference": "kcc" if reference < 0 else reference, "matches": matches},
        )

    return solve(ensemble, n_clusters, run, owner="Voting", X=X, n_jobs=n_jobs)


def _reference(
    placed: Ensemble, rows: Rows, k: int, rng: Any, n_jobs: int | None
) -> tuple[NDArray[Any], int, NDArray[np.int64]]:
    """Labels to match to, the member they are (-1: none), and the members in voting order."""
    shared = shared_information(rows, n_jobs=n_jobs or 1)
    n = len(shared)
    # The mean over the others; a member says nothing about itself.
    best = int(((shared.sum(axis=1) - shared.diagonal()) / max(n - 1, 1)).argmax())
    if rows.starts[best + 1] - rows.starts[best] == k:
        start = rows.votes_of(best)
        order = np.argsort(-shared[best], kind="stable")
        return start, best, order[order != best]
    consensus = kcc(placed, k, random_state=rng, n_jobs=n_jobs)
    start = np.empty(rows.n_rows, np.int64)
    start[rows.inverse] = consensus.labels
    # Columns in the order of the rows: ties then do not depend on that of the objects.
    _, first, start = np.unique(start, return_index=True, return_inverse=True)
    start = np.argsort(np.argsort(first))[start]
    near = information_with(rows, start)
    return start, -1, np.argsort(-near, kind="stable")


def _collect(
    rows: Rows,
    start: NDArray[Any],
    reference: int,
    order: NDArray[np.int64],
    k: int,
    n_jobs: int | None,
) -> tuple[NDArray[Any], list[list[int]]]:
    """Votes of all members on each row, and what each cluster of each member voted for."""
    own = np.arange(k)
    matches: list[list[int]] = [[] for _ in rows.members]
    if reference >= 0:
        matches[reference] = own.tolist()
    with rows.ballot(k, n_jobs) as ballot:
        ballot.cast(start, own)
        for member in order:
            width = int(rows.starts[member + 1] - rows.starts[member])
            match = _match(ballot.overlap(rows.votes_of(member), width))
            matches[member] = match.tolist()
            ballot.cast(rows.votes_of(member), match)
        if reference < 0:
            ballot.cast(start, own, -1)
    return ballot.votes, matches


def _match(table: NDArray[Any]) -> NDArray[np.int64]:
    """The column of each row: one to one with the largest sum, rows left over to their best."""
    match: NDArray[np.int64] = table.argmax(axis=1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    match[rows] = columns
    return match


def _plurality(votes: NDArray[Any], rng: Any, n_jobs: int | None) -> NDArray[np.int32]:
    """The column with the most votes; ties are drawn, once for all objects of a row."""
    labels, tie = np.empty(len(votes), np.int32), np.empty(len(votes), bool)

    def look(rows: slice) -> None:
        labels[rows] = votes[rows].argmax(axis=1)
        most = votes[rows] == votes[rows].max(axis=1, keepdims=True)
        tie[rows] = most.sum(axis=1) > 1

    by_rows(look, len(votes), n_jobs)
    tied = np.flatnonzero(tie)
    if tied.size:
        most = votes[tied] == votes[tied].max(axis=1, keepdims=True)
        keys = np.where(most, rng.random_sample((len(tied), votes.shape[1])), -1.0)
        labels[tied] = keys.argmax(axis=1)
    return labels


def _shares(
    votes: NDArray[Any], labels: NDArray[np.int32], n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Shares of the votes cast on each row, and that of its label."""
    shares, own = np.empty(votes.shape), np.empty(len(votes))

    def divide(rows: slice) -> None:
        np.divide(votes[rows], votes[rows].sum(axis=1, keepdims=True), out=shares[rows])
        own[rows] = shares[rows][np.arange(len(own[rows])), labels[rows]]

    by_rows(divide, len(votes), n_jobs)
    return shares, own


@consensus_method(
    estimator="CumulativeVoting",
    by_rows=True,
    paper="Ayad & Kamel 2008",
    memory="n (R + max k_r)",
    rules={"reference": [Options(("agreement", "entropy"))]},
)
def cumulativevoting(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    reference: Reference = "agreement",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by votes that each cluster passes on in the shares its objects already have.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. A member has no vote on objects it calls noise or
        did not see.
    n_clusters : int
        Clusters wanted; at most as many as the member with the most. Clusters that win no
        object vanish.
    reference : {"agreement", "entropy"}, default="agreement"
        Which member the others vote on, and their order: the one that agrees most with the
        others on average, by the adjusted Rand index, in which random members of many
        clusters gain nothing; or, as published, the one of highest entropy, which a single
        such member is.
    random_state : ignored
        The method draws nothing.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the objects' shares p(q | i); ``objective`` the mutual
        information of clusters and objects, in nats. ``details`` has the ``reference``
        member, the ``order`` of the members and the information ``lost`` by merging.

    Notes
    -----
    The reference is the first of those members that have at least ``n_clusters`` clusters,
    where there are any; the others follow by decreasing agreement, or entropy. A cluster
    votes with the mean shares of its objects, and an object's shares are the mean of the
    votes it has got so far (adaptive voting). The columns of the reference are then merged
    pair by pair to ``n_clusters``, each time the two whose objects' distributions differ
    least: (pi_a + pi_b) times their weighted Jensen-Shannon divergence, which is the
    information about the objects that the merge loses. Objects that no vote reaches get the
    overall shares. Time O(n (R k_0 + k_0^2)) on distinct rows, k_0 the reference's
    clusters.

    References
    ----------
    Ayad & Kamel (2008), Cumulative voting consensus method for partitions with a variable
    number of clusters, IEEE TPAMI 30(1).

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2], [5, 5, 5, 7, 7, 5]])
    >>> result = cumulativevoting(ens, 2)
    >>> result.labels, result.memberships[0].round(2).tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [0.92, 0.08])
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        widths = np.diff(rows.starts)
        order = _ranked(rows, reference, k, n_jobs)
        shares = pass_on_votes(rows, order, n_jobs=n_jobs)
        shares, lost = merge_columns(shares, rows.counts, k, n_jobs=n_jobs)
        if shares.shape[1] < k:
            warn(
                f"n_clusters={k} was asked for, but no member has more than {widths.max()} "
                "clusters, and CumulativeVoting only merges them. Use members with more clusters.",
            )
        return ConsensusResult(
            rows.of_objects(_largest(shares, n_jobs), n_jobs),
            objective=mutual_information(shares, rows.counts, n_jobs=n_jobs),
            memberships=rows.of_objects(shares, n_jobs),
            details={"reference": int(order[0]), "order": order, "lost": lost},
        )

    return solve(ensemble, n_clusters, run, owner="CumulativeVoting", X=X, n_jobs=n_jobs)


def _largest(shares: Floats, n_jobs: int | None) -> NDArray[np.int32]:
    """The column of the largest share of each row."""
    labels = np.empty(len(shares), np.int32)

    def look(rows: slice) -> None:
        labels[rows] = shares[rows].argmax(axis=1)

    by_rows(look, len(shares), n_jobs)
    return labels


def _ranked(rows: Rows, reference: Reference, k: int, n_jobs: int | None) -> NDArray[np.int64]:
    """Members by decreasing agreement or entropy; the first has enough clusters.

    Where none has enough, the best of those with most: a member may have none at all.
    """
    widths = np.diff(rows.starts)
    ranks = entropies(rows) if reference == "entropy" else _agreement(rows, n_jobs)
    # More clusters first on ties: a member without any cannot be the reference.
    order = np.lexsort((-widths, -ranks))
    enough = widths[order] >= min(k, int(widths.max()))
    first = int(np.argmax(enough))
    return np.concatenate([order[first : first + 1], np.delete(order, first)])


def _agreement(rows: Rows, n_jobs: int | None) -> NDArray[np.float64]:
    """Mean adjusted Rand index of each member with the others; it says nothing of itself."""
    shared = shared_pairs(rows, n_jobs=n_jobs or 1)
    total: NDArray[np.float64] = shared.sum(axis=1) - shared.diagonal()
    # Rounded, so that equal members tie whatever the order of the sums.
    return (total / max(len(shared) - 1, 1)).round(12)


def _xlogx(x: Any) -> Any:
    return x * np.log(np.where(x > 0, x, 1.0))


def entropies(rows: Rows) -> Floats:
    """Entropy of each member's distribution of placed objects over its clusters, in nats."""
    entropy, whole = np.zeros(len(rows.members)), rows.cluster_sizes()
    for r, (start, stop) in enumerate(pairwise(rows.starts)):
        if start < stop:
            sizes = whole[start:stop]
            entropy[r] = np.log(sizes.sum()) - _xlogx(sizes).sum() / sizes.sum()
    return entropy


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
    if rows.starts[-1] > _MOST_CLUSTERS and not isinstance(rows, SoftRows):
        return np.stack([_with_labels(rows, own, of_count, score) for own in rows.members])
    widths = np.diff(rows.starts)
    used = np.flatnonzero(widths)
    scores = np.zeros((len(widths), len(widths)))
    if not used.size:
        return scores
    edges = rows.starts[used]
    table = rows.contingency(rows.counts.astype(float), n_jobs=n_jobs)
    # Per cluster and member: objects of the cluster that the member placed.
    margins = np.add.reduceat(table, edges, axis=1)
    totals = np.add.reduceat(margins, edges, axis=0)
    own = np.add.reduceat(of_count(margins), edges, axis=0)
    cells = np.add.reduceat(np.add.reduceat(of_count(table), edges, axis=0), edges, axis=1)
    scores[np.ix_(used, used)] = score(cells, own, own.T, totals)
    return scores


def information_with(rows: Rows, labels: NDArray[Any]) -> Floats:
    """Normalised mutual information of a labeling of the rows with every member."""
    return _with_labels(rows, labels, _xlogx, _normalised)


def _with_labels(rows: Rows, labels: NDArray[Any], of_count: Of, score: Score) -> Floats:
    k = int(labels.max(initial=-1)) + 1
    sums = rows.part_sums(labels.astype(np.int32), k, rows.counts.astype(float))
    scores = np.zeros(len(rows.members))
    for r, (start, stop) in enumerate(pairwise(rows.starts)):
        table = np.ascontiguousarray(sums[start:stop].T)
        own, others = (of_count(table.sum(axis=axis)).sum() for axis in (1, 0))
        scores[r] = score(of_count(table).sum(), own, others, table.sum())
    return scores


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


def pass_on_votes(rows: Rows, order: NDArray[np.int64], *, n_jobs: int | None = None) -> Floats:
    """Shares of each row in the clusters of the first member, after all have voted in order."""
    shares, n_votes = rows.pass_on(int(order[0]), order[1:].tolist(), n_jobs=n_jobs)
    silent = n_votes == 0
    if silent.any():
        overall = rows.counts @ shares
        shares[silent] = overall / overall.sum()
    return shares


def merge_columns(
    shares: Floats, counts: NDArray[np.int64], k: int, *, n_jobs: int | None = None
) -> tuple[Floats, float]:
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
        loss[a, a + 1 :] = _losses(shares, weights, pi, own, a, np.arange(a + 1, len(kept)), n_jobs)
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
            fresh = _losses(shares, weights, pi, own, a, others, n_jobs)
            loss[np.minimum(a, others), np.maximum(a, others)] = fresh
    return np.ascontiguousarray(shares[:, kept]), lost


def _losses(
    shares: Floats,
    weights: Floats,
    pi: Floats,
    own: Floats,
    a: int,
    others: NDArray[np.int64],
    n_jobs: int | None,
) -> Floats:
    """Information lost if column a is merged with each of the others.

    (pi_a + pi_b) JS = sum over objects of f(p_a) + f(p_b) - f(p_a + p_b), less the same of
    pi, with f(x) = x log x; what depends on an object's own weight cancels.
    """

    def of_block(block: slice) -> Floats:
        joint = weights[block, None] * (shares[block, a, None] + shares[block][:, others])
        sums: Floats = _xlogx(joint).sum(axis=0)
        return sums

    # Added in the order of the blocks, whoever made them.
    together = sum(in_threads(of_block, _blocks(len(shares)), n_jobs), np.zeros(len(others)))
    apart = own[a] + own[others] - together
    return apart - (_xlogx(pi[a]) + _xlogx(pi[others]) - _xlogx(pi[a] + pi[others]))


def mutual_information(
    shares: Floats, counts: NDArray[np.int64], *, n_jobs: int | None = None
) -> float:
    """Mutual information of columns and objects, in nats."""
    weights = counts / counts.sum()

    def of_block(block: slice) -> float:
        return float(weights[block] @ _xlogx(shares[block]).sum(axis=1))

    total = sum(in_threads(of_block, _blocks(len(shares)), n_jobs))
    return max(total - float(_xlogx(weights @ shares).sum()), 0.0)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]


class Voting(FixedNumber, function=voting):
    """Cluster by plurality vote; see `voting` for the method.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`. Members
        with ``n_clusters`` clusters each suit the method best.
    """


class CumulativeVoting(FixedNumber, function=cumulativevoting):
    """Cluster by cumulative votes; see `cumulativevoting` for the method."""

    reference: Reference = "agreement"
