"""Distances to neighbours against their definition, where objects count differently."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.minority import EWOCS
from consilience.minority._neighbours import NeighbourScores


def means_slowly(X, weights, count):
    """Reference: the nearest others, each as often as it counts, until there are enough."""
    means = []
    for i, x in enumerate(X):
        gaps = np.linalg.norm(X - x, axis=1)
        left, total = float(count), 0.0
        for j in np.argsort(gaps):
            if j != i and left > 0:
                share = min(weights[j], left)
                total += share * gaps[j]
                left -= share
        means.append(total / (count - left) if left < count else gaps.max())
    return np.array(means)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.01, 1.0]), st.sampled_from([0.1, 0.5, 0.95]))
def test_neighbours_count_as_often_as_they_count(seed, least, share):
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(3, 400)), int(rng.integers(1, 25))
    X = rng.normal(size=(n, 2))
    weights = np.where(rng.random(n) < share, least, rng.random(n))
    weights[rng.integers(n)] = 1.0
    weights /= weights.mean()
    count = min(count, n - 1)
    scores = NeighbourScores.of(X, count, weights).fitted(X)
    np.testing.assert_allclose(scores, -np.log(means_slowly(X, weights, count)), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_objects_of_weight_0_make_nothing_dense(form, seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.uniform(-4, 4, (300, 2)), rng.normal(1, 0.05, (100, 2))]
    weights = np.r_[np.ones(300), np.zeros(100)]
    options = {"score_by": "knn", "threshold": "2gauss", "n_repetitions": 5, "clusterer": None}
    model = EWOCS(scaling="none", random_state=0, **options)
    scores = model.fit(form(X), sample_weight=weights).scores_
    assert scores[300:].max() < scores[:300].max()
    np.testing.assert_allclose(model.score_samples(form(X)), scores, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 25])
def test_new_objects_are_measured_to_as_many_as_a_fitted_one_has_others(n, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(6, 2))
    scores = NeighbourScores.of(X, 20)
    count = max(1, min(20, n - 1))
    assert scores.count == count
    gaps = np.sort(np.linalg.norm(new[:, None] - X, axis=2), axis=1)[:, :count]
    np.testing.assert_allclose(scores(new), -np.log(gaps.mean(axis=1)))
    np.testing.assert_allclose(scores.known(np.r_[new, X])[6:], scores.fitted(X))


def test_equal_objects_are_as_dense_as_a_thousand_millionth_of_the_middle_distance(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    X[:10] = X[0]
    gaps = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, :5].mean(axis=1)
    scores = NeighbourScores.of(X, 5).fitted(X)
    np.testing.assert_allclose(scores[:10], -np.log(1e-9 * np.median(gaps)))
    assert scores[10:].max() < scores[0]


def test_scores_by_neighbours_are_rounded_to_a_grid():
    X = np.random.default_rng(3).normal(size=(60, 2))
    model = EWOCS(score_by="knn", threshold="2gauss", n_repetitions=5).fit(X)
    _, exponent = np.frexp(max(np.abs(model.scores_).max(), 1.0))
    steps = np.ldexp(model.scores_, 44 - int(exponent))
    np.testing.assert_array_equal(steps, np.rint(steps))
