"""What many k-means runs take and return, whichever way they were run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.kernels._parallel import of_use
from consilience.kernels.kmeans.members import Members, make_members
from consilience.kernels.kmeans.passes import most_members
from consilience.kernels.kmeans.scan import Sieve

UNSEEN = -2
# One index array a member; None: all rows, or all features.
Indices = Sequence[NDArray[np.intp] | None]
# Bounds of this many bytes (4 an object and member) are held at once; further members wait.
_BOUND_BYTES = 1 << 27
# Products of objects and centres, in one pass, that a thread is started for: half a millisecond.
_A_THREAD = 1 << 22


class KMeansRuns(NamedTuple):
    """What many k-means runs found.

    ``labels`` is (n_members, n_objects), with -2 (unseen) for rows left out; ``centres`` holds one
    (k, d) array a member, in its own features; ``inertia`` the sum of squared distances of the
    member's own rows to their centres; ``n_iter`` the iterations taken, of both phases where there
    are two; ``converged`` whether they ended by themselves; ``sizes``, where somebody counted them,
    the objects of each cluster in ``labels``.
    """

    labels: NDArray[np.signedinteger[Any]]
    centres: list[NDArray[np.float64]]
    inertia: NDArray[np.float64]
    n_iter: NDArray[np.int32]
    converged: NDArray[np.bool_]
    sizes: list[NDArray[np.int64]] | None = None


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

    def within(self, start: int, stop: int) -> "Task":
        """The same with those of the members' rows only that lie in a piece."""
        rows = [
            None if own is None else own[slice(*np.searchsorted(own, (start, stop)))]
            for own in self.rows
        ]
        return self._replace(rows=rows)


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


def read_only(X: NDArray[Any]) -> NDArray[Any]:
    """The data as kernels get them: compiled once, whether or not they may be written."""
    view = X.view()
    view.flags.writeable = False
    return view


def turns(task: Task, n_objects: int) -> list[slice]:
    """Members to run together, so that their bounds and sums fit into memory."""
    n_members = len(task.starts)
    step = max(1, _BOUND_BYTES // (4 * max(1, n_objects)))
    step = min(step, most_members(n_objects, max((one.size for one in task.starts), default=1)))
    return [slice(at, min(at + step, n_members)) for at in range(0, n_members, step)]


def threads_for(task: Task, n_objects: int, n_jobs: int | None) -> int:
    """Threads of use: fewer than asked for, or one, where a pass is over sooner than they start."""
    if n_jobs is None or n_jobs == 1:
        return 1
    products = n_objects * sum(one.size for one in task.starts)
    return of_use(n_jobs, max(1, products // _A_THREAD))


def start_members(task: Task, sieve: Sieve, labels: NDArray[np.int32]) -> Members:
    """State of the members of a task."""
    everything = np.arange(sieve.shift.size)
    features = [everything if one is None else one for one in task.features]
    return make_members(task.starts, features, sieve, labels, task.rows)


def join_runs(
    labels: NDArray[np.signedinteger[Any]],
    found: Sequence[tuple[NDArray[np.float64], float, int, bool]],
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
