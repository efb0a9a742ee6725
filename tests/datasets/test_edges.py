"""At the edges of files and frames: the last block, the first empty row, the largest there is."""

import datetime
import gc
import sys
import tempfile
import warnings
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.spatial.distance import pdist

from consilience import Ensemble
from consilience.datasets import (
    _annotated,
    _association,
    _blocks,
    _csv,
    _files,
    _frames,
    _graphs,
    _mixed,
    _points,
    _scale,
    _views,
    _workbooks,
    informative_terms,
    make_gaussians,
    open_rows,
    read_graph,
    read_labels,
    read_table,
    write_annotated,
)
from consilience.datasets._columns import Columns, Part, Words
from consilience.datasets._label_files import has_column
from consilience.errors import InvalidInputError


def told(function, *args, **options):
    """What a call returns, and the warnings it makes."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = function(*args, **options)
    return answer, [str(one.message) for one in said]


# ---- made sets ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_single_gaussian_lies_around_the_origin(n_features, seed):
    options = {"n_clusters": 1, "n_features": n_features, "random_state": seed}
    X, y = make_gaussians(400, separation=6.0, spread=0.5, **options)
    assert not y.any()
    assert (np.abs(X.mean(axis=0)) < 6 * 0.5 / 20).all()
    again, _ = make_gaussians(400, separation=60.0, spread=0.5, **options)
    np.testing.assert_array_equal(again, X)  # there is no other centre to be apart from


def test_two_gaussians_have_their_centres_as_far_apart_as_asked(seed):
    X, y = make_gaussians(4000, 2, 3, separation=7.0, spread=2.0, random_state=seed)
    centres = np.array([X[y == k].mean(axis=0) for k in range(2)])
    assert abs(pdist(centres)[0] - 14.0) < 0.6


# ---- columns --------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from(["a", " a", "b ", "c", None, 1, 2.5]), min_size=1, max_size=6)


@given(parts=st.lists(WORDS, min_size=1, max_size=4), data=st.data())
def test_words_given_as_codes_are_words_given_one_by_one(parts, data):
    plain, coded = Words(), Words()
    for cells in parts:
        plain.add(cells)
        words = data.draw(st.permutations([*dict.fromkeys(cells), "nobody's"]))
        coded.add_codes(words, np.array([words.index(cell) for cell in cells], np.int32))
    assert coded.words == plain.words
    np.testing.assert_array_equal(coded.codes, plain.codes)
    flat = [one.strip() if isinstance(one, str) else one for cells in parts for one in cells]
    assert [plain.words[code] for code in plain.codes] == flat
    assert plain.cells().tolist() == np.asarray(flat).tolist()
    for code, word in enumerate(plain.words):
        assert plain.first_row(code) == flat.index(word)


def test_the_first_gap_of_each_column_is_kept_with_its_place():
    columns = Columns(Path("t.csv"), list("abc"), [2, 0], [1], "line")
    nan = np.nan
    for start, numbers, gaps in (
        (5, [[1.0, nan], [2.0, 3.0]], {0: (1, "x")}),
        (9, [[nan, 4.0], [5.0, nan]], {2: (0, "y"), 0: (1, "z")}),
    ):
        table = np.array(numbers)
        places = np.array([start, start + 1])
        columns.add(Part({2: table[:, 0], 0: table[:, 1]}, {1: ["u", "v"]}, places, gaps))
    assert columns.gaps == {0: (6, "x"), 2: (9, "y")}
    np.testing.assert_array_equal(columns.matrix(), [[1, nan], [2, 3], [nan, 4], [5, nan]])
    np.testing.assert_array_equal(columns.column(0), [nan, 3, 4, nan])
    assert columns.places().tolist() == [5, 6, 9, 10]
    assert [columns.at(place) for place in (5, 9)] == ["line 5, row 0", "line 9, row 2"]
    assert columns.n_objects == 4


def test_gaps_of_arrays_are_named_by_column_and_row(tmp_path):
    X = np.array([[1.0, 2, 3], [4, 5, np.inf], [np.nan, 8, 9], [np.nan, 1, 2]])
    np.save(tmp_path / "x.npy", X)
    wanted = (
        "in 3 of its 4 rows: 'c0' has 2 missing (first on row 2: nan) and 'c2' has 1 infinite "
        "(first on row 1: inf)."
    )
    with pytest.raises(InvalidInputError) as refused:
        read_table(tmp_path / "x.npy")
    assert wanted in str(refused.value)


def test_nothing_is_guessed_of_the_columns_of_an_array(tmp_path):
    X = np.column_stack([np.arange(12), 20200101 + np.arange(12), np.arange(12) ** 2.0])
    np.save(tmp_path / "x.npy", X)
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X))
    np.savez(tmp_path / "a.npz", X=X, ids=np.arange(12))
    for name in ("x.npy", "s.npz", "a.npz"):
        table, said = told(read_table, tmp_path / name)
        values = table.X.toarray() if sparse.issparse(table.X) else table.X
        np.testing.assert_array_equal(values, X)
        assert (table.columns, table.ids, said) == (("c0", "c1", "c2"), None, [])


# ---- text in blocks -------------------------------------------------------------------------


def test_rows_of_text_come_in_chunks_of_so_many_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_CELLS", 12)
    for width, sizes in ((3, [4, 4, 1]), (5, [2, 2, 2, 2, 1]), (12, [1] * 9), (13, [1] * 9)):
        path = tmp_path / "t.csv"
        names = ",".join(f"n{j}" for j in range(width))
        path.write_text("\n".join([names, *[",".join("7" * width)] * 9]) + "\n")
        with _csv.open_csv(path) as file:
            chunks = list(file.chunks)
        assert [len(chunk.rows) for chunk in chunks] == sizes
        assert [line for chunk in chunks for line in chunk.lines] == list(range(2, 11))


@pytest.mark.parametrize("read", [open_rows, read_labels, read_graph])
@pytest.mark.parametrize(
    ("raw", "where"),
    [
        ("a,b\n1,2\n".encode("utf-16-le"), None),
        (b"\xff\xfea,b\n1,2\n", "it starts with the mark of UTF-16"),
        (b"\xfe\xff\x00a\x00\n", "it starts with the mark of UTF-16"),
        (b"\xffa,b\n1,2\n", "line 1 has the byte 0xff"),
        (b"a,b\n\xff\xfe,2\n", "line 2 has the byte 0xff"),
        (b"a,b\n" + b"1,2\n" * 7 + b"3,\xc3\xa9\xe9\n", "line 9 has the byte 0xe9"),
        (b"a,b\n1,2\n3,\xc3", "line 3 has the byte 0xc3"),
    ],
)
def test_text_in_another_encoding_is_refused_with_the_place(tmp_path, read, raw, where):
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(InvalidInputError) as refused:
        told(read, path)
    if where is not None:
        assert f"'t.csv' is not UTF-8 text: {where}. Save it" in str(refused.value)


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("last", ["5,6\r7,8\n", '5,"6\r"\r\n7,8\r'])
def test_a_file_that_is_irregular_far_below_is_read_once_in_all(tmp_path, monkeypatch, arrow, last):
    monkeypatch.setattr(_blocks, "_BYTES", 40)
    monkeypatch.setattr(_blocks, "_SMALL", 0)
    if not arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.csv"
    rows = [[i + 0.5, -i] for i in range(50)]
    path.write_bytes(("x,y\n" + "".join(f"{a},{b}\n" for a, b in rows) + last).encode())
    opened, _ = told(open_rows, path)
    np.testing.assert_array_equal(opened.values.read(0, len(opened)), [*rows, [5, 6], [7, 8]])
    np.testing.assert_array_equal(told(read_table, path)[0].X, [*rows, [5, 6], [7, 8]])


@pytest.mark.parametrize("last", ["", "5,6\r7,8\n"])
@pytest.mark.parametrize("read", [read_table, open_rows])
def test_comments_of_all_blocks_are_counted_together(tmp_path, monkeypatch, read, last):
    monkeypatch.setattr(_blocks, "_BYTES", 40)
    path = tmp_path / "t.csv"
    rows = [f"{i + 0.5},{-i}" for i in range(60)]
    rows[10:10] = ["# one"]
    rows[45:45] = ["# two", "# three"]
    path.write_bytes(("x,y\n" + "\n".join(rows) + "\n" + last).encode())
    _, said = told(read, path)
    counted = [one for one in said if "#" in one]
    assert counted == ["3 lines among the rows of 't.csv' that start with # are comments: skipped."]


@pytest.mark.parametrize("odd", ["1_000", "2_5"])
def test_numbers_with_underscores_are_words_in_whatever_block_they_stand(
    tmp_path, monkeypatch, odd
):
    monkeypatch.setattr(_blocks, "_BYTES", 60)
    monkeypatch.setattr(_blocks, "_SAMPLE", 5)
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i}.5\n" for i in range(40)) + f"{odd},1\n" * 40)
    with pytest.raises(InvalidInputError, match=f"'x' holds numbers but for '{odd}'"):
        told(read_table, path)
    with pytest.raises(InvalidInputError, match="'x' does not"):
        told(open_rows, path)


@pytest.mark.parametrize("reader", ["arrow", "numpy"])
@pytest.mark.parametrize("names", [["x"], ["x", "y"], ["x", "y", "w"]])
def test_tables_of_any_width_come_back_from_blocks(tmp_path, monkeypatch, reader, names):
    monkeypatch.setattr(_blocks, "_BYTES", 50)
    monkeypatch.setattr(_blocks, "_SMALL", 0 if reader == "arrow" else 10**9)
    path = tmp_path / "t.csv"
    wanted = np.arange(70.0 * len(names)).reshape(70, -1) / 4
    lines = [",".join(map(repr, row)) for row in wanted.tolist()]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    np.testing.assert_array_equal(told(read_table, path, id_column="none")[0].X, wanted)


READERS = {"arrow": 0, "numpy": 10**9}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "text",
    [
        "x,y\n" + "".join(f"{i},{i}.5\n" for i in range(60)),
        "x,y\n" + "".join(f"{i},{i}.5\n" for i in range(60)) + "60,1",
        "x,w\n" + "".join(f"{i},{'uvu'[i % 3]}\n" for i in range(60)),
        "x,w\n" + "".join(f'{i},"{"uvu"[i % 3]}, "\n' for i in range(60)),
        "x;y\r\n" + "".join(f"{i};{i}e2\r\n" for i in range(60)),
    ],
)
def test_blocks_without_anything_odd_never_go_to_the_slow_reader(
    tmp_path, monkeypatch, reader, text
):
    if reader == "arrow":
        pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    wanted = told(read_table, path, id_column="none", encode="onehot")[0]
    monkeypatch.setattr(_blocks, "_BYTES", 70)
    monkeypatch.setattr(_blocks, "_SMALL", READERS[reader])
    monkeypatch.setattr(_blocks, "_by_csv", None)
    found = told(read_table, path, id_column="none", encode="onehot")[0]
    np.testing.assert_array_equal(found.X, wanted.X)
    assert found.columns == wanted.columns
    assert found.X[:, 0].tolist() == list(range(len(found.X)))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("decimal", "cells", "wanted"),
    [
        (",", ["1.234", "2.000.000", "0,5"], [1234, 2_000_000, 0.5]),
        (",", ["1.234", "2.345", "3.456"], [1234, 2345, 3456]),
        (".", ["1'234", "2 345.5", "3"], [1234, 2345.5, 3]),
        (".", ["1.234", "2.345", ".5"], [1.234, 2.345, 0.5]),
    ],
)
def test_decimal_marks_mean_the_same_to_every_reader(
    tmp_path, monkeypatch, reader, decimal, cells, wanted
):
    monkeypatch.setattr(_blocks, "_SMALL", READERS[reader])
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{cell};7\n" for cell in cells))
    table, _ = told(read_table, path, decimal=decimal)
    assert table.X.tolist() == [[one, 7] for one in wanted]


def test_the_temporary_file_holds_the_rows_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "place"))
    (tmp_path / "place").mkdir()
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(f"{i},{i}.5,{-i}\n" for i in range(9)))
    rows, said = told(open_rows, path, ignore=["b"])
    (folder,) = (tmp_path / "place").iterdir()
    (file,) = folder.iterdir()
    assert file.read_bytes() == np.array([[i, -i] for i in range(9)], np.float64).tobytes()
    assert said == [
        "'t.csv' was converted once to a file of 144 bytes in the folder for temporary files, and "
        "is read from there block by block."
    ]
    assert rows.names == ("a", "c")
    del rows
    gc.collect()
    assert not list((tmp_path / "place").iterdir())


@pytest.mark.parametrize(("width", "sizes"), [(2, [3, 3, 1]), (6, [1] * 7), (7, [1] * 7)])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_rows_of_arrow_files_come_in_batches_of_so_many_cells(
    tmp_path, monkeypatch, ending, width, sizes
):
    arrow, store, feather = map(pytest.importorskip, ARROW)
    monkeypatch.setattr(_files, "_CELLS", 6)
    table = arrow.table({f"c{j}": np.arange(7.0) * j for j in range(width)})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        store.write_table(table, path)
    else:
        feather.write_feather(table, path)
    with _files.open_parquet(path) as file:
        assert [len(one) for one in _files.parquet_batches(path, file)] == sizes
    wanted = np.outer(np.arange(7.0), np.arange(width))
    np.testing.assert_array_equal(told(read_table, path, ignore=["c0"])[0].X, wanted[:, 1:])


ARROW = ("pyarrow", "pyarrow.parquet", "pyarrow.feather")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([[1], [2]], ("[1]", "[2]")),
        ([{"a": 1}, {"a": 2}], ("{'a': 1}", "{'a': 2}")),
        ([b"x", b"y"], ("b'x'", "b'y'")),
        ([7, 9], None),
    ],
)
@pytest.mark.parametrize("coded", [True, False])
def test_words_that_are_no_text_are_shown_whether_they_are_coded_or_not(
    tmp_path, words, shown, coded
):
    arrow, _, feather = map(pytest.importorskip, ARROW)
    cells = arrow.array([words[i] for i in (0, 1, 0)])
    if coded:
        codes = arrow.array([0, 1, 0], arrow.int32())
        cells = arrow.DictionaryArray.from_arrays(codes, arrow.array(words))
    path = tmp_path / "t.feather"
    feather.write_feather(arrow.table({"x": [1.0, 2.0, 3.0], "w": cells}), path)
    table, _ = told(read_table, path, encode="mixed")
    column = table.recipe.columns[1]
    if shown is None:
        assert table.X[:, 1].tolist() == [7, 9, 7]
    else:
        assert (column.name, column.categories) == ("w", shown)
        assert table.X[:, 1].tolist() == [0, 1, 0]


# ---- workbooks ------------------------------------------------------------------------------


def archive(path, parts, compressed=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compressed) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


TYPES = "[Content_Types].xml"
PLAIN = {TYPES: "<a/>", "xl/workbook.xml": "<b/>"}


def test_cells_of_a_sheet_are_text_byte_for_byte(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    page = book.active
    page.title = "first"
    book.create_sheet("second").append([1])
    for row in (
        [],
        ["name", "x", "when", None],
        ["two  words ", 1.0, datetime.datetime(2020, 1, 2), None],
        [],
        [True, 0.1, datetime.datetime(2020, 1, 2, 3, 4, 5)],
        ["#N/A", 1e300, datetime.time(6, 30)],
        ["#DIV/0!", 2.0**53 - 1, datetime.timedelta(days=1, hours=12), "far"],
        [False, -3, datetime.date(2021, 5, 6)],
        [None, None, None, None],
    ):
        page.append(row)
    path = tmp_path / "b.xlsx"
    book.save(path)
    notes = []
    with _workbooks.sheet_as_text(path, None, notes) as copy:
        assert copy.name == "b.xlsx"
        text = copy.read_bytes().decode()
    assert not copy.exists()
    assert text.split("\r\n") == [
        "name,x,when,",
        "two words,1,2020-01-02,",
        ",,,",
        "true,0.1,2020-01-02 03:04:05,",
        ",1e+300,06:30:00,",
        ",9007199254740991,1.5,far",
        "false,-3,2021-05-06,",
        "",
    ]
    assert notes == [
        "'b.xlsx' has 2 sheets: 'first' is read, and 'second' not. Name another with sheet "
        "(--sheet).",
        "2 cells of 'b.xlsx' are an error of a formula, such as #N/A, and taken as missing.",
    ]
    notes = []
    with _workbooks.sheet_as_text(path, "second", notes) as copy:
        assert copy.read_bytes() == b"1\r\n"
    assert notes == []


def test_sheets_that_are_hidden_are_not_taken_by_themselves(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["hidden"])
    book.active.sheet_state = "hidden"
    book.create_sheet("seen").append(["seen"])
    book.save(tmp_path / "b.xlsx")
    notes = []
    for name, wanted in ((None, b"seen\r\n"), ("Sheet", b"hidden\r\n")):
        with _workbooks.sheet_as_text(tmp_path / "b.xlsx", name, notes) as copy:
            assert copy.read_bytes() == wanted
    assert notes == []
    book["seen"].delete_rows(1, 5)
    book.save(tmp_path / "b.xlsx")
    with (
        pytest.raises(InvalidInputError, match=r"The sheet 'seen' of 'b\.xlsx' is empty\."),
        _workbooks.sheet_as_text(tmp_path / "b.xlsx", None, notes),
    ):
        pass


@pytest.mark.parametrize("above", [0, 100, 2**14, 2**15 + 5])
def test_all_that_stands_above_the_elements_of_a_part_is_looked_at(tmp_path, above):
    long = f"<?xml version='1.0'?><!--{'x' * above}-->"
    path = archive(tmp_path / "b.xlsx", PLAIN | {"xl/extra.xml": f"{long}<a>{'y' * above}</a>"})
    _workbooks._check_archive(path)
    for declared in ("<!DOCTYPE a>", "<!DOCTYPE a [<!ENTITY b 'c'>]>"):
        archive(path, PLAIN | {"xl/extra.RELS": f"{long}{declared}<a/>"})
        with pytest.raises(InvalidInputError, match=r"'xl/extra.RELS' in it declares a document"):
            _workbooks._check_archive(path)
    archive(path, PLAIN | {"xl/extra.xml": f"{long}no element"})
    with pytest.raises(InvalidInputError, match=r"'xl/extra.xml' in it is no XML"):
        _workbooks._check_archive(path)
    archive(path, PLAIN | {"xl/extra.bin": f"{long}<!DOCTYPE a>"})
    _workbooks._check_archive(path)


def sizes(**parts):
    made = []
    for name, (size, packed) in parts.items():
        one = zipfile.ZipInfo(name.replace("__", "/").replace("_xml", ".xml"))
        one.file_size, one.compress_size = size, packed
        made.append(one)
    return made


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (sizes(a=(2**24, 1)), None),
        (sizes(a=(2**24 + 1, 1)), r"'a' in it unpacks to 16,777,217 times its size"),
        (sizes(a=(2**25, 2**25 // 250)), r"'a' in it unpacks to 250 times its size"),
        (sizes(a=(2**25, 2**25 // 250 + 1)), None),
        (sizes(a=(2**25, 0)), r"'a' in it unpacks to 33,554,432 times its size"),
        (sizes(a_xml=(2**26, 2**24)), None),
        (sizes(a_xml=(2**26 + 2**20, 2**24)), r"'a.xml' in it, which is no sheet, has 65 MiB"),
        (sizes(a_bin=(2**27, 2**24)), None),
        (sizes(xl__worksheets__a_xml=(2**27, 2**24)), None),
        (sizes(xl__sharedStrings_xml=(2**27, 2**24)), None),
        (sizes(a=(2**29, 2**28), b=(2**29, 2**28)), None),
        (sizes(a=(2**29, 2**28), b=(2**29 + 1, 2**28)), r"to 1\.0 GiB, where at most 1 is read"),
        (sizes(a=(2**30, 2**28), b=(2**30, 2**28)), r"to 2\.0 GiB, where at most 1 is read"),
        (sizes(a=(1, 1)) * 10_000, None),
        (sizes(a=(1, 1)) * 10_001, "it has 10,001 parts"),
    ],
)
def test_archives_are_refused_just_above_what_is_read(parts, why):
    if why is None:
        _workbooks._check_sizes(Path("b.xlsx"), parts)
        return
    with pytest.raises(InvalidInputError, match=f"fill the memory: .*{why}"):
        _workbooks._check_sizes(Path("b.xlsx"), parts)


def test_what_is_no_workbook_is_refused_in_its_own_words(tmp_path):
    path = tmp_path / "b.xlsx"
    for raw, words in (
        (b"\xd0\xcf\x11\xe0", "is an old workbook (.xls), or locked with a password"),
        (b"\xd0\xcf\x11\xe1", "is damaged"),
        (b"PK", "is damaged"),
    ):
        path.write_bytes(raw)
        with pytest.raises(InvalidInputError) as refused:
            read_table(path)
        assert words in str(refused.value)
    for parts in ({TYPES: "<a/>"}, {"xl/workbook.xml": "<a/>"}):
        archive(path, parts)
        with pytest.raises(InvalidInputError, match="is an archive, but no workbook"):
            read_table(path)


def test_empty_cells_are_refused_just_above_what_is_read(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "y"], [1, 2], [], [], [3, None, None, 4]):
        book.active.append(row)
    path = tmp_path / "b.xlsx"
    book.save(path)
    # An empty cell for the end of each row; those beside the table count, those in it do not.
    with _workbooks.sheet_as_text(path, None, []) as copy:
        wanted = copy.read_bytes()
    assert wanted == b"x,y,,\r\n1,2,,\r\n,,,\r\n,,,\r\n3,,,4\r\n"
    monkeypatch.setattr(_workbooks, "_MOST_EMPTY", 0)
    with _workbooks.sheet_as_text(path, None, []) as copy:
        assert copy.read_bytes() == wanted
    monkeypatch.setattr(_workbooks, "_MOST_EMPTY", -1)
    with (
        pytest.raises(InvalidInputError, match="more than -1 empty cells in the sheet 'Sheet'"),
        _workbooks.sheet_as_text(path, None, []),
    ):
        pass


# ---- annotated data -------------------------------------------------------------------------


@pytest.fixture
def cells(tmp_path):
    """A small file of annotated data with columns of every type."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "c.h5ad"
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(12.0).reshape(4, 3)
        obs = file.create_group("obs")
        obs.attrs["_index"], obs.attrs["column-order"] = "cell", ["bytes", "number"]
        obs["cell"] = np.array([b"c0", b"c1", b"c2", b"c3"])
        obs["bytes"] = np.array([b"u", b"v", b"\xff", b"u"])
        obs["number"] = np.array([3, 1, 2, 3], np.int16)
        obs["flag"] = np.array([True, False, True, True])
        obs["pair"] = np.array([(1, 2)] * 4, [("a", int), ("b", int)])
        obs["square"] = np.zeros((2, 2))
        kind = obs.create_group("kind")
        kind["categories"] = np.array(["t", "b"], object).astype(text)
        kind["codes"] = np.array([1, 0, 1, 1], np.int8)
        obs.create_group("nothing")
        file.create_group("var").create_dataset("_index", data=np.array([b"g", b"g", b"h"]))
        layers = file.create_group("layers")
        layers["counts"] = np.arange(12).reshape(4, 3)
        layers["wide"] = np.ones((4, 2))
        layers["flat"] = np.ones(4)
        obsm = file.create_group("obsm")
        obsm["counts"] = np.ones((4, 2))
        obsm["X_pca"] = np.arange(8.0).reshape(4, 2)
        obsm["short"] = np.ones((3, 2))
    return path


