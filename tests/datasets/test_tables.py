"""Tables and label files: what is read back equals what was written, the rest is refused."""

import csv
import gzip
import io
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from consilience import Ensemble
from consilience.datasets import _csv, load, read_labels, read_table, write_labels
from consilience.errors import (
    ConsilienceError,
    ConsilienceWarning,
    InvalidInputError,
    InvalidParameterError,
)

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

IN_A_FOLDER = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def put(tmp_path):
    """Write a file of text, bytes or parquet columns and return its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        if isinstance(content, dict):
            parquet.write_table(arrow.table(content), path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npz(**named):
    stream = io.BytesIO()
    np.savez(stream, **named)
    return stream.getvalue()


# ---- what is read equals what was written ---------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)


@IN_A_FOLDER
@given(
    X=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=finite),
    delimiter=st.sampled_from(",;\t"),
    mark=st.booleans(),
    zipped=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_csv_comes_back_exactly(tmp_path, X, delimiter, mark, zipped, newline):
    names = [f"column {j}" for j in range(X.shape[1])]
    lines = [delimiter.join(names)] + [delimiter.join(map(repr, row)) for row in X.tolist()]
    raw = (newline.join(lines) + newline).encode("utf-8-sig" if mark else "utf-8")
    path = tmp_path / ("d.csv.gz" if zipped else "d.csv")
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        table = read_table(path)
    np.testing.assert_array_equal(table.X, X)
    assert table.X.dtype == np.float64
    assert table.columns == tuple(names)
    assert (table.name, table.path, table.ids, table.truth) == ("d", path, None, None)


def test_chunks_do_not_change_the_result(put, monkeypatch):
    rows = [[i, i * 0.5, f"id{i}", "ab"[i % 2]] for i in range(1, 50)]
    path = put("a,b,who,group\n" + "\n".join(",".join(map(str, row)) for row in rows))
    kwargs = {"id_column": "who", "truth_column": "group"}
    with pytest.warns(ConsilienceWarning, match="counts the rows"):
        whole = read_table(path, **kwargs)
    monkeypatch.setattr(_csv, "_CELLS", 12)
    with pytest.warns(ConsilienceWarning, match="counts the rows"):
        pieces = read_table(path, **kwargs)
    np.testing.assert_array_equal(whole.X, pieces.X)
    assert whole.ids.tolist() == pieces.ids.tolist() == [row[2] for row in rows]
    assert whole.truth.tolist() == pieces.truth.tolist() == [row[3] for row in rows]
    assert whole.columns == ("a", "b")
    assert repr(whole) == "Table('data': 49 objects, 2 columns, ids, truth)"


def test_every_format_gives_the_same_table(put):
    X = np.array([[1.5, -2.0], [3.0, 4.0], [0.0, 9.0]])
    text = "p,q,kind\n" + "".join(f"{a!r},{b!r},k{i}\n" for i, (a, b) in enumerate(X.tolist()))
    columns = {"p": X[:, 0], "q": X[:, 1], "kind": ["k0", "k1", "k2"]}
    found = [
        read_table(put(text, "t.csv"), truth_column="kind"),
        read_table(put(text.replace(",", "\t"), "t.tsv"), truth_column="kind"),
        read_table(put(columns, "t.parquet"), truth_column="kind"),
        read_table(put(npz(X=X, kind=np.array(columns["kind"])), "t.npz"), truth_column="kind"),
    ]
    for table in found:
        np.testing.assert_array_equal(table.X, X)
        assert table.truth.tolist() == ["k0", "k1", "k2"]
    np.testing.assert_array_equal(read_table(put(npy(X), "t.npy")).X, X)
    np.testing.assert_array_equal(read_table(put(npz(anything=X), "t.npz")).X, X)


def test_columns_of_arrays_are_numbered(put):
    table = read_table(put(npy(np.arange(6).reshape(2, 3)), "a.npy"), id_column="c1")
    assert table.columns == ("c0", "c2")
    assert table.ids.tolist() == [1, 4]


def test_parquet_with_text_that_is_no_text_is_refused(put):
    damaged = arrow.array([b"x", b"\xff\xfe"]).view(arrow.string())
    path = put({"n": [1.0, 2.0], "word": damaged}, "t.parquet")
    for read in (lambda: read_table(path, encode="onehot"), lambda: read_labels(path)):
        with pytest.raises(InvalidInputError, match="damaged"):
            read()


def test_parquet_takes_whole_numbers_booleans_and_ids_of_any_type(put):
    path = put({"n": [1, 2], "yes": [True, False], "who": [7, 9]}, "t.parquet")
    table = read_table(path, id_column="who")
    assert table.X.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    assert table.ids.tolist() == [7, 9]


def test_quoted_cells_may_hold_delimiters_and_line_breaks(put):
    table = read_table(put('"a,b",name\n1,"x\ny"\n2,"p,q"\n'), id_column="name")
    assert table.columns == ("a,b",)
    assert table.ids.tolist() == ["x\ny", "p,q"]


def test_blank_lines_are_skipped_where_nothing_is_lost(put):
    assert read_table(put("\na,b\n1,2\n\n3,4\n\n\n")).X.tolist() == [[1, 2], [3, 4]]


# ---- guesses are made aloud -----------------------------------------------------------------


def test_a_first_line_of_numbers_is_data_and_said_so(put):
    with pytest.warns(ConsilienceWarning, match="no header line"):
        table = read_table(put("5,6\n7,8\n"))
    assert table.columns == ("c0", "c1")
    assert table.X.tolist() == [[5, 6], [7, 8]]


def test_the_header_of_unnamed_pandas_columns_is_no_object(put):
    with pytest.warns(ConsilienceWarning, match="taken as a header"):
        table = read_table(put("0,1\n5,6\n"))
    assert table.X.tolist() == [[5, 6]]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_the_index_of_pandas_becomes_identifiers(tmp_path, name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"v": [1.0, 2.0]}, index=["x", "y"])
    path = tmp_path / name
    frame.to_csv(path) if name.endswith("csv") else frame.to_parquet(path)
    with pytest.warns(ConsilienceWarning, match="taken as identifiers"):
        table = read_table(path)
    assert table.columns == ("v",)
    assert table.ids.tolist() == ["x", "y"]


def test_a_column_that_counts_the_rows_is_pointed_at(put):
    text = "id,v\n" + "".join(f"{i},{i * i}\n" for i in range(1, 20))
    with pytest.warns(ConsilienceWarning, match="'id' of 'data.csv' counts the rows, 1, 2, 3"):
        read_table(put(text))
    assert read_table(put(text), id_column="id").columns == ("v",)


# ---- what is refused, and in which words ----------------------------------------------------

REFUSED = {
    "empty": ("", {}, ["empty"]),
    "blank": ("\n\n  \n", {}, ["only blank lines"]),
    "header only": ("a,b\n", {}, ["no data"]),
    "strings": (
        "a,kind,b,site\n1,red,2,n\n3,blue,4,s\n",
        {},
        [
            "2 columns",
            "'kind' (line 2, row 0: 'red')",
            "'site' (line 2, row 0: 'n')",
            "--id-column",
        ],
    ),
    "late string": ("a\n1\n2\nx\n", {}, ["'a' (line 4, row 2: 'x')"]),
    "grouped digits": ("a\n1\n1_000\n", {}, ["'a' (line 3, row 1: '1_000')"]),
    "decimal comma": ("a;b\n1,5;2.5\n", {}, ["'1,5'", "point, not a comma"]),
    "missing": (
        "a,b\n1,\n3,NA\n,inf\n",
        {},
        [
            "'a' has 1 missing (first on line 4, row 2: '')",
            "'b' has 2 missing and 1 infinite",
            "line 2",
        ],
    ),
    "nan": ("a,b\n1,2\nnan,3\n", {}, ["'a' has 1 missing (first on line 3, row 1: 'nan')"]),
    "gap in one column": ("a\n1\n\n2\n", {}, ["'a' has 1 missing", "line 3"]),
    "ragged": ("a,b\n1,2\n3\n", {}, ["line 3 has 1 value", "2 columns"]),
    "too long": ("a,b\n1,2\n3,4,5\n", {}, ["line 3 has 3 values"]),
    "open quote": ('a,b\n1,"2\n3,4\n', {}, ["quote"]),
    "same names": ("a,b,a\n1,2,3\n", {}, ["two columns named 'a'", "1 and 3"]),
    "no name": ("a,b,\n1,2,\n", {}, ["line 1: column 3 has no name"]),
    "no name, below": ("# one\n\n# two\na,,b\n1,2,3\n", {}, ["line 4: column 2 has no name"]),
    "unknown id": ("a,b\n1,2\n", {"id_column": "z"}, ["'z'", "id_column", "'a' and 'b'"]),
    "unknown truth": ("a,b\n1,2\n", {"truth_column": "z"}, ["'z'", "truth_column"]),
    "same roles": ("a,b\n1,2\n", {"id_column": "a", "truth_column": "a"}, ["two columns"]),
    "no numbers": ("a,b\n1,2\n", {"id_column": "a", "truth_column": "b"}, ["no columns of"]),
    "no truth": ("a,b\n1,x\n2,\n", {"truth_column": "b"}, ["'b' has 1 missing", "line 3"]),
    "damaged": (b"\xc3\xa9,b\n1,2\n3,\xe9\n", {}, ["not UTF-8", "line 3", "0xe9", "--encoding"]),
}


@pytest.mark.parametrize(("content", "kwargs", "words"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_csv_is_refused_by_name_and_place(put, content, kwargs, words, ending):
    raw = content if isinstance(content, bytes) else content.encode()
    path = put(gzip.compress(raw) if ending == "csv.gz" else raw, f"data.{ending}")
    with pytest.raises(InvalidInputError) as caught:
        read_table(path, **kwargs)
    for word in [*words] if kwargs.get("id_column") == "a" else [*words, f"data.{ending}"]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


NOT_TABLES = {
    "one dimension": (npy(np.arange(3.0)), "d.npy", "reshape"),
    "text": (npy(np.array([["a", "b"]])), "d.npy", "not real numbers"),
    "complex": (npy(np.array([[1j]])), "d.npy", "not real numbers"),
    "objects": (npy(np.array([["a", None]], dtype=object)), "d.npy", "Python objects"),
    "no rows": (npy(np.zeros((0, 2))), "d.npy", "empty array"),
    "nan": (npy(np.array([[1.0, np.nan]])), "d.npy", "'c1' has 1 missing"),
    "cut": (npy(np.zeros((9, 9)))[:-7], "d.npy", "cut short"),
    "foreign": (b"once upon a time", "d.npy", "not a numpy file"),
    "two tables": (npz(a=np.zeros((2, 2)), b=np.ones((2, 2))), "d.npz", "under the name 'X'"),
    "cut archive": (npz(X=np.zeros((9, 9)))[:-9], "d.npz", "cut short"),
    "no parquet": (b"once upon a time", "d.parquet", "damaged"),
    "parquet strings": ({"a": [1.0], "s": ["x"]}, "d.parquet", "'s' (row 0: 'x')"),
    "parquet gap": ({"a": [1.0, None]}, "d.parquet", "'a' has 1 missing (first on row 1"),
    "parquet without rows": ({"a": arrow.array([], "double")}, "d.parquet", "0 rows"),
    "cut gzip": (gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-5], "d.csv.gz", "cut short"),
    "no gzip": (b"a,b\n1,2\n", "d.csv.gz", "not what its name says"),
    "spreadsheet": (b"PK", "d.ods", "must end in .csv"),
}


@pytest.mark.parametrize(("content", "name", "word"), NOT_TABLES.values(), ids=NOT_TABLES)
def test_other_files_are_refused_in_words(put, content, name, word):
    with pytest.raises(InvalidInputError) as caught:
        read_table(put(content, name))
    assert word in str(caught.value)
    assert name in str(caught.value)


def test_places_that_hold_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InvalidInputError, match="is a folder"):
        read_table(tmp_path)


def _whole_files():
    X = np.arange(60.0).reshape(20, 3)
    stream = io.BytesIO()
    parquet.write_table(arrow.table({"a": X[:, 0], "b": X[:, 1]}), stream)
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in (X * X + 5).tolist())
    return {
        "f.npy": npy(X),
        "f.npz": npz(X=X),
        "f.parquet": stream.getvalue(),
        "f.csv.gz": gzip.compress(text.encode()),
    }


@pytest.mark.parametrize(("name", "raw"), _whole_files().items(), ids=list(_whole_files()))
@pytest.mark.parametrize("read", [read_table, read_labels])
@IN_A_FOLDER
@given(data=st.data())
def test_a_file_cut_anywhere_is_refused(tmp_path, name, raw, read, data):
    path = tmp_path / name
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(InvalidInputError):
        read(path)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "npy", "npz", "parquet"])
@pytest.mark.parametrize("read", [read_table, read_labels])
@IN_A_FOLDER
@given(raw=st.binary(max_size=60) | st.text("01,;\t\n\"'a-.e", max_size=40).map(str.encode))
def test_no_content_breaks_a_reader(tmp_path, ending, read, raw):
    path = tmp_path / f"f.{ending}"
    path.write_bytes(raw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        try:
            found = read(path)
        except ConsilienceError:
            return
    if read is read_table:
        assert np.isfinite(found.X).all()


# ---- label files ----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy", "npz"])
@IN_A_FOLDER
@given(
    labels=arrays(
        np.int64,
        array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.integers(-2, 4),
    )
)
def test_labels_come_back_as_the_ensemble_they_are(tmp_path, ending, labels):
    path = tmp_path / f"l.{ending}"
    names = [f"m{m}" for m in range(labels.shape[1])]
    if ending == "csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", *names])
            for i, row in enumerate(labels.tolist()):
                writer.writerow([f"o{i}", *("" if v == -2 else v for v in row)])
    elif ending == "parquet":
        columns = {n: arrow.array(c, mask=c == -2) for n, c in zip(names, labels.T, strict=True)}
        parquet.write_table(arrow.table(columns), path)
    else:
        np.save(path, labels) if ending == "npy" else np.savez(path, labels=labels)
    found = read_labels(path)
    np.testing.assert_array_equal(found.labels, Ensemble(labels).labels)
    if ending == "csv":
        assert found.index.tolist() == [f"o{i}" for i in range(len(labels))]
    assert found.names == (tuple(names) if ending in ("csv", "parquet") else None)


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_saved_ensembles_are_read_with_all_they_know(tmp_path, ending):
    ensemble = Ensemble([[0, 0, 1], [0, 1, None]], index=["a", "b", "c"], names=["p", "q"])
    ensemble.save(tmp_path / f"e{ending}")
    found = read_labels(tmp_path / f"e{ending}")
    np.testing.assert_array_equal(found.labels, ensemble.labels)
    assert found.names == ("p", "q")
    assert found.index.tolist() == ["a", "b", "c"]


def test_labels_may_be_names_or_whole_floats(put):
    found = read_labels(put("who,m,n\nx,red,1.0\ny,blue,\nz,red,NA\n"), id_column="who")
    assert found.labels.tolist() == [[0, 0], [1, -2], [0, -2]]
    assert found.index.tolist() == ["x", "y", "z"]


def test_identifiers_among_the_members_are_pointed_at(put):
    text = "who,m\n" + "".join(f"o{i},{i % 2}\n" for i in range(12))
    with pytest.warns(ConsilienceWarning, match="'who' of 'data.csv' .* taken as identifiers"):
        found = read_labels(put(text))
    assert (found.n_members, found.index.tolist()) == (1, [f"o{i}" for i in range(12)])
    text = "who,m\n" + "".join(f"{i},{i % 2}\n" for i in range(12))
    with pytest.warns(ConsilienceWarning, match="'who' of 'data.csv' has a different label"):
        assert read_labels(put(text)).n_members == 2


@pytest.mark.parametrize("name", ["l.csv", "l.parquet"])
@pytest.mark.parametrize(
    ("n", "n_values", "warns"), [(10, 10, True), (10, 9, False), (9, 9, False)]
)
def test_only_labels_that_differ_for_all_of_ten_objects_look_like_identifiers(
    put, name, n, n_values, warns
):
    columns = {"who": np.arange(n) % n_values, "m": np.arange(n) % 2}
    lines = [",".join(columns), *(f"{a},{b}" for a, b in zip(*columns.values(), strict=True))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_labels(put("\n".join(lines) if name == "l.csv" else columns, name))
    assert found.n_members == 2
    assert [f"'who' of {name!r} has" in str(one.message) for one in caught] == [True] * warns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n0,1\n0,0.5\n", ["line 3", "'b'", "'0.5'"]),
        ("a,b\n0,1\n-3,0\n", ["line 3", "'a'", "'-3'"]),
        ("a,b\n0,1\ninf,0\n", ["line 3", "'inf'"]),
        ("id\nx\ny\n", ["only a column of identifiers"]),
        ("a,b\n0,1\n0\n", ["line 3 has 1 value"]),
        ("a,b\n", ["no data"]),
    ],
)
def test_files_without_labels_are_refused(put, text, words):
    with pytest.raises(InvalidInputError) as caught:
        read_labels(put(text))
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name", ["l.npy", "l.parquet"])
def test_data_given_as_labels_name_the_column(put, name):
    content = {"v": [0.5, 1.0]} if name == "l.parquet" else npy(np.array([[0.5], [1.0]]))
    with pytest.raises(InvalidInputError, match=r"column .* must be cluster labels.*0\.5"):
        read_labels(put(content, name))


def test_write_labels_is_whole_or_not_at_all(tmp_path):
    path = tmp_path / "labels.csv"
    write_labels(path, ["a,b", "c"], np.array([1, 0]), np.array([0.123456789, 1.0]))
    assert path.read_text() == 'id,cluster,confidence\n"a,b",1,0.123457\nc,0,1\n'
    before = path.read_bytes()
    with pytest.raises(ValueError, match="zip"):
        write_labels(path, ["only one"], [1, 0])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["labels.csv"]
    write_labels(path, None, [1, 0])
    assert path.read_text() == "id,cluster\n0,1\n1,0\n"


# ---- data sets by name ----------------------------------------------------------------------


def test_load_finds_a_set_in_the_folder_given_or_in_the_environment(tmp_path, monkeypatch):
    raw = gzip.compress(b"x,y,label\n1,2,one\n3,5,two\n")
    (tmp_path / "tiny.csv.gz").write_bytes(raw)
    given_folder = load("tiny", tmp_path)
    monkeypatch.setenv("CONSILIENCE_DATA", os.fspath(tmp_path))
    for table in (given_folder, load("tiny")):
        assert table.X.tolist() == [[1, 2], [3, 5]]
        assert table.truth.tolist() == ["one", "two"]
        assert table.name == "tiny"
    with pytest.raises(InvalidInputError, match=r"no data set 'huge' .* It holds tiny"):
        load("huge")
    with pytest.raises(InvalidParameterError, match="name of a data set"):
        load("../tiny")


def test_load_says_how_to_name_a_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(InvalidInputError, match="set the environment variable CONSILIENCE_DATA"):
        load("iris")
    with pytest.raises(InvalidInputError, match="named by data_home"):
        load("iris", tmp_path / "none")
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "none"))
    with pytest.raises(InvalidInputError, match="named by the environment variable"):
        load("iris")
    with pytest.raises(InvalidInputError, match=r"no \.csv\.gz files"):
        load("iris", tmp_path)


def test_pyarrow_is_named_where_it_is_missing(put, monkeypatch):
    path = put({"a": [1.0]}, "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"consilience\[store\]"):
        read_table(path)
    assert Path(path).exists()
