"""Tables that are not in memory: files and Dask arrays, read block by block and never whole.

A `Stored` table knows its shape and hands out the rows from one number to another. Which file it
is, and how such files are read, is known here and nowhere else. Every block is checked when it is
read: its columns, its types, that all numbers are finite; messages name the block and the row.
"""

import asyncio
import concurrent.futures
import sys
import tokenize
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience._optional import optional
from consilience._words import listed
from consilience.errors import ClusterLostError, InvalidInputError, MissingFileError
from consilience.kernels._blocks import BLOCK_ROWS

__all__ = [
    "BLOCK",
    "Stored",
    "here",
    "is_dask",
    "is_table_path",
    "lost_cluster",
    "mapped_file",
    "open_stored",
    "piece_rows",
    "read_by_workers",
]

Floats = NDArray[np.floating[Any]]

#: Numbers read together: 32 MB of float64.
BLOCK = 2**22

_ENDINGS = (".npy", ".parquet", ".zarr")
# What reading a damaged block ends in: Arrow has errors of its own, codecs of zarr run-time errors.
_UNREADABLE = (
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
        """Rows by a slice without steps, by their numbers or by a mask, as those of an array."""
        if not isinstance(rows, slice):
            return self.take(rows)
        start, stop, _ = rows.indices(self.shape[0])
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
        except _UNREADABLE as error:  # rows of different lengths, damaged pages, a file gone
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
                f"it holds {_size(values.shape)} where {stop - start} rows of {self.shape[1]} "
                "columns were expected",
            )
        if values.dtype.kind not in "biuf":
            raise self._unreadable(start, f"it holds values of type {values.dtype}, not numbers")
        values = np.ascontiguousarray(values, self.dtype)
        self._check_finite(values, start)
        return values

    def take(self, objects: Any) -> Floats:
        """Rows of these objects, in the order given: by one pass over the pieces they lie in."""
        chosen = np.asarray(objects)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        out: Floats = np.empty((len(chosen), self.shape[1]), self.dtype)
        order = np.argsort(chosen, kind="stable")
        ranked = chosen[order]
        for start, stop in self.pieces():
            first, last = np.searchsorted(ranked, (start, stop))
            if first < last:
                out[order[first:last]] = self.read(start, stop)[ranked[first:last] - start]
        return out

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


def open_stored(X: Any, ignore: Sequence[str] = ()) -> Stored | None:
    """What is not in memory as a `Stored` table; None where it is.

    Parameters
    ----------
    X : path, memory map, Dask array or frame, or anything else that is sliced by rows
        A path ends in ``.npy``, ``.parquet`` (a file, or a folder of files, in the order of
        their names) or ``.zarr``.
    ignore : sequence of str
        Columns of a Parquet file or a Dask frame that are not read.
    """
    if isinstance(X, Stored):
        return X
    if isinstance(X, str | PathLike):
        return _of_path(Path(X), ignore)
    if is_dask(X):
        return _of_dask(X, ignore)
    if isinstance(X, np.memmap) or (not isinstance(X, np.ndarray) and _is_sliced(X)):
        _refuse_names(ignore, "X")
        return _Sliced(X, what="X")
    return None


def read_by_workers(table: Stored) -> Stored:
    """A file as a Dask array whose blocks, pieces of it, are read by whoever computes them."""
    if not table.shape[0]:
        return table
    arrays = optional("dask.array", extra="distributed", what="Clustering on a cluster")
    delayed = optional("dask", extra="distributed", what="Clustering on a cluster").delayed
    read = delayed(_read_of, pure=False)
    whole = delayed(table, pure=False, traverse=False)
    parts = [
        arrays.from_delayed(read(whole, a, b), (b - a, table.shape[1]), table.dtype)
        for a, b in table.pieces()
    ]
    return _ReadByWorkers(arrays.concatenate(parts), table)


