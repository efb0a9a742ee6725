"""What every method has around its own mathematics: the degenerate cases, orders and names."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience import Ensemble
from consilience._docs import entries
from consilience.consensus import CONSENSUS, _solve
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import balance, check_lengths, check_n_parts, check_sizes
from consilience.consensus._solve import (
    ConsensusResult,
    by_first_appearance,
    cluster_order,
    few_rows,
    solve,
)
from consilience.consensus._unplaced import add_unplaced, place_unseen
from consilience.errors import InvalidParameterError


def warned(function, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    return result, [str(one.message) for one in caught]


@given(st.lists(st.one_of(st.integers(-2, 5), st.just(10**9)), min_size=1), st.integers(1, 3))
def test_clusters_are_numbered_as_they_first_appear(labels, more):
    names = list(dict.fromkeys(labels))
    memberships = None
    if min(labels) >= 0 and max(labels) < 10:
        n_clusters = max(labels) + more
        empty = [c for c in range(n_clusters) if c not in names]
        assert cluster_order(np.array(labels), n_clusters).tolist() == names + empty
        memberships = np.tile(np.arange(float(n_clusters)), (len(labels), 1))
    result = by_first_appearance(ConsensusResult(np.array(labels), memberships=memberships))
    assert result.labels.tolist() == [names.index(label) for label in labels]
    assert result.labels.dtype == np.int32
    assert result.n_clusters == len(names)
    if memberships is not None:
        assert result.memberships.tolist() == [names + empty] * len(labels)


def recorded(labels):
    """A method that says what it was given, and gives labels of the length it needs."""
    seen = []

    def run(ensemble, k, X):
        seen.append((ensemble.n_objects, k, None if X is None else np.asarray(X).tolist()))
        return ConsensusResult(np.array(labels[: ensemble.n_objects], np.int32))

    return run, seen


DISTINCT = [[0, 0], [0, 1], [1, 0], [0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("k", "splits", "asked", "labels"),
    [
        (1, False, False, [0] * 5),
        (1, True, False, [0] * 5),
        (2, False, True, [0, 1, 1, 0, 1]),
        (2, True, True, [0, 1, 1, 0, 1]),
        (3, False, False, [0, 1, 2, 0, 2]),
        (4, False, False, [0, 1, 2, 0, 2]),
        (3, True, True, [0, 1, 1, 0, 1]),
        (4, True, True, [0, 1, 1, 0, 1]),
        (5, True, False, [0, 1, 2, 3, 4]),
        (None, False, True, [0, 1, 1, 0, 1]),
    ],
)
def test_a_method_is_asked_where_there_is_something_to_decide(k, splits, asked, labels):
    run, seen = recorded([3, 0, 0, 3, 0])
    told = {"splits_equals": True} if splits else {}
    found, words = warned(solve, Ensemble(np.array(DISTINCT)), k, run, owner="Method", **told)
    assert found.labels.tolist() == labels
    assert found.n_clusters == max(labels) + 1
    assert seen == ([(5, k or 5, None)] if asked else [])
    assert len(words) == (k == 4 and not splits)


@pytest.mark.parametrize("k", [2, 3])
def test_two_rows_are_split_by_a_method_that_splits_equals(k):
    run, seen = recorded([0, 1, 0, 1])
    table = np.array([0, 0, 1, 1])[:, None]
    found, words = warned(solve, Ensemble(table), k, run, owner="Method", splits_equals=True)
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert seen == [(4, k, None)]
    assert not words


def test_rows_that_differ_late_are_found_too(monkeypatch):
    monkeypatch.setattr(_solve, "_A_LOOK", 1)
    run, seen = recorded([0, 1, 0, 1])
    found, _ = warned(solve, Ensemble(np.array([0, 0, 1, 2])[:, None]), 2, run, owner="Method")
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert seen == [(4, 2, None)]


def test_more_clusters_than_objects_are_refused_before_anything_is_run():
    run, seen = recorded([0, 1, 2])
    with pytest.raises(InvalidParameterError, match=r"of Method .* at most .* n_samples=3\. Got 4"):
        solve(Ensemble(np.arange(3)[:, None]), 4, run, owner="Method")
    assert not seen


def test_equal_objects_cannot_be_split_into_more_than_one():
    run, seen = recorded([0, 1, 0])
    found, words = warned(solve, Ensemble(np.zeros((3, 1), int)), 3, run, owner="Method")
    assert found.labels.tolist() == [0, 0, 0]
    assert words == [few_rows(3, 1)]
    assert "no two objects differ" in words[0]
    assert "only 2 groups of objects differ" in few_rows(3, 2)
    # Not even by a method that splits equals, if all are.
    found, _ = warned(
        solve, Ensemble(np.zeros((3, 1), int)), 2, run, owner="Method", splits_equals=True
    )
    assert found.labels.tolist() == [0, 0, 0]
    assert not seen


def test_noise_is_left_out_and_unseen_are_placed():
    table = [[0, 0], [-1, -1], [1, 0], [-2, -2], [1, 1], [0, 1]]
    X = np.arange(6.0)[:, None]

    def run(ensemble, k, data):
        assert ensemble.n_objects == 4
        assert data.ravel().tolist() == [0.0, 2.0, 4.0, 5.0]
        shares = np.array([[0.0, 1.0], [0.75, 0.25], [1.0, 0.0], [0.25, 0.75]])
        return ConsensusResult(np.array([1, 0, 0, 1], np.int32), memberships=shares)

    found, words = warned(solve, Ensemble(np.array(table)), 2, run, owner="Method", X=X)
    # The means are 2.5 and 3: the unseen object lies at 3.
    assert found.labels.tolist() == [0, -1, 1, 1, 1, 0]
    assert found.memberships[:, 0].tolist() == [1.0, 0.0, 0.25, 0.0, 0.0, 0.75]
    assert found.n_clusters == 2
    assert len(words) == 1
    run, seen = recorded([0, 1, 1, 0])
    found, _ = warned(solve, Ensemble(np.array(table)), 2, run, owner="Method")
    assert found.labels.tolist() == [0, -1, 1, 0, 1, 0]
    assert found.memberships is None
    assert seen == [(4, 2, None)]
    nobody, words = warned(solve, Ensemble(np.array([[-1], [-1]])), 2, run, owner="Method")
    assert nobody.labels.tolist() == [-1, -1]
    assert "every object is noise" in words[0]


def placed(labels, unseen, X=None, counts=None):
    found, words = warned(
        place_unseen, np.array(labels, np.int32), np.array(unseen), X, owner="Method",
        counts=None if counts is None else np.array(counts),
    )  # fmt: skip
    return found.tolist(), " ".join(words)


def test_an_object_nobody_saw_goes_to_the_largest_cluster_or_the_nearest_mean():
    labels, unseen = [0, 1, 1, 0, -1], [False, False, False, True, False]
    found, words = placed(labels, unseen)
    assert found == [0, 1, 1, 1, -1]
    assert words == (
        "1 object was seen by no member; Method put it into the largest cluster; pass X to place "
        "them by the data. Its confidence is 0."
    )
    # The largest by the objects whose rows these are, and so is who is counted.
    found, words = placed(labels, unseen, counts=[9, 1, 1, 3, 2])
    assert found == [0, 1, 1, 0, -1]
    assert words == (
        "3 objects were seen by no member; Method put them into the largest cluster. "
        "Their confidence is 0."
    )
    # Noise counts for no cluster, nor does the object itself.
    X = np.array([[0.0], [4.0], [6.0], [2.0], [100.0]])
    found, words = placed(labels, unseen, X)
    assert found == [0, 1, 1, 0, -1]
    assert "into the cluster with the nearest mean" in words
    X[3] = 4.0
    assert placed(labels, unseen, X)[0] == [0, 1, 1, 1, -1]


def test_where_all_were_seen_or_nobody_placed_nothing_is_said():
    assert placed([0, 1], [False, False]) == ([0, 1], "")
    assert placed([0, -1], [True, False]) == ([0, -1], "")


@pytest.mark.parametrize("inside", [[], [2], [0, 3], [1, 2, 4], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("height", [0.5, 1.5])
def test_those_left_out_join_the_tree_last(inside, height):
    n, m = 5, len(inside)
    own = np.array([[0.0, 1.0, height / 2, 2.0], [2.0, 3.0, height, 3.0]])[: max(m - 1, 0)]
    if m == 5:
        own = np.array([[0, 1, 0.1, 2], [2, 5, 0.2, 3], [3, 6, 0.3, 4], [4, 7, height, 5.0]])
    member = np.isin(np.arange(n), inside)
    tree = add_unplaced(own, member)
    assert tree.shape == (n - 1, 4)
    groups = {i: {i} for i in range(n)}
    for step, (a, b, _, size) in enumerate(tree):
        assert a < b
        groups[n + step] = groups.pop(int(a)) | groups.pop(int(b))
        assert len(groups[n + step]) == size
        if m > 1 and step == m - 2:
            assert groups[n + step] == set(inside)
    np.testing.assert_array_equal(tree[: len(own), 2], own[:, 2])
    tallest = max(1.0, own[:, 2].max(initial=0.0))
    np.testing.assert_array_equal(tree[len(own) :, 2], tallest)
    # One by one in their order, from the tree or, without one, from the first.
    outside = [i for i in range(n) if i not in inside]
    joined = [[int(x) for x in row[:2] if x in outside] for row in tree[len(own) :].tolist()]
    assert [x for row in joined for x in row] == outside


def test_sizes_must_be_as_many_as_clusters_and_kept_by_the_solver():
    check_lengths(None, 3, owner="CSPA")
    check_sizes([1, 2], 2, "metis", owner="CSPA")
    check_sizes(None, 2, "spectral", owner="CSPA")
    check_n_parts(3, 3, owner="CSPA")
    with pytest.raises(InvalidParameterError, match="one size for each of n_clusters=3"):
        check_lengths([1, 2], 3, owner="CSPA")
    with pytest.raises(InvalidParameterError, match="one size for each of n_clusters=2"):
        check_sizes([1, 2, 3], 2, "metis", owner="CSPA")
    with pytest.raises(InvalidParameterError, match="needs solver='metis' or 'balanced'"):
        check_sizes([1, 2], 2, "spectral", owner="CSPA")
    with pytest.raises(InvalidParameterError, match="at most the number of clusters"):
        check_n_parts(4, 3, owner="CSPA")
    assert balance(np.array([0, 0, 0, 1], np.int32), 2) == 1.5


def test_an_estimator_says_what_it_is_before_what_its_function_says():
    """Nothing is entered into the table: this class has no function of its own."""

    class Sorted(FixedNumber):
        """Groups in some order.

        Parameters
        ----------
        far : int
            How far.
        """

        far: int = 3

    assert Sorted.__doc__.startswith("Groups in some order.")
    assert "How far." in Sorted.__doc__
    assert "Clusters wanted; fewer are found" in Sorted.__doc__
    for name in ("EAC", "PEACE", "WOSP", "MontiConsensus", "AutoConsensus"):
        doc = getattr(cs, name).__doc__
        assert doc.strip().partition("\n")[0].endswith(".")


@pytest.mark.parametrize("name", ["eac", "wosp"])
def test_parameters_are_described_by_the_function_or_point_to_it(name):
    method = CONSENSUS[name]

    class Mine(FixedNumber):
        """Groups of mine."""

        _method = method

        linkage: str = "average"
        solver: str = "auto"
        extra: int = 1

    doc = " ".join(Mine.__doc__.split())
    described = {
        one: " ".join(" ".join(entry.text).split())
        for entry in entries(method.function.__doc__, "Parameters")
        for one in entry.names
    }
    own = "linkage" if name == "eac" else "solver"
    assert described[own] in doc
    assert described["ensemble"] not in doc
    assert doc.count(f"See `{name}`.") == 1
    assert "extra" in doc.partition("Attributes")[0]
    assert "Mine(2, random_state=0)" in doc
    assert ("fit(X)" in doc) == method.needs_data == (name == "wosp")
