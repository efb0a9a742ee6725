"""What is made of rows of memberships, beside its definition, object by object."""

import numpy as np
import pytest

from consilience import SoftEnsemble
from consilience.consensus import _soft_rows
from consilience.consensus._soft_rows import (
    SoftBallot,
    SoftRows,
    soft_dividing,
    soft_rows,
    soft_rows_in_order,
)

WIDTHS = (2, 3, 1)
STARTS = np.array([0, 2, 5, 6])


def tables(seed, n=7):
    """Memberships of three members; the last object is seen by the second only."""
    rng = np.random.default_rng(seed)
    made = [rng.dirichlet(np.ones(width), n) for width in WIDTHS]
    made[0][-1] = made[2][-1] = 0.0
    return made


def rows_of(seed):
    made = tables(seed)
    members = np.array([np.where(t.any(axis=1), t.argmax(axis=1), -2) for t in made], np.int8)
    counts = np.array([1, 3, 2, 1, 1, 4, 2])
    return SoftRows(members, STARTS, counts, np.arange(7), np.hstack(made))


@pytest.fixture(params=[2, 4096])
def block(request, monkeypatch):
    """Rows multiplied together: fewer than there are, or all."""
    monkeypatch.setattr(_soft_rows, "_BLOCK", request.param)


@pytest.mark.usefixtures("block")
def test_products_are_those_of_the_matrix(seed):
    rows, rng = rows_of(seed), np.random.default_rng(seed)
    B = rows.B
    table, values, weights = rng.random((6, 3)), rng.random((7, 2)), rng.random(6)
    np.testing.assert_allclose(rows.row_sums(table), B @ table)
    out = np.empty((7, 3))
    assert rows.row_sums(table, out=out) is out
    np.testing.assert_allclose(out, B @ table)
    np.testing.assert_allclose(rows.row_squares(weights), [(row**2) @ weights for row in B])
    np.testing.assert_allclose(rows.cluster_sums(values), B.T @ values)
    of_rows = rng.random(7)
    product = rows.contingency(of_rows)
    np.testing.assert_allclose(product, B.T @ np.diag(of_rows) @ B)
    np.testing.assert_array_equal(product, product.T)


def test_sums_of_parts_leave_out_rows_in_none(seed):
    rows = rows_of(seed)
    labels, weights = np.array([0, 2, -1, 2, 0, 2, 0], np.int32), np.arange(1.0, 8)
    expected = np.zeros((6, 4))
    for row, label in enumerate(labels):
        if label >= 0:
            expected[:, label] += weights[row] * rows.B[row]
    np.testing.assert_allclose(rows.part_sums(labels, 4, weights), expected)


def test_tables_of_counts_weigh_rows_by_their_objects(seed):
    rows, labels = rows_of(seed), np.array([0, 2, 2, 2, 0, 2, 0], np.int32)
    table, sizes = rows.count_table(labels, 4)
    objects = np.repeat(np.arange(7), rows.counts)
    for part in range(4):
        own = objects[labels[objects] == part]
        np.testing.assert_allclose(table[:, part], rows.B[own].sum(axis=0))
        assert sizes[part] == len(own)


def test_parts_of_rows_are_columns_and_rows_of_the_matrix(seed):
    rows = rows_of(seed)
    some = rows.some_members(2)
    np.testing.assert_array_equal(some.members, rows.members[[0, 2]])
    assert some.starts.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(some.B, rows.B[:, [0, 1, 5]])
    np.testing.assert_array_equal(some.counts, rows.counts)
    np.testing.assert_array_equal(some.inverse, rows.inverse)
    chosen = np.array([4, 1])
    taken = rows.take(chosen)
    np.testing.assert_array_equal(taken.members, rows.members[:, chosen])
    np.testing.assert_array_equal(taken.counts, [1, 3])
    np.testing.assert_array_equal(taken.starts, rows.starts)
    np.testing.assert_array_equal(taken.B, rows.B[chosen])
    np.testing.assert_array_equal(rows.votes_of(1), rows.B[:, 2:5])
    weights = np.arange(1.0, 7)
    links = rows.links(np.array([True, False, True]), weights)
    np.testing.assert_allclose(links, rows.B[:, [0, 1, 5]] * [1.0, 2.0, 6.0])


