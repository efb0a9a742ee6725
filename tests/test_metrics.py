"""Metrics against scikit-learn, against definitions, and against each other."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix
from strategies import ensembles, labelings

from consilience import _contingency
from consilience.ensemble import Ensemble, relabel
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.metrics import (
    anmi,
    clustering_f1,
    consistency_index,
    contingency,
    match_labels,
    nmi,
    relabelled_accuracy,
)

NOISE_RULES = ["cluster", "singletons", "drop"]
TWO_LABELS = {
    "nmi": nmi,
    "nmi arithmetic": lambda a, b, **k: nmi(a, b, norm="arithmetic", **k),
    "consistency_index": consistency_index,
    "relabelled_accuracy": relabelled_accuracy,
    "pair": lambda a, b, **k: clustering_f1(a, b, average="pair", **k),
    "class": lambda a, b, **k: clustering_f1(a, b, average="class", **k),
    "matched": lambda a, b, **k: clustering_f1(a, b, average="matched", **k),
}


@st.composite
def pairs(draw, max_objects=12, **kwargs):
    """Two labelings of the same objects, at least one of which both have seen."""
    n = draw(st.integers(1, max_objects))
    a, b = draw(labelings(n, **kwargs)), draw(labelings(n, **kwargs))
    i = draw(st.integers(0, n - 1))
    a[i], b[i] = max(a[i], 0), max(b[i], 0)
    return a, b


@pytest.fixture(params=sorted(TWO_LABELS))
def metric(request):
    return TWO_LABELS[request.param]


def plain(a, b, noise):
    """The rules in words: drop the unseen, then turn noise into plain clusters, or drop it."""
    seen = (a != -2) & (b != -2)
    if noise == "drop":
        seen &= (a != -1) & (b != -1)
    a, b = a[seen].copy(), b[seen].copy()
    for labels in (a, b):
        alone = labels == -1
        labels[alone] = 100 + (np.arange(alone.sum()) if noise == "singletons" else 0)
    return a, b


def best_matching_slowly(table):
    """Objects agreed on and sum of F1 of the best matching, over all permutations."""
    k = max(table.shape)
    square = np.zeros((k, k))
    square[: table.shape[0], : table.shape[1]] = table
    f1 = 2 * square / np.maximum(square.sum(1)[:, None] + square.sum(0)[None], 1)
    rows = np.arange(k)
    return max((square[rows, p].sum(), f1[rows, p].sum()) for p in map(list, permutations(rows)))


@given(pairs(), st.sampled_from(NOISE_RULES), st.sampled_from(["geometric", "arithmetic"]))
def test_nmi_equals_scikit_learn(two, noise, norm):
    a, b = plain(*two, noise)
    got = nmi(*two, norm=norm, noise=noise)
    if len(set(a)) == 1 and len(set(b)) == 1:
        assert got == 1
    elif len(set(a)) == 1 or len(set(b)) == 1:
        assert got == 0
    else:
        wanted = normalized_mutual_info_score(a, b, average_method=norm)
        assert got == pytest.approx(wanted, abs=1e-9)
    assert 0 <= got <= 1


def test_nmi_of_the_default_noise_rule_is_what_scikit_learn_says_of_minus_one():
    a, b = [0, 0, 1, 1, -1, -1], [0, 0, 1, -1, -1, 2]
    wanted = normalized_mutual_info_score(a, b, average_method="geometric")
    assert nmi(a, b) == pytest.approx(wanted)


def test_nmi_of_trivial_labelings():
    assert nmi([0, 0, 0], ["x", "x", "x"]) == 1
    assert nmi([0, 0, 0], [0, 1, 1]) == 0
    assert nmi([0, 1, 2], [0, 0, 0]) == 0
    assert nmi([5], [9]) == 1


@given(pairs(), st.sampled_from(NOISE_RULES))
def test_pair_f1_equals_scikit_learn(two, noise):
    a, b = plain(*two, noise)
    wanted = 1.0
    if len(a) > 1:
        (_, fp), (fn, tp) = pair_confusion_matrix(a, b).tolist()
        wanted = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0
    assert clustering_f1(*two, noise=noise) == pytest.approx(wanted, abs=1e-12)


@given(pairs(max_objects=9), st.sampled_from(NOISE_RULES))
def test_class_f1_equals_its_definition(two, noise):
    a, b = plain(*two, noise)
    wanted = 0.0
    for c in set(a.tolist()):
        inside = a == c
        best = max(2 * (inside & (b == h)).sum() / (inside.sum() + (b == h).sum()) for h in set(b))
        wanted += inside.mean() * best
    assert clustering_f1(*two, average="class", noise=noise) == pytest.approx(wanted, abs=1e-12)


@given(pairs(max_objects=8), st.sampled_from(["cluster", "drop"]))
def test_matching_equals_all_permutations(two, noise):
    a, b = plain(*two, noise)
    table = contingency_matrix(a, b)
    agreed, f1 = best_matching_slowly(table)
    assert consistency_index(*two, noise=noise) == pytest.approx(agreed / len(a), abs=1e-12)
    matched = clustering_f1(*two, average="matched", noise=noise)
    assert matched == pytest.approx(f1 / len(set(a)), abs=1e-9)


@given(pairs(max_objects=6, max_clusters=3))
def test_matching_with_singletons_equals_all_permutations(two):
    table = contingency_matrix(*plain(*two, "singletons"))
    agreed, _ = best_matching_slowly(table)
    got = consistency_index(*two, noise="singletons")
    assert got == pytest.approx(agreed / table.sum(), abs=1e-12)


@given(pairs(max_objects=30, max_clusters=8), st.sampled_from(NOISE_RULES))
def test_matching_of_sparse_tables_equals_that_of_dense_ones(two, noise):
    table = _contingency.compared(*two, noise, owner="test")
    dense = _contingency.matched_cells(table)
    gains = table.counts + _contingency.cell_f1(table) / (
        1 + min(len(table.row_sums), len(table.column_sums))
    )
    found = _contingency._matched_sparsely(table.rows, table.columns, gains)
    assert len(set(table.rows[found])) == len(set(table.columns[found])) == len(found)
    assert gains[found].sum() == pytest.approx(gains[dense].sum(), abs=1e-9)


def test_large_tables_are_matched_without_being_written_out(seed):
    rng = np.random.default_rng(seed)
    n = 4000
    a = rng.permutation(np.repeat(np.arange(n // 2), 2))
    b = np.where(rng.random(n) < 0.2, rng.integers(0, n, n), a + 1)
    table = contingency(a, b)
    assert not isinstance(table, np.ndarray)
    assert table.shape[0] * table.shape[1] > _contingency.DENSE_CELLS
    assert table.sum() == n
    got = consistency_index(a, b)
    assert 0.5 < got < 1
    assert got == consistency_index(b, a)
    assert consistency_index(a, rng.permutation(n)[a]) == 1
    noisy = np.where(rng.random(n) < 0.9, -1, a)
    # A class of two gets both objects only if both are in a cluster, which is then the same.
    both = np.bincount(a, weights=noisy >= 0) == 2
    assert consistency_index(a, noisy, noise="singletons") == (len(both) + both.sum()) / n


@given(pairs(), st.sampled_from(NOISE_RULES))
def test_contingency_equals_scikit_learn(two, noise):
    a, b = plain(*two, noise)
    wanted = contingency_matrix(a, b)
    np.testing.assert_array_equal(contingency(*two, noise=noise), wanted)
    np.testing.assert_array_equal(contingency(*two, noise=noise, dense=False).toarray(), wanted)


@given(pairs(), st.permutations(range(4)), st.sampled_from(NOISE_RULES))
def test_names_and_order_do_not_matter(two, names, noise):
    a, b = two
    renamed = np.where(b < 0, b, np.append(np.array(names) * 3 + 1, [0, 0])[b])
    shuffled = np.random.default_rng(0).permutation(len(a))
    for name, function in TWO_LABELS.items():
        got = function(a, b, noise=noise)
        assert function(a, renamed, noise=noise) == pytest.approx(got, abs=1e-9), name
        assert function(a[shuffled], b[shuffled], noise=noise) == pytest.approx(got, abs=1e-9)
        assert 0 <= got <= 1
    for name in ("nmi", "nmi arithmetic", "consistency_index", "pair"):
        wanted = pytest.approx(TWO_LABELS[name](a, b, noise=noise), abs=1e-12)
        assert TWO_LABELS[name](b, a, noise=noise) == wanted


def test_one_for_equal_partitions(metric):
    assert metric([0, 0, 1, 2, -1], [5, 5, 0, 1, -1]) == 1
    assert metric([0, 0, 1, 2, -1, -2], [5, 5, 0, 1, -1, 7], noise="singletons") == 1
    assert metric([0, 0, 1, 2, -1], [5, 5, 0, 1, 4], noise="drop") == 1


def test_any_form_of_labels_gives_the_same(metric):
    numbers = [0, 0, 1, -2, 2, 2, 1]
    other = [0, 1, 1, 1, 2, 2, 0]
    names = [None if v == -2 else "abc"[v] for v in numbers]
    wanted = metric(numbers, other)
    for form in (
        names,
        np.array(names, object),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pd.array([None if v == -2 else v for v in numbers], dtype="Int64"),
        pl.Series(names),
        [np.nan if v == -2 else float(v) for v in numbers],
        [None if v == -2 else (v, v) for v in numbers],
        np.ma.masked_equal(numbers, -2),
        (v for v in numbers),
    ):
        assert metric(form, other) == pytest.approx(wanted, abs=1e-12)


def test_anmi_is_the_mean_over_members():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 0, -2], [-1, -1, 0, 0]])
    labels = ["a", "a", "b", "b"]
    for noise in ("cluster", "singletons"):
        wanted = np.mean([nmi(labels, member, noise=noise) for member in ensemble])
        assert anmi(labels, ensemble, noise=noise) == pytest.approx(wanted)
    wanted = np.mean([nmi(labels, member, norm="arithmetic") for member in ensemble])
    assert anmi(labels, ensemble, norm="arithmetic") == pytest.approx(wanted)


@given(ensembles(min_objects=2, unseen=False))
def test_anmi_of_a_member_of_an_unanimous_ensemble_is_one(ensemble):
    same = Ensemble([ensemble[0]] * 3)
    assert anmi(ensemble[0], same) == 1


@given(pairs(), st.sampled_from(["cluster", "drop"]))
def test_matched_labels_agree_with_truth_as_often_as_the_accuracy_says(two, noise):
    truth, labels = two
    renamed = match_labels(truth, labels, noise=noise)
    least = 0 if noise == "drop" else -1
    counts = (truth >= least) & (labels >= least)
    share = (renamed == truth)[counts].mean()
    assert share == pytest.approx(relabelled_accuracy(truth, labels, noise=noise), abs=1e-12)
    # Renaming neither joins nor splits clusters.
    seen = labels != -2
    np.testing.assert_array_equal(renamed == -2, ~seen)
    kept = seen if noise == "cluster" else labels >= 0
    assert consistency_index(labels[kept], np.unique(renamed[kept], return_inverse=True)[1]) == 1
    if noise == "drop":
        np.testing.assert_array_equal(renamed == -1, labels == -1)


def test_matched_labels_have_the_names_of_the_truth():
    assert match_labels([3, 3, 8, 8], [0, 0, 1, 1]).tolist() == [3, 3, 8, 8]
    assert match_labels([3, 3, 8, 8], [0, 1, 2, 2]).tolist() in ([3, 9, 8, 8], [9, 3, 8, 8])
    assert match_labels([0, 0, 1, 1], ["x", "x", "y", None]).tolist() == [0, 0, 1, -2]
    assert match_labels([0, 0, 0, 1], [4, 4, 4, -1]).tolist() == [0, 0, 0, 1]
    assert match_labels([0, 0, 0, 1], [4, 4, 4, -1], noise="drop").tolist() == [0, 0, 0, -1]
    assert match_labels([0, 0, 0, 0], [4, 4, 4, -1]).tolist() == [0, 0, 0, -1]
    assert match_labels([0, 0, -1, -1], [-1, 4, 5, 5]).tolist() in ([0, 1, -1, -1], [1, 0, -1, -1])
    text = match_labels(["u", "u", "v", "v"], [2, 2, 0, -2])
    assert text.tolist() == ["u", "u", "v", None]
    text = match_labels(["u", "u", "u", "noise", "u"], [1, 1, 2, 2, -1], noise="drop")
    assert text.tolist() == ["u", "u", "noise", "noise", "noise"]
    assert match_labels(["u", "u", "u"], [1, 1, -1]).tolist() == ["u", "u", "noise"]
    assert match_labels(["u", "u", "u"], [1, 1, 0]).tolist() == ["u", "u", "unmatched 0"]
    assert match_labels([(1, 2), (1, 2), (3, 4)], [0, 0, 1]).tolist() == [(1, 2), (1, 2), (3, 4)]
    assert match_labels(pd.Series(["u", "v"]), pl.Series([1, 0])).tolist() == ["u", "v"]
    assert match_labels((c for c in "uv"), [1, 0]).tolist() == ["u", "v"]
    assert match_labels(np.array([2**63, 5], np.uint64), [0, 1]).tolist() == [2**63, 5]


@pytest.mark.parametrize("names", list(permutations(range(3))))
def test_matchings_that_agree_on_as_many_objects_are_told_apart_by_f1(names):
    # Class 0 may take cluster x or y, both for one object; x fits better, whatever its number.
    x, y, z = names
    truth, labels = [0, 0, 1, 1, 1, 1, 1, 1], [x, y, y, z, z, z, z, z]
    wanted = (2 / 3 + 10 / 11) / 2
    assert clustering_f1(truth, labels, average="matched") == pytest.approx(wanted)
    assert consistency_index(truth, labels) == 6 / 8


def test_two_clusters_do_not_share_a_class():
    # Single link likes to find one large cluster and two odd objects, here of the same class:
    # a majority vote would count both as hits (73), a matching counts one of them.
    truth = np.repeat([0, 1, 2], [59, 71, 48])
    labels = np.zeros(178, int)
    labels[[0, 1]] = 1, 2
    assert relabelled_accuracy(truth, labels) == pytest.approx(72 / 178)


def test_large_counts_do_not_overflow():
    n = 200_000
    a = np.zeros(n, np.int8)
    assert clustering_f1(a, a) == 1
    b = (np.arange(n) % 2).astype(np.int8)
    assert clustering_f1(a, b) == pytest.approx(2 * (n / 2 - 1) / (n - 1 + n / 2 - 1))


@pytest.mark.parametrize("function", [*TWO_LABELS.values(), contingency, match_labels])
def test_bad_labels_are_refused(function):
    with pytest.raises(InvalidInputError, match=r"Got 2 and 3 labels instead.*same order"):
        function([0, 1], [0, 1, 1])
    with pytest.raises(InvalidInputError, match=r"at least one. Got 0 and 0"):
        function([], [])
    with pytest.raises(InvalidInputError, match=r"both have seen\. Got none among 2"):
        function([0, -2], [None, "x"])
    with pytest.raises(InvalidInputError, match=r"both have put into a cluster"):
        function([0, -1], [-1, 0], noise="drop")
    with pytest.raises(InvalidInputError, match=r"(b|labels) must be cluster labels.*Got 0\.5"):
        function([0, 1], [0.5, 1.0])
    with pytest.raises(InvalidInputError, match=r"(a|truth) must be a list or an array.*Got 'ab'"):
        function("ab", [0, 1])
    with pytest.raises(InvalidParameterError, match=r"'noise' parameter of .* must be one of"):
        function([0, 1], [0, 1], noise="ignore")


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match=r"'norm' parameter of nmi .* Got 'max'"):
        nmi([0, 1], [0, 1], norm="max")
    with pytest.raises(InvalidParameterError, match=r"'norm' parameter of anmi"):
        anmi([0, 1], Ensemble([[0, 1]]), norm=None)
    with pytest.raises(InvalidParameterError, match=r"'noise' parameter of anmi"):
        anmi([0, 1], Ensemble([[0, 1]]), noise=None)
    with pytest.raises(InvalidParameterError, match=r"'average' parameter of clustering_f1"):
        clustering_f1([0, 1], [0, 1], average="macro")
    with pytest.raises(InvalidParameterError, match=r"'dense' parameter of contingency"):
        contingency([0, 1], [0, 1], dense="yes")
    with pytest.raises(InvalidInputError, match=r"each of the 2 objects .* Got 3"):
        anmi([0, 1, 1], Ensemble([[0, 1]]))
    with pytest.raises(InvalidInputError, match=r"member 1 of the ensemble must share"):
        anmi([0, -2], Ensemble([[0, 1], [-2, 1]]))


def test_relabel_is_what_contingency_rows_follow():
    labels = ["z", "a", "z", "m"]
    table = contingency(labels, labels)
    np.testing.assert_array_equal(table, np.diag(np.bincount(relabel(labels))))


def test_lengths_are_told_in_the_order_of_the_arguments():
    with pytest.raises(InvalidInputError, match=r"truth and labels must .* Got 3 and 2 labels"):
        relabelled_accuracy([0, 1, 1], [0, 1])
    with pytest.raises(InvalidInputError, match=r"a and b must .* Got 3 and 2 labels"):
        nmi([0, 1, 1], [0, 1])


def test_tables_are_written_out_up_to_a_number_of_cells(monkeypatch):
    monkeypatch.setattr("consilience.metrics.DENSE_CELLS", 4)
    assert isinstance(contingency([0, 1], [0, 1]), np.ndarray)
    # Both sides count, whichever is the longer.
    assert sparse.issparse(contingency([0, 1, 1], [0, 1, 2]))
    assert sparse.issparse(contingency([0, 1, 2], [0, 1, 1]))
    assert isinstance(contingency([0, 1, 2], [0, 0, 0]), np.ndarray)
    assert isinstance(contingency([0, 0, 0], [0, 1, 2]), np.ndarray)
    assert isinstance(contingency([0, 1, 1], [0, 1, 2], dense=True), np.ndarray)
