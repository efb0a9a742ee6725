"""The second phase of k-means: it only ever gains, and ends where no single move does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from consilience.kernels.kmeans.many import many_kmeans

SMALL = bool(config.DISABLE_JIT)


def gains(X, labels, k):
    """What each move of one object would take off the sum of squares, from the sums themselves."""

    def cost(table):
        return sum(np.sum((X[table == c] - X[table == c].mean(axis=0)) ** 2) for c in set(table))

    now, out = cost(labels), np.full((len(X), k), -np.inf)
    for i in range(len(X)):
        for c in range(k):
            if np.sum(labels == labels[i]) > 1 and c != labels[i]:
                other = labels.copy()
                other[i] = c
                out[i, c] = now - cost(other)
    return out


def online_slowly(X, labels, k, max_iter=100):
    """Reference: the passes as described, with costs from means taken afresh."""
    labels = labels.copy()

    def best_move(i):
        counts = np.bincount(labels, minlength=k)
        if counts[labels[i]] < 2:
            return -1
        costs = np.zeros(k)
        for c in np.flatnonzero(counts):
            squared = np.sum((X[i] - X[labels == c].mean(axis=0)) ** 2)
            costs[c] = squared * counts[c] / (counts[c] + (-1 if c == labels[i] else 1))
        own, costs[labels[i]] = costs[labels[i]], np.inf
        best = int(costs.argmin())
        return best if own - costs[best] > 1e-12 * own else -1

    for _ in range(max_iter):
        candidates = [i for i in range(len(X)) if best_move(i) >= 0]
        moves = 0
        for i in candidates:
            new = best_move(i)
            if new >= 0:
                labels[i] = new
                moves += 1
        if moves == 0:
            break
    return labels


@st.composite
def starts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 1e4])) + rng.integers(0, 3, (n, 1))
    return X, X[rng.choice(n, draw(st.integers(1, min(n, 5))), replace=False)]


@given(starts())
def test_the_phase_gains_and_ends_where_no_move_does(case):
    X, start = case
    batch = many_kmeans(X, [start])
    runs = many_kmeans(X, [start], online=True)
    assert runs.converged[0]
    assert runs.n_iter[0] > batch.n_iter[0]
    assert runs.inertia[0] <= batch.inertia[0] * (1 + 1e-12) + 1e-20
    assert set(runs.labels[0]) == set(batch.labels[0])
    assert gains(X, runs.labels[0], len(start)).max() <= 1e-7 * max(1.0, runs.inertia[0])
    for c in set(runs.labels[0]):
        inside = X[runs.labels[0] == c]
        np.testing.assert_allclose(runs.centres[0][c], inside.mean(axis=0), rtol=1e-12, atol=1e-12)


@given(starts())
def test_moves_are_those_of_the_definition(case):
    X, start = case
    X = X - X.mean(axis=0)
    start = start - start.mean(axis=0)
    batch = many_kmeans(X, [start])
    runs = many_kmeans(X, [start], online=True)
    wanted = online_slowly(X, batch.labels[0], len(start))
    np.testing.assert_array_equal(runs.labels[0], wanted)


def test_many_tiles_end_where_no_move_gains():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60 if SMALL else 1500, 3))
    rows = np.sort(rng.choice(len(X), len(X) // 2, replace=False))
    k = 7
    runs = many_kmeans(X, [X[rows[:k]]], rows=[rows], online=True)
    own, labels = X[rows], runs.labels[0][rows]
    counts = np.bincount(labels, minlength=k)
    distance = ((own[:, None] - runs.centres[0]) ** 2).sum(axis=2)
    at = np.arange(len(own))
    others_inside = np.maximum(counts[labels] - 1, 1)  # alone, it lies on its centre
    leave = distance[at, labels] * counts[labels] / others_inside
    join = distance * counts / (counts + 1)
    join[at, labels] = np.inf
    assert np.all(leave <= join.min(axis=1) * (1 + 1e-9))
    # Rows left out go to the nearest of the final centres.
    others = np.setdiff1d(np.arange(len(X)), rows)
    nearest = ((X[others, None] - runs.centres[0]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(runs.labels[0][others], nearest)


def test_a_move_lloyd_cannot_see():
    # 4 is nearer to the mean of {0, 0, 4} than to 8, yet {0, 0}, {4, 8} has the smaller sum.
    X = np.array([[0.0], [0.0], [4.0], [7.0]])
    start = np.array([[4 / 3], [7.0]])
    assert many_kmeans(X, [start]).labels.tolist() == [[0, 0, 0, 1]]
    runs = many_kmeans(X, [start], online=True)
    assert runs.labels.tolist() == [[0, 0, 1, 1]]
    np.testing.assert_array_equal(runs.centres[0], [[0.0], [5.5]])
    assert runs.inertia[0] == 4.5


@pytest.mark.parametrize("k", [1, 3])
def test_identical_objects_end_at_once(k):
    runs = many_kmeans(np.ones((5, 2)), [np.ones((k, 2))], online=True)
    assert runs.converged[0]
    assert runs.labels.tolist() == [[0] * 5]


def test_labels_fit_the_centres_when_passes_run_out():
    X = np.random.default_rng(0).normal(size=(200, 2))
    rows = np.arange(0, 200, 2)
    runs = many_kmeans(X, [X[rows[:8]]], rows=[rows], online=True, max_iter=1)
    assert runs.n_iter[0] == 2
    assert not runs.converged[0]
    distance = ((X[1::2, None] - runs.centres[0]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(runs.labels[0][1::2], distance.argmin(axis=1))
