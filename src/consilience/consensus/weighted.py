"""Weighted objects: meta-clusters by weighted overlap (WOMC), k-means with weighted centres."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from consilience._threads import one_thread
from consilience._validation import COUNT, Options
from consilience.consensus._objects import (
    WEIGHTS,
    WeightedObjects,
    checked_data,
    needed_data,
    of_placed,
    weights_of,
)
from consilience.consensus._order import object_order, ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows, rows_in_order
from consilience.consensus._rules import CUTS
from consilience.consensus._soft_rows import soft_rows_in_order
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus.metacluster import Vertex, meta_clusters
from consilience.ensemble import Ensemble
from consilience.partition import Solver
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["WOMC", "WOKMeans", "wokmeans", "womc"]

Floats = NDArray[np.float64]

_PAPER = "Ren, Domeniconi, Zhang & Yu 2017"


@consensus_method(
    estimator="WOMC",
    by_rows=True,
    few_clusters=True,
    paper=_PAPER,
    memory="n (R + k) + n_c^2",
    rules={"weights": WEIGHTS, "vertex": [Options(("weight", "size"))], "solver": CUTS},
)
def womc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    weights: Any = "one-shot",
    vertex: Vertex = "weight",
    solver: Solver = "auto",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by meta-clusters: groups of clusters that share the objects hard to cluster.

    Parameters
    ----------
    weights : {"one-shot"}, array of shape (n_objects,) or None, default="one-shot"
        Weights of the objects: `evidence.object_weights`, your own, or equal, which is
        MCLA.
    vertex : {"weight", "size"}, default="weight"
        What balance counts for a cluster: the sum of the roots of its objects' weights (as
        in the authors' code; the paper is silent), or its objects.
    n_clusters, solver, random_state
        See `mcla`.

    Returns
    -------
    ConsensusResult
        ``memberships`` is the share of each meta-cluster's clusters that hold the object,
        scaled to sum to 1; ``objective`` the cut of the graph of clusters. ``details`` has
        ``object_weights``, ``meta_clusters`` (of each cluster, by member), ``vanished`` and
        ``note``.

    Notes
    -----
    Two clusters are as similar as the weight of the objects in both over that of the objects
    in either. Exact on distinct label rows, of which there are u; time O(u R^2).

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 3.3.1, equation 5.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        given = weights_of(weights, ensemble, n_jobs)
        rows, row_weights = _weighted_rows(placed, of_placed(given, ensemble), weights, n_jobs)
        meta = meta_clusters(
            rows,
            k,
            weights=row_weights,
            vertex=vertex,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
            owner="WOMC",
        )
        return meta.result(rows, k, n_jobs=n_jobs, object_weights=given)

    return solve(ensemble, n_clusters, run, owner="WOMC", X=X, n_jobs=n_jobs)


def _weighted_rows(
    placed: Ensemble, weights: Floats, kind: Any, n_jobs: int | None = None
) -> tuple[Rows, Floats]:
    """Distinct label rows and the weight of an object of each.

    Weights that come from the labels are the same for equal rows; others need not be, and
    then every object is a row of its own.
    """
    if kind is None or isinstance(kind, str):
        rows = distinct_rows(placed, n_jobs=n_jobs)
        row_weights = np.empty(rows.n_rows)
        row_weights[rows.inverse] = weights
        return rows, row_weights
    if isinstance(placed, SoftEnsemble):
        order = object_order(placed, placed.memberships, weights)
        return soft_rows_in_order(placed, order), weights[order]
    order = object_order(placed, weights)
    each = np.arange(placed.n_objects), np.ones(placed.n_objects, np.int64)
    return rows_in_order(order, placed.members, *each), weights[order]


@consensus_method(
    estimator="WOKMeans",
    paper=_PAPER,
    memory="n (R + d)",
    rules={"weights": WEIGHTS, "n_init": COUNT, "max_iter": COUNT},
    needs_data=True,
)
def wokmeans(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    weights: Any = "one-shot",
    n_init: int = 10,
    max_iter: int = 100,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of the data by k-means whose centres lean towards objects hard to cluster.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members; only their weights are used.
    weights : {"one-shot"}, array of shape (n_objects,) or None, default="one-shot"
        Weights of the objects in the centres: `evidence.object_weights`, your own, or equal,
        which is k-means.
    n_init : int, default=10
        Random starts, of which the least weighted sum of squares wins; the paper has one.
    max_iter : int, default=100
        Iterations of a start at most.
    X : array or CSR matrix of shape (n_objects, n_features)
        Data; standardise features of different scales first.
    random_state : int, RandomState or None
        Draws the objects to start from.

    Returns
    -------
    ConsensusResult
        ``objective`` is the weighted sum of squares; ``details`` hold the object weights.

    Notes
    -----
    Objects go to the nearest centre whatever their weight. A cluster that loses all objects
    takes the one farthest from its centre (the first author's code: a random one).

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 3.4, equation 13.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> wokmeans(ens, 2, X=X, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def run(placed: Ensemble, k: int, data: Any) -> ConsensusResult:
        needed_data(data, owner="WOKMeans")
        given = weights_of(weights, ensemble, n_jobs)
        best = ordered(best_of_starts, of_placed(given, ensemble), data=True)
        return replace(best(placed, k, data), details={"object_weights": given})

    def best_of_starts(_: Ensemble, k: int, data: Any, of_objects: Floats) -> ConsensusResult:
        rng = check_random_state(random_state)
        starts = [rng.permutation(data.shape[0])[:k].copy() for _ in range(n_init)]
        runs = (_lloyd(data, start, of_objects, max_iter) for start in starts)
        return min(runs, key=lambda run: run.objective or 0.0)

    data = checked_data(X, ensemble, owner="WOKMeans")
    return solve(ensemble, n_clusters, run, owner="WOKMeans", X=data, splits_equals=True)


def _lloyd(X: Any, start: NDArray[Any], weights: Floats, max_iter: int) -> ConsensusResult:
    """One run from the objects given; only centres know of weights."""
    centres = X[start].toarray() if hasattr(X, "toarray") else X[start]
    model = KMeans(len(start), init=centres, n_init=1, max_iter=max_iter, tol=0.0)
    # One thread: scikit-learn adds up partial sums in the order its threads finish.
    with one_thread(), warnings.catch_warnings():
        # Fewer distinct objects than clusters: the clusters found are counted anyway.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sample_weight=weights)
    return ConsensusResult(
        model.labels_.astype(np.int32),
        objective=float(model.inertia_),
        n_iter=int(model.n_iter_),
        converged=bool(model.n_iter_ < max_iter),
    )


class WOMC(WeightedObjects, function=womc):
    """Cluster by weighted-object meta-clusters; see `womc` for the method."""

    weights: Any = "one-shot"
    vertex: Vertex = "weight"
    solver: Solver = "auto"


class WOKMeans(WeightedObjects, function=wokmeans):
    """Cluster by k-means with weighted objects; see `wokmeans` for the method."""

    weights: Any = "one-shot"
    n_init: int = 10
    max_iter: int = 100
