"""k-means of small tables, member by member: what the passes compute, in plain array arithmetic.

The passes of :mod:`consilience.kernels.kmeans.passes` are the most that is ever compiled at once:
a first job of a few hundred objects would wait for little else. Here is the same without bounds,
sieve and threads. Every number is made by the same operations in the same order, so results are
equal bit for bit; that needs all objects in one tile, of which changes are added up as a whole.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._plain import Patience
from consilience.kernels.kmeans.passes import take_units
from consilience.kernels.kmeans.runs import UNSEEN, Options, Task
from consilience.kernels.kmeans.scan import TILE

__all__ = ["are_small", "small_kmeans", "small_nearest"]

Floats = NDArray[np.float64]

# Objects times values of the centres of all members; the passes take five seconds to compile.
_patience = Patience(take_units, plain_up_to=4_000_000, seconds=2.0)


class _Clusters(NamedTuple):
    """The clusters of one member: centres, and sums in twice the working precision."""

    centres: Floats  # (k, d)
    sums: Floats  # (k, 2, d): sum, and what rounding took from it
    counts: NDArray[np.int64]


def are_small(task: Task, X: NDArray[Any]) -> bool:
    """Whether these runs are done here before the passes would be compiled."""
    products = X.shape[0] * sum(one.size for one in task.starts)
    return X.shape[0] <= TILE and _patience.lasts(products)


def small_kmeans(
    X: NDArray[Any], task: Task, options: Options, tols: Floats, labels: NDArray[np.int32]
) -> list[tuple[Any, ...]]:
    """Centres, inertia, iterations and success of each member; labels go to ``labels``."""
    with _patience.tried():
        return [
            _run(_table(X, features), start.copy(), rows, options, tol, out)
            for start, rows, features, tol, out in zip(*task, tols, labels, strict=True)
        ]


def small_nearest(X: NDArray[Any], task: Task, labels: NDArray[np.int32]) -> None:
    """Nearest centre of every object in every member, into ``labels``."""
    with _patience.tried():
        for start, features, out in zip(task.starts, task.features, labels, strict=True):
            out[:] = _squares(_table(X, features), start).argmin(axis=1)


def _table(X: NDArray[Any], features: NDArray[np.intp] | None) -> Floats:
    """What a member looks at."""
    return np.asarray(X if features is None else X[:, features], np.float64)


def _run(
    X: Floats,
    centres: Floats,
    rows: NDArray[np.intp] | None,
    options: Options,
    tol: float,
    labels: NDArray[np.int32],
) -> tuple[Any, ...]:
    """One member's iterations; then, as after its last pass, labels of its centres for all."""
    k, d = centres.shape
    own = X if rows is None else X[rows]
    clusters = _Clusters(centres, np.zeros((k, 2, d)), np.zeros(k, np.int64))
    own_labels, n_iter, settled, converged = np.full(len(own), -1), 0, False, False
    while n_iter < options.max_iter and not converged:
        n_iter += 1
        new = _squares(own, centres).argmin(axis=1)
        moved = _move(own, own_labels, new, clusters)
        own_labels = new
        if (clusters.counts == 0).any():
            moved += _refill(own, own_labels, clusters)
        settled = moved == 0
        converged = settled or (_shift(clusters, options.spherical) <= tol and tol > 0)
    if not settled:
        own_labels = _squares(own, centres).argmin(axis=1)
    if rows is None:
        labels[:] = own_labels
    else:
        labels[:] = _squares(X, centres).argmin(axis=1) if options.assign_all else UNSEEN
        labels[rows] = own_labels
    return centres, _in_order(_own_squares(own, own_labels, centres)), n_iter, converged


def _squares(X: Floats, centres: Floats) -> Floats:
    """Squared distances, (n, k), summed in the order of the features; never not a number."""
    total = np.zeros((len(X), len(centres)))
    for f in range(X.shape[1]):
        difference = X[:, f, None] - centres[:, f]
        total += difference * difference
    total[np.isnan(total)] = np.inf
    return total


def _own_squares(X: Floats, labels: NDArray[np.intp], centres: Floats) -> Floats:
    """Squared distance of every object to its centre, summed in the order of the features."""
    total = np.zeros(len(X))
    for f in range(X.shape[1]):
        difference = X[:, f] - centres[labels, f]
        total += difference * difference
    return total


def _in_order(values: Floats) -> float:
    """Sum from the first to the last."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def _move(X: Floats, old: NDArray[np.intp], new: NDArray[np.intp], clusters: _Clusters) -> int:
    """Take objects out of their old clusters and into the new ones; how many changed."""
    movers = np.flatnonzero(old != new)
    # What a cluster loses comes before what it gains, each in the order of the objects.
    ends = np.concatenate([old[movers], new[movers]])
    values = np.concatenate([-X[movers], X[movers]])
    for c in np.unique(ends[ends >= 0]):
        here = np.flatnonzero(ends == c)
        n_left = int(np.searchsorted(here, len(movers)))
        _add(clusters, int(c), *_total(values[here]), len(here) - 2 * n_left)
    return len(movers)


def _total(values: Floats) -> tuple[Floats, Floats]:
    """Sum of the rows from the first to the last, and what rounding took from it."""
    zeros = np.zeros((1, values.shape[1]))
    sums = np.add.accumulate(np.concatenate([zeros, values]))
    lost = _lost(sums[:-1], values, sums[1:])
    return sums[-1], np.add.accumulate(np.concatenate([zeros, lost]))[-1]


def _lost(before: Floats, value: Floats, after: Floats) -> Floats:
    """Knuth's two-sum: exactly what rounding took from ``after = before + value``."""
    moved = after - before
    return (before - (after - moved)) + (value - moved)


def _add(clusters: _Clusters, c: int, value: Floats, rest: Floats | float, count: int) -> None:
    """Add a sum of twice the working precision to that of cluster c."""
    sums = clusters.sums[c]
    after = sums[0] + value
    sums[1] += rest + _lost(sums[0], value, after)
    sums[0] = after
    clusters.counts[c] += count


def _refill(X: Floats, labels: NDArray[np.intp], clusters: _Clusters) -> int:
    """Give every empty cluster the object farthest from its centre, as `lloyd` does."""
    distance = np.nan_to_num(_own_squares(X, labels, clusters.centres), nan=0.0, posinf=np.inf)
    n_moved = 0
    for c in np.flatnonzero(clusters.counts == 0):
        far = int(np.where(clusters.counts[labels] > 1, distance, 0.0).argmax())
        if not (distance[far] > 0 and clusters.counts[labels[far]] > 1):
            break
        _add(clusters, int(labels[far]), -X[far], 0.0, -1)
        _add(clusters, int(c), X[far], 0.0, 1)
        labels[far] = c
        n_moved += 1
    return n_moved


def _shift(clusters: _Clusters, spherical: bool) -> float:
    """Move the centres to the means of their objects; the sum of the squared shifts."""
    held = clusters.counts > 0  # nobody to be the mean of: it stays
    sums, centres = clusters.sums[held], clusters.centres
    fresh = (sums[:, 0] + sums[:, 1]) / clusters.counts[held, None]
    if spherical:
        squared = np.add.accumulate(fresh * fresh, axis=1)[:, -1:]
        np.divide(fresh, np.sqrt(squared), out=fresh, where=squared > 0)
    squares = np.add.accumulate((fresh - centres[held]) ** 2, axis=1)[:, -1]
    centres[held] = fresh
    return _in_order(squares)
