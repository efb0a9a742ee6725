"""From eigenvectors to parts: the pieces that the spectral partitioners share."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh, qr
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from consilience._threads import one_thread
from consilience._validation import check_jobs
from consilience.kernels._parallel import by_rows
from consilience.kernels.kmeans.weighted import weighted_kmeans

__all__ = [
    "centres_of_many",
    "fill_empty",
    "kmeans_labels",
    "largest_eigenvectors",
    "leading_eigenvectors",
    "unit_rows",
]

Floats = NDArray[np.float64]

# Past this size the few eigenvectors wanted come from Lanczos.
_DENSE_EIGEN = 2000
# From this size on, and for at most this share of them, they are looked for by powers first.
_POWERS_FROM, _POWERS_SHARE = 400, 0.1
# Vectors beside those wanted, products at most, and what may be left of N v - value v.
_BESIDE, _PRODUCTS, _EXACT = 10, 24, 1e-13
# The last one wanted is this much larger than the next: among equal ones LAPACK chooses.
_APART = 1e-6
# Past so many rows k-means chooses among its starts on a sample, then runs once on all rows.
_MANY_ROWS = 100_000
# Rows of the sample: at least, and for each cluster.
_SAMPLE, _SAMPLE_A_CLUSTER = 20_000, 200


def leading_eigenvectors(
    N: Floats, k: int, rng: np.random.RandomState, *, positive: bool = False
) -> tuple[Floats, Floats]:
    """The k largest eigenvalues of a symmetric matrix, falling, and their eigenvectors.

    Signs are fixed: the largest entry of each vector, by size, is positive. ``positive`` promises
    that no eigenvalue is negative: then few of many, if they stand out, are found in a fraction
    of the time.
    """
    p = len(N)
    quick = None
    if positive and p >= _POWERS_FROM and k <= _POWERS_SHARE * p:
        quick = _by_powers(N, k)
    if quick is not None:
        values, vectors = quick
    elif p > _DENSE_EIGEN and k < p // 4:
        values, vectors = eigsh(N, k=k, which="LA", v0=rng.standard_normal(p))
        order = np.argsort(values)[::-1]
        values, vectors = values[order], vectors[:, order]
    else:
        values, vectors = largest_eigenvectors(N, k)
        values, vectors = values[::-1], vectors[:, ::-1]
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return values, np.ascontiguousarray(vectors * np.where(peaks < 0, -1.0, 1.0))


def _by_powers(N: Floats, k: int) -> tuple[Floats, Floats] | None:
    """The k largest eigenvalues, falling, and vectors; None where powers tell them apart slowly.

    Powers of the matrix turn a block of vectors towards those of its largest eigenvalues; what
    LAPACK would find is in the block when nothing is left of N v - value v but rounding.
    """
    drawn = np.random.default_rng(0).standard_normal((len(N), k + _BESIDE))
    block, left = qr(N @ drawn, mode="economic", check_finite=False)[0], np.inf
    for done in range(1, _PRODUCTS):
        image = N @ block
        inner = block.T @ image
        values, turn = eigh((inner + inner.T) / 2, check_finite=False)
        values, turn = values[::-1], turn[:, ::-1]
        vectors = block @ turn[:, :k]
        before, left = left, float(np.abs(image @ turn[:, :k] - vectors * values[:k]).max())
        if left <= _EXACT * values[0]:
            return (values[:k], vectors) if values[k - 1] - values[k] > _APART * values[0] else None
        # Not worth the rest of the products, by how much the last one helped.
        if not left * (left / before) ** (_PRODUCTS - done) <= _EXACT * values[0] and done > 2:
            return None
        block = qr(image, mode="economic", check_finite=False)[0]
    return None


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
            init = _centres(E.__getitem__, len(E), k, weights, rng, n_init, max_iter, seed)
        return weighted_kmeans(E, init, weights, max_iter=max_iter, n_jobs=n_jobs)


def centres_of_many(
    rows: Callable[[NDArray[np.intp]], Floats],
    n_rows: int,
    k: int,
    weights: Floats | None,
    rng: np.random.RandomState,
) -> Floats | None:
    """Where `kmeans_labels` would start; None unless there are so many rows that a sample says.

    It needs some rows only, ``rows(which)``, so that it can be found before all of them are made.
    """
    if n_rows <= _MANY_ROWS:
        return None
    seed = int(rng.randint(2**31 - 1))
    # Threads of OpenMP are limited where they start, which may be a thread of its own.
    with one_thread():
        return _centres(rows, n_rows, k, weights, rng, 3, 100, seed)


def _centres(
    rows: Callable[[NDArray[np.intp]], Floats],
    n_rows: int,
    k: int,
    weights: Floats | None,
    rng: np.random.RandomState,
    n_init: int,
    max_iter: int,
    seed: int,
) -> Floats:
    """Centres of the best of a few starts on a sample of the rows."""
    size = min(n_rows, max(_SAMPLE, _SAMPLE_A_CLUSTER * k))
    sample = np.sort(rng.choice(n_rows, size, replace=False))
    chosen = None if weights is None else weights[sample]
    model = _kmeans(k, "k-means++", n_init, max_iter, seed)
    centres: Floats = model.fit(rows(sample), sample_weight=chosen).cluster_centers_
    return centres


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
