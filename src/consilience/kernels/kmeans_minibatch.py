"""Mini-batch k-means for many members: a few thousand objects each instead of passes over all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels.kmeans_members import coarsen, member_of
from consilience.kernels.kmeans_runs import (
    Indices,
    KMeansRuns,
    finish_members,
    join_runs,
    make_task,
    start_members,
    turns,
)
from consilience.kernels.kmeans_scan import make_scratch, make_sieve, two_nearest
from consilience.kernels.kmeans_sparse import sparse_minibatch_kmeans


def many_minibatch_kmeans(
    X: Any,
    starts: Sequence[ArrayLike],
    batches: Sequence[NDArray[np.integer]],
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
    >>> runs = many_minibatch_kmeans(X, [X[:2]], [np.array([[0, 1], [2, 3]])])
    >>> runs.labels, runs.centres[0].ravel()
    (array([[0, 0, 1, 1]], dtype=int32), array([0., 4.]))
    """
    task = make_task(starts, rows, features)
    assert len(batches) == len(task.starts), "one array of batches a member"
    if sparse.issparse(X):
        return sparse_minibatch_kmeans(X, task, batches, spherical=spherical, assign_all=assign_all)
    sieve, scratch = make_sieve(X), make_scratch(X.shape[1])
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)
    moved = np.zeros(len(task.starts), np.int64)
    found: list[tuple[Any, ...]] = []
    for some in turns(len(task.starts), X.shape[0]):
        part, plans = task.part(some), batches[some]
        members = start_members(part, sieve, labels[some])
        for m, plan in enumerate(plans):
            one = member_of(members, m)
            follow(X, np.asarray(plan), one.features, one.centres, one.counts, spherical)
            coarsen(one, sieve)
        sweep(X, sieve, members, scratch, np.arange(len(plans)), False, moved)
        inertia = finish_members(X, part, sieve, members, scratch, assign_all=assign_all)
        found += [
            (member_of(members, m).centres, inertia[m], len(plan), True)
            for m, plan in enumerate(plans)
        ]
    return join_runs(labels, found)
