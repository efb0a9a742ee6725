"""The two nearest centres of many objects: a fast sieve, and an exact judge for what it lets fall.

Whether an object is nearer to one centre than to another can almost always be told in single
precision, at more than twice the speed of double. So distances are first taken in float32, on data
shifted to its column means and scaled into [-1, 1], together with a proven bound on their error
(:func:`scan`). Only where the bound leaves two centres too close to call does
:func:`two_nearest` decide, in float64 and with ties to the smaller centre index. The label is
therefore always the one plain float64 arithmetic would give, whatever the compiler did to the sieve.

The distances are sums of squared differences, not |x|^2 - 2xc + |c|^2: a common offset of the data
cancels before it is squared.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Objects scanned together: their strips and running minima stay in the first-level cache.
TILE = 256
# Widths are rounded up to this, so that a vectorised loop has no scalar remainder.
LANES = 16
# Half the spacing of float32 at 1, and of float64.
_ROUND32 = 2.0**-24
_ROUND64 = 2.0**-53
_FAR = np.float32(3e38)


class Sieve(NamedTuple):
    """Data as the single-precision scan wants it; n * d * 4 bytes.

    ``strips`` is (n_tiles, d + 1, TILE) float32, padded with zeros: one strip a feature, then one
    that bounds the lengths of the objects from above. A value v of column f became
    ``(v - shift[f]) * scale``, and ``scale`` is a power of two.
    """

    strips: NDArray[np.float32]
    shift: NDArray[np.float64]
    scale: float


class Scratch(NamedTuple):
    """Working space of one scan, shared by all members of a call."""

    strips: NDArray[np.float32]
    identity: NDArray[np.intp]
    picked: NDArray[np.intp]
    movers: NDArray[np.intp]
    left: NDArray[np.int32]
    total: NDArray[np.float32]
    nearest: NDArray[np.float32]
    second: NDArray[np.float32]
    gap: NDArray[np.float32]
    label: NDArray[np.int32]


def make_sieve(X: NDArray[np.floating]) -> Sieve:
    """The data X (n, d) in single precision, cut into feature-major blocks of rows."""
    n, d = X.shape
    shift = X.mean(axis=0, dtype=np.float64)
    largest = _largest_offset(X, shift)
    # A power of two: scaling a float by it is exact.
    scale = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0 else 1.0
    strips = np.zeros((-(-n // TILE), d + 1, TILE), np.float32)
    _fill_strips(X, shift, scale, strips)
    return Sieve(strips, shift, float(scale))


def make_scratch(n_features: int) -> Scratch:
    """Working space for scans of at most ``n_features`` features."""
    return Scratch(
        np.zeros((n_features + 1, TILE), np.float32),
        np.arange(n_features),
        np.zeros(2 * TILE, np.intp),
        np.zeros(TILE, np.intp),
        np.zeros(TILE, np.int32),
        np.zeros(TILE, np.float32),
        np.zeros(TILE, np.float32),
        np.zeros(TILE, np.float32),
        np.zeros(TILE, np.float32),
        np.zeros(TILE, np.int32),
    )


@njit(cache=True, nogil=True)
def _largest_offset(X, shift):
    largest = 0.0
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            largest = max(largest, abs(X[i, f] - shift[f]))
    return largest


@njit(cache=True, nogil=True)
def _fill_strips(X, shift, scale, strips):
    n, d = X.shape
    for i in range(n):
        strip = strips[i // TILE]
        r = i % TILE
        total = 0.0
        for f in range(d):
            value = (X[i, f] - shift[f]) * scale
            strip[f, r] = value
            total += value * value
        # Rounded up, so that it stays a bound.
        strip[d, r] = np.sqrt(total) * (1.0 + 1e-6)


# `contract` lets the compiler fuse multiply and add. It changes the last bit of a distance, which
# the gap allows for; no label can change.
@njit(cache=True, nogil=True, fastmath={"contract"})
def scan(strips, features, norms, width, centres, reach, total, nearest, second, label, gap):
    """Nearest centre of each of ``width`` objects, and how much farther the second surely is.

    Object r is column r of ``strips[features]``, of length at most ``norms[r]``; no centre is
    longer than ``reach``. Writes ``label`` and ``gap`` of the scratch. Where ``gap`` is not
    positive the label is a guess.
    """
    k, d = centres.shape
    for r in range(width):
        nearest[r] = _FAR
        second[r] = _FAR
        label[r] = 0
    for c in range(k):
        for r in range(width):
            total[r] = 0
        for f in range(0, d - 3, 4):
            # Four features a pass: `total` is loaded and stored once for all of them.
            x0, x1 = strips[features[f]], strips[features[f + 1]]
            x2, x3 = strips[features[f + 2]], strips[features[f + 3]]
            c0, c1, c2, c3 = centres[c, f], centres[c, f + 1], centres[c, f + 2], centres[c, f + 3]
            for r in range(width):
                d0, d1, d2, d3 = x0[r] - c0, x1[r] - c1, x2[r] - c2, x3[r] - c3
                total[r] = total[r] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        for f in range(d - d % 4, d):
            x0, c0 = strips[features[f]], centres[c, f]
            for r in range(width):
                d0 = x0[r] - c0
                total[r] += d0 * d0
        _keep_two(total, np.int32(c), width, nearest, second, label)
    _certain_gap(nearest, second, norms, width, reach, d, gap)


@njit(cache=True, nogil=True)
def _keep_two(total, c, width, nearest, second, label):
    # Selections instead of branches: the loop vectorises.
    for r in range(width):
        value, first = total[r], nearest[r]
        closer = value < first
        other = first if closer else value
        nearest[r] = value if closer else first
        label[r] = c if closer else label[r]
        second[r] = other if other < second[r] else second[r]


@njit(cache=True, nogil=True)
def _certain_gap(nearest, second, norms, width, reach, d, gap):
    """What is left of the difference of two computed distances when errors are at their worst.

    With u = 2^-24: rounding the inputs to float32 moves an object and a centre by at most u times
    their lengths. Squaring and adding d differences, in any order, fused or not, errs by a relative
    (d + 3) u at most (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), the
    root by half of that and one more u, the lines below by a few u. All of it is doubled, which
    also covers the rounding of float64 arithmetic; 1e-18 covers underflow of the squares.
    """
    share = np.float32((d + 16) * _ROUND32)
    part = np.float32(4.0 * _ROUND32)
    fixed = np.float32(4.0 * _ROUND32 * reach + 2e-18)
    for r in range(width):
        far, near = np.sqrt(second[r]), np.sqrt(nearest[r])
        gap[r] = (far - near) - share * (far + near) - (part * norms[r] + fixed)


@njit(cache=True, nogil=True)
def squared_distance(X, i, features, centre):
    """Squared Euclidean distance of object i to a centre, summed in the order of the features."""
    total = 0.0
    for f in range(features.size):
        difference = X[i, features[f]] - centre[f]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def two_nearest(X, i, features, centres):
    """Nearest centre of object i (ties: the smaller index), and its squared distances to two."""
    label, nearest, second = 0, np.inf, np.inf
    for c in range(centres.shape[0]):
        value = squared_distance(X, i, features, centres[c])
        if value < nearest:
            label, nearest, second = c, value, nearest
        elif value < second:
            second = value
    return label, nearest, second


@njit(cache=True, nogil=True)
def judged_gap(nearest, second, d):
    """How much farther the second centre surely is, from float64 squared distances."""
    share = (d + 8) * 2.0 * _ROUND64
    return (1.0 - share) * np.sqrt(second) - (1.0 + share) * np.sqrt(nearest)
