"""The mixture and Bayesian ensembles: what EM promises, and equal rows counted once."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp, psi
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._rows import Rows, distinct_rows, normal_blocks
from consilience.consensus.mixtures import (
    BCE,
    MixtureConsensus,
    bce,
    beta_from_labels,
    dirichlet_step,
    fit_bce,
    fit_mixture,
    mixtureconsensus,
    random_beta,
    random_shares,
)
from consilience.errors import ConsilienceWarning, InvalidParameterError

seeds = st.integers(0, 2**31)
BOTH = [mixtureconsensus, bce]


def planted(seed, *, wrong=0.3, unseen=0.0, n=300, n_members=20, k=3):
    """Members that agree on k groups but for a share of random and of missing labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, k, off.sum())
    labels[rng.random(labels.shape) < unseen] = -2
    return truth, Ensemble(labels)


def rows_of(ensemble):
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    return distinct_rows(ensemble.take(placed))


def repeated(rows):
    """The same rows as often as they occur, each counted once."""
    places = np.repeat(np.arange(rows.n_rows), rows.counts)
    members = np.ascontiguousarray(rows.members[:, places])
    return Rows(members, rows.starts, np.ones(len(places), np.int64), np.arange(len(places)))


def likelihood_slowly(rows, log_theta, log_alpha):
    total = 0.0
    for row, count in zip(rows.members.T, rows.counts, strict=True):
        own = [log_theta[s + c] for s, c in zip(rows.starts, row, strict=False) if c >= 0]
        total += count * logsumexp(log_alpha + np.sum(own, axis=0))
    return total


# ---- the mixture ----------------------------------------------------------------------


@given(ensembles(min_objects=2), st.integers(2, 3), seeds)
def test_the_likelihood_never_falls(ensemble, k, seed):
    # Smoothing maximises a slightly different function: next to none, so EM's promise holds.
    fit = fit_mixture(
        rows_of(ensemble), k, random_shares(rows_of(ensemble), k, seed), 60, 0.0, 1e-13
    )
    assert (np.diff(fit.path) >= -1e-9 * (1 + abs(fit.path[0]))).all()


@pytest.mark.parametrize("tol", [0.0, 1e-6])
def test_a_likelihood_that_stays_is_the_end(tol):
    """One component is where it will be at once: the second step gains nothing at all."""
    rows = distinct_rows(Ensemble([[0, 0, 1, 1, 2], [0, 1, 1, 0, 0]]))
    fit = fit_mixture(rows, 1, np.ones((rows.n_rows, 1)), 60, tol, 1e-6)
    assert (len(fit.path), fit.converged) == (2, True)
    assert fit.path[0] == fit.path[1]


@given(ensembles(min_objects=2), st.integers(2, 3), seeds)
def test_a_further_step_loses_no_likelihood(ensemble, k, seed):
    rows = rows_of(ensemble)
    fit = fit_mixture(rows, k, random_shares(rows, k, seed), 100, 1e-6, 1e-13)
    np.testing.assert_allclose(fit.memberships.sum(axis=1), 1.0, rtol=1e-12)
    # One M-step from the responsibilities gives parameters at least as likely.
    weighted = rows.counts[:, None] * fit.memberships
    sums = np.zeros((int(rows.starts[-1]), k))
    for r in range(len(rows.members)):
        for i, label in enumerate(rows.members[r]):
            if label >= 0:
                sums[rows.starts[r] + label] += weighted[i]
    log_theta = np.log(normal_blocks(sums + 1e-13, rows.starts))
    log_alpha = np.log(np.maximum(weighted.sum(axis=0) / rows.counts.sum(), 1e-300))
    after = likelihood_slowly(rows, log_theta, log_alpha)
    assert after >= fit.path[-1] - 1e-9 * (1 + abs(after))


@given(ensembles(min_objects=2), st.integers(2, 3), seeds, st.booleans())
def test_equal_rows_may_be_counted_or_repeated(ensemble, k, seed, labelled):
    rows = rows_of(ensemble)
    full = repeated(rows)
    if labelled:
        labels = np.random.default_rng(seed).integers(0, k, rows.n_rows, np.int32)
        start = beta_from_labels(rows, k, labels)
        again = beta_from_labels(full, k, np.repeat(labels, rows.counts))
        np.testing.assert_allclose(start[0], again[0], atol=1e-12)
    else:
        start = random_beta(rows, k, seed)
    few = fit_bce(rows, *start, max_iter=3, tol=0.0, lap=1e-6)
    many = fit_bce(full, *start, max_iter=3, tol=0.0, lap=1e-6)
    np.testing.assert_allclose(few.path, many.path, rtol=1e-9, atol=1e-9)
    wanted = np.repeat(few.memberships, rows.counts, axis=0)
    np.testing.assert_allclose(wanted, many.memberships, atol=1e-8)


# ---- Bayesian cluster ensembles ---------------------------------------------------------


