"""Groups of groups and within groups: who splits into whom, and what is more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state

from consilience._validation import (
    Boolean,
    Interval,
    RandomState,
    Satisfies,
    as_array,
    check_value,
)
from consilience._words import listed, plural
from consilience.consensus._clarity import Clarity, Verdict, judge
from consilience.consensus._group_tree import Node, group_tree
from consilience.consensus.auto import autoconsensus, points_of
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import InvalidInputError
from consilience.partition import one_thread
from consilience.rows import rows_of, same_objects

__all__ = ["Levels", "Split", "levels"]

Labels = NDArray[np.int32]
Ints = NDArray[np.int64]

_LEVEL = 0.05
# Objects that a split is judged by, and fewest that can hold smaller groups.
_LOOKED_AT, _FEWEST = 400, 40
# Groups in groups in groups: nobody asks for more at a time.
_DEEPEST = 3


@dataclass(frozen=True, eq=False)
class Split:
    """One group, at some level, that falls into parts.

    Attributes
    ----------
    groups : tuple of int
        Groups of the answer that it holds.
    parts : tuple of tuple of int
        Groups of each part. Within one group the parts have no numbers of their own: each is
        that group.
    sizes : tuple of int
        Objects of each part.
    level : int or None
        Number of groups there are with this split and all before it; None within a group.
    stability : float
        Of groups of groups, the share of random halves of the members and of the objects whose
        tree has the same two parts; within a group, how far ways to cluster come to the same
        parts.
    p_value : float or None
        Share of tables without groups, like the objects of this group, that look as divided.
        None without data, and where the split above is not significant.
    p_adjusted : float or None
        The same, for as many splits as were judged beside it (Benjamini and Hochberg).
    verdict : {"clear", "weak", "none"} or None
        How clear the parts are beside those tables.
    members : tuple of ndarray
        Positions of the objects of each part.
    """

    groups: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    level: int | None
    stability: float
    p_value: float | None
    p_adjusted: float | None
    verdict: Verdict | None
    members: tuple[Ints, ...]

    @property
    def significant(self) -> bool | None:
        """Whether it is clearly more than chance; None where nobody looked."""
        if self.p_adjusted is None:
            return None
        return self.p_adjusted <= _LEVEL and self.verdict == "clear"

    @property
    def words(self) -> str:
        """Who falls into whom, in a line."""
        sizes = listed(map(str, self.sizes))
        if self.level is None:
            return f"Within group {self.groups[0]}: parts of {sizes} objects, {self._verdict}."
        first, second = (_named(part) for part in self.parts)
        return (
            f"{plural(self.level, 'group')}: {first} beside {second}, {sizes} objects, "
            f"{self._verdict}."
        )

    @property
    def _verdict(self) -> str:
        if self.p_adjusted is None:
            return f"stability {self.stability:.2f}, not tested"
        hardly = "hardly more" if self.p_adjusted <= _LEVEL else "no more"
        more = f"{'more' if self.significant else hardly} than chance"
        return f"stability {self.stability:.2f}, {more} (p = {self.p_adjusted:.2g})"


@dataclass(frozen=True, eq=False)
class Levels:
    """The tree over the number of groups; see `levels`.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,)
        The groups that the tree is about.
    splits : tuple of Split
        Groups of groups by level, from two groups up; then parts of single groups.
    clarity : Clarity or None
        Of all groups at once: where they are not clear no split is. None without data, and of
        one group.
    """

    labels: Labels
    splits: tuple[Split, ...]
    clarity: Clarity | None

    @property
    def n_groups(self) -> int:
        """Groups of the answer."""
        return int(self.labels.max(initial=-1)) + 1

    def at(self, n_groups: int) -> Labels:
        """Labels of the level with so many groups, at most as many as the answer has.

        Parameters
        ----------
        n_groups : int
            From 1 on.
        """
        most = self.n_groups
        check_value("n_groups", n_groups, [Interval(Integral, 1, most)], owner="Levels.at")
        place = np.zeros(most, np.int32)
        for split in self.splits:
            if split.level is not None and split.level <= n_groups:
                place[list(split.parts[1])] = split.level - 1
        numbers = _in_order(place)[np.maximum(self.labels, 0)]
        return np.where(self.labels >= 0, numbers, self.labels).astype(np.int32)

    @cached_property
    def finest(self) -> Labels:
        """Labels with every significant part of a group as a group of its own."""
        labels = self.labels.copy()
        for split in self.splits:
            if split.level is None and split.significant:
                for members in split.members[1:]:
                    labels[members] = labels.max() + 1
        return labels

    @cached_property
    def coarsest(self) -> Labels:
        """Labels of the groups that only significant splits part; one group where none is."""
        labels = np.where(self.labels >= 0, 0, self.labels).astype(np.int32)
        for split in self.splits:
            if split.level is not None and split.significant:
                labels[split.members[1]] = labels.max() + 1
        return labels

    def to_pandas(self) -> Any:
        """A pandas frame, one row a split."""
        from consilience._optional import optional

        pandas = optional("pandas", extra=None, what="Levels.to_pandas")
        names = ("level", "groups", "parts", "sizes", "stability", "p_value", "p_adjusted")
        rows = [{name: getattr(one, name) for name in names} for one in self.splits]
        frame = pandas.DataFrame(rows, columns=list(names))
        frame["significant"] = [one.significant for one in self.splits]
        return frame

    def __str__(self) -> str:
        if not self.splits:
            return "One group, and nothing divides it."
        unclear = self.clarity is not None and self.clarity.verdict != "clear"
        first = [f"Not tested one by one. {self.clarity.words}"] if unclear and self.clarity else []
        return "\n".join([*first, *(split.words for split in self.splits)])


def levels(
    ensemble: Ensemble,
    labels: Any,
    *,
    X: Any = None,
    deeper: bool = True,
    random_state: Any = None,
) -> Levels:
    """Who splits into whom, from two groups up, and within the groups; and which splits are real.

    Parameters
    ----------
    ensemble : Ensemble
        Members.
    labels : array of shape (n_objects,)
        Groups 0, ..., k - 1 of an answer; negative for objects in none.
    X : array or CSR matrix of shape (n_objects, n_features), optional
        The data. Without them nothing is tested, and no group is divided further.
    deeper : bool, default=True
        Also look for groups within each group.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Levels

    Notes
    -----
    Groups are joined by average link: the two whose objects have the largest mean co-association
    first, and of those that no member ever joins the two with the nearest means. Read from its
    end, the tree says who splits into whom. Within a group `autoconsensus` looks for smaller
    ones.

    A split is judged as `autoconsensus` judges an answer, on the objects of the group that it
    divides alone: the borders of its parts beside those in 99 tables of two kinds without
    groups. First all groups at once are judged so; only where they are clear, splits are tested
    from the top down, each only where the one above it is significant. Those that
    stand beside each other are corrected by Benjamini and Hochberg's rule, which holds the
    false discovery rate of the whole tree near 5 % (Yekutieli, 2008, JASA 103: 309-316).

    Examples
    --------
    >>> from consilience import AutoConsensus
    >>> from consilience.datasets import make_gaussians
    >>> X, _ = make_gaussians(150, 3, random_state=0)
    >>> model = AutoConsensus(3, random_state=0).fit(X)
    >>> tree = levels(model.ensemble_, model.labels_, X=X, deeper=False, random_state=0)
    >>> [split.significant for split in tree.splits]
    [True, True]
    >>> len(set(tree.at(2).tolist()))
    2
    """
    owner = "levels"
    check_value("ensemble", ensemble, [_AN_ENSEMBLE], owner=owner)
    ensemble = usable_ensemble(ensemble, owner=owner)
    check_value("deeper", deeper, [Boolean()], owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    groups = as_array(labels)
    if groups.shape != (ensemble.n_objects,) or not np.issubdtype(groups.dtype, np.integer):
        raise InvalidInputError(
            f"The 'labels' parameter of {owner} must be one whole number for each of the "
            f"{ensemble.n_objects} objects. Got an array of shape {groups.shape} of "
            f"{groups.dtype} instead."
        )
    numbers = np.unique(groups[groups >= 0])
    if numbers.size and numbers[-1] != numbers.size - 1:
        raise InvalidInputError(
            f"The 'labels' parameter of {owner} must number groups 0, 1, ... without a gap. Got "
            f"{numbers.size} numbers up to {numbers[-1]}: number them anew, as np.unique(labels, "
            "return_inverse=True)[1] does."
        )
    groups = groups.astype(np.int32)
    if X is not None:
        X = same_objects(rows_of(X, owner=owner), len(groups)).values
    rng = check_random_state(random_state)
    scene = _Scene(ensemble, groups, X, deeper, rng)
    with one_thread(), config_context(array_api_dispatch=False):
        seen = None if X is None or groups.max(initial=-1) < 1 else _clarity(scene, groups, 1.0)
        test = seen is None or seen.verdict == "clear"
        return Levels(groups, tuple(_splits(scene, test=test)), seen)


_AN_ENSEMBLE = Satisfies(lambda value: isinstance(value, Ensemble), "an Ensemble")


@dataclass(frozen=True, eq=False)
class _Scene:
    """What the splits are found in."""

    ensemble: Ensemble
    labels: Labels
    X: Any
    deeper: bool
    rng: np.random.RandomState


def _splits(scene: _Scene, *, test: bool) -> list[Split]:
    """All splits: those between groups by level, then those within."""
    nodes = _tree(scene) if scene.labels.max() > 0 else []
    above = [_split_of(scene, node, level) for level, node in enumerate(nodes, 2)]
    root = tuple(range(int(scene.labels.max(initial=-1)) + 1))
    judged: dict[tuple[int, ...], Split] = {}
    within: list[Split] = []
    families = [[root]] if root and test else []
    while families:
        family = families.pop(0)
        tested = _tested(scene, [one for groups in family for one in _at(scene, above, groups)])
        for split in tested:
            if split.level is None:
                within += [split, *_deeper(scene, split)] if split.significant else []
            else:
                judged[split.groups] = split
                if split.significant:
                    families.append(list(split.parts))
    return [judged.get(split.groups, split) for split in above] + within


def _tree(scene: _Scene) -> list[Node]:
    seed = int(scene.rng.randint(2**31 - 1))
    points = None if scene.X is None else points_of(scene.X, seed)
    return group_tree(scene.ensemble, scene.labels, scene.rng, points)


def _at(scene: _Scene, above: list[Split], groups: tuple[int, ...]) -> list[Split]:
    """The split of these groups: between them, or within the only one."""
    if len(groups) > 1:
        return [split for split in above if split.groups == groups]
    return _within(scene, groups[0], np.flatnonzero(scene.labels == groups[0]))


def _split_of(scene: _Scene, node: Node, level: int) -> Split:
    members = tuple(np.flatnonzero(np.isin(scene.labels, part)) for part in node.parts)
    sizes = tuple(len(some) for some in members)
    return Split(node.groups, node.parts, sizes, level, node.stability, None, None, None, members)


def _within(scene: _Scene, group: int, objects: Ints) -> list[Split]:
    """Parts of a group as ways to cluster come to them, with their p-value."""
    if not scene.deeper or scene.X is None or len(objects) < _FEWEST:
        return []
    seed = int(scene.rng.randint(2**31 - 1))
    some = scene.ensemble.take(objects)
    answer = autoconsensus(some, X=scene.X[objects], effort="quick", random_state=seed)
    if answer.labels.max() < 1:
        return []
    clarity = answer.details["clarity"]  # there are data, so somebody looked
    members = tuple(objects[answer.labels == g] for g in range(int(answer.labels.max()) + 1))
    return [
        Split(
            groups=(group,),
            parts=((group,),) * len(members),
            sizes=tuple(len(part) for part in members),
            level=None,
            stability=clarity.agreement,
            p_value=clarity.p_value,
            p_adjusted=None,
            verdict=clarity.verdict,
            members=members,
        )
    ]


def _deeper(scene: _Scene, split: Split, depth: int = 1) -> list[Split]:
    """Splits of the parts of a group, and of theirs."""
    if depth >= _DEEPEST:
        return []
    family = [one for part in split.members for one in _within(scene, split.groups[0], part)]
    kept = [one for one in _tested(scene, family) if one.significant]
    return [one for one_split in kept for one in (one_split, *_deeper(scene, one_split, depth + 1))]


def _tested(scene: _Scene, family: Sequence[Split]) -> list[Split]:
    """Splits that stand beside each other with their p-values, corrected for one another."""
    known = [one if one.p_value is not None else _judged(scene, one) for one in family]
    if any(one.p_value is None for one in known):  # no data: nothing can be said
        return known
    p = np.array([one.p_value for one in known], np.float64)
    order = np.argsort(-p, kind="stable")
    raised = p[order] * len(p) / np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(np.minimum(raised, 1.0))
    return [replace(one, p_adjusted=float(q)) for one, q in zip(known, adjusted, strict=True)]


def _judged(scene: _Scene, split: Split) -> Split:
    """With how clear the borders between its parts are, among the objects of the group alone."""
    if scene.X is None:
        return split
    labels = np.full(len(scene.labels), -1, np.int32)
    for part, members in enumerate(split.members):
        labels[members] = part
    # Whether two groups are apart has nothing to do with whether a third would be joined first,
    # which is what stability is about.
    clarity = _clarity(scene, labels, 1.0)
    p = 1.0 if clarity.p_value is None else clarity.p_value
    return replace(split, p_value=p, verdict=clarity.verdict)


def _clarity(scene: _Scene, labels: Labels, agreement: float) -> Clarity:
    """How clear groups are among the objects that are in one."""
    objects = scene.rng.permutation(np.flatnonzero(labels >= 0))[:_LOOKED_AT]
    points = points_of(scene.X[objects], int(scene.rng.randint(2**31 - 1)))
    apart = euclidean_distances(points)
    some = labels[objects]
    return judge(points, apart, some, agreement, n_objects=_LOOKED_AT, rng=scene.rng)


def _in_order(place: Labels) -> Labels:
    """Numbers 0, 1, ... by first appearance."""
    _, first, inverse = np.unique(place, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int32)


def _named(part: tuple[int, ...]) -> str:
    return f"group{'s' * (len(part) > 1)} {listed(map(str, part))}"
