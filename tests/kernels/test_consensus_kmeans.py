"""k-means on label rows against distances in full, one row at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels._tasks import counter
from consilience.kernels.kmeans import labels as consensus_kmeans
from consilience.kernels.kmeans.labels import assign, count_table, lloyd
from consilience.kernels.labels.contingency import first_columns

seeds = st.integers(0, 2**31)


def random_problem(members, k, seed):
    rng = np.random.default_rng(seed)
    starts = first_columns(members)
    n = members.shape[1]
    return (
        starts,
        rng.integers(1, 5, n),
        rng.random(n) + 0.5,
        rng.random((starts[-1], k)),
        rng.random(k),
        rng.integers(0, k, n).astype(np.int32),
    )


def distances_slowly(members, starts, scale, costs, offset):
    """Reference: the sum over the members, label by label."""
    out = np.zeros((members.shape[1], len(offset)))
    for i in range(members.shape[1]):
        for q in range(len(offset)):
            total = sum(
                costs[starts[r] + members[r, i], q]
                for r in range(len(members))
                if members[r, i] >= 0
            )
            out[i, q] = scale[i] * total + offset[q]
    return out


@given(member_major(), st.integers(1, 4), seeds)
def test_assign_takes_the_nearest_and_keeps_the_tables(members, k, seed):
    starts, weights, scale, costs, offset, labels = random_problem(members, k, seed)
    tables = count_table(members, starts, weights, labels, k)
    best = np.empty(len(labels))
    before = labels.copy()
    moved = assign(members, starts, weights, scale, costs, offset, labels, best, *tables, counter())
    wanted = distances_slowly(members, starts, scale, costs, offset)
    chosen = wanted[np.arange(len(labels)), labels]
    np.testing.assert_allclose(chosen, wanted.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(best, chosen, atol=1e-12)
    assert moved == (before != labels).sum()
    for table, fresh in zip(tables, count_table(members, starts, weights, labels, k), strict=True):
        np.testing.assert_array_equal(table, fresh)


@given(member_major(), st.integers(1, 4), seeds)
def test_count_table_equals_its_definition(members, k, seed):
    starts, weights, _, _, _, labels = random_problem(members, k, seed)
    counts, sizes, rows = count_table(members, starts, weights, labels, k)
    wanted = np.zeros_like(counts)
    for r in range(len(members)):
        for i, label in enumerate(members[r]):
            if label >= 0:
                wanted[starts[r] + label, labels[i]] += weights[i]
    np.testing.assert_array_equal(counts, wanted)
    np.testing.assert_array_equal(sizes, np.bincount(labels, weights, minlength=k))
    np.testing.assert_array_equal(rows, np.bincount(labels, minlength=k))


def euclid(members, starts):
    """Prices of plain k-means on the one-hot rows of labels."""

    def price(table, sizes):
        m = table / np.maximum(sizes, 1)
        norms = (m**2).sum(axis=0)
        present = table.sum()  # |b_i|^2 summed over objects
        return -2.0 * m, norms, float(present - (norms * sizes).sum())

    return price


@given(member_major(min_objects=3), st.integers(2, 3), seeds)
def test_lloyd_ends_where_no_row_gains(members, k, seed):
    starts, weights, _, _, _, labels = random_problem(members, k, seed)
    n = members.shape[1]
    shift = (members >= 0).sum(axis=0).astype(float)
    price = euclid(members, starts)
    found = lloyd(members, starts, weights, np.ones(n), shift, labels, k, price, max_iter=100)
    counts, sizes, rows = count_table(members, starts, weights, found.labels, k)
    costs, offset, objective = price(counts, sizes)
    assert found.converged
    assert found.objective == pytest.approx(objective, abs=1e-9)
    distances = distances_slowly(members, starts, np.ones(n), costs, offset)
    own = distances[np.arange(n), found.labels]
    assert (own <= distances[:, rows > 0].min(axis=1) + 1e-9).all()
    assert (weights * (own + shift)).sum() == pytest.approx(objective, abs=1e-8)
    assert objective <= price(*count_table(members, starts, weights, labels, k)[:2])[2] + 1e-9
    if len(np.unique(members[:, (members >= 0).all(axis=0)], axis=1).T) >= k:
        assert (rows > 0).all()


def test_result_does_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    members = rng.integers(-2, 5, (6, 200)).astype(np.int8)
    starts, weights, scale, costs, offset, labels = random_problem(members, 4, 1)
    plain = getattr(assign, "py_func", assign)
    if hasattr(consensus_kmeans._move, "py_func"):
        monkeypatch.setattr(consensus_kmeans, "_move", consensus_kmeans._move.py_func)
    results = []
    for block in (200, 67, 12):
        monkeypatch.setattr(consensus_kmeans, "_BLOCK", block)
        monkeypatch.setattr(consensus_kmeans, "_BLOCKS", 2)
        moved, best = labels.copy(), np.empty(200)
        tables = count_table(members, starts, weights, moved, 4)
        plain(members, starts, weights, scale, costs, offset, moved, best, *tables, counter())
        results.append((moved, best))
    compiled, best = labels.copy(), np.empty(200)
    tables = count_table(members, starts, weights, compiled, 4)
    assign(members, starts, weights, scale, costs, offset, compiled, best, *tables, counter())
    for other, values in results:
        np.testing.assert_array_equal(compiled, other)
        np.testing.assert_array_equal(best, values)


def test_empty_centres_take_the_farthest_row():
    members = np.array([[0, 0, 1, 2], [0, 0, 1, 2]], np.int8)
    starts, weights = first_columns(members), np.array([3, 3, 1, 1])
    price = euclid(members, starts)
    shift = np.full(4, 2.0)
    found = lloyd(
        members, starts, weights, np.ones(4), shift, np.zeros(4, np.int32), 3, price, max_iter=9
    )
    assert len(set(found.labels)) == 3
    assert found.labels[0] == found.labels[1]
    assert found.objective == pytest.approx(0.0, abs=1e-12)
