"""A table of numbers and categories, with gaps: one column for each column of the file."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from consilience._labels import is_frame
from consilience.datasets._columns import Floats
from consilience.datasets._frames import frame_table, holds_words
from consilience.datasets._recipe import Recipe

__all__ = ["Mixed", "as_mixed", "mixed_of"]


class Mixed(NamedTuple):
    """Numbers and places of categories, one column for each of the file; NaN is a gap.

    Attributes
    ----------
    values : ndarray of shape (n_objects, n_columns), float64
    categorical : tuple of int
        Columns that hold places of categories.
    names : tuple of str
    """

    values: Floats
    categorical: tuple[int, ...]
    names: tuple[str, ...]


def mixed_of(X: Floats, sources: Sequence[str], recipe: Recipe | None) -> Mixed:
    """Columns that categories were split into, put together again.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_columns)
        As `Table.X`.
    sources : sequence of str
        As `Table.sources`.
    recipe : Recipe or None
        Says which columns are categories.

    Examples
    --------
    >>> from consilience.datasets._recipe import Column
    >>> X = np.array([[5.0, 0.7, 0, 0], [6.0, 0, 0.7, 0], [7.0, np.nan, np.nan, np.nan]])
    >>> recipe = Recipe((Column("x"), Column("hue", ("red", "blue", "grey"))))
    >>> mixed_of(X, ("x", "hue", "hue", "hue"), recipe).values.tolist()
    [[5.0, 0.0], [6.0, 1.0], [7.0, nan]]
    """
    known: Mapping[str, Any] = {} if recipe is None else recipe.by_name()
    places: dict[str, list[int]] = {}
    for j, source in enumerate(sources):
        places.setdefault(source, []).append(j)
    columns: list[Floats] = []
    categorical: list[int] = []
    for source, at in places.items():
        if source in known and known[source].categories and not known[source].ordered:
            categorical.append(len(columns))
            columns.append(_joined(X[:, at]))
        else:
            columns.append(X[:, at[0]])
    return Mixed(np.column_stack(columns), tuple(categorical), tuple(places))


def _joined(block: Floats) -> Floats:
    """Places of categories from the columns they were split into; NaN of none of them."""
    gone = np.isnan(block[:, 0])
    if block.shape[1] == 1:  # of two: 0 and 1, and between them neither
        return np.where(gone | (block[:, 0] == 0.5), np.nan, block[:, 0])
    places = np.argmax(np.nan_to_num(block), axis=1).astype(np.float64)
    return np.where(gone | ~(np.nan_to_num(block) > 0).any(axis=1), np.nan, places)


def as_mixed(X: Any, categorical: Any) -> Mixed:
    """A table in any form, with its columns of categories.

    Parameters
    ----------
    X : frame, or array of numbers
        Columns of a frame that are no numbers are categories.
    categorical : "auto", or sequence of int or str
        More columns of categories: their different numbers are the categories.
    """
    if np.iscomplexobj(X):
        raise TypeError("complex numbers have no order, and no distance as these have")
    if is_frame(X) and holds_words(X):
        table = frame_table(X, impute="keep", say=False)
        mixed = mixed_of(table.X, table.sources, table.recipe)
    elif is_frame(X):
        values = np.array(X, np.float64)
        mixed = Mixed(values, (), tuple(map(str, X.columns)))
    else:
        values = np.array(X, np.float64)
        width = values.shape[1] if values.ndim == 2 else 0
        mixed = Mixed(values, (), tuple(f"c{j}" for j in range(width)))
    if isinstance(categorical, str):
        return mixed
    more = [_place(one, mixed.names) for one in categorical]
    values = mixed.values
    for j in more:
        if j not in mixed.categorical:
            known = ~np.isnan(values[:, j])
            values[known, j] = np.unique(values[known, j], return_inverse=True)[1]
    return mixed._replace(values=values, categorical=tuple(sorted({*mixed.categorical, *more})))


def _place(column: int | str, names: Sequence[str]) -> int:
    """Where a column stands that is given by its name, or by its place from either end."""
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"there is no column {column!r}")
        return names.index(column)
    return int(np.arange(len(names))[column])
