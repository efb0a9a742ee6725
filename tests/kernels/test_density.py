"""Distances and founders against their definitions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from consilience.kernels.minority.density import count_founders, found_clusters, square_distances


def points(max_objects=12):
    """Few places on a grid: many distances tie, some objects are equal."""
    shape = st.tuples(st.integers(1, max_objects), st.integers(1, 3))
    return shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=st.integers(-3, 3)))


@given(points(), st.floats(0.1, 10))
@settings(max_examples=30)
def test_square_distances_are_symmetric_to_the_last_digit(X, scale):
    X = X * scale
    found = np.empty((len(X), len(X)))
    square_distances(X, np.ascontiguousarray(X.T), found)
    np.testing.assert_allclose(found, ((X[:, None] - X[None]) ** 2).sum(axis=2), rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    alone = np.empty((1, len(X)))
    square_distances(X[-1:], np.ascontiguousarray(X.T), alone)
    np.testing.assert_array_equal(alone[0], found[-1])


def lists_and_costs(X, size):
    """Every object's neighbours by (distance, index), itself first, and the cost of the first."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    order = [
        sorted(range(len(X)), key=lambda j: (j != i, distances[i, j], j)) for i in range(len(X))
    ]
    costs = [distances[i, order[i][:size]].sum() for i in range(len(X))]
    return np.array(order, np.int32), np.array(costs)


def clusters_slowly(near, costs, n_dense, size):
    """The definition: by rising (cost, index), each follows the cheapest object near it."""
    rank = sorted(range(len(costs)), key=lambda i: (costs[i], i))
    labels = np.full(len(costs), -1)
    for i in rank[:n_dense]:
        leader = min(near[i][:size], key=lambda j: (costs[j], j))
        labels[i] = labels.max() + 1 if leader == i else labels[leader]
    return np.array(rank[:n_dense]), labels


@given(points(), st.data())
@settings(max_examples=50)
def test_founders_are_the_clusters_of_the_labelling(X, data):
    n_dense = data.draw(st.integers(1, len(X)))
    witness = np.zeros(len(X), np.int32)
    for size in range(1, len(X) + 1):
        near, costs = lists_and_costs(X, size)
        dense, wanted = clusters_slowly(near, costs, n_dense, size)
        labels = np.full(len(X), -1, np.int32)
        found = found_clusters(near, costs, dense, size, labels)
        np.testing.assert_array_equal(labels, wanted)
        # In any order, and with what was remembered from the sizes before.
        assert count_founders(near, costs, np.sort(dense), size, witness) == found
        assert found == wanted.max() + 1
