"""NMF and WCC against the dense co-association, and equal rows counted once."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus.factorisation import (
    WCC,
    Factors,
    NMFConsensus,
    alternate,
    descend,
    factorise,
    make_target,
    nmfconsensus,
    simplex_weights,
    start_factors,
    wcc,
)
from consilience.errors import ConsilienceWarning, InvalidParameterError

seeds = st.integers(0, 2**31)
BOTH = [nmfconsensus, wcc]


def planted(seed, *, wrong=0.2, unseen=0.0, n=150, n_members=20, k=3):
    """Members that agree on k groups but for a share of random and of missing labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, k, off.sum())
    labels[rng.random(labels.shape) < unseen] = -2
    return truth, Ensemble(labels)


def problem(ensemble, k, seed):
    """Rows of the placed objects, their target, random weights and random positive factors."""
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    rows = distinct_rows(ensemble.take(placed))
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(len(rows.members)))
    H, S = rng.random((rows.n_rows, k)) + 0.1, rng.random((k, k)) + 0.1
    return rows, make_target(rows), weights, Factors(H, S + S.T, [], False)


def pairs_of_members(rows):
    """Reference: each member's matrix of pairs over all objects, scaled for missing labels."""
    members = np.repeat(rows.members, rows.counts, axis=1)
    scale = np.sqrt(len(members) / (members >= 0).sum(axis=0))
    found = []
    for labels in members:
        together = (labels[:, None] == labels) & (labels >= 0)
        found.append(together * scale[:, None] * scale)
    return np.array(found)


def distance_slowly(rows, weights, factors):
    H = np.repeat(factors.H, rows.counts, axis=0)
    mixture = np.tensordot(weights, pairs_of_members(rows), 1)
    return ((mixture - H @ factors.S @ H.T) ** 2).sum()


@given(ensembles(min_objects=2), st.integers(2, 3), seeds)
def test_products_need_no_matrix_of_pairs(ensemble, k, seed):
    rows, target, weights, factors = problem(ensemble, k, seed)
    pairs = pairs_of_members(rows)
    mixture = np.tensordot(weights, pairs, 1)
    H = np.repeat(factors.H, rows.counts, axis=0)
    T = target.through_clusters(factors.H)
    got = np.repeat(target.times(T, weights), rows.counts, axis=0)
    np.testing.assert_allclose(got, mixture @ H, atol=1e-10)
    inner = T.T @ (target.per_cluster(weights) * T)
    np.testing.assert_allclose(inner, H.T @ mixture @ H, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        target.products, np.tensordot(pairs, pairs, ((1, 2), (1, 2))), rtol=1e-10, atol=1e-10
    )
    norm = weights @ target.products @ weights
    assert norm == pytest.approx((mixture**2).sum(), rel=1e-10)


