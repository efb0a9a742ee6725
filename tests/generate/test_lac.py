"""Locally adaptive clustering against its steps, one at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.generate.lac import LAC, LACEnsemble, refit_lac
from consilience.kernels.lac import lac, squared_distances


@parametrize_with_checks([LAC(2, random_state=0), LAC(3, init="scattered", inv_h=1.0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def nearest(X, centres, weights):
    gaps = (weights[None] * (X[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return gaps.argmin(axis=1)


def slowly(X, centres, inv_h, max_iter):
    """Reference: the numbered steps of the specification."""
    centres = centres.copy()
    k, d = centres.shape
    weights = np.full((k, d), 1 / d)
    labels = None
    for _ in range(max_iter):
        before = None if labels is None else labels.copy(), centres.copy()
        labels = nearest(X, centres, weights)
        for j in range(k):
            if (labels == j).any():
                v = ((centres[j] - X[labels == j]) ** 2).mean(axis=0)
                weights[j] = np.exp(-inv_h * (v - v.min()))
                weights[j] /= weights[j].sum()
        labels = nearest(X, centres, weights)
        for j in range(k):
            if (labels == j).any():
                centres[j] = X[labels == j].mean(axis=0)
        if before[0] is not None and (labels == before[0]).all():
            break
    return labels, centres, weights


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 30),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 2.0, 1e6]),
    st.sampled_from([1, 2, 100]),
)
def test_it_equals_its_steps(seed, n, d, k, inv_h, max_iter):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    start = rng.normal(size=(min(k, n), d))
    got = lac(X, start, inv_h, max_iter)
    labels, centres, weights = slowly(X, start, inv_h, max_iter)
    np.testing.assert_array_equal(got.labels, labels)
    np.testing.assert_allclose(got.centres, centres, atol=1e-10)
    np.testing.assert_allclose(got.weights, weights, atol=1e-10)
    assert got.n_iter <= max_iter


def test_no_weight_is_k_means(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    found = lac(X, X[:4], 0.0, 100)
    assert found.converged
    for j in range(4):
        np.testing.assert_allclose(found.centres[j], X[found.labels == j].mean(axis=0))
    np.testing.assert_array_equal(found.labels, nearest(X, found.centres, np.ones((4, 3))))
    np.testing.assert_allclose(found.weights, 1 / 3)


def test_much_weight_goes_to_the_tightest_feature(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(0, 0.1, 50), rng.normal(0, 5, 50)])
    found = lac(X, X[:1], 1e6, 100)
    np.testing.assert_allclose(found.weights, [[1.0, 0.0]], atol=1e-12)


def test_an_empty_cluster_stays_where_it_was():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = lac(X, np.array([[0.3, 0.3], [99.0, 99.0]]), 1.0, 100)
    assert found.labels.tolist() == [0, 0, 0]
    assert found.centres[1].tolist() == [99, 99]
    assert found.weights[1].tolist() == [0.5, 0.5]


def test_clusters_that_live_in_different_features_are_found(seed):
    rng = np.random.default_rng(seed)
    tight, wide = rng.normal(0, 0.2, (2, 100)), rng.normal(0, 3, (2, 100))
    X = np.concatenate(
        [np.column_stack([tight[0], wide[0]]), np.column_stack([wide[1] + 6, tight[1] + 6])]
    )
    truth = np.repeat([0, 1], 100)
    model = LAC(2, inv_h=1.0, init="scattered", random_state=seed).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    rows = model.feature_weights_[[model.labels_[0], model.labels_[-1]]]
    assert rows[0, 0] > 0.9
    assert rows[1, 1] > 0.9


def test_scattered_starts_are_far_apart(seed):
    X = np.random.default_rng(seed).normal(size=(40, 2))
    model = LAC(4, init="scattered", max_iter=1, inv_h=0.0, random_state=seed).fit(X)
    assert len(np.unique(model.labels_)) == 4
    with pytest.raises(InvalidParameterError, match=r"n_samples=40. Got 41"):
        LAC(41).fit(X)


def test_an_ensemble_keeps_its_runs_and_takes_turns(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.5, (20, 3)) for c in (0, 3, 6)])
    generator = LACEnsemble(7, (2, 4), inv_h=[0.1, 5.0], random_state=seed)
    ensemble = generator.generate(X)
    assert [r["inv_h"] for r in ensemble.records] == [0.1, 5.0, 0.1, 5.0, 0.1, 5.0, 0.1]
    assert [len(run.centres) for run in generator.runs_] == ensemble.n_clusters.tolist()
    for run, labels, record in zip(generator.runs_, ensemble, ensemble.records, strict=True):
        np.testing.assert_allclose(run.weights.sum(axis=1), 1)
        assert record["converged"]
        np.testing.assert_array_equal(nearest(X, run.centres, run.weights), labels)
    threads = clone(generator).set_params(n_jobs=2)
    np.testing.assert_array_equal(threads.generate(X).labels, ensemble.labels)
    for one, other in zip(generator.runs_, threads.runs_, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)


def test_a_refit_gives_back_a_run_that_has_settled(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.3, (30, 2)) for c in (0, 4)])
    generator = LACEnsemble(4, 2, inv_h=0.5, random_state=seed)
    ensemble = generator.generate(X)
    for run, labels in zip(generator.runs_, ensemble, strict=True):
        again = refit_lac(X, labels, 0.5)
        np.testing.assert_allclose(again.centres, run.centres, atol=1e-10)
        np.testing.assert_allclose(again.weights, run.weights, atol=1e-10)


def test_a_refit_leaves_out_objects_in_no_cluster():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [50.0, 50.0]])
    run = refit_lac(X, np.array([0, 0, -2]), 1.0)
    np.testing.assert_array_equal(run.centres, [[1, 0]])
    np.testing.assert_allclose(run.weights, [np.exp([-1, 0]) / (1 + np.exp(-1))])


def test_distances_are_sums_of_weighted_squares():
    out = np.empty((1, 2))
    squared_distances(
        np.array([[3.0, 4.0]]), np.zeros((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]]), out
    )
    assert out.tolist() == [[25, 16]]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"inv_h": -1}, "'inv_h' parameter of LACEnsemble must be .* Got -1"),
        ({"inv_h": []}, "'inv_h' .* a list of at least one such number. Got"),
        ({"init": "k-means++"}, "'init' .* Got 'k-means"),
        ({"n_clusters": 99}, "'n_clusters' parameter of LACEnsemble .* n_samples=9. Got 99"),
        ({"n_members": 0}, "'n_members' .* Got 0"),
        ({"max_iter": 0}, "'max_iter' .* Got 0"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        LACEnsemble(**params).generate(np.arange(18.0).reshape(9, 2))


def test_it_is_another_generator_for_a_consensus():
    generator = LACEnsemble(3, 2)
    assert set(KMeansEnsemble().get_params()) & set(generator.get_params()) >= {
        "n_members",
        "n_clusters",
        "random_state",
        "n_jobs",
    }