def _read_of(table: Stored, start: int, stop: int) -> Any:
    with table._naming(start):
        try:
            return table._read(start, stop)
        except FileNotFoundError as error:
            raise InvalidInputError(
                f"A worker cannot open {table.what} ({error}). Put it where all workers find it by "
                "the same path, or leave out the cluster."
            ) from error


def mapped_file(values: "np.memmap[Any, Any]", what: str, names: tuple[str, ...] | None) -> Stored:
    """A table in a file of plain numbers, of which this is a map as a whole."""
    return _Sliced(values, what=what, names=names, is_file=True)


def is_dask(X: Any) -> bool:
    """Whether this is a Dask collection; Dask need not be installed to tell."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "shape")


def here(values: Any) -> NDArray[Any]:
    """One value an object in memory; what `Stored.in_its_blocks` made of it asks no cluster."""
    return np.asarray(values.compute(scheduler="synchronous") if is_dask(values) else values)


def is_table_path(path: str | PathLike[str]) -> bool:
    """Whether a path is one of those that `open_stored` takes, by its ending or as a folder."""
    return Path(path).suffix.lower() in _ENDINGS or Path(path).is_dir()


def _is_sliced(X: Any) -> bool:
    """Whether this hands out rows by slices and knows its shape and type: zarr, HDF5."""
    shape = getattr(X, "shape", None)
    known = isinstance(shape, tuple) and len(shape) == 2 and hasattr(X, "dtype")
    return known and hasattr(X, "__getitem__") and not hasattr(X, "tocsr")


def _of_path(path: Path, ignore: Sequence[str]) -> Stored:
    """The table in a file or folder, by its ending."""
    if not path.exists():
        raise MissingFileError(f"There is no file or folder {str(path)!r}.")
    path = path.absolute()  # workers may have been started in other folders
    ending = path.suffix.lower()
    if ending == ".npy" and path.is_file():
        try:
            values = np.load(path, mmap_mode="r", allow_pickle=False)
        except (*_UNREADABLE, SyntaxError, tokenize.TokenError) as error:  # of its header
            raise InvalidInputError(
                f"{path.name!r} is damaged, or no array of numbers ({error}). Write it with "
                "numpy.save."
            ) from error
        _refuse_names(ignore, repr(path.name))
        return _Sliced(values, what=repr(path.name), is_file=True)
    if ending == ".zarr":
        _refuse_names(ignore, repr(path.name))
        found = _zarr_at(str(path))
        if not _is_sliced(found):
            raise InvalidInputError(
                f"{path.name!r} must hold one array of two dimensions, objects x columns. Got "
                f"{found!r} instead. Name the folder of the array in it."
            )
        return _Sliced(found, what=repr(path.name), again=(_zarr_at, (str(path),)))
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if parts and parts[0].suffix.lower() == ".parquet":
        return _Parquet(parts, what=repr(path.name), ignore=ignore)
    raise InvalidInputError(
        f"{path.name!r} cannot be read block by block: files must end in {listed(_ENDINGS, 'or')}, "
        "and a folder must hold '.parquet' files. Convert other files to Parquet first."
    )


def _zarr_at(path: str) -> Any:
    return optional("zarr", extra="store", what="Reading '.zarr' folders").open(path, mode="r")


def _refuse_names(ignore: Sequence[str], what: str) -> None:
    if ignore:
        raise InvalidInputError(
            f"{what} has no names of columns, and {listed(map(repr, ignore))} cannot be left out."
        )


def _kept(names: Sequence[str], ignore: Sequence[str], what: str) -> list[str]:
    """Names of the columns that are read; raises if one to be left out is not there."""
    absent = [name for name in ignore if name not in names]
    if absent:
        raise InvalidInputError(
            f"{what} has no column {listed(map(repr, absent))} to be left out. Its columns are "
            f"{listed(map(repr, names), most=20)}."
        )
    return [name for name in names if name not in ignore]


def _number_type(kinds: Sequence[Any], what: str) -> np.dtype[Any]:
    """The type of a table with columns of these types."""
    for kind in kinds:
        if np.dtype(kind).kind not in "biuf":
            raise InvalidInputError(f"{what} must hold numbers. Got values of type {kind} instead.")
    single = all(np.dtype(kind) == np.float32 for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} rows of {shape[1]} columns" if len(shape) == 2 else f"the shape {shape}"


class _Sliced(Stored):
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
        super().__init__(values.shape, _number_type([values.dtype], what), names=names, what=what)
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
        chosen = np.asarray(objects)
        numbers = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
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


class _Parquet(Stored):
    """Parquet files one after the other; a cursor reads on where the last block ended."""

    def __init__(self, parts: Sequence[Path], *, what: str, ignore: Sequence[str] = ()) -> None:
        # Row groups of all files in order: their rows, their file, and their number in it.
        self._groups: list[tuple[int, Path, int]] = []
        names: tuple[str, ...] = ()
        kinds: list[Any] = []
        for part in parts:
            with _opened(part) as file:
                found, sizes = file.schema_arrow, file.metadata
                rows = [sizes.row_group(g).num_rows for g in range(file.num_row_groups)]
            self._groups += [(size, part, g) for g, size in enumerate(rows)]
            own = _kept(found.names, ignore, repr(part.name))
            kinds += _arrow_kinds([found.field(name) for name in own], part.name)
            names = names or tuple(own)
            if tuple(own) != names:
                raise InvalidInputError(
                    f"The files of {what} must have the same columns in the same order: "
                    f"{part.name!r} has {listed(map(repr, own))}, {parts[0].name!r} has "
                    f"{listed(map(repr, names))}."
                )
        self._starts = [0, *accumulate(size for size, *_ in self._groups)]
        shape = (self._starts[-1], len(names))
        super().__init__(shape, _number_type(kinds, what), names=names, what=what)
        self._cursor: tuple[int, Iterator[Floats], Floats] | None = None
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_cursor": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def _read(self, start: int, stop: int) -> Floats:
        out: Floats = np.empty((stop - start, self.shape[1]), self.dtype)
        with self._lock:
            if self._cursor is None or self._cursor[0] != start:
                self._cursor = self._from(start)
            row, batches, left = self._cursor
            self._cursor = None  # in case of an error
            while row < stop:
                if not len(left):
                    left = self._next(batches, row)
                some = left[: stop - row]
                out[row - start : row - start + len(some)] = some
                row, left = row + len(some), left[len(some) :]
            self._cursor = (row, batches, left)
        return out

    def _from(self, row: int) -> tuple[int, Iterator[Floats], Floats]:
        """A cursor at a row: the rows of its group before it are read and left out."""
        group = bisect_right(self._starts, row) - 1
        batches = self._batches(group)
        skipped = self._starts[group]
        left = np.empty((0, self.shape[1]), self.dtype)
        while skipped < row:
            left = self._next(batches, skipped)
            over = min(len(left), row - skipped)
            skipped, left = skipped + over, left[over:]
        return row, batches, left

    def _next(self, batches: Iterator[Floats], row: int) -> Floats:
        """The next rows, from this one on."""
        try:
            for batch in batches:
                return batch
        except _UNREADABLE as error:
            if isinstance(error, FileNotFoundError | InvalidInputError):
                raise
            with self._naming(self._damaged(row)):
                raise
        # Their number is written in another place of the file than they are.
        raise ValueError("the file holds fewer rows than it says")

    def _damaged(self, row: int) -> int:
        """First row of the row group that cannot be read, from the group of a row on."""
        for group in range(bisect_right(self._starts, row) - 1, len(self._groups)):
            try:
                for _ in self._batches(group, alone=True):
                    pass
            except _UNREADABLE:
                return self._starts[group]
        return row

    def _batches(self, group: int, *, alone: bool = False) -> Iterator[Floats]:
        """Batches of rows from the start of a row group to the end of the last file, or its own."""
        most = max(1, BLOCK // max(1, 8 * self.shape[1]))
        while group < len(self._groups):
            part = self._groups[group][1]
            same = [g for _, other, g in self._groups[group:] if other == part]
            same = same[:1] if alone else same
            # A buffer: a row group may be as large as the file.
            with _opened(part, buffer_size=1 << 20, pre_buffer=False) as file:
                names = list(self.names or ())
                how = {"row_groups": same, "columns": names, "use_threads": False}
                for batch in file.iter_batches(most, **how):
                    columns = [_numbers(batch.column(name)) for name in names]
                    yield np.stack(columns, axis=1, dtype=self.dtype, casting="same_kind")
            group = len(self._groups) if alone else group + len(same)

    def where(self, row: int) -> str:
        """In which row group of which file a row lies."""
        group = min(bisect_right(self._starts, row), len(self._groups)) - 1
        _, part, number = self._groups[group]
        return f"row group {number} of {part.name!r}"


def _opened(part: Path, **options: Any) -> Any:
    """A Parquet file, to be closed."""
    arrow = optional("pyarrow", extra="store", what="Reading '.parquet' files")
    parquet = optional("pyarrow.parquet", extra="store", what="Reading '.parquet' files")
    try:
        return parquet.ParquetFile(part, **options)
    except FileNotFoundError:  # of a worker that does not have it
        raise
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{part.name!r} is damaged, or no Parquet file: {error}") from error


def _arrow_kinds(schema: Sequence[Any], file: str) -> list[np.dtype[Any]]:
    """Types of the columns of a Parquet file as numpy's; refuses columns that are no numbers."""
    types = optional("pyarrow.types", extra="store", what="Reading '.parquet' files")
    tests = (types.is_integer, types.is_floating, types.is_boolean)
    odd = [field.name for field in schema if not any(test(field.type) for test in tests)]
    if odd:
        raise InvalidInputError(
            f"The columns of {file!r} must hold numbers to be read block by block. "
            f"{listed(map(repr, odd))} {'does' if len(odd) == 1 else 'do'} not: leave "
            "them out, or read a table that fits into memory with "
            "consilience.datasets.read_table, which encodes them."
        )
    return [np.dtype(field.type.to_pandas_dtype()) for field in schema]


