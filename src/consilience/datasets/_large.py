"""Tables larger than memory, opened: text files are converted once, all others stay as they are.

A text file cannot be gone to at a row. So its rows are read once, block by block, checked, and
written as plain numbers to a file in the folder for temporary files, which is gone when nobody
uses the table any more.
"""

import os
import tempfile
import weakref
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience._stored import Stored, is_table_path, mapped_file, read_by_workers
from consilience._validation import NoneValue, Options, check_value
from consilience._words import listed
from consilience.datasets._blocks import CsvReader
from consilience.datasets._cells import Decimal
from consilience.datasets._columns import Columns, Part
from consilience.datasets._roles import NO_IDS, Roles
from consilience.errors import InvalidInputError, MissingFileError, warn
from consilience.rows import Rows, stored_rows

__all__ = ["is_large_path", "is_text_path", "open_rows"]

_TEXT = (".csv", ".tsv", ".txt")


def open_rows(
    X: Any,
    *,
    ignore: Sequence[str] = (),
    decimal: Decimal | None = None,
    on_workers: bool = False,
) -> Rows:
    """Rows of a table that stays where it is: on a disk or on a Dask cluster.

    Parameters
    ----------
    X : path, memory map, Dask array or frame, zarr array, or anything else sliced by rows
        A path to a ``.npy`` file, a ``.parquet`` file, a folder of such files (in the order of
        their names), a ``.zarr`` array, or a text file (``.csv``, ``.tsv``, ``.txt``, also with
        ``.gz``). Columns are numbers; whole numbers become float64.
    ignore : sequence of str
        Names of columns to leave out.
    decimal : {".", ","} or None, default=None
        Decimal mark of a text file; None finds it.
    on_workers : bool, default=False
        Have a file read by the workers of the Dask client at work, each its own pieces. It must
        lie where they all find it by this path.

    Returns
    -------
    Rows
        Nothing was read but the shape. Blocks are checked when they are read: a number that is
        not finite, a column too many, a block of another type is an `InvalidInputError` that
        names the block and the row. A text file was read once, checked, and converted to a
        file of 8 bytes a number in the folder for temporary files (``TMPDIR``), which is gone
        with the rows; a warning says so.

    Examples
    --------
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), np.arange(6.0).reshape(3, 2))
    ...     rows = open_rows(Path(folder, "x.npy"))
    ...     rows.shape, rows.take([2, 0]).values.tolist()
    ((3, 2), [[4.0, 5.0], [0.0, 1.0]])
    """
    check_value("decimal", decimal, [Options((".", ",")), NoneValue()], owner="open_rows")
    ignore = (ignore,) if isinstance(ignore, str) else ignore
    if isinstance(X, str | PathLike) and is_text_path(X):
        rows = _of_text(Path(X), ignore, decimal)
    else:
        rows = stored_rows(X, ignore=ignore)
    if not on_workers or hasattr(rows.values, "array"):
        return rows
    if not isinstance(X, str | PathLike):
        raise InvalidInputError(
            f"Workers can read files only, by their path. Got {type(X).__name__} instead."
        )
    return Rows(read_by_workers(rows.values), rows.names)


def is_text_path(path: str | PathLike[str]) -> bool:
    """Whether a path is that of a text file, by its ending."""
    name = Path(path).name.lower().removesuffix(".gz")
    return name.endswith(_TEXT)


def is_large_path(path: str | PathLike[str]) -> bool:
    """Whether a path is one of those that `open_rows` takes."""
    return is_text_path(path) or is_table_path(path)


def _of_text(source: Path, ignore: Sequence[str], decimal: Decimal | None) -> Rows:
    if not source.exists():
        raise MissingFileError(f"There is no file {str(source)!r}.")
    notes: list[str] = []
    reader = CsvReader.open(source, decimal, notes)
    roles = Roles.named(source, reader.names, NO_IDS, None, ignore, notes)
    _refuse_words(source, [reader.names[j] for j in roles.data if not reader.looks_numeric[j]])
    table = _converted(reader, roles.data, notes)
    for note in dict.fromkeys(notes):
        warn(note)
    return Rows(table, table.names)


def _refuse_words(source: Path, names: Sequence[str]) -> None:
    if names:
        raise InvalidInputError(
            f"The columns of {source.name!r} must hold numbers to be read block by block. "
            f"{listed(map(repr, names))} {'does' if len(names) == 1 else 'do'} not: leave them out "
            "(ignore, --ignore), or read a table that fits into memory with "
            "consilience.datasets.read_table, which encodes them."
        )


def _converted(reader: CsvReader, data: list[int], notes: list[str]) -> Stored:
    """The numbers of a text file as a file that can be gone to at a row."""
    folder = tempfile.TemporaryDirectory(prefix="consilience-")
    path = Path(folder.name, "rows")
    try:
        with path.open("wb") as file:
            writer = _Writer(reader, data, file)
            reader.stream(writer)
        values = np.memmap(path, np.float64, "r", shape=(writer.n_rows, len(data)))
    except BaseException as error:
        folder.cleanup()
        if isinstance(error, OSError) and error.errno is not None and not error.filename:
            raise OSError(
                error.errno,
                f"{os.strerror(error.errno)}: {reader.source.name!r} is converted in the folder "
                f"for temporary files, {tempfile.gettempdir()!r}. Set TMPDIR to one with more room",
            ) from error
        raise
    notes += [note for note in writer.notes if note not in notes]
    notes.append(
        f"{reader.source.name!r} was converted once to a file of {values.nbytes:,} bytes in the "
        "folder for temporary files, and is read from there block by block."
    )
    names = tuple(reader.names[j] for j in data)
    table = mapped_file(values, repr(reader.source.name), names)
    weakref.finalize(table, folder.cleanup)
    return table


class _Writer(Columns):
    """Columns that are written to a file as they are read, and kept nowhere."""

    def __init__(self, reader: CsvReader, data: list[int], file: Any) -> None:
        super().__init__(reader.source, reader.names, list(data), [], "line")
        self._file, self.n_rows = file, 0

    def add(self, part: Part) -> None:
        """Write some rows, if all of their cells are finite numbers."""
        _refuse_words(self.source, [self.names[j] for j in sorted(part.turned)])
        for j, (row, cell) in sorted(part.gaps.items()):
            raise InvalidInputError(
                f"{self.source.name!r} must hold finite numbers only. Got {cell!r} in line "
                f"{part.places[row]}, column {self.names[j]!r} (row {self.n_rows + row}, counted "
                "from 0). Leave such rows out, or fill in a value, before clustering."
            )
        block = np.stack([part.numbers[j] for j in self.numeric], axis=1)
        self._file.write(np.ascontiguousarray(block, np.float64).data)
        self.n_rows += len(block)

    def restart(self) -> None:
        """Begin again: the file must be read in another way."""
        self._file.seek(0)  # what is written anew is no shorter
        self.n_rows = 0
