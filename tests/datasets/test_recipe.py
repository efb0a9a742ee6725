"""Another file is read as the first one was: its columns by their names."""

import io
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


DATES, NUMBERS = "a,b\n2024-01-01,1\n2024-01-05,2\n", "a,b\n7,1\n8,3\n"


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (DATES, NUMBERS, "not hold dates: 'a' .*'7'.*were dates"),
        (NUMBERS, DATES, "not hold numbers: 'a' .*2024-01-01"),
    ],
)
def test_dates_are_not_taken_for_numbers_nor_the_other_way_round(
    tmp_path, first, second, message, ending
):
    pandas = pytest.importorskip("pandas")
    paths = []
    for name, text in (("one", first), ("two", second)):
        paths.append(tmp_path / f"{name}{ending}")
        if ending == ".csv":
            paths[-1].write_text(text)
        else:
            pytest.importorskip("pyarrow")
            dates = ["a"] if text is DATES else []
            pandas.read_csv(io.StringIO(text), parse_dates=dates).to_parquet(paths[-1])
    table = read_table(paths[0], encode="dates")
    with pytest.raises(InvalidInputError, match=message):
        read_like(paths[1], table.recipe)
    np.testing.assert_array_equal(read_like(paths[0], table.recipe).X, table.X)


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_dates_of_which_none_is_known_are_gaps(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(DATES)
    two.write_text("a,b\n,1\n,3\n")
    table = read_table(one, encode="dates", impute="keep")
    np.testing.assert_array_equal(read_like(two, table.recipe).X, [[np.nan, 1], [np.nan, 3]])


def test_recipes_of_earlier_versions_know_dates_by_the_first():
    assert Column("a", first=19723.0).counts_days
    assert not Column("a").counts_days
