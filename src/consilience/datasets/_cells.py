"""What one cell of a text file says: a number, nothing, or a word.

Only plain numbers are read without being asked: ``1,234`` is twelve hundred in one country
and a little over one in another, so whoever has such a file says which mark is the decimal
one, and then the other one may group thousands.
"""

import re
from collections.abc import Sequence
from typing import Literal

__all__ = [
    "MISSING",
    "NO_NUMBER",
    "NO_WORD",
    "Decimal",
    "foreign_number",
    "number",
    "undecorated",
]

Decimal = Literal[".", ","]

# The words for "no value" that pandas, R, databases and spreadsheets write; in lower case.
MISSING = frozenset(
    {"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "?", "<na>", "nat"}
    | {"#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"}
)
# Among numbers a lone dash or dots stand for nothing either; among words they may be one.
NO_NUMBER = MISSING | {"-", "--", ".", "..", "...", "\N{EN DASH}", "\N{EM DASH}"}
# A garage may be of the kind "none".
NO_WORD = MISSING - {"none"}

# Spaces (also those that do not break) and apostrophes group thousands everywhere.
_GAPS = "[ '\u00a0\u2009\u202f\u2019]"
_GROUPED = {
    mark: re.compile(
        rf"[+-]?(?:\d{{1,3}}(?:(?:{group}\d{{3}})+|(?:{_GAPS}\d{{3}})+)|\d+)?"
        rf"(?:{re.escape(mark)}\d*)?(?:[eE][+-]?\d+)?"
    )
    for mark, group in ((".", ","), (",", r"\."))
}
_NOT_DIGITS = {".": re.compile(rf"{_GAPS}|,"), ",": re.compile(rf"{_GAPS}|\.")}
_DECORATED = re.compile(r"[$€£¥]\s*|\s*[%€]$")


def number(cell: str, decimal: Decimal | None = None) -> float | None:
    """The number a cell holds, or None.

    Python reads 1_000 as a number; in a table it is more likely a name.

    >>> number(" 2.5e3"), number("1_000"), number(""), number("1,5")
    (2500.0, None, None, None)
    >>> number("1.234,5", ","), number("1,234", "."), number("1.5", ",")
    (1234.5, 1234.0, None)
    """
    if "_" in cell:
        return None
    if decimal is not None:
        cell = cell.strip()
        if _GROUPED[decimal].fullmatch(cell):
            cell = _NOT_DIGITS[decimal].sub("", cell).replace(",", ".")
        elif decimal == "," and "." in cell:
            return None
    try:
        return float(cell)
    except ValueError:
        return None


def undecorated(cells: Sequence[str], decimal: Decimal | None) -> tuple[str, list[float]] | None:
    """The sign that all cells have, of percent or a currency, and their numbers; None if not all.

    >>> undecorated(["12 %", "3.5%"], None), undecorated(["12 %", "3 €"], None)
    (('%', [12.0, 3.5]), None)
    """
    signs = {"".join(_DECORATED.findall(cell.strip())).strip() for cell in cells}
    if len(signs) != 1 or signs == {""}:
        return None
    values = [number(_DECORATED.sub("", cell.strip()), decimal) for cell in cells]
    known = [value for value in values if value is not None]
    return (signs.pop(), known) if len(known) == len(values) else None


def foreign_number(cell: str) -> tuple[Decimal, ...]:
    """Decimal marks under which a cell that is no plain number would be one.

    >>> foreign_number("1,5"), foreign_number("1,234.5"), foreign_number("1,234")
    ((',',), ('.',), ('.', ','))
    >>> foreign_number("one"), foreign_number("$1,234.50")
    ((), ('.',))
    """
    bare = _DECORATED.sub("", cell.strip())
    marks: tuple[Decimal, ...] = (".", ",")
    return tuple(mark for mark in marks if number(bare, mark) is not None)
