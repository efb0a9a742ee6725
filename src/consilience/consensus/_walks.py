"""Random walks over distinct label rows, and how alike their paths are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.consensus._row_links import check_budget
from consilience.consensus._rows import Rows
from consilience.ensemble import Ensemble
from consilience.evidence import CoAssociation, Missing
from consilience.partition import one_thread

__all__ = ["mean_to_clusters", "path_similarity", "row_paths"]

Floats = NDArray[np.float64]

# Similarity of a row that is together with nobody, to everything.
_ISOLATED = 1e-20
# Where more of the walk's matrix than this is not zero, dense products are faster.
_SPARSE = 0.04
# Matrices of rows x rows in memory at once.
_N_MATRICES = 5
_BLOCK = 512


def row_paths(
    rows: Rows, n_neighbors: int | None, n_steps: int | None, missing: Missing, budget: int
) -> tuple[Floats, dict[str, int]]:
    """Similarity of the walks from all pairs of rows, and the settings used."""
    u = rows.n_rows
    needed = _N_MATRICES * 8 * u * u
    check_budget(u, needed, budget, remedy="use LWGP, which needs no such matrix")
    usual = max(1, min(20, int(np.sqrt(u) / 2)))
    K = min(usual if n_neighbors is None else int(n_neighbors), u - 1)
    T = usual if n_steps is None else int(n_steps)
    ensemble = Ensemble._trusted(rows.members)
    links = CoAssociation(ensemble, missing=missing).rows(0, u)
    return path_similarity(links, rows.counts, K, T), {"n_neighbors": K, "n_steps": T}


def path_similarity(links: Floats, counts: NDArray[Any], n_neighbors: int, n_steps: int) -> Floats:
    """Cosine between the probabilities of walks from every two rows.

    Parameters
    ----------
    links : ndarray of shape (u, u)
        Symmetric, not negative; the diagonal does not count. OVERWRITTEN.
    counts : ndarray of shape (u,)
        Objects that each row stands for.
    n_neighbors, n_steps : int
        At least 1; ``n_neighbors`` below u.

    Returns
    -------
    ndarray of shape (u, u)
        Symmetric, in [0, 1], with a unit diagonal; 1e-20 for rows without any link.

    Examples
    --------
    >>> links = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> path_similarity(links, np.ones(3), 1, 1).round(3)
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    with one_thread():
        P = _walk(links, counts, n_neighbors)
        G = np.zeros(P.shape)
        for _ in range(n_steps):
            # Horner's rule for the sum over t of P^t (P^t)^T.
            G[np.diag_indices_from(G)] += 1.0
            G = np.asarray(P @ np.asarray(P @ G).T)
        G = (G + G.T) / 2.0
    lengths = np.sqrt(G.diagonal())
    isolated = lengths == 0
    lengths[isolated] = 1.0
    G /= lengths[:, None]
    G /= lengths
    np.minimum(G, 1.0, out=G)
    np.fill_diagonal(G, 1.0)
    G[isolated] = _ISOLATED
    G[:, isolated] = _ISOLATED
    return G


def _walk(links: Floats, counts: NDArray[Any], n_neighbors: int) -> Any:
    """Probabilities of the walk's steps; rows without any link are zero. Sparse if that pays."""
    np.fill_diagonal(links, 0.0)
    for start in range(0, len(links), _BLOCK):
        block = links[start : start + _BLOCK]
        weakest = np.partition(block, -n_neighbors, axis=1)[:, -n_neighbors]
        block[block < weakest[:, None]] = 0.0
    strong = np.maximum(links, links.T)
    strong *= counts
    totals = strong.sum(axis=1)
    strong /= np.where(totals > 0, totals, 1.0)[:, None]
    return sparse.csr_array(strong) if np.count_nonzero(strong) < _SPARSE * strong.size else strong


def mean_to_clusters(paths: Floats, rows: Rows) -> Floats:
    """Mean similarity of each row to the rows in each cluster."""
    B = Ensemble._trusted(rows.members).indicator().astype(np.float64)
    sizes = np.asarray(B.sum(axis=0)).ravel()
    with one_thread():
        means: Floats = np.asarray(B.T @ paths).T / sizes
    return means
