"""Frames of pandas and polars as tables: numbers, categories, dates, gaps, as in a file."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import _values_and_missing
from consilience.datasets._columns import Columns
from consilience.datasets._files import unique_names
from consilience.datasets._prepare import Encode, Impute, Ordinal, prepare, prepare_like
from consilience.datasets._recipe import Recipe
from consilience.datasets._roles import Roles
from consilience.datasets._tables import Table
from consilience.errors import warn

__all__ = ["frame_like", "frame_table", "holds_words"]

_NAME = Path("X")
_DAY = np.timedelta64(1, "D")
# Types of categories, of pandas and of polars.
_CATEGORIES = ("CategoricalDtype", "Categorical", "Enum")


def holds_words(frame: Any) -> bool:
    """Whether a frame has a column that is no numbers."""
    return any(_kind(_column(frame, j)) != "numbers" for j in range(len(frame.columns)))


def frame_table(
    frame: Any,
    *,
    encode: Encode | None = "mixed",
    impute: Impute | None,
    say: bool = True,
) -> Table:
    """A frame as `consilience.datasets.read_table` would read it from a file.

    Parameters
    ----------
    frame : pandas or polars frame
        Columns of numbers, texts, dates; ordered categories of pandas keep their order.
    encode, impute
        As in `read_table`.
    say : bool
        Whether to warn of what was done.
    """
    columns, ordinal = _columns(frame, {*()})
    roles = _roles(columns)
    prepared = prepare(
        columns, roles, impute=impute, encode=encode, decimal=None, guess=False, ordinal=ordinal
    )
    return _table(prepared, columns, say)


def frame_like(frame: Any, recipe: Recipe) -> Table:
    """Another frame, its columns made numbers as those of the first were."""
    known = recipe.by_name()
    words = {name for name, column in known.items() if column.categories}
    columns, _ = _columns(frame, words)
    others = recipe.others(_NAME, columns.names, columns.notes)
    roles = _roles(columns, others)
    return _table(prepare_like(columns, roles, recipe, None), columns, True)


def _roles(columns: Columns, others: Sequence[str] = ()) -> Roles:
    """All columns but some as data: the index of a frame holds its identifiers."""
    unique_names(_NAME, columns.names)
    data = [j for j, name in enumerate(columns.names) if name not in others]
    return Roles(None, None, data, False)


def _table(prepared: Any, columns: Columns, say: bool) -> Table:
    for note in dict.fromkeys(columns.notes) if say else ():
        warn(note)
    return Table(
        prepared.X,
        prepared.columns,
        None,
        None,
        "",
        Path(),
        prepared.sources,
        prepared.left_out,
        prepared.recipe,
    )


def _columns(frame: Any, words: set[str]) -> tuple[Columns, Ordinal]:
    names = [str(name) for name in frame.columns]
    series = [_column(frame, j) for j in range(len(names))]
    kinds = [_kind(one) for one in series]
    text = [j for j, kind in enumerate(kinds) if kind not in _NUMBERS or names[j] in words]
    numeric = [j for j in range(len(names)) if j not in text]
    columns = Columns(_NAME, names, numeric, text, "row", whole=True)
    columns.days |= {j for j in numeric if kinds[j] == "days"}
    columns.categories |= {j for j in text if kinds[j] == "categories"}
    matrix = np.empty((len(frame), len(numeric)))
    for slot, j in enumerate(numeric):
        matrix[:, slot] = _NUMBERS[kinds[j]](series[j])
    columns.take(matrix)
    for j in text:
        columns.words[j].add(_cells(series[j]))
    columns.note_spans([names[j] for j in numeric if kinds[j] == "spans"])
    ordinal = {names[j]: order for j in text if (order := _order(series[j]))}
    return columns, ordinal


def _column(frame: Any, j: int) -> Any:
    return frame.iloc[:, j] if hasattr(frame, "iloc") else frame[:, j]


def _kind(column: Any) -> str:
    """What a column holds by its type: 'numbers', 'days', 'spans', 'categories' or 'words'."""
    if type(column.dtype).__name__ in _CATEGORIES:
        return "categories"
    kind = getattr(column.dtype, "kind", "")
    if kind == "M":
        return "days"
    if kind == "m" or type(column.dtype).__name__ == "Duration":
        return "spans"
    if kind in ("b", "i", "u", "f") or getattr(column.dtype, "is_numeric", bool)():
        return "numbers"
    values, _ = _values_and_missing(column, "X")
    return "numbers" if values.dtype.kind in "biuf" else "words"


def _order(column: Any) -> tuple[str, ...]:
    """Categories from the lowest to the highest; nothing where they have no order."""
    if not getattr(column.dtype, "ordered", False):
        return ()
    return tuple(map(_word, column.cat.categories.tolist()))


def _floats(column: Any) -> NDArray[np.float64]:
    values, missing = _values_and_missing(column, "X")
    known = np.ones(len(values), bool) if missing is None else ~missing
    numbers = np.full(len(values), math.nan)
    numbers[known] = values[known]  # the others may be NA, which is no float
    return numbers


def _days(column: Any) -> NDArray[np.float64]:
    moments = np.asarray(column.to_numpy())
    if moments.dtype.kind == "O":  # with a time zone, or dates
        known = column.notna().to_numpy(bool)
        moments = np.full(len(column), "NaT", "datetime64[us]")
        moments[known] = column[known].to_numpy("datetime64[us]")
    # In their own unit: the nanoseconds of 64 bits end in 2262.
    days = (moments - np.datetime64(0, "D")) / _DAY
    return np.where(np.isnat(moments), math.nan, days)


def _spans(column: Any) -> NDArray[np.float64]:
    """Lengths of time in days."""
    spans = np.asarray(column.to_numpy())
    return np.where(np.isnat(spans), math.nan, spans / _DAY)


# How columns that are numbers in the end become so.
_NUMBERS = {"numbers": _floats, "days": _days, "spans": _spans}


def _cells(column: Any) -> list[Any]:
    if hasattr(column.dtype, "ordered"):  # of pandas; its values may have become floats
        words = [*map(_word, column.cat.categories.tolist()), None]
        return [words[code] for code in column.cat.codes.tolist()]
    values, missing = _values_and_missing(column, "X")
    gone = np.zeros(len(values), bool) if missing is None else missing
    return [
        None if lost or cell is None else _word(cell)
        for cell, lost in zip(values.tolist(), gone.tolist(), strict=True)
    ]


def _word(cell: Any) -> str:
    """A cell as text; whole floats as the integers they were before a gap came among them."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
