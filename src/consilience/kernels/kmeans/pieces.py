"""Exact k-means of rows that are never in memory together.

A *piece* is a run of whole logical blocks, 2^l of them from a multiple of 2^l on, or the rest: its
sums are a node of the tree of :mod:`consilience.kernels._blocks`. So an iteration is one call a
piece, wherever it lies, which gives labels and how the clusters change (:func:`advance`), a sum of
the changes in the tree, and a small step on the centres (:class:`Rounds`). Labels, centres, sums
and numbers of iterations are those of :func:`~consilience.kernels.kmeans.many.many_kmeans`, bit
for bit, however the rows are cut into pieces.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, n_blocks_of
from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.lloyd import GOES_ON, move_on, take_change
from consilience.kernels.kmeans.many import nearest_of_many
from consilience.kernels.kmeans.members import add_moves, make_members, member_view, tally
from consilience.kernels.kmeans.runs import Task, read_only
from consilience.kernels.kmeans.scan import Sieve, squared_distance
from consilience.kernels.kmeans.sums import Part, add_part, add_tree, make_parts, part_of, part_view

__all__ = ["Change", "Far", "Rounds", "advance", "farthest", "label_type", "settle"]

Floats = NDArray[np.float64]
Labels = NDArray[np.signedinteger[Any]]
Rows = Sequence[NDArray[np.intp] | None]

_UNSEEN = -2


class Change:
    """How the clusters of a member change by the objects of some blocks; added in the tree."""

    def __init__(self, part: Part, moved: int) -> None:
        self.part, self.moved = part, moved

    def __add__(self, other: "Change") -> "Change":
        """The sum; the one on the left becomes it, and the other is used up."""
        add_part(self.part, other.part)
        self.moved += other.moved
        return self


class Far(NamedTuple):
    """Objects of a piece far from their centres: distance, number, label and row of each."""

    distances: Floats
    objects: NDArray[np.int64]
    labels: NDArray[np.int32]
    values: NDArray[np.floating[Any]]


def label_type(task: Task) -> np.dtype[Any]:
    """The narrowest type for the labels of all members, -1 and -2."""
    return np.min_scalar_type(-1 - max((len(one) for one in task.starts), default=1))


def own_labels(labels: Labels, rows: Rows, start: int, outside: int) -> None:
    """Give the objects of a piece that are not a member's own another label, in place."""
    for one, own in zip(labels, rows, strict=True):
        if own is not None:
            others = np.ones(len(one), bool)
            others[own - start] = False
            one[others] = outside


def advance(
    X: NDArray[np.floating[Any]],
    start: int,
    task: Task,
    before: Labels | None,
    refilled: Sequence[dict[int, int]],
    n_jobs: int | None = None,
) -> tuple[Labels, list[Change]]:
    """Labels of a piece by the centres of a task, and how each member's clusters change.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The piece; its first row is row ``start`` of all.
    start : int
    task : Task
        Centres of the members that go on, their own rows in the piece (`Task.within`; by their
        numbers among all) and features.
    before : (n_members, n_rows) or None
        Labels of the iteration before; None in the first.
    refilled : one mapping a member
        Objects, by their numbers among all, that were then given to empty clusters.
    n_jobs : int or None
    """
    X = read_only(X)
    labels = nearest_of_many(X, task.starts, features=task.features, n_jobs=n_jobs)
    own_labels(labels, task.rows, start, -1)
    old = np.full(labels.shape, -1, np.int32) if before is None else before.astype(np.int32)
    for one, moves in zip(old, refilled, strict=True):
        for number, cluster in moves.items():
            if start <= number < start + len(one):
                one[number - start] = cluster
    everything = np.arange(X.shape[1])
    changes = []
    for m, (centres, _, features) in enumerate(zip(*task, strict=True)):
        own = everything if features is None else features
        parts = make_parts(n_blocks_of(len(X)), centres.size, len(centres))
        place = (0, 0, *centres.shape)
        moved = _add_blocks(X, own, old[m], labels[m], parts, place)
        changes.append(Change(part_view(parts, 0, place), moved))
    return labels.astype(label_type(task)), changes


@compiled
def _add_blocks(X, features, old, new, parts, place):
    """Changes of the clusters over the blocks of a piece, in the tree; they are in row 0."""
    movers, total = np.empty(BLOCK_ROWS, np.intp), 0
    left, joined = np.empty(BLOCK_ROWS, np.int32), np.empty(BLOCK_ROWS, np.int32)
    for block in range(parts.touched.shape[0]):
        n = 0
        for i in range(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, new.size)):
            if old[i] != new[i]:
                movers[n], left[n], joined[n] = i, old[i], new[i]
                n += 1
        if n > 0:
            part = part_of(parts, block, place)
            add_moves(X, features, movers[:n], left[:n], joined[:n], part)
        total += n
    add_tree(parts, place)
    return total


def farthest(
    X: NDArray[np.floating[Any]],
    start: int,
    centres: Floats,
    features: NDArray[np.intp] | None,
    labels: Labels,
    most: int,
) -> Far:
    """Of every cluster the ``most`` objects of a piece that are farthest from its centre.

    No more of them can be given to ``most`` empty clusters. Objects on their centre stay.
    """
    own = np.arange(X.shape[1]) if features is None else features
    distance = _distances(read_only(X), own, centres, labels.astype(np.int32))
    chosen = []
    for cluster in range(len(centres)):
        inside = np.flatnonzero((labels == cluster) & (distance > 0))
        order = np.lexsort((inside, -distance[inside]))
        chosen.append(inside[order[:most]])
    at = np.concatenate(chosen)
    return Far(distance[at], start + at, labels[at].astype(np.int32), X[at])


