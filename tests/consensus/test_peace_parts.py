"""The steps of PEACE on few objects: rates to start from, what a run is told, and warnings."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import peace
from consilience.consensus._peace_fits import Fit
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus._peace_starts import make_starts
from consilience.errors import ConsilienceWarning

# A function of the same name hides the module.
MODULE = sys.modules[peace.__module__]
# Two objects alike, two that not all members saw.
LABELS = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, -2], [-2, 1, 1], [1, 0, 1]])
ENSEMBLE = Ensemble(LABELS)
# Groups of two, of one and of three objects with equal labels.
THREE = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [5, 5, 5, 7, 7, 7]])


def members_of_pairs():
    """Of all pairs, the members that joined them and that saw them; objects are no pairs."""
    seen = (LABELS[:, None] >= 0) & (LABELS[None] >= 0)
    joined = (LABELS[:, None] == LABELS[None]) & seen
    apart = ~np.eye(len(LABELS), dtype=bool)
    return (joined & apart[..., None]).sum(axis=2), (seen & apart[..., None]).sum(axis=2)


def mean_rate():
    joined, seen = members_of_pairs()
    return joined.sum() / seen.sum()


def test_rates_begin_between_the_mean_and_the_published_ones():
    mean = mean_rate()
    found = MODULE._first_rates(make_pairs(ENSEMBLE, 2**30))
    np.testing.assert_allclose(found, [mean / 2, (1 + mean) / 2])
    alone = make_pairs(Ensemble([[0, -2], [-2, 0]]), 2**30)
    assert MODULE._first_rates(alone).tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    ("joined", "share", "two_rates", "words"),
    [
        ([0, 0], 1.0, False, "No member put any two objects together"),
        ([0, 0], 0.1, True, "No member put any two objects together"),
        ([0, 1], 0.4, False, "were together in 40% of the members"),
        ([0, 1], 0.4, True, None),
        ([0, 1], 0.5, False, None),
        ([1, 1], 0.9, False, None),
    ],
)
def test_what_does_not_suit_the_model_is_said(joined, share, two_rates, words):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MODULE._warn(SimpleNamespace(joined=np.array(joined)), share, two_rates)
    assert len(caught) == (words is not None)
    for one in caught:
        assert issubclass(one.category, ConsilienceWarning)
        assert words in str(one.message)


@pytest.fixture
def runs(monkeypatch):
    """What runs are told; of three the second is the likeliest. Groups are by turns."""
    told = SimpleNamespace(starts=[], options=[], shared=[])

    def run(pairs, start, **options):
        told.starts.append(start)
        rates = options["rates"]
        told.options.append(options | {"rates": None if rates is None else rates.tolist()})
        number = len(told.starts) - 1
        Y = np.eye(2)[np.arange(pairs.n_groups) % 2]
        return Fit(Y, [-3.0, -1.0, -2.0][number], 0.5, True, 4, 3, [5.0], (0.1, 0.2 + number))

    def pairs(placed, budget, *, n_jobs, n_runs):
        told.shared.append((budget, n_runs))
        return make_pairs(placed, budget)

    monkeypatch.setattr(MODULE, "fit_peace", run)
    monkeypatch.setattr(MODULE, "make_pairs", pairs)
    return told


@pytest.mark.filterwarnings("ignore:Objects of one cluster")
def test_the_likeliest_run_is_kept_with_its_rates(runs):
    found = peace(ENSEMBLE, 2, n_init=3, random_state=0, max_memory=2**20)
    assert (found.objective, found.details["log_likelihood"]) == (-1.0, -1.0)
    assert (found.details["best_start"], found.details["rates"]) == (1, (0.1, 1.2))
    assert found.solver == "growth"
    assert (
        runs.options
        == [{"solver": "growth", "rates": None, "tol": 1e-4, "max_iter": 600, "max_sweeps": 1000}]
        * 3
    )
    assert runs.shared == [(2**20, 3)]
    pairs = make_pairs(ENSEMBLE, 2**30)
    for got, wanted in zip(runs.starts, make_starts(pairs, 2, "mixed", 3, 0), strict=True):
        np.testing.assert_array_equal(got, wanted)
    own = (np.arange(6) % 2)[pairs.inverse]
    inside = (own[:, None] == own) & ~np.eye(7, dtype=bool)
    joined, seen = members_of_pairs()
    wanted = (joined[inside] / seen[inside]).mean()
    assert found.details["inside_share"] == pytest.approx(wanted)


def test_runs_are_told_what_was_asked_for(runs):
    options = {"solver": "pair", "tol": 0.5, "max_iter": 7, "max_sweeps": 8}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # two rates suit small clusters
        peace(ENSEMBLE, 2, init="labels", two_rates=True, random_state=0, **options)
    mean = mean_rate()
    (told,) = runs.options
    np.testing.assert_allclose(told.pop("rates"), [mean / 2, (1 + mean) / 2])
    assert told == options
    assert [n_runs for _, n_runs in runs.shared] == [1]


def test_labels_of_starts_say_who_was_placed_by_nobody(runs):
    ensemble = Ensemble(np.concatenate([LABELS, [[-1, -1, -1]]]))
    with pytest.warns(ConsilienceWarning, match="Objects of one cluster were together in"):
        starts = peace(ensemble, 2, n_init=2, random_state=0).details["start_labels"]
    assert starts.shape == (2, 8)
    assert starts[:, 7].tolist() == [-1, -1]
    assert (starts[:, :7] >= 0).all()


@pytest.mark.parametrize(("solver", "two_rates"), [("growth", False), ("pair", True)])
def test_two_groups_that_all_agree_on_are_found(solver, two_rates):
    labels = np.repeat([0, 1], 4)
    members = Ensemble([labels, labels, [0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 2, 2]])
    found = peace(members, 2, solver=solver, two_rates=two_rates, n_init=2, random_state=0)
    assert found.labels.tolist() == labels.tolist()
    assert (found.details["rates"] == (0.0, 1.0)) == (not two_rates)


@pytest.mark.parametrize(("max_iter", "wanted"), [(None, 300), (7, 7)])
@pytest.mark.parametrize(("init", "n_runs"), [("labels", 1), ("mixed", 3), ("dirichlet", 3)])
def test_runs_are_as_many_and_as_long_as_is_told(monkeypatch, init, n_runs, max_iter, wanted):
    made, fits = [], []
    make, fit = MODULE.make_pairs, MODULE.fit_peace

    def kept_pairs(placed, budget, **options):
        made.append(options["n_runs"])
        return make(placed, budget, **options)

    def kept_fit(pairs, start, **options):
        fits.append((pairs.n_groups, options))
        return fit(pairs, start, **options)

    monkeypatch.setattr(MODULE, "make_pairs", kept_pairs)
    monkeypatch.setattr(MODULE, "fit_peace", kept_fit)
    found = peace(THREE, 2, init=init, n_init=3, max_iter=max_iter, random_state=0)
    assert made == [n_runs]
    assert len(fits) == n_runs
    # The first two objects, the third, and the last three.
    assert all(groups == 3 and options["max_iter"] == wanted for groups, options in fits)
    assert all(options["rates"] is None for _, options in fits)
    assert found.objective == max(found.details["objectives"])
    assert found.details["log_likelihood"] == found.objective


def test_two_rates_are_fitted_only_where_asked_for():
    one = peace(THREE, 2, n_init=2, random_state=0).details
    two = peace(THREE, 2, n_init=2, two_rates=True, random_state=0).details
    assert one["rates"] is None or tuple(one["rates"]) == (0.0, 1.0)
    assert len(two["rates"]) == 2
    # Pairs inside the clusters {0, 1, 2} and {3, 4, 5}: 4 of 6 were always together.
    assert one["inside_share"] == pytest.approx((4 + 2 * 2 / 3) / 6)