def test_columns_of_annotated_data_may_be_bytes_numbers_and_flags(cells):
    found = _annotated.read_annotated(cells, None, ["bytes", "number", "flag", "kind", "none"])
    assert found.ids.tolist() == ["c0", "c1", "c2", "c3"]
    assert found.columns == ["g", "g-1", "h"]
    assert found.about == {
        "bytes": ["u", "v", "\N{REPLACEMENT CHARACTER}", "u"],
        "number": [3, 1, 2, 3],
        "flag": [True, False, True, True],
        "kind": ["b", "t", "b", "b"],
    }
    np.testing.assert_array_equal(found.X, np.arange(12.0).reshape(4, 3))
    assert found.X.dtype == np.float64
    pca = _annotated.read_annotated(cells, "X_pca", [])
    assert (pca.columns, pca.about) == (["X_pca0", "X_pca1"], {})
    names = ["bytes", "number", "flag", "pair", "square", "kind", "nothing"]
    assert sorted(_annotated.obs_columns(cells)) == sorted(names)
    table = read_table(cells, id_column="number", truth_column="kind", layer="obsm/X_pca")
    assert table.ids.tolist() == [3, 1, 2, 3]
    assert table.truth.tolist() == ["b", "t", "b", "b"]


@pytest.mark.parametrize(
    ("layer", "wanted", "words"),
    [
        (None, ["pair"], "'obs/pair' holds values of type"),
        (None, ["square"], "'obs/square' is no column"),
        (None, ["nothing"], "'obs/nothing' is no column of words or numbers"),
        ("counts", [], "has more than one layer 'counts'. Those that layer (--layer) can name are"),
        ("zzz", [], "has no layer 'zzz'. Those that layer (--layer) can name are 'X', "),
        ("flat", [], "'/layers/flat' is no matrix of numbers"),
        ("wide", [], "'layers/wide' has 2 columns, 'var' 3"),
        ("short", [], "'obsm/short' has 3 rows for 4 names"),
    ],
)
def test_what_cannot_be_read_of_annotated_data_is_named(cells, layer, wanted, words):
    with pytest.raises(InvalidInputError) as refused:
        _annotated.read_annotated(cells, layer, wanted)
    assert words.replace("'X', ", "") in str(refused.value)


