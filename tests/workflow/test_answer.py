"""The answer where nobody says how: the best supported groups, and how clear they are."""

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.consensus import CONSENSUS, choose_n_clusters
from consilience.datasets import make_gaussians, make_spirals
from consilience.errors import InvalidParameterError

FEW = {"n_members": 20, "random_state": 0}


@pytest.fixture(scope="module")
def groups():
    return make_gaussians(120, 3, separation=8, random_state=1)


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(3).uniform(size=(150, 3))


def test_the_answer_is_that_of_the_estimator(groups):
    X, _ = groups
    result = cs.cluster(X, **FEW)
    model = cs.AutoConsensus(random_state=0).fit(result.data.X, ensemble=result.ensemble)
    np.testing.assert_array_equal(result.labels, model.labels_)
    assert result.clarity == model.clarity_
    assert result.choice.words == model.choice_.words
    assert result.verdict == result.clarity.verdict == "clear"
    assert result.method == "autoconsensus"
    assert model.line_ in result.why_method


def test_arms_are_found_without_being_told_how():
    X, arms = make_spirals(random_state=0)
    result = cs.cluster(X, random_state=0)
    assert adjusted_rand_score(arms, result.labels) == 1
    assert result.verdict == "clear"
    assert result.choice.taken == "borders"


def test_noise_is_marked_and_gets_its_best_guess(noise):
    result = cs.cluster(noise, **FEW)
    assert result.verdict == "none"
    assert result.n_clusters > 1
    assert not result.choice.clear
    assert result.clarity.words.startswith("No clear structure")
    assert result.clarity.words in repr(result)
    assert result.clarity.words in result.page()["headline"][1]
    assert cs.cluster(noise, strict=True, **FEW).n_clusters == 1


def test_strict_is_the_choice_by_criteria(groups):
    X, _ = groups
    result = cs.cluster(X, strict=True, **FEW)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    choice = choose_n_clusters(scaled, ensemble=result.ensemble, random_state=0)
    assert result.choice.words == choice.words
    assert result.method == "eac"
    assert result.clarity is None
    assert result.alternatives == ()
    assert result.to_dict()["clarity"] == {"verdict": "clear"}


def test_a_number_that_is_given_is_judged_too(noise):
    result = cs.cluster(noise, 4, **FEW)
    assert result.n_clusters == 4
    assert result.choice is None
    assert result.verdict == "none"
    assert f"as asked. {result.clarity.said(given=True)}" in repr(result)


@pytest.mark.parametrize("method", ["mcla", "lwea"])
def test_a_method_is_given_the_number_of_the_lines(groups, method):
    X, truth = groups
    result = cs.cluster(X, method=method, **FEW)
    assert result.n_clusters == result.choice.n_clusters == 3
    assert adjusted_rand_score(truth, result.labels) > 0.95
    # How clear the groups of the lines are is not said of the groups of another method.
    assert result.clarity is None
    assert result.verdict is None
    assert result.alternatives == ()
    assert "clear" not in result.choice.words


def test_the_default_can_be_named(groups):
    X, _ = groups
    result = cs.cluster(X, **FEW)
    named = cs.cluster(X, method="autoconsensus", max_clusters=6, effort="quick", **FEW)
    np.testing.assert_array_equal(named.labels, result.labels)
    assert named.parameters["effort"] == "quick"
    assert named.clarity.verdict == "clear"
    assert max(one.n_clusters for one in named.alternatives) == 6


def test_two_objects_and_three_have_an_answer():
    for n in (2, 3):
        result = cs.cluster(np.arange(n)[:, None] ** 2.0, **FEW)
        assert len(result.labels) == n
        assert result.verdict in ("none", "weak")
        json.dumps(result.page(), allow_nan=False)


def test_one_clustering_is_never_clear():
    result = cs.cluster(ensemble=[[0] * 20 + [1] * 20])
    assert result.n_clusters == 2
    assert result.verdict == "weak"


def test_a_part_that_was_looked_at_is_named(monkeypatch, groups):
    from consilience.consensus import auto

    X, _ = groups
    monkeypatch.setitem(auto.EFFORTS, "default", auto._Effort(60, 60, 3))
    result = cs.cluster(X, **FEW)
    assert sum(result.alternatives[0].sizes) == 60
    part = next(part for part in result.page()["sections"] if part["id"] == "number")
    assert "objects in each, of 60 looked at" in part["figures"][0]["columns"]


@pytest.mark.parametrize("method", [name for name, one in CONSENSUS.items() if one.few_clusters])
def test_members_fit_the_method(groups, method):
    X, _ = groups
    result = cs.cluster(X, 3, method=method, **FEW)
    assert set(result.ensemble.n_clusters) == {3}
    assert "about as many clusters as there are groups" in result.why_members
    asked = cs.generate.KMeansEnsemble(8, n_clusters=9)
    own = cs.cluster(X, 3, method=method, generator=asked, random_state=0)
    assert set(own.ensemble.n_clusters) == {9}


def test_members_of_many_clusters_where_one_of_several_methods_wants_them(groups):
    X, _ = groups
    both = cs.cluster(X, 3, methods=["mcla", "lwea"], **FEW)
    assert both.ensemble.n_clusters.min() > 3
    alike = cs.cluster(X, 3, methods=["mcla", "womc"], **FEW)
    assert set(alike.ensemble.n_clusters) == {3}


