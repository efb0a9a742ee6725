"""From the columns of a file to a table of finite numbers, nothing left out unsaid.

What a column holds is told from its words; what is not numbers is refused or, if asked for,
encoded; what is missing is refused or, if asked for, filled in.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, plural, shown
from consilience.datasets._cells import MISSING, NO_WORD, Decimal
from consilience.datasets._columns import Columns, Floats
from consilience.datasets._dates import as_text
from consilience.datasets._meaning import Kind, Meaning, meaning_of
from consilience.datasets._missing_codes import note_codes
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._refusals import (
    FILL_IN,
    FILL_IN_NEW,
    NOT_GUESSED,
    Gap,
    Refused,
    no_finite_rows,
    refuse_gaps,
    refuse_other_words,
    refuse_words,
)
from consilience.datasets._roles import (
    MANY,
    Roles,
    counts_rows,
    is_text,
    note_numbers,
    recognise_ids,
    values_of,
)
from consilience.errors import InvalidInputError

__all__ = [
    "Beside",
    "Encode",
    "Impute",
    "Ordinal",
    "Prepared",
    "beside",
    "prepare",
    "prepare_like",
]

Impute = Literal["median", "mean", "drop-rows", "keep"]
Encode = Literal["onehot", "mixed", "dates"]
Ordinal = Mapping[str, Sequence[str]]

# Words that may well be the name of a group.
_NAMES_TOO = {"none", "?"}


class Prepared(NamedTuple):
    """What a table is made of; ``sources`` is the file's column behind each column of X."""

    X: Any
    columns: tuple[str, ...]
    sources: tuple[str, ...]
    ids: NDArray[Any] | None
    truth: NDArray[np.str_] | None
    left_out: NDArray[np.int64]
    recipe: Recipe


@dataclass
class _Feature:
    """A column of data: a number an object, or the place of its word among categories.

    The places of ``ordered`` categories are numbers too.
    """

    position: int
    name: str
    values: Floats
    categories: tuple[str, ...] = ()
    first: float = 0.0
    ordered: bool = False
    dates: bool = False

    def used(self, impute: Impute | None) -> Column:
        """How it became numbers."""
        fill = None
        known = self.values[np.isfinite(self.values)] if impute in ("median", "mean") else ()
        if len(known):
            fill = _stand_in(self, known, impute)
        return Column(self.name, self.categories, self.first, fill, self.ordered, self.dates)

    def gap(self, columns: Columns) -> Gap | None:
        """What is missing, if anything; the readers have noted where numbers are."""
        if self.position not in columns.words and self.position not in columns.gaps:
            return None
        missing, infinite = int(np.isnan(self.values).sum()), int(np.isinf(self.values).sum())
        if not missing and not infinite:
            return None
        place, cell = columns.gaps.get(self.position, (0, None))
        if not place:
            row = int(np.argmin(np.isfinite(self.values)))
            words = columns.words[self.position]
            place, cell = int(columns.places()[row]), words.words[words.codes[row]]
        return Gap(self.name, missing, infinite, place, cell)


def prepare(
    columns: Columns,
    roles: Roles,
    *,
    impute: Impute | None,
    encode: Encode | None,
    decimal: Decimal | None,
    guess: bool = True,
    ordinal: Ordinal | None = None,
) -> Prepared:
    """The table; notes of what was done are added to those of the columns.

    ``guess`` is false where no column can be a row number or an identifier: in plain arrays.
    ``ordinal`` has the categories of columns whose categories have an order, the lowest first.
    """
    roles_of_words = (roles.ids, roles.truth)
    meanings = {
        j: meaning_of(words, decimal, categories=j in columns.categories)
        for j, words in columns.words.items()
        if j not in roles_of_words
    }
    ids, data = roles.ids, roles.data
    if guess:
        counters = [j for j in data if _is_counter(columns, j, meanings)]
        id_columns = recognise_ids(columns, roles, meanings, counters)
        if id_columns:
            ids, data = id_columns[0], [j for j in data if j not in id_columns]
        note_numbers(columns, data, meanings, counters)
    features = _features(columns, data, meanings, encode, ordinal or {})
    features = _without_empty(columns, features, impute is not None)
    used = tuple(f.used(impute) for f in features)
    kept = _settle_gaps(columns, features, roles, impute)
    note_codes(columns, ((f.name, _taken(f.values, kept)) for f in features if not f.categories))
    X, names, sources = _assembled(columns, features, kept)
    left_out = np.empty(0, np.int64) if kept is None else np.flatnonzero(~kept)
    return Prepared(
        X,
        names,
        sources,
        _identifiers(columns, ids, kept),
        _truth(columns, roles.truth, kept),
        left_out,
        Recipe(
            used,
            None if ids is None else columns.names[ids],
            None if roles.truth is None else columns.names[roles.truth],
            impute == "drop-rows",
            encode,
            decimal,
            keep_gaps=impute == "keep",
        ),
    )


