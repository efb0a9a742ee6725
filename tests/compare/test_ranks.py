"""Ranks of methods, Friedman's test and Demsar's published example."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilience.compare import ranks, ranks_from_means
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

# Demsar's comparison of five classifiers over thirty data sets.
DEMSAR = ([2.100, 3.250, 2.200, 4.333, 3.117], 30)


@given(st.integers(0, 2**31), st.integers(2, 7), st.integers(10, 20))
@settings(max_examples=30)
def test_friedman_agrees_with_scipy(seed, n_methods, n_datasets):
    table = np.random.default_rng(seed).normal(size=(n_datasets, n_methods))
    found = ranks(table)
    order = (-table).argsort(axis=1).argsort(axis=1) + 1
    np.testing.assert_allclose(found.mean_ranks, order.mean(axis=0))
    if n_methods > 2:
        chi2, p = stats.friedmanchisquare(*table.T)
        assert (found.chi2, found.chi2_p) == pytest.approx((chi2, p))
    middle = n_methods * (n_methods + 1) ** 2 / 4
    textbook = (
        12 * n_datasets / (n_methods * (n_methods + 1)) * ((found.mean_ranks**2).sum() - middle)
    )
    assert found.chi2 == pytest.approx(textbook, abs=1e-9)
    room = n_datasets * (n_methods - 1) - textbook
    if room > 1e-6:  # else all data sets agree
        assert found.f == pytest.approx((n_datasets - 1) * textbook / room, rel=1e-6, abs=1e-9)


@given(st.integers(0, 2**31))
@settings(max_examples=20)
def test_smaller_is_better_turns_the_ranks_around(seed):
    table = np.random.default_rng(seed).integers(0, 4, (12, 4)).astype(float)
    up, down = ranks(table), ranks(table, larger_is_better=False)
    np.testing.assert_allclose(up.mean_ranks + down.mean_ranks, 5)
    np.testing.assert_allclose(up.p, down.p)
    assert up.f == pytest.approx(down.f)


def test_demsar_s_example():
    found = ranks_from_means(*DEMSAR)
    pairs = np.sort(found.p[np.triu_indices(5, 1)])
    assert pairs[0] == pytest.approx(4.5e-8, rel=0.01)
    assert pairs[-1] == pytest.approx(0.807, abs=1e-3)  # from ranks rounded to three digits
    assert found.z[0, 3] == pytest.approx(2.233 / np.sqrt(30 / 180))
    np.testing.assert_array_equal(np.diag(found.p), 1)


def test_complete_agreement_and_complete_ties():
    agreed = ranks(np.tile([3.0, 2.0, 1.0], (12, 1)))
    assert (agreed.chi2, agreed.f, agreed.f_p) == (24, np.inf, 0)
    np.testing.assert_array_equal(agreed.mean_ranks, [1, 2, 3])
    tied = ranks(np.ones((12, 3)))
    assert (tied.chi2, tied.f, tied.f_p) == (0, 0, 1)
    np.testing.assert_array_equal(tied.mean_ranks, [2, 2, 2])


def test_names_come_from_where_they_are(seed):
    table = np.random.default_rng(seed).normal(size=(12, 3))
    frame = pd.DataFrame(table, columns=["a", "b", "c"])
    columns = {name: frame[name].to_numpy() for name in frame}
    for given_table in (frame, columns):
        found = ranks(given_table)
        assert found.names == ("a", "b", "c")
        np.testing.assert_array_equal(found.mean_ranks, ranks(table).mean_ranks)
    assert ranks(table).names == ("1", "2", "3")
    assert ranks(frame, names="xyz").names == ("x", "y", "z")


def test_missing_results_drop_the_data_set(seed):
    table = np.random.default_rng(seed).normal(size=(14, 3))
    holes = table.copy()
    holes[[2, 5], [0, 1]] = np.nan
    with pytest.warns(ConsilienceWarning, match="2 of 14 data sets"):
        found = ranks(holes)
    assert (found.n_datasets, found.n_dropped) == (12, 2)
    np.testing.assert_array_equal(
        found.mean_ranks, ranks(np.delete(table, [2, 5], axis=0)).mean_ranks
    )


def test_few_data_sets_warn(seed):
    table = np.random.default_rng(seed).normal(size=(9, 3))
    with pytest.warns(ConsilienceWarning, match="Only 9 data sets"):
        ranks(table)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.ones((12, 1)), "two methods"),
        (np.ones((1, 3)), "two data sets"),
        (np.full((12, 3), np.nan), "two data sets"),
        (np.ones(12), "one row for each data set"),
        (np.full((12, 3), np.inf), "finite"),
        ({"a": [1, 2], "b": [1]}, "lengths"),
        ({}, "two methods"),
        ([["a", "b"], ["c", "d"]], r"ranks needs numbers.*Got \[\['a', 'b'\]"),
        ({"a": ["x", "y"], "b": [1, 2]}, "ranks needs numbers"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "ranks needs numbers"),
        ([[1, 2], [1]], "as many in every row"),
        ({"a": 1, "b": 2}, "two data sets"),
    ],
)
def test_tables_that_cannot_be_ranked(table, words):
    with pytest.raises(InvalidInputError, match=words):
        ranks(table)


def test_names_and_means_that_cannot_be_used():
    with pytest.raises(InvalidInputError, match="3 different names"):
        ranks(np.ones((12, 3)), names=["a", "a", "b"])
    with pytest.raises(InvalidInputError, match="Got 5 instead"):
        ranks(np.ones((12, 3)), names=5)
    with pytest.raises(InvalidInputError, match="between 1 and their number"):
        ranks_from_means([0.5, 2.5], 12)
    with pytest.raises(InvalidInputError, match=r"ranks_from_means needs numbers.*Got \['a'\]"):
        ranks_from_means(["a"], 12)
    with pytest.raises(InvalidParameterError, match="'n_datasets' parameter"):
        ranks_from_means([1.5, 1.5], 1)
    with pytest.raises(InvalidParameterError, match="'larger_is_better' parameter"):
        ranks(np.ones((12, 3)), larger_is_better="yes")
