"""Soft memberships of objects in the clusters of all members, and how they are cut into parts.

A member's memberships are a table of objects x its clusters whose rows sum to 1. WOSP and WSPA
cut the graph of objects whose similarities are mean cosines of these rows; WOHB and WBPA the
graph of objects and clusters whose edges are the memberships themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import euclidean_distances

from consilience._threads import one_thread
from consilience.consensus._cuts import cut_result, whole_sizes
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.generate.lac import LACRun
from consilience.kernels._parallel import streamed
from consilience.kernels.kmeans.lac import squared_distances
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import cluster_sums
from consilience.partition import Solver, split_bipartite, split_rows
from consilience.partition.metis import MAX_DENSE

__all__ = [
    "Memberships",
    "around_centres",
    "by_distances",
    "compressed",
    "cut_bipartite",
    "cut_similarities",
    "mean_distances",
    "stacked",
    "weighted_centres",
]

Floats = NDArray[np.float64]

# Objects whose memberships are made together.
_BLOCK = 8192
# Numbers in the rows of all objects past which fewer columns are worth two passes.
_COMPRESS = 2**21
# Share of the rows' squares that compression may lose.
_LOST = 1e-6
# Memberships below this are no edge: METIS would not see them after rounding either.
_NO_EDGE = 1e-6


@dataclass(frozen=True)
class Memberships:
    """Memberships of n objects in the clusters of every member, made as they are needed.

    Attributes
    ----------
    n_objects : int
    widths : list of int
        Clusters of each member.
    table : callable
        ``table(r, start, stop)``: (stop - start, widths[r]) memberships of those objects in
        the clusters of member r; rows sum to 1.
    """

    n_objects: int
    widths: list[int]
    table: Callable[[int, int, int], Floats]

    @property
    def dividing(self) -> list[int]:
        """Members that tell objects apart: those with more than one cluster."""
        return [r for r, width in enumerate(self.widths) if width > 1]

    @property
    def n_columns(self) -> int:
        """Clusters of the members that tell objects apart."""
        return sum(self.widths[r] for r in self.dividing)

    def rows(self, start: int, stop: int, *, unit: bool) -> Floats:
        """Tables of the dividing members side by side, for objects start..stop-1.

        With ``unit``, rows of every table have length 1 over the root of the number of all
        members: products of two rows are mean cosines (up to the constant of the members
        left out).
        """
        out = np.empty((stop - start, self.n_columns))
        root, end = np.sqrt(len(self.widths)), 0
        for r in self.dividing:
            table = self.table(r, start, stop)
            if unit:
                table /= np.linalg.norm(table, axis=1, keepdims=True) * root
            end += self.widths[r]
            out[:, end - self.widths[r] : end] = table
        return out


def weighted_centres(ensemble: Ensemble, X: Any, weights: Floats) -> list[Floats]:
    """Weighted mean of every cluster of every member (Ren et al. 2017, equation 6)."""
    starts = first_columns(ensemble.members)
    if sparse.issparse(X):
        B = ensemble.indicator().astype(np.float64).multiply(weights[:, None])
        B = sparse.csr_array(B)
        sums, mass = (B.T @ X).toarray(), np.asarray(B.sum(axis=0)).ravel()
    else:
        both = np.column_stack([weights[:, None] * X, weights])
        totals = cluster_sums(ensemble.members, starts, both)
        sums, mass = totals[:, :-1], totals[:, -1]
    centres = np.ascontiguousarray(sums / mass[:, None])
    return [centres[a:b] for a, b in pairwise(starts)]


def around_centres(
    X: Any, centres: list[Floats], t: float | None, t_mode: Literal["each", "first"]
) -> Memberships:
    """Memberships that fall off with the squared distance to the centres (equations 7 to 9).

    ``t`` is the mean squared distance over all pairs of an object and a centre of the member,
    or of the first member, or as given; where all distances are 0 it is 1.
    """
    if t is None:
        widths = mean_distances(X, centres)
        if t_mode == "first":
            widths = [next(w for w in widths if w > 0)] * len(centres)
    else:
        widths = [t] * len(centres)

    def table(r: int, start: int, stop: int) -> Floats:
        squares = _squares(X[start:stop], centres[r])
        squares -= squares.min(axis=1, keepdims=True)
        with np.errstate(over="ignore"):  # of a width near 0 only the nearest centre counts
            squares /= -widths[r]
        np.exp(squares, out=squares)
        squares /= squares.sum(axis=1, keepdims=True)
        return squares

    return Memberships(X.shape[0], [len(c) for c in centres], table)


def mean_distances(X: Any, centres: list[Floats]) -> list[float]:
    """Mean squared distance of all objects to all centres of a member; 1 where it is 0.

    Scatter of the objects and of the centres around the objects' mean add up to it, so no
    pair is looked at. Members without a cluster have none: 0.
    """
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sparse.issparse(X):
        scatter = max(float(X.multiply(X).sum()) / X.shape[0] - float(mean @ mean), 0.0)
    else:
        scatter = float(np.var(X, axis=0).sum())
    return [
        float(scatter + ((c - mean) ** 2).sum(axis=1).mean()) or 1.0 if len(c) else 0.0
        for c in centres
    ]


def by_distances(X: Floats, runs: Sequence[LACRun]) -> Memberships:
    """Memberships that fall off linearly with LAC's distance to the clusters of a run.

    With D the largest of an object's distances d, proportional to ``D - d + 1``.
    """

    def table(r: int, start: int, stop: int) -> Floats:
        run = runs[r]
        d = np.empty((stop - start, len(run.centres)))
        squared_distances(X[start:stop], run.centres, run.weights, d)
        np.sqrt(d, out=d)
        d = d.max(axis=1, keepdims=True) - d + 1.0
        return np.asarray(d / d.sum(axis=1, keepdims=True))

    return Memberships(len(X), [len(run.centres) for run in runs], table)


def _squares(X: Any, centres: Floats) -> Floats:
    if sparse.issparse(X):
        squares: Floats = euclidean_distances(X, centres, squared=True)
        return squares
    out = np.empty((len(X), len(centres)))
    squared_distances(X, centres, np.ones_like(centres), out)
    return out


def stacked(memberships: Memberships, *, unit: bool, n_jobs: int | None) -> Floats:
    """`Memberships.rows` of all objects: objects x clusters."""
    out = np.empty((memberships.n_objects, memberships.n_columns))
    for start, rows in _blocks(lambda *at: memberships.rows(*at, unit=unit), len(out), n_jobs):
        out[start : start + len(rows)] = rows
    return out


def compressed(memberships: Memberships, *, n_jobs: int | None) -> Floats:
    """Rows with the same products as those of `stacked`, up to a millionth, in fewer columns.

    Columns of different members say much the same. The rows are turned onto the leading
    directions of their scatter, which lose at most 1e-6 of the sum of their squares: far less
    than rounding to whole numbers costs METIS. Two passes; the tables are never all there.
    """

    def gram(start: int, stop: int) -> Floats:
        rows = memberships.rows(start, stop, unit=True)
        return rows.T @ rows

    n = memberships.n_objects
    # Added up in the order of the blocks: the same for any number of threads.
    scatter = sum(part for _, part in _blocks(gram, n, n_jobs))
    values, vectors = np.linalg.eigh(scatter)
    leading = np.ascontiguousarray(vectors[:, np.cumsum(values) > _LOST * values.sum()])
    out = np.empty((n, leading.shape[1]))

    def turned(start: int, stop: int) -> Floats:
        return memberships.rows(start, stop, unit=True) @ leading

    for start, rows in _blocks(turned, n, n_jobs):
        out[start : start + len(rows)] = rows
    return out


def _blocks(
    make: Callable[[int, int], Floats], n: int, n_jobs: int | None
) -> Iterator[tuple[int, Floats]]:
    """What ``make`` gives for blocks of objects, in their order, with the first object."""
    starts = range(0, n, _BLOCK)
    return streamed(lambda start: make(start, min(n, start + _BLOCK)), starts, n_jobs)


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
    if not memberships.dividing:
        return _nothing_to_cut(memberships)
    n = memberships.n_objects
    # One thread of linear algebra: sums must not depend on how many there are.
    with one_thread():
        if n * memberships.n_columns > _COMPRESS and _is_balanced(solver, n):
            F = compressed(memberships, n_jobs=n_jobs)
        else:
            F = stacked(memberships, unit=True, n_jobs=n_jobs)
        parts = split_rows(
            F,
            n_clusters,
            solver=solver,
            sizes=None if sizes is None else whole_sizes(sizes, n),
            random_state=random_state,
        )
    return cut_result(parts, parts.cut)


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
    if not memberships.dividing:
        return _nothing_to_cut(memberships)
    with one_thread():
        P = stacked(memberships, unit=False, n_jobs=n_jobs)
        P[P < _NO_EDGE] = 0.0
        parts = split_bipartite(
            P, n_clusters, solver=solver, balance=balance, random_state=random_state
        )
    return cut_result(parts, parts.cut)


def _is_balanced(solver: Solver, n: int) -> bool:
    """Whether `split_rows` is sure not to need the complete graph, which METIS refuses."""
    return solver == "balanced" or (solver in ("auto", "metis") and n > MAX_DENSE)


def _nothing_to_cut(memberships: Memberships) -> ConsensusResult:
    warn(
        "No member has more than one cluster, so nothing tells the objects apart; they are one "
        "cluster.",
    )
    return ConsensusResult(np.zeros(memberships.n_objects, np.int32))
