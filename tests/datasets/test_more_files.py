"""Text parted by blanks, Feather, Matrix Market; columns to use; tables the other way round."""

import gzip
from datetime import timedelta

import numpy as np
import pytest
from scipy import io, sparse

import consilience as cs
from consilience.datasets import read_like, read_table
from consilience.datasets._matrix_market import read_matrix_market
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidInputError

VALUES = np.array([[1.0, 2.5, 0.0], [3.0, 0.0, 4.0], [5.0, 6.0, 7.0], [0.5, 1.5, 2.5]])


def test_text_parted_by_blanks_or_marks(tmp_path):
    rows = "\n".join("  ".join(map(str, row)) for row in VALUES)
    spaced = tmp_path / "a.txt"
    spaced.write_text(f"x y   z\n{rows}\n")
    tabs = tmp_path / "b.txt"
    tabs.write_text("x\ty\tz\n" + rows.replace("  ", "\t"))
    packed = tmp_path / "c.txt.gz"
    packed.write_bytes(gzip.compress(spaced.read_bytes()))
    for path in (spaced, tabs, packed):
        table = read_table(path)
        np.testing.assert_array_equal(table.X, VALUES)
        assert table.columns == ("x", "y", "z")
    assert table.name == "c"


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_blanks_inside_of_quotes_part_nothing(tmp_path):
    rows = ['"city of birth" n', '"New York" 1', '"Los Angeles"  2', '"New York"\t4', "Bonn 3"]
    (tmp_path / "a.txt").write_text("\n".join(rows) + "\n")
    table = read_table(tmp_path / "a.txt", encode="mixed", id_column="none")
    assert [one.name for one in table.recipe.columns] == ["city of birth", "n"]
    assert table.recipe.columns[0].categories == ("New York", "Los Angeles", "Bonn")
    assert table.X[:, -1].tolist() == [1, 2, 4, 3]


