"""PEACE: what its solvers promise, equal objects counted once, and what it says of itself."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from sklearn.metrics import adjusted_rand_score
from strategies import label_tables

from consilience import Ensemble
from consilience.consensus import eac
from consilience.consensus._peace_fits import (
    PUBLISHED,
    fit_peace,
    fitted_rates,
    gradient,
    grow,
    log_likelihood,
    sweep,
)
from consilience.consensus._peace_pairs import Pairs, make_pairs
from consilience.consensus._peace_starts import make_starts
from consilience.consensus.peace import PEACE, peace
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.kernels.peace.rows import make_store
from consilience.metrics import consistency_index

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

few = settings(max_examples=25)
seeds = st.integers(0, 2**31)
RATES = np.array(PUBLISHED)


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


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return function(*args, **kwargs)


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


# ---- the objective ------------------------------------------------------------------------


@few
@given(problems(), seeds, st.booleans())
def test_growth_never_lowers_the_log_likelihood(problem, seed, two_rates):
    pairs, k = problem
    Y, rates = drawn(pairs, k, seed), np.array([0.1, 0.8]) if two_rates else RATES
    before = log_likelihood(pairs, Y, rates)
    for _ in range(15):
        grown = sweep(pairs, Y, rates)
        if two_rates:
            rates = fitted_rates(pairs, Y, rates)
        Y = grown
        after = log_likelihood(pairs, Y, rates)
        assert after >= before - 1e-10 * (1 + abs(before))
        np.testing.assert_allclose(Y.sum(axis=1), 1.0, atol=1e-12)
        before = after


@pytest.mark.parametrize("seed", range(6))
def test_growth_is_judged_by_what_ten_sweeps_gain(seed):
    """The first multiple of ten from fifty on at which ten sweeps gained at most 1 %."""
    pairs = make_pairs(planted(seed, wrong=0.5, n=40)[1], 2**30)
    Y = drawn(pairs, 3, seed)
    _, _, n_sweeps, path = grow(pairs, Y, RATES, fit_rates=False, max_sweeps=1000)
    told = [log_likelihood(pairs, Y, RATES)]
    ends = None
    for number in range(1, 1001):
        Y = sweep(pairs, Y, RATES)
        if number % 10 == 0:
            told.append(log_likelihood(pairs, Y, RATES))
            if number >= 50 and told[-1] - told[-2] <= 0.01 * abs(told[-1]):
                ends = number
                break
    assert n_sweeps == ends
    np.testing.assert_allclose(path, told, rtol=1e-12)


@few
@given(problems(), seeds, st.sampled_from(["growth", "pair"]), st.booleans())
def test_a_run_rises_and_ends_where_it_says(problem, seed, solver, two_rates):
    pairs, k = problem
    rates = np.array([0.1, 0.8]) if two_rates else None
    fit = fit_peace(
        pairs,
        drawn(pairs, k, seed),
        solver=solver,
        rates=rates,
        tol=1e-4,
        max_iter=2000,
        max_sweeps=200,
    )
    path = np.array(fit.path)
    assert (np.diff(path) >= -1e-10 * (1 + np.abs(path[:-1]))).all()
    G = gradient(pairs, fit.memberships, np.array(fit.rates))
    low = np.where(fit.memberships > 0, G, np.inf).min(axis=1)
    gaps = (G.max(axis=1) - low)[pairs.scale > 0] / pairs.scale[pairs.scale > 0]
    if not two_rates:  # where rates are fitted they moved a last time
        assert fit.gap == pytest.approx(gaps.max(initial=0.0), abs=1e-9)
    assert fit.converged == (fit.gap <= 1e-4)


@few
@given(problems(), seeds)
def test_equal_objects_may_be_counted_or_repeated(problem, seed):
    pairs, k = problem
    full, Y = expanded(pairs), drawn(pairs, k, seed)
    for rates in (RATES, np.array([0.1, 0.8])):
        few, many = log_likelihood(pairs, Y, rates), log_likelihood(full, Y[pairs.inverse], rates)
        assert few == pytest.approx(many, rel=1e-10, abs=1e-10)
    grown = sweep(full, Y[pairs.inverse], RATES)
    np.testing.assert_allclose(sweep(pairs, Y, RATES)[pairs.inverse], grown, atol=1e-10)


def test_collapsed_and_expanded_optima_are_equal(seed):
    _, ensemble = planted(seed, n=36, n_members=4)
    pairs = make_pairs(ensemble, 2**30)
    assert pairs.n_groups < 30
    best = []
    for each in (pairs, expanded(pairs)):
        fits = [
            fit_peace(
                each,
                drawn(each, 3, start),
                solver="pair",
                rates=None,
                tol=1e-7,
                max_iter=20000,
                max_sweeps=1,
            )
            for start in range(8)
        ]
        best.append(max(fit.objective for fit in fits))
    assert best[0] == pytest.approx(best[1], rel=1e-6)


@pytest.mark.parametrize(
    "recipe",
    [
        {"wrong": 0.2, "n": 60},
        {"wrong": 0.3, "unseen": 0.2, "n": 45, "k": 2},
        {"wrong": 0.25, "noise": 0.1, "unseen": 0.1, "n": 80, "k": 4},
    ],
)
def test_both_solvers_reach_the_same_optimum_from_the_same_start(recipe, seed):
    k = recipe.get("k", 3)
    _, ensemble = planted(seed, **recipe)
    pairs = make_pairs(ensemble, 2**30)
    start = drawn(pairs, k, seed)
    found = [
        fit_peace(
            pairs,
            start,
            solver=solver,
            rates=None,
            tol=1e-6,
            max_iter=1000 * pairs.n_groups,
            max_sweeps=1000,
        )
        for solver in ("growth", "pair")
    ]
    assert all(fit.converged for fit in found)
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-6)


def test_a_perfect_model_is_found():
    # Three pure groups and one object that is half in the first, half in the second.
    groups = np.repeat([0, 1, 2], 4)
    members = [np.append(groups, half) for half in (0, 1) * 10]
    found = peace(Ensemble(members), 3, random_state=0)
    np.testing.assert_allclose(found.memberships[12], [0.5, 0.5, 0.0], atol=1e-3)
    np.testing.assert_allclose(found.memberships[:12], np.eye(3)[groups], atol=1e-8)
    assert found.details["gap"] <= 1e-4


# ---- the function ------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"solver": "pair"}, {"two_rates": True}])
@pytest.mark.parametrize("missing", [{}, {"unseen": 0.3}, {"noise": 0.1}])
def test_groups_are_found_through_wrong_and_missing_labels(params, missing, seed):
    truth, ensemble = planted(seed, **missing)
    found = peace(ensemble, 3, random_state=seed, n_init=4, **params)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert found.converged
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0, atol=1e-10)
    own = found.memberships[np.arange(60), found.labels]
    np.testing.assert_array_equal(own, found.memberships.max(axis=1))


@pytest.mark.parametrize("solver", ["growth", "pair"])
def test_threads_memory_and_order_change_nothing(solver, seed):
    _, ensemble = planted(seed, wrong=0.4, unseen=0.1, noise=0.05, n=150)
    first = quiet(peace, ensemble, 4, solver=solver, n_init=3, random_state=seed)
    for params in ({"n_jobs": 2}, {"n_jobs": 7}, {"max_memory": 1, "n_jobs": 2}):
        again = quiet(peace, ensemble, 4, solver=solver, n_init=3, random_state=seed, **params)
        np.testing.assert_array_equal(first.labels, again.labels)
        np.testing.assert_array_equal(first.memberships, again.memberships)
        assert again.details["matrix_free"] == ("max_memory" in params)
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    shuffled = quiet(peace, ensemble.take(order), 4, solver=solver, n_init=3, random_state=seed)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert shuffled.objective == first.objective


@pytest.mark.parametrize("threads", [1, 4, 16])
@pytest.mark.parametrize("block", [1, 50, 1000])
def test_any_threads_and_blocks_of_rows_give_the_same_bits(threads, block):
    _, ensemble = planted(0, unseen=0.1, n=130)
    whole = make_pairs(ensemble, 2**30)
    Y = drawn(whole, 3, 0)
    wanted = gradient(whole, Y, RATES)
    for budget in (2**30, 1):
        made = make_pairs(ensemble, budget)
        pairs = Pairs(**{**vars(made), "n_jobs": threads, "block": block})
        np.testing.assert_array_equal(gradient(pairs, Y, RATES), wanted)
        assert log_likelihood(pairs, Y, RATES) == log_likelihood(whole, Y, RATES)


def test_the_most_likely_run_is_chosen_and_all_runs_are_told(seed):
    truth, ensemble = planted(seed, wrong=0.5, n=90)
    found = quiet(peace, ensemble, 4, n_init=6, random_state=seed)
    told = found.details
    assert found.objective == told["log_likelihood"] == max(told["objectives"])
    assert told["objectives"][told["best_start"]] == found.objective
    assert told["start_labels"].shape == (6, 90)
    assert adjusted_rand_score(told["start_labels"][told["best_start"]], found.labels) == 1.0
    spread = told["spread"]
    assert spread.selected == spread.max == found.objective
    assert spread.mean == pytest.approx(np.mean(told["objectives"]))
    assert spread.std == pytest.approx(np.std(told["objectives"]))
    assert spread.min == min(told["objectives"])
    model = PEACE(4, n_init=6, random_state=seed)
    quiet(model.fit, ensemble=ensemble)
    assert model.spread_ == spread
    assert model.gap_ == told["gap"]
    assert model.log_likelihood_ == found.objective
    index = model.spread_over_starts(lambda labels: consistency_index(truth, labels))
    assert index.selected == pytest.approx(consistency_index(truth, model.labels_))
    assert index.min <= index.mean <= index.max


def test_starts(seed):
    _, ensemble = planted(seed)
    pairs = make_pairs(ensemble, 2**30)
    groups = np.empty(pairs.n_groups, int)
    groups[pairs.inverse] = eac(ensemble, 3).labels
    for init, n_starts in (("mixed", 4), ("dirichlet", 4), ("labels", 1), ("barycentre", 4)):
        starts = make_starts(pairs, 3, init, 4, seed)
        assert len(starts) == n_starts
        for Y in starts:
            assert Y.min() > 0
            np.testing.assert_allclose(Y.sum(axis=1), 1.0)
        if init in ("mixed", "labels"):
            assert adjusted_rand_score(groups, starts[0].argmax(axis=1)) == 1.0
            np.testing.assert_allclose(starts[0].max(axis=1), 0.8 + 0.2 / 3)
        if init == "barycentre":
            assert np.abs(starts[0] - 1 / 3).max() < 1e-3
        if init != "labels":
            assert not np.allclose(starts[1], starts[2])
        found = peace(ensemble, 3, init=init, n_init=4, random_state=seed)
        assert len(found.details["objectives"]) == n_starts


def test_starts_are_fixed_by_the_seed(seed):
    _, ensemble = planted(seed, wrong=0.5)
    runs = [
        quiet(peace, ensemble, 4, init="dirichlet", n_init=2, random_state=s).details["objectives"]
        for s in (seed, seed, seed + 1)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


# ---- rates, and ensembles that do not suit the model ----------------------------------------


def splintered(seed, *, n=120, k=3, parts=4, n_members=30):
    """Members that cut each of k groups into random parts: no pair is joined by most."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = [truth * parts + rng.integers(0, parts, n) for _ in range(n_members)]
    return truth, Ensemble(labels)


