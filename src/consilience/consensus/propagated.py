"""Propagated similarities of clusters: clusters are alike if walks from them take the same paths.

Only the matrix of clusters x clusters is walked on (ECPCS).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import COUNT, MEMORY, memory_in_bytes
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_n_columns
from consilience.consensus._registry import consensus_method
from consilience.consensus._row_links import (
    check_budget,
    link_distances,
    seen_together,
    tree_result,
)
from consilience.consensus._rows import distinct_rows, several
from consilience.consensus._rules import LINKS, MISSING, Link
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus.links import jaccard, noise_as_clusters, own_member_vectors
from consilience.consensus.metacluster import let_compete
from consilience.ensemble import Ensemble
from consilience.evidence import Missing
from consilience.partition import one_thread, similarity_graph, spectral

__all__ = ["ECPCSHC", "ECPCSMC", "ecpcshc", "ecpcsmc"]

Floats = NDArray[np.float64]

# Columns of a product made together: fixed, so that no sum depends on the number of threads.
_COLUMNS = 256


@consensus_method(
    estimator="ECPCSHC",
    paper="Huang, Wang, Peng, Lai & Kwoh 2021",
    memory="u^2 + n_c^2 (u distinct label rows)",
    rules={"n_steps": COUNT, "linkage": LINKS, "missing": MISSING, "max_memory": MEMORY},
)
def ecpcshc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_steps: int = 20,
    linkage: Link = "average",
    missing: Missing = "pair",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Cut the dendrogram of the co-association in which alike clusters count as well.

    Parameters
    ----------
    n_steps : int, default=20
        Length of the walks between clusters.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their objects.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw both objects, or by all.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Of the matrix of pairs; where it needs more, an error points to `ecpcsmc`.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    ConsensusResult
        ``details`` holds ``linkage``, the dendrogram in SciPy's format over the objects that
        some member placed.

    Notes
    -----
    Walks go from cluster to cluster with probabilities proportional to their Jaccard
    indices; two clusters are as similar as the cosine between the probabilities of where
    walks from them are after 1, 2, ... steps. Two objects in one cluster of a member score 1
    there, in two clusters of it the similarity of these; their similarity is the mean over
    members. A cluster that overlaps with no other is similar to none.

    Noise as in `cts`: an object that a member calls noise scores what objects of different
    clusters of that member do on average. Objects with equal labels are one weighted object
    at distance 0.

    With P the matrix of the walk, the sum over s = 1..t of P^s (P^s)^T doubles its number of
    terms by three products of matrices: O(n_c^3 log t).

    References
    ----------
    Huang, Wang, Peng, Lai & Kwoh (2021), Enhanced ensemble clustering via fast propagation of
    cluster-wise similarities, IEEE Transactions on Systems, Man, and Cybernetics: Systems
    51(1), sections III and IV.A.
    """
    budget = memory_in_bytes(max_memory, owner="ECPCSHC")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        u = rows.n_rows
        check_budget(u, 4 * u * (u - 1), budget, remedy="use ECPCSMC, which needs no such matrix")
        S = propagated(jaccard(rows, n_jobs), n_steps, n_jobs)
        ends = zip(rows.starts[:-1], rows.starts[1:], strict=True)
        linked, tables = noise_as_clusters(rows, [S[a:b, a:b].copy() for a, b in ends])
        distances = link_distances(
            linked,
            own_member_vectors(linked, tables),
            seen_together(linked, missing),
            n_jobs=n_jobs,
        )
        return tree_result(rows, distances, k, linkage)

    return solve(ensemble, n_clusters, run, owner="ECPCSHC", X=X)