@compiled
def _distances(X, features, centres, labels):
    out = np.zeros(labels.size)
    for i in range(labels.size):
        if labels[i] >= 0:
            out[i] = squared_distance(X, i, features, centres, labels[i])
    return out


def settle(
    X: NDArray[np.floating[Any]],
    start: int,
    task: Task,
    assign_all: bool,
    with_squares: bool,
    n_jobs: int | None = None,
) -> tuple[Labels, Floats]:
    """Labels of a piece by the last centres, and sums of squares of own objects, by blocks.

    Objects that are not a member's own are unseen (-2) unless all are to be assigned. Sums are
    (n_blocks, n_members), or empty if not wanted.
    """
    X = read_only(X)
    labels = nearest_of_many(X, task.starts, features=task.features, n_jobs=n_jobs)
    mine = labels if assign_all and not with_squares else labels.copy()
    if with_squares or not assign_all:
        own_labels(mine, task.rows, start, _UNSEEN)
    squares = np.zeros((n_blocks_of(len(X)) if with_squares else 0, len(labels)))
    everything = np.arange(X.shape[1])
    for m, (centres, _, features) in enumerate(zip(*task, strict=True)):
        if with_squares:
            own = everything if features is None else features
            _add_squares(X, own, centres, mine[m], squares[:, m])
    return (labels if assign_all else mine).astype(label_type(task)), squares


@compiled
def _add_squares(X, features, centres, labels, out):
    for block in range(out.size):
        total = 0.0
        for i in range(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, labels.size)):
            if labels[i] >= 0:
                total += squared_distance(X, i, features, centres, labels[i])
        out[block] = total


class Rounds:
    """The small side of exact k-means: centres, sums and counts of members, and who goes on.

    Whoever has the rows asks `task` which centres to assign to, calls `advance` for every piece,
    adds up the changes in the tree and hands them to `end`.
    """

    def __init__(self, task: Task, max_iter: int, tols: Floats, spherical: bool) -> None:
        # The scale of the bounds, which nobody uses here.
        n_features = 1 + max(
            (int(own.max()) for own in task.features if own is not None), default=0
        )
        n_features = max([n_features, *(one.shape[1] for one in task.starts)])
        strips = np.zeros((0, n_features + 2, 1), np.float32)
        self._sieve = Sieve(strips, np.zeros(n_features), 1.0)
        everything = np.arange(n_features)
        features = [
            everything[: start.shape[1]] if own is None else own
            for start, own in zip(task.starts, task.features, strict=True)
        ]
        n_members = len(task.starts)
        empty = np.empty((n_members, 0), np.int32)
        self._members = make_members(task.starts, features, self._sieve, empty, None)
        self._rows, self._features = task.rows, task.features
        self._max_iter, self._tols, self._spherical = max_iter, tols, spherical
        self.n_iter = np.zeros(n_members, np.int32)
        self.converged = np.zeros(n_members, np.bool_)
        self.going = [m for m in range(n_members) if max_iter > 0]
        self.refilled: list[dict[int, int]] = [{} for _ in range(n_members)]

    def task(self, some: Sequence[int] | None = None) -> Task:
        """Centres, rows and features of some members; of those that go on by default."""
        chosen = self.going if some is None else some
        return Task(
            [member_view(self._members, m).centres.copy() for m in chosen],
            [self._rows[m] for m in chosen],
            [self._features[m] for m in chosen],
        )

    def take(self, m: int, change: Change) -> int:
        """Add up what changed for a member; how many of its clusters are empty now."""
        one = member_view(self._members, m)
        self.refilled[m] = {}
        take_change(one, change.part)
        return int((one.counts == 0).sum())

    def refill(self, m: int, found: Sequence[Far]) -> int:
        """Give empty clusters the objects farthest from their centres; how many there were.

        As in :mod:`consilience.kernels.kmeans.lloyd`: ties go to the smaller object, and no
        cluster loses its only object.
        """
        one = member_view(self._members, m)
        objects = np.concatenate([far.objects for far in found])
        order = np.lexsort((objects, -np.concatenate([far.distances for far in found])))
        clusters = np.concatenate([far.labels for far in found])
        values = np.concatenate([far.values for far in found])
        taken, at = np.zeros(1, np.intp), np.zeros(1, np.int32)
        for cluster in np.flatnonzero(one.counts == 0):
            free = (
                i for i in order
                if one.counts[clusters[i]] > 1 and int(objects[i]) not in self.refilled[m]
            )  # fmt: skip
            far = next(free, None)
            if far is None:
                break
            row = read_only(np.ascontiguousarray(values[far][None]))
            for to, sign in ((clusters[far], -1.0), (cluster, 1.0)):
                at[0] = to
                tally(row, one.features, taken, at, sign, one.sums, one.counts)
            self.refilled[m][int(objects[far])] = int(cluster)
        return len(self.refilled[m])

    def end(self, m: int, moved: int) -> None:
        """End an iteration of a member in which so many labels changed."""
        one = member_view(self._members, m)
        state = move_on(self._sieve, one, moved, self._tols[m], self._spherical)
        self.n_iter[m] += 1
        if state == GOES_ON and self.n_iter[m] < self._max_iter:
            return
        self.converged[m] = state != GOES_ON
        self.going.remove(m)
