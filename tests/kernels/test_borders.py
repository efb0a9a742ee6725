"""Distances to other groups against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.kernels.data.borders import to_other_groups


def slowly(far, labels, counts):
    """Of every object, the least over those of other groups that count."""
    return [
        min((far[i, j] for j in range(len(labels)) if labels[j] != own and counts[labels[j]]),
            default=np.inf)
        for i, own in enumerate(labels)
    ]  # fmt: skip


@given(st.integers(0, 2**31), st.integers(1, 25), st.integers(1, 5))
def test_it_is_the_least_distance_to_a_group_that_counts(seed, n, k):
    rng = np.random.default_rng(seed)
    far, labels = rng.integers(0, 9, (n, n)).astype(float), rng.integers(0, k, n).astype(np.int32)
    counts = rng.random(k) < 0.7
    np.testing.assert_array_equal(to_other_groups(far, labels, counts), slowly(far, labels, counts))


@pytest.mark.parametrize("counts", [[True, False], [False, False]])
def test_groups_that_do_not_count_are_nobodys_neighbours(counts):
    found = to_other_groups(np.ones((2, 2)), np.array([0, 1], np.int32), np.array(counts))
    assert found.tolist() == [np.inf, 1.0 if counts[0] else np.inf]
