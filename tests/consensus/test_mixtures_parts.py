"""The steps of the mixtures by hand: starts, ends, and the run that is kept."""

import sys

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.mixtures import (
    Fit,
    _best,
    beta_from_labels,
    fit_bce,
    fit_mixture,
    mixtureconsensus,
    random_beta,
    random_shares,
    shares_of_labels,
)

# The function of the package hides the module.
MODULE = sys.modules[mixtureconsensus.__module__]


@pytest.fixture
def rows():
    return distinct_rows(Ensemble(np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 2]])))


def test_responsibilities_of_a_labelling_keep_a_fifth_for_all():
    found = shares_of_labels(np.array([0, 3, 3], np.int32), 4)
    wanted = [[0.85, 0.05, 0.05, 0.05], *[[0.05, 0.05, 0.05, 0.85]] * 2]
    np.testing.assert_allclose(found, wanted)


def test_random_responsibilities_are_even_shares_and_as_the_seed_says(rows):
    found = np.concatenate([random_shares(rows, 3, seed) for seed in range(300)])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # Uniform on the simplex: means of a third, deviations of the root of 1/18.
    np.testing.assert_allclose(found.mean(axis=0), 1 / 3, atol=0.03)
    np.testing.assert_allclose(found.std(axis=0), np.sqrt(1 / 18), atol=0.02)
    n = rows.n_rows
    np.testing.assert_array_equal(random_shares(rows, 3, 7), found[7 * n : 8 * n])


def test_distributions_of_a_labelling_are_its_shares_softened(rows):
    labels = np.empty(rows.n_rows, np.int32)
    labels[rows.inverse] = [0, 0, 1, 1, 1]
    beta, alpha = beta_from_labels(rows, 2, labels)
    # Two clusters of the first member, three of the second: objects of either label, and a tenth.
    first = np.array([[2.1, 1.1], [0.1, 2.1]])
    second = np.array([[2.1, 0.1], [0.1, 2.1], [0.1, 1.1]])
    wanted = np.concatenate([first / first.sum(axis=0), second / second.sum(axis=0)])
    np.testing.assert_allclose(beta, wanted)
    assert alpha.tolist() == [1.0, 1.0]


def test_random_distributions_add_up_for_each_member_and_lie_off_zero(rows):
    alphas = []
    for seed in range(200):
        beta, alpha = random_beta(rows, 3, seed)
        np.testing.assert_allclose(np.add.reduceat(beta, [0, 2], axis=0), 1.0)
        alphas.append(alpha)
    assert 1e-3 <= np.min(alphas) <= 0.02
    assert 0.98 <= np.max(alphas) <= 1.0
    np.testing.assert_array_equal(random_beta(rows, 3, 199)[1], alpha)


def test_the_first_run_of_the_highest_objective_is_kept(rows):
    one = np.array([[0.1, 0.9], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]])
    other = np.array([[0.8, 0.2]] * 4)
    alpha = np.array([0.25, 0.75])
    low = Fit(other, [9.0, 1.0], True, alpha[::-1])
    best = Fit(one, [1.0, 1.5, 2.0], False, alpha)
    found = _best([low, best, Fit(other, [2.0], True, alpha)], rows)
    np.testing.assert_array_equal(found.memberships, one[rows.inverse])
    np.testing.assert_array_equal(found.labels, np.array([1, 0, 0, 1])[rows.inverse])
    assert (found.objective, found.n_iter, found.converged) == (2.0, 3, False)
    assert found.details["path"].tolist() == [1.0, 1.5, 2.0]
    assert found.details["objectives"].tolist() == [1.0, 2.0, 2.0]
    # Components in the order in which their labels appear.
    first = int(found.labels[0])
    assert found.details["alpha"].tolist() == [alpha[first], alpha[1 - first]]


@pytest.mark.parametrize(
    ("said", "tol", "steps", "converged"),
    [
        ([-8.0, -4.0, -4.0, -1.0], 0.0, 3, True),
        ([-8.0, -4.0, -3.2, -1.0], 0.25, 3, True),  # 0.8 of 3.2
        ([-8.0, -4.0, -3.2, -2.4], 0.2, 4, False),
        ([-8.0, -9.0], 0.0, 2, True),  # it may not fall
        ([-8.0, -4.0, -2.0, -1.0], 0.5, 4, False),
        ([-8.0, -4.0, -2.0, -1.0], 1.0, 2, True),
    ],
)
def test_a_mixture_ends_with_a_gain_of_a_share_of_the_likelihood(
    rows, monkeypatch, said, tol, steps, converged
):
    answers = iter(said)

    def step(members, starts, counts, log_theta, log_alpha, sums, sizes):
        sums += 1.0
        sizes += [1.0, 3.0]
        return next(answers)

    monkeypatch.setattr(MODULE, "em_pass", step)
    tol *= 1 + 1e-9  # differences are rounded
    found = fit_mixture(rows, 2, random_shares(rows, 2, 0), len(said), tol, 1e-6)
    assert (found.path, found.converged) == (said[:steps], converged)
    np.testing.assert_allclose(found.alpha, [0.25, 0.75])


@pytest.mark.parametrize(("tol", "steps"), [(0.0, 3), (1e9, 1)])
def test_distributions_that_stay_are_the_end(rows, tol, steps):
    beta, alpha = random_beta(rows, 2, 0)
    found = fit_bce(rows, beta, alpha, 3, tol, 1e-6)
    assert (len(found.path), found.converged) == (steps, tol > 0)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0)
