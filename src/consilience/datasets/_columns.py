"""Columns of a file as they grow block by block: numbers in rows, words as codes.

A column is read as numbers or as words. Numbers lie in one row-major block, 8 bytes each;
where a cell says nothing there is a NaN. Words are kept once each.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, plural

__all__ = ["Coded", "Columns", "Floats", "Part", "Words"]

Floats = NDArray[np.float64]


class Words:
    """One column of words: a code a cell, and the different words in order of appearance."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._known: dict[Any, int] = {}

    def add(self, cells: Iterable[Any]) -> None:
        """Append cells; blanks around text do not count."""
        known = self._known
        self._codes.extend(
            known.setdefault(cell.strip() if isinstance(cell, str) else cell, len(known))
            for cell in cells
        )

    def add_codes(self, words: Sequence[Any], codes: NDArray[Any]) -> None:
        """Append cells given as codes into ``words``, which may come in any order."""
        known = self._known
        # Numbered by first appearance in the file, so that no reader changes the order.
        _, first = np.unique(codes, return_index=True)
        to_ours = np.zeros(len(words), np.intc)
        for code in codes[np.sort(first)].tolist():
            word = words[code]
            stripped = word.strip() if isinstance(word, str) else word
            to_ours[code] = known.setdefault(stripped, len(known))
        self._codes.frombytes(to_ours[codes].tobytes())

    @property
    def words(self) -> list[Any]:
        """The different words."""
        return list(self._known)

    @property
    def codes(self) -> NDArray[np.intc]:
        """Place in `words` of each object's word."""
        return np.frombuffer(self._codes, np.intc)

    def first_row(self, code: int) -> int:
        """The first object that has a word."""
        return int(np.argmax(self.codes == code))

    def cells(self) -> NDArray[Any]:
        """The words object by object, as text where all are text."""
        words = self.words
        if all(isinstance(word, str) for word in words):
            return np.array(words, np.str_)[self.codes]
        return np.asarray([words[code] for code in self.codes.tolist()])


class Coded(NamedTuple):
    """Words of a block as codes into a list of them, in any order."""

    words: list[Any]
    codes: NDArray[Any]


@dataclass
class Part:
    """A block of rows: floats or words of each column read, and where the rows stand.

    ``gaps`` has, for columns with a value that is missing or infinite, the row in the block
    and the cell of the first.
    """

    numbers: dict[int, Floats]
    words: dict[int, Any]
    places: NDArray[np.int64]
    gaps: dict[int, tuple[int, Any]] = field(default_factory=dict)
    turned: set[int] = field(default_factory=set)


@dataclass
class Columns:
    """A file's columns by position: those in ``numeric`` as numbers, those in ``text`` as words.

    ``turned`` are columns read as numbers in which words were found; ``days`` those whose
    numbers are days of a calendar; ``categories`` those whose words are categories even if they
    look like numbers; ``place`` is what a row stands on, 'line' or 'row'; ``whole`` says that no
    row may be left out: those of a frame are known by their place.
    """

    source: Path
    names: list[str]
    numeric: list[int]
    text: list[int]
    place: str
    notes: list[str] = field(default_factory=list)
    gaps: dict[int, tuple[int, Any]] = field(default_factory=dict)
    turned: set[int] = field(default_factory=set)
    days: set[int] = field(default_factory=set)
    categories: set[int] = field(default_factory=set)
    whole: bool = False
    words: dict[int, Words] = field(init=False)
    slots: dict[int, int] = field(init=False)  # which column of the matrix
    # A growing array('d') is enlarged in place where numpy would need a second copy.
    _values: "array[float]" = field(init=False, default_factory=lambda: array("d"))
    _matrix: Floats | None = field(init=False, default=None)
    _places: list[NDArray[np.int64]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.words = {j: Words() for j in self.text}
        self.slots = {j: slot for slot, j in enumerate(self.numeric)}

    def note_spans(self, names: Sequence[str]) -> None:
        """Note columns that hold spans of time."""
        if names:
            self.notes.append(
                f"{plural(len(names), 'column')} of {self.source.name!r} with spans of time "
                f"({listed(map(repr, names))}): read as days."
            )

    def add(self, part: Part) -> None:
        """Append a block of rows."""
        self._places.append(part.places)
        self.turned |= part.turned
        if self.numeric and not self.turned:  # what was read in vain is not kept
            block = np.column_stack([part.numbers[j] for j in self.numeric])
            self._values.frombytes(np.ascontiguousarray(block, np.float64).data.cast("B"))
        for j, cells in part.words.items():
            if isinstance(cells, Coded):
                self.words[j].add_codes(cells.words, cells.codes)
            else:
                self.words[j].add(cells)
        for j, (row, cell) in part.gaps.items():
            self.gaps.setdefault(j, (int(part.places[row]), cell))

    @property
    def n_objects(self) -> int:
        """Number of rows so far."""
        return sum(map(len, self._places))

    def places(self) -> NDArray[np.int64]:
        """The line or row of the file that each object stands on, from 1."""
        return np.concatenate(self._places)

    def at(self, place: int) -> str:
        """Where an object stands, in words: its row counted from 0, as in results.

        Of a text file also its line, counted from 1, as editors do.
        """
        row = int(np.searchsorted(self.places(), place))
        return f"line {place}, row {row}" if self.place == "line" else f"row {row}"

    def take(self, matrix: Floats) -> None:
        """Have all numbers at once, one row an object; they are not copied."""
        self._matrix = matrix
        self._places.append(np.arange(1, len(matrix) + 1))
        if np.isfinite(matrix).all():
            return
        for j, column in zip(self.numeric, matrix.T, strict=True):
            finite = np.isfinite(column)
            if not finite.all():
                row = int(np.argmin(finite))
                self.gaps[j] = (row + 1, float(column[row]))

    def matrix(self) -> Floats:
        """The numbers, one row an object, one column for each of ``numeric``."""
        if self._matrix is not None:
            return self._matrix
        values = np.frombuffer(self._values, np.float64) if self._values else np.empty(0)
        return values.reshape(self.n_objects, len(self.numeric))

    def column(self, j: int) -> Floats:
        """The numbers of one column; changes to them change the matrix."""
        return self.matrix()[:, self.slots[j]]
