"""Consensus by clusters of clusters: MCLA."""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from consilience._validation import Interval, Options, check_value
from consilience.consensus._base import Consensus
from consilience.consensus._metaclusters import meta_clusters
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble

__all__ = ["MCLA", "mcla"]

CutSolver = Literal["auto", "metis", "spectral"]

_COUNT = Interval(Integral, 1)
_SOLVERS = Options(("auto", "metis", "spectral"))


@consensus_method(
    estimator="MCLA",
    paper="Strehl & Ghosh 2002",
    memory="n (R + k) + n_c^2",
    keeps_noise=True,
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
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Order of the clusters inside the solver, and ties. The result does not depend on the
        order of the objects, and equal objects stay together.
    n_jobs : int or None
        Threads; None means one.

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

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> mcla(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_value("solver", solver, [_SOLVERS], owner="MCLA")

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

    return solve(ensemble, n_clusters, run, owner="MCLA", X=X, n_jobs=n_jobs)


class MCLA(Consensus):
    """Cluster by meta-clusters; see `mcla` for the method.

    Parameters
    ----------
    n_clusters, solver
        See `mcla`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`.
    random_state : int, RandomState or None
        Seeds the solver, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, solver_, details_, memberships_
        See `mcla`. Only the first and ``details_`` where nothing had to be solved.
    ensemble_ : Ensemble

    Examples
    --------
    >>> model = MCLA(2, random_state=0).fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [_COUNT],
        "solver": [_SOLVERS],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        solver: CutSolver = "auto",
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            mcla(
                ensemble,
                self.n_clusters,
                solver=self.solver,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
