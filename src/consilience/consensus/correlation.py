"""Correlation clustering: the partition that disagrees least with the members."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

from consilience._validation import (
    Interval,
    NoneValue,
    Options,
    Satisfies,
    check_jobs,
    check_n_clusters,
    check_value,
    memory_in_bytes,
)
from consilience.consensus._base import Consensus
from consilience.consensus._correlation import Problem
from consilience.consensus._median import Options as MedianOptions
from consilience.consensus._median import cluster
from consilience.consensus._rows import draw_seeds
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.consensus._strangers import place_strangers
from consilience.consensus._table import consensus_method
from consilience.ensemble import NOISE, Ensemble, relabel, takes_ensemble
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidInputError
from consilience.evidence import never_placed, never_seen

__all__ = ["CorrelationClustering", "correlation_cost", "correlationclustering"]

Algorithm = Literal["local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"]
PairWeight = Literal["equal", "seen"]

_OWNER = "CorrelationClustering"
_COUNT = Interval(Integral, 1)


def _is_memory(value: Any) -> bool:
    try:
        memory_in_bytes(value, owner=_OWNER)
    except ConsilienceError:
        return False
    return True


_RULES: dict[str, Any] = {
    "n_clusters": [_COUNT, NoneValue()],
    "algorithm": [
        Options(("local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"))
    ],
    "alpha": [Interval(Real, 0, 0.5)],
    "n_init": [_COUNT],
    "max_iter": [_COUNT],
    "sample_size": [Interval(Integral, 2), NoneValue()],
    "pair_weight": [Options(("equal", "seen"))],
    "max_memory": [Satisfies(_is_memory, "a number of bytes or a text such as '2 GiB'")],
}


@consensus_method(
    estimator="CorrelationClustering",
    paper="Gionis, Mannila & Tsaparas 2007",
    memory="n R + n_c k",
    needs_n_clusters=False,
    keeps_noise=True,
)
def correlationclustering(
    ensemble: Ensemble,
    n_clusters: int | None = None,
    *,
    algorithm: Algorithm = "local",
    alpha: float = 0.4,
    n_init: int = 5,
    max_iter: int = 100,
    sample_size: int | None = None,
    pair_weight: PairWeight = "equal",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters that disagree least with the members, as many as that takes by default.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all.
    n_clusters : int or None, default=None
        Most clusters allowed. None lets the disagreement decide.
    algorithm : str, default="local"
        ``"local"``: single objects move while that lowers the cost, from each of the
        ``n_init`` best members and from the dendrogram (where there are at most 5000
        distinct rows); the best end wins. ``"annealing"``: the same after a phase in which
        moves that raise the cost are accepted by chance. ``"best"``: the member of least
        cost. ``"balls"``: in order of summed distance, each object left takes those within
        1/2 if their mean distance is at most ``alpha``. ``"agglomerative"``: average link
        on the co-association, cut at 1/2. ``"furthest"``: centres as far apart as possible
        while more of them lower the cost. ``"sampling"``: local search on ``sample_size``
        objects, the others attached to the clusters found; again for those that suit none.
    alpha : float, default=0.4
        For balls, at most 1/2: 1/4 guarantees three times the least cost, 0.4 is better in
        practice.
    n_init : int, default=5
        Members that a search starts from.
    max_iter : int, default=100
        Most sweeps of a search.
    sample_size : int or None, default=None
        Objects in a sample; None is 200 log n.
    pair_weight : {"equal", "seen"}, default="equal"
        How pairs count where members did not see all objects: each once, by the share of
        the members that saw both (0 where none did); or each by the members that saw both.
        Without unseen labels both are the same.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        For the dendrogram, and for the tables of each search: n_c x clusters of more than a
        few objects. Less of it costs time only.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Order of visits, annealing, samples; the order of the objects does not matter.
    n_jobs : int or None
        Threads, over starts; None means one.

    Returns
    -------
    ConsensusResult
        ``objective`` is the cost of the labels, see `correlation_cost`; ``n_iter`` and
        ``converged`` are those of the winning search (a local optimum: no single move
        lowers the cost). ``details["start"]`` says where it started.

    Notes
    -----
    Joining cluster q costs object i the sum over q of 1 - 2 A_ij, a cluster of its own
    nothing. With one denominator for all pairs that is ``|q| - 2/R`` times the sum over
    members of the objects in q with i's label: a table of n_c x k whole numbers, exact, time
    O(n R k) a sweep. It stays linear with unseen labels and ``pair_weight="seen"`` (a
    member that did not see a pair tosses a coin, as in the paper's section 2). With
    ``pair_weight="equal"`` every pair has its own denominator: exact too, but time O(n^2 R)
    and memory O(n k). Counting absence as separation would shatter clear clusters and is
    not offered. Balls, dendrogram and centres always go by the share of each pair; balls and
    furthest centres need a row of the co-association, O(n R), for every centre. Clusters of
    few objects need no table: their rows are compared one by one, and only where they could
    win.
    Objects at distance zero are one weighted object; no optimum splits them. Noise speaks
    against joining; objects that are noise everywhere are -1.

    References
    ----------
    Gionis, Mannila & Tsaparas (2007), Clustering aggregation, ACM TKDD 1(1), sections 2
    and 4. Mirkin (1996), Mathematical classification and clustering.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]])
    >>> found = correlationclustering(ens, random_state=0)
    >>> found.labels, round(found.objective * 3)
    (array([0, 1, 0, 1, 2, 2], dtype=int32), 5)
    """
    options = MedianOptions(
        algorithm, alpha, n_init, max_iter, sample_size, pair_weight, max_memory, n_jobs
    )
    _check(options, n_clusters, ensemble.n_objects)

    def run(placed: Ensemble, cap: int) -> ConsensusResult:
        return cluster(placed, cap, options, draw_seeds(random_state, n_init))

    return _around(ensemble, n_clusters, run, X)


