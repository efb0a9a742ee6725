"""Consensus as k-means on label rows: SEC and KCC."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Boolean, Interval, NoneValue, Options, Satisfies, check_value
from consilience.consensus._base import Consensus
from consilience.consensus._label_kmeans import (
    LabelKMeans,
    Utility,
    kcc_problem,
    label_runs,
    sec_problem,
)
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError

__all__ = ["KCC", "SEC", "kcc", "sec"]

_UTILITIES = Options(("c", "h", "cos", "lp"))
_COUNT = Interval(Integral, 1)
_ABOVE_ONE = Interval(Real, 1, open_low=True)


def _is_weights(value: Any) -> bool:
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return bool(values.ndim == 1 and np.isfinite(values).all() and (values > 0).all())


_WEIGHTS = Satisfies(_is_weights, "one positive number for each member")


@consensus_method(
    estimator="SEC",
    paper="Liu, Liu, Wu, Tao & Fu 2015",
    memory="n R + n_c k",
    keeps_noise=True,
)
def sec(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    member_weights: Any = None,
    n_init: int = 10,
    max_iter: int = 100,
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
    n_clusters : int
        Clusters wanted; fewer may be found.
    member_weights : array of shape (n_members,), optional
        Weight of each member in the co-association; 1 if not given.
    n_init : int, default=10
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random labels. The best objective wins.
    max_iter : int, default=100
        Most rounds of a run.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Seeds the starts; the result does not depend on the order of the objects.
    n_jobs : int or None
        Threads, over runs; None means one.

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

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> sec(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    weights = _check("SEC", ensemble, member_weights, n_init, max_iter)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        problem = sec_problem(rows, weights)
        return _best(problem, k, n_init, max_iter, random_state, n_jobs)

    return solve(ensemble, n_clusters, run, owner="SEC", X=X, n_jobs=n_jobs)


@consensus_method(
    estimator="KCC",
    paper="Wu, Liu, Xiong, Cao & Chen 2015",
    memory="n R + n_c k",
    keeps_noise=True,
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
    n_clusters : int
        Clusters wanted; fewer may be found.
    utility : {"c", "h", "cos", "lp"}, default="h"
        Category utility (squared Euclidean distance), mutual information (Kullback-Leibler
        divergence), cosine, or p-norm.
    p : float, default=5
        Of the p-norm, above 1; 2 is the cosine.
    normalised : bool, default=False
        Divide each member's part by the utility of its own distribution of clusters, so
        that members with many even clusters do not outweigh the others.
    member_weights : array of shape (n_members,), optional
        Weight of each member; 1 / R if not given.
    n_init : int, default=10
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random labels. The best objective wins.
    max_iter : int, default=100
        Most rounds of a run.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Seeds the starts; the result does not depend on the order of the objects.
    n_jobs : int or None
        Threads, over runs; None means one.

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
    check_value("utility", utility, [_UTILITIES], owner="KCC")
    check_value("p", p, [_ABOVE_ONE], owner="KCC")
    check_value("normalised", normalised, [Boolean()], owner="KCC")
    weights = _check("KCC", ensemble, member_weights, n_init, max_iter) / ensemble.n_members

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        problem = kcc_problem(rows, weights, utility, p, normalised)
        return _best(problem, k, n_init, max_iter, random_state, n_jobs)

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
        best.labels[problem.rows.inverse],
        objective=best.objective,
        n_iter=best.n_iter,
        converged=best.converged,
        details={"objectives": np.array([run.objective for run in runs])},
    )


def _check(
    owner: str, ensemble: Ensemble, member_weights: Any, n_init: int, max_iter: int
) -> NDArray[np.float64]:
    """Check what both methods take; the members' weights."""
    check_value("n_init", n_init, [_COUNT], owner=owner)
    check_value("max_iter", max_iter, [_COUNT], owner=owner)
    check_value("member_weights", member_weights, [_WEIGHTS, NoneValue()], owner=owner)
    if member_weights is None:
        return np.ones(ensemble.n_members)
    weights = np.asarray(member_weights, np.float64)
    if len(weights) != ensemble.n_members:
        raise InvalidParameterError(
            f"The 'member_weights' parameter of {owner} must hold one weight for each of the "
            f"{ensemble.n_members} members. Got {len(weights)} instead."
        )
    return weights


class SEC(Consensus):
    """Cluster by spectral ensemble clustering; see `sec` for the method.

    Parameters
    ----------
    n_clusters, member_weights, n_init, max_iter
        See `sec`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`.
    random_state : int, RandomState or None
        Seeds the starts, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, n_iter_, converged_, details_
        See `ConsensusResult`; of the best run. Without objective where no run was needed.
    ensemble_ : Ensemble

    Examples
    --------
    >>> model = SEC(2, random_state=0).fit(ensemble=[[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
    >>> model.labels_
    array([0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [_COUNT],
        "member_weights": [_WEIGHTS, NoneValue()],
        "n_init": [_COUNT],
        "max_iter": [_COUNT],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        member_weights: Any = None,
        n_init: int = 10,
        max_iter: int = 100,
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.member_weights = member_weights
        self.n_init = n_init
        self.max_iter = max_iter
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            sec(
                ensemble,
                self.n_clusters,
                member_weights=self.member_weights,
                n_init=self.n_init,
                max_iter=self.max_iter,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )


class KCC(Consensus):
    """Cluster by k-means on label rows; see `kcc` for the method.

    Parameters
    ----------
    n_clusters, utility, p, normalised, member_weights, n_init, max_iter
        See `kcc`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`.
    random_state : int, RandomState or None
        Seeds the starts, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, n_iter_, converged_, details_
        See `ConsensusResult`; of the best run. Without objective where no run was needed.
    ensemble_ : Ensemble

    Examples
    --------
    >>> model = KCC(2, utility="cos").fit(ensemble=[[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
    >>> model.n_clusters_
    2
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [_COUNT],
        "utility": [_UTILITIES],
        "p": [_ABOVE_ONE],
        "normalised": [Boolean()],
        "member_weights": [_WEIGHTS, NoneValue()],
        "n_init": [_COUNT],
        "max_iter": [_COUNT],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        utility: Utility = "h",
        p: float = 5.0,
        normalised: bool = False,
        member_weights: Any = None,
        n_init: int = 10,
        max_iter: int = 100,
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.p = p
        self.normalised = normalised
        self.member_weights = member_weights
        self.n_init = n_init
        self.max_iter = max_iter
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            kcc(
                ensemble,
                self.n_clusters,
                utility=self.utility,
                p=self.p,
                normalised=self.normalised,
                member_weights=self.member_weights,
                n_init=self.n_init,
                max_iter=self.max_iter,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
