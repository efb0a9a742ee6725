"""Weighted objects and the data: soft memberships around shifted centres, cut as a graph."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

from consilience._validation import POSITIVE, NoneValue, Options, Rule
from consilience.consensus._cuts import check_sizes
from consilience.consensus._memberships import (
    around_centres,
    cut_bipartite,
    cut_similarities,
    weighted_centres,
)
from consilience.consensus._objects import (
    WEIGHTS,
    WeightedObjects,
    checked_data,
    needed_data,
    of_placed,
    only_member,
    weights_of,
)
from consilience.consensus._order import ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._rules import BALANCE, CUTS, PARTS, SIZES, Balance
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.partition import Solver

__all__ = ["WOHB", "WOSP", "wohb", "wosp"]

TMode = Literal["each", "first"]

_RULES: dict[str, list[Rule]] = {
    "weights": WEIGHTS,
    "t": [*POSITIVE, NoneValue()],
    "t_mode": [Options(("each", "first"))],
}
_PAPER = "Ren, Domeniconi, Zhang & Yu 2017"


@consensus_method(
    estimator="WOSP",
    paper=_PAPER,
    memory="n n_c, or n^2 with METIS (up to 3000 objects)",
    rules={**_RULES, "solver": PARTS, "sizes": SIZES},
    needs_data=True,
    balanced=True,
)
def wosp(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    weights: Any = "one-shot",
    t: float | None = None,
    t_mode: TMode = "each",
    solver: Solver = "auto",
    sizes: Any = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Balanced parts of objects whose soft memberships in all members' clusters agree.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Objects that a member left out or never saw do not
        count in its centres, but have memberships like all others.
    weights : {"one-shot"}, array of shape (n_objects,) or None, default="one-shot"
        Weights of the objects in the centres: `evidence.object_weights`, your own, or equal.
    t : float or None, default=None
        Width of the memberships, in squared units of the data; None takes the mean squared
        distance over all pairs of an object and a centre.
    t_mode : {"each", "first"}, default="each"
        That mean for each member, or that of the first for all.
    solver : {"auto", "metis", "balanced", "spectral"}, default="auto"
        METIS on the complete graph (the paper's; refused past 8000 objects), equal parts
        without the graph, or a normalised cut that is not balanced. "auto" is METIS up to
        3000 objects where it is installed, else balanced.
    sizes : sequence of n_clusters numbers, optional
        Relative sizes of the clusters; equal by default. Not with "spectral".
    X : array or CSR matrix of shape (n_objects, n_features)
        Data; standardise features of different scales first.
    random_state : int, RandomState or None
        Order of the objects inside the partitioner.

    Returns
    -------
    ConsensusResult
        ``objective`` is the weight of the cut edges; ``details`` hold the object weights and
        the balance (largest cluster over n / n_clusters).

    Notes
    -----
    The similarity of two objects is the mean over members of the cosine of their membership
    rows; all are positive, with little contrast. So the balance decides as much as the cut:
    this presumes clusters of nearly equal sizes, and on some data the gain comes from
    balance and soft memberships, not from the weights: compare ``weights=None``, ``sizes``
    and ``solver="spectral"``. Without METIS, memory is n times the number of clusters of
    all members, or less: past two million numbers the rows are turned onto their leading
    directions, which keep all but a millionth of them.

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 3.3.2, equations 6 to 11.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> wosp(ens, 2, X=X, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_sizes(sizes, n_clusters, solver, owner="WOSP")

    cut = partial(
        cut_similarities, solver=solver, sizes=sizes, random_state=random_state, n_jobs=n_jobs
    )
    return _solve(ensemble, n_clusters, cut, weights, t, t_mode, X, n_jobs, "WOSP")


@consensus_method(
    estimator="WOHB",
    paper=_PAPER,
    memory="n n_c",
    rules={**_RULES, "balance": BALANCE, "solver": CUTS},
    needs_data=True,
    balanced=True,
)
def wohb(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    weights: Any = "one-shot",
    t: float | None = None,
    t_mode: TMode = "each",
    balance: Balance = "all",
    solver: Solver = "auto",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Balanced parts of the graph of objects and clusters, joined by soft memberships.

    Parameters
    ----------
    ensemble, n_clusters, weights, t, t_mode, X, random_state, n_jobs
        See `wosp`.
    balance : {"all", "objects"}, default="all"
        Whether clusters count like objects in the balance, as published (parts of objects
        may then differ by as many as there are clusters in all members), or hardly.
    solver : {"auto", "metis", "spectral"}, default="auto"
        METIS (the paper's), or a normalised cut that is not balanced. "auto" is METIS where
        it is installed and the graph has at most 25 million edges.

    Returns
    -------
    ConsensusResult
        ``objective`` is the weight of the cut edges; ``details`` hold the object weights and
        the balance (largest cluster over n / n_clusters). A part may hold
        clusters only; then fewer clusters than asked for are found.

    Notes
    -----
    Memberships below 1e-6 are no edge. What `wosp` says of balance holds here as well.

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 3.3.3, equation 12.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> wohb(ens, 2, X=X, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    cut = partial(
        cut_bipartite, solver=solver, balance=balance, random_state=random_state, n_jobs=n_jobs
    )
    return _solve(ensemble, n_clusters, cut, weights, t, t_mode, X, n_jobs, "WOHB")


def _solve(
    ensemble: Ensemble,
    n_clusters: int,
    cut: Any,
    weights: Any,
    t: float | None,
    t_mode: TMode,
    X: Any,
    n_jobs: int | None,
    owner: str,
) -> ConsensusResult:
    """Memberships around weighted centres of the placed objects, cut by ``cut``."""

    def run(placed: Ensemble, k: int, data: Any) -> ConsensusResult:
        alone = only_member(placed, k)
        if alone is not None:
            return alone
        needed_data(data, owner=owner)
        given = weights_of(weights, ensemble, n_jobs)
        weighted = ordered(around, of_placed(given, ensemble), data=True)
        result = weighted(placed, k, data)
        return replace(result, details={**result.details, "object_weights": given})

    def around(placed: Ensemble, k: int, data: Any, of_objects: Any) -> ConsensusResult:
        centres = weighted_centres(placed, data, of_objects)
        result: ConsensusResult = cut(around_centres(data, centres, t, t_mode), k)
        return result

    data = checked_data(X, ensemble, owner=owner)
    return solve(ensemble, n_clusters, run, owner=owner, X=data, splits_equals=True)


class WOSP(WeightedObjects, function=wosp):
    """Cluster by weighted-object similarity partitioning; see `wosp` for the method."""

    weights: Any = "one-shot"
    t: float | None = None
    t_mode: TMode = "each"
    solver: Solver = "auto"
    sizes: Any = None


class WOHB(WeightedObjects, function=wohb):
    """Cluster by the weighted-object hybrid bipartite graph; see `wohb` for the method."""

    weights: Any = "one-shot"
    t: float | None = None
    t_mode: TMode = "each"
    balance: Balance = "all"
    solver: Solver = "auto"
