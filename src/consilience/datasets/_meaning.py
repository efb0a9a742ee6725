"""What a column of words holds: numbers after all, yes and no, dates, categories, or text.

Decided on the different words, of which there are few in most columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.datasets._cells import (
    NO_NUMBER,
    NO_WORD,
    Decimal,
    foreign_number,
    number,
    undecorated,
)
from consilience.datasets._columns import Floats, Words
from consilience.datasets._dates import read_days

__all__ = ["MOST_CATEGORIES", "Kind", "Meaning", "meaning_of"]

# Each category becomes a column of 8 bytes an object.
MOST_CATEGORIES = 100
_FEW = 10
_YES_AND_NO = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"))


class Kind(Enum):
    """What the words of a column are."""

    NUMBERS = "numbers"
    MOSTLY_NUMBERS = "mostly numbers"
    FOREIGN_NUMBERS = "numbers with other marks"
    BOOLEANS = "yes and no"
    DATES = "dates"
    AMBIGUOUS_DATES = "dates whose days and months cannot be told apart"
    CATEGORIES = "categories"
    TEXT = "text"


@dataclass(frozen=True)
class Meaning:
    """What a column of words holds.

    Attributes
    ----------
    kind : Kind
        What the words are.
    words : list
        The different words.
    missing : ndarray of bool
        Which of them say nothing.
    values : ndarray of float64
        The number each word stands for; NaN where it is missing or the kind has no numbers.
    odd : int
        The first word that is no number; of numbers, 0.
    sign : str
        That of percent or a currency, where every number has it.
    """

    kind: Kind
    words: list[Any]
    missing: NDArray[np.bool_]
    values: Floats
    odd: int
    sign: str = ""

    @property
    def may_be_categories(self) -> bool:
        """Whether the words are few enough to stand for categories."""
        few = self.kind is Kind.MOSTLY_NUMBERS and len(self.said) <= _FEW
        return self.kind is Kind.CATEGORIES or few

    @property
    def silent(self) -> set[Any]:
        """The words that say nothing."""
        return {word for word, gone in zip(self.words, self.missing, strict=True) if gone}

    @property
    def said(self) -> list[str]:
        """The words that say something."""
        return [word for word, gone in zip(self.words, self.missing, strict=True) if not gone]


def meaning_of(column: Words, decimal: Decimal | None, *, categories: bool = False) -> Meaning:
    """What a column of words holds: ``categories`` if that is known, else what the words tell."""
    words = column.words
    if categories:
        return _categories(words)
    plain = np.array([_number(word, decimal) for word in words], np.float64)
    silent = np.array([_is_missing(word, NO_NUMBER) for word in words], bool)
    numeric = ~np.isnan(plain) & ~silent
    if (numeric | silent).all():
        return Meaning(Kind.NUMBERS, words, silent, plain, 0)
    missing = np.array([_is_missing(word, NO_WORD) for word in words], bool)
    said = np.flatnonzero(~missing)
    values = np.full(len(words), np.nan)
    texts = [word for word, gone in zip(words, silent, strict=True) if not gone]
    signed = undecorated(texts, decimal) if all(isinstance(w, str) for w in texts) else None
    if signed is not None:
        sign, numbers = signed
        values[~silent] = numbers
        return Meaning(Kind.NUMBERS, words, silent, values, 0, sign)
    kind, known = _kind([words[i] for i in said.tolist()], numeric[said])
    if known is not None:
        values[said] = known
    if kind is Kind.MOSTLY_NUMBERS:
        missing, values = silent, plain
    odd = np.flatnonzero(~numeric & ~silent)
    return Meaning(kind, words, missing, values, int(odd[0]))


def _categories(words: list[Any]) -> Meaning:
    missing = np.array([_is_missing(word, NO_WORD) for word in words], bool)
    kind = Kind.CATEGORIES if (~missing).sum() <= MOST_CATEGORIES else Kind.TEXT
    return Meaning(kind, words, missing, np.full(len(words), np.nan), int(np.argmin(missing)))


def _number(word: Any, decimal: Decimal | None) -> float:
    if isinstance(word, int | float):  # of Parquet files
        return float(word)
    value = number(word, decimal) if isinstance(word, str) else None
    return np.nan if value is None else value


def _is_missing(word: Any, missing: frozenset[str]) -> bool:
    return word is None or (isinstance(word, str) and word.lower() in missing)


def _kind(words: Sequence[str], numeric: NDArray[np.bool_]) -> tuple[Kind, Floats | None]:
    """The kind of words that say something, and their numbers where the kind has some."""
    lower = [word.lower() if isinstance(word, str) else str(word) for word in words]
    for yes, no in _YES_AND_NO:
        if {*lower} <= {yes, no}:
            return Kind.BOOLEANS, np.array([word == yes for word in lower], np.float64)
    if not all(isinstance(word, str) for word in words):
        return Kind.TEXT, None
    dates = read_days(words)
    if dates is not None:
        return (Kind.AMBIGUOUS_DATES if dates.days is None else Kind.DATES), dates.days
    others = [word for word, plain in zip(words, numeric, strict=True) if not plain]
    if 2 * sum(bool(foreign_number(word)) for word in others) > len(others):
        return Kind.FOREIGN_NUMBERS, None
    if 2 * numeric.sum() >= len(words):
        return Kind.MOSTLY_NUMBERS, None
    return (Kind.CATEGORIES if len(words) <= MOST_CATEGORIES else Kind.TEXT), None
