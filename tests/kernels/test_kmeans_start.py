"""Starts of k-means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.cluster import kmeans_plusplus

from consilience.kernels.kmeans.start import plusplus_start, random_start


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.data())
def test_random_starts_are_distinct_rows(seed, n, data):
    k = data.draw(st.integers(1, n))
    rows = 3 * np.arange(n) + 5
    drawn = random_start(np.random.default_rng(seed), rows, k)
    assert len(set(drawn.tolist())) == k
    assert np.isin(drawn, rows).all()
    assert random_start(np.random.default_rng(seed), n, k).max() < n


def test_every_object_is_equally_likely_to_start():
    rng = np.random.default_rng(0)
    counts = sum(np.bincount(random_start(rng, 6, 2), minlength=6) for _ in range(3000))
    assert stats.chisquare(counts).pvalue > 1e-4


@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.booleans(), st.data())
def test_spread_starts_are_distinct_rows(seed, n, as_csr, data):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n + 4, 4)).astype(np.float64)  # duplicates
    rows = np.sort(rng.choice(n + 4, n, replace=False))
    k = data.draw(st.integers(1, n))
    features = np.array([0, 2])
    given_X = sparse.csr_array(X) if as_csr else X
    chosen = plusplus_start(given_X, k, rng, rows=rows, features=features)
    assert len(set(chosen.tolist())) == k
    assert np.isin(chosen, rows).all()
    # Objects that differ come before objects that repeat.
    own = X[:, features]
    n_distinct = len(np.unique(own[rows], axis=0))
    first = own[chosen[: min(k, n_distinct)]]
    assert len(np.unique(first, axis=0)) == len(first)


def test_dense_and_csr_draw_the_same():
    X = np.random.default_rng(3).integers(0, 9, (50, 5)).astype(np.float64)
    dense, csr = (
        plusplus_start(data, 8, np.random.default_rng(7)) for data in (X, sparse.csr_array(X))
    )
    np.testing.assert_array_equal(dense, csr)


@pytest.mark.parametrize("k", [2, 3])
def test_second_choice_follows_squared_distance(k):
    # With two trials of one dimension the better of two draws wins: compare with that law.
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    counts = np.zeros(4)
    for seed in range(4000):
        rows = plusplus_start(X, k, np.random.default_rng(seed))
        counts[rows[1]] += rows[0] == 0
    share = X.ravel() ** 2 / np.sum(X**2)
    left = np.minimum(X.ravel() ** 2, (X - X.T) ** 2).sum(axis=1)
    n_trials = 2 + int(np.log(k))
    rank = np.array([share[left > left[i]].sum() for i in range(4)])
    wanted = (rank + share) ** n_trials - rank**n_trials
    possible = wanted > 0
    assert counts[~possible].sum() == 0
    expected = wanted[possible] * counts.sum()
    assert stats.chisquare(counts[possible], expected).pvalue > 1e-4


def test_potential_is_like_that_of_scikit_learn():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 3))[rng.integers(0, 12, 400)] * 6 + rng.normal(size=(400, 3))

    def potential(centres):
        return ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()

    ours = [potential(X[plusplus_start(X, 12, np.random.default_rng(s))]) for s in range(40)]
    theirs = [potential(kmeans_plusplus(X, 12, random_state=s)[0]) for s in range(40)]
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * np.std(theirs + ours) / np.sqrt(40)


def test_of_equal_objects_different_ones_are_taken():
    for seed in range(5):
        found = plusplus_start(np.zeros((6, 1)), 5, np.random.default_rng(seed))
        assert len(set(found.tolist())) == 5
