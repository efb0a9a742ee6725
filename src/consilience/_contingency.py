"""Contingency tables of two labelings, and the one-to-one matching of their clusters."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csgraph

from consilience._labels import NOISE, Codes, encode
from consilience._validation import Options, check_value
from consilience.errors import InvalidInputError

Noise = Literal["cluster", "singletons", "drop"]

NOISE_RULES = Options(("cluster", "singletons", "drop"))
# Tables with more cells than this stay sparse: 32 MiB of counts.
DENSE_CELLS = 2**22


class Table(NamedTuple):
    """Non-empty cells of a contingency table, in row order; no row or column is empty."""

    rows: Codes
    columns: Codes
    counts: Codes
    row_sums: Codes
    column_sums: Codes
    row_codes: Codes
    column_codes: Codes


def compared(
    a: Any, b: Any, noise: Noise, *, owner: str, names: tuple[str, str] = ("a", "b")
) -> Table:
    """The table of two labelings in any form."""
    check_value("noise", noise, [NOISE_RULES], owner=owner)
    return tabulate(*shared(*encoded(a, b, names), noise, names))


def encoded(a: Any, b: Any, names: tuple[str, str]) -> tuple[Codes, Codes]:
    """Codes of two labelings of equal, positive length."""
    codes_a, codes_b = encode(a, what=names[0]), encode(b, what=names[1])
    if len(codes_a) != len(codes_b) or not len(codes_a):
        raise InvalidInputError(
            f"{names[0]} and {names[1]} must have one label each for the same objects, at least "
            f"one. Got {len(codes_a)} and {len(codes_b)} labels instead. Bring both into the same "
            "order, with None (or -2 among integers) for objects without a label."
        )
    return codes_a, codes_b


def shared(a: Codes, b: Codes, noise: Noise, names: tuple[str, str]) -> tuple[Codes, Codes]:
    """Codes, all at least 0, of the objects that count; noise got codes of its own."""
    least = 0 if noise == "drop" else NOISE
    both = (a >= least) & (b >= least)
    if not both.any():
        what = "put into a cluster" if noise == "drop" else "seen"
        raise InvalidInputError(
            f"{names[0]} and {names[1]} must share at least one object that both have {what}. "
            f"Got none among {len(a)}. Compare labelings that overlap"
            f"{', or choose another noise rule' if noise == 'drop' else ''}."
        )
    codes = []
    for labels in (a, b):
        first = int(labels.max()) + 1
        chosen = labels[both]
        alone = chosen == NOISE
        chosen[alone] = first + (np.arange(alone.sum()) if noise == "singletons" else 0)
        codes.append(chosen)
    return codes[0], codes[1]


def tabulate(a: Codes, b: Codes) -> Table:
    """Count the cells of two labelings whose codes are at least 0."""
    sums_a, sums_b = np.bincount(a), np.bincount(b)
    codes_a, codes_b = np.flatnonzero(sums_a), np.flatnonzero(sums_b)
    k_a, k_b = len(codes_a), len(codes_b)
    cell = (np.cumsum(sums_a > 0) - 1)[a] * k_b + (np.cumsum(sums_b > 0) - 1)[b]
    if k_a * k_b <= max(4 * len(a), 1024):  # counting beats sorting
        every = np.bincount(cell, minlength=k_a * k_b)
        cells = np.flatnonzero(every)
        counts = every[cells]
    else:
        cells, counts = np.unique(cell, return_counts=True)
    return Table(
        cells // k_b, cells % k_b, counts, sums_a[codes_a], sums_b[codes_b], codes_a, codes_b
    )


def cell_f1(table: Table) -> NDArray[np.float64]:
    """F1 of each cell's cluster for its class."""
    return 2 * table.counts / (table.row_sums[table.rows] + table.column_sums[table.columns])


def matched_cells(table: Table) -> Codes:
    """Cells of the one-to-one matching with most objects; among those, of the largest F1."""
    k_a, k_b = len(table.row_sums), len(table.column_sums)
    # The F1 add up to less than one object, so they decide between ties only.
    gains = table.counts + cell_f1(table) / (1 + min(k_a, k_b))
    if k_a * k_b > DENSE_CELLS:
        return _matched_sparsely(table.rows, table.columns, gains)
    matrix = np.zeros((k_a, k_b))
    matrix[table.rows, table.columns] = gains
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    filled = matrix[rows, columns] > 0
    cells: Codes = np.searchsorted(
        table.rows * k_b + table.columns, rows[filled] * k_b + columns[filled]
    )
    return cells


def _matched_sparsely(rows: Codes, columns: Codes, gains: NDArray[np.float64]) -> Codes:
    """The same for tables too large to be written out: many thousand clusters on both sides."""
    kept = _without_spare_leaves(rows, columns, gains)
    kept = kept[_without_spare_leaves(columns[kept], rows[kept], gains[kept])]
    row_ids, row = np.unique(rows[kept], return_inverse=True)
    column_ids, column = np.unique(columns[kept], return_inverse=True)
    # SciPy's solver matches every row. A column of its own for each row, without gain, lets
    # rows stay unmatched; one is added to all gains because it takes zeros for missing.
    n_rows, n_columns = len(row_ids), len(column_ids)
    own = np.arange(n_rows)
    graph = sparse.csr_array(
        (
            np.concatenate([gains[kept], np.zeros(n_rows)]) + 1,
            (np.concatenate([row, own]), np.concatenate([column, n_columns + own])),
        ),
        shape=(n_rows, n_columns + n_rows),
    )
    chosen = csgraph.min_weight_full_bipartite_matching(graph, maximize=True)
    partner = np.empty(n_rows, np.int64)
    partner[chosen[0]] = chosen[1]
    cells: Codes = kept[partner[row] == column]
    return cells


def _without_spare_leaves(
    rows: Codes, columns: Codes, gains: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Cells less those of rows that have one cell only and lose it to another such row."""
    leaf = np.bincount(rows)[rows] == 1
    leaves = np.flatnonzero(leaf)
    leaves = leaves[np.lexsort((-gains[leaves], columns[leaves]))]
    best = np.ones(len(leaves), bool)
    best[1:] = columns[leaves][1:] != columns[leaves][:-1]
    return np.sort(np.concatenate([np.flatnonzero(~leaf), leaves[best]]))
