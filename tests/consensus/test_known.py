"""What is known of some objects: kept, heard, refused where it contradicts itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.cli import main
from consilience.consensus.known import knowledge_of
from consilience.errors import ConsilienceError

HOW = {"n_members": 30, "effort": "quick", "random_state": 0}


def overlapping(seed):
    X, y = cs.datasets.make_gaussians(200, 4, 3, separation=3.0, random_state=seed)
    rng = np.random.default_rng(seed)
    X = np.column_stack([X, rng.normal(size=(200, 3))])
    pairs = np.array([rng.choice(200, 2, replace=False) for _ in range(40)])
    return X, y, pairs


@pytest.fixture(scope="module")
def told():
    X, y, pairs = overlapping(2)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    result = cs.cluster(X, must_link=pairs[same], cannot_link=pairs[~same], **HOW)
    return X, y, pairs, same, result


def test_pairs_help_and_no_must_link_is_broken(told):
    X, y, pairs, same, result = told
    must = pairs[same]
    assert (result.labels[must[:, 0]] == result.labels[must[:, 1]]).all()
    free = np.ones(len(X), bool)
    free[pairs.ravel()] = False
    plain = cs.cluster(X, **HOW)
    for some in (slice(None), free):
        gain = adjusted_rand_score(y[some], result.labels[some])
        gain -= adjusted_rand_score(y[some], plain.labels[some])
        assert gain >= 0.05


def test_what_is_broken_is_what_the_labels_break(told):
    _, _, pairs, same, result = told
    cannot = pairs[~same]
    broken = {tuple(pair) for pair in cannot.tolist() if np.ptp(result.labels[pair]) == 0}
    assert {(one.first, one.second) for one in result.violations} == broken
    assert any(note.startswith("All ") and "must-links hold" in note for note in result.notes)


def test_it_is_kept_and_a_seed_fixes_it(told, tmp_path):
    X, _, pairs, same, result = told
    again = cs.cluster(X, must_link=pairs[same], cannot_link=pairs[~same], **HOW, n_jobs=2)
    np.testing.assert_array_equal(again.labels, result.labels)
    result.save(tmp_path)
    assert cs.load(tmp_path).violations == result.violations


def test_a_named_method_keeps_must_links_too(told):
    X, _, pairs, same, _ = told
    must = pairs[same]
    result = cs.cluster(X, 4, method="sec", must_link=must, **HOW)
    assert (result.labels[must[:, 0]] == result.labels[must[:, 1]]).all()


def test_known_groups_of_some_have_a_say():
    X, y, _ = overlapping(3)
    partial = np.where(np.arange(200) % 5 == 0, y, -1)
    result = cs.cluster(X, partial_labels=partial, **HOW)
    plain = cs.cluster(X, **HOW)
    rest = partial < 0
    told, alone = (adjusted_rand_score(y[rest], one.labels[rest]) for one in (result, plain))
    assert told > alone
    named = cs.cluster(X, partial_labels={int(i): int(y[i]) for i in range(0, 200, 5)}, **HOW)
    np.testing.assert_array_equal(named.labels, result.labels)


def contradicts(n, must, cannot):
    """Reference: no set of groups keeps all pairs, by merging one link after the other."""
    group = list(range(n))
    for i, j in must:
        group = [group[i] if one == group[j] else one for one in group]
    return any(group[i] == group[j] for i, j in cannot)


pair = st.tuples(st.integers(0, 6), st.integers(0, 6))


@settings(deadline=None, max_examples=80)
@given(st.lists(pair, max_size=8), st.lists(pair, max_size=4))
def test_contradictions_are_all_noticed(must, cannot):
    if contradicts(7, must, cannot):
        with pytest.raises(ConsilienceError, match="contradicts itself"):
            knowledge_of(7, must, cannot)
    else:
        found = knowledge_of(7, must, cannot)
        assert all(found.components[i] == found.components[j] for i, j in must)


def test_a_smallest_contradictory_set_is_named():
    must = [(0, 1), (1, 2), (2, 3), (1, 3)]
    with pytest.raises(ConsilienceError, match=r"0 with 1 and 1 with 3. Leave out one of these 3"):
        knowledge_of(4, must, [(0, 3)])
    with pytest.raises(ConsilienceError, match="'a' and 'b' have different known groups"):
        knowledge_of(2, [("a", "b")], None, ["x", "y"], ids=["a", "b"])


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"must_link": [(0, 9)]}, "names the object 9, which is not a row number"),
        ({"cannot_link": [(0, 1, 2)]}, "'cannot_link' parameter of cluster must be pairs"),
        ({"must_link": ["ab"]}, "must be pairs of objects. Got 'ab'"),
        ({"partial_labels": [0, 1]}, "a value for each of the 5 objects"),
    ],
)
def test_what_cannot_be_is_refused(known, message):
    with pytest.raises(ConsilienceError, match=message):
        knowledge_of(5, **known)


def test_known_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = cs.datasets.make_gaussians(60, 3, 2, random_state=0)
    lines = [f"p{i},{a:.6f},{b:.6f}" for i, (a, b) in enumerate(X.tolist())]
    Path("x.csv").write_text("\n".join(["id,a,b", *lines]) + "\n")
    Path("known.csv").write_text("first,second,link\np0,p1,must\np0,p2,cannot\n")
    words = ["cluster", "x.csv", "--id-column", "id", "--members", "9", "--effort", "quick"]
    quiet = ["--no-report", "--quiet"]
    assert main([*words, "--known", "known.csv", *quiet]) == 0
    labels = dict(
        line.split(",")[:2] for line in Path("consilience-x/labels.csv").read_text().splitlines()
    )
    assert labels["p0"] == labels["p1"]
    summary = json.loads(Path("consilience-x/summary.json").read_text())
    assert all(one["kind"] == "cannot_link" for one in summary["violations"])
    Path("known.csv").write_text("first,second,link\np0,p1,maybe\n")
    assert main([*words, "--known", "known.csv", "--force", *quiet]) == 2
    Path("groups.csv").write_text("id,group\np0,x\np1,x\np2,y\n")
    assert main([*words, "--known", "groups.csv", "--force", *quiet]) == 0
