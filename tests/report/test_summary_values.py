"""What the report says and draws are the figures of the library, down to its words' thresholds."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config
from report.summary_contract import columns_of, figures_of, section_of
from scipy.spatial.distance import pdist

from consilience import metrics
from consilience.compare import precision_recall_f1
from consilience.consensus.number import Criterion
from consilience.datasets import make_toy_minority
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import ambiguous, confidence
from consilience.minority import EWOCS
from consilience.report import _case, _choices, _members, summarise_consensus, summarise_minority
from consilience.report._figures import dendrogram, mark, matrix
from consilience.report._members import pairwise_agreement
from consilience.report._objects import identifiers, number_column
from consilience.report._plane import plane_of_kernel, undrawable
from consilience.report._values import counted, finite, in_range, percent, rounded
from consilience.report._words import _between

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

LABELS = np.repeat([0, 1, 2], [5, 4, 3])
AGREED = Ensemble([LABELS] * 4)


def headline(sure, labels=LABELS, **more):
    """The headline where every object has this confidence."""
    given = np.full(len(labels), float(sure))
    return summarise_consensus(AGREED, labels, confidence=given, **more)["headline"]


# ---- words and the numbers in them ----------------------------------------------------------


@pytest.mark.parametrize(
    ("sure", "words"),
    [
        (1.0, "firmly"),
        (0.9, "firmly"),
        (0.899, "fairly well"),
        (0.75, "fairly well"),
        (0.749, "only moderately"),
        (0.601, "only moderately"),
        (0.599, "hardly support"),
        (0.0, "hardly support"),
    ],
)
def test_the_words_for_the_mean_confidence_change_where_they_should(sure, words):
    said = headline(sure)
    assert words in said[1]
    assert f"the objects have {sure:.2f} on average" in said[1]


def test_the_mean_confidence_is_that_of_the_objects_in_clusters():
    sure = np.linspace(0.1, 0.98, 12)
    labels = LABELS.copy()
    labels[-2:] = -1
    found = summarise_consensus(AGREED, labels, confidence=sure)
    assert f"have {sure[:10].mean():.2f} on average" in found["headline"][1]
    rows = {row["cluster"]: row for row in found["clusters"]}
    for c in range(3):
        assert rows[c]["confidence"] == round(float(sure[labels == c].mean()), 3)
        assert rows[c]["size"] == (labels == c).sum()
        assert rows[c]["share"] == round((labels == c).mean(), 5)
    assert rows[-1] == {
        "cluster": -1, "size": 2, "share": round(2 / 12, 5), "confidence": None, "stability": None,
    }  # fmt: skip
    assert found["headline"][0].endswith("; 2 (16.7 %) belong to no group.")


def test_objects_below_a_half_are_counted():
    sure = np.ones(12)
    sure[:3] = [0.49, 0.5, 0.0]
    said = summarise_consensus(AGREED, LABELS, confidence=sure)["headline"][2]
    assert said.startswith("3 objects (25 %) are doubtful")
    assert " 1 object lies below 0.5" in said
    sure[5] = 0.2
    said = summarise_consensus(AGREED, LABELS, confidence=sure)["headline"][2]
    assert " 2 objects lie below 0.5" in said
    assert "below 0.5" not in headline(0.5)[2]


def test_sizes_are_listed_up_to_eight_groups():
    eight, nine = np.arange(36) % 8, np.arange(36) % 9
    said = [
        summarise_consensus(Ensemble([x, x]), x)["headline"][0] for x in (eight, nine, eight * 0)
    ]
    assert said[0] == ("The 36 objects fall into 8 groups, of 5, 5, 5, 5, 4, 4, 4 and 4 objects.")
    assert said[1] == (
        "The 36 objects fall into 9 groups, the largest of 4 objects, the smallest of 4."
    )
    assert said[2] == "The 36 objects fall into a single group."
    nothing = summarise_consensus(Ensemble([[-1, -1]] * 2), [-1, -1])["headline"][0]
    assert nothing == "None of the 2 objects was put into a group."


def test_agreement_with_the_truth_stands_last_in_the_headline():
    truth = LABELS.copy()
    truth[0] = 1
    said = headline(1.0, truth=truth)
    assert said[-1] == (
        f"With groups matched to the true classes, {percent(11 / 12, 1)} of the objects agree."
    )
    assert metrics.consistency_index(truth, LABELS) == 11 / 12


def test_facts_say_how_many_objects_clusterings_and_groups():
    found = summarise_consensus(Ensemble([LABELS, LABELS * 0]), LABELS)
    done = {row["what"]: row["value"] for row in found["done"]}
    assert done["Objects"] == "12"
    assert done["Clusterings"] == "2, with 1 to 3 groups each"
    same = summarise_consensus(AGREED, LABELS)
    assert {r["what"]: r["value"] for r in same["done"]}["Clusterings"] == ("4, with 3 groups each")


def test_confidence_is_computed_where_none_is_given():
    noisy = Ensemble([LABELS, np.roll(LABELS, 1), LABELS])
    found = columns_of(summarise_consensus(noisy, LABELS))["confidence"]
    np.testing.assert_allclose(found, confidence(noisy, LABELS).confidence, atol=5e-4)


def test_numbers_are_short_and_finite():
    assert rounded([1.23456, -0.0, np.inf]) == [1.235, 0.0, None]
    assert str(rounded([-0.0001])[0]) == "0.0"
    assert rounded([2.5], 0) == [2.0]
    assert finite(123456.0) == 123500.0
    assert finite(float("nan")) is None
    assert in_range([1.0, 1.0]) == [1.0, 1.0]
    assert in_range([0.0, 0.0]) == [0.0, 0.0]
    assert in_range([0.123456, 1.0]) == [0.1235, 1.0]
    assert in_range([np.nan, 5000.123]) == [None, 5000.0]
    assert counted(0, "object") == "0 objects"
    assert [percent(*pair) for pair in ((0, 5), (5, 5), (1, 3), (1, 2000), (1999.9, 2000))] == [
        "0 %", "100 %", "33.3 %", "under 0.1 %", "over 99.9 %",
    ]  # fmt: skip
    assert percent(1, 1000) == "0.1 %"
    assert percent(999, 1000) == "99.9 %"
    assert percent(1, 0) == "0 %"


# ---- places, lines and notes ----------------------------------------------------------------


def test_the_plane_of_a_kernel_of_two_features_is_the_plane(seed):
    X = 5 + np.random.default_rng(seed).normal(size=(9, 2))
    places = plane_of_kernel(X @ X.T).places
    np.testing.assert_allclose(pdist(places), pdist(X))
    assert (places.max(axis=0) >= -places.min(axis=0)).all()
    assert np.ptp(places[:, 0]) > 0


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_objects_of_a_kernel_lie_in_the_middle(n):
    plane, more = plane_of_kernel(np.ones((n, n))), plane_of_kernel(np.eye(3))
    np.testing.assert_array_equal(plane.places, np.zeros((n, 2)))
    assert (plane.xlabel, plane.ylabel) == (more.xlabel, more.ylabel)
    assert plane.xlabel != plane.ylabel


def test_the_line_that_a_job_judged_by_is_the_one_taken():
    ensemble = Ensemble([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]])
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    judged = ambiguous(ensemble)
    assert judged.n_flagged == 1
    (figure,) = figures_of(
        section_of(summarise_consensus(ensemble, labels, judged=judged), "doubtful")
    )
    at = pytest.approx(judged.threshold, abs=1e-6)
    assert figure["marks"] == [{"at": at, "label": "doubtful: 1 object", "taken": True}]
    assert sum(figure["counts"]) == 8


def test_why_there_is_no_picture_is_told_without_the_frame():
    framed = InvalidInputError("The data cannot be drawn: row 3 is empty.\nMore.")
    assert undrawable(framed) == "row 3 is empty."
    assert undrawable(InvalidInputError("Row 3 is empty.\nMore.")) == "Row 3 is empty."


def test_a_column_of_numbers_has_three_decimals_and_one_of_names_no_none():
    assert number_column("x", np.array([0.12345, np.nan]))["values"] == [0.123, None]
    assert number_column("x", np.array([0.12341]), 4)["values"] == [0.1234]
    assert identifiers(["a", None, 2.0, float("nan")], 4, np.arange(4))["values"] == [
        "a", "", "2", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("n_torn", "told"), [(1, False), (2, True)])
def test_the_two_clusters_between_which_doubt_lies_hold_a_fifth_of_it(n_torn, told):
    labels = np.repeat(np.arange(6), 8)
    pairs = [(0, 1)] * n_torn + [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 3), (1, 4)]
    flags, runner_up = np.zeros(48, np.bool_), np.full(48, -1)
    for a, b in pairs:
        at = next(i for i in np.flatnonzero(labels == a) if not flags[i])
        flags[at], runner_up[at] = True, b
    case = SimpleNamespace(
        runner_up=runner_up, n_clusters=6, labels=labels, doubtful=flags, numbers=np.arange(6)
    )
    assert bool(_between(case)) is told


def test_shades_lie_between_low_and_high():
    found = matrix(np.array([[2.0, 3.0], [4.0, 9.0]]), low=2.0, high=4.0)
    assert list(base64.b64decode(found["values"])) == [0, 128, 255, 255]
    found = matrix(np.array([[0.0, 0.2], [1.0, -3.0]]))
    assert list(base64.b64decode(found["values"])) == [0, 51, 255, 0]


def test_a_line_is_not_the_one_that_decided_unless_it_is_said():
    assert mark(0.5, "mean") == {"at": 0.5, "label": "mean", "taken": False}


def test_some_pairs_of_clusterings_are_drawn_once_each(seed):
    labels = np.random.default_rng(seed).integers(0, 3, (5, 40))
    ensemble = Ensemble(list(labels))
    every = pairwise_agreement(ensemble, 0)
    some = pairwise_agreement(ensemble, seed, max_pairs=9)
    assert len(np.unique(every)) == 10
    assert len(np.unique(some)) == 9
    assert set(some) < set(every)


def test_fewer_pairs_of_clusterings_are_looked_at_where_objects_are_many(monkeypatch):
    monkeypatch.setattr(_members, "_PAIR_BUDGET", 36)
    monkeypatch.setattr(_members, "_FEWEST_PAIRS", 2)
    found = {n: len(pairwise_agreement(Ensemble([[0, 1] * (n // 2)] * 4), 0)) for n in (4, 12, 36)}
    assert found == {4: 6, 12: 3, 36: 2}


def test_a_report_says_that_pairs_of_clusterings_were_drawn(monkeypatch):
    note = "pairs of clusterings"
    assert not any(note in one for one in summarise_consensus(AGREED, LABELS)["notes"])
    monkeypatch.setattr(_members, "_PAIR_BUDGET", 1)
    monkeypatch.setattr(_members, "_FEWEST_PAIRS", 2)
    notes = summarise_consensus(AGREED, LABELS)["notes"]
    assert "Of 6 pairs of clusterings 2, drawn by chance, are compared." in notes


@pytest.mark.parametrize(("k", "finer"), [(5, False), (6, True)])
def test_clusterings_are_finer_from_twice_the_groups_on(k, finer):
    page = summarise_consensus(Ensemble([np.arange(12) % k] * 4), LABELS)
    read = section_of(page, "co-association")["read"]
    assert ("many more groups than the result" in read) is finer


@pytest.mark.parametrize(
    ("larger", "words"), [(True, "higher is better"), (False, "lower is better")]
)
def test_a_curve_says_which_way_is_better(larger, words):
    numbers = np.array([2, 3, 4])
    one = Criterion("pac", "a title", numbers, np.array([0.1, 0.2, 0.3]), None, larger, 3, 0.5, "")
    figure = _choices._criterion(one, SimpleNamespace(n_clusters=3))
    assert figure["ylabel"] == words


@pytest.mark.parametrize(("most", "missing"), [(10_000, "pair"), (11, "all")])
def test_confidence_that_is_not_given_is_that_of_the_evidence(monkeypatch, most, missing):
    monkeypatch.setattr(_case, "_MAX_PAIRWISE", most)
    table = np.tile(LABELS, (4, 1))
    table[0, :3], table[1, 4:6], table[2, 7] = -2, -2, 0
    notes = []
    sure, other = _case._confidence_of(Ensemble(list(table)), LABELS.astype(int), 3, notes)
    wanted = confidence(Ensemble(list(table)), LABELS, missing=missing)
    np.testing.assert_array_equal(sure, wanted.confidence)
    np.testing.assert_array_equal(other, wanted.runner_up)
    assert bool(notes) is (missing == "all")


def test_a_report_says_that_confidence_was_too_much_work(monkeypatch):
    assert summarise_consensus(AGREED, LABELS)["notes"] == []
    monkeypatch.setattr(_case, "_MAX_CELLS", 35)
    found = summarise_consensus(AGREED, LABELS)
    assert any("Confidence was not computed: 12 objects and 3" in note for note in found["notes"])
    assert "confidence" not in columns_of(found)


# ---- a minority job -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def toy():
    X, y = make_toy_minority(0.2, random_state=3)
    return X, y, EWOCS(n_repetitions=100, random_state=0).fit(X)


@compiled
def test_the_border_lies_on_both_curves(toy):
    X, y, model = toy
    found = summarise_minority(model, X, truth=y)
    roc, purity = figures_of(section_of(found, "truth"))
    inside, truth = model.scores_ >= model.threshold_, y > 0
    let_in = (inside & ~truth).sum() / (~truth).sum()
    hits = precision_recall_f1(inside, truth)
    dot = roc["series"][-1]
    assert dot["label"] == "the border taken"
    assert dot["x"] == pytest.approx([let_in], abs=1e-3)
    assert dot["y"] == pytest.approx([hits.recall], abs=1e-3)
    dot = purity["series"][-1]
    assert dot["x"] == pytest.approx([hits.recall], abs=1e-3)
    assert dot["y"] == pytest.approx([hits.precision], abs=1e-3)
    chance = next(line for line in purity["series"] if line["label"] == "chance")
    assert chance["y"] == pytest.approx([truth.mean()] * 2, abs=1e-3)
    chance = next(line for line in roc["series"] if line["label"] == "chance")
    assert (chance["x"], chance["y"]) == ([0, 1], [0, 1])


@compiled
def test_the_headline_and_the_groups_of_a_minority_job(toy):
    X, y, model = toy
    found = summarise_minority(model, X, truth=y)
    n, k = len(X), model.n_clusters_
    said = found["headline"]
    assert f"({percent(model.n_foreground_, n)})" in said[0]
    assert ("in one group." if k == 1 else f"in {k} groups, ") in said[0]
    assert f"reliability {model.reliability_:.3f}" in said[1]
    undecided = int(model.undecided_.sum())
    assert any(line.startswith(f"{undecided:,} object") for line in said) == (undecided > 0)
    hits = precision_recall_f1(model.labels_, y)
    assert f"{percent(hits.precision, 1)} of the objects found are right" in said[-1]
    assert f"{percent(hits.recall, 1)} of those there are were found" in said[-1]
    sure = np.array(columns_of(found)["confidence"])
    assert ((sure >= 0.5) & (sure <= 1)).all()
    rows = {row["cluster"]: row for row in found["clusters"]}
    assert set(rows) == {-1, *range(k)}
    for group, row in rows.items():
        inside = model.labels_ == group
        assert row["share"] == round(inside.mean(), 5)
        assert row["confidence"] == pytest.approx(sure[inside].mean(), abs=2e-3)
    done = {row["what"]: row["value"] for row in found["done"]}
    assert done["Objects"] == f"{n:,}"
    assert done["Weak clusterings"] == "100"


@compiled
def test_an_object_at_the_border_may_as_well_be_on_the_other_side(toy):
    X, _, model = toy
    columns = columns_of(summarise_minority(model, X))
    away = np.abs(model.scores_ - model.threshold_) / model.standard_errors_
    sure = np.array(columns["confidence"])
    order = np.argsort(away, kind="stable")
    assert (np.diff(sure[order]) >= -1e-3).all()
    near = away < 1e-2
    np.testing.assert_allclose(sure[near], 0.5, atol=6e-3)
    np.testing.assert_allclose(sure[(away > 1.9) & (away < 2.1)], 0.977, atol=7e-3)


def test_heights_and_the_cut_of_a_tree_have_five_digits():
    tree = np.array([[0, 1, 1 / 3, 2], [2, 3, 2 / 3, 3]])
    made = dendrogram(tree, np.ones(3, int), np.array([0, 0, 1]), 0.123456789, 2)
    assert (made["heights"], made["cut"]) == ([0.33333, 0.66667], 0.12346)
    assert dendrogram(tree, np.ones(3, int), np.array([0, 0, 1]), None, 2)["cut"] is None
