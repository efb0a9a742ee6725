"""Nearest centres of new objects in many members at once, and how near the nearest of all is.

A k-means that is running remembers bounds and sums; here nothing runs. A tile of objects lies
feature by feature in the first cache while the centres of all members pass by: the innermost loop
goes over objects, and vectorises whatever the number of features.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns

__all__ = ["Places", "place"]

Floats = NDArray[np.float64]

# Objects whose features and running minima stay in the first cache.
_TILE = 256
# Features taken together; the last chunk is filled with zeros, which change no sum.
_CHUNK = 4
# Products of values with centres that are worth a thread.
_WORTH = 2**20


class Places(NamedTuple):
    """Nearest centre in each member, (n_members, n_objects), and the least weighted square."""

    labels: NDArray[np.int32]
    least: Floats


def place(
    X: NDArray[np.floating[Any]],
    centres: Sequence[Floats],
    features: Sequence[NDArray[np.intp] | None],
    weights: Sequence[Floats],
    *,
    n_jobs: int | None = 1,
) -> Places:
    """The nearest centre of every object in every member.

    Parameters
    ----------
    X : (n_objects, n_features) float32 or float64, C-contiguous
    centres : sequence of (k, d) arrays
        Of each member, in its own features.
    features : sequence of index arrays or None
        What each member looks at; None is everything.
    weights : sequence of (k,) arrays
        What a squared distance to each centre counts in ``least``; infinite to leave it out.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Places
        Ties go to the smaller index, as in `many_kmeans`: squares are added in float64, in the
        order of the features. ``least`` is the least of weight times square over the members,
        infinite without any.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> placed = place(X, [np.array([[0.0], [9.0]])], [None], [np.ones(2)])
    >>> placed.labels.tolist(), placed.least.tolist()
    ([[0, 0, 1]], [0.0, 1.0, 16.0])
    """
    n, d = X.shape
    labels = np.empty((len(centres), n), np.int32)
    least = np.empty(n)
    everything = np.arange(d)
    columns = [_padded(everything if one is None else one, d) for one in features]
    flat = np.concatenate([*map(_padded_rows, centres), np.empty(0)])
    weight = np.concatenate([*weights, np.empty(0)])
    listed = np.concatenate([*columns, np.empty(0, np.intp)])
    # Where the centres, weights and columns of each member begin.
    shape = np.array([[len(w), len(c)] for w, c in zip(weights, columns, strict=True)], np.intp)
    first = np.zeros((len(centres) + 1, 3), np.intp)
    first[1:, 1:] = np.cumsum(shape.reshape(-1, 2), axis=0)
    first[1:, 0] = np.cumsum(shape.reshape(-1, 2).prod(axis=1))
    X = X.view()
    X.flags.writeable = False  # one compiled form for arrays that may be written and others
    in_turns(
        lambda at, step: _place(X, flat, weight, listed, first, at, step, labels, least),
        min(-(-n // _TILE), -(-n * flat.size // _WORTH)),
        n_jobs,
    )
    return Places(labels, least)


def _padded(columns: NDArray[Any], n_features: int) -> NDArray[np.intp]:
    """Columns with as many of zeros, number ``n_features``, that they fill the last chunk."""
    zeros = np.full(-len(columns) % _CHUNK, n_features)
    return np.concatenate([columns, zeros]).astype(np.intp)


def _padded_rows(centres: Floats) -> Floats:
    """Centres one after the other, with zeros where columns are padded."""
    return np.pad(centres, [(0, 0), (0, -centres.shape[1] % _CHUNK)]).ravel()


@compiled(plain_up_to=500_000, size=lambda X, centres, *_: len(X) * centres.size)
def _place(X, flat, weights, columns, first, at, step, labels, least):
    """Every ``step``-th tile of objects."""
    n, d = X.shape
    strips = np.zeros((d + 1, _TILE))
    total, nearest = np.zeros(_TILE), np.zeros(_TILE)
    label = np.zeros(_TILE, np.int32)
    for start in range(at * _TILE, n, step * _TILE):
        width = min(_TILE, n - start)
        for r in range(width):
            least[start + r] = np.inf
            for f in range(d):
                strips[f, r] = X[start + r, f]
        for m in range(labels.shape[0]):
            own, values = columns[first[m, 2] : first[m + 1, 2]], flat[first[m, 0] :]
            nearest[:] = np.inf
            label[:] = 0
            for c in range(first[m + 1, 1] - first[m, 1]):
                total[:] = 0.0
                for f in range(0, own.size, _CHUNK):
                    _add_squares(strips, own[f:], values[c * own.size + f :], total)
                _keep_closer(total, c, nearest, label)
            for r in range(width):
                labels[m, start + r] = label[r]
                weight = weights[first[m, 1] + label[r]]
                if weight < np.inf:
                    least[start + r] = min(least[start + r], weight * nearest[r])


def _keep_closer_in_arrays(total, c, nearest, label):
    closer = total < nearest
    nearest[closer] = total[closer]
    label[closer] = c


@compiled(plain=_keep_closer_in_arrays)
def _keep_closer(total, c, nearest, label):
    """Take centre c where it is nearer than those before."""
    for r in range(_TILE):
        closer = total[r] < nearest[r]
        nearest[r] = total[r] if closer else nearest[r]
        label[r] = c if closer else label[r]


def _add_squares_in_arrays(strips, columns, values, total):
    for column, value in zip(columns[:_CHUNK], values, strict=False):
        total += (strips[column] - value) ** 2


@compiled(plain=_add_squares_in_arrays)
def _add_squares(strips, columns, values, total):
    """Four features a pass: fewer loads and stores, and the sum still in their order."""
    x0, x1, x2, x3 = strips[columns[0]], strips[columns[1]], strips[columns[2]], strips[columns[3]]
    c0, c1, c2, c3 = values[0], values[1], values[2], values[3]
    for r in range(_TILE):
        a0, a1, a2, a3 = x0[r] - c0, x1[r] - c1, x2[r] - c2, x3[r] - c3
        total[r] = total[r] + a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3
