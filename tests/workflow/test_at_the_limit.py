"""Exactly at a limit, one below and one above it; and small pieces against their definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import consilience as cs
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.generate import MixedEnsemble
from consilience.workflow import (
    _choosing,
    _columns,
    _data,
    _metric,
    _mixed,
    _new_objects,
    compare_results,
    large,
)
from consilience.workflow._data import Data
from consilience.workflow._object_weights import copies_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3)) + 5.0 * (np.arange(20) % 2)[:, None]


# ---- gaps -------------------------------------------------------------------------------------


def torn(n=20):
    """Numbers of which some are missing, and members that saw some objects only."""
    rng = np.random.default_rng(1)
    cells = np.where(rng.random((n, 3)) < 0.2, np.nan, rng.normal(size=(n, 3)) + 7.0)
    cells[0] = [np.nan, 1.0, 2.0]
    members = rng.integers(0, 3, (n, 4))
    members[rng.random(members.shape) < 0.2] = -2
    return cells, cs.Ensemble(members)


def test_a_gap_that_nobody_tells_of_stays_where_it_was():
    cells = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan]])
    known = ~np.isnan(cells)
    apart = cs.Ensemble(np.array([[0], [1], [2]]))
    for means in (_mixed._expected, _mixed._expected_by_clusters):
        found, sure = means(apart, np.where(known, cells, 0.0), known.astype(float))
        assert not sure[~known].any()
        assert np.isfinite(found).all()


@pytest.mark.parametrize(("most", "by_pairs"), [(19, False), (20, True), (21, True)])
def test_all_pairs_are_asked_up_to_so_many_objects(most, by_pairs, monkeypatch):
    cells, _ = torn()
    data = _data.gather(cells, columns=_columns.Columns(keep_gaps=True), owner="this")
    members = MixedEnsemble(4, 3, random_state=0).generate(data.mixed)
    monkeypatch.setattr(_mixed, "_PAIRS", most)
    asked = []
    for name in ("_expected", "_expected_by_clusters"):
        own = getattr(_mixed, name)
        monkeypatch.setattr(_mixed, name, lambda *a, n=name, o=own: asked.append(n) or o(*a))
    filled = _mixed.refilled(data, members)
    assert asked == ["_expected" if by_pairs else "_expected_by_clusters"]
    assert np.isfinite(filled.X).all()
    wanted = data.scaling.with_gaps(cells)
    there = ~np.isnan(wanted)
    np.testing.assert_array_equal(filled.X[there], wanted[there])


@pytest.mark.parametrize(
    ("most", "wanted"), [(19, (20, 60)), (20, ("sqrt/2", "sqrt")), (21, ("sqrt/2", "sqrt"))]
)
def test_members_of_many_objects_have_numbers_of_clusters_that_stay(most, wanted, monkeypatch):
    cells, _ = torn()
    data = _data.gather(cells, columns=_columns.Columns(keep_gaps=True), owner="this")
    monkeypatch.setattr(_mixed, "_MODERATE", most)
    made, why = _mixed.mixed_generator(data, 7, None, 3, None)
    assert made.get_params()["n_clusters"] == wanted
    assert (made.n_members, made.random_state, made.views) == (7, 3, None)
    assert why == (
        "k-means on parts of the columns. Each clustering sees the objects that have most of its "
        "columns, and the others are unseen by it."
    )
    few, _ = _mixed.mixed_generator(data, 7, 99, 3, None)
    assert few.n_clusters == 20


@pytest.mark.parametrize("missing", [0, 1, 9, 10, 11])
def test_groups_are_told_from_whole_objects_where_half_are_whole(missing, monkeypatch):
    monkeypatch.setattr(_mixed, "_FEWEST", 3)
    mixed = np.ones((20, 4))
    mixed[:missing, 2:] = np.nan  # the second view knows nothing of them
    mixed[15, 0] = np.nan  # one column of a view may be missing
    data = Data(20, X, mixed=mixed, views=("a", "b"), view_of=(0, 0, 1, 1))
    found = _mixed.in_all_views(data)
    if missing in (0, 11):  # all are, or less than half
        assert found is None
    else:
        assert found.tolist() == list(range(missing, 20))
    monkeypatch.setattr(_mixed, "_FEWEST", 20 - missing + 1)
    assert _mixed.in_all_views(data) is None
    assert _mixed.in_all_views(Data(20, X)) is None


# ---- distances --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_distances_of_all_pairs_are_held_up_to_so_many_objects(metric, monkeypatch):
    data = Data(20, X, ("a", "b", "c"), original=X, original_columns=("a", "b", "c"))
    for most in (20, 21):
        monkeypatch.setattr(_metric, "_MOST_OBJECTS", most)
        assert _metric.by_metric(data, metric, owner="this").distances.shape == (20, 20)
    monkeypatch.setattr(_metric, "_MOST_OBJECTS", 19)
    if metric == "cosine":
        assert _metric.by_metric(data, metric, owner="this").distances is None
        return
    with pytest.raises(InvalidInputError, match=r"takes at most 19 objects\. Got 20"):
        _metric.by_metric(data, metric, owner="this")


@pytest.mark.parametrize("n_groups", [1, 17, 18, 19, 20, 25, None])
def test_members_by_distances_hold_as_many_objects_as_groups(n_groups):
    data = Data(20, X, distances=np.zeros((20, 20)))
    made, _ = _metric.distance_members(data, 5, n_groups, 3, None)
    share = made.get_params()["max_samples"]
    whole = cs.generate.DistanceEnsemble().get_params()["max_samples"]
    if n_groups is None:
        assert (made.n_clusters, share) == (("sqrt/2", "sqrt"), whole)
        return
    assert made.n_clusters == min(n_groups, 20)
    held = _metric.subset_size(whole, 20)
    assert share == (1.0 if min(n_groups, 20) > held else whole)


# ---- how many groups --------------------------------------------------------------------------


@pytest.mark.parametrize(("enough", "drawn"), [(19, 19), (20, 20), (21, 20)])
def test_the_number_is_looked_for_in_so_many_objects(enough, drawn, monkeypatch):
    seen = []

    class Auto:
        choice_ = None

        def __init__(self, **how):
            seen.append(how)

        def fit(self, values, ensemble):
            seen.append((values, ensemble))

    monkeypatch.setattr(_choosing, "AutoConsensus", Auto)
    monkeypatch.setattr(_choosing, "_ENOUGH", enough)
    how = {"most": 4, "effort": "quick", "seed": 5, "n_jobs": 2}
    rows = SimpleNamespace(values=np.arange(20.0)[:, None])
    assert _choosing.by_lines(rows, None, **how) == _choosing.Number(1)
    assert seen[0].items() >= {
        "max_clusters": 4, "effort": "quick", "random_state": 5, "n_jobs": 2,
    }.items()  # fmt: skip
    values = seen[1][0].ravel()
    assert len(values) == len(set(values)) == drawn
    assert (np.diff(values) > 0).all()
    _choosing.by_lines(rows, "members", **how)  # members are of all objects
    assert (len(seen[3][0]), seen[3][1]) == (20, "members")
    _choosing.by_lines(None, "members", **how)
    assert seen[5] == (None, "members")


# ---- what fits --------------------------------------------------------------------------------


def test_a_file_that_takes_exactly_the_memory_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "_ALWAYS_READ", 0)
    path = tmp_path / "x.npy"
    np.save(path, np.ones((100, 3)))
    needed = 100 * (48 * 3 + 8 * 7)
    assert large.does_not_fit(path, 7, needed, owner="this") is None
    words = large.does_not_fit(path, 7, needed - 1, owner="this", name="--memory")
    assert words == (
        "'x.npy' has about 100 rows of 3 columns, which would take some 0.0 GiB in memory, more "
        f"than the {(needed - 1) / 2**30:.3g} GiB of --memory: it is read block by block, and "
        "looked at by a sample."
    )
    assert "GiB of --max-memory: " in large.does_not_fit(path, 7, needed - 1, owner="this")
    monkeypatch.setattr(large, "_ALWAYS_READ", needed)
    assert large.does_not_fit(path, 7, 1, owner="this") is None
    monkeypatch.setattr(large, "_ALWAYS_READ", needed - 1)
    assert large.does_not_fit(path, 7, 1, owner="this") is not None


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a,b,c\n" + "1,2,3\n" * 10, (11, 3)),
        ("a;b\n" + "1;2\n" * 10, (11, 2)),
        ("1,2\n", (1, 2)),
        ("12345", (0, 1)),
        ("\n\n\n\n", (2, 1)),
        ("a|b|c|d\n", (1, 4)),
        ("aaaa,b\n" + "1,2\n" * 2 + "3,4\n" * 2, (5, 2)),
    ],
)
def test_rows_and_columns_of_text_are_guessed_by_its_first_lines(text, shape, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert large._guessed_shape(path) == shape


def test_the_first_64_kilobytes_of_a_text_tell_of_the_rest(tmp_path):
    path = tmp_path / "x.csv"
    short = b"1,2\n" * 2**14  # as much as is read
    path.write_bytes(short + b"1,2,3,4,5,6\n" * 2**14)
    assert large._guessed_shape(path) == (4 * 2**14, 2)
    path.write_bytes(b"1,2\n" * 2**13 + b"1,2,3,4\n" * 2**13)
    read = 8191 * [3] + 4095 * [7]  # less the first line, and the last, which may be cut
    width = sum(read) / len(read) + 1
    assert large._guessed_shape(path) == (int(12 * 2**13 / width), 2)


@pytest.mark.parametrize(
    ("value", "default", "ok"),
    [
        (None, None, True), (False, False, True), ("".join(["de", "fault"]), "default", True),
        (True, False, False), ("quick", "default", False), (0, False, False), (1, None, False),
        (np.zeros(2), None, False), ("", None, False),
    ],
)  # fmt: skip
def test_what_needs_memory_may_have_its_default(value, default, ok):
    if ok:
        large.refuse_in_memory_only({"this": (value, default)}, owner="cluster")
        return
    with pytest.raises(InvalidParameterError) as caught:
        large.refuse_in_memory_only({"fine": (None, None), "this": (value, default)}, owner="job")
    assert str(caught.value) == (
        "The 'this' parameter of job needs data in memory. Leave it out, or read a table that "
        "fits into memory with consilience.datasets.read_table."
    )


def test_a_large_result_says_how_large_its_ten_first_clusters_are():
    told = {
        "labels": np.zeros(3), "confidence": np.ones(3), "runner_up": np.zeros(3), "asked": None,
        "n_clusters": 12, "sizes": [*range(1000, 1012)], "method": "sec", "why_method": "So.",
        "why_members": "given.", "n_rows": 4567, "seed": 0, "notes": ("a", "b"), "seconds": {},
        "ensemble": SimpleNamespace(n_objects=12_345, n_members=7), "dropped": (),
        "sample": SimpleNamespace(n_objects=99), "columns": ("x", "y"),
    }  # fmt: skip
    assert repr(large.LargeResult(**told)) == "\n".join(
        [
            "LargeResult:",
            "  objects    12,345, 2 columns",
            "  clusters   12, of 1,000, 1,001, 1,002, 1,003, 1,004, 1,005, 1,006, 1,007, 1,008, "
            "1,009",
            "  method     sec on 4,567 distinct rows. So.",
            "  members    7. given.",
            "  looked at  99 of 12,345 objects, drawn at random",
            "  note       a",
            "  note       b",
            "  see        labels, confidence, sample, predict(X), report(path), save(folder)",
        ]
    )


def test_clusters_that_nobody_is_in_have_no_confidence():
    told = SimpleNamespace(
        n_clusters=4, n_objects=5, labels=np.array([0, 2, -1, 2, 0]), sizes=[2, 0, 2, 0],
        confidence=np.array([1.0, 0.5, 0.9, 0.75, 0.5]),
    )  # fmt: skip
    assert large.LargeResult.mean_confidences(told) == [0.75, 0.0, 0.625, 0.0]
    told.sizes, told.labels = [1, 0, 0, 0], np.array([0, -1, -1, -1, -1])
    assert large.LargeResult.mean_confidences(told) == [1.0, 0.0, 0.0, 0.0]


# ---- columns ----------------------------------------------------------------------------------


def test_numbers_among_objects_have_gaps_and_words_have_none():
    keep = _columns.Columns(keep_gaps=True)
    for values, wanted in (
        (np.array([[1, None], [2, 3]], object), True),
        (np.array([[1, np.nan], [2, 3]], object), True),
        (np.array([[1, 2], [2, 3]], object), False),
        (np.array([["a", None], [2, 3]], object), False),
        (np.array([[1.0, np.nan]], np.float32), True),
        (np.full((2, 2, 2), np.nan), False),
        (np.full(3, np.nan), False),
        (sparse.csr_array(np.array([[np.nan, 1.0]])), False),
    ):
        assert keep.has_gaps(values, None) is wanted
        assert _columns.Columns().has_gaps(values, None) is False


def test_words_where_numbers_should_be_are_refused_with_gaps_as_without():
    rows = np.array([["a", None], [2, 3], [3, 4]], object)
    for gaps in (None, "keep"):
        with pytest.raises(InvalidInputError, match="'X' parameter of cluster must be a table of"):
            cs.cluster(rows, 2, gaps=gaps)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ids": "abc"}, "The 'ids' parameter of this must hold one value for each of the 3 "
         "objects. Got 'abc' instead."),
        ({"ids": 3}, "The 'ids' parameter of this must hold one value for each of the 3 objects. "
         "Got 3 instead."),
        ({"ids": np.array(3)}, "The 'ids' parameter of this must hold one value for each of the 3 "
         "objects. Got array(3) instead."),
        ({"ids": None, "truth": [1, 2]}, "The 'truth' parameter of this must hold one value for "
         "each of the 3 objects. Got 2 instead."),
        ({"truth": np.ones((3, 2))}, "The 'truth' parameter of this must hold one value for each "
         "of the 3 objects. Got an array of shape (3, 2) instead."),
        ({"truth": [[1], [2], [3]]}, "The 'truth' parameter of this must hold one value for each "
         "of the 3 objects. Got lists among them."),
    ],
)  # fmt: skip
def test_values_of_objects_are_as_many_as_these(given, words):
    with pytest.raises((InvalidInputError, InvalidParameterError)) as caught:
        _data.check_lengths(given, 3, owner="this")
    assert str(caught.value) == words
    _data.check_lengths({"ids": ["a", "b", "c"], "truth": None}, 3, owner="this")


# ---- new objects ------------------------------------------------------------------------------


def clustered(values, **more):
    names = tuple("abcdefghijklmn"[: np.shape(values)[1]])
    told = {"original": np.asarray(values, float), "original_columns": names} | more
    return Data(len(values), np.asarray(values, float), names, **told)


def test_notes_of_columns_that_are_missing_more_or_in_another_order():
    pandas = pytest.importorskip("pandas")
    data = clustered([[1, 2, 3.0, 7], [2, 1, 3.0, 7]], dropped=("c", "d"))
    rows = pandas.DataFrame({"a": [1.0], "b": [2.0]})
    one = "is missing and taken to be constant, as before."
    two = "Columns 'c' and 'd' are missing and taken to be constant, as before."
    for frame, notes in (
        (rows, [two]),
        (rows.assign(d=7.0), [f"Column 'c' {one}"]),
        (rows.assign(c=3.0), [f"Column 'd' {one}"]),
        (rows.assign(c=3.0, d=7.0), []),
        (rows.assign(c=3.0, d=7.0, x=1), ["Column 'x' was not clustered and is left out."]),
        (
            rows.assign(x=1, y=2),
            [two, "Columns 'x' and 'y' were not clustered and are left out."],
        ),
        (
            rows.assign(c=3.0, d=7.0)[["b", "a", "c", "d"]],
            ["The columns are in another order: they are matched by name."],
        ),
    ):
        found = _new_objects.matched(data, frame)
        assert found.values.tolist() == [[1.0, 2.0, 3.0, 7.0]]
        assert list(found.notes) == notes
        assert found.index is frame.index
    for frame, words in (
        (rows[["a"]], "The new objects have no column 'b', which was clustered. They have 'a'. Add "
         "what is missing, or rename it."),
        (rows[[]].assign(x=1), "The new objects have no column 'a' and 'b', which were clustered. "
         "They have 'x'. Add what is missing, or rename it."),
        (pandas.DataFrame([[1, 2, 3]], columns=list("aab")), "The new objects have several columns "
         "of the name 'a'. Rename them."),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError) as caught:
            _new_objects.matched(data, frame)
        assert str(caught.value) == words


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([1, 1, 1], [10, 1, 1], False),  # ten times as large as any
        ([1, 1, 1], [10.1, 1, 1], True),
        ([2, 2, 2], [20, 2, 2], False),
        ([2, 2, 2], [20.2, 2, 2], True),
        ([-1, 1, 1], [-10.1, 1, 1], True),
        ([1, 0.2, 0.2], [1, 1, 1], False),  # none is larger than all that were seen
        ([1, 0.2, 0.2], [1.5, 1.2, 0], True),  # most are, and five times the usual one
        ([1, 0.25, 0.25], [1.5, 1.25, 0], False),  # five times, and no more
        ([1, 0.1, 0.1], [1.5, 1.0, 0], False),  # the usual one is as large as any before
        ([0.5, 0.5, 0.5], [4.9, 0.5, 0.5], False),
        ([0, 0, 0], [9, 9, 9], False),  # a column of zeros has no unit
    ],
)
def test_values_in_another_unit_are_told_from_large_ones(old, new, said):
    data = clustered(np.column_stack([old, np.ones(3)]))
    found = _new_objects._other_units(np.column_stack([new, np.ones(3)]), data)
    top, before = np.abs(new).max(), np.abs(old).max()
    words = (
        f"Column 'a' (up to {top:.6g}, at most {before:.6g} before) has values far larger than any "
        "that was clustered: is it another unit?"
    )
    assert found == ([words] if said else [])
    both = _new_objects._other_units(np.column_stack([new, new]), clustered(np.c_[old, old]))
    if said:
        assert both[0].startswith("Columns 'a' (up to ")
        assert " have values far larger " in both[0]


def test_the_usual_of_sparse_rows_is_nothing_and_their_largest_counts():
    data = clustered([[1, 0.2], [0, 1], [0, 0.1]])
    data = Data(3, None, original=sparse.csr_array(data.original), original_columns=("a", "b"))
    rows = sparse.csr_array(np.array([[9.0, 2.0], [9.0, -11.0], [0.0, 2.0]]))
    (words,) = _new_objects._other_units(rows, data)
    assert words.startswith("Column 'b' (up to 11, at most 1 before) has")


# ---- two answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_parts", [3, 4, 5, 6])
def test_four_parts_of_a_group_are_named(n_parts):
    second = np.concatenate([np.full(9 - j, j) for j in range(n_parts)])
    line = compare_results(np.zeros(len(second), int), second).lines()[0]
    parts = [f"{9 - j} in cluster {j}" for j in range(min(n_parts, 4))]
    if n_parts > 4:
        parts.append("1 more part" if n_parts == 5 else "2 more parts")
    assert line.endswith(f": {', '.join(parts)}")


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11])
def test_ten_objects_that_moved_are_named(n):
    first = np.repeat([0, 1], [40, 40])
    second = first.copy()
    second[:n] = 1
    text = str(compare_results(first, second)).splitlines()
    moved = [line for line in text if ": from cluster" in line]
    assert moved == [f"  {i}: from cluster 0 to cluster 1" for i in range(min(n, 10))]
    count = f"{n} object{'s' * (n != 1)} moved{':' * (n > 0)}"
    assert count in text
    assert (text[-1] == "  and 1 more") is (n == 11)


@pytest.mark.parametrize("k", [29, 30, 31, 32])
def test_thirty_groups_have_a_line(k):
    labels = np.arange(2 * k) % k
    text = str(compare_results(labels, labels)).splitlines()
    assert sum(line.startswith("  cluster ") for line in text) == min(k, 30)
    more = [line for line in text if "more group" in line]
    assert more == {31: ["  and 1 more group"], 32: ["  and 2 more groups"]}.get(k, [])


def test_half_of_a_group_is_not_most_of_it():
    lines = compare_results([0, 0, 0, 0, 1, 1], [0, 0, 1, 2, 3, 3]).lines()
    assert lines[0].startswith("cluster 0 (4) comes nearest to cluster 0: 2 in")
    lines = compare_results([0, 0, 0, 0, 1, 1], [0, 0, 0, 2, 3, 3]).lines()
    assert lines[0].startswith("cluster 0 (4) is mostly cluster 0: 3 in")
    lines = compare_results([-1, 0, 0], [-1, 0, 0]).lines()
    assert lines == [
        "cluster 0 (2) is cluster 0 exactly: 2 in cluster 0",
        "no cluster (1) now: 1 in no cluster",
    ]


@pytest.mark.parametrize("level", [0.5, 0.9999])
def test_levels_from_one_half_to_nearly_one(level):
    found = compare_results([0, 0, 1, 1, 2], [0, 0, 1, 2, 2], level=level)
    assert found.level == level
    assert 0 <= found.stayed.low <= found.stayed.value <= found.stayed.high <= 1
    for wrong in (level - 0.001 if level == 0.5 else 0.49, 0.99991):
        with pytest.raises(InvalidParameterError, match="'level' parameter of compare_results"):
            compare_results([0, 1], [0, 1], level=wrong)


def test_intervals_are_percentiles_moved_by_the_bias_of_the_draws():
    from consilience.workflow.two_answers import _share

    draws = np.arange(101.0) / 200  # their mean is 0.25
    assert _share(0.3, draws, 0.9) == pytest.approx((0.3, 0.075, 0.525))
    assert _share(0.9, draws, 0.5) == pytest.approx((0.9, 0.775, 1.0))
    assert _share(0.25, np.full(5, 0.25), 0.95) == pytest.approx((0.25, 0.25, 0.25))
    assert str(_share(0.3, draws, 0.9)) == "0.300 (0.075 to 0.525)"


def test_objects_in_one_answer_only_are_counted(tmp_path):
    for name, ids in (("a", "abcd"), ("b", "bcdef")):
        lines = "".join(f"{one},0\n" for one in ids)
        (tmp_path / f"{name}.csv").write_text(f"id,cluster\n{lines}")
    found = compare_results(tmp_path / "a.csv", tmp_path / "b.csv")
    assert (found.n_objects, found.only_first, found.only_second) == (3, 1, 2)
    assert str(found).splitlines()[-2:] == [
        "1 object in the first answer only, not compared",
        "2 objects in the second answer only, not compared",
    ]
    assert "confidence_first" not in found.moved


def test_equal_weights_need_no_copies_and_others_are_told():
    with pytest.warns(ConsilienceWarning, match="6 copies stand for 3 objects"):
        copies = copies_of([1, 2, 3], owner="this")
    assert (copies.rows.tolist(), copies.first.tolist()) == ([0, 1, 1, 2, 2, 2], [0, 1, 3])
    assert copies_of([2.5, 2.5], owner="this") is None
    assert copies_of(None, owner="this") is None