def test_damaged_annotated_data_is_said_so_by_every_way_in(cells, tmp_path):
    h5py = pytest.importorskip("h5py")
    whole, path = cells.read_bytes(), tmp_path / "d.h5ad"
    ways = (
        lambda: read_table(path),
        lambda: _annotated.obs_columns(path),
        lambda: write_annotated(path, tmp_path / "out.h5ad", [0, 0, 1, 1]),
    )
    for cut in (4, 8, 600, len(whole) // 2):
        path.write_bytes(whole[:cut])
        for way in ways:
            with pytest.raises(InvalidInputError, match=r"^'d\.h5ad' is damaged"):
                way()
    path.unlink()
    with h5py.File(path, "w") as file:
        file["obs"] = 5
        file["X"] = np.ones((2, 2))
    for way, why in zip(
        ways, ["table of before anndata", "not iterable|scalar", "table of"], strict=True
    ):
        with pytest.raises(InvalidInputError, match=rf"^'d\.h5ad' is damaged.*({why})"):
            way()
    assert not (tmp_path / "out.h5ad").exists()


def test_the_size_that_is_promised_may_be_as_large_as_the_limit(cells):
    limit = 2**26 + 200 * cells.stat().st_size
    _annotated._check_size(cells, "X", limit)
    with pytest.raises(InvalidInputError, match=r"'X' in it promises 0\.1 GiB"):
        _annotated._check_size(cells, "X", limit + 1)


def test_clusters_are_written_as_anndata_lays_them_out(cells, tmp_path):
    h5py = pytest.importorskip("h5py")
    before = cells.read_bytes()
    target = tmp_path / "out.h5ad"
    for _ in range(2):  # over what is there
        write_annotated(cells, target, np.array([7, -1, 3, 7]), [0.5, 0, 1, 0.25])
    assert cells.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.h5ad", "out.h5ad"]
    with h5py.File(target) as file:
        obs = file["obs"]
        made = obs["consilience_cluster"]
        assert dict(made.attrs) == {
            "encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False,
        }  # fmt: skip
        assert made["categories"].asstr()[:].tolist() == ["3", "7"]
        assert dict(made["categories"].attrs) == {
            "encoding-type": "string-array", "encoding-version": "0.2.0",
        }  # fmt: skip
        assert made["codes"][:].tolist() == [1, -1, 0, 1]
        assert made["codes"].dtype == np.int32
        array = {"encoding-type": "array", "encoding-version": "0.2.0"}
        assert dict(made["codes"].attrs) == array
        assert dict(obs["consilience_confidence"].attrs) == array
        assert obs["consilience_confidence"][:].tolist() == [0.5, 0, 1, 0.25]
        order = ["bytes", "number", "consilience_cluster", "consilience_confidence"]
        assert list(obs.attrs["column-order"]) == order
    write_annotated(target, target, [0, 0, 1, 1])  # the confidence was of other labels
    with h5py.File(target) as file:
        assert "consilience_confidence" not in file["obs"]
        assert list(file["obs"].attrs["column-order"]) == ["bytes", "number", "consilience_cluster"]


# ---- frames ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([True, None, False], "boolean", [1, np.nan, 0]),
        ([2**60, None, 3], "Int64", [2.0**60, np.nan, 3]),
        ([1, None, 3], "Int8", [1, np.nan, 3]),
        ([1.5, None, 3], "Float64", [1.5, np.nan, 3]),
        ([True, None, False], "bool[pyarrow]", [1, np.nan, 0]),
        ([2**60, None, 3], "int64[pyarrow]", [2.0**60, np.nan, 3]),
        ([Decimal("1.5"), None, Decimal(2)], object, [1.5, np.nan, 2]),
        ([True, None, False], object, [1, np.nan, 0]),
        ([datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 5)], "date32[day][pyarrow]",
         [0, np.nan, 3]),
    ],
)  # fmt: skip
def test_gaps_of_a_frame_are_gaps_in_any_type(values, kind, wanted):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in str(kind):
        pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": pandas.Series(values, dtype=kind), "n": [1.0, 2.0, 3.0]})
    table = _frames.frame_table(frame, impute="keep", say=False)
    assert table.columns == ("x", "n")
    np.testing.assert_array_equal(table.X[:, 0], wanted)


