"""Parquet files as columns of numbers, days and words, batch by batch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from consilience._optional import optional
from consilience.datasets._columns import Coded, Columns, Floats, Part
from consilience.datasets._files import open_parquet, parquet_batches

__all__ = ["ParquetReader"]


@dataclass(frozen=True)
class ParquetReader:
    """An open Parquet file: its columns, and which of them hold numbers or moments."""

    source: Path
    file: Any
    names: list[str]
    is_numeric: list[bool]

    @classmethod
    @contextmanager
    def open(cls, source: Path) -> Iterator["ParquetReader"]:
        """Open the file and look at the types of its columns."""
        with open_parquet(source) as file:
            kinds = [_kind(field.type) for field in file.schema_arrow]
            names = list(file.schema_arrow.names)
            yield cls(source, file, names, [kind != "words" for kind in kinds])

    def read(self, numeric: Sequence[int], text: Sequence[int]) -> Columns:
        """The columns asked for, moments as days since 1970."""
        columns = Columns(self.source, self.names, list(numeric), list(text), "row")
        types = self.file.schema_arrow.types
        columns.days |= {j for j in numeric if _kind(types[j]) == "days"}
        columns.note_spans([self.names[j] for j in numeric if _kind(types[j]) == "spans"])
        start = 1
        for batch in parquet_batches(self.source, self.file):
            part = Part({}, {}, np.arange(start, start + batch.num_rows))
            start += batch.num_rows
            for j in numeric:
                cells = batch.column(j)
                values = part.numbers[j] = _floats(cells)
                finite = np.isfinite(values)
                if j not in columns.gaps and not finite.all():
                    row = int(np.argmin(finite))
                    part.gaps[j] = (row, cells[row].as_py())
            part.words = {j: _words(batch.column(j)) for j in text}
            columns.add(part)
        return columns


def _kind(kind: Any) -> str:
    """What a column of an Arrow type is read as: 'numbers', 'days', 'spans' of days or 'words'."""
    types = optional("pyarrow.types", extra="store", what="Reading '.parquet' files")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(test(kind) for test in tests):
        return "numbers"
    if any(test(kind) for test in (types.is_timestamp, types.is_date, types.is_time)):
        return "days"
    return "spans" if types.is_duration(kind) else "words"


def _floats(cells: Any) -> Floats:
    """Numbers, or days since 1970 (of times of the day, the part of it); NaN where null.

    Spans of time are numbers of days.
    """
    if _kind(cells.type) in ("days", "spans"):
        return _days(cells)
    # Whole numbers beyond 2**53 are rounded, as those of a text file are.
    numbers = cells.cast("float64", safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)


def _days(cells: Any) -> Floats:
    arrow = optional("pyarrow", extra="store", what="Reading '.parquet' files")
    unit = str(getattr(cells.type, "unit", "") or "")
    width = cells.type.bit_width
    steps = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    # Without a unit they are dates: 32 bits count days, 64 bits milliseconds.
    per_day = 86400 * steps[unit] if unit else 1 if width == 32 else 86400 * steps["ms"]
    counts = cells.cast(arrow.int32() if width == 32 else arrow.int64())
    values = np.asarray(counts.cast("float64", safe=False).to_numpy(zero_copy_only=False))
    return values / per_day


def _words(cells: Any) -> Any:
    """Words of a column; what is no text or number is shown as Python would."""
    types = optional("pyarrow.types", extra="store", what="Reading '.parquet' files")
    if types.is_string(cells.type) or types.is_large_string(cells.type):
        cells = cells.dictionary_encode()
    if types.is_dictionary(cells.type) and not cells.null_count:
        return Coded(_shown(cells.dictionary), cells.indices.to_numpy(zero_copy_only=False))
    return _shown(cells)


def _shown(cells: Any) -> list[Any]:
    plain = (str, int, float, bool, type(None))
    return [cell if isinstance(cell, plain) else str(cell) for cell in cells.to_pylist()]
