"""The steps of DyadicAspect on few objects: likelihood, EM, its end, and what a run is told."""

import sys

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import dyadicaspect
from consilience.consensus._peace_fits import NO_MASS, Fit
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus._rows import draw_seeds
from consilience.consensus.dyadic import (
    Aspects,
    aspect_likelihood,
    aspect_start,
    aspect_step,
    fit_aspect,
)
from consilience.errors import ConsilienceWarning

# The package may have a function of the same name.
MODULE = sys.modules[fit_aspect.__module__]
# Two objects alike, one that not all members saw, and one that is with nobody.
LABELS = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, -2], [1, 0, 1], [2, 2, 2]])
ENSEMBLE = Ensemble(LABELS)


def pairs_of():
    return make_pairs(ENSEMBLE, 2**30)


def counts():
    """Members that joined each pair, scaled to all of them."""
    seen = (LABELS[:, None] >= 0) & (LABELS[None] >= 0)
    C = 3 * ((LABELS[:, None] == LABELS[None]) & seen).sum(axis=2) / seen.sum(axis=2)
    np.fill_diagonal(C, 0.0)
    return C


def test_a_start_has_equal_shares_and_distributions_near_the_even_one():
    pairs = pairs_of()
    start = aspect_start(pairs, 3, 5)
    assert start.shares.tolist() == [1 / 3] * 3
    np.testing.assert_allclose(pairs.weights @ start.objects, 1.0)
    alone = pairs.inverse[6]
    assert start.objects[alone].tolist() == [0.0] * 3
    drawn = np.random.default_rng(5).standard_gamma(10.0, (6, 3))
    drawn[alone] = 0.0
    np.testing.assert_allclose(start.objects, drawn / (pairs.weights @ drawn))


def full_of(now, pairs):
    B = now.objects[pairs.inverse]
    return B, (B * now.shares) @ B.T


def test_the_likelihood_is_that_of_all_pairs():
    pairs = pairs_of()
    now = Aspects(np.array([0.2, 0.8]), aspect_start(pairs, 2, 0).objects)
    _, P = full_of(now, pairs)
    C = counts()
    wanted = (C * np.log(np.where(C > 0, P, 1.0))).sum()
    assert aspect_likelihood(pairs, now) == pytest.approx(wanted)


@pytest.mark.parametrize("share", [0.001, 0.2])
def test_a_step_is_that_of_em_over_all_pairs(share):
    pairs = pairs_of()
    now = Aspects(np.array([share, 1.0 - share]), aspect_start(pairs, 2, 0).objects)
    B, P = full_of(now, pairs)
    # Expected draws of every object by every aspect.
    pull = np.divide(counts(), P, out=np.zeros_like(P), where=P > 0)
    T = now.shares * B * (pull @ B)
    found = aspect_step(pairs, now)
    np.testing.assert_allclose(found.objects[pairs.inverse], T / T.sum(axis=0))
    np.testing.assert_allclose(found.shares, T.sum(axis=0) / T.sum())


def test_an_aspect_nobody_wants_keeps_its_objects_and_tiny_chances_vanish():
    pairs = pairs_of()
    now = aspect_start(pairs, 2, 0)
    now = Aspects(np.array([1.0, 0.0]), now.objects)
    found = aspect_step(pairs, now)
    np.testing.assert_array_equal(found.objects[:, 1], now.objects[:, 1])
    np.testing.assert_allclose(found.shares, [1.0, 0.0])
    B = now.objects.copy()
    B[:2, 1] = NO_MASS, NO_MASS / 2
    kept = aspect_step(pairs, Aspects(now.shares, B)).objects
    assert kept[:2, 1].tolist() == [NO_MASS, 0.0]


# ---- runs -----------------------------------------------------------------------------------


@pytest.fixture
def path(monkeypatch):
    """Likelihoods one after the other, the last for ever; steps count in the shares."""
    left = []
    monkeypatch.setattr(
        MODULE, "aspect_likelihood", lambda *given: left.pop(0) if len(left) > 1 else left[0]
    )
    monkeypatch.setattr(
        MODULE, "aspect_step", lambda pairs, now: now._replace(shares=now.shares + 1.0)
    )
    return left


