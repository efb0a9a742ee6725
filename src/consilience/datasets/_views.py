"""Several tables of the same objects side by side: rows matched, columns named by their view."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import NO_NUMBERS
from consilience._words import listed
from consilience.datasets._frames import frame_table, holds_words
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._tables import Table
from consilience.errors import InvalidInputError
from consilience.rows import rows_of

__all__ = ["Views", "side_by_side"]


class Views(NamedTuple):
    """Tables side by side: where an object is missing from a view, its cells are NaN.

    Attributes
    ----------
    table : Table
        Columns are named ``view: column``.
    names : tuple of str
        Of the views.
    view_of : dict of str to int
        The view of each source (column of a view's file or frame).
    """

    table: Table
    names: tuple[str, ...]
    view_of: dict[str, int]


def side_by_side(
    views: Mapping[Any, Any], *, owner: str, keep_gaps: bool = False, least: int = 2
) -> Views:
    """Tables of the same objects as one.

    Parameters
    ----------
    views : mapping of str to array, frame or Table
        Objects are matched by the identifiers of tables or the index of frames, where every view
        has such; otherwise row by row, and all views must have as many rows.
    owner : str
        Who asks, for messages.
    keep_gaps : bool
        Whether cells of a view may be missing.
    least : int
        Views there must be.

    Returns
    -------
    Views
        Objects in the order in which they first appear.
    """
    if len(views) < least:
        raise InvalidInputError(
            f"{owner} takes several views as a mapping of at least two names to tables. Got "
            f"{len(views)}. Give a single table as it is."
        )
    tables = {str(name): _table(name, view, owner, keep_gaps) for name, view in views.items()}
    if len(tables) < len(views):
        raise InvalidInputError(f"The names of the views of {owner} must differ as texts.")
    keys = _by_rows(tables, {name: _keys(name, table) for name, table in tables.items()})
    order = _matched(tables, keys, owner)
    parts, columns, sources, used = [], [], [], []
    view_of: dict[str, int] = {}
    for number, (name, table) in enumerate(tables.items()):
        block = np.full((len(order), table.X.shape[1]), np.nan)
        its = keys[name]
        block[[order[key] for key in its] if its is not None else slice(None)] = table.X
        parts.append(block)
        columns += [f"{name}: {column}" for column in table.columns]
        sources += [f"{name}: {source}" for source in table.sources or table.columns]
        view_of |= {f"{name}: {source}": number for source in table.sources or table.columns}
        plain = tuple(map(Column, dict.fromkeys(table.sources or table.columns)))
        known = plain if table.recipe is None else table.recipe.columns
        used += [replace(one, name=f"{name}: {one.name}") for one in known]
    ids = None if next(iter(keys.values())) is None else np.array(list(order), object)
    recipe = Recipe(tuple(used), encode="mixed", keep_gaps=True)
    truth = _truth(tables, keys, order)
    whole = Table(
        np.hstack(parts), tuple(columns), ids, truth, "", Path(), tuple(sources), recipe=recipe
    )
    return Views(whole, tuple(tables), view_of)


def _truth(
    tables: Mapping[str, Table], keys: Mapping[str, list[Any] | None], order: Mapping[Any, int]
) -> NDArray[np.str_] | None:
    """Known groups, where the views know one of every object."""
    groups: list[str | None] = [None] * len(order)
    for name, table in tables.items():
        if table.truth is not None:
            for row, group in enumerate(table.truth.tolist()):
                its = keys[name]
                groups[row if its is None else order[its[row]]] = group
    return None if None in groups else np.array(groups, np.str_)


def _table(name: Any, view: Any, owner: str, keep_gaps: bool) -> Table:
    """One view as a table of numbers."""
    if isinstance(view, Table):
        return view
    if is_frame(view) and holds_words(view):
        table = frame_table(view, impute="keep" if keep_gaps else None)
        return replace(table, ids=_index(view))
    try:
        lenient = keep_gaps and not sparse.issparse(view)
        values = np.asarray(view, np.float64) if lenient else rows_of(view, owner=owner).values
        if isinstance(values, np.ndarray) and (values.ndim != 2 or np.isinf(values).any()):
            raise ValueError("it is no table of numbers")
    except NO_NUMBERS as error:
        what = (str(error).splitlines() or ["it cannot be read"])[0].rstrip(":.")
        raise InvalidInputError(
            f"The view {str(name)!r} of {owner} must be a table, one row an object: {what}."
        ) from error
    if not isinstance(values, np.ndarray):
        raise InvalidInputError(
            f"The view {str(name)!r} of {owner} is sparse. Give a dense array of its leading "
            "components instead (scikit-learn's TruncatedSVD)."
        )
    names = tuple(map(str, view.columns)) if is_frame(view) else ()
    columns = names or tuple(f"c{j}" for j in range(values.shape[1]))
    return Table(values, columns, _index(view), None, "", Path(), columns)


def _index(view: Any) -> NDArray[Any] | None:
    """The index of a frame; None where it counts rows."""
    index = getattr(view, "index", None) if is_frame(view) else None
    if index is None or type(index).__name__ == "RangeIndex":
        return None
    return np.fromiter(index, object, len(index))


def _by_rows(
    tables: Mapping[str, Table], keys: Mapping[str, list[Any] | None]
) -> Mapping[str, list[Any] | None]:
    """Rows as identifiers, where some views left out rows and none has other identifiers."""
    counts = {len(table.X) + len(table.left_out) for table in tables.values()}
    if len(counts) > 1 or not all(
        table.ids is None or _has_rows(table) for table in tables.values()
    ):
        return keys
    if all(one is None for one in keys.values()):
        return keys
    rows = [str(row) for row in range(counts.pop())]
    return {name: rows if its is None else its for name, its in keys.items()}


def _has_rows(table: Table) -> bool:
    """Whether the identifiers are the rows of a file that were not left out."""
    named = table.recipe is not None and table.recipe.id_column is not None
    return len(table.left_out) > 0 and not named


def _keys(name: str, table: Table) -> list[Any] | None:
    if table.ids is None:
        return None
    keys = [str(one) for one in table.ids.tolist()]
    if len(set(keys)) < len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})[:5]
        raise InvalidInputError(
            f"The view {name!r} has several objects of the same identifier: "
            f"{listed(map(repr, twice))}. Views are matched by it: make them differ."
        )
    return keys


def _first(name: str, keys: list[Any] | None) -> str:
    return f"{name!r} begins with {keys[0]!r}" if keys else f"{name!r} has none"


def _matched(
    tables: Mapping[str, Table], keys: Mapping[str, list[Any] | None], owner: str
) -> dict[Any, int]:
    """The row of each object."""
    counts = {name: len(table.X) for name, table in tables.items()}
    if all(one is not None for one in keys.values()):
        order: dict[Any, int] = {}
        for one in keys.values():
            for key in one or ():
                order.setdefault(key, len(order))
        if len(tables) > 1 and len(order) == sum(counts.values()):
            raise InvalidInputError(
                f"No object of one view of {owner} is in another: the identifiers have nothing in "
                f"common. {listed(_first(name, its) for name, its in keys.items())}."
            )
        return order
    if len(set(counts.values())) > 1 or any(one is not None for one in keys.values()):
        lacking = [name for name, one in keys.items() if one is None]
        raise InvalidInputError(
            f"The views of {owner} cannot be matched: {listed(map(repr, lacking))} "
            f"{'has' if len(lacking) == 1 else 'have'} no identifiers, and without these all views "
            f"need the same objects in the same order (rows: "
            f"{listed(f'{name!r} {count}' for name, count in counts.items())}). Give frames with "
            "an index, or name the column of identifiers (--id-column)."
        )
    return {row: row for row in range(next(iter(counts.values())))}
