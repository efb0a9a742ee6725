"""Soft clusterings by a Gaussian kernel, of which only pairs near each other are computed.

An object's weight in the cluster of a seed, not yet scaled, is ``exp(2 alpha exp(-gamma d2))``: 1
far from the seed, more near it. What it has above 1, its excess, is 0 for most pairs, so that all
else follows from the few others and two sums:

    1 / inverse[i] = k + sum_c excess[c, i]
    sizes[c] = sum_i inverse[i] + sum_i excess[c, i] inverse[i]
    scores[i] = inverse[i] (sum_c sizes[c] + sum_c excess[c, i] sizes[c])

Every term is positive: nothing cancels. The excesses lie in ``entries``: one seed, consecutive
objects. ``values`` (numbers,) holds entry after entry, ``places`` (entries, 4) says of each its
seed, its first object, the object after its last, and where in ``values`` it begins.
"""

import math
from typing import Any

import numpy as np

from consilience.kernels._jit import compiled
from consilience.kernels.minority.weak import exponential

__all__ = ["entries_needed", "near_kernel", "near_scores", "near_sizes", "near_weights"]

# Objects tested together: few enough to be far from a seed all at once, enough for loops to
# take several in one step.
_GROUP = 64
# Up to this many near objects of a group are computed one by one, more as a group.
_FEW = 4
# Exponentials taken at once: many, but no more than the nearest cache holds.
_MANY = 512


def near_kernel(alpha: float, gamma: float, constants: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """``2 alpha``, ``gamma`` and the squared distance up to which objects are near.

    In the type of the constants of `exponential`; None where the weights could overflow.

    Where ``d2 > ln(8 alpha / eps) / gamma`` the exponent ``v = 2 alpha exp(-gamma d2)`` is less
    than eps / 4. The exponential of v ends by rounding ``1 + v (1 + v / 2 + ...)``, which below
    ``1 + eps / 2`` gives 1: the excess is 0 to the last digit, and leaving it out changes none.
    From eps / 4 to eps / 2 there is room for the roundings of v, a few parts in 1 / eps.
    """
    kind = type(constants[0])
    limits = np.finfo(kind)
    most, eps = float(limits.max) / 4, float(limits.eps)
    # The last quarter before overflow is for the sum of the weights.
    if 2 * alpha > 0.75 * -float(constants[4]):
        return None
    # Infinity times a distance of 0 would be NaN.
    gamma = min(gamma, most)
    reach = max(math.log(8 * (alpha / eps)), 0.0) / gamma if 8 * alpha > eps else 0.0
    return kind(2 * alpha), kind(gamma), kind(min(reach, most))


def entries_needed(n_objects: int) -> int:
    """Most entries that a block of so many objects can have for one seed."""
    return _FEW * -(-n_objects // _GROUP)


@compiled
def _count_near(line, rows, column, reach, counts):
    """Number of objects within reach of a seed in every group of a block."""
    n = line.size
    whole = n // _GROUP
    for g in range(whole):
        count = 0
        for i in range(_GROUP):
            j = g * _GROUP + i
            count += line[j] - (rows[j] + column) >= -reach
        counts[g] = count
    count = 0
    for j in range(whole * _GROUP, n):
        count += line[j] - (rows[j] + column) >= -reach
    counts[whole] = count


@compiled
def _take(line, rows, column, out):
    """Minus the squared distances of consecutive objects from a seed."""
    for i in range(out.size):
        out[i] = line[i] - (rows[i] + column)


@compiled
def _place(places, number, seed, start, stop, at):
    places[number, 0] = seed
    places[number, 1] = start
    places[number, 2] = stop
    places[number, 3] = at


@compiled
def _collect(line, rows, c, column, reach, first, counts, entries, used, at):
    """Entries for one seed, in whose place of excesses are minus the squared distances."""
    values, places = entries
    n = line.size
    g = 0
    while g < counts.size:
        start = g * _GROUP
        # Groups side by side make one entry: where all is near, loops are long.
        while g < counts.size and counts[g] > _FEW:
            g += 1
        stop = min(g * _GROUP, n)
        if stop > start:
            _take(line[start:stop], rows[start:stop], column, values[at : at + stop - start])
            _place(places, used, c, first + start, first + stop, at)
            used += 1
            at += stop - start
            continue
        if counts[g] > 0:
            for i in range(start, min(start + _GROUP, n)):
                gap = line[i] - (rows[i] + column)
                if gap >= -reach:
                    values[at] = gap
                    _place(places, used, c, first + i, first + i + 1, at)
                    used += 1
                    at += 1
        g += 1
    return used, at


@compiled(fastmath={"contract"})
def _excess(values, kernel, constants):
    """What weights are above 1, in place of minus the squared distances."""
    twice, gamma, _ = kernel
    zero = gamma - gamma
    one = exponential(zero, constants)
    for i in range(values.size):
        # Rounding may have put the gap above 0.
        exponent = twice * exponential(gamma * min(values[i], zero), constants)
        values[i] = exponential(exponent, constants) - one


@compiled
def _add(values, total):
    for i in range(total.size):
        total[i] += values[i]


@compiled
def near_weights(products, rows, columns, kernel, constants, first, entries, used, at, inverse):
    """Write the excesses of a block from entry ``used`` and number ``at`` on; where they end.

    ``inverse`` (b,) becomes one over the sums of the weights. The squared distance of a pair is
    ``rows[i] + columns[c] - products[c, i]``; ``first`` is the number of the block's first object.
    """
    values, places = entries
    k, n = products.shape
    reach = kernel[2]
    counts = np.zeros(n // _GROUP + 1, np.int64)
    begin, done = used, at
    for c in range(k):
        line = products[c]
        _count_near(line, rows, columns[c], reach, counts)
        used, at = _collect(line, rows, c, columns[c], reach, first, counts, entries, used, at)
        if at - done >= _MANY or c == k - 1:
            _excess(values[done:at], kernel, constants)
            done = at
    for i in range(n):
        inverse[i] = k
    for e in range(begin, used):
        start, stop, place = places[e, 1] - first, places[e, 2] - first, places[e, 3]
        _add(values[place : place + stop - start], inverse[start:stop])
    one = exponential(reach - reach, constants)
    for i in range(n):
        inverse[i] = one / inverse[i]
    return used, at


@compiled(fastmath={"contract", "reassoc"})
def _dot(values, inverse):
    total = 0.0
    for i in range(values.size):
        total += np.float64(values[i]) * np.float64(inverse[i])
    return total


@compiled
def near_sizes(entries, begin, end, inverse, sizes):
    """Add excess times ``inverse``, which is of all objects, to the sizes of the clusters."""
    values, places = entries
    for e in range(begin, end):
        seed, start, stop, at = places[e, 0], places[e, 1], places[e, 2], places[e, 3]
        sizes[seed] += _dot(values[at : at + stop - start], inverse[start:stop])


@compiled(fastmath={"contract"})
def _add_times(values, size, scores):
    for i in range(scores.size):
        scores[i] += np.float64(values[i]) * size


@compiled
def near_scores(entries, begin, end, sizes, scores):
    """Add excess times size to the scores of all objects, which are not yet scaled."""
    values, places = entries
    for e in range(begin, end):
        seed, start, stop, at = places[e, 0], places[e, 1], places[e, 2], places[e, 3]
        _add_times(values[at : at + stop - start], sizes[seed], scores[start:stop])
