"""How far the two clusters that a pair of members put an object into overlap, for every object.

A pair of members has a small table: what one cell of it is worth. Every object then looks its
own cell up. Tables of a group of pairs are made first, pair by pair, and read afterwards block
of objects by block of objects: labels stay in the cache, sums run over pairs in their order, and
so any number of threads gives the same result.
"""

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task, shrinking_blocks

__all__ = [
    "INFORMATION",
    "RELATIVE",
    "cell",
    "count_cells",
    "fill_worths",
    "mean_overlap",
    "pair_overlap",
    "pairs_that_saw",
]

Labels = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]

#: What a cell is worth: its share of the mutual information, or its overlap relative to the best.
INFORMATION, RELATIVE = 0, 1

# Rows and columns of a table before the clusters: unseen (label -2) and noise (-1).
_BEFORE = 2
# Labels of a block stay in the second-level cache; smaller ones let threads end together.
_BLOCK, _LEAST = 4096, 512
_TABLE_BYTES = 2**26


def mean_overlap(
    members: Labels,
    weights: NDArray[Any],
    pairs: NDArray[np.int64],
    kind: int,
    *,
    n_jobs: int = 1,
    max_table: int = _TABLE_BYTES,
) -> tuple[Floats, NDArray[np.int64]]:
    """Mean worth of each object's cells over pairs of members that both saw it, and how many did.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) numbers
        How often each object counts in the tables. Whole numbers give exact tables.
    pairs : (n_pairs, 2) int64
        Pairs of different members.
    kind : INFORMATION or RELATIVE
        See `pair_overlap`.
    n_jobs : int, default=1
        Threads; the result does not depend on it.
    max_table : int, default=2**26
        Bytes of tables held at once. Changes time only.

    Returns
    -------
    means : ndarray of shape (n_objects,), float64
        0 where no pair of members saw the object.
    counts : ndarray of shape (n_objects,), int64
        Pairs of members that both saw the object. Time O(n_objects n_pairs).

    Examples
    --------
    >>> members = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], np.int8)
    >>> mean_overlap(members, np.ones(6), np.array([[0, 1]]), RELATIVE)[0].round(3).tolist()
    [1.0, 1.0, 0.354, 1.0, 1.0, 1.0]
    """
    n_objects = members.shape[1]
    # One weight stands for all: then a pass over the objects reads nothing but labels.
    weights = np.ones(1) if np.all(weights == 1) else np.ascontiguousarray(weights, np.float64)
    widths = np.maximum(members.max(axis=1).astype(np.int64) + 1, 0) + _BEFORE
    sums, counts = np.zeros(n_objects), pairs_that_saw(members, pairs)
    cells = widths[pairs[:, 0]] * widths[pairs[:, 1]]
    for first, last in _groups(cells, max(max_table // 8, 1)):
        _add_group(members, weights, pairs[first:last], widths, kind, n_jobs, sums)
    return np.divide(sums, counts, out=np.zeros(n_objects), where=counts > 0), counts


def pairs_that_saw(members: Labels, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of members that both saw each object."""
    if not (members == -_BEFORE).any():
        return np.full(members.shape[1], len(pairs))
    counts = np.zeros(members.shape[1], np.int64)
    seen = members != -_BEFORE
    for a, b in pairs:
        counts += seen[a] & seen[b]
    return counts


def _add_group(
    members: Labels,
    weights: Floats,
    pairs: NDArray[np.int64],
    widths: NDArray[np.int64],
    kind: int,
    n_jobs: int,
    sums: Floats,
) -> None:
    """Add to the sums of all objects what some pairs of members say."""
    starts = np.append(0, np.cumsum(widths[pairs].prod(axis=1)))
    values = np.zeros(int(starts[-1]))

    n_objects = members.shape[1]
    with Team(n_jobs, max(len(pairs), -(-n_objects // _BLOCK))) as team:
        edges = shrinking_blocks(n_objects, team.size, most=_BLOCK, least=_LEAST)
        given = (members, pairs, widths, starts, values)
        filled, looked_up = counter(), counter()
        team.run(lambda _: _fill_tables(*given, weights, kind, filled))
        team.run(lambda _: _look_up_blocks(*given, edges, looked_up, sums))


def _groups(cells: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Runs of pairs whose tables together have at most so many cells, at least one pair each."""
    groups, first, total = [], 0, 0
    for p, size in enumerate(cells.tolist()):
        if p > first and total + size > most:
            groups.append((first, p))
            first, total = p, 0
        total += size
    groups.append((first, len(cells)))
    return groups


@compiled(plain_up_to=200_000)
def _fill_tables(members, pairs, widths, starts, values, weights, kind, taken):
    """Fill the tables of pairs, one after another."""
    p = next_task(taken)
    while p < pairs.shape[0]:
        a, b = pairs[p, 0], pairs[p, 1]
        cells = values[starts[p] : starts[p + 1]]
        pair_overlap(members[a], members[b], weights, kind, cells, widths[a], widths[b])
        p = next_task(taken)


@compiled
def pair_overlap(one, other, weights, kind, values, height, width):
    """Fill what each cell of two members' table is worth; 0 outside clusters and for empty cells.

    Parameters
    ----------
    one, other : (n_objects,) signed integers
        Labels; only objects that both saw count.
    weights : (n_objects,) float64, or (1,) where all are equal
    kind : INFORMATION or RELATIVE
        With n_hl objects in clusters h and l, and n in all: INFORMATION is
        n_hl log(n n_hl / (n_h n_l)) / sqrt(n_h log(n_h / n) n_l log(n_l / n)), and 0 where a
        cluster holds all n. RELATIVE is v_hl over the smaller of the largest v in its row and
        in its column, at most 1, with v_hl = n_hl / sqrt(n_h n_l).
    values : (height * width,) float64
        Zeros, filled row after row; the label -2 comes first, then -1, 0, ...
    height, width : int
        Number of clusters of each member plus 2.
    """
    table = np.zeros(height * width)
    count_cells(one, other, weights, width, table)
    _worths(table, kind, values, height, width)


@compiled
def fill_worths(table, edges, pairs, kind, values):
    """Fill what the cells of pairs of members are worth, from the counts of all at once.

    Parameters
    ----------
    table, values : (C, C) float64
        Counts, and zeros to be filled; every member has rows for unseen, noise, and its clusters.
    edges : (n_members + 1,) int64
        Where the rows of each member begin.
    pairs : (n_pairs, 2) int64
    kind : INFORMATION or RELATIVE
    """
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        height, width = edges[a + 1] - edges[a], edges[b + 1] - edges[b]
        cells, worth = np.zeros(height * width), np.zeros(height * width)
        for h in range(height):
            for c in range(width):
                cells[h * width + c] = table[edges[a] + h, edges[b] + c]
        _worths(cells, kind, worth, height, width)
        for h in range(height):
            for c in range(width):
                values[edges[a] + h, edges[b] + c] = worth[h * width + c]


@compiled
def _worths(table, kind, values, height, width):
    """What each cell of a table of counts is worth."""
    in_row, in_column, n = np.zeros(height), np.zeros(width), 0.0
    # Row and column 0 are objects that one of the two did not see.
    for h in range(1, height):
        for c in range(1, width):
            in_row[h] += table[h * width + c]
            in_column[c] += table[h * width + c]
            n += table[h * width + c]
    if kind == INFORMATION:
        _information(table, in_row, in_column, n, values)
    else:
        _relative(table, in_row, in_column, values)


def _count_cells_in_arrays(one, other, weights, width, table):
    np.add.at(table, cell.py_func(one, other, width), weights if len(weights) > 1 else weights[0])


@compiled(plain=_count_cells_in_arrays)
def count_cells(one, other, weights, width, table):
    """Add the weights of all objects to the cells of their labels."""
    step = 0 if weights.shape[0] == 1 else 1
    for i in range(one.shape[0]):
        table[cell(one[i], other[i], width)] += weights[i * step]


@compiled(inline="always")
def cell(a, b, width):
    """Place of two labels in a table; unsigned, so that nothing is counted from the end."""
    return np.uint64((np.int64(a) + _BEFORE) * width + np.int64(b) + _BEFORE)


@compiled
def _information(table, in_row, in_column, n, values):
    width = in_column.shape[0]
    for h in range(_BEFORE, in_row.shape[0]):
        for c in range(_BEFORE, width):
            both = table[h * width + c]
            if both > 0.0 and in_row[h] < n and in_column[c] < n:
                own = in_row[h] * log(in_row[h] / n) * in_column[c] * log(in_column[c] / n)
                ratio = n * both / (in_row[h] * in_column[c])
                values[h * width + c] = both * log(ratio) / np.sqrt(own)


@compiled
def _relative(table, in_row, in_column, values):
    width = in_column.shape[0]
    best_of_row, best_of_column = np.zeros(in_row.shape[0]), np.zeros(width)
    for h in range(_BEFORE, in_row.shape[0]):
        for c in range(_BEFORE, width):
            both = table[h * width + c]
            if both > 0.0:
                overlap = both / np.sqrt(in_row[h] * in_column[c])
                values[h * width + c] = overlap
                best_of_row[h] = max(best_of_row[h], overlap)
                best_of_column[c] = max(best_of_column[c], overlap)
    for h in range(_BEFORE, in_row.shape[0]):
        for c in range(_BEFORE, width):
            if values[h * width + c] > 0.0:
                best = min(best_of_row[h], best_of_column[c])
                values[h * width + c] = min(1.0, values[h * width + c] / best)


@compiled(plain_up_to=200_000)
def _look_up_blocks(members, pairs, widths, starts, values, edges, taken, sums):
    """`_look_up` of the objects, block by block."""
    block = next_task(taken)
    while block < edges.size - 1:
        start, stop = edges[block], edges[block + 1]
        _look_up(members, pairs, widths, starts, values, start, stop, sums)
        block = next_task(taken)


def _look_up_in_arrays(members, pairs, widths, starts, values, start, stop, sums):
    for p, (a, b) in enumerate(pairs):
        places = cell.py_func(members[a, start:stop], members[b, start:stop], widths[b])
        sums[start:stop] += values[starts[p] :][places]


@compiled(plain=_look_up_in_arrays)
def _look_up(members, pairs, widths, starts, values, start, stop, sums):
    """Add the worth of the cells of objects start..stop-1; those of noise and unseen are 0."""
    total = sums[start:stop]
    for p in range(pairs.shape[0]):
        one, other = members[pairs[p, 0], start:stop], members[pairs[p, 1], start:stop]
        width = widths[pairs[p, 1]]
        table = values[starts[p] : starts[p + 1]]
        for i in range(stop - start):
            total[i] += table[cell(one[i], other[i], width)]