def test_nothing_is_guessed_of_the_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"row": np.arange(12), "id": np.arange(100, 112), "day": 20200101 + np.arange(12)}
    )
    table, said = told(_frames.frame_table, frame, impute=None)
    np.testing.assert_array_equal(table.X, frame)
    assert (table.columns, table.ids, said) == (("row", "id", "day"), None, [])


def test_categories_that_were_split_are_places_again_also_of_new_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"w": ["u", "v", "t", None], "k": ["a", "b", None, "a"], "x": 1.5})
    first = _frames.frame_table(frame, impute="keep", say=False)
    later = pandas.DataFrame({"w": ["v", "new", None, "t"], "k": ["b", "c", "a", None], "x": 2.5})
    second, _ = told(_frames.frame_like, later, first.recipe)
    nan = np.nan
    for table, w, k in (
        (first, [0, 1, 2, nan], [0, 1, nan, 0]),
        (second, [1, nan, nan, 2], [1, nan, 0, nan]),
    ):
        mixed = _mixed.mixed_of(table.X, table.sources, table.recipe)
        np.testing.assert_array_equal(mixed.values[:, :2].T, [w, k])
        assert (mixed.categorical, mixed.names) == ((0, 1), ("w", "k", "x"))


# ---- views, scales, labels ------------------------------------------------------------------


