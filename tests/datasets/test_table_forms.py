"""CSV files in the forms programs write them: every reader of blocks gives the same table."""

import csv
import gzip
import io
import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from consilience.datasets import _blocks, _csv, read_table
from consilience.datasets._cells import number
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidInputError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow.csv")

IN_A_FOLDER = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
finite = st.floats(allow_nan=False, allow_infinity=False)


def by_csv_module(reader, block, columns):
    """A quick reader that can read nothing."""


READERS = {
    "pyarrow": lambda size, real=_blocks.quick_reader: real(_blocks._SMALL),
    "numpy": lambda size: _blocks.by_numpy,
    "csv": lambda size: by_csv_module,
}


@pytest.fixture
def read_by(monkeypatch):
    """Read a file with the blocks parsed by a reader of that name."""

    def read(reader, path, **options):
        monkeypatch.setattr(_blocks, "quick_reader", READERS[reader])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConsilienceWarning)
            table = read_table(path, **options)
        return table, [str(note.message) for note in caught]

    return read


def same(tables):
    """Assert that tables and notes are equal in all they hold; return the first."""
    first, notes = tables[0]
    for other, more in tables[1:]:
        np.testing.assert_array_equal(first.X, other.X)
        assert (first.columns, first.sources, notes) == (other.columns, other.sources, more)
        for mine, theirs in ((first.ids, other.ids), (first.truth, other.truth)):
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert mine.tolist() == theirs.tolist()
        np.testing.assert_array_equal(first.left_out, other.left_out)
    return first


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=6)


@IN_A_FOLDER
@given(
    X=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=finite),
    data=st.data(),
    sep=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    quoting=st.sampled_from([0, 1, 2]),  # where needed, everywhere, all words
    index=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n"]),
    packed=st.booleans(),
)
def test_what_pandas_writes_comes_back(
    tmp_path, read_by, X, data, sep, decimal, quoting, index, newline, packed
):
    kinds = data.draw(st.lists(words, min_size=len(X), max_size=len(X)))
    kinds = [f"k{word.strip()}" for word in kinds]  # a k: pandas would write '' as missing
    frame = pandas.DataFrame(X, columns=[f"x {j}" for j in range(X.shape[1])])
    frame["kind"] = kinds
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    frame.to_csv(
        path, sep=sep, decimal=decimal, quoting=quoting, index=index, lineterminator=newline
    )
    options = {"truth_column": "kind", "decimal": "," if decimal == "," else None}
    table = same([read_by(reader, path, **options) for reader in READERS])
    np.testing.assert_array_equal(table.X, X)
    assert table.truth.tolist() == kinds
    assert table.columns == tuple(frame.columns[:-1])
    assert (table.ids is None) == (not index)
    if index:
        assert table.ids.tolist() == [str(i) for i in range(len(X))]


ODD_CELLS = ["", "NA", "NaN", "nan", "n/a", "null", "?", "-", "None", "#N/A", " NA ", "inf", "-inf"]


@pytest.mark.parametrize("block", [1, 40, 2**21])
@IN_A_FOLDER
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "-2.5", "+3", "4e2", " 5 ", ".5", "6.", *ODD_CELLS]),
            st.sampled_from(["0.1", "7", '"8"', '"9.5"', "1e400", '""', *ODD_CELLS]),
            st.sampled_from(["a", "b", '"c ""d"""', '"e,f"', '"g\nh"', "", "i j", "é"]),
        ),
        min_size=1,
        max_size=12,
    ),
    blank=st.sampled_from(["", "\n", "\n\n"]),
)
def test_blocks_and_readers_do_not_change_the_table(tmp_path, read_by, block, rows, blank):
    path = tmp_path / "t.csv"
    lines = [",".join(("1", *row, "2")) for row in rows]
    path.write_text("one,a,b,w,two\n" + f"\n{blank}".join(lines), encoding="utf-8")
    tables = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "_BYTES", block)
        for reader in READERS:
            try:
                tables.append(
                    read_by(reader, path, id_column="w", impute="median", encode="onehot")
                )
            except ConsilienceError as error:
                tables.append(str(error))
    if isinstance(tables[0], str):
        assert len({*map(str, tables)}) == 1
        return
    table = same(tables)
    known = np.array([cell_value(row[0]) for row in rows])
    if "a" in table.columns:
        got = table.X[:, table.columns.index("a")]
        np.testing.assert_array_equal(got[np.isfinite(known)], known[np.isfinite(known)])
        np.testing.assert_array_equal(
            got[~np.isfinite(known)], np.median(known[np.isfinite(known)])
        )
    assert table.ids.tolist() == [unquoted(row[2]) for row in rows]


