"""Soft memberships of objects in the clusters of all members, and how they are cut into parts.

A member's memberships are a table of objects x its clusters whose rows sum to 1. WOSP and WSPA
cut the graph of objects whose similarities are mean cosines of these rows; WOHB and WBPA the
graph of objects and clusters whose edges are the memberships themselves.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import euclidean_distances
from threadpoolctl import threadpool_limits

from consilience.consensus._cuts import cut_result
from consilience.consensus._sizes import whole_sizes
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.generate.lac import LACRun
from consilience.kernels.contingency import first_columns
from consilience.kernels.label_products import cluster_sums
from consilience.kernels.lac import squared_distances
from consilience.partition import Solver, split_bipartite, split_rows

__all__ = [
    "Memberships",
    "around_centres",
    "by_distances",
    "cut_bipartite",
    "cut_similarities",
    "stacked",
    "weighted_centres",
]

Floats = NDArray[np.float64]

# Memberships below this are no edge: METIS would not see them after rounding either.
_NO_EDGE = 1e-6


@dataclass(frozen=True)
class Memberships:
    """Memberships of n objects in the clusters of every member, made member by member.

    Attributes
    ----------
    n_objects : int
    widths : list of int
        Clusters of each member.
    table : callable
        ``table(r)``: (n_objects, widths[r]) memberships of member r, rows sum to 1.
    """

    n_objects: int
    widths: list[int]
    table: Callable[[int], Floats]


def weighted_centres(ensemble: Ensemble, X: Any, weights: Floats) -> list[Floats]:
    """Weighted mean of every cluster of every member (Ren et al. 2017, equation 6)."""
    starts = first_columns(ensemble.members)
    if sparse.issparse(X):
        B = ensemble.indicator().astype(np.float64).multiply(weights[:, None])
        B = sparse.csr_array(B)
        sums, mass = (B.T @ X).toarray(), np.asarray(B.sum(axis=0)).ravel()
    else:
        both = np.column_stack([weights[:, None] * X, weights])
        found = cluster_sums(ensemble.members, starts, both)
        sums, mass = found[:, :-1], found[:, -1]
    centres = np.ascontiguousarray(sums / mass[:, None])
    return [centres[a:b] for a, b in pairwise(starts)]


def around_centres(
    X: Any, centres: list[Floats], t: float | None, t_mode: Literal["each", "first"]
) -> Memberships:
    """Memberships that fall off with the squared distance to the centres (equations 7 to 9).

    ``t`` is the mean squared distance over all pairs of an object and a centre of the member,
    or of the first member, or as given; where all distances are 0 it is 1.
    """
    if t is None and t_mode == "first":
        t = _mean_distance(_squares(X, next(c for c in centres if len(c))))

    def table(r: int) -> Floats:
        squares = _squares(X, centres[r])
        scale = _mean_distance(squares) if t is None else t
        squares -= squares.min(axis=1, keepdims=True)
        squares /= -scale
        np.exp(squares, out=squares)
        squares /= squares.sum(axis=1, keepdims=True)
        return squares

    return Memberships(X.shape[0], [len(c) for c in centres], table)


def by_distances(X: Floats, runs: Sequence[LACRun]) -> Memberships:
    """Memberships that fall off linearly with LAC's distance to the clusters of a run.

    With D the largest of an object's distances d, proportional to ``D - d + 1``.
    """

    def table(r: int) -> Floats:
        run = runs[r]
        d = np.empty((len(X), len(run.centres)))
        squared_distances(X, run.centres, run.weights, d)
        np.sqrt(d, out=d)
        d = d.max(axis=1, keepdims=True) - d + 1.0
        return np.asarray(d / d.sum(axis=1, keepdims=True))

    return Memberships(len(X), [len(run.centres) for run in runs], table)


def _squares(X: Any, centres: Floats) -> Floats:
    if sparse.issparse(X):
        with threadpool_limits(1):
            found: Floats = euclidean_distances(X, centres, squared=True)
        return found
    out = np.empty((len(X), len(centres)))
    squared_distances(X, centres, np.ones_like(centres), out)
    return out


def _mean_distance(squares: Floats) -> float:
    return float(squares.mean()) or 1.0


def stacked(memberships: Memberships, *, unit: bool, n_jobs: int | None) -> Floats:
    """Tables of all members side by side, objects x clusters.

    Members with one cluster say nothing and are left out. With ``unit``, the rows of every
    table have length 1 over the root of the number of all members, so that products of two
    rows are mean cosines (up to the constant of the members left out).
    """
    chosen = [r for r, width in enumerate(memberships.widths) if width > 1]
    ends = np.cumsum([memberships.widths[r] for r in chosen], dtype=np.int64)
    out = np.empty((memberships.n_objects, int(ends[-1]) if chosen else 0))
    root = np.sqrt(len(memberships.widths))

    def fill(r: int, end: int) -> None:
        table = memberships.table(r)
        if unit:
            table /= np.linalg.norm(table, axis=1, keepdims=True) * root
        out[:, end - table.shape[1] : end] = table

    jobs = (delayed(fill)(r, int(end)) for r, end in zip(chosen, ends, strict=True))
    Parallel(1 if n_jobs is None else n_jobs, require="sharedmem")(jobs)
    return out


def cut_similarities(
    memberships: Memberships,
    n_clusters: int,
    *,
    solver: Solver,
    sizes: Any,
    random_state: Any,
    n_jobs: int | None,
) -> ConsensusResult:
    """Parts of objects by mean cosines of their memberships (equations 10 and 11)."""
    F = stacked(memberships, unit=True, n_jobs=n_jobs)
    if not F.shape[1]:
        return _nothing_to_cut(memberships)
    with threadpool_limits(1):
        found = split_rows(
            F,
            n_clusters,
            solver=solver,
            sizes=None if sizes is None else whole_sizes(sizes, memberships.n_objects),
            random_state=random_state,
        )
    return cut_result(found, found.cut)


def cut_bipartite(
    memberships: Memberships,
    n_clusters: int,
    *,
    solver: Solver,
    balance: Literal["all", "objects"],
    random_state: Any,
    n_jobs: int | None,
) -> ConsensusResult:
    """Parts of objects by the graph of objects and clusters (equation 12)."""
    P = stacked(memberships, unit=False, n_jobs=n_jobs)
    if not P.shape[1]:
        return _nothing_to_cut(memberships)
    P[P < _NO_EDGE] = 0.0
    with threadpool_limits(1):
        found = split_bipartite(
            P, n_clusters, solver=solver, balance=balance, random_state=random_state
        )
    return cut_result(found, found.cut)


def _nothing_to_cut(memberships: Memberships) -> ConsensusResult:
    warnings.warn(
        "No member has more than one cluster, so nothing tells the objects apart; they are one "
        "cluster.",
        ConsilienceWarning,
        stacklevel=5,
    )
    return ConsensusResult(np.zeros(memberships.n_objects, np.int32))
