"""Many k-means at once.

An ensemble wants a hundred quick k-means runs on the same data, not one careful run.
:func:`many_kmeans` advances all of them in one pass over the data per iteration. Each member may
have its own number of clusters, its own rows and its own features; its result is bit for bit the
one it would have alone. For threads, call it on groups of members: the kernels release the lock,
and a group costs one single-precision copy of the data.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels.kmeans.lloyd import lloyd
from consilience.kernels.kmeans.members import Members, member_view
from consilience.kernels.kmeans.online import many_online
from consilience.kernels.kmeans.runs import (
    Indices,
    KMeansRuns,
    Options,
    Task,
    finish_members,
    join_runs,
    make_task,
    start_members,
    turns,
)
from consilience.kernels.kmeans.scan import Scratch, Sieve, make_scratch, make_sieve
from consilience.kernels.kmeans.sparse import sparse_kmeans


def many_kmeans(
    X: Any,
    starts: Sequence[ArrayLike],
    *,
    rows: Indices | None = None,
    features: Indices | None = None,
    max_iter: int = 100,
    tol: float = 0.0,
    spherical: bool = False,
    online: bool = False,
    assign_all: bool = True,
) -> KMeansRuns:
    """Labels, centres and inertia of one k-means run a start.

    Each run is Lloyd's: objects go to their nearest centre (ties: the smaller index), centres to
    the means of their objects, until no label changes. A cluster left empty takes the object
    farthest from its own centre (then the next farthest; ties: the smaller object), but never the
    only object of another cluster nor one that lies on its centre. With fewer distinct objects than
    clusters some clusters therefore stay empty, and their labels unused.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_features), float32 or float64, C order; or a CSR matrix
        All arithmetic that decides anything is float64. Dense data may have any offset.
    starts : sequence of arrays of shape (k, d)
        Initial centres of each member, in the member's own features.
    rows, features : sequence of (index array or None), optional
        What each member works on, sorted and without repeats; None is everything.
    max_iter : int
        Most iterations of each phase.
    tol : float
        Also stop when the squared shifts of the centres sum to at most ``tol`` times the mean
        variance of the member's columns (scikit-learn's rule). At 0 only unchanged labels stop.
    spherical : bool
        Rescale centres to unit length after every update (a zero centre stays zero). With rows of
        unit length the nearest centre is the one with the largest cosine.
    online : bool
        Then move single objects while that lowers the sum of squares; see
        :mod:`consilience.kernels.kmeans.online`.
    assign_all : bool
        Give rows a member did not use its nearest centre; otherwise they get -2.

    Returns
    -------
    KMeansRuns
        Labels always belong to the returned centres: a run stopped by ``max_iter`` or ``tol`` is
        assigned once more. A member's result does not depend on the other members.

    Notes
    -----
    Memory beside the result: a float32 copy of X and 128 MiB of bounds at most (8 bytes an object,
    if that is more). CSR data is never made dense; its sums are plain float64 ones.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM, IEEE Trans. Inf. Theory 28(2). Hamerly (2010),
    Making k-means even faster, SIAM Data Mining.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> runs = many_kmeans(X, [X[:2], X[:1]])
    >>> runs.labels
    array([[0, 0, 1, 1],
           [0, 0, 0, 0]], dtype=int32)
    >>> runs.centres[0].ravel(), runs.inertia
    (array([0.5, 5.5]), array([ 1., 26.]))
    """
    if spherical and online:
        raise ValueError("'online' lowers a sum of squares around means: not with 'spherical'.")
    task = make_task(starts, rows, features)
    options = Options(max_iter, tol, spherical, online, assign_all)
    if sparse.issparse(X):
        return sparse_kmeans(X, task, options)
    sieve, scratch = make_sieve(X), make_scratch(X.shape[1])
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)
    tols = tol * _mean_variances(X, task) if tol > 0 else np.zeros(len(task.starts))
    found: list[tuple[Any, ...]] = []
    for some in turns(len(task.starts), X.shape[0]):
        part = task.part(some)
        members = start_members(part, sieve, labels[some])
        ends = _phases(X, part, sieve, members, scratch, options, tols[some])
        inertia = finish_members(X, part, sieve, members, scratch, assign_all=assign_all)
        centres = [member_view(members, m).centres for m in range(len(part.starts))]
        found += zip(centres, inertia, *ends, strict=True)
    return join_runs(labels, found)


def _phases(
    X: NDArray[np.floating],
    task: Task,
    sieve: Sieve,
    members: Members,
    scratch: Scratch,
    options: Options,
    tols: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    max_iter, spherical = options.max_iter, options.spherical
    n_iter, converged = lloyd(
        X, sieve, members, scratch, max_iter=max_iter, tols=tols, spherical=spherical
    )
    if not options.online:
        return n_iter, converged
    passes, ended = many_online(X, task.rows, sieve, members, scratch, max_iter=max_iter)
    return n_iter + passes, converged & ended


def _mean_variances(X: NDArray[np.floating], task: Task) -> NDArray[np.float64]:
    """Mean variance of the columns each member works on."""
    whole = X.var(axis=0, dtype=np.float64)
    out = np.empty(len(task.starts))
    for m, (rows, features) in enumerate(zip(task.rows, task.features, strict=True)):
        variances = whole if rows is None else X[rows].var(axis=0, dtype=np.float64)
        out[m] = np.mean(variances if features is None else variances[features])
    return out
