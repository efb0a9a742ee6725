"""CSV files as chunks of text rows, with the line of the file that each row ends on.

UTF-8 with or without a byte order mark; delimiter ``,`` ``;`` tab or ``|``, taken from the
first line. A first line that holds values is data: the columns are then named c0, c1, ...
Only the line ``0,1,2,...`` counts as a header (pandas writes it for columns without names).
Lines above the header that start with ``#`` are comments, and so are later ones that are no
row of the table.
"""

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO, cast

from consilience._words import plural
from consilience.datasets._cells import Decimal, foreign_number, number
from consilience.datasets._files import CUT_SHORT, refusing_damage, unique_names
from consilience.errors import InvalidInputError

__all__ = [
    "Chunk",
    "CsvTable",
    "NotUtf8Error",
    "chunks_of",
    "decoding",
    "note_comments",
    "open_bytes",
    "open_csv",
    "rows_of_text",
]

# Rows come in chunks of about this many cells: text is some 60 bytes a cell, floats are 8.
_CELLS = 100_000
# As many rows below the first line are looked at to tell whether it is a header.
_PEEK = 100
_DELIMITERS = ",;\t|"
_SPREADSHEET = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)  # as Excel writes and wants it


class Chunk(NamedTuple):
    """Some rows of a file and the line each ends on, the first line of the file being 1."""

    rows: list[list[str]]
    lines: list[int]


@dataclass(frozen=True)
class CsvTable:
    """An open CSV file: its column names and, to be read once, its rows.

    Data start below line ``header_ends``; ``notes`` grows while the rows are read.
    """

    names: list[str]
    chunks: Iterator[Chunk]
    delimiter: str
    header_ends: int
    notes: list[str]
    decimal: Decimal | None = None


@contextmanager
def open_csv(
    source: Path, decimal: Decimal | None = None, *, guess: bool = False
) -> Iterator[CsvTable]:
    """Open a CSV file and read its header line; refuses what cannot be read as one.

    ``guess`` has the decimal mark told from the first rows, where it can be told for sure.
    """
    with (
        decoding(source),
        open_bytes(source) as raw,
        io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text,
    ):
        notes: list[str] = []
        try:
            above, first, delimiter = _first_lines(source, text, decimal, notes)
        except csv.Error as error:  # a field past csv's limit
            raise InvalidInputError(
                f"{source.name!r}: the first line that is no comment cannot be read as CSV "
                f"({error}). Put a line of names there, and check its quotes."
            ) from error
        reader = csv.reader(chain(first, text), delimiter=delimiter, strict=True)
        rows = _rows(source, reader, above)
        line, cells = next(rows)
        peeked = list(islice(rows, _PEEK))
        if guess and delimiter != ",":
            cells_seen = [cell for row in (cells, *(row for _, row in peeked)) for cell in row]
            decimal = _told_decimal(source, cells_seen, notes)
        below = [row for _, row in peeked]
        stripped = [cell.strip() for cell in cells]
        names, is_data = _column_names(source, line, stripped, below, decimal, notes)
        rows = chain([(line, cells)] if is_data else [], peeked, rows)
        comments: list[int] = []
        chunks = chunks_of(source, rows, len(names), comments)
        chunks = _some(source, _noting(source, chunks, comments, notes))
        yield CsvTable(names, chunks, delimiter, above if is_data else line, notes, decimal)


def open_bytes(source: Path) -> IO[bytes]:
    """The file's bytes, unpacked where its name ends in ``.gz``."""
    return cast(
        IO[bytes], (gzip.open if source.name.lower().endswith(".gz") else open)(source, "rb")
    )


class NotUtf8Error(InvalidInputError):
    """A text file in another encoding."""


@contextmanager
def decoding(source: Path) -> Iterator[None]:
    """Say where a file is no UTF-8 text, and that it is cut short where it is."""
    with refusing_damage(source, CUT_SHORT):
        try:
            yield
        except UnicodeDecodeError as error:
            raise NotUtf8Error(
                f"{source.name!r} is not UTF-8 text: {_first_bad_line(source)}. Save it as CSV "
                "with the encoding UTF-8, or name the one it has: encoding='cp1252' (--encoding "
                "cp1252) for Windows in Western Europe, 'cp1250' in Central Europe, 'utf-16'. "
                "Decimal commas are read with decimal=',' (--decimal ,)."
            ) from error


