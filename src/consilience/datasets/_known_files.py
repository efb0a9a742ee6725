"""What is known of some objects, from a file: pairs, or groups."""

import csv
from os import PathLike
from pathlib import Path
from typing import Any

from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = ["read_known"]

_KINDS = {"must": "must_link", "cannot": "cannot_link"}
# A file of knowledge is written by hand, or nearly so.
_MOST_BYTES = 2**26


def read_known(path: str | PathLike[str]) -> dict[str, Any]:
    """Pairs or known groups, as `consilience.cluster` takes them.

    Parameters
    ----------
    path : path
        A CSV file in UTF-8 with a header line, of one of two forms. Three columns ``first``,
        ``second``, ``link``: identifiers of two objects, and ``must`` or ``cannot``. Two columns:
        an identifier and a group.

    Returns
    -------
    dict
        ``must_link`` and ``cannot_link``, or ``partial_labels``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "known.csv")
    ...     _ = file.write_text("first,second,link\\na,b,must\\na,c,cannot\\n")
    ...     read_known(file)
    {'must_link': [('a', 'b')], 'cannot_link': [('a', 'c')]}
    """
    source = Path(path)
    if not source.is_file():
        raise InvalidInputError(f"There is no file {source.name!r} to read what is known from.")
    if source.stat().st_size > _MOST_BYTES:
        raise InvalidInputError(
            f"{source.name!r} is larger than {_MOST_BYTES >> 20} MiB, too large for what is known."
        )
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{source.name!r} is no CSV file in UTF-8: {error}.") from error
    width = len(lines[0]) if lines else 0
    if width not in (2, 3) or any(len(line) != width for line in lines):
        raise InvalidInputError(
            f"{source.name!r} must have a header line and, in each line, either first, second, "
            "link (must or cannot), or an identifier and a group."
        )
    cells = [[cell.strip() for cell in line] for line in lines[1:]]
    if width == 2:
        return {"partial_labels": _groups(source, cells)}
    others = sorted({link for _, _, link in cells} - {*_KINDS})
    if others:
        raise InvalidInputError(
            f"The third column of {source.name!r} must be must or cannot. Got "
            f"{listed(map(repr, others), most=5)}."
        )
    pairs: dict[str, Any] = {name: [] for name in _KINDS.values()}
    for first, second, link in cells:
        pairs[_KINDS[link]].append((first, second))
    return pairs


def _groups(source: Path, cells: list[list[str]]) -> dict[str, str]:
    """The group of each object, which may be said several times."""
    groups: dict[str, str] = {}
    torn = {name: None for name, group in cells if groups.setdefault(name, group) != group}
    if torn:
        raise InvalidInputError(
            f"{source.name!r} gives more than one group to {listed(map(repr, torn), most=5)}. "
            "Leave out all but one line of each."
        )
    return groups
