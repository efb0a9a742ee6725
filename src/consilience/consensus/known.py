"""What somebody knows of the objects: pairs that belong together or apart, groups of some.

Must-links are kept, whatever the members say. The rest decides which members are heard, in which
space groups are looked for, and which of many partitions is taken; so it has a say for objects of
which nothing is known, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._labels import is_missing
from consilience._validation import shown
from consilience.consensus._auto_rule import whole_score
from consilience.consensus._contradictions import components_of, refuse_contradictions
from consilience.consensus._lines import Partition, partitions
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.consensus._support import supports
from consilience.consensus.auto import EFFORTS, by_votes, points_of, scene_of
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import confidence
from consilience.partition import one_thread

__all__ = ["Knowledge", "Violation", "informed", "knowledge_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]

# Support is at most 2; a tenth more of the pairs respected counts as four tenths of it.
_WEIGHT = 4.0
# Pairs that known groups stand for, at most.
_MOST_PAIRS = 2_000
# Groups looked for at first, and must-links from which a space is learned.
_NUMBERS, _FEWEST_LINKS = 15, 3
# Members below the usual respect are not heard where at least so many are left.
_FEWEST_MEMBERS = 4


@dataclass(frozen=True)
class Violation:
    """A pair that is not as it is known to be.

    Attributes
    ----------
    first, second : int
        The objects.
    kind : {"cannot_link", "partial_labels"}
        Which knowledge is not respected.
    """

    first: int
    second: int
    kind: str


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known of some objects, free of contradictions; see `knowledge_of`.

    Attributes
    ----------
    n_objects : int
    must, cannot : ndarray of shape (n_pairs, 2), int64
    partial : ndarray of shape (n_objects,), int64
        Known group of each object, -1 where it is not known.
    """

    n_objects: int
    must: Ints
    cannot: Ints
    partial: Ints

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """The number of the objects that must be together, for each object."""
        return components_of(self.n_objects, self.must)

    @cached_property
    def objects(self) -> Ints:
        """Objects of which something is known."""
        known = [self.must.ravel(), self.cannot.ravel(), np.flatnonzero(self.partial >= 0)]
        return np.unique(np.concatenate(known))

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Pairs that belong together, and apart; known groups stand for at most 2,000 of either."""
        labelled = np.flatnonzero(self.partial >= 0)
        together, apart = [self.must], [self.cannot]
        if len(labelled) > 1:
            rng = np.random.default_rng(0)
            drawn = np.stack([rng.choice(labelled, 4 * _MOST_PAIRS) for _ in range(2)], axis=1)
            if len(labelled) <= 60:
                drawn = np.stack(np.triu_indices(len(labelled), 1), axis=1)
                drawn = labelled[drawn]
            drawn = drawn[drawn[:, 0] != drawn[:, 1]]
            same = self.partial[drawn[:, 0]] == self.partial[drawn[:, 1]]
            together.append(drawn[same][:_MOST_PAIRS])
            apart.append(drawn[~same][:_MOST_PAIRS])
        return np.concatenate(together), np.concatenate(apart)

    def respect(self, labels: NDArray[np.integer]) -> float:
        """Mean of the shares of pairs together and apart as they should be, each with two more
        pairs of which one is right; pairs that a member did not see do not count."""
        shares = []
        for pairs, wanted in zip(self.pairs, (True, False), strict=True):
            one, other = labels[pairs[:, 0]], labels[pairs[:, 1]]
            seen = (one >= 0) & (other >= 0)
            if len(pairs):
                right = int(((one == other) == wanted)[seen].sum())
                shares.append((right + 1) / (int(seen.sum()) + 2))
        return float(np.mean(shares)) if shares else 0.5

    def merged(self, labels: Labels) -> Labels:
        """Labels with objects that must be together in the group of most of them."""
        labels = labels.copy()
        linked = np.unique(self.components[np.unique(self.must)])
        for component in linked.tolist():
            its = np.flatnonzero(self.components == component)
            placed = labels[its][labels[its] >= 0]
            if placed.size:
                labels[its] = np.bincount(placed).argmax()
        return labels

    def violations(self, labels: NDArray[np.integer]) -> tuple[Violation, ...]:
        """Pairs that are not as they are known to be; must-links always are.

        Of a known group one pair for each object that is not with most of the others, and one if
        these are with another known group.
        """
        broken = []
        for first, second in self.cannot.tolist():
            if labels[first] == labels[second] >= 0:
                broken.append(Violation(first, second, "cannot_link"))
        return (*broken, *self._not_as_grouped(labels))

    def _not_as_grouped(self, labels: NDArray[np.integer]) -> list[Violation]:
        """Objects away from most of their group, and groups with another; noise is neither."""
        broken: list[Violation] = []
        first_of: dict[int, int] = {}
        known = (self.partial >= 0) & (labels >= 0)
        for group in np.unique(self.partial[known]).tolist():
            its = np.flatnonzero(known & (self.partial == group))
            usual = int(np.bincount(labels[its]).argmax())
            middle = int(its[labels[its] == usual][0])
            other = first_of.setdefault(usual, middle)
            if other != middle:
                broken.append(Violation(other, middle, "partial_labels"))
            for one in its[labels[its] != usual].tolist():
                broken.append(Violation(middle, one, "partial_labels"))
        return broken


def knowledge_of(
    n_objects: int,
    must_link: Any = None,
    cannot_link: Any = None,
    partial_labels: Any = None,
    *,
    ids: Any = None,
    owner: str = "cluster",
) -> Knowledge | None:
    """What is known, checked; None where nothing is.

    Parameters
    ----------
    n_objects : int
    must_link, cannot_link : sequences of pairs, optional
        Of identifiers where objects have such, else of row numbers.
    partial_labels : sequence of length n_objects, or mapping of objects to groups, optional
        None, NaN, "" and -1 where nothing is known.
    ids : sequence of length n_objects, optional
        Identifiers.
    owner : str
        Who asks, for messages.

    Raises
    ------
    InvalidInputError
        If a pair names no object, or what is known contradicts itself: the message has a smallest
        set of pairs that cannot all hold.

    Examples
    --------
    >>> knowledge_of(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)]).components.tolist()
    [0, 0, 0, 1]
    """
    if must_link is None and cannot_link is None and partial_labels is None:
        return None
    places = None
    if ids is not None:
        places = {str(one): row for row, one in enumerate(np.asarray(ids).tolist())}
    must = _pairs("must_link", must_link, n_objects, places, owner)
    cannot = _pairs("cannot_link", cannot_link, n_objects, places, owner)
    partial = _partial(partial_labels, n_objects, places, owner)
    refuse_contradictions(must, cannot, partial, ids, owner)
    return Knowledge(n_objects, must, cannot, partial)


def _pairs(name: str, given: Any, n: int, places: Any, owner: str) -> Ints:
    if given is None:
        return np.empty((0, 2), np.int64)
    pairs = []
    for pair in _listed(name, given, owner):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InvalidInputError(
                f"The {name!r} parameter of {owner} must be pairs of objects. Got {pair!r}."
            )
        pairs.append([_place(name, one, n, places, owner) for one in pair])
    return np.array(pairs, np.int64).reshape(-1, 2)


def _listed(name: str, given: Any, owner: str) -> list[Any]:
    """What was given as a list of Python's own values."""
    values = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"The {name!r} parameter of {owner} must be a list. Got {values!r} instead."
        )
    return list(values)


