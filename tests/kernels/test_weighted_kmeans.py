"""k-means of weighted rows against scikit-learn's, and on any number of threads."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from consilience.kernels._blocks import BLOCK_ROWS
from consilience.kernels.kmeans.weighted import weighted_kmeans


def cloud(seed, n=4 * BLOCK_ROWS + 5, d=4, k=5):
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(n, d)) + 2.5 * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    return E, E[rng.choice(n, k, replace=False)], rng.integers(1, 9, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_those_of_scikit_learn(seed, weighted):
    E, centres, weights = cloud(seed)
    weights = weights if weighted else None
    theirs = KMeans(len(centres), init=centres, n_init=1, max_iter=100, algorithm="lloyd")
    theirs.fit(E, sample_weight=weights)
    ours = weighted_kmeans(E, centres, weights, max_iter=100)
    assert (ours == theirs.labels_).mean() > 0.999


def test_labels_do_not_depend_on_threads(seed):
    E, centres, weights = cloud(seed)
    one = weighted_kmeans(E, centres, weights, max_iter=7)
    for n_jobs in (2, 3):
        found = weighted_kmeans(E, centres, weights, max_iter=7, n_jobs=n_jobs)
        np.testing.assert_array_equal(found, one)


def test_empty_clusters_take_far_rows():
    E = np.array([[0.0], [0.1], [0.2], [7.0], [9.0]])
    found = weighted_kmeans(E, np.array([[0.1], [50.0], [60.0]]), None, max_iter=100)
    assert len(np.unique(found)) == 3
    np.testing.assert_array_equal(found[:3], found[0])


def test_fewer_distinct_rows_than_clusters_end():
    found = weighted_kmeans(np.zeros((6, 2)), np.arange(6.0).reshape(3, 2), None, max_iter=20)
    assert found.shape == (6,)
    assert set(found) <= {0, 1, 2}


def test_empty_clusters_among_many_rows_take_the_farthest_on_any_number_of_threads():
    E, centres, weights = cloud(1)
    centres = np.vstack([centres, [[1e3] * 4, [-1e3] * 4]])
    one = weighted_kmeans(E, centres, weights, max_iter=1)
    assert set(one) == set(range(7))
    for n_jobs in (2, 3):
        found = weighted_kmeans(E, centres, weights, max_iter=1, n_jobs=n_jobs)
        np.testing.assert_array_equal(found, one)