def run(path, values, *, tol=0.025, max_iter=25):
    path[:] = values
    start = Aspects(np.zeros(2), np.array([[1 / 64, 3 / 64], [0.0, 0.0]]))
    return fit_aspect(None, start, tol=tol, max_iter=max_iter)


def test_a_run_ends_where_ten_steps_gain_no_more_than_so_much_each(path):
    # Ten steps at a fortieth of 4 each: a gain of 1 is just small enough.
    fit = run(path, [-20.0, -5.0, -4.0, 0.0])
    assert (fit.objective, fit.sweeps, fit.converged) == (-4.0, 20, True)
    assert (fit.path, fit.gap, fit.steps) == ([-20.0, -5.0, -4.0], None, 0)
    assert run(path, [-5.0, -4.0, 0.0]).sweeps == 10
    assert run(path, [-5.25, -4.0, -4.0]).sweeps == 20


def test_the_last_steps_may_be_fewer_than_ten(path):
    fit = run(path, [-40.0, -30.0, -20.0, -10.0, 0.0], tol=1e-9)
    assert (fit.sweeps, fit.converged, fit.path) == (25, False, [-40.0, -30.0, -20.0, -10.0])
    # Five steps at a fortieth of 8 each.
    assert run(path, [-40.0, -9.0, -8.0], max_iter=15).converged
    assert not run(path, [-40.0, -9.5, -8.0], max_iter=15).converged


def test_memberships_are_chances_and_even_where_there_are_none(path):
    fit = run(path, [-1.0], max_iter=10)
    # Both shares are 10 by then.
    assert fit.memberships.tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_a_run_comes_to_a_stand():
    pairs = pairs_of()
    start = aspect_start(pairs, 2, 0)
    fit = fit_aspect(pairs, start, tol=1e-8, max_iter=1000)
    assert fit.converged
    assert fit.path[0] == aspect_likelihood(pairs, start)
    assert (np.diff(fit.path) >= -1e-9).all()
    assert fit.objective == fit.path[-1]
    np.testing.assert_allclose(fit.memberships.sum(axis=1), 1.0)


# ---- the whole ------------------------------------------------------------------------------


def test_the_likeliest_run_is_kept(monkeypatch):
    told, shared = [], []
    objectives = [-3.0, -1.0, -2.0]

    def fitted(pairs, start, **options):
        told.append((start, options))
        Y = np.eye(2)[np.arange(pairs.n_groups) % 2]
        return Fit(Y, objectives[len(told) - 1], None, True, 4, 0, [5.0])

    def pairs(placed, budget, *, n_jobs, n_runs):
        shared.append((budget, n_runs))
        return make_pairs(placed, budget)

    monkeypatch.setattr(MODULE, "fit_aspect", fitted)
    monkeypatch.setattr(MODULE, "aspect_start", lambda pairs, k, seed: (k, seed))
    monkeypatch.setattr(MODULE, "make_pairs", pairs)
    found = dyadicaspect(ENSEMBLE, 2, n_init=3, random_state=0, max_memory=2**20)
    assert (found.objective, found.details["log_likelihood"]) == (-1.0, -1.0)
    assert found.details["best_start"] == 1
    seeds = draw_seeds(0, 3)
    assert told == [((2, seed), {"tol": 1e-8, "max_iter": 1000}) for seed in seeds]
    assert shared == [(2**20, 3)]
    assert "gap" not in found.details


def test_who_is_alone_and_who_was_never_placed_is_told():
    ensemble = Ensemble(np.concatenate([LABELS, [[-1, -1, -1]]]))
    found = dyadicaspect(ensemble, 2, n_init=2, max_iter=5, random_state=0)
    assert found.details["alone"].tolist() == [0] * 6 + [1, -1]
    assert found.details["start_labels"].shape == (2, 8)
    assert found.details["start_labels"][:, 7].tolist() == [-1, -1]
    np.testing.assert_allclose(found.memberships[6], 0.5)


def test_without_a_pair_everybody_is_one_cluster_evenly_shared():
    with pytest.warns(ConsilienceWarning, match="DyadicAspect has nothing to fit"):
        found = dyadicaspect(Ensemble([np.arange(5)]), 2)
    assert (found.labels.tolist(), found.labels.dtype) == ([0] * 5, np.int32)
    assert found.memberships.tolist() == [[0.5, 0.5]] * 5
    assert found.details["alone"].tolist() == [1] * 5
    assert found.converged is False
