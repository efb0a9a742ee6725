"""Profiles: planted columns come first, whatever the order, the container and the company."""

import numpy as np
import pytest
from scipy import sparse

from consilience import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.explain import Profile, profile
from consilience.explain._columns import columns_of

pandas = pytest.importorskip("pandas")


def planted(seed):
    """A table whose groups differ in a number, a category and a flag, among columns of noise.

    Returns the frame, the groups, the names of the planted columns, and for every group the
    column of numbers that is its own.
    """
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), int(rng.integers(90, 200))
    groups = rng.permutation(np.arange(n) % k)
    table = {f"noise {j}": rng.normal(size=n) for j in range(12)}
    table |= {f"word {j}": rng.choice(["a", "b", "c"], n) for j in range(4)}
    table |= {f"coin {j}": rng.integers(0, 2, n) for j in range(4)}
    own = {}
    for g in range(k):
        own[g] = f"own {g}"
        away = 2.5 * rng.choice([-1, 1])
        # In units and on scales of their own, one of them far from normal.
        values = rng.normal(np.where(groups == g, away, 0.0), 1.0)
        table[own[g]] = np.exp(values) if g % 2 else 1000 * values
    likely = np.where(rng.random(n) < 0.85, groups, rng.integers(0, k, n))
    table["colour"] = np.array(["red", "green", "blue", "grey"])[likely]
    table["flag"] = (rng.random(n) < np.where(groups == 0, 0.95, 0.05)).astype(int)
    frame = pandas.DataFrame(table)
    return frame[rng.permutation(frame.columns)], groups, {*own.values(), "colour", "flag"}, own


@pytest.mark.parametrize("seed", range(50))
def test_planted_columns_come_first(seed):
    frame, groups, wanted, own = planted(seed)
    found = profile(frame, groups)
    assert set(found.columns["column"][: len(wanted)]) == wanted
    noise = found.columns["importance"][len(wanted) :]
    assert noise.max() < found.columns["importance"][len(wanted) - 1]
    table = found.to_pandas("differences")
    for g, name in own.items():
        lines = table[table.cluster == g]
        # What sets a group apart most is planted, and its own column is among it.
        first = list(dict.fromkeys(lines.column))
        assert first[0] in wanted
        assert first.index(name) < len(wanted)
        assert lines[lines.column == name].p_corrected.item() < 0.05


def test_what_is_said_to_set_groups_apart_is_noise_in_one_of_twenty_lines_at_most():
    shares = []
    for seed in range(50):
        frame, groups, wanted, _ = planted(seed)
        table = profile(frame, groups).to_pandas("differences")
        surely = table[table.p_corrected <= 0.05]
        shares.append((~surely.column.isin(wanted)).mean())
    assert np.mean(shares) <= 0.05


def test_noise_alone_sets_nothing_apart():
    rng = np.random.default_rng(0)
    said = 0
    for _ in range(40):
        found = profile(rng.normal(size=(80, 20)), rng.integers(0, 3, 80))
        said += bool((found.differences["p_corrected"] <= 0.05).any())
    assert said <= 6  # one in twenty by its definition: 2 of 40


def assert_same(one, other):
    """The same words and figures."""
    for name, table in one.tables.items():
        for column, values in table.items():
            np.testing.assert_array_equal(values, other.tables[name][column], err_msg=column)


def with_gaps(frame, seed=0):
    rng = np.random.default_rng(seed)
    frame = frame.copy()
    for name in ("own 0", "colour"):
        frame.loc[rng.random(len(frame)) < 0.1, name] = None
    return frame


def test_the_order_of_columns_changes_nothing():
    frame, groups, *_ = planted(3)
    frame = with_gaps(frame)
    assert_same(profile(frame, groups), profile(frame[sorted(frame.columns)[::-1]], groups))


