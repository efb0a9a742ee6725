"""The words in which columns are refused: which, where, and what to do about it."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from consilience._words import listed, shown
from consilience.datasets._cells import foreign_number
from consilience.datasets._columns import Columns
from consilience.datasets._meaning import MOST_CATEGORIES, Kind, Meaning
from consilience.errors import InvalidInputError

__all__ = [
    "FILL_IN",
    "FILL_IN_NEW",
    "NOT_GUESSED",
    "Gap",
    "Refused",
    "no_finite_rows",
    "refuse_gaps",
    "refuse_other_words",
    "refuse_words",
]

# What to do about missing values: of a table, of new objects, of known groups.
FILL_IN = (
    "impute='median' (--impute median, or mean) fills them in; impute='keep' (--impute keep) keeps "
    "them as gaps; impute='drop-rows' leaves out those rows, ignore (--ignore) whole columns."
)
# The same of frames, whose columns nobody reads from a file.
_FILL_IN_FRAME = (
    "consilience.cluster keeps them as gaps with gaps='keep'. Or fill them in, as with "
    "X.fillna(X.median(numeric_only=True)), or leave out those rows or columns."
)
FILL_IN_NEW = (
    "Fill them in, or leave out those rows. Where the first table was clustered with "
    "impute='median' (--impute median), those of new ones are filled in as well."
)
NOT_GUESSED = (
    "Known groups are not guessed: fill them in, or say impute='drop-rows' (--impute drop-rows)."
)


class Refused(NamedTuple):
    """A column that holds no numbers: what it holds instead, and the first such cell."""

    name: str
    kind: Kind
    place: int
    cell: Any
    meaning: Meaning | None


class Gap(NamedTuple):
    """A column with values that are missing or infinite, and the first of them."""

    name: str
    missing: int
    infinite: int
    place: int
    cell: Any


def refuse_words(columns: Columns, refused: Sequence[Refused], encode: str | None) -> None:
    """Raise `InvalidInputError` if there is a column that cannot be made numbers."""
    if refused:
        raise _no_numbers(columns, refused, _remedies(refused, encode, columns.whole))


def refuse_other_words(columns: Columns, refused: Sequence[Refused]) -> None:
    """Raise it if columns of another file are not numbers, or dates, as those of the first were."""
    numbers = [r for r in refused if r.kind is Kind.NUMBERS]
    others = [r for r in refused if r.kind is not Kind.NUMBERS]
    if others:
        last = (
            "They were numbers or dates when they were clustered: correct these cells, or name the "
            "decimal mark (--decimal)."
        )
        raise _no_numbers(columns, others, [*_of_numbers(others), last])
    if numbers:
        last = "They were dates when they were clustered: write them as 2024-12-31."
        raise _no_numbers(columns, numbers, [last], what="dates")


def _no_numbers(
    columns: Columns, refused: Sequence[Refused], remedies: Iterable[str], what: str = "numbers"
) -> InvalidInputError:
    words = [f"{r.name!r} ({columns.at(r.place)}: {shown(r.cell)})" for r in refused]
    many = "a column that does" if len(words) == 1 else f"{len(words)} columns that do"
    return InvalidInputError(
        f"{columns.source.name!r} has {many} not hold {what}: {listed(words)}. {' '.join(remedies)}"
    )


def _of_numbers(refused: Sequence[Refused], of_frame: bool = False) -> Iterable[str]:
    """What to do about numbers that are not written plainly, or not everywhere."""
    kinds = {kind: [r for r in refused if r.kind is kind] for kind in Kind}
    if of_frame and kinds[Kind.FOREIGN_NUMBERS]:
        yield "Make columns of such numbers floats first: with a point, and no other marks."
    else:
        yield from _marks(kinds[Kind.FOREIGN_NUMBERS])
    for r in kinds[Kind.MOSTLY_NUMBERS]:
        assert r.meaning is not None
        odd = [
            word
            for word, value in zip(r.meaning.words, r.meaning.values, strict=True)
            if value != value and word not in r.meaning.silent
        ]
        yield (
            f"{r.name!r} holds numbers but for {listed(map(shown, odd), most=5)}: correct or empty "
            "those cells."
        )


def _remedies(refused: Sequence[Refused], encode: str | None, of_frame: bool) -> Iterable[str]:
    """What to do, kind by kind, and last what helps in any case."""
    yield from _of_numbers(refused, of_frame)
    kinds = {kind: [r for r in refused if r.kind is kind] for kind in Kind}
    if kinds[Kind.AMBIGUOUS_DATES]:
        names = listed(repr(r.name) for r in kinds[Kind.AMBIGUOUS_DATES])
        yield f"Day and month of {names} cannot be told apart: write dates as 2024-12-31."
    if kinds[Kind.DATES]:
        names = listed(repr(r.name) for r in kinds[Kind.DATES])
        yield f"Dates ({names}) become days since the first with encode='dates' (--encode dates)."
    if kinds[Kind.CATEGORIES] and encode not in ("onehot", "mixed"):
        yield (
            f"Categories ({listed(map(_with_words, kinds[Kind.CATEGORIES]))}) are taken as such "
            "with encode='mixed' (--encode mixed), or become numbers with encode='onehot' "
            "(--encode onehot)."
        )
    if kinds[Kind.TEXT] and encode in ("onehot", "mixed"):
        yield (
            f"A column of categories has at most {MOST_CATEGORIES} different words, and on "
            "average each of them twice."
        )
    if of_frame:
        first = [r.name for r in refused[:3]]
        more = ", ..." * (len(refused) > len(first))
        yield (
            f"Leave columns out (X.drop(columns=[{', '.join(map(repr, first))}{more}])); make "
            "identifiers the index of the frame, and give known groups as truth."
        )
        return
    yield (
        "Leave columns out with ignore (--ignore); name identifiers with id_column and known "
        "groups with truth_column (on the command line --id-column, --truth-column)."
    )


def _marks(refused: Sequence[Refused]) -> Iterable[str]:
    if not refused:
        return
    words = [word for r in refused if r.meaning for word in r.meaning.said[:1000]]
    if any(set(word) & set("$€£¥%") for word in words):
        yield "Write numbers without signs of currency or percent."
        return
    marks = {mark for word in words for mark in foreign_number(word) if "," in word}
    if "," in marks:
        yield (
            "Write decimal numbers with a point, not a comma, or say decimal=',' (--decimal ,) "
            "to have commas read so."
        )
    if "." in marks or any(set(word) & set(" '\u00a0\u2009\u202f\u2019") for word in words):
        yield "If marks between digits group thousands, say decimal='.' (--decimal .)."


def _with_words(refused: Refused) -> str:
    words = refused.meaning.said if refused.meaning else []
    few = [shown(word, 20) for word in words[:3]] + ["..."] * (len(words) > 3)
    return f"{refused.name!r}: {', '.join(few)}"


def refuse_gaps(columns: Columns, gaps: Sequence[Gap], rows: int, remedy: str) -> None:
    """Raise `InvalidInputError` if there are gaps, in so many rows."""
    if not gaps:
        return
    if columns.whole and remedy is FILL_IN:
        remedy = _FILL_IN_FRAME
    words = []
    for gap in gaps:
        counts = {"missing": gap.missing, "infinite": gap.infinite}
        kinds = listed(f"{count} {word}" for word, count in counts.items() if count)
        words.append(
            f"{gap.name!r} has {kinds} (first on {columns.at(gap.place)}: {shown(gap.cell)})"
        )
    raise InvalidInputError(
        f"{columns.source.name!r} has values that are missing or infinite, in {rows} of its "
        f"{columns.n_objects} rows: {listed(words)}. {remedy}"
    )


def no_finite_rows(columns: Columns) -> InvalidInputError:
    """The error for a table of which no row would be left."""
    return InvalidInputError(
        f"Every row of {columns.source.name!r} has a value that is missing or infinite: none would "
        "be left. Fill them in with impute='median' (--impute median), or leave out the columns "
        "that are mostly empty with ignore (--ignore)."
    )