def test_the_nearest_centre_is_that_of_the_least_price(seed):
    rows, rng = rows_of(seed), np.random.default_rng(seed + 1)
    scale, costs, offset = rng.random(7) + 0.5, rng.normal(size=(6, 4)), rng.normal(size=4)
    expected = [
        min(range(4), key=lambda q, x=x: scale[x] * (rows.B[x] @ costs[:, q]) + offset[q])
        for x in range(7)
    ]
    found = rows.nearest(scale, costs, offset)
    assert found.tolist() == expected
    assert found.dtype == np.int32
    # A centre that costs more than all others differ is nobody's.
    assert 1 not in rows.nearest(scale, costs, np.array([0.0, 100.0, 0.0, 0.0]))
    assert set(rows.nearest(scale, costs, np.array([0.0, -100.0, 0.0, 0.0]))) == {1}


def squares(table, sizes):
    """Prices of k-means in the space of memberships, and the sum over centres that falls."""
    means = table / np.maximum(sizes, 1)
    lengths = (means**2).sum(axis=0)
    return -2.0 * means, lengths, -float(lengths @ sizes)


def rounds(rows, scale, shift, labels, k, price, max_iter):
    """Lloyd's rounds, row by row; an empty centre gets the farthest row of one with several."""
    B, labels = rows.B, labels.copy()

    def priced():
        table, sizes = np.zeros((B.shape[1], k)), np.zeros(k)
        for x, q in enumerate(labels):
            table[:, q] += rows.counts[x] * B[x]
            sizes[q] += rows.counts[x]
        return price(table, sizes)

    costs, offset, value = priced()
    for n_iter in range(1, max_iter + 1):
        before, there = labels.copy(), set(labels.tolist())
        far = {}
        for x in range(len(B)):
            price_of = {q: scale[x] * (B[x] @ costs[:, q]) + offset[q] for q in sorted(there)}
            best = min(price_of, key=price_of.get)
            if price_of[best] < price_of[labels[x]] - 1e-12 * abs(price_of[labels[x]]):
                labels[x] = best
            far[x] = price_of[labels[x]] + shift[x]
        for q in range(k):
            if q in labels:
                continue
            movable = [x for x in far if (labels == labels[x]).sum() > 1]
            if movable:
                x = max(movable, key=far.get)
                labels[x] = q
                far.pop(x)
        if np.array_equal(labels, before):
            return labels, value, n_iter, True
        costs, offset, lower = priced()
        if lower >= value:
            return before, value, n_iter, True
        value = lower
    return labels, value, max_iter, False


@pytest.mark.parametrize("max_iter", [1, 2, 50])
@pytest.mark.parametrize("start", [[0] * 7, [0, 1, 2, 0, 1, 2, 0], [1, 1, 1, 2, 2, 2, 2]])
def test_rounds_of_k_means_are_lloyds(seed, start, max_iter):
    rows, rng = rows_of(seed), np.random.default_rng(seed)
    for scale, shift in (
        (np.ones(7), (rows.B**2).sum(axis=1)),
        (rng.random(7) + 0.5, rng.random(7) * 3),
    ):
        labels = np.array(start, np.int32)
        found = rows.lloyd(scale, shift, labels, 3, squares, max_iter=max_iter)
        expected = rounds(rows, scale, shift, labels, 3, squares, max_iter)
        np.testing.assert_array_equal(found.labels, expected[0])
        assert found.objective == pytest.approx(expected[1])
        assert (found.n_iter, found.converged) == expected[2:]
        assert labels.tolist() == start


def test_rounds_that_gain_nothing_are_taken_back():
    rows = rows_of(0)
    labels = np.zeros(7, np.int32)
    found = rows.lloyd(
        np.ones(7), np.zeros(7), labels, 2,
        lambda table, sizes: (*squares(table, sizes)[:2], 1.0), max_iter=9,
    )  # fmt: skip
    assert found.labels.tolist() == [0] * 7
    assert (found.objective, found.n_iter, found.converged) == (1.0, 1, True)


@pytest.mark.parametrize(
    ("own", "other", "moves"),
    [
        (1.0, 1 - 5e-13, False),
        (1.0, 1 - 2e-12, True),
        (-1.0, -1 - 5e-13, False),
        (-1.0, -1 - 2e-12, True),
        (1000.0, 1000 - 5e-10, False),
        (1000.0, 1000 - 2e-9, True),
        (0.0, 0.0, False),
        (2.0, 3.0, False),
    ],
)
def test_only_what_is_nearer_by_more_than_rounding_moves(own, other, moves):
    labels = np.array([1, 0], np.int32)
    distances = np.array([[other, own], [0.0, 5.0]])
    assert _soft_rows._move_nearer(distances, labels) == moves
    assert labels.tolist() == [0 if moves else 1, 0]


