"""Another file is read as the first one was: its columns by their names."""

import warnings

import numpy as np
import pytest

from consilience.datasets import read_table
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._tables import read_like
from consilience.errors import InvalidInputError


def test_columns_are_found_by_their_names():
    columns = (Column("b", ("x", "y")), Column("a", fill=2.0))
    assert Recipe(columns).by_name() == {"b": columns[0], "a": columns[1]}


def test_the_same_rows_in_another_order_of_columns_are_the_same_numbers(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a,kind,b\n1,x,5\n,y,6\n3,x,7\n", encoding="utf-8")
    two.write_text("more,b,kind,a\n0,7,x,3\n0,6,y,\n", encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first = read_table(one, encode="onehot", impute="median")
        second = read_like(two, first.recipe)
    np.testing.assert_array_equal(second.X, first.X[[2, 1]])
    assert second.columns == first.columns
    notes = " ".join(str(one.message) for one in caught)
    assert "Column 'more' of 'two.csv' was not clustered" in notes
    assert "in another order" in notes


def test_a_column_that_is_gone_is_named(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="no column 'b', which was clustered"):
        read_like(path, Recipe((Column("a"), Column("b"))))
