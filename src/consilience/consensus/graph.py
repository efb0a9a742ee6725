"""Consensus by balanced parts of the objects: of their co-association (CSPA), of clusters as
hyperedges (HGPA).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import COUNT, NOT_NEGATIVE, Boolean
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_lengths, cut_result, warn_if_loose, whole_sizes
from consilience.consensus._order import ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._rules import PARTS, SIZES
from consilience.consensus._solve import ConsensusResult, solve
from consilience.engines import engine_for
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.partition import (
    Solver,
    hypergraph_parts,
    similarity_graph,
    split_graph,
    split_rows,
)

__all__ = ["CSPA", "HGPA", "cspa", "hgpa"]


@consensus_method(
    estimator="CSPA",
    paper="Strehl & Ghosh 2002",
    memory="n^2 up to 3,000 objects, n R past that",
    rules={"solver": PARTS, "sizes": SIZES, "collapse": [Boolean()], "n_cuts": COUNT},
    balanced=True,
)
def cspa(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: Solver = "auto",
    sizes: Sequence[float] | None = None,
    collapse: bool = False,
    n_cuts: int = 10,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of equal size that cut the graph of co-association the least.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. A pair that a member did not see counts as apart.
    solver : {"auto", "metis", "balanced", "spectral"}, default="auto"
        METIS on the complete graph (as published; memory n^2, at most 8000 objects), parts
        of equal size without the matrix, or a normalised cut, which is not balanced. "auto"
        is METIS up to 3000 objects where it is installed, else "balanced".
    sizes : sequence of n_clusters numbers, optional
        Relative sizes of the clusters; equal by default. Not for "spectral".
    collapse : bool, default=False
        Keep objects with equal labels together: METIS on one weighted vertex for each
        distinct row of labels. Faster, and only as balanced as the groups allow.
    n_cuts : int, default=10
        Cuts that METIS tries at each bisection; time grows with it.
    random_state : int, RandomState or None
        Order of the objects inside the solver, and ties.

    Returns
    -------
    ConsensusResult
        ``objective`` is the co-association cut; ``solver`` the one taken; ``details`` holds
        ``balance`` (largest cluster over n / n_clusters) and ``note``.

    Notes
    -----
    Balance is part of the method: where classes differ in size, give ``sizes`` or take an
    unbalanced method (MCLA, EAC). Equal objects may be told apart to keep the balance.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.2.
    """
    _check_sizes(sizes, n_clusters, solver, collapse)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        warn_if_loose(placed, k, "CSPA")
        if collapse:
            return _collapsed(placed, k, solver, n_cuts, random_state, n_jobs)
        distinct, inverse, _counts = placed.signatures()
        parts = split_rows(
            distinct.indicator().astype(np.float64),
            k,
            solver=solver,
            sizes=None if sizes is None else whole_sizes(sizes, placed.n_objects),
            groups=inverse,
            gram=lambda: _joined(placed.members, n_jobs),
            n_cuts=n_cuts,
            random_state=random_state,
        )
        return cut_result(parts, parts.cut / placed.n_members)

    return solve(ensemble, n_clusters, ordered(run), owner="CSPA", X=X)


def _joined(members: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
    """How many members joined each pair of objects."""
    return engine_for(members).pair_counts(with_seen=False, n_jobs=n_jobs)[0]


def _collapsed(
    placed: Ensemble, k: int, solver: Solver, n_cuts: int, random_state: Any, n_jobs: int | None
) -> ConsensusResult:
    """CSPA on distinct rows: vertices weigh as many objects, edges as many pairs, as they hold."""
    distinct, inverse, counts = placed.signatures()
    pairs = _joined(distinct.members, n_jobs)
    S = pairs * (counts[:, None] * counts[None, :] / placed.n_members)
    graph = similarity_graph(S, counts)
    parts = split_graph(graph, k, solver=solver, n_cuts=n_cuts, random_state=random_state)
    return cut_result(parts, parts.cut, parts.labels[inverse])


def _check_sizes(
    sizes: Sequence[float] | None, n_clusters: int, solver: Solver, collapse: bool
) -> None:
    if collapse and solver == "balanced":
        raise InvalidParameterError(
            "The 'collapse' parameter of CSPA keeps equal objects together, which "
            "solver='balanced' cannot. Use 'auto', 'metis' or 'spectral', or collapse=False."
        )
    check_lengths(sizes, n_clusters, owner="CSPA")
    if sizes is not None and (solver == "spectral" or collapse):
        raise InvalidParameterError(
            "The 'sizes' parameter of CSPA needs solver='metis' or 'balanced' and collapse=False."
        )


@consensus_method(
    estimator="HGPA",
    paper="Strehl & Ghosh 2002",
    memory="n R",
    rules={"imbalance": NOT_NEGATIVE},
    balanced=True,
)
def hgpa(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    imbalance: float = 0.05,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of about equal size that the members' clusters reach across the least.

    Every cluster of every member is a hyperedge. Needs the package mtkahypar (extra
    ``graph``).

    Parameters
    ----------
    imbalance : float, default=0.05
        By how much a cluster may exceed n / n_clusters objects.
    random_state : int, RandomState or None
        Seed of the partitioner, and order of the objects inside it.
    n_jobs : int or None
        Not used: only one thread repeats its results.

    Returns
    -------
    ConsensusResult
        ``objective`` is the size of each cluster of the members times the number of parts
        it reaches less one, summed.

    Notes
    -----
    Here for comparison: it does not see how much of a cluster is cut, so that one stray
    object costs as much as a half, and a few wrong labels mislead it. MCLA, CSPA and HBGF
    are better. A cluster weighs as many as it has objects, as in ClusterPack. Seconds for
    10,000 objects, minutes for 100,000.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.3.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        B = placed.indicator()
        parts = hypergraph_parts(B, k, imbalance=imbalance, random_state=random_state)
        return cut_result(parts, parts.cut)

    return solve(ensemble, n_clusters, ordered(run), owner="HGPA", X=X)


class CSPA(FixedNumber, function=cspa):
    """Cluster by balanced parts of the co-association; see `cspa` for the method."""

    solver: Solver = "auto"
    sizes: Sequence[float] | None = None
    collapse: bool = False
    n_cuts: int = 10


class HGPA(FixedNumber, function=hgpa):
    """Cluster by balanced parts of a hypergraph; see `hgpa` for the method."""

    imbalance: float = 0.05
