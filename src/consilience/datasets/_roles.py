"""Which column is what: identifiers, known groups, data; named by the user or recognised.

A column that cannot be data is taken as identifiers where the user named none, and a note
says so: one without a name (as pandas writes its index), one named like an identifier with
a different value in most rows, one with a different text in every row, and a first column
that counts the rows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from consilience._words import listed
from consilience.datasets._cells import number
from consilience.datasets._columns import Columns, Floats
from consilience.datasets._files import position_of, unique_names
from consilience.datasets._meaning import Kind, Meaning
from consilience.errors import InvalidInputError

__all__ = [
    "MANY",
    "NO_IDS",
    "Roles",
    "counts_rows",
    "named_like_ids",
    "note_numbers",
    "parts_of",
    "recognise_ids",
]

NO_IDS = "none"
_PANDAS_INDEX = "__index_level_0__"
# Of fewer objects all values may well differ, or be 0, 1, 2 apart, by chance.
MANY = 10
_ID_NAMES = frozenset(
    [
        *("id", "ids", "idx", "index", "key", "uuid", "guid", "name", "names", "no", "no.", "nr"),
        *("nr.", "#", "row", "rowid", "rownames", "row names", "row_names", "unnamed: 0"),
    ]
)
_DIFFERENT = "has a different value in every row and is named like identifiers"
_REPEATED = "is named like identifiers and holds whole numbers, most of which differ"
_ENDS_IN_ID = re.compile(r".*(?:[_\s.\-][iI][dD]|[a-z](?:ID|Id))")


@dataclass(frozen=True)
class Roles:
    """Positions of the identifiers, the known groups and the data; ``open``: ids may be found."""

    ids: int | None
    truth: int | None
    data: list[int]
    open: bool

    @classmethod
    def named(
        cls,
        source: Path,
        names: list[str],
        id_column: str | None,
        truth_column: str | None,
        ignore: Sequence[str],
        notes: list[str],
    ) -> "Roles":
        """Roles of the columns the user named, and of one without a name."""
        unique_names(source, names)
        is_open = id_column is None
        if id_column == NO_IDS and NO_IDS not in names:
            id_column = None
        ids = _place(source, names, id_column, "id_column")
        truth = _place(source, names, truth_column, "truth_column")
        listed_too = [part for name in ignore for part in parts_of(name, names)]
        left_out = {position_of(source, names, name, "ignore") for name in listed_too}
        both = [names[j] for j in (ids, truth) if j in left_out]
        if both:
            raise InvalidInputError(
                f"Column {both[0]!r} of {source.name!r} cannot be left out with ignore and be "
                "named as id_column or truth_column as well."
            )
        unnamed = next((j for j, name in enumerate(names) if name in ("", _PANDAS_INDEX)), None)
        if is_open and unnamed is not None and unnamed not in (truth, *left_out):
            notes.append(
                f"Column {unnamed + 1} of {source.name!r} has no name, as pandas writes its index: "
                "it is taken as identifiers, not as data."
            )
            ids, is_open = unnamed, False
        data = [j for j in range(len(names)) if j not in (ids, truth) and j not in left_out]
        if not data:
            raise InvalidInputError(
                f"{source.name!r} has no columns of numbers left: its columns are "
                f"{listed(map(repr, names))}, and all are named as id_column or truth_column"
                f"{' or left out' if left_out else ''}."
            )
        return cls(ids, truth, data, is_open)

    def as_text(self, names: Sequence[str], first: Iterable[str]) -> list[int]:
        """Columns to be read as words: those with a role, and those that may be identifiers.

        ``first`` are some cells of the first column.
        """
        positions = [j for j in (self.ids, self.truth) if j is not None]
        if self.open and len(self.data) > 1:
            positions += [j for j in self.data if named_like_ids(names[j])]
            cells = [number(cell) for cell in first]
            if 0 in self.data and None not in cells and counts_rows(np.array(cells, float)):
                positions.append(0)
        return sorted(set(positions))


def _place(source: Path, names: list[str], name: str | None, parameter: str) -> int | None:
    return None if name is None else position_of(source, names, name, parameter)


def parts_of(name: str, names: Sequence[str]) -> list[str]:
    """Names with commas between, unless a column is called so.

    >>> parts_of("a,b", ["a", "b"]), parts_of("a,b", ["a,b"])
    (['a', 'b'], ['a,b'])
    """
    return [name] if name in names else [part.strip() for part in name.split(",")]


def named_like_ids(name: str) -> bool:
    """Whether a column's name says that it holds identifiers.

    >>> named_like_ids("ID"), named_like_ids("patient_id"), named_like_ids("liquid")
    (True, True, False)
    """
    return name.lower() in _ID_NAMES or _ENDS_IN_ID.fullmatch(name) is not None


def counts_rows(values: Floats) -> bool:
    """Whether values are 0, 1, 2, ... or 1, 2, 3, ..., and enough of them to mean it."""
    return (
        len(values) >= MANY
        and values[0] in (0.0, 1.0)
        and values[1] - values[0] == 1.0
        and bool((np.diff(values) == 1.0).all())
    )


def recognise_ids(
    columns: Columns, roles: Roles, meanings: Mapping[int, Meaning], counters: Sequence[int]
) -> list[int]:
    """Columns that can only be identifiers, if the user named none; notes are made of them.

    The first holds the identifiers; others that are named like it are left out.
    """
    if not roles.open or len(roles.data) < 2:
        return []
    words = [j for j in roles.data if j in meanings]
    different = [j for j in words if _all_differ(columns, j, meanings[j])]
    texts = [j for j in different if is_text(meanings[j]) and columns.n_objects >= MANY]
    named = {j: _DIFFERENT for j in different if named_like_ids(columns.names[j])}
    named |= {j: _REPEATED for j in words if j not in named and _repeats(columns, j, meanings[j])}
    sure = [j for j in named if named[j] is _DIFFERENT]
    order = [*sure, *texts, *(j for j in counters if j == 0), *named]
    if not order:
        return []
    j = order[0]
    why = named.get(j, "holds a different text in every row")
    if j in counters:
        why = counting(columns, j, meanings)
    columns.notes.append(
        f"Column {columns.names[j]!r} of {columns.source.name!r} {why}: it is taken as "
        "identifiers, not as data. id_column (--id-column) names another column; "
        f"{NO_IDS!r} keeps it as data."
    )
    # One column at least must be left.
    others = [other for other in named if other != j][: len(roles.data) - 2]
    for other in others:
        columns.notes.append(
            f"Column {columns.names[other]!r} of {columns.source.name!r} {named[other]}: it is "
            f"left out. id_column={NO_IDS!r} (--id-column {NO_IDS}) keeps such columns as data."
        )
    return [j, *others]


def is_text(meaning: Meaning) -> bool:
    """Whether words are no numbers, dates or answers in disguise."""
    return meaning.kind in (Kind.CATEGORIES, Kind.TEXT)


def _all_differ(columns: Columns, j: int, meaning: Meaning) -> bool:
    """Whether every object has a word of its own, a text or a whole number."""
    if len(meaning.words) != columns.n_objects or columns.n_objects < 2 or meaning.missing.any():
        return False
    whole = meaning.kind is Kind.NUMBERS and bool((meaning.values % 1 == 0).all())
    return whole or is_text(meaning)


def _repeats(columns: Columns, j: int, meaning: Meaning) -> bool:
    """Whether whole numbers are named like identifiers, and most of them stand once."""
    if columns.n_objects < MANY or meaning.kind is not Kind.NUMBERS or meaning.missing.any():
        return False
    whole = bool((meaning.values % 1 == 0).all())
    return whole and named_like_ids(columns.names[j]) and 2 * len(meaning.words) > columns.n_objects


def values_of(columns: Columns, j: int, meanings: Mapping[int, Meaning]) -> Floats:
    """A column of numbers, however it was read."""
    if j in meanings:
        return meanings[j].values[columns.words[j].codes]
    return columns.column(j)


def counting(columns: Columns, j: int, meanings: Mapping[int, Meaning]) -> str:
    """The words for a column that counts the rows."""
    start = values_of(columns, j, meanings)[:3]
    return f"counts the rows, {', '.join(f'{value:.0f}' for value in start)}, ..."


def note_numbers(
    columns: Columns, data: Sequence[int], meanings: Mapping[int, Meaning], counters: Sequence[int]
) -> None:
    """Note columns of numbers that are more likely row numbers, identifiers or dates."""
    for j in data:
        if j in meanings and meanings[j].kind is not Kind.NUMBERS:
            continue
        name, values = columns.names[j], values_of(columns, j, meanings)
        if j in counters:
            columns.notes.append(
                f"Column {name!r} of {columns.source.name!r} {counting(columns, j, meanings)}, and "
                "is clustered like any other. If it holds identifiers, name it with "
                f"id_column={name!r} (--id-column)."
            )
        elif named_like_ids(name) and len(values) >= MANY and (values % 1 == 0).all():
            columns.notes.append(
                f"Column {name!r} of {columns.source.name!r} is named like identifiers and is "
                f"clustered as numbers. If they are identifiers, say id_column={name!r} "
                f"(--id-column) or leave the column out with ignore (--ignore)."
            )
        elif _may_be_dates(values):
            columns.notes.append(
                f"Column {name!r} of {columns.source.name!r} may hold dates, written like "
                f"{values[0]:.0f}, and is clustered as numbers. Write dates as 2024-12-31 and say "
                "encode='dates' (--encode dates) to have their distances in days."
            )


def _may_be_dates(values: Floats) -> bool:
    """Whether all values read as year, month and day, such as 20241231."""
    if not len(values) or not 19000101 <= values[0] <= 21001231:
        return False
    if not ((values >= 19000101) & (values <= 21001231) & (values % 1 == 0)).all():
        return False
    months, days = values // 100 % 100, values % 100
    return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())
