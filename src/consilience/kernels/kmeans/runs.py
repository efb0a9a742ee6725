"""What many k-means runs take and return, whichever way they were run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.members import Members, make_members, member_view, sweep
from consilience.kernels.kmeans.scan import Scratch, Sieve, squared_distance

UNSEEN = -2
# One index array a member; None: all rows, or all features.
Indices = Sequence[NDArray[np.intp] | None]
# Bounds of this many bytes (4 an object and member) are held at once; further members wait.
_BOUND_BYTES = 1 << 27


class KMeansRuns(NamedTuple):
    """What many k-means runs found.

    ``labels`` is (n_members, n_objects), with -2 (unseen) for rows left out; ``centres`` holds one
    (k, d) array a member, in its own features; ``inertia`` the sum of squared distances of the
    member's own rows to their centres; ``n_iter`` the iterations taken, of both phases where there
    are two; ``converged`` whether they ended by themselves.
    """

    labels: NDArray[np.int32]
    centres: list[NDArray[np.float64]]
    inertia: NDArray[np.float64]
    n_iter: NDArray[np.int32]
    converged: NDArray[np.bool_]


class Options(NamedTuple):
    """What all members of a call have in common; as in `many_kmeans`."""

    max_iter: int
    tol: float
    spherical: bool
    online: bool
    assign_all: bool


class Task(NamedTuple):
    """What every member starts from and works on, one list entry a member."""

    starts: list[NDArray[np.float64]]
    rows: list[NDArray[np.intp] | None]
    features: list[NDArray[np.intp] | None]

    def part(self, some: slice) -> "Task":
        """The task of some of the members."""
        return Task(self.starts[some], self.rows[some], self.features[some])


def make_task(starts: Sequence[ArrayLike], rows: Indices | None, features: Indices | None) -> Task:
    """The arguments of many runs in one shape; index arrays as the kernels want them."""
    return Task(
        [np.ascontiguousarray(start, dtype=np.float64) for start in starts],
        _indices(rows, len(starts)),
        _indices(features, len(starts)),
    )


def _indices(many: Indices | None, n_members: int) -> list[NDArray[np.intp] | None]:
    if many is None:
        return [None] * n_members
    assert len(many) == n_members, "one entry a member"
    out = [None if one is None else np.ascontiguousarray(one, dtype=np.intp) for one in many]
    assert all(one is None or np.all(np.diff(one) > 0) for one in out), "sorted, without repeats"
    return out


def turns(n_members: int, n_objects: int) -> list[slice]:
    """Members to run together, so that their bounds fit into memory."""
    step = max(1, _BOUND_BYTES // (4 * max(1, n_objects)))
    return [slice(at, min(at + step, n_members)) for at in range(0, n_members, step)]


def start_members(task: Task, sieve: Sieve, labels: NDArray[np.int32]) -> Members:
    """State of the members of a task; rows that are not theirs are left alone."""
    everything = np.arange(sieve.shift.size)
    features = [everything if one is None else one for one in task.features]
    members = make_members(task.starts, features, sieve, labels)
    for m, rows in enumerate(task.rows):
        if rows is not None:
            members.gaps[m] = np.inf
            members.gaps[m, rows] = -np.inf
    return members


def finish_members(
    X: NDArray[Any],
    task: Task,
    sieve: Sieve,
    members: Members,
    scratch: Scratch,
    *,
    assign_all: bool,
) -> NDArray[np.float64]:
    """Inertia of every member; rows left out get their nearest centre, or -2."""
    inertia = np.zeros(len(task.rows))
    everything = np.arange(X.shape[0])
    for m, rows in enumerate(task.rows):
        one = member_view(members, m)
        own = everything if rows is None else rows
        inertia[m] = inertia_of(X, own, one.features, one.centres, one.labels)
        if rows is not None:
            one.gaps.fill(-np.inf)
            one.gaps[rows] = np.inf
            one.labels[one.gaps < 0] = -1 if assign_all else UNSEEN
    if assign_all:
        partial = np.flatnonzero([rows is not None for rows in task.rows])
        sweep(X, sieve, members, scratch, partial, False, np.zeros(len(task.rows), np.int64))
    return inertia


@compiled
def inertia_of(X, rows, features, centres, labels):
    """Sum of the squared distances of the rows to the centres of their clusters."""
    total = 0.0
    for i in rows:
        total += squared_distance(X, i, features, centres, labels[i])
    return total


def join_runs(
    labels: NDArray[np.int32], found: Sequence[tuple[NDArray[np.float64], float, int, bool]]
) -> KMeansRuns:
    """Labels of all members, and centres, inertia, iterations and success of each, as one."""
    centres, inertia, n_iter, converged = zip(*found, strict=True) if found else ((),) * 4
    return KMeansRuns(
        labels,
        list(centres),
        np.array(inertia, np.float64),
        np.array(n_iter, np.int32),
        np.array(converged, np.bool_),
    )
