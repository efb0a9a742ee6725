"""The whole job on tables with categories and gaps."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import UNSEEN
from consilience.errors import ConsilienceError

pandas = pytest.importorskip("pandas")

HOW = {"n_members": 30, "effort": "quick", "random_state": 0}


@pytest.fixture(scope="module")
def sample():
    return cs.datasets.make_mixed(200, 3, random_state=0)


@pytest.fixture(scope="module")
def result(sample):
    return cs.cluster(sample.to_pandas(), **HOW)


def test_a_frame_with_categories_is_clustered_as_such(sample, result):
    assert result.n_clusters == 3
    assert adjusted_rand_score(sample.groups, result.labels) > 0.75
    assert "k-prototypes" in result.why_members
    assert result.data.in_words() == (
        "200 objects, 2 columns of numbers, standardised, 22 of categories"
    )
    assert {"x0", "k0"} <= set(result.profile().columns["column"])


def test_it_places_new_objects_and_is_kept(sample, result, tmp_path):
    frame = sample.to_pandas()
    result.save(tmp_path)
    again = cs.load(tmp_path)
    np.testing.assert_array_equal(again.data.X, result.data.X)
    for one in (result, again):
        np.testing.assert_array_equal(one.predict(frame).labels, result.labels)
    new = frame.iloc[:50].copy()
    new.loc[new.index[0], "k0"] = "never seen"
    placed = result.predict(new, lookup=False)
    assert (placed.labels[1:] == result.labels[1:50]).mean() > 0.9
    assert any("were not there before" in note for note in placed.notes)


def test_gaps_are_kept_and_no_object_is_dropped():
    X, y = cs.datasets.make_gaussians(200, 3, 8, separation=6, random_state=0)
    whole = cs.cluster(X, **HOW)
    holes = X.copy()
    holes[np.random.default_rng(0).uniform(size=X.shape) < 0.2] = np.nan
    result = cs.cluster(holes, gaps="keep", **HOW)
    assert len(result.labels) == 200
    assert (result.labels >= 0).all()
    assert (result.ensemble.labels == UNSEEN).any()
    loss = adjusted_rand_score(y, whole.labels) - adjusted_rand_score(y, result.labels)
    assert loss <= 0.05
    known = ~np.isnan(holes)
    scaled = (holes - np.nanmean(holes, axis=0)) / np.nanstd(holes, axis=0)
    np.testing.assert_allclose(result.data.X[known], scaled[known])
    placed = result.predict(holes[:40], lookup=False)
    assert (placed.labels == result.labels[:40]).mean() > 0.9


def test_gaps_are_refused_unless_asked_for():
    X = np.ones((5, 2))
    X[0, 0] = np.nan
    with pytest.raises(ConsilienceError, match="finite numbers"):
        cs.cluster(X)


def test_complete_numbers_give_what_they_gave_before():
    X, _ = cs.datasets.make_gaussians(120, 3, 4, random_state=0)
    plain, kept = cs.cluster(X, **HOW), cs.cluster(X, gaps="keep", **HOW)
    frame = cs.cluster(pandas.DataFrame(X), **HOW)
    for one in (kept, frame):
        np.testing.assert_array_equal(one.ensemble.labels, plain.ensemble.labels)
        np.testing.assert_array_equal(one.labels, plain.labels)
        np.testing.assert_array_equal(one.data.X, plain.data.X)


def test_logarithms_and_weights_are_done_to_new_objects_too(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.repeat([[2.0, 400.0], [40.0, 20.0]], 50, axis=0))
    frame = pandas.DataFrame(counts, columns=["a", "b"])
    result = cs.cluster(frame, transform="log", column_weights={"b": 4.0}, **HOW)
    np.testing.assert_allclose(result.data.X.std(axis=0), [1, 2])
    np.testing.assert_array_equal(result.data.original, counts)
    result.save(tmp_path)
    again = cs.load(tmp_path)
    np.testing.assert_array_equal(again.predict(frame).labels, result.labels)
    with pytest.raises(ConsilienceError, match=r"'column_weights' .* 'c'"):
        cs.cluster(frame, column_weights={"c": 1.0})
    with pytest.raises(ConsilienceError, match=r"'column_weights' .* above 0"):
        cs.cluster(frame, column_weights={"a": 0.0})
    with pytest.raises(ConsilienceError, match="'transform' parameter of cluster"):
        cs.cluster(frame, transform="root")
