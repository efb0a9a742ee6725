"""Sums over objects that come out the same wherever they are made.

Adding floats in another order gives other last bits. So objects are added in logical blocks of
`BLOCK_ROWS` rows, counted by the global row number, each in the order of its rows; and the sums
of the blocks in a tree that depends on their numbers alone: blocks 0 and 1, 2 and 3, ..., then
the sums of 0..1 and 2..3, and so on. A sum over 2^l blocks that starts at a multiple of 2^l is
a node of that tree, whoever makes it: one thread or many, from memory or from disk, on one
machine or several.

Changing `BLOCK_ROWS` changes the last bits of every such sum: never do.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = [
    "BLOCK_ROWS",
    "add_in_tree",
    "block_edges",
    "block_slices",
    "first_at",
    "n_blocks_of",
    "sum_of_rows",
    "tree_sum",
]

# Rows of a block: enough that its sums cost little beside it, few enough that what many
# members read of it stays in the second-level cache.
BLOCK_ROWS = 4096


def n_blocks_of(n_rows: int) -> int:
    """Blocks of so many rows; the last may be shorter.

    >>> n_blocks_of(0), n_blocks_of(4096), n_blocks_of(4097)
    (0, 1, 2)
    """
    return -(-n_rows // BLOCK_ROWS)


def add_in_tree(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over blocks: of an array (n_blocks, ...) with one sum a block; zeros without blocks.

    >>> float(add_in_tree(np.array([1.0, 2.0**-53, 2.0**-53])))
    1.0
    >>> float(add_in_tree(np.array([2.0**-53, 2.0**-53, 1.0])))
    1.0000000000000002
    """
    if len(parts) == 0:
        return np.zeros(parts.shape[1:])
    flat = np.array(parts, np.float64).reshape(len(parts), -1)
    _add_nodes(flat)
    return np.asarray(flat[0].reshape(parts.shape[1:]))


@compiled(plain_up_to=20_000)
def _add_nodes(parts):
    """Add rows of a table in the tree, in place; the sum is then in row 0."""
    n, step = parts.shape[0], 1
    while step < n:
        for left in range(0, n - step, 2 * step):
            for f in range(parts.shape[1]):
                parts[left, f] += parts[left + step, f]
        step *= 2


def tree_sum(parts: Iterable[Any]) -> Any:
    """As `add_in_tree`, of sums that come one by one in the order of their blocks.

    Only a logarithm of them is held: as in counting up by one, two sums of equally many blocks
    become one at once. Anything that can be added will do; None without parts.

    >>> tree_sum("abcde")
    'abcde'
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        level = 0
        while waiting and waiting[-1][0] == level:
            part = waiting.pop()[1] + part
            level += 1
        waiting.append((level, part))
    total = waiting.pop()[1] if waiting else None
    while waiting:
        total = waiting.pop()[1] + total
    return total


def block_edges(n_rows: int, rows: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
    """Where blocks begin among all rows, or among some of them, sorted, by their global numbers.

    One more than there are blocks: the last is where they end.

    >>> block_edges(5000), block_edges(5000, np.array([3, 4095, 4096]))
    (array([   0, 4096, 5000]), array([0, 2, 3]))
    """
    edges = np.minimum(BLOCK_ROWS * np.arange(n_blocks_of(n_rows) + 1), n_rows)
    return edges if rows is None else np.searchsorted(rows, edges)


def block_slices(n_rows: int, rows: NDArray[np.integer] | None = None) -> list[slice]:
    """Where blocks lie among all rows, or among some of them; see `block_edges`.

    >>> block_slices(5000, np.array([3, 4095, 4096]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    return [slice(int(a), int(b)) for a, b in pairwise(block_edges(n_rows, rows))]


@compiled
def first_at(rows, number):
    """Place of the first of sorted rows whose number is at least this; `searchsorted` in kernels.

    NumPy's takes text as an option, and compiling that takes longer than all of k-means.
    """
    low, high = 0, rows.size
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


def sum_of_rows(
    values: NDArray[np.floating[Any]], n_rows: int, rows: NDArray[np.integer] | None = None
) -> float:
    """Sum of one value a row, in blocks and their tree; ``rows`` are the rows they belong to.

    >>> sum_of_rows(np.ones(5000), 5000)
    5000.0
    """
    parts = [_in_order(values[some]) for some in block_slices(n_rows, rows)]
    return float(add_in_tree(np.array(parts)))


@compiled
def _in_order(values):
    total = 0.0
    for value in values:
        total += value
    return total
