"""BaumEagon and DyadicAspect: losses that fall, likelihoods that rise, equal objects once."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import config
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles, label_tables

from consilience import Ensemble
from consilience.consensus._peace_pairs import Pairs, make_pairs
from consilience.consensus.baum_eagon import BaumEagon, baumeagon, fit_square, grow, slope_and_loss
from consilience.consensus.dyadic import (
    DyadicAspect,
    aspect_likelihood,
    aspect_start,
    aspect_step,
    dyadicaspect,
    fit_aspect,
)
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.kernels.peace.rows import make_store

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

few = settings(max_examples=25)
seeds = st.integers(0, 2**31)
BOTH = [baumeagon, dyadicaspect]


def planted(seed, *, wrong=0.2, unseen=0.0, noise=0.0, n=60, n_members=15, k=3):
    """Members that agree on k groups but for a share of random and of missing labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, k, off.sum())
    labels[rng.random(labels.shape) < noise] = -1
    labels[rng.random(labels.shape) < unseen] = -2
    return truth, Ensemble(labels)


def drawn(pairs, k, seed):
    rng = np.random.default_rng(seed)
    return 0.999 * rng.dirichlet(np.ones(k), pairs.n_groups) + 0.001 / k


@st.composite
def problems(draw):
    """Groups of objects that somebody placed, and a number of clusters."""
    labels = draw(label_tables(min_objects=3, max_objects=9, min_members=2))
    labels[(labels < 0).all(axis=1), 0] = 0
    return make_pairs(Ensemble(labels), 2**30), draw(st.integers(2, 3))


def expanded(pairs):
    """The same objects, every one of them on its own."""
    members = np.ascontiguousarray(pairs.store.members[:, pairs.inverse])
    n = members.shape[1]
    facts = (pairs.scale, pairs.joined, pairs.partners)
    store = make_store(members, dense=True)
    return Pairs(store, np.arange(n), np.ones(n), np.zeros(n), *(f[pairs.inverse] for f in facts))


# ---- BaumEagon --------------------------------------------------------------------------


@few
@given(problems(), seeds, st.sampled_from(["adaptive", "safe"]), st.booleans())
def test_no_sweep_raises_the_loss(problem, seed, rule, by_seen):
    pairs, k = problem
    start = drawn(pairs, k, seed)
    Y, sweeps, path = grow(pairs, start, rule=rule, by_seen=by_seen, max_sweeps=60)
    assert (np.diff(path) <= 1e-12 * (1 + np.array(path[:-1]))).all()
    assert len(path) == sweeps + 1
    np.testing.assert_allclose(Y.sum(axis=1), 1.0, atol=1e-12)


def test_growth_ends_where_no_step_lowers_the_loss(monkeypatch):
    pairs = make_pairs(planted(0)[1], 2**30)
    Y, higher = drawn(pairs, 3, 0), itertools.count()
    monkeypatch.setattr(
        "consilience.consensus.baum_eagon.slope_and_loss",
        lambda *args: (slope_and_loss(*args)[0], 1.0 + 1e-12 * next(higher)),
    )
    found, _, path = grow(pairs, Y, rule="adaptive", by_seen=False, max_sweeps=50)
    assert found is Y
    assert set(path) == {1.0}


