"""Two answers beside each other: partners, what moved, agreement and its interval."""

import errno
import io
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.cli import main
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.workflow.two_answers import TwoAnswers


def most_that_stay(a, b):
    """Reference: the best one-to-one match by trying all; noise may go with noise only."""
    groups_a, groups_b = sorted(set(a) - {-1}), sorted(set(b) - {-1})
    both = sum(x == y == -1 for x, y in zip(a, b, strict=True))
    if len(groups_a) > len(groups_b):
        return most_that_stay(b, a)
    counts = [
        sum(chosen[groups_a.index(x)] == y for x, y in zip(a, b, strict=True) if x != -1)
        for chosen in permutations(groups_b, len(groups_a))
    ]
    return both + max(counts, default=0)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=25))
def test_figures_are_those_of_the_definitions(pairs):
    a, b = map(list, zip(*pairs, strict=True))
    found = cs.compare_results(a, b)
    assert found.ari.value == pytest.approx(adjusted_rand_score(a, b), abs=1e-9)
    assert found.n_objects == len(a)
    assert found.stayed.value == pytest.approx(most_that_stay(a, b) / len(a))
    assert len(found.moved["object"]) == len(a) - most_that_stay(a, b)
    for i, x in enumerate(found.first):
        for j, y in enumerate(found.second):
            assert found.counts[i, j] == pairs.count((x, y))
    for share in (found.ari, found.stayed):
        assert share.low <= share.value <= share.high <= 1
    assert "moved" in str(found)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=2, max_size=25))
def test_names_and_order_do_not_matter(pairs):
    a, b = map(np.array, zip(*pairs, strict=True))
    order = np.random.default_rng(0).permutation(len(a))
    first = cs.compare_results(a, b)
    renamed = cs.compare_results(a[order], np.array([7, 2, 9, 4])[b][order])
    assert renamed.ari.value == pytest.approx(first.ari.value)
    assert renamed.stayed.value == pytest.approx(first.stayed.value)


def test_the_same_answer_twice_agrees_exactly():
    labels = np.repeat([0, 1, 2, -1], 10)
    found = cs.compare_results(labels, labels)
    assert found.ari == (1.0, 1.0, 1.0)
    assert found.stayed == (1.0, 1.0, 1.0)
    assert found.lines()[0] == "cluster 0 (10) is cluster 0 exactly: 10 in cluster 0"
    assert "0 objects moved" in str(found)


def test_splits_and_merges_are_told():
    a = np.repeat([0, 1, 2], [20, 10, 10])
    b = np.concatenate([np.repeat([0, 1], [12, 8]), np.full(20, 2)])
    found = cs.compare_results(a, b)
    assert found.lines() == [
        "cluster 0 (20) is mostly cluster 0: 12 in cluster 0, 8 in cluster 1",
        "cluster 1 (10) went into cluster 2: 10 in cluster 2",
        "cluster 2 (10) is gone: 10 in cluster 2",
        "without a partner in the first answer: cluster 1",
    ]
    assert found.moved["object"].tolist() == [*range(12, 20), *range(30, 40)]


