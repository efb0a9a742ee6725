"""The two nearest centres of many objects: a fast sieve, and an exact judge for what it lets fall.

Whether an object is nearer to one centre than to another can almost always be told in single
precision, at twice the speed of double. So distances are first taken in float32, on data shifted to
its column means and scaled into [-1, 1], together with a proven bound on their error
(:func:`certain_gap`). Only where that leaves two centres too close to call does :func:`two_nearest`
decide, in float64 and with ties to the smaller centre index. The label is therefore always the one
plain float64 arithmetic gives, whatever the compiler did to the sieve.

Distances are sums of squared differences, not |x|^2 - 2xc + |c|^2: a common offset of the data
cancels before it is squared.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, n_blocks_of
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.data.columns import column_facts

# Objects scanned together: their strips and running minima stay in the first-level cache.
TILE = 512
# Widths and feature counts are rounded up to these, so that vectorised loops leave no remainder.
LANES = 16
CHUNK = 4
# Half the spacing of float32 at 1, and of float64.
_ROUND32 = 2.0**-24
_ROUND64 = 2.0**-53
_FAR = np.float32(3e38)
# Values whose copy takes less time than starting threads.
_FEW = 1 << 18


class Sieve(NamedTuple):
    """Data as the single-precision scan wants it; about 4 bytes a value.

    ``strips`` is (n_tiles, d + 2, TILE) float32, padded with zeros: one strip a feature, one of
    zeros, and one that bounds the lengths of the objects from above. A value v of column f became
    ``(v - shift[f]) * scale``, and ``scale`` is a power of two.
    """

    strips: NDArray[np.float32]
    shift: NDArray[np.float64]
    scale: float


class Scratch(NamedTuple):
    """Working space of a scan: what it reads if objects were gathered, and what it writes."""

    picked: NDArray[np.intp]
    places: NDArray[np.uint64]
    columns: NDArray[np.intp]
    strips: NDArray[np.float32]
    totals: NDArray[np.float32]
    nearest: NDArray[np.float32]
    second: NDArray[np.float32]
    label: NDArray[np.int32]
    gap: NDArray[np.float32]
    movers: NDArray[np.intp]
    left: NDArray[np.int32]
    joined: NDArray[np.int32]


def make_sieve(X: NDArray[np.floating], n_jobs: int | None = None) -> Sieve:
    """The data X (n, d) in single precision, cut into feature-major tiles of rows."""
    n, d = X.shape
    X = X.view()
    X.flags.writeable = False  # as in `read_only`
    facts = column_facts(X, n_jobs=n_jobs)
    shift = facts.mean
    largest = max((facts.high - shift).max(initial=0.0), (shift - facts.low).max(initial=0.0))
    # A power of two: scaling a float by it is exact. The smallest numbers have no inverse.
    scale = float(np.ldexp(1.0, min(-int(np.ceil(np.log2(largest))), 1023))) if largest > 0 else 1.0
    strips = np.zeros((-(-n // TILE), d + 2, TILE), np.float32)
    in_turns(
        lambda first, step: _fill_strips(X, shift, scale, strips, first, step),
        n_blocks_of(n),
        n_jobs if X.size > _FEW else 1,
    )
    return Sieve(strips, shift, scale)


def make_scratch(n_features: int) -> Scratch:
    """Working space for scans of at most ``n_features`` features."""
    n_strips = n_features + CHUNK
    return Scratch(
        picked=np.zeros(2 * TILE, np.intp),
        places=np.zeros(TILE, np.uint64),
        columns=np.arange(n_strips),
        strips=np.zeros((n_strips + 1, TILE), np.float32),
        totals=np.zeros((2, TILE), np.float32),
        nearest=np.zeros(TILE, np.float32),
        second=np.zeros(TILE, np.float32),
        label=np.zeros(TILE, np.int32),
        gap=np.zeros(TILE, np.float32),
        movers=np.zeros(TILE, np.intp),
        left=np.zeros(TILE, np.int32),
        joined=np.zeros(TILE, np.int32),
    )


def padded_columns(features: NDArray[np.intp], n_features: int) -> NDArray[np.intp]:
    """Strips a member reads: its features, and the strip of zeros to fill the last chunk."""
    n_zeros = -features.size % CHUNK
    return np.concatenate([features, np.full(n_zeros, n_features, np.intp)])


@compiled
def _fill_strips(X, shift, scale, strips, first, step):
    """Blocks first, first + step, ... of the strips."""
    n, d = X.shape
    for block in range(first, (n + BLOCK_ROWS - 1) // BLOCK_ROWS, step):
        for i in range(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, n)):
            tile, r = strips[i // TILE], i % TILE
            total = 0.0
            for f in range(d):
                value = (X[i, f] - shift[f]) * scale
                tile[f, r] = value
                total += value * value
            tile[d + 1, r] = np.sqrt(total) * (1.0 + 1e-6)  # rounded up: it stays a bound


@compiled
def gather(strips, columns, picked, scratch):
    """Put the picked objects side by side into the scratch, ready for :func:`scan`."""
    flat, n_strips, places, out = (
        strips.reshape(-1),
        strips.shape[1],
        scratch.places,
        scratch.strips,
    )
    for a in range(picked.size):
        places[a] = picked[a] // TILE * n_strips * TILE + picked[a] % TILE
    for f in range(columns.size + 1):
        # The last one is the objects' lengths.
        start = np.uint64((columns[f] if f < columns.size else n_strips - 1) * TILE)
        for a in range(picked.size):
            out[f, a] = flat[start + places[a]]  # unsigned: no check for a negative index


# `contract` lets the compiler fuse multiply and add. It changes the last bit of a distance, which
# certain_gap allows for; no label can change.
@compiled(fastmath={"contract"})
def scan(strips, columns, width, centres, weights, scratch):
    """Weighted squared distances to the two nearest centres, and which is nearest.

    Object r < width is column r of ``strips[columns]``; the squared distance to centre c counts
    ``weights[c]`` times. Writes ``nearest``, ``second`` and ``label`` of the scratch.
    """
    k = centres.shape[0]
    t0, t1 = scratch.totals[0], scratch.totals[1]
    nearest, second, label = scratch.nearest, scratch.second, scratch.label
    nearest[:width] = _FAR
    second[:width] = _FAR
    label[:width] = 0
    for c in range(0, k, 2):
        # Two centres and four features a pass: fewer loads and stores for each product.
        e = min(c + 1, k - 1)
        for f in range(0, columns.size, CHUNK):
            x0, x1, x2, x3 = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
            c0, c1, c2, c3 = centres[c, f], centres[c, f + 1], centres[c, f + 2], centres[c, f + 3]
            e0, e1, e2, e3 = centres[e, f], centres[e, f + 1], centres[e, f + 2], centres[e, f + 3]
            if f == 0:  # saves clearing the totals
                for r in range(width):
                    v0, v1, v2, v3 = strips[x0, r], strips[x1, r], strips[x2, r], strips[x3, r]
                    a0, a1, a2, a3 = v0 - c0, v1 - c1, v2 - c2, v3 - c3
                    b0, b1, b2, b3 = v0 - e0, v1 - e1, v2 - e2, v3 - e3
                    t0[r] = a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3
                    t1[r] = b0 * b0 + b1 * b1 + b2 * b2 + b3 * b3
            else:
                for r in range(width):
                    v0, v1, v2, v3 = strips[x0, r], strips[x1, r], strips[x2, r], strips[x3, r]
                    a0, a1, a2, a3 = v0 - c0, v1 - c1, v2 - c2, v3 - c3
                    b0, b1, b2, b3 = v0 - e0, v1 - e1, v2 - e2, v3 - e3
                    t0[r] = t0[r] + a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3
                    t1[r] = t1[r] + b0 * b0 + b1 * b1 + b2 * b2 + b3 * b3
        if e == c:
            t1[:width] = _FAR  # an odd one out: its partner must not count
        _keep_two(t0, t1, weights[c], weights[e], np.int32(c), width, nearest, second, label)


@compiled
def _keep_two(t0, t1, w0, w1, c, width, nearest, second, label):
    # Selections instead of branches: the loop vectorises. Ties stay with the smaller index.
    after = np.int32(c + 1)
    for r in range(width):
        a, b, first = t0[r] * w0, t1[r] * w1, nearest[r]
        swap = b < a
        low, high, which = (b, a, after) if swap else (a, b, c)
        closer = low < first
        other = first if closer else low
        other = high if high < other else other
        nearest[r] = low if closer else first
        label[r] = which if closer else label[r]
        second[r] = other if other < second[r] else second[r]


@compiled
def certain_gap(nearest, second, norms, width, reach, d, gap):
    """By how much the second centre is farther than the nearest, errors at their worst.

    ``nearest`` and ``second`` are squared distances of a scan, ``norms`` bounds the lengths of the
    objects and ``reach`` those of the centres. Where the gap is not positive nothing is certain.

    With u = 2^-24: rounding the inputs to float32 moves an object and a centre by at most u times
    their lengths. Squaring and adding d differences, in any order, fused or not, errs by a relative
    (d + 3) u at most (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.1),
    the root by half of that and one more u, the lines below by a few u. All of it is doubled, which
    covers weights in [0, 2] and the rounding of float64 too; 2e-18 covers underflow of the squares.
    """
    share = np.float32((d + 16) * _ROUND32)
    part = np.float32(6.0 * _ROUND32)
    fixed = np.float32(6.0 * _ROUND32 * reach + 2e-18)
    for r in range(width):
        far, near = np.sqrt(second[r]), np.sqrt(nearest[r])
        gap[r] = (far - near) - share * (far + near) - (part * norms[r] + fixed)


@compiled
def squared_distance(X, i, features, centres, c):
    """Squared Euclidean distance of object i to centre c, summed in the order of the features."""
    total = 0.0
    for f in range(features.size):
        difference = X[i, features[f]] - centres[c, f]
        total += difference * difference
    return total


@compiled
def two_nearest(X, i, features, centres):
    """Nearest centre of object i (ties: smaller index); squared distances to it and the next."""
    label, nearest, second = 0, np.inf, np.inf
    for c in range(centres.shape[0]):
        value = squared_distance(X, i, features, centres, c)
        if value < nearest:
            label, nearest, second = c, value, nearest
        elif value < second:
            second = value
    return label, nearest, second


@compiled
def judged_gap(nearest, second, d):
    """As :func:`certain_gap`, for float64 squared distances of unrounded objects and centres."""
    share = (d + 16) * _ROUND64
    far, near = np.sqrt(second), np.sqrt(nearest)
    return (1.0 - share) * far - (1.0 + share) * near
