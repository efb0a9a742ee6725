"""Matrix Market files: what their header promises is checked before anything is made room for."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import io, sparse

from consilience.datasets._csv import open_bytes
from consilience.datasets._files import CUT_SHORT, refusing_damage
from consilience.errors import InvalidInputError

__all__ = ["read_matrix_market"]

# An entry of a sparse matrix is a line of four characters at least, of a dense one of two.
_SPARSE_ENTRY, _DENSE_ENTRY = 4, 2
# Text of numbers is packed to a tenth, rarely to a fiftieth.
_MOST_PACKED = 100
# Rows and columns cost memory whether anything is in them or not.
_MANY, _PER_ENTRY = 10_000_000, 100
_COMMENTS = 10_000
_KINDS = ("real", "double", "integer", "pattern")


class _Header(NamedTuple):
    layout: str
    rows: int
    columns: int
    entries: int


def read_matrix_market(source: Path) -> Any:
    """The matrix of a ``.mtx`` file, also packed (``.gz``): CSR, or dense where the file is."""
    header = _header(source)
    _check_promise(source, header)
    errors = (*CUT_SHORT, ValueError, OverflowError, TypeError)
    with refusing_damage(source, errors):
        if source.name.lower().endswith(".gz"):  # SciPy looks for small letters only
            with open_bytes(source) as file:
                matrix = io.mmread(file)
        else:
            matrix = io.mmread(source)
    if tuple(matrix.shape) != (header.rows, header.columns):
        raise _damaged(source, "its lines do not make the matrix of its header")
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix.astype(np.float64))
        matrix.sum_duplicates()
        return matrix
    return np.ascontiguousarray(matrix, np.float64)


def _header(source: Path) -> _Header:
    """What the first lines say; refuses what they cannot say."""
    with refusing_damage(source, CUT_SHORT), open_bytes(source) as file:
        words = file.readline(1000).decode("latin-1").lower().split()
        if len(words) < 4 or not words[0].startswith("%%matrixmarket"):
            raise _damaged(source, "it does not start with %%MatrixMarket")
        layout, kind = words[2], words[3]
        if words[1] != "matrix" or layout not in ("coordinate", "array") or kind not in _KINDS:
            raise InvalidInputError(
                f"{source.name!r} holds a {' '.join(words[1:4])}, which is no matrix of real "
                "numbers. Write it as 'matrix coordinate real' or 'matrix array real'."
            )
        line = ""
        for _ in range(_COMMENTS):
            line = file.readline(10_000).decode("latin-1").strip()
            if line and not line.startswith("%"):
                break
    numbers = line.split()
    if len(numbers) != (3 if layout == "coordinate" else 2) or not all(
        word.isdecimal() and len(word) < 19 for word in numbers
    ):
        raise _damaged(source, "no line says how many rows and columns it has")
    rows, columns, *entries = map(int, numbers)
    return _Header(layout, rows, columns, entries[0] if entries else rows * columns)


def _check_promise(source: Path, header: _Header) -> None:
    """Refuse a header that promises more than the file can hold."""
    if not header.rows or not header.columns:
        raise InvalidInputError(
            f"{source.name!r} holds an empty matrix of {header.rows} rows and {header.columns} "
            "columns."
        )
    size = source.stat().st_size
    packed = source.name.lower().endswith(".gz")
    least = _SPARSE_ENTRY if header.layout == "coordinate" else _DENSE_ENTRY
    most = size * (_MOST_PACKED if packed else 1) // least
    # The upper half of a symmetric dense matrix is not written.
    if header.entries > (most if header.layout == "coordinate" else 2 * most + 1):
        raise _damaged(
            source, f"its header promises {header.entries} entries, and it has {size} bytes"
        )
    widest = max(header.rows, header.columns)
    if widest > max(_MANY, _PER_ENTRY * header.entries):
        raise _damaged(
            source,
            f"its header promises {header.rows} rows and {header.columns} columns of "
            f"{header.entries} entries",
        )


def _damaged(source: Path, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"{source.name!r} is damaged, cut short, or not what its name says: {why}. Write or "
        "download it again."
    )
