"""Contingency tables against the product of one-hot matrices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.labels.contingency import cluster_contingency, first_columns


def slowly(members, weights):
    """Reference: the dense one-hot matrix."""
    starts = first_columns(members)
    B = np.zeros((members.shape[1], starts[-1]))
    for r, labels in enumerate(members):
        for i, label in enumerate(labels):
            if label >= 0:
                B[i, starts[r] + label] = 1
    return B.T @ (weights[:, None] * B)


@given(member_major(), st.sampled_from([1, 2]))
def test_counts_equal_the_product(members, n_jobs):
    wanted = slowly(members, np.ones(members.shape[1]))
    np.testing.assert_array_equal(cluster_contingency(members, n_jobs=n_jobs), wanted)


@given(member_major(), st.integers(0, 2**31))
def test_weights_equal_the_product(members, seed):
    weights = np.random.default_rng(seed).random(members.shape[1])
    got = cluster_contingency(members, weights)
    np.testing.assert_allclose(got, slowly(members, weights), atol=1e-12)
    np.testing.assert_array_equal(got, cluster_contingency(members, weights, n_jobs=2))
