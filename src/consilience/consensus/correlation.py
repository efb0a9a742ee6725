"""Correlation clustering: the partition that disagrees least with the members."""

import math
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import (
    Interval,
    NoneValue,
    Options,
    Satisfies,
    check_n_clusters,
    check_value,
    memory_in_bytes,
)
from consilience.consensus import _median as median
from consilience.consensus._base import Consensus
from consilience.consensus._correlation import Problem, Run, twin_rows
from consilience.consensus._rows import Rows, draw_seeds
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.consensus._strangers import place_strangers
from consilience.consensus._table import consensus_method
from consilience.consensus.accumulation import eac
from consilience.ensemble import NOISE, Ensemble, relabel
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidInputError
from consilience.evidence import never_placed, never_seen

__all__ = ["CorrelationClustering", "correlation_cost", "correlationclustering"]

Algorithm = Literal[
    "local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"
]
PairWeight = Literal["equal", "seen"]

_OWNER = "CorrelationClustering"
_COUNT = Interval(Integral, 1)
# The dendrogram is a start of the local search while its matrix of rows stays small.
_MOST_ROWS_FOR_TREE = 5000


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
        For the tables of a search (n_c x clusters) and for the dendrogram.
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
    nothing. With one denominator for all pairs that is |q| - 2/R times the sum over members
    of the objects in q with i's label: a table of n_c x k whole numbers, exact, time
    O(n R k) a sweep. It stays linear with unseen labels and ``pair_weight="seen"`` (a
    member that did not see a pair tosses a coin, as in the paper's section 2). With
    ``pair_weight="equal"`` every pair has its own denominator: exact too, but time O(n^2 R)
    and memory O(n k). Counting absence as separation would shatter clear clusters and is
    not offered. Balls, dendrogram and centres always go by the share of each pair.
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
    values = locals()
    for name, rules in _RULES.items():
        check_value(name, values[name], rules, owner=_OWNER)
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_objects, owner=_OWNER)
    strangers = never_placed(ensemble)
    labels = np.full(ensemble.n_objects, NOISE, np.int32)
    if strangers.all():
        warnings.warn(
            "No member put any object into a cluster; every object is noise.",
            ConsilienceWarning,
            stacklevel=2,
        )
        return ConsensusResult(labels)
    placed = ensemble.take(~strangers) if strangers.any() else ensemble
    rows = twin_rows(placed)
    _warn_if_few(placed, n_clusters)
    budget = memory_in_bytes(max_memory, owner=_OWNER)
    jobs = n_jobs or 1
    problem = Problem(
        rows.members,
        rows.counts,
        by_seen=pair_weight == "seen",
        max_bytes=budget // (jobs if jobs > 0 else 8),
        n_jobs=jobs,
    )
    ...
