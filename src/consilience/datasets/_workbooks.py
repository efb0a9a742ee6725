"""Excel workbooks (.xlsx) as text tables: looked at before they are unpacked, nothing is run.

A workbook is an archive of XML files. What it would unpack to is known before, and refused if it is
out of proportion; so are XML files that declare entities, which no spreadsheet writes. Formulas
are not computed: their stored values are read. Macros and links to other files are never opened.
"""

import csv
import datetime
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers import expat

from consilience._optional import optional
from consilience._words import listed, plural
from consilience.datasets._files import refusing_damage
from consilience.errors import InvalidInputError

__all__ = ["sheet_as_text"]

# All that a workbook may unpack to; parts that are neither a sheet nor its texts are small.
_MOST_BYTES, _MOST_OTHER = 2**30, 2**26
# A sheet of one number over and over is packed to a hundredth.
_MOST_PACKED, _SMALL = 250, 2**24
_MOST_PARTS = 10_000
# Cells that were formatted once and are empty.
_MOST_EMPTY = 20_000_000
_OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"
# What openpyxl raises on files that are no workbook, or not whole.
_DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    SyntaxError,
    OverflowError,
    AssertionError,
    NotImplementedError,
)
_ERRORS = frozenset(
    ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!")
)


class _DeclaresError(Exception):
    """An XML file declares a document type."""


class _BeginsError(Exception):
    """An XML file has come to its first element."""


@contextmanager
def sheet_as_text(source: Path, sheet: str | None, notes: list[str]) -> Iterator[Path]:
    """A copy of one sheet as comma-separated text, of the file's name, for as long as it is read.

    Parameters
    ----------
    source : Path
    sheet : str or None
        Its name; None takes the first that can be seen.
    notes : list of str
        Gets what was done.
    """
    _check_archive(source)
    excel = optional("openpyxl", extra="tables", what=f"Reading {source.name!r}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, source.name)
        with refusing_damage(source, _DAMAGE), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that are not kept
            book = excel.load_workbook(
                source, read_only=True, data_only=True, keep_links=False, keep_vba=False
            )
            try:
                _write(source, _page(source, book, sheet, notes), copy, notes)
            finally:
                book.close()
        yield copy


def _page(source: Path, book: Any, sheet: str | None, notes: list[str]) -> Any:
    """The sheet that is named, or the first that can be seen."""
    pages = {page.title: page for page in book.worksheets if hasattr(page, "iter_rows")}
    seen = [name for name, page in pages.items() if page.sheet_state == "visible"] or [*pages]
    if not pages:
        raise InvalidInputError(f"{source.name!r} is a workbook with no sheet of cells in it.")
    if sheet is not None and sheet not in pages:
        raise InvalidInputError(
            f"{source.name!r} has no sheet {sheet!r}. Its sheets are {listed(map(repr, pages))}."
        )
    taken = seen[0] if sheet is None else sheet
    others = [name for name in seen if name != taken]
    if sheet is None and others:
        notes.append(
            f"{source.name!r} has {plural(len(seen), 'sheet')}: {taken!r} is read, and "
            f"{listed(map(repr, others))} not. Name another with sheet (--sheet)."
        )
    page = pages[taken]
    page.reset_dimensions()  # what it says of its size may be anything
    return page


def _write(source: Path, page: Any, copy: Path, notes: list[str]) -> None:
    """The cells of a sheet as text, a line a row; empty rows at the end are left out."""
    n_empty = n_filled = n_errors = waiting = 0
    with copy.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in page.iter_rows(values_only=True):
            cells = [_text(value) for value in row]
            n_errors += sum(value in _ERRORS for value in row if isinstance(value, str))
            while cells and not cells[-1]:
                cells.pop()
            n_filled += len(cells)
            n_empty += len(row) - len(cells) + 1
            if n_empty > _MOST_EMPTY + n_filled:
                raise InvalidInputError(
                    f"{source.name!r} has more than {_MOST_EMPTY:,} empty cells in the sheet "
                    f"{page.title!r}. Delete the empty rows and columns beside its table, or save "
                    "it as CSV."
                )
            if not cells:
                waiting += 1
                continue
            writer.writerows([""] for _ in range(waiting if n_filled > len(cells) else 0))
            waiting = 0
            writer.writerow(cells)
    if not n_filled:
        raise InvalidInputError(f"The sheet {page.title!r} of {source.name!r} is empty.")
    if n_errors:
        notes.append(
            f"{plural(n_errors, 'cell')} of {source.name!r} {'is' if n_errors == 1 else 'are'} an "
            "error of a formula, such as #N/A, and taken as missing."
        )
    _widen(copy)


def _widen(copy: Path) -> None:
    """Give all lines as many cells as the longest has: those at the end are empty."""
    with copy.open(encoding="utf-8", newline="") as file:
        widths = {len(row) for row in csv.reader(file)}
    if len(widths) == 1:
        return
    wide = copy.with_name("wide")
    with (
        copy.open(encoding="utf-8", newline="") as file,
        wide.open("w", encoding="utf-8", newline="") as out,
    ):
        most = max(widths)
        csv.writer(out).writerows(row + [""] * (most - len(row)) for row in csv.reader(file))
    wide.replace(copy)


def _text(value: Any) -> str:
    """A cell as a text table has it: numbers with all their digits, moments as ISO 8601 says."""
    if value is None or (isinstance(value, str) and value in _ERRORS):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return repr(value / datetime.timedelta(days=1))
    return " ".join(str(value).split())


# ---- what is looked at before anything is unpacked --------------------------------------------


def _check_archive(source: Path) -> None:
    """Refuse what is no workbook, or one that unpacks out of proportion or declares entities."""
    with source.open("rb") as file:
        start = file.read(4)
    if start == _OLD_OR_LOCKED:
        raise InvalidInputError(
            f"{source.name!r} is an old workbook (.xls), or locked with a password. Open it and "
            "save it as .xlsx without one."
        )
    with refusing_damage(source, (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)):
        archive = zipfile.ZipFile(source)
    with archive:
        parts = archive.infolist()
        _check_sizes(source, parts)
        names = [part.filename for part in parts]
        if "[Content_Types].xml" not in names or not any("workbook" in name for name in names):
            raise InvalidInputError(
                f"{source.name!r} is an archive, but no workbook. Save the table as .xlsx or .csv."
            )
        errors = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError)
        for part in parts:
            if part.filename.lower().endswith((".xml", ".rels")):
                with refusing_damage(source, errors), archive.open(part) as file:
                    _check_prolog(source, part.filename, file)


