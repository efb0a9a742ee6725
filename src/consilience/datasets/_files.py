"""What every reader of a file does first: is it there, can it be read, what went wrong.

Errors name the file as its last path component, as the user would.
"""

import gzip
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience._words import listed, plural
from consilience.errors import ConsilienceError, InvalidInputError, MissingFileError

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
#: Text whose columns may stand apart by blanks.
TEXT_ENDINGS = (".txt", ".txt.gz")
ARROW_ENDINGS = (".parquet", ".feather")
MATRIX_ENDINGS = (".mtx", ".mtx.gz")
ENDINGS = (
    *CSV_ENDINGS,
    *TEXT_ENDINGS,
    *ARROW_ENDINGS,
    ".npy",
    ".npz",
    *MATRIX_ENDINGS,
    ".xlsx",
    ".h5ad",
)

#: Labels are in columns of text, of Parquet, or in arrays.
LABEL_ENDINGS = (*CSV_ENDINGS, ".parquet", ".npy", ".npz")

#: Arrays of a sparse matrix, as SciPy names them.
SPARSE = frozenset(("format", "shape", "data", "indices", "indptr", "row", "col", "offsets"))

# Cells of Parquet files that are read at a time.
_CELLS = 1_000_000

CUT_SHORT = (EOFError, gzip.BadGzipFile, zlib.error)
# numpy reads the header of an array as Python source.
_DAMAGE = (
    *CUT_SHORT,
    zipfile.BadZipFile,
    ValueError,
    KeyError,
    NotImplementedError,
    tokenize.TokenError,
    SyntaxError,
)


def checked_path(path: str | PathLike[str], endings: Sequence[str] = ENDINGS) -> tuple[Path, str]:
    """The path and its ending in lower case; refuses what is not a file we can read."""
    source = Path(path)
    name = source.name.lower()
    ending = next((e for e in endings if name.endswith(e)), None)
    if source.is_dir():
        raise InvalidInputError(
            f"{str(source)!r} is a folder, not a file. Name a file in it that ends in "
            f"{listed(endings, 'or', most=20)}."
        )
    if not source.exists():
        raise MissingFileError(f"There is no file {str(source)!r}.")
    if ending is None:
        raise InvalidInputError(
            f"{source.name!r} cannot be read: files must end in {listed(endings, 'or', most=20)}. "
            "Save it as one of these."
        )
    if source.stat().st_size == 0:
        raise InvalidInputError(f"{source.name!r} is empty: it holds no bytes at all.")
    return source, ending