def _first_bad_line(source: Path) -> str:
    """Where the first byte is that is not UTF-8; a second pass, made only to say so."""
    with open_bytes(source) as lines:
        for line, raw in enumerate(lines, 1):
            if line == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "it starts with the mark of UTF-16"
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {line} has the byte 0x{raw[error.start]:02x}"
    return "a character is cut short"


def _first_lines(
    source: Path, text: TextIO, decimal: Decimal | None, notes: list[str]
) -> tuple[int, list[str], str]:
    """Number of lines above the table, its first lines as far as read, and the delimiter."""
    comments: list[int] = []
    pending: list[str] = []  # the last comment and what was read below it
    delimiter = None
    for above, line in enumerate(text):
        told = _SPREADSHEET.fullmatch(line)
        if line.lstrip().startswith("#"):
            comments.append(above)
            pending = [line]
        elif told and delimiter is None:
            delimiter = told[1]
        elif not line.strip():
            pending.append(line)
        else:
            delimiter = delimiter or _delimiter(line, decimal)
            table = [line]
            if comments and _is_header(pending[0], line, delimiter):
                above = comments.pop()
                table = [pending[0].lstrip().removeprefix("#").lstrip(), *pending[1:], line]
            note_comments(source, comments, notes, " at the top")
            return above, table, delimiter
    raise InvalidInputError(
        f"{source.name!r} is empty: it holds only blank lines{' and comments' * bool(comments)}."
    )


def _is_header(comment: str, line: str, delimiter: str) -> bool:
    """Whether a line that starts with # names the columns, as ``#id,x,y`` does of ``1,2,3``."""
    names, cells = (
        next(csv.reader([text.strip()], delimiter=delimiter)) for text in (comment, line)
    )
    return (
        1 < len(names) == len(cells)
        and not any(number(name) is not None for name in names)
        and any(number(cell) is not None for cell in cells)
    )


def note_comments(
    source: Path, lines: Sequence[int], notes: list[str], where: str = " among the rows"
) -> None:
    """Note how many lines of a file are comments, if any."""
    if lines:
        one = len(lines) == 1
        notes.append(
            f"{plural(len(lines), 'line')}{where} of {source.name!r} that "
            f"{'starts with # is a comment' if one else 'start with # are comments'}: skipped."
        )


def _delimiter(line: str, decimal: Decimal | None) -> str:
    """The delimiter that cuts the line into most cells; a comma where none does."""

    def cells(delimiter: str) -> int:
        return len(next(csv.reader([line], delimiter=delimiter)))

    # Where commas are decimal marks they cut a line only if nothing else does.
    others = max(_DELIMITERS[1:], key=cells)
    if cells(others) > 1 and (decimal == "," or _all_numbers(line, others)):
        return others
    return max(_DELIMITERS, key=cells)


def _all_numbers(line: str, delimiter: str) -> bool:
    """Whether a line is cut into numbers with decimal commas, as a file without header has it."""
    cells = next(csv.reader([line], delimiter=delimiter))
    return all(number(cell, ",") is not None for cell in cells)


def _told_decimal(source: Path, cells: list[str], notes: list[str]) -> Decimal | None:
    """A comma where numbers have commas that can only be decimal marks, and none has a point."""
    marks = {foreign_number(cell): cell.strip() for cell in reversed(cells)}
    if (",",) not in marks or (".",) in marks:
        return None
    notes.append(
        f"Numbers of {source.name!r} have decimal commas, as {marks[(',',)]!r}, and are read so. "
        "decimal='.' (--decimal .) takes commas for thousands."
    )
    return ","


# ---- the first line: a header or not ------------------------------------------------------


def _column_names(
    source: Path,
    line: int,
    first: list[str],
    below: list[list[str]],
    decimal: Decimal | None,
    notes: list[str],
) -> tuple[list[str], bool]:
    """Column names, and whether the first line is already data."""
    width = len(first)
    if width == 1:
        _refuse_blanks(source, first[0], below)
    numeric = [value for cell in first if (value := number(cell, decimal)) is not None]
    if len(numeric) == width:
        if first != [str(i) for i in range(width)] or width == 1:
            return _no_header(source, width, "holds only numbers", notes), True
        notes.append(
            f"The first line of {source.name!r}, {','.join(first[:4])}{',...' * (width > 4)}, is "
            "taken as a header, as pandas writes it, not as an object."
        )
    elif numeric:
        if _values_again(first, below, decimal):
            why = "holds numbers, and words that come again below,"
            return _no_header(source, width, why, notes), True
        # Years and wavelengths name columns, and do so in order.
        if 2 * len(numeric) >= width and numeric != sorted(set(numeric)):
            notes.append(
                f"The first line of {source.name!r} is taken as the names of the columns, though "
                f"{len(numeric)} of its {width} cells are numbers. If it is an object, put a line "
                "of names above it."
            )
    if _has_row_names(first, below):
        first = ["", *first]
    for position, name in enumerate(first[1:], 2):
        if not name:
            raise InvalidInputError(
                f"{source.name!r} line {line}: column {position} has no name. Name it, or "
                "remove the delimiter too many."
            )
    unique_names(source, first)
    return first, False


