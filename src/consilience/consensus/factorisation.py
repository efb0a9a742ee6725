"""Consensus by factorising the co-association: NMF, and WCC, which also weighs the members.

The factorisation H S H^T goes over distinct label rows, and the co-association is never formed.
With B the objects x clusters matrix, c the objects of each row and s its scale, it is
``M = diag(s) B diag(w) B^T diag(s)``; every product with it goes through the clusters. H^T H and
H^T M H are sums over objects, that is over rows weighted with c.
"""

from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from consilience._validation import COUNT, NOT_NEGATIVE, Options, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._label_kmeans import kcc_labellings
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows, several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.kernels.labels.products import cluster_sums, pair_products, row_sums

__all__ = ["WCC", "NMFConsensus", "nmfconsensus", "wcc"]

Floats = NDArray[np.float64]
Reading = Literal["falling", "published"]

_RULES: dict[str, list[Rule]] = {"n_init": COUNT, "max_iter": COUNT, "tol": NOT_NEGATIVE}
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


@consensus_method(
    estimator="NMFConsensus",
    few_clusters=True,
    paper="Li, Ding & Jordan 2007",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "reading": [Options(("falling", "published"))]},
)
def nmfconsensus(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    reading: Reading = "falling",
    n_init: int = 5,
    max_iter: int = 1000,
    tol: float = 1e-6,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters as the factor H of the co-association, H S H^T with H and S non-negative.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels leave an object's row with
        R_i < R ones; it is scaled to unit similarity with itself, V_ij / sqrt(R_i R_j).
    reading : {"falling", "published"}, default="falling"
        Updates that lower the distance at every step, to a stationary point; or those of the
        paper, which also draw the columns of H towards orthogonality: they may raise the
        distance, and often need far more than a thousand updates to settle.
    n_init : int, default=5
        Runs, from the five best of ten labellings by `kcc` (category utility); the smallest
        distance to the co-association wins.
    max_iter : int, default=1000
        Most updates of a run.
    tol : float, default=1e-6
        A run ends when the squared distance falls by at most this share of the squared norm
        of the co-association; in the published reading, when it changes by at most this
        share of itself.

    Returns
    -------
    ConsensusResult
        ``objective`` is the squared Frobenius distance; ``memberships`` are the rows of
        H sqrt(diag S), scaled to sum 1; ``details["path"]`` is the objective after every
        update of the best run.

    Warns
    -----
    ConsilienceWarning
        If the best run has not settled after ``max_iter`` updates.

    Notes
    -----
    The co-association is never made: products with it go through the clusters, in time
    O(u R k) for u distinct rows. Equal rows are one weighted row: exact.

    References
    ----------
    Li, Ding & Jordan (2007), Solving consensus and semi-supervised clustering problems using
    nonnegative matrix factorization, ICDM, section 3.
    """
    updates = descend if reading == "falling" else factorise

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        target = make_target(rows, n_jobs)
        weights = np.full(placed.n_members, 1.0 / placed.n_members)

        def fit(labels: NDArray[np.int32]) -> Factors:
            start = start_factors(target, weights, labels, k)
            return updates(target, weights, start, max_iter=max_iter, tol=tol)

        starts = kcc_labellings(rows, k, max(n_init, 10), random_state, n_jobs)[:n_init]
        best = min(several(fit, starts, n_jobs), key=lambda factors: factors.path[-1])
        if not best.converged:
            warn(
                f"The factors of NMFConsensus have not settled after max_iter={max_iter} updates. "
                "Raise max_iter or tol; the labels are those of the factors reached."
            )
        return _result(best, rows, {"path": np.array(best.path)})

    return solve(ensemble, n_clusters, run, owner="NMFConsensus", X=X)


@consensus_method(
    estimator="WCC",
    paper="Li & Ding 2008",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "max_rounds": COUNT, "weight_tol": NOT_NEGATIVE},
)
def wcc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_init: int = 10,
    max_iter: int = 300,
    max_rounds: int = 2,
    tol: float = 1e-6,
    weight_tol: float = 1e-4,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters and weights of the members, by alternating factorisation and weighting.

    Parameters
    ----------
    ensemble : Ensemble
        As in `nmfconsensus`.
    n_init : int, default=10
        Runs of `kcc` (category utility); the best labelling is the start.
    max_iter, tol
        Of each factorisation, by the published updates as in `nmfconsensus`.
    max_rounds : int, default=2
        Most rounds of weighting and factorisation after the first factorisation; see the
        notes before raising it.
    weight_tol : float, default=1e-4
        A run ends when no weight changes by as much.

    Returns
    -------
    ConsensusResult
        As `nmfconsensus`; ``details["member_weights"]`` are the weights, which add up to 1
        and are often sparse; ``n_iter`` counts factorisations, and ``details["path"]`` has
        the distance after each.

    Notes
    -----
    Given H and S the best weights solve a quadratic problem on the simplex, whose matrix
    are the inner products of the members' matrices of pairs; the distance falls. But it is
    zero for any single member of ``n_clusters`` clusters: given many rounds the weights
    drift towards one member, and its mistakes become the consensus. Of planted ensembles
    (60 objects in three groups, 15 members, 10 % of the labels drawn at random) 47 of 100
    lost an object or more with 20 rounds, one of 300 with 3, none of 300 with 2. Hence few
    rounds and one start: runs cannot be compared by a distance that rewards the drift.
    Start, stopping rule and labels are ours.

    References
    ----------
    Li & Ding (2008), Weighted consensus clustering, SIAM SDM, section 3.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]])
    >>> result = wcc(ens, 2, random_state=0)
    >>> result.labels, result.details["member_weights"].round(2).tolist()
    (array([0, 0, 0, 1, 1, 1], dtype=int32), [0.47, 0.47, 0.07])
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        target = make_target(rows, n_jobs)
        labels = kcc_labellings(rows, k, n_init, random_state, n_jobs)[0]
        factors, weights = alternate(
            target,
            labels,
            k,
            max_iter=max_iter,
            max_rounds=max_rounds,
            tol=tol,
            weight_tol=weight_tol,
        )
        return _result(factors, rows, {"member_weights": weights, "path": np.array(factors.path)})

    return solve(ensemble, n_clusters, run, owner="WCC", X=X)


def _result(best: Factors, rows: Rows, details: dict[str, Any]) -> ConsensusResult:
    """Labels by the largest entry of H sqrt(diag S), for all objects."""
    strength = best.H * np.sqrt(np.diag(best.S))
    labels = strength.argmax(axis=1).astype(np.int32)
    # A row that multiplied down to zero is a member of every cluster alike.
    totals = strength.sum(axis=1, keepdims=True)
    k = strength.shape[1]
    even = np.full_like(strength, 1.0 / k)
    memberships = np.divide(strength, totals, out=even, where=totals > 0)
    return ConsensusResult(
        labels[rows.inverse],
        objective=best.path[-1],
        n_iter=len(best.path),
        converged=best.converged,
        memberships=memberships[rows.inverse],
        details=details,
    )


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
    factors = start_factors(target, weights, labels, k)
    factors = factorise(target, weights, factors, max_iter=max_iter, tol=tol)
    path = [factors.path[-1]]
    settled = False
    while not settled and len(path) <= max_rounds:
        fresh = simplex_weights(target, factors)
        settled = bool(np.abs(fresh - weights).max() < weight_tol)
        weights = fresh
        factors = factorise(target, weights, factors, max_iter=max_iter, tol=tol)
        path.append(factors.path[-1])
    return factors._replace(path=path, converged=settled), weights


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
    solution, _ = nnls(system, np.append(np.zeros(n_members), 1.0), maxiter=100 * n_members)
    weights: Floats = solution / solution.sum()
    return weights


class NMFConsensus(FixedNumber, function=nmfconsensus):
    """Cluster by factorising the co-association; see `nmfconsensus` for the method."""

    reading: Reading = "falling"
    n_init: int = 5
    max_iter: int = 1000
    tol: float = 1e-6


class WCC(FixedNumber, function=wcc, attributes=("member_weights",)):
    """Cluster by weighted consensus; see `wcc` for the method.

    Attributes
    ----------
    member_weights_ : ndarray of shape (n_members,)
        Weights of the members, of sum 1.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> model = WCC(2, random_state=0).fit(ensemble=members)
    >>> model.labels_, model.member_weights_.round(2).tolist()
    (array([0, 0, 0, 1, 1], dtype=int32), [0.39, 0.21, 0.39])
    """

    n_init: int = 10
    max_iter: int = 300
    max_rounds: int = 2
    tol: float = 1e-6
    weight_tol: float = 1e-4
