"""CSV files in blocks of bytes, each parsed by the quickest reader that can.

A block of whole lines goes to pyarrow where it is installed, to numpy's text reader where it
is not, and to Python's csv module wherever these two cannot cope: quotes out of place, cells
that are missing in a way they do not know, words among numbers, lines that are no rows. The
quick ones accept only what the csv module would read to the same values, so it does not
matter which was at work.
"""

import csv
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience.datasets._cells import NO_NUMBER, Decimal, number
from consilience.datasets._columns import Coded, Columns, Floats, Part
from consilience.datasets._csv import (
    Chunk,
    chunks_of,
    decoding,
    note_comments,
    open_bytes,
    open_csv,
    rows_of_text,
)
from consilience.errors import MissingPackageError

__all__ = ["CsvReader"]

# Large enough that the overhead of a block vanishes, small beside the numbers it is read to.
_BYTES = 2**21
# Of fewer bytes numpy has made numbers before pyarrow is imported.
_SMALL = 2**19
# Rows from which is guessed which columns hold numbers; a wrong guess costs a second reading.
_SAMPLE = 1000
_MARK = b"\xef\xbb\xbf"
# Quick readers know these spellings only; others are found by the csv module.
_NULLS = sorted(
    {form for word in NO_NUMBER for form in (word, word.upper(), word.capitalize())}
    | {"NaN", "-NaN", "NaT", "N/a", "#n/a"}
)


class Block(NamedTuple):
    """Whole lines of a file, how many they are, and how many stand above them."""

    raw: bytes
    lines: int
    above: int


