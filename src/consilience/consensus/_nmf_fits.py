"""The factorisation H S H^T of the co-association on distinct label rows, never formed.

With B the objects x clusters matrix, c the objects of each row and s its scale, the
co-association is ``M = diag(s) B diag(w) B^T diag(s)``; every product with it goes through
the clusters. H^T H and H^T M H are sums over objects, that is over rows weighted with c.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from consilience.consensus._rows import Rows
from consilience.kernels.label_products import cluster_sums, pair_products, row_sums

__all__ = [
    "Factors",
    "Target",
    "alternate",
    "descend",
    "factorise",
    "make_target",
    "simplex_weights",
    "start_factors",
]

Floats = NDArray[np.float64]

_FLOOR = 1e-12


class Target(NamedTuple):
    """What is factorised: rows, their scale, and inner products of the members' matrices."""

    rows: Rows
    scale: Floats
    products: Floats

    def per_cluster(self, weights: Floats) -> Floats:
        """Weights of members, repeated for each of their clusters."""
        return np.repeat(weights, np.diff(self.rows.starts))[:, None]

    def through_clusters(self, H: Floats) -> Floats:
        """``T = B^T diag(s c) H``, clusters x k."""
        return cluster_sums(
            self.rows.members,
            self.rows.starts,
            (self.scale * self.rows.counts)[:, None] * H,
        )

    def times(self, T: Floats, weights: Floats) -> Floats:
        """``M H`` from T, rows x k."""
        weighted = self.per_cluster(weights) * T
        return self.scale[:, None] * row_sums(self.rows.members, self.rows.starts, weighted)


class Factors(NamedTuple):
    """Factors, squared distance to the target after each step, and whether it settled."""

    H: Floats
    S: Floats
    path: list[float]
    converged: bool


def make_target(rows: Rows, n_jobs: int | None = None) -> Target:
    """The target of the rows; those with missing labels are scaled up to unit diagonal.

    A row that R_i of R members labelled is scaled by sqrt(R / R_i): with equal weights the
    entries are V_ij / sqrt(R_i R_j).
    """
    present = (rows.members >= 0).sum(axis=0)
    scale = np.sqrt(len(rows.members) / present)
    products = pair_products(rows.members, rows.counts * scale**2, n_jobs=n_jobs or 1)
    return Target(rows, scale, products)


def start_factors(target: Target, weights: Floats, labels: NDArray[np.int32], k: int) -> Factors:
    """Factors of a labelling: softened, since an entry of zero would stay zero for ever."""
    counts = target.rows.counts
    sizes = np.maximum(np.bincount(labels, counts, minlength=k), 1.0)
    H = np.full((len(labels), k), 0.2)
    H[np.arange(len(labels)), labels] += 1.0
    H /= np.sqrt(sizes)
    T = target.through_clusters(H)
    S = np.diag(np.diag(T.T @ (target.per_cluster(weights) * T)))
    return Factors(H, S, [], False)


def factorise(
    target: Target, weights: Floats, start: Factors, *, max_iter: int, tol: float
) -> Factors:
    """The published updates of H, then S, until the objective changes by at most tol.

    The updates of Li, Ding & Jordan for H^T H = I; the objective is that of section 8.1,
    ``|M|^2 - 2 <H^T M H, S> + <H^T H S H^T H, S>``. They hold the constraint only in the
    limit, and while they approach it the distance may rise.
    """
    counts = target.rows.counts[:, None]
    w = target.per_cluster(weights)
    norm = float(weights @ target.products @ weights)
    H, S = start.H, start.S
    T = target.through_clusters(H)
    path: list[float] = []
    for _ in range(max_iter):
        MHS = target.times(T, weights) @ S
        H = H * np.sqrt(MHS / np.maximum(H @ (H.T @ (counts * MHS)), _FLOOR))
        T = target.through_clusters(H)
        HMH, HH = T.T @ (w * T), H.T @ (counts * H)
        S = S * np.sqrt(HMH / np.maximum(HH @ S @ HH, _FLOOR))
        path.append(_distance(norm, HMH, HH, S))
        if _settled(path, tol):
            break
    return Factors(H, S, path, _settled(path, tol))


