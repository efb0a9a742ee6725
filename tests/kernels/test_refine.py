"""Keys of label rows: names and orders change nothing, rows that differ are told apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience.kernels.labels.refine import refined_keys


def table(seed, n_objects=30, n_members=6):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-2, 4, (n_members, n_objects)).astype(np.int8)
    return labels, rng.integers(1, 4, n_objects), rng


@given(st.integers(0, 2**32 - 1))
def test_names_and_orders_change_nothing(seed):
    members, counts, rng = table(seed)
    wanted = refined_keys(members, counts)
    other = members[rng.permutation(len(members))].copy()
    for labels in other:
        names = rng.permutation(100)[:4]
        labels[labels >= 0] = names[labels[labels >= 0]]
    order = rng.permutation(len(counts))
    got = refined_keys(np.ascontiguousarray(other[:, order]), counts[order])
    np.testing.assert_array_equal(got, wanted[order])


def test_rows_without_symmetry_are_told_apart():
    for seed in range(20):
        members, counts, _ = table(seed)
        rows = np.unique(np.vstack([members, counts]).T, axis=0)
        members, counts = np.ascontiguousarray(rows[:, :-1].T.astype(np.int8)), rows[:, -1]
        assert len(set(refined_keys(members, counts).tolist())) == len(rows)


def test_a_symmetry_of_the_ensemble_is_not_broken():
    """Two members cross four objects: any of them could be any other."""
    members = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.int8)
    assert len(set(refined_keys(members, np.ones(4, np.int64)).tolist())) == 1
    assert len(set(refined_keys(members, np.array([2, 1, 1, 1])).tolist())) == 3


def test_copies_count():
    members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    copied = np.ascontiguousarray(np.repeat(members, [1, 2, 3], axis=1))
    apart = refined_keys(copied, np.ones(6, np.int64))
    together = refined_keys(members, np.array([1, 2, 3]))
    np.testing.assert_array_equal(apart, np.repeat(together, [1, 2, 3]))
