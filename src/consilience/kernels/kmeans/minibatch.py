"""Mini-batch k-means for many members: a few thousand objects each instead of passes over all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels._jit import compiled
from consilience.kernels.kmeans.members import coarsen, measure, member_view, sweep
from consilience.kernels.kmeans.runs import (
    Indices,
    KMeansRuns,
    Task,
    finish_members,
    join_runs,
    make_task,
    start_members,
    turns,
)
from consilience.kernels.kmeans.scan import TILE, gather, make_scratch, make_sieve, two_nearest
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
    run = _sparse_runs if sparse.issparse(X) else _dense_runs
    return join_runs(labels, run(X, task, plans, labels, spherical, assign_all))


def _dense_runs(
    X: NDArray[Any],
    task: Task,
    plans: list[NDArray[np.intp]],
    labels: NDArray[np.int32],
    spherical: bool,
    assign_all: bool,
) -> list[Any]:
    sieve, scratch = make_sieve(X), make_scratch(X.shape[1])
    found: list[Any] = []
    for some in turns(len(plans), X.shape[0]):
        part = task.part(some)
        members = start_members(part, sieve, labels[some])
        for m, plan in enumerate(plans[some]):
            one = member_view(members, m)
            _follow(X, plan, sieve, one, scratch, spherical)
        n = len(part.starts)
        sweep(X, sieve, members, scratch, np.arange(n), False, np.zeros(n, np.int64))
        inertia = finish_members(X, part, sieve, members, scratch, assign_all=assign_all)
        centres = [member_view(members, m).centres for m in range(n)]
        found += zip(centres, inertia, map(len, plans[some]), [True] * n, strict=True)
    return found


def _sparse_runs(
    X: Any,
    task: Task,
    plans: list[NDArray[np.intp]],
    labels: NDArray[np.int32],
    spherical: bool,
    assign_all: bool,
) -> list[Any]:
    found = []
    for m, (start, rows, features) in enumerate(zip(*task, strict=True)):
        part, centres = own_part(X, None, features), start.copy()
        everything = np.arange(part.shape[1])
        counts = np.zeros(len(centres), np.int64)
        for batch in plans[m]:
            objects = part[batch].toarray()
            found_labels = nearest_centres(part[batch], centres)
            _pull(
                objects, np.arange(batch.size), everything, found_labels, centres, counts, spherical
            )
        own = part if rows is None else part[rows]
        own_labels = nearest_centres(own, centres)
        labels[m] = spread_labels(X, own_labels, centres, rows, features, assign_all)
        inertia = own_squares(own, centres, own_labels).sum()
        found.append((centres, inertia, len(plans[m]), True))
    return found


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
    found, gap = scratch.label, scratch.gap
    for a in range(objects.size):
        labels[a] = found[a]
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
