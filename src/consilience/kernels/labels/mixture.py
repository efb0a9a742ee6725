"""Passes of EM and of variational EM over label rows: one sweep, tables of clusters x k out.

Every entry of a table is summed in the order of the rows, whatever the block size, so a
pass gives the same bits however it is cut. Negative labels drop out of every product.
"""

import math

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["bce_pass", "digamma", "em_pass", "responsibilities"]

# Rows whose responsibilities are held at once.
_BLOCK = 128


@compiled
def em_pass(members, starts, counts, log_theta, log_alpha, sums, sizes):
    """Log-likelihood of a multinomial mixture; expected counts are added to sums and sizes.

    ``members`` is (n_members, n_rows), ``counts`` (n_rows,) how often each row occurs,
    ``log_theta`` (n_clusters, k) with the clusters of member r from ``starts[r]`` on and
    ``log_alpha`` (k,). ``sums`` (n_clusters, k) and ``sizes`` (k,) must be zero.
    """
    n_members, n_rows = members.shape
    k = len(log_alpha)
    rho = np.empty((_BLOCK, k))
    likelihood = 0.0
    for first in range(0, n_rows, _BLOCK):
        size = min(_BLOCK, n_rows - first)
        likelihood += _posterior(members, starts, counts, log_theta, log_alpha, first, size, rho)
        for i in range(size):
            for q in range(k):
                rho[i, q] *= counts[first + i]
                sizes[q] += rho[i, q]
        for r in range(n_members):
            for i in range(size):
                label = members[r, first + i]
                if label >= 0:
                    g = starts[r] + label
                    for q in range(k):
                        sums[g, q] += rho[i, q]
    return likelihood


@compiled
def responsibilities(members, starts, log_theta, log_alpha):
    """Probability of each component given the row, (n_rows, k); arguments as in `em_pass`."""
    n_rows = members.shape[1]
    rho = np.empty((n_rows, len(log_alpha)))
    ones = np.ones(n_rows, np.int64)
    for first in range(0, n_rows, _BLOCK):
        size = min(_BLOCK, n_rows - first)
        block = rho[first : first + size]
        _posterior(members, starts, ones, log_theta, log_alpha, first, size, block)
    return rho


@compiled
def _posterior(members, starts, counts, log_theta, log_alpha, first, size, rho):
    """Responsibilities of a block of rows into ``rho``; its weighted log-likelihood."""
    n_members = members.shape[0]
    k = len(log_alpha)
    for i in range(size):
        rho[i] = log_alpha
    for r in range(n_members):
        for i in range(size):
            label = members[r, first + i]
            if label >= 0:
                g = starts[r] + label
                for q in range(k):
                    rho[i, q] += log_theta[g, q]
    likelihood = 0.0
    for i in range(size):
        top = rho[i].max()
        total = 0.0
        for q in range(k):
            rho[i, q] = math.exp(rho[i, q] - top)
            total += rho[i, q]
        for q in range(k):
            rho[i, q] /= total
        likelihood += counts[first + i] * (top + math.log(total))
    return likelihood


@compiled
def digamma(x):
    """Derivative of log Gamma at x > 0, to about 1e-14 of its size."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s / 132))))
    return shift + math.log(x) - 0.5 / x - series


@compiled
def bce_pass(members, starts, counts, beta, alpha, tol, max_iter, sums, logs, gamma):
    """Variational bound of Bayesian cluster ensembles, after the E-step of every row.

    ``beta`` is (n_clusters, k), ``alpha`` (k,). Expected counts are added to ``sums``
    (n_clusters, k) and expectations of log theta to ``logs`` (k,), both zero before and
    weighted with ``counts``; ``gamma`` (n_rows, k) receives the rows' Dirichlet parameters.
    A row is iterated until phi and gamma change by at most ``tol`` (relative, l1).
    """
    n_members, n_rows = members.shape
    k = len(alpha)
    phi = np.empty((n_members, k))
    expected = np.empty(k)
    norm = math.lgamma(alpha.sum())
    for q in range(k):
        norm -= math.lgamma(alpha[q])
    bound = 0.0
    for i in range(n_rows):
        _row_step(members[:, i], starts, beta, alpha, tol, max_iter, phi, gamma[i], expected)
        value = norm - math.lgamma(gamma[i].sum())
        for q in range(k):
            value += math.lgamma(gamma[i, q]) + (alpha[q] - gamma[i, q]) * expected[q]
            logs[q] += counts[i] * expected[q]
        for r in range(n_members):
            label = members[r, i]
            if label >= 0:
                g = starts[r] + label
                for q in range(k):
                    sums[g, q] += counts[i] * phi[r, q]
                    if phi[r, q] > 0.0:
                        ratio = math.log(beta[g, q]) - math.log(phi[r, q])
                        value += phi[r, q] * (expected[q] + ratio)
        bound += counts[i] * value
    return bound


@compiled
def _row_step(labels, starts, beta, alpha, tol, max_iter, phi, gamma, expected):
    """E-step of one row: phi (members x k), gamma (k) and E[log theta] (k), in place."""
    k = len(alpha)
    present = 0
    for r in range(len(labels)):
        if labels[r] >= 0:
            present += 1
            phi[r] = 1.0 / k
    for q in range(k):
        gamma[q] = alpha[q] + present / k
    for _ in range(max_iter):
        if _refine(labels, starts, beta, alpha, phi, gamma, expected, present) <= tol:
            break
    whole = digamma(gamma.sum())
    for q in range(k):
        expected[q] = digamma(gamma[q]) - whole


@compiled
def _refine(labels, starts, beta, alpha, phi, gamma, expected, present):
    """One update of phi, then gamma; the larger of their relative changes."""
    k = len(alpha)
    for q in range(k):
        expected[q] = digamma(gamma[q])
    top = expected.max()
    # Only ratios over q matter to phi; the largest factor is 1, so no row underflows.
    for q in range(k):
        expected[q] = math.exp(expected[q] - top)
    old_mass = gamma.sum()
    new = alpha.copy()
    phi_change = 0.0
    for r in range(len(labels)):
        if labels[r] < 0:
            continue
        g = starts[r] + labels[r]
        total = 0.0
        for q in range(k):
            total += beta[g, q] * expected[q]
        for q in range(k):
            value = beta[g, q] * expected[q] / total
            phi_change += abs(value - phi[r, q])
            phi[r, q] = value
            new[q] += value
    gamma_change = 0.0
    for q in range(k):
        gamma_change += abs(new[q] - gamma[q])
        gamma[q] = new[q]
    return max(phi_change / present, gamma_change / old_mass)
