"""Moments of pair counts against all pairs, counted one member at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.confusion import pair_moments, sum_over_pairs


def moments_slowly(members, counts):
    """Reference: pair counts of all pairs, one member at a time."""
    V = sum((r[:, None] == r[None]) & (r >= 0)[:, None] for r in members).astype(float)
    return V @ counts, V**2 @ counts


@given(st.data(), member_major(), st.sampled_from([1, 2]), st.sampled_from([0, 2**28]))
def test_moments_equal_their_definition(data, members, n_jobs, max_table):
    counts = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=members.shape[1], max_size=members.shape[1]))
    )
    got = pair_moments(members, counts, n_jobs=n_jobs, max_table=max_table)
    np.testing.assert_array_equal(got, moments_slowly(members, counts))


def test_more_than_one_block_of_objects(seed):
    members = np.random.default_rng(seed).integers(-2, 5, (4, 9000)).astype(np.int8)
    whole = pair_moments(members, np.ones(9000))
    chosen = [0, 4095, 4096, 8999]
    V = sum((r[chosen][:, None] == r[None]) & (r[chosen] >= 0)[:, None] for r in members)
    np.testing.assert_array_equal(whole[0][chosen], V.sum(axis=1))
    np.testing.assert_array_equal(whole[1][chosen], (V.astype(int) ** 2).sum(axis=1))


def test_sums_read_the_table_of_values():
    joined = np.array([[2, 0], [1, 1]], count_type(2))
    seen = np.array([[2, 0], [2, 1]], count_type(2))
    table = np.arange(9.0).reshape(3, 3)
    sums, squares = np.empty(2), np.empty(2)
    sum_over_pairs(joined, seen, np.array([1.0, 2.0]), table, sums, squares)
    assert sums.tolist() == [8 + 2 * 0, 7 + 2 * 4]
    assert squares.tolist() == [64 + 2 * 0, 49 + 2 * 16]
    sum_over_pairs(joined, None, np.array([1.0, 2.0]), table, sums, squares)
    assert sums.tolist() == [2, 1 + 2 * 1]
