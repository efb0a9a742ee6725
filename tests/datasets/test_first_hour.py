"""Tables of somebody's first hour: what is wrong with them is said and, where it can be, read."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from consilience.datasets import read_table
from consilience.datasets._missing_codes import missing_code
from consilience.errors import ConsilienceWarning, InvalidInputError

RNG = np.random.default_rng(0)


@pytest.fixture
def read(tmp_path):
    """Write text to a file, read it, and return the table with what was said."""

    def made(text, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConsilienceWarning)
            table = read_table(path, **options)
        return table, " ".join(str(one.message) for one in caught)

    return made


def csv_text(**columns):
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(lines) + "\n"


def test_a_column_named_id_is_no_data_even_where_values_come_again(read):
    x = RNG.normal(size=40).round(3)
    ids = [*range(1000, 1030), *range(1000, 1010)]
    table, said = read(csv_text(Id=ids, x=x, visit_id=ids[::-1], y=x**2))
    assert table.columns == ("x", "y")
    assert table.ids.tolist() == list(map(str, ids))
    assert "'Id'" in said
    assert "'visit_id' of 'data.csv' is named like identifiers" in said
    kept, _ = read(csv_text(Id=ids, x=x), id_column="none")
    assert kept.columns == ("Id", "x")
    # Few numbers, each of many objects, are codes of something.
    few, _ = read(csv_text(Id=[i % 5 for i in ids], x=x))
    assert few.columns == ("Id", "x")


def test_codes_for_missing_values_are_noticed_and_said(read):
    pressure = RNG.integers(60, 100, 60)
    pressure[:5] = 0
    age = RNG.integers(20, 60, 60)
    age[7] = 999
    born = RNG.integers(0, 15, 60)
    _, said = read(csv_text(pressure=pressure, age=age, born=born, x=RNG.normal(size=60)))
    assert "'pressure' is 0 in 5 rows" in said
    assert "'age' is 999 in 1 row " in said
    assert "'born'" not in said
    assert "--impute" in said


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=100),
        np.r_[-1.0, RNG.uniform(-0.6, 1, 99)],  # a scale from -1 to 1
        np.r_[np.zeros(90), RNG.uniform(50, 60, 10)],  # most are 0: it is a value
        np.arange(10.0),
        np.repeat([0.0, 5.0, 9.0], 30),
    ],
)
def test_plain_columns_hold_no_codes(values):
    assert missing_code(values) is None


GERMAN = "Größe;Anteil;Preis\n1,52;12,5 %;3,10 €\n1,6;7 %;1.234,50 €\n2;50,25%;12 €\n"
READ = [[1.52, 12.5, 3.1], [1.6, 7.0, 1234.5], [2.0, 50.25, 12.0]]


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-8", ""), ("utf-8-sig", ""), ("cp1252", "cp1252"), ("utf-16", "utf-16")],
)
def test_european_files_are_read_at_the_first_try(read, encoding, said):
    table, notes = read(GERMAN.encode(encoding), impute=None)
    assert table.columns == ("Größe", "Anteil", "Preis")
    np.testing.assert_array_equal(table.X, READ)
    assert "decimal commas" in notes
    assert "percent" in notes
    assert said in notes
    again, notes = read(GERMAN.encode(encoding), encoding=encoding, decimal=",")
    np.testing.assert_array_equal(again.X, READ)
    assert "decimal" not in notes


def test_a_file_of_commas_without_a_header_is_read_too(read):
    table, _ = read("1,5;2,25\n3,5;4\n5,1;6,5\n")
    np.testing.assert_array_equal(table.X, [[1.5, 2.25], [3.5, 4], [5.1, 6.5]])


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;1.5\n2,5;2.5\n",  # two marks
        "a;b\n1,234;2\n2,345;3\n",  # thousands, or three decimals
        b"a;\xc3\xa4\xff\n1,5;2\n",  # UTF-8 that is damaged
    ],
)
def test_what_cannot_be_told_is_refused_with_all_remedies_in_one_message(read, text):
    with pytest.raises(InvalidInputError, match="--decimal"):
        read(text)
    if isinstance(text, bytes):
        with pytest.raises(InvalidInputError, match="--encoding"):
            read(text)


def test_an_encoding_that_is_none_or_not_the_files_is_refused(read):
    for encoding in ("nothing", "base64"):
        with pytest.raises(ValueError, match="'encoding' parameter of read_table"):
            read("a,b\n1,2\n", encoding=encoding)
    with pytest.raises(InvalidInputError, match="0xfc at 2"):
        read(b"a,\xfc\n1,2\n", encoding="ascii")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices_of_scipy_are_read_and_stay_sparse(tmp_path, form):
    X = sparse.random(12, 30, 0.2, format=form, random_state=0)
    sparse.save_npz(tmp_path / "words.npz", X)
    table = read_table(tmp_path / "words.npz", ignore="c3,c5")
    assert sparse.issparse(table.X)
    kept = [j for j in range(30) if j not in (3, 5)]
    np.testing.assert_array_equal(table.X.toarray(), X.toarray()[:, kept])
    with np.load(tmp_path / "words.npz") as arrays:
        np.savez(tmp_path / "more.npz", **arrays, kind=np.repeat(["a", "b"], 6))
    known = read_table(tmp_path / "more.npz", truth_column="kind")
    assert known.truth.tolist() == ["a"] * 6 + ["b"] * 6
    assert known.X.shape == X.shape


def test_long_lists_of_columns_are_shortened_with_a_count(read):
    columns = {f"gene{j}": [0.5 * j, 1.0, 2.0] for j in range(200)}
    with pytest.raises(InvalidInputError) as refused:
        read(csv_text(**columns), truth_column="gen17")
    said = str(refused.value)
    assert "Did you mean 'gene17'?" in said
    assert "and 190 more" in said
    assert len(said) < 400
    with pytest.raises(InvalidInputError, match="and 190 more"):
        read(csv_text(**{name: ["", *values[1:]] for name, values in columns.items()}))


def test_columns_to_ignore_may_be_named_with_commas(read):
    text = csv_text(a=[1, 2], b=[3, 4], c=[5, 7])
    for ignore in ("a,b", ["a,b"], ["a", "b"], "a, b"):
        assert read(text, ignore=ignore)[0].columns == ("c",)
    assert read('"a,b",c\n1,2\n3,4\n', ignore="a,b")[0].columns == ("c",)


def test_rows_are_counted_alike_in_errors_notes_and_results(read, tmp_path):
    values = [1.0, "", 3.0, 4.0]
    text = csv_text(x=values, y=[5.0, 6.0, 7.0, 8.0])
    with pytest.raises(InvalidInputError, match="line 3, row 1:"):
        read(text)
    table, said = read(text, impute="drop-rows")
    assert "(row 1, counted from 0)" in said
    assert table.ids.tolist() == [0, 2, 3]
    np.save(tmp_path / "a.npy", np.array([[1.0], [np.nan], [3.0]]))
    with pytest.raises(InvalidInputError, match="first on row 1:"):
        read_table(tmp_path / "a.npy")