def cell_value(cell):
    found = number(cell)
    return math.nan if found is None else found


def unquoted(cell):
    return next(csv.reader(io.StringIO(f"x,{cell}", newline="")))[1]


@pytest.mark.parametrize("reader", READERS)
def test_the_first_gap_is_named_by_its_line_and_cell(tmp_path, read_by, reader, monkeypatch):
    monkeypatch.setattr(_blocks, "_BYTES", 50)
    lines = [f"{i},{i * i},{i % 7}" for i in range(40)]
    lines[23] = "23, Na ,2"
    lines[31] = "31,,-"
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *lines]))
    with pytest.raises(InvalidInputError) as caught:
        read_by(reader, tmp_path / "t.csv")
    assert "'b' has 2 missing (first on line 25, row 23: ' Na ')" in str(caught.value)
    assert "'c' has 1 missing (first on line 33, row 31: '-')" in str(caught.value)
    assert "in 2 of its 40 rows" in str(caught.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_word_far_below_makes_a_column_of_words(tmp_path, read_by, reader, monkeypatch):
    monkeypatch.setattr(_blocks, "_SAMPLE", 10)
    monkeypatch.setattr(_blocks, "_BYTES", 300)
    lines = [f"{i % 5},{i * i},{i % 3}" for i in range(200)]
    lines[150] = "more,22500,0"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["rooms,b,c", *lines]))
    with pytest.raises(InvalidInputError, match=r"'rooms' \(line 152, row 150: 'more'\)"):
        read_by(reader, path)
    table, _ = read_by(reader, path, encode="onehot")
    assert table.columns[:6] == tuple(f"rooms={word}" for word in ["0", "1", "2", "3", "4", "more"])
    np.testing.assert_array_equal(table.X[:, 6], np.arange(200.0) ** 2)
    assert np.flatnonzero(table.X[:, 5]).tolist() == [150]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('a,w\n1,5" pipe\n2,"x\ny"\n3,plain\n', ['5" pipe', "x\ny", "plain"]),
        ("a,w\r1,x\r2,y\r", ["x", "y"]),
        ("a,w\r1,x\n2,y\r\n3,z", ["x", "y", "z"]),
        ("a,w\n1, x \n\n\n2,y\n", ["x", "y"]),
    ],
)
def test_irregular_files_are_read_from_start_to_end(tmp_path, read_by, reader, text, ids):
    (tmp_path / "t.csv").write_bytes(text.encode())
    table, _ = read_by(reader, tmp_path / "t.csv", id_column="w")
    assert table.ids.tolist() == ids
    assert table.X.tolist() == [[float(i + 1)] for i in range(len(ids))]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a,b\n1,2\n3,4\n5,6,7\n", ["line 4 has 3 values"]),
        (b'a,b\n1,"2"x\n', ["line 2", "quote"]),
        (b"a,\xc3\xa9\n1,2\n3,\xe9\n", ["not UTF-8", "line 3", "0xe9"]),
        (b"a,b\n1,nan(1)\n2,3\n", ["'b' (line 2, row 0: 'nan(1)')"]),
        (b"a,b\n\n\n", ["no data"]),
    ],
)
def test_every_reader_refuses_alike(tmp_path, read_by, reader, raw, words, monkeypatch):
    monkeypatch.setattr(_blocks, "_BYTES", 4)
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(InvalidInputError) as caught:
        read_by(reader, tmp_path / "t.csv")
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("comment", ["# one", "# one, two, three"])
def test_a_block_may_start_with_a_comment(tmp_path, read_by, reader, comment, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n{comment}\n\n1,2\n\n{comment}\n3,4\n")
    for size in (4, 12, 1000):
        monkeypatch.setattr(_blocks, "_BYTES", size)
        assert read_by(reader, path)[0].X.tolist() == [[1, 2], [3, 4]]


def test_large_files_go_to_pyarrow_and_small_ones_do_not():
    assert _blocks.quick_reader(100) is _blocks.by_numpy
    assert _blocks.quick_reader(10**7) is not _blocks.by_numpy


def test_without_pyarrow_numpy_reads(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.csv", None)
    assert _blocks.quick_reader(10**7) is _blocks.by_numpy


def test_a_large_file_comes_back_by_the_reader_chosen_for_it(tmp_path):
    X = np.random.default_rng(0).normal(size=(9000, 5))
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame.loc[7000:7003, "b"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (tmp_path / "t.csv").stat().st_size > _blocks._SMALL
    with pytest.warns(ConsilienceWarning, match=r"4 of 'b' with the median"):
        table = read_table(tmp_path / "t.csv", impute="median")
    X[7000:7004, 1] = np.median(np.delete(X[:, 1], range(7000, 7004)))
    np.testing.assert_array_equal(table.X, X)


def test_a_quoted_header_with_a_line_break_is_one_line_of_names(tmp_path, read_by):
    (tmp_path / "t.csv").write_text('"a\nb",c\n1,2\n3,4\n')
    table = same([read_by(reader, tmp_path / "t.csv") for reader in READERS])
    assert table.columns == ("a\nb", "c")
    assert table.X.tolist() == [[1, 2], [3, 4]]


# ---- comments, headers, marks ---------------------------------------------------------------


def noted(put, text, match, **options):
    (put / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.warns(ConsilienceWarning, match=match):
        return read_table(put / "t.csv", **options)


def test_comments_are_skipped_and_counted(tmp_path):
    text = "# made by hand\n#\n\na,b\n1,2\n3,4\n"
    table = noted(tmp_path, text, "2 lines at the top of 't.csv' that start with # are comments")
    assert table.X.tolist() == [[1, 2], [3, 4]]
    table = noted(tmp_path, "a,b\n1,2\n# end of file\n", "1 line among the rows")
    assert table.X.tolist() == [[1, 2]]


def test_a_header_behind_a_hash_is_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("#a,b\n1,2\n3,4\n")
    assert read_table(tmp_path / "t.csv").columns == ("a", "b")
    table = noted(tmp_path, "# one more\n# a,b\n1,2\n", "1 line at the top")
    assert table.columns == ("a", "b")


def test_the_line_that_tells_a_spreadsheet_the_delimiter_is_no_row(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\na,x;b\n1;2\n")
    table = read_table(tmp_path / "t.csv")
    assert table.columns == ("a,x", "b")
    assert table.X.tolist() == [[1, 2]]


def test_a_first_line_of_values_that_come_again_is_an_object(tmp_path):
    text = "5.1,3.5,setosa\n4.9,3.0,setosa\n6,2,virginica\n"
    table = noted(tmp_path, text, "no header line", truth_column="c2")
    assert table.X.tolist() == [[5.1, 3.5], [4.9, 3.0], [6, 2]]
    assert table.truth.tolist() == ["setosa", "setosa", "virginica"]


def test_years_name_columns_without_a_word_and_other_numbers_with_one(tmp_path):
    (tmp_path / "t.csv").write_text("land,1990,1991\nx,1,2\ny,3,5\n")
    assert read_table(tmp_path / "t.csv", id_column="land").columns == ("1990", "1991")
    text = "Mazda,21,6\nFiat,20,4\nOpel,19,3\n"
    table = noted(tmp_path, text, "though 2 of its 3 cells are numbers", id_column="Mazda")
    assert table.columns == ("21", "6")


def test_row_names_that_the_header_leaves_out_are_identifiers(tmp_path):
    text = '"a","b"\n"1",5,2\n"2",3,4\n'
    table = noted(tmp_path, text, "taken as identifiers")
    assert (table.columns, table.ids.tolist()) == (("a", "b"), ["1", "2"])
    for other in ("a,b\n1,5,2\n2,5,3\n9,5,4\n", "a,b\nx,2,\ny,4,\n"):
        (tmp_path / "t.csv").write_text(other)
        with pytest.raises(InvalidInputError, match="line 2 has 3 values"):
            read_table(tmp_path / "t.csv")


def test_decimal_commas_and_groups_are_read_when_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1.234,5;2;1 000\n-0,5e1;1.000;2 000,25\n", encoding="utf-8")
    table = read_table(path, decimal=",")
    assert table.X.tolist() == [[1234.5, 2, 1000], [-5, 1000, 2000.25]]
    path.write_text('a,b\n"1,234.5",1\'000\n"2,000,000",7\n')
    assert read_table(path, decimal=".").X.tolist() == [[1234.5, 1000], [2_000_000, 7]]
    path.write_text("a;b\n1.5;2\n2,5;3\n")
    with pytest.raises(InvalidInputError, match=r"'a' \(line 2, row 0: '1\.5'\)"):
        read_table(path, decimal=",")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;b\n1,5;1.5\n2;2\n", ["(line 2, row 0: '1,5')", "decimal=','"]),
        ('a,b\n"1,234.5",1\n', ["decimal='.'"]),
        ('a,b\n"1,234",1\n', ["decimal='.'", "decimal=','"]),
        ("a,b\n$5,1\n€6,2\n", ["without signs of currency"]),
        ("a b\n1 2\n3 4\n", ["blanks between its columns"]),
        ("Results\na,b\n1,2\n", ["If the first line is a title, remove it"]),
        ("a,b,a,c,b,a\n1,2,3,4,5,6\n", ["3 columns named 'a'", "numbers 1, 3 and 6", "named 'b'"]),
        ("# only\n\n# comments\n", ["only blank lines and comments"]),
    ],
)
def test_other_marks_are_refused_with_the_remedy(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidInputError) as caught:
        read_table(tmp_path / "t.csv")
    for word in words:
        assert word in str(caught.value)


def test_damage_in_the_middle_of_a_packed_file_is_said(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = "\n".join(",".join(map(str, row)) for row in rng.normal(size=(4000, 3)).tolist())
    raw = gzip.compress(f"a,b,c\n{rows}\n".encode())
    (tmp_path / "t.csv.gz").write_bytes(raw[: len(raw) // 2])
    monkeypatch.setattr(_csv, "_CELLS", 300)
    with pytest.raises(InvalidInputError, match="cut short"):
        read_table(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("reader", READERS)
def test_lines_of_any_length_and_a_single_column(tmp_path, read_by, reader):
    wide = np.arange(6_000.0).reshape(2, -1) / 7
    stream = io.StringIO()
    pandas.DataFrame(wide).add_prefix("c").to_csv(stream, index=False)
    (tmp_path / "t.csv").write_text(stream.getvalue())
    np.testing.assert_array_equal(read_by(reader, tmp_path / "t.csv")[0].X, wide)
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(map(str, range(3, 40))))
    assert read_by(reader, tmp_path / "t.csv")[0].X.ravel().tolist() == list(range(3, 40))


@pytest.mark.parametrize("reader", READERS)
def test_a_lone_quote_does_not_end_a_block_inside_a_quoted_cell(
    tmp_path, read_by, reader, monkeypatch
):
    path = tmp_path / "t.csv"
    path.write_text('who,x,y\na"b,1,5\n"c\nd",2,6\ne"f,3,7\n"g\nh",4,9\n')
    for size in range(4, 40, 3):
        monkeypatch.setattr(_blocks, "_BYTES", size)
        table, _ = read_by(reader, path, id_column="who")
        assert table.ids.tolist() == ['a"b', "c\nd", 'e"f', "g\nh"]
        np.testing.assert_array_equal(table.X, [[1, 5], [2, 6], [3, 7], [4, 9]])
