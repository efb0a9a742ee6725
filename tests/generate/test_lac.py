"""LAC as a clusterer and as a generator; its kernel is tested beside the other kernels."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.generate.lac import LAC, LACEnsemble, refit_lac


@parametrize_with_checks([LAC(2, random_state=0), LAC(3, init="scattered", inv_h=1.0)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def nearest(X, centres, weights):
    gaps = (weights[None] * (X[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return gaps.argmin(axis=1)


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


def test_a_refit_of_features_in_large_units_has_weights():
    X = np.array([[0.0, 0.0], [1000.0, 2000.0]])
    np.testing.assert_array_equal(refit_lac(X, np.array([0, 0]), 1.0).weights, [[1.0, 0.0]])
