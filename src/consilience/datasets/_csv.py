"""CSV files as chunks of text rows, with the line of the file that each row ends on.

UTF-8 with or without a byte order mark; delimiter ``,`` ``;`` or tab, taken from the first
line. A first line of numbers only is data: the columns are then named c0, c1, ... Only the
line ``0,1,2,...`` counts as a header (pandas writes it for columns without names).
"""

import csv
import gzip
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO, cast

from consilience.datasets._files import CUT_SHORT, plural, refusing_damage, unique_names
from consilience.errors import ConsilienceWarning, InvalidInputError

# Rows come in chunks of about this many cells: text is some 60 bytes a cell, floats are 8.
_CELLS = 100_000

# The words for "no value" that pandas, R and databases write; compared in lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "?"})


class Chunk(NamedTuple):
    """Some rows of a file and the line each ends on, the first line of the file being 1."""

    rows: list[list[str]]
    lines: list[int]


@dataclass(frozen=True)
class CsvTable:
    """An open CSV file: its column names and, to be read once, its rows."""

    names: list[str]
    chunks: Iterator[Chunk]
    delimiter: str


def number(cell: str) -> float | None:
    """The number a cell holds, or None.

    Python reads 1_000 as a number; in a table it is more likely a name.

    >>> number(" 2.5e3"), number("1_000"), number("")
    (2500.0, None, None)
    """
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


@contextmanager
def open_csv(source: Path) -> Iterator[CsvTable]:
    """Open a CSV file and read its header line; refuses what cannot be read as one."""
    with (
        _decoding(source),
        _open_bytes(source) as raw,
        io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text,
    ):
        skipped, first = _first_line(source, text)
        delimiter = _delimiter(first)
        reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
        rows = _rows(source, reader, skipped)
        line, cells = next(rows)
        names, is_data = _column_names(source, [cell.strip() for cell in cells])
        if is_data:
            rows = chain([(line, cells)], rows)
        yield CsvTable(names, _chunks(source, rows, len(names)), delimiter)


def _open_bytes(source: Path) -> IO[bytes]:
    return cast(
        IO[bytes], (gzip.open if source.name.lower().endswith(".gz") else open)(source, "rb")
    )


@contextmanager
def _decoding(source: Path) -> Iterator[None]:
    with refusing_damage(source, CUT_SHORT):
        try:
            yield
        except UnicodeDecodeError as error:
            raise InvalidInputError(
                f"{source.name!r} is not UTF-8 text: {_first_bad_line(source)}. "
                "Save it as CSV with the encoding UTF-8."
            ) from error


def _first_bad_line(source: Path) -> str:
    """Where the first byte is that is not UTF-8; a second pass, made only to say so."""
    with _open_bytes(source) as lines:
        for line, raw in enumerate(lines, 1):
            if line == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "it starts with the mark of UTF-16"
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {line} has the byte 0x{raw[error.start]:02x}"
    return "a character is cut short"


def _first_line(source: Path, text: TextIO) -> tuple[int, str]:
    """Number of blank lines at the top, and the first line after them."""
    for skipped, line in enumerate(text):
        if line.strip():
            return skipped, line
    raise InvalidInputError(f"{source.name!r} is empty: it holds only blank lines.")


def _delimiter(line: str) -> str:
    """The delimiter that cuts the line into most cells; a comma where none does."""

    def cells(delimiter: str) -> int:
        return len(next(csv.reader([line], delimiter=delimiter)))

    return max(",;\t", key=cells)


def _rows(source: Path, reader: Any, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank."""
    width, blank = 0, []
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInputError(
                f"{source.name!r} line {reader.line_num + skipped}: {error}. Check the quotes "
                "there; each field that starts with a quote must end with one."
            ) from error
        line = reader.line_num + skipped
        if not cells:
            blank.append(line)
            continue
        width = width or len(cells)
        if width == 1:  # in a single column a blank line is a value that is missing
            yield from ((above, [""]) for above in blank)
        blank.clear()
        yield line, cells


def _column_names(source: Path, first: list[str]) -> tuple[list[str], bool]:
    """Column names, and whether the first line is already data."""
    width = len(first)
    counted = [str(i) for i in range(width)]
    if all(number(cell) is not None for cell in first):
        if first != counted or width == 1:
            _note(
                f"{source.name!r} has no header line: its first line holds only numbers and is "
                f"read as data, with columns named c0 to c{width - 1}."
            )
            return [f"c{i}" for i in range(width)], True
        _note(
            f"The first line of {source.name!r}, {','.join(first[:4])}{',...' * (width > 4)}, is "
            "taken as a header, as pandas writes it, not as an object."
        )
    for position, name in enumerate(first[1:], 2):
        if not name:
            raise InvalidInputError(
                f"{source.name!r} line 1: column {position} has no name. Name it, or remove the "
                "delimiter too many."
            )
    unique_names(source, first)
    return first, False


def _chunks(source: Path, rows: Iterator[tuple[int, list[str]]], width: int) -> Iterator[Chunk]:
    most = max(1, _CELLS // width)
    chunk, any_rows = Chunk([], []), False
    for line, cells in rows:
        if len(cells) != width:
            raise InvalidInputError(
                f"{source.name!r} line {line} has {plural(len(cells), 'value')}, but there "
                f"{'is' if width == 1 else 'are'} {plural(width, 'column')}. "
                "Check the line for a delimiter too many or too few, or a cut file."
            )
        chunk.rows.append(cells)
        chunk.lines.append(line)
        any_rows = True
        if len(chunk.rows) == most:
            yield chunk
            chunk = Chunk([], [])
    if not any_rows:
        raise InvalidInputError(
            f"{source.name!r} has a header line and no data. Add one line an object."
        )
    if chunk.rows:
        yield chunk


def _note(text: str) -> None:
    # Past _column_names, open_csv, contextlib and the two readers to who called read_table.
    warnings.warn(text, ConsilienceWarning, stacklevel=7)
