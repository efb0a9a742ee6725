"""Results without a job: whole dictionaries, whole words; methods as they are asked for."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.consensus import CONSENSUS
from consilience.errors import InvalidParameterError
from consilience.predict import Prediction
from consilience.workflow import large_minority, minority
from consilience.workflow._data import Data
from consilience.workflow._methods import check_methods, own_limits

# ---- dense groups -----------------------------------------------------------------------------


def rule(method="dist", value=0.5, n=4):
    return SimpleNamespace(
        method=method, value=value, n_foreground=n, candidates=(0.5, np.inf), why=f"by {method}."
    )


def minority_result(**more):
    model = SimpleNamespace(
        labels_=np.array([0, 0, 1, 1, -1], np.int32), scores_=np.array([5.0, 4, 3, 2, 1]),
        undecided_=np.array([0, 0, 1, 0, 0], bool), n_clusters_=2, n_foreground_=4, threshold_=0.5,
        flag_="few", threshold_result_=rule(), p_value_=0.01, reference_=None, scaling_="box",
        n_repetitions_=30, reliability_=0.91234, converged_=True, weak="split", score_by="sizes",
        divergence="euclidean", threshold=0.5,
    )  # fmt: skip
    vars(model).update(more)
    data = Data(5, np.ones((5, 2)), ("a", "b"), name="x.csv", used_as="as they are")
    return minority.MinorityResult(
        model=model, rules=(rule(), rule("2gauss", np.inf, 0)), truth=None, background=None,
        data=data, seed=3, notes=(), seconds={},
    )  # fmt: skip


def test_a_minority_result_in_facts():
    facts = minority_result().to_dict()
    data = facts.pop("data")
    assert data["n_objects"] == 5
    assert facts == {
        "n_objects": 5, "n_foreground": 4, "n_undecided": 1, "group_sizes": [2, 2],
        "threshold": 0.5, "flag": "few", "why": "by dist.", "p_value": 0.01, "reference": None,
        "thresholds": [
            {"rule": "dist", "threshold": 0.5, "n_foreground": 4, "candidates": [0.5, None],
             "why": "by dist."},
            {"rule": "2gauss", "threshold": None, "n_foreground": 0, "candidates": [0.5, None],
             "why": "by 2gauss."},
        ],
        "scaling": "box", "repetitions": 30, "reliability": 0.91234, "converged": True,
        "background": None, "agreement_with_truth": None,
    }  # fmt: skip
    odd = minority_result(threshold_=np.inf, reliability_=np.nan).to_dict()
    assert (odd["threshold"], odd["reliability"]) == (None, None)


def test_a_minority_result_in_words():
    method = (
        "EWOCS (Gonzàlez & Turmo 2015): 30 weak clusterings (split), divergence euclidean, "
        "threshold 0.5"
    )
    assert minority_result().headline() == [
        ("data", "x.csv: 5 objects, 2 columns of numbers, as they are"),
        ("foreground", "4 objects, 1 undecided"),
        ("groups", "2, of 2, 2 objects"),
        ("border", "by dist."),
        ("reliability", "0.912"),
        ("method", method),
    ]
    none = minority_result(n_clusters_=0, labels_=np.full(5, -1, np.int32), n_foreground_=0)
    assert dict(none.headline())["groups"] == "none"
    assert none.rows() == (("group", "objects", "mean score"), [])
    by_knn = minority_result(score_by="knn", divergence=np.ptp, weak=SimpleNamespace())
    assert by_knn.method_in_words() == (
        "EWOCS (Gonzàlez & Turmo 2015): scores by distances to the nearest objects, groups by 30 "
        "weak clusterings (SimpleNamespace), divergence ptp, threshold 0.5"
    )
    assert [by_knn.is_taken(one) for one in by_knn.rules] == [True, False]
    for group in (-2, 2):
        with pytest.raises(InvalidParameterError, match="'group' parameter of mean_score"):
            by_knn.mean_score(group)
    assert [by_knn.mean_score(g) for g in (-1, 0, 1)] == [1.0, 4.5, 2.5]


def large_result(**more):
    told = {
        "labels": None, "scores": None, "undecided": None, "n_clusters": 12, "n_foreground": 9876,
        "sizes": [*range(1000, 1012)], "rule": rule(), "columns": ("a", "b"), "seed": 3,
        "notes": ("said",), "seconds": {"score": 1.5},
        "model": SimpleNamespace(scores_=np.zeros(12_345), flag_=None, p_value_=0.25,
                                 n_repetitions_=30, reliability_=0.9),
        "sample": SimpleNamespace(n_objects=99),
    }  # fmt: skip
    return large_minority.LargeMinorityResult(**(told | more))


def test_a_minority_result_of_a_large_table_in_facts_and_words():
    found = large_result()
    assert found.to_dict() == {
        "n_objects": 12_345, "n_foreground": 9876, "group_sizes": [*range(1000, 1012)],
        "threshold": 0.5, "rule": "dist", "why": "by dist.", "flag": None, "p_value": 0.25,
        "repetitions": 30, "reliability": 0.9, "columns": ["a", "b"],
        "looked_at": "99 of 12,345 objects, drawn at random", "seed": 3, "notes": ["said"],
    }  # fmt: skip
    assert found.timings() == {"seconds": {"score": 1.5}}
    assert repr(found).splitlines() == [
        "LargeMinorityResult:",
        "  objects     12,345, 2 columns",
        "  foreground  9,876 objects, in groups of 1,000, 1,001, 1,002, 1,003, 1,004, 1,005, "
        "1,006, 1,007, 1,008, 1,009",
        "  border      by dist.",
        "  note        said",
        "  looked at   99 of 12,345 objects, drawn at random",
        "  see         labels, scores, undecided, model, sample, report(path), save(folder)",
    ]
    none = large_result(sizes=[], n_foreground=0, rule=rule(value=np.inf))
    assert "0 objects, in groups of none" in repr(none)
    assert none.to_dict()["threshold"] is None


# ---- predictions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "known", "unlike", "words"),
    [
        ([0], [0], [0], "1 object, in 1 group"),
        ([0, 1], [0, 0], [0, 0], "2 objects, in 2 groups"),
        ([0, -1], [1, 0], [0, 0], "2 objects, in 1 group, 1 known"),
        ([-1, -1], [0, 0], [1, 1], "2 objects, in 0 groups, 2 unlike anything seen"),
        ([1, 1, 2], [1, 1, 0], [0, 0, 1],
         "3 objects, in 2 groups, 2 known, 1 unlike anything seen"),
        ([], [], [], "0 objects, in 0 groups"),
    ],
)  # fmt: skip
def test_predictions_are_told_in_a_line(labels, known, unlike, words):
    n = len(labels)
    found = Prediction(
        np.array(labels, np.int32), np.ones(n), np.full(n, -1, np.int32), np.array(unlike, bool),
        np.array(known, bool), notes=("one", "two"),
    )  # fmt: skip
    assert (found.in_words(), len(found)) == (words, n)
    assert repr(found) == f"Prediction: {words}\n  one\n  two"


# ---- methods ----------------------------------------------------------------------------------


def test_limits_go_to_the_methods_that_know_them():
    assert own_limits(CONSENSUS["kcc"], {"max_memory": 5}) == {}
    assert own_limits(CONSENSUS["eac"], {"max_memory": 5}) == {"max_memory": 5}
    limit = {"max_memory": "1 GiB"}
    named = check_methods(methods=["kcc", "eac"], options=limit)
    assert named.options == {"kcc": {}, "eac": limit}
    assert check_methods("eac", options=limit).options == {"eac": limit}
    assert check_methods(options=limit).limits == limit
    for given in ({"method": "kcc"}, {"methods": ["kcc"]}, {"methods": ["kcc", "mcla"]}):
        with pytest.raises(InvalidParameterError, match="'kcc' has no option 'max_memory'; it has"):
            check_methods(**given, options=limit)


def test_why_a_method_is_taken_is_told():
    assert check_methods("eac").why == check_methods(methods=["eac"]).why == "As asked."
    assert check_methods(methods=["eac", "mcla"]).why == check_methods().why == ""
    by_link = check_methods(options={"linkage": "single"})
    assert by_link.why == "It is the method that 'linkage' belongs to."
    assert [one.name for one in by_link.methods] == ["eac"]
    assert by_link.options == {"eac": {"linkage": "single"}}
    twice = check_methods(methods=["eac", "mcla", "eac"])
    assert [one.name for one in twice.methods] == ["eac", "mcla"]
    own = check_methods(methods={"eac": {"linkage": "single"}, "mcla": {}})
    assert own.options == {"eac": {"linkage": "single"}, "mcla": {}}


@pytest.mark.parametrize(
    ("methods", "options"),
    [("eac", {}), ([], {}), ([1], {}), (5, {}), ({}, {}), ({"eac": 1}, {}), ({"eac"}, {})],
)
def test_lists_of_methods_that_are_none_are_refused(methods, options):
    with pytest.raises(InvalidParameterError) as caught:
        check_methods(methods=methods, options=options, owner="this")
    assert str(caught.value) == (
        "The 'methods' parameter of this must be a list of names such as ['eac', 'mcla'], or a "
        f"mapping of names to options. Got {methods!r} instead."
    )


def test_options_that_belong_to_no_method_are_refused_by_name():
    with pytest.raises(InvalidParameterError) as caught:
        check_methods(options={"max_memory": 1, "n_init": 3}, owner="this")
    assert str(caught.value) == (
        "this has no parameter 'n_init', and no method is named that could have such an option. "
        "Leave it out, or name the method with 'method'."
    )
    with pytest.raises(InvalidParameterError) as caught:
        check_methods("eac", ["mcla"], owner="this")
    assert str(caught.value) == (
        "The 'method' and 'methods' parameters of this cannot both be given. Put all of them into "
        "'methods'."
    )
    with pytest.raises(InvalidParameterError, match="'linkage' parameter of"):
        check_methods("eac", options={"linkage": "no such"})
