"""Arrays that are sliced by rows: memory maps, zarr arrays, data sets of HDF5."""

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience._maps import let_go
from consilience._stored._table import Floats, Stored, number_type, piece_rows
from consilience.errors import InvalidInputError

__all__ = ["Sliced", "is_sliced", "mapped_file"]


def is_sliced(X: Any) -> bool:
    """Whether this hands out rows by slices and knows its shape and type: zarr, HDF5."""
    shape = getattr(X, "shape", None)
    known = isinstance(shape, tuple) and len(shape) == 2 and hasattr(X, "dtype")
    return known and hasattr(X, "__getitem__") and not hasattr(X, "tocsr")


def mapped_file(values: "np.memmap[Any, Any]", what: str, names: tuple[str, ...] | None) -> Stored:
    """A table in a file of plain numbers, of which this is a map as a whole."""
    return Sliced(values, what=what, names=names, is_file=True)


class Sliced(Stored):
    """An array that is sliced: a memory map, a zarr array, a data set of HDF5."""

    def __init__(
        self,
        values: Any,
        *,
        what: str,
        names: tuple[str, ...] | None = None,
        is_file: bool = False,
        again: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
    ) -> None:
        if len(values.shape) != 2:
            raise InvalidInputError(
                f"{what} must have two dimensions, objects x columns. Got shape {values.shape}."
            )
        super().__init__(values.shape, number_type([values.dtype], what), names=names, what=what)
        self._values, self._again = values, again
        chunks = getattr(values, "chunks", None)
        self._chunk = chunks[0] if chunks else piece_rows(self.shape[1])
        if is_file:
            order = "C" if values.flags.c_contiguous else "F"
            how = (values.filename, values.dtype, "r", values.offset, values.shape, order)
            self._again = (np.memmap, how)

    def __getstate__(self) -> dict[str, Any]:
        # How it is opened instead of all numbers: whoever gets it opens it again. An open array of
        # zarr would do, but where its folder is missing it reads as zeros.
        return self.__dict__ if self._again is None else self.__dict__ | {"_values": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._again is not None:
            self._values = _OpenedAgain(*self._again)

    def _read(self, start: int, stop: int) -> Any:
        let_go(self._values)  # what was read before
        return self._values[start:stop]

    def where(self, row: int) -> str:
        """In which chunk, or which piece as it is read, a row lies."""
        return f"block {row // self._chunk} of {self._chunk} rows"

    def take(self, objects: Any) -> Floats:
        """See `Stored.take`; a memory map goes to the rows themselves."""
        if not isinstance(self._values, np.ndarray):
            return super().take(objects)
        numbers = self._numbers(objects)
        block = np.ascontiguousarray(self._values[numbers], self.dtype)
        let_go(self._values)
        for at in np.flatnonzero(~np.isfinite(block).all(axis=1))[:1]:
            self._check_finite(block[at : at + 1], int(numbers[at]))
        return block


class _OpenedAgain:
    """A file that is opened when something is read of it, to be refused there."""

    def __init__(self, call: Callable[..., Any], how: tuple[Any, ...]) -> None:
        self._call, self._how = call, how
        self._values: Any = None

    def __getitem__(self, rows: Any) -> Any:
        if self._values is None:
            self._values = self._call(*self._how)
        let_go(self._values)
        return self._values[rows]
