"""Tables of Dask: arrays and frames, and files whose pieces the workers of a cluster read."""

import asyncio
import concurrent.futures
import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience._stored._table import (
    Floats,
    Stored,
    kept_names,
    number_type,
    refuse_names,
    size_in_words,
)
from consilience._words import listed
from consilience.errors import ClusterLostError, InvalidInputError

__all__ = ["here", "is_dask", "lost_cluster", "of_dask", "read_by_workers"]


def is_dask(X: Any) -> bool:
    """Whether this is a Dask collection; Dask need not be installed to tell."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "shape")


def of_dask(X: Any, ignore: Sequence[str] = ()) -> Stored:
    """A Dask array or frame."""
    if not hasattr(X, "to_dask_array"):
        refuse_names(ignore, "X")
        return _Dask(_checked(X))
    if ignore:
        X = X[kept_names(list(X.columns), ignore, "X")]
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
        wrong = f"it holds {size_in_words(np.shape(block))} where {expected}"
    elif getattr(block, "dtype", np.dtype(float)).kind not in "biuf":
        wrong = f"it holds values of type {block.dtype}, not numbers"
    if wrong is not None:
        number = about["chunk-location"][0]
        raise InvalidInputError(
            f"X cannot be read at row {start} (block {number}; counted from 0): {wrong}."
        )
    return block


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
        super().__init__(array.shape, number_type([array.dtype], "X"), names=names, what="X")
        self.array = array
        self._sizes = tuple(int(size) for size in array.chunks[0])
        self._starts = [0, *accumulate(self._sizes)]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"array": None}  # who gets a copy is given the blocks

    def _read(self, start: int, stop: int) -> Any:
        return _computed(self.array[start:stop])

    def take(self, objects: Any) -> Floats:
        """See `Stored.take`; rows are chosen where the blocks are."""
        numbers = self._numbers(objects)
        order = np.argsort(numbers, kind="stable")
        ranked = numbers[order]
        rows = np.asarray(_computed(self.array[ranked]))
        for at in np.flatnonzero(~np.isfinite(rows).all(axis=1))[:1]:
            self._check_finite(rows[at : at + 1], int(ranked[at]))
        out: Floats = np.empty(rows.shape, self.dtype)
        out[order] = rows
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


def here(values: Any) -> NDArray[Any]:
    """One value an object in memory; what `Stored.in_its_blocks` made of it asks no cluster."""
    return np.asarray(values.compute(scheduler="synchronous") if is_dask(values) else values)


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
