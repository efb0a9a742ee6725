"""Agglomerative clustering of weighted objects with one documented tie rule.

Distances made from counts are full of ties, and then the tree *is* the tie rule. Every step here
merges the first pair (i, j), i < j, in row order among the pairs at the smallest distance; the
merged cluster keeps slot i. That is the nearest-later-slot rule: NN(i) is the nearest slot after i
(the first on ties), the smallest i with minimal d(i, NN(i)) merges.

How it is fast: of every slot we keep a lower bound of its distance to all later slots, and a
witness, the slot that attains it. A bound is repaired by scanning one contiguous row, only when
its slot comes up as the closest. The matrix stays condensed and is squeezed in place each time
half of the slots are gone, so that late merges walk over a matrix that fits the cache.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

_SINGLE, _COMPLETE, _AVERAGE, _CENTROID, _WARD = range(5)
_METHODS = {
    "single": _SINGLE,
    "complete": _COMPLETE,
    "average": _AVERAGE,
    "centroid": _CENTROID,
    "ward": _WARD,
}
# Distances closer than this count as equal: 1 - 3/7 computed two ways must tie.
_TIE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
_BLOCK = 64


@njit(cache=True, nogil=True)
def _row(i, n_slots):
    """Offset such that the condensed distance of i < j lies at ``_row(i, n_slots) + j``."""
    return i * (2 * n_slots - i - 3) // 2 - 1


# Without NaNs (there are none) the flags change no value; they let the loop use vector minima.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _smallest(values, start, stop):
    low = values[start]
    for x in range(start + 1, stop):
        low = min(low, values[x])
    return low


@njit(cache=True, nogil=True)
def _first_at_most(values, start, stop, bound):
    """First position in [start, stop) whose value is at most ``bound``, or ``stop``."""
    for left in range(start, stop, _BLOCK):
        right = min(left + _BLOCK, stop)
        if _smallest(values, left, right) <= bound:
            for x in range(left, right):
                if values[x] <= bound:
                    return x
    return stop


@njit(cache=True, nogil=True)
def _scan(distances, n_slots, i, gone, low, witness):
    """Make bound and witness of slot i exact from its row."""
    row = _row(i, n_slots)
    low[i] = np.inf
    if i + 1 < n_slots:
        least = _smallest(distances, row + i + 1, row + n_slots)
        if least != gone:
            low[i] = least
            witness[i] = _first_at_most(distances, row + i + 1, row + n_slots, least) - row


@njit(cache=True, nogil=True)
def _closest(distances, n_slots, gone, low, witness, absolute, relative):
    """First pair, in row order, among those whose distance ties with the smallest one."""
    while True:
        least = _smallest(low, 0, n_slots)
        i = _first_at_most(low, 0, n_slots, least)
        if witness[i] >= 0:
            break
        _scan(distances, n_slots, i, gone, low, witness)
    bound = least + absolute + relative * least
    i = _first_at_most(low, 0, n_slots, bound)
    while witness[i] < 0:
        _scan(distances, n_slots, i, gone, low, witness)
        if low[i] > bound:
            i = _first_at_most(low, i + 1, n_slots, bound)
    row = _row(i, n_slots)
    return i, _first_at_most(distances, row + i + 1, row + n_slots, bound) - row


@njit(cache=True, nogil=True)
def _combined(method, x, y, a, b, m, h):
    """Lance-Williams: distance of a union (sizes a and b, merged at h) to a cluster of size m."""
    if method == _AVERAGE:
        return (a * x + b * y) / (a + b)
    if method == _COMPLETE:
        return max(x, y)
    if method == _SINGLE:
        return min(x, y)
    if method == _CENTROID:
        return (a * x + b * y) / (a + b) - a * b * h / ((a + b) * (a + b))
    return ((a + m) * x + (b + m) * y - m * h) / (a + b + m)


@njit(cache=True, nogil=True)
def _merge(distances, n_slots, alive, n_alive, i, j, gone, sizes, low, witness, method):
    """Put the union of slots i < j into slot i, take j out of every row, mark stale witnesses."""
    row_i, row_j = _row(i, n_slots), _row(j, n_slots)
    h = np.float64(distances[row_i + j])
    a, b = sizes[i], sizes[j]
    for s in range(n_alive):
        q = alive[s]
        if q < i:
            row_q = _row(q, n_slots)
            x, y = np.float64(distances[row_q + i]), np.float64(distances[row_q + j])
            distances[row_q + i] = _combined(method, x, y, a, b, sizes[q], h)
            distances[row_q + j] = gone
            new = np.float64(distances[row_q + i])
            if new <= low[q]:
                low[q] = new
                witness[q] = i
            elif witness[q] == i or witness[q] == j:
                witness[q] = -1
        elif q > j:
            x, y = np.float64(distances[row_i + q]), np.float64(distances[row_j + q])
            distances[row_i + q] = _combined(method, x, y, a, b, sizes[q], h)
        elif q != i and q != j:
            row_q = _row(q, n_slots)
            x, y = np.float64(distances[row_i + q]), np.float64(distances[row_q + j])
            distances[row_i + q] = _combined(method, x, y, a, b, sizes[q], h)
            distances[row_q + j] = gone
            if witness[q] == j:
                witness[q] = -1
    distances[row_i + j] = gone
    sizes[i] = a + b
    low[j] = np.inf
    _scan(distances, n_slots, i, gone, low, witness)
    return h


@njit(cache=True, nogil=True)
def _squeeze(distances, n_slots, alive, n_alive, sizes, nodes, low, witness):
    """Renumber the living slots 0, 1, ... in their order, everywhere; nothing moves backwards."""
    place = np.full(n_slots, -1, np.int64)
    to = 0
    for s in range(n_alive):
        i = alive[s]
        place[i] = s
        row = _row(i, n_slots)
        for t in range(s + 1, n_alive):
            distances[to] = distances[row + alive[t]]
            to += 1
        sizes[s], nodes[s], low[s], witness[s] = sizes[i], nodes[i], low[i], witness[i]
    for s in range(n_alive):
        alive[s] = s
        if witness[s] >= 0:
            witness[s] = place[witness[s]]


@njit(cache=True, nogil=True)
def _agglomerate(distances, sizes, method, gone, absolute, relative):
    n = n_slots = len(sizes)
    merges = np.empty((n - 1, 4))
    alive, nodes = np.arange(n), np.arange(n)
    low, witness = np.empty(n), np.full(n, -1, np.int64)
    for i in range(n):
        _scan(distances, n, i, gone, low, witness)
    for step in range(n - 1):
        n_alive = n - step
        if 2 * n_alive <= n_slots:
            _squeeze(distances, n_slots, alive, n_alive, sizes, nodes, low, witness)
            n_slots = n_alive
        i, j = _closest(distances, n_slots, gone, low, witness, absolute, relative)
        h = _merge(
            distances, n_slots, alive, n_alive, i, j, gone, sizes, low, witness, method
        )
        merges[step, 0] = min(nodes[i], nodes[j])
        merges[step, 1] = max(nodes[i], nodes[j])
        merges[step, 2] = h
        merges[step, 3] = sizes[i]
        nodes[i] = n + step
        for s in range(np.searchsorted(alive[:n_alive], j), n_alive - 1):
            alive[s] = alive[s + 1]
    return merges
