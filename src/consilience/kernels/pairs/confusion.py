"""Sums over all other objects of a function of the co-association, object by object.

A quadratic function needs no pairs of objects: the sum of squared pair counts of an object is
a sum of its entries in the contingency tables of all pairs of members. Any other function is
summed over rows of pair counts through a table of its values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team, streamed
from consilience.kernels._tasks import counter, next_task, shrinking_blocks
from consilience.kernels.labels.contingency import cluster_contingency, first_columns

__all__ = ["pair_moments", "sum_over_pairs"]

Labels = NDArray[np.signedinteger[Any]]
Moments = tuple[NDArray[np.float64], NDArray[np.float64]]

# Labels of one block of objects stay in the second-level cache for fifty members; in a smaller one,
# at the end, tables are read for fewer objects.
_BLOCK, _LEAST = 4096, 512
# Largest matrix of all tables; past it, tables are made pair of members by pair of members.
_TABLE_BYTES = 2**28


def pair_moments(
    members: Labels,
    weights: NDArray[Any],
    *,
    n_jobs: int = 1,
    max_table: int = _TABLE_BYTES,
) -> Moments:
    """Weighted sums over all objects j of V_ij and of V_ij squared, for every object i.

    V_ij is the number of members that put i and j into one cluster; j = i is included.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; negative labels are in no cluster.
    weights : (n_objects,) numbers
        How often each object j counts. Whole numbers give exact sums.
    n_jobs : int, default=1
        Threads. Whole weights give the same result for any number of them.
    max_table : int, default=2**28
        Bytes the matrix of all contingency tables may take. Past that the tables are made
        one at a time, which reads the labels more often.

    Returns
    -------
    first, second : ndarrays of shape (n_objects,), float64
        Time O(n R^2), memory O(n) and the tables: no pair of objects is ever looked at.

    Examples
    --------
    >>> pair_moments(np.array([[0, 0, 1], [0, 1, 1]], np.int8), np.ones(3))
    (array([3., 4., 3.]), array([5., 6., 5.]))
    """
    n_objects = members.shape[1]
    weights = np.ascontiguousarray(weights, np.float64)
    starts = first_columns(members)
    if int(starts[-1]) ** 2 * 8 > max_table:
        return _by_member_pairs(members, starts, weights, n_jobs)
    table = cluster_contingency(members, weights, n_jobs=n_jobs)
    first, second = np.empty(n_objects), np.empty(n_objects)

    with Team(n_jobs, -(-n_objects // _BLOCK)) as team:
        edges = shrinking_blocks(n_objects, team.size, most=_BLOCK, least=_LEAST)
        taken = counter()
        team.run(lambda _: _gather_blocks(members, starts, table, edges, taken, first, second))
    return first, second


def _by_member_pairs(
    members: Labels, starts: NDArray[np.int64], weights: NDArray[np.float64], n_jobs: int
) -> Moments:
    """`pair_moments` with one contingency table at a time."""
    n_members, n_objects = members.shape
    first, second = np.zeros(n_objects), np.zeros(n_objects)

    def moments(r: int) -> Moments:
        ones, twos = np.zeros(n_objects), np.zeros(n_objects)
        _one_member(members, starts, weights, r, ones, twos)
        return ones, twos

    # Results arrive in the order of the members, so that threads change nothing.
    for _, (one, two) in streamed(moments, range(n_members), n_jobs):
        first += one
        second += two
    return first, second


@compiled
def _gather_blocks(members, starts, table, edges, taken, first, second):
    """Moments of the objects, block by block."""
    block = next_task(taken)
    while block < edges.size - 1:
        _gather_block(members, starts, table, edges[block], edges[block + 1], first, second)
        block = next_task(taken)


@compiled
def _gather_block(members, starts, table, start, stop, first, second):
    """Moments of objects start..stop-1 from the matrix of all tables."""
    n_members = members.shape[0]
    size = stop - start
    ones, twos = first[start:stop], second[start:stop]
    ones[:] = 0.0
    twos[:] = 0.0
    for r in range(n_members):
        one = members[r, start:stop]
        for i in range(size):
            if one[i] >= 0:
                column = starts[r] + one[i]
                ones[i] += table[column, column]
        s = r + 1
        while s + 3 < n_members:
            _gather_four(members, starts, table, r, s, start, stop, twos)
            s += 4
        while s < n_members:
            # A table of two members is small: it stays in the first-level cache.
            small = table[starts[r] : starts[r + 1], starts[s] : starts[s + 1]]
            other = members[s, start:stop]
            for i in range(size):
                if one[i] >= 0 and other[i] >= 0:
                    twos[i] += small[one[i], other[i]]
            s += 1
    for i in range(size):
        twos[i] = 2.0 * twos[i] + ones[i]


@compiled
def _gather_four(members, starts, table, r, s, start, stop, twos):
    """Add the entries of objects in the tables of member r with s, s + 1, s + 2 and s + 3.

    In this order, as one by one: every sum is read and written once instead of four times.
    """
    one = members[r, start:stop]
    rows = table[starts[r] : starts[r + 1]]
    first, second = members[s, start:stop], members[s + 1, start:stop]
    third, fourth = members[s + 2, start:stop], members[s + 3, start:stop]
    at_b, at_c, at_d, at_e = starts[s], starts[s + 1], starts[s + 2], starts[s + 3]
    for i in range(twos.size):
        a = one[i]
        if a < 0:
            continue
        b, c, d, e = first[i], second[i], third[i], fourth[i]
        total = twos[i]
        if b >= 0:
            total += rows[a, at_b + b]
        if c >= 0:
            total += rows[a, at_c + c]
        if d >= 0:
            total += rows[a, at_d + d]
        if e >= 0:
            total += rows[a, at_e + e]
        twos[i] = total


@compiled
def _one_member(members, starts, weights, r, ones, twos):
    """What member r adds to the moments, alone and with all later members, into zeros."""
    n_members, n_objects = members.shape
    one = members[r]
    sizes = np.zeros(starts[r + 1] - starts[r])
    for i in range(n_objects):
        if one[i] >= 0:
            sizes[one[i]] += weights[i]
    for i in range(n_objects):
        if one[i] >= 0:
            ones[i] = sizes[one[i]]
    for s in range(r + 1, n_members):
        other = members[s]
        small = np.zeros((sizes.shape[0], starts[s + 1] - starts[s]))
        for i in range(n_objects):
            if one[i] >= 0 and other[i] >= 0:
                small[one[i], other[i]] += weights[i]
        for i in range(n_objects):
            if one[i] >= 0 and other[i] >= 0:
                twos[i] += small[one[i], other[i]]
    for i in range(n_objects):
        twos[i] = 2.0 * twos[i] + ones[i]


@compiled
def sum_over_pairs(joined, seen, weights, table, sums, squares):
    """Fill the weighted sums over columns of a function of pair counts, and of its square.

    Parameters
    ----------
    joined : (n_rows, n_columns) unsigned integers
        Members that joined each pair.
    seen : like ``joined``, or None
        Members that saw both; None reads row 0 of the table.
    weights : (n_columns,) floats
        How often each column counts.
    table : (n_seen, n_joined) floats
        The function at ``seen`` and ``joined``.
    sums, squares : (n_rows,) floats
        Overwritten.
    """
    n_rows, n_columns = joined.shape
    for a in range(n_rows):
        total, total_square = 0.0, 0.0
        for b in range(n_columns):
            row = 0 if seen is None else seen[a, b]
            value = table[row, joined[a, b]]
            total += weights[b] * value
            total_square += weights[b] * value * value
        sums[a] = total
        squares[a] = total_square
