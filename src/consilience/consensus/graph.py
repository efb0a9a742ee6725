"""Consensus by balanced parts of the objects: of their co-association (CSPA), of clusters as
hyperedges (HGPA).
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Boolean, Interval, NoneValue, Options, Satisfies, check_value
from consilience.consensus._base import Consensus
from consilience.consensus._cuts import cut_result, warn_if_loose
from consilience.consensus._order import ordered
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.kernels.pairs import count_pairs
from consilience.partition import (
    Solver,
    hypergraph_parts,
    similarity_graph,
    split_graph,
    split_rows,
)

__all__ = ["CSPA", "HGPA", "cspa", "hgpa"]

_COUNT = Interval(Integral, 1)
_SOLVERS = Options(("auto", "metis", "balanced", "spectral"))
_IMBALANCE = Interval(Real, 0)


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
    n_cuts : int, default=10
        Cuts that METIS tries at each bisection; time grows with it.
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
    check_value("n_cuts", n_cuts, [_COUNT], owner="CSPA")
    _check_sizes(sizes, n_clusters, solver, collapse)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        warn_if_loose(placed, k, "CSPA")
        if collapse:
            return _collapsed(placed, k, solver, n_cuts, random_state, n_jobs)
        distinct, inverse, _counts = placed.signatures()
        found = split_rows(
            distinct.indicator().astype(np.float64),
            k,
            solver=solver,
            sizes=None if sizes is None else _whole_sizes(sizes, placed.n_objects),
            groups=inverse,
            gram=lambda: count_pairs(placed.members, with_seen=False, n_jobs=n_jobs or 1)[0],
            n_cuts=n_cuts,
            random_state=random_state,
        )
        return cut_result(found, found.cut / placed.n_members)

    return solve(ensemble, n_clusters, ordered(run), owner="CSPA", X=X, n_jobs=n_jobs)


def _collapsed(
    placed: Ensemble, k: int, solver: Solver, n_cuts: int, random_state: Any, n_jobs: int | None
) -> ConsensusResult:
    """CSPA on distinct rows: vertices weigh as many objects, edges as many pairs, as they hold."""
    distinct, inverse, counts = placed.signatures()
    pairs = count_pairs(distinct.members, with_seen=False, n_jobs=n_jobs or 1)[0]
    S = pairs * (counts[:, None] * counts[None, :] / placed.n_members)
    graph = similarity_graph(S, counts)
    found = split_graph(graph, k, solver=solver, n_cuts=n_cuts, random_state=random_state)
    return cut_result(found, found.cut, found.labels[inverse])


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
    estimator="HGPA",
    paper="Strehl & Ghosh 2002",
    memory="n R",
    balanced=True,
    keeps_noise=True,
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
    ensemble : Ensemble
        Labels of n objects by R members.
    n_clusters : int
        Clusters wanted.
    imbalance : float, default=0.05
        By how much a cluster may exceed n / n_clusters objects.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
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

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> hgpa(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_value("imbalance", imbalance, [_IMBALANCE], owner="HGPA")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        B = placed.indicator()
        found = hypergraph_parts(B, k, imbalance=imbalance, random_state=random_state)
        return cut_result(found, found.cut)

    return solve(ensemble, n_clusters, ordered(run), owner="HGPA", X=X, n_jobs=n_jobs)


class CSPA(Consensus):
    """Cluster by balanced parts of the co-association; see `cspa` for the method.

    Parameters
    ----------
    n_clusters, solver, sizes, collapse, n_cuts
        See `cspa`.
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
    n_clusters_, objective_, solver_, details_
        See `cspa`. Only the first and ``details_`` where nothing had to be solved.
    ensemble_ : Ensemble

    Examples
    --------
    >>> model = CSPA(2, random_state=0).fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [_COUNT],
        "solver": [_SOLVERS],
        "sizes": [_SIZES, NoneValue()],
        "collapse": [Boolean()],
        "n_cuts": [_COUNT],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        solver: Solver = "auto",
        sizes: Sequence[float] | None = None,
        collapse: bool = False,
        n_cuts: int = 10,
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.sizes = sizes
        self.collapse = collapse
        self.n_cuts = n_cuts
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            cspa(
                ensemble,
                self.n_clusters,
                solver=self.solver,
                sizes=self.sizes,
                collapse=self.collapse,
                n_cuts=self.n_cuts,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )


class HGPA(Consensus):
    """Cluster by balanced parts of a hypergraph; see `hgpa` for the method.

    Parameters
    ----------
    n_clusters, imbalance
        See `hgpa`.
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
    n_clusters_, objective_, solver_, details_
        See `hgpa`. Only the first and ``details_`` where nothing had to be solved.
    ensemble_ : Ensemble

    Examples
    --------
    >>> model = HGPA(2, random_state=0).fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [_COUNT],
        "imbalance": [_IMBALANCE],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        imbalance: float = 0.05,
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.imbalance = imbalance
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            hgpa(
                ensemble,
                self.n_clusters,
                imbalance=self.imbalance,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
