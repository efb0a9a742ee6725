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
from consilience.kernels._parallel import Team, by_rows
from consilience.kernels._tasks import counter, next_task, shrinking_blocks
from consilience.kernels.labels.cells import BEFORE, Tiles, cell, count_tile
from consilience.kernels.labels.contingency import first_columns

__all__ = ["COUNT", "INFORMATION", "RELATIVE", "mean_overlap", "pairs_that_saw", "sum_worths"]

Labels = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]

#: What a cell is worth: its share of the mutual information, its overlap relative to the best, or
#: as much as its objects weigh.
INFORMATION, RELATIVE, COUNT = 0, 1, 2

# Labels of a block stay in the second-level cache; smaller ones let threads end together, but for
# each all tables are read.
_BLOCK_BYTES, _LEAST = 3 * 2**18, 1024
_TABLE_BYTES = 2**26
# Objects of a slice for work that is short.
_SLICE = 1 << 14


def mean_overlap(
    members: Labels,
    weights: NDArray[Any],
    pairs: NDArray[np.int64],
    kind: int,
    *,
    starts: NDArray[np.int64] | None = None,
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
        See `_worths`.
    starts : (n_members + 1,) int64, optional
        `first_columns` of the members, where they are known.
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
    means, counts = np.zeros(members.shape[1]), np.empty(members.shape[1], np.int64)
    starts = first_columns(members) if starts is None else starts
    sum_worths(members, starts, weights, pairs, kind, means, n_jobs=n_jobs, max_table=max_table)

    def divide(some: slice) -> None:
        counts[some] = pairs_that_saw(members[:, some], pairs)
        means[some] /= np.maximum(counts[some], 1)

    by_rows(divide, len(means), n_jobs, size=_SLICE)
    return means, counts


def sum_worths(
    members: Labels,
    starts: NDArray[np.int64],
    weights: NDArray[Any],
    pairs: NDArray[np.int64],
    kind: int,
    sums: Floats,
    *,
    n_jobs: int = 1,
    max_table: int = _TABLE_BYTES,
) -> None:
    """Add to ``sums`` what each object's cells are worth, one pair after another.

    Parameters are those of `mean_overlap`.
    """
    # One weight stands for all: then a pass over the objects reads nothing but labels.
    weights = np.ones(1) if np.all(weights == 1) else np.ascontiguousarray(weights, np.float64)
    widths = np.diff(starts) + BEFORE
    cells = widths[pairs[:, 0]] * widths[pairs[:, 1]]
    for first, last in _groups(cells, max(max_table // 8, 1)):
        _add_group(members, weights, pairs[first:last], widths, kind, n_jobs, sums)


def pairs_that_saw(members: Labels, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of members that both saw each object."""
    if not (members == -BEFORE).any():
        return np.full(members.shape[1], len(pairs))
    counts = np.zeros(members.shape[1], np.int64)
    seen = members != -BEFORE
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
    tiles, n_objects = Tiles.of(pairs, widths), members.shape[1]
    values = np.zeros(tiles.n_cells)
    n_blocks = -(-n_objects // _LEAST)
    with Team(n_jobs, max(len(tiles.edges) - 1, n_blocks)) as team:
        most = max(_BLOCK_BYTES // (len(members) * members.itemsize), _LEAST)
        edges = shrinking_blocks(n_objects, team.size, most=most, least=_LEAST)
        filled, looked_up = counter(), counter()
        by_tile, tables = tuple(tiles.by_tile), tuple(tiles.tables)
        given = (members, weights, by_tile, tiles.edges, widths, kind)
        team.run(lambda _: _fill_tables(*given, values, filled))
        team.run(lambda _: _look_up_blocks(members, tables, values, edges, looked_up, sums))


def _groups(cells: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Runs of pairs whose tables together have at most so many cells, at least one pair each."""
    if cells.sum() <= most:
        return [(0, len(cells))]
    groups, first, total = [], 0, 0
    for p, size in enumerate(cells.tolist()):
        if p > first and total + size > most:
            groups.append((first, p))
            first, total = p, 0
        total += size
    groups.append((first, len(cells)))
    return groups


@compiled(plain_up_to=200_000)
def _fill_tables(members, weights, tables, edges, widths, kind, values, taken):
    """Fill zeros with what the cells of pairs are worth, tile after tile."""
    pairs, places, strides, _ = tables
    tile = next_task(taken)
    while tile < edges.size - 1:
        first, last = edges[tile], edges[tile + 1]
        count_tile(members, weights, tables, first, last, values[places[first] :])
        for p in range(first, last):
            height, width = widths[pairs[p, 0]], widths[pairs[p, 1]]
            _worths(values[places[p] :], strides[p], kind, height, width)
        tile = next_task(taken)


@compiled
def _worths(values, stride, kind, height, width):
    """Put what each cell of two members' table is worth in the place of its count.

    With n_hl objects in clusters h and l, and n in all: INFORMATION is
    n_hl log(n n_hl / (n_h n_l)) / sqrt(n_h log(n_h / n) n_l log(n_l / n)), and 0 where a cluster
    holds all n. RELATIVE is v_hl over the smaller of the largest v in its row and in its column, at
    most 1, with v_hl = n_hl / sqrt(n_h n_l). COUNT is n_hl. Only objects that both saw count, and
    outside clusters all cells are worth 0.
    """
    table, n = np.zeros(height * width), 0.0
    in_row, in_column = np.zeros(height), np.zeros(width)
    for h in range(height):
        for c in range(width):
            count = values[h * stride + c]
            if kind != COUNT or h < BEFORE or c < BEFORE:
                values[h * stride + c] = 0.0
            # Row and column 0 are objects that one of the two did not see.
            if h > 0 and c > 0:
                table[h * width + c] = count
                in_row[h] += count
                in_column[c] += count
                n += count
    if kind == INFORMATION:
        _information(table, in_row, in_column, n, values, stride)
    elif kind == RELATIVE:
        _relative(table, in_row, in_column, values, stride)


@compiled
def _information(table, in_row, in_column, n, values, stride):
    width = in_column.shape[0]
    for h in range(BEFORE, in_row.shape[0]):
        for c in range(BEFORE, width):
            both = table[h * width + c]
            if both > 0.0 and in_row[h] < n and in_column[c] < n:
                own = in_row[h] * log(in_row[h] / n) * in_column[c] * log(in_column[c] / n)
                ratio = n * both / (in_row[h] * in_column[c])
                values[h * stride + c] = both * log(ratio) / np.sqrt(own)


@compiled
def _relative(table, in_row, in_column, values, stride):
    width = in_column.shape[0]
    best_of_row, best_of_column = np.zeros(in_row.shape[0]), np.zeros(width)
    for h in range(BEFORE, in_row.shape[0]):
        for c in range(BEFORE, width):
            both = table[h * width + c]
            if both > 0.0:
                overlap = both / np.sqrt(in_row[h] * in_column[c])
                values[h * stride + c] = overlap
                best_of_row[h] = max(best_of_row[h], overlap)
                best_of_column[c] = max(best_of_column[c], overlap)
    for h in range(BEFORE, in_row.shape[0]):
        for c in range(BEFORE, width):
            if values[h * stride + c] > 0.0:
                best = min(best_of_row[h], best_of_column[c])
                values[h * stride + c] = min(1.0, values[h * stride + c] / best)


@compiled(plain_up_to=200_000)
def _look_up_blocks(members, tables, values, edges, taken, sums):
    """Add the worth of the cells of the objects, block by block; noise and unseen are worth 0."""
    pairs, places, strides, fours = tables
    block = next_task(taken)
    while block < edges.size - 1:
        start, stop = edges[block], edges[block + 1]
        total, p = sums[start:stop], 0
        while p < pairs.shape[0]:
            at = values[places[p] :]
            if fours[p]:
                _look_up_four(members, start, stop, pairs, places, strides, p, at, total)
                p += 4
            else:
                one, other = members[pairs[p, 0], start:stop], members[pairs[p, 1], start:stop]
                _look_up(one, other, strides[p], at, total)
                p += 1
        block = next_task(taken)


def _look_up_in_arrays(one, other, stride, values, total):
    total += values[cell.py_func(one, other, stride)]


@compiled(plain=_look_up_in_arrays)
def _look_up(one, other, stride, values, total):
    """Add the worth of the cells of two members."""
    for i in range(total.size):
        total[i] += values[cell(one[i], other[i], stride)]


def _look_up_four_in_arrays(members, start, stop, pairs, places, strides, p, values, total):
    for q in range(p, p + 4):
        (one, other), at = members[pairs[q], start:stop], places[q] - places[p]
        _look_up_in_arrays(one, other, strides[q], values[at:], total)


@compiled(plain=_look_up_four_in_arrays)
def _look_up_four(members, start, stop, pairs, places, strides, p, values, total):
    """`_look_up` of one member and four others, in this order: every sum is read and written once.

    Their tables lie side by side.
    """
    one, stride = members[pairs[p, 0], start:stop], strides[p]
    first, second = members[pairs[p, 1], start:stop], members[pairs[p + 1, 1], start:stop]
    third, fourth = members[pairs[p + 2, 1], start:stop], members[pairs[p + 3, 1], start:stop]
    b, c, d = places[p + 1] - places[p], places[p + 2] - places[p], places[p + 3] - places[p]
    for i in range(total.size):
        a = one[i]
        worth = total[i] + values[cell(a, first[i], stride)]
        worth += values[cell(a, b + second[i], stride)]
        worth += values[cell(a, c + third[i], stride)]
        total[i] = worth + values[cell(a, d + fourth[i], stride)]