def _place(name: str, one: Any, n: int, places: Any, owner: str) -> int:
    if places is not None and str(one) in places:
        return int(places[str(one)])
    whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
    if places is None and whole and 0 <= one < n:
        return int(one)
    what = "a row number" if places is None else "an identifier of the objects"
    raise InvalidInputError(
        f"The {name!r} parameter of {owner} names the object {one!r}, which is not {what}."
    )


def _partial(given: Any, n: int, places: Any, owner: str) -> Ints:
    groups = np.full(n, -1, np.int64)
    if given is None:
        return groups
    if isinstance(given, Mapping):
        items = [(_place("partial_labels", k, n, places, owner), v) for k, v in given.items()]
    else:
        values = _listed("partial_labels", given, owner)
        if len(values) != n:
            raise InvalidInputError(
                f"The 'partial_labels' parameter of {owner} must have a value for each of the {n} "
                f"objects, or be a mapping of objects to groups. Got {len(values)} values."
            )
        items = list(enumerate(values))
    names: dict[Any, int] = {}
    for row, value in items:
        if not _is_name(value):
            raise InvalidInputError(
                f"The 'partial_labels' parameter of {owner} must name one group for each object. "
                f"Got {shown(value)} among them."
            )
        if not (is_missing(value) or value in ("", -1)):
            groups[row] = names.setdefault(value, len(names))
    return groups