@consensus_method(
    estimator="ECPCSMC",
    by_rows=True,
    paper="Huang, Wang, Peng, Lai & Kwoh 2021",
    memory="n (R + k) + n_c^2",
    rules={"n_steps": COUNT},
)
def ecpcsmc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_steps: int = 20,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by meta-clusters of alike clusters, which compete for the objects.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c; meta-clusters that win no object vanish.
    n_steps : int, default=20
        Length of the walks between clusters.

    Returns
    -------
    ConsensusResult
        ``memberships`` is the share of each meta-cluster's clusters that hold the object,
        scaled to sum to 1; ``objective`` the normalised cut of the graph of clusters.
        ``details`` has ``meta_clusters`` (of each cluster, by member), ``vanished`` and
        ``note``.

    Notes
    -----
    The similarity of clusters is that of `ecpcshc`, their graph is divided by its normalised
    cut, and each object goes to the meta-cluster of which the largest share of clusters holds
    it, as in `mcla`. Linear in objects; O(n_c^3) for the clusters of all members.

    References
    ----------
    Huang, Wang, Peng, Lai & Kwoh (2021), Enhanced ensemble clustering via fast propagation of
    cluster-wise similarities, IEEE Transactions on Systems, Man, and Cybernetics: Systems
    51(1), sections III and IV.B.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        alone = check_n_columns(rows, k, owner="ECPCSMC")
        if alone is not None:
            return alone
        graph = similarity_graph(propagated(jaccard(rows, n_jobs), n_steps, n_jobs))
        rng = check_random_state(random_state)
        parts = spectral(graph, k, random_state=rng)
        return let_compete(rows, k, parts, int(rng.randint(2**31 - 1)), n_jobs).result(rows, k)

    return solve(ensemble, n_clusters, run, owner="ECPCSMC", X=X, n_jobs=n_jobs)


def propagated(J: Floats, n_steps: int, n_jobs: int | None = None) -> Floats:
    """Cosine between the probabilities of walks from every two clusters.

    Parameters
    ----------
    J : ndarray of shape (n_clusters, n_clusters)
        Symmetric, not negative, zero diagonal.
    n_steps : int
        At least 1.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        Symmetric, in [0, 1], with a unit diagonal; clusters that walks cannot leave are
        similar to no other.

    Examples
    --------
    >>> J = np.array([[0.0, 0.5, 0.0, 0.0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0], [0, 0, 0, 0]])
    >>> propagated(J, 1).round(3)
    array([[1., 0., 1., 0.],
           [0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 0., 0., 1.]])
    """
    totals = J.sum(axis=1)
    isolated = totals == 0
    P = J / np.where(isolated, 1.0, totals)[:, None]
    S = _summed_products(P, n_steps, n_jobs)
    S += S.T.copy()
    S /= 2.0
    lengths = np.sqrt(S.diagonal())
    lengths[isolated] = 1.0
    S /= lengths[:, None] * lengths
    np.minimum(S, 1.0, out=S)
    np.fill_diagonal(S, 1.0)
    return S


def _summed_products(P: Floats, n_steps: int, n_jobs: int | None) -> Floats:
    """The sum over s = 1..n_steps of P^s (P^s)^T.

    With G_t the first t terms, G_2t = G_t + P^t G_t (P^t)^T and G_(t+1) = P (I + G_t) P^T: the
    bits of the number of steps say which to do.
    """
    power, G = P, _product(P, P.T, n_jobs)
    bits = bin(n_steps)[3:]
    for place, bit in enumerate(bits):
        last = place == len(bits) - 1
        G = G + _product(power, _product(G, power.T, n_jobs), n_jobs)
        if not last or bit == "1":
            power = _product(power, power, n_jobs)
        if bit == "1":
            G[np.diag_indices_from(G)] += 1.0
            G = _product(P, _product(G, P.T, n_jobs), n_jobs)
            if not last:
                power = _product(P, power, n_jobs)
    return G


def _product(A: Floats, B: Floats, n_jobs: int | None) -> Floats:
    """A times B, some columns a turn, each on one thread."""
    out = np.empty((len(A), B.shape[1]))

    def fill(start: int) -> None:
        out[:, start : start + _COLUMNS] = A @ B[:, start : start + _COLUMNS]

    with one_thread():
        several(fill, range(0, B.shape[1], _COLUMNS), n_jobs)
    return out


class ECPCSHC(FixedNumber, function=ecpcshc):
    """Cluster by the dendrogram of propagated similarities; see `ecpcshc` for the method."""

    n_steps: int = 20
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class ECPCSMC(FixedNumber, function=ecpcsmc):
    """Cluster by meta-clusters of propagated similarities; see `ecpcsmc` for the method."""

    n_steps: int = 20
