"""The steps of BaumEagon on few objects: slopes, damping, when it ends, and what a run is told."""

import sys

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import baumeagon
from consilience.consensus._peace_fits import NO_MASS, Fit
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus.baum_eagon import (
    _adaptive,
    _scale,
    _step,
    fit_square,
    grow,
    polish,
    slope_and_loss,
)

# The package may have a function of the same name.
MODULE = sys.modules[fit_square.__module__]
# Two objects alike, two that not all members saw.
LABELS = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, -2], [-2, 1, 1], [1, 0, 1]])
ENSEMBLE = Ensemble(LABELS)


def pairs_of(ensemble=ENSEMBLE):
    return make_pairs(ensemble, 2**30)


def drawn(pairs, k=2, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), pairs.n_groups)


def shares_and_weights(by_seen):
    """Of all ordered pairs of different objects."""
    seen = ((LABELS[:, None] >= 0) & (LABELS[None] >= 0)).sum(axis=2)
    S = ((LABELS[:, None] == LABELS[None]) & (LABELS[:, None] >= 0)).sum(axis=2) / seen
    W = seen.astype(float) if by_seen else (seen > 0).astype(float)
    np.fill_diagonal(W, 0.0)
    return S, W


@pytest.mark.parametrize("by_seen", [False, True])
def test_slope_loss_and_scale_are_those_of_all_pairs(by_seen):
    pairs = pairs_of()
    assert pairs.n_groups == 6
    Y = drawn(pairs)
    G, loss = slope_and_loss(pairs, Y, by_seen)
    S, W = shares_and_weights(by_seen)
    full = Y[pairs.inverse]
    error = W * (S - full @ full.T)
    assert loss == pytest.approx((W * (S - full @ full.T) ** 2).sum())
    np.testing.assert_allclose(G[pairs.inverse], error @ full, atol=1e-12)
    assert G.flags.c_contiguous
    np.testing.assert_allclose(_scale(pairs, by_seen)[pairs.inverse], W.sum(axis=1))


# ---- steps ----------------------------------------------------------------------------------


def test_columns_grow_in_proportion():
    Y = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    G = np.array([[1.0, 3.0], [0.0, 4.0], [5.0, 9.0], [-2.0, -2.0]])
    found = _step(Y, G, np.array([0.0, 4.0, 1.0, 2.0]))
    wanted = [[0.25, 0.75], [1 / 7, 6 / 7], [1.0, 0.0], [0.5, 0.5]]
    np.testing.assert_allclose(found, wanted, atol=1e-15)


def test_what_is_left_of_nearly_nothing_is_nothing():
    Y = np.array([[1.0, NO_MASS], [1.0, NO_MASS / 2]])
    assert _step(Y, np.zeros((2, 2)), np.ones(2)).tolist() == [[1.0, NO_MASS], [1.0, 0.0]]


@pytest.fixture
def losses(monkeypatch):
    """Losses one after the other, the last for ever; slopes are those of nothing."""
    left = []

    def told(pairs, Y, by_seen):
        return np.zeros_like(Y), left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(MODULE, "slope_and_loss", told)
    return left


@pytest.fixture
def dampings(monkeypatch):
    """What every step is damped by."""
    seen = []

    def step(Y, G, damping):
        seen.append(damping.tolist())
        return Y + len(seen)

    monkeypatch.setattr(MODULE, "_step", step)
    return seen


@pytest.mark.parametrize("by_seen", [False, True])
def test_damping_begins_with_a_tenth_is_doubled_and_eased(losses, dampings, by_seen):
    pairs = pairs_of()
    safe = shares_and_weights(by_seen)[1].sum(axis=1).max()
    Y = np.zeros((6, 2))
    G = np.array([[1.0, 2], [-3, 1], [0, 0], [5, -1], [1, 1], [-2, -4]])
    least = np.array([0.0, 3, 0, 1, 0, 4])
    losses[:] = [2.0, 1.5, 1.0, 0.5]
    sweep = _adaptive(pairs, by_seen)
    trial, slope, now = sweep(Y, G, 1.0)
    assert (now, trial[0, 0], slope.any()) == (1.0, 3.0, False)
    trial, _, now = sweep(Y, G, 1.0)
    assert (now, trial[0, 0]) == (0.5, 4.0)
    sweep(Y, G, 1.0)
    mu = safe * np.array([0.1, 0.2, 0.4, 0.4 / 1.5, 0.4 / 1.5**2])
    np.testing.assert_allclose(dampings, least + mu[:, None])


def test_what_no_damping_lowers_stays(losses, dampings, monkeypatch):
    monkeypatch.setattr(MODULE, "_FIRST", 0.25)
    losses[:] = [2.0]
    pairs, Y, G = pairs_of(), np.zeros((6, 2)), np.zeros((6, 2))
    found, slope, loss = _adaptive(pairs, False)(Y, G, 1.0)
    assert (found is Y, slope is G, loss) == (True, True, 1.0)
    # As much as is always safe may fail by rounding; twice as much ends it.
    np.testing.assert_allclose([one[0] for one in dampings], [1.5, 3.0, 6.0, 12.0])