def _numbers(cells: Any) -> NDArray[Any]:
    """A column of a batch; NaN where it is null, which is refused when the block is checked."""
    if cells.null_count or str(cells.type) == "bool":
        cells = cells.cast("float32" if str(cells.type) == "float" else "float64", safe=False)
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def _computed(array: Any) -> Any:
    """A part of a Dask array, by the cluster there is, or here where there is none."""
    try:
        return array.compute()
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise lost_cluster(str(error)) from error
    except OSError as error:
        if _client_runs():  # it is an error of the task
            raise
        raise lost_cluster(str(error)) from error
    except RuntimeError as error:
        if "no Client active" not in str(error):
            raise
        # A client that was closed may leave its name among Dask's settings.
        return array.compute(scheduler="threads")


def _client_runs() -> bool:
    """Whether a client is there that its scheduler answers, or none is needed."""
    if "distributed" not in sys.modules:
        return True
    distributed = optional("distributed", extra="distributed", what="Clustering on a cluster")
    try:
        return bool(distributed.default_client().status == "running")
    except ValueError:  # there is none
        return True


def lost_cluster(why: str) -> ClusterLostError:
    """What is said where a scheduler answers no more."""
    return ClusterLostError(
        f"The Dask cluster was lost ({why}). Start it again, make a new client and the array anew, "
        "and call again; members that a run folder holds (run=, checkpoint=) are not made again."
    )


