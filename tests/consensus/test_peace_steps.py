"""The steps of PEACE around its fits: the rates it starts from, what it says, what it is given."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus.peace import _first_rates, _warn, peace
from consilience.errors import ConsilienceWarning

# The function of the same name hides the module.
MODULE = sys.modules[peace.__module__]
ENSEMBLE = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [5, 5, 5, 7, 7, 7]])


def some_pairs(joined, scale=(3.0, 3.0)):
    return SimpleNamespace(
        weights=np.array([1.0, 2.0]), joined=np.array(joined), scale=np.array(scale)
    )


def test_rates_start_half_way_between_the_mean_and_the_published_ones():
    # 1 + 2 * 2 of 9 were joined.
    rates = _first_rates(some_pairs([1.0, 2.0]))
    np.testing.assert_allclose(rates, [5 / 18, (1 + 5 / 9) / 2])
    np.testing.assert_array_equal(_first_rates(some_pairs([0.0, 0.0], (0.0, 0.0))), [0.0, 0.5])


@pytest.mark.parametrize(
    ("joined", "share", "two_rates", "words"),
    [
        ([0.0, 0.0], 1.0, False, "No member put any two"),
        ([0.0, 0.0], 0.0, True, "No member put any two"),
        ([0.0, 1.0], 0.49, False, "in 49% of the members"),
        ([0.0, 1.0], 0.49, True, None),
        ([0.0, 1.0], 0.5, False, None),
        ([0.0, 1.0], 0.9, False, None),
    ],
)
def test_members_that_do_not_suit_are_warned_of(joined, share, two_rates, words):
    if words is not None:
        with pytest.warns(ConsilienceWarning, match=words):
            _warn(some_pairs(joined), share, two_rates)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _warn(some_pairs(joined), share, two_rates)


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
    found = peace(ENSEMBLE, 2, init=init, n_init=3, max_iter=max_iter, random_state=0)
    assert made == [n_runs]
    assert len(fits) == n_runs
    # The first two objects, the third, and the last three.
    assert all(groups == 3 and options["max_iter"] == wanted for groups, options in fits)
    assert all(options["rates"] is None for _, options in fits)
    assert found.objective == max(found.details["objectives"])
    assert found.details["log_likelihood"] == found.objective


def test_two_rates_are_fitted_only_where_asked_for():
    one = peace(ENSEMBLE, 2, n_init=2, random_state=0).details
    two = peace(ENSEMBLE, 2, n_init=2, two_rates=True, random_state=0).details
    assert one["rates"] is None or tuple(one["rates"]) == (0.0, 1.0)
    assert len(two["rates"]) == 2
    # Pairs inside the clusters {0, 1, 2} and {3, 4, 5}: 4 of 6 were always together.
    assert one["inside_share"] == pytest.approx((4 + 2 * 2 / 3) / 6)
