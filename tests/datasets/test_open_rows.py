"""Text files larger than memory: converted once, by blocks, to the numbers of read_table."""

import errno
import gc
import gzip
import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.datasets import _blocks, _large, open_rows, read_table
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)).round(6)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, tmp_path):
    """Files of several blocks; temporary files lie where they can be counted."""
    monkeypatch.setattr(_blocks, "_BYTES", 1000)
    monkeypatch.setattr(_blocks, "_SMALL", 0)
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def write(path, values, delimiter=",", decimal=".", header="a,b,c"):
    lines = [header.replace(",", delimiter)] if header else []
    lines += [delimiter.join(map(repr, row)).replace(".", decimal) for row in values.tolist()]
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("x.csv", {}),
        ("x.csv.gz", {}),
        ("x.tsv", {"delimiter": "\t"}),
        ("x.txt", {"delimiter": ";", "decimal": ","}),
        ("y.csv", {"header": ""}),
    ],
)
@pytest.mark.parametrize("arrow", [True, False])
def test_text_is_converted_to_the_same_numbers(tmp_path, monkeypatch, name, how, arrow):
    if not arrow:
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    path = write(tmp_path / name, X, **how)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = open_rows(path)
    assert any("converted once to a file of 9,600 bytes" in str(one.message) for one in said)
    np.testing.assert_array_equal(rows.values.read(0, 400), X)
    assert rows.names == (("a", "b", "c") if how.get("header") is None else ("c0", "c1", "c2"))
    np.testing.assert_array_equal(rows.take([7, 2]).values, X[[7, 2]])


def test_the_temporary_file_goes_with_the_rows(tmp_path, small_blocks):
    with pytest.warns(ConsilienceWarning, match="converted"):
        rows = open_rows(write(tmp_path / "x.csv", X))
    assert len(list(small_blocks.iterdir())) == 1
    sent = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(rows.values))))
    np.testing.assert_array_equal(sent.read(5, 9), X[5:9])
    del rows
    gc.collect()
    assert not list(small_blocks.iterdir())
    with pytest.raises(InvalidInputError, match="cannot be read at row 0"):
        pickle.loads(pickle.dumps(sent)).read(0, 1)


def test_columns_are_left_out_by_name(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {"id": [f"n{i}" for i in range(400)], "b": X[:, 1], "c": X[:, 2]}
    pq.write_table(pa.table(table), tmp_path / "x.parquet", row_group_size=150)
    rows = open_rows(tmp_path / "x.parquet", ignore=["id"])
    assert rows.names == ("b", "c")
    np.testing.assert_array_equal(rows.values.read(100, 400), X[100:, 1:])
    with pytest.raises(InvalidInputError, match="has no column 'd' to be left out"):
        open_rows(tmp_path / "x.parquet", ignore=["d"])
    with pytest.warns(ConsilienceWarning, match="converted"):
        rows = open_rows(write(tmp_path / "x.csv", X), ignore=("a", "c"))
    np.testing.assert_array_equal(rows.values.read(0, 400), X[:, 1:2])
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(InvalidInputError, match="has no names of columns"):
        open_rows(tmp_path / "x.npy", ignore=["a"])


@given(row=st.integers(0, 399), column=st.integers(0, 2), cell=st.sampled_from(["", "nan", "inf"]))
def test_a_cell_that_is_no_number_is_named_by_line_and_row(row, column, cell):
    lines = [[repr(value) for value in line] for line in X.tolist()]
    lines[row][column] = cell
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_text("a,b,c\n" + "\n".join(map(",".join, lines)) + "\n")
        where = rf"in line {row + 2}, column '{'abc'[column]}' \(row {row}, counted from 0"
        with pytest.raises(InvalidInputError, match=where):
            open_rows(path)


def test_words_and_ragged_lines_are_refused(tmp_path, small_blocks):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,two\n")
    with pytest.raises(InvalidInputError, match=r"must hold numbers to be read.*'b' does not"):
        open_rows(path)
    path.write_text("a,b\n1,two\n3,4\n")
    with pytest.raises(InvalidInputError, match=r"'b' does not: leave them out"):
        open_rows(path)
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,2,3\n")
    with pytest.raises(InvalidInputError, match="line 502 has 3 values"):
        open_rows(path)
    with pytest.raises(FileNotFoundError, match="no file"):
        open_rows(tmp_path / "none.csv")
    assert not list(small_blocks.iterdir())


def test_quotes_out_of_place_are_read_from_the_start(tmp_path):
    path = write(tmp_path / "x.csv", X)
    with path.open("a") as file:
        file.write('1,"2",3\n4,5,"6\n"\n')
    with pytest.warns(ConsilienceWarning, match="converted"):
        rows = open_rows(path)
    wanted = read_table(path).X
    np.testing.assert_array_equal(rows.values.read(0, len(rows)), wanted)


def test_a_full_disk_is_said_and_nothing_stays(tmp_path, monkeypatch, small_blocks):
    def full(self, part):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_large._Writer, "add", full)
    with pytest.raises(OSError, match="Set TMPDIR to one with more room"):
        open_rows(write(tmp_path / "x.csv", X))
    assert not list(small_blocks.iterdir())


def test_the_whole_job_takes_a_text_file(tmp_path):
    groups = np.concatenate([X, X + 9])
    found = cs.cluster(
        write(tmp_path / "x.csv", groups), 2, method="sec", n_members=4, random_state=0
    )
    assert found.sizes == [400, 400]
    assert any("was converted once" in note for note in found.notes)


def test_names_to_leave_out_may_be_one_text_and_decimals_are_checked(tmp_path):
    (tmp_path / "t.csv").write_text("one,two\n1,2\n3,5\n")
    with pytest.warns(ConsilienceWarning, match="converted once"):
        rows = open_rows(tmp_path / "t.csv", ignore="one")
    assert rows.names == ("two",)
    with pytest.raises(InvalidParameterError, match="'decimal' parameter of open_rows"):
        open_rows(tmp_path / "t.csv", decimal=";")