def test_empty_centres_get_the_farthest_rows_of_others():
    labels = np.array([0, 0, 0, 1, 2], np.int32)
    best = np.array([1.0, 3.0, 2.0, 9.0, 8.0])
    # Centres of one row keep it, however far.
    assert _soft_rows._fill_empty(labels, best, np.array([3, 1, 1, 0, 0])) == 2
    assert labels.tolist() == [0, 3, 4, 1, 2]


def test_centres_stay_empty_where_all_others_have_one_row():
    labels = np.array([0, 2], np.int32)
    assert _soft_rows._fill_empty(labels, np.array([5.0, 4.0]), np.array([1, 0, 1])) == 0
    assert labels.tolist() == [0, 2]


def test_a_row_that_moved_stays_where_it_went():
    # The rows of a centre that got two would otherwise be moved on.
    labels, rows = np.array([0, 0, 0], np.int32), np.array([3, 0, 0])
    assert _soft_rows._fill_empty(labels, np.array([3.0, 3.0, 1.0]), rows) == 2
    assert labels.tolist() == [1, 2, 0]
    assert rows.tolist() == [1, 1, 1]


def test_votes_are_cast_by_shares_and_by_labels():
    ballot = SoftBallot(np.array([1, 2]), 3)
    with ballot as inside:
        assert inside is ballot
    ballot.cast(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), np.array([2, 0, -1]))
    assert ballot.votes.tolist() == [[0.25, 0.0, 0.5], [1.0, 0.0, 0.0]]
    ballot.cast(np.array([1, -1]), np.array([0, 1]), amount=3)
    assert ballot.votes.tolist() == [[0.25, 3.0, 0.5], [1.0, 0.0, 0.0]]
    # Of the objects of each cluster, each by its membership and as often as it is there.
    expected = [[0.5 * 0.25 + 2 * 1.0, 0.5 * 3.0, 0.5 * 0.5], [0.5 * 0.25, 0.5 * 3.0, 0.25]]
    assert ballot.overlap(np.array([[0.5, 0.5], [1.0, 0.0]]), 2).tolist() == expected
    assert ballot.overlap(np.array([1, -1]), 2).tolist() == [[0.0] * 3, [0.25, 3.0, 0.5]]


def test_votes_that_differ_by_rounding_are_ties():
    rows = rows_of(0)
    ballot = rows.ballot(2)
    np.testing.assert_array_equal(ballot.weights, rows.counts)
    ballot = SoftBallot(np.array([1]), 2)
    ballot.cast(np.array([[0.25, 0.25 + 4e-13]]), np.array([0, 1]))
    assert ballot.votes[0, 0] == ballot.votes[0, 1] == 0.25
    assert ballot.overlap(np.array([[1.0]]), 1).tolist() == [[0.25, 0.25]]
    ballot.cast(np.array([[0.0, 2e-12]]), np.array([0, 1]))
    assert ballot.votes[0, 0] < ballot.votes[0, 1]
    assert ballot.overlap(np.array([[1.0]]), 1)[0, 1] > 0.25


@pytest.mark.parametrize("placed", [1.0, 0.05])
def test_shares_are_passed_on_cluster_by_cluster(placed, seed):
    """Also where members place every object by a twentieth only."""
    rng = np.random.default_rng(seed)
    made = tables(seed)
    # Two objects that the first misses are alone in a cluster of the second.
    made[0][0] = 0.0
    made[1][:, 2] = 0.0
    made[1][[0, -1]] = [0.0, 0.0, 1.0]
    made[1][1:-1] /= made[1][1:-1].sum(axis=1, keepdims=True)
    made[2][0] = 0.5
    made = [placed * table for table in made]
    counts = rng.integers(1, 5, 7)
    members = np.zeros((3, 7), np.int8)
    rows = SoftRows(members, STARTS, counts, np.arange(7), np.hstack(made))
    shares, n_votes = [[0.0, 0.0] for _ in range(7)], [0.0] * 7
    for x in range(7):
        n_votes[x] = float(made[0][x].sum())
        if n_votes[x]:
            shares[x] = [value / n_votes[x] for value in made[0][x]]
    for table in made[1:]:
        votes = {}
        for c in range(table.shape[1]):
            mass = sum(table[x, c] * counts[x] for x in range(7) if n_votes[x] > 0)
            if mass > 0:
                votes[c] = [
                    sum(table[x, c] * counts[x] * shares[x][j] for x in range(7) if n_votes[x] > 0)
                    / mass
                    for j in range(2)
                ]
        for x in range(7):
            given = sum(table[x, c] for c in votes)
            if n_votes[x] + given > 0:
                shares[x] = [
                    (shares[x][j] * n_votes[x] + sum(table[x, c] * votes[c][j] for c in votes))
                    / (n_votes[x] + given)
                    for j in range(2)
                ]
            n_votes[x] += given
    found, voted = rows.pass_on(0, [1, 2])
    np.testing.assert_allclose(found, shares, atol=1e-12)
    np.testing.assert_allclose(voted, n_votes, atol=1e-12)
    assert voted[0] == 0.5 * placed
    assert voted[-1] == 0


