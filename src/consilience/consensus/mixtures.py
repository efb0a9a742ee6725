"""Probabilistic models of the label table: a multinomial mixture, and Bayesian ensembles."""

from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from consilience._validation import COUNT, NOT_NEGATIVE, Interval, Options, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._label_kmeans import kcc_labellings
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import (
    Rows,
    distinct_rows,
    draw_seeds,
    normal_blocks,
    several,
    spectral_start,
)
from consilience.consensus._solve import ConsensusResult, cluster_order, solve
from consilience.ensemble import Ensemble
from consilience.kernels.labels.mixture import bce_pass, em_pass, responsibilities
from consilience.kernels.labels.products import cluster_sums

__all__ = ["BCE", "MixtureConsensus", "bce", "mixtureconsensus"]

Floats = NDArray[np.float64]
Start = Literal["kcc", "random"]

_RULES: dict[str, list[Rule]] = {"n_init": COUNT, "max_iter": COUNT, "tol": NOT_NEGATIVE}
_PSEUDO: list[Rule] = [Interval(Real, 0, 1_000_000, open_low=True)]


class Fit(NamedTuple):
    """One run: memberships of the rows, what was maximised after each pass, how it ended."""

    memberships: Floats
    path: list[float]
    converged: bool
    alpha: Floats