def _is_name(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def informed(
    ensemble: Ensemble,
    known: Knowledge,
    n_clusters: int | None = None,
    *,
    max_clusters: int | None = None,
    effort: str = "default",
    X: Any = None,
    random_state: Any = None,
) -> ConsensusResult:
    """The best supported partition that respects what is known.

    Parameters
    ----------
    ensemble : Ensemble
    known : Knowledge
    n_clusters : int or None, default=None
        Groups wanted; None chooses.
    max_clusters : int or None, default=None
        Most groups to look for; None is 15.
    effort : {"quick", "default", "thorough"}, default="default"
        As in `autoconsensus`.
    X : array of shape (n_objects, n_features), optional
    random_state : int, RandomState or None

    Returns
    -------
    ConsensusResult
        ``details`` has ``line``, where the partition comes from, and ``respect``, how far it
        respected what is known before must-links were merged. Must-links all hold.

    Notes
    -----
    Partitions are those of the lines of `autoconsensus`, on the data and on the data in a space in
    which must-linked objects are near: divided by the root of the covariance of their differences,
    shrunk towards that of all objects by d / (d + links) (Bar-Hillel et al. 2005, JMLR 6: relevant
    component analysis). Members that respect less than is usual are not heard. Taken is what has
    the most support plus four times the respect. Last, must-linked objects go to the group of most
    of them, and an object that breaks a cannot-link goes to its next best group where that breaks
    none.
    """
    rng = check_random_state(random_state)
    how = EFFORTS[effort]
    heard = _heard(ensemble, known)
    first = known.objects[rng.permutation(len(known.objects))][: how.objects // 2]
    others = np.setdiff1d(np.arange(ensemble.n_objects), first)
    rest = rng.permutation(others)[: how.objects - len(first)]
    some = np.sort(np.concatenate([first, rest]))
    with one_thread():
        candidates, support = _candidates(
            heard.take(some), known, some, X, max_clusters, n_clusters, how
        )
    if not candidates:
        return ConsensusResult(np.zeros(ensemble.n_objects, np.int32))
    wide = np.full(ensemble.n_objects, -1, np.int32)
    respect = np.empty(len(candidates))
    for place, one in enumerate(candidates):
        wide[some] = one.labels
        respect[place] = known.respect(wide)
    score = support + _WEIGHT * respect
    if n_clusters is not None:
        off = np.array([abs(one.n_clusters - n_clusters) for one in candidates])
        score = np.where(off == off.min(), score, -np.inf)
    best = int(score.argmax())
    labels = known.merged(by_votes(heard, some, candidates[best].labels))
    labels = _repaired(ensemble, known, labels)
    details = {"line": candidates[best].line, "respect": float(respect[best])}
    return by_first_appearance(ConsensusResult(labels, details=details))


def _heard(ensemble: Ensemble, known: Knowledge) -> Ensemble:
    """Members that respect what is known as much as is usual."""
    respect = np.array([known.respect(labels) for labels in ensemble.members])
    kept = np.flatnonzero(respect >= np.median(respect))
    enough = _FEWEST_MEMBERS <= len(kept) < ensemble.n_members
    # Every object must have been seen by one of them.
    seen = enough and bool((ensemble.members[kept] >= 0).any(axis=0).all())
    return ensemble[kept.tolist()] if seen else ensemble


def _candidates(
    ensemble: Ensemble,
    known: Knowledge,
    some: Ints,
    X: Any,
    most: int | None,
    k: int | None,
    how: Any,
) -> tuple[list[Partition], Floats]:
    """Partitions of the sample, of the data and of the space learned, and their support."""
    points = None if X is None else points_of(X[some], 0)
    scene = scene_of(ensemble, points, how)
    last = max(2, min(most or _NUMBERS, len(some) // 4))
    numbers = sorted(one for one in {*range(2, last + 1), k or 2} if one < len(some))
    if not scene.distances.any() or not numbers:
        return [], np.empty(0)
    candidates = partitions(scene, numbers)
    place = np.full(known.n_objects, -1, np.int64)
    place[some] = np.arange(len(some))
    links = place[known.pairs[0]]
    links = links[(links >= 0).all(axis=1)]
    if points is not None and len(links) >= _FEWEST_LINKS:
        learned = _learned(points, links)
        candidates += partitions(scene_of(ensemble, learned, how), numbers)
    if k is None and most is not None:
        candidates = [one for one in candidates if one.n_clusters <= last]
    return candidates, whole_score(supports(scene, candidates)) if candidates else np.empty(0)


def _learned(points: Floats, links: Ints) -> Floats:
    """The points where linked objects are near: relevant components, shrunk."""
    d = points.shape[1]
    apart = points[links[:, 0]] - points[links[:, 1]]
    own = d / (d + len(links))
    within = (1 - own) * (apart.T @ apart) / (2 * len(links)) + own * np.diag(points.var(axis=0))
    values, axes = np.linalg.eigh(within)
    turned = points @ axes / np.sqrt(np.maximum(values, 1e-9 * max(values.max(), 1e-300)))
    return np.asarray(turned / np.sqrt(turned.var(axis=0).mean()))


def _repaired(ensemble: Ensemble, known: Knowledge, labels: Labels) -> Labels:
    """Labels after objects that break a cannot-link went to their next group, if it breaks none."""
    broken = [one for one in known.violations(labels) if one.kind == "cannot_link"]
    if not broken:
        return labels
    labels = labels.copy()
    sure = confidence(ensemble, labels)
    sizes = np.bincount(known.components)
    rivals: dict[int, list[int]] = {}
    for i, j in known.cannot.tolist():
        rivals.setdefault(i, []).append(j)
        rivals.setdefault(j, []).append(i)
    for one in broken:
        if labels[one.first] != labels[one.second]:
            continue
        for mover in sorted((one.first, one.second), key=lambda i: sure.confidence[i]):
            group = int(sure.runner_up[mover])
            free = group >= 0 and all(labels[other] != group for other in rivals[mover])
            if free and sizes[known.components[mover]] == 1:
                labels[mover] = group
                break
    return labels
