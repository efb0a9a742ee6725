"""From eigenvectors to parts: the pieces that the spectral partitioners share."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from consilience._threads import one_thread
from consilience._validation import check_jobs
from consilience.kernels._parallel import by_rows
from consilience.kernels.kmeans.weighted import weighted_kmeans

__all__ = [
    "fill_empty",
    "kmeans_labels",
    "largest_eigenvectors",
    "leading_eigenvectors",
    "unit_rows",
]

Floats = NDArray[np.float64]

# Past this size the few eigenvectors wanted come from Lanczos.
_DENSE_EIGEN = 2000
# Past so many rows k-means chooses among its starts on a sample, then runs once on all rows.
_MANY_ROWS = 100_000
# Rows of the sample: at least, and for each cluster.
_SAMPLE, _SAMPLE_A_CLUSTER = 20_000, 200


def leading_eigenvectors(N: Floats, k: int, rng: np.random.RandomState) -> tuple[Floats, Floats]:
    """The k largest eigenvalues of a symmetric matrix, falling, and their eigenvectors.

    Signs are fixed: the largest entry of each vector, by size, is positive.
    """
    p = len(N)
    if p > _DENSE_EIGEN and k < p // 4:
        values, vectors = eigsh(N, k=k, which="LA", v0=rng.standard_normal(p))
        order = np.argsort(values)[::-1]
        values, vectors = values[order], vectors[:, order]
    else:
        values, vectors = largest_eigenvectors(N, k)
        values, vectors = values[::-1], vectors[:, ::-1]
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return values, np.ascontiguousarray(vectors * np.where(peaks < 0, -1.0, 1.0))


def largest_eigenvectors(N: Floats, k: int) -> tuple[Floats, Floats]:
    """The k largest eigenvalues of a symmetric matrix, rising, and their eigenvectors.

    Examples
    --------
    >>> values, vectors = largest_eigenvectors(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values, abs(vectors.T)
    (array([2., 3.]), array([[0., 0., 1.],
           [0., 1., 0.]]))
    """
    p = len(N)
    try:
        # LAPACK's default driver fails ("Internal Error") on many equal eigenvalues.
        values, vectors = eigh(N, subset_by_index=[p - k, p - 1], driver="evx")
    except LinAlgError:
        values = np.empty(0)
    if len(values) < k:
        # This one fails on some, too, or finds too few of them without a word. That for all
        # eigenvectors takes longer, and does not.
        values, vectors = eigh(N, driver="evd")
    return values[-k:], vectors[:, -k:]


def unit_rows(E: Floats, n_jobs: int | None = None, *, out: Floats | None = None) -> Floats:
    """Rows over their length; rows of zeros stay."""
    check_jobs(n_jobs, owner="unit_rows")
    unit: Floats = np.empty(E.shape) if out is None else out

    def divide(rows: slice) -> None:
        length = np.linalg.norm(E[rows], axis=1, keepdims=True)
        np.divide(E[rows], length + 1e-10, out=unit[rows])

    by_rows(divide, len(E), n_jobs)
    return unit


def kmeans_labels(
    E: Floats,
    k: int,
    weights: Floats | None,
    rng: np.random.RandomState,
    *,
    init: Floats | None = None,
    n_init: int = 3,
    max_iter: int = 100,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """k-means of weighted rows: the best of a few starts, or from the centres given.

    Many rows are sampled to choose the start, then all of them are clustered once, by threads:
    their number changes nothing.
    """
    check_jobs(n_jobs, owner="kmeans_labels")
    seed = int(rng.randint(2**31 - 1))
    with one_thread(), warnings.catch_warnings():
        # Fewer distinct rows than clusters: the caller counts what was found.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if len(E) <= _MANY_ROWS:
            model = (
                _kmeans(k, "k-means++", n_init, max_iter, seed)
                if init is None
                else _kmeans(k, init, 1, max_iter, seed)
            )
            labels: NDArray[np.int32] = model.fit(E, sample_weight=weights).labels_
            return labels.astype(np.int32)
        if init is None:
            size = min(len(E), max(_SAMPLE, _SAMPLE_A_CLUSTER * k))
            sample = np.sort(rng.choice(len(E), size, replace=False))
            chosen = None if weights is None else weights[sample]
            model = _kmeans(k, "k-means++", n_init, max_iter, seed)
            init = model.fit(E[sample], sample_weight=chosen).cluster_centers_
        return weighted_kmeans(E, init, weights, max_iter=max_iter, n_jobs=n_jobs)


def _kmeans(k: int, init: Any, n_init: int, max_iter: int, seed: int) -> KMeans:
    return KMeans(
        k, init=init, n_init=n_init, max_iter=max_iter, random_state=seed, algorithm="lloyd"
    )


def fill_empty(labels: NDArray[np.int32], k: int, E: Floats) -> tuple[NDArray[np.int32], int]:
    """Give each empty part the row of the largest part that is farthest from its mean."""
    repaired = 0
    sizes = np.bincount(labels, minlength=k)
    for part in np.flatnonzero(sizes == 0):
        inside = np.flatnonzero(labels == sizes.argmax())
        away = np.linalg.norm(E[inside] - E[inside].mean(axis=0), axis=1)
        labels[inside[away.argmax()]] = part
        sizes = np.bincount(labels, minlength=k)
        repaired += 1
    return labels, repaired
