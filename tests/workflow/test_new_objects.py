"""New objects for a result: columns by name, what is said, what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import consilience as cs
from consilience.datasets import Table, read_like, read_table
from consilience.errors import ConsilienceWarning, InvalidInputError
from consilience.workflow._data import Data


def frame(n_each=25, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 1, (n_each, 2)) for c in ((5, 5), (15, 12))])
    return pd.DataFrame({"length": X[:, 0], "always": 3.0, "width": X[:, 1]})


SEEN, NEW = frame(), frame(8, seed=1)


@pytest.fixture(scope="module")
def result():
    return cs.cluster(SEEN, 2, method="kcc", n_members=10, random_state=0)


def test_rows_that_were_clustered_have_their_labels(result):
    found = result.predict(SEEN)
    np.testing.assert_array_equal(found.labels, result.labels)
    np.testing.assert_array_equal(found.confidence, result.confidence)
    assert found.known.all()
    assert not found.unlike.any()
    assert found.notes == ()
    table = found.to_pandas()
    assert table.index.equals(SEEN.index)
    assert list(table) == ["cluster", "confidence", "runner_up", "unlike", "known"]


def test_clustering_scales_new_rows_as_it_scaled_its_own(result):
    np.testing.assert_array_equal(result.data.scaling.applied(result.data.original), result.data.X)
    np.testing.assert_array_equal(result.predict(SEEN, lookup=False).labels, result.labels)


def test_columns_in_another_order_and_more_of_them_are_matched_and_said(result):
    wanted = result.predict(NEW)
    other = NEW[["width", "length", "always"]].assign(colour=1.0, **{"very odd": "text"})
    found = result.predict(other)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(found.confidence, wanted.confidence)
    left_out, order = found.notes
    assert "'colour' and 'very odd' were not clustered and are left out" in left_out
    assert "another order" in order
    assert left_out in repr(found)
    polars = result.predict(
        pl.DataFrame({name: NEW[name].to_numpy() for name in other.columns[:3]})
    )
    np.testing.assert_array_equal(polars.labels, wanted.labels)


def test_a_constant_column_may_be_missing_and_others_not(result):
    found = result.predict(SEEN.drop(columns="always"))
    assert found.known.all()
    assert "'always' is missing and taken to be constant" in found.notes[0]
    with pytest.raises(InvalidInputError, match=r"no column 'width', which was clustered.*rename"):
        result.predict(NEW.drop(columns="width"))


def test_columns_without_names_are_taken_in_order(result):
    wanted = result.predict(NEW).labels
    found = result.predict(NEW.to_numpy())
    np.testing.assert_array_equal(found.labels, wanted)
    assert "new columns have no names: they are taken in the order of those" in found.notes[0]
    np.testing.assert_array_equal(result.predict(NEW.to_numpy().tolist()).labels, wanted)
    np.testing.assert_array_equal(result.predict(sparse.csr_array(NEW.to_numpy())).labels, wanted)
    for bad in (NEW.to_numpy()[:, :2], NEW.to_numpy()[0]):
        with pytest.raises(InvalidInputError, match=r"3 were clustered|Give one object as"):
            result.predict(bad)
    nameless = cs.cluster(SEEN.to_numpy(), 2, method="kcc", n_members=10, random_state=0)
    np.testing.assert_array_equal(nameless.predict(NEW).labels, wanted)
    assert nameless.predict(NEW.to_numpy()).notes == ()


def test_another_unit_is_said(result):
    found = result.predict(NEW.assign(width=NEW["width"] * 100))
    (note,) = found.notes
    assert "'width'" in note
    assert "another unit" in note
    assert found.unlike.all()


@pytest.mark.parametrize("n", [1, 3, 200])
def test_ten_times_as_large_is_said_of_few_objects_and_many(n):
    rng = np.random.default_rng(n)
    columns = {"shifted": (20, 2), "centred": (0, 1), "negative": (-5, 1)}

    def drawn(n):
        return pd.DataFrame({name: rng.normal(*how, n) for name, how in columns.items()})

    result = cs.cluster(drawn(100), 2, method="kcc", n_members=5, random_state=0)
    new = drawn(n)
    assert result.predict(new).notes == ()
    assert result.predict(new * 1.5).notes == ()  # a little larger, as new data may be
    for name in columns if n > 10 else ("shifted", "negative"):  # few centred values say little
        (note,) = result.predict(new.assign(**{name: new[name] * 10})).notes
        assert f"Column {name!r}" in note
        assert "another unit" in note


def test_missing_values_repeated_names_and_words_are_refused(result):
    gaps = NEW.copy()
    gaps.loc[2:4, "width"] = np.nan
    with pytest.raises(InvalidInputError, match=r"NaN \(in 'width' \(3\)\)\. .*fill in"):
        result.predict(gaps)
    with pytest.raises(InvalidInputError, match="several columns of the name 'width'"):
        result.predict(NEW[["length", "always", "width", "width"]])
    words = NEW.astype(object)
    words.loc[5, "width"] = "wide"
    with pytest.raises(InvalidInputError, match=r"finite numbers: .*'wide' \(in 'width' \(1\)\)"):
        result.predict(words)


def test_what_is_missing_in_a_table_is_refused_as_in_a_frame(result, tmp_path):
    gaps = NEW.copy()
    gaps.loc[2:4, "width"] = np.nan
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.warns(ConsilienceWarning, match="kept as gaps"):
        table = read_table(tmp_path / "gaps.csv", impute="keep")
    with pytest.raises(InvalidInputError, match=r"NaN \(in 'width' \(3\)\)\. .*fill in"):
        result.predict(table)
    # Members of a table with gaps know what to do with more of them.
    own = cs.cluster(SEEN.where(SEEN < 14), 2, gaps="keep", n_members=5, random_state=0)
    assert len(own.predict(table)) == len(NEW)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_of_a_sparse_table_are_matched_by_name(result, kind):
    wanted = result.predict(NEW)
    names = ("extra", "width", "length", "always")
    values = NEW.assign(extra=1.0)[list(names)].to_numpy()
    for n in (3, 4):  # without the constant column too
        table = Table(kind(values[:, :n]), names[:n], None, None, "", Path("new.npz"))
        assert result.predict(table).labels.tolist() == wanted.labels.tolist()


@pytest.mark.parametrize("unit", ["ns", "s"])
def test_dates_that_name_objects_can_be_written(unit):
    days = pd.date_range("2020-01-01", periods=len(SEEN)).as_unit(unit)
    numbers = SEEN.set_index(days)
    result = cs.cluster(numbers.sample(frac=1.0, random_state=0), 4, n_members=10, random_state=0)
    shown = json.loads(json.dumps(result.to_dict()))["least_sure"]
    assert shown
    assert all(one["id"].startswith("2020-0") for one in shown)
    of_numpy = Data(2, ids=np.array(["2020-01-01", "2020-01-02"], f"M8[{unit}]"))
    assert of_numpy.plain_id(1).startswith("2020-01-02")


def test_names_of_several_levels_can_be_written():
    levels = pd.MultiIndex.from_product([["a", "b"], pd.date_range("2020-01-01", periods=25)])
    result = cs.cluster(SEEN.set_index(levels), 4, n_members=10, random_state=0)
    shown = json.loads(json.dumps(result.to_dict()))["least_sure"]
    assert {one["id"][0] for one in shown} <= {"a", "b"}
    assert all(one["id"][1].startswith("2020-01") for one in shown)


def test_no_rows_give_an_answer_of_no_rows(result):
    for nothing in (NEW[:0], NEW.to_numpy()[:0]):
        found = result.predict(nothing)
        assert len(found) == 0
        assert "no rows" in found.notes[-1]


# ---- files ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    def written(**texts):
        paths = [tmp_path / f"{name}.csv" for name in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text)
        return paths

    return written


FIRST = "id,x,kind,day,two\na,1,red,2024-01-01,m\nb,2,blue,2024-01-03,f\nc,4,green,2024-01-02,m\n"


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_a_file_is_read_as_the_first_one_was(files):
    one, same, other = files(
        one=FIRST,
        same=FIRST,
        other="two,day,x,kind,more,id\nf,2024-01-11,8,green,1,z\nm,2023-12-31,9,red,1,y\n",
    )
    first = read_table(one, encode="onehot", impute="median")
    np.testing.assert_array_equal(read_like(same, first.recipe).X, first.X)
    found = read_like(other, first.recipe)
    assert (
        found.columns
        == first.columns
        == ("x", "kind=red", "kind=blue", "kind=green", "day", "two=f")
    )
    high = np.sqrt(0.5)
    np.testing.assert_array_equal(found.X, [[8, 0, 0, high, 10, 1], [9, high, 0, 0, -1, 0]])
    assert found.ids.tolist() == ["z", "y"]


def test_new_categories_and_missing_values_are_said(files):
    one, other = files(one=FIRST, other="x,kind,day,two\n,pink,2024-01-01,x\n3,,2024-01-01,m\n")
    with pytest.warns(ConsilienceWarning):
        first = read_table(one, encode="onehot", impute="median")
    with pytest.warns(ConsilienceWarning) as said:
        found = read_like(other, first.recipe)
    words = " ".join(str(one.message) for one in said)
    assert "'pink'. Their objects have none of the known ones" in words
    assert "1 of 'x' with 2" in words
    assert "1 of 'kind' with 'red'" in words
    # Of two categories, in one column, an unknown one is as far from either.
    np.testing.assert_allclose(found.X, [[2, 0, 0, 0, 0, 0.5], [3, np.sqrt(0.5), 0, 0, 0, 0]])


def test_files_that_lack_what_was_used_are_refused(files):
    one, less, gaps, words = files(
        one="x,y\n1,2\n3,5\n", less="x,z\n1,2\n", gaps="x,y\n1,\n", words="x,y\n1,high\n"
    )
    recipe = read_table(one).recipe
    with pytest.raises(InvalidInputError, match="no column 'y', which was clustered"):
        read_like(less, recipe)
    # The remedies are those of whoever has new objects, not of whoever reads the first table.
    with pytest.raises(InvalidInputError, match=r"missing or infinite.*leave out those") as gap:
        read_like(gaps, recipe)
    with pytest.raises(InvalidInputError, match=r"'y' \(.*'high'\)\..*correct these cells") as word:
        read_like(words, recipe)
    for refused in (gap, word):
        assert "ignore" not in str(refused.value)


def test_a_column_that_nobody_needs_may_be_missing(files):
    one, less = files(one="x,y,z\n1,2,7\n3,5,7\n", less="y,x\n2,1\n")
    recipe = read_table(one).recipe
    with pytest.raises(InvalidInputError, match="no column 'z'"):
        read_like(less, recipe)
    with pytest.warns(ConsilienceWarning, match="another order"):
        found = read_like(less, recipe, may_lack=("z",))
    assert (found.columns, found.X.tolist()) == (("x", "y"), [[1, 2]])


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_the_decimal_mark_is_told_from_each_file(files):
    plain = "x,share\n1.250,0.5%\n2.125,3.75%\n"
    comma = "x;share\n1,250;0,5 %\n2,125;3,75 %\n"
    wanted = [[1.25, 0.5], [2.125, 3.75]]
    for one, other in (files(a=plain, b=comma), files(c=comma, d=plain)):
        first = read_table(one)
        assert first.X.tolist() == read_like(other, first.recipe).X.tolist() == wanted
    # What was named holds for the next file too.
    one, other = files(e="x;y\n1.250;2\n3.000;4\n", f="x;y\n1.250;2\n")
    named = read_table(one, decimal=",").recipe
    assert read_like(other, named).X.tolist() == [[1250, 2]]


def test_without_a_constant_column_objects_keep_their_index_and_refusals_are_ours(result):
    """They were taken through another door: words of a column not used, and gaps, were foreign."""
    less = NEW.drop(columns="always").set_index(np.arange(len(NEW)) + 100)
    found = result.predict(less.assign(note="some words"))
    np.testing.assert_array_equal(found.labels, result.predict(NEW).labels)
    assert found.to_pandas().index.tolist() == less.index.tolist()
    assert len(result.predict(less.iloc[:0])) == 0
    turned = result.predict(pl.from_pandas(less[["width", "length"]]))
    np.testing.assert_array_equal(turned.labels, found.labels)
    with pytest.raises(InvalidInputError, match=r"finite numbers: .*\(in 'width' \(1\)\)"):
        result.predict(less.where(less != less.iloc[2, 1]))


def test_rows_of_different_lengths_are_no_table(result):
    with pytest.raises(InvalidInputError, match="rows of different lengths"):
        result.predict([[1.0, 3.0, 2.0], [1.0]])


@pytest.mark.parametrize("rows", [[["a"], ["b"]], [["a", 1, 2, 3]], [[[1, "a"]]]])
def test_words_in_a_table_of_another_shape_are_refused_without_names_of_columns(rows, result):
    """Which column it would be is not known there."""
    with pytest.raises(InvalidInputError, match=r"(New|The new) objects") as error:
        result.predict(np.array(rows, object))
    assert "'length' (" not in str(error.value)


def test_words_in_a_table_of_the_same_shape_are_counted_by_column(result):
    rows = np.array([[1, 2, "a"], [None, 2, "b"], [3, 2, np.inf]], object)
    with pytest.raises(InvalidInputError, match=r"'length' \(1\).*'width' \(3\)") as error:
        result.predict(rows)
    assert "'always'" not in str(error.value)


@pytest.mark.parametrize("words", [["1", "2", "-"], ["1", "2", "none"], ["$1", "$2", "--"]])
@pytest.mark.parametrize("gaps", [None, "keep"])
def test_categories_that_elsewhere_mean_a_gap_are_placed_as_they_were_clustered(words, gaps):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "k": pd.Categorical(words * 20)})
    found = cs.cluster(table, 2, method="kcc", n_members=10, gaps=gaps, random_state=0)
    assert found.predict(table).known.all()
