"""Opening what is not in memory, whatever it is: by its ending, or by what it can do."""

import tokenize
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience._optional import optional
from consilience._stored._dask import is_dask, of_dask
from consilience._stored._parquet import Parquet
from consilience._stored._sliced import Sliced, is_sliced
from consilience._stored._table import UNREADABLE, Stored, refuse_names
from consilience._words import listed
from consilience.errors import InvalidInputError, MissingFileError

__all__ = ["is_table_path", "open_stored"]

_ENDINGS = (".npy", ".parquet", ".zarr")


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
        return of_dask(X, ignore)
    if isinstance(X, np.memmap) or (not isinstance(X, np.ndarray) and is_sliced(X)):
        refuse_names(ignore, "X")
        return Sliced(X, what="X")
    return None


def is_table_path(path: str | PathLike[str]) -> bool:
    """Whether a path is one of those that `open_stored` takes, by its ending or as a folder."""
    return Path(path).suffix.lower() in _ENDINGS or Path(path).is_dir()


def _of_path(path: Path, ignore: Sequence[str]) -> Stored:
    """The table in a file or folder, by its ending."""
    if not path.exists():
        raise MissingFileError(f"There is no file or folder {str(path)!r}.")
    path = path.absolute()  # workers may have been started in other folders
    ending = path.suffix.lower()
    if ending == ".npy" and path.is_file():
        try:
            values = np.load(path, mmap_mode="r", allow_pickle=False)
        except (*UNREADABLE, SyntaxError, tokenize.TokenError) as error:  # of its header
            raise InvalidInputError(
                f"{path.name!r} is damaged, or no array of numbers ({error}). Write it with "
                "numpy.save."
            ) from error
        refuse_names(ignore, repr(path.name))
        return Sliced(values, what=repr(path.name), is_file=True)
    if ending == ".zarr":
        refuse_names(ignore, repr(path.name))
        values = _zarr_at(str(path))
        if not is_sliced(values):
            raise InvalidInputError(
                f"{path.name!r} must hold one array of two dimensions, objects x columns. Got "
                f"{values!r} instead. Name the folder of the array in it."
            )
        return Sliced(values, what=repr(path.name), again=(_zarr_at, (str(path),)))
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if parts and parts[0].suffix.lower() == ".parquet":
        return Parquet(parts, what=repr(path.name), ignore=ignore)
    raise InvalidInputError(
        f"{path.name!r} cannot be read block by block: files must end in {listed(_ENDINGS, 'or')}, "
        "and a folder must hold '.parquet' files. Convert other files to Parquet first."
    )


def _zarr_at(path: str) -> Any:
    return optional("zarr", extra="store", what="Reading '.zarr' folders").open(path, mode="r")
