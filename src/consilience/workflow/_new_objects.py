"""New objects brought into the columns of those that were clustered, and what is to be said."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import NO_NUMBERS
from consilience._words import listed, plural
from consilience.datasets import Table
from consilience.datasets._frames import frame_like
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._views import side_by_side
from consilience.errors import InvalidInputError
from consilience.rows import rows_of
from consilience.workflow._columns import cells_of
from consilience.workflow._data import Data
from consilience.workflow._notes import noting

__all__ = ["NewObjects", "matched", "recipe_of"]

# A value so many times larger than any seen is in another unit, or wrong. So are most values of
# a column if they are larger than all that were seen and so many times the usual one.
_LARGER, _USUALLY_LARGER = 10.0, 5.0


class NewObjects(NamedTuple):
    """Numbers in the columns that were clustered, in their own units; notes, index, identifiers."""

    values: Any
    notes: tuple[str, ...]
    index: Any
    ids: Any


def matched(data: Data, X: Any) -> NewObjects:
    """Columns matched by name, or by order where there are no names.

    Parameters
    ----------
    data : Data
        What was clustered.
    X : array, frame, CSR matrix or Table
    """
    wanted, given = data.original_columns, X
    notes: list[str] = []
    if data.views:
        X = _of_views(data, X)
    elif data.recipe is not None and data.recipe.encode == "mixed" and is_frame(X):
        with noting() as said:  # of categories that were not there, and of other columns
            X = frame_like(X, data.recipe)
        notes += [note for note in said if "missing or infinite" not in note]
    names = _names(X)
    if names is None or not _named(data):
        if names is not None and set(names) == set(wanted):
            X, more = _by_name(X, names, data)
        else:
            more = _by_order(X, names, wanted)
    else:
        X, more = _by_name(X, names, data)
    notes += more
    values = _numbers(X, data)
    notes += _other_units(values, data)
    return NewObjects(
        values,
        tuple(notes),
        getattr(given, "index", None) if is_frame(given) else None,
        given.ids if isinstance(given, Table) else None,
    )


def _of_views(data: Data, X: Any) -> Table:
    """New objects in the columns of the views; of a view that is missing nothing is known."""
    if not isinstance(X, Mapping) or is_frame(X):
        raise InvalidInputError(
            f"The views {listed(map(repr, data.views))} were clustered: give new objects as a "
            "mapping of these names to tables."
        )
    others = [str(name) for name in X if str(name) not in data.views]
    if others:
        raise InvalidInputError(
            f"There was no view {listed(map(repr, others))}; those clustered are "
            f"{listed(map(repr, data.views))}."
        )
    table = side_by_side(X, owner="predict", keep_gaps=True, least=1).table
    values = np.full((len(table.X), len(data.original_columns)), np.nan)
    for j, name in enumerate(table.columns):
        if name not in data.original_columns:
            raise InvalidInputError(f"The column {name!r} was not clustered. Leave it out.")
        values[:, data.original_columns.index(name)] = table.X[:, j]
    return replace(table, X=values, columns=data.original_columns, sources=data.sources)


def recipe_of(data: Data) -> Recipe | None:
    """How a file of new objects is to be read; None where the columns have no names."""
    if data.recipe is not None or not _named(data):
        return data.recipe
    return Recipe(tuple(map(Column, data.original_columns)))


def _named(data: Data) -> bool:
    """Whether the columns came with names."""
    return data.original_columns != tuple(f"c{j}" for j in range(len(data.original_columns)))


def _names(X: Any) -> list[str] | None:
    if isinstance(X, Table):
        return list(X.columns)
    return [str(name) for name in X.columns] if is_frame(X) else None


def _by_order(X: Any, names: Sequence[str] | None, wanted: Sequence[str]) -> list[str]:
    """Notes of columns that are taken in their order."""
    width = len(names) if names is not None else _width(X)
    if width != len(wanted):
        raise InvalidInputError(
            f"The new objects have {plural(width, 'column')}, and "
            f"{len(wanted)} were clustered: {listed(map(repr, wanted), most=10)}. Give these, in "
            "this order or by name."
        )
    if names is None and wanted == tuple(f"c{j}" for j in range(len(wanted))):
        return []
    if names is None:
        return ["The new columns have no names: they are taken in the order of those clustered."]
    return ["The columns that were clustered have no names: the new ones are taken in their order."]


def _width(X: Any) -> int:
    try:
        table = X if hasattr(X, "shape") else np.asarray(X)
    except ValueError as error:
        raise InvalidInputError(
            "New objects must be a table, one row an object. Got rows of different lengths. Give "
            "each object a value in every column."
        ) from error
    if len(table.shape) != 2:
        raise InvalidInputError(
            f"New objects must be a table, one row an object. Got "
            f"{len(table.shape)} dimensions instead. Give one object as [[...]]."
        )
    return int(table.shape[1])


def _by_name(X: Any, names: list[str], data: Data) -> tuple[Any, list[str]]:
    """The columns that were clustered, and notes of those that are not as they were."""
    wanted = data.original_columns
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(
            f"The new objects have several columns of the name "
            f"{listed(map(repr, twice))}. Rename them."
        )
    missing = [name for name in wanted if name not in names]
    needed = [name for name in missing if name not in data.dropped]
    if needed:
        raise InvalidInputError(
            f"The new objects have no column {listed(map(repr, needed), most=10)}, "
            f"which {'was' if len(needed) == 1 else 'were'} clustered. They have "
            f"{listed(map(repr, names), most=10)}. Add what is missing, or rename it."
        )
    notes = []
    if missing:
        notes.append(
            f"{_columns(missing)} {'is' if len(missing) == 1 else 'are'} missing and taken to be "
            "constant, as before."
        )
    extra = [name for name in names if name not in wanted]
    if extra:
        notes.append(
            f"{_columns(extra)} {'was' if len(extra) == 1 else 'were'} not clustered and "
            f"{'is' if len(extra) == 1 else 'are'} left out."
        )
    shared = [name for name in names if name in wanted]
    if shared != [name for name in wanted if name in names]:
        notes.append("The columns are in another order: they are matched by name.")
    places = [names.index(name) if name in names else -1 for name in wanted]
    return _taken(X, places, data), notes


def _columns(names: Sequence[str]) -> str:
    noun = "Column" if len(names) == 1 else "Columns"
    return f"{noun} {listed(map(repr, names), most=10)}"


def _taken(X: Any, places: list[int], data: Data) -> Any:
    """Columns at these places; what is missing has the constant value it had."""
    if places == list(range(len(places))) and len(places) == _columns_of(X):
        return X
    there = np.array(places) >= 0
    if is_frame(X):
        present = [place for place in places if place >= 0]
        some = X.iloc[:, present] if hasattr(X, "iloc") else X[:, present]
        if there.all():
            return some
        names = [data.original_columns[j] for j in np.flatnonzero(there)]
        values = _finite(some, names, keep_gaps=data.mixed is not None)
    else:
        values = X.X[:, np.array(places)[there]]
        if there.all():
            return values
        values = values.toarray() if sparse.issparse(values) else values
    out = np.empty((values.shape[0], len(places)))
    out[:, there], out[:, ~there] = values, data.original[0, ~there]
    return out


def _columns_of(X: Any) -> int:
    return len(X.columns)


def _numbers(X: Any, data: Data) -> Any:
    """Finite numbers, dense or CSR as those that were clustered."""
    wanted = data.original_columns
    X = X.X if isinstance(X, Table) else X
    values = _finite(X, wanted, keep_gaps=data.mixed is not None)
    if sparse.issparse(values) and not sparse.issparse(data.original):
        return values.toarray()
    return values


def _finite(X: Any, names: Sequence[str], *, keep_gaps: bool) -> Any:
    """Numbers of a table, which may have no rows; what is none is refused by its column."""
    if hasattr(X, "shape") and X.shape[0] == 0:
        return np.empty((0, len(names)))
    try:
        if keep_gaps:
            numbers = cells_of(X)
            rows_of(np.where(np.isnan(numbers), 0.0, numbers), owner="predict")
            return numbers
        return rows_of(X, owner="predict").values
    except NO_NUMBERS as error:
        what = (str(error).splitlines() or ["they cannot be read"])[0].rstrip(":.")
        raise InvalidInputError(
            f"New objects must be finite numbers: {what}{_where_bad(X, names)}. Correct what is "
            "no number, and fill in what is missing, or leave those rows out."
        ) from error


def _where_bad(X: Any, wanted: Sequence[str]) -> str:
    """Columns with values that are missing or no numbers, and how many."""
    cells = np.asarray(X, object)
    if cells.ndim != 2 or cells.shape[1] != len(wanted):
        return ""
    counts = [sum(not _is_finite(cell) for cell in column) for column in cells.T]
    bad = [f"{name!r} ({count})" for name, count in zip(wanted, counts, strict=True) if count]
    return f" (in {listed(bad, most=10)})" if bad else ""


def _is_finite(cell: Any) -> bool:
    try:
        return math.isfinite(cell)
    except NO_NUMBERS:
        return False


def _other_units(values: Any, data: Data) -> list[str]:
    """Columns with values far larger than any that was clustered."""
    if values.shape[0] == 0:
        return ["There are no rows: nobody is placed."]
    seen, new = _largest(data.original), _largest(values)
    larger = [
        f"{data.original_columns[j]!r} (up to {new[j]:.6g}, at most {seen[j]:.6g} before)"
        for j in np.flatnonzero((seen > 0) & (new > seen)).tolist()
        if new[j] > _LARGER * seen[j]
        or _usual(values, j) > max(seen[j], _USUALLY_LARGER * _usual(data.original, j))
    ]
    if not larger:
        return []
    one = len(larger) == 1
    return [
        f"{'Column' if one else 'Columns'} {listed(larger, most=10)} {'has' if one else 'have'} "
        "values far larger than any that was clustered: is it another unit?"
    ]


def _usual(values: Any, column: int) -> float:
    """The median absolute value of a column; most of a sparse one is 0."""
    return 0.0 if sparse.issparse(values) else float(np.nanmedian(np.abs(values[:, column])))


def _largest(values: Any) -> Any:
    """Largest absolute value of each column."""
    if sparse.issparse(values):
        return np.asarray(abs(values).max(axis=0).toarray()).ravel()
    return np.nan_to_num(np.fmax(np.fmax.reduce(values), -np.fmin.reduce(values)))
