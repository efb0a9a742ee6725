"""Consensus by vote: clusters matched one to one, or votes passed on as shares."""

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from consilience._validation import Options
from consilience.consensus._base import FixedNumber
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.consensus._votes import (
    entropies,
    information_with,
    merge_columns,
    mutual_information,
    pass_on_votes,
    shared_information,
    shared_pairs,
)
from consilience.consensus.kmeans_forms import kcc
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.kernels.votes import cast_votes, overlap

__all__ = ["CumulativeVoting", "Voting", "cumulativevoting", "voting"]

Reference = Literal["agreement", "entropy"]


@consensus_method(
    estimator="Voting",
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
    >>> found = voting(ens, 2, random_state=0)
    >>> found.labels, found.memberships[3].round(2).tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [0.33, 0.67])
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rng = check_random_state(random_state)
        rows = distinct_rows(placed)
        start, reference, order = _reference(placed, rows, k, rng, n_jobs)
        votes, matches = _collect(rows, start, reference, order, k)
        labels = _plurality(votes, rng)
        shares = votes / votes.sum(axis=1, keepdims=True)
        top = shares[np.arange(rows.n_rows), labels]
        return ConsensusResult(
            labels[rows.inverse],
            objective=float(rows.counts @ top / rows.counts.sum()),
            memberships=shares[rows.inverse],
            details={"reference": "kcc" if reference < 0 else reference, "matches": matches},
        )

    return solve(ensemble, n_clusters, run, owner="Voting", X=X)


def _reference(
    placed: Ensemble, rows: Rows, k: int, rng: Any, n_jobs: int | None
) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """Labels to match to, the member they are (-1: none), and the members in voting order."""
    shared = shared_information(rows, n_jobs=n_jobs or 1)
    n = len(shared)
    # The mean over the others; a member says nothing about itself.
    best = int(((shared.sum(axis=1) - shared.diagonal()) / max(n - 1, 1)).argmax())
    if rows.starts[best + 1] - rows.starts[best] == k:
        start = rows.members[best].astype(np.int64)
        order = np.argsort(-shared[best], kind="stable")
        return start, best, order[order != best]
    found = kcc(placed, k, random_state=rng, n_jobs=n_jobs)
    start = np.empty(rows.n_rows, np.int64)
    start[rows.inverse] = found.labels
    # Columns in the order of the rows: ties then do not depend on that of the objects.
    _, first, start = np.unique(start, return_index=True, return_inverse=True)
    start = np.argsort(np.argsort(first))[start]
    near = information_with(rows, start)
    return start, -1, np.argsort(-near, kind="stable")


def _collect(
    rows: Rows, start: NDArray[np.int64], reference: int, order: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], list[list[int]]]:
    """Votes of all members on each row, and what each cluster of each member voted for."""
    votes = np.zeros((rows.n_rows, k), np.int32)
    own = np.arange(k)
    cast_votes(start, own, votes, 1)
    matches: list[list[int]] = [[] for _ in rows.members]
    if reference >= 0:
        matches[reference] = own.tolist()
    for member in order:
        width = int(rows.starts[member + 1] - rows.starts[member])
        match = _match(overlap(rows.members[member], width, rows.counts, votes))
        matches[member] = match.tolist()
        cast_votes(rows.members[member], match, votes, 1)
    if reference < 0:
        cast_votes(start, own, votes, -1)
    return votes, matches


def _match(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """The column of each row: one to one with the largest sum, rows left over to their best."""
    match: NDArray[np.int64] = table.argmax(axis=1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    match[rows] = columns
    return match


def _plurality(votes: NDArray[np.int32], rng: Any) -> NDArray[np.int32]:
    """The column with the most votes; ties are drawn, once for all objects of a row."""
    labels = votes.argmax(axis=1)
    most = votes == votes.max(axis=1, keepdims=True)
    tied = np.flatnonzero(most.sum(axis=1) > 1)
    if tied.size:
        keys = np.where(most[tied], rng.random_sample((len(tied), votes.shape[1])), -1.0)
        labels[tied] = keys.argmax(axis=1)
    return labels.astype(np.int32)


@consensus_method(
    estimator="CumulativeVoting",
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
    n_jobs : int or None
        Threads of the agreement; None means one.

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
    >>> found = cumulativevoting(ens, 2)
    >>> found.labels, found.memberships[0].round(2).tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [0.92, 0.08])
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        widths = np.diff(rows.starts)
        order = _ranked(rows, reference, k, n_jobs)
        shares = pass_on_votes(rows, order)
        shares, lost = merge_columns(shares, rows.counts, k)
        if shares.shape[1] < k:
            warnings.warn(
                f"n_clusters={k} was asked for, but no member has more than {widths.max()} "
                "clusters, and CumulativeVoting only merges them. Use members with more clusters.",
                ConsilienceWarning,
                stacklevel=5,
            )
        return ConsensusResult(
            shares.argmax(axis=1).astype(np.int32)[rows.inverse],
            objective=mutual_information(shares, rows.counts),
            memberships=shares[rows.inverse],
            details={"reference": int(order[0]), "order": order, "lost": lost},
        )

    return solve(ensemble, n_clusters, run, owner="CumulativeVoting", X=X)


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
