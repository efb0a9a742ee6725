"""Correlation clustering, part by part, beside costs that are added up pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.consensus import _correlation
from consilience.consensus._correlation import (
    Problem,
    Run,
    attach,
    balls,
    best_member,
    completed,
    cut_at_half,
    furthest,
    numbered,
    within,
    without_singles,
)

LABELS = st.lists(st.integers(-1, 4), min_size=1, max_size=8).map(lambda x: np.array(x, np.int32))
CASES = [(by_seen, lowest) for by_seen in (True, False) for lowest in (-2, 0)]


def rows(seed, lowest, n=7, n_members=4):
    """Rows that differ, with and without unseen labels, and how many objects each stands for."""
    rng = np.random.default_rng(seed)
    members = rng.integers(lowest, 3, (n_members, n)).astype(np.int8)
    # Nothing is unseen by all, and noise stands for itself only.
    members[0] = np.arange(n) % 3
    weights = np.where((members == -1).any(axis=0), 1, rng.integers(1, 4, n))
    return members, weights


def problem_of(seed, by_seen, lowest, **options):
    members, weights = rows(seed, lowest, **options)
    return Problem(members, weights, by_seen=by_seen, max_bytes=2**20)


def against(problem, i, j):
    """What it costs a pair of objects of two rows to be together, and to be apart."""
    a, b = problem.members[:, i], problem.members[:, j]
    seen, joined = int(((a != -2) & (b != -2)).sum()), int(((a == b) & (a >= 0)).sum())
    each = len(a) if problem.by_seen else max(seen, 1)
    return ((seen - joined) / each if seen or problem.by_seen else 1.0), joined / each


def cost(problem, labels):
    total = 0.0
    for i in range(problem.n_rows):
        for j in range(i):
            together, apart = against(problem, i, j)
            same = labels[i] == labels[j] and labels[i] >= 0
            total += problem.weights[i] * problem.weights[j] * (together if same else apart)
    return total


@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_costs_and_joins_are_those_of_all_pairs(by_seen, lowest, seed):
    problem = problem_of(seed, by_seen, lowest)
    assert problem.pairwise == (lowest == -2 and not by_seen)
    labels = np.array([0, 1, -1, 2, 0, 1, 1], np.int32)
    other = np.array([0, 0, 0, 1, 1, -1, -2], np.int32)
    wanted = [cost(problem, one) for one in (labels, other)]
    np.testing.assert_allclose(problem.costs([labels, other]), wanted)
    np.testing.assert_allclose(problem.costs([other]), wanted[1:])
    some = np.array([1, 2, 6])
    joins = problem.joins(some, labels, 3)
    assert joins.shape == (3, 3)
    for place, i in enumerate(some):
        alone = labels.copy()
        alone[i] = -1
        for q in range(3):
            moved = labels.copy()
            moved[i] = q
            change = cost(problem, moved) - cost(problem, alone)
            assert problem.weights[i] * joins[place, q] == pytest.approx(change)
    np.testing.assert_allclose(
        problem.totals(), problem.joins(np.arange(7), np.zeros(7, np.int32), 1)[:, 0]
    )


@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_some_rows_are_a_problem_of_their_own(by_seen, lowest, seed):
    problem = problem_of(seed, by_seen, lowest)
    chosen = np.array([5, 0, 3])
    weights = problem.weights[chosen] + (problem.weights[chosen] > 1)
    part = problem.take(chosen, weights)
    np.testing.assert_array_equal(part.members, problem.members[:, chosen])
    np.testing.assert_array_equal(part.weights, weights)
    assert (part.by_seen, part.max_bytes, part.n_jobs) == (by_seen, 2**20, 1)
    labels = np.array([0, 0, 1], np.int32)
    assert part.costs([labels])[0] == pytest.approx(cost(part, labels))
    fresh = Problem(part.members, weights, by_seen=by_seen, max_bytes=2**20)
    np.testing.assert_allclose(
        part.joins(np.arange(3), labels, 2), fresh.joins(np.arange(3), labels, 2)
    )


@given(LABELS)
def test_clusters_of_one_need_no_table(labels):
    sizes = {label: labels.tolist().count(label) for label in set(labels.tolist())}
    found = without_singles(labels)
    large = sorted(label for label, size in sizes.items() if label >= 0 and size > 1)
    wanted = [large.index(label) if label in large else -1 for label in labels]
    assert found.tolist() == wanted
    assert found.dtype == np.int32


@given(LABELS)
def test_every_cluster_gets_a_number(labels):
    names, kept = sorted({label for label in labels.tolist() if label >= 0}), labels.copy()
    alone = iter(range(len(names), len(names) + len(labels)))
    wanted = [names.index(label) if label >= 0 else next(alone) for label in labels.tolist()]
    found = numbered(labels)
    assert found.tolist() == wanted
    assert found.dtype == np.int32
    np.testing.assert_array_equal(labels, kept)


def best_joins(problem, labels, objects, *, may_stay):
    """Where each object costs least, all of them looking at the same clusters.

    The first of equals, or any where sums of shares are rounded.
    """
    found = []
    for i in objects:
        costs = []
        for q in range(labels.max() + 1):
            there = [j for j in range(problem.n_rows) if labels[j] == q and j != i]
            pairs = [against(problem, i, j) for j in there]
            costs.append(
                sum(problem.weights[j] * (a - b) for j, (a, b) in zip(there, pairs, strict=True))
            )
        costs = np.round(costs, 9)
        best = np.flatnonzero(costs == costs.min())
        best = set(best.tolist() if problem.pairwise else best[:1].tolist())
        if may_stay and costs.min() > 0:
            best = {-1}
        elif may_stay and costs.min() == 0 and problem.pairwise:
            best.add(-1)
        found.append(best)
    return found


def joined(problem, found, labels, objects, *, may_stay):
    """Whether these went where they cost least, and the others stayed."""
    wanted = best_joins(problem, labels, objects, may_stay=may_stay)
    others = np.setdiff1d(np.arange(len(labels)), objects)
    np.testing.assert_array_equal(found[others], labels[others])
    return all(found[i] in best for i, best in zip(objects, wanted, strict=True))


@pytest.mark.parametrize("block", [2, 1 << 16])
@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_rows_are_attached_where_they_suit(by_seen, lowest, block, seed, monkeypatch):
    monkeypatch.setattr(_correlation, "_BLOCK", block)
    problem = problem_of(seed, by_seen, lowest, n=9)
    labels = np.array([0, 1, -1, 2, 0, 1, 1, -1, -1], np.int32)
    objects, kept = np.array([2, 3, 7, 8, 0]), labels.copy()
    for may_stay in (True, False):
        found = attach(problem, labels, objects, may_stay=may_stay)
        assert joined(problem, found, labels, objects, may_stay=may_stay)
    np.testing.assert_array_equal(labels, kept)


@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
@pytest.mark.parametrize("cap", [1, 2, 3, 4, 9])
def test_the_smallest_clusters_join_the_others(by_seen, lowest, cap, seed):
    problem = problem_of(seed, by_seen, lowest)
    labels = np.array([5, 2, 5, -1, 2, 2, 5], np.int32)
    names = np.array([1, 0, 1, 2, 0, 0, 1])
    sizes = np.bincount(names, problem.weights)
    found = within(problem, labels, cap)
    if cap >= 3:
        np.testing.assert_array_equal(found, names)
        return
    kept = sorted(range(3), key=lambda q: -sizes[q])[:cap]
    start = np.array([kept.index(q) if q in kept else -1 for q in names], np.int32)
    assert joined(problem, found, start, np.flatnonzero(start < 0), may_stay=False)


@pytest.mark.parametrize("by_seen", [True, False])
def test_a_member_is_completed_where_it_saw_nobody(by_seen):
    # The third row is with the first two in the other members, the last with nobody.
    members = np.array(
        [[4, 4, -2, 1, 1, -1, -2], [0, 0, 0, 1, 1, 2, 3], [0, 0, 0, 1, 1, 2, 3]], np.int8
    )
    problem = Problem(members, np.ones(7), by_seen=by_seen, max_bytes=2**20)
    assert completed(problem, 0, 7).tolist() == [1, 1, 1, 0, 0, -1, -1]
    assert completed(problem, 0, 4).tolist() == [1, 1, 1, 0, 0, -1, -1]
    assert completed(problem, 1, 7).tolist() == [0, 0, 0, 1, 1, 2, 3]
    three = completed(problem, 0, 3)
    assert three.min() == 0
    assert three.max() == 2
    np.testing.assert_array_equal(three, within(problem, completed(problem, 0, 7), 3))
    # A member that placed nobody is of single rows.
    nobody = np.array([[-2, -2, -1], [0, 0, 1]], np.int8)
    problem = Problem(nobody, np.ones(3), by_seen=by_seen, max_bytes=2**20)
    assert completed(problem, 0, 3).tolist() == [-1, -1, -1]


@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_members_are_ranked_by_their_costs(by_seen, lowest, seed):
    problem = problem_of(seed, by_seen, lowest)
    runs = _correlation._ranked(problem, 7)
    costs = [cost(problem, run.labels) for run in runs]
    assert np.round(costs, 9).tolist() == sorted(np.round(costs, 9).tolist())
    assert sorted(run.start for run in runs) == [f"member {r}" for r in range(4)]
    for run in runs:
        np.testing.assert_array_equal(run.labels, completed(problem, int(run.start[-1]), 7))
    best = best_member(problem, 7)
    assert best.start == runs[0].start
    # Equal ones in their order.
    twice = Problem(problem.members[[1, 0, 1, 0]], problem.weights, by_seen=by_seen,
                    max_bytes=2**20)  # fmt: skip
    assert [run.start for run in _correlation._ranked(twice, 7)] in (
        ["member 0", "member 2", "member 1", "member 3"],
        ["member 1", "member 3", "member 0", "member 2"],
        ["member 0", "member 1", "member 2", "member 3"],
    )


@pytest.mark.parametrize(
    ("heights", "cap", "found"),
    [
        ([0.1, 0.2, 0.3], 9, 1),
        ([0.1, 0.2, 0.5], 9, 2),
        ([0.1, 0.5 - 1e-10, 0.5], 9, 3),
        ([0.1, 0.5 - 1e-9, 0.6], 9, 3),
        ([0.1, 0.5 - 3e-9, 0.6], 9, 2),
        ([0.6, 0.7, 0.8], 9, 4),
        ([0.6, 0.7, 0.8], 3, 3),
        ([0.6, 0.7, 0.8], 1, 1),
        ([0.1, 0.7, 0.8], 3, 3),
    ],
)
def test_trees_are_cut_where_clusters_are_half_apart(heights, cap, found):
    tree = np.array([[0, 1, 0, 2], [2, 3, 0, 2], [4, 5, 0, 4.0]])
    tree[:, 2] = heights
    labels = cut_at_half(tree, cap)
    assert len(set(labels.tolist())) == found
    wanted = {1: [0, 0, 0, 0], 2: [0, 0, 1, 1], 3: [0, 0, 1, 2], 4: [0, 1, 2, 3]}[found]
    names = list(dict.fromkeys(labels.tolist()))
    assert [names.index(label) for label in labels] == wanted


def distances(problem):
    """Of all rows: one minus the share of the members that saw both; 1 where none did."""
    n = problem.n_rows
    far = 1.0 - np.eye(n)
    for i in range(n):
        for j in set(range(n)) - {i}:
            a, b = problem.members[:, i], problem.members[:, j]
            seen, joined = ((a != -2) & (b != -2)).sum(), ((a == b) & (a >= 0)).sum()
            far[i, j] = 1 - joined / seen if seen else 1.0
    return far


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.4, 0.5])
@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_balls_are_those_of_the_paper(by_seen, lowest, alpha, seed):
    problem = problem_of(seed, by_seen, lowest, n=10)
    far, weights = distances(problem), problem.weights
    order = np.argsort(problem.totals(), kind="stable")
    labels, k = [-1] * 10, 0
    for centre in order:
        if labels[centre] >= 0:
            continue
        near = [j for j in range(10) if labels[j] < 0 and far[centre, j] <= 0.5 and j != centre]
        labels[centre] = k
        held = sum(weights[j] for j in near) + weights[centre] - 1
        if near and sum(weights[j] * far[centre, j] for j in near) <= alpha * held + 1e-12:
            for j in near:
                labels[j] = k
        k += 1
    assert balls(problem, alpha, 10).labels.tolist() == numbered(np.array(labels)).tolist()
    few = balls(problem, alpha, 2).labels
    np.testing.assert_array_equal(few, within(problem, np.array(labels, np.int32), 2))


@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
@pytest.mark.parametrize("cap", [1, 2, 10])
def test_centres_are_as_far_apart_as_possible(by_seen, lowest, cap, seed):
    problem = problem_of(seed, by_seen, lowest, n=10)
    far = distances(problem)
    first = int(problem.totals().argmax())
    centres, labels = [first], np.zeros(10, int)
    best = cost(problem, labels)
    while len(centres) < cap:
        least = far[:, centres].min(axis=1)
        centre = int(np.round(least, 9).argmax())
        trial = far[:, [*centres, centre]].argmin(axis=1)
        # The first centre's cluster is of all that no later one is nearer to.
        if least[centre] == 0 or cost(problem, trial) >= best - 1e-9:
            break
        centres, labels, best = [*centres, centre], trial, cost(problem, trial)
    assert furthest(problem, cap).labels.tolist() == labels.tolist()


def test_rows_that_are_all_alike_have_one_centre():
    problem = Problem(np.zeros((2, 3), np.int8), np.ones(3), by_seen=False, max_bytes=2**20)
    assert furthest(problem, 3).labels.tolist() == [0, 0, 0]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 20), st.integers(0, 9))
def test_a_draw_is_of_objects_without_replacement(weights, size, seed):
    weights = np.array(weights)
    chosen, drawn = _correlation._draw(weights, size, np.random.default_rng(seed))
    assert drawn.sum() == min(size, weights.sum())
    assert (drawn <= weights[chosen]).all()
    assert (drawn > 0).all()
    assert sorted(set(chosen.tolist())) == chosen.tolist()


@pytest.mark.parametrize("block", [2, 1 << 16])
@pytest.mark.parametrize(("by_seen", "lowest"), CASES)
def test_rows_out_of_a_sample_go_where_they_are_no_worse_than_alone(
    by_seen, lowest, block, seed, monkeypatch
):
    monkeypatch.setattr(_correlation, "_BLOCK", block)
    whole = problem_of(seed, by_seen, lowest, n=10)
    sample = whole.take(np.arange(5), whole.weights[:5])
    clusters, left = np.array([0, 1, 0, 2, 1], np.int32), np.array([9, 5, 6, 8, 7])
    found = _correlation._suitable(sample, clusters, whole.data.rows, left)
    start = np.concatenate([clusters, np.full(5, -1, np.int32)])
    labels = start.copy()
    labels[left] = found
    assert joined(whole, labels, start, left, may_stay=True)


def test_a_search_starts_from_as_many_members_as_seeds_and_from_what_is_added(monkeypatch):
    problem = problem_of(0, False, 0)
    asked = []

    def improve(self, labels, *, cap, seed, max_iter, hot):
        asked.append((labels.tolist(), cap, seed, max_iter, hot))
        return _correlation.Moved(labels, 7, False)

    monkeypatch.setattr(Problem, "improve", improve)
    ranked = _correlation._ranked(problem, 5)
    extra = Run(np.array([0, 0, 1, 1, 2, 2, 0], np.int32), "extra")
    found = _correlation.search_from(problem, [extra], cap=5, seeds=[11, 12], max_iter=9, hot=True)
    starts = [*ranked[:2], extra]
    assert asked == [
        (run.labels.tolist(), 5, seed, 9, True)
        for run, seed in zip(starts, (11, 12, 11), strict=True)
    ]
    costs = [cost(problem, run.labels) for run in starts]
    assert found.start == starts[int(np.argmin(costs))].start
    assert (found.n_iter, found.converged) == (7, False)
    _correlation.search_from(problem, (), cap=5, seeds=[11], max_iter=9)
    assert asked[3:] == [(ranked[0].labels.tolist(), 5, 11, 9, False)]


@pytest.mark.parametrize("cap", [1, 2, 5])
def test_rows_that_suit_nobody_join_once_the_clusters_are_used_up(cap):
    members = np.tile(np.arange(6, dtype=np.int8), (3, 1))
    problem = Problem(members, np.ones(6, int), by_seen=False, max_bytes=2**20)
    run = _correlation.sampling(problem, 1, cap=cap, seeds=[3], max_iter=5)
    assert run.n_iter == cap
    assert set(run.labels.tolist()) == set(range(cap))


def test_samples_are_drawn_until_nobody_is_left():
    members = np.tile(np.arange(6, dtype=np.int8), (3, 1))
    problem = Problem(members, np.ones(6, int), by_seen=False, max_bytes=2**20)
    run = _correlation.sampling(problem, 2, cap=6, seeds=[3], max_iter=5)
    assert run.n_iter == 3
    assert sorted(run.labels.tolist()) == list(range(6))
    whole = _correlation.sampling(problem, 6, cap=6, seeds=[3], max_iter=5)
    assert whole.n_iter == 1
    # All that are alike are attached to the one that was drawn.
    alike = Problem(np.zeros((3, 6), np.int8), np.ones(6, int), by_seen=False, max_bytes=2**20)
    assert _correlation.sampling(alike, 1, cap=6, seeds=[3], max_iter=5).labels.tolist() == [0] * 6
    # The last sample makes no more clusters than are left.
    three = _correlation.sampling(problem, 2, cap=3, seeds=[3], max_iter=5)
    assert set(three.labels.tolist()) == {0, 1, 2}
    assert three.n_iter == 2


def test_rows_join_the_clusters_of_a_sample_that_they_are_like(seed):
    """Five of eight rows are of both kinds, whichever are drawn."""
    kinds = np.repeat([0, 1], 4).astype(np.int8)
    problem = Problem(np.tile(kinds, (3, 1)), np.ones(8, int), by_seen=False, max_bytes=2**20)
    run = _correlation.sampling(problem, 5, cap=8, seeds=[seed], max_iter=5)
    assert run.n_iter == 1
    assert run.labels.tolist() in (kinds.tolist(), (1 - kinds).tolist())