class _Dask(Stored):
    """A Dask array, computed some rows at a time; its engine computes where its blocks are."""

    def __init__(self, array: Any, *, names: tuple[str, ...] | None = None) -> None:
        if array.ndim != 2:
            raise InvalidInputError(
                f"X must have two dimensions, objects x columns. Got shape {array.shape} instead."
            )
        if any(np.isnan(size) for sizes in array.chunks for size in sizes):
            raise InvalidInputError(
                "The blocks of X have unknown sizes, and rows must be counted. Call "
                "X.compute_chunk_sizes() first, or X.to_dask_array(lengths=True) of a frame."
            )
        super().__init__(array.shape, _number_type([array.dtype], "X"), names=names, what="X")
        self.array = array
        self._sizes = tuple(int(size) for size in array.chunks[0])
        self._starts = [0, *accumulate(self._sizes)]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"array": None}  # who gets a copy is given the blocks

    def _read(self, start: int, stop: int) -> Any:
        return _computed(self.array[start:stop])

    def take(self, objects: Any) -> Floats:
        """See `Stored.take`; rows are chosen where the blocks are."""
        chosen = np.asarray(objects)
        numbers = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        order = np.argsort(numbers, kind="stable")
        ranked = numbers[order]
        found = np.asarray(_computed(self.array[ranked]))
        for at in np.flatnonzero(~np.isfinite(found).all(axis=1))[:1]:
            self._check_finite(found[at : at + 1], int(ranked[at]))
        out: Floats = np.empty(found.shape, self.dtype)
        out[order] = found
        return out

    def in_its_blocks(self, values: NDArray[Any]) -> Any:
        """See `Stored.in_its_blocks`."""
        arrays = optional("dask.array", extra="distributed", what="A table of Dask")
        # As a plain array, whose blocks are views; a map of a file would travel whole. Without a
        # name, which would be a hash of all values.
        return arrays.from_array(np.asarray(values), chunks=(self._sizes,), name=False)

    def where(self, row: int) -> str:
        """In which block of the Dask array a row lies."""
        return f"block {min(bisect_right(self._starts, row), len(self._starts) - 1) - 1}"