def prepare_like(
    columns: Columns, roles: Roles, recipe: Recipe, decimal: Decimal | None
) -> Prepared:
    """The table of another file, its columns made numbers as those of the first were.

    A category that was not there is none of those that were: its object has 0 in all of them, and
    lies in the middle where there were two, which share a column.
    """
    places = {columns.names[j]: j for j in roles.data}
    there = [one for one in recipe.columns if one.name in places]
    outcomes = [_feature_like(columns, places[one.name], one, recipe, decimal) for one in there]
    refuse_other_words(columns, [one for one in outcomes if isinstance(one, Refused)])
    features = [one for one in outcomes if isinstance(one, _Feature)]
    _fill_like(columns, features, recipe)
    how: Impute | None = "drop-rows" if recipe.drop_rows and not columns.whole else None
    if recipe.keep_gaps:
        how = "keep"
    kept = _settle_gaps(columns, features, roles, how, remedy=FILL_IN_NEW)
    X, names, sources = _assembled(columns, features, kept)
    left_out = np.empty(0, np.int64) if kept is None else np.flatnonzero(~kept)
    ids = _identifiers(columns, roles.ids, kept)
    return Prepared(X, names, sources, ids, None, left_out, recipe)


class Beside(NamedTuple):
    """What stands beside numbers that need no treatment: ``kept`` are rows, None all of them."""

    ids: NDArray[Any] | None
    truth: NDArray[np.str_] | None
    kept: NDArray[np.bool_] | None


def beside(columns: Columns, roles: Roles, impute: Impute | None) -> Beside:
    """Identifiers and known groups; a group that is missing is refused, or its row left out."""
    kept = _settle_gaps(columns, [], roles, impute)
    return Beside(_identifiers(columns, roles.ids, kept), _truth(columns, roles.truth, kept), kept)


def _feature_like(
    columns: Columns, j: int, column: Column, recipe: Recipe, decimal: Decimal | None
) -> _Feature | Refused:
    """A column of data as it was read before; what cannot be is refused."""
    meaning = meaning_of(columns.words[j], decimal) if j in columns.words else None
    if not column.categories or meaning is None:
        outcome = _feature(columns, j, meaning, "dates" if recipe.encode else None)
        if isinstance(outcome, Refused):
            return outcome
        return _numbers_like(columns, outcome, column, meaning)
    known = {word: place for place, word in enumerate(column.categories)}
    nowhere = math.nan if column.ordered else -1
    new = sorted({str(word) for word in meaning.said} - set(known))
    if new:
        columns.notes.append(
            f"Column {column.name!r} of {columns.source.name!r} has categories that were not there "
            f"before: {listed(map(shown, new), most=5)}. Their objects have none of the known ones."
        )
    place = np.array([known.get(str(word), nowhere) for word in meaning.words], np.float64)
    # What was a category is one, also where it means a gap elsewhere.
    place[meaning.missing & [str(word) not in known for word in meaning.words]] = math.nan
    values = place[columns.words[j].codes]
    return _Feature(j, column.name, values, column.categories, ordered=column.ordered)


