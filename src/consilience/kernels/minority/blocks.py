"""Objects and seeds as the passes of weak clusterings read them, and their products.

Objects are taken `BLOCK` at a time, by their numbers: what is summed over objects is summed
within a block first and then over blocks, two neighbours at a time (`tree_sum`). So neither
threads nor where the blocks lie change a digit.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray
from scipy import sparse

# What products in compiled code call: loaded before anybody asks BLAS for one thread.
from scipy.linalg import cython_blas as _cython_blas  # noqa: F401

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task

__all__ = ["BLOCK", "Models", "Objects", "dense_objects", "multiply", "sparse_objects", "tree_sum"]

# Objects a block: products with a hundred seeds stay in the second cache.
BLOCK = 1024
# Sparse objects whose products are held before they are written.
_TILE = 16
# Blocks that are brought into their order at once.
_AT_ONCE = 8


class Objects(NamedTuple):
    """Objects in blocks.

    Attributes
    ----------
    matrix : tuple
        Dense: ``(values, p)``, block after block, each of shape (p, b): objects side by side, as
        products of few columns, whose time goes into reading and writing, want them. Sparse:
        ``(data, indices, indptr, p)`` of a CSR matrix.
    rows : ndarray of shape (n_objects,)
        Row terms of the divergence.
    """

    matrix: tuple[Any, ...]
    rows: NDArray[Any]

    @property
    def n_blocks(self) -> int:
        """Number of blocks; the last may be shorter."""
        return -(-len(self.rows) // BLOCK)


class Models(NamedTuple):
    """Seeds of several repetitions, one after another.

    Attributes
    ----------
    seeds : ndarray of shape (n_seeds * p,)
        Of each repetition a matrix of shape (k, p), for sparse objects (p, k).
    columns : ndarray of shape (n_seeds,)
        Column terms of the divergence.
    bounds : ndarray of shape (n_repetitions + 1,), int64
        Where the seeds of each repetition begin.
    """

    seeds: NDArray[Any]
    columns: NDArray[Any]
    bounds: NDArray[np.int64]

    @classmethod
    def stacked(cls, matrices: Any, columns: Any, dtype: Any, *, wide: bool) -> "Models":
        """The seeds' matrices (k, p) and column terms; ``wide`` for sparse objects."""
        flat = [(matrix.T if wide else matrix).ravel() for matrix in matrices]
        bounds = np.cumsum([0, *map(len, columns)]).astype(np.int64)
        return cls(np.concatenate(flat, dtype=dtype), np.concatenate(columns, dtype=dtype), bounds)

    @property
    def most(self) -> int:
        """Seeds of the repetition that has most."""
        return int(np.diff(self.bounds).max())


def sparse_objects(A: Any, rows: NDArray[Any]) -> Objects:
    """Objects of a CSR matrix."""
    A = sparse.csr_array(A)
    return Objects((A.data, A.indices, A.indptr, A.shape[1]), rows)


def dense_objects(terms: Any, n_objects: int, team: Team) -> Objects:
    """Objects in blocks, made some thousands at a time by the threads of a team.

    Parameters
    ----------
    terms : callable
        ``terms(start, stop)`` is the matrix (stop - start, p) of these objects and their row
        terms; called for multiples of `BLOCK`, whatever the team.
    n_objects : int
    team : Team
    """
    size = _AT_ONCE * BLOCK
    A, own = terms(0, min(size, n_objects))
    p = A.shape[1]
    values, rows = np.empty(n_objects * p, A.dtype), np.empty(n_objects, own.dtype)
    taken = counter()

    def turn(_: int) -> None:
        while (start := size * next_task(taken)) < n_objects:
            stop = min(start + size, n_objects)
            part, rows[start:stop] = terms(start, stop) if start else (A, own)
            _side_by_side(part, values[start * p : stop * p])

    team.run(turn)
    return Objects((values, p), rows)


@compiled
def _side_by_side(part, out):
    """Copy objects into blocks in which the values of a column are consecutive."""
    n, p = part.shape
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        block = out[start * p : stop * p].reshape(p, stop - start)
        for i in range(start, stop):
            for j in range(p):
                block[j, i - start] = part[i, j]


def tree_sum(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over the rows of a table: of neighbours, of those sums, and so on, by their numbers.

    The table is overwritten.

    >>> tree_sum(np.array([[1.0], [2.0], [4.0]]))
    array([7.])
    """
    _add_neighbours(parts)
    total: NDArray[np.float64] = parts[0]
    return total


@compiled
def _add_neighbours(parts):
    n, apart = parts.shape[0], 1
    while apart < n:
        for left in range(0, n - apart, 2 * apart):
            one, other = parts[left], parts[left + apart]
            for c in range(one.size):
                one[c] += other[c]
        apart *= 2


def multiply(matrix: Any, start: int, stop: int, seeds: Any, low: int, high: int, out: Any) -> None:
    """Products of the seeds low to high with the objects start to stop, seeds by objects.

    ``start`` is a multiple of `BLOCK`, ``stop`` at most one block later.
    """
    (_dense_products if len(matrix) == 2 else _sparse_products)(
        matrix, start, stop, seeds, low, high, out
    )


@overload(multiply)
def _compiled_multiply(matrix, start, stop, seeds, low, high, out):
    products = _dense_products if len(matrix) == 2 else _sparse_products

    def call(matrix, start, stop, seeds, low, high, out):
        products(matrix, start, stop, seeds, low, high, out)

    return call


@compiled
def _dense_products(matrix, start, stop, seeds, low, high, out):
    values, p = matrix
    if p == 0:
        for c in range(out.shape[0]):
            for i in range(out.shape[1]):
                out[c, i] = 0
        return
    block = values[start * p : stop * p].reshape(p, stop - start)
    np.dot(seeds[low * p : high * p].reshape(high - low, p), block, out)


@compiled(fastmath={"contract"})
def _add_times(line, value, out):
    for c in range(out.size):
        out[c] += value * line[c]


@compiled
def _sparse_products(matrix, start, stop, seeds, low, high, out):
    data, indices, indptr, p = matrix
    k = high - low
    wide = seeds[low * p : high * p].reshape(p, k)
    # All seeds at once for every value, so that the seeds' values are read side by side; then
    # some objects at once, so that products are written so.
    tile = np.empty((_TILE, k), out.dtype)
    for begin in range(start, stop, _TILE):
        end = min(begin + _TILE, stop)
        for i in range(begin, end):
            line = tile[i - begin]
            for c in range(k):
                line[c] = 0
            for at in range(indptr[i], indptr[i + 1]):
                _add_times(wide[indices[at]], data[at], line)
        for c in range(k):
            part = out[c, begin - start : end - start]
            for i in range(part.size):
                part[i] = tile[i, c]
