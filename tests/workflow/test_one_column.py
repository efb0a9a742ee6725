"""Groups that are the values of one column, at every limit of what counts as that."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import ConsilienceWarning
from consilience.workflow._one_column import the_one_column, warn_of_one_column

RNG = np.random.default_rng(0)


def data(*columns, sources=()):
    X = np.column_stack(columns).astype(float)
    return SimpleNamespace(
        original=X, sources=sources, original_columns=tuple(f"c{j}" for j in range(X.shape[1]))
    )


@pytest.mark.parametrize(
    ("n_wrong", "found"), [(0, ("c1", 1.0)), (1, ("c1", 0.99)), (2, None), (40, None)]
)
def test_one_object_in_a_hundred_may_differ(n_wrong, found):
    labels = np.repeat([0, 1], 50)
    values = labels.copy()
    values[:n_wrong] = 1
    assert the_one_column(data(RNG.normal(size=100), values), labels) == found


@pytest.mark.parametrize(("n_values", "found"), [(2, True), (20, True), (21, False)])
def test_columns_of_many_values_are_measurements(n_values, found):
    labels = np.arange(210) % n_values
    assert (the_one_column(data(RNG.normal(size=210), labels), labels) is not None) == found


def test_the_only_column_and_one_group_say_nothing():
    labels = np.repeat([0, 1], 10)
    assert the_one_column(data(labels), labels) is None
    both = data(labels, RNG.normal(size=20))
    assert the_one_column(both, labels) == ("c0", 1.0)
    assert the_one_column(both, np.zeros(20, int)) is None
    assert the_one_column(both, np.full(20, -1)) is None
    for X in (None, sparse.csr_array(both.original)):
        other = SimpleNamespace(original=X, sources=(), original_columns=("c0", "c1"))
        assert the_one_column(other, labels) is None


@pytest.mark.parametrize(("n_kinds", "found"), [(3, ("colour", 1.0)), (20, True), (21, None)])
def test_categories_that_were_split_are_one_column(n_kinds, found):
    """Each has a column of 0 and 1; of more than twenty nobody would say that they are groups."""
    labels = np.arange(210) % n_kinds
    split = (labels[:, None] == np.arange(n_kinds)).astype(float)
    given = data(split, RNG.normal(size=210), sources=(*["colour"] * n_kinds, "size"))
    told = the_one_column(given, labels)
    assert (told is not None) if found is True else told == found
    assert the_one_column(data(split, sources=("colour",) * n_kinds), labels) is None


def test_all_objects_are_asked_where_some_look_like_it():
    """Of many objects every second or third is looked at first, by which nothing is decided."""
    labels = np.arange(3000) // 1500
    values = labels.copy()
    values[1::3] = 1 - values[1::3]
    assert the_one_column(data(RNG.normal(size=3000), values), labels) is None
    assert the_one_column(data(RNG.normal(size=3000), labels), labels) == ("c1", 1.0)


def test_the_warning_names_the_column_and_the_share():
    labels = np.repeat([0, 1], 50)
    values = labels.copy()
    values[0] = 1
    with pytest.warns(ConsilienceWarning, match=r"column 'c0' \(99\.0% of the objects\)"):
        warn_of_one_column(data(values, RNG.normal(size=100)), labels)
    warn_of_one_column(data(RNG.normal(size=100), RNG.normal(size=100)), labels)
