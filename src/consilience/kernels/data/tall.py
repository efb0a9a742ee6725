"""Passes over the rows of a tall matrix: products with a vector, sums, the small Gram matrix.

A tall matrix is (starts, columns, values) as in CSR, or a dense array. ``chosen`` lists the
rows a pass visits, ``counts`` how often each of them counts; sums run in that order, so
nothing depends on threads. One value stands for all entries that are equal: the passes are
bound by memory.
"""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = [
    "csr_gram",
    "dense_dots",
    "dense_sum",
    "dense_sum_of_dots",
    "sparse_dots",
    "sparse_sum",
    "sparse_sum_of_dots",
]


@compiled
def sparse_dots(starts, columns, values, chosen, direction):
    """Product of each chosen row with ``direction``."""
    step = 0 if values.size == 1 else 1
    out = np.empty(chosen.size)
    for j in range(chosen.size):
        i = chosen[j]
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e * step] * direction[columns[e]]
        out[j] = total
    return out


@compiled
def sparse_sum(starts, columns, values, chosen, counts, n_columns):
    """Sum of the chosen rows, each ``counts`` times."""
    step = 0 if values.size == 1 else 1
    out = np.zeros(n_columns)
    for j in range(chosen.size):
        i = chosen[j]
        for e in range(starts[i], starts[i + 1]):
            out[columns[e]] += counts[j] * values[e * step]
    return out


@compiled
def sparse_sum_of_dots(starts, columns, values, chosen, counts, direction):
    """Sum of the chosen rows, each times its product with ``direction``: one power step."""
    step = 0 if values.size == 1 else 1
    out = np.zeros(direction.size)
    for j in range(chosen.size):
        i = chosen[j]
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            total += values[e * step] * direction[columns[e]]
        total *= counts[j]
        for e in range(starts[i], starts[i + 1]):
            out[columns[e]] += total * values[e * step]
    return out


@compiled
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


@compiled
def dense_sum(matrix, chosen, counts):
    """Sum of the chosen rows, each ``counts`` times."""
    out = np.zeros(matrix.shape[1])
    for j in range(chosen.size):
        row = matrix[chosen[j]]
        for c in range(row.size):
            out[c] += counts[j] * row[c]
    return out


@compiled
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


@compiled
def csr_gram(starts, columns, values, weights, out):
    """Add each row's outer square, times its weight, into ``out`` (columns x columns)."""
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            scaled = weights[i] * values[e]
            into = out[columns[e]]
            for f in range(starts[i], starts[i + 1]):
                into[columns[f]] += scaled * values[f]
