"""Identifiers, dates, categories and missing values: treated aloud, or refused with the remedy."""

import datetime
import io
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.datasets import read_table
from consilience.datasets._dates import read_days
from consilience.datasets._scale import standardise
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pandas = pytest.importorskip("pandas")

N = 12


@pytest.fixture(params=["csv", "parquet"])
def read(request, tmp_path):
    """Write columns as a file of one kind, read it, and return the table and its notes."""

    def write_and_read(columns, **options):
        path = tmp_path / f"t.{request.param}"
        frame = pandas.DataFrame(columns)
        if request.param == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, index=False)
        return read_noting(path, **options)

    return write_and_read


def read_noting(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_table(path, **options)
    assert all(issubclass(note.category, ConsilienceWarning) for note in caught)
    return table, " ".join(str(note.message) for note in caught)


def squares():
    return [float(i * i) for i in range(N)]


# ---- identifiers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("who", [f"o{i}" for i in range(N)], "different text in every row"),
        ("Name", [f"o{i}" for i in range(N)], "named like identifiers"),
        ("patient_id", [100 + 7 * i % 13 for i in range(N)], "named like identifiers"),
        ("id", list(range(1, N + 1)), "counts the rows, 1, 2, 3"),
        ("step", list(range(N)), "counts the rows, 0, 1, 2"),
    ],
)
def test_a_column_that_can_only_be_identifiers_is_taken_aloud(read, name, values, why):
    table, notes = read({name: values, "x": squares(), "y": [0.5, 1.5] * (N // 2)})
    assert table.columns == ("x", "y")
    assert [str(value) for value in table.ids] == [str(value) for value in values]
    assert f"Column {name!r}" in notes
    assert why in notes
    assert "not as data" in notes
    assert "--id-column" in notes
    if not isinstance(values[0], str):
        table, notes = read({name: values, "x": squares()}, id_column="none")
        assert table.columns == (name, "x")
        assert table.ids is None
        assert f"id_column={name!r}" in notes  # it is data now, with a word of doubt


def test_where_one_column_has_no_name_no_other_is_taken_for_identifiers(tmp_path):
    path = tmp_path / "t.csv"
    numbers = [100 + 7 * i % 13 for i in range(N)]
    pandas.DataFrame({"patient_id": numbers, "x": squares()}).to_csv(path)
    table, notes = read_noting(path)
    assert table.columns == ("patient_id", "x")
    assert table.ids.tolist() == [str(i) for i in range(N)]
    assert "has no name" in notes


def test_words_are_categories_up_to_half_as_many_as_rows(read):
    half = [f"w{i % 6}" for i in range(N)]
    table, _ = read({"x": squares(), "kind": half}, encode="onehot")
    assert table.X.shape == (N, 7)
    more = [*half[:-1], "w6"]
    with pytest.raises(InvalidInputError, match="'kind'"):
        read({"x": squares(), "kind": more}, encode="onehot")


def test_few_objects_have_identifiers_only_by_name(read):
    table, _ = read({"name": ["a", "b", "c"], "x": [1.5, 2.5, 4.0]})
    assert table.ids.tolist() == ["a", "b", "c"]
    with pytest.raises(InvalidInputError, match=r"'who' \(.*row 0: 'a'"):
        read({"who": ["a", "b", "c"], "x": [1.5, 2.5, 4.0]})


def test_numbers_that_happen_to_differ_stay_data(read):
    # A refractive index, and a counter that is not the first column.
    columns = {"index": [i / 3 for i in range(N)], "x": squares(), "rank": list(range(1, N + 1))}
    table, notes = read(columns)
    assert table.columns == ("index", "x", "rank")
    np.testing.assert_array_equal(table.X[:, 0], columns["index"])
    assert "Column 'rank'" in notes
    assert "clustered like any other" in notes
    table, notes = read({"store_id": [1, 2, 3] * 4, "x": squares()})
    assert table.columns == ("store_id", "x")
    assert "named like identifiers and is clustered as numbers" in notes


def test_leading_zeros_of_identifiers_are_kept(tmp_path):
    (tmp_path / "t.csv").write_text(
        "nr,x\n" + "".join(f"{i:04d},{i * i}\n" for i in range(1, N + 1))
    )
    table, _ = read_noting(tmp_path / "t.csv")
    assert table.ids.tolist() == [f"{i:04d}" for i in range(1, N + 1)]


def test_a_second_text_with_a_different_value_in_every_row_is_refused(read):
    columns = {
        "name": [f"n{i}" for i in range(N)],
        "mail": [f"m{i}@x" for i in range(N)],
        "x": squares(),
    }
    with pytest.raises(InvalidInputError, match=r"'mail'.*--ignore"):
        read(columns)
    table, _ = read(columns, ignore=["mail"])
    assert table.columns == ("x",)
    table, _ = read(columns, ignore="mail", id_column="name")
    assert table.ids.tolist() == columns["name"]


def test_columns_to_ignore_are_checked(read):
    columns = {"a": [1.0, 2.0], "b": [3.0, 5.0]}
    with pytest.raises(InvalidInputError, match="no column 'z', named as ignore"):
        read(columns, ignore=["z"])
    with pytest.raises(InvalidInputError, match="cannot be left out with ignore"):
        read(columns, ignore=["a"], truth_column="a")
    with pytest.raises(InvalidInputError, match=r"no columns of numbers left.* or left out"):
        read(columns, ignore=["a"], truth_column="b")


# ---- dates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M:%S.%f+00:00",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y %I:%M %p",
        "%d-%m-%y",
        "%d %b %Y",
        "%d-%B-%Y",
        "%b %d, %Y",
        "%B %d, %Y %H:%M:%S",
    ],
)
@settings(max_examples=20, deadline=None)
@given(
    moments=st.lists(
        st.datetimes(datetime.datetime(1971, 1, 1), datetime.datetime(2067, 1, 1)), min_size=1
    )
)
def test_dates_of_every_form_are_read_as_days(form, moments):
    # A 31st tells days from months.
    moments = [datetime.datetime(2000, 1, 31, 13, 45), *moments]
    words = [moment.strftime(form) for moment in moments]
    epoch = datetime.datetime(1970, 1, 1)
    wanted = [
        (datetime.datetime.strptime(word, form).replace(tzinfo=None) - epoch)
        / datetime.timedelta(days=1)
        for word in words
    ]
    np.testing.assert_allclose(read_days(words).days, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "words",
    [
        ["soon", "2024-01-01"],
        ["2024-01-01", "soon"],
        ["2024-13-01"],
        ["31/31/2024"],
        ["13/01/2024", "01/13/2024"],
        ["30.02.2024"],
        ["12 Foo 2024"],
        ["25:00"],
        ["24:01"],
        ["24:00:30"],
        ["13:00 pm"],
        ["1-2"],
        [],
    ],
)
def test_words_that_are_no_dates_of_one_form_are_none(words):
    assert read_days(words) is None


def test_times_zones_and_months():
    clock = read_days(["06:00", "6:00 PM", "18:00:36"]).days
    np.testing.assert_allclose(clock, [0.25, 0.75, 0.75 + 1 / 2400])
    assert read_days(["1970-01-01T02:00+02:00", "1970-01-02"]).days.tolist() == [0, 1]
    assert read_days(["0001-01-01T01:00+02:00"]).days.tolist() == [-719162 - 1 / 24]
    assert read_days(["24:00", "00:00"]).days.tolist() == [1, 0]
    assert read_days(["1970-01", "1970/03"]).days.tolist() == [0, 59]
    assert read_days(["1/2/2024", "12/12/2024"]).days is None


def test_dates_are_refused_or_become_days(read):
    days = [datetime.date(2024, 1, 30) + datetime.timedelta(days=i % 5) for i in range(N)]
    columns = {"x": squares(), "day": days}
    with pytest.raises(InvalidInputError, match=r"'day' .*2024-01-30.*encode='dates'.*--encode"):
        read(columns)
    for encode in ("dates", "onehot"):
        table, notes = read(columns, encode=encode)
        assert table.X[:, 1].tolist() == [float(i % 5) for i in range(N)]
        assert table.columns == table.sources == ("x", "day")
        assert "Column 'day'" in notes
        assert "days since the first" in notes


def test_moments_of_parquet_files_keep_their_parts_and_gaps(tmp_path):
    moments = [datetime.datetime(2024, 1, 1, 12), None, datetime.datetime(2024, 1, 3)]
    times = [datetime.time(6), datetime.time(12), datetime.time(18)]
    columns = {
        "a": arrow.array(moments, arrow.timestamp("us")),
        "b": arrow.array(moments, arrow.timestamp("s", "UTC")),
        "c": arrow.array(moments, arrow.date64()),
        "t": arrow.array(times, arrow.time32("s")),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=r"'a' has 1 missing \(first on row 1: None"):
        read_noting(tmp_path / "t.parquet", encode="dates")
    table, _ = read_noting(tmp_path / "t.parquet", encode="dates", impute="drop-rows")
    assert table.X.tolist() == [[0, 0, 0, 0], [1.5, 1.5, 2, 0.5]]


def test_spans_of_time_of_parquet_files_are_days(tmp_path):
    spans = [datetime.timedelta(hours=h) for h in (36, 1, -6)]
    for unit in ("s", "us"):
        column = arrow.array([*spans, None], arrow.duration(unit))
        parquet.write_table(arrow.table({"t": column, "x": [1, 2, 3, 4]}), tmp_path / "t.parquet")
        table, notes = read_noting(tmp_path / "t.parquet", impute="keep")
        np.testing.assert_array_equal(table.X[:, 0], [1.5, 1 / 24, -0.25, math.nan])
        assert "spans of time ('t'): read as days" in notes


def test_large_whole_numbers_of_parquet_files_are_rounded(tmp_path):
    columns = {"x": [1.0, 2.0], "y": [2**60 + 1, 3], "z": arrow.array([2**63, 0], arrow.uint64())}
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    assert read_noting(tmp_path / "t.parquet")[0].X.tolist() == [[1, 2**60, 2**63], [2, 3, 0]]


def test_dates_whose_day_and_month_cannot_be_told_apart_are_refused(read):
    columns = {"x": squares(), "day": [f"{i % 6 + 1}/{i % 5 + 1}/2024" for i in range(N)]}
    with pytest.raises(InvalidInputError, match="cannot be told apart: write dates as 2024-12-31"):
        read(columns, encode="dates")


def test_dates_written_as_numbers_are_pointed_at(read):
    table, notes = read({"x": squares(), "y": [20240101 + i for i in range(N)]})
    assert table.columns == ("x", "y")
    assert "Column 'y'" in notes
    assert "may hold dates" in notes
    for other in ([20249901 + i for i in range(N)], [20241231, *range(N - 1)]):
        assert "may hold dates" not in read({"x": squares(), "y": other})[1]


# ---- categories and answers -----------------------------------------------------------------


def test_categories_are_refused_with_their_words_or_split(read):
    columns = {"x": squares(), "hue": ["red", "blue", "grey"] * 4, "sex": ["f", "m"] * 6}
    with pytest.raises(InvalidInputError) as caught:
        read(columns)
    for word in ["2 columns", "'hue': 'red', 'blue', 'grey'", "'sex'", "--encode onehot"]:
        assert word in str(caught.value)
    table, notes = read(columns, encode="onehot")
    assert table.columns == ("x", "hue=red", "hue=blue", "hue=grey", "sex=m")
    assert table.sources == ("x", "hue", "hue", "hue", "sex")
    assert "'hue' (3 categories)" in notes
    distances = np.linalg.norm(table.X[:3, None, 1:4] - table.X[None, :3, 1:4], axis=-1)
    np.testing.assert_allclose(distances, 1 - np.eye(3), atol=1e-15)
    assert table.X[:, 4].tolist() == [0.0, 1.0] * 6


def test_dictionaries_of_parquet_files_are_categories(tmp_path):
    frame = pandas.DataFrame({"x": squares(), "hue": ["b", "a", None] * 4}).astype(
        {"hue": "category"}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table, _ = read_noting(tmp_path / "t.parquet", encode="onehot", impute="drop-rows")
    assert table.columns == ("x", "hue=a")
    assert table.X[:, 1].tolist() == [0, 1] * 4
    frame = frame.dropna()
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    np.testing.assert_array_equal(
        read_noting(tmp_path / "t.parquet", encode="onehot")[0].X, table.X
    )


@pytest.mark.parametrize(
    "pair", [("true", "false"), ("Yes", "no"), ("T", "F"), ("y", "n"), ("ON", "Off")]
)
def test_answers_are_one_and_zero_aloud(tmp_path, pair):
    (tmp_path / "t.csv").write_text(f"x,a\n1,{pair[0]}\n2,{pair[1]}\n5,{pair[0]}\n")
    table, notes = read_noting(tmp_path / "t.csv")
    assert table.X[:, 1].tolist() == [1, 0, 1]
    assert "Column 'a'" in notes
    assert "read as 1 and 0" in notes


def test_text_with_too_many_words_is_no_category(read):
    note = [f"text {i}" for i in range(N - 1)] + ["text 0"]
    with pytest.raises(InvalidInputError, match=r"'note'.*at most 100 different words"):
        read({"x": squares(), "note": note}, encode="onehot")


def test_a_word_among_numbers_is_an_error_and_no_category(read):
    columns = {"x": squares(), "y": [*map(str, range(5, N + 4)), "oops"]}
    for encode in (None, "onehot"):
        with pytest.raises(InvalidInputError, match="'y' holds numbers but for 'oops'"):
            read(columns, encode=encode)


def test_one_weight_for_all_columns_of_a_category():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 400)
    X = np.column_stack([rng.normal(5, 3, 400), *(codes == k for k in range(5)), np.ones(400)])
    names = ("x", *(f"c={k}" for k in range(5)), "one")
    with pytest.warns(ConsilienceWarning, match="'one' of The data has the same value"):
        scaled = standardise(X, names, sources=("x", *["c"] * 5, "one"))
    assert (scaled.columns, scaled.dropped) == (names[:-1], ("one",))
    assert scaled.X[:, 0].var() == pytest.approx(1)
    assert scaled.X[:, 1:].var(axis=0).sum() == pytest.approx(1)
    np.testing.assert_allclose(scaled.X.mean(axis=0), 0, atol=1e-12)
    # One factor for all of them: two objects of different categories are equally far apart.
    corners = np.unique(scaled.X[:, 1:].round(9), axis=0)
    distances = np.linalg.norm(corners[:, None] - corners[None], axis=-1)[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(distances, distances[0], rtol=1e-6)
    huge = standardise(np.array([[1e300], [-1e300]]), ("a",))
    assert huge.X.ravel().tolist() == [1, -1]
    with pytest.raises(InvalidInputError, match="nothing to cluster"):
        standardise(np.ones((3, 2)), ("a", "b"))


# ---- missing values -------------------------------------------------------------------------


def gappy():
    return {
        "x": [1.0, math.nan, 4.0, 7.0, 100.0],
        "y": [math.inf, 2.0, 3.0, 4.0, 6.0],
        "c": ["a", "b", None, "b", "b"],
    }


def test_missing_values_are_refused_with_counts_and_remedy(read):
    with pytest.raises(InvalidInputError) as caught:
        read(gappy(), encode="onehot")
    for word in ["in 3 of its 5 rows", "'x' has 1 missing", "'y' has 1 infinite", "'c' has 1"]:
        assert word in str(caught.value)
    assert "--impute median" in str(caught.value)


@pytest.mark.parametrize(("how", "x", "y"), [("median", 5.5, 3.5), ("mean", 28.0, 3.75)])
def test_missing_values_are_filled_in_aloud(read, how, x, y):
    table, notes = read(gappy(), encode="onehot", impute=how)
    assert table.X[1, 0] == x
    assert table.X[0, 1] == y
    assert table.X[:, 2].tolist() == [0, 1, 1, 1, 1]
    assert f"1 of 'x' with the {how}, {x:g}" in notes
    assert "1 of 'c' with the most frequent, 'b'" in notes
    assert table.left_out.size == 0


def test_rows_are_left_out_aloud_and_the_others_keep_their_names(read):
    table, notes = read(gappy(), encode="onehot", impute="drop-rows")
    assert table.X[:, :2].tolist() == [[7, 4], [100, 6]]
    assert table.left_out.tolist() == [0, 1, 2]
    assert table.ids.tolist() == [3, 4]
    assert "3 rows of 5" in notes
    named = gappy() | {"who": ["p", "q", "r", "s", "t"], "group": ["1", "2", "1", "2", None]}
    table, notes = read(
        named, encode="onehot", impute="drop-rows", id_column="who", truth_column="group"
    )
    assert (table.ids.tolist(), table.truth.tolist()) == (["s"], ["2"])
    assert "4 rows of 5" in notes


def test_known_groups_are_never_filled_in(read):
    columns = {"x": [1.0, 2.0, 4.0], "group": ["a", None, "b"]}
    with pytest.raises(InvalidInputError, match="Known groups are not guessed"):
        read(columns, truth_column="group", impute="median")


def test_empty_columns_are_left_out_aloud(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,,inf\n2,NA,inf\n")
    with (
        pytest.warns(ConsilienceWarning, match="'b' of 't.csv' holds no value in any row"),
        pytest.raises(InvalidInputError, match="'c' has 2 infinite"),
    ):
        read_table(path)
    table, notes = read_noting(path, impute="mean")
    assert table.columns == ("a",)
    assert "Columns 'b' and 'c'" in notes
    path.write_text("a,b\n,\n,\n")
    with pytest.raises(InvalidInputError, match="nothing to cluster"):
        read_table(path)
    path.write_text("a,b\n1,\n,1\n")
    with pytest.raises(InvalidInputError, match="none would be left"):
        read_table(path, impute="drop-rows")


def test_arrays_are_filled_in_too(tmp_path):
    stream = io.BytesIO()
    X = np.array([[1.0, np.nan], [np.inf, 2.0], [3.0, 4.0]])
    np.savez(stream, X=X, who=np.array(["a", "b", "c"]))
    (tmp_path / "t.npz").write_bytes(stream.getvalue())
    table, notes = read_noting(tmp_path / "t.npz", impute="median", id_column="who")
    assert table.X.tolist() == [[1, 3], [2, 2], [3, 4]]
    assert "'c0'" in notes
    table, _ = read_noting(tmp_path / "t.npz", impute="drop-rows", id_column="who")
    assert (table.X.tolist(), table.ids.tolist()) == ([[3, 4]], ["c"])
    with pytest.raises(InvalidInputError, match=r"'c1' has 1 missing \(first on row 0: nan"):
        read_noting(tmp_path / "t.npz")


def save_matrix(path, form, X, **vectors):
    """A matrix with vectors beside it, sparse as SciPy writes it or dense."""
    if form == "sparse":
        sparse.save_npz(path, sparse.csr_matrix(X))
        with np.load(path) as parts:
            vectors |= parts
    else:
        vectors["X"] = X
    np.savez(path, **vectors)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_missing_known_groups_are_no_group(tmp_path, form):
    X = np.arange(8.0).reshape(4, 2)
    groups, ids = np.array(["u", "v", "", "u"]), np.arange(7, 11)
    save_matrix(tmp_path / "t.npz", form, X, kind=groups, who=ids)
    how = {"truth_column": "kind", "id_column": "who"}
    with pytest.raises(InvalidInputError, match=r"'kind' has 1 missing .*are not guessed"):
        read_noting(tmp_path / "t.npz", **how)
    table, notes = read_noting(tmp_path / "t.npz", impute="drop-rows", **how)
    assert "row 2, counted from 0" in notes
    assert (table.truth.tolist(), table.ids.tolist()) == (["u", "v", "u"], [7, 8, 10])
    assert table.left_out.tolist() == [2]
    numbers = table.X.toarray() if form == "sparse" else table.X
    np.testing.assert_array_equal(numbers, X[[0, 1, 3]])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_bytes_of_arrays_are_text(tmp_path, form):
    save_matrix(tmp_path / "t.npz", form, np.eye(2), who=np.array(["é".encode(), b"\xff"]))
    for role in ("id_column", "truth_column"):
        table, _ = read_noting(tmp_path / "t.npz", **{role: "who"})
        found = table.ids if role == "id_column" else table.truth
        assert found.tolist() == ["é", "\N{REPLACEMENT CHARACTER}"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_what_is_filled_in_is_finite(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("f") / "t.npy"
    np.save(path, np.array([[math.nan], *([value] for value in values)]))
    for how in ("median", "mean"):
        table, _ = read_noting(path, impute=how)
        assert np.isfinite(table.X).all()
        slack = 1e-12 * max(map(abs, values))
        assert min(values) - slack <= table.X[0, 0] <= max(values) + slack


@pytest.mark.parametrize(
    ("parameter", "value"), [("impute", "zero"), ("encode", "ordinal"), ("decimal", ";")]
)
def test_ways_are_checked_by_name(tmp_path, parameter, value):
    with pytest.raises(InvalidParameterError, match=f"'{parameter}' parameter of read_table"):
        read_table(tmp_path / "t.csv", **{parameter: value})
