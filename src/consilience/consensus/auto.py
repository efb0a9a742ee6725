"""The answer when nobody says how: what independent lines of evidence come to."""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state

from consilience._validation import DEVICE, Interval, NoneValue, Options
from consilience.consensus._atoms import distinct
from consilience.consensus._auto_choice import Alternative, choice_of, difference
from consilience.consensus._auto_rule import best_of, number_score, whole_score
from consilience.consensus._base import ChosenNumber
from consilience.consensus._clarity import Clarity, judge
from consilience.consensus._lines import CHAINS, Partition, Scene, partitions
from consilience.consensus._number_curves import few_columns
from consilience.consensus._order import ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._support import Support, supports
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.evidence import co_association
from consilience.generate import default_generator
from consilience.kernels._parallel import by_rows
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import row_sums
from consilience.partition import one_thread

__all__ = [
    "EFFORTS",
    "Alternative",
    "AutoConsensus",
    "autoconsensus",
    "by_votes",
    "points_of",
    "scene_of",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Ints = NDArray[np.int64]
Effort = Literal["quick", "default", "thorough"]

_NEIGHBOURS = 10
_MOST_NUMBERS = 30
# More numbers are tried where the best lies in the last quarter of them.
_NEAR_THE_END = 0.75
# Sparse data are looked at through so many components.
_COMPONENTS = 50


@dataclass(frozen=True)
class _Effort:
    """Objects looked at by the lines and by the references, starts of k-means."""

    objects: int
    references: int
    starts: int


EFFORTS = {
    "quick": _Effort(500, 200, 3),
    "default": _Effort(1500, 400, 5),
    "thorough": _Effort(4000, 800, 20),
}


@consensus_method(
    estimator="AutoConsensus",
    paper="this package",
    memory="n R, and the square of a sample",
    rules={
        "max_clusters": [Interval(Integral, 2), NoneValue()],
        "effort": [Options(tuple(EFFORTS))],
        "device": DEVICE,
    },
    needs_n_clusters=False,
)
def autoconsensus(
    ensemble: Ensemble,
    n_clusters: int | None = None,
    *,
    max_clusters: int | None = None,
    effort: Effort = "default",
    device: str | None = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """The groups that independent ways to cluster come to, how many, and how clear they are.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Groups wanted; None chooses.
    max_clusters : int or None, default=None
        Most groups to look for. None begins with 30, and goes on where the best number is one
        of the last; there are never more than a quarter of the objects looked at.
    effort : {"quick", "default", "thorough"}, default="default"
        How many objects the lines look at (500, 1,500, 4,000) and how often k-means starts.
    device : str or None, default=None
        A torch device, such as "cuda", where all objects are put beside those of the sample: the
        same labels. The lines look at the sample on the processor. The estimator also has its
        members made and its labels judged there. None is the processor, or the device of X where
        that is a torch tensor.
    X : array of shape (n_objects, n_features), optional
        The data: without them the lines see the co-association only.
    n_jobs : int or None
        Threads that put all objects beside those of the sample; members are made in as many.

    Returns
    -------
    ConsensusResult
        ``details`` has ``clarity``, a `Clarity`; ``choice``, a `NumberChoice`, None where the
        number was given; ``alternatives``, the best division into each number of groups, the
        taken one first, then by support; ``line``, where the taken one comes from; and
        ``n_looked_at``, the objects of the sample.

    Notes
    -----
    Seven lines cluster a sample of the objects into 2, 3, ... groups each: average and single
    link of the co-association, k-means, Ward's tree, mixtures of Gaussians, the graph of
    neighbours, and HDBSCAN. The *agreement* of a partition is the mean, over the other lines, of
    its ARI with what in each line comes nearest to it; its *support* is the agreement plus half its
    silhouette and half its modularity in the graph of neighbours. The number of groups is that of
    the most support among the five lines that look at the data. Where that is below 1.1 (of at
    most 2) nothing has much support, and many numbers are about equal: then the number is that of
    the largest silhouette in k-means, Ward's tree, the mixtures and the graph, of 2 to 10 groups.
    Of the partitions of all lines into that number the one with the most support is taken.

    Three things go before that. Groups of any shape are seen by three of the lines only (graph,
    single link, HDBSCAN): what these agree about to 0.6, with sparse borders (0.1) that run through
    sparser places than those of the first choice (0.2), is taken instead, unless it only joins
    round groups: a union always has sparser borders. That is so where k-means, Ward and the
    mixtures come to the first choice by themselves (mean ARI of 0.92), all lines of the data nearly
    so (0.75), and the groups of any shape are apart as wholes (silhouette of 0.3; rings and arcs
    wind around each other) or have less agreement even among their own lines. Else, where the
    likeliest groups of these three (ICL) are likelier than one Gaussian, by 0.3 an object, and the
    graph of neighbours, which knows nothing of Gaussians, comes to the same (ARI of 0.85), they are
    taken: fine groups within coarse ones have less support than the coarse ones, which everybody
    finds. Where columns have few values, or one that many objects share, likelihood is not asked:
    groups of one value each are as likely as one likes. Before both come chains: groups of 4 in 100
    objects and more between which every step of the minimum spanning tree is at least 1.5 times as
    long as any within them. They are taken where no number has much support (below 1.1), or where
    they wind around each other (silhouette below 0.3): members and neighbourhoods lose thin arms.
    Objects out of the sample go where the members put them.

    The lines start alike whatever ``random_state`` is, and members hardly have a say in the number:
    another seed gives the same number, unless the data are larger than the sample. That makes it
    repeatable, not certain; how certain it is, `Clarity` and the alternatives say.

    Without data there are the trees, the graph and HDBSCAN on the co-association, and the
    members themselves are a line.
    """

    def run(placed: Ensemble, k: int, data: Any) -> ConsensusResult:
        wanted = None if n_clusters is None else k
        rng = check_random_state(random_state)
        # What the lines are made of takes NumPy arrays, whatever dispatch is switched on.
        with one_thread(), config_context(array_api_dispatch=False), warnings.catch_warnings():
            # Copies make fewer clusters than a line is asked for, and that is all right.
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = _on_a_sample(
                placed, wanted, data, max_clusters, EFFORTS[effort], rng, device, n_jobs
            )
        if wanted is not None:
            _say_if_another(wanted, result)
        return result

    run_in_order = ordered(run, data=True, n_jobs=n_jobs)
    return solve(
        ensemble, n_clusters, run_in_order, owner="AutoConsensus", X=X, splits_equals=X is not None
    )


def _on_a_sample(
    ensemble: Ensemble,
    k: int | None,
    X: Any,
    most: int | None,
    effort: _Effort,
    rng: np.random.RandomState,
    device: str | None,
    n_jobs: int | None,
) -> ConsensusResult:
    n = ensemble.n_objects
    some = np.sort(rng.permutation(n)[: effort.objects])
    points = None
    if X is not None:
        points = points_of(X[some], int(rng.randint(2**31 - 1)))
        # Objects come in an order of the members' labels: the starts of k-means would hang on it.
        order = np.lexsort(points.T[::-1])
        points, some = points[order], some[order]
    first, which = _each_once(points, len(some))
    points = None if points is None else points[first]
    scene = scene_of(ensemble.take(some[first]), points, effort)
    if not scene.distances.any():
        return _undivided(n, k, len(some))
    last = _MOST_NUMBERS if most is None else most
    while True:
        numbers = _numbers(scene.n_objects, last, k)
        if not numbers:  # too few objects for two groups
            return _undivided(n, k, len(some))
        tried = partitions(scene, numbers, n_jobs)
        if most is not None:  # HDBSCAN finds its own number
            tried = [one for one in tried if one.n_clusters <= max(numbers)]
        if not tried:
            return _undivided(n, k, len(some))
        support = supports(scene, tried)
        best, taken = best_of(tried, support, k)
        # Many groups of any shape with sparse borders are mostly one that falls to pieces.
        more = taken in ("support", "likelihood")
        more &= tried[best].n_clusters >= _NEAR_THE_END * max(numbers)
        if k is not None or most is not None or not more or last > scene.n_objects // 4:
            break
        last *= 2
    clarity = judge(
        scene.points,
        scene.distances,
        tried[best].labels,
        _agreement(scene, support, best),
        n_objects=effort.references,
        rng=rng,
    )
    tried = [replace(one, labels=one.labels[which]) for one in tried]
    labels = tried[best].labels
    alternatives = _alternatives(tried, support, best)
    chosen = None
    if k is None:
        chosen = choice_of(
            alternatives, clarity, len(some), taken=taken, one_gaussian=support.one_gaussian
        )
    details: dict[str, Any] = {
        "clarity": clarity,
        "choice": chosen,
        "alternatives": alternatives,
        "line": tried[best].line,
        "n_looked_at": len(some),
    }
    if device is not None:
        details["ran_on"] = {"consensus": "cpu", "labels of all objects": device}
    everybody = by_votes(ensemble, some, labels, device, n_jobs=n_jobs)
    return ConsensusResult(everybody, details=details)


def _each_once(points: Floats | None, n: int) -> tuple[Ints, Ints]:
    """Rows to look at, and which of them each object is: copies are looked at once."""
    once = None if points is None else distinct(points)
    return (np.arange(n), np.arange(n)) if once is None else once


def _say_if_another(k: int, result: ConsensusResult) -> None:
    """Warn if the groups found are not as many as were asked for."""
    n_groups, looked_at = len(np.unique(result.labels)), result.details["n_looked_at"]
    if n_groups == k:
        return
    warn(
        f"n_clusters={k} was asked for, but no line of AutoConsensus comes to so many among the "
        f"{looked_at} objects that it looks at; {n_groups} groups are the nearest. A larger "
        "'effort' looks at more objects; another method keeps any number."
    )


def _agreement(scene: Scene, support: Support, best: int) -> float:
    """How far others come to the same; one clustering has nobody to agree with."""
    if scene.points is None and scene.ensemble.n_members < 2:
        return 0.0
    return float(max(support.agreement[best], support.loose_agreement[best]))


def _undivided(n: int, k: int | None, looked_at: int) -> ConsensusResult:
    """No line divides the objects: they are all alike, or hardly any."""
    nothing = Clarity("none", None, 0, looked_at, 0.0, 0.0, 0.0)
    details = {
        "clarity": nothing,
        "choice": choice_of((), nothing, looked_at) if k is None else None,
        "alternatives": (),
        "line": None,
        "n_looked_at": looked_at,
    }
    return ConsensusResult(np.zeros(n, np.int32), details=details)


def scene_of(ensemble: Ensemble, points: Floats | None, effort: _Effort) -> Scene:
    """What the lines look at: data where there are any, else the co-association."""
    if points is None:
        distances = 1.0 - np.asarray(co_association(ensemble), np.float64)
        np.fill_diagonal(distances, 0.0)
    else:
        distances = euclidean_distances(points)
    n = len(distances)
    near = min(_NEIGHBOURS, n - 1)
    # Each object is its own nearest; copies of it may take that place, which is as well.
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : near + 1]
    rows = np.repeat(np.arange(n), near + 1)
    graph = sparse.coo_array((np.ones(rows.size), (rows, nearest.ravel())), shape=(n, n)).tocsr()
    graph = graph.maximum(graph.T)
    graph.setdiag(0)
    graph.eliminate_zeros()
    return Scene(distances, points, ensemble, graph, effort.starts)


def points_of(X: Any, seed: int) -> Floats:
    """The data as points around 0, of mean variance 1: no line may hang on the unit."""
    largest = float(abs(X).max())
    X = X / largest if largest > 0 else X
    if sparse.issparse(X):
        most = min(_COMPONENTS, min(X.shape) - 1)
        few = most < 1
        X = X.toarray() if few else few_columns(X, most, seed)
    points = np.asarray(X, np.float64)
    points = points - points.mean(axis=0)
    spread = float(np.sqrt(points.var(axis=0).mean()))
    return np.asarray(points / spread) if spread > 0 else points


def _numbers(n: int, last: int, k: int | None) -> list[int]:
    """Numbers of groups to try; one that is given is always among them."""
    tried = set(range(2, max(2, min(last, n // 4)) + 1))
    return sorted(number for number in tried | ({k} if k else set()) if number < n)


def _alternatives(tried: list[Partition], support: Support, best: int) -> tuple[Alternative, ...]:
    """The best division into each number of groups; the one taken first, then by support."""
    number = np.array([one.n_clusters for one in tried])
    lines = np.array([one.line for one in tried])
    score = np.where(lines == CHAINS, -np.inf, whole_score(support))
    for_number = number_score(lines, support)
    # Numbers that only members come to are not among those to choose from.
    known = np.unique(number[for_number > -np.inf]).tolist()
    most = {k: float(for_number[number == k].max()) for k in known}
    others = sorted((k for k in known if k != number[best]), key=lambda k: -most[k])
    taken = [best, *(int(np.where(number == k, score, -np.inf).argmax()) for k in others)]
    icl = {k: float(support.icl[number == k].min()) for k in np.unique(number).tolist()}
    return tuple(
        Alternative(
            n_clusters=int(number[place]),
            line=tried[place].line,
            support=most.get(int(number[place]), float(score[place])),
            agreement=float(support.agreement[place]),
            silhouette=float(support.silhouette[place]),
            modularity=float(support.modularity[place]),
            sparsity=float(support.sparsity[place]),
            icl=icl[int(number[place])] if np.isfinite(icl[int(number[place])]) else None,
            sizes=tuple(sorted(np.bincount(tried[place].labels).tolist(), reverse=True)),
            difference=difference(tried[best].labels, tried[place].labels),
        )
        for place in taken
    )


def by_votes(
    ensemble: Ensemble,
    some: Ints,
    labels: Labels,
    device: str | None = None,
    *,
    n_jobs: int | None = None,
) -> Labels:
    """Labels of all objects: each votes with those of the sample that members put it with.

    Parameters
    ----------
    ensemble : Ensemble
    some : ndarray of int
        Objects whose labels are known.
    labels : ndarray of shape (n_some,), int32
        Groups 0, 1, ... of these.
    device : str or None
        A torch device to count votes on.
    n_jobs : int or None
        Threads of the processor; the result does not depend on it.
    """
    everybody = np.empty(ensemble.n_objects, np.int32)
    if len(some) < len(everybody):
        members, starts = ensemble.members, first_columns(ensemble.members)
        votes = _votes(members, starts, some, labels)
        if device is None:
            held = row_sums(members, starts, votes, n_jobs=n_jobs)

            def decide(objects: slice) -> None:
                everybody[objects] = held[objects].argmax(axis=1)

            by_rows(decide, len(everybody), n_jobs)
        else:
            from consilience.engines.torch import label_rows

            everybody[:] = label_rows(members, starts, device).largest(votes)
    everybody[some] = labels
    return everybody


def _votes(members: NDArray[Any], starts: Ints, some: Ints, labels: Labels) -> Floats:
    """Of each cluster of each member for the groups that some of its objects are in."""
    k = int(labels.max()) + 1
    votes = np.zeros((int(starts[-1]), k))
    for member, start in zip(members, starts[:-1], strict=True):
        its = member[some]
        np.add.at(votes, (start + its[its >= 0], labels[its >= 0]), 1.0)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1.0)
    return votes


class AutoConsensus(
    ChosenNumber,
    function=autoconsensus,
    attributes=("clarity", "choice", "alternatives", "line", "n_looked_at"),
):
    """Cluster by what independent lines of evidence come to; see `autoconsensus`.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is k-means as it suits the size
        of the data, see `consilience.generate.default_generator`.

    Attributes
    ----------
    clarity_ : Clarity
        How clear the groups are: ``verdict`` "clear", "weak" or "none", with a p-value.
    choice_ : NumberChoice or None
        What speaks for this number of groups; None where it was given.
    alternatives_ : tuple of Alternative
        The best division into each number of groups; the one taken is the first.
    line_ : str
        Where the partition comes from.
    n_looked_at_ : int
        Objects of the sample that was looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 3)])
    >>> model = cs.AutoConsensus(random_state=0).fit(X)
    >>> model.n_clusters_, model.clarity_.verdict
    (2, 'clear')
    """

    max_clusters: int | None = None
    effort: Effort = "default"
    device: str | None = None

    def _default_generator(self, data: Any = None) -> Any:
        if data is None:
            return super()._default_generator()
        n, d = data.shape
        return default_generator(n, d, sparse=sparse.issparse(data.values)).generator
