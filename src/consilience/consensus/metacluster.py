"""Consensus by clusters of clusters: MCLA."""

from typing import Any

import numpy as np

from consilience.consensus._base import FixedNumber
from consilience.consensus._metaclusters import meta_clusters
from consilience.consensus._rows import distinct_rows
from consilience.consensus._rules import CUTS, CutSolver
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble

__all__ = ["MCLA", "mcla"]


@consensus_method(
    estimator="MCLA",
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
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all.
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
        rows = distinct_rows(placed)
        found = meta_clusters(rows, k, solver=solver, random_state=random_state, n_jobs=n_jobs)
        return ConsensusResult(
            found.labels[rows.inverse],
            objective=found.parts.cut,
            solver=found.parts.solver,
            memberships=found.shares[rows.inverse],
            details={
                "meta_clusters": found.parts.labels,
                "vanished": k - len(np.unique(found.labels)),
                "note": found.parts.note,
            },
        )

    return solve(ensemble, n_clusters, run, owner="MCLA", X=X)


class MCLA(FixedNumber, function=mcla):
    """Cluster by meta-clusters; see `mcla` for the method."""

    solver: CutSolver = "auto"
