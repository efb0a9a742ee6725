"""Figures as facts and words have them: digits, one or many, lists that are cut, nothing at all."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.consensus import Alternative, Clarity, NumberChoice
from consilience.ensemble import Ensemble
from consilience.generate import default_generator
from consilience.workflow import AmbiguityResult, _data, _decisions, _object_weights
from consilience.workflow._columns import Columns
from consilience.workflow._data import Data
from consilience.workflow._view_agreement import ViewAgreement
from consilience.workflow.graphs import GraphResult

doctor = import_module("consilience.workflow.doctor")  # not the function of that name
LONG = 0.123456789
N = 30


@pytest.fixture(scope="module")
def result():
    members = np.column_stack([np.arange(N) % 3, np.arange(N) % 3, np.arange(N) % 2])
    return cs.cluster(ensemble=members, n_clusters=3, method="eac", random_state=0)


def grouped(result, labels, **more):
    """The result with these groups, of which everybody is a little unsure."""
    labels = np.asarray(labels, np.int32)
    told = {"labels": labels, "confidence": np.full(len(labels), LONG), "lifetimes": None}
    return replace(result, **(told | {"runner_up": np.full(len(labels), -1, np.int32)} | more))


# ---- digits -----------------------------------------------------------------------------------


def test_figures_of_objects_have_four_digits_and_means_six(result):
    facts = grouped(result, np.arange(N) % 3).to_dict()
    assert facts["mean_confidence"] == 0.123457
    assert [one["confidence"] for one in facts["least_sure"]] == [0.1235] * 10


def test_figures_of_a_choice_have_four_digits():
    clarity = Clarity("clear", LONG, 9, 8, LONG, LONG, LONG, LONG, LONG)
    facts = _decisions.clarity_facts("clear", clarity, given=False)
    assert facts["p_value"] == LONG
    rounded = ("sparsity", "expected", "agreement", "valley", "expected_valley")
    assert {facts[name] for name in rounded} == {0.1235}
    without = replace(clarity, valley=None, expected_valley=None)
    bare = _decisions.clarity_facts("clear", without, given=True)
    assert (bare["valley"], bare["expected_valley"]) == (None, None)
    other = Alternative(3, "EAC", LONG, LONG, LONG, LONG, LONG, (2, 1), "more")
    assert _decisions.alternative_facts([other]) == [
        {
            "n_clusters": 3, "found_by": "EAC", "sizes": [2, 1], "support": 0.1235,
            "agreement": 0.1235, "silhouette": 0.1235, "modularity": 0.1235, "difference": "more",
        }
    ]  # fmt: skip
    criterion = SimpleNamespace(name="gap", n_clusters=2, clarity=LONG, words="two")
    choice = NumberChoice(2, True, "gap", (criterion,), "two by the gap", 30)
    assert _decisions.choice_facts(choice) == {
        "n_clusters": 2, "clear": True, "taken": "gap", "words": "two by the gap",
        "criteria": [{"name": "gap", "n_clusters": 2, "clarity": 0.1235, "words": "two"}],
    }  # fmt: skip


def test_figures_of_methods_beside_each_other_have_six_digits():
    comparison = SimpleNamespace(
        names=("eac", "kcc"), best="kcc", n_clusters=np.array([2, 3]), anmi=np.full(2, LONG),
        truth={"ari": np.full(2, LONG)}, agreement=np.full((2, 2), LONG), failed={"cspa": "why"},
    )  # fmt: skip
    assert _decisions.comparison_facts(comparison) == {
        "best": "kcc",
        "methods": [
            {"name": "eac", "n_clusters": 2, "anmi": 0.123457, "ari": 0.123457},
            {"name": "kcc", "n_clusters": 3, "anmi": 0.123457, "ari": 0.123457},
        ],
        "agreement": [[0.123457, 0.123457]] * 2,
        "failed": {"cspa": "why"},
    }
    comparison.truth = None
    assert _decisions.comparison_facts(comparison)["methods"][0].keys() == {
        "name", "n_clusters", "anmi",
    }  # fmt: skip


def test_figures_of_views_have_six_digits():
    found = ViewAgreement(
        ("a", "b"), (5, 6), (7, 8), np.full(2, LONG), np.array([[LONG, np.nan], [1, 0]]),
        np.array([[1, LONG], [LONG, 1]]),
    )  # fmt: skip
    assert found.to_dict() == {
        "names": ["a", "b"], "n_objects": [5, 6], "confidence": [0.123457] * 2,
        "by_group": [[0.123457, None], [1.0, 0.0]], "between": [[1.0, 0.123457], [0.123457, 1.0]],
    }  # fmt: skip


def test_what_a_view_tells_apart_starts_at_the_limit_of_doubt():
    groups = np.array([[0.75, 0.7499, np.nan], [0.1, 0.2, np.nan], [0.9, 0.8, 0.75]])
    sure = np.array([0.8, 0.2, 0.9])
    found = ViewAgreement(("a", "b", "c"), (3,) * 3, (2,) * 3, sure, groups, np.eye(3))
    assert found.sentences() == [
        "View 'a' by itself tells apart clusters 0, not 1 (mean confidence 0.80).",
        "View 'b' by itself tells no cluster apart (mean confidence 0.20).",
        "View 'c' by itself tells apart clusters 0, 1 and 2 (mean confidence 0.90).",
    ]


def test_seconds_of_methods_have_three_digits(result):
    names = ("eac", "kcc")
    several = SimpleNamespace(names=names, seconds=np.array([0.12345, 2.0]))
    told = replace(result, comparison=several).timings()
    assert told["methods"] == {"eac": 0.123, "kcc": 2.0}
    assert told["seconds"] == result.seconds


# ---- lists that are cut -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [9, 10, 11])
def test_ten_sizes_are_named_and_the_rest_is_hinted_at(result, k):
    found = dict(grouped(result, np.arange(N) % k).headline())["clusters"]
    sizes = np.bincount(np.arange(N) % k).tolist()
    more = ", ..." if k > 10 else ""
    assert found == f"{k}, of {', '.join(map(str, sizes[:10]))}{more} objects"


@pytest.mark.parametrize("k", [19, 20, 21, 22])
def test_twenty_groups_have_a_line_each_and_the_rest_one(result, k):
    names, lines = grouped(result, np.arange(N) % k).rows()
    assert names == ("cluster", "objects", "share", "confidence")
    sizes = np.bincount(np.arange(N) % k).tolist()
    wanted = [(str(g), str(size), f"{size / N:.0%}", "0.12") for g, size in enumerate(sizes[:20])]
    if k > 20:
        wanted.append((f"{k - 20} more", str(sum(sizes[20:])), "", ""))
    assert lines == wanted


def graph_result(labels, confidence=LONG, **more):
    n = len(labels)
    told = {
        "data": Data(n), "seed": 0, "notes": (), "seconds": {},
        "labels": np.asarray(labels, np.int32), "confidence": np.full(n, confidence),
        "runner_up": np.full(n, -1, np.int32), "member_agreement": LONG,
        "heard": np.arange(2), "n_rounds": 1, "graph": SimpleNamespace(n_edges=1, name=""),
        "ensemble": Ensemble(np.zeros((n, 3), np.int32)), "generator": None,
        "why_members": "given.", "agreement": None,
    }  # fmt: skip
    return GraphResult(**(told | more))


@pytest.mark.parametrize("k", [9, 10, 11])
def test_ten_sizes_of_communities_are_named_the_largest_first(k):
    labels = np.repeat(np.arange(k), np.arange(1, k + 1))
    found = dict(graph_result(labels).headline())["communities"]
    listed = ", ".join(str(size) for size in range(k, max(k - 10, 0), -1))
    assert found == f"{k}, of {listed}{', ...' * (k > 10)} nodes"


@pytest.mark.parametrize("k", [19, 20, 21, 22])
def test_twenty_communities_have_a_line_each_and_the_rest_one(k):
    labels = np.repeat(np.arange(k), np.arange(1, k + 1))
    names, lines = graph_result(labels).rows()
    assert names == ("community", "nodes", "share", "confidence")
    n = len(labels)
    order = range(k - 1, max(k - 21, -1), -1)
    wanted = [(str(g), str(g + 1), f"{(g + 1) / n:.0%}", "0.12") for g in order]
    if k > 20:
        wanted.append((f"{k - 20} more", str(sum(range(1, k - 19))), "", ""))
    assert lines == wanted


def test_what_a_graph_says_in_figures():
    labels = np.r_[0, np.zeros(6), np.ones(6), -1]
    found = graph_result(labels)
    facts = found.to_dict()
    assert facts["method"] == {
        "name": "communities", "n_heard": 2, "n_rounds": 1, "member_agreement": 0.123457,
    }  # fmt: skip
    assert facts["mean_confidence"] == 0.123457
    assert facts["least_sure"] == [
        {"id": i, "cluster": int(i > 6), "runner_up": -1, "confidence": 0.1235} for i in range(10)
    ]
    assert (facts["cluster_sizes"], facts["n_noise"], facts["n_doubtful"]) == ([7, 6], 1, 13)
    assert found.mean_confidence(0) == found.mean_confidence(1) == pytest.approx(LONG)
    assert graph_result(labels, confidence=1.0).least_sure() == []
    one = graph_result(np.zeros(4))
    assert one.mean_confidence() is None
    assert dict(one.headline())["confidence"] == "there is no other community to be torn to"
    assert one.rows()[1] == [("0", "4", "100%", "")]
    assert one.to_dict()["mean_confidence"] is None
    assert dict(one.headline())["data"] == "4 nodes, 1 edge"
    named = graph_result(np.zeros(4), graph=SimpleNamespace(n_edges=2, name="g.csv"))
    assert dict(named.headline())["data"] == "g.csv: 4 nodes, 2 edges"


# ---- one, many, none --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unsure", "elsewhere", "words"),
    [
        (0, 0, "no objects doubtful"),
        (1, 0, "1 object doubtful"),
        (2, 0, "2 objects doubtful"),
        (2, 1, "2 objects doubtful, another cluster suits 1 better"),
    ],
)
def test_doubtful_objects_are_counted_in_words(result, unsure, elsewhere, words):
    confidence = np.ones(N)
    confidence[:unsure], confidence[:elsewhere] = 0.6, 0.4
    runner_up = np.where(confidence < 1, 2, -1)
    found = grouped(result, np.r_[0, 0, np.arange(N - 2) % 3], confidence=confidence,
                    runner_up=runner_up)  # fmt: skip
    mean = f"{confidence.mean():.3f} on average; "
    assert dict(found.headline())["confidence"] == mean + words


@pytest.mark.parametrize(("n", "words"), [(0, "0 objects were"), (1, "1 object was"),
                                          (2, "2 objects were")])  # fmt: skip
def test_moved_objects_are_counted_in_words(result, n, words):
    found = replace(result, n_moved=n).method_in_words()
    end = f" {words} then moved to the cluster they are most often with."
    assert found == result.method_in_words() + end
    assert "moved" not in result.method_in_words()


def test_lifetimes_that_differ_by_rounding_are_one(result):
    lifetimes = np.array([0.3, 0.3 + 4e-13, 0.0, 0.5, 0.1])
    found = replace(result, lifetimes=lifetimes, alternatives=())
    assert found.candidates() == [5, 2, 3, 6]
    assert found.candidates(5) == [5, 2, 3, 6]  # nothing lasts that lasts for 0
    assert found.candidates(2) == [5, 2]
    # What is more than rounding counts.
    more = replace(found, lifetimes=np.array([0.3, 0.3 + 1e-11]))
    assert more.candidates() == [3, 2]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "2 objects, 1 column of numbers, as they are"),
        ({"n_objects": 1}, "1 object, 1 column of numbers, as they are"),
        ({"X": np.ones((2, 2))}, "2 objects, 2 columns of numbers, as they are"),
        ({"standardised": True}, "2 objects, 1 column of numbers, standardised"),
        ({"X": None}, "2 objects"),
        ({"X": [1, 2]}, "2 objects"),
        (
            {"views": ("a", "b"), "view_of": (0, 1, 1)},
            "2 objects in 2 views: 'a' 1 column and 'b' 2 columns",
        ),
        (
            {"mixed": np.array([[1.0, 0], [2, 1]]), "categorical": (1,)},
            "2 objects, 1 column of numbers, as they are, 1 of categories",
        ),
        (
            {"mixed": np.array([[1.0, np.nan, 3], [2, 1, 3]]), "categorical": ()},
            "2 objects, 3 columns of numbers, as they are, 0 of categories, 1 gap",
        ),
        (
            {"mixed": np.array([[1.0, np.nan], [np.nan, 1]]), "categorical": (0, 1)},
            "2 objects, 2 columns of categories, 2 gaps",
        ),
        ({"metric": "precomputed", "used_as": "by these"}, "2 objects, by these"),
        (
            {"metric": "cosine", "used_as": "by cosine", "original_columns": ("a", "b")},
            "2 objects, 2 columns of numbers, by cosine",
        ),
        (
            {"metric": "cosine", "used_as": "by cosine", "original_columns": ("a",)},
            "2 objects, 1 column of numbers, by cosine",
        ),
    ],
)
def test_data_are_told_in_a_line(more, words):
    told = {"n_objects": 2, "X": np.ones((2, 1))} | more
    assert Data(**told).in_words() == words


def test_identifiers_are_plain_in_facts():
    ids = np.empty(9, object)
    ids[:] = [
        "a", np.str_("b"), np.int64(3), np.float64(2.5), np.float64("nan"), None,
        (np.int64(1), "x"), np.datetime64("2024-01-05"), 1j,
    ]  # fmt: skip
    found = [Data(9, ids=ids).plain_id(i) for i in range(9)]
    assert found == ["a", "b", 3, 2.5, "nan", None, (1, "x"), "2024-01-05", "1j"]
    kinds = [type(one).__name__ for one in found]
    assert kinds == ["str", "str", "int", "float", "str", "NoneType", "tuple", "str", "str"]
    assert type(found[6][0]) is int
    assert [Data(2).plain_id(i) for i in range(2)] == [0, 1]


@pytest.mark.parametrize(
    ("index", "counts"),
    [((0, 5, 1), True), ((1, 6, 1), False), ((0, 10, 2), False), ((0, 0, 1), True)],
)
def test_an_index_that_counts_the_rows_names_nobody(index, counts):
    pandas = pytest.importorskip("pandas")
    assert _data._counts_rows(pandas.RangeIndex(*index)) is counts
    assert _data._counts_rows(pandas.Index([0, 1])) is False


# ---- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        ([120.0] + [1] * 19, [120] + [1] * 19),  # 139 copies of 20 objects
        ([2.0**52, 2.0**53 - 2.0**52], [1, 1]),
        ([2.0**52, 2.0**51, 2.0**51], [2, 1, 1]),
        ([1e20, 3e20], [1, 3]),
        ([1e-20, 3e-20], [1, 3]),
        ([19.0, 1.0], [19, 1]),  # 20 copies of 2 objects
    ],
)
def test_whole_weights_are_counts_and_only_ratios_matter(weights, wanted):
    assert _object_weights._whole(np.array(weights)).tolist() == wanted


def test_weights_too_large_to_be_told_apart_are_rounded_as_all_others():
    # Above 2**53 not every whole number is a float: 3.2 and 4.8 quarters of the mean.
    assert _object_weights._whole(np.array([2.0**53, 3 * 2.0**52])).tolist() == [3, 5]
    assert _object_weights._whole(np.array([2.0**53, 2.0**53])).tolist() == [1, 1]
    assert _object_weights._whole(np.array([2.0**53, 2.0**52])).tolist() == [5, 3]
    assert _object_weights._whole(np.array([2.0**53 - 1, 2.0**53 - 1])).tolist() == [1, 1]


# ---- the machine ------------------------------------------------------------------------------


def test_cores_are_those_of_this_process(monkeypatch):
    asked = {0: {1, 4, 5}}
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: asked[pid], raising=False)
    assert doctor._cores() == 3


# ---- words that fit what is there -----------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Column:consilience.errors.ConsilienceWarning")
def test_columns_of_categories_alone_are_told_as_such():
    frame = pd.DataFrame({name: list("ab" * 10) for name in "wxyz"})
    words = _data.gather(frame, scale="auto", columns=Columns(), owner="this test").in_words()
    assert words == "20 objects, 4 columns of categories"
    frame["v"] = np.arange(20.0)
    words = _data.gather(frame, scale="auto", columns=Columns(), owner="this test").in_words()
    assert words == "20 objects, 1 column of numbers, standardised, 4 of categories"


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((None, 1 / 3), "33% of the others, none is ambiguous"),
        ((0.5, None), "50% of the ambiguous ones, all are ambiguous"),
        ((0.5, 0.25), "50% of the ambiguous ones, 25% of the others"),
    ],
)
def test_shares_of_no_objects_are_left_out(shares, told):
    agreement = dict(zip(("misplaced_ambiguous", "misplaced_others"), shares, strict=True))
    result = SimpleNamespace(agreement={"n_misplaced": 1, "auc": None, **agreement})
    assert AmbiguityResult.truth_in_words(result).endswith(f"known group: {told}")


def test_one_cluster_that_was_asked_for_is_told_as_such():
    X = np.random.default_rng(0).normal(size=(30, 2))
    result = cs.cluster(X, 1, n_members=10, random_state=0)
    assert result.why_method == "One cluster was asked for: all objects are in it."


@pytest.mark.parametrize(
    ("n", "told"), [(5, "So few objects"), (100, "Clusters smaller than"), (400, "Many small")]
)
def test_members_of_small_tables_have_no_many_clusters(n, told):
    assert default_generator(n, 2).why.startswith(told)
