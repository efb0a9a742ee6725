"""What is known of columns as a whole: mean, variance, least and largest value.

One pass over the rows; sums go by blocks and their tree (:mod:`consilience.kernels._blocks`), so
that the last bit does not depend on threads or on where the rows lie.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._blocks import (
    add_in_tree,
    block_edges,
    block_slices,
    first_at,
    tree_sum,
)
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns

__all__ = [
    "BlockFacts",
    "ColumnFacts",
    "block_facts",
    "column_facts",
    "column_sums",
    "joined_facts",
]

Floats = NDArray[np.float64]
# Values that a thread is started for.
_A_THREAD = 1 << 18


class ColumnFacts(NamedTuple):
    """Facts of every column, (n_columns,) float64 each."""

    mean: Floats
    variance: Floats  # mean squared deviation from the mean
    low: Floats
    high: Floats


class BlockFacts(NamedTuple):
    """Facts of every block of rows: what those of all rows are made of."""

    counts: Floats  # (n_blocks,): how many rows
    table: Floats  # (5, n_blocks, n_columns): sums, deviations, their squares, least and largest


def column_facts(
    X: Any,
    *,
    rows: NDArray[np.integer] | None = None,
    edges: NDArray[np.int64] | None = None,
    n_jobs: int | None = None,
) -> ColumnFacts:
    """Mean, variance, least and largest value of every column.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_columns) or CSR matrix
        At least one row of finite numbers. Where sums or squares of them overflow, mean and
        variance are not finite; the others always are.
    rows : int array, optional
        Rows that count, sorted and without repeats; all by default.
    edges : int array, optional
        Where blocks begin, if these are some rows of a larger table (`block_edges`).
    n_jobs : int or None
        Threads; the facts are the same for any number.

    Notes
    -----
    A block of b rows takes deviations from its own mean m, as rounded. With the mean M of all, the
    sum of (x - M)^2 over the block is that of (x - m)^2, and 2 (m - M) times that of x - m, which
    is not quite 0, and b (m - M)^2.

    Examples
    --------
    >>> facts = column_facts(np.array([[1.0, 0.0], [3.0, 0.0]]))
    >>> facts.mean, facts.variance, facts.high
    (array([2., 0.]), array([1., 0.]), array([3., 0.]))
    """
    if sparse.issparse(X):
        return _sparse_facts(X, rows)
    return joined_facts([block_facts(X, rows=rows, edges=edges, n_jobs=n_jobs)])


def block_facts(
    X: NDArray[np.floating],
    *,
    rows: NDArray[np.integer] | None = None,
    edges: NDArray[np.int64] | None = None,
    n_jobs: int | None = None,
) -> BlockFacts:
    """Facts of every block of an array; as in `column_facts`."""
    X = np.ascontiguousarray(X).view()
    X.flags.writeable = False  # compiled once, whether or not the data may be written
    n, d = X.shape
    chosen = np.empty(0, np.intp) if rows is None else np.ascontiguousarray(rows, np.intp)
    edges = block_edges(n) if edges is None else edges
    n_blocks = len(edges) - 1
    counts, table = np.zeros(n_blocks), np.zeros((5, n_blocks, d))
    threads = 1 if n_jobs is None else _threads(n_jobs, X.size)
    in_turns(
        lambda first, step: _block_facts(
            X, rows is None, chosen, edges, first, step, counts, table
        ),
        n_blocks,
        threads,
    )
    return BlockFacts(counts, table)


def joined_facts(parts: Sequence[BlockFacts]) -> ColumnFacts:
    """Facts of all rows from those of their blocks, in order, in however many parts they came.

    >>> X = np.arange(9000.0)[:, None]
    >>> joined_facts([block_facts(X[:8192]), block_facts(X[8192:])]) == column_facts(X)
    True
    """
    counts = np.concatenate([part.counts for part in parts])
    table = np.concatenate([part.table for part in parts], axis=1)
    held, total = counts > 0, float(counts.sum())
    sums, rests, squares, low, high = table[:, held]
    mean, some, apart = add_in_tree(table[0]) / total, counts[held, None], np.zeros(table.shape[1:])
    with np.errstate(over="ignore", invalid="ignore"):
        offset = sums / some - mean
        apart[held] = squares + 2.0 * offset * rests + some * offset**2
    variance = add_in_tree(apart) / total
    return ColumnFacts(mean, variance, low.min(axis=0), high.max(axis=0))


def _threads(n_jobs: int, n_values: int) -> int:
    """Fewer than asked for where starting them would take longer than the pass."""
    most = max(1, n_values // _A_THREAD)
    return n_jobs if n_jobs < 0 and most > 1 else min(max(n_jobs, 1), most)


@compiled(plain_up_to=20_000)
def _block_facts(X, whole, rows, edges, first, step, counts, table):
    """Facts of the blocks first, first + step, ...; ``rows`` unless the whole counts."""
    d = X.shape[1]
    means = np.empty(d)
    for block in range(first, counts.size, step):
        start, stop = edges[block], edges[block + 1]
        if not whole:
            start, stop = first_at(rows, start), first_at(rows, stop)
        if start == stop:
            continue
        counts[block] = stop - start
        sums, rests, squares = table[0, block], table[1, block], table[2, block]
        low, high = table[3, block], table[4, block]
        for f in range(d):
            low[f], high[f] = np.inf, -np.inf
        for at in range(start, stop):
            i = at if whole else rows[at]
            for f in range(d):
                value = np.float64(X[i, f])
                sums[f] += value
                low[f] = min(low[f], value)
                high[f] = max(high[f], value)
        for f in range(d):
            means[f] = sums[f] / (stop - start)
        for at in range(start, stop):
            i = at if whole else rows[at]
            for f in range(d):
                apart = X[i, f] - means[f]
                rests[f] += apart
                squares[f] += apart * apart


def _sparse_facts(X: Any, rows: NDArray[np.integer] | None) -> ColumnFacts:
    """As above, of a CSR matrix: values that are not stored are zeros."""
    X = sparse.csr_array(X)
    part, blocks = X if rows is None else X[rows], block_slices(X.shape[0], rows)
    n = part.shape[0]
    mean = tree_sum(column_sums(part[some], 1) for some in blocks) / n
    squares = tree_sum(column_sums(part[some], 2) for some in blocks) / n
    ends = (part.min(axis=0), part.max(axis=0))
    low, high = (np.asarray(end.toarray(), np.float64).ravel() for end in ends)
    return ColumnFacts(mean, np.maximum(squares - mean**2, 0.0), low, high)


def column_sums(X: Any, power: int) -> Floats:
    """Sums of the columns of a CSR matrix, of their values or of a power of these."""
    values = X.data.astype(np.float64) ** power
    return np.asarray(np.bincount(X.indices, values, minlength=X.shape[1]), np.float64)
