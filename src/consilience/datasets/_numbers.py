"""Numbers gathered block by block, and what stands where numbers should be.

Nothing is refused on the way: one error at the end lists every column that cannot be used.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.datasets._csv import MISSING, number
from consilience.datasets._files import listed, shown
from consilience.errors import InvalidInputError

Floats = NDArray[np.float64]
# Words that may well be the name of a group.
_NAMES_TOO = {"none", "?"}


@dataclass
class _Trouble:
    """What is wrong with one column; places are lines or rows of the file."""

    text: tuple[int, object] | None = None
    missing: int = 0
    infinite: int = 0
    first: tuple[int, object] | None = None


@dataclass
class Numbers:
    """Columns of numbers that grow block by block; places are lines or rows of the file."""

    names: list[str]
    # A growing array('d') is enlarged in place where numpy would need a second copy.
    values: "array[float]" = field(default_factory=lambda: array("d"))
    troubles: dict[str, _Trouble] = field(default_factory=dict)

    def add(self, columns: Sequence[Floats]) -> None:
        """Append a block given column by column; nothing is kept once a column was refused."""
        if not self.troubles:
            self.values.frombytes(np.column_stack(columns).tobytes())

    def parse(self, name: str, cells: Sequence[str], places: Sequence[int]) -> Floats:
        """A column of text as numbers; cells that are none become NaN and are noted."""
        try:
            if "_" in "".join(cells):
                raise ValueError
            values = np.array(list(map(float, cells)))
        except ValueError:
            values = np.full(len(cells), math.nan)
            for i, cell in enumerate(cells):
                value = number(cell)
                if value is not None:
                    values[i] = value
                elif cell.strip().lower() not in MISSING:
                    self.refuse_column(name, cell, places[i])
        self.check(name, values, cells, places)
        return values

    def refuse_column(self, name: str, value: object, place: int) -> None:
        """Note that a column holds something that is no number; the first is remembered."""
        trouble = self._trouble(name)
        trouble.text = trouble.text or (place, value)

    def check(self, name: str, values: Floats, cells: Sequence[Any], places: Sequence[int]) -> None:
        """Note values that are not finite; ``cells`` are what the file says there."""
        finite = np.isfinite(values)
        if finite.all():
            return
        trouble = self._trouble(name)
        trouble.missing += int(np.isnan(values).sum())
        trouble.infinite += int(np.isinf(values).sum())
        first = int(np.argmin(finite))
        trouble.first = trouble.first or (places[first], cells[first])

    def check_words(self, name: str, words: Sequence[Any], places: Sequence[int]) -> None:
        """Note missing values in a column of known groups."""
        for word, place in zip(words, places, strict=True):
            if word is None or str(word).lower() in MISSING - _NAMES_TOO:
                trouble = self._trouble(name)
                trouble.missing += 1
                trouble.first = trouble.first or (place, word)

    def table(self, source: Path, place: str) -> Floats:
        """All numbers, one row an object, or an error that lists every column refused."""
        self.refuse(source, place)
        return np.frombuffer(self.values, np.float64).reshape(-1, len(self.names))

    def refuse(self, source: Path, place: str) -> None:
        """Raise `InvalidInputError` if anything was noted; ``place`` is 'line' or 'row'."""
        _refuse_text(source, place, self.troubles)
        _refuse_gaps(source, place, self.troubles)

    def _trouble(self, name: str) -> _Trouble:
        return self.troubles.setdefault(name, _Trouble())


def _refuse_text(source: Path, place: str, troubles: dict[str, _Trouble]) -> None:
    found = {name: t.text for name, t in troubles.items() if t.text is not None}
    if not found:
        return
    examples = [f"{name!r} ({place} {at}: {shown(what)})" for name, (at, what) in found.items()]
    many = "a column that does" if len(found) == 1 else f"{len(found)} columns that do"
    comma = any(_has_decimal_comma(str(what)) for _, what in found.values())
    raise InvalidInputError(
        f"{source.name!r} has {many} not hold numbers: {listed(examples)}. "
        f"{'Write decimal numbers with a point, not a comma. ' if comma else ''}"
        "Drop columns of text or encode categories as numbers; name identifiers with id_column "
        "and known groups with truth_column (on the command line --id-column, --truth-column)."
    )


def _has_decimal_comma(cell: str) -> bool:
    return cell.count(",") == 1 and number(cell.replace(",", ".")) is not None


def _refuse_gaps(source: Path, place: str, troubles: dict[str, _Trouble]) -> None:
    if not troubles:
        return
    words = []
    for name, t in troubles.items():
        counts = (f"{t.missing} missing", f"{t.infinite} infinite")
        kinds = listed(compress(counts, (t.missing, t.infinite)))
        at, what = t.first or (0, "")
        words.append(f"{name!r} has {kinds} (first on {place} {at}: {shown(what)})")
    raise InvalidInputError(
        f"{source.name!r} has values that are missing or infinite: {listed(words)}. Fill them "
        "in, or leave out those rows or columns."
    )
