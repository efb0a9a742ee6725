"""Passes over the rows of a tall matrix: products with a vector, sums, the small Gram matrix.

A tall matrix is (starts, columns, values) as in CSR, or a dense array. ``chosen`` lists the
rows a pass visits, ``counts`` how often each of them counts; sums run in that order, so
nothing depends on threads.
"""

import numpy as np
from numba import njit

__all__ = [
    "csr_gram",
    "dense_dots",
    "dense_sum",
    "dense_sum_of_dots",
    "member_sums",
    "part_votes",
    "sparse_dots",
    "sparse_sum",
    "sparse_sum_of_dots",
]


@njit(cache=True, nogil=True)
def sparse_dots(starts, columns, values, chosen, direction):
    """Product of each chosen row with ``direction``."""
    out = np.empty(chosen.size)
    for j in range(chosen.size):
        i = chosen[j]
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e] * direction[columns[e]]
        out[j] = total
    return out


@njit(cache=True, nogil=True)
def sparse_sum(starts, columns, values, chosen, counts, n_columns):
    """Sum of the chosen rows, each ``counts`` times."""
    out = np.zeros(n_columns)
    for j in range(chosen.size):
        i = chosen[j]
        for e in range(starts[i], starts[i + 1]):
            out[columns[e]] += counts[j] * values[e]
    return out


@njit(cache=True, nogil=True)
def sparse_sum_of_dots(starts, columns, values, chosen, counts, direction):
    """Sum of the chosen rows, each times its product with ``direction``: one power step."""
    out = np.zeros(direction.size)
    for j in range(chosen.size):
        i = chosen[j]
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e] * direction[columns[e]]
        total *= counts[j]
        for e in range(starts[i], starts[i + 1]):
            out[columns[e]] += total * values[e]
    return out


@njit(cache=True, nogil=True)
def dense_dots(matrix, chosen, direction):
    """Product of each chosen row with ``direction``."""
    out = np.empty(chosen.size)
    for j in range(chosen.size):
        row = matrix[chosen[j]]
        total = 0.0
        for c in range(row.size):
            total += row[c] * direction[c]
        out[j] = total
    return out


@njit(cache=True, nogil=True)
def dense_sum(matrix, chosen, counts):
    """Sum of the chosen rows, each ``counts`` times."""
    out = np.zeros(matrix.shape[1])
    for j in range(chosen.size):
        row = matrix[chosen[j]]
        for c in range(row.size):
            out[c] += counts[j] * row[c]
    return out


@njit(cache=True, nogil=True)
def dense_sum_of_dots(matrix, chosen, counts, direction):
    """Sum of the chosen rows, each times its product with ``direction``: one power step."""
    out = np.zeros(matrix.shape[1])
    for j in range(chosen.size):
        row = matrix[chosen[j]]
        total = 0.0
        for c in range(row.size):
            total += row[c] * direction[c]
        total *= counts[j]
        for c in range(row.size):
            out[c] += total * row[c]
    return out


@njit(cache=True, nogil=True)
def csr_gram(starts, columns, values, weights, n_columns):
    """Columns x columns: sum over rows of ``weights`` times the row's outer square."""
    out = np.zeros((n_columns, n_columns))
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            scaled = weights[i] * values[e]
            into = out[columns[e]]
            for f in range(starts[i], starts[i + 1]):
                into[columns[f]] += scaled * values[f]
    return out


@njit(cache=True, nogil=True)
def member_sums(members, first, table, start, stop):
    """Sum of the rows of ``table`` that belong to each object's clusters.

    ``first`` holds each member's first row in ``table`` (one row a cluster); negative labels
    add nothing. The product of the sparse objects x clusters matrix with ``table``, for
    objects in [start, stop), without that matrix.
    """
    out = np.zeros((stop - start, table.shape[1]))
    for r in range(members.shape[0]):
        labels = members[r]
        for i in range(start, stop):
            if labels[i] >= 0:
                row = table[first[r] + labels[i]]
                into = out[i - start]
                for c in range(row.size):
                    into[c] += row[c]
    return out


@njit(cache=True, nogil=True)
def part_votes(members, first, part_of_cluster, n_parts, start, stop):
    """How many of each object's clusters lie in each part, for objects in [start, stop)."""
    out = np.zeros((stop - start, n_parts), np.int32)
    for r in range(members.shape[0]):
        labels = members[r]
        for i in range(start, stop):
            if labels[i] >= 0:
                out[i - start, part_of_cluster[first[r] + labels[i]]] += 1
    return out