@given(st.lists(st.floats(0.05, 20.0), min_size=2, max_size=5), seeds)
def test_newton_finds_the_dirichlet_behind_its_logs(alpha, seed):
    alpha = np.array(alpha)
    logs = psi(alpha) - psi(alpha.sum())
    start = np.random.default_rng(seed).uniform(0.01, 5.0, len(alpha))

    def likelihood(a):
        return gammaln(a.sum()) - gammaln(a).sum() + ((a - 1) * logs).sum()

    found = dirichlet_step(start, logs, max_iter=500)
    assert (found > 0).all()
    assert likelihood(found) >= likelihood(start)
    assert likelihood(found) == pytest.approx(likelihood(alpha), abs=1e-3)


@given(ensembles(min_objects=2), st.integers(2, 3), seeds)
def test_new_distributions_never_lower_the_bound(ensemble, k, seed):
    # For given phi the bound holds beta in sum(counts * log beta) only: shares maximise it.
    rows = rows_of(ensemble)
    rng = np.random.default_rng(seed)
    expected = rng.random((int(rows.starts[-1]), k))
    old, _ = random_beta(rows, k, seed)
    new = normal_blocks(expected, rows.starts)
    assert (expected * np.log(new)).sum() >= (expected * np.log(old)).sum() - 1e-10


def test_the_bound_rises_from_a_sensible_start(seed):
    _, ensemble = planted(seed, unseen=0.2)
    path = bce(ensemble, 3, n_init=1, random_state=seed).details["path"]
    assert path[-1] > path[0]


# ---- both -------------------------------------------------------------------------------


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("unseen", [0.0, 0.3])
def test_groups_are_found_through_wrong_and_missing_labels(function, unseen, seed):
    truth, ensemble = planted(seed, unseen=unseen)
    labels = function(ensemble, 3, random_state=seed).labels
    assert adjusted_rand_score(truth, labels) > 0.9


@pytest.mark.parametrize("function", BOTH)
def test_threads_and_order_change_nothing(function, seed):
    _, ensemble = planted(seed, wrong=0.5, unseen=0.1)
    first = function(ensemble, 4, random_state=seed)
    threads = function(ensemble, 4, random_state=seed, n_jobs=2)
    np.testing.assert_array_equal(first.labels, threads.labels)
    np.testing.assert_array_equal(first.memberships, threads.memberships)
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    shuffled = function(ensemble.take(order), 4, random_state=seed)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert shuffled.objective == first.objective
    assert first.objective == max(first.details["objectives"])


@pytest.mark.parametrize("function", BOTH)
@given(ensemble=ensembles(min_objects=3), k=st.integers(2, 3), seed=seeds)
def test_memberships_are_shares_that_agree_with_the_labels(function, ensemble, k, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = function(ensemble, k, n_init=2, random_state=seed)
    assume(found.memberships is not None)
    placed = (ensemble.members >= 0).any(axis=0)
    np.testing.assert_allclose(found.memberships.sum(axis=1), placed, atol=1e-10)
    own = found.memberships[np.flatnonzero(placed), found.labels[placed]]
    np.testing.assert_array_equal(own, found.memberships[placed].max(axis=1))


@pytest.mark.parametrize("function", BOTH)
def test_the_components_shares_have_the_numbers_of_the_labels(function, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.permutation(3), [30, 70, 140])
    labels = np.where(rng.random((240, 12)) < 0.1, rng.integers(0, 3, (240, 12)), truth[:, None])
    result = function(Ensemble(labels), 3, random_state=seed)
    # The larger the component, the larger its share.
    np.testing.assert_array_equal(np.bincount(result.labels), [30, 70, 140])
    np.testing.assert_array_equal(np.argsort(result.details["alpha"]), [0, 1, 2])


def test_more_clusters_than_the_ensemble_has_start_at_random():
    # Three members of two clusters: eight rows, six clusters, seven wanted.
    labels = np.array(np.unravel_index(np.arange(8), (2, 2, 2)))
    found = bce(Ensemble(labels.T), 7, random_state=0)
    assert found.n_clusters <= 7
    assert len(found.labels) == 8


@pytest.mark.parametrize(
    ("estimator", "params", "message"),
    [
        (MixtureConsensus, {"smooth": 0.0}, "'smooth' parameter of MixtureConsensus must be"),
        (MixtureConsensus, {"tol": -1.0}, "'tol' parameter of MixtureConsensus"),
        (BCE, {"lap": 0.0}, "'lap' parameter of BCE must be a number above 0"),
        (BCE, {"n_init": 0}, "'n_init' parameter of BCE"),
        (BCE, {"max_iter": 1.5}, "'max_iter' parameter of BCE"),
    ],
)
def test_wrong_parameters_are_refused(estimator, params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    function = {"MixtureConsensus": mixtureconsensus, "BCE": bce}[estimator.__name__]
    with pytest.raises(InvalidParameterError, match=message):
        function(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        estimator(2, **params).fit(ensemble=ensemble)


def test_the_estimators_keep_what_was_found(seed):
    _, ensemble = planted(seed)
    for model in (MixtureConsensus(3, random_state=seed), BCE(3, random_state=seed)):
        model.fit(ensemble=ensemble)
        assert model.memberships_.shape == (ensemble.n_objects, 3)
        assert model.converged_
        assert model.n_iter_ == len(model.details_["path"])