@given(ensembles(min_objects=2), st.integers(2, 3), seeds)
def test_the_objective_is_the_distance_and_equal_rows_may_be_repeated(ensemble, k, seed):
    rows, target, weights, factors = problem(ensemble, k, seed)
    few = factorise(target, weights, factors, max_iter=4, tol=0.0)
    assert few.path[-1] == pytest.approx(distance_slowly(rows, weights, few), rel=1e-9, abs=1e-9)
    places = np.repeat(np.arange(rows.n_rows), rows.counts)
    full = Rows(
        np.ascontiguousarray(rows.members[:, places]),
        rows.starts,
        np.ones(len(places), np.int64),
        np.arange(len(places)),
    )
    start = factors._replace(H=factors.H[places])
    many = factorise(make_target(full), weights, start, max_iter=4, tol=0.0)
    np.testing.assert_allclose(many.H, few.H[places], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(many.S, few.S, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(many.path, few.path, rtol=1e-9, atol=1e-9)


@given(ensembles(min_objects=2), st.integers(2, 4), seeds)
def test_no_update_raises_the_distance(ensemble, k, seed):
    rows, target, weights, factors = problem(ensemble, k, seed)
    found = descend(target, weights, factors, max_iter=60, tol=0.0)
    norm = float(weights @ target.products @ weights)
    path = [distance_slowly(rows, weights, factors), *found.path]
    assert max(after - before for before, after in pairwise(path)) <= 1e-9 * norm
    assert found.path[-1] == pytest.approx(distance_slowly(rows, weights, found), abs=1e-9 * norm)


def test_a_settled_run_is_stationary(seed):
    """Every entry of H and S is zero, or the distance does not change with it."""
    rows = distinct_rows(planted(seed, n=40, n_members=8)[1])
    target, weights = make_target(rows), np.full(8, 1 / 8)
    factors = start_factors(target, weights, np.arange(rows.n_rows, dtype=np.int32) % 3, 3)
    found = descend(target, weights, factors, max_iter=5000, tol=1e-9)
    assert found.converged
    norm = float(weights @ target.products @ weights)
    HH = found.H.T @ (rows.counts[:, None] * found.H)
    T = target.through_clusters(found.H)
    slope = HH @ found.S @ HH - T.T @ (target.per_cluster(weights) * T)
    assert np.abs(slope * found.S).max() <= 1e-4 * norm
    pull = found.H @ (found.S @ HH @ found.S) - target.times(T, weights) @ found.S
    assert np.abs(pull * found.H * rows.counts[:, None]).max() <= 1e-4 * norm


@pytest.mark.parametrize("wrong", [0.2, 0.5, 1.0])
def test_runs_settle_or_say_so(wrong, seed):
    _, ensemble = planted(seed, wrong=wrong)
    found = nmfconsensus(ensemble, 3, random_state=seed)
    assert found.converged
    assert found.n_iter < 1000
    path = found.details["path"]
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    published = {"reading": "published", "max_iter": 300}
    for params in ({"max_iter": 2}, published if wrong == 0.2 else {"max_iter": 1}):
        with pytest.warns(ConsilienceWarning, match=r"not settled after max_iter=\d+ updates"):
            short = nmfconsensus(ensemble, 3, random_state=seed, **params)
        assert not short.converged
        assert short.objective >= found.objective


def test_the_start_is_the_labelling(seed):
    truth, ensemble = planted(seed, wrong=0.0)
    rows = distinct_rows(ensemble)
    labels = np.empty(rows.n_rows, np.int32)
    labels[rows.inverse] = truth
    weights = np.full(20, 0.05)
    target = make_target(rows)
    start = start_factors(target, weights, labels, 3)
    found = factorise(target, weights, start, max_iter=300, tol=1e-12)
    assert found.path[-1] < 1e-3 * (weights @ target.products @ weights)


# ---- the weights of WCC -----------------------------------------------------------------


@given(ensembles(min_objects=3, min_members=2), st.integers(2, 3), seeds)
def test_no_other_weights_are_closer(ensemble, k, seed):
    rows, target, weights, factors = problem(ensemble, k, seed)
    factors = factorise(target, weights, factors, max_iter=3, tol=0.0)
    found = simplex_weights(target, factors)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    best = distance_slowly(rows, found, factors)
    slack = 1e-6 * (1 + best)
    rng = np.random.default_rng(seed)
    rivals = [weights, *np.eye(len(weights)), *rng.dirichlet(np.ones(len(weights)), 20)]
    for rival in rivals:
        assert best <= distance_slowly(rows, rival, factors) + slack
        # Convexity: no small step towards a rival helps either.
        nearby = 0.99 * found + 0.01 * np.asarray(rival)
        assert best <= distance_slowly(rows, nearby, factors) + slack


def test_identical_members_share_their_weight():
    _, ensemble = planted(1, n_members=4)
    twice = Ensemble(np.concatenate([ensemble.labels, ensemble.labels[:, :2]], axis=1))
    rows = distinct_rows(twice)
    target = make_target(rows)
    start = start_factors(target, np.full(6, 1 / 6), np.arange(rows.n_rows, dtype=np.int32) % 3, 3)
    weights = simplex_weights(target, start)
    np.testing.assert_allclose(weights[:2], weights[4:], atol=1e-5)


def test_a_round_of_weighting_lowers_the_distance(seed):
    truth, ensemble = planted(seed)
    rows = distinct_rows(ensemble)
    target = make_target(rows)
    labels = np.empty(rows.n_rows, np.int32)
    labels[rows.inverse] = truth
    found, weights = alternate(
        target, labels, 3, max_iter=100, max_rounds=2, tol=1e-8, weight_tol=0.0
    )
    assert len(found.path) == 3
    for before, after in pairwise(found.path):
        assert after < before
    assert weights.sum() == pytest.approx(1.0)


def test_a_member_at_odds_with_the_others_gets_no_weight(seed):
    truth, ensemble = planted(seed, wrong=0.05)
    noise = np.random.default_rng(seed).integers(0, 3, len(truth))
    ensemble = Ensemble(np.column_stack([ensemble.labels, noise]))
    found = wcc(ensemble, 3, random_state=seed)
    weights = found.details["member_weights"]
    assert weights[-1] == weights.min()
    assert weights[-1] < 0.5 / len(weights)


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


@pytest.mark.parametrize("function", BOTH)
@given(ensemble=ensembles(min_objects=3), k=st.integers(2, 3), seed=seeds)
def test_memberships_are_shares_that_agree_with_the_labels(function, ensemble, k, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = function(ensemble, k, n_init=2, max_iter=50, random_state=seed)
    if found.memberships is None:  # as many groups of equal objects as clusters, or fewer
        return
    placed = (ensemble.members >= 0).any(axis=0)
    np.testing.assert_allclose(found.memberships.sum(axis=1), placed, atol=1e-10)
    own = found.memberships[np.flatnonzero(placed), found.labels[placed]]
    np.testing.assert_array_equal(own, found.memberships[placed].max(axis=1))


@pytest.mark.parametrize(
    ("estimator", "params", "message"),
    [
        (NMFConsensus, {"n_init": 0}, "'n_init' parameter of NMFConsensus"),
        (NMFConsensus, {"reading": "mine"}, "'reading' parameter of NMFConsensus"),
        (NMFConsensus, {"tol": "small"}, "'tol' parameter of NMFConsensus"),
        (WCC, {"max_rounds": 0}, "'max_rounds' parameter of WCC"),
        (WCC, {"weight_tol": -1.0}, "'weight_tol' parameter of WCC"),
    ],
)
def test_wrong_parameters_are_refused(estimator, params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    function = {"NMFConsensus": nmfconsensus, "WCC": wcc}[estimator.__name__]
    with pytest.raises(InvalidParameterError, match=message):
        function(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        estimator(2, **params).fit(ensemble=ensemble)


def test_the_estimators_keep_what_was_found(seed):
    _, ensemble = planted(seed)
    model = WCC(3, random_state=seed).fit(ensemble=ensemble)
    assert model.member_weights_.sum() == pytest.approx(1.0)
    assert model.memberships_.shape == (ensemble.n_objects, 3)
    model = NMFConsensus(3, random_state=seed).fit(ensemble=ensemble)
    assert model.n_iter_ == len(model.details_["path"])
