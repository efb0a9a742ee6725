"""Weak clusterings of a block of objects: nearest seeds, soft grades, sizes, scores.

A block is ``products`` of shape (k, b), seeds by objects: objects lie side by side, so every
loop runs over them and vectorises, and sums over seeds need no reordering. The divergence of
object i from seed c is ``rows[i] + columns[c] - products[c, i]``.

The exponential is our own, because a call of the library's for every number would take most of
the time. The loops may fuse a product and a sum into one rounding, and `weighted_sizes` may
reorder its sum; the tests hold them to their definitions.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray
from scipy.special import iv

from consilience.kernels._jit import compiled

__all__ = [
    "Scratch",
    "exponential",
    "gaussian_grades",
    "nearest",
    "softmax_grades",
    "weighted_scores",
    "weighted_sizes",
]

# Objects a stripe: what the loops of one stripe touch stays in the nearest cache.
_STRIPE = 256

# 1 / ln 2; a number beside which only whole numbers are left; ln 2 in two parts, of which the
# first times a whole number is exact; the least exponent.
_FLOATS = {
    np.dtype(np.float64): [
        1.4426950408889634,
        6755399441055744.0,
        0.6931471803691238,
        1.9082149292705877e-10,
        -708.0,
    ],
    np.dtype(np.float32): [1.44269504, 12582912.0, 0.693359375, -2.12194440e-4, -87.0],
}
# Powers of r for exp(r), abs(r) <= ln(2) / 2: what is left out is below 1e-17 and 1e-8.
_DEGREES: dict[Any, int] = {np.dtype(np.float64): 11, np.dtype(np.float32): 6}


def _powers(degree: int) -> NDArray[Any]:
    """Coefficients of exp, highest first: its Chebyshev series, made of Bessel functions."""
    series = iv(np.arange(degree + 1), 0.347) * np.r_[1.0, np.full(degree, 2.0)]
    powers: NDArray[Any] = Chebyshev(series, domain=[-0.347, 0.347]).convert(kind=Polynomial).coef
    # Equal divergences must give equal grades: exp(0) is 1, to the last digit.
    powers[0] = 1.0
    return powers[::-1]


# Numbers, not an array: what cannot change while a loop writes need not be read again.
_CONSTANTS: dict[Any, tuple[Any, ...]] = {
    kind: tuple(kind.type(c) for c in (*_FLOATS[kind], *_powers(degree)))
    for kind, degree in _DEGREES.items()
}


class Scratch:
    """Constants of the exponential and a buffer, for one type of floats; one for each thread."""

    def __init__(self, dtype: Any) -> None:
        kind = np.dtype(dtype)
        self.constants = _CONSTANTS[kind]
        self.most = np.empty(_STRIPE, kind)

    def parts(self) -> tuple[tuple[Any, ...], NDArray[Any]]:
        """What the kernels take."""
        return self.constants, self.most


def _power_of_two(rounded: Any) -> Any:
    """2 to the whole number m, given m plus the large number: written into the exponent's bits."""
    if rounded.dtype == np.float64:
        return ((rounded.view(np.int64) + np.int64(1023)) << np.int64(52)).view(np.float64)
    return ((rounded.view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)


@overload(_power_of_two, inline="always")
def _compiled_power_of_two(rounded):
    if rounded == types.float64:

        def power(rounded):
            return np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
    else:

        def power(rounded):
            return np.int32((np.float32(rounded).view(np.int32) + 127) << 23).view(np.float32)

    return power


def _polynomial(r: Any, constants: Any) -> Any:
    """The powers of r in the last constants, by Horner's rule."""
    p = constants[5]
    for c in constants[6:]:
        p = p * r + c
    return p


@overload(_polynomial, inline="always")
def _compiled_polynomial(r, constants):
    # Written out: a compiled loop over a tuple would choose its item anew every time.
    if constants.count == 5 + 12:

        def polynomial(r, constants):
            p = constants[5] * r + constants[6]
            p = p * r + constants[7]
            p = p * r + constants[8]
            p = p * r + constants[9]
            p = p * r + constants[10]
            p = p * r + constants[11]
            p = p * r + constants[12]
            p = p * r + constants[13]
            p = p * r + constants[14]
            p = p * r + constants[15]
            return p * r + constants[16]
    else:

        def polynomial(r, constants):
            p = constants[5] * r + constants[6]
            p = p * r + constants[7]
            p = p * r + constants[8]
            p = p * r + constants[9]
            p = p * r + constants[10]
            return p * r + constants[11]

    return polynomial


@compiled(fastmath={"contract"})
def exponential(x, constants):
    """exp(x) for x up to 0 (and a little above), in the type of the constants.

    x = m ln 2 + r with a whole number m: a polynomial in r times a power of two. Anything
    below the least exponent counts as that.
    """
    least = constants[4]
    x = x if x > least else least
    rounded = x * constants[0] + constants[1]
    whole = rounded - constants[1]
    r = x - whole * constants[2]
    r = r - whole * constants[3]
    return _polynomial(r, constants) * _power_of_two(rounded)


@compiled(fastmath={"contract"})
def _softmax(grades, start, inverse, constants, most):
    """Exponentials of what the objects of a stripe are below their greatest; 1 over the sums."""
    stop = start + inverse.size
    for i in range(inverse.size):
        inverse[i] = 0
    for c in range(grades.shape[0]):
        # A slice of one row is known to be contiguous, one of several rows is not.
        row = grades[c, start:stop]
        for i in range(inverse.size):
            weight = exponential(row[i] - most[i], constants)
            row[i] = weight
            inverse[i] = inverse[i] + weight
    one = exponential(most[0] - most[0], constants)
    for i in range(inverse.size):
        inverse[i] = one / inverse[i]


@compiled(fastmath={"contract"})
def softmax_grades(products, columns, inverse, scratch):
    """Grades of membership by the divergences themselves, in place.

    ``products`` becomes weights w and ``inverse`` one over their sums, so that
    ``w[c, i] * inverse[i] = exp(-D[c, i]) / sum_q exp(-D[q, i])``. The row terms of the
    divergence drop out.
    """
    constants, most = scratch
    k, n = products.shape
    for start in range(0, n, _STRIPE):
        stop = min(start + _STRIPE, n)
        for i in range(stop - start):
            most[i] = products[0, start + i] - columns[0]
        for c in range(k):
            row = products[c, start:stop]
            column = columns[c]
            for i in range(row.size):
                value = row[i] - column
                row[i] = value
                most[i] = max(most[i], value)
        _softmax(products, start, inverse[start:stop], constants, most)


@compiled(fastmath={"contract"})
def gaussian_grades(products, rows, columns, alpha, gamma, inverse, scratch):
    """Grades of membership by the distance of a Gaussian kernel, in place.

    As `softmax_grades`, with ``D = 2 alpha (1 - exp(-gamma max(0, rows + columns - products)))``.
    ``alpha`` and ``gamma`` are arrays of one float of the type of the products.
    """
    constants, most = scratch
    k, n = products.shape
    twice = alpha[0] + alpha[0]
    steep = gamma[0]
    zero = steep - steep
    for start in range(0, n, _STRIPE):
        stop = min(start + _STRIPE, n)
        lengths = rows[start:stop]
        for i in range(stop - start):
            most[i] = zero
        for c in range(k):
            row = products[c, start:stop]
            column = columns[c]
            for i in range(row.size):
                # Minus the squared distance; rounding may have put it above 0.
                gap = min(row[i] - (lengths[i] + column), zero)
                value = twice * exponential(steep * gap, constants)
                row[i] = value
                most[i] = max(most[i], value)
        _softmax(products, start, inverse[start:stop], constants, most)


@compiled(fastmath={"contract", "reassoc"})
def weighted_sizes(weights, inverse, sizes):
    """Add to ``sizes`` the sum of every seed's grades over the block, in float64."""
    k, n = weights.shape
    for c in range(k):
        row = weights[c]
        total = 0.0
        for i in range(n):
            total += np.float64(row[i]) * np.float64(inverse[i])
        sizes[c] += total


@compiled(fastmath={"contract"})
def weighted_scores(weights, inverse, sizes, scores):
    """Mean size of the clusters an object is in, by its grades: ``sum_c g[i, c] sizes[c]``."""
    k, n = weights.shape
    for i in range(n):
        scores[i] = 0.0
    for c in range(k):
        size = sizes[c]
        row = weights[c]
        for i in range(n):
            scores[i] += row[i] * size
    for i in range(n):
        scores[i] *= inverse[i]


@compiled
def nearest(products, columns, slack, labels):
    """Number of the seed with the least ``columns - products``, for each object.

    Of seeds nearer than ``slack[i]`` to each other the first wins, so that ties rounded apart
    are still ties.
    """
    k, n = products.shape
    best = np.empty(n, products.dtype)
    for i in range(n):
        best[i] = columns[0] - products[0, i]
        labels[i] = 0
    for c in range(1, k):
        column = columns[c]
        for i in range(n):
            value = column - products[c, i]
            if value < best[i] - slack[i]:
                best[i] = value
                labels[i] = c