class _ReadByWorkers(_Dask):
    """The pieces of a file, read where they are computed; named as the file names them."""

    def __init__(self, array: Any, file: Stored) -> None:
        super().__init__(array, names=file.names)
        self.what, self._file = file.what, file

    def where(self, row: int) -> str:
        """See `Stored.where`; of the file."""
        return self._file.where(row)

    def in_its_blocks(self, values: NDArray[Any]) -> Any:
        """See `Stored.in_its_blocks`; the table is a file, and has none."""
        return values


def _of_dask(X: Any, ignore: Sequence[str] = ()) -> Stored:
    """A Dask array or frame."""
    if not hasattr(X, "to_dask_array"):
        _refuse_names(ignore, "X")
        return _Dask(_checked(X))
    if ignore:
        X = X[_kept(list(X.columns), ignore, "X")]
    odd = [str(name) for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if odd:
        raise InvalidInputError(
            f"The columns of X must hold numbers. {listed(map(repr, odd))} "
            f"{'does' if len(odd) == 1 else 'do'} not: encode them, or leave them out."
        )
    names = tuple(X.columns)
    return _Dask(
        _checked(X.to_dask_array(lengths=True)),
        names=names if all(isinstance(name, str) for name in names) else None,
    )


def _checked(array: Any) -> Any:
    """A Dask array whose blocks are looked at when they are made: pieces no longer know them."""
    known = array.ndim == 2 and not any(np.isnan(n) for sizes in array.chunks for n in sizes)
    if not known or array.dtype.kind not in "biuf":
        return array  # which is refused as a whole
    return array.map_blocks(_checked_block, dtype=array.dtype, meta=array._meta)


def _checked_block(block: Any, block_info: Any = None) -> Any:
    """A block, if it has the rows and columns that its array says, and they are numbers."""
    about = block_info[0]
    (start, stop), (first, last) = about["array-location"]
    wrong = None
    if np.shape(block) != (stop - start, last - first):
        expected = f"{stop - start} rows of {last - first} columns were expected"
        wrong = f"it holds {_size(np.shape(block))} where {expected}"
    elif getattr(block, "dtype", np.dtype(float)).kind not in "biuf":
        wrong = f"it holds values of type {block.dtype}, not numbers"
    if wrong is not None:
        number = about["chunk-location"][0]
        raise InvalidInputError(
            f"X cannot be read at row {start} (block {number}; counted from 0): {wrong}."
        )
    return block


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
