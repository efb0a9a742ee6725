"""Consensus by cutting a graph: of objects (CSPA), of clusters (MCLA), of both (HBGF)."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from consilience._validation import Boolean, Interval, NoneValue, Options, Satisfies, check_value
from consilience.consensus._base import Consensus
from consilience.consensus._bipartite import spectral_hbgf
from consilience.consensus._metaclusters import meta_clusters
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.kernels.pairs import count_pairs
from consilience.partition import (
    Parts,
    Solver,
    bipartite_graph,
    choose_bipartite,
    similarity_graph,
    split_bipartite,
    split_graph,
    split_rows,
)

__all__ = ["CSPA", "HBGF", "MCLA", "cspa", "hbgf", "mcla"]

CutSolver = Literal["auto", "metis", "spectral"]

_COUNT = Interval(Integral, 1)
_SOLVERS = Options(("auto", "metis", "balanced", "spectral"))
_CUT_SOLVERS = Options(("auto", "metis", "spectral"))


def _is_sizes(value: Any) -> bool:
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return bool(values.ndim == 1 and np.isfinite(values).all() and (values > 0).all())


_SIZES = Satisfies(_is_sizes, "one positive number for each cluster")


@consensus_method(
    estimator="CSPA",
    paper="Strehl & Ghosh 2002",
    memory="n^2 up to 3,000 objects, n R past that",
    balanced=True,
    keeps_noise=True,
)
def cspa(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: Solver = "auto",
    sizes: Sequence[float] | None = None,
    collapse: bool = False,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of equal size that cut the graph of co-association the least.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. A pair that a member did not see counts as apart.
    n_clusters : int
        Clusters wanted.
    solver : {"auto", "metis", "balanced", "spectral"}, default="auto"
        METIS on the complete graph (as published; memory n^2, at most 8000 objects), parts
        of equal size without the matrix, or a normalised cut, which is not balanced. "auto"
        is METIS up to 3000 objects where it is installed, else "balanced".
    sizes : sequence of n_clusters numbers, optional
        Relative sizes of the clusters; equal by default. Not for "spectral".
    collapse : bool, default=False
        Keep objects with equal labels together: METIS on one weighted vertex for each
        distinct row of labels. Faster, and only as balanced as the groups allow.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Order of the objects inside the solver, and ties.
    n_jobs : int or None
        Threads for the co-association; None means one.

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

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> cspa(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_value("solver", solver, [_SOLVERS], owner="CSPA")
    check_value("sizes", sizes, [_SIZES, NoneValue()], owner="CSPA")
    check_value("collapse", collapse, [Boolean()], owner="CSPA")
    _check_sizes(sizes, n_clusters, solver, collapse)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        _warn_if_loose(placed, k, "CSPA")
        if collapse:
            return _collapsed(placed, k, solver, random_state, n_jobs)
        distinct, inverse, _counts = placed.signatures()
        found = split_rows(
            distinct.indicator().astype(np.float64),
            k,
            solver=solver,
            sizes=None if sizes is None else _whole_sizes(sizes, placed.n_objects),
            groups=inverse,
            gram=lambda: count_pairs(placed.members, with_seen=False, n_jobs=n_jobs or 1)[0],
            random_state=random_state,
        )
        return _result(found, found.cut / placed.n_members)

    return solve(ensemble, n_clusters, run, owner="CSPA", X=X)


def _collapsed(
    placed: Ensemble, k: int, solver: Solver, random_state: Any, n_jobs: int | None
) -> ConsensusResult:
    """CSPA on distinct rows: vertices weigh as many objects, edges as many pairs, as they hold."""
    distinct, inverse, counts = placed.signatures()
    pairs = count_pairs(distinct.members, with_seen=False, n_jobs=n_jobs or 1)[0]
    S = pairs * (counts[:, None] * counts[None, :] / placed.n_members)
    found = split_graph(similarity_graph(S, counts), k, solver=solver, random_state=random_state)
    return _result(found, found.cut, found.labels[inverse])


def _check_sizes(
    sizes: Sequence[float] | None, n_clusters: int, solver: Solver, collapse: bool
) -> None:
    if collapse and solver == "balanced":
        raise InvalidParameterError(
            "The 'collapse' parameter of CSPA keeps equal objects together, which "
            "solver='balanced' cannot. Use 'auto', 'metis' or 'spectral', or collapse=False."
        )
    if sizes is None:
        return
    if len(sizes) != n_clusters:
        raise InvalidParameterError(
            f"The 'sizes' parameter of CSPA must hold one size for each of n_clusters="
            f"{n_clusters} clusters. Got {len(sizes)} instead."
        )
    if solver == "spectral" or collapse:
        raise InvalidParameterError(
            "The 'sizes' parameter of CSPA needs solver='metis' or 'balanced' and collapse=False."
        )


def _whole_sizes(sizes: Sequence[float], n: int) -> NDArray[np.int64]:
    """Sizes as whole numbers of at least 1 that add up to n; largest remainders go up."""
    exact = np.asarray(sizes, np.float64) / np.sum(sizes) * n
    whole = np.floor(exact).astype(np.int64)
    up = np.argsort(whole - exact, kind="stable")[: n - whole.sum()]
    whole[up] += 1
    while whole.min() < 1:
        whole[whole.argmax()] -= 1
        whole[whole.argmin()] += 1
    return whole


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
        METIS where it is installed.
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
    Similarity of two clusters is the number of objects in both over that in either. Exact
    on distinct label rows; time O(u R^2) for u of them.

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
    check_value("solver", solver, [_CUT_SOLVERS], owner="MCLA")

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


@consensus_method(
    estimator="HBGF",
    paper="Fern & Brodley 2004",
    memory="n R, or n (R + k) + n_c^2 for solver='spectral'",
    balanced=True,
    keeps_noise=True,
)
def hbgf(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: CutSolver = "auto",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by cutting the graph of objects and clusters.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all.
    n_clusters : int
        Clusters wanted, at most n_c.
    solver : {"auto", "metis", "spectral"}, default="auto"
        METIS (as compared in the literature; parts of equal size), or k-means on the
        singular vectors of the graph: not balanced, linear in objects, independent of their
        order. "auto" is METIS where it is installed and the graph has at most 25 million
        edges (n R).
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Order of objects and clusters inside METIS; start of k-means.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    ConsensusResult
        ``objective`` is the number of memberships cut, or the normalised cut for
        "spectral"; ``solver`` the one taken; ``details`` holds ``balance`` and ``note``.

    Notes
    -----
    Clusters that hold every object say nothing and are left out. In METIS's balance a
    cluster counts like an object, so clusters may differ in size by up to n_c objects.

    References
    ----------
    Fern & Brodley (2004), Solving cluster ensemble problems by bipartite graph partitioning,
    ICML, sections 3 and 4.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> hbgf(ens, 2, solver="spectral", random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_value("solver", solver, [_CUT_SOLVERS], owner="HBGF")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        placed = _without_hubs(placed, k)
        n_memberships = int((placed.members >= 0).sum())
        way, note = choose_bipartite(n_memberships, solver)
        if way == "spectral":
            return _spectral(placed, k, note, random_state, n_jobs)
        _warn_if_loose(placed, k, "HBGF")
        found = split_bipartite(placed.indicator(), k, solver="metis", random_state=random_state)
        return _result(found, found.cut)

    return solve(ensemble, n_clusters, run, owner="HBGF", X=X)


def _spectral(
    placed: Ensemble, k: int, note: str, random_state: Any, n_jobs: int | None
) -> ConsensusResult:
    rows = distinct_rows(placed)
    found = spectral_hbgf(rows, k, random_state=random_state, n_jobs=n_jobs)
    labels = found.labels[rows.inverse]
    details = {
        "singular_values": found.singular_values,
        "balance": _balance(labels, k),
        "note": note,
    }
    return ConsensusResult(labels, objective=found.cut, solver="spectral", details=details)


def _without_hubs(placed: Ensemble, k: int) -> Ensemble:
    """Less the members that put every object into one cluster, where others say something."""
    members = placed.members
    told = np.flatnonzero((members != 0).any(axis=1))
    n_clusters = int(placed.n_clusters[told].sum())
    if k > int(placed.n_clusters.sum()):
        raise InvalidParameterError(
            "The 'n_clusters' parameter of HBGF must be at most the number of clusters of all "
            f"members, {int(placed.n_clusters.sum())}. Got {k} instead."
        )
    # An object may be in no other cluster; then its only edge stays.
    lost = len(told) < placed.n_members and (members[told] < 0).all(axis=0).any()
    return placed if len(told) == placed.n_members or lost or n_clusters < k else placed[told]


def _warn_if_loose(placed: Ensemble, k: int, owner: str) -> None:
    """Warn if balanced parts have to pack groups that nothing connects."""
    graph = bipartite_graph(placed.signatures().ensemble.indicator())
    groups = int(connected_components(graph.adjacency, directed=False, return_labels=False))
    if groups > k:
        warnings.warn(
            f"The objects fall into {groups} groups that no member joins; {owner} packs them into "
            f"n_clusters={k} clusters of equal size, arbitrarily. Ask for {groups} clusters or more.",
            ConsilienceWarning,
            stacklevel=5,
        )


def _balance(labels: NDArray[np.int32], k: int) -> float:
    """The largest cluster over the mean size."""
    return float(np.bincount(labels).max() * k / len(labels))


def _result(
    found: Parts, objective: float, labels: NDArray[np.int32] | None = None
) -> ConsensusResult:
    labels = found.labels if labels is None else labels
    k = len(found.sizes)
    return ConsensusResult(
        labels,
        objective=objective,
        solver=found.solver,
        details={"balance": _balance(labels, k), "note": found.note},
    )
