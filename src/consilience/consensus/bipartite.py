"""Consensus by the graph of objects and clusters: HBGF, by METIS or through its small side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import COUNT, NoneValue
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import (
    balance,
    check_n_parts,
    cut_result,
    warn_if_loose,
)
from consilience.consensus._order import ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows, dividing
from consilience.consensus._rules import CUTS, CutSolver
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.kernels._parallel import by_rows
from consilience.partition import (
    LabelLinks,
    choose_bipartite,
    kmeans_labels,
    leading_eigenvectors,
    one_thread,
    split_bipartite,
    unit_rows,
)

__all__ = ["HBGF", "SpectralCut", "hbgf", "spectral_hbgf"]

Floats = NDArray[np.float64]

# Singular values below this carry no direction.
_NOTHING = 1e-6
# Rows of a slice for work that takes no memory of its own.
_LARGE = 1 << 14


@consensus_method(
    estimator="HBGF",
    by_rows=True,
    paper="Fern & Brodley 2004",
    memory="n R, or n (R + k) + n_c^2 for solver='spectral'",
    rules={"solver": CUTS, "n_cuts": [*COUNT, NoneValue()]},
    balanced=True,
)
def hbgf(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: CutSolver = "auto",
    n_cuts: int | None = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by cutting the graph of objects and clusters.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c.
    solver : {"auto", "metis", "spectral"}, default="auto"
        METIS (as compared in the literature; parts of equal size), or k-means on the
        singular vectors of the graph: not balanced, linear in objects, independent of their
        order. "auto" is METIS where it is installed and the graph has at most 25 million
        edges (n R).
    n_cuts : int or None, default=None
        Cuts that METIS tries at each bisection, of which it keeps the best. None is 10 for up to
        100,000 memberships (n R) and 1 past them, which takes a fifth to a tenth of the time; ten
        are worth it where many labels are wrong.
    random_state : int, RandomState or None
        Order of objects and clusters inside METIS; start of k-means.

    Returns
    -------
    ConsensusResult
        ``objective`` is the number of memberships cut, or the normalised cut for
        "spectral"; ``solver`` the one taken; ``details`` holds ``balance`` and ``note``.

    Notes
    -----
    Clusters that hold every object say nothing and are left out. In METIS's balance a
    cluster counts like an object, so clusters may differ in size by up to n_c objects.

    References
    ----------
    Fern & Brodley (2004), Solving cluster ensemble problems by bipartite graph partitioning,
    ICML, sections 3 and 4.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> hbgf(ens, 2, solver="spectral", random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        check_n_parts(k, int(placed.n_clusters.sum()), owner="HBGF")
        divides = dividing(placed, k)
        placed = placed if divides.all() else placed[np.flatnonzero(divides)]
        way, note = _way(placed, solver)
        if way == "spectral":
            return _spectral(placed, k, note, random_state, n_jobs)
        return ordered(by_metis, n_jobs=n_jobs)(placed, k, None)

    def by_metis(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        warn_if_loose(placed, k, "HBGF")
        links = LabelLinks(placed.members, np.ones(int(placed.n_clusters.sum())), n_jobs or 1)
        parts = split_bipartite(links, k, solver="metis", n_cuts=n_cuts, random_state=random_state)
        return cut_result(parts, parts.cut)

    return solve(ensemble, n_clusters, run, owner="HBGF", X=X, n_jobs=n_jobs)


def _way(placed: Ensemble, solver: CutSolver) -> tuple[str, str]:
    """The solver to take, and why; memberships are cut by singular vectors."""
    if not placed.is_soft:
        everywhere = placed._lowest >= 0
        n_links = placed.members.size if everywhere else np.count_nonzero(placed.members >= 0)
        return choose_bipartite(int(n_links), solver)
    if solver == "metis":
        raise InvalidParameterError(
            "The 'solver' parameter of HBGF must be 'spectral' or 'auto' for memberships. Got "
            "'metis' instead. Give labels for it: ensemble.harden()."
        )
    return "spectral", "" if solver == "spectral" else "memberships are cut by singular vectors"


def _spectral(
    placed: Ensemble, k: int, note: str, random_state: Any, n_jobs: int | None
) -> ConsensusResult:
    rows = distinct_rows(placed, n_jobs=n_jobs)
    split = spectral_hbgf(rows, k, random_state=random_state, n_jobs=n_jobs)
    labels = rows.of_objects(split.labels, n_jobs)
    details = {
        "singular_values": split.singular_values,
        "balance": balance(labels, k),
        "note": note,
    }
    return ConsensusResult(labels, objective=split.cut, solver="spectral", details=details)


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
    tables = rows.contingency(rows.counts.astype(float), n_jobs=n_jobs)
    root = np.sqrt(rows.cluster_sizes(n_jobs=n_jobs))
    with one_thread():
        squares, V = leading_eigenvectors(
            tables / root[:, None] / root[None, :], k, rng, positive=True
        )
    sigma = np.sqrt(np.maximum(squares, 0.0))
    kept = sigma > _NOTHING
    V, sigma = V[:, kept], sigma[kept]
    table = V / root[:, None] / sigma
    both = np.empty((rows.n_rows + len(V), V.shape[1]))
    unit_rows(V, out=both[rows.n_rows :])
    U = both[: rows.n_rows]
    rows.row_sums(table, n_jobs=n_jobs, out=U)
    unit_rows(U, n_jobs, out=U)
    centres = _far_apart(U, rows.counts, k, rng, n_jobs)
    weights = np.concatenate([rows.counts, np.ones(len(V))])
    labels = kmeans_labels(both, k, weights, rng, init=centres, max_iter=200, n_jobs=n_jobs)
    of_rows, of_clusters = labels[: rows.n_rows], labels[rows.n_rows :]
    cut = _normalised_cut(rows, of_rows, root**2, k, n_jobs)
    return SpectralCut(of_rows, of_clusters, sigma, cut)


def _far_apart(
    U: Floats,
    counts: NDArray[np.int64],
    k: int,
    rng: np.random.RandomState,
    n_jobs: int | None = None,
) -> Floats:
    """A random row, then again and again the row most at right angles to those chosen."""
    first = int(np.searchsorted(np.cumsum(counts), rng.randint(counts.sum()), side="right"))
    chosen = [first]
    towards, lowest = np.zeros(len(U)), np.zeros(-(-len(U) // _LARGE), np.int64)

    def add(rows: slice) -> None:
        towards[rows] += np.abs(np.einsum("ij,j->i", U[rows], U[chosen[-1]]))
        lowest[rows.start // _LARGE] = rows.start + towards[rows].argmin()

    for _ in range(k - 1):
        by_rows(add, len(U), n_jobs, size=_LARGE)
        chosen.append(int(lowest[towards[lowest].argmin()]))
    return U[chosen]


def _normalised_cut(
    rows: Rows, labels: NDArray[np.int32], sizes: Floats, k: int, n_jobs: int | None = None
) -> float:
    """Normalised cut of the objects under the similarity B diag(sizes)^-1 B^T."""
    sums = rows.part_sums(labels, k, rows.counts.astype(float), n_jobs=n_jobs)
    inside = (sums**2 / sizes[:, None]).sum(axis=0)
    volume = sums.sum(axis=0)
    return float(k - np.divide(inside, volume, out=np.ones(k), where=volume > 0).sum())


class HBGF(FixedNumber, function=hbgf):
    """Cluster by the graph of objects and clusters; see `hbgf` for the method."""

    solver: CutSolver = "auto"
    n_cuts: int | None = None
