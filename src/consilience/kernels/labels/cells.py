"""Tables of pairs of members: the weight of the objects that have two labels at once.

Unseen and noise (labels -2 and -1) have a row and a column of their own before the clusters, so
that no label is asked what it is. Tables of some members with some others are filled together, a
block of objects after another: labels are read from memory once for all of them. Those of one
member with four others lie side by side and are gone through at once: an addition, which waits
for the last one to its cell, has the next table to go on with.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["BEFORE", "PairTables", "Tiles", "cell", "count_cells", "count_tile"]

Ints = NDArray[np.int64]

#: Rows and columns of a table before the clusters: unseen (label -2) and noise (-1).
BEFORE = 2

# Members on each side of a tile: its tables stay in the second-level cache for about 20 clusters.
_SIDE = 4
# Objects that the tables of a tile are given at once: their labels stay in the nearest cache.
_BLOCK = 2048


class PairTables(NamedTuple):
    """Where the tables of pairs of members lie among the cells of all of them.

    Attributes
    ----------
    pairs : ndarray of shape (n_pairs, 2)
    places, strides : ndarray of shape (n_pairs,)
        Where the table of a pair begins, and how far its rows are apart.
    fours : ndarray of shape (n_pairs,), bool
        Whether the tables of this pair and the next three lie side by side.
    """

    pairs: Ints
    places: Ints
    strides: Ints
    fours: NDArray[np.bool_]


class Tiles(NamedTuple):
    """Tables of pairs of members, those of the same few members together.

    Attributes
    ----------
    tables : PairTables
        In the order of the pairs given.
    by_tile : PairTables
        The same, tile by tile.
    edges : ndarray of shape (n_tiles + 1,)
        Where tiles begin there, and where the last ends; the largest come first, so that threads
        end together.
    n_cells : int
    """

    tables: PairTables
    by_tile: PairTables
    edges: Ints
    n_cells: int

    @classmethod
    def of(cls, pairs: Ints, widths: Ints) -> "Tiles":
        """Tiles of pairs of members that have so many rows or columns in a table.

        >>> tiles = Tiles.of(np.array([[0, 1], [0, 5], [0, 6], [1, 2]]), np.full(7, 3))
        >>> tiles.edges, tiles.tables.places, tiles.tables.strides, tiles.n_cells
        (array([0, 2, 4]), array([ 0, 18, 21,  9]), array([3, 6, 6, 3]), 36)
        """
        a, b = pairs.T
        tile = (a // _SIDE) * (int(b.max(initial=0)) // _SIDE + 1) + b // _SIDE
        _, tile, sizes = np.unique(tile, return_inverse=True, return_counts=True)
        order = np.lexsort((b, a, tile, -sizes[tile]))
        a, b, tile = a[order], b[order], tile[order]
        # The tables of one member in a tile are a strip: they lie side by side.
        fresh = (np.diff(tile, prepend=-1) != 0) | (np.diff(a, prepend=-1) != 0)
        strip = np.cumsum(fresh) - 1
        wide = np.add.reduceat(widths[b], np.flatnonzero(fresh))
        cells = widths[a[fresh]] * wide
        across = np.cumsum(widths[b]) - widths[b]
        places = (np.cumsum(cells) - cells - across[fresh])[strip] + across
        back = np.argsort(order)
        by_tile = PairTables(pairs[order], places, wide[strip], _fours(strip))
        tables = PairTables(pairs, places[back], wide[strip][back], _fours(strip[back]))
        ends = np.flatnonzero(np.diff(tile, append=-1)) + 1
        return cls(tables, by_tile, np.append(0, ends), int(cells.sum()))


def _fours(strip: Ints) -> NDArray[np.bool_]:
    """Where four in a row are of one strip."""
    fours = np.zeros(len(strip), bool)
    fours[:-3] = np.all([strip[at : len(strip) - 3 + at] == strip[:-3] for at in (1, 2, 3)], axis=0)
    return fours


def _count_cells_in_arrays(one, other, weights, width, table):
    np.add.at(table, cell.py_func(one, other, width), weights if len(weights) > 1 else weights[0])


@compiled(plain=_count_cells_in_arrays)
def count_cells(one, other, weights, width, table):
    """Add the weights of all objects to the cells of their labels, in rows so far apart."""
    step = 0 if weights.shape[0] == 1 else 1
    for i in range(one.shape[0]):
        table[cell(one[i], other[i], width)] += weights[np.uint64(i * step)]


@compiled(inline="always")
def cell(a, b, width):
    """Place of two labels in a table; unsigned, so that nothing is counted from the end."""
    return np.uint64((np.int64(a) + BEFORE) * width + np.int64(b) + BEFORE)


@compiled
def count_tile(members, weights, tables, first, last, cells):
    """Add the weights of all objects to the tables of the pairs first to last - 1.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) float64, or (1,) where all are equal
    tables : tuple
        `PairTables`, by tile.
    first, last : int
        The pairs of a tile.
    cells : float64
        Those from the first table of the tile on. Each gets the objects in their order.
    """
    pairs, places, strides, fours = tables
    n = members.shape[1]
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        own = weights if weights.shape[0] == 1 else weights[start:stop]
        p = first
        while p < last:
            at = cells[places[p] - places[first] :]
            if fours[p]:
                _count_four(members, start, stop, own, pairs, places, strides, p, at)
                p += 4
            else:
                one, other = members[pairs[p, 0], start:stop], members[pairs[p, 1], start:stop]
                count_cells(one, other, own, strides[p], at)
                p += 1


def _count_four_in_arrays(members, start, stop, weights, pairs, places, strides, p, cells):
    for q in range(p, p + 4):
        (one, other), at = members[pairs[q], start:stop], places[q] - places[p]
        _count_cells_in_arrays(one, other, weights, strides[q], cells[at:])


@compiled(plain=_count_four_in_arrays)
def _count_four(members, start, stop, weights, pairs, places, strides, p, cells):
    """`count_cells` of one member with four others, whose tables lie side by side."""
    step = 0 if weights.shape[0] == 1 else 1
    one, stride = members[pairs[p, 0], start:stop], strides[p]
    first, second = members[pairs[p, 1], start:stop], members[pairs[p + 1, 1], start:stop]
    third, fourth = members[pairs[p + 2, 1], start:stop], members[pairs[p + 3, 1], start:stop]
    b, c, d = places[p + 1] - places[p], places[p + 2] - places[p], places[p + 3] - places[p]
    for i in range(one.shape[0]):
        a, weight = one[i], weights[np.uint64(i * step)]
        cells[cell(a, first[i], stride)] += weight
        cells[cell(a, b + second[i], stride)] += weight
        cells[cell(a, c + third[i], stride)] += weight
        cells[cell(a, d + fourth[i], stride)] += weight
