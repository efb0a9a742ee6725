"""What is known of columns as a whole: mean, variance, least and largest value.

One pass over the rows; sums go by blocks and their tree (:mod:`consilience.kernels._blocks`), so
that the last bit does not depend on threads or on where the rows lie.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._blocks import (
    BLOCK_ROWS,
    add_in_tree,
    block_slices,
    first_at,
    n_blocks_of,
    tree_sum,
)
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns

__all__ = ["ColumnFacts", "column_facts", "column_sums"]

Floats = NDArray[np.float64]
# Values that a thread is started for.
_A_THREAD = 1 << 18


class ColumnFacts(NamedTuple):
    """Facts of every column, (n_columns,) float64 each."""

    mean: Floats
    variance: Floats  # mean squared deviation from the mean
    low: Floats
    high: Floats


def column_facts(
    X: Any, *, rows: NDArray[np.integer] | None = None, n_jobs: int | None = None
) -> ColumnFacts:
    """Mean, variance, least and largest value of every column.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_columns) or CSR matrix
        At least one row of finite numbers. Where sums or squares of them overflow, mean and
        variance are not finite; the others always are.
    rows : int array, optional
        Rows that count, sorted and without repeats; all by default.
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
    X = np.ascontiguousarray(X).view()
    X.flags.writeable = False  # compiled once, whether or not the data may be written
    n, d = X.shape
    chosen = np.empty(0, np.intp) if rows is None else np.ascontiguousarray(rows, np.intp)
    # Of every block: how many rows; sums, deviations, their squares, least and largest values.
    n_blocks = n_blocks_of(n)
    counts, table = np.zeros(n_blocks), np.zeros((5, n_blocks, d))
    threads = 1 if n_jobs is None else _threads(n_jobs, X.size)
    in_turns(
        lambda first, step: _block_facts(X, rows is None, chosen, first, step, counts, table),
        n_blocks,
        threads,
    )
    held, total = counts > 0, float(counts.sum())
    sums, rests, squares, low, high = table[:, held]
    mean, some, apart = add_in_tree(table[0]) / total, counts[held, None], np.zeros((n_blocks, d))
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
def _block_facts(X, whole, rows, first, step, counts, table):
    """Facts of the blocks first, first + step, ...; ``rows`` unless the whole counts."""
    n, d = X.shape
    means = np.empty(d)
    for block in range(first, counts.size, step):
        start, stop = block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, n)
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