def _numbers_like(
    columns: Columns, feature: _Feature, column: Column, meaning: Meaning | None
) -> _Feature | Refused:
    """Numbers, or days since the first there was; neither may stand for the other."""
    known = np.isfinite(feature.values)
    if feature.dates != column.counts_days and known.any():
        return _other_than_before(columns, feature, int(np.argmax(known)), meaning)
    if not feature.dates:
        return replace(feature, dates=column.counts_days)
    moved = feature.values + (feature.first - column.first)
    return replace(feature, values=moved, first=column.first)


def _other_than_before(
    columns: Columns, feature: _Feature, row: int, meaning: Meaning | None
) -> Refused:
    """A column of days that was one of numbers, or the other way round."""
    if meaning is not None:
        words = columns.words[feature.position]
        cell = words.words[words.codes[row]]
    else:
        value = float(feature.values[row])
        cell = as_text(value + feature.first) if feature.dates else f"{value:g}"
    kind = Kind.DATES if feature.dates else Kind.NUMBERS
    return Refused(feature.name, kind, int(columns.places()[row]), cell, meaning)


def _fill_like(columns: Columns, features: Sequence[_Feature], recipe: Recipe) -> None:
    """Put what stood for missing values before where nothing is said."""
    done, fills = [], recipe.by_name()
    for f in features:
        fill, unknown = fills[f.name].fill, ~np.isfinite(f.values)
        if fill is not None and unknown.any():
            f.values[unknown] = fill  # in place: it may be a part of the whole table
            said = shown(f.categories[int(fill)]) if f.categories else f"{fill:.6g}"
            done.append(f"{int(unknown.sum())} of {f.name!r} with {said}")
    if done:
        columns.notes.append(
            f"Values of {columns.source.name!r} that are missing or infinite were filled in as "
            f"before: {listed(done)}."
        )


def _is_counter(columns: Columns, j: int, meanings: Mapping[int, Meaning]) -> bool:
    if j in meanings and meanings[j].kind is not Kind.NUMBERS:
        return False
    return counts_rows(values_of(columns, j, meanings))


