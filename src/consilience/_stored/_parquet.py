"""Parquet files as one table, read batch by batch."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience._stored import _table
from consilience._stored._table import UNREADABLE, Floats, Stored, kept_names, number_type
from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = ["Parquet"]


class Parquet(Stored):
    """Parquet files one after the other; a cursor reads on where the last block ended."""

    def __init__(self, parts: Sequence[Path], *, what: str, ignore: Sequence[str] = ()) -> None:
        # Row groups of all files in order: their rows, their file, and their number in it.
        self._groups: list[tuple[int, Path, int]] = []
        names: tuple[str, ...] = ()
        kinds: list[Any] = []
        for part in parts:
            with _opened(part) as file:
                schema, sizes = file.schema_arrow, file.metadata
                rows = [sizes.row_group(g).num_rows for g in range(file.num_row_groups)]
            self._groups += [(size, part, g) for g, size in enumerate(rows)]
            own = kept_names(schema.names, ignore, repr(part.name))
            kinds += _arrow_kinds([schema.field(name) for name in own], part.name)
            names = names or tuple(own)
            if tuple(own) != names:
                raise InvalidInputError(
                    f"The files of {what} must have the same columns in the same order: "
                    f"{part.name!r} has {listed(map(repr, own))}, {parts[0].name!r} has "
                    f"{listed(map(repr, names))}."
                )
        self._starts = [0, *accumulate(size for size, *_ in self._groups)]
        shape = (self._starts[-1], len(names))
        super().__init__(shape, number_type(kinds, what), names=names, what=what)
        self._cursor: tuple[int, Iterator[Floats], Floats] | None = None
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cursor": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def _read(self, start: int, stop: int) -> Floats:
        out: Floats = np.empty((stop - start, self.shape[1]), self.dtype)
        with self._lock:
            if self._cursor is None or self._cursor[0] != start:
                self._cursor = self._from(start)
            row, batches, left = self._cursor
            self._cursor = None  # in case of an error
            while row < stop:
                if not len(left):
                    left = self._next(batches, row)
                some = left[: stop - row]
                out[row - start : row - start + len(some)] = some
                row, left = row + len(some), left[len(some) :]
            self._cursor = (row, batches, left)
        return out

    def _from(self, row: int) -> tuple[int, Iterator[Floats], Floats]:
        """A cursor at a row: the rows of its group before it are read and left out."""
        group = bisect_right(self._starts, row) - 1
        batches = self._batches(group)
        skipped = self._starts[group]
        left = np.empty((0, self.shape[1]), self.dtype)
        while skipped < row:
            left = self._next(batches, skipped)
            over = min(len(left), row - skipped)
            skipped, left = skipped + over, left[over:]
        return row, batches, left

    def _next(self, batches: Iterator[Floats], row: int) -> Floats:
        """The next rows, from this one on."""
        try:
            for batch in batches:
                return batch
        except UNREADABLE as error:
            if isinstance(error, FileNotFoundError | InvalidInputError):
                raise
            with self._naming(self._damaged(row)):
                raise
        # Their number is written in another place of the file than they are.
        raise ValueError("the file holds fewer rows than it says")

    def _damaged(self, row: int) -> int:
        """First row of the row group that cannot be read, from the group of a row on."""
        for group in range(bisect_right(self._starts, row) - 1, len(self._groups)):
            try:
                for _ in self._batches(group, alone=True):
                    pass
            except UNREADABLE:
                return self._starts[group]
        return row

    def _batches(self, group: int, *, alone: bool = False) -> Iterator[Floats]:
        """Batches of rows from the start of a row group to the end of the last file, or its own."""
        most = max(1, _table.BLOCK // max(1, 8 * self.shape[1]))
        while group < len(self._groups):
            part = self._groups[group][1]
            same = [g for _, other, g in self._groups[group:] if other == part]
            same = same[:1] if alone else same
            # A buffer: a row group may be as large as the file.
            with _opened(part, buffer_size=1 << 20, pre_buffer=False) as file:
                names = list(self.names or ())
                how = {"row_groups": same, "columns": names, "use_threads": False}
                for batch in file.iter_batches(most, **how):
                    columns = [_numbers(batch.column(name)) for name in names]
                    yield np.stack(columns, axis=1, dtype=self.dtype, casting="same_kind")
            group = len(self._groups) if alone else group + len(same)

    def where(self, row: int) -> str:
        """In which row group of which file a row lies."""
        group = min(bisect_right(self._starts, row), len(self._groups)) - 1
        _, part, number = self._groups[group]
        return f"row group {number} of {part.name!r}"


def _opened(part: Path, **options: Any) -> Any:
    """A Parquet file, to be closed."""
    arrow = optional("pyarrow", extra="store", what="Reading '.parquet' files")
    parquet = optional("pyarrow.parquet", extra="store", what="Reading '.parquet' files")
    try:
        return parquet.ParquetFile(part, **options)
    except FileNotFoundError:  # of a worker that does not have it
        raise
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{part.name!r} is damaged, or no Parquet file: {error}") from error


def _arrow_kinds(schema: Sequence[Any], file: str) -> list[np.dtype[Any]]:
    """Types of the columns of a Parquet file as numpy's; refuses columns that are no numbers."""
    types = optional("pyarrow.types", extra="store", what="Reading '.parquet' files")
    tests = (types.is_integer, types.is_floating, types.is_boolean)
    odd = [field.name for field in schema if not any(test(field.type) for test in tests)]
    if odd:
        raise InvalidInputError(
            f"The columns of {file!r} must hold numbers to be read block by block. "
            f"{listed(map(repr, odd))} {'does' if len(odd) == 1 else 'do'} not: leave "
            "them out, or read a table that fits into memory with "
            "consilience.datasets.read_table, which encodes them."
        )
    return [np.dtype(field.type.to_pandas_dtype()) for field in schema]


def _numbers(cells: Any) -> NDArray[Any]:
    """A column of a batch; NaN where it is null, which is refused when the block is checked."""
    if cells.null_count or str(cells.type) == "bool":
        cells = cells.cast("float32" if str(cells.type) == "float" else "float64", safe=False)
    return np.asarray(cells.to_numpy(zero_copy_only=False))
