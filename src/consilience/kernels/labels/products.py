"""Products with the matrix of objects x all clusters, B, without ever making it.

B has a one where the object is in the cluster; it is read off the labels. Factorisations
and mixtures of label tables need only ``B @ table``, ``B.T @ values`` and the inner products
of the members' matrices of pairs. A negative label (noise, unseen) is a row without a one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels._tasks import counter, next_task

__all__ = ["cluster_sums", "pair_products", "part_sums", "row_sums"]

Labels = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]

# Objects whose sums are held at once: small enough for the first cache with k about 20.
_BLOCK = 128
# Blocks that a thread takes at once.
_BLOCKS = 16
# Labels that are worth a thread.
_WORTH = 2**18


def row_sums(
    members: Labels,
    starts: NDArray[np.int64],
    table: Floats,
    *,
    n_jobs: int | None = 1,
    out: Floats | None = None,
) -> Floats:
    """Sum of the table's rows of each object's clusters, ``B @ table``.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; negative labels are in no cluster.
    starts : (n_members + 1,) int64
        First row of each member in the table (`kernels.labels.contingency.first_columns`).
    table : (n_clusters, k) float64
    n_jobs : int or None, default=1
        Threads, over objects; the result does not depend on it.
    out : (n_objects, k) float64, C-contiguous, optional
        Where to write.

    Returns
    -------
    ndarray of shape (n_objects, k)

    Examples
    --------
    >>> members = np.array([[0, 1], [0, -2]], np.int8)
    >>> row_sums(members, np.array([0, 2, 3]), np.array([[1.0], [2.0], [5.0]])).tolist()
    [[6.0], [2.0]]
    """
    # Not filled here: every thread is the first to touch what it writes.
    out = np.empty((members.shape[1], table.shape[1])) if out is None else out
    table = np.ascontiguousarray(table)
    taken = counter()
    in_turns(
        lambda *_: _row_sums(members, starts, table, taken, out),
        min(-(-members.shape[1] // (_BLOCK * _BLOCKS)), -(-members.size // _WORTH)),
        n_jobs,
    )
    return out


@compiled(plain_up_to=400_000, size=lambda members, _, table, *rest: members.size * table.shape[1])
def _row_sums(members, starts, table, taken, out):
    """Fill block after block of objects, member by member, so it stays in cache."""
    n_members, n_objects = members.shape
    k = table.shape[1]
    begin = next_task(taken) * _BLOCK * _BLOCKS
    while begin < n_objects:
        for first in range(begin, min(begin + _BLOCK * _BLOCKS, n_objects), _BLOCK):
            last = min(first + _BLOCK, n_objects)
            out[first:last] = 0.0
            for r in range(n_members):
                for i in range(first, last):
                    label = members[r, i]
                    if label >= 0:
                        g = starts[r] + label
                        for q in range(k):
                            out[i, q] += table[g, q]
        begin = next_task(taken) * _BLOCK * _BLOCKS


def cluster_sums(
    members: Labels, starts: NDArray[np.int64], values: Floats, *, n_jobs: int | None = 1
) -> Floats:
    """Sum of the objects' rows of values in each cluster, ``B.T @ values``.

    Parameters
    ----------
    members, starts
        As in `row_sums`.
    values : (n_objects, k) float64
    n_jobs : int or None, default=1
        Threads, over members; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters, k)
        Each entry summed in the order of the objects.

    Examples
    --------
    >>> members = np.array([[0, 1, 0], [0, -2, 0]], np.int8)
    >>> cluster_sums(members, np.array([0, 2, 3]), np.array([[1.0], [2.0], [4.0]])).tolist()
    [[5.0], [2.0], [5.0]]
    """
    out = np.zeros((int(starts[-1]), values.shape[1]))
    values = np.ascontiguousarray(values)
    n_turns = min(len(members), -(-members.size // _WORTH))
    if values.shape[1] == 1:
        taken = counter()
        one = values[:, 0]
        in_turns(lambda *_: _sums_of_one(members, starts, one, taken, out[:, 0]), n_turns, n_jobs)
    else:
        in_turns(
            lambda at, step: _cluster_sums(members, starts, values, at, step, out), n_turns, n_jobs
        )
    return out


@compiled
def _cluster_sums(members, starts, values, at, step, out):
    """Add to ``out`` in blocks of objects: a thread reads a block's values once from memory."""
    n_members, n_objects = members.shape
    k = values.shape[1]
    for first in range(0, n_objects, _BLOCK):
        last = min(first + _BLOCK, n_objects)
        for r in range(at, n_members, step):
            for i in range(first, last):
                label = members[r, i]
                if label >= 0:
                    g = starts[r] + label
                    for q in range(k):
                        out[g, q] += values[i, q]