def test_blanks_within_quotes_part_nothing(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text('city x  y\n"New  York" 1 2\nRome   3 4\n"a ""b"" c" 5 6\n"Los\tAngeles" 7 8\n')
    table = read_table(path, id_column="city")
    assert table.ids.tolist() == ["New  York", "Rome", 'a "b" c', "Los\tAngeles"]
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_spans_of_time_are_days(tmp_path, ending, unit):
    arrow = pytest.importorskip("pyarrow")
    spans = arrow.array([timedelta(hours=6), None, timedelta(days=-2)], arrow.duration(unit))
    table = arrow.table({"x": [1.0, 2.0, 3.0], "d": spans})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    with (
        pytest.warns(ConsilienceWarning, match="kept as gaps"),
        pytest.warns(ConsilienceWarning, match="spans of time"),
    ):
        read = read_table(path, impute="keep")
    np.testing.assert_array_equal(read.X, [[1, 0.25], [2, np.nan], [3, -2]])


@pytest.mark.parametrize("encoding", [None, "cp1252"])
def test_a_packed_file_that_is_cut_is_damaged_in_any_encoding(tmp_path, encoding):
    rows = "\n".join(f"{i},{i * i},caf\N{LATIN SMALL LETTER E WITH ACUTE}" for i in range(3000))
    raw = gzip.compress(f"x,y,z\n{rows}".encode("cp1252"))
    (tmp_path / "t.csv.gz").write_bytes(raw[:-20])
    with pytest.raises(InvalidInputError, match="damaged, cut short"):
        read_table(tmp_path / "t.csv.gz", encoding=encoding, ignore=["z"])


def test_an_encoding_that_cannot_say_where_it_fails(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2-\n")
    with pytest.raises(InvalidInputError, match="cannot be read with the encoding 'punycode'"):
        read_table(tmp_path / "t.csv", encoding="punycode")


def test_feather(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(VALUES, columns=["x", "y", "z"])
    frame["kind"] = ["a", "b", "a", "b"]
    frame.to_feather(tmp_path / "a.feather")
    table = read_table(tmp_path / "a.feather", truth_column="kind")
    np.testing.assert_array_equal(table.X, VALUES)
    assert table.truth.tolist() == ["a", "b", "a", "b"]
    (tmp_path / "b.feather").write_bytes(b"ARROW1 and then nothing")
    with pytest.raises(InvalidInputError, match="damaged"):
        read_table(tmp_path / "b.feather")


def test_matrix_market(tmp_path):
    io.mmwrite(tmp_path / "sparse.mtx", sparse.coo_array(VALUES))
    io.mmwrite(tmp_path / "dense.mtx", VALUES)
    packed = tmp_path / "packed.mtx.gz"
    packed.write_bytes(gzip.compress((tmp_path / "sparse.mtx").read_bytes()))
    (tmp_path / "LOUD.MTX.GZ").write_bytes(packed.read_bytes())
    (tmp_path / "LOUD.MTX").write_bytes((tmp_path / "sparse.mtx").read_bytes())
    for name in ("sparse.mtx", "packed.mtx.gz", "LOUD.MTX", "LOUD.MTX.GZ"):
        table = read_table(tmp_path / name)
        assert sparse.issparse(table.X)
        np.testing.assert_array_equal(table.X.toarray(), VALUES)
        assert table.columns == ("c0", "c1", "c2")
    np.testing.assert_array_equal(read_table(tmp_path / "dense.mtx").X, VALUES)
    (tmp_path / "genes.tsv").write_text("g1\ng2\ng3\ng4\n")
    with pytest.warns(ConsilienceWarning, match="gene a row"):
        read_table(tmp_path / "sparse.mtx")
    turned = read_table(tmp_path / "dense.mtx", transpose=True)
    np.testing.assert_array_equal(turned.X, VALUES.T)


@pytest.fixture
def genes(tmp_path):
    path = tmp_path / "genes.csv"
    names = [f"g{i}" for i in range(12)]
    numbers = np.random.default_rng(0).normal(size=(12, 4))
    lines = [
        ",".join([name, *map(repr, row.tolist())]) for name, row in zip(names, numbers, strict=True)
    ]
    path.write_text("\n".join(["gene,s1,s2,s3,s4", *lines]))
    return path, names, numbers


def test_genes_in_rows_are_noticed_and_said(genes, tmp_path):
    path, names, _ = genes
    with pytest.warns(ConsilienceWarning) as said:
        table = read_table(path)
    assert any("look like genes" in str(one.message) for one in said)
    assert table.ids.tolist() == names
    ids = tmp_path / "ids.csv"
    lines = [f"ENSG{i:011d},{i * i},{i % 5}" for i in range(12)]
    ids.write_text("\n".join(["name,a,b", *lines]))
    with pytest.warns(ConsilienceWarning) as said:
        read_table(ids)
    assert any("look like genes" in str(one.message) for one in said)


def test_patients_in_rows_are_not(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("\n".join(["patient_id,a,b", *(f"P{i},{i * i},{i % 5}" for i in range(12))]))
    with pytest.warns(ConsilienceWarning) as said:
        read_table(path)
    assert not any("genes" in str(one.message) for one in said)


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_a_turned_table_has_the_columns_as_objects(genes):
    path, names, numbers = genes
    table = read_table(path, transpose=True)
    np.testing.assert_array_equal(table.X, numbers.T)
    assert table.ids.tolist() == ["s1", "s2", "s3", "s4"]
    assert table.columns == tuple(names)
    some = read_table(path, transpose=True, columns="g3,g1", ignore="g1")
    assert some.columns == ("g3",)
    np.testing.assert_array_equal(read_like(path, some.recipe).X, numbers.T[:, [3]])
    for given in ({"truth_column": "s1"}, {"encode": "mixed"}, {"impute": "mean"}):
        with pytest.raises(ConsilienceError, match="cannot be used with transpose"):
            read_table(path, transpose=True, **given)


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_gaps_of_turned_tables(genes):
    path, _, numbers = genes
    path.write_text(path.read_text().replace(repr(float(numbers[2, 1])), ""))
    with pytest.raises(InvalidInputError, match="--impute keep"):
        read_table(path, transpose=True)
    kept = read_table(path, transpose=True, impute="keep")
    assert np.isnan(kept.X).sum() == 1
    assert np.isnan(kept.X[1, 2])


def test_columns_to_use(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y,word\n" + "".join(f"p{i},{i * i},{i % 3},w\n" for i in range(12)))
    with pytest.warns(ConsilienceWarning, match="identifiers"):
        table = read_table(path, columns=["x", "y"])
    assert table.columns == ("x", "y")
    assert table.ids[0] == "p0"
    with pytest.warns(ConsilienceWarning):
        assert read_table(path, columns="y").columns == ("y",)
    with pytest.raises(InvalidInputError, match="no column 'z', named as columns"):
        read_table(path, columns="x,z")


def test_a_job_on_a_turned_table_and_new_objects_of_it(genes):
    path, _, _ = genes
    with pytest.warns(ConsilienceWarning):
        table = read_table(path, transpose=True)
    result = cs.cluster(table, 2, n_members=8, random_state=0)
    assert result.n_objects == 4
    assert result.predict(table).labels.tolist() == result.labels.tolist()


def test_a_damaged_matrix_is_refused(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n100000 100000\n1\n")
    with pytest.raises(InvalidInputError, match="promises"):
        read_table(path)


def test_what_a_matrix_file_can_hold_hangs_on_its_layout(tmp_path):
    """Entries of one digit: a dense one takes two bytes, one of a sparse matrix at least four."""
    path, n = tmp_path / "m.mtx", 40
    dense = "%%MatrixMarket matrix array real symmetric\n40 40\n"
    path.write_text(dense + "1\n" * (n * (n + 1) // 2), encoding="ascii")
    np.testing.assert_array_equal(read_matrix_market(path), np.ones((n, n)))
    sparse_one = "%%MatrixMarket matrix coordinate pattern general\n9 9 60\n"
    path.write_text(sparse_one + "1 1\n" * 20, encoding="ascii")
    with pytest.raises(InvalidInputError, match="promises 60 entries"):
        read_matrix_market(path)
