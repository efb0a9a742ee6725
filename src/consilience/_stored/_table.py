"""What a table outside memory is: it knows its shape and hands out rows, checked as they are read.

Every block is checked when it is read: its columns, its types, that all numbers are finite;
messages name the block and the row. How a kind of file is read stands beside this module.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, shown
from consilience.errors import ClusterLostError, InvalidInputError
from consilience.kernels._blocks import BLOCK_ROWS

__all__ = [
    "BLOCK",
    "UNREADABLE",
    "Floats",
    "Stored",
    "kept_names",
    "number_type",
    "piece_rows",
    "refuse_names",
    "size_in_words",
]

Floats = NDArray[np.floating[Any]]

#: Numbers read together: 32 MB of float64.
BLOCK = 2**22

# What reading a damaged block ends in: Arrow has errors of its own, codecs of zarr run-time errors.
UNREADABLE = (
    TypeError,
    ValueError,
    OSError,
    EOFError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
)


def piece_rows(n_columns: int) -> int:
    """Rows read together: as many as `BLOCK` numbers, in logical blocks and a power of two of them.

    Sums over such a piece are nodes of the tree of `consilience.kernels._blocks`, so that its
    size changes no result.

    >>> piece_rows(10), piece_rows(10**9)
    (262144, 4096)
    """
    rows = BLOCK_ROWS
    while 2 * rows * max(n_columns, 1) <= BLOCK:
        rows *= 2
    return rows


class Stored(ABC):
    """A table of finite numbers that is read when it is needed, some rows at a time.

    Attributes
    ----------
    shape : (int, int)
        Objects and columns.
    dtype : dtype
        float32 if all columns are; float64 otherwise.
    names : tuple of str or None
        Of the columns.
    what : str
        The table as messages name it.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: Any,
        *,
        names: tuple[str, ...] | None = None,
        what: str,
    ) -> None:
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self.names = names
        self.what = what

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        """Rows by a slice, by their numbers or by a mask, as those of an array."""
        if not isinstance(rows, slice):
            return self.take(rows)
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            return self.take(np.arange(start, stop, step))
        return self.read(start, max(start, stop))

    def __repr__(self) -> str:
        return f"{type(self).__name__.strip('_')}({self.what}, {self.shape[0]} x {self.shape[1]})"

    @abstractmethod
    def _read(self, start: int, stop: int) -> Any:
        """Rows start..stop-1 as they are stored."""

    @abstractmethod
    def where(self, row: int) -> str:
        """In which part of the store a row lies, in words."""

    def pieces(self) -> list[tuple[int, int]]:
        """First row of every piece, and the row after its last."""
        step = piece_rows(self.shape[1])
        return [(a, min(a + step, self.shape[0])) for a in range(0, self.shape[0], step)]

    @property
    def base(self) -> "Stored":
        """What is behind all views: the table that is stored."""
        return self

    def read(self, start: int, stop: int) -> Floats:
        """Rows start..stop-1, checked, in C order."""
        with self._naming(start):
            block = self.base._read(start, stop)
        return self.made_of(block, start, stop)

    @contextmanager
    def _naming(self, row: int) -> Iterator[None]:
        """What cannot be read is said with its row."""
        try:
            yield
        except (ClusterLostError, InvalidInputError):  # which say it themselves
            raise
        except UNREADABLE as error:  # rows of different lengths, damaged pages, a file gone
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise self._unreadable(row, why.rstrip(".")) from error

    def made_of(self, block: Any, start: int, stop: int) -> Floats:
        """Rows start..stop-1 from what is stored of them, checked: here or where the block is."""
        try:
            values = np.asarray(block)
        except ValueError as error:
            raise self._unreadable(start, str(error).splitlines()[0]) from error
        if values.shape != (stop - start, self.shape[1]):
            raise self._unreadable(
                start,
                f"it holds {size_in_words(values.shape)} where {stop - start} rows of "
                f"{self.shape[1]} columns were expected",
            )
        if values.dtype.kind not in "biuf":
            raise self._unreadable(start, f"it holds values of type {values.dtype}, not numbers")
        values = np.ascontiguousarray(values, self.dtype)
        self._check_finite(values, start)
        return values

    def take(self, objects: Any) -> Floats:
        """Rows of these objects, in the order given: by one pass over the pieces they lie in."""
        chosen = self._numbers(objects)
        out: Floats = np.empty((len(chosen), self.shape[1]), self.dtype)
        order = np.argsort(chosen, kind="stable")
        ranked = chosen[order]
        for start, stop in self.pieces():
            first, last = np.searchsorted(ranked, (start, stop))
            if first < last:
                out[order[first:last]] = self.read(start, stop)[ranked[first:last] - start]
        return out

    def _numbers(self, objects: Any) -> NDArray[np.int64]:
        """Numbers of rows, counted from the first, of what chooses some as in an array."""
        n, chosen = len(self), np.asarray(objects)
        if chosen.dtype == bool and chosen.shape == (n,):
            return np.flatnonzero(chosen)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise InvalidInputError(
                f"Rows of {self.what} are chosen by a list of numbers, or a mask with one value "
                f"for each of the {n} rows. Got {shown(objects)} instead."
            )
        numbers = chosen.astype(np.int64)
        numbers[numbers < 0] += n
        outside = np.flatnonzero((numbers < 0) | (numbers >= n))
        if outside.size:
            raise InvalidInputError(
                f"{self.what} has {n} rows, numbered from 0. Got the number "
                f"{chosen[outside[0]]} among those to be taken."
            )
        return numbers

    def in_its_blocks(self, values: NDArray[Any]) -> Any:
        """One value an object, in the form and the blocks of the table: of Dask a Dask array."""
        return values

    def mapped(
        self,
        call: Callable[[Floats], Floats],
        n_columns: int | None = None,
        *,
        names: tuple[str, ...] | None = None,
        dtype: Any = np.float64,
    ) -> "Stored":
        """The rows as a function of rows makes them, when they are read."""
        width = self.shape[1] if n_columns is None else n_columns
        return _Mapped(self, call, width, names, dtype)

    def _check_finite(self, block: Floats, start: int) -> None:
        # One sum tells, unless it leaves the range of numbers itself.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):
                return
        odd = ~np.isfinite(block)
        if not odd.any():
            return
        row, column = (int(i) for i in np.argwhere(odd)[0])
        name = f"{self.names[column]!r}" if self.names else f"{column}"
        raise InvalidInputError(
            f"{self.what} must hold finite numbers only. Got {block[row, column]} in row "
            f"{start + row}, column {name} ({self.where(start + row)}; counted from 0). Leave "
            "such rows out, or fill in a value, before clustering."
        )

    def _unreadable(self, row: int, why: str) -> InvalidInputError:
        return InvalidInputError(
            f"{self.what} cannot be read at row {row} ({self.where(row)}; counted from 0): {why}."
        )


