"""Tables of numbers from files: CSV, Parquet and numpy arrays, checked cell by cell.

A whole file is looked at before anything is refused, so that one error lists every column
that cannot be used; memory stays near the size of the numbers, which are 8 bytes each.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience.datasets._csv import open_csv
from consilience.datasets._files import (
    CSV_ENDINGS,
    checked_path,
    listed,
    main_array,
    open_parquet,
    parquet_batches,
    plural,
    position_of,
    read_arrays,
    unique_names,
)
from consilience.datasets._numbers import Floats, Numbers
from consilience.errors import ConsilienceWarning, InvalidInputError

_PANDAS_INDEX = "__index_level_0__"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Objects with numbers for each: what `read_table` returns.

    Attributes
    ----------
    X : ndarray of shape (n_objects, n_columns), float64
        The numbers, all finite.
    columns : tuple of str
        Name of each column of ``X``.
    ids : ndarray of shape (n_objects,) or None
        Identifier of each object, where a column of them was named.
    truth : ndarray of str of shape (n_objects,) or None
        Known group of each object, where a column of them was named.
    name : str
        The file's name without its ending.
    path : Path
        The file.
    """

    X: Floats
    columns: tuple[str, ...]
    ids: NDArray[Any] | None
    truth: NDArray[np.str_] | None
    name: str
    path: Path

    def __repr__(self) -> str:
        n, d = self.X.shape
        also = [word for word in ("ids", "truth") if getattr(self, word) is not None]
        shape = f"{plural(n, 'object')}, {plural(d, 'column')}"
        return f"Table({self.name!r}: {', '.join([shape, *also])})"


def read_table(
    path: str | PathLike[str], *, id_column: str | None = None, truth_column: str | None = None
) -> Table:
    """Numbers of a CSV, Parquet or numpy file, with identifiers and known groups apart.

    Parameters
    ----------
    path : str or path-like
        ``.csv`` or ``.tsv`` (also ``.gz``), UTF-8, delimiter ``,`` ``;`` or tab taken from the
        header line; a first line of numbers only is data, and the columns are then named c0,
        c1, ... ``.parquet`` (needs pyarrow). ``.npy`` or ``.npz`` with one two-dimensional
        array, or with one named ``X``; its columns are named c0, c1, ...
    id_column : str, optional
        Column of identifiers; it is not clustered. Without it, a first column that has no name
        (as pandas writes its index) is taken, with a warning.
    truth_column : str, optional
        Column of known groups, kept as text; it is not clustered. In an ``.npz`` file, both
        may also name a one-dimensional array.

    Returns
    -------
    Table
        All numbers finite, in the order of the file.

    Raises
    ------
    InvalidInputError
        If the file is no table of finite numbers: the message says which columns, where (lines
        of a CSV file count from 1, the header included), and what to do. Missing values are
        refused, not guessed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.csv")
    ...     _ = file.write_text("name,x,y\\na,1,2\\nb,3,4\\n")
    ...     table = read_table(file, id_column="name")
    >>> table
    Table('two': 2 objects, 2 columns, ids)
    >>> table.X.tolist(), table.ids.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], ['a', 'b'])
    """
    source, ending = checked_path(path)
    if id_column is not None and id_column == truth_column:
        raise InvalidInputError(
            f"id_column and truth_column must be two columns. Got {id_column!r} for both."
        )
    wanted = {"id_column": id_column, "truth_column": truth_column}
    if ending in CSV_ENDINGS:
        columns, X, ids, truth = _read_csv(source, wanted)
    elif ending == ".parquet":
        columns, X, ids, truth = _read_parquet(source, wanted)
    else:
        columns, X, ids, truth = _read_array(source, wanted)
    if ending in (*CSV_ENDINGS, ".parquet"):
        _warn_of_counters(source, columns, X)
    return Table(X, tuple(columns), ids, truth, source.name[: -len(ending)], source)


Parts = tuple[list[str], Floats, NDArray[Any] | None, NDArray[Any] | None]


class _Roles(NamedTuple):
    """Positions of the identifiers, the known groups, and the columns to read as numbers."""

    ids: int | None
    truth: int | None
    numbers: list[int]


def _roles(source: Path, names: list[str], wanted: dict[str, str | None]) -> _Roles:
    unique_names(source, names)
    places = {
        parameter: None if name is None else position_of(source, names, name, parameter)
        for parameter, name in wanted.items()
    }
    unnamed = next((i for i, name in enumerate(names) if name in ("", _PANDAS_INDEX)), None)
    if unnamed is not None and places["id_column"] is None:
        warnings.warn(
            f"Column {unnamed + 1} of {source.name!r} has no name, as pandas writes its index: "
            "it is taken as identifiers, not as data.",
            ConsilienceWarning,
            stacklevel=4,
        )
        places["id_column"] = unnamed
    numbers = [i for i in range(len(names)) if i not in places.values()]
    if not numbers:
        raise InvalidInputError(
            f"{source.name!r} has no columns of numbers left: its columns are "
            f"{listed(map(repr, names))}, and all are named as id_column or truth_column."
        )
    return _Roles(places["id_column"], places["truth_column"], numbers)


# ---- CSV --------------------------------------------------------------------------------


