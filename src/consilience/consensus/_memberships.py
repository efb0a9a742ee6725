"""Soft memberships of objects in the clusters of all members, and how they are cut into parts.

A member's memberships are a table of objects x its clusters whose rows sum to 1. WOSP and WSPA
cut the graph of objects whose similarities are mean cosines of these rows; WOHB and WBPA the
graph of objects and clusters whose edges are the memberships themselves.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import euclidean_distances
from threadpoolctl import threadpool_limits

from consilience._validation import NoneValue, Satisfies
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.kernels.contingency import first_columns
from consilience.kernels.label_products import cluster_sums
from consilience.kernels.lac import squared_distances
from consilience.partition import Parts, Solver, split_bipartite, split_rows

__all__ = [
    "SIZES",
    "Memberships",
    "around_centres",
    "cut_bipartite",
    "cut_similarities",
    "stacked",
    "weighted_centres",
]

Floats = NDArray[np.float64]


def _is_sizes(value: Any) -> bool:
    sizes = np.asarray(value)
    return bool(sizes.ndim == 1 and sizes.dtype.kind in "iu" and sizes.size and sizes.min() > 0)


SIZES = [
    Satisfies(_is_sizes, "a list of whole numbers at least 1, one for each cluster"),
    NoneValue(),
]

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
    owner: str,
    solver: Solver,
    sizes: Any,
    random_state: Any,
    n_jobs: int | None,
) -> ConsensusResult:
    """Parts of objects by mean cosines of their memberships (equations 10 and 11)."""
    _check_sizes(sizes, n_clusters, memberships.n_objects, owner)
    F = stacked(memberships, unit=True, n_jobs=n_jobs)
    if not F.shape[1]:
        return _nothing_to_cut(memberships)
    with threadpool_limits(1):
        found = split_rows(F, n_clusters, solver=solver, sizes=sizes, random_state=random_state)
    return _result(found)


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
    return _result(found)


def _check_sizes(sizes: Any, n_clusters: int, n_objects: int, owner: str) -> None:
    """Raise unless the sizes wanted can be had."""
    if sizes is not None and (len(sizes) != n_clusters or int(np.sum(sizes)) != n_objects):
        raise InvalidParameterError(
            f"The 'sizes' parameter of {owner} must be {n_clusters} whole numbers that add up to "
            f"the {n_objects} objects that members placed. Got {sizes!r} instead."
        )


def _nothing_to_cut(memberships: Memberships) -> ConsensusResult:
    warnings.warn(
        "No member has more than one cluster, so nothing tells the objects apart; they are one "
        "cluster.",
        ConsilienceWarning,
        stacklevel=5,
    )
    return ConsensusResult(np.zeros(memberships.n_objects, np.int32))


def _result(found: Parts) -> ConsensusResult:
    """A partition as a result, with how far the largest part is from equal shares."""
    parts = np.bincount(found.labels)
    details = {"balance": float(parts.max() * np.count_nonzero(parts) / parts.sum())}
    if found.note:
        details["note"] = found.note
    return ConsensusResult(found.labels, objective=found.cut, solver=found.solver, details=details)
