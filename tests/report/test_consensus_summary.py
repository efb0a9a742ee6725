"""The summary of a consensus: it keeps the contract, and says what the evidence says."""

import base64
import datetime
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from report.summary_contract import check_summary, columns_of, figures_of, section_of
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_tables, labelings

from consilience import metrics
from consilience.compare.several import Comparison
from consilience.consensus import eac
from consilience.consensus.number import Criterion, NumberChoice
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError
from consilience.evidence import cluster_stability, co_association, confidence, relative_overlap
from consilience.report import summarise_consensus
from consilience.report._members import member_agreement, pairwise_agreement
from consilience.report._pairs import cut_height, folded, pair_view, restricted
from consilience.report._plane import plane_of_ensemble
from consilience.report._thin import choose_shown, thinned

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


def shades(figure):
    """The matrix of a figure, in [low, high]."""
    m = figure["size"]
    values = np.frombuffer(base64.b64decode(figure["values"]), np.uint8).reshape(m, m) / 255
    return figure["low"] + (figure["high"] - figure["low"]) * values


@pytest.fixture
def three_groups(seed):
    """Labels of 90 objects in three groups, members that err now and then, and data."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [45, 30, 15]))
    wrong = rng.random((90, 15)) < 0.15
    members = np.where(wrong, rng.integers(0, 3, (90, 15)), labels[:, None])
    X = rng.normal(size=(90, 4)) + 4 * np.eye(3, 4)[labels]
    return Ensemble(members), labels, X


@given(st.data())
@settings(max_examples=40)
def test_any_ensemble_and_any_labels_give_a_valid_summary(data):
    table = data.draw(label_tables())
    labels = data.draw(labelings(len(table), unseen=False))
    truth = data.draw(st.none() | labelings(len(table)))
    X = data.draw(st.sampled_from([None, np.zeros((len(table), 3)), np.eye(len(table), 5)]))
    check_summary(summarise_consensus(Ensemble(table), labels, X=X, truth=truth))


@given(label_tables(min_objects=6, max_objects=20, min_members=2), st.integers(2, 5))
@settings(max_examples=25)
def test_a_thinned_summary_is_valid_and_complete_in_its_counts(table, most):
    labels = np.arange(len(table)) % 3 - 1
    found = summarise_consensus(Ensemble(table), labels, max_points=most, max_matrix=most)
    check_summary(found)
    assert found["objects"]["shown"] <= most
    assert found["objects"]["total"] == len(table)
    assert f"of {len(table):,} objects" in found["notes"][0]
    histogram = section_of(found, "doubtful")["figure"]
    assert sum(histogram["counts"]) == (labels >= 0).sum()


def test_everything_at_once(three_groups):
    ens, labels, X = three_groups
    tested = np.arange(2, 6)
    criteria = tuple(
        Criterion(
            name,
            name.title(),
            tested,
            np.array([0.1, 0.9, np.nan, 0.2]),
            reference,
            True,
            k,
            clarity,
            "It says so.",
        )
        for name, reference, k, clarity in (
            ("stability", np.full(4, 0.3), 3, 0.8),
            ("lifetime", None, None, 0.0),
        )
    )
    choice = NumberChoice(3, True, "stability", criteria, "Three groups. It is clear.", 90)
    comparison = Comparison(
        ("a", "b"),
        {"a": labels, "b": labels},
        np.array([3, 3]),
        np.array([[1, 0.5], [0.5, 1]]),
        np.array([0.7, np.nan]),
        {"nmi": np.array([1.0, 0.5])},
        "a",
        np.array([0.1, 0.2]),
        {"c": "It wants more."},
    )
    found = summarise_consensus(
        ens,
        labels,
        X=X,
        truth=np.array(["red", "green", "blue"])[labels],
        choice=choice,
        comparison=comparison,
        about={"Seed": "7"},
        notes=["A warning."],
        title="All of it",
    )
    check_summary(found)
    assert [part["id"] for part in found["sections"]] == [
        "objects",
        "number",
        "co-association",
        "dendrogram",
        "doubtful",
        "stability",
        "members",
        "methods",
        "truth",
    ]
    assert found["title"] == "All of it"
    assert found["done"][0] == {"what": "Seed", "value": "7"}
    assert found["notes"][0] == "A warning."
    assert (
        "The number of groups is clear: stability, which decides, says 3; 0 of 1 others agree."
        in found["headline"]
    )
    table, stability, lifetime = figures_of(section_of(found, "number"))
    assert [row[:4] for row in table["rows"]] == [
        ["Stability", 3, 0.8, "yes"],
        ["Lifetime", None, 0.0, ""],
    ]
    assert stability["series"][0]["y"] == [0.1, 0.9, None, 0.2]
    assert [mark["at"] for mark in stability["marks"]] == [3]
    assert stability["marks"][0]["taken"]
    assert len(stability["series"]) == 2
    assert len(lifetime["series"]) == 1
    assert not lifetime["marks"]
    methods, agreement = figures_of(section_of(found, "methods"))
    assert [row[0] for row in methods["rows"]] == ["a", "b", "c"]
    assert methods["rows"][2][-1] == "failed: It wants more."
    np.testing.assert_allclose(shades(agreement), comparison.agreement, atol=1 / 255)


def test_the_matrix_is_the_co_association_in_another_order(three_groups):
    ens, labels, _ = three_groups
    found = summarise_consensus(ens, labels)
    figure = section_of(found, "co-association")["figure"]
    order = np.array(figure["objects"])
    assert sorted(order) == list(range(90))
    # Shares of 15 members survive their bytes exactly.
    wanted = co_association(ens)[np.ix_(order, order)]
    np.testing.assert_array_equal(np.rint(15 * shades(figure)), np.rint(15 * wanted))
    changes = np.flatnonzero(np.diff(labels[order])) + 1
    assert changes.tolist() == figure["bounds"]
    assert len(changes) == 2  # each cluster in one piece


def joined(ens, labels):
    """Members whose clusters are those of the result that most of their objects are in."""
    table = ens.labels.astype(int)
    for member in table.T:
        for cluster in set(member[member >= 0].tolist()):
            held = [
                c for c, m in zip(labels.tolist(), member.tolist(), strict=True) if m == cluster
            ]
            # Of equal ones the group that appears first; a cluster in none stays by itself.
            groups = [c for c in dict.fromkeys(labels.tolist()) if c >= 0 and c in held]
            mostly = max(groups, key=held.count) if groups else 1000 + cluster
            member[member == cluster] = 1000 * (mostly + 1)
    return Ensemble(table)


def test_pieces_of_a_cluster_make_no_object_doubtful():
    labels = np.repeat([0, 1], 30)
    rng = np.random.default_rng(0)
    pieces = [2 * labels + rng.integers(2, size=60) for _ in range(20)]
    found = summarise_consensus(Ensemble(pieces), labels)
    assert "No object is doubtful." in found["headline"]
    assert not any(columns_of(found)["doubtful"])


def test_columns_and_clusters_are_the_evidence(three_groups):
    ens, labels, _ = three_groups
    numbers = np.array([4, -1, 9])[labels]  # as they were given, holes and noise included
    found = summarise_consensus(ens, numbers)
    check_summary(found)
    inside = np.where(labels == 1, -1, labels // 2)
    sure = confidence(ens, inside)
    overlap = relative_overlap(joined(ens, inside))
    columns = columns_of(found)
    assert columns["id"] == list(range(90))
    assert columns["cluster"] == numbers.tolist()
    np.testing.assert_allclose(columns["confidence"], sure.confidence, atol=5e-4)
    assert columns["runner_up"] == [{0: 4, 1: 9, -1: None}[c] for c in sure.runner_up.tolist()]
    np.testing.assert_allclose(columns["ambiguity"], 1 - overlap, atol=5e-4)
    unsure = (sure.confidence < 0.75) & (inside >= 0)
    assert columns["doubtful"] == unsure.tolist()
    stable = cluster_stability(Ensemble([inside]), ens, criterion="nmi")
    rows = {row["cluster"]: row for row in found["clusters"]}
    assert list(rows) == [4, 9, -1]
    for place, number in enumerate((4, 9)):
        assert rows[number]["size"] == (numbers == number).sum()
        assert rows[number]["stability"] == pytest.approx(stable[place], abs=5e-4)
        mean = sure.confidence[inside == place].mean()
        assert rows[number]["confidence"] == pytest.approx(mean, abs=5e-4)
    (mark,) = section_of(found, "doubtful")["figure"]["marks"]
    assert mark["at"] == 0.75
    assert str(int(unsure.sum())) in mark["label"]
    bars = section_of(found, "stability")["figure"]
    assert dict(zip(bars["clusters"], bars["values"], strict=True)) == {
        number: rows[number]["stability"] for number in (4, 9)
    }


def test_what_is_given_is_shown_as_given(three_groups):
    ens, labels, _ = three_groups
    sure = np.linspace(0, 1, 90)
    sure[3] = np.nan
    found = summarise_consensus(
        ens, labels, confidence=sure, runner_up=np.where(labels == 0, 2, -1)
    )
    columns = columns_of(found)
    np.testing.assert_allclose(columns["confidence"], np.nan_to_num(sure), atol=5e-4)
    assert columns["runner_up"] == [2 if c == 0 else None for c in labels]
    check_summary(found)


def test_agreement_with_the_truth_is_that_of_the_metrics(three_groups, seed):
    ens, labels, _ = three_groups
    rng = np.random.default_rng(seed)
    truth = np.array(["c", "a", "b"], object)[np.where(rng.random(90) < 0.2, 0, labels)]
    truth[5] = None
    found = summarise_consensus(ens, labels, truth=truth)
    check_summary(found)
    counts, scores = figures_of(section_of(found, "truth"))
    wanted = metrics.contingency(labels, truth)
    names = dict.fromkeys(value for value in truth if value is not None)
    by_name = {name: wanted[:, i].tolist() for i, name in enumerate(names)}
    got = {name: [row[c] for row in counts["rows"]] for c, name in enumerate(counts["columns"])}
    assert got.pop("") == ["cluster 0", "cluster 1", "cluster 2"]
    assert got == by_name
    known = np.array([value is not None for value in truth])
    measures = [
        metrics.consistency_index(truth, labels),
        metrics.nmi(truth, labels),
        adjusted_rand_score(truth[known], labels[known]),
    ]
    np.testing.assert_allclose([row[1] for row in scores["rows"]], measures, atol=5e-5)
    assert columns_of(found)["truth"] == truth.tolist()
    assert any("1 objects without a true class" in note for note in found["notes"])


def test_many_classes_share_a_column():
    truth = np.repeat(np.arange(60), 3)
    ens = Ensemble([truth // 10])
    counts = figures_of(section_of(summarise_consensus(ens, truth // 10, truth=truth), "truth"))[0]
    assert len(counts["columns"]) == 21
    assert counts["columns"].count("other classes (41)") == 1
    assert sum(sum(row[1:]) for row in counts["rows"]) == 180


def test_agreement_of_members_is_nmi(three_groups):
    ens, labels, _ = three_groups
    some = ens[:4]
    among = pairwise_agreement(some, 0)
    wanted = [metrics.nmi(some[i], some[j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(among, wanted)
    assert len(pairwise_agreement(ens, 0, max_pairs=7)) == 7
    assert member_agreement(ens, labels).mean() == pytest.approx(metrics.anmi(labels, ens))
    figures = figures_of(section_of(summarise_consensus(some, labels), "members"))
    assert figures[0]["marks"][0]["at"] == pytest.approx(np.mean(wanted), abs=1e-4)
    assert sum(figures[0]["counts"]) == 6


def test_identifiers_of_any_type(three_groups):
    ens, labels, _ = three_groups
    day = datetime.date(2020, 1, 1)
    for ids, kind, first in (
        (np.arange(90) + 7, "number", 7),
        ([f"<b>{i}</b>" for i in range(90)], "text", "<b>0</b>"),
        (np.arange(90).astype("datetime64[D]"), "text", "1970-01-01"),
        ([day, None, (1, "a"), float("nan"), 2.0, b"x", *range(84)], "text", "2020-01-01"),
        ([2**60, *range(89)], "text", str(2**60)),
        (np.arange(90) == 3, "text", "False"),
    ):
        found = summarise_consensus(ens, labels, ids=ids)
        check_summary(found)
        column = found["objects"]["columns"][0]
        assert column["kind"] == kind
        assert column["values"][0] == first
    named = Ensemble(ens.labels, index=[f"row {i}" for i in range(90)])
    assert columns_of(summarise_consensus(named, labels))["id"][2] == "row 2"


def test_frames_sparse_matrices_and_few_columns(three_groups):
    pandas = pytest.importorskip("pandas")
    ens, labels, X = three_groups
    frame = pandas.DataFrame(X[:, :2], columns=["width", "height"], index=np.arange(90) * 2)
    for data, columns, words in (
        (frame, (), ("width", "height")),
        (X[:, :2], ("a", "b"), ("a", "b")),
        (X[:, :1], ("a",), ("a", "random height, means nothing")),
        (sparse.csr_array(X), (), None),
        (X.astype(np.float32), (), None),
    ):
        found = summarise_consensus(ens, labels, X=data, columns=columns, max_points=60)
        check_summary(found)
        figure = section_of(found, "objects")["figure"]
        if words is None:
            assert figure["xlabel"].startswith("component 1")
        else:
            assert (figure["xlabel"], figure["ylabel"]) == words
            assert figure["x"] == pytest.approx(X[columns_of(found)["id"], 0].tolist(), abs=1e-2)


def test_data_that_cannot_be_drawn_are_said_and_replaced(three_groups):
    ens, labels, X = three_groups
    X = X.copy()
    X[0, 0] = np.nan
    found = summarise_consensus(ens, labels, X=X)
    check_summary(found)
    assert "agreement" in section_of(found, "objects")["figure"]["xlabel"]
    assert any("of the clusterings alone" in note for note in found["notes"])


@given(label_tables(min_objects=5, min_members=2, noise=False, unseen=False))
@settings(max_examples=25)
def test_the_view_without_data_scales_the_co_association(table):
    """Memberships have the distances sqrt(2 (1 - co-association) / R); two axes cannot exceed."""
    ens = Ensemble(table)
    places = plane_of_ensemble(ens, 0).places
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    wanted = np.sqrt(2 * (1 - co_association(ens)) / ens.n_members)
    slack = 0.05 * max(1.0, float(np.ptp(places, axis=0).max()))
    if ens.offsets()[-1] > 2:
        assert (distances <= wanted + slack).all()


def test_one_cluster_one_member_two_objects_all_equal():
    for members, labels in (
        ([[0, 0, 0, 0]], [0, 0, 0, 0]),
        ([[0, 1]], [0, 1]),
        ([[0, 1], [0, 1]], [0, 0]),
        ([[0, 0, 0], [0, 0, 0]], [-1, -1, -1]),
        ([[-1, -1, -1], [-2, -2, -2]], [0, 1, 1]),
        ([[0]], [0]),
        ([[3, 3, 3, 3]] * 4, [2, 2, 2, 2]),
    ):
        for X in (None, np.ones((len(labels), 3))):
            check_summary(summarise_consensus(Ensemble(members), labels, X=X))


def test_the_headline_counts(three_groups):
    ens, labels, _ = three_groups
    noisy = labels.copy()
    noisy[labels == 2] = -1
    found = summarise_consensus(ens, noisy)
    assert found["headline"][0] == (
        "The 90 objects fall into 2 groups, of 45 and 30 objects; 15 (16.7 %) belong to no group."
    )
    many = summarise_consensus(Ensemble([np.arange(90) // 6] * 2), np.arange(90) // 6)
    assert many["headline"][0].endswith("15 groups, the largest of 6 objects, the smallest of 6.")
    assert "No object is doubtful." in many["headline"]
    unclear = NumberChoice(3, False, "none", (), "No clear structure. A guess.", 90)
    said = summarise_consensus(ens, labels, choice=unclear, max_points=50)["headline"]
    assert any("no clear structure" in line for line in said)


def test_doubtful_objects_are_named_in_the_headline():
    members = np.repeat([[0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]], 10, axis=0)
    members[::2, [4]] = 1
    members[1::2, [5]] = 0
    found = summarise_consensus(Ensemble(list(members)), members[1])
    line = next(line for line in found["headline"] if "doubtful" in line)
    assert line.startswith("2 objects (14.3 %) are doubtful")
    assert "between clusters 0 and 1" in line


def test_equal_seeds_give_equal_summaries(three_groups, seed):
    ens, labels, X = three_groups
    one, same, other = (
        summarise_consensus(ens, labels, X=X, max_points=40, max_matrix=20, random_state=s)
        for s in (seed, seed, seed + 1)
    )
    assert one == same
    assert columns_of(one)["id"] != columns_of(other)["id"]


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=12),
    st.integers(1, 60),
    st.integers(0, 5),
)
@settings(max_examples=50)
def test_thinning_keeps_every_cluster(sizes, most, seed):
    labels = np.repeat(np.arange(len(sizes)) - 1, sizes)
    kept = thinned(labels, most, seed=seed)
    assert len(kept) <= most or len(labels) <= most
    assert (np.diff(kept) > 0).all()
    assert len(kept) >= 0.7 * min(most, len(labels)) - len(sizes)
    held = np.bincount(labels[kept] + 1, minlength=len(sizes))
    if len(sizes) <= most:
        assert held.min() >= 1
        # A quarter of the places is split evenly, whatever the sizes.
        fair = np.minimum(sizes, most // (4 * len(sizes)))
        assert (held >= fair).all()


def test_doubtful_objects_are_kept_first(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [9000, 1000])
    doubt = rng.random(10_000)
    doubtful = doubt > 0.99
    shown = choose_shown(labels, doubt, doubtful, max_points=1000, max_pairs=100, seed=seed)
    assert len(shown.objects) <= 1000
    assert len(shown.pairs) <= 100
    assert np.isin(shown.pairs, shown.objects).all()
    assert doubtful[shown.objects].sum() == doubtful.sum()
    # Pictures of pairs are drawn by chance alone: they must not look more doubtful than it is.
    assert doubtful[shown.pairs].mean() < 0.1
    plenty = choose_shown(labels, doubt, doubt > 0.2, max_points=1000, max_pairs=100, seed=seed)
    assert 0.4 < (doubt[plenty.objects] > 0.9).mean() < 0.7  # half of the places, the worst first


@given(label_tables(min_objects=2, max_objects=14), st.integers(2, 14))
@settings(max_examples=40)
def test_folded_trees_keep_sizes_and_heights(table, max_leaves):
    ens = Ensemble(table)
    labels = np.arange(len(table)) % 3
    view = pair_view(ens, labels)
    tree, sizes, clusters = folded(view.tree, labels, max_leaves)
    assert len(sizes) == len(clusters) == min(max_leaves, len(table))
    assert sizes.sum() == len(table)
    np.testing.assert_array_equal(tree[:, 2], view.tree[len(view.tree) - len(tree) :, 2])
    assert tree[-1, 3] == len(table)
    k = min(3, len(table))
    cut = cut_height(view.tree, k)
    heights = view.tree[:, 2]
    assert (heights[: len(table) - k] <= cut + 1e-12).all()
    assert (heights[len(table) - k :] >= cut - 1e-12).all()


def drawn_tree(summary):
    part = section_of(summary, "dendrogram")
    return part["read"], figures_of(part)[0]


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_the_tree_is_the_one_that_made_the_groups(three_groups, linkage):
    ens, _, _ = three_groups
    found = eac(ens, 3, linkage=linkage)
    read, figure = drawn_tree(
        summarise_consensus(ens, found.labels, tree=found.linkage, link=linkage)
    )
    np.testing.assert_allclose(figure["heights"], found.linkage[:, 2], atol=1e-5)
    assert (np.array(figure["heights"]) > figure["cut"]).sum() == 2
    assert "a cut leaves 3 groups" in read
    assert ("closest two" in read) == (linkage == "single")
    assert ("farthest two" in read) == (linkage == "complete")


def test_a_tree_that_did_not_make_the_groups_is_not_cut(three_groups):
    ens, labels, _ = three_groups
    read, figure = drawn_tree(summarise_consensus(ens, labels))
    assert figure["cut"] is None
    assert "another view" in read
    found = eac(ens, 3, linkage="single")
    moved = found.labels.copy()
    moved[:5] = (moved[:5] + 1) % 3
    read, figure = drawn_tree(summarise_consensus(ens, moved, tree=found.linkage, link="single"))
    assert figure["cut"] is None
    assert "no line gives exactly the groups" in read


def test_a_cut_lies_between_the_merges_it_keeps_and_undoes():
    tree = np.array([[0, 1, 1.0, 2], [2, 3, 3.0, 2], [4, 5, 8.0, 4]])
    assert [cut_height(tree, k) for k in (4, 3, 2)] == [0.5, 2.0, 5.5]
    assert cut_height(tree, 1) == cut_height(tree, 0) == pytest.approx(8.4)
    assert cut_height(tree, 9) == 0.5
    assert cut_height(np.empty((0, 4)), 1) == 1.0


def test_noise_is_no_group_of_the_cut():
    members = [[0, 0, 0, 1, 1, 1, -1, -1], [0, 0, 0, 1, 1, 1, -1, -1], [0, 0, 1, 1, 1, 1, -1, -1]]
    found = eac(Ensemble(members), 2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]
    summary = summarise_consensus(Ensemble(members), found.labels, tree=found.linkage)
    assert drawn_tree(summary)[1]["cut"] is not None


@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
@settings(max_examples=30)
def test_some_objects_of_a_tree_join_where_they_did(seed, n_some):
    rng = np.random.default_rng(seed)
    tree = hierarchy.linkage(rng.normal(size=(20, 2)), "single")
    some = rng.permutation(20)[:n_some]
    small = restricted(tree, some)
    assert hierarchy.is_valid_linkage(small)
    wanted = squareform(hierarchy.cophenet(tree))[np.ix_(some, some)]
    np.testing.assert_allclose(squareform(hierarchy.cophenet(small)), wanted)


def test_bad_input_is_refused_in_words(three_groups):
    ens, labels, X = three_groups
    for wrong in (
        {"labels": labels[:5]},
        {"X": X[:5]},
        {"ids": [1, 2]},
        {"truth": ["a"]},
        {"truth": np.linspace(0, 1, 90)},
        {"confidence": [1.0]},
        {"max_points": 0},
        {"max_matrix": 1.5},
        {"random_state": "x"},
        {"ensemble": labels},
    ):
        with pytest.raises(ConsilienceError):
            summarise_consensus(**({"ensemble": ens, "labels": labels} | wrong))


@compiled
def test_ten_thousand_objects_stay_small(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, 10_000)
    members = np.where(rng.random((10, 10_000)) < 0.2, rng.integers(0, 8, (10, 10_000)), labels)
    X = rng.normal(size=(10_000, 3))
    found = summarise_consensus(Ensemble(list(members)), labels, X=X, truth=labels)
    check_summary(found)
    assert len(json.dumps(found, separators=(",", ":"))) < 1_500_000