def _check_sizes(source: Path, parts: list[zipfile.ZipInfo]) -> None:
    """Refuse archives of many, large or overly packed parts, by what they say of themselves.

    No part is ever unpacked to more than it says.
    """
    total = sum(part.file_size for part in parts)
    why = None
    if len(parts) > _MOST_PARTS:
        why = f"it has {len(parts):,} parts"
    elif total > _MOST_BYTES:
        why = f"it unpacks to {total / 2**30:.1f} GiB, where at most {_MOST_BYTES >> 30} is read"
    for part in parts:
        packed = max(part.compress_size, 1)
        if part.file_size > _SMALL and part.file_size > _MOST_PACKED * packed:
            why = (
                f"{part.filename!r} in it unpacks to {part.file_size / packed:,.0f} times its size"
            )
        table = part.filename.startswith("xl/worksheets/") or "sharedStrings" in part.filename
        if part.file_size > _MOST_OTHER and not table and part.filename.endswith(".xml"):
            why = f"{part.filename!r} in it, which is no sheet, has {part.file_size >> 20} MiB"
    if why:
        raise InvalidInputError(
            f"{source.name!r} is not read, because it may be made to fill the memory: {why}. Save "
            "the table as CSV, if you trust it."
        )


def _check_prolog(source: Path, name: str, file: Any) -> None:
    """Refuse an XML file that declares a document type; only what is above its elements is read."""
    parser = expat.ParserCreate()

    def declares(*_: Any) -> None:
        raise _DeclaresError

    def begins(*_: Any) -> None:
        raise _BeginsError

    parser.StartDoctypeDeclHandler = declares
    parser.EntityDeclHandler = declares
    parser.StartElementHandler = begins
    try:
        while block := file.read(2**14):
            parser.Parse(block, False)
    except _BeginsError:
        return
    except _DeclaresError as error:
        raise InvalidInputError(
            f"{source.name!r} is not read: {name!r} in it declares a document type, by which a "
            "small file can fill the memory or ask for others. No spreadsheet writes one; save "
            "the table anew, or as CSV."
        ) from error
    except expat.ExpatError as error:
        raise InvalidInputError(
            f"{source.name!r} is damaged: {name!r} in it is no XML ({error}). Save it again."
        ) from error
