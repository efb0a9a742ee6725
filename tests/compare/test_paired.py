"""Paired tests of two methods against SciPy's and by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilience.compare import paired
from consilience.errors import InvalidInputError, InvalidParameterError


@given(st.integers(0, 2**31), st.integers(3, 40))
@settings(max_examples=40)
def test_agrees_with_scipy(seed, n):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    found = paired(a, b, confidence=0.9)
    t = stats.ttest_rel(a, b)
    assert (found.t, found.t_p) == pytest.approx((t.statistic, t.pvalue))
    interval = t.confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    wilcoxon = stats.wilcoxon(a, b, method="exact")
    assert (found.wilcoxon, found.wilcoxon_p) == pytest.approx(
        (wilcoxon.statistic, wilcoxon.pvalue)
    )
    assert found.mean_difference == pytest.approx(found.first_mean - found.second_mean)
    assert found.wins + found.ties + found.losses == found.n_pairs == n


@given(
    st.lists(st.tuples(st.integers(50, 99), st.integers(50, 99)), min_size=2, max_size=40),
    st.sampled_from([100, 1000, 3, 1e12, 1e-12]),
)
def test_the_unit_does_not_matter(tenths, unit):
    """Decimals are no floats: differences that are equal on paper differ in their last digits."""
    a, b = np.array(tenths, float).T
    whole, other = paired(a, b), paired(a / unit, b / unit)
    assert (other.wins, other.ties, other.losses) == (whole.wins, whole.ties, whole.losses)
    assert (other.wilcoxon, other.wilcoxon_p) == (whole.wilcoxon, whole.wilcoxon_p)
    assert other.mean_difference * unit == pytest.approx(whole.mean_difference, abs=1e-9)
    assert (other.t, other.t_p) == pytest.approx((whole.t, whole.t_p))


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=60))
def test_swapping_the_methods_turns_the_sign(gaps):
    gaps = np.array(gaps, float)
    one, other = paired(gaps, np.zeros(len(gaps))), paired(np.zeros(len(gaps)), gaps)
    assert one.mean_difference == -other.mean_difference
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert (one.t_p, one.wilcoxon_p) == pytest.approx((other.t_p, other.wilcoxon_p))
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert all(0 <= value <= 1 for value in (one.t_p, one.wilcoxon_p))
    assert not any(np.isnan(value) for value in dataclasses.astuple(one))


def test_differences_that_are_all_equal():
    same = paired([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.mean_difference, same.t_p, same.wilcoxon_p, same.ties) == (0, 1, 1, 3)
    shifted = paired([2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0])
    assert (shifted.low, shifted.high, shifted.t, shifted.t_p) == (1, 1, np.inf, 0)


def test_runs_of_a_data_set_are_averaged_first(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(8, 5)), rng.normal(size=(8, 3))
    assert paired(a, b) == paired(a.mean(axis=1), b.mean(axis=1))
    assert paired(a, b).n_pairs == 8


def test_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(7)
    inside = [
        found.low <= 0.5 <= found.high
        for found in (
            paired(rng.normal(0.5, 1, 12), np.zeros(12), confidence=0.8) for _ in range(300)
        )
    ]
    assert abs(np.mean(inside) - 0.8) < 4 * np.sqrt(0.16 / 300)


def test_one_line_says_it_all():
    words = str(paired([0.8, 0.7, 0.9], [0.7, 0.6, 0.75]))
    assert words.startswith("+0.1167 [")
    assert "3 pairs (3 won, 0 tied, 0 lost)" in words


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([1, 2], [1, 2, 3], "same pairs"),
        ([1], [2], "at least two"),
        ([1, np.nan], [1, 2], "not finite"),
        ([], [], "one for each pair"),
        (np.ones((2, 2, 2)), [1, 2], "one for each pair"),
    ],
)
def test_pairs_that_cannot_be_compared(a, b, words):
    with pytest.raises(InvalidInputError, match=words):
        paired(a, b)


@pytest.mark.parametrize("confidence", [0, 1, 95, "high", None])
def test_confidence_is_between_0_and_1(confidence):
    with pytest.raises(InvalidParameterError, match="'confidence' parameter of paired"):
        paired([1, 2], [2, 1], confidence=confidence)
