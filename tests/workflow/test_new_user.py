"""What a new user tried first and found wrong: numbers of groups, seeds, members, scaling."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

import consilience as cs


def test_digits_are_seen_as_more_than_data_without_groups():
    X, y = load_digits(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:500]
    result = cs.cluster(X[some], random_state=0)
    assert result.n_clusters > 5
    assert result.clarity.verdict != "none"
    assert adjusted_rand_score(y[some], result.labels) > 0.5


@pytest.mark.parametrize("k", [20, 30])
def test_there_is_no_hidden_ceiling(k):
    X, y = make_blobs(20 * k, 8, centers=k, random_state=1)
    result = cs.cluster(X, random_state=0)
    assert result.n_clusters == k
    assert adjusted_rand_score(y, result.labels) == 1.0


def test_another_seed_says_the_same_of_two_kinds_of_tumours():
    X, y = load_breast_cancer(return_X_y=True)
    found = [cs.cluster(X, 2, random_state=seed).labels for seed in range(3)]
    # From 0.35 to 0.86 by seed once.
    assert min(adjusted_rand_score(y, labels) for labels in found) > 0.6
    assert min(adjusted_rand_score(found[0], labels) for labels in found[1:]) > 0.8


def test_members_fit_the_method():
    X, y = load_iris(return_X_y=True)
    result = cs.cluster(X, 3, method="mcla", random_state=0)
    # Not of about the root of n clusters, which its card advises against.
    assert max(result.ensemble.n_clusters) < 9
    assert adjusted_rand_score(y, result.labels) > 0.55


def test_columns_are_standardised_unless_the_user_says_otherwise():
    X, y = load_wine(return_X_y=True)
    result = cs.cluster(X, random_state=0)
    assert adjusted_rand_score(y, result.labels) > 0.85
    units = cs.cluster(X * np.logspace(-3, 3, X.shape[1]), random_state=0)
    np.testing.assert_array_equal(units.labels, result.labels)
    assert adjusted_rand_score(y, cs.cluster(X, 3, scale=False, random_state=0).labels) < 0.5
