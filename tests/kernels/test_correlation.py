"""Costs of correlation clustering and the search by single moves, against all pairs."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.pairs import moves, small_clusters
from consilience.kernels.pairs.correlation import (
    disagreements,
    empty_tables,
    label_rows,
    table_joins,
)
from consilience.kernels.pairs.correlation_unseen import own_costs, pair_costs, pair_joins
from consilience.kernels.pairs.moves import local_search

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


def _search(kind, members, weights, labels, **params):
    data = label_rows(members, weights, by_seen=kind == "seen")
    rng = np.random.default_rng(params.pop("seed", 0))
    return local_search(data, labels, rng=rng, share=kind == "pair", **params)


KINDS = st.sampled_from(["seen", "all", "pair"])


@given(problems(), KINDS, st.integers(0, 99), st.sampled_from([0.0, 20.0]))
def test_a_search_ends_where_no_single_move_helps(problem, kind, seed, heat):
    members, weights, labels, cap = problem
    if kind == "all":  # there a gap speaks against joining, so copies with gaps are apart
        weights = np.where((members >= 0).all(axis=0), weights, 1)
    start = labels.copy()
    few = {"max_bytes": 0} if seed % 2 else {}
    found = _search(
        kind, members, weights, labels, cap=cap, seed=seed, heat=heat, cooling=0.7, **few
    )
    np.testing.assert_array_equal(labels, start)
    assert found.converged
    assert len(np.unique(found.labels)) == found.labels.max() + 1 <= cap
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


@given(problems(max_weight=1), KINDS, st.integers(0, 99))
def test_every_move_lowers_the_cost(problem, kind, seed):
    members, weights, labels, cap = problem
    labels = np.maximum(labels, 0)
    data = label_rows(members, weights, by_seen=kind == "seen")
    state = moves._State(data, labels, kind == "pair", PLENTY)
    before = cost(members, labels, kind)
    for i in np.random.default_rng(seed).permutation(len(labels)):
        moved = state.sweep(np.array([i]), cap, 0.0, np.empty((2, 0)))
        after = cost(members, state.labels(), kind)
        assert after < before - 1e-12 if moved else after == pytest.approx(before)
        before = after


@pytest.mark.parametrize("kind", ["seen", "all", "pair"])
@pytest.mark.parametrize("heat", [0.0, 5.0])
def test_objects_that_nothing_joins_are_left_alone(kind, heat):
    """One cluster of many falls apart into the small_clusters."""
    n = 40
    members = np.stack([np.arange(n), np.arange(n)[::-1]]).astype(np.int8)
    labels, weights = np.zeros(n, np.int32), np.ones(n, np.int64)
    found = _search(kind, members, weights, labels, cap=n, heat=heat, cooling=0.6)
    assert found.converged
    assert len(np.unique(found.labels)) == n


@pytest.mark.parametrize(("kind", "heat"), [("seen", 0), ("all", 0), ("pair", 0), ("all", 5)])
@pytest.mark.parametrize("max_bytes", [0, 200, PLENTY])
def test_many_large_clusters_grow_out_of_the_pool(kind, max_bytes, heat):
    """Thirty groups of eight, from nothing: more than the tables have room for at first."""
    truth = np.repeat(np.arange(30), 8)
    members = np.stack([truth] * 3).astype(np.int8)
    start, weights = np.full(240, -1, np.int32), np.ones(240, np.int64)
    params = {"cap": 240, "heat": heat, "cooling": 0.4, "max_bytes": max_bytes}
    found = _search(kind, members, weights, start, **params)
    np.testing.assert_array_equal(np.unique(found.labels + 100 * truth).size, 30)
    assert found.labels.max() == 29


@pytest.mark.parametrize("kind", ["seen", "all", "pair"])
@pytest.mark.parametrize("heat", [0.0, 30.0])
def test_tables_and_pool_agree_on_larger_problems(kind, heat, seed):
    """Neighbours in the pool are not overlooked: every end is a local optimum, by definition."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    members = np.where(rng.random((9, 60)) < 0.35, rng.integers(-2, 4, (9, 60)), truth)
    members = members.astype(np.int16)
    gap, _ = gaps(members, kind)
    for max_bytes in (0, PLENTY):
        params = {"cap": 60, "seed": seed, "heat": heat, "cooling": 0.6, "max_bytes": max_bytes}
        found = _search(kind, members, np.ones(60, np.int64), members[0].astype(np.int32), **params)
        assert found.converged
        joins = (gap - np.diag(gap.diagonal())) @ np.eye(found.labels.max() + 1)[found.labels]
        here = joins[np.arange(60), found.labels]
        assert (here <= np.minimum(joins.min(axis=1), 0) + 1e-9).all()


def test_wide_weights_take_wide_numbers():
    members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    heavy = label_rows(members, np.array([2**40, 1, 2**40]))
    assert empty_tables(heavy, 2).table.dtype == np.int64
    assert empty_tables(label_rows(members, np.array([9, 1, 9])), 2).table.dtype == np.int32
    joins = table_joins(heavy.rows, heavy, np.array([0, 0, 1], np.int32), 2)
    np.testing.assert_array_equal(joins[:, 0], [-(2**40), -1.0, 2**40])


@pytest.mark.parametrize("weight", [2**29 - 1, 2**29, 2**29 + 1])
def test_tables_hold_the_largest_sum_there_can_be(weight):
    """2 * R * (all weights), on both sides of what a narrow number holds."""
    data = label_rows(np.zeros((2, 1), np.int8), np.array([weight]))
    kind = np.iinfo(empty_tables(data, 1).table.dtype)
    assert kind.max >= 4 * weight
    assert kind.bits == 32 or 4 * weight > np.iinfo(np.int32).max


@given(problems(max_weight=1), KINDS, st.integers(0, 99))
def test_hardly_any_heat_takes_no_move_that_costs(problem, kind, seed):
    members, weights, labels, cap = problem
    labels = np.maximum(labels, 0)
    data = label_rows(members, weights, by_seen=kind == "seen")
    state = moves._State(data, labels, kind == "pair", PLENTY)
    rng = np.random.default_rng(seed)
    before = cost(members, labels, kind)
    for i in rng.permutation(len(labels)):
        state.sweep(np.array([i]), cap, 1e-9, rng.random((2, 1)))
        after = cost(members, state.labels(), kind)
        assert after <= before + 1e-6
        before = after


def test_of_equally_cheap_groups_the_first_in_the_pool_is_taken():
    best_group = getattr(small_clusters.best_group, "py_func", small_clusters.best_group)
    counts = np.array([3, 3, 1])
    held = SimpleNamespace(counts=counts, held=np.array([2, 0, 1]), group=np.array([0, 1, 2]))
    assert best_group(held, -1, np.array([1.0, 1.0, 1.0])) == 2
    assert best_group(held, 2, np.array([1.0, 1.0, 1.0])) == 0
    assert best_group(held, 2, np.array([1.0, 0.5, 0.0])) == 1
