"""Locally adaptive clustering against its steps, one at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience.kernels.kmeans.lac import lac, squared_distances


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


def test_distances_are_sums_of_weighted_squares():
    out = np.empty((1, 2))
    squared_distances(
        np.array([[3.0, 4.0]]), np.zeros((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]]), out
    )
    assert out.tolist() == [[25, 16]]
