"""The graph of objects and clusters, cut through its small side: HBGF without METIS."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience.consensus._rows import Rows
from consilience.kernels.contingency import cluster_contingency
from consilience.kernels.label_products import row_sums
from consilience.partition import kmeans_labels, leading_eigenvectors, one_thread, unit_rows

__all__ = ["SpectralCut", "spectral_hbgf"]

Floats = NDArray[np.float64]

# Singular values below this carry no direction.
_NOTHING = 1e-6


@dataclass(frozen=True)
class SpectralCut:
    """Labels of the rows and of the clusters, and the singular values behind them."""

    labels: NDArray[np.int32]
    cluster_labels: NDArray[np.int32]
    singular_values: Floats
    cut: float


def spectral_hbgf(
    rows: Rows, k: int, *, random_state: Any = None, n_jobs: int | None = None
) -> SpectralCut:
    """Cut the graph of objects and clusters by k-means on its singular vectors.

    With B the objects x clusters matrix, the rows of the k leading left and right singular
    vectors of B diag(cluster sizes)^(-1/2), each of length 1, are clustered together. They
    come from the clusters x clusters matrix, so that memory is linear in objects. Equal
    objects share a row and count as often as there are of them.

    References
    ----------
    Fern & Brodley (2004), Solving cluster ensemble problems by bipartite graph partitioning,
    ICML, section 4.
    """
    rng = check_random_state(random_state)
    jobs = 1 if n_jobs is None else n_jobs
    tables = cluster_contingency(rows.members, rows.counts, n_jobs=jobs)
    root = np.sqrt(tables.diagonal())
    with one_thread():
        squares, V = leading_eigenvectors(tables / root[:, None] / root[None, :], k, rng)
    sigma = np.sqrt(np.maximum(squares, 0.0))
    kept = sigma > _NOTHING
    V, sigma = V[:, kept], sigma[kept]
    U = unit_rows(row_sums(rows.members, rows.starts, V / root[:, None] / sigma))
    V = unit_rows(V)
    centres = _far_apart(U, rows.counts, k, rng)
    weights = np.concatenate([rows.counts, np.ones(len(V))])
    both = np.concatenate([U, V])
    labels = kmeans_labels(both, k, weights, rng, init=centres, max_iter=200)
    of_rows, of_clusters = labels[: rows.n_rows], labels[rows.n_rows :]
    return SpectralCut(of_rows, of_clusters, sigma, _normalised_cut(rows, of_rows, root**2, k))


def _far_apart(
    U: Floats, counts: NDArray[np.int64], k: int, rng: np.random.RandomState
) -> Floats:
    """A random row, then again and again the row most at right angles to those chosen."""
    first = int(np.searchsorted(np.cumsum(counts), rng.randint(counts.sum()), side="right"))
    chosen = [first]
    towards = np.zeros(len(U))
    for _ in range(k - 1):
        towards += np.abs((U * U[chosen[-1]]).sum(axis=1))
        chosen.append(int(towards.argmin()))
    return U[chosen]


def _normalised_cut(rows: Rows, labels: NDArray[np.int32], sizes: Floats, k: int) -> float:
    """Normalised cut of the objects under the similarity B diag(sizes)^-1 B^T."""
    inside, volume = np.zeros(k), np.zeros(k)
    for labels_r, start in zip(rows.members, rows.starts[:-1], strict=True):
        held = labels_r >= 0
        width = int(labels_r.max()) + 1
        if width <= 0:
            continue
        cells = labels[held].astype(np.int64) * width + labels_r[held]
        table = np.bincount(cells, rows.counts[held], minlength=k * width).reshape(k, width)
        inside += (table**2 / sizes[start : start + width]).sum(axis=1)
        volume += table.sum(axis=1)
    return float(k - np.divide(inside, volume, out=np.ones(k), where=volume > 0).sum())
