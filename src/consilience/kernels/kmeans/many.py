"""Many k-means at once.

An ensemble wants a hundred quick k-means runs on the same data, not one careful run.
:func:`many_kmeans` advances all of them in one pass over the data per iteration. Each member may
have its own number of clusters, its own rows and its own features; its result is bit for bit the
one it would have alone, on any number of threads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels.data.columns import column_facts
from consilience.kernels.kmeans.members import member_view
from consilience.kernels.kmeans.online import many_online
from consilience.kernels.kmeans.passes import (
    FINISH,
    ROUNDS,
    SETTLE,
    finishing_board,
    make_board,
    run_passes,
    sums_of_squares,
)
from consilience.kernels.kmeans.runs import (
    Indices,
    KMeansRuns,
    Options,
    Task,
    join_runs,
    make_task,
    read_only,
    start_members,
    threads_for,
    turns,
)
from consilience.kernels.kmeans.scan import Sieve, make_sieve
from consilience.kernels.kmeans.small import are_small, small_kmeans, small_nearest
from consilience.kernels.kmeans.sparse import nearest_centres, own_part, sparse_kmeans


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
    n_jobs: int | None = None,
    sieve: Sieve | None = None,
    edges: NDArray[np.int64] | None = None,
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
    n_jobs : int or None
        Threads; fewer are started where there is little to do. They share rows and members.
    sieve : Sieve, optional
        What `make_sieve` made of X, if there is one already.
    edges : int array, optional
        Where logical blocks begin, if X is some rows of a larger table (`block_edges`; dense
        data): runs on these rows are then those on the table, bit for bit.

    Returns
    -------
    KMeansRuns
        Labels always belong to the returned centres: a run stopped by ``max_iter`` or ``tol`` is
        assigned once more. A member's result does not depend on the other members.

    Notes
    -----
    Memory beside the result: a float32 copy of X, 128 MiB of bounds at most (8 bytes an object,
    if that is more), and twice 64 MiB of sums at most (those of one member, if that is more),
    whatever ``n_jobs``. CSR data is never made dense; its sums are plain float64 ones.

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
        return sparse_kmeans(X, task, options, n_jobs)
    X = read_only(X)
    threads = threads_for(task, X.shape[0], n_jobs)
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)
    tols = np.zeros(len(task.starts))
    if tol > 0:
        with np.errstate(over="ignore"):  # a tolerance everything keeps may as well be infinite
            tols = tol * _mean_variances(X, task, edges, threads)
    # A small table is one block; rows of a larger one may lie in several.
    if not online and edges is None and are_small(task, X):
        return join_runs(labels, small_kmeans(X, task, options, tols, labels))
    sieve = make_sieve(X, threads) if sieve is None else sieve
    runs: list[tuple[Any, ...]] = []
    for some in turns(task, X.shape[0]):
        part, own = task.part(some), tols[some]
        runs += _run(X, part, sieve, labels[some], options, own, edges, threads)
    return join_runs(labels, runs)


def nearest_of_many(
    X: Any,
    centres: Sequence[ArrayLike],
    *,
    features: Indices | None = None,
    n_jobs: int | None = None,
    sieve: Sieve | None = None,
) -> NDArray[np.int32]:
    """Nearest centre of every object in every member, (n_members, n_objects).

    Ties go to the smaller index, as in `many_kmeans`, whose labels these are for its centres.

    Parameters
    ----------
    X, features, n_jobs, sieve
        As in `many_kmeans`.
    centres : sequence of arrays of shape (k, d)
        Centres of each member, in the member's own features.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> nearest_of_many(X, [[[0.0], [9.0]], [[1.0]]])
    array([[0, 0, 1],
           [0, 0, 0]], dtype=int32)
    """
    task = make_task(centres, None, features)
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)
    if sparse.issparse(X):
        for m, (one, _, own) in enumerate(zip(*task, strict=True)):
            labels[m] = nearest_centres(own_part(X, None, own), one)
        return labels
    X = read_only(X)
    if are_small(task, X):
        small_nearest(X, task, labels)
        return labels
    threads = threads_for(task, X.shape[0], n_jobs)
    sieve = make_sieve(X, threads) if sieve is None else sieve
    for some in turns(task, X.shape[0]):
        members = start_members(task.part(some), sieve, labels[some])
        board = make_board(members, X.shape[0], stage=SETTLE, threads=threads)
        run_passes(X, sieve, members, board, threads)
    return labels


def _run(
    X: NDArray[np.floating],
    task: Task,
    sieve: Sieve,
    labels: NDArray[np.int32],
    options: Options,
    tols: NDArray[np.float64],
    edges: NDArray[np.int64] | None,
    threads: int,
) -> list[tuple[Any, ...]]:
    """Centres, inertia, iterations and success of some members; their labels go to ``labels``."""
    members = start_members(task, sieve, labels)
    board = make_board(
        members,
        X.shape[0],
        stage=ROUNDS,
        next_stage=SETTLE if options.online else FINISH,
        max_iter=options.max_iter,
        tols=tols,
        spherical=options.spherical,
        assign_all=options.assign_all,
        edges=edges,
        threads=threads,
    )
    run_passes(X, sieve, members, board, threads)
    n_iter, converged = board.n_iter, board.converged
    if options.online:
        passes, ended = many_online(X, sieve, members, options.max_iter, board.edges, threads)
        n_iter, converged = n_iter + passes, converged & ended
        board = finishing_board(members, X.shape[0], options.assign_all, edges, threads)
        run_passes(X, sieve, members, board, threads)
    centres = [member_view(members, m).centres for m in range(len(task.starts))]
    return list(zip(centres, sums_of_squares(board), n_iter, converged, strict=True))


def _mean_variances(
    X: NDArray[np.floating], task: Task, edges: NDArray[np.int64] | None, threads: int
) -> NDArray[np.float64]:
    """Mean variance of the columns each member works on."""
    whole = column_facts(X, edges=edges, n_jobs=threads).variance
    out = np.empty(len(task.starts))
    for m, (rows, features) in enumerate(zip(task.rows, task.features, strict=True)):
        variances = whole
        if rows is not None:
            variances = column_facts(X, rows=rows, edges=edges, n_jobs=threads).variance
        out[m] = np.mean(variances if features is None else variances[features])
    return out