def descend(
    target: Target, weights: Floats, start: Factors, *, max_iter: int, tol: float
) -> Factors:
    """Multiplicative updates of H, then S, none of which raises the distance.

    Without the constraint on H^T H the distance is a polynomial in H with the descent ratio
    ``M H S / (H S H^T H S)``: its fourth root never overshoots (the auxiliary function of a
    quartic), its square root rarely does and is faster, so that is tried first. For given H
    the distance is quadratic in S, where the whole ratio never overshoots. A run ends when
    the distance falls by at most ``tol`` of the squared norm of the target.
    """
    w = target.per_cluster(weights)
    norm = float(weights @ target.products @ weights)

    def products(H: Floats) -> tuple[Floats, Floats, Floats]:
        T = target.through_clusters(H)
        return T, T.T @ (w * T), H.T @ (target.rows.counts[:, None] * H)

    H, S = start.H, start.S
    T, HMH, HH = products(H)
    last = _distance(norm, HMH, HH, S)
    path: list[float] = []
    converged = False
    while len(path) < max_iter and not converged:
        ratio = target.times(T, weights) @ S / np.maximum(H @ (S @ HH @ S), _FLOOR)
        for power in (0.5, 0.25):
            fresh = H * ratio**power
            made = products(fresh)
            if _distance(norm, *made[1:], S) <= last:
                H, (T, HMH, HH) = fresh, made
                break
        S = S * (HMH / np.maximum(HH @ S @ HH, _FLOOR))
        path.append(_distance(norm, HMH, HH, S))
        converged = last - path[-1] <= tol * norm
        last = path[-1]
    return Factors(H, S, path, converged)


def _distance(norm: float, HMH: Floats, HH: Floats, S: Floats) -> float:
    return norm - 2.0 * float((HMH * S).sum()) + float((HH @ S @ HH * S).sum())


def alternate(
    target: Target,
    labels: NDArray[np.int32],
    k: int,
    *,
    max_iter: int,
    max_rounds: int,
    tol: float,
    weight_tol: float,
) -> tuple[Factors, Floats]:
    """Factors and weights of the members in turn, from equal weights.

    The path has an entry for each factorisation: one more than rounds of weighting.
    """
    n_members = len(target.products)
    weights = np.full(n_members, 1.0 / n_members)
    found = start_factors(target, weights, labels, k)
    found = factorise(target, weights, found, max_iter=max_iter, tol=tol)
    path = [found.path[-1]]
    settled = False
    while not settled and len(path) <= max_rounds:
        fresh = simplex_weights(target, found)
        settled = bool(np.abs(fresh - weights).max() < weight_tol)
        weights = fresh
        found = factorise(target, weights, found, max_iter=max_iter, tol=tol)
        path.append(found.path[-1])
    return found._replace(path=path, converged=settled), weights


def _settled(path: list[float], tol: float) -> bool:
    return len(path) > 1 and abs(path[-1] - path[-2]) <= tol * abs(path[-2])


def simplex_weights(target: Target, factors: Factors) -> Floats:
    """Weights of the members that bring their mixture closest to H S H^T.

    On the simplex the squared distance is a quadratic form Q without linear part. The
    non-negative least squares of ``|Q^(1/2) w|^2 + (1 - sum w)^2`` has its solution on the
    ray of the best weights, whatever their distance: no heavy constraint row is needed.
    """
    H, S, _, _ = factors
    T = target.through_clusters(H)
    HH = H.T @ (target.rows.counts[:, None] * H)
    diagonal = ((T @ S) * T).sum(axis=1)
    edges = target.rows.starts
    b = np.array([diagonal[a:z].sum() for a, z in pairwise(edges)])
    constant = float((HH @ S @ HH * S).sum())
    Q = target.products - b[:, None] - b + constant
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    # The ridge makes identical members share their weight.
    ridge = 1e-9 * max(float(np.linalg.eigvalsh(target.products)[-1]), _FLOOR)
    values = np.maximum(values, 0.0) + ridge
    root = np.sqrt(values / values[-1])[:, None] * vectors.T
    n_members = len(b)
    system = np.concatenate([root, np.ones((1, n_members))])
    found, _ = nnls(system, np.append(np.zeros(n_members), 1.0), maxiter=100 * n_members)
    weights: Floats = found / found.sum()
    return weights