def test_the_most_to_look_for_is_kept():
    X, _ = make_gaussians(200, 8, separation=12, random_state=0)
    assert cs.cluster(X, **FEW).n_clusters == 8
    result = cs.cluster(X, max_clusters=5, **FEW)
    assert result.n_clusters <= 5
    assert max(one.n_clusters for one in result.alternatives) == 5
    assert cs.cluster(X, max_clusters=4, strict=True, **FEW).n_clusters <= 4


@pytest.mark.parametrize("asked", [{"n_clusters": 3}, {"method": "eac"}])
def test_a_most_where_no_number_is_looked_for_is_refused(groups, asked):
    with pytest.raises(InvalidParameterError, match=r"'max_clusters'.*Leave one of them out"):
        cs.cluster(groups[0], max_clusters=4, **asked, **FEW)


@pytest.mark.parametrize(
    ("name", "value"), [("max_clusters", 1), ("effort", "much"), ("strict", "yes")]
)
def test_what_cannot_be_is_refused_by_name(groups, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of cluster"):
        cs.cluster(groups[0], **{name: value}, **FEW)


def test_labels_alone_have_a_clarity_without_a_p_value(groups):
    X, truth = groups
    members = cs.generate.KMeansEnsemble(12, n_clusters=(3, 5), random_state=0).generate(X)
    result = cs.cluster(ensemble=members, random_state=0)
    assert adjusted_rand_score(truth, result.labels) > 0.95
    assert result.verdict == "clear"
    assert result.clarity.p_value is None
    assert "no p-value" in result.clarity.words


def test_objects_that_are_all_alike_are_one_group():
    result = cs.cluster(np.ones((12, 2)), scale=False, **FEW)
    assert result.n_clusters == 1
    assert result.verdict == "none"
    assert result.alternatives == ()
    assert result.page()["headline"][0] == "The 12 objects fall into a single group."
    json.dumps(result.to_dict())


def test_what_is_worth_a_look_is_on_the_page(groups):
    X, _ = groups
    result = cs.cluster(X, **FEW)
    page = result.page()
    part = next(part for part in page["sections"] if part["id"] == "number")
    first = part["figures"][0]
    shown = result.to_dict()["alternatives"]
    assert len(shown) > 1
    assert [row[0] for row in first["rows"]] == [one["n_clusters"] for one in shown]
    assert first["rows"][0][-1] == "taken"
    assert [row[-1] for row in first["rows"][1:]] == [one["difference"] for one in shown[1:]]
    assert result.clarity.words in part["read"]
    json.dumps(page, allow_nan=False)


def test_members_that_place_nobody_leave_a_named_method_nothing():
    result = cs.cluster(ensemble=[[-1] * 6] * 2, method="baumeagon")
    assert result.n_clusters == 0
    assert (result.labels == -1).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"method": "eac"},
            "How clear these groups are was not judged, because a method was named",
        ),
        ({"method": "kcc", "n_clusters": 3}, "How clear these groups are was not judged"),
        (
            {"methods": ["eac", "mcla"], "n_clusters": 3},
            "How clear these groups are was not judged",
        ),
        ({"method": "mcla"}, "Of its groups, not of these, this holds: No clear structure"),
        (
            {"methods": ["eac", "mcla"]},
            "Of its groups, not of these, this holds: No clear structure",
        ),
    ],
)
def test_a_named_method_says_who_judged_what(asked, said):
    X = np.random.default_rng(0).normal(size=(120, 4))
    result = cs.cluster(X, n_members=10, random_state=0, **asked)
    assert result.clarity is None
    assert sum(said in note for note in result.notes) == 1


def test_without_a_method_nothing_is_said_of_one():
    X = np.random.default_rng(0).normal(size=(120, 4))
    for asked in ({}, {"n_clusters": 3}, {"strict": True}, {"method": "kcc", "n_clusters": 1}):
        result = cs.cluster(X, n_members=10, random_state=0, **asked)
        assert not any("judged" in note or "not of these" in note for note in result.notes)


def test_a_number_that_was_given_is_not_said_to_be_a_guess():
    X = np.random.default_rng(0).normal(size=(120, 4))
    result = cs.cluster(X, 3, n_members=10, random_state=0)
    words = result.clarity.said(given=True)
    assert words.startswith("These groups are not clear: data of the same kind")
    assert words.endswith("Another number of groups may be clearer.")
    assert words in repr(result)
    assert words == result.to_dict()["clarity"]["words"]
    assert "best guess" not in repr(result)


@pytest.mark.parametrize("score", ["confidence", "anco"])
@pytest.mark.parametrize(("k", "said"), [(None, "No clear structure"), (3, "not clear: data of")])
def test_ambiguous_objects_of_groups_that_may_not_be_are_said_to_be_so(score, k, said):
    X = np.random.default_rng(0).normal(size=(120, 4))
    result = cs.ambiguous_objects(X, k, score=score, n_members=10, random_state=0)
    # Where members wait for a number that is given, nobody looks at the groups.
    judged = k is None or score == "confidence"
    assert any(said in note for note in result.notes) == judged


def test_members_that_place_nobody_leave_nothing_to_judge():
    members = cs.Ensemble([[-1, -1, -1], [-1, -1, -2]])
    for k in (None, 2):
        result = cs.cluster(n_clusters=k, ensemble=members)
        assert (result.n_clusters, result.clarity, result.choice) == (0, None, None)
