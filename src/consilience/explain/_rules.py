"""A rule of a few conditions for one group, with its precision and recall.

A small tree of scikit-learn, the group against all others, proposes; what is told is what the
conditions do as they are written, counted on all objects.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

__all__ = ["Condition", "Feature", "Rule", "find_rule"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_CONDITIONS = 3
# Objects that the tree looks at; the rule is counted on all.
_MOST_OBJECTS = 20_000


class Feature(NamedTuple):
    """What a condition can speak of: numbers, or 0 and 1 for having a category; NaN missing."""

    column: str
    values: Floats
    category: str | None = None
    word: bool = False
    flag: bool = False


class Condition(NamedTuple):
    """``high`` asks for more than the bound, or for having the category or word."""

    feature: Feature
    high: bool
    bound: float

    def holds(self) -> Mask:
        """Of which objects it is true; never where the value is missing."""
        values = self.feature.values
        return np.asarray(values > self.bound if self.high else values <= self.bound)

    def __str__(self) -> str:
        column, category = self.feature.column, self.feature.category
        if self.feature.word:
            return f"has '{column}'" if self.high else f"has no '{column}'"
        if self.feature.flag:
            return f"{column} is {int(self.high)}"
        if category is not None:
            return f"{column} is {category}" if self.high else f"{column} is not {category}"
        text = f"{self.bound:.15g}"
        bound = text if float(text) == self.bound else repr(self.bound)
        return f"{column} {'>' if self.high else '<='} {bound}"


class Rule(NamedTuple):
    """Conditions that hold together, and how well they tell the group."""

    conditions: tuple[Condition, ...]
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


def find_rule(features: Sequence[Feature], inside: Mask) -> Rule | None:
    """The conditions that tell a group best by F1; None where no column tells anything.

    Parameters
    ----------
    features : sequence of Feature
        Their order decides between equals.
    inside : array of bool of shape (n_objects,)
        The group; all other objects are outside, also those in no group.

    Examples
    --------
    >>> size = Feature("size", np.array([1.0, 2, 3, 10, 11, 30]))
    >>> rule = find_rule([size], np.array([0, 0, 0, 1, 1, 0], bool))
    >>> str(rule), rule.precision, rule.recall
    ('size > 6 and size <= 20', 1.0, 1.0)
    """
    if not features or inside.all() or not inside.any():
        return None
    some = _some(inside)
    told = inside[some]
    # The tree sees places in the order of the values, in which its single precision is exact.
    distinct, places = zip(*(_places(one.values[some]) for one in features), strict=True)
    table = np.column_stack(places)
    # In an order that is the objects' own, whatever that of the file.
    order = np.lexsort((*table.T[::-1], told))
    best: Rule | None = None
    for weight in (None, "balanced"):
        tree = DecisionTreeClassifier(
            max_depth=MOST_CONDITIONS, class_weight=weight, random_state=0
        ).fit(table[order], told[order])
        for path in _paths(tree.tree_):
            rule = _counted(_simplified(features, distinct, path), inside)
            if best is None or _better(rule, best):
                best = rule
    # Missing values stand somewhere for the tree, but no condition holds of them.
    return best if best is not None and best.f1 > 0 else None


def _places(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The different values, and the place of each object's among them; the middle if missing."""
    known = np.isfinite(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    places = np.full(len(values), int(np.median(place)) if len(place) else 0, np.int64)
    places[known] = place
    return distinct, places


def _some(inside: Mask) -> NDArray[np.int64]:
    """Objects for the tree: all, or of very many some of both kinds."""
    if len(inside) <= _MOST_OBJECTS:
        return np.arange(len(inside))
    parts = np.flatnonzero(~inside), np.flatnonzero(inside)
    half = _MOST_OBJECTS // 2
    return np.concatenate(
        [part[np.linspace(0, len(part) - 1, min(len(part), half)).astype(int)] for part in parts]
    )


def _paths(tree: Any) -> Iterator[list[tuple[int, bool, float]]]:
    """The way to every node below the root: features, directions, thresholds."""
    stack: list[tuple[int, list[tuple[int, bool, float]]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        if path:
            yield path
        if tree.children_left[node] >= 0:
            step = int(tree.feature[node]), float(tree.threshold[node])
            for high, child in ((True, tree.children_right), (False, tree.children_left)):
                stack.append((int(child[node]), [*path, (step[0], high, step[1])]))


def _simplified(
    features: Sequence[Feature],
    distinct: Sequence[Floats],
    path: Sequence[tuple[int, bool, float]],
) -> tuple[Condition, ...]:
    """Conditions of a way, the tightest of each column and direction, with short numbers."""
    tightest: dict[tuple[int, bool], float] = {}
    for j, high, place in path:
        known = tightest.get((j, high))
        if known is None or (place > known) == high:
            tightest[j, high] = place
    return tuple(
        Condition(features[j], high, _short(*distinct[j][int(place) :][:2].tolist()))
        for (j, high), place in tightest.items()
    )


def _short(low: float, high: float) -> float:
    """The shortest number in [low, high): it parts values as they do.

    >>> _short(2.4, 2.51), _short(0.1, 0.2), _short(1e300, 1.7e308)
    (2.5, 0.15, 9e+307)
    """
    middle = low / 2 + high / 2
    tried = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
    return next((one for one in tried if low <= one < high), low)


def _counted(conditions: tuple[Condition, ...], inside: Mask) -> Rule:
    holds = np.logical_and.reduce([one.holds() for one in conditions])
    right = int((holds & inside).sum())
    chosen = int(holds.sum())
    return Rule(conditions, right / chosen if chosen else 0.0, right / int(inside.sum()))


def _better(one: Rule, other: Rule) -> bool:
    """Whether a rule tells more, or as much in fewer conditions."""
    gain = round(one.f1 - other.f1, 12)
    return gain > 0 or (gain == 0 and len(one.conditions) < len(other.conditions))