def _refuse_blanks(source: Path, first: str, below: list[list[str]]) -> None:
    """Raise if what looks like one column is several with blanks between them."""
    width, rows = len(first.split()), [row[0].split() for row in below]
    if width < 2 or not rows or any(len(row) != width for row in rows):
        return
    if all(number(cell) is not None for cell in rows[0]):
        raise InvalidInputError(
            f"{source.name!r} has blanks between its columns. Save it with commas, semicolons "
            "or tabs between them."
        )


def _no_header(source: Path, width: int, why: str, notes: list[str]) -> list[str]:
    notes.append(
        f"{source.name!r} has no header line: its first line {why} and is "
        f"read as data, with columns named c0 to c{width - 1}."
    )
    return [f"c{i}" for i in range(width)]


def _values_again(first: list[str], below: list[list[str]], decimal: Decimal | None) -> bool:
    """Whether a word of the first line stands in its column again: then it is a value."""
    words = [(j, cell) for j, cell in enumerate(first) if cell and number(cell, decimal) is None]
    return any(
        len(row) == len(first) and row[j].strip() == word for row in below for j, word in words
    )


def _has_row_names(first: list[str], below: list[list[str]]) -> bool:
    """Whether rows start with a name that the header leaves out, as R writes tables."""
    if len(first) < 2 or not below or any(len(row) != len(first) + 1 for row in below):
        return False
    starts = [row[0].strip() for row in below]
    if all(not row[-1].strip() for row in below) or len(set(starts)) < len(starts):
        return False
    counted = [str(i) for i in range(1, len(starts) + 1)]
    return starts == counted or all(start and number(start) is None for start in starts)


# ---- rows -----------------------------------------------------------------------------------


def _rows(
    source: Path, reader: Any, skipped: int, width: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank; of width 0 the first row tells it."""
    blank: list[int] = []
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


def rows_of_text(
    source: Path, text: str, delimiter: str, skipped: int, width: int
) -> Iterator[tuple[int, list[str]]]:
    """Rows of a piece, below line ``skipped``, of a file with so many columns."""
    lines = io.StringIO(text, newline="")
    return _rows(source, csv.reader(lines, delimiter=delimiter, strict=True), skipped, width)


def chunks_of(
    source: Path, rows: Iterable[tuple[int, list[str]]], width: int, comments: list[int]
) -> Iterator[Chunk]:
    """Rows in chunks; refuses those of another width unless they are comments.

    ``comments`` gets the lines of these.
    """
    most = max(1, _CELLS // width)
    chunk = Chunk([], [])
    for line, cells in rows:
        if len(cells) != width or width == 1:
            if cells[0].lstrip().startswith("#"):
                comments.append(line)
                continue
            if len(cells) != width:
                raise _wrong_width(source, line, len(cells), width)
        chunk.rows.append(cells)
        chunk.lines.append(line)
        if len(chunk.rows) == most:
            yield chunk
            chunk = Chunk([], [])
    if chunk.rows:
        yield chunk


def _noting(
    source: Path, chunks: Iterable[Chunk], comments: Sequence[int], notes: list[str]
) -> Iterator[Chunk]:
    yield from chunks
    note_comments(source, comments, notes)


def _wrong_width(source: Path, line: int, n_cells: int, width: int) -> InvalidInputError:
    title = " If the first line is a title, remove it." if width == 1 else ""
    return InvalidInputError(
        f"{source.name!r} line {line} has {plural(n_cells, 'value')}, but there "
        f"{'is' if width == 1 else 'are'} {plural(width, 'column')}. "
        f"Check the line for a delimiter too many or too few, or a cut file.{title}"
    )


def _some(source: Path, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    first = next(chunks, None)
    if first is None:
        raise InvalidInputError(
            f"{source.name!r} has a header line and no data. Add one line an object."
        )
    yield first
    yield from chunks
