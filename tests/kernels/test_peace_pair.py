"""Pair steps: slopes against finite differences, steps against a fine grid, objectives rising."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import config
from strategies import label_tables

from consilience import Ensemble
from consilience.consensus._peace_fits import gradient, log_likelihood
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus.baum_eagon import slope_and_loss
from consilience.kernels.peace.growth import others
from consilience.kernels.peace.pair_steps import (
    _rise,
    best_step,
    line_gain,
    line_slope,
    pair_steps,
    worst_object,
)
from consilience.kernels.peace.square import quartic_change, square_step, square_steps

SMALL = bool(config.DISABLE_JIT)
few = settings(max_examples=10 if SMALL else 30)
seeds = st.integers(0, 2**31)
RATES = st.sampled_from([(0.0, 1.0), (0.15, 0.7)]).map(np.array)


@st.composite
def problems(draw, weighted=None):
    """Groups of objects that somebody placed, and an assignment inside the simplex."""
    labels = draw(label_tables(min_objects=3, max_objects=8, min_members=2))
    labels[(labels < 0).all(axis=1), 0] = 0
    pairs = make_pairs(Ensemble(labels), 2**30)
    assume(pairs.n_groups >= 2)
    k = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(seeds))
    return pairs, 0.7 * rng.dirichlet(np.ones(k), pairs.n_groups) + 0.3 / k


def derivative(function, h):
    """Five-point derivative at 0."""
    return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)


def tangents(k, n):
    """All moves of mass between the first cluster and another, object by object."""
    for i in range(n):
        for c in range(1, k):
            D = np.zeros((n, k))
            D[i, 0], D[i, c] = 1.0, -1.0
            yield i, c, D


def planted(seed, *, n=40, n_members=12, k=3, wrong=0.25, special=True):
    """Members that agree on k groups, with wrong, noisy and missing labels."""
    rng = np.random.default_rng(seed)
    labels = np.repeat((np.arange(n) % k)[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(-2 if special else 0, k, off.sum())
    return Ensemble(labels)


# ---- gradients against finite differences --------------------------------------------------


@few
@given(problems(), RATES)
def test_the_gradient_is_the_slope_of_the_log_likelihood(problem, rates):
    pairs, Y = problem
    G = gradient(pairs, Y, rates)
    for i, c, D in tangents(Y.shape[1], pairs.n_groups):
        got = pairs.weights[i] * (G[i, 0] - G[i, c])
        wanted = derivative(lambda e, D=D: log_likelihood(pairs, Y + e * D, rates), 1e-3)
        assert got == pytest.approx(wanted, rel=1e-7, abs=1e-7 * (1 + np.abs(G).max()))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rates", [(0.0, 1.0), (0.15, 0.7)])
def test_relative_error_of_the_gradient(weighted, rates, seed):
    ensemble = planted(seed, n=9)
    if weighted:
        ensemble = ensemble.take(np.repeat(np.arange(9), 3))
    pairs = make_pairs(ensemble, 2**30)
    assert (pairs.weights > 1).any() == weighted
    rng = np.random.default_rng(seed)
    Y = 0.7 * rng.dirichlet(np.ones(3), pairs.n_groups) + 0.1
    G = gradient(pairs, Y, np.array(rates))
    got, wanted = [], []
    for i, c, D in tangents(3, pairs.n_groups):
        got.append(pairs.weights[i] * (G[i, 0] - G[i, c]))
        wanted.append(
            derivative(lambda e, D=D: log_likelihood(pairs, Y + e * D, np.array(rates)), 1e-3)
        )
    error = np.linalg.norm(np.subtract(got, wanted)) / np.linalg.norm(wanted)
    assert error < 1e-7


@few
@given(problems(), st.booleans())
def test_the_slope_of_the_loss(problem, by_seen):
    pairs, Y = problem
    G, _ = slope_and_loss(pairs, Y, by_seen)
    for i, c, D in tangents(Y.shape[1], pairs.n_groups):
        got = -4 * pairs.weights[i] * (G[i, 0] - G[i, c])
        wanted = derivative(lambda e, D=D: slope_and_loss(pairs, Y + e * D, by_seen)[1], 1e-2)
        assert got == pytest.approx(wanted, rel=1e-7, abs=1e-8)


# ---- one line -----------------------------------------------------------------------------


@st.composite
def lines(draw, inside=None):
    """A line of a pair step: p, q, d, counts; and the pairs inside the group."""
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, 9))
    mass = draw(st.floats(0.05, 0.6))
    p = rng.uniform(0.1, 0.9, m)
    room = 0.95 * np.minimum(p, 1 - p) / mass
    d = rng.uniform(-1, 1, m) * np.minimum(room, 1.0)
    counts = rng.integers(0, 9, (2, m)).astype(float)
    line = np.concatenate([[p, 1 - p, d], counts, np.empty((2, m))])
    grouped = draw(st.booleans()) if inside is None else inside
    # Masses of the two clusters and of a third one, as an object has them.
    up = draw(st.floats(0.0, 1.0)) * (1 - mass)
    square = up**2 + mass**2 + (1 - up - mass) ** 2
    own = np.array([draw(st.integers(1, 30)) if grouped else 0, up - mass, square, 0.1, 0.9])
    return mass, line, m, own.astype(float)


@few
@given(lines(), st.floats(0.1, 0.9))
def test_the_slope_along_a_line_and_its_slope(problem, share):
    mass, line, m, own = problem
    at = share * mass
    slope, bend = line_slope(at, line, m, own)
    h = 1e-3 * min(at, mass - at)
    wanted = derivative(lambda e: line_gain(at + e, line, m, own), h)
    assert slope == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    wanted = derivative(lambda e: line_slope(at + e, line, m, own)[0], h)
    assert bend == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@few
@given(lines(inside=False))
def test_a_step_goes_to_the_top_of_a_concave_line(problem):
    mass, line, m, own = problem
    step = best_step(mass, line, m, own)
    grid = np.linspace(0.0, mass, 401)
    gains = [line_gain(e, line, m, own) for e in grid]
    if step == 0.0:
        assert line_slope(0.0, line, m, own)[0] <= 0.0
        return
    assert 0.0 < step <= mass
    start = line_slope(0.0, line, m, own)[0]
    assert line_gain(step, line, m, own) >= max(gains) - 1e-3 * start * mass
    # Either all mass moves, or the end lies on the rising side, hardly rising any more.
    left = line_slope(step, line, m, own)[0]
    assert left >= 0.0
    assert step == mass or left <= 1e-3 * start or left <= 1e-9


@few
@given(lines(inside=True))
def test_a_step_of_a_group_always_pays(problem):
    mass, line, m, own = problem
    step = best_step(mass, line, m, own)
    assert 0.0 <= step <= mass
    if step > 0.0:
        assert line_gain(step, line, m, own) > 0.0
    else:
        assert line_slope(0.0, line, m, own)[0] <= 0.0


def test_mass_next_to_nothing_can_still_be_moved():
    line = np.array([[0.5], [0.5], [0.4], [3.0], [1.0], [0.0], [0.0]])
    own = np.array([6.0, 0.9, 0.85, 0.0, 1.0])
    for mass in (1e-5, 1e-19, 1e-90):
        assert best_step(mass, line, 1, own) == mass
        assert square_step(mass, 0.3, 2.0, 6.0, 0.9, 0.85) == mass


def test_a_step_stops_before_an_observed_event_becomes_impossible():
    # The object leaves the one it was joined to once; everybody else pulls.
    line = np.array([[0.3, 0.1], [0.7, 0.9], [-1.0, 1.0], [1.0, 50.0], [0.0, 0.0]])
    line = np.concatenate([line, np.empty((2, 2))])
    step = best_step(0.9, line, 2, np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    assert 0.25 < step < 0.3
    assert np.isfinite(line_gain(step, line, 2, np.array([0.0, 0.0, 0.0, 0.0, 1.0])))


@few
@given(lines(), st.floats(-20, 20), st.floats(0.01, 50))
def test_a_square_step_goes_to_the_bottom(problem, slope, bend):
    mass, _, _, (inside, lean, square, _, _) = problem
    step = square_step(mass, slope, bend, inside, lean, square)
    change = [quartic_change(e, slope, bend, inside, lean, square) for e in
              np.linspace(0.0, mass, 401)]  # fmt: skip
    got = quartic_change(step, slope, bend, inside, lean, square)
    assert got <= 0.0
    if inside == 0.0:
        assert got <= min(change) + 1e-12
    falling = slope + inside * (1 - square) * lean
    assert (got < 0.0) == (step > 0.0) or abs(falling) < 1e-12


@given(st.floats(0.01, 1), st.floats(-20, 20), st.floats(0.01, 50))
def test_a_square_step_without_pairs_inside_is_that_of_a_parabola(mass, slope, bend):
    wanted = min(max(slope / bend, 0.0), mass) if slope < mass * bend else mass
    assert square_step(mass, slope, bend, 0.0, 0.3, 0.5) == wanted


# ---- many steps ---------------------------------------------------------------------------


def turned(*arrays):
    return [np.array(a.T, order="C") for a in arrays]


def differences(G):
    return G - G.mean(axis=0)


@few
@given(problems(), RATES)
def test_every_pair_step_raises_the_log_likelihood(problem, rates):
    pairs, Y = problem
    Z = np.empty_like(Y)
    others(Y, Z)
    y, z, g = turned(Y, Z, gradient(pairs, Y, rates))
    before = log_likelihood(pairs, Y, rates)
    for _ in range(12):
        taken, _ = pair_steps(
            pairs.store, pairs.weights, pairs.own, pairs.scale, rates, 1e-6, 1, y, z, g
        )
        now = np.array(y.T, order="C")
        after = log_likelihood(pairs, now, rates)
        assert after >= before - 1e-12 * (1 + abs(before))
        np.testing.assert_allclose(now.sum(axis=1), 1.0, atol=1e-14)
        assert now.min() >= 0.0
        before = after
        if not taken:
            break
    fresh = gradient(pairs, now, rates).T
    np.testing.assert_allclose(
        differences(g), differences(fresh), rtol=1e-7, atol=1e-9 * (1 + np.abs(fresh).max())
    )
    np.testing.assert_allclose(z, 1 - y, atol=1e-14)


@few
@given(problems(), RATES)
def test_no_pair_step_is_taken_where_every_gap_is_small_enough(problem, rates):
    pairs, Y = problem
    Z = np.empty_like(Y)
    others(Y, Z)
    y, z, g = turned(Y, Z, gradient(pairs, Y, rates))
    _, gap = pair_steps(pairs.store, pairs.weights, pairs.own, pairs.scale, rates, 0.0, 0, y, z, g)
    taken, left = pair_steps(
        pairs.store, pairs.weights, pairs.own, pairs.scale, rates, gap, 9, y, z, g
    )
    assert (taken, left) == (0, gap)
    np.testing.assert_array_equal(y.T, Y)


@few
@given(problems(), st.booleans())
def test_every_pair_step_lowers_the_loss(problem, by_seen):
    pairs, Y = problem
    scale = pairs.scale if by_seen else pairs.partners
    inside = pairs.own if by_seen else pairs.weights - 1
    G, before = slope_and_loss(pairs, Y, by_seen)
    y, g = turned(Y, G)
    for _ in range(12):
        taken, _ = square_steps(pairs.store, pairs.weights, inside, scale, by_seen, 1e-8, 1, y, g)
        now = np.array(y.T, order="C")
        fresh, after = slope_and_loss(pairs, now, by_seen)
        assert after <= before + 1e-12 * (1 + before)
        np.testing.assert_allclose(g, fresh.T, atol=1e-10 * (1 + np.abs(fresh).max()))
        before = after
        if not taken:
            break


def test_rows_from_labels_give_the_same_steps(seed):
    ensemble = planted(seed, n=15 if SMALL else 40)
    rates = np.array([0.0, 1.0])
    results = []
    for budget in (2**30, 1):
        pairs = make_pairs(ensemble, budget)
        assert pairs.matrix_free == (budget == 1)
        Y = 0.9 * np.random.default_rng(seed).dirichlet(np.ones(3), pairs.n_groups) + 0.1 / 3
        Z = np.empty_like(Y)
        others(Y, Z)
        y, z, g = turned(Y, Z, gradient(pairs, Y, rates))
        pair_steps(pairs.store, pairs.weights, pairs.own, pairs.scale, rates, 1e-4, 500, y, z, g)
        G, _ = slope_and_loss(pairs, Y, False)
        s, h = turned(Y, G)
        inside = pairs.weights - 1
        square_steps(pairs.store, pairs.weights, inside, pairs.partners, False, 1e-5, 500, s, h)
        results.append((y, s))
    np.testing.assert_array_equal(results[0], results[1])


def test_the_worst_object_is_the_first_of_the_largest_gaps_that_can_move():
    gaps = np.array([0.1, 0.5, 0.9, 0.5])
    stuck = np.zeros(4, bool)
    assert worst_object(gaps, stuck) == 2
    stuck[2] = True
    assert worst_object(gaps, stuck) == 1
    stuck[:] = True
    assert worst_object(gaps, stuck) == -1


@pytest.mark.parametrize("inside", [0.5, 1.0, 3.0])
def test_pairs_inside_a_group_count_however_few_there_are(inside):
    """Without any other object the gain is that of the two objects' chance to be joined."""
    up, mass, low, high = 0.2, 0.5, 0.1, 0.9
    square = up**2 + mass**2 + (1 - up - mass) ** 2
    own, line = np.array([inside, up - mass, square, low, high]), np.empty((7, 1))
    for step in (0.1, 0.4):
        after = (up + step) ** 2 + (mass - step) ** 2 + (1 - up - mass) ** 2
        wanted = np.log((low + (high - low) * after) / (low + (high - low) * square))
        assert line_gain(step, line, 0, own) == pytest.approx(inside / 2 * wanted)
        slope = derivative(lambda e, at=step: line_gain(at + e, line, 0, own), 1e-3)
        bend = derivative(lambda e, at=step: line_slope(at + e, line, 0, own)[0], 1e-3)
        assert line_slope(step, line, 0, own) == pytest.approx((slope, bend), rel=1e-6)


def test_no_mass_is_moved_along_a_line_that_is_flat():
    assert _rise(0.5, np.zeros((7, 1)), 0, np.zeros(5)) == 0.0
