"""Consensus as k-means on label rows: SEC and KCC."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import (
    COUNT,
    DEVICE,
    Boolean,
    Interval,
    NoneValue,
    Options,
    Rule,
    positive_numbers,
)
from consilience.consensus._base import FixedNumber
from consilience.consensus._label_kmeans import (
    LabelKMeans,
    Utility,
    kcc_problem,
    label_runs,
    sec_problem,
)
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError

__all__ = ["KCC", "SEC", "kcc", "sec"]

_RULES: dict[str, list[Rule]] = {
    "member_weights": [positive_numbers("member"), NoneValue()],
    "n_init": COUNT,
    "max_iter": COUNT,
    "device": DEVICE,
}


@consensus_method(
    estimator="SEC",
    by_rows=True,
    paper="Liu, Liu, Wu, Tao & Fu 2015",
    memory="n R + n_c k",
    rules=_RULES,
)
def sec(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    member_weights: Any = None,
    n_init: int = 10,
    max_iter: int = 100,
    device: str | None = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of small normalised cut of the co-association, by weighted k-means.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out of an
        object's row.
    member_weights : array of shape (n_members,), optional
        Weight of each member in the co-association; 1 if not given.
    n_init : int, default=10
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random labels. The best objective wins.
    max_iter : int, default=100
        Most rounds of a run.
    device : str or None, default=None
        A torch device, such as "cuda", where the rounds are run: the same labels. The estimator
        also has its members made and its labels judged there. None is the processor, or the
        device of X where that is a torch tensor.

    Returns
    -------
    ConsensusResult
        ``objective`` is the sum of R_i / d_i over objects, R_i being the (weighted) members
        that placed the object, less the summed normalised association within clusters.

    Notes
    -----
    With V_ij the members that join i and j and d_i the sum of row i of V, the rows b_i / d_i
    of the objects x clusters matrix are clustered with weights d_i; no n x n matrix is made.
    Equal rows are one weighted row: exact. Time O(u R k) a round for u distinct rows.

    References
    ----------
    Liu, Liu, Wu, Tao & Fu (2015), Spectral ensemble clustering, KDD.
    """
    weights = _weights(member_weights, ensemble, "SEC")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        problem = sec_problem(rows, weights, n_jobs=n_jobs)
        return _best(problem.on(device), k, n_init, max_iter, random_state, n_jobs)

    return solve(ensemble, n_clusters, run, owner="SEC", X=X, n_jobs=n_jobs)


@consensus_method(
    estimator="KCC",
    by_rows=True,
    few_clusters=True,
    paper="Wu, Liu, Xiong, Cao & Chen 2015",
    memory="n R + n_c k",
    rules={
        **_RULES,
        "utility": [Options(("c", "h", "cos", "lp"))],
        "p": [Interval(Real, 1, 100, open_low=True)],
        "normalised": [Boolean()],
    },
)
def kcc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    utility: Utility = "h",
    p: float = 5.0,
    normalised: bool = False,
    member_weights: Any = None,
    n_init: int = 10,
    max_iter: int = 100,
    device: str | None = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of highest utility to the members, by k-means on label rows.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out of every sum;
        a centre's distribution over a member's clusters is that of its labelled objects.
    utility : {"c", "h", "cos", "lp"}, default="h"
        Category utility (squared Euclidean distance), mutual information (Kullback-Leibler
        divergence), cosine, or p-norm.
    p : float, default=5
        Of the p-norm, above 1 and at most 100; 2 is the cosine.
    normalised : bool, default=False
        Divide each member's part by the utility of its own distribution of clusters, so
        that members with many even clusters do not outweigh the others.
    member_weights : array of shape (n_members,), optional
        Weight of each member; 1 / R if not given.
    n_init, max_iter, device
        See `sec`.

    Returns
    -------
    ConsensusResult
        ``objective`` is the summed distance of the objects to their centres.

    Notes
    -----
    A centre holds the distribution m of its objects over the clusters of each member. An
    object with label l costs, for the four utilities, ``1 - 2 m(l) + |m|^2``, ``-log m(l)``
    (floored at 1e-12), ``1 - m(l) / |m|`` and ``1 - (m(l) / |m|_p)^(p-1)``. Where no object of
    a centre is labelled by a member, m is the member's distribution over all objects. Equal
    rows are one weighted row: exact. Time O(u R k) a round for u distinct rows.

    References
    ----------
    Wu, Liu, Xiong, Cao & Chen (2015), K-means-based consensus clustering: a unified view,
    IEEE TKDE 27(1), section 3 and table 2.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> kcc(ens, 2, utility="c", random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    weights = _weights(member_weights, ensemble, "KCC") / ensemble.n_members

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        problem = kcc_problem(rows, weights, utility, p, normalised, n_jobs=n_jobs)
        return _best(problem.on(device), k, n_init, max_iter, random_state, n_jobs)

    return solve(ensemble, n_clusters, run, owner="KCC", X=X, n_jobs=n_jobs)


def _best(
    problem: LabelKMeans,
    k: int,
    n_init: int,
    max_iter: int,
    random_state: Any,
    n_jobs: int | None,
) -> ConsensusResult:
    """The run of the lowest objective, the first on ties, for all objects."""
    runs = label_runs(
        problem, k, n_init=n_init, max_iter=max_iter, random_state=random_state, n_jobs=n_jobs
    )
    best = min(runs, key=lambda run: run.objective)
    return ConsensusResult(
        problem.rows.of_objects(best.labels, n_jobs),
        objective=best.objective,
        n_iter=best.n_iter,
        converged=best.converged,
        details={"objectives": np.array([run.objective for run in runs])}
        | ({} if problem.device is None else {"ran_on": {"consensus": problem.device}}),
    )


def _weights(member_weights: Any, ensemble: Ensemble, owner: str) -> NDArray[np.float64]:
    """The members' weights: 1, or as given."""
    if member_weights is None:
        return np.ones(ensemble.n_members)
    weights = np.asarray(member_weights, np.float64)
    if len(weights) != ensemble.n_members:
        raise InvalidParameterError(
            f"The 'member_weights' parameter of {owner} must hold one weight for each of the "
            f"{ensemble.n_members} members. Got {len(weights)} instead."
        )
    return weights


class SEC(FixedNumber, function=sec):
    """Cluster by spectral ensemble clustering; see `sec` for the method."""

    member_weights: Any = None
    n_init: int = 10
    max_iter: int = 100
    device: str | None = None


class KCC(FixedNumber, function=kcc):
    """Cluster by k-means on label rows; see `kcc` for the method."""

    utility: Utility = "h"
    p: float = 5.0
    normalised: bool = False
    member_weights: Any = None
    n_init: int = 10
    max_iter: int = 100
    device: str | None = None
