"""Annotated data (.h5ad): numbers with names of cells and genes, read from HDF5 as they are laid.

Only what is needed is opened, and only what lies in the file itself: links that lead out of it,
data sets kept elsewhere and Python objects are refused, and what is promised is compared with the
size of the file before there is room made for it.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._optional import optional
from consilience._validation import as_array
from consilience._words import listed, shown
from consilience.datasets._files import refusing_damage
from consilience.errors import InvalidInputError

__all__ = ["Annotated", "obs_columns", "read_annotated", "write_annotated"]

# Counts are packed to a fiftieth at most; a matrix that is nearly empty may be small.
_MOST_PACKED, _SMALL = 200, 2**26
_DAMAGE = (OSError, KeyError, ValueError, RuntimeError, TypeError, OverflowError, IndexError)
_COLUMNS = ("consilience_cluster", "consilience_confidence")


class Annotated(NamedTuple):
    """A matrix of an .h5ad file, names of its rows and columns, and columns about the rows."""

    X: Any
    ids: NDArray[np.str_]
    columns: list[str]
    about: dict[str, list[Any]]


def read_annotated(source: Path, layer: str | None, wanted: Sequence[str]) -> Annotated:
    """The matrix ``X`` or another one, and some columns of ``obs``.

    Parameters
    ----------
    source : Path
    layer : str or None
        A name of ``layers`` or ``obsm``, also as ``obsm/X_pca``; None is ``X``.
    wanted : sequence of str
        Columns of ``obs`` to read.
    """
    with _opened(source) as file, refusing_damage(source, _DAMAGE):
        ids = _index(source, file, "obs")
        place = _place(source, file, layer)
        X = _matrix(source, _inside(source, file, place))
        if X.shape[0] != len(ids):
            raise _refused(source, f"{place!r} has {X.shape[0]} rows for {len(ids)} names")
        columns = [f"{place.rpartition('/')[2]}{j}" for j in range(X.shape[1])]
        if not place.startswith("obsm"):
            names = _index(source, file, "var").tolist()
            if len(names) != X.shape[1]:
                raise _refused(source, f"{place!r} has {X.shape[1]} columns, 'var' {len(names)}")
            columns = _different(names)
        obs = _inside(source, file, "obs")
        there = [name for name in wanted if name in obs]
        about = {name: _words(source, file, f"obs/{name}") for name in there}
        return Annotated(X, ids, columns, about)


def obs_columns(source: Path) -> list[str]:
    """Names of the columns of ``obs``."""
    with _opened(source) as file, refusing_damage(source, _DAMAGE):
        obs = _inside(source, file, "obs")
        index = obs.attrs.get("_index", "_index")
        return [str(name) for name in obs if name not in (index, "__categories")]


@contextmanager
def _opened(source: Path) -> Iterator[Any]:
    hdf = optional("h5py", extra="anndata", what=f"Reading {source.name!r}")
    with source.open("rb") as raw:
        if raw.read(8) != b"\x89HDF\r\n\x1a\n":
            raise _refused(source, "it does not start as HDF5 does")
    with refusing_damage(source, (OSError, RuntimeError, ValueError)):
        file = hdf.File(source, "r")
    with file:
        yield file


def _refused(source: Path, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{source.name!r} is damaged, or no file of annotated data (.h5ad): {why}. Write it again "
        "with write_h5ad of a current version of anndata."
    )


def _inside(source: Path, file: Any, path: str) -> Any:
    """What lies at a path, every step of which is in the file itself."""
    hdf = optional("h5py", extra="anndata", what=f"Reading {source.name!r}")
    item = file
    for step in path.split("/"):
        if not isinstance(item, hdf.Group):
            raise _refused(source, f"{path!r} is in no group, as files before anndata 0.7 have it")
        link = item.get(step, getlink=True)
        if link is None:
            raise _refused(source, f"there is no {path!r}")
        if not isinstance(link, hdf.HardLink):
            raise InvalidInputError(
                f"{source.name!r} is not read: {path!r} in it is a link to another place or file, "
                "which is not followed. Write the data into one file."
            )
        item = item[step]
    if isinstance(item, hdf.Dataset):
        _check_set(source, path, item)
    return item


def _check_set(source: Path, path: str, item: Any) -> None:
    """Refuse a data set that is kept elsewhere, or promises more than its file can hold."""
    if item.is_virtual or item.external:
        raise InvalidInputError(
            f"{source.name!r} is not read: {path!r} in it is kept in other files, which are not "
            "opened. Write the data into one file."
        )
    size = int(np.prod(item.shape, dtype=object)) * max(item.dtype.itemsize, 1)
    _check_size(source, path, size)


def _check_size(source: Path, path: str, size: int) -> None:
    """Refuse what needs more bytes than its file can hold."""
    if size > _SMALL + _MOST_PACKED * source.stat().st_size:
        raise InvalidInputError(
            f"{source.name!r} is not read, because it may be made to fill the memory: {path!r} in "
            f"it promises {size / 2**30:,.1f} GiB, and the file has {source.stat().st_size:,} "
            "bytes."
        )


def _place(source: Path, file: Any, layer: str | None) -> str:
    """Where the matrix lies that is asked for."""
    if layer is None or layer == "X":
        if "X" in file:
            return "X"
        raise InvalidInputError(
            f"{source.name!r} has no matrix X. Name another with layer (--layer): "
            f"{listed(_layers(file)) or 'there is none'}."
        )
    places = [name for name in _layers(file) if layer in (name, name.partition("/")[2])]
    if len(places) != 1:
        raise InvalidInputError(
            f"{source.name!r} has {'no' if not places else 'more than one'} layer {layer!r}. Those "
            f"that layer (--layer) can name are {listed(['X', *_layers(file)])}."
        )
    return places[0]


def _layers(file: Any) -> list[str]:
    groups = [name for name in ("layers", "obsm") if name in file and hasattr(file[name], "keys")]
    return [f"{group}/{name}" for group in groups for name in file[group]]


def _matrix(source: Path, item: Any) -> Any:
    """A dense data set, or the three of a sparse matrix, as rows of floats."""
    if hasattr(item, "dtype"):
        if item.ndim != 2 or item.dtype.kind not in "biuf":
            raise _refused(source, f"{item.name!r} is no matrix of numbers")
        return item.astype(np.float64)[:]
    kind = str(item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", "")))
    shape = item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    if not kind.startswith(("csr", "csc")) or shape is None or len(shape) != 2:
        raise _refused(source, f"{item.name!r} is {kind or 'nothing'!r}, and no matrix")
    parts = [_inside(source, item, name) for name in ("data", "indices", "indptr")]
    rows, columns = (int(size) for size in shape)
    if len(parts[2]) != (rows if kind.startswith("csr") else columns) + 1:
        raise _refused(source, f"the parts of {item.name!r} do not fit together")
    # Rows and columns without an entry cost memory, too: a place a row, and a name a column.
    _check_size(source, str(item.name), max(8 * rows, 64 * columns))
    make = sparse.csr_matrix if kind.startswith("csr") else sparse.csc_matrix
    matrix = make(tuple(part[:] for part in parts), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return sparse.csr_matrix(matrix, dtype=np.float64)


def _index(source: Path, file: Any, group: str) -> NDArray[np.str_]:
    """Names of the rows of ``obs`` or ``var``."""
    frame = _inside(source, file, group)
    if not hasattr(frame, "keys"):
        raise _refused(source, f"{group!r} is a table of before anndata 0.7")
    name = str(frame.attrs.get("_index", "_index"))
    return np.array([str(word) for word in _words(source, file, f"{group}/{name}")], np.str_)


def _words(source: Path, file: Any, path: str) -> list[Any]:
    """A column of a frame: texts, numbers, or categories as texts."""
    column = _inside(source, file, path)
    if hasattr(column, "keys"):
        if "codes" not in column or "categories" not in column:
            raise _refused(source, f"{path!r} is no column of words or numbers")
        words = _words(source, file, f"{path}/categories")
        codes = np.asarray(_inside(source, file, f"{path}/codes")[:], np.int64)
        if len(codes) and (codes.max(initial=-1) >= len(words) or codes.min(initial=0) < -1):
            raise _refused(source, f"{path!r} has codes of no category")
        return [None if code < 0 else words[code] for code in codes.tolist()]
    if column.ndim != 1:
        raise _refused(source, f"{path!r} is no column")
    values = column[:]
    if values.dtype.kind == "O":
        return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]
    if values.dtype.kind == "S":
        return [v.decode("utf-8", "replace") for v in values]
    if values.dtype.kind not in "biuf":
        raise _refused(source, f"{path!r} holds values of type {values.dtype}")
    return values.tolist()


def _different(names: list[str]) -> list[str]:
    """Names of genes, which may be there twice, with a number that makes them different."""
    taken, numbers = set(names), dict.fromkeys(names, 0)
    seen: set[str] = set()
    renamed = []
    for name in names:
        new = name
        while new in seen or (new != name and new in taken):
            numbers[name] += 1
            new = f"{name}-{numbers[name]}"
        seen.add(new)
        renamed.append(new)
    return renamed


def write_annotated(
    source: str | PathLike[str],
    target: str | PathLike[str],
    labels: Any,
    confidence: Any = None,
) -> None:
    """A copy of an .h5ad file with the cluster of each cell, and how sure it is, in ``obs``.

    Parameters
    ----------
    source : path
        The file that was clustered.
    target : path
        The copy; one that is there is replaced once the new one is complete.
    labels : array of int of shape (n_objects,)
        Those from 0 on become the categories of ``obs["consilience_cluster"]``; -1, in no
        cluster, is missing.
    confidence : array of shape (n_objects,), optional
        Becomes ``obs["consilience_confidence"]``.

    Examples
    --------
    >>> import tempfile, h5py
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cells, clustered = Path(folder, "cells.h5ad"), Path(folder, "clustered.h5ad")
    ...     with h5py.File(cells, "w") as file:
    ...         file["obs/_index"] = ["first", "second", "third"]
    ...     write_annotated(cells, clustered, [0, 1, 0], [1.0, 0.8, 0.9])
    ...     with h5py.File(clustered) as file:
    ...         file["obs/consilience_cluster/codes"][:].tolist()
    [0, 1, 0]
    """
    original, copy = Path(source), Path(target)
    hdf = optional("h5py", extra="anndata", what="write_annotated")
    codes = as_array(labels)
    with _opened(original) as file, refusing_damage(original, _DAMAGE):
        n = len(_index(original, file, "obs"))
    if codes.shape != (n,) or (confidence is not None and np.shape(confidence) != (n,)):
        raise InvalidInputError(
            f"write_annotated needs one label and confidence for each of the {n} rows of "
            f"{original.name!r}. Got {codes.shape} labels."
        )
    codes = _whole(codes)
    partial = copy.with_name(f".{copy.name}.partial")
    try:
        shutil.copyfile(original, partial)
        with hdf.File(partial, "r+") as file:
            obs = file["obs"]
            for name in _COLUMNS:
                if name in obs:
                    del obs[name]
            _put_categories(hdf, obs, _COLUMNS[0], codes)
            if confidence is not None:
                _put(obs, _COLUMNS[1], np.asarray(confidence, np.float64), "array")
            order = [str(name) for name in obs.attrs.get("column-order", [])]
            added = [name for name in _COLUMNS if name in obs]
            order = [name for name in order if name not in _COLUMNS] + added
            obs.attrs["column-order"] = np.array(order, dtype=hdf.string_dtype())
        partial.replace(copy)
    finally:
        partial.unlink(missing_ok=True)


def _whole(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Labels as whole numbers from -1 on."""
    numbers = labels.astype(np.int64) if labels.dtype.kind in "biu" else labels
    if labels.dtype.kind == "f" and np.isfinite(labels).all():
        numbers = np.floor(labels).astype(np.int64)
    if numbers.dtype != np.int64 or (numbers != labels).any() or numbers.min(initial=0) < -1:
        raise InvalidInputError(
            "labels of write_annotated must be whole numbers, -1 for a cell in no cluster. Got "
            f"{shown(labels.tolist())} instead."
        )
    return numbers


def _put(group: Any, name: str, values: Any, kind: str) -> None:
    """An array as anndata writes it."""
    made = group.create_dataset(name, data=values)
    made.attrs["encoding-type"], made.attrs["encoding-version"] = kind, "0.2.0"


def _put_categories(hdf: Any, obs: Any, name: str, labels: NDArray[Any]) -> None:
    """Whole numbers as categories, as anndata writes them."""
    group = obs.create_group(name)
    group.attrs["encoding-type"], group.attrs["encoding-version"] = "categorical", "0.2.0"
    group.attrs["ordered"] = False
    kept = np.unique(labels[labels >= 0])
    words = np.array(list(map(str, kept.tolist())), dtype=object)
    made = group.create_dataset("categories", data=words, dtype=hdf.string_dtype())
    made.attrs["encoding-type"], made.attrs["encoding-version"] = "string-array", "0.2.0"
    codes = np.where(labels < 0, -1, np.searchsorted(kept, labels))
    _put(group, "codes", codes.astype(np.int32), "array")
