"""Rules say yes or no, and every no names the parameter, its owner, the rule and the value."""

from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from consilience import errors
from consilience._validation import (
    Boolean,
    HasMethods,
    Interval,
    NoneValue,
    Options,
    RandomState,
    Satisfies,
    as_numbers,
    check_n_clusters,
    check_params,
    check_value,
    memory_in_bytes,
    positive_numbers,
    same_length,
)
from consilience.errors import ConsilienceError, InvalidInputError, InvalidParameterError

CASES = [
    (Interval(Integral, 1), [1, np.int8(3), 10**6], [0, 1.0, True, "1", None, np.float64(2)]),
    (Interval(Real, 0, 1), [0, 1, 0.5, np.float32(0.25)], [-1e-9, 1.01, np.nan, np.inf, False]),
    (Interval(Real, 0, open_low=True), [1e-300, 3], [0, 0.0, -1, np.inf]),
    (Interval(Real), [-5, 2.5], [np.nan, "x", 1j]),
    (Options(("a", "b")), ["a", "b"], ["c", "", None, 1, ["a"]]),
    (NoneValue(), [None], [0, False, ""]),
    (Boolean(), [True, False, np.True_], [0, 1, None, "True"]),
    (
        RandomState(),
        [None, 0, 2**32 - 1, np.int64(3), np.random.RandomState(0)],
        [-1, 2**32, 0.5, "0", True, np.random.default_rng(0)],
    ),
    (HasMethods(("fit", "predict"), "a model"), [], [BaseEstimator(), BaseEstimator, None]),
    (HasMethods(("get_params",), "a model"), [BaseEstimator()], [BaseEstimator, 3]),
    (Satisfies(lambda v: v == 7, "seven"), [7], [8, None]),
]


@pytest.mark.parametrize(("rule", "right", "wrong"), CASES, ids=[str(c[0]) for c in CASES])
def test_rules(rule, right, wrong):
    for value in right:
        assert rule.accepts(value)
        check_value("thing", value, [rule], owner="Me")
    for value in wrong:
        assert not rule.accepts(value)
        with pytest.raises(InvalidParameterError) as caught:
            check_value("thing", value, [rule], owner="Me")
        message = str(caught.value)
        assert message.startswith(f"The 'thing' parameter of Me must be {rule}. Got ")
        assert message.endswith(" instead.")


def test_rules_answer_for_huge_integers():
    assert Interval(Integral, 1).accepts(10**30)
    assert not RandomState().accepts(10**30)


def test_rules_in_words():
    assert str(Interval(Integral, 1)) == "a whole number at least 1"
    assert str(Interval(Real, 0, 1, open_low=True)) == "a number above 0 and at most 1"
    assert str(Interval(Real)) == "a number"
    assert str(HasMethods(("fit",), "a model")) == "a model (an object with fit(), not a class)"


def test_one_rule_of_several_is_enough():
    rules = [Interval(Integral, 1), NoneValue()]
    check_value("k", None, rules, owner="Me")
    with pytest.raises(InvalidParameterError, match=r"at least 1 or None\. Got 0 instead"):
        check_value("k", 0, iter(rules), owner="Me")


def test_long_values_are_cut_in_messages():
    with pytest.raises(InvalidParameterError) as caught:
        check_value("k", "x" * 1000, [NoneValue()], owner="Me")
    assert len(str(caught.value)) < 200


def test_parameters_of_an_estimator_are_checked_by_its_table():
    class Thing(BaseEstimator):
        _constraints = {"k": [Interval(Integral, 1)], "mode": [Options(("a",))]}  # noqa: RUF012

        def __init__(self, k=1, mode="a", free=None):
            self.k, self.mode, self.free = k, mode, free

    check_params(Thing())
    check_params(Thing(free="anything"))
    with pytest.raises(InvalidParameterError, match="The 'k' parameter of Thing must be"):
        check_params(Thing(k=0))
    with pytest.raises(InvalidParameterError, match="The 'mode' parameter of Thing must be"):
        check_params(Thing(mode="b"))


