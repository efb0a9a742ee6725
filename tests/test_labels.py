"""One labeling in any form becomes codes 0..k-1, noise and unseen."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import labelings

from consilience import Ensemble
from consilience._labels import _as_numbers, encode, relabel, smallest_type
from consilience.errors import InvalidInputError


def encode_slowly(labels):
    """Definition for integers: the rank of each label among those at least 0."""
    present = sorted({v for v in labels if v >= 0})
    return [present.index(v) if v >= 0 else v for v in labels]


@given(st.lists(st.integers(-2, 2**63 - 1) | st.integers(-2, 8)))
def test_integers_keep_their_order_and_lose_their_holes(labels):
    assert encode(labels).tolist() == encode_slowly(labels)
    assert encode(np.array(labels, np.int64)).tolist() == encode_slowly(labels)


@given(st.lists(st.integers(-2, 20)), st.sampled_from([np.int8, np.int32, np.float32, np.float64]))
def test_every_numeric_type_gives_the_same(labels, kind):
    assert encode(np.array(labels, kind)).tolist() == encode_slowly(labels)


@given(st.lists(st.none() | st.text(max_size=2) | st.tuples(st.booleans(), st.text(max_size=1))))
def test_other_values_are_numbered_as_they_appear(labels):
    codes = encode(labels)
    order = list(dict.fromkeys(v for v in labels if v is not None))
    assert codes.tolist() == [-2 if v is None else order.index(v) for v in labels]


@given(labelings(8))
def test_encoding_twice_changes_nothing(labels):
    codes = encode(labels)
    np.testing.assert_array_equal(encode(codes), codes)
    assert relabel(labels).dtype == np.int32


def test_input_is_not_written_to():
    labels = np.array([7, 3, -1])
    labels.flags.writeable = False
    encode(labels)
    floats = np.array([7.0, np.nan])
    encode(floats)
    assert np.isnan(floats[1])


MISSING = {
    "None": [3, None, 5],
    "NaN": [3.0, float("nan"), 5.0],
    "numpy NaN among text": ["x", np.nan, "y"],
    "None and NaN": np.array([3, None, 5], object),
    "NaT": ["x", pd.NaT, "y"],
    "pandas.NA": [3, pd.NA, 5],
    "datetimes": np.array(["2020-01-01", "NaT", "2020-01-02"], "datetime64[D]"),
    "masked": np.ma.array([3, 99, 5], mask=[0, 1, 0]),
    "masked text": np.ma.array(["x", "y", "y"], mask=[0, 1, 0]),
    "pandas float": pd.Series([3, None, 5]),
    "pandas Int64": pd.Series([3, None, 5], dtype="Int64"),
    "pandas string": pd.Series(["x", None, "y"], dtype="string"),
    "pandas object": pd.Series([(1,), None, (2,)]),
    "pandas category": pd.Series(["x", None, "y"], dtype="category"),
    "pandas category of numbers": pd.Series([3, None, 5], dtype="category"),
    "pandas boolean": pd.Series([False, None, True], dtype="boolean"),
    "pandas array of categories": pd.Categorical(["x", None, "y"]),
    "pandas array of numbered categories": pd.Categorical([3, None, 5]),
    "pandas array of intervals": pd.cut([1.0, np.nan, 2.0], 2),
    "pandas array of text": pd.array(["x", None, "y"], dtype="string"),
    "pandas array of integers": pd.array([3, None, 5], dtype="Int64"),
    "pandas array of times": pd.array(pd.to_datetime(["2020-01-01", None, "2020-01-02"])),
    "polars integer": pl.Series([3, None, 5]),
    "polars float": pl.Series([3.0, float("nan"), 5.0]),
    "polars text": pl.Series(["x", None, "y"]),
    "polars categorical": pl.Series(["x", None, "y"], dtype=pl.Categorical),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_missing_means_unseen(labels):
    assert encode(labels).tolist() == [0, -2, 1]


def test_noise_survives_every_container():
    for labels in (
        [4, -1, None],
        np.array([4, -1, -2]),
        [4.0, -1.0, np.nan],
        pd.Series([4, -1, None], dtype="Int64"),
        pl.Series([4, -1, None]),
        np.array([4, -1, None], object),
    ):
        assert encode(labels).tolist() == [0, -1, -2]


def test_values_that_numpy_would_merge_stay_apart():
    assert encode([1, "1", 1]).tolist() == [0, 1, 0]
    assert encode(["a", "a\0", "a"]).tolist() == [0, 1, 0]
    assert encode([(1, 2), (3, 4), (1, 2)]).tolist() == [0, 1, 0]
    assert encode([(1, 2), (3,)]).tolist() == [0, 1]
    assert encode(pd.Series([(1, 2), (3, 4)])).tolist() == [0, 1]


def test_odd_but_allowed_values():
    assert encode([True, False, np.bool_(True)]).tolist() == [1, 0, 1]
    assert encode(np.array([2**63 + 5, 3, 2**63 + 5], np.uint64)).tolist() == [1, 0, 1]
    assert encode(pd.Series([2**64 - 1, 0, None], dtype="UInt64")).tolist() == [1, 0, -2]
    for big in (
        pd.Series([2**60, 2**60 + 1, None], dtype="Int64"),
        pl.Series([2**60, 2**60 + 1, None]),
    ):
        assert encode(big).tolist() == [0, 1, -2]
    assert encode([2**60, 2**60 + 1, float("nan")]).tolist() == [0, 1, -2]
    assert encode([Decimal(1), Decimal("NaN"), Decimal(2)]).tolist() == [0, -2, 1]
    assert encode([2**64 - 1, 0, 2**64 - 2]).tolist() == [2, 0, 1]
    assert encode([frozenset([1]), frozenset()]).tolist() == [0, 1]
    assert encode([None, None]).tolist() == [-2, -2]
    assert encode([]).tolist() == []
    assert encode(range(3)).tolist() == [0, 1, 2]
    assert encode(v for v in "ab").tolist() == [0, 1]
    assert encode(pd.Index(["u", "v"])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0.5], r"me must be cluster labels, .*Got 0\.5 instead\. Pass data to a generator"),
        ([0, 0.5, None], r"Got 0\.5 instead"),
        (np.array([0.5, None], object), r"Got 0\.5 instead"),
        ([0, np.inf], "Got inf instead"),
        ([0, 1e300], r"Got 1e\+300 instead"),
        ([0, -3], r"me must be at least 0, or -1 for noise .* Got -3 instead\. Renumber"),
        ([0, -3, None], "Got -3 instead"),
        ([0, 2**70], r"fit into 64 bits, .* Got 1180591620717411303424 .* as text"),
        ([-1, 2**63], r"Got 9223372036854775808 among them"),
        ([0, Fraction(1, 2)], r"Got 0\.5 instead"),
        ([{}, {}], r"me must be hashable values .* Got \{\} of type dict instead"),
        ([[0], [1]], r"Got \[0\] of type list instead"),
        ([[0], [1, 2]], r"Got \[0\] of type list instead"),
        (np.zeros((2, 2)), r"me must be one-dimensional\. Got shape \(2, 2\) instead"),
        (np.int64(3), r"one-dimensional\. Got shape \(\)"),
        (3, "me must be a list or an array with one label for every object. Got 3 instead"),
        ("aab", "Got 'aab' instead"),
        (None, "Got None instead"),
    ],
)
def test_what_is_no_labeling_is_refused(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        encode(labels, what="me")


@pytest.mark.parametrize(
    ("n_clusters", "kind"),
    [
        (0, np.int8),
        (128, np.int8),
        (129, np.int16),
        (32768, np.int16),
        (32769, np.int32),
    ],
)
def test_smallest_type_holds_the_last_cluster_and_no_more(n_clusters, kind):
    assert smallest_type(n_clusters) == kind


@pytest.mark.parametrize(
    ("n_clusters", "kind"),
    [(1, "int8"), (128, "int8"), (129, "int16"), (32768, "int16"), (32769, "int32")],
)
def test_labels_take_the_narrowest_type_that_holds_them(n_clusters, kind):
    from consilience._labels import smallest_type

    assert smallest_type(n_clusters) == np.dtype(kind)


def test_what_somebody_says_is_missing_is():
    given = np.array([5, 7, None, 9], object)
    numbers, absent = _as_numbers(given, np.array([False, True, False, False]), "labels")
    assert absent.tolist() == [False, True, True, False]
    assert numbers[~absent].tolist() == [5, 9]


def test_the_largest_numbers_of_a_float_stay_apart():
    """From 2**53 on, floats leave out every second number."""
    n = 2**53
    for big in (
        [np.int64(n + 1), np.uint64(n)],  # which numpy by itself makes floats of
        pd.Series([n + 1, n], dtype="Int64"),
        pl.Series([n + 1, n, None])[:2],
    ):
        assert encode(big).tolist() == [1, 0]
    assert encode(pl.Series([n + 1, n, None])).tolist() == [1, 0, -2]


def test_floats_are_labels_below_two_to_the_63():
    last = np.nextafter(2.0**63, 0)
    assert encode([last, 200.0, last]).tolist() == [1, 0, 1]
    with pytest.raises(InvalidInputError, match=r"Got 9\.22\d*e\+18 instead"):
        encode([2.0**63, 0.0])


def test_what_a_container_of_objects_masks_is_unseen():
    assert encode(np.ma.array([5, 7, 5], mask=[0, 1, 0], dtype=object)).tolist() == [0, -2, 0]


@pytest.mark.parametrize("column", [pd.Series([0, 1]), pl.Series([0, 1])], ids=["pandas", "polars"])
def test_one_column_is_no_table_of_labels(column):
    with pytest.raises(InvalidInputError, match=r"Got the single value 0 instead of a labeling"):
        Ensemble(column)
