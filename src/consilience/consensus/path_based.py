"""Path-based consensus: objects are alike if random walks from them take the same paths.

The walks go over distinct label rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import squareform

from consilience._validation import COUNT, MEMORY, NoneValue, Rule, memory_in_bytes
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_n_columns, rows_result
from consilience.consensus._registry import consensus_method
from consilience.consensus._row_links import check_budget, tree_result
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._rules import LINKS, MISSING, Link
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.evidence import CoAssociation, Missing
from consilience.partition import one_thread, transfer_cut

__all__ = ["PTA", "PTGP", "pta", "ptgp"]

Floats = NDArray[np.float64]

# Similarity of a row that is together with nobody, to everything.
_ISOLATED = 1e-20
# Where more of the walk's matrix than this is not zero, dense products are faster.
_SPARSE = 0.04
# Matrices of rows x rows in memory at once.
_N_MATRICES = 5
_BLOCK = 512
_RULES: dict[str, list[Rule]] = {
    "n_neighbors": [*COUNT, NoneValue()],
    "n_steps": [*COUNT, NoneValue()],
    "missing": MISSING,
    "min_rows": COUNT,
    "max_memory": MEMORY,
}


@consensus_method(
    estimator="PTA",
    paper="Huang, Lai & Wang 2016",
    memory="u^2 (u distinct label rows)",
    rules={**_RULES, "linkage": LINKS},
)
def pta(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_neighbors: int | None = 20,
    n_steps: int | None = 20,
    linkage: Link = "average",
    missing: Missing = "pair",
    min_rows: int = 50,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Cut the dendrogram of how alike the random walks from two objects are.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members, u of them with different labels.
    n_neighbors : int or None, default=20
        Strongest links of a label row that the walk may take; ties are kept. None is the
        published min(20, sqrt(u) / 2), rounded down, at least 1: a handful where there are
        few hundred label rows, too few to hold a group together.
    n_steps : int or None, default=20
        Length of the walks; None as for ``n_neighbors``.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their label rows.
    missing : {"pair", "all"}, default="pair"
        Divide the co-association by the members that saw both objects, or by all.
    min_rows : int, default=50
        With fewer label rows than this walks say too little: `eac` is used, with a warning.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Of the matrices of u x u, 40 bytes an entry; where they need more, an error.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    ConsensusResult
        ``solver`` is "linkage", or "eac" where that was used. ``details`` holds
        ``n_neighbors``, ``n_steps`` and ``linkage``, the dendrogram in SciPy's format over
        the objects that some member placed.

    Notes
    -----
    The walk lives on the distinct label rows. It goes from a to b with a probability
    proportional to their co-association times the objects that have row b, if one is among
    the strongest links of the other. Two rows are as similar as the cosine between the
    probabilities of where their walks are after 1, 2, ... steps. In the tree a label row
    counts once, however many objects have it, as in the paper.

    With P the matrix of the walk, G = sum over t of P^t (P^t)^T comes from G <- P (I + G) P^T,
    ``n_steps`` times, which costs O(u^2 n_neighbors) a step.

    References
    ----------
    Huang, Lai & Wang (2016), Robust ensemble clustering using probability trajectories,
    IEEE TKDE 28(5), sections 3.2 to 3.5 and 4.1.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([[0], [1]], 60, axis=0) + (rng.random((120, 15)) < 0.2)
    >>> result = pta(Ensemble(labels), 2)
    >>> np.bincount(result.labels).tolist(), result.details["n_steps"]
    ([60, 60], 20)
    """
    budget = memory_in_bytes(max_memory, owner="PTA")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        if rows.n_rows < min_rows:
            options = {"linkage": linkage, "missing": missing, "max_memory": max_memory}
            return _too_few(placed, k, rows, options, n_jobs, owner="PTA")
        paths, took = row_paths(rows, n_neighbors, n_steps, missing, budget)
        np.subtract(1.0, paths, out=paths)
        np.fill_diagonal(paths, 0.0)
        distances = squareform(paths, checks=False)
        return tree_result(rows, distances, k, linkage, weighted=False, **took)

    return solve(ensemble, n_clusters, run, owner="PTA", X=X)


@consensus_method(
    estimator="PTGP",
    paper="Huang, Lai & Wang 2016",
    memory="u^2 + u n_c (u distinct label rows)",
    rules=_RULES,
)
def ptgp(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_neighbors: int | None = 20,
    n_steps: int | None = 20,
    missing: Missing = "pair",
    min_rows: int = 50,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by cutting the graph of label rows and clusters, linked by similar walks.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c.
    n_neighbors, n_steps, missing, min_rows, max_memory
        See `pta`.

    Returns
    -------
    ConsensusResult
        ``objective`` is the normalised cut, ``solver`` "spectral"; or ``solver`` is "eac"
        where that was used. ``details`` holds ``n_neighbors`` and ``n_steps``.

    Notes
    -----
    A label row is linked to a cluster by the mean similarity, as in `pta`, of the row to
    the label rows in the cluster. In the cut a label row counts once, however many objects
    have it, as in the paper.

    References
    ----------
    Huang, Lai & Wang (2016), Robust ensemble clustering using probability trajectories,
    IEEE TKDE 28(5), section 4.2.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([[0], [1]], 60, axis=0) + (rng.random((120, 15)) < 0.2)
    >>> result = ptgp(Ensemble(labels), 2, random_state=0)
    >>> np.bincount(result.labels).tolist(), result.details["n_steps"]
    ([60, 60], 20)
    """
    budget = memory_in_bytes(max_memory, owner="PTGP")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        if rows.n_rows < min_rows:
            options = {"missing": missing, "max_memory": max_memory}
            return _too_few(placed, k, rows, options, n_jobs, owner="PTGP")
        alone = check_n_columns(rows, k, owner="PTGP")
        if alone is not None:
            return alone
        paths, took = row_paths(rows, n_neighbors, n_steps, missing, budget)
        parts = transfer_cut(mean_to_clusters(paths, rows), k, random_state=random_state)
        return rows_result(parts, rows, **took)

    return solve(ensemble, n_clusters, run, owner="PTGP", X=X)


def _too_few(
    placed: Ensemble,
    k: int,
    rows: Rows,
    options: dict[str, Any],
    n_jobs: int | None,
    *,
    owner: str,
) -> ConsensusResult:
    """Evidence accumulation instead of walks, and a warning."""
    warn(
        f"The members tell only {rows.n_rows} groups of objects apart, too few for the walks of "
        f"{owner}; EAC was used instead. More members, or more clusters in each, would help; "
        "min_rows=1 insists.",
    )
    tree = eac(placed, k, n_jobs=n_jobs, **options)
    return ConsensusResult(tree.labels, solver="eac", details={"linkage": tree.linkage})


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


class PTA(FixedNumber, function=pta):
    """Cluster by the dendrogram of random walks; see `pta` for the method.

    Examples
    --------
    >>> PTA(2, min_rows=1).fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]).n_clusters_
    2
    """

    n_neighbors: int | None = 20
    n_steps: int | None = 20
    linkage: Link = "average"
    missing: Missing = "pair"
    min_rows: int = 50
    max_memory: float | str = "4 GiB"


class PTGP(FixedNumber, function=ptgp):
    """Cluster by the graph of label rows and clusters; see `ptgp` for the method.

    Examples
    --------
    >>> PTGP(2, min_rows=1).fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]).n_clusters_
    2
    """

    n_neighbors: int | None = 20
    n_steps: int | None = 20
    missing: Missing = "pair"
    min_rows: int = 50
    max_memory: float | str = "4 GiB"
