"""k-means on CSR data: products of the sparse data with dense centres, never the data made dense.

Distances come from |c|^2 - 2xc. That form loses digits, so objects whose two nearest centres it
cannot tell apart are decided as the dense kernels would: by summing squared differences, a few rows
made dense at a time. Labels are thus those of dense data with the same centres; sums are plain
float64 sums, by blocks and in their tree, so centres may differ from the dense ones in the last
bit.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._blocks import block_slices, sum_of_rows, tree_sum
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.data.columns import column_sums
from consilience.kernels.kmeans.runs import UNSEEN, KMeansRuns, Options, Task, join_runs
from consilience.kernels.kmeans.scan import squared_distance, two_nearest

# Float64 values of a dense piece: scores of many rows, or a few rows themselves.
_PIECE = 1 << 20


def sparse_kmeans(X: Any, task: Task, options: Options, n_jobs: int | None = None) -> KMeansRuns:
    """Runs of :func:`consilience.kernels.kmeans.many.many_kmeans` on a CSR matrix.

    Threads share the members: a pass is a product of SciPy's, which has one thread.
    """
    labels = np.empty((len(task.starts), X.shape[0]), np.int32)

    def turn(first: int, step: int) -> list[tuple[Any, ...]]:
        return [_run(X, task, m, options, labels[m]) for m in range(first, len(task.starts), step)]

    shares = in_turns(turn, len(task.starts), n_jobs)
    runs = [shares[m % len(shares)][m // len(shares)] for m in range(len(task.starts))]
    return join_runs(labels, runs)


def _run(
    X: Any, task: Task, m: int, options: Options, labels: NDArray[np.int32]
) -> tuple[NDArray[np.float64], float, int, bool]:
    """Centres, inertia, iterations and success of one member; its labels go to ``labels``."""
    start, rows, features = task.starts[m], task.rows[m], task.features[m]
    own, blocks = own_part(X, rows, features), block_slices(X.shape[0], rows)
    centres, n_iter, converged = _lloyd(own, blocks, start, options)
    own_labels = nearest_centres(own, centres)
    if options.online:
        passes, ended = _online(own, blocks, own_labels, centres, options.max_iter)
        n_iter, converged = n_iter + passes, converged and ended
    inertia = sum_of_rows(own_squares(own, centres, own_labels), X.shape[0], rows)
    labels[:] = spread_labels(X, own_labels, centres, rows, features, options.assign_all)
    return centres, inertia, n_iter, converged


def own_part(X: Any, rows: NDArray[np.intp] | None, features: NDArray[np.intp] | None) -> Any:
    """The rows and columns a member works on, as CSR of float64."""
    part = sparse.csr_array(X)
    part = part if rows is None else part[rows]
    part = part if features is None else part[:, features]
    return part.astype(np.float64, copy=False)


def spread_labels(
    X: Any,
    own: NDArray[np.int32],
    centres: NDArray[np.float64],
    rows: NDArray[np.intp] | None,
    features: NDArray[np.intp] | None,
    assign_all: bool,
) -> NDArray[np.int32]:
    """Labels of all objects: the member's own, and nearest centres (or -2) for the others."""
    if rows is None:
        return own
    labels = np.full(X.shape[0], UNSEEN, np.int32)
    labels[rows] = own
    others = np.flatnonzero(labels == UNSEEN)
    if assign_all and others.size:
        labels[others] = nearest_centres(own_part(X, others, features), centres)
    return labels


def nearest_centres(X: Any, centres: NDArray[np.float64]) -> NDArray[np.int32]:
    """Nearest centre of every row of a CSR matrix; ties to the smaller index."""
    labels = np.empty(X.shape[0], np.int32)
    squares = np.einsum("ij,ij->i", centres, centres)
    longest = np.sqrt(squares.max(initial=0.0))
    for some in _pieces(X.shape[0], len(centres)):
        part = X[some]
        scores = squares - 2.0 * (part @ centres.T)
        labels[some] = scores.argmin(axis=1)
        slack = _slack(np.sqrt(squared_lengths(part)) + longest, X.shape[1])
        close = np.sum(scores <= (scores.min(axis=1) + slack)[:, None], axis=1) > 1
        doubtful = np.flatnonzero(close) + some.start
        labels[doubtful] = _judge(X, doubtful, centres)
    return labels