def test_small_clusters_are_warned_of_and_fitted_by_two_rates(seed):
    truth, ensemble = splintered(seed)
    with pytest.warns(ConsilienceWarning, match="together in .*% of the members.*two_rates=True"):
        plain = peace(ensemble, 3, n_init=3, random_state=seed)
    assert plain.details["inside_share"] < 0.5
    found = peace(ensemble, 3, n_init=3, two_rates=True, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.95
    outer, inner = found.details["rates"]
    # A pair of a group is joined by one member in four, a pair across groups by none.
    assert outer == pytest.approx(0.0, abs=0.01)
    assert inner == pytest.approx(0.25, abs=0.05)
    assert found.objective > plain.objective
    assert plain.details["rates"] == PUBLISHED


def test_members_that_join_nobody_are_warned_of():
    singles = Ensemble([np.arange(9), np.arange(9)[::-1]])
    with pytest.warns(ConsilienceWarning, match="No member put any two objects together"):
        found = peace(singles, 3, random_state=0)
    # A proper partition, of no meaning.
    assert found.n_clusters == 3


def test_pairs_nobody_saw_say_nothing():
    # Two halves, each seen by its own members, and one object only ever seen alone.
    halves = [[0, 0, 1, 1, None, None, None, None, None]] * 3
    halves += [[None, None, None, None, 0, 0, 1, 1, None]] * 3
    alone = [[None] * 8 + [0]] * 2
    found = peace(Ensemble(halves + alone), 2, random_state=0)
    np.testing.assert_allclose(found.memberships[8], 0.5)
    assert found.labels[0] == found.labels[1] != found.labels[2]
    assert found.labels[4] == found.labels[5] != found.labels[6]
    assert found.objective == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("two_rates", [False, True])
def test_members_that_saw_one_object_each_say_nothing(two_rates):
    members = np.where(np.eye(4, dtype=bool), 0, -2).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.warns(ConsilienceWarning, match="No member put any two objects together"):
            found = peace(Ensemble(members), 2, two_rates=two_rates, random_state=0)
    assert np.isfinite(found.details["rates"]).all()
    assert len(found.labels) == 4


def test_objects_nobody_placed_are_told_apart_in_every_run():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1, -1, None], [0, 0, 1, 1, 1, 1, -1, None]] * 2)
    found = quiet(peace, ensemble, 2, n_init=3, random_state=0)
    assert found.labels[6] == -1
    assert found.details["start_labels"].shape == (3, 8)
    assert (found.details["start_labels"][:, 6:] == -1).all()
    assert (found.details["start_labels"][:, :6] >= 0).all()
    assert found.memberships[6:].sum() == 0