@compiled
def _sums_of_one(members, starts, values, taken, out):
    """Add a column of values to ``out``, member after member."""
    r = next_task(taken)
    while r < members.shape[0]:
        # Not where other threads write at the same time.
        own = np.zeros(starts[r + 1] - starts[r])
        for i in range(members.shape[1]):
            label = members[r, i]
            if label >= 0:
                own[label] += values[i]
        out[starts[r] : starts[r + 1]] = own
        r = next_task(taken)


def part_sums(
    members: Labels,
    starts: NDArray[np.int64],
    parts: NDArray[np.int32],
    n_parts: int,
    weights: Floats,
    *,
    n_jobs: int | None = 1,
) -> Floats:
    """Weight of the objects of each part in each cluster, ``B.T @ diag(weights) @ P``.

    Parameters
    ----------
    members, starts
        As in `row_sums`.
    parts : (n_objects,) int32
        The part of each object, 0..n_parts-1; negative for none.
    n_parts : int
    weights : (n_objects,) float64
    n_jobs : int or None, default=1
        Threads, over members; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters, n_parts)
        Each entry summed in the order of the objects.

    Examples
    --------
    >>> members, parts = np.array([[0, 1, 0], [0, -2, 0]], np.int8), np.array([0, 0, 1], np.int32)
    >>> part_sums(members, np.array([0, 2, 3]), parts, 2, np.array([1.0, 2.0, 4.0])).tolist()
    [[1.0, 4.0], [2.0, 0.0], [1.0, 4.0]]
    """
    out = np.zeros((int(starts[-1]), n_parts))
    weights = np.ascontiguousarray(weights, np.float64)
    in_turns(
        lambda at, step: _part_sums(members, starts, parts, weights, at, step, out),
        min(len(members), -(-members.size // _WORTH)),
        n_jobs,
    )
    return out


@compiled(plain_up_to=100_000)
def _part_sums(members, starts, parts, weights, at, step, out):
    """Fill the clusters of every ``step``-th member: its table stays in cache."""
    for r in range(at, members.shape[0], step):
        for i in range(members.shape[1]):
            if members[r, i] >= 0 and parts[i] >= 0:
                out[starts[r] + members[r, i], parts[i]] += weights[i]


def pair_products(members: Labels, weights: Floats, *, n_jobs: int = 1) -> Floats:
    """Inner products of the members' matrices of pairs, ``<B_r B_r^T, B_s B_s^T>``.

    With objects repeated (or scaled) by ``weights`` this is the sum of squares of the
    contingency table of members r and s, so neither objects x objects nor clusters x
    clusters is held.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
    weights : (n_objects,) float64
    n_jobs : int, default=1
        Threads, over members; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_members, n_members)
        Symmetric. Time O(n_objects n_members^2).

    Examples
    --------
    >>> pair_products(np.array([[0, 0, 1], [0, 1, 1]], np.int8), np.ones(3)).tolist()
    [[5.0, 3.0], [3.0, 5.0]]
    """
    n_members = len(members)
    sizes = np.maximum(members.max(axis=1).astype(np.int64) + 1, 0)
    out = np.zeros((n_members, n_members))
    in_turns(
        lambda at, step: _pair_products(members, sizes, weights, at, step, out),
        n_members * (n_members + 1) // 2,
        n_jobs,
    )
    return out


@compiled(plain_up_to=4_000_000, size=lambda members, *rest: members.size * len(members))
def _pair_products(members, sizes, weights, first, turn, out):
    """Fill ``out`` from the tables of the pairs of members that have this turn."""
    n_members = members.shape[0]
    pair = 0
    for r in range(n_members):
        for s in range(r, n_members):
            if pair % turn == first:
                out[r, s] = out[s, r] = _pair_product(members, sizes, weights, r, s)
            pair += 1


def _pair_product_in_arrays(members, sizes, weights, r, s):
    both = (members[r] >= 0) & (members[s] >= 0)
    cells = members[r][both] * np.int64(sizes[s]) + members[s][both]
    table = np.bincount(cells, weights[both], minlength=1)
    return np.add.accumulate(table * table)[-1]


@compiled(plain=_pair_product_in_arrays)
def _pair_product(members, sizes, weights, r, s):
    """Sum of squares of the contingency table of two members."""
    table = np.zeros((sizes[r], sizes[s]))
    for i in range(members.shape[1]):
        a, b = members[r, i], members[s, i]
        if a >= 0 and b >= 0:
            table[a, b] += weights[i]
    total = 0.0
    for a in range(sizes[r]):
        for b in range(sizes[s]):
            total += table[a, b] * table[a, b]
    return total
