"""Rounds of a fit of two rates, and starts: when they end, and what is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.consensus import _peace_fits, _resamples
from consilience.consensus._peace_fits import Fit, fit_peace
from consilience.consensus._peace_starts import all_objects, best_of, spread_of
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble


def fitted(monkeypatch, moves, *, max_iter=100, steps=1, gap=0.0, rates=(0.0, 0.5), **options):
    """A run whose rates move so far in each round, and that takes so many steps in each."""
    given, asked = iter(moves), []

    def polish(pairs, Y, now, *, tol, max_steps):
        asked.append((now.tolist(), tol, max_steps))
        return Y + 1.0, steps, gap

    monkeypatch.setattr(_peace_fits, "polish", polish)
    monkeypatch.setattr(_peace_fits, "log_likelihood", lambda pairs, Y, now: float(Y[0, 0]))
    monkeypatch.setattr(
        _peace_fits, "fitted_rates", lambda pairs, Y, now: now + np.array([next(given), 0.0])
    )
    fit = fit_peace(
        None, np.zeros((1, 1)), solver="pair", rates=None if rates is None else np.array(rates),
        tol=0.25, max_iter=max_iter, max_sweeps=9,
    )  # fmt: skip
    return fit, asked


@pytest.mark.parametrize(
    ("moves", "rounds"),
    [([1e-5], 1), ([2e-5, 0.0], 2), ([0.1, 1.1e-5, 1e-6], 3), ([0.1] * 40, 30)],
)
def test_rounds_go_on_until_rates_settle(moves, rounds, monkeypatch):
    fit, asked = fitted(monkeypatch, moves)
    assert len(asked) == fit.steps == rounds
    # The start, and what each round reached.
    assert fit.path == [float(r) for r in range(rounds + 1)]
    assert fit.objective == rounds
    assert [most for _, _, most in asked] == [100 - r for r in range(rounds)]
    assert {tol for _, tol, _ in asked} == {0.25}
    assert fit.rates == pytest.approx((sum(moves[:rounds]), 0.5))
    assert fit.sweeps == 0


@pytest.mark.parametrize(("max_iter", "rounds"), [(5, 3), (6, 3), (7, 4)])
def test_rounds_end_with_the_steps(max_iter, rounds, monkeypatch):
    fit, asked = fitted(monkeypatch, [0.1] * 9, max_iter=max_iter, steps=2)
    assert len(asked) == rounds
    assert fit.steps == 2 * rounds


@pytest.mark.parametrize(("gap", "converged"), [(0.25, True), (0.26, False)])
def test_published_rates_take_one_round(gap, converged, monkeypatch):
    fit, asked = fitted(monkeypatch, [], gap=gap, rates=None)
    assert asked == [([0.0, 1.0], 0.25, 100)]
    assert (fit.converged, fit.gap, fit.rates) == (converged, gap, (0.0, 1.0))


@pytest.mark.parametrize(("highest", "best"), [(True, 1), (False, 0)])
def test_the_first_of_the_best_runs_is_chosen(highest, best):
    tables = [np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.4, 0.6], [0.7, 0.3]])]
    fits = [
        Fit(tables[run], value, gap, True, 3, 4, [0.5, value])
        for run, value, gap in ((0, -2.0, 0.5), (1, 3.0, None), (0, 3.0, 0.1), (1, -2.0, 0.1))
    ]
    pairs = SimpleNamespace(inverse=np.array([0, 1, 1]), matrix_free=True)
    result, labels = best_of(fits, pairs, highest=highest, solver="growth")
    assert labels.tolist() == [[0, 1], [1, 0]][best]
    assert result.labels.tolist() == [[0, 1, 1], [1, 0, 0]][best]
    np.testing.assert_array_equal(result.memberships, tables[best][[0, 1, 1]])
    assert (result.objective, result.n_iter) == ((3.0, -2.0)[best == 0], 7)
    assert (result.converged, result.solver) == (True, "growth")
    details = result.details
    assert details["best_start"] == best
    assert ("gap" in details) == (best == 0)
    assert (details["sweeps"], details["pair_steps"]) == (3, 4)
    assert details["path"].tolist() == [0.5, result.objective]
    assert details["objectives"].tolist() == [-2.0, 3.0, 3.0, -2.0]
    assert details["spread"] == spread_of([-2.0, 3.0, 3.0, -2.0], best)
    assert details["start_labels"].tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 1], [1, 0, 0]]
    assert details["matrix_free"]


def test_what_is_said_of_placed_objects_is_filled_up():
    ensemble = Ensemble(np.array([[0], [-1], [1]]))
    details = {"one": np.array([4, 5]), "runs": np.array([[0, 1], [1, 0]]), "kept": np.array([7])}
    result = ConsensusResult(np.zeros(3, np.int32), details=details)
    assert all_objects(result, ensemble, "one", "runs", "nobody") is result
    assert details["one"].tolist() == [4, -1, 5]
    assert details["runs"].tolist() == [[0, -1, 1], [1, -1, 0]]
    assert details["kept"].tolist() == [7]
    whole = Ensemble(np.array([[0], [1]]))
    values = np.array([4, 5])
    result = ConsensusResult(np.zeros(2, np.int32), details={"one": values})
    assert all_objects(result, whole, "one").details["one"] is values


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        (KMeans(3), True),
        (GaussianMixture(3), True),
        (make_pipeline(StandardScaler(), KMeans(3)), True),
        (make_pipeline(StandardScaler(), DBSCAN()), False),
        (DBSCAN(), False),
        (KMeans, False),
        (StandardScaler(), False),
        ("k-means", False),
        (SimpleNamespace(get_params=lambda deep: {"n_clusters": 2}), False),
        (SimpleNamespace(get_params=lambda deep: {"n_clusters": 2}, generate=print), True),
    ],
)
def test_what_is_resampled_has_a_number_of_clusters(value, usable):
    assert _resamples._takes_n_clusters(value) == usable


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        (1, True), (0, False), ((2, 2), True), ((3, 2), False), ((1, 3), False), ([2, 4], True),
        ([4, 2, 3], True), ([1, 2], False), ([], False), (range(2, 5), True), (range(0), False),
        ((2, 3, 4), True), ((2, 3, 1), False), (True, False), (2.0, False), ("2", False),
    ],
)  # fmt: skip
def test_numbers_to_try_are_at_least_two(value, usable):
    assert _resamples._is_candidates(value) == usable


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ((0.1, 0.9), True), ((0, 1), True), ((0.5, 0.5), False), ((0.9, 0.1), False),
        ((-0.1, 0.5), False), ((0.5, 1.1), False), ([0.1, 0.9], False), ((0.1,), False),
        ((0.1, 0.2, 0.3), False),
    ],
)  # fmt: skip
def test_a_window_is_two_shares(value, usable):
    assert _resamples._is_window(value) == usable