@pytest.mark.parametrize("keep_gaps", [True, False])
def test_a_sparse_view_is_refused_with_what_to_do(keep_gaps):
    views = {"a": sparse.csr_array(np.eye(3)), "b": np.eye(3)}
    with pytest.raises(InvalidInputError, match=r"view 'a' of cluster is sparse\. Give a dense"):
        _views.side_by_side(views, owner="cluster", keep_gaps=keep_gaps)


def test_other_rows_are_scaled_as_the_first_were(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * [1, 1e200, 1e-200, 3] + [0, 0, 0, 50]
    X[:, 2] = 5.0
    names = ("a", "b", "c", "d")
    (scaled, kept, dropped, how), said = told(_scale.standardise, X, names)
    assert (kept, dropped) == (("a", "b", "d"), ("c",))
    assert said == ["Column 'c' of The data has the same value in every row and is left out."]
    small = X[:, [0, 1, 3]] / [1, 1e200, 1]
    wanted = (small - small.mean(axis=0)) / small.std(axis=0)
    np.testing.assert_allclose(scaled, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(how.applied(X[7:9]), scaled[7:9])
    far = X[:2].copy()
    far[1, 0] = -1e308
    far[1, 2] = 1e308  # of a column that is left out
    how = _scale.Scaling(how.kept, how.unit, how.mean, how.spread * [1e-10, 1, 1])
    with pytest.raises(InvalidInputError, match=r"^Values up to 1e\+308 cannot be brought to"):
        how.applied(far)


def associated(one, other, level):
    """Reference: squared and corrected association of two columns of codes, NaN where unknown."""
    pairs = [pair for pair in zip(one, other, strict=True) if not np.isnan(pair).any()]
    rows, columns = (sorted({pair[i] for pair in pairs}) for i in (0, 1))
    if len(rows) < 2 or len(columns) < 2:
        return 0.0
    counts = np.array([[pairs.count((a, b)) for b in columns] for a in rows])
    found = stats.chi2_contingency(counts, correction=False)
    if found.pvalue >= level:
        return 0.0
    excess = found.statistic / len(pairs) - found.dof / (len(pairs) - 1)
    return max(excess, 0.0) / (min(counts.shape) - 1)


@pytest.mark.parametrize("n", [12, 60])
def test_associations_are_their_definition(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    table = np.column_stack([
        np.where(rng.uniform(size=n) < 0.7, group, 7.0),
        np.where(np.arange(n) == 1, 5, group * 2),  # one category of one object
        np.where(rng.uniform(size=n) < 0.2, np.nan, group),
        rng.integers(2, size=n),
        group + rng.normal(0, 0.1, n),
    ])  # fmt: skip
    kinds = [0, 1, 2, 3]
    edges = np.quantile(table[:, 4], np.arange(1, 6) / 6)
    coded = [*table[:, :4].T, (table[:, [4]] >= edges).sum(axis=1)]
    level = 0.05 / 4
    sums = [sum(associated(coded[i], coded[j], level) for j in range(5) if j != i) for i in kinds]
    wanted = np.maximum(np.sqrt(np.array(sums) / max(sums)), 0.1)
    found = _association.association_weights(table, kinds)
    np.testing.assert_allclose(found, [*wanted, 1.0], rtol=1e-9)


def test_gaps_are_filled_with_the_mean_of_the_nearest_that_know(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5)) * [1, 2, 30, 0.1, 1] + 4
    X[rng.uniform(size=X.shape) < 0.35] = np.nan
    X[:2] = np.nan  # nothing is known of one, and little of the other
    X[1, 3] = 4.0
    names = list("abcde")
    found, _, _, how = _points.points_with_gaps(X, names, sources=names, weights=np.ones(5))
    scaled = how.with_gaps(X)
    np.testing.assert_allclose(np.nanmean(scaled, axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.nanstd(scaled, axis=0), 1, rtol=1e-9)
    wanted = scaled.copy()
    for i, j in np.argwhere(np.isnan(scaled)):
        squares = (scaled - scaled[i]) ** 2
        common = np.flatnonzero(~np.isnan(squares).all(axis=1))
        near = common[np.argsort(np.nanmean(squares[common], axis=1), kind="stable")[:30]]
        known = scaled[near, j][~np.isnan(scaled[near, j])]
        wanted[i, j] = known.mean() if len(known) else 0.0
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    np.testing.assert_allclose(how.applied(X[7:9]), wanted[7:9], atol=1e-9)


def test_one_object_keeps_all_its_columns_when_scaled():
    scaled, kept, dropped, _ = _scale.standardise(np.array([[3.0, 0.0]]), ("a", "b"))
    assert scaled.tolist() == [[0, 0]]
    assert (kept, dropped) == (("a", "b"), ())
    with pytest.raises(InvalidInputError, match="no object differs from another"):
        _scale.standardise(np.array([[3.0, 0.0]] * 2), ("a", "b"))


def test_a_single_member_of_memberships_is_said_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("m:a,m:b\n1,0\n0,1\n0.5,0.5\n")
    soft, said = told(read_labels, path)
    assert np.asarray(soft.memberships).tolist() == [[1, 0], [0, 1], [0.5, 0.5]]
    assert said == [
        "The columns of 't.csv' are named member:cluster: they are read as memberships by 1 member."
    ]


def test_an_ensemble_without_names_or_index_is_read_as_it_was_saved(tmp_path):
    labels = np.array([[0, 1], [1, 1], [1, 0]])
    path = tmp_path / "e.npz"
    Ensemble(labels).save(path)
    np.testing.assert_array_equal(read_labels(path).labels, labels)
    with np.load(path) as arrays:
        np.savez(tmp_path / "least.npz", members=arrays["members"], meta=arrays["meta"])
    np.testing.assert_array_equal(read_labels(tmp_path / "least.npz").labels, labels)
    assert not has_column(path, "members")


# ---- graphs ---------------------------------------------------------------------------------


def test_edges_of_a_matrix_are_those_above_its_diagonal():
    matrix = sparse.csr_array(np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 7]]))
    assert [part.tolist() for part in _graphs.upper_edges(matrix)] == [[0, 1], [1, 2], [1, 2]]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_names_of_columns_of_arrow_files_are_no_edge(tmp_path, ending):
    arrow, store, feather = map(pytest.importorskip, ARROW)
    table = arrow.table({"a": ["a", "b"], "b": ["b", "c"], "c": [2.0, 0.5]})
    path = tmp_path / f"g.{ending}"
    if ending == "parquet":
        store.write_table(table, path)
    else:
        feather.write_feather(table, path)
    graph = read_graph(path)
    assert (graph.name, graph.ids.tolist(), graph.n_edges) == ("g", ["a", "b", "c"], 2)
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_an_empty_sparse_matrix_is_refused(tmp_path, shape):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_matrix(shape))
    with pytest.raises(InvalidInputError, match=r"'s\.npz' holds an empty matrix of shape \("):
        read_table(tmp_path / "s.npz")


