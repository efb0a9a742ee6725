"""Groups explained: what is typical of each, what sets it apart, a rule, its objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._labels import encode
from consilience._optional import optional
from consilience._validation import (
    Boolean,
    Interval,
    NoneValue,
    Options,
    Satisfies,
    as_array,
    check_value,
)
from consilience._validation import shown as in_short
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import doubtful as in_doubt
from consilience.explain._columns import Columns, columns_of
from consilience.explain._differences import Differences, differences
from consilience.explain._examples import examples
from consilience.explain._rules import Feature, Rule, find_rule
from consilience.explain._words import as_html, as_words

__all__ = ["Profile", "profile"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Table = Mapping[str, NDArray[Any]]
TableName = Literal["clusters", "columns", "differences", "objects"]

# What a rule may speak of: so many of the columns that set the group apart most.
_MOST_FEATURES = 30
# Groups that get a rule: two trees each.
_MOST_RULES = 50
# Words in fewer objects tell nothing of groups; more columns than these no person reads.
_FEWEST_HAVE, _MOST_WORDS = 2, 20_000


def _is_a_list(value: Any) -> bool:
    single = isinstance(value, str | bytes) or getattr(value, "shape", None) == ()
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not single


_A_LIST = Satisfies(_is_a_list, "a list")


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """What makes the groups; prints itself in words.

    Tables are mappings of names of columns to arrays; `to_pandas` makes frames of them.

    Attributes
    ----------
    clusters : mapping
        One line a group: its objects and their share, the mean confidence, how many objects are
        doubtful (`consilience.evidence.doubtful`), the rule with its
        precision and recall (of the 50 largest groups). A last line, cluster -1, for objects in
        none.
    columns : mapping
        Columns by ``importance``, the most important first: the share of the column's variance
        that lies between the groups, from 0, what chance gives, to 1, groups that do not overlap
        in it. ``kind`` is
        "number", "category", "flag" (0 and 1) or "word".
    differences : mapping
        A line for each group and column, or category, or word; of each group those first that
        set it apart most. Typical: ``median`` and quartiles, or ``share``; ``rest_median`` and
        ``rest_share`` of all other groups. ``effect`` in [-1, 1] with its interval: Cliff's delta
        of numbers, the difference of shares of categories. ``log_odds`` with its interval;
        ``p`` and ``p_corrected`` by Benjamini and Hochberg over all lines of the table.
    objects : mapping
        Typical and doubtful objects, and what the members say of them.
    level : float
        Of all intervals.
    clustered : bool
        Whether the groups were made from these columns.
    n_objects : int
    notes : tuple of str
        What was left out.
    """

    clusters: Table
    columns: Table
    differences: Table
    objects: Table
    level: float
    clustered: bool
    n_objects: int
    notes: tuple[str, ...]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return {
            "clusters": self.clusters,
            "columns": self.columns,
            "differences": self.differences,
            "objects": self.objects,
        }

    def to_pandas(self, table: TableName = "differences") -> Any:
        """One of the tables as a pandas frame.

        Parameters
        ----------
        table : {"clusters", "columns", "differences", "objects"}
        """
        check_value("table", table, [Options(tuple(self.tables))], owner="Profile.to_pandas")
        pandas = optional("pandas", extra=None, what="Profile.to_pandas")
        return pandas.DataFrame(dict(self.tables[table]))

    def __str__(self) -> str:
        return as_words(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self)


def profile(
    X: Any,
    labels: Any,
    *,
    columns: Sequence[str] | None = None,
    sources: Sequence[str] = (),
    ids: Any = None,
    ensemble: Ensemble | None = None,
    confidence: Any = None,
    level: float = 0.95,
    clustered: bool = True,
) -> Profile:
    """What is typical of each group, what sets it apart from the rest, and a rule for it.

    Parameters
    ----------
    X : array, pandas or polars frame, sparse matrix, or None
        One row an object. Numbers and categories; values may be missing. Of a sparse matrix it
        counts which objects have what (which words). None explains the objects only.
    labels : array of shape (n_objects,)
        The groups, in any form; -1 and missing for objects in none, which are in no comparison
        and get a line of their own.
    columns : sequence of str, optional
        Names, in place of a frame's.
    sources : sequence of str, optional
        As of `consilience.datasets.Table`: columns of one source are one column of categories.
    ids : sequence of length n_objects, optional
        Identifiers; by default row numbers.
    ensemble : Ensemble, optional
        The members behind the groups, for typical and doubtful objects.
    confidence : array of shape (n_objects,), optional
        How sure each label is.
    level : float, default=0.95
        Of the intervals.
    clustered : bool, default=True
        Whether the groups were made from these columns; the words then say what p-values are not.

    Returns
    -------
    Profile

    Notes
    -----
    Effects are Cliff's delta from ranks and differences of shares, on one scale from -1 to 1;
    their intervals are score intervals, which have a width where a group does not overlap with the
    rest. A rule has at most three conditions: a way in a tree of depth three, the group against
    all others, with the best F1; its figures are counted on all objects.

    Examples
    --------
    >>> X = np.array([[1.0, 5], [2, 7], [1, 6], [9, 5], [8, 7], [9, 6]])
    >>> result = profile(X, [0, 0, 0, 1, 1, 1], columns=["size", "age"])
    >>> result.columns["column"].tolist(), result.clusters["rule"].tolist()
    (['size', 'age'], ['size <= 5', 'size > 5'])
    """
    check_value("level", level, [Interval(Real, 0.5, 0.9999)], owner="profile")
    check_value("clustered", clustered, [Boolean()], owner="profile")
    groups, names = _groups(labels)
    n = len(groups)
    check_value("ids", ids, [_A_LIST, NoneValue()], owner="profile")
    check_value("columns", columns, [_A_LIST, NoneValue()], owner="profile")
    check_value("sources", sources, [_A_LIST], owner="profile")
    if ids is not None and len(ids) != n:
        raise InvalidInputError(
            f"The 'ids' parameter of profile must hold one value for each of the {n} objects. Got "
            f"{len(ids)} instead."
        )
    sure = None if confidence is None else _confidences(confidence, n)
    if ensemble is not None:
        ensemble = usable_ensemble(ensemble, owner="profile")
    if ensemble is not None and ensemble.n_objects != n:
        raise InvalidInputError(
            f"The 'ensemble' parameter of profile must hold the {n} objects that have labels. Got "
            f"{ensemble.n_objects} objects instead."
        )
    table, notes = _readable(columns_of(X, n, names=columns, sources=sources))
    apart = differences(table, groups, len(names), level=level)
    strength = apart.strength()
    rules = _rules(table, apart, strength, groups, len(names))
    shown = np.array([*names, -1][: len(strength)], dtype=object)
    return Profile(
        clusters=_cluster_table(groups, shown, sure, rules),
        columns=_column_table(apart),
        differences=_difference_table(apart, strength, shown),
        objects=examples(table.numbers, groups, names, ids, ensemble, sure),
        level=float(level),
        clustered=bool(clustered),
        n_objects=n,
        notes=notes,
    )


def _confidences(given: Any, n: int) -> Floats:
    sure = as_array(given)
    numbers = sure.shape == (n,) and sure.dtype.kind in "biuf"
    if not numbers or not ((sure >= 0) & (sure <= 1)).all():
        raise InvalidInputError(
            f"The 'confidence' parameter of profile must hold one number from 0 to 1 for each of "
            f"the {n} objects. Got {in_short(given)} instead."
        )
    return sure.astype(np.float64)


def _groups(labels: Any) -> tuple[Codes, list[Any]]:
    """Places of the groups, below 0 for none, and what each is called."""
    codes = np.maximum(encode(labels, what="labels"), -1)
    values = as_array(labels if hasattr(labels, "__array__") else list(labels))
    _, first = np.unique(codes[codes >= 0], return_index=True)
    named = values[codes >= 0][first].tolist()
    if values.dtype.kind in "iufb":
        return codes, [int(name) for name in named]
    names = [str(name) for name in named]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise InvalidInputError(
            f"The 'labels' parameter of profile has two groups that are both called {twice!r} in "
            "words. Give each group a name of its own."
        )
    return codes, names


def _readable(table: Columns) -> tuple[Columns, tuple[str, ...]]:
    """The table less words that hardly any object has."""
    if table.words is None:
        return table, table.notes
    have = np.asarray((table.words != 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(have >= _FEWEST_HAVE)
    if len(kept) > _MOST_WORDS:
        kept = np.sort(kept[np.argsort(-have[kept], kind="stable")[:_MOST_WORDS]])
    left = len(have) - len(kept)
    if not left:
        return table, table.notes
    names = tuple(table.word_names[j] for j in kept)
    note = (
        f"{left} of {len(have)} columns are left out: fewer than {_FEWEST_HAVE} objects have them, "
        f"or {_MOST_WORDS} others are more frequent."
    )
    some = Columns(
        table.n_objects, names, table.numbers, words=table.words[:, kept], word_names=names
    )
    return some, (*table.notes, note)


def _rules(
    table: Columns,
    apart: Differences,
    strength: NDArray[np.float64],
    groups: Codes,
    n_groups: int,
) -> list[Rule | None]:
    """A rule for each group; of very many, for the largest."""
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    largest = set(np.argsort(-sizes, kind="stable")[:_MOST_RULES].tolist())
    return [
        find_rule(_features(table, apart, strength[g]), groups == g) if g in largest else None
        for g in range(n_groups)
    ]


def _features(table: Columns, apart: Differences, strength: NDArray[np.float64]) -> list[Feature]:
    """What a rule may speak of, in an order that hangs on names and figures only."""
    order = sorted(range(len(strength)), key=lambda j: (-strength[j], apart.spoken[j]))
    features = []
    for j in order[:_MOST_FEATURES]:
        column, category, kind = apart.spoken[j]
        if kind == "number":
            values = table.numbers[:, table.number_names.index(column)]
            features.append(Feature(column, values))
        elif kind == "word":
            has = table.words[:, [table.word_names.index(column)]].toarray().ravel() != 0
            features.append(Feature(column, has.astype(np.float64), word=True))
        else:
            one = next(one for one in table.categories if one.name == column)
            has = np.where(one.codes < 0, np.nan, one.codes == one.levels.index(category))
            features.append(Feature(column, has, category, flag=one.flag))
    return features


def _cluster_table(
    groups: Codes,
    shown: NDArray[Any],
    sure: NDArray[np.float64] | None,
    rules: Sequence[Rule | None],
) -> Table:
    masks = [groups == g for g in range(len(rules))]
    if len(shown) > len(rules):
        masks.append(groups < 0)
        rules = [*rules, None]
    sizes = np.array([int(mask.sum()) for mask in masks], np.int64)
    unsure = in_doubt(groups, sure)
    means = [np.nan if sure is None or not m.any() else float(sure[m].mean()) for m in masks]
    return {
        "cluster": shown,
        "objects": sizes,
        "share": sizes / max(len(groups), 1),
        "confidence": np.array(means),
        "doubtful": np.array([int(unsure[mask].sum()) for mask in masks], np.int64),
        "rule": np.array(["" if rule is None else str(rule) for rule in rules], dtype=object),
        "precision": np.array([np.nan if rule is None else rule.precision for rule in rules]),
        "recall": np.array([np.nan if rule is None else rule.recall for rule in rules]),
    }


def _column_table(apart: Differences) -> Table:
    kinds = {one.column: one.kind for one in apart.spoken}
    names = np.array(list(kinds), dtype=object)
    value = np.where(np.isnan(apart.importance), -1.0, apart.importance)
    order = sorted(range(len(names)), key=lambda j: (-value[j], names[j]))
    return {
        "column": names[order],
        "kind": np.array(list(kinds.values()), dtype=object)[order],
        "importance": apart.importance[order],
    }


def _difference_table(
    apart: Differences, strength: NDArray[np.float64], shown: NDArray[Any]
) -> Table:
    n_rows, n_spoken = strength.shape
    by_name = np.argsort(
        sorted(range(n_spoken), key=lambda j: (apart.spoken[j].column, apart.spoken[j].category))
    )
    # Rounded: ends of intervals that differ in the last bits are equal.
    order = np.lexsort((np.tile(by_name, (n_rows, 1)), -strength.round(9)))
    row = np.repeat(np.arange(n_rows), n_spoken)
    at = row, order.ravel()
    spoken = np.array([tuple(one) for one in apart.spoken], dtype=object).reshape(-1, 3)
    return {
        "cluster": shown[row],
        "column": spoken[at[1], 0],
        "category": spoken[at[1], 1],
        "kind": spoken[at[1], 2],
        **{name: figure[at] for name, figure in apart.figures.items()},
    }
