"""Sums over all other objects of a function of the co-association, object by object.

A quadratic function needs no pairs of objects: the sum of squared pair counts of an object is
a sum of its entries in the contingency tables of all pairs of members. Any other function is
summed over rows of pair counts through a table of its values.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import cluster_sums, row_sums
from consilience.kernels.pairs.ambiguity import COUNT, sum_worths

__all__ = ["pair_moments", "sum_over_pairs"]

Labels = NDArray[np.signedinteger[Any]]
Moments = tuple[NDArray[np.float64], NDArray[np.float64]]

# Bytes of tables held at once.
_TABLE_BYTES = 2**26


def pair_moments(
    members: Labels,
    weights: NDArray[Any],
    *,
    starts: NDArray[np.int64] | None = None,
    n_jobs: int = 1,
    max_table: int = _TABLE_BYTES,
) -> Moments:
    """Weighted sums over all objects j of V_ij and of V_ij squared, for every object i.

    V_ij is the number of members that put i and j into one cluster; j = i is included.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) numbers
        How often each object j counts. Whole numbers give exact sums.
    starts : (n_members + 1,) int64, optional
        `first_columns` of the members, where they are known.
    n_jobs : int, default=1
        Threads. Whole weights give the same result for any number of them.
    max_table : int, default=2**26
        Bytes of tables held at once. Changes time only.

    Returns
    -------
    first, second : ndarrays of shape (n_objects,), float64
        Time O(n R^2), memory O(n) and the tables: no pair of objects is ever looked at.

    Examples
    --------
    >>> pair_moments(np.array([[0, 0, 1], [0, 1, 1]], np.int8), np.ones(3))
    (array([3., 4., 3.]), array([5., 6., 5.]))
    """
    weights = np.ascontiguousarray(weights, np.float64)
    starts = first_columns(members) if starts is None else starts
    sizes = cluster_sums(members, starts, weights[:, None], n_jobs=n_jobs)
    first = row_sums(members, starts, sizes, n_jobs=n_jobs)[:, 0]
    second = np.zeros(members.shape[1])
    pairs = np.stack(np.triu_indices(len(members), 1), axis=1).astype(np.int64)
    if len(pairs):
        given = (members, starts, weights, pairs, COUNT, second)
        sum_worths(*given, n_jobs=n_jobs, max_table=max_table)
    # Every pair of members counts twice, and a member with itself once.
    second *= 2.0
    second += first
    return first, second


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