def _taken(values: NDArray[Any], kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    return values if kept is None else values[kept]


def _identifiers(
    columns: Columns, ids: int | None, kept: NDArray[np.bool_] | None
) -> NDArray[Any] | None:
    """Identifiers of the objects kept; row numbers from 0 where rows were left out."""
    if ids is None:
        return None if kept is None else np.flatnonzero(kept)
    if ids in columns.words:
        return _taken(columns.words[ids].cells(), kept)
    return _taken(columns.column(ids).astype(np.int64), kept)


def _truth(
    columns: Columns, truth: int | None, kept: NDArray[np.bool_] | None
) -> NDArray[np.str_] | None:
    """Known groups of the objects kept."""
    if truth is None:
        return None
    return _taken(columns.words[truth].cells(), kept).astype(np.str_)


# ---- words to numbers -----------------------------------------------------------------------


def _features(
    columns: Columns,
    data: Sequence[int],
    meanings: Mapping[int, Meaning],
    encode: Encode | None,
    ordinal: Ordinal,
) -> list[_Feature]:
    """Columns of data as numbers or categories; refuses those that are neither."""
    _check_ordinal(columns, data, ordinal)
    features, refused = [], []
    for j in data:
        order = ordinal.get(columns.names[j])
        if order is not None:
            outcome: _Feature | Refused = _ordered_feature(columns, j, order)
        else:
            outcome = _feature(columns, j, meanings.get(j), encode)
        if isinstance(outcome, _Feature):
            features.append(outcome)
        else:
            refused.append(outcome)
    refuse_words(columns, refused, encode)
    yes_no = [
        f.name
        for f in features
        if f.position in meanings and meanings[f.position].kind is Kind.BOOLEANS
    ]
    if yes_no:
        columns.notes.append(
            f"{_these(yes_no, columns)} {_hold(yes_no)} true and false, or yes and no: read as 1 "
            "and 0."
        )
    signed = [f for f in features if f.position in meanings and meanings[f.position].sign]
    if signed:
        names = [f"{f.name!r} ({meanings[f.position].sign})" for f in signed]
        columns.notes.append(
            f"{'Columns' if len(names) > 1 else 'Column'} {listed(names, most=8)} of "
            f"{columns.source.name!r} {_hold(names)} numbers with signs of percent or currency: "
            "they are read without them."
        )
    _note_encoded(columns, features, encode)
    return features


def _check_ordinal(columns: Columns, data: Sequence[int], ordinal: Ordinal) -> None:
    """Refuse an order of a column that is not there."""
    names = [columns.names[j] for j in data]
    others = [name for name in ordinal if name not in names]
    if others:
        raise InvalidInputError(
            f"{columns.source.name!r} has no column of data {listed(map(repr, others))}, named in "
            f"ordinal (--ordinal). It has {listed(map(repr, names), most=10)}."
        )


def _ordered_feature(columns: Columns, j: int, order: Sequence[str]) -> _Feature:
    """Places in an order; refuses words that are not in it."""
    name, place = columns.names[j], {word: at for at, word in enumerate(order)}
    words = columns.words[j]
    values, unknown = np.full(len(words.words), math.nan), []
    for at, word in enumerate(words.words):
        if str(word) in place:
            values[at] = place[str(word)]
        elif word is not None and str(word).lower() not in NO_WORD:
            unknown.append(str(word))
    if unknown:
        raise InvalidInputError(
            f"Column {name!r} of {columns.source.name!r} has {listed(map(shown, unknown), most=5)},"
            f" which the order given with ordinal (--ordinal) does not name: "
            f"{listed(map(shown, order), most=10)}. Name every category, the lowest first."
        )
    return _Feature(j, name, values[words.codes], tuple(order), ordered=True)


def _feature(
    columns: Columns, j: int, meaning: Meaning | None, encode: Encode | None
) -> _Feature | Refused:
    name = columns.names[j]
    if meaning is None:
        values = columns.column(j)
        if j not in columns.days or encode is not None:
            first = _first(values) if j in columns.days else 0.0
            moved = values - first if first else values
            return _Feature(j, name, moved, first=first, dates=j in columns.days)
        row = int(np.argmax(np.isfinite(values)))
        return Refused(name, Kind.DATES, int(columns.places()[row]), as_text(values[row]), None)
    codes = columns.words[j].codes
    if meaning.kind in (Kind.NUMBERS, Kind.BOOLEANS):
        return _Feature(j, name, meaning.values[codes])
    if meaning.kind is Kind.DATES and encode is not None:
        first = _first(meaning.values[codes])
        return _Feature(j, name, meaning.values[codes] - first, first=first, dates=True)
    is_free = is_text(meaning) and 2 * len(meaning.said) > columns.n_objects >= MANY
    if encode in ("onehot", "mixed") and meaning.may_be_categories and not is_free:
        place = np.full(len(meaning.words), math.nan)
        place[~meaning.missing] = np.arange(len(meaning.said))
        return _Feature(j, name, place[codes], tuple(map(str, meaning.said)))
    kind = Kind.TEXT if is_free else meaning.kind
    row = columns.words[j].first_row(meaning.odd)
    return Refused(name, kind, int(columns.places()[row]), meaning.words[meaning.odd], meaning)


def _first(days: Floats) -> float:
    finite = days[np.isfinite(days)]
    return float(finite.min()) if finite.size else 0.0


def _note_encoded(columns: Columns, features: Sequence[_Feature], encode: Encode | None) -> None:
    days = [f.name for f in features if f.dates]
    if days:
        columns.notes.append(
            f"{_these(days, columns)} {_hold(days)} dates or times: read as days since the first."
        )
    split = [
        f"{f.name!r} ({plural(len(f.categories), 'category', 'categories')})"
        for f in features
        if f.categories and not f.ordered
    ]
    if split:
        done = (
            "clusterings compare them as equal or different, and each weighs by what it says of "
            "other columns."
            if encode == "mixed"
            else "each is split into columns of its own, which together weigh like one column of "
            "numbers."
        )
        columns.notes.append(
            f"{'Columns' if len(split) > 1 else 'Column'} {listed(split)} of "
            f"{columns.source.name!r} {_hold(split)} categories: {done}"
        )


def _these(names: Sequence[str], columns: Columns) -> str:
    noun = "Column" if len(names) == 1 else "Columns"
    return f"{noun} {listed(map(repr, names))} of {columns.source.name!r}"


def _hold(names: Sequence[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


# ---- values that are missing ------------------------------------------------------------------


def _without_empty(
    columns: Columns, features: list[_Feature], infinite_too: bool
) -> list[_Feature]:
    """Columns that hold any value; a column of infinite ones holds none that can be used."""

    def says(values: Floats) -> NDArray[np.bool_]:
        return np.isfinite(values) if infinite_too else ~np.isnan(values)

    if columns.n_objects == 1 and not infinite_too:
        return features  # of a single object nothing can be told about columns
    # Most columns have a value in their first row, and no more is looked at.
    empty = [f for f in features if not says(f.values[:1]).any() and not says(f.values).any()]
    if not empty:
        return features
    names = [f.name for f in empty]
    if len(empty) == len(features):
        raise InvalidInputError(
            f"{_these(names, columns)} {_hold(names)} no value in any row, and there are no other "
            "columns of data. There is nothing to cluster."
        )
    columns.notes.append(
        f"{_these(names, columns)} {_hold(names)} no value in any row and "
        f"{'is' if len(names) == 1 else 'are'} left out."
    )
    gone = {f.position for f in empty}
    return [f for f in features if f.position not in gone]


def _settle_gaps(
    columns: Columns,
    features: list[_Feature],
    roles: Roles,
    impute: Impute | None,
    remedy: str = FILL_IN,
) -> NDArray[np.bool_] | None:
    """Fill in what is missing, or say which rows are kept; None keeps all."""
    gaps = [(f, gap) for f in features if (gap := f.gap(columns)) is not None]
    lost = np.zeros(columns.n_objects, bool)
    unknown = _truth_gap(columns, roles, lost)
    if impute in ("median", "mean"):
        refuse_gaps(columns, [unknown] if unknown else [], int(lost.sum()), NOT_GUESSED)
        if gaps:
            _fill(columns, [f for f, _ in gaps], impute)
        return None
    if impute == "keep":
        refuse_gaps(columns, [unknown] if unknown else [], int(lost.sum()), NOT_GUESSED)
        return _kept_gaps(columns, [f for f, _ in gaps], features)
    for f, _ in gaps:
        lost |= ~np.isfinite(f.values)
    if not lost.any():
        return None
    if impute is None:
        all_gaps = [gap for _, gap in gaps] + ([unknown] if unknown else [])
        refuse_gaps(columns, all_gaps, int(lost.sum()), remedy if gaps else NOT_GUESSED)
    if lost.all():
        raise no_finite_rows(columns)
    rows = np.flatnonzero(lost)
    columns.notes.append(
        f"{plural(int(lost.sum()), 'row')} of {columns.n_objects} of {columns.source.name!r} "
        f"{'has' if lost.sum() == 1 else 'have'} missing or infinite values and "
        f"{'is' if lost.sum() == 1 else 'are'} left out, without a label "
        f"(row{'s' * (len(rows) > 1)} {listed(rows.tolist())}, counted from 0)."
    )
    return ~lost


def _kept_gaps(
    columns: Columns, gappy: Sequence[_Feature], features: Sequence[_Feature]
) -> NDArray[np.bool_] | None:
    """Gaps stay gaps; an object of which nothing at all is known is left out of a file."""
    if not gappy:
        return None
    cells = 0
    for f in gappy:
        f.values[~np.isfinite(f.values)] = math.nan
        cells += int(np.isnan(f.values).sum())
    columns.notes.append(
        f"{plural(cells, 'cell')} of {columns.source.name!r} in {plural(len(gappy), 'column')} "
        f"{'is' if cells == 1 else 'are'} missing or infinite and kept as gaps: a clustering looks "
        "at the objects that have its columns."
    )
    if columns.whole:
        return None
    known = np.zeros(columns.n_objects, bool)
    for f in features:
        known |= np.isfinite(f.values)
    if known.all():
        return None
    rows = np.flatnonzero(~known)
    if not known.any():
        raise no_finite_rows(columns)
    one = len(rows) == 1
    columns.notes.append(
        f"{plural(len(rows), 'row')} of {columns.source.name!r} {'has' if one else 'have'} no "
        f"value in any column and {'is' if one else 'are'} left out, without a label "
        f"(row{'s' * (len(rows) > 1)} {listed(rows.tolist())}, counted from 0)."
    )
    return known


def _truth_gap(columns: Columns, roles: Roles, lost: NDArray[np.bool_]) -> Gap | None:
    """Objects without a known group, which are marked in ``lost``."""
    if roles.truth is None:
        return None
    words = columns.words[roles.truth]
    silent = [w is None or str(w).lower() in MISSING - _NAMES_TOO for w in words.words]
    if not any(silent):
        return None
    missing = np.array(silent)[words.codes]
    lost |= missing
    row = int(np.argmax(missing))
    cell, place = words.words[words.codes[row]], int(columns.places()[row])
    return Gap(columns.names[roles.truth], int(missing.sum()), 0, place, cell)


def _fill(columns: Columns, features: Sequence[_Feature], how: Impute) -> None:
    """Put the middle of a column, or its most frequent word, where nothing is said."""
    done = []
    for f in features:
        known = np.isfinite(f.values)
        value = _stand_in(f, f.values[known], how)
        said = f"the {how}, {value:.6g}"
        if f.categories:
            said = f"the most frequent, {shown(f.categories[int(value)])}"
        count = len(known) - int(known.sum())
        f.values[~known] = value
        done.append(f"{count} of {f.name!r} with {said}")
    columns.notes.append(
        f"Values of {columns.source.name!r} that are missing or infinite were filled in "
        f"(impute={how!r}): {listed(done)}."
    )


def _stand_in(feature: _Feature, known: Any, how: Impute | None) -> float:
    """The middle of a column, or the place of its most frequent category."""
    if feature.categories:
        return float(np.argmax(np.bincount(known.astype(np.int64))))
    return _middle(known, how)


def _middle(values: Floats, how: Impute | None) -> float:
    """Median or mean, also where the sum would overflow."""
    middle = np.median if how == "median" else np.mean
    largest = float(np.abs(values).max())
    if largest < 1e300:
        return float(middle(values))
    return float(middle(values / largest)) * largest


# ---- the table --------------------------------------------------------------------------------


def _assembled(
    columns: Columns, features: Sequence[_Feature], kept: NDArray[np.bool_] | None
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Columns side by side in the order of the file, categories split.

    Two objects of different categories are at distance 1: with three categories or more each
    has a column of 0 and sqrt(1/2), with two there is one column of 0 and 1.
    """
    if [f.position for f in features] == columns.numeric and not columns.days:
        names = tuple(f.name for f in features)
        return _taken(columns.matrix(), kept), names, names
    plan = [(f, code) for f in features for code in _codes(f)]
    n = columns.n_objects if kept is None else int(kept.sum())
    X = np.empty((n, len(plan)))
    for column, (f, code) in enumerate(plan):
        values = _taken(f.values, kept)
        high = 1.0 if len(f.categories) == 2 else math.sqrt(0.5)
        X[:, column] = values if code is None else high * (values == code)
        if len(f.categories) == 2:
            X[values < 0, column] = 0.5
        X[np.isnan(values), column] = math.nan
    names = tuple(f.name if code is None else f"{f.name}={f.categories[code]}" for f, code in plan)
    return X, names, tuple(f.name for f, _ in plan)


def _codes(feature: _Feature) -> list[int | None]:
    """Categories that get a column; None is the column of numbers itself."""
    k = 0 if feature.ordered else len(feature.categories)
    return [None] if not k else [1] if k == 2 else list(range(k))
