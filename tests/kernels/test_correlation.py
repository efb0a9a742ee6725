"""Costs of correlation clustering and the search by single moves, against all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.correlation import JoinTables, disagreements, label_rows, table_joins
from consilience.kernels.correlation_pairs import JoinPairs, own_costs, pair_costs, pair_joins
from consilience.kernels.moves import search

PLENTY = 2**20


def gaps(members, kind):
    """Matrix of (against - for) joining two objects: the definition, one member at a time."""
    seen = sum((r != -2)[:, None] & (r != -2)[None] for r in members).astype(float)
    joined = sum((r >= 0)[:, None] & (r[:, None] == r[None]) for r in members).astype(float)
    if kind == "seen":
        return (seen - 2 * joined) / len(members), joined / len(members)
    if kind == "all":
        return 1 - 2 * joined / len(members), joined / len(members)
    share = np.divide(joined, seen, out=np.zeros_like(joined), where=seen > 0)
    return 1 - 2 * share, share


def cost(members, labels, kind):
    """Disagreement over all pairs of objects; a negative label is a cluster of its own."""
    gap, share = gaps(members, kind)
    labels = np.where(labels < 0, -1 - np.arange(len(labels)), labels)
    upper = np.triu_indices(len(labels), 1)
    same = (labels[:, None] == labels[None])[upper]
    return share[upper].sum() + gap[upper][same].sum()


def expanded(members, weights, labels):
    """Every row as often as its weight says; copies of a row are in one cluster."""
    alone = labels < 0
    labels = labels.copy()
    labels[alone] = labels.max(initial=-1) + 1 + np.arange(alone.sum())
    return np.repeat(members, weights, axis=1), np.repeat(labels, weights)


@st.composite
def problems(draw, max_weight=3, **kwargs):
    """Members, weights (copies only of rows whose copies are at distance zero), labels, cap."""
    members = draw(member_major(min_objects=2, max_objects=8, **kwargs))
    n = members.shape[1]
    weights = np.array(draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n)))
    solid = (members != -1).all(axis=0) & (members >= 0).any(axis=0)
    weights[~solid] = 1
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)), np.int32)
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    return members, weights, labels, draw(st.integers(4, 9))


@given(problems(), st.booleans())
def test_disagreements_are_those_of_all_pairs(problem, by_seen):
    members, weights, labels, _ = problem
    found = disagreements(members, weights, labels, by_seen=by_seen)
    wanted = cost(*expanded(members, weights, labels), "seen" if by_seen else "all")
    assert found / len(members) == pytest.approx(wanted, abs=1e-9)


@given(problems(), st.booleans())
def test_joining_costs_what_its_pairs_cost(problem, by_seen):
    members, weights, labels, _ = problem
    data = label_rows(members, weights, by_seen=by_seen)
    k = int(labels.max(initial=-1)) + 2
    inside = (labels[:, None] == np.arange(k)) * weights[:, None]
    gap, _ = gaps(members, "seen" if by_seen else "all")
    np.testing.assert_allclose(table_joins(data.rows, data, labels, k), gap @ inside, atol=1e-9)
    np.testing.assert_allclose(data.own / len(members), gap.diagonal() * weights, atol=1e-9)


@given(problems(), st.sampled_from([1, 2]))
def test_joining_costs_what_its_shares_cost(problem, n_jobs):
    members, weights, labels, _ = problem
    rows = np.ascontiguousarray(members.T)
    k = int(labels.max(initial=-1)) + 2
    inside = (labels[:, None] == np.arange(k)) * weights[:, None]
    gap, _ = gaps(members, "pair")
    found = pair_joins(rows, members, weights, labels, k, n_jobs=n_jobs)
    np.testing.assert_allclose(found, gap @ inside, atol=1e-9)
    np.testing.assert_allclose(own_costs(rows, weights), gap.diagonal() * weights, atol=1e-9)


@given(problems())
def test_pair_costs_are_those_of_all_pairs(problem):
    members, weights, labels, _ = problem
    labelings = np.stack([labels, np.zeros_like(labels), np.full_like(labels, -1)])
    found = pair_costs(members, np.ascontiguousarray(members.T), weights, labelings)
    for one, got in zip(labelings, found, strict=True):
        many, spread = np.repeat(members, weights, axis=1), np.repeat(one, weights)
        gap, _ = gaps(many, "pair")
        copies = np.repeat(np.arange(len(weights)), weights)
        same = (spread[:, None] == spread[None]) & (spread >= 0) & (copies[:, None] != copies)
        assert got == pytest.approx(np.triu(gap * same, 1).sum(), abs=1e-9)


def test_many_members_and_blocks_are_counted_alike(seed):
    """More members than a byte counts, and more objects than one block holds."""
    rng = np.random.default_rng(seed)
    members = rng.integers(-2, 3, (300, 40)).astype(np.int8)
    rows, weights = np.ascontiguousarray(members.T), np.ones(40, np.int64)
    labels = rng.integers(0, 3, 40).astype(np.int32)
    gap, _ = gaps(members, "pair")
    found = pair_joins(rows, members, weights, labels, 3)
    np.testing.assert_allclose(found, gap @ np.eye(3)[labels], atol=1e-9)
    wide = np.tile(members[:30], (1, 60))
    labels = np.tile(labels, 60)
    found = pair_joins(rows[:2, :30].copy(), wide, np.ones(2400, np.int64), labels, 3)
    gap, _ = gaps(members[:30], "pair")
    np.testing.assert_allclose(found, 60 * (gap @ np.eye(3)[labels[:40]])[:2], atol=1e-7)


def _state(kind, members, weights, labels, max_bytes=PLENTY):
    if kind == "pair":
        rows = np.ascontiguousarray(members.T)
        return JoinPairs(members, rows, weights, labels, max_bytes)
    return JoinTables(label_rows(members, weights, by_seen=kind == "seen"), labels, max_bytes)


KINDS = st.sampled_from(["seen", "all", "pair"])


@given(problems(), KINDS, st.integers(0, 99), st.sampled_from([0.0, 20.0]))
def test_a_search_ends_where_no_single_move_helps(problem, kind, seed, heat):
    members, weights, labels, cap = problem
    start = labels.copy()
    rng = np.random.default_rng(seed)
    state = _state(kind, members, weights, labels)
    found = search(state, labels, cap=cap, rng=rng, max_iter=50, heat=heat)
    assert found.converged
    assert not found.full
    assert found.labels.min() >= 0
    assert len(np.unique(found.labels)) <= cap
    many, spread = expanded(members, weights, found.labels)
    reached = cost(many, spread, kind)
    if heat == 0 and (start >= 0).all():
        assert reached <= cost(*expanded(members, weights, start), kind) + 1e-9
    for i in range(len(spread)):
        for target in range(spread.max() + 2):
            moved = spread.copy()
            moved[i] = target
            if len(np.unique(moved)) <= cap:
                assert cost(many, moved, kind) >= reached - 1e-6


@given(problems(max_weight=1, noise=False), KINDS)
def test_every_sweep_lowers_the_cost_or_leaves_it(problem, kind):
    members, weights, labels, cap = problem
    labels = np.maximum(labels, 0)
    state = _state(kind, members, weights, labels)
    order, before = np.arange(len(labels)), cost(members, labels, kind)
    for place in range(len(labels)):
        state.sweep(labels, order[: place + 1], place, cap, 0.0, np.empty((2, 0)))
        after = cost(members, labels, kind)
        assert after <= before + 1e-9
        before = after


@pytest.mark.parametrize("kind", ["seen", "all", "pair"])
@pytest.mark.parametrize("hot", [0.0, 5.0])
def test_room_grows_as_clusters_open(kind, hot):
    """Objects that nothing joins all want to be alone: more clusters than there was room for."""
    n = 40
    members = np.stack([np.arange(n), np.arange(n)[::-1]]).astype(np.int8)
    labels, weights = np.zeros(n, np.int32), np.ones(n, np.int64)
    state = _state(kind, members, weights, labels)
    rng = np.random.default_rng(0)
    found = search(state, labels, cap=n, rng=rng, max_iter=300, heat=hot)
    assert found.converged
    assert len(np.unique(found.labels)) == n
    assert state.room >= n


@pytest.mark.parametrize("kind", ["seen", "all", "pair"])
def test_where_memory_ends_so_do_new_clusters(kind):
    n = 40
    members = np.arange(n, dtype=np.int8)[None]
    labels, weights = np.zeros(n, np.int32), np.ones(n, np.int64)
    state = _state(kind, members, weights, labels, max_bytes=1000 if kind == "pair" else 700)
    found = search(state, labels, cap=n, rng=np.random.default_rng(0), max_iter=100)
    assert found.full
    assert found.converged
    assert 1 < len(np.unique(found.labels)) == state.room < n


def test_wide_weights_take_wide_numbers():
    members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    weights = np.array([2**40, 1, 2**40])
    data = label_rows(members, weights)
    state = JoinTables(data, np.array([0, 0, 1], np.int32), PLENTY)
    assert state.table.dtype == np.int64
    narrow = label_rows(members, np.array([9, 1, 9]))
    assert JoinTables(narrow, np.zeros(3, np.int32), 0).table.dtype == np.int32
    np.testing.assert_array_equal(state.sizes[:2], [2**40 + 1, 2**40])
