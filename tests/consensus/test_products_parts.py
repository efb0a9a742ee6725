"""What is made of distinct rows of labels, beside the matrix of rows and clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from consilience import Ensemble
from consilience.consensus._products import dividing_members
from consilience.consensus._rows import distinct_rows, normal_blocks

TORN = np.array(
    [
        [0, 0, 1, 1, -1, 2, 0, -2, 1],
        [0, 0, 0, 1, 1, 1, -2, -2, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0],
        [2, 2, -1, 1, 0, 0, 1, -2, 2],
    ]
)


def matrix(members, starts):
    """Rows x clusters of all members, 1 where a member puts a row."""
    B = np.zeros((members.shape[1], starts[-1]))
    for labels, start in zip(members, starts, strict=False):
        for row, label in enumerate(labels):
            if label >= 0:
                B[row, start + label] = 1.0
    return B


def test_distinct_rows_and_their_products():
    rng = np.random.default_rng(0)
    ensemble = Ensemble(TORN.T)
    rows = distinct_rows(ensemble)
    np.testing.assert_array_equal(rows.members[:, rows.inverse], ensemble.members)
    np.testing.assert_array_equal(rows.counts, np.bincount(rows.inverse))
    assert rows.n_rows == len(np.unique(TORN, axis=1).T) == 8
    B = matrix(rows.members, rows.starts)
    table, values = rng.random((len(B.T), 2)), rng.random((8, 2))
    of_rows, own = rng.random(8), rng.random(len(B.T))
    np.testing.assert_allclose(rows.row_sums(table), B @ table)
    np.testing.assert_allclose(rows.row_squares(own), B**2 @ own)
    np.testing.assert_allclose(rows.cluster_sums(values), B.T @ values)
    np.testing.assert_allclose(rows.cluster_sizes(), B.T @ rows.counts)
    np.testing.assert_allclose(rows.contingency(of_rows), B.T @ (of_rows[:, None] * B))
    np.testing.assert_array_equal(rows.of_objects(of_rows), of_rows[rows.inverse])
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1], np.int32)
    parts = np.eye(3)[labels]
    sums = rows.part_sums(labels, 3, of_rows)
    np.testing.assert_allclose(sums, B.T @ (of_rows[:, None] * parts))
    counted, sizes = rows.count_table(labels, 3)
    np.testing.assert_allclose(counted, B.T @ (rows.counts[:, None] * parts))
    np.testing.assert_allclose(sizes, rows.counts @ parts)
    scale, offset = of_rows + 0.5, np.array([0.3, 0.0])
    prices = scale[:, None] * (B @ table) + offset
    found = rows.nearest(scale, table, offset)
    np.testing.assert_array_equal(found, prices.argmin(axis=1))


def test_parts_of_rows():
    rows = distinct_rows(Ensemble(TORN.T))
    some = rows.some_members(3)
    np.testing.assert_array_equal(some.members, rows.members[[0, 3]])
    assert some.starts.tolist() == [0, 3, 6]
    taken = rows.take(np.array([4, 1, 2]))
    np.testing.assert_array_equal(taken.members, rows.members[:, [4, 1, 2]])
    np.testing.assert_array_equal(taken.counts, rows.counts[[4, 1, 2]])
    assert taken.starts is rows.starts
    np.testing.assert_array_equal(rows.votes_of(3), rows.members[3])
    assert rows.dividing_members(2).tolist() == [True, True, True, True]
    weights = np.arange(1.0, 10)
    links = rows.links(np.array([True, False, False, True]), weights)
    np.testing.assert_array_equal(links.members, rows.members[[0, 3]])
    np.testing.assert_array_equal(links.weights, weights[[0, 1, 2, 6, 7, 8]])


def test_shares_start_from_the_first_member_and_count_who_voted():
    rows = distinct_rows(Ensemble(TORN.T))
    shares, voted = rows.pass_on(1, [])
    placed = rows.members[1] >= 0
    np.testing.assert_array_equal(voted, placed)
    np.testing.assert_array_equal(shares, np.eye(2)[rows.members[1]] * placed[:, None])
    # Each cluster of the second gives the mean of the shares of its objects.
    shares, voted = rows.pass_on(1, [0])
    for row, (own, other) in enumerate(rows.members[[1, 0]].T):
        expected, count = np.zeros(2), 0
        if own >= 0:
            expected[own], count = 1.0, 1
        if other >= 0:
            there = (rows.members[0] == other) & placed
            mean = rows.counts[there] @ np.eye(2)[rows.members[1][there]] / rows.counts[there].sum()
            expected, count = (expected * count + mean) / (count + 1), count + 1
        np.testing.assert_allclose(shares[row], expected)
        assert voted[row] == count


@given(
    npst.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 5)),
                elements=st.integers(-2, 2)),
    st.integers(1, 6),
)  # fmt: skip
def test_a_cluster_of_all_divides_nothing_unless_it_is_needed(table, k):
    if (table < 0).all(axis=1).any():
        table[:, 0] = 0
    members = Ensemble(table.T).members
    divides = [bool((labels != 0).any()) for labels in members]
    kept = members[divides]
    clusters = sum(len(set(labels[labels >= 0].tolist())) for labels in kept)
    # Where too few clusters are left, or somebody is in none of them, all members stay.
    if clusters < k or not len(kept) or (kept < 0).all(axis=0).any():
        divides = [True] * len(members)
    assert dividing_members(members, k).tolist() == divides


@pytest.mark.parametrize(
    ("members", "k", "expected"),
    [
        ([[0, 0, 1], [0, 0, 0]], 2, [True, False]),
        ([[0, 0, 1], [0, 0, 0]], 3, [True, True]),
        ([[0, -1, 1], [0, 1, 1], [0, 0, 0]], 2, [True, True, False]),
        ([[0, -1, 1], [0, -1, 1], [0, 0, 0]], 2, [True, True, True]),
        ([[0, 0, 0], [0, 0, 0]], 1, [True, True]),
    ],
)
def test_noise_of_one_member_keeps_no_hub(members, k, expected):
    assert dividing_members(np.array(members, np.int8), k).tolist() == expected


def test_columns_add_up_to_1_over_each_member():
    table = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 1.0]])
    normal = normal_blocks(table, np.array([0, 2, 2, 3]))
    assert normal.tolist() == [[0.25, 0.5], [0.75, 0.5], [1.0, 1.0]]