def test_noise_parts_objects_with_equal_labels():
    # Equal rows with noise: the model sees two objects that one member did not join.
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, -1, -1, 1, 1, 1]])
    pairs = make_pairs(ensemble, 2**30)
    assert sorted(pairs.weights) == [1, 1, 1, 3]
    found = peace(ensemble, 2, random_state=0)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_few_iterations_are_reported_as_not_converged(seed):
    _, ensemble = planted(seed, wrong=0.5, n=90)
    found = quiet(peace, ensemble, 4, solver="pair", max_iter=3, n_init=2, random_state=seed)
    assert not found.converged
    assert found.details["gap"] > 1e-4
    assert found.n_iter == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "newton"}, "'solver' parameter of PEACE must be one of 'growth', 'pair'"),
        ({"init": "random"}, "'init' parameter of PEACE"),
        ({"n_init": 0}, "'n_init' parameter of PEACE"),
        ({"tol": -1.0}, "'tol' parameter of PEACE"),
        ({"max_iter": 0}, "'max_iter' parameter of PEACE"),
        ({"max_sweeps": 1.5}, "'max_sweeps' parameter of PEACE"),
        ({"two_rates": "yes"}, "'two_rates' parameter of PEACE must be True or False"),
        ({"max_memory": "much"}, "'max_memory' parameter of PEACE"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        peace(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        PEACE(2, **params).fit(ensemble=ensemble)


def test_where_no_run_is_needed_the_labels_are_all_there_is():
    model = PEACE(1).fit(ensemble=Ensemble([[0, 0, 1], [0, 1, 1]]))
    assert model.labels_.tolist() == [0, 0, 0]
    assert model.memberships_ is None
    assert model.spread_over_starts(lambda labels: float(len(labels))).mean == 3.0


def test_a_start_from_labels_of_too_many_objects_is_refused():
    """Their pairs would be added up wrongly; drawn starts need no sums."""
    store = SimpleNamespace(members=np.array([[0, 0, 1], [0, 1, 1]], np.int8))
    pairs = SimpleNamespace(weights=np.full(3, 1e9), store=store, n_groups=3, scale=np.ones(3))
    with pytest.raises(InvalidInputError, match=r"pairs of 3000000000 objects.*init='dirichlet'"):
        make_starts(pairs, 2, "labels", 1, 0)
    assert len(make_starts(pairs, 2, "dirichlet", 3, 0)) == 3