@consensus_method(
    estimator="MixtureConsensus",
    few_clusters=True,
    paper="Topchy, Jain & Punch 2004",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "start": [Options(("kcc", "random"))], "smooth": _PSEUDO},
)
def mixtureconsensus(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    start: Start = "kcc",
    n_init: int = 10,
    max_iter: int = 200,
    tol: float = 1e-6,
    smooth: float = 1e-6,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Components of a mixture of multinomials fitted to the label rows by EM.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels drop out of an object's
        product.
    n_clusters : int
        Components; some may win no object.
    start : {"kcc", "random"}, default="kcc"
        Runs begin with labellings by `kcc` (category utility), or with random
        responsibilities, as published, which often end in poor optima.
    n_init : int, default=10
        Runs; the largest likelihood wins.
    max_iter : int, default=200
        Most passes of a run.
    tol : float, default=1e-6
        A run ends when the log-likelihood gains less than this, relative to its size.
    smooth : float, default=1e-6
        Added to every expected count; keeps logarithms finite. Likelihoods of different
        values must not be compared.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the responsibilities, ``objective`` the log-likelihood;
        ``details["path"]`` holds it after every pass of the best run and
        ``details["alpha"]`` the components' shares.

    Notes
    -----
    Equal rows are one weighted row: exact. A pass takes time O(u R k) for u distinct rows,
    and holds clusters x k beside the labels; the start and the memberships u x k.

    References
    ----------
    Topchy, Jain & Punch (2004), A mixture model for clustering ensembles, SIAM SDM,
    section 3.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        if start == "kcc":
            labellings = kcc_labellings(rows, k, n_init, random_state, n_jobs)
            starts = [shares_of_labels(labels, k) for labels in labellings]
        else:
            starts = [random_shares(rows, k, seed) for seed in draw_seeds(random_state, n_init)]
        fits = several(
            lambda shares: fit_mixture(rows, k, shares, max_iter, tol, smooth), starts, n_jobs
        )
        return _best(fits, rows)

    return solve(ensemble, n_clusters, run, owner="MixtureConsensus", X=X)


@consensus_method(
    estimator="BCE",
    few_clusters=True,
    paper="Wang, Shan & Banerjee 2011",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "lap": _PSEUDO},
)
def bce(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_init: int = 5,
    max_iter: int = 500,
    tol: float = 0.01,
    lap: float = 1e-6,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Mixed-membership model of the label rows, fitted by variational EM.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out.
    n_init : int, default=5
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random parameters, which fail now and then. The largest bound wins.
    max_iter : int, default=500
        Most rounds of a run, and of the inner loops of a round.
    tol : float, default=0.01
        A run ends when beta changes by at most this (relative, l1); the same holds for the
        inner loop of each row.
    lap : float, default=1e-6
        Added to every expected count of beta.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the expected shares gamma / sum(gamma), ``objective`` the
        variational bound; ``details["path"]`` holds it after every round of the best run
        and ``details["alpha"]`` the Dirichlet parameters.

    Notes
    -----
    Each object has its own shares theta ~ Dirichlet(alpha); each member draws one of the k
    clusters from theta, then a label from that cluster's distribution beta over the
    member's clusters. Equal rows are one weighted row: exact. The inner loop starts afresh
    in every round, as in the authors' program: it raises the bound at every step, but the
    bound may fall a little from round to round. The step of alpha is Newton's, halved
    until alpha is positive and (ours) the likelihood does not fall. The authors' MCLA start
    is replaced by a spectral one with the same vote.

    References
    ----------
    Wang, Shan & Banerjee (2011), Bayesian cluster ensembles, Statistical Analysis and Data
    Mining 4(1), section 4.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        seeds = draw_seeds(random_state, n_init)
        first = spectral_start(rows, k, seeds[0])
        starts = [random_beta(rows, k, seed) for seed in seeds]
        if first is not None:
            starts[0] = beta_from_labels(rows, k, first)

        def fit(start: tuple[Floats, Floats]) -> Fit:
            return fit_bce(rows, *start, max_iter=max_iter, tol=tol, lap=lap)

        fits = several(fit, starts, n_jobs)
        return _best(fits, rows)

    return solve(ensemble, n_clusters, run, owner="BCE", X=X)


def _best(fits: list[Fit], rows: Rows) -> ConsensusResult:
    """The run of the highest objective, the first on ties, for all objects."""
    best = max(fits, key=lambda fit: fit.path[-1])
    labels = best.memberships.argmax(axis=1).astype(np.int32)[rows.inverse]
    return ConsensusResult(
        labels,
        objective=best.path[-1],
        n_iter=len(best.path),
        converged=best.converged,
        memberships=best.memberships[rows.inverse],
        details={
            "path": np.array(best.path),
            "alpha": best.alpha[cluster_order(labels, len(best.alpha))],
            "objectives": np.array([fit.path[-1] for fit in fits]),
        },
    )


def random_shares(rows: Rows, k: int, seed: int) -> Floats:
    """Responsibilities drawn uniformly from the simplex."""
    drawn = np.random.default_rng(seed).standard_exponential((rows.n_rows, k))
    drawn /= drawn.sum(axis=1)[:, None]
    return drawn


def shares_of_labels(labels: NDArray[np.int32], k: int) -> Floats:
    """Responsibilities of a labelling, softened: EM may still move everything."""
    shares = np.full((len(labels), k), 0.2 / k)
    shares[np.arange(len(labels)), labels] += 0.8
    return shares


def fit_mixture(
    rows: Rows, k: int, shares: Floats, max_iter: int, tol: float, smooth: float
) -> Fit:
    """One run of EM from the responsibilities ``shares``."""
    members, starts, counts, _ = rows
    start = shares * counts[:, None]
    sums, sizes = cluster_sums(members, starts, start), start.sum(axis=0)
    del start
    path: list[float] = []
    for _ in range(max_iter):
        log_theta = np.log(normal_blocks(sums + smooth, starts))
        # A component nobody wants keeps a logarithm; its share stays zero for all purposes.
        log_alpha = np.log(np.maximum(sizes / sizes.sum(), 1e-300))
        sums, sizes = np.zeros_like(sums), np.zeros(k)
        path.append(em_pass(members, starts, counts, log_theta, log_alpha, sums, sizes))
        if len(path) > 1 and path[-1] - path[-2] <= tol * abs(path[-1]):
            break
    converged = len(path) > 1 and path[-1] - path[-2] <= tol * abs(path[-1])
    rho = responsibilities(members, starts, log_theta, log_alpha)
    return Fit(rho, path, converged, np.exp(log_alpha))


def random_beta(rows: Rows, k: int, seed: int) -> tuple[Floats, Floats]:
    """Uniform alpha, random distributions beta."""
    rng = np.random.default_rng(seed)
    # Away from zero: an alpha of exactly zero has no Dirichlet distribution.
    alpha = rng.uniform(1e-3, 1.0, k)
    beta = rng.uniform(1e-3, 1.0, (int(rows.starts[-1]), k))
    return normal_blocks(beta, rows.starts), alpha


def beta_from_labels(rows: Rows, k: int, labels: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Distributions of the labels within clusters, softened; alpha of ones."""
    table = np.zeros((rows.n_rows, k))
    table[np.arange(rows.n_rows), labels] = rows.counts
    beta = cluster_sums(rows.members, rows.starts, table) + 0.1
    return normal_blocks(beta, rows.starts), np.ones(k)


def fit_bce(rows: Rows, beta: Floats, alpha: Floats, max_iter: int, tol: float, lap: float) -> Fit:
    """One run of variational EM."""
    members, starts, counts, _ = rows
    gamma = np.empty((rows.n_rows, len(alpha)))
    path: list[float] = []
    converged = False
    while len(path) < max_iter and not converged:
        sums, logs = np.zeros_like(beta), np.zeros(len(alpha))
        path.append(
            bce_pass(members, starts, counts, beta, alpha, float(tol), max_iter, sums, logs, gamma)
        )
        fresh = normal_blocks(sums + lap, starts)
        converged = bool(np.abs(fresh - beta).sum() / beta.sum() <= tol)
        beta = fresh
        alpha = dirichlet_step(alpha, logs / counts.sum(), max_iter=max_iter)
    return Fit(gamma / gamma.sum(axis=1, keepdims=True), path, converged, alpha)


def dirichlet_step(alpha: Floats, mean_logs: Floats, *, max_iter: int) -> Floats:
    """Dirichlet parameters of highest likelihood given the mean of log theta, by Newton."""

    def likelihood(a: Floats) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1.0) @ mean_logs)

    now = likelihood(alpha)
    for _ in range(max_iter):
        g = mean_logs + psi(alpha.sum()) - psi(alpha)
        h = -polygamma(1, alpha)
        z = polygamma(1, alpha.sum())
        step = (g - (g / h).sum() / (1.0 / z + (1.0 / h).sum())) / h
        eta = 1.0
        while eta > 1e-10:
            fresh = alpha - eta * step
            if (fresh > 0.0).all() and likelihood(fresh) >= now:
                break
            eta /= 2.0
        else:
            return alpha
        change = np.abs(fresh - alpha).sum() / alpha.sum()
        alpha, now = fresh, likelihood(fresh)
        if change <= 1e-3:
            break
    return alpha


class MixtureConsensus(FixedNumber, function=mixtureconsensus):
    """Cluster by a mixture model of the labels; see `mixtureconsensus` for the method."""

    start: Start = "kcc"
    n_init: int = 10
    max_iter: int = 200
    tol: float = 1e-6
    smooth: float = 1e-6


class BCE(FixedNumber, function=bce):
    """Cluster by Bayesian cluster ensembles; see `bce` for the method."""

    n_init: int = 5
    max_iter: int = 500
    tol: float = 0.01
    lap: float = 1e-6
