"""Cells that a spreadsheet would run as a formula, made harmless and read back.

A cell of a CSV file that starts with ``= + - @``, a tab or a line end may be run when the file is
opened (OWASP, "CSV Injection"). Such text is written with a single quote before it; numbers stay
as they are. Text that has quotes there already gets one more, so that every text comes back.
"""

import re
from typing import Any

__all__ = ["guarded", "holds_guarded", "unguarded"]

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
# How the files start that we write with identifiers in the first column.
_OURS = (("id", "cluster"), ("id", "score"))


def guarded(cell: Any) -> Any:
    """A cell as it is written: text that might be run gets a quote, all else stays.

    >>> [guarded(cell) for cell in ("=1+1", "-5", "a=b", -5, "'=1")]
    ["'=1+1", '-5', 'a=b', -5, "''=1"]
    """
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def unguarded(cell: str) -> str:
    """What `guarded` made the cell of.

    >>> [unguarded(cell) for cell in ("'=1+1", "-5", "'quoted'")]
    ['=1+1', '-5', "'quoted'"]
    """
    return cell[1:] if cell[:1] == "'" and guarded(cell[1:]) == cell else cell


def holds_guarded(names: list[str]) -> bool:
    """Whether a CSV file with these columns is one that we write."""
    return tuple(names[:2]) in _OURS
