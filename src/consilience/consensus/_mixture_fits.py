"""Fits of the probabilistic models to distinct label rows: EM, and variational EM."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from consilience.consensus._rows import Rows, normal_blocks
from consilience.kernels.label_mixture import bce_pass, em_pass, responsibilities
from consilience.kernels.label_products import cluster_sums

__all__ = [
    "Fit",
    "beta_from_labels",
    "dirichlet_step",
    "fit_bce",
    "fit_mixture",
    "random_beta",
    "random_shares",
    "shares_of_labels",
]

Floats = NDArray[np.float64]


class Fit(NamedTuple):
    """One run: memberships of the rows, what was maximised after each pass, how it ended."""

    memberships: Floats
    path: list[float]
    converged: bool
    alpha: Floats


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
            bce_pass(members, starts, counts, beta, alpha, tol, max_iter, sums, logs, gamma)
        )
        fresh = normal_blocks(sums + lap, starts)
        converged = bool(np.abs(fresh - beta).sum() <= tol * beta.sum())
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