class _Mapped(Stored):
    """The rows of another table as a function makes them: scaled, or of unit length."""

    def __init__(
        self,
        source: Stored,
        call: Callable[[Floats], Floats],
        width: int,
        names: tuple[str, ...] | None,
        dtype: Any,
    ) -> None:
        super().__init__((source.shape[0], width), dtype, names=names, what=source.what)
        self.source, self.call = source, call

    @property
    def base(self) -> Stored:
        """See `Stored.base`."""
        return self.source.base

    def _read(self, start: int, stop: int) -> Any:
        return self.source._read(start, stop)

    def made_of(self, block: Any, start: int, stop: int) -> Floats:
        """See `Stored.made_of`."""
        return super().made_of(self.call(self.source.made_of(block, start, stop)), start, stop)

    def take(self, objects: Any) -> Floats:
        """See `Stored.take`."""
        return np.ascontiguousarray(self.call(self.source.take(objects)), self.dtype)

    def in_its_blocks(self, values: NDArray[Any]) -> Any:
        """See `Stored.in_its_blocks`."""
        return self.source.in_its_blocks(values)

    def pieces(self) -> list[tuple[int, int]]:
        """As those of the table behind it: these are read."""
        return self.source.pieces()

    def where(self, row: int) -> str:
        """In which part of the store a row lies."""
        return self.source.where(row)


def refuse_names(ignore: Sequence[str], what: str) -> None:
    if ignore:
        raise InvalidInputError(
            f"{what} has no names of columns, and {listed(map(repr, ignore))} cannot be left out."
        )


def kept_names(names: Sequence[str], ignore: Sequence[str], what: str) -> list[str]:
    """Names of the columns that are read; raises if one to be left out is not there."""
    absent = [name for name in ignore if name not in names]
    if absent:
        raise InvalidInputError(
            f"{what} has no column {listed(map(repr, absent))} to be left out. Its columns are "
            f"{listed(map(repr, names), most=20)}."
        )
    return [name for name in names if name not in ignore]


def number_type(kinds: Sequence[Any], what: str) -> np.dtype[Any]:
    """The type of a table with columns of these types."""
    for kind in kinds:
        if np.dtype(kind).kind not in "biuf":
            raise InvalidInputError(f"{what} must hold numbers. Got values of type {kind} instead.")
    single = all(np.dtype(kind) == np.float32 for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


def size_in_words(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} rows of {shape[1]} columns" if len(shape) == 2 else f"the shape {shape}"