def test_the_order_of_objects_changes_nothing():
    frame, groups, *_ = planted(4)
    frame = with_gaps(frame)
    ids = np.array([f"object {i}" for i in range(len(groups))])
    rng = np.random.default_rng(0)
    members = np.stack([np.where(rng.random(len(groups)) < 0.8, groups, 0) for _ in range(20)], 1)
    sure = rng.random(len(groups))
    shuffled = rng.permutation(len(groups))
    first = profile(frame, groups, ids=ids, ensemble=Ensemble(members), confidence=sure)
    second = profile(
        frame.iloc[shuffled],
        groups[shuffled],
        ids=ids[shuffled],
        ensemble=Ensemble(members[shuffled]),
        confidence=sure[shuffled],
    )
    for name, table in first.tables.items():
        for column, values in table.items():
            again = second.tables[name][column]
            if values.dtype.kind == "f":  # sums in another order
                np.testing.assert_allclose(values, again, rtol=1e-9, err_msg=column)
            else:
                np.testing.assert_array_equal(values, again, err_msg=column)


def test_pandas_polars_and_arrays_are_one():
    polars = pytest.importorskip("polars")
    frame, groups, *_ = planted(5)
    frame = with_gaps(frame)
    first = profile(frame, groups)
    assert_same(first, profile(polars.from_pandas(frame), groups))
    array = frame.to_numpy(dtype=object)
    assert_same(first, profile(array, groups, columns=list(frame.columns)))
    assert_same(first, profile(frame.convert_dtypes(), groups))
    numbers = frame.select_dtypes("number")
    assert_same(
        profile(numbers, groups),
        profile(numbers.to_numpy(), groups, columns=list(numbers.columns)),
    )


def test_input_is_not_written_to():
    frame, groups, *_ = planted(6)
    before, kept = frame.copy(), groups.copy()
    X = frame.select_dtypes("number").to_numpy()
    X.flags.writeable = groups.flags.writeable = False
    profile(frame, groups)
    profile(X, groups)
    counts = sparse.csr_matrix(X)
    data = counts.data.copy()
    profile(counts, groups)
    np.testing.assert_array_equal(counts.data, data)
    pandas.testing.assert_frame_equal(frame, before)
    np.testing.assert_array_equal(groups, kept)


def test_copies_of_a_column_say_the_same():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 30)
    x = rng.normal(groups, 1)
    found = profile(np.stack([x, x, 5 - 2 * x], 1), groups, columns=["a", "a", "b"])
    assert sorted(found.columns["column"]) == ["a", "a (2)", "b"]
    assert np.ptp(found.columns["importance"]) < 1e-12
    lines = found.to_pandas("differences")
    lines = lines[lines.cluster == 0].set_index("column")
    assert lines.effect["a"] == lines.effect["a (2)"] == pytest.approx(-lines.effect["b"])
    assert lines.effect_low["a"] == pytest.approx(-lines.effect_high["b"])


def test_figures_are_those_of_pandas():
    frame, groups, *_ = planted(7)
    frame = with_gaps(frame)
    table = (
        profile(frame, groups).to_pandas("differences").set_index(["cluster", "column", "category"])
    )
    for g in np.unique(groups):
        own, rest = frame[groups == g], frame[groups != g]
        line = table.loc[g, "own 0", ""]
        assert line.known == own["own 0"].count()
        assert line["median"] == pytest.approx(own["own 0"].median())
        assert line.lower_quartile == pytest.approx(own["own 0"].quantile(0.25))
        assert line.rest_median == pytest.approx(rest["own 0"].median())
        for colour in ("red", "green"):
            line = table.loc[g, "colour", colour]
            assert line.share == pytest.approx((own.colour.dropna() == colour).mean())
            assert line.rest_share == pytest.approx((rest.colour.dropna() == colour).mean())
        assert table.loc[g, "flag", "1"].share == pytest.approx(own.flag.mean())


# ---- text ---------------------------------------------------------------------------------------


