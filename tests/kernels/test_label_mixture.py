"""Passes of EM and variational EM against their formulas, row by row."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma as scipy_digamma
from scipy.special import gammaln, logsumexp
from strategies import member_major

from consilience.kernels.labels import mixture as label_mixture
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.mixture import bce_pass, digamma, em_pass, responsibilities

seeds = st.integers(0, 2**31)


def random_tables(members, k, seed):
    rng = np.random.default_rng(seed)
    starts = first_columns(members)
    table = rng.random((int(starts[-1]), k)) + 0.01
    for a, z in pairwise(starts):
        table[a:z] /= table[a:z].sum(axis=0)
    return starts, rng.integers(1, 4, members.shape[1]), table, rng.dirichlet(np.ones(k))


def some_label(members):
    return bool((members >= 0).any())


@given(member_major().filter(some_label), st.integers(1, 3), seeds)
def test_em_pass_equals_the_formulas(members, k, seed):
    starts, counts, theta, alpha = random_tables(members, k, seed)
    logs = np.log(alpha) + np.array(
        [
            sum((np.log(theta[starts[r] + c]) for r, c in enumerate(row) if c >= 0), np.zeros(k))
            for row in members.T
        ]
    )
    rho = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    sums, sizes = np.zeros_like(theta), np.zeros(k)
    got = em_pass(members, starts, counts, np.log(theta), np.log(alpha), sums, sizes)
    assert got == pytest.approx((counts * logsumexp(logs, axis=1)).sum(), rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(sizes, counts @ rho, atol=1e-10)
    wanted = np.zeros_like(theta)
    for r in range(len(members)):
        for i, label in enumerate(members[r]):
            if label >= 0:
                wanted[starts[r] + label] += counts[i] * rho[i]
    np.testing.assert_allclose(sums, wanted, atol=1e-10)
    found = responsibilities(members, starts, np.log(theta), np.log(alpha))
    np.testing.assert_allclose(found, rho, atol=1e-10)


@given(st.floats(1e-6, 1e6))
def test_digamma_equals_scipys(x):
    assert digamma(x) == pytest.approx(scipy_digamma(x), rel=1e-12, abs=1e-12)


def e_step_slowly(row, starts, beta, alpha, n_steps):
    """Reference: one row's variational parameters after some updates, and its bound."""
    k = len(alpha)
    present = [r for r, label in enumerate(row) if label >= 0]
    b = np.array([beta[starts[r] + row[r]] for r in present]).reshape(-1, k)
    phi = np.full(b.shape, 1.0 / k)
    gamma = alpha + len(present) / k
    for _ in range(n_steps):
        phi = b * np.exp(scipy_digamma(gamma) - scipy_digamma(gamma.sum()))
        phi /= phi.sum(axis=1, keepdims=True)
        gamma = alpha + phi.sum(axis=0)
    E = scipy_digamma(gamma) - scipy_digamma(gamma.sum())
    bound = gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * E).sum()
    logs = np.where(phi > 0, np.log(np.maximum(phi, 1e-300)), 0.0)
    bound += (phi * (E + np.log(b) - logs)).sum()
    bound += -gammaln(gamma.sum()) + gammaln(gamma).sum() - ((gamma - 1) * E).sum()
    return phi, gamma, E, bound


@given(member_major().filter(some_label), st.integers(2, 3), seeds, st.integers(1, 4))
def test_bce_pass_equals_the_formulas(members, k, seed, n_steps):
    members = np.ascontiguousarray(members[:, (members >= 0).any(axis=0)])
    starts, counts, beta, _ = random_tables(members, k, seed)
    alpha = np.random.default_rng(seed).uniform(0.05, 3.0, k)
    sums, logs = np.zeros_like(beta), np.zeros(k)
    gamma = np.empty((members.shape[1], k))
    # A tolerance below zero is never met: exactly n_steps updates.
    got = bce_pass(members, starts, counts, beta, alpha, -1.0, n_steps, sums, logs, gamma)
    bound, wanted, wanted_logs = 0.0, np.zeros_like(beta), np.zeros(k)
    for i, row in enumerate(members.T):
        phi, own, E, value = e_step_slowly(row, starts, beta, alpha, n_steps)
        np.testing.assert_allclose(gamma[i], own, rtol=1e-10)
        bound += counts[i] * value
        wanted_logs += counts[i] * E
        for part, r in zip(phi, [r for r, label in enumerate(row) if label >= 0], strict=True):
            wanted[starts[r] + row[r]] += counts[i] * part
    assert got == pytest.approx(bound, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(sums, wanted, atol=1e-10)
    np.testing.assert_allclose(logs, wanted_logs, rtol=1e-9, atol=1e-9)


def test_a_label_that_a_group_has_as_good_as_never_ends_in_no_logarithm_of_zero():
    members, starts = np.array([[0, 1]], np.int8), np.array([0, 2])
    beta, alpha = np.array([[1.0, 1e-320], [1e-320, 1.0]]), np.array([0.05, 0.05])
    sums, logs, gamma = np.zeros((2, 2)), np.zeros(2), np.empty((2, 2))
    got = bce_pass(members, starts, np.ones(2, int), beta, alpha, -1.0, 3, sums, logs, gamma)
    values = [e_step_slowly(row, starts, beta, alpha, 3)[-1] for row in members.T]
    assert got == pytest.approx(sum(values), rel=1e-9)
    np.testing.assert_array_equal(sums, np.eye(2))


@given(member_major().filter(some_label), st.integers(2, 3), seeds)
def test_the_inner_loop_of_bce_never_lowers_the_bound(members, k, seed):
    members = np.ascontiguousarray(members[:, (members >= 0).any(axis=0)])
    starts, counts, beta, _ = random_tables(members, k, seed)
    alpha = np.random.default_rng(seed).uniform(0.05, 3.0, k)
    path = []
    for n_steps in range(1, 9):
        sums, logs = np.zeros_like(beta), np.zeros(k)
        gamma = np.empty((members.shape[1], k))
        path.append(
            bce_pass(members, starts, counts, beta, alpha, -1.0, n_steps, sums, logs, gamma)
        )
    assert (np.diff(path) >= -1e-10 * np.abs(path[0])).all()


def test_a_pass_of_em_does_not_depend_on_blocks(monkeypatch):
    members = np.random.default_rng(0).integers(-2, 4, (4, 150)).astype(np.int8)
    starts, counts, theta, alpha = random_tables(members, 3, 1)
    plain = getattr(em_pass, "py_func", em_pass)
    part = label_mixture._posterior
    monkeypatch.setattr(label_mixture, "_posterior", getattr(part, "py_func", part))
    results = []
    for block in (150, 50, 9):
        monkeypatch.setattr(label_mixture, "_BLOCK", block)
        sums, sizes = np.zeros_like(theta), np.zeros(3)
        plain(members, starts, counts, np.log(theta), np.log(alpha), sums, sizes)
        results.append((sums, sizes))
    for sums, sizes in results[1:]:
        np.testing.assert_array_equal(sums, results[0][0])
        np.testing.assert_array_equal(sizes, results[0][1])
