"""Mini-batch k-means for many members: a few thousand objects each instead of passes over all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels._blocks import sum_of_rows
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.kmeans.members import coarsen, measure, member_view
from consilience.kernels.kmeans.passes import FINISH, make_board, run_passes, sums_of_squares
from consilience.kernels.kmeans.runs import (
    Indices,
    KMeansRuns,
    Task,
    join_runs,
    make_task,
    read_only,
    start_members,
    threads_for,
    turns,
)
from consilience.kernels.kmeans.scan import (
    TILE,
    Sieve,
    gather,
    make_scratch,
    make_sieve,
    two_nearest,
)
from consilience.kernels.kmeans.sparse import nearest_centres, own_part, own_squares, spread_labels


def many_minibatch_kmeans(
    X: Any,
    starts: Sequence[ArrayLike],
    batches: Sequence[ArrayLike],
    *,
    features: Indices | None = None,
    rows: Indices | None = None,
    spherical: bool = False,
    assign_all: bool = True,
    n_jobs: int | None = None,
    sieve: Sieve | None = None,
    edges: NDArray[np.int64] | None = None,
) -> KMeansRuns:
    """Labels, centres and inertia of one mini-batch k-means run a start.

    A run takes its batches in turn. All objects of a batch go to their nearest centre (ties: the
    smaller index); then each in turn pulls its centre towards itself, by one over the number of
    objects that centre has received so far. In the end every object goes to its nearest centre.
    Nothing is done about clusters that receive no object.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_features), float32 or float64, C order; or a CSR matrix
    starts : sequence of arrays of shape (k, d)
        Initial centres of each member, in the member's own features.
    batches : sequence of int arrays of shape (n_iter, batch_size)
        Objects of each member's batches, as rows of X.
    features, rows : sequence of (index array or None), optional
        The member's features, and the rows that count for ``inertia`` and ``assign_all``.
    spherical : bool
        Rescale centres to unit length after every batch (a zero centre stays zero).
    assign_all : bool
        Label every object; otherwise those outside ``rows`` get -2.
    n_jobs : int or None
        Threads; fewer are started where there is little to do.
    sieve : Sieve, optional
        What `make_sieve` made of X, if there is one already.
    edges : int array, optional
        As in `many_kmeans`.

    Returns
    -------
    KMeansRuns
        ``n_iter`` is the number of batches and ``converged`` always True: a run ends with them.

    References
    ----------
    Sculley (2010), Web-scale k-means clustering, WWW, algorithm 1.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> runs = many_minibatch_kmeans(X, [X[:2]], [[[0, 1], [2, 3]]])
    >>> runs.labels, runs.centres[0].ravel()
    (array([[0, 0, 1, 1]], dtype=int32), array([0., 4.]))
    """
    task = make_task(starts, rows, features)
    plans = [np.asarray(plan, dtype=np.intp) for plan in batches]
    assert len(plans) == len(task.starts), "one array of batches a member"
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)
    if sparse.issparse(X):
        runs = _sparse_runs(X, task, plans, labels, spherical, assign_all, n_jobs)
        return join_runs(labels, runs)
    X = read_only(X)
    threads = threads_for(task, X.shape[0], n_jobs)
    sieve = make_sieve(X, threads) if sieve is None else sieve
    runs = []
    for some in turns(task, X.shape[0]):
        part = task.part(some)
        runs += _dense_runs(
            X, part, plans[some], labels[some], sieve, spherical, assign_all, edges, threads
        )
    return join_runs(labels, runs)


def _dense_runs(
    X: NDArray[Any],
    task: Task,
    plans: list[NDArray[np.intp]],
    labels: NDArray[np.int32],
    sieve: Sieve,
    spherical: bool,
    assign_all: bool,
    edges: NDArray[np.int64] | None,
    threads: int,
) -> list[Any]:
    members = start_members(task, sieve, labels)

    def turn(first: int, step: int) -> None:
        scratch = make_scratch(X.shape[1])
        for m in range(first, len(plans), step):
            _follow(X, plans[m], sieve, member_view(members, m), scratch, spherical)

    in_turns(turn, len(plans), threads)
    board = make_board(
        members, X.shape[0], stage=FINISH, assign_all=assign_all, edges=edges, threads=threads
    )
    run_passes(X, sieve, members, board, threads)
    centres = [member_view(members, m).centres for m in range(len(plans))]
    every = [True] * len(plans)
    return list(zip(centres, sums_of_squares(board), map(len, plans), every, strict=True))


def _sparse_runs(
    X: Any,
    task: Task,
    plans: list[NDArray[np.intp]],
    labels: NDArray[np.int32],
    spherical: bool,
    assign_all: bool,
    n_jobs: int | None,
) -> list[Any]:
    def turn(first: int, step: int) -> list[Any]:
        return [
            _sparse_run(X, task, m, plans[m], labels[m], spherical, assign_all)
            for m in range(first, len(plans), step)
        ]

    shares = in_turns(turn, len(plans), n_jobs)
    return [shares[m % len(shares)][m // len(shares)] for m in range(len(plans))]


def _sparse_run(
    X: Any,
    task: Task,
    m: int,
    plan: NDArray[np.intp],
    labels: NDArray[np.int32],
    spherical: bool,
    assign_all: bool,
) -> tuple[Any, ...]:
    rows, features = task.rows[m], task.features[m]
    part, centres = own_part(X, None, features), task.starts[m].copy()
    everything = np.arange(part.shape[1])
    counts = np.zeros(len(centres), np.int64)
    for batch in plan:
        objects = part[batch].toarray()
        nearest = nearest_centres(part[batch], centres)
        _pull(objects, np.arange(batch.size), everything, nearest, centres, counts, spherical)
    own = part if rows is None else part[rows]
    own_labels = nearest_centres(own, centres)
    labels[:] = spread_labels(X, own_labels, centres, rows, features, assign_all)
    inertia = sum_of_rows(own_squares(own, centres, own_labels), X.shape[0], rows)
    return centres, inertia, len(plan), True


@compiled
def _follow(X, plan, sieve, one, scratch, spherical):
    """Let a member's centres follow its batches."""
    labels = np.empty(plan.shape[1], np.int32)
    for t in range(plan.shape[0]):
        for at in range(0, plan.shape[1], TILE):
            some = slice(at, at + TILE)
            _assign(X, plan[t, some], sieve, one, scratch, labels[some])
        _pull(X, plan[t], one.features, labels, one.centres, one.counts, spherical)
        coarsen(one, sieve)


@compiled
def _assign(X, objects, sieve, one, scratch, labels):
    columns, features, centres = one.columns, one.features, one.centres
    gather(sieve.strips, columns, objects, scratch)
    used, norms = scratch.columns[: columns.size], scratch.strips[columns.size]
    measure(scratch.strips, used, norms, objects.size, one, scratch)
    scanned, gap = scratch.label, scratch.gap
    for a in range(objects.size):
        labels[a] = scanned[a]
        if not gap[a] > 0:
            labels[a] = two_nearest(X, objects[a], features, centres)[0]


@compiled
def _pull(X, objects, features, labels, centres, counts, spherical):
    """Let each object in turn pull its centre; ``counts`` are the objects centres received."""
    for a in range(objects.size):
        i, c = objects[a], labels[a]
        counts[c] += 1
        for f in range(features.size):
            centres[c, f] += (X[i, features[f]] - centres[c, f]) / counts[c]
    if spherical:
        for c in np.unique(labels[: objects.size]):
            length = np.sqrt(np.sum(centres[c] ** 2))
            if length > 0:
                centres[c] /= length