def test_no_more_clusters_than_objects():
    check_n_clusters(3, 3, owner="Me")
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* n_samples=3\. Got 4"):
        check_n_clusters(4, 3, owner="Me")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1, 1),
        (1.5, 1),
        ("1", 1),
        ("1.5 B", 1),
        ("0.001KB", 1),
        (2.5e9, 2_500_000_000),
        ("10", 10),
        ("10 B", 10),
        ("2 GiB", 2 * 2**30),
        ("2gb", 2 * 10**9),
        (" 1.5 MiB ", 3 * 2**19),
        ("3 kB", 3000),
        ("1e3 MB", 10**9),
        ("1 TiB", 2**40),
        ("1 TB", 10**12),
        ("1KiB", 1024),
    ],
)
def test_memory_budgets(value, wanted):
    assert memory_in_bytes(value, owner="Me") == wanted


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        0.5,
        True,
        None,
        np.nan,
        "",
        "GiB",
        "-2 GiB",
        "2 XB",
        "inf GB",
        "0",
        "0.9",
        0.9,
        "nan",
        [1],
    ],
)
def test_bad_memory_budgets(value):
    with pytest.raises(InvalidParameterError, match=r"'max_memory' parameter of Me .* '2 GiB'"):
        memory_in_bytes(value, owner="Me")


def test_lengths_must_agree():
    same_length([], what="Things")
    same_length([3, 3], what="Things")
    with pytest.raises(InvalidInputError, match=r"Things .* number 0 has 3 .* number 2 has 4"):
        same_length([3, 3, 4], what="Things")


def test_errors_can_be_caught_by_the_built_in_a_caller_expects():
    builtins = {
        "InvalidParameterError": (ValueError, TypeError),
        "InvalidInputError": (ValueError,),
        "MissingPackageError": (ImportError,),
        "MemoryBudgetError": (MemoryError,),
    }
    for name, kinds in builtins.items():
        for kind in (ConsilienceError, *kinds):
            with pytest.raises(kind):
                raise getattr(errors, name)("no")
    assert issubclass(errors.ConsilienceWarning, UserWarning)


@pytest.mark.parametrize(
    ("given", "more", "message"),
    [
        ("x", {}, "w of f must be finite numbers. Got 'x' instead."),
        (["1", "2"], {}, "w of f must be finite numbers. Got ['1', '2'] instead."),
        ([1, "2"], {}, "w of f must be finite numbers. Got [1, '2'] instead."),
        (
            np.array(["2020-01-01"], "M8[D]"),
            {},
            "w of f must be finite numbers. Got array(['2020-01-01'], dtype='datetime64[D]') "
            "instead.",
        ),
        ([np.inf], {}, "w of f must be finite numbers. Got values that are not finite instead."),
        (
            [1.0],
            {"shape": (2,), "each": "object"},
            "w of f must be finite numbers of shape (2,), one for each object. "
            "Got an array of shape (1,) instead.",
        ),
    ],
)
def test_numbers_that_are_none_are_refused_in_words(given, more, message):
    with pytest.raises(InvalidInputError) as caught:
        as_numbers("w", given, owner="f", **more)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "holds"),
    [([1], True), ([0.5, 2], True), ([0.0, 1], False), ([-1], False), ([np.inf], False),
     ([[1.0]], False), (1.0, False), (["1"], False), (None, False), ([], True)],
)  # fmt: skip
def test_one_positive_number_for_each_is_a_row_of_them(value, holds):
    rule = positive_numbers("cluster")
    assert rule.accepts(value) is holds
    assert str(rule) == "one positive number for each cluster"


@pytest.mark.parametrize("shape", [None, (2,), (None,), (2, 3), (None, 3), (2, None), ()])
def test_numbers_fit_a_shape_if_every_length_does(shape):
    for given in (np.ones(2), np.ones(3), np.ones((2, 3)), np.ones((3, 3)), np.ones((2, 2)), 1.0):
        sizes = np.shape(given)
        fits = shape is None or (
            len(sizes) == len(shape)
            and all(a in (None, b) for a, b in zip(shape, sizes, strict=True))
        )
        if fits:
            np.testing.assert_array_equal(as_numbers("w", given, owner="f", shape=shape), given)
            continue
        wanted = str(shape).replace("None", "any")
        with pytest.raises(InvalidInputError) as caught:
            as_numbers("w", given, owner="f", shape=shape)
        assert str(caught.value) == (
            f"w of f must be finite numbers of shape {wanted}. Got an array of shape {sizes} "
            "instead."
        )


@pytest.mark.parametrize(("low", "high"), [(1, 3), (0, None), (None, 2), (None, None)])
@pytest.mark.parametrize("open_low", [False, True])
def test_an_interval_holds_its_ends_unless_the_lower_is_open(low, high, open_low):
    rule = Interval(Real, low, high, open_low)
    for value in (-1, 0, 1, 1.5, 2, np.nextafter(2, 3), 3, 4, np.float32(3), np.int8(0)):
        above = low is None or (value > low if open_low else value >= low)
        assert rule.accepts(value) == (above and (high is None or value <= high))
    for value in (True, np.False_, np.nan, np.inf, -np.inf, 10**400, "1", None, 1j):
        assert not rule.accepts(value)
