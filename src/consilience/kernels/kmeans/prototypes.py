"""k-means of numbers and categories together, with gaps: centres are means and shares.

The cost of a category is half the squared distance of its indicator from the shares of the
categories in a cluster, so that means and shares are what makes the sum of the costs smallest, and
every round lowers it (k-prototypes with shares in place of modes).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["prototypes"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def prototypes(
    numbers: Floats,
    codes: NDArray[np.int32],
    number_weights: Floats,
    code_weights: Floats,
    starts: Ints,
    *,
    max_iter: int,
) -> NDArray[np.int32]:
    """Labels by Lloyd's iterations from objects as first centres.

    Parameters
    ----------
    numbers : ndarray of shape (n_objects, p), float64, C order
        NaN where nothing is known: such a cell costs nothing and moves no mean.
    codes : ndarray of shape (n_objects, q), int32, C order
        Places of categories; -1 where nothing is known.
    number_weights : ndarray of shape (p,)
        Of squared differences.
    code_weights : ndarray of shape (q,)
        Of ``(1 - 2 share + sum of squared shares) / 2``.
    starts : ndarray of shape (k,), int64
        Objects that are the first centres.
    max_iter : int

    Returns
    -------
    ndarray of shape (n_objects,), int32
        Ties go to the smaller number; clusters may be empty. Ends when no label changes.

    Examples
    --------
    >>> numbers = np.array([[0.0], [0.1], [np.nan], [5.0]])
    >>> codes = np.array([[0], [0], [1], [1]], np.int32)
    >>> one = np.ones(1)
    >>> prototypes(numbers, codes, one, one, np.array([0, 3]), max_iter=10)
    array([0, 0, 1, 1], dtype=int32)
    """
    sizes = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    labels = np.full(len(numbers), -1, np.int32)
    _lloyd(numbers, codes, number_weights, code_weights, firsts, starts, np.int64(max_iter), labels)
    return labels


@compiled
def _lloyd(
    numbers: Any,
    codes: Any,
    number_weights: Any,
    code_weights: Any,
    firsts: Any,
    starts: Any,
    max_iter: Any,
    labels: Any,
) -> None:
    n, p = numbers.shape
    q, k = codes.shape[1], len(starts)
    means, shares, squares = np.zeros((k, p)), np.zeros((k, firsts[q])), np.zeros((k, q))
    for c in range(k):
        for j in range(p):
            value = numbers[starts[c], j]
            means[c, j] = value if value == value else 0.0
        for j in range(q):
            code = codes[starts[c], j]
            if code >= 0:
                shares[c, firsts[j] + code] = 1.0
                squares[c, j] = 1.0
    sums, known = np.zeros((k, p)), np.zeros((k, p))
    for _ in range(max_iter):
        moved = False
        for i in range(n):
            best, least = 0, np.inf
            for c in range(k):
                cost = 0.0
                for j in range(p):
                    value = numbers[i, j]
                    if value == value:
                        away = value - means[c, j]
                        cost += number_weights[j] * away * away
                # Sums only grow: what is above the best already cannot win any more.
                if cost >= least:
                    continue
                for j in range(q):
                    code = codes[i, j]
                    if code >= 0:
                        share = shares[c, firsts[j] + code]
                        cost += 0.5 * code_weights[j] * (1.0 - 2.0 * share + squares[c, j])
                if cost < least:
                    best, least = c, cost
            if labels[i] != best:
                labels[i] = best
                moved = True
        if not moved:
            return
        _centres(numbers, codes, firsts, labels, means, shares, squares, sums, known)


@compiled
def _centres(
    numbers: Any,
    codes: Any,
    firsts: Any,
    labels: Any,
    means: Any,
    shares: Any,
    squares: Any,
    sums: Any,
    known: Any,
) -> None:
    """Means and shares of the objects of each cluster; an empty one keeps what it had."""
    n, p = numbers.shape
    k, q = squares.shape
    sums[:] = 0.0
    known[:] = 0.0
    sizes = np.zeros(k, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
        for j in range(p):
            value = numbers[i, j]
            if value == value:
                sums[labels[i], j] += value
                known[labels[i], j] += 1.0
    for c in range(k):
        if sizes[c]:
            for j in range(p):
                means[c, j] = sums[c, j] / known[c, j] if known[c, j] else 0.0
            for at in range(firsts[q]):
                shares[c, at] = 0.0
    for i in range(n):
        for j in range(q):
            if codes[i, j] >= 0:
                shares[labels[i], firsts[j] + codes[i, j]] += 1.0
    for c in range(k):
        if not sizes[c]:
            continue
        for j in range(q):
            total = 0.0
            for at in range(firsts[j], firsts[j + 1]):
                total += shares[c, at]
            squares[c, j] = 0.0
            if total > 0.0:
                for at in range(firsts[j], firsts[j + 1]):
                    shares[c, at] /= total
                    squares[c, j] += shares[c, at] * shares[c, at]