def test_networkx_graphs_and_ours_are_known_for_graphs():
    networkx = pytest.importorskip("networkx")
    given = networkx.path_graph(3)
    ours = _graphs.as_graph(given)
    assert all(map(_graphs.is_graph, (given, networkx.DiGraph(given), ours)))
    assert not any(map(_graphs.is_graph, (np.eye(2), [(0, 1)], sparse.eye_array(2), {})))
    assert (ours.ids, ours.n_edges, _graphs.as_graph(ours)) == (None, 2, ours)
    with pytest.raises(InvalidInputError, match="Got no nodes instead"):
        _graphs.as_graph(networkx.Graph())
    given.add_edge("x", 0, weight=2.5)
    given.add_edge(1, 1)
    graph, said = told(_graphs.as_graph, networkx.DiGraph([*given.edges(data=True), (1, 0)]))
    assert set(graph.ids.tolist()) == {0, 1, 2, "x"}
    assert said[0] == (
        "The graph is directed. It is taken without direction, and weights of both ways are "
        "added up."
    )
    assert said[-1] == (
        "1 edge of a node with itself says nothing of communities, and is left out."
    )


# ---- texts ----------------------------------------------------------------------------------


def test_zeros_that_are_stored_tell_nothing(seed):
    rng = np.random.default_rng(seed)
    counts = sparse.csr_array(rng.integers(1, 4, size=(6, 9)))
    counts.data[rng.permutation(54)[:20]] = 0
    plain = sparse.csr_array(counts.toarray())
    for n_terms in (1, 4, 9, 20):
        wanted = informative_terms(plain, n_terms)
        np.testing.assert_array_equal(informative_terms(counts, n_terms), wanted)
