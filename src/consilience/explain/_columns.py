"""What a table says of its objects, by kind of column: numbers, categories, words.

The one place that asks what a table is: an array, a frame of pandas or polars, a sparse matrix.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import _values_and_missing, is_frame
from consilience._validation import NO_NUMBERS, as_array
from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = ["Categories", "Columns", "columns_of"]

Floats = NDArray[np.float64]
# Categories of a column that are looked at, the most frequent ones.
_MOST_LEVELS = 50
# Of fewer objects different texts may well be categories.
_MANY = 10


class Categories(NamedTuple):
    """A column of categories: the place of each object's in ``levels``, below 0 unknown.

    ``flag`` says that it was 0 and 1, so that only one of the two needs to be spoken of.
    """

    name: str
    codes: NDArray[np.int64]
    levels: tuple[str, ...]
    flag: bool = False


@dataclass(frozen=True, eq=False)
class Columns:
    """A table by kinds of columns.

    Attributes
    ----------
    n_objects : int
    names : tuple of str
        Of all columns, in the order of the table.
    numbers : ndarray of shape (n_objects, n_numbers)
        NaN where a value is missing or infinite.
    number_names : tuple of str
    categories : tuple of Categories
    words : CSR matrix of shape (n_objects, n_words) or None
        A sparse table: what an object has is what is not 0.
    word_names : tuple of str
    notes : tuple of str
        What was left out, in words.
    """

    n_objects: int
    names: tuple[str, ...]
    numbers: Floats
    number_names: tuple[str, ...] = ()
    categories: tuple[Categories, ...] = ()
    words: Any = None
    word_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def columns_of(
    X: Any, n_objects: int, *, names: Sequence[str] | None = None, sources: Sequence[str] = ()
) -> Columns:
    """A table in any form, by kinds of columns.

    Parameters
    ----------
    X : array, frame, sparse matrix, or None for no columns at all
        Numbers may be missing or infinite; what is no number is a category.
    n_objects : int
    names : sequence of str, optional
        In place of those of a frame, or of c0, c1, ...
    sources : sequence of str
        As `consilience.datasets.Table` has them: columns of one source are the categories of
        one column, and are put together again.

    Raises
    ------
    InvalidInputError
        If the table has other objects, or as many names as it has no columns; or columns of one
        source are not one column of categories.
    """
    if X is None:
        return Columns(n_objects, (), np.empty((n_objects, 0)))
    if not is_frame(X) and not sparse.issparse(X):
        X = as_array(X)
    shape = X.shape
    if len(shape) != 2 or shape[0] != n_objects:
        raise InvalidInputError(
            f"The 'X' parameter of profile must be a table with a row for each of the {n_objects} "
            f"objects. Got shape {tuple(shape)} instead."
        )
    known = _unique(list(map(str, _names(X, shape[1]) if names is None else names)))
    if len(known) != shape[1]:
        raise InvalidInputError(
            f"The 'columns' parameter of profile must name each of the {shape[1]} columns. Got "
            f"{len(known)} names instead."
        )
    if sparse.issparse(X):
        words = sparse.csr_matrix(X)
        return Columns(n_objects, known, np.empty((n_objects, 0)), words=words, word_names=known)
    if len(sources) not in (0, shape[1]):
        raise InvalidInputError(
            f"The 'sources' parameter of profile must name a source for each of the {shape[1]} "
            f"columns. Got {len(sources)} names instead."
        )
    return _of_kinds(X, known, [str(source) for source in sources])


def _names(X: Any, width: int) -> Sequence[Any]:
    return list(X.columns) if is_frame(X) else [f"c{j}" for j in range(width)]


def _unique(names: list[str]) -> tuple[str, ...]:
    """Names of which none comes twice: what is said of a column is found by its name.

    >>> _unique(["a", "b", "a"])
    ('a', 'b', 'a (2)')
    """
    times: dict[str, int] = {}
    taken = set(names)
    unique = []
    for name in names:
        times[name] = times.get(name, 0) + 1
        new = name
        while times[name] > 1 and new in taken:
            new = f"{name} ({times[name]})"
            times[name] += new in taken
        taken.add(new)
        unique.append(new)
    return tuple(unique)


def _of_kinds(X: Any, names: tuple[str, ...], sources: Sequence[str]) -> Columns:
    n = len(X)
    numbers: list[Floats] = []
    number_names, categories, texts, empty = [], [], [], []
    split = set() if is_frame(X) else _split(sources)
    for j, name in enumerate(names):
        if len(sources) and sources[j] in split:
            continue
        values, missing = _column(X, j)
        if missing.all():
            empty.append(name)
        elif values.dtype.kind in "biuf":
            column = np.where(missing, np.nan, values)
            if _is_flag(column):
                codes = np.where(np.isnan(column), -1, column).astype(np.int64)
                categories.append(Categories(name, codes, ("0", "1"), flag=True))
            else:
                numbers.append(column)
                number_names.append(name)
        elif (made := _categories(name, values, missing)) is not None:
            categories.append(made)
        else:
            texts.append(name)
    categories += _joined(X, names, sources, split)
    why = {"nearly every object has another text": texts, "no value is known": empty}
    notes = tuple(
        f"Left out, as {reason}: {listed(gone, most=10)}." for reason, gone in why.items() if gone
    )
    table = np.column_stack(numbers) if numbers else np.empty((n, 0))
    shown = (*number_names, *(one.name for one in categories))
    return Columns(n, shown, table, tuple(number_names), tuple(categories), notes=notes)


def _column(X: Any, j: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One column, as numbers where it can be, and what is missing in it."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    values, missing = _values_and_missing(column, "X")
    missing = np.zeros(len(values), bool) if missing is None else missing.copy()
    if values.dtype.kind in "mM":
        values = values.astype(str)
    if values.dtype.kind in "biuf":
        return values, missing | ~np.isfinite(values)
    cells = values.astype(object)
    known = np.flatnonzero(~missing)
    missing[known] = [cell is None or cell != cell for cell in cells[known]]
    try:
        numbers = np.full(len(cells), np.nan)
        if not all(isinstance(cell, str | bytes) for cell in cells[~missing]):
            numbers[~missing] = cells[~missing].astype(np.float64)
            return numbers, ~np.isfinite(numbers)
    except NO_NUMBERS:
        pass
    return cells, missing


def _is_flag(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(((known == 0) | (known == 1)).all())


def _categories(name: str, cells: NDArray[Any], missing: NDArray[np.bool_]) -> Categories | None:
    """Categories of a column of texts, the most frequent ones; None where nearly all differ."""
    texts = np.array([str(cell) for cell in cells[~missing]], dtype=np.str_)
    levels, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    if len(texts) >= _MANY and 2 * len(levels) > len(texts):
        return None
    category = np.full(len(cells), -1, np.int64)
    if len(levels) > _MOST_LEVELS:
        kept = np.sort(np.argsort(-counts, kind="stable")[: _MOST_LEVELS - 1])
        place = np.full(len(levels), len(kept), np.int64)
        place[kept] = np.arange(len(kept))
        category[~missing] = place[codes]
        return Categories(name, category, (*levels[kept].tolist(), "(others)"))
    category[~missing] = codes
    return Categories(name, category, tuple(levels.tolist()))


def _split(sources: Sequence[str]) -> set[str]:
    """Columns of a file that became several."""
    counts = Counter(sources)
    return {name for name, count in counts.items() if count > 1}


def _joined(
    X: Any, names: tuple[str, ...], sources: Sequence[str], split: set[str]
) -> Iterator[Categories]:
    """Categories that were split into columns of 0 and one other number, as one column again."""
    wanted = [source for source in dict.fromkeys(sources) if source in split]
    alone = [name for name, source in zip(names, sources, strict=False) if source not in split]
    unique = _unique([*alone, *wanted])[len(alone) :]
    for source, name in zip(wanted, unique, strict=True):
        places = [j for j, one in enumerate(sources) if one == source]
        has = np.column_stack([_has(*_column(X, j), names[j], source) for j in places])
        if (has.sum(axis=1) > 1).any():
            raise _no_categories(source, "An object has several of them")
        codes = np.where(has.any(axis=1), has.argmax(axis=1), -1).astype(np.int64)
        yield Categories(name, codes, tuple(names[j].removeprefix(f"{source}=") for j in places))


def _has(
    values: NDArray[Any], missing: NDArray[np.bool_], name: str, source: str
) -> NDArray[np.bool_]:
    """Who has a category, by its column: one number above 0 says so, one that is not says no."""
    known = values[~missing]
    if values.dtype.kind not in "biuf":
        raise _no_categories(source, f"Column {name!r} holds texts")
    if any(len(np.unique(known[part])) > 1 for part in (known > 0, known <= 0)):
        raise _no_categories(source, f"Column {name!r} holds more than two numbers")
    return np.asarray((values > 0) & ~missing)


def _no_categories(source: str, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"The 'sources' parameter of profile gives several columns the source {source!r}, as the "
        f"categories of one column: one number for who has it, another for who has not. {why}. "
        "Give columns that stand for themselves sources of their own."
    )