def documents(seed=0, n=120, n_words=2000):
    """Counts of words: 0..4 belong to the first third of the documents, 10..14 to the next, ..."""
    rng = np.random.default_rng(seed)
    counts = (rng.random((n, n_words)) < 0.02).astype(int)
    groups = np.arange(n) * 3 // n
    for g in range(3):
        own = rng.random((n, 5)) < np.where(groups == g, 0.6, 0.03)[:, None]
        counts[:, 10 * g : 10 * g + 5] = own * rng.integers(1, 5, (n, 5))
    return counts, groups


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array])
def test_words_of_a_group_come_first(kind):
    counts, groups = documents()
    names = [f"w{j}" for j in range(counts.shape[1])]
    found = profile(kind(counts), groups, columns=names)
    for g in range(3):
        own = found.differences["column"][found.differences["cluster"] == g][:5]
        assert set(own) == {f"w{10 * g + j}" for j in range(5)}
    assert set(found.columns["column"][:15]) == {
        f"w{10 * g + j}" for g in range(3) for j in range(5)
    }
    assert "has 'w" in found.clusters["rule"][0]
    words = str(found)
    assert "log odds" in words
    # Words of fewer than two documents are left out, and it is said how many.
    rare = int(((counts > 0).sum(axis=0) < 2).sum())
    assert len(found.columns["column"]) == counts.shape[1] - rare
    assert f"{rare} of {counts.shape[1]} columns" in found.notes[0]


def test_words_are_shares_of_objects_that_have_them():
    counts, groups = documents(1, n_words=60)
    table = profile(sparse.csr_matrix(counts), groups).to_pandas("differences")
    table = table.set_index(["cluster", "column"])
    for g in range(3):
        for j in (0, 12, 24):
            share = (counts[groups == g, j] > 0).mean()
            assert table.share[g, f"c{j}"] == pytest.approx(share)
    # The same as columns of 0 and 1, whose importance is on the same scale.
    flags = profile((counts > 0).astype(float), groups).to_pandas("columns").set_index("column")
    words = profile(sparse.csr_matrix(counts), groups).to_pandas("columns").set_index("column")
    assert words.importance["c0"] == pytest.approx(flags.importance["c0"], abs=0.02)


# ---- what may be missing ----------------------------------------------------------------------


def test_objects_in_no_group_are_in_no_comparison_and_have_their_own_lines():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, -1], [30, 30, 10])
    x = rng.normal(4 * groups, 1)
    x[groups == -1] = 1e6
    with_noise = profile(x[:, None], groups).to_pandas("differences").set_index("cluster")
    without = profile(x[:60, None], groups[:60]).to_pandas("differences").set_index("cluster")
    assert with_noise.effect[0] == pytest.approx(without.effect[0])
    assert with_noise.rest_median[1] == without.rest_median[1]
    assert with_noise.effect[-1] == 1.0
    found = profile(x[:, None], groups)
    assert found.clusters["cluster"].tolist() == [0, 1, -1]
    assert found.clusters["objects"].tolist() == [30, 30, 10]
    assert "In no cluster: 10 objects (14 %)" in str(found)
    # Rules are for telling a group from everything, noise too.
    assert found.clusters["precision"][1] > 0.9


def test_one_group_has_nothing_to_be_compared_with():
    found = profile(np.arange(12.0).reshape(6, 2), np.zeros(6, int))
    assert np.isnan(found.differences["effect"]).all()
    assert np.isnan(found.columns["importance"]).all()
    assert found.clusters["rule"].tolist() == [""]
    words = str(found)
    assert "c0 5 (2.5 to 7.5)" in words
    assert "apart" not in words
    assert "p-values" not in words


def test_groups_of_one_object_and_all_objects_alone():
    X = np.array([[1.0, 3], [2, 3], [9, 3], [8, 3]])
    found = profile(X, [0, 0, 1, 0]).to_pandas("differences")
    line = found[(found.cluster == 1) & (found.column == "c0")].iloc[0]
    assert (line.effect, line.effect_high) == (1.0, 1.0)
    assert -1 < line.effect_low < 0.5
    alone = profile(X, [0, 1, 2, 3])
    assert np.isnan(alone.columns["importance"]).all()
    assert "Cluster 3: 1 object (25 %)" in str(alone)