@dataclass(frozen=True)
class CsvReader:
    """How to read one CSV file: its columns, its delimiter, and where its rows start."""

    source: Path
    names: list[str]
    delimiter: str
    decimal: Decimal | None
    header_ends: int
    looks_numeric: list[bool]
    first_cells: Sequence[str]
    notes: Sequence[str]

    @classmethod
    def open(cls, source: Path, decimal: Decimal | None, notes: list[str]) -> "CsvReader":
        """Read the header and some rows, to see which columns look like numbers."""
        with open_csv(source, decimal, guess=decimal is None) as file:
            notes += file.notes
            decimal = file.decimal
            sample = list(zip(*next(file.chunks).rows[:_SAMPLE], strict=True))
            looks = [
                all(
                    cell.strip().lower() in NO_NUMBER or number(cell, decimal) is not None
                    for cell in cells
                )
                for cells in sample
            ]
            return cls(
                source,
                file.names,
                file.delimiter,
                decimal,
                file.header_ends,
                looks,
                sample[0],
                tuple(notes),
            )

    def read(self, numeric: Sequence[int], text: Sequence[int]) -> Columns:
        """The columns asked for; those in which words are found are read again as words."""
        # In a single column a blank line is a value, which no quick reader knows.
        in_blocks = len(self.names) != 1
        while True:
            columns = Columns(self.source, self.names, list(numeric), list(text), "line")
            try:
                with decoding(self.source):
                    parts = self._by_blocks(columns) if in_blocks else self._in_sequence(columns)
                    for part in parts:
                        columns.add(part)
            except _IrregularError:
                in_blocks = False
                continue
            if not columns.turned:
                return columns
            text = sorted({*text, *columns.turned})
            numeric = [j for j in numeric if j not in columns.turned]

    def stream(self, sink: Any) -> None:
        """Hand all rows to a sink of columns, which is told where they must be read again."""
        in_blocks = len(self.names) != 1
        while True:
            try:
                with decoding(self.source):
                    parts = self._by_blocks(sink) if in_blocks else self._in_sequence(sink)
                    for part in parts:
                        sink.add(part)
                return
            except _IrregularError:
                in_blocks = False
                sink.restart()

    def _in_sequence(self, columns: Columns) -> Iterator[Part]:
        with open_csv(self.source, self.decimal) as file:
            for chunk in file.chunks:
                yield _by_csv(self, chunk, columns)
            columns.notes += [note for note in file.notes if note not in self.notes]

    def _by_blocks(self, columns: Columns) -> Iterator[Part]:
        # That there are rows was seen when the file was opened.
        quick = quick_reader(self.source.stat().st_size)
        comments: list[int] = []
        for block in self._blocks():
            part = quick(self, block, columns)
            if part is not None:
                yield part
                continue
            text = block.raw.decode("utf-8")
            width = len(self.names)
            rows = rows_of_text(self.source, text, self.delimiter, block.above, width)
            for chunk in chunks_of(self.source, rows, width, comments):
                yield _by_csv(self, chunk, columns)
        note_comments(self.source, comments, columns.notes)

    def _blocks(self) -> Iterator[Block]:
        """Blocks that end with a line, and not inside a quoted cell."""
        delimiter = re.escape(self.delimiter.encode())
        quoted = re.compile(
            rb'(?:\A|(?<=[\n%b]))"[^"]*(?:""[^"]*)*"(?=[\r\n%b]|\Z)' % (delimiter, delimiter)
        )
        size = _BYTES * max(1, len(self.names) // 1000)  # some rows also of very wide tables
        with open_bytes(self.source) as file:
            file.seek(len(_MARK) if file.read(len(_MARK)) == _MARK else 0)
            above = self.header_ends
            _refuse_lone_returns(b"".join(file.readline() for _ in range(above)))
            while raw := file.read(size):
                raw += file.readline()
                while b'"' in raw and raw.count(b'"') % 2:
                    more = file.read(size)
                    if not more or len(raw) > 8 * size:
                        raise _IrregularError
                    raw += more + file.readline()
                _refuse_lone_returns(raw)
                if b'"' in raw and b'"' in quoted.sub(b"", raw):
                    raise _IrregularError
                lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
                yield Block(raw, lines, above)
                above += lines


class _IrregularError(Exception):
    """The file cannot be cut into blocks: it must be read from its start to its end."""


def _refuse_lone_returns(raw: bytes) -> None:
    """Carriage returns that end lines by themselves would confuse the count of lines."""
    if b"\r" in raw and raw.count(b"\r") != raw.count(b"\r\n"):
        raise _IrregularError


# ---- the three readers of a block -----------------------------------------------------------

Quick = Callable[[CsvReader, Block, Columns], Part | None]


def quick_reader(size: int) -> Quick:
    """pyarrow's reader where it is installed and worth its import, else numpy's."""
    if size < _SMALL:
        return by_numpy
    try:
        arrow = optional("pyarrow", extra="store", what="Reading CSV files quickly")
        parser = optional("pyarrow.csv", extra="store", what="Reading CSV files quickly")
    except MissingPackageError:
        return by_numpy
    return partial(by_arrow, arrow, parser)


def by_arrow(
    arrow: ModuleType, parser: ModuleType, reader: CsvReader, block: Block, columns: Columns
) -> Part | None:
    """A block read by pyarrow; None where it cannot."""
    # To look every cell up among many words takes pyarrow half its time again.
    for nulls in ([""], _NULLS):
        try:
            table = _arrow_table(arrow, parser, reader, block, columns, nulls)
        except (arrow.ArrowException, ValueError):
            continue
        if table.num_rows != block.lines:
            return None
        cells = {j: table.column(str(j)) for j in columns.numeric}
        numbers = {j: _values(cells[j], np.float64) for j in cells}
        # What is NaN without being null may be nan(1), a number to pyarrow only.
        if any(cells[j].null_count != np.isnan(numbers[j]).sum() for j in cells):
            continue
        words = {}
        for j in columns.text:
            coded = table.column(str(j)).unify_dictionaries().combine_chunks()
            words[j] = Coded(coded.dictionary.to_pylist(), _values(coded.indices, np.int32))
        return _placed(reader, block, columns, numbers, words)
    return None


def _values(cells: Any, kind: type) -> NDArray[Any]:
    """Cells of pyarrow as an array, NaN where null; its own conversion would import pandas."""
    parts = []
    for chunk in getattr(cells, "chunks", [cells]):
        valid, data = chunk.buffers()
        end = chunk.offset + len(chunk)
        values: NDArray[Any] = np.frombuffer(data, kind)[chunk.offset : end]
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
            values = np.where(bits[chunk.offset : end], values, np.nan)
        parts.append(values)
    return np.concatenate(parts)


def _arrow_table(
    arrow: ModuleType,
    parser: ModuleType,
    reader: CsvReader,
    block: Block,
    columns: Columns,
    nulls: list[str],
) -> Any:
    number_type, word_type = arrow.float64(), arrow.dictionary(arrow.int32(), arrow.string())
    kinds = {str(j): number_type for j in columns.numeric}
    kinds |= {str(j): word_type for j in columns.text}
    return parser.read_csv(
        arrow.BufferReader(block.raw),
        read_options=parser.ReadOptions(
            column_names=[str(j) for j in range(len(reader.names))],
            use_threads=False,
            block_size=max(
                2**20, 8 * len(block.raw) // block.lines
            ),  # what the processor's cache holds
        ),
        parse_options=parser.ParseOptions(
            delimiter=reader.delimiter, newlines_in_values=b'"' in block.raw
        ),
        convert_options=parser.ConvertOptions(
            column_types=kinds,
            include_columns=list(kinds),
            null_values=nulls,
            strings_can_be_null=False,
            decimal_point=reader.decimal or ".",
        ),
    )


def by_numpy(reader: CsvReader, block: Block, columns: Columns) -> Part | None:
    """A block read by numpy; None where it cannot."""
    if reader.decimal == ",":
        return None
    lines = block.raw.decode("utf-8").split("\n")
    if not lines[-1]:
        lines.pop()
    kinds = [(str(j), float if j in columns.slots else object) for j in range(len(reader.names))]
    plain = all(kind is float for _, kind in kinds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of blocks without a row
            table = np.loadtxt(
                lines,
                dtype=float if plain else kinds,
                comments=None,
                delimiter=reader.delimiter,
                quotechar='"',
                ndmin=2 if plain else 1,
            )
    except (ValueError, UserWarning):
        return None
    if len(table) != len(lines) or (plain and table.shape[1] != len(kinds)):
        return None
    numbers = {j: table[:, j] if plain else table[str(j)] for j in columns.numeric}
    words = {j: table[str(j)].tolist() for j in columns.text}
    return _placed(reader, block, columns, numbers, words)


def _by_csv(reader: CsvReader, chunk: Chunk, columns: Columns) -> Part:
    """A chunk of rows that the csv module has cut into cells."""
    cells = list(zip(*chunk.rows, strict=True))
    part = Part({}, {j: cells[j] for j in columns.text}, np.array(chunk.lines, np.int64))
    for j in columns.numeric:
        values = _floats(cells[j], reader.decimal)
        if values is None:
            part.turned.add(j)
            continue
        part.numbers[j] = values
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            part.gaps[j] = (row, cells[j][row])
    return part


def _floats(cells: Sequence[str], decimal: Decimal | None) -> Floats | None:
    """Cells as numbers, NaN where they say nothing; None if one holds a word."""
    if decimal is None and not any("_" in cell for cell in cells):
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            pass
    values = np.full(len(cells), math.nan)
    for i, cell in enumerate(cells):
        value = number(cell, decimal)
        if value is not None:
            values[i] = value
        elif cell.strip().lower() not in NO_NUMBER:
            return None
    return values


def _placed(
    reader: CsvReader,
    block: Block,
    columns: Columns,
    numbers: dict[int, Floats],
    words: dict[int, Any],
) -> Part:
    """A block that was read quickly, with the cells of the first gaps looked up."""
    places = block.above + 1 + np.arange(block.lines)
    part = Part(numbers, words, places)
    lines: list[bytes] = []
    for j, values in numbers.items():
        finite = np.isfinite(values)
        if j not in columns.gaps and not finite.all():
            lines = lines or block.raw.split(b"\n")
            row = int(np.argmin(finite))
            line = lines[row].decode("utf-8").rstrip("\r")
            part.gaps[j] = (row, next(csv.reader([line], delimiter=reader.delimiter))[j])
    return part