def test_distinct_rows_are_those_of_any_order_of_the_objects(seed):
    rng = np.random.default_rng(seed)
    few = [rng.dirichlet(np.ones(width), 4) for width in (2, 3)]
    which = np.array([0, 1, 2, 3, 1, 1, 0, 3])
    ensemble = SoftEnsemble([table[which] for table in few])
    rows = soft_rows(ensemble)
    assert rows.n_rows == 4
    np.testing.assert_array_equal(rows.B[rows.inverse], ensemble.memberships)
    np.testing.assert_array_equal(rows.members[:, rows.inverse], ensemble.members)
    np.testing.assert_array_equal(rows.counts, np.bincount(rows.inverse))
    assert rows.starts.tolist() == [0, 2, 5]
    order = rng.permutation(8)
    other = soft_rows(SoftEnsemble([table[which[order]] for table in few]))
    np.testing.assert_array_equal(other.B, rows.B)
    np.testing.assert_array_equal(other.counts, rows.counts)
    np.testing.assert_array_equal(other.inverse, rows.inverse[order])


def test_rows_of_the_same_labels_come_by_their_memberships(seed):
    high = np.random.default_rng(seed).permutation(np.linspace(0.6, 0.9, 6))
    first = np.repeat([0.7, 0.8], 3)[np.random.default_rng(seed).permutation(6)]
    rows = soft_rows(
        SoftEnsemble([np.column_stack([one, 1 - one]) for one in (first, high)]),
    )
    assert rows.B.tolist() == sorted(rows.B.tolist())


def test_every_object_is_a_row_in_the_order_given(seed):
    ensemble = SoftEnsemble(
        [np.random.default_rng(seed).dirichlet(np.ones(width), 5) for width in (2, 3)]
    )
    order = np.array([3, 0, 4, 1, 2])
    rows = soft_rows_in_order(ensemble, order)
    np.testing.assert_array_equal(rows.B, ensemble.memberships[order])
    np.testing.assert_array_equal(rows.members, ensemble.members[:, order])
    np.testing.assert_array_equal(rows.B[rows.inverse], ensemble.memberships)
    assert rows.counts.tolist() == [1] * 5
    assert rows.starts.tolist() == [0, 2, 5]


HALF = [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("made", "k", "expected"),
    [
        # A cluster of everybody divides nothing; one that is sure of few does, and so do two.
        ([HALF, [[1.0], [1.0]]], 2, [True, False]),
        ([[[1.0], [1.0]], HALF], 2, [False, True]),
        ([HALF, [[1.0], [0.0]]], 2, [True, True]),
        ([HALF, [[1.0, 0.0], [1.0, 0.0]]], 2, [True, True]),
        # Too few clusters without it, or an object that nobody else places.
        ([HALF, [[1.0], [1.0]]], 3, [True, True]),
        ([[[1.0, 0.0], [0.0, 0.0]], [[1.0], [1.0]]], 2, [True, True]),
        ([HALF, np.zeros((2, 0)), [[1.0], [1.0]]], 2, [True, True, False]),
    ],
)
def test_members_of_one_cluster_of_all_divide_nothing(made, k, expected):
    B = np.hstack([np.asarray(table) for table in made])
    starts = np.cumsum([0, *(np.shape(table)[1] for table in made)])
    assert soft_dividing(B, starts, k).tolist() == expected
    members = np.zeros((len(made), 2), np.int8)
    rows = SoftRows(members, starts, np.ones(2, int), np.arange(2), B)
    assert rows.dividing_members(k).tolist() == expected


def test_a_zero_with_a_sign_makes_no_row_of_its_own():
    table = np.array([[1.0, 0.0], [1.0, -0.0], [0.5, 0.5]])
    assert sorted(soft_rows(SoftEnsemble([table])).counts) == [1, 2]