@few
@given(problems(), seeds, st.booleans())
def test_equal_objects_may_be_counted_or_repeated(problem, seed, by_seen):
    pairs, k = problem
    full, Y = expanded(pairs), drawn(pairs, k, seed)
    slope, loss = slope_and_loss(pairs, Y, by_seen)
    slopes, full_loss = slope_and_loss(full, Y[pairs.inverse], by_seen)
    assert loss == pytest.approx(full_loss, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(slope[pairs.inverse], slopes, atol=1e-10)


@pytest.mark.parametrize("params", [{"wrong": 0.2}, {"wrong": 0.3, "unseen": 0.2, "noise": 0.05}])
def test_all_solvers_reach_the_same_loss_from_the_same_start(params, seed):
    _, ensemble = planted(seed, **params)
    pairs = make_pairs(ensemble, 2**30)
    start = drawn(pairs, 3, seed)
    found = [
        fit_square(
            pairs,
            start,
            solver=solver,
            rule=rule,
            by_seen=False,
            tol=1e-7,
            max_iter=10**6,
            max_sweeps=1000,
        )
        for solver, rule in (("growth", "adaptive"), ("growth", "safe"), ("pair", "adaptive"))
    ]
    assert all(fit.converged for fit in found)
    losses = [fit.objective for fit in found]
    np.testing.assert_allclose(losses, losses[0], rtol=1e-6)


def test_the_loss_is_that_of_the_paper(seed):
    _, ensemble = planted(seed, n=30, n_members=4)
    found = baumeagon(ensemble, 3, n_init=2, random_state=seed)
    labels = ensemble.labels
    S = (labels[:, None] == labels[None]).mean(axis=2)
    error = S - found.memberships @ found.memberships.T
    np.fill_diagonal(error, 0.0)
    assert found.objective == pytest.approx((error**2).sum())
    assert found.objective == min(found.details["objectives"]) == found.details["loss"]


@pytest.mark.parametrize("params", [{}, {"solver": "pair"}, {"step": "safe"}, {"weights": "seen"}])
def test_groups_are_found_by_least_squares(params, seed):
    truth, ensemble = planted(seed, unseen=0.2, noise=0.05)
    found = baumeagon(ensemble, 3, random_state=seed, n_init=3, **params)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert found.converged
    assert found.details["gap"] <= 1e-4
    assert (found.details["sweeps"] == 0) == (params.get("solver") == "pair")


def test_pairs_nobody_saw_have_no_weight():
    halves = [[0, 0, 1, 1, None, None, None, None]] * 3
    halves += [[None, None, None, None, 0, 0, 1, 1]] * 3
    found = baumeagon(Ensemble(halves), 2, random_state=0)
    assert found.objective == pytest.approx(0.0, abs=1e-6)


# ---- DyadicAspect -----------------------------------------------------------------------


@few
@given(problems(), seeds)
def test_no_step_lowers_the_likelihood_of_the_aspects(problem, seed):
    pairs, k = problem
    assume(pairs.joined.any())
    now = aspect_start(pairs, k, seed)
    before = aspect_likelihood(pairs, now)
    for _ in range(15):
        now = aspect_step(pairs, now)
        after = aspect_likelihood(pairs, now)
        assert after >= before - 1e-10 * (1 + abs(before))
        assert now.shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(pairs.weights @ now.objects, 1.0, rtol=1e-10)
        before = after


@few
@given(problems(), seeds)
def test_em_keeps_equal_objects_equal(problem, seed):
    pairs, k = problem
    assume(pairs.joined.any())
    full, now = expanded(pairs), aspect_start(pairs, k, seed)
    many = now._replace(objects=now.objects[pairs.inverse])
    assert aspect_likelihood(pairs, now) == pytest.approx(aspect_likelihood(full, many), abs=1e-9)
    for _ in range(3):
        now, many = aspect_step(pairs, now), aspect_step(full, many)
    np.testing.assert_allclose(now.objects[pairs.inverse], many.objects, atol=1e-10)
    np.testing.assert_allclose(now.shares, many.shares, atol=1e-10)


@pytest.mark.parametrize("missing", [{}, {"unseen": 0.3}, {"noise": 0.2}])
def test_groups_are_found_by_aspects(missing, seed):
    truth, ensemble = planted(seed, **missing)
    found = dyadicaspect(ensemble, 3, random_state=seed, n_init=3)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert found.converged
    assert found.objective == max(found.details["objectives"]) == found.details["log_likelihood"]


def test_small_clusters_do_the_aspects_no_harm(seed):
    rng = np.random.default_rng(seed)
    truth = np.arange(120) % 3
    splinters = Ensemble([truth * 4 + rng.integers(0, 4, 120) for _ in range(30)])
    found = dyadicaspect(splinters, 3, n_init=3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.95


def test_an_object_joined_with_nobody_is_spread_evenly_and_flagged():
    members = [[0, 0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1, -1], [0, 0, 0, 1, 1, 1, 2]]
    found = dyadicaspect(Ensemble(members), 2, random_state=0)
    np.testing.assert_allclose(found.memberships[6], 0.5)
    assert found.details["alone"].tolist() == [0] * 6 + [1]


def test_members_that_join_nobody_leave_one_cluster_with_a_warning():
    with pytest.warns(ConsilienceWarning, match="DyadicAspect has nothing to fit"):
        found = dyadicaspect(Ensemble([np.arange(5)]), 2)
    assert found.labels.tolist() == [0] * 5
    np.testing.assert_allclose(found.memberships, 0.5)
    assert not found.converged


# ---- both -------------------------------------------------------------------------------


@pytest.mark.parametrize("function", BOTH)
def test_threads_memory_and_order_change_nothing(function, seed):
    _, ensemble = planted(seed, wrong=0.4, unseen=0.1, noise=0.05, n=120)
    params = {"n_init": 3, "random_state": seed}
    first = function(ensemble, 4, **params)
    for more in ({"n_jobs": 2}, {"max_memory": 1}):
        again = function(ensemble, 4, **params, **more)
        np.testing.assert_array_equal(first.memberships, again.memberships)
    assert again.details["matrix_free"]
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    shuffled = function(ensemble.take(order), 4, **params)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert shuffled.objective == first.objective


@pytest.mark.parametrize("function", BOTH)
@few
@given(ensemble=ensembles(min_objects=3), k=st.integers(2, 3), seed=seeds)
def test_memberships_are_shares_that_agree_with_the_labels(function, ensemble, k, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = function(ensemble, k, n_init=2, random_state=seed)
    placed = (ensemble.members >= 0).any(axis=0)
    if found.memberships is None:  # no run was needed: the rows themselves are the clusters
        assert not placed.any() or len(np.unique(ensemble.labels[placed], axis=0)) <= k
        return
    np.testing.assert_allclose(found.memberships.sum(axis=1), placed, atol=1e-10)
    own = found.memberships[np.flatnonzero(placed), found.labels[placed]]
    np.testing.assert_array_equal(own, found.memberships[placed].max(axis=1))


@pytest.mark.parametrize(
    ("function", "estimator", "params", "message"),
    [
        (baumeagon, BaumEagon, {"step": "long"}, "'step' parameter of BaumEagon"),
        (baumeagon, BaumEagon, {"weights": "all"}, "'weights' parameter of BaumEagon"),
        (baumeagon, BaumEagon, {"solver": "em"}, "'solver' parameter of BaumEagon"),
        (baumeagon, BaumEagon, {"max_memory": 0}, "'max_memory' parameter of BaumEagon"),
        (dyadicaspect, DyadicAspect, {"n_init": 0}, "'n_init' parameter of DyadicAspect"),
        (dyadicaspect, DyadicAspect, {"max_iter": None}, "'max_iter' parameter of DyadicAspect"),
        (dyadicaspect, DyadicAspect, {"tol": -1}, "'tol' parameter of DyadicAspect"),
    ],
)
def test_wrong_parameters_are_refused(function, estimator, params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        function(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        estimator(2, **params).fit(ensemble=ensemble)


def test_the_estimators_keep_what_was_found(seed):
    truth, ensemble = planted(seed)
    for model in (BaumEagon(3, random_state=seed), DyadicAspect(3, random_state=seed)):
        model.fit(ensemble=ensemble)
        assert model.memberships_.shape == (60, 3)
        assert model.converged_
        assert model.spread_.selected == model.objective_
        assert model.start_labels_.shape == (10, 60)
        spread = model.spread_over_starts(lambda labels: adjusted_rand_score(truth, labels))
        assert spread.selected == pytest.approx(adjusted_rand_score(truth, model.labels_))
    assert model.log_likelihood_ == model.objective_


def test_growth_of_the_square_is_judged_by_what_ten_sweeps_lower(seed):
    pairs = make_pairs(planted(seed, wrong=0.5)[1], 2**30)
    _, n_sweeps, path = grow(
        pairs, drawn(pairs, 3, seed), rule="safe", by_seen=True, max_sweeps=999
    )
    small = [n for n in range(50, len(path)) if path[n - 10] - path[n] <= 0.01 * path[n]]
    assert n_sweeps == small[0] == len(path) - 1


def test_aspects_are_judged_by_the_gain_of_a_step(seed):
    """Likelihoods are looked at every ten steps; the tolerance is that of one."""
    pairs = make_pairs(planted(seed, wrong=0.5)[1], 2**30)
    found = fit_aspect(pairs, aspect_start(pairs, 3, seed), tol=1e-5, max_iter=2000)
    gains = np.diff(found.path) / np.abs(found.path[1:])
    assert found.converged
    assert found.sweeps == 10 * len(gains)
    assert gains[-1] <= 10 * 1e-5 < gains[:-1].min()


def test_growth_of_the_square_from_an_optimum_ends_with_the_fiftieth_sweep(seed):
    pairs = make_pairs(planted(seed, wrong=0.5)[1], 2**30)
    best = grow(pairs, drawn(pairs, 3, seed), rule="adaptive", by_seen=True, max_sweeps=300)[0]
    _, n_sweeps, path = grow(pairs, best, rule="safe", by_seen=True, max_sweeps=999)
    assert n_sweeps == len(path) - 1 == 50


@pytest.mark.parametrize("k", [1, 2, 6])
def test_a_step_of_em_is_its_definition_however_little_an_aspect_is_wanted(k):
    """With six aspects and four ordered pairs each is wanted by less than one of them."""
    members = [[0, 0, 1, 1], [0, 1, 2, 3]]
    pairs = expanded(make_pairs(Ensemble(members), 2**30))
    now = aspect_start(pairs, k, 0)
    B, shares = now.objects, now.shares
    T = np.zeros_like(B)
    for i, j in [(0, 1), (1, 0), (2, 3), (3, 2)]:
        T[i] += shares * B[i] * B[j] / (shares * B[i] * B[j]).sum()
    got = aspect_step(pairs, now)
    np.testing.assert_allclose(got.shares, T.sum(axis=0) / 4)
    np.testing.assert_allclose(got.objects, T / T.sum(axis=0), atol=1e-12)
