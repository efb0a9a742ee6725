"""Whole jobs by other distances than Euclidean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import DistanceEnsemble, KMeansEnsemble
from consilience.workflow._metric import principal_coordinates

QUICK = {"n_members": 20, "effort": "quick", "random_state": 0}


@pytest.fixture(scope="module")
def sample():
    X, groups = cs.datasets.make_gaussians(120, 3, 4, separation=7, random_state=0)
    return X, groups


@pytest.fixture(scope="module")
def directions():
    """Three directions, at lengths that say nothing: only angles tell the groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 40)
    rows = np.eye(3)[groups] + rng.normal(0, 0.08, (120, 3))
    return rows * np.exp(rng.normal(0, 1.5, 120))[:, None], groups


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_distances_are_followed_and_it_is_said(sample, metric):
    X, groups = sample
    result = cs.cluster(X, metric=metric, **QUICK)
    assert adjusted_rand_score(groups, result.labels) > 0.9
    assert isinstance(result.generator, DistanceEnsemble)
    assert f"Clusterings are made by {metric} distances" in result.notes[0]
    assert "principal coordinates (correlation with the distances" in result.notes[0]
    assert result.data.metric == metric
    assert (
        result.profile().columns["column"].tolist() == ["c0", "c1", "c2", "c3"]
        or len(result.profile().columns["column"]) == 4
    )


def test_distances_that_are_given_are_those_of_the_metric(sample):
    X, groups = sample
    D = cdist(X, X, "cityblock")
    given_, named = (
        cs.cluster(D, 3, metric="precomputed", method="eac", **QUICK),
        cs.cluster(X, 3, metric="manhattan", method="eac", scale=False, **QUICK),
    )
    np.testing.assert_array_equal(given_.labels, named.labels)
    np.testing.assert_array_equal(given_.confidence, named.confidence)
    assert given_.data.in_words() == "120 objects, by the distances given"
    assert adjusted_rand_score(groups, given_.labels) > 0.9


def test_angles_tell_what_lengths_hide(directions):
    X, groups = directions
    for metric in ("cosine", "correlation"):
        found = cs.cluster(X, 3, metric=metric, method="sec", **QUICK)
        assert adjusted_rand_score(groups, found.labels) == 1.0
    plain = cs.cluster(X, 3, method="sec", **QUICK)
    assert adjusted_rand_score(groups, plain.labels) < 0.9


@pytest.mark.parametrize("n_clusters", [8, 9, 10])
def test_nearly_as_many_groups_as_objects(n_clusters):
    X = np.random.default_rng(0).random((10, 2))
    for metric in ("euclidean", "manhattan"):
        result = cs.cluster(
            X, n_clusters, method="mcla", metric=metric, n_members=5, random_state=0
        )
        assert result.n_clusters == n_clusters


def test_euclidean_changes_nothing(sample):
    X, _ = sample
    first, second = (cs.cluster(X, 3, metric=m, method="sec", **QUICK) for m in (None, "euclidean"))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert second.data.metric is None


def test_generators_and_methods_of_ones_own(sample, tmp_path):
    X, groups = sample
    how = {"metric": "manhattan", "n_clusters": 3, "random_state": 0}
    for generator in (DistanceEnsemble(10, 3), KMeansEnsemble(10, 3)):
        found = cs.cluster(X, generator=generator, method="sec", **how)
        assert adjusted_rand_score(groups, found.labels) > 0.9
    assert cs.cluster(X, method="wosp", n_members=10, **how).n_clusters == 3
    found.report(tmp_path / "page.html")
    found.save(tmp_path / "kept")
    again = cs.load(tmp_path / "kept")
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.data.metric == "manhattan"
    with pytest.raises(InvalidInputError, match="Cluster old and new objects together"):
        found.predict(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "mahalanobis"}, "'metric' parameter of cluster must be one of"),
        ({"metric": "precomputed", "scale": True}, "'scale' parameter of cluster is for columns"),
        ({"metric": "precomputed", "transform": "log"}, "'transform' parameter of cluster"),
        ({"metric": "cosine", "gaps": "keep"}, "complete numbers, and 'gaps' is given"),
        ({"metric": "cosine", "ensemble": [[0] * 120]}, "members that are to be made"),
        ({"metric": "precomputed"}, "must be a square matrix"),
    ],
)
def test_what_does_not_go_together_is_refused(sample, options, message):
    with pytest.raises((InvalidParameterError, InvalidInputError), match=message):
        cs.cluster(sample[0], **options)


def test_tables_with_categories_and_many_objects_are_refused(monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.arange(40.0), "kind": list("ab") * 20})
    with pytest.raises(InvalidInputError, match="is for one table of numbers"):
        cs.cluster(frame, metric="manhattan")
    from consilience.workflow import _metric

    monkeypatch.setattr(_metric, "_MOST_OBJECTS", 100)
    X, _ = cs.datasets.make_gaussians(150, 3, 4, separation=9, random_state=1)
    with pytest.raises(InvalidInputError, match=r"takes at most 100 objects. Got 150"):
        cs.cluster(X, metric="manhattan")
    found = cs.cluster(X + 20, 3, metric="correlation", method="sec", **QUICK)
    assert found.generator is not None
    assert not isinstance(found.generator, DistanceEnsemble)


@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 4))
def test_principal_coordinates_of_points_have_their_distances(seed, n, d):
    points = np.random.default_rng(seed).normal(size=(n, d))
    found, fit = principal_coordinates(cdist(points, points))
    np.testing.assert_allclose(cdist(found, found), cdist(points, points), atol=1e-6)
    assert fit == pytest.approx(1.0)


def test_many_objects_have_the_coordinates_of_few(monkeypatch):
    from consilience.workflow import _metric

    points = np.random.default_rng(0).normal(size=(80, 3))
    D = cdist(points, points)
    first = principal_coordinates(D)[0]
    monkeypatch.setattr(_metric, "_FEW", 10)
    np.testing.assert_allclose(principal_coordinates(D)[0][:, :3], first[:, :3], atol=1e-8)
    same, fit = principal_coordinates(np.zeros((4, 4)))
    assert same.shape == (4, 1)
    assert fit == 1.0


@pytest.mark.parametrize(("k", "whom"), [(3, "other"), (36, "all")])
def test_the_reason_says_what_members_see(sample, k, whom):
    X = sample[0][:40]
    result = cs.cluster(X, k, metric="cosine", method="mcla", n_members=5, random_state=0)
    assert f"each of {whom} objects" in result.why_members
    assert (result.generator.max_samples == 1.0) == (whom == "all")
