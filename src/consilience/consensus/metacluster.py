"""Consensus by clusters of clusters: MCLA, and the graph of clusters that WOMC cuts as well.

Two clusters are as similar as they overlap; each part of their graph is a meta-cluster, and an
object goes to the one that holds the largest share of its clusters.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_n_parts
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._rules import CUTS, CutSolver
from consilience.consensus._solve import ConsensusResult, cluster_order, solve
from consilience.ensemble import Ensemble
from consilience.kernels._parallel import by_rows
from consilience.kernels.labels.competition import most_shared
from consilience.partition import Parts, Solver, similarity_graph, split_graph

__all__ = ["MCLA", "mcla"]

Vertex = Literal["weight", "size"]
Floats = NDArray[np.float64]

# METIS coarsens large graphs; on so small ones its cut depends on the order of the vertices.
_FEW_CLUSTERS = 50


@dataclass(frozen=True)
class MetaClusters:
    """What the cut of the graph of clusters gives.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), int32
        Meta-cluster of each row, 0..k-1; some may win no row.
    shares : ndarray of shape (n_rows, k)
        Share of each meta-cluster's clusters that hold the row, scaled to sum to 1.
    parts : Parts
        The meta-cluster of each cluster, in the order of the members.
    """

    labels: NDArray[np.int32]
    shares: Floats
    parts: Parts

    def result(
        self, rows: Rows, k: int, *, n_jobs: int | None = None, **details: Any
    ) -> ConsensusResult:
        """The same over objects; ``meta_clusters`` has the numbers that labels will have."""
        labels = rows.of_objects(self.labels, n_jobs)
        number = np.argsort(cluster_order(labels, k, n_jobs=n_jobs))
        return ConsensusResult(
            labels,
            objective=self.parts.cut,
            solver=self.parts.solver,
            memberships=rows.of_objects(self.shares, n_jobs),
            details={
                **details,
                "meta_clusters": number[self.parts.labels].astype(np.int32),
                "vanished": k - np.count_nonzero(np.bincount(self.labels)),
                "note": self.parts.note,
            },
        )


@consensus_method(
    estimator="MCLA",
    by_rows=True,
    few_clusters=True,
    paper="Strehl & Ghosh 2002",
    memory="n (R + k) + n_c^2",
    rules={"solver": CUTS},
)
def mcla(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: CutSolver = "auto",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by meta-clusters: groups of similar clusters that compete for the objects.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c; meta-clusters that win no object vanish.
    solver : {"auto", "metis", "spectral"}, default="auto"
        Cuts the graph of clusters: METIS (as published), or a normalised cut. "auto" is
        METIS where it is installed and there are 50 clusters or more: on smaller graphs its
        cut depends on the seed.
    random_state : int, RandomState or None
        Order of the clusters inside the solver, and ties. The result does not depend on the
        order of the objects, and equal objects stay together.

    Returns
    -------
    ConsensusResult
        ``memberships`` is the share of each meta-cluster's clusters that hold the object,
        scaled to sum to 1; ``objective`` the cut of the graph of clusters. ``details`` has
        ``meta_clusters`` (of each cluster, by member), ``vanished`` and ``note``.

    Notes
    -----
    Similarity of two clusters is the number of objects in both over that in either. METIS
    balances meta-clusters by the objects in their clusters; where groups differ much in
    size, solver="spectral" does better. Exact on distinct label rows; time O(u R^2) for u
    of them.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.4.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        meta = meta_clusters(rows, k, solver=solver, random_state=random_state, n_jobs=n_jobs)
        return meta.result(rows, k, n_jobs=n_jobs)

    return solve(ensemble, n_clusters, run, owner="MCLA", X=X, n_jobs=n_jobs)


def meta_clusters(
    rows: Rows,
    k: int,
    *,
    weights: Floats | None = None,
    vertex: Vertex = "weight",
    solver: Solver = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    owner: str = "MCLA",
) -> MetaClusters:
    """Cut the graph of clusters into k meta-clusters and let them compete for the rows.

    Parameters
    ----------
    rows : Rows
        Distinct label rows (`distinct_rows`); exact, because every sum is over objects.
    k : int
        Meta-clusters, at most the number of clusters of all members.
    weights : array of shape (n_rows,), optional
        Weight above 0 of an object of each row in the similarity (equal rows have equal
        weights: they are told from the labels); 1 by default.
    vertex : {"weight", "size"}, default="weight"
        What balance counts for a cluster: the sum of the roots of its objects' weights (as
        in the authors' code), or its objects. The same without weights.
    solver : {"auto", "metis", "spectral"}
        See `consilience.partition.split_graph`; "auto" is "spectral" for fewer than 50
        clusters.
    random_state : int, RandomState or None
        Order of the clusters, and ties between meta-clusters. Ties are broken by a hash of
        the row's labels and the seed: independent of the order of the objects, and the same
        for equal objects.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.
    owner : str
        Name of the estimator, for messages.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.4; Ren, Domeniconi, Zhang &
    Yu (2017), Weighted-object ensemble clustering, Knowl. Inf. Syst. 51, section 3.2.
    """
    n_clusters = int(rows.starts[-1])
    check_n_parts(k, n_clusters, owner=owner)
    rng = check_random_state(random_state)
    weights = None if weights is None else np.asarray(weights, np.float64)
    S = overlap(rows, weights, n_jobs=n_jobs)
    mass: Floats = rows.counts.astype(np.float64)
    if weights is not None and vertex == "weight":
        mass *= np.sqrt(weights)
    sizes = rows.cluster_sums(mass[:, None], n_jobs=n_jobs)[:, 0]
    if solver == "auto" and n_clusters < _FEW_CLUSTERS:
        solver = "spectral"
    parts = split_graph(similarity_graph(S, sizes), k, solver=solver, random_state=rng)
    return let_compete(rows, k, parts, int(rng.randint(2**31 - 1)), n_jobs)


def let_compete(
    rows: Rows, k: int, parts: Parts, seed: int, n_jobs: int | None = None
) -> MetaClusters:
    """Give each row to the meta-cluster of which the largest share of clusters holds it.

    Ties are broken by a hash of the row's labels and the seed.
    """
    shares, of_parts = _held(rows, parts.labels, k, n_jobs)
    labels = np.empty(rows.n_rows, np.int32)

    def decide(some: slice) -> None:
        shares[some] /= of_parts
        most_shared(shares[some], rows.members[:, some], seed, labels[some])
        shares[some] /= shares[some].sum(axis=1, keepdims=True)

    by_rows(decide, rows.n_rows, n_jobs)
    return MetaClusters(labels, shares, parts)


def overlap(rows: Rows, weights: Floats | None, *, n_jobs: int | None = None) -> Floats:
    """Weight of the objects in both of two clusters over that of the objects in either.

    Clusters x clusters, symmetric, in [0, 1]; clusters of one member have 0 in common. Of
    memberships p and q it is Tanimoto's: sums of p q over those of p^2 + q^2 - p q.
    """
    mass = rows.counts.astype(np.float64) if weights is None else weights * rows.counts
    shared = rows.contingency(mass, n_jobs=n_jobs)
    own = shared.diagonal()
    either = own[:, None] + own[None, :] - shared
    # In place: with thousands of clusters the matrix is what takes the memory.
    similarity: Floats = np.divide(shared, either, out=shared, where=either > 0)
    return similarity


def _held(
    rows: Rows, part_of_cluster: NDArray[np.int32], k: int, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """How many clusters of each meta-cluster hold each row, and how many it has (at least 1).

    Whole numbers first: their quotients tie exactly where they should.
    """
    votes = np.zeros((len(part_of_cluster), k))
    votes[np.arange(len(part_of_cluster)), part_of_cluster] = 1.0
    held = rows.row_sums(votes, n_jobs=n_jobs)
    return held, np.maximum(votes.sum(axis=0), 1.0)


class MCLA(FixedNumber, function=mcla):
    """Cluster by meta-clusters; see `mcla` for the method."""

    solver: CutSolver = "auto"