# ---- growth ---------------------------------------------------------------------------------


def growth(losses, left, rule="safe", max_sweeps=200):
    losses[:] = left
    pairs = pairs_of()
    return grow(pairs, drawn(pairs), rule=rule, by_seen=False, max_sweeps=max_sweeps)


def test_growth_ends_after_fifty_sweeps_that_gained_nothing(losses):
    _, sweeps, path = growth(losses, [1.0])
    assert (sweeps, path) == (50, [1.0] * 51)
    assert growth(losses, [1.0], max_sweeps=7)[1:] == (7, [1.0] * 8)


def test_growth_goes_on_while_ten_sweeps_gain_a_hundredth(losses):
    _, sweeps, path = growth(losses, [1300.0 - i for i in range(100)])
    assert (sweeps, path[-1]) == (50, 1250.0)  # ten of 1,250 are less
    _, sweeps, path = growth(losses, [300.0 - i for i in range(100)] + [200.0])
    # The ten before sweep 107 gained three of 200, those before the next one two.
    assert (sweeps, path[-1]) == (108, 200.0)


def test_a_gain_of_just_a_hundredth_ends_it(losses, monkeypatch):
    monkeypatch.setattr(MODULE, "GAIN", 0.25)
    assert growth(losses, [5.0] * 41 + [4.0])[1] == 50
    assert growth(losses, [5.5] * 41 + [4.0])[1] == 51


@pytest.mark.parametrize("by_seen", [False, True])
def test_a_safe_sweep_is_damped_by_the_scale(by_seen):
    pairs = pairs_of()
    start = drawn(pairs)
    found, sweeps, path = grow(pairs, start, rule="safe", by_seen=by_seen, max_sweeps=2)
    Y, wanted = start, []
    for _ in range(3):
        G, loss = slope_and_loss(pairs, Y, by_seen)
        wanted.append(loss)
        before, Y = Y, _step(Y, G, _scale(pairs, by_seen))
    np.testing.assert_allclose(found, before)
    np.testing.assert_allclose(path, wanted)
    assert sweeps == 2
    assert path[2] < path[1] < path[0]


def test_an_adaptive_sweep_is_damped_less_and_gains_more():
    pairs = pairs_of()
    start = drawn(pairs)
    paths = [
        grow(pairs, start, rule=rule, by_seen=False, max_sweeps=5)[2]
        for rule in ("safe", "adaptive")
    ]
    assert paths[1][0] == paths[0][0]
    assert paths[1][5] < paths[0][5]


# ---- pair steps -----------------------------------------------------------------------------


@pytest.fixture
def stepped(monkeypatch):
    """What pair steps are asked for; each moves a little, as long as ``moves`` says."""
    asked = []
    asked_for = {"moves": 99}

    def steps(store, weights, inside, scale, by_seen, tol, most, Y, G):
        assert Y.flags.c_contiguous
        assert G.flags.c_contiguous
        assert Y.shape == G.shape == (2, 6)
        asked.append((inside.tolist(), scale.tolist(), by_seen, tol, most))
        if len(asked) <= asked_for["moves"]:
            Y += 1.0
        return most, None

    monkeypatch.setattr(MODULE, "square_steps", steps)
    monkeypatch.setattr(MODULE, "REFRESH", 3)
    return asked, asked_for


@pytest.mark.parametrize("by_seen", [False, True])
def test_pair_steps_are_taken_some_at_a_time_until_all_are(stepped, monkeypatch, by_seen):
    monkeypatch.setattr(MODULE, "largest_gap", lambda Y, G, scale: 0.5)
    pairs = pairs_of()
    Y, steps, gap, _ = polish(pairs, np.zeros((6, 2)), by_seen=by_seen, tol=0.25, max_steps=7)
    assert (Y.tolist(), steps, gap) == ([[3.0, 3.0]] * 6, 7, 0.5)
    seen = (LABELS >= 0).sum(axis=1)
    n = np.bincount(pairs.inverse)[pairs.inverse]
    for inside, scale, by, tol, most in stepped[0]:
        wanted = (n - 1) * (seen if by_seen else 1)
        assert np.array(inside)[pairs.inverse].tolist() == wanted.tolist()
        np.testing.assert_allclose(
            np.array(scale)[pairs.inverse], shares_and_weights(by_seen)[1].sum(axis=1)
        )
        assert (by, tol) == (by_seen, 0.25)
        assert most in (1, 3)
    assert [most for *_, most in stepped[0]] == [3, 3, 1]


