"""What a first reader of a report should not have to find out: scales, empty sections, doubt."""

import numpy as np
from report.summary_contract import check_summary

import consilience as cs
from consilience.report import summarise_consensus, summarise_minority

ONE = cs.Ensemble([[0] * 12, [0] * 6 + [1] * 6, [0, 1] * 6])


def names(summary):
    return [part["id"] for part in summary["sections"]]


def test_sections_that_say_nothing_of_one_group_are_left_out():
    X = np.random.default_rng(0).normal(size=(12, 3))
    labels = np.zeros(12, int)
    one = summarise_consensus(ONE, labels, X=X, profile=cs.explain.profile(X, labels))
    check_summary(one)
    assert names(one) == ["objects", "co-association", "members"]
    assert [column["name"] for column in one["objects"]["columns"]] == [
        "id",
        "cluster",
        "confidence",
    ]
    assert not any("doubtful" in sentence for sentence in one["headline"])
    two = summarise_consensus(ONE, np.arange(12) // 6, X=X)
    assert {"dendrogram", "doubtful", "stability"} <= set(names(two))


def test_a_minority_report_says_that_it_scales_and_draws_the_space_it_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:20] = rng.normal(0, 0.05, (20, 3))
    X[:, 2] *= 1000
    result = cs.minority_groups(X, n_repetitions=40, random_state=0)
    assert result.model.scaling_ == "robust"
    assert "each scaled by the range of its middle 96 %" in repr(result)
    (view,) = (part for part in result.page()["sections"] if part["id"] == "objects")
    assert view["figure"]["xlabel"].endswith("scaled")
    # In plain components the third column alone would be seen.
    places = np.array([view["figure"]["x"], view["figure"]["y"]], float)
    wide = np.ptp(places, axis=1)
    assert wide.max() < 5 * wide.min()
    plain = cs.minority_groups(X, n_repetitions=40, random_state=0, scaling="none", gamma=1e-6)
    assert "3 columns of numbers, as they are" in repr(plain)
    drawn = summarise_minority(plain.model, X)["sections"][0]["figure"]
    assert not drawn["xlabel"].endswith("scaled")


def test_doubtful_is_one_thing_everywhere():
    X, _ = cs.datasets.make_gaussians(90, 3, 2, separation=2.2, random_state=1)
    result = cs.cluster(X, 3, method="mcla", n_members=20, random_state=0)
    flags = result.doubtful
    assert 0 < flags.sum() < 90
    np.testing.assert_array_equal(flags, result.confidence < 0.75)
    np.testing.assert_array_equal(flags, cs.evidence.doubtful(result.labels, result.confidence))
    page = result.page()
    (column,) = (one for one in page["objects"]["columns"] if one["name"] == "doubtful")
    assert column["values"] == flags.tolist()
    assert any(line.startswith(f"{flags.sum()} objects") for line in page["headline"])
    assert f"{flags.sum()} objects doubtful" in repr(result)
    assert result.to_dict()["n_doubtful"] == flags.sum() == result.to_pandas()["doubtful"].sum()
    table = result.profile().clusters
    assert table["doubtful"].sum() == flags.sum()
    roles = result.profile().objects
    assert set(roles["object"][roles["role"] == "doubtful"]) == set(np.flatnonzero(flags))
    found = cs.ambiguous_objects(ensemble=result.ensemble, random_state=0)
    np.testing.assert_array_equal(found.flags, cs.evidence.doubtful(found.labels, found.confidence))


def test_many_doubtful_objects_are_counted_though_few_are_listed(monkeypatch):
    monkeypatch.setattr("consilience.explain._examples._MOST_DOUBTFUL", 4)
    groups = np.repeat([0, 1], 20)
    sure = np.where(groups == 0, 0.6, 0.7)
    found = cs.explain.profile(None, groups, confidence=sure)
    listed = found.objects["cluster"][found.objects["role"] == "doubtful"]
    assert np.bincount(listed.astype(int)).tolist() == [4, 3]
    assert found.clusters["doubtful"].tolist() == [20, 20]
    assert str(found).count("and 17 more with a confidence below 0.75") == 2