def _judge(X: Any, rows: NDArray[np.intp], centres: NDArray[np.float64]) -> NDArray[np.int32]:
    labels = np.empty(rows.size, np.int32)
    for some in _pieces(rows.size, X.shape[1]):
        labels[some] = _nearest(X[rows[some]].toarray(), centres)
    return labels


@compiled
def _nearest(X, centres):
    features, labels = np.arange(X.shape[1]), np.empty(X.shape[0], np.int32)
    for i in range(X.shape[0]):
        labels[i] = two_nearest(X, i, features, centres)[0]
    return labels


def squared_lengths(X: Any) -> NDArray[np.float64]:
    """Squared length of every row of a CSR matrix."""
    return np.asarray(X.multiply(X).sum(axis=1), np.float64)


def _slack(reach: Any, d: int) -> Any:
    """Twice the most that rounding may change |c|^2 - 2xc; ``reach`` is |x| + |c|."""
    return 4.0 * (d + 8) * 2.0**-53 * reach**2


def own_squares(
    X: Any, centres: NDArray[np.float64], labels: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Squared distance of every row of a CSR matrix to the centre of its cluster, not below 0."""
    at = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    products = X.data * centres[labels[at], X.indices]
    squares = np.einsum("ij,ij->i", centres, centres)[labels] + squared_lengths(X)
    return np.maximum(squares - 2.0 * np.bincount(at, products, minlength=X.shape[0]), 0.0)


def _exact_own_squares(
    X: Any, rows: NDArray[np.intp], centres: NDArray[np.float64], labels: NDArray[np.int32]
) -> NDArray[np.float64]:
    out = np.empty(rows.size)
    for some in _pieces(rows.size, X.shape[1]):
        out[some] = _own_squares(X[rows[some]].toarray(), centres, labels[rows[some]])
    return out


@compiled
def _own_squares(X, centres, labels):
    features, out = np.arange(X.shape[1]), np.empty(X.shape[0])
    for i in range(X.shape[0]):
        out[i] = squared_distance(X, i, features, centres, labels[i])
    return out


def _pieces(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, _PIECE // max(1, width))
    for at in range(0, n_rows, step):
        yield slice(at, min(at + step, n_rows))


def _lloyd(
    X: Any, blocks: list[slice], start: NDArray[np.float64], options: Options
) -> tuple[NDArray[np.float64], int, bool]:
    """Centres, iterations and whether they ended by themselves."""
    limit = options.tol * _mean_variance(X, blocks) if options.tol > 0 else 0.0
    centres = start.copy()
    labels = np.full(X.shape[0], -1, np.int32)
    for t in range(options.max_iter):
        new = nearest_centres(X, centres)
        counts = np.bincount(new, minlength=len(centres))
        refilled = bool(np.any(counts == 0)) and _refill(X, centres, new, counts)
        if not refilled and np.array_equal(new, labels):
            return centres, t + 1, True
        labels, before = new, centres
        centres = _means(_sums(X, blocks, labels, len(centres)), counts, before, options.spherical)
        if limit > 0 and np.sum((centres - before) ** 2) <= limit:
            return centres, t + 1, True
    return centres, options.max_iter, False


def _sums(X: Any, blocks: list[slice], labels: NDArray[np.int32], k: int) -> NDArray[np.float64]:
    """Sums of the clusters, by blocks of rows and in their tree."""
    return np.asarray(tree_sum(_block_sums(X[some], labels[some], k) for some in blocks))


def _block_sums(X: Any, labels: NDArray[np.int32], k: int) -> NDArray[np.float64]:
    n = labels.size
    membership = sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    return np.asarray((membership.T @ X).toarray())


def _means(
    sums: NDArray[np.float64],
    counts: NDArray[np.intp],
    before: NDArray[np.float64],
    spherical: bool,
) -> NDArray[np.float64]:
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], before)
    if spherical:
        lengths = np.linalg.norm(means, axis=1)
        scaled = means / np.where(lengths > 0, lengths, 1.0)[:, None]
        means = np.where(counts[:, None] > 0, scaled, before)
    return means


def _refill(
    X: Any, centres: NDArray[np.float64], labels: NDArray[np.int32], counts: NDArray[np.intp]
) -> bool:
    """Give empty clusters the objects farthest from their centres; whether there were any."""
    distance, moved = own_squares(X, centres, labels), False
    reach = np.sqrt(squared_lengths(X).max()) + np.linalg.norm(centres, axis=1).max()
    slack = _slack(reach, X.shape[1])
    for c in np.flatnonzero(counts == 0):
        free = np.where(counts[labels] > 1, distance, -np.inf)
        near = np.flatnonzero(free >= max(free.max(), 0.0) - slack)
        exact = _exact_own_squares(X, near, centres, labels)
        if not exact.max(initial=0.0) > 0:
            break
        far = near[exact.argmax()]
        counts[labels[far]] -= 1
        counts[c] += 1
        labels[far] = c
        moved = True
    return moved


def _online(
    X: Any,
    blocks: list[slice],
    labels: NDArray[np.int32],
    centres: NDArray[np.float64],
    max_iter: int,
) -> tuple[int, bool]:
    """The second phase of :mod:`consilience.kernels.kmeans.online`; changes labels and centres."""
    counts = np.bincount(labels, minlength=len(centres))
    sums = _sums(X, blocks, labels, len(centres))
    centres[:] = _means(sums, counts, centres, False)
    lengths = squared_lengths(X)
    for t in range(max_iter):
        candidates = [
            i
            for some in _pieces(X.shape[0], len(centres))
            for i in some.start + _gainers(X[some], lengths[some], centres, counts, labels[some])
        ]
        moved = 0
        for i in candidates:
            row = X[[i]]
            if _gainers(row, lengths[[i]], centres, counts, labels[[i]]).size == 0:
                continue
            old, new = labels[i], _cheapest(row, lengths[[i]], centres, counts, labels[[i]])[1][0]
            labels[i] = new
            for c, sign in ((old, -1), (new, 1)):
                counts[c] += sign
                sums[c, row.indices] += sign * row.data
                centres[c] = sums[c] / counts[c]
            moved += 1
        if moved == 0:
            return t + 1, True
    return max_iter, False


def _cheapest(
    X: Any,
    lengths: NDArray[np.float64],
    centres: NDArray[np.float64],
    counts: NDArray[np.intp],
    labels: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """What leaving saves each row, the best cluster to join, and what that costs."""
    squares = np.einsum("ij,ij->i", centres, centres)
    distance = np.maximum(lengths[:, None] - 2.0 * (X @ centres.T) + squares, 0.0)
    at = np.arange(labels.size)
    own = counts[labels]
    saved = np.where(own > 1, own / np.maximum(own - 1, 1), 0.0) * distance[at, labels]
    cost = distance * (counts / (counts + 1.0))
    cost[at, labels] = np.inf
    best = cost.argmin(axis=1)
    return saved, best, cost[at, best]


def _gainers(
    X: Any,
    lengths: NDArray[np.float64],
    centres: NDArray[np.float64],
    counts: NDArray[np.intp],
    labels: NDArray[np.int32],
) -> NDArray[np.intp]:
    """Rows whose move would lower the sum of squares by more than rounding may feign."""
    saved, _, cost = _cheapest(X, lengths, centres, counts, labels)
    scale = lengths + np.max(np.einsum("ij,ij->i", centres, centres))
    return np.flatnonzero(saved - cost > 16.0 * (X.shape[1] + 8) * 2.0**-53 * scale)


def _mean_variance(X: Any, blocks: list[slice]) -> float:
    """Mean variance of the columns, by blocks of rows and in their tree."""
    n = X.shape[0]
    means = tree_sum(column_sums(X[some], 1) for some in blocks) / n
    squares = tree_sum(column_sums(X[some], 2) for some in blocks) / n
    return float(np.mean(np.maximum(squares - means**2, 0.0)))