@contextmanager
def refusing_damage(source: Path, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn what decoders raise on cut or foreign files into one clear error."""
    try:
        yield
    except ConsilienceError:
        raise  # it says what is wrong
    except errors as error:
        raise InvalidInputError(
            f"{source.name!r} is damaged, cut short, or not what its name says "
            f"({_first_line(error)}). Write or download it again."
        ) from error


def read_arrays(source: Path) -> dict[str, NDArray[Any]]:
    """Every array of an ``.npz`` file by name; the array of an ``.npy`` file as ``''``."""
    with source.open("rb") as raw:
        start = raw.read(6)
        if start[:2] != b"PK" and start != b"\x93NUMPY":  # numpy would advise to unpickle it
            raise InvalidInputError(
                f"{source.name!r} is not a numpy file: it does not start like one. Write it with "
                "numpy.save or numpy.savez."
            )
        raw.seek(0)
        with refusing_damage(source, _DAMAGE):
            try:
                stored = np.load(raw, allow_pickle=False)
                if isinstance(stored, np.ndarray):
                    return {"": stored}
                # An archive may hold other files; numpy hands those out as bytes.
                arrays = {key: stored[key] for key in stored.files}
                return _arrays_only(source, arrays)
            except ValueError as error:
                if "Object arrays" not in str(error):
                    raise
    raise InvalidInputError(
        f"{source.name!r} holds Python objects, not numbers. Convert them before saving, for "
        "instance with array.astype(float)."
    )


def _arrays_only(source: Path, members: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Members that are arrays; refuses a file without any."""
    arrays = {key: item for key, item in members.items() if isinstance(item, np.ndarray)}
    if not arrays:
        raise InvalidInputError(
            f"{source.name!r} is an archive without numpy arrays: it holds "
            f"{listed(map(repr, members)) or 'nothing'}. Write it with numpy.savez."
        )
    return arrays


def is_sparse(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether the arrays of a file are those of a sparse matrix, as SciPy writes it."""
    return {"format", "shape", "data"} <= set(arrays)


def sparse_matrix(source: Path) -> Any:
    """The matrix that `scipy.sparse.save_npz` wrote, as rows."""
    from scipy import sparse

    with refusing_damage(source, (*_DAMAGE, IndexError)):
        matrix = sparse.csr_matrix(sparse.load_npz(source), dtype=np.float64)
    if not matrix.shape[0] or not matrix.shape[1]:
        raise InvalidInputError(f"{source.name!r} holds an empty matrix of shape {matrix.shape}.")
    matrix.sum_duplicates()
    return matrix


def main_array(source: Path, arrays: dict[str, NDArray[Any]], key: str) -> NDArray[Any]:
    """The table among the arrays of a file: under ``key``, or the only two-dimensional one."""
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if key in arrays:
        table = arrays[key]
    elif len(tables) == 1:
        table = arrays[tables[0]]
    elif len(arrays) == 1:
        table = next(iter(arrays.values()))
    else:
        raise InvalidInputError(
            f"{source.name!r} holds {len(arrays)} arrays, {listed(map(repr, arrays))}: which is "
            f"meant? Store the table under the name {key!r}."
        )
    if table.ndim != 2:
        raise InvalidInputError(
            f"{source.name!r} must hold a two-dimensional array, one row an object. Got shape "
            f"{table.shape} instead. Use array.reshape(-1, 1) for a single column."
        )
    if not table.size:
        raise InvalidInputError(f"{source.name!r} holds an empty array of shape {table.shape}.")
    return table


@contextmanager
def open_parquet(source: Path) -> Iterator[Any]:
    """An open Parquet or Feather file with at least one row and one column."""
    with refusing_damage(source, _arrow_errors()):
        file = _opened(source)
    with file:
        rows, columns = file.metadata.num_rows, len(file.schema_arrow.names)
        if not rows or not columns:
            raise InvalidInputError(
                f"{source.name!r} holds {plural(rows, 'row')} and {plural(columns, 'column')}. "
                "Write a table with at least one of each."
            )
        yield file


def _opened(source: Path) -> Any:
    """A file of pyarrow, with the few names of its ParquetFile that we use."""
    what = f"Reading {source.name!r}"
    if source.name.lower().endswith(".feather"):
        arrow = optional("pyarrow", extra="store", what=what)
        ipc = optional("pyarrow.ipc", extra="store", what=what)
        return _Feather(ipc.open_file(arrow.OSFile(str(source))))
    return optional("pyarrow.parquet", extra="store", what=what).ParquetFile(source)


class _Feather:
    """A Feather file, which is an Arrow file of batches, asked as a Parquet file is."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.schema_arrow = reader.schema
        n_rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
        self.metadata = SimpleNamespace(num_rows=n_rows)

    def iter_batches(self, batch_size: int) -> Iterator[Any]:
        """Rows, so many at a time."""
        for i in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(i)
            for start in range(0, batch.num_rows, batch_size):
                yield batch.slice(start, batch_size)

    def __enter__(self) -> "_Feather":
        return self

    def __exit__(self, *error: object) -> None:
        self._reader = None


def parquet_batches(source: Path, file: Any) -> Iterator[Any]:
    """Rows of an open Parquet file, about a million cells at a time."""
    rows = max(1, _CELLS // len(file.schema_arrow.names))
    with refusing_damage(source, _arrow_errors()):  # a damaged page is found only on the way
        for batch in file.iter_batches(batch_size=rows):
            batch.validate(full=True)  # text that is no UTF-8, for one
            yield batch


def _arrow_errors() -> tuple[type[Exception], ...]:
    # pyarrow's errors are no common family: some are OSErrors or ValueErrors only, and for a
    # file that could be opened all of them mean that it is not a whole Parquet file.
    arrow = optional("pyarrow", extra="store", what="Reading '.parquet' files")
    return (arrow.ArrowException, OSError, ValueError)


def unique_names(source: Path, names: Sequence[str]) -> None:
    """Raise `InvalidInputError` if two columns have the same name; all such are listed."""
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names, 1):
        places.setdefault(name, []).append(position)
    twice = [
        f"{'two' if len(at) == 2 else len(at)} columns named {name!r}, numbers {listed(at)}"
        for name, at in places.items()
        if len(at) > 1
    ]
    if twice:
        raise InvalidInputError(
            f"{source.name!r} has {'; '.join(twice)}. Rename them, so that each name stands once."
        )


def position_of(source: Path, names: Sequence[str], wanted: str, parameter: str) -> int:
    """Position of a column the user named, or an error that lists what there is."""
    if wanted in names:
        return names.index(wanted)
    near = get_close_matches(wanted, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InvalidInputError(
        f"{source.name!r} has no column {wanted!r}, named as {parameter}.{hint} Its columns are "
        f"{listed(map(repr, names))}."
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "no details"
