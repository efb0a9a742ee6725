"""Agglomerative clustering of weighted objects with one documented tie rule.

Distances made from counts are full of ties, and then the tree *is* the tie rule. Every step here
merges the first pair (i, j), i < j, in row order among the pairs at the smallest distance; the
merged cluster keeps slot i. That is the nearest-later-slot rule: NN(i) is the nearest slot after i
(the first on ties), the smallest i with minimal d(i, NN(i)) merges.

How it is fast: of every slot we keep a lower bound of its distance to all later slots, and a
witness, the slot that attains it. A bound is repaired by scanning one contiguous row, only when
its slot comes up as the closest. The matrix stays condensed and is squeezed in place each time
half of the slots are gone, so that late merges walk over a matrix that fits the cache. Minima are
taken over ``codes``, the bits of the distances read as integers: for numbers that are not negative
the order is the same, and integer minima vectorise where floating-point ones do not.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.kernels._jit import compiled

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
# Methods whose heights never fall along the tree; centroid's may.
_MONOTONE = ("single", "complete", "average", "ward")
_BLOCK = 64


def agglomerate(
    distances: NDArray[Any],
    method: str,
    *,
    weights: ArrayLike | None = None,
    squared: bool = True,
) -> NDArray[np.float64]:
    """Tree of an agglomerative clustering in SciPy's linkage format, merges in the order made.

    Parameters
    ----------
    distances : ndarray of shape (n * (n - 1) / 2,), float64, float32 or integer
        Condensed distances in SciPy's order, finite and not negative. OVERWRITTEN: pass a copy to
        keep them. Integers (numbers of members that separate a pair, one byte each) are taken for
        "single" and "complete" only, which never compute a new value.
    method : {"single", "complete", "average", "centroid", "ward"}
        Lance-Williams rule.
    weights : array-like of shape (n,), optional
        Initial cluster sizes: how many identical objects each row stands for. One each by default.
    squared : bool, default True
        For "centroid" and "ward": square the distances first and take the root of the heights, as
        SciPy does. False applies the rule to the values as given.

    Returns
    -------
    ndarray of shape (n - 1, 4), float64
        Row t: the two merged nodes (smaller number first), the height, the weight of the union,
        which is node n + t. Heights rise, except where "centroid" inverts. With weights the last
        column exceeds n; `expand_tree` gives the tree of all objects.

    Notes
    -----
    Ties: the pair that comes first in row order merges, the union keeps the smaller slot. Distances
    tie when they differ by less than 1e-12 (float32: 1e-6) of the largest distance, for squared
    distances of the smallest one, whose rounding errors are relative; integers tie when equal.

    Ward's distance of two groups of a and b identical objects is 2ab / (a + b) times the (squared)
    distance of two objects, so weighted distances are scaled before the first merge; without that
    the tree over weighted rows would not be the tree over all objects.

    Memory: a few arrays of length n besides ``distances`` (integers at the limit of their type, 255
    for one byte, are copied into a type twice as wide). Time: O(n²) in practice, O(n³) at worst
    (every merge invalidates every witness).

    References
    ----------
    Lance & Williams (1967), A general theory of classificatory sorting strategies, Computer
    Journal 9(4). Müllner (2011), Modern hierarchical, agglomerative clustering algorithms,
    arXiv:1109.2378, section 3.1 (the generic algorithm with lazily repaired neighbours).

    Examples
    --------
    >>> import numpy as np
    >>> agglomerate(np.array([1.0, 4.0, 3.0]), "average")
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 3.5, 3. ]])
    >>> agglomerate(np.array([1.0, 4.0, 3.0]), "average", weights=[3, 1, 1])
    array([[0.  , 1.  , 1.  , 4.  ],
           [2.  , 3.  , 3.75, 5.  ]])
    """
    n = (1 + int(np.sqrt(1 + 8 * len(distances)))) // 2
    sizes = np.ones(n) if weights is None else np.array(weights, np.float64)
    assert distances.shape == (n * (n - 1) // 2,)
    assert distances.flags.c_contiguous
    assert sizes.shape == (n,)
    if n == 1:
        return np.empty((0, 4))
    counts = np.issubdtype(distances.dtype, np.integer)
    if counts and method not in ("single", "complete"):
        raise ValueError(f"integer distances need 'single' or 'complete'. Got {method!r} instead.")
    square = squared and method in ("centroid", "ward")
    if square:
        np.square(distances, out=distances)
    if method == "ward" and weights is not None:
        _raise_to_groups(distances, sizes)
    largest = distances.max()
    if largest != largest:  # nothing is at most NaN: the search would leave its arrays
        raise ValueError("distances must be numbers: the data are too large to be compared.")
    if counts and largest == np.iinfo(distances.dtype).max:
        # The largest value marks the slots that are gone, so it must not be a distance.
        distances = distances.astype(f"i{2 * distances.itemsize}")
    gone = distances.dtype.type(np.iinfo(distances.dtype).max if counts else np.inf)
    codes = distances if counts else distances.view(f"i{distances.itemsize}")
    tie = 0.0 if counts else _TIE[distances.dtype]
    slack = (0.0, tie) if square else (tie * float(largest), 0.0)
    tree = _agglomerate(distances, codes, sizes, _METHODS[method], gone, *slack)
    if square:
        np.sqrt(tree[:, 2], out=tree[:, 2])
    if method in _MONOTONE:
        # A tied pair merged ahead of a marginally closer one leaves a dip of rounding size.
        np.maximum.accumulate(tree[:, 2], out=tree[:, 2])
    return tree


@compiled
def _raise_to_groups(distances, sizes):
    at = 0
    for i in range(len(sizes)):
        for j in range(i + 1, len(sizes)):
            distances[at] *= 2.0 * sizes[i] * sizes[j] / (sizes[i] + sizes[j])
            at += 1


@compiled
def _row(i, n_slots):
    """Where row i would start at column 0: pair i < j lies at ``_row(i, n_slots) + j``."""
    return i * (2 * n_slots - i - 3) // 2 - 1


@compiled(plain=lambda codes, start, stop: start + codes[start:stop].argmin())
def _first_minimum(codes, start, stop):
    """First position of the smallest code in [start, stop)."""
    part = codes[start:stop]
    least = part[0]
    for x in range(len(part)):
        least = min(least, part[x])
    return start + _first_at_most(part, least)


def _first_at_most_in_arrays(values, bound):
    hits = values <= bound
    return hits.argmax() if hits.any() else len(values)


@compiled(plain=_first_at_most_in_arrays)
def _first_at_most(values, bound):
    """First position whose value is at most ``bound``, or the length if there is none."""
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        hits = 0
        # Counting instead of leaving at the first hit: this loop vectorises, that one cannot.
        for x in range(len(block)):
            hits += block[x] <= bound
        if hits > 0:
            for x in range(len(block)):
                if block[x] <= bound:
                    return start + x
    return len(values)


@compiled
def _scan(distances, codes, n_slots, i, gone, low, witness):
    """Make bound and witness of slot i exact from its row."""
    low[i] = np.inf
    if i + 1 < n_slots:
        row = _row(i, n_slots)
        at = _first_minimum(codes, row + i + 1, row + n_slots)
        if distances[at] != gone:
            low[i] = distances[at]
            witness[i] = at - row


@compiled
def _closest(distances, codes, n_slots, gone, low, low_codes, witness, absolute, relative):
    """First pair, in row order, among those whose distance ties with the smallest one."""
    i = _first_minimum(low_codes, 0, n_slots)
    while witness[i] < 0:
        _scan(distances, codes, n_slots, i, gone, low, witness)
        i = _first_minimum(low_codes, 0, n_slots)
    bound = low[i] + absolute + relative * low[i]
    i = _first_at_most(low[:n_slots], bound)
    while witness[i] < 0:
        _scan(distances, codes, n_slots, i, gone, low, witness)
        if low[i] > bound:
            i += 1 + _first_at_most(low[i + 1 : n_slots], bound)
    row = _row(i, n_slots)
    return i, i + 1 + _first_at_most(distances[row + i + 1 : row + n_slots], bound)


@compiled
def _combined(method, x, y, a, b, m, h):
    """Lance-Williams: distance of a union (sizes a and b, merged at h) to a cluster of size m."""
    if method == _AVERAGE:
        return (a * x + b * y) / (a + b)
    if method == _COMPLETE:
        return max(x, y)
    if method == _SINGLE:
        return min(x, y)
    if method == _CENTROID:
        return max(0.0, (a * x + b * y) / (a + b) - a * b * h / ((a + b) * (a + b)))
    return max(0.0, ((a + m) * x + (b + m) * y - m * h) / (a + b + m))


@compiled
def _merge(distances, codes, n_slots, alive, n_alive, i, j, gone, sizes, low, witness, method):
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
    _scan(distances, codes, n_slots, i, gone, low, witness)
    return h


@compiled
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


@compiled(plain_up_to=200_000)
def _agglomerate(distances, codes, sizes, method, gone, absolute, relative):
    n = n_slots = len(sizes)
    merges = np.empty((n - 1, 4))
    alive, nodes = np.arange(n), np.arange(n)
    low, witness = np.empty(n), np.full(n, -1, np.int64)
    low_codes = low.view(np.int64)
    for i in range(n):
        _scan(distances, codes, n, i, gone, low, witness)
    for step in range(n - 1):
        n_alive = n - step
        if 2 * n_alive <= n_slots:
            _squeeze(distances, n_slots, alive, n_alive, sizes, nodes, low, witness)
            n_slots = n_alive
        i, j = _closest(
            distances, codes, n_slots, gone, low, low_codes, witness, absolute, relative
        )
        h = _merge(
            distances, codes, n_slots, alive, n_alive, i, j, gone, sizes, low, witness, method
        )
        merges[step, 0] = min(nodes[i], nodes[j])
        merges[step, 1] = max(nodes[i], nodes[j])
        merges[step, 2] = h
        merges[step, 3] = sizes[i]
        nodes[i] = n + step
        for s in range(np.searchsorted(alive[:n_alive], j), n_alive - 1):
            alive[s] = alive[s + 1]
    return merges
