"""Costs of correlation clustering where members saw different objects.

Every pair has its own denominator there: joined / seen. No table of clusters can hold that,
so pairs are counted, row by row, on the fly: time O(n^2 R), memory O(n k).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.pairs.compare import (
    block_width,
    count_joined,
    count_seen,
    count_seen_by,
    count_type,
    make_query,
)

__all__ = ["own_costs", "pair_costs", "pair_joins"]

Labels = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Queries answered in one turn of a thread.
_QUERIES = 256


def pair_joins(
    queries: Labels,
    members: Labels,
    weights: Ints,
    labels: NDArray[np.int32],
    k: int,
    *,
    n_jobs: int = 1,
) -> Floats:
    """Cost of each query's joining each of k clusters of objects, (n_queries, k).

    Parameters
    ----------
    queries : (n_queries, n_members) signed integers, C-contiguous
        Label rows. A query that is one of the objects meets itself there, by the rule of any
        other pair.
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    weights : (n_objects,) int64
    labels : (n_objects,) int32
        Clusters of the objects; negative for none.
    n_jobs : int, default=1
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_queries, k)
        Sum over the cluster of 1 - 2 joined / seen, 0/0 being 0.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, -2, 1]], np.int8)
    >>> labels = np.array([0, -1, 1], np.int32)
    >>> pair_joins(np.ascontiguousarray(members.T), members, np.ones(3, np.int64), labels, 2)
    array([[-1.,  1.],
           [-1.,  1.],
           [ 1., -1.]])
    """
    out = np.zeros((len(queries), k))
    fixed = (members, count_seen_by(members), weights, labels, _buffer(members))

    n_blocks = -(-len(queries) // _QUERIES)
    in_turns(lambda at, step: _block_costs(queries, *fixed, out, at, step), n_blocks, n_jobs)
    return out


def pair_costs(
    members: Labels, rows: Labels, weights: Ints, labelings: NDArray[np.int32]
) -> Floats:
    """Sum of 1 - 2 joined / seen over the pairs that each of several clusterings joins.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
    rows : (n_objects, n_members) signed integers, C-contiguous
        The same, object by object.
    weights : (n_objects,) int64
    labelings : (n_labelings, n_objects) int32
        Clusterings; a negative label is a cluster of its own. One more pass over pairs of
        objects serves them all.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, -2, 1]], np.int8)
    >>> labelings = np.array([[0, 0, 0], [0, 0, 1]], np.int32)
    >>> pair_costs(members, np.ascontiguousarray(members.T), np.ones(3, np.int64), labelings)
    array([ 1., -1.])
    """
    out = np.zeros(len(labelings))
    seen_by = count_seen_by(members)
    _pair_costs(members, rows, seen_by, weights, _buffer(members), labelings, out)
    return out


def _buffer(members: Labels) -> NDArray[Any]:
    """An array of the type and width of the counts of one block, as a pattern."""
    return np.empty(min(block_width(members), members.shape[1]), count_type(len(members)))


def own_costs(rows: Labels, weights: Ints) -> Floats:
    """What each object adds to `pair_joins` when it meets itself."""
    seen = np.maximum((rows != -2).sum(axis=1), 1)
    return weights * (1.0 - 2.0 * ((rows >= 0).sum(axis=1) / seen))


@compiled
def _block_costs(queries, members, n_seen, weights, labels, pattern, out, first, turn):
    """`_query_costs` of the blocks of queries first, first + turn, ..."""
    for start in range(first * _QUERIES, queries.shape[0], turn * _QUERIES):
        some, place = queries[start : start + _QUERIES], out[start : start + _QUERIES]
        _query_costs(some, members, n_seen, weights, labels, pattern, place)


@compiled
def _query_costs(queries, members, n_seen, weights, labels, pattern, out):
    """Add to ``out`` what each query's joining costs, block by block of objects."""
    n, width = members.shape[1], pattern.shape[0]
    joined, seen = np.empty_like(pattern), np.empty_like(pattern)
    scratch, query = np.empty(width, np.uint8), make_query(members)
    for lo in range(0, n, width):
        size = min(width, n - lo)
        for i in range(queries.shape[0]):
            count_joined(members, queries[i], lo, query, scratch, joined[:size])
            count_seen(members, queries[i], n_seen, lo, query, scratch, seen[:size])
            for j in range(size):
                q = labels[lo + j]
                if q >= 0:
                    share = joined[j] / seen[j] if seen[j] > 0 else 0.0
                    out[i, q] += weights[lo + j] * (1.0 - 2.0 * share)


@compiled
def _pair_costs(members, rows, n_seen, weights, pattern, labelings, out):
    """Add to ``out`` the joined pairs i < j of every labeling, block by block of j."""
    n, width = members.shape[1], pattern.shape[0]
    joined, seen = np.empty_like(pattern), np.empty_like(pattern)
    scratch, query = np.empty(width, np.uint8), make_query(members)
    costs = np.empty(width)
    for lo in range(0, n, width):
        size = min(width, n - lo)
        for i in range(lo + size):
            count_joined(members, rows[i], lo, query, scratch, joined[:size])
            count_seen(members, rows[i], n_seen, lo, query, scratch, seen[:size])
            skip = max(0, i + 1 - lo)
            for j in range(skip, size):
                share = joined[j] / seen[j] if seen[j] > 0 else 0.0
                costs[j] = weights[i] * weights[lo + j] * (1.0 - 2.0 * share)
            for one in range(labelings.shape[0]):
                own, total = labelings[one, i], 0.0
                if own >= 0:
                    for j in range(skip, size):
                        total += costs[j] if labelings[one, lo + j] == own else 0.0
                    out[one] += total