@takes_ensemble
def correlation_cost(
    ensemble: Ensemble, labels: Any, *, pair_weight: PairWeight = "equal"
) -> float:
    """Disagreement of a clustering with an ensemble: what correlation clustering minimises.

    The sum over pairs of objects of 1 - A where the clustering joins them and A where it
    does not, A being the share of the members that saw both and joined them.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    labels : labels of n_objects
        A clustering, in any form; noise (-1) and unseen (-2) are clusters of their own.
    pair_weight : {"equal", "seen"}, default="equal"
        Each pair once; or by the members that saw both, out of R: then it is R times
        smaller than the number of pairs on which members and clustering differ. Time O(n R);
        O(n^2 R) for ``"equal"`` if any label is unseen.

    Examples
    --------
    >>> correlation_cost(Ensemble([[0, 0, 1], [0, 1, 1]]), [0, 0, 0])
    2.0
    """
    check_value("pair_weight", pair_weight, _RULES["pair_weight"], owner="correlation_cost")
    codes = relabel(labels)
    if len(codes) != ensemble.n_objects:
        raise InvalidInputError(
            f"labels must hold one label for each of the {ensemble.n_objects} objects. "
            f"Got {len(codes)} instead."
        )
    ones = np.ones(ensemble.n_objects, np.int64)
    problem = Problem(ensemble.members, ones, by_seen=pair_weight == "seen", max_bytes=0)
    return float(problem.costs([np.maximum(codes, -1).astype(np.int32)])[0])


def _check(options: MedianOptions, n_clusters: int | None, n_objects: int) -> None:
    check_value("n_clusters", n_clusters, _RULES["n_clusters"], owner=_OWNER)
    for name in _RULES.keys() - {"n_clusters"}:
        check_value(name, getattr(options, name), _RULES[name], owner=_OWNER)
    check_jobs(options.n_jobs, owner=_OWNER)
    if n_clusters is not None:
        check_n_clusters(n_clusters, n_objects, owner=_OWNER)


def _around(
    ensemble: Ensemble,
    n_clusters: int | None,
    run: Callable[[Ensemble, int], ConsensusResult],
    X: Any,
) -> ConsensusResult:
    """What is decided before and after; as in `solve`, but a number of clusters is a cap."""
    strangers = never_placed(ensemble)
    labels = np.full(ensemble.n_objects, NOISE, np.int32)
    if strangers.all():
        warnings.warn(
            "No member put any object into a cluster; every object is noise.",
            ConsilienceWarning,
            stacklevel=3,
        )
        return ConsensusResult(labels)
    placed = ensemble.take(~strangers) if strangers.any() else ensemble
    distinct = len(placed.signatures().counts)
    if n_clusters is not None and n_clusters > distinct:
        warnings.warn(
            f"n_clusters={n_clusters} was asked for, but only {distinct} groups of objects differ "
            "in any member's labels: the cap has no effect.",
            ConsilienceWarning,
            stacklevel=3,
        )
    if n_clusters == 1:
        found = ConsensusResult(np.zeros(placed.n_objects, np.int32))
    else:
        found = by_first_appearance(run(placed, n_clusters or placed.n_objects))
    labels[~strangers] = found.labels
    labels = place_strangers(labels, never_seen(ensemble), X, owner=_OWNER)
    return replace(found, labels=labels, n_clusters=int(labels.max()) + 1)


class CorrelationClustering(Consensus):
    """Cluster with the least disagreement; see `correlationclustering` for the method.

    Parameters
    ----------
    n_clusters, algorithm, alpha, n_init, max_iter, sample_size, pair_weight, max_memory
        See `correlationclustering`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`.
    random_state : int, RandomState or None
        Seeds the search, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, n_iter_, converged_, solver_, details_
        See `correlationclustering`. Only the first and the last where nothing had to be
        solved.
    ensemble_ : Ensemble

    Notes
    -----
    Members with many small clusters (the default generator's have about the root of n) join
    few pairs in more than half of them, and the least disagreement is then many small
    clusters. Use members with about as many clusters as you expect, or set a cap.

    Examples
    --------
    >>> model = CorrelationClustering(random_state=0)
    >>> model.fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]]).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> round(model.objective_, 3)
    1.667
    """

    _constraints: ClassVar[dict[str, Any]] = {**Consensus._common_constraints, **_RULES}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        algorithm: Algorithm = "local",
        alpha: float = 0.4,
        n_init: int = 5,
        max_iter: int = 100,
        sample_size: int | None = None,
        pair_weight: PairWeight = "equal",
        generator: Any = None,
        max_memory: float | str = "4 GiB",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.sample_size = sample_size
        self.pair_weight = pair_weight
        self.generator = generator
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            correlationclustering(
                ensemble,
                self.n_clusters,
                algorithm=self.algorithm,
                alpha=self.alpha,
                n_init=self.n_init,
                max_iter=self.max_iter,
                sample_size=self.sample_size,
                pair_weight=self.pair_weight,
                max_memory=self.max_memory,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
