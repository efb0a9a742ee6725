"""What is known of some objects: kept, heard, refused where it contradicts itself."""

import json
import re
from itertools import combinations
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
    said = f"Of what is known: {same.sum()} must-links kept and {len(broken)} of {len(cannot)} "
    assert any(note.startswith(said + "cannot-links broken.") for note in result.notes)


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


def cannot_hold(n, pieces):
    """Reference: whether pieces of knowledge contradict each other, by merging what is one."""
    group = list(range(n))
    owner = {}
    for kind, i, j in pieces:
        if kind == "label":
            i, j = owner.setdefault(j, i), i
        if kind != "cannot":
            group = [group[i] if one == group[j] else one for one in group]
    named = {group[i] for i in owner.values()}
    return len(named) < len(owner) or any(
        kind == "cannot" and group[i] == group[j] for kind, i, j in pieces
    )


few = st.tuples(st.integers(0, 4), st.integers(0, 4))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(few, max_size=4),
    st.lists(few, max_size=2),
    st.lists(st.integers(-1, 2), min_size=5, max_size=5),
)
def test_a_smallest_set_is_named_of_links_and_groups(must, cannot, partial):
    pieces = [("must", *pair) for pair in must] + [("cannot", *pair) for pair in cannot]
    pieces += [("label", i, group) for i, group in enumerate(partial) if group >= 0]
    sizes = (
        size
        for size in range(len(pieces) + 1)
        if any(cannot_hold(5, some) for some in combinations(pieces, size))
    )
    smallest = next(sizes, None)
    if smallest is None:
        assert knowledge_of(5, must, cannot, partial) is not None
        return
    with pytest.raises(ConsilienceError, match="contradicts itself") as refused:
        knowledge_of(5, must, cannot, partial)
    words = str(refused.value)
    # Two labels make one link, or one difference.
    twice = words.count("by their known group") + words.count("different known groups")
    said = re.search(r"Leave out (?:that pair|one of these (\d+))", words)
    assert int(said[1] or 1) + twice == smallest


def test_words_of_what_cannot_hold():
    with pytest.raises(ConsilienceError, match=r"2 and 3 have .* 2 with 3. .* one of these 2"):
        knowledge_of(4, [(0, 1), (1, 2), (2, 3)], None, ["a", None, "a", "b"])
    with pytest.raises(ConsilienceError, match=r"0 with 1 by their known group.*one of these 2"):
        knowledge_of(4, None, [(0, 1)], ["a", "a", None, None])
    with pytest.raises(ConsilienceError, match="0 cannot be apart from itself"):
        knowledge_of(2, None, [(0, 0)])


@pytest.mark.parametrize("kind", ["Int64", "string", "category"])
def test_pandas_missing_values_are_not_known(kind):
    pandas = pytest.importorskip("pandas")
    values = [1, None, 2] if kind == "Int64" else ["x", None, "y"]
    known = knowledge_of(3, partial_labels=pandas.Series(values, dtype=kind))
    assert known.partial.tolist() == [0, -1, 1]


def test_known_groups_that_are_one_or_torn_are_violations():
    known = knowledge_of(6, partial_labels=["a", "a", "a", "b", "b", None])

    def broken(labels):
        return [(one.first, one.second) for one in known.violations(np.array(labels))]

    assert broken([0, 0, 0, 1, 1, 0]) == []
    assert broken([0, 0, 0, 0, 0, 0]) == [(0, 3)]  # one pair for groups that are one
    assert broken([1, 0, 0, 2, 2, 0]) == [(1, 0)]
    assert broken([0, 0, 1, 1, 1, 0]) == [(0, 2)]
    # Noise is in no group: neither with others nor apart.
    assert broken([-1, 1, 2, -1, -1, 0]) == [(1, 2)]
    assert broken([-1, -1, -1, 0, -2, 0]) == []


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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"must_link": [(0, True)]}, "names the object True, which is not a row number"),
        ({"must_link": [(0, 5)]}, "names the object 5"),
        ({"must_link": [(-1, 2)]}, "names the object -1"),
        ({"must_link": [(0, 1.0)]}, "names the object 1.0"),
        ({"must_link": "01"}, "'must_link' parameter of me must be a list. Got '01'"),
        ({"must_link": 3}, "'must_link' parameter of me must be a list. Got 3"),
        ({"cannot_link": [(1,)]}, "'cannot_link' parameter of me must be pairs"),
        ({"cannot_link": [3]}, "must be pairs of objects. Got 3"),
        ({"partial_labels": "abcde"}, "'partial_labels' parameter of me must be a list"),
        ({"partial_labels": [0] * 6}, "each of the 5 objects.* Got 6 values"),
        ({"partial_labels": {7: "a"}}, "names the object 7"),
        ({"partial_labels": [[1], 2, 3, 4, 5]}, "must name one group for each object"),
        ({"must_link": [(0, 1)], "ids": list("abcde")}, "0, which is not an identifier"),
    ],
)
def test_what_names_nothing_is_refused(given, message):
    with pytest.raises(ConsilienceError, match=message):
        knowledge_of(5, owner="me", **given)


def test_pairs_and_groups_are_taken_by_row_or_by_identifier():
    assert knowledge_of(5) is None
    rows = knowledge_of(5, np.array([[0, 4]]), [(np.int64(1), 3)], {0: "x", 2: "y", 3: None})
    assert (rows.must.tolist(), rows.cannot.tolist()) == ([[0, 4]], [[1, 3]])
    assert (rows.n_objects, rows.partial.tolist()) == (5, [0, -1, 1, -1, -1])
    named = knowledge_of(3, [("a", "c")], iter([(7, "a")]), {"c": 5, "a": 5}, ids=["a", 7, "c"])
    assert (named.must.tolist(), named.cannot.tolist()) == ([[0, 2]], [[1, 0]])
    assert named.partial.tolist() == [0, -1, 0]
    # Nothing is known where there is no value, -1 or no name.
    empty = knowledge_of(5, [], None, [None, float("nan"), "", -1, 0])
    assert (empty.must.shape, empty.cannot.shape) == ((0, 2), (0, 2))
    assert empty.partial.tolist() == [-1, -1, -1, -1, 0]


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