def test_intervals_hold_what_they_promise():
    """Two answers drawn from a known table: the interval holds the index of endless objects."""
    rng = np.random.default_rng(0)
    p = np.array([[0.3, 0.05, 0.0], [0.04, 0.25, 0.02], [0.02, 0.02, 0.3]])
    own, other = (p.sum(axis=1) ** 2).sum(), (p.sum(axis=0) ** 2).sum()
    truth = ((p**2).sum() - own * other) / ((own + other) / 2 - own * other)
    hits, stays = 0, 0
    for i in range(200):
        cells = rng.choice(9, 150, p=p.ravel())
        found = cs.compare_results(cells // 3, cells % 3, random_state=i)
        hits += found.ari.low <= truth <= found.ari.high
        stays += found.stayed.low <= np.trace(p) <= found.stayed.high
    # 95 of 100, less what 200 draws may miss by chance.
    assert hits >= 180
    assert stays >= 180


def test_results_and_folders_are_matched_by_identifiers(table):
    first = cs.cluster(table, 3, n_members=20, random_state=0)
    second = cs.cluster(table.X[::-1], 3, n_members=20, ids=table.ids[::-1], random_state=1)
    found = cs.compare_results(first, second)
    again = cs.compare_results(first.labels, second.labels[::-1])
    assert found.ari.value == again.ari.value == 1.0
    assert "confidence_first" in found.moved


def test_a_seed_fixes_the_interval():
    a, b = np.arange(40) % 3, np.arange(40) % 4
    assert cs.compare_results(a, b).ari == cs.compare_results(a, b).ari
    assert cs.compare_results(a, b).ari != cs.compare_results(a, b, random_state=1).ari
    assert cs.compare_results(a, b, level=0.5).ari.high < cs.compare_results(a, b).ari.high


def test_names_and_pandas():
    pytest.importorskip("pandas")
    found = cs.compare_results(["x", "x", "y", None], ["u", "u", "v", "v"])
    assert found.match == {"x": "u", "y": "v"}
    assert found.to_pandas().to_dict("list") == {"object": [3], "first": [-1], "second": ["v"]}
    assert isinstance(found, TwoAnswers)
    assert "&lt;" in cs.compare_results(["<b>", "c"], ["d", "e"])._repr_html_()


# ---- the command ----------------------------------------------------------------------------


def runs(*others):
    """Two folders with what the command writes of labels."""
    for name, text in zip(("a", "b"), others, strict=True):
        Path(name).mkdir(exist_ok=True)
        Path(name, "labels.csv").write_text(text)


LABELS = "id,cluster,confidence\np,0,1\nq,0,0.9\nr,1,0.8\n'=s,1,0.7\n"
OTHERS = "id,cluster,confidence\n'=s,0,0.6\nr,1,1\nq,0,1\np,0,1\nz,0,1\n"


def test_the_command_tells_what_moved_and_writes_it(folder, capsys):
    runs(LABELS, OTHERS)
    assert main(["compare", "a", "b", "--moved", "moved.csv", "--picture", "moves.svg"]) == 0
    said = capsys.readouterr().out
    assert "4 objects in both answers" in said
    assert "=s: from cluster 1 to cluster 0 (confidence 0.70, then 0.60)" in said
    assert "1 object in the second answer only, not compared" in said
    assert Path("moved.csv").read_text() == (
        "object,first,second,confidence_first,confidence_second\n'=s,1,0,0.7,0.6\n"
    )
    assert "<svg" in Path("moves.svg").read_text()[:1000]
    assert main(["compare", "a", "b", "--moved", "moved.csv"]) == 2
    assert "--moved names 'moved.csv', which is there" in capsys.readouterr().err
    assert main(["compare", "a", "b", "--moved", "no/moved.csv"]) == 2
    assert "there is no folder 'no'. Make it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("id,label\na,1\n", "cannot be read as its labels.csv"),
        ("id,cluster\np,red\n", "cannot be read as its labels.csv"),
        ("id,cluster\n" + 200_000 * "x" + ",1\n", "cannot be read as its labels.csv"),
        ("id,cluster\nx,1\n", "have no identifier in common"),
        ("id,cluster\np,1\np,2\n", "'second' parameter.*same identifier"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder, other, words, capsys):
    runs(LABELS, other)
    with pytest.raises(InvalidInputError, match=words):
        cs.compare_results("a", "b")
    assert main(["compare", "a", "b"]) == 2
    assert main(["compare", "a", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_files_of_spreadsheet_programs_are_read(folder):
    runs(LABELS, OTHERS)
    wanted = cs.compare_results("a", "b")
    Path("b", "labels.csv").write_text("\ufeff" + OTHERS, encoding="utf-8")
    result = cs.compare_results("a", "b")
    assert (result.match, result.n_objects) == (wanted.match, wanted.n_objects)


@pytest.mark.parametrize("moved", [True, False])
def test_files_are_named_though_the_words_cannot_be_written(folder, moved, capsys, monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left")

    runs(LABELS, OTHERS)
    asked = ["--moved", "moved.csv"] if moved else []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Full())
        assert main(["compare", "a", "b", *asked]) == 2
    told = ". Wrote moved.csv." if moved else ""
    assert capsys.readouterr().err == f"consilience: No space left{told}\n"
    assert Path("moved.csv").exists() == moved


def test_other_objects_are_refused():
    with pytest.raises(InvalidInputError, match="Got 2 and 3 objects"):
        cs.compare_results([0, 1], [0, 1, 1])
    with pytest.raises(InvalidParameterError, match="'level' parameter of compare_results"):
        cs.compare_results([0], [0], level=95)


def test_answers_about_nobody_are_refused():
    with pytest.raises(InvalidInputError, match="must hold objects"):
        cs.compare_results([], [])


@pytest.mark.parametrize("labels", [{}, {"a": 1}, set(), ()])
def test_collections_of_another_length_are_refused(labels):
    with pytest.raises(InvalidInputError, match=f"Got 3 and {len(labels)} objects"):
        cs.compare_results([0, 1, 1], labels)


def test_labels_may_come_one_by_one():
    found = cs.compare_results([0, 1, 1], (name for name in "xyy"))
    assert found.ari.value == 1.0


def test_groups_stand_in_their_order_and_no_group_last():
    found = cs.compare_results([-1, 2, 0, 10, 2], ["b", "a", "a", "b", None])
    assert found.first == (0, 2, 10, -1)
    assert found.second == ("a", "b", -1)
    assert found.counts.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 0]]


def labels_file(folder, ids):
    folder.mkdir()
    lines = [f"{one},{i % 2}\n" for i, one in enumerate(ids)]
    (folder / "labels.csv").write_text("id,cluster\n" + "".join(lines))
    return folder


def test_rows_that_are_matched_by_number_are_told(tmp_path):
    whole, part = (labels_file(tmp_path / f"{n}", range(n)) for n in (10, 8))
    same = labels_file(tmp_path / "same", range(10))
    assert "Matched by row number" in str(cs.compare_results(whole, same))
    found = cs.compare_results(whole, part)
    assert found.by_rows
    assert "2 rows at the end of the first are left out" in str(found)
    assert "1 row at the end of the second is left" in str(
        cs.compare_results(part, labels_file(tmp_path / "9", range(9)))
    )
    assert "--id-column" in str(found)
    named = labels_file(tmp_path / "named", reversed(range(10)))
    assert not cs.compare_results(whole, named).by_rows
    assert not cs.compare_results([0, 1, 1], [0, 0, 1]).by_rows


def test_the_command_names_the_run_that_cannot_be_read(tmp_path, capsys):
    pytest.importorskip("cyclopts")
    run = labels_file(tmp_path / "run", range(5))
    empty = tmp_path / "empty"
    empty.mkdir()
    damaged = tmp_path / "damaged.csv"
    damaged.write_text("id,label\na,1\n")
    for second, said in (
        (tmp_path / "nosuch", "There is no file"),
        (empty, "There is no labels.csv"),
        (damaged, f"{str(damaged)!r} must be"),
        (labels_file(tmp_path / "other", "abc"), "have no identifier in common"),
    ):
        assert main(["compare", str(run), str(second)]) == 2
        words = capsys.readouterr().err
        assert said in words
        assert str(second) in words
        assert "compare_results" not in words
        assert "Errno" not in words