def test_no_object_in_a_group():
    found = profile(np.arange(6.0)[:, None], np.full(6, -1))
    assert found.clusters["cluster"].tolist() == [-1]
    assert "In no cluster: 6 objects" in str(found)


def test_constant_empty_and_wordy_columns():
    frame = pandas.DataFrame(
        {
            "same": 7.0,
            "nothing": [None] * 20,
            "gaps": [np.nan, np.inf] * 10,
            "name": [f"no {i}" for i in range(20)],
            "x": np.arange(20.0),
        }
    )
    found = profile(frame, np.arange(20) // 10)
    assert found.columns["column"].tolist() == ["x", "same"]
    assert np.isnan(found.columns["importance"][1])
    assert "name" in found.notes[0]
    assert "gaps" in found.notes[1]
    assert "nothing" in found.notes[1]
    assert "nan" not in str(found)


def test_no_columns_at_all():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
    found = profile(None, [0, 0, 1, 1], ensemble=ensemble, confidence=[1, 0.9, 0.4, 1.0])
    assert len(found.columns["column"]) == len(found.differences["p"]) == 0
    doubtful = found.to_pandas("objects").query("role == 'doubtful'")
    assert doubtful.object.tolist() == [2]
    assert doubtful.members_for.tolist() == [1]
    assert doubtful.members_against.tolist() == [2]
    assert doubtful.reason.tolist() == [
        "2 of 3 clusterings put it with cluster 0, 1 with cluster 1"
    ]
    assert "2 (confidence 0.40): 2 of 3" in str(found)


def test_many_categories_are_cut_to_the_frequent_ones():
    cells = np.repeat([f"k{j}" for j in range(80)], np.arange(80) + 2)
    found = columns_of(cells[:, None].astype(object), len(cells)).categories[0]
    assert len(found.levels) == 50
    assert found.levels[-1] == "(others)"
    assert np.bincount(found.codes).sum() == len(cells)
    assert "k79" in found.levels
    assert "k0" not in found.levels


def test_split_categories_are_one_column_again():
    codes = np.arange(30) % 3
    X = np.column_stack([np.arange(30.0), np.sqrt(0.5) * np.eye(3)[codes]])
    names, sources = ("x", "c=a", "c=b", "c=d"), ("x", "c", "c", "c")
    found = profile(X, codes, columns=names, sources=sources)
    assert found.columns["column"].tolist() == ["c", "x"]
    assert found.columns["kind"].tolist() == ["category", "number"]
    assert found.clusters["rule"].tolist() == ["c is a", "c is b", "c is d"]
    # Categories that a constant column stood for are left out with it: then none is known.


def test_a_column_put_together_has_a_name_of_its_own():
    X = np.column_stack([np.eye(2)[np.arange(12) % 2], np.arange(12.0)])
    table = columns_of(X, 12, names=["a=x", "a=y", "a"], sources=["a", "a", "b"])
    assert table.names == ("a", "a (2)")
    (one,) = table.categories
    assert (one.name, one.levels) == ("a (2)", ("x", "y"))
    both = profile(X, np.arange(12) // 6, columns=["a=x", "a=y", "a"], sources=["a", "a", "b"])
    assert sorted(both.columns["column"]) == ["a", "a (2)"]


def test_categories_are_known_in_any_unit_and_missing_where_all_are():
    X = np.vstack([np.eye(3)[[0, 1, 2, 2]], np.full(3, np.nan)])
    for given in (X, (X - 0.25) * 3.0, X.astype(object)):
        (one,) = columns_of(given, 5, names=["c=a", "c=b", "c=d"], sources="ccc").categories
        assert one.codes.tolist() == [0, 1, 2, 2, -1]


@pytest.mark.parametrize(
    ("X", "why"),
    [
        (np.arange(12.0).reshape(4, 3), "Column 'c0' holds more than two numbers"),
        (np.ones((4, 3)), "An object has several of them"),
        (np.full((4, 3), "x"), "Column 'c0' holds texts"),
    ],
)
def test_columns_of_one_source_that_are_no_categories_are_refused(X, why):
    with pytest.raises(InvalidInputError, match=f"'sources' parameter of profile.*'a'.*{why}"):
        profile(X, [0, 0, 1, 1], sources=["a", "a", "b"])


def test_groups_that_are_called_alike_are_refused():
    labels = np.array([1, 1, "1", "1"], dtype=object)
    with pytest.raises(InvalidInputError, match=r"'labels' parameter.*both called '1'"):
        profile(np.arange(4.0)[:, None], labels)


def test_names_of_groups_are_kept():
    assert profile(np.arange(4.0)[:, None], ["b", "b", "a", "a"]).clusters["cluster"].tolist() == [
        "b",
        "a",
    ]
    assert profile(np.arange(4.0)[:, None], [7, 7, 3, 3]).clusters["cluster"].tolist() == [3, 7]


def test_words_say_what_p_values_are_not_only_where_the_columns_were_clustered():
    X, groups = np.arange(20.0)[:, None], np.arange(20) // 10
    caution = "p-values are not tests of whether the clusters exist"
    assert caution in str(profile(X, groups))
    assert caution in profile(X, groups)._repr_html_()
    assert caution not in str(profile(X, groups, clustered=False))


def test_html_is_text():
    evil = "<script>alert(1)</script>"
    X = np.array([[1.0], [2], [3], [9], [8], [7]])
    page = profile(X, [0, 0, 0, 1, 1, 1], columns=[evil], ids=[evil] * 6)._repr_html_()
    assert evil not in page
    assert "&lt;script&gt;" in page


def test_typical_objects_are_sure_near_and_in_the_middle():
    X = np.array([[0.0], [5], [10], [6], [20], [30], [40], [29]])
    groups = np.repeat([0, 1], 4)
    sure = np.array([0.9, 1, 1, 1, 1, 1, 1, 1])
    found = profile(X, groups, confidence=sure).to_pandas("objects")
    assert found[found.cluster == 0].object.tolist() == [1, 3, 2]
    assert found[found.cluster == 1].object.tolist()[0] in (5, 7)


def test_a_profile_cannot_be_changed():
    found = profile(np.arange(4.0)[:, None], [0, 0, 1, 1])
    with pytest.raises(AttributeError):
        found.level = 0.5
    assert isinstance(found, Profile)
    assert list(found.tables) == ["clusters", "columns", "differences", "objects"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"X": np.ones((3, 1))}, InvalidInputError, "'X' parameter of profile.*4 objects.*3, 1"),
        ({"columns": ["a", "b"]}, InvalidInputError, "'columns' parameter.*1 columns.*2 names"),
        ({"ids": [1]}, InvalidInputError, "'ids' parameter of profile.*4 objects. Got 1"),
        ({"confidence": [1]}, InvalidInputError, "'confidence' parameter"),
        ({"ensemble": Ensemble([[0, 1]])}, InvalidInputError, "'ensemble' parameter.*Got 2"),
        ({"level": 95}, InvalidParameterError, "'level' parameter"),
        ({"clustered": "yes"}, InvalidParameterError, "'clustered' parameter"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(change, error, words):
    given = {"X": np.arange(4.0)[:, None], "labels": [0, 0, 1, 1]} | change
    with pytest.raises(error, match=words):
        profile(**given)


def test_unknown_tables_are_refused():
    found = profile(np.arange(4.0)[:, None], [0, 0, 1, 1])
    with pytest.raises(InvalidParameterError, match=r"'table' parameter of Profile\.to_pandas"):
        found.to_pandas("rows")


def test_both_forms_say_that_there_are_more_clusters():
    X = np.arange(66.0)[:, None]
    found = profile(X, np.arange(66) // 3)
    assert "and 2 more clusters" in str(found)
    assert "and 2 more clusters" in found._repr_html_()


def test_a_name_of_null_characters_is_a_name():
    X = np.c_[np.arange(12.0), np.ones(12)]
    assert "\x00" in str(profile(X, np.arange(12) // 6, columns=["\x00", "b"]))
