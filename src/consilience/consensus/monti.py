"""Monti's consensus clustering: how many clusters stay the same when the data are resampled."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._sklearn import Steps, with_callbacks
from consilience._validation import Rule
from consilience.consensus._base import Stated
from consilience.consensus._monti import (
    Pairs,
    Values,
    ambiguous_share,
    consensus_values,
    cumulative,
    delta_areas,
    mean_value,
    permuted,
    random_pairs,
)
from consilience.consensus._predicts import Predicts
from consilience.consensus._resamples import OWNER, RULES, Plan
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.evidence import confidence, never_seen
from consilience.rows import rows_of

__all__ = ["MontiConsensus", "MontiResult", "monticonsensus"]

Criterion = Literal["pac", "reference"]
Floats = NDArray[np.float64]

_THRESHOLDS = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class MontiResult:
    """What consensus clustering found.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        Clusters of the chosen number, by average link on its consensus matrix.
    n_clusters : int
        The number of clusters chosen.
    candidates : ndarray of shape (n_candidates,)
        The numbers tried, ascending (fewer if a callback stopped it); the arrays below follow
        them.
    thresholds : ndarray of shape (101,)
        0, 0.01, ..., 1.
    cdf : ndarray of shape (n_candidates, 101)
        Share of the pairs with a consensus of at most each threshold.
    area : ndarray of shape (n_candidates,)
        Area under the cdf, exactly: 1 - mean consensus.
    delta : ndarray of shape (n_candidates,)
        Relative gain of the area over the largest before; the first area itself.
    pac : ndarray of shape (n_candidates,)
        Share of ambiguously clustered pairs: cdf(0.9) - cdf(0.1).
    reference_pac : ndarray of shape (n_candidates,)
        The same on permuted data, mean over references; NaN without any.
    confidence, runner_up : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    item_consensus : ndarray of shape (n_objects,)
        Mean consensus of each object with the others of its cluster.
    cluster_consensus : ndarray of shape (n_clusters,)
        Mean consensus of the pairs of each cluster; 1 for a single object.
    linkage : ndarray of shape (n_objects - 1, 4)
        The dendrogram in SciPy's format.
    ensemble : Ensemble
        The resampled members of the chosen number.
    """

    labels: NDArray[np.int32]
    n_clusters: int
    candidates: NDArray[np.int64]
    thresholds: Floats
    cdf: Floats
    area: Floats
    delta: Floats
    pac: Floats
    reference_pac: Floats
    confidence: Floats
    runner_up: NDArray[np.int32]
    item_consensus: Floats
    cluster_consensus: Floats
    linkage: Floats
    ensemble: Ensemble


def monticonsensus(
    X: Any,
    n_clusters: Any = (2, 10),
    *,
    clusterer: Any = None,
    n_resamples: int = 100,
    max_samples: Any = 0.8,
    window: tuple[float, float] = (0.1, 0.9),
    criterion: Criterion = "pac",
    n_references: int = 1,
    max_pairs: int = 1_000_000,
    max_memory: float | str = "4 GiB",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> MontiResult:
    """Clusters of the number that is least ambiguous over resamples of the data.

    It makes its own members, one ensemble for each number of clusters, and so takes data
    instead of an ensemble: it is not in the table of consensus functions.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_objects, n_features)
    n_clusters : int, (low, high), range or list of int, default=(2, 10)
        Numbers of clusters to try, from 2; both ends of (low, high) are included. Numbers
        above the objects a member sees are left out, with a warning. A single number is
        taken as it is.
    clusterer : clusterer, generator or None, default=None
        Any scikit-learn clusterer with a parameter ``n_clusters`` (or ``n_components``), or a
        generator such as `KMeansEnsemble`, whose number of members and clusters and share of
        objects are set here. None is k-means with one k-means++ start.
    n_resamples : int, default=100
        Members for each number.
    max_samples : float, int or (low, high), default=0.8
        Objects that a member sees.
    window : (low, high), default=(0.1, 0.9)
        A pair is ambiguous if its consensus is above ``low`` and not above ``high``.
    criterion : {"pac", "reference"}, default="pac"
        Choose the smallest share of ambiguous pairs, or the one that is furthest below that
        of permuted data. The larger number wins a tie.
    n_references : int, default=1
        Permuted copies of the data, each as much work as the data themselves; 0 for none.
    max_pairs : int, default=1_000_000
        Where there are more pairs of objects, so many random ones are looked at.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        For the matrix behind the final dendrogram; past it `eac` goes without.
    random_state : int, RandomState or None
        Resamples are the same for all numbers of clusters.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.

    Returns
    -------
    MontiResult

    Notes
    -----
    The consensus of a pair is the share of the members that joined it among those that saw
    both; a pair never seen together has none and is left out of cdf, area and PAC. On data
    without structure PAC falls with the number of clusters: read it against
    ``reference_pac``, which shuffles each feature on its own (with one feature that changes
    nothing but the order of the objects, so it says nothing there). A PAC that is not below
    its reference is no evidence for clusters.

    References
    ----------
    Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering, Machine Learning 52.
    Senbabaoglu, Michailidis & Li (2014), Critical limitations of consensus clustering in
    class discovery, Scientific Reports 4 (PAC).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in ((0, 0), (3, 0), (0, 3))])
    >>> result = monticonsensus(X, (2, 5), n_resamples=30, random_state=0)
    >>> result.n_clusters, float(result.pac[1]), np.bincount(result.labels).tolist()
    (3, 0.0, [20, 20, 20])
    """
    plan = Plan(
        n_clusters,
        clusterer,
        n_resamples,
        max_samples,
        window,
        criterion,
        n_references,
        max_pairs,
        max_memory,
        random_state,
        n_jobs,
    )
    plan.check()
    X = rows_of(X, owner=OWNER, min_objects=2).values
    return _run(X, plan, plan.candidates(X.shape[0]), lambda _: None)


def _run(X: Any, plan: Plan, candidates: list[int], done: Callable[[str], Any]) -> MontiResult:
    """Try every number, choose, and cluster; ``done`` hears of each one tried, and may stop."""
    rng = check_random_state(plan.random_state)
    seed, of_pairs, *of_references = (
        int(s) for s in rng.randint(2**31 - 1, size=2 + plan.n_references)
    )
    pairs = random_pairs(X.shape[0], plan.max_pairs, np.random.default_rng(of_pairs))
    curves: list[Values] = []
    reference: list[float] = []
    chosen: tuple[float, int, Ensemble] | None = None
    for k in candidates:
        ensemble = plan.members(X, k, seed)
        curves.append(_look(ensemble, pairs, plan))
        shares = []
        for of_one in of_references:
            shuffled = permuted(X, np.random.default_rng(of_one))
            values = _look(plan.members(shuffled, k, seed), pairs, plan)
            shares.append(ambiguous_share(values, *plan.window))
        reference.append(float(np.mean(shares)) if shares else np.nan)
        score = -ambiguous_share(curves[-1], *plan.window)
        score += reference[-1] if plan.criterion == "reference" else 0.0
        # Only the best so far is kept; the larger number wins a tie.
        if chosen is None or score >= chosen[0]:
            chosen = (score, k, ensemble)
        if done(f"n_clusters={k}"):
            break
    assert chosen is not None
    return _result(X, plan, candidates, curves, reference, *chosen[1:])


def _look(ensemble: Ensemble, pairs: Pairs | None, plan: Plan) -> Values:
    return consensus_values(ensemble, pairs, n_jobs=plan.n_jobs or 1)


def _result(
    X: Any,
    plan: Plan,
    candidates: list[int],
    curves: list[Values],
    reference: list[float],
    k: int,
    ensemble: Ensemble,
) -> MontiResult:
    """Labels by average link on the consensus of the chosen members, and all curves."""
    tree = eac(ensemble, k, X=X, max_memory=plan.max_memory, n_jobs=plan.n_jobs)
    labels = np.where(never_seen(ensemble), -1, tree.labels)
    sure = confidence(ensemble, labels, n_jobs=plan.n_jobs)
    members = [sure.own[labels == c] for c in range(tree.n_clusters)]
    area = np.array([1.0 - mean_value(values) for values in curves])
    return MontiResult(
        labels=tree.labels,
        n_clusters=tree.n_clusters,
        candidates=np.array(candidates[: len(curves)]),
        thresholds=_THRESHOLDS.copy(),
        cdf=np.stack([cumulative(values, _THRESHOLDS) for values in curves]),
        area=area,
        delta=delta_areas(area),
        pac=np.array([ambiguous_share(values, *plan.window) for values in curves]),
        reference_pac=np.array(reference),
        confidence=sure.confidence,
        runner_up=sure.runner_up,
        item_consensus=sure.own,
        cluster_consensus=np.array([own.mean() if own.size else 0.0 for own in members]),
        linkage=tree.linkage,
        ensemble=ensemble,
    )


class MontiConsensus(Predicts, Stated, kw_only=False):
    """Choose the number of clusters by resampling; see `monticonsensus` for the method.

    Parameters
    ----------
    n_clusters, clusterer, n_resamples, max_samples, window, criterion, n_references, max_pairs, \
