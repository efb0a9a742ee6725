"""Correlation clustering: the partition that disagrees least with the members."""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from consilience._validation import (
    COUNT,
    MEMORY,
    Interval,
    NoneValue,
    Options,
    Rule,
    check_n_clusters,
    check_value,
)
from consilience.consensus._base import ChosenNumber
from consilience.consensus._correlation import Options as MedianOptions
from consilience.consensus._correlation import Problem, cluster
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import draw_seeds
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble, relabel, takes_ensemble
from consilience.errors import InvalidInputError, warn

__all__ = ["CorrelationClustering", "correlation_cost", "correlationclustering"]

Algorithm = Literal["local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"]
PairWeight = Literal["equal", "seen"]

_OWNER = "CorrelationClustering"
_PAIR_WEIGHT: list[Rule] = [Options(("equal", "seen"))]
_RULES: dict[str, list[Rule]] = {
    "algorithm": [
        Options(("local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"))
    ],
    "alpha": [Interval(Real, 0, 0.5)],
    "n_init": COUNT,
    "max_iter": COUNT,
    "sample_size": [Interval(Integral, 2), NoneValue()],
    "pair_weight": _PAIR_WEIGHT,
    "max_memory": MEMORY,
}


@consensus_method(
    estimator="CorrelationClustering",
    paper="Gionis, Mannila & Tsaparas 2007",
    memory="n R + n_c k",
    rules=_RULES,
    needs_n_clusters=False,
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
    random_state : int, RandomState or None
        Order of visits, annealing, samples; the order of the objects does not matter.

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
    >>> result = correlationclustering(ens, random_state=0)
    >>> result.labels, round(result.objective * 3)
    (array([0, 1, 0, 1, 2, 2], dtype=int32), 5)
    """
    options = MedianOptions(
        algorithm, alpha, n_init, max_iter, sample_size, pair_weight, max_memory, n_jobs
    )
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_objects, owner=_OWNER)

    def run(placed: Ensemble, n: int, _: Any) -> ConsensusResult:
        if n_clusters is not None:
            _warn_of_idle_cap(placed, n_clusters)
        if n_clusters == 1:
            return ConsensusResult(np.zeros(n, np.int32))
        return cluster(placed, n_clusters or n, options, draw_seeds(random_state, n_init))

    # A number of clusters is only a cap: as far as `solve` goes, the method chooses.
    return solve(ensemble, None, run, owner=_OWNER, X=X)


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
    check_value("pair_weight", pair_weight, _PAIR_WEIGHT, owner="correlation_cost")
    codes = relabel(labels)
    if len(codes) != ensemble.n_objects:
        raise InvalidInputError(
            f"labels must hold one label for each of the {ensemble.n_objects} objects. "
            f"Got {len(codes)} instead."
        )
    ones = np.ones(ensemble.n_objects, np.int64)
    problem = Problem(ensemble.members, ones, by_seen=pair_weight == "seen", max_bytes=0)
    return float(problem.costs([np.maximum(codes, -1).astype(np.int32)])[0])


def _warn_of_idle_cap(placed: Ensemble, cap: int) -> None:
    distinct = len(placed.signatures().counts)
    if cap > distinct:
        differ = "no two objects" if distinct == 1 else f"only {distinct} groups of objects"
        warn(
            f"n_clusters={cap} was asked for, but {differ} differ in any member's labels: the cap "
            "has no effect."
        )


class CorrelationClustering(ChosenNumber, function=correlationclustering):
    """Cluster with the least disagreement; see `correlationclustering` for the method.

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

    algorithm: Algorithm = "local"
    alpha: float = 0.4
    n_init: int = 5
    max_iter: int = 100
    sample_size: int | None = None
    pair_weight: PairWeight = "equal"
    max_memory: float | str = "4 GiB"
