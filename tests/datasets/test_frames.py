"""Frames of pandas and polars as tables: no row is lost, and types say what columns hold."""

import datetime

import numpy as np
import pytest

import consilience as cs
from consilience.datasets._frames import frame_like, frame_table
from consilience.datasets._mixed import as_mixed, mixed_of
from consilience.errors import InvalidInputError

pandas = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
N, EMPTY = 40, 3


def with_an_empty_row(index=None):
    """Two groups in numbers and in words; of one object nothing is known."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    frame = pandas.DataFrame(
        {"x": 8 * group + rng.normal(size=N), "w": np.array(["u", "v"])[group]}
    )
    frame.loc[EMPTY] = None
    return frame if index is None else frame.set_axis(index)


def column(series, **options):
    """A column beside another as its values in days, numbers or places."""
    frame = pandas.DataFrame({"one": series, "w": ["u", "v", "u", "v"][: len(series)]})
    return frame_table(frame, impute="keep", say=False, **options)


@pytest.mark.parametrize("index", [None, [f"o{i}" for i in range(N)]])
def test_an_object_of_which_nothing_is_known_keeps_its_place(index):
    frame = with_an_empty_row(index)
    result = cs.cluster(frame, 2, gaps="keep", n_members=10, effort="quick", random_state=0)
    assert len(result.labels) == len(result.data.identifiers()) == N
    known = np.arange(N) != EMPTY
    group = np.arange(N) % 2
    assert len(set(zip(group[known], result.labels[known], strict=True))) == 2
    assert (result.ensemble.labels[EMPTY] == cs.UNSEEN).all()
    assert len(result.to_pandas()) == N
    assert len(result.predict(frame).labels) == N


def test_empty_rows_stay_in_mixed_tables_and_in_other_frames():
    frame = with_an_empty_row()
    assert np.flatnonzero(np.isnan(as_mixed(frame, "auto").values).all(axis=1)).tolist() == [EMPTY]
    table = frame_table(frame, impute="keep")
    again = frame_like(frame, table.recipe)
    np.testing.assert_array_equal(again.X, table.X)
    assert np.isnan(frame_like(frame.iloc[[EMPTY]], table.recipe).X).all()


def test_rows_of_a_frame_are_refused_where_those_of_a_file_are_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("x,w\n1,u\n,v\n2,u\n3,v\n")
    table = cs.datasets.read_table(tmp_path / "a.csv", encode="mixed", impute="drop-rows")
    with pytest.raises(InvalidInputError, match="'x' has 1 missing"):
        frame_like(with_an_empty_row().iloc[: EMPTY + 1], table.recipe)


def test_dates_far_away_keep_their_order():
    days = pandas.to_datetime(["2024-01-01", "9999-12-31", "0001-01-01"]).to_series(index=range(3))
    epoch = datetime.date(1970, 1, 1)
    dates = [datetime.date(2024, 1, 1), datetime.date(9999, 12, 31), datetime.date(1, 1, 1)]
    wanted = [(one - epoch).days for one in dates]
    assert (column(days).X[:, 0] + min(wanted)).tolist() == wanted


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_moments_with_a_time_zone_may_have_gaps(zone):
    moments = pandas.Series(pandas.to_datetime(["2024-01-01 00:00", None, "2024-01-03 12:00"]))
    days = column(moments.dt.tz_localize(zone)).X[:, 0]
    np.testing.assert_array_equal(days, [0, np.nan, 2.5])


@pytest.mark.parametrize("gap", [[], [None]])
def test_ordered_categories_of_numbers_keep_their_order(gap):
    series = pandas.Series(pandas.Categorical([10, 5, 20, *gap], [5, 20, 10], ordered=True))
    table = column(series)
    np.testing.assert_array_equal(table.X[:, 0], [2, 0, 1, *[np.nan] * len(gap)])
    again = pandas.DataFrame({"one": [20.0, 5.0], "w": ["u", "v"]})
    assert frame_like(again, table.recipe).X[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize("values", [[3, 1, 2, 3], [3, 1, 2, None], ["3", "1", "2", "3"]])
def test_categories_of_numbers_are_categories(values):
    table = column(pandas.Series(pandas.Categorical(values)))
    mixed = mixed_of(table.X, table.sources, table.recipe)
    assert mixed.categorical == (0, 1)
    assert mixed.values[:3, 0].tolist() == [0, 1, 2]
    assert table.recipe.columns[0].categories == ("3", "1", "2")
    again = pandas.DataFrame({"one": [2, 3], "w": ["u", "v"]})
    places = mixed_of(frame_like(again, table.recipe).X, table.sources, table.recipe)
    assert places.values[:, 0].tolist() == [2, 0]


def test_spans_of_time_are_numbers_of_days():
    spans = pandas.Series(pandas.to_timedelta([36, None, -6], unit="h"))
    np.testing.assert_array_equal(column(spans).X[:, 0], [1.5, np.nan, -0.25])


def test_spans_of_polars_are_the_same():
    polars = pytest.importorskip("polars")
    hours = [datetime.timedelta(hours=h) for h in (36, 1, -6)]
    frame = polars.DataFrame({"one": hours, "w": ["u", "v", "u"]})
    assert frame_table(frame, impute=None).X[:, 0].tolist() == [1.5, 1 / 24, -0.25]


def test_a_column_may_have_any_name():
    table = frame_table(pandas.DataFrame({"none": [1.0, 2.0], "w": ["u", "v"]}), impute=None)
    assert table.columns == ("none", "w=v")