max_memory, random_state, n_jobs
        See `monticonsensus`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
    n_clusters_ : int
        The number chosen.
    candidates_, cdf_, thresholds_, area_, delta_, pac_, reference_pac_ : ndarray
        See `MontiResult`.
    confidence_, runner_up_, item_consensus_, cluster_consensus_, linkage_ : ndarray
        See `MontiResult`.
    ensemble_ : Ensemble
        The resampled members of the chosen number.
    n_features_in_, feature_names_in_
        Of the data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in ((0, 0), (3, 0), (0, 3))])
    >>> model = MontiConsensus((2, 5), n_resamples=30, random_state=0).fit(X)
    >>> model.n_clusters_, model.pac_.argmin() + 2
    (3, np.int64(3))
    """

    _constraints: ClassVar[dict[str, Sequence[Rule]]] = RULES

    n_clusters: Any = (2, 10)
    _: KW_ONLY
    clusterer: Any = None
    n_resamples: int = 100
    max_samples: Any = 0.8
    window: tuple[float, float] = (0.1, 0.9)
    criterion: Criterion = "pac"
    n_references: int = 1
    max_pairs: int = 1_000_000
    max_memory: float | str = "4 GiB"
    random_state: Any = None
    n_jobs: int | None = None

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Try every number of clusters on ``X`` of shape (n_objects, n_features)."""
        plan = Plan(**self.get_params(deep=False))
        plan.check()
        rows = rows_of(X, owner=self, fitted=self, min_objects=2)
        candidates = plan.candidates(len(rows))
        steps = Steps(self, "fit", len(candidates))
        result = _run(rows.values, plan, candidates, steps.done)
        steps.end()
        for name in MontiResult.__dataclass_fields__:
            setattr(self, f"{name}_", getattr(result, name))
        self._remember(rows, None)
        return self