def test_pair_steps_end_at_the_gap_wanted_or_where_nothing_moves(stepped, monkeypatch):
    asked, asked_for = stepped
    pairs, Y = pairs_of(), np.zeros((6, 2))
    gaps = [0.5, 0.25]
    monkeypatch.setattr(MODULE, "largest_gap", lambda *given: gaps.pop(0))
    assert polish(pairs, Y, by_seen=False, tol=0.25, max_steps=99)[1:3] == (3, 0.25)
    gaps[:] = [0.25]
    found, steps, gap, loss = polish(pairs, Y, by_seen=False, tol=0.25, max_steps=99)
    assert (found is Y, steps, gap) == (True, 0, 0.25)
    assert loss == slope_and_loss(pairs, Y, False)[1]
    gaps[:] = [0.5] * 9
    assert polish(pairs, Y, by_seen=False, tol=0.25, max_steps=0)[1] == 0
    asked.clear()
    asked_for["moves"] = 1
    found, steps, gap, _ = polish(pairs, Y, by_seen=False, tol=0.25, max_steps=99)
    assert (found.tolist(), steps, gap) == ([[1.0, 1.0]] * 6, 6, 0.5)


@pytest.mark.parametrize("by_seen", [False, True])
def test_pair_steps_lower_the_loss_until_no_pair_gains(by_seen):
    pairs = pairs_of()
    start = drawn(pairs, 3)
    Y, steps, gap, loss = polish(pairs, start, by_seen=by_seen, tol=1e-6, max_steps=10**4)
    assert gap <= 1e-6
    assert 0 < steps < 10**4
    assert loss == slope_and_loss(pairs, Y, by_seen)[1] < slope_and_loss(pairs, start, by_seen)[1]
    np.testing.assert_allclose(Y.sum(axis=1), 1.0)


# ---- runs -----------------------------------------------------------------------------------


def run_of(solver, **changed):
    options = {"rule": "safe", "by_seen": False, "tol": 0.25, "max_iter": 5, "max_sweeps": 6}
    pairs = pairs_of()
    start = drawn(pairs)
    return pairs, start, fit_square(pairs, start, solver=solver, **(options | changed))


def test_growth_goes_before_pair_steps_unless_these_are_wanted_alone(monkeypatch):
    told = []

    def growing(pairs, Y, **options):
        told.append(options)
        return Y + 1.0, 4, [9.0, 8.0]

    def polishing(pairs, Y, **options):
        told.append(options)
        return Y + 1.0, 3, 0.25, 7.0

    monkeypatch.setattr(MODULE, "grow", growing)
    monkeypatch.setattr(MODULE, "polish", polishing)
    pairs, start, fit = run_of("growth")
    assert fit[1:] == (7.0, 0.25, True, 4, 3, [9.0, 8.0, 7.0], None)
    np.testing.assert_allclose(fit.memberships, start + 2.0)
    polished = {"by_seen": False, "tol": 0.25, "max_steps": 5}
    assert told == [{"rule": "safe", "by_seen": False, "max_sweeps": 6}, polished]
    pairs, start, fit = run_of("pair", tol=0.125)
    first = slope_and_loss(pairs, start, False)[1]
    assert fit[1:] == (7.0, 0.25, False, 0, 3, [first, 7.0], None)
    np.testing.assert_array_equal(fit.memberships, start + 1.0)


@pytest.fixture
def runs(monkeypatch):
    """What runs are told; the second of three has the smallest loss."""
    told = []
    objectives = [3.0, 1.0, 2.0, 4.0]

    def run(pairs, start, **options):
        told.append(options)
        Y = np.eye(2)[np.arange(pairs.n_groups) % 2]
        return Fit(Y, objectives[(len(told) - 1) % 4], 0.5, True, 4, 3, [5.0])

    def pairs(placed, budget, *, n_jobs, n_runs):
        found = make_pairs(placed, budget)
        shared.append(n_runs)
        return found

    shared = []
    monkeypatch.setattr(MODULE, "fit_square", run)
    monkeypatch.setattr(MODULE, "make_pairs", pairs)
    return told, shared


def test_the_run_with_the_smallest_loss_is_kept(runs):
    told, shared = runs
    found = baumeagon(ENSEMBLE, 2, n_init=3, random_state=0)
    assert (found.objective, found.details["loss"], found.details["best_start"]) == (1.0, 1.0, 1)
    assert found.solver == "growth"
    usual = {"solver": "growth", "rule": "adaptive", "by_seen": False, "tol": 1e-4}
    assert told == [usual | {"max_iter": 600, "max_sweeps": 1000}] * 3
    assert shared == [3]


def test_runs_are_told_what_was_asked_for(runs):
    told, shared = runs
    options = {"solver": "pair", "tol": 0.5, "max_iter": 7, "max_sweeps": 8}
    baumeagon(ENSEMBLE, 2, init="labels", step="safe", weights="seen", random_state=0, **options)
    assert told == [options | {"rule": "safe", "by_seen": True}]
    assert shared == [1]


def test_labels_of_starts_say_who_was_placed_by_nobody(runs):
    ensemble = Ensemble(np.concatenate([LABELS, [[-1, -1, -1]]]))
    found = baumeagon(ensemble, 2, n_init=2, random_state=0)
    starts = found.details["start_labels"]
    assert starts.shape == (2, 8)
    assert starts[:, 7].tolist() == [-1, -1]
    assert (starts[:, :7] >= 0).all()
