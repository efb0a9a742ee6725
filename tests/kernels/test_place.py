"""The nearest centres of many members against their definition."""

import numpy as np
import pytest

from consilience.kernels.data.place import place


def slowly(X, centres, features, weights):
    labels, least = [], np.full(len(X), np.inf)
    for one, own, weight in zip(centres, features, weights, strict=True):
        rows = X if own is None else X[:, own]
        squares = ((rows[:, None].astype(float) - one) ** 2).sum(axis=2)
        labels.append(squares.argmin(axis=1))
        counted = weight[labels[-1]] * squares.min(axis=1)
        least = np.minimum(least, np.where(np.isinf(weight[labels[-1]]), np.inf, counted))
    return np.array(labels), least


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 255, 600])
def test_place_equals_its_definition(n, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 7)).astype(dtype)
    features = [None, np.array([6, 0]), np.array([1, 2, 3, 4, 5])]
    widths = [7, 2, 5]
    centres = [rng.normal(size=(k, w)) for k, w in zip((3, 5, 1), widths, strict=True)]
    weights = [np.ones(3), np.array([1.0, np.inf, 2.0, 0.5, 1.0]), np.full(1, np.inf)]
    found = place(X, centres, features, weights, n_jobs=1)
    labels, least = slowly(X, centres, features, weights)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose(found.least, least)
    again = place(X, centres, features, weights, n_jobs=2)
    np.testing.assert_array_equal(found.labels, again.labels)
    np.testing.assert_array_equal(found.least, again.least)


def test_ties_go_to_the_smaller_index():
    centres = [np.array([[1.0], [-1.0], [1.0]])]
    found = place(np.array([[0.0], [-3.0], [3.0]]), centres, [None], [np.ones(3)])
    assert found.labels.tolist() == [[0, 1, 0]]


def test_nothing_to_place_and_nobody_to_place_it():
    assert place(np.empty((0, 2)), [np.zeros((1, 2))], [None], [np.ones(1)]).labels.shape == (1, 0)
    found = place(np.zeros((3, 2)), [], [], [])
    assert found.labels.shape == (0, 3)
    assert np.isinf(found.least).all()