def _read_csv(source: Path, wanted: dict[str, str | None]) -> Parts:
    with open_csv(source) as file:
        roles = _roles(source, file.names, wanted)
        names = [file.names[i] for i in roles.numbers]
        numbers = Numbers(names)
        texts: dict[int, list[NDArray[np.str_]]] = {
            i: [] for i in (roles.ids, roles.truth) if i is not None
        }
        for rows, lines in file.chunks:
            columns = list(zip(*rows, strict=True))
            for i, parts in texts.items():
                cells = [cell.strip() for cell in columns[i]]
                parts.append(np.array(cells, dtype=np.str_))
                if i == roles.truth:
                    numbers.check_words(file.names[i], cells, lines)
            numbers.add([numbers.parse(file.names[i], columns[i], lines) for i in roles.numbers])
        X = numbers.table(source, "line")
    ids, truth = (None if i is None else np.concatenate(texts[i]) for i in (roles.ids, roles.truth))
    return names, X, ids, truth


# ---- Parquet ----------------------------------------------------------------------------


def _read_parquet(source: Path, wanted: dict[str, str | None]) -> Parts:
    with open_parquet(source) as file:
        all_names = list(file.schema_arrow.names)
        roles = _roles(source, all_names, wanted)
        names = [all_names[i] for i in roles.numbers]
        numbers = Numbers(names)
        texts: dict[int, list[Any]] = {i: [] for i in (roles.ids, roles.truth) if i is not None}
        start = 1
        for batch in parquet_batches(source, file):
            rows = range(start, start + batch.num_rows)
            start += batch.num_rows
            for i, values in texts.items():
                words = batch.column(i).to_pylist()
                values.extend(words)
                if i == roles.truth:
                    numbers.check_words(all_names[i], words, rows)
            numbers.add([_arrow_floats(numbers, batch, i, rows) for i in roles.numbers])
    X = numbers.table(source, "row")
    ids = None if roles.ids is None else np.asarray(texts[roles.ids])
    truth = None if roles.truth is None else np.array(texts[roles.truth], dtype=np.str_)
    return names, X, ids, truth


def _arrow_floats(numbers: Numbers, batch: Any, i: int, rows: range) -> Floats:
    types = optional("pyarrow.types", extra="store", what="read_table of '.parquet'")

    name, column = batch.schema.field(i).name, batch.column(i)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(test(column.type) for test in tests):
        values = np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), np.float64)
        if not np.isfinite(values).all():
            numbers.check(name, values, column.to_pylist(), rows)
        return values
    present = ((row, value) for row, value in zip(rows, column, strict=True) if value.is_valid)
    row, value = next(present, (rows[0], None))
    numbers.refuse_column(name, value if value is None else value.as_py(), row)
    return np.empty(0)


# ---- numpy ------------------------------------------------------------------------------


def _read_array(source: Path, wanted: dict[str, str | None]) -> Parts:
    arrays = read_arrays(source)
    values = main_array(source, arrays, "X")
    if values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{source.name!r} holds values of type {values.dtype}, not real numbers. Convert "
            "them, for instance with array.astype(float)."
        )
    # A vector of the file may serve as identifiers or groups as well as a column may.
    vectors = {
        name: arrays[name]
        for name in wanted.values()
        if name is not None and name in arrays and arrays[name].shape == values.shape[:1]
    }
    all_names = [f"c{j}" for j in range(values.shape[1])]
    as_columns = {key: None if name in vectors else name for key, name in wanted.items()}
    roles = _roles(source, all_names, as_columns)
    names = [all_names[j] for j in roles.numbers]
    X = np.ascontiguousarray(values[:, roles.numbers], np.float64)

    def part(parameter: str, column: int | None) -> NDArray[Any] | None:
        found = vectors.get(str(wanted[parameter]))
        return found if found is not None or column is None else values[:, column]

    ids, truth = part("id_column", roles.ids), part("truth_column", roles.truth)
    rows, numbers = range(1, len(X) + 1), Numbers(names)
    if truth is not None:
        truth = truth.astype(np.str_)
        numbers.check_words(str(wanted["truth_column"]), truth.tolist(), rows)
    if not np.isfinite(X).all():
        for name, column in zip(names, X.T, strict=True):
            numbers.check(name, column, column.tolist(), rows)
    numbers.refuse(source, "row")
    return names, X, ids, truth


def _warn_of_counters(source: Path, names: Sequence[str], X: Floats) -> None:
    """Warn of a column 0, 1, 2, ... that is more likely a row number than data."""
    if len(X) < 10:  # few objects may well be 0, 1, 2 apart by chance
        return
    suspects = np.isin(X[0], (0.0, 1.0)) & (X[1] - X[0] == 1.0)
    for j in np.flatnonzero(suspects).tolist():
        if (np.diff(X[:, j]) == 1.0).all():
            warnings.warn(
                f"Column {names[j]!r} of {source.name!r} counts the rows, {X[0, j]:.0f}, "
                f"{X[1, j]:.0f}, {X[2, j]:.0f}, ..., and is clustered like any other. If it holds "
                f"identifiers, name it with id_column={names[j]!r} (--id-column).",
                ConsilienceWarning,
                stacklevel=3,
            )
