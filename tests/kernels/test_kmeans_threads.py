"""Many k-means are the same in every bit: on any number of threads, in any groups and runs."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy import sparse

from consilience.kernels import _parallel
from consilience.kernels._blocks import BLOCK_ROWS, add_in_tree
from consilience.kernels._locks import release, take
from consilience.kernels.kmeans import passes
from consilience.kernels.kmeans.many import many_kmeans, nearest_of_many
from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans
from consilience.kernels.kmeans.sums import add_part, make_parts, part_view, push, touch

# Plain Python is a thousand times slower: smaller data there, same properties.
SMALL = bool(config.DISABLE_JIT)
JOBS = (1, 2, 3, 5)


@pytest.fixture(autouse=True)
def threads_for_little(monkeypatch):
    """Threads are started however little there is to do."""
    monkeypatch.setattr("consilience.kernels.kmeans.runs._A_THREAD", 1)


def problem(n, seed, n_members=6, d=3):
    """Rough data with groups, and members with their own clusters, objects and features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, d))[rng.integers(0, 7, n)] * 3 + rng.standard_t(3, (n, d))
    rows, features, starts = [], [], []
    for m in range(n_members):
        own = np.sort(rng.choice(n, max(1, n // 2), replace=False)) if m % 3 == 1 else None
        columns = np.array([0, d - 1]) if m % 3 == 2 else None
        k = min(2 + m, n if own is None else len(own))
        chosen = rng.choice(n if own is None else own, k, replace=False)
        starts.append(X[chosen] if columns is None else X[np.ix_(chosen, columns)])
        rows.append(own)
        features.append(columns)
    return X, starts, {"rows": rows, "features": features}


def assert_equal_bits(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.inertia, other.inertia)
    np.testing.assert_array_equal(one.n_iter, other.n_iter)
    np.testing.assert_array_equal(one.converged, other.converged)
    for first, second in zip(one.centres, other.centres, strict=True):
        np.testing.assert_array_equal(first, second)


OPTIONS = [
    {},
    {"online": True, "max_iter": 5},
    {"tol": 0.05, "assign_all": False},
    {"spherical": True, "max_iter": 7},
]


@settings(max_examples=4 if SMALL else 12)
@given(
    st.integers(0, 0 if SMALL else 4),
    st.integers(-3, 3),
    st.integers(0, 2**32 - 1),
    st.sampled_from(OPTIONS),
)
def test_threads_change_no_bit(n_blocks, beyond, seed, options):
    n = max(40 if SMALL else 2, n_blocks * BLOCK_ROWS + beyond)
    X, starts, own = problem(n, seed, n_members=3 if SMALL else 6)
    runs = [many_kmeans(X, starts, n_jobs=jobs, **own, **options) for jobs in JOBS]
    for other in runs[1:]:
        assert_equal_bits(other, runs[0])


@pytest.mark.parametrize("most", [1, 2, 3, 5])
@pytest.mark.parametrize("options", OPTIONS)
def test_the_length_of_runs_of_blocks_changes_no_bit(monkeypatch, most, options):
    X, starts, own = problem(60 if SMALL else 6 * BLOCK_ROWS + 501, most)
    wanted = many_kmeans(X, starts, **own, **options)
    monkeypatch.setattr(passes, "_MOST_RUNS", most)
    for jobs in (1, 3):
        assert_equal_bits(many_kmeans(X, starts, n_jobs=jobs, **own, **options), wanted)


@pytest.mark.parametrize("together", [1, 2, 100])
def test_groups_of_members_change_no_bit(monkeypatch, together):
    X, starts, own = problem(60 if SMALL else 2 * BLOCK_ROWS + 17, 3)
    wanted = many_kmeans(X, starts, **own)
    monkeypatch.setattr(passes, "_TOGETHER", together)
    monkeypatch.setattr(passes, "_SUM_BYTES", 1)  # and as few at a time as there can be
    assert_equal_bits(many_kmeans(X, starts, n_jobs=2, **own), wanted)


def test_inertia_is_added_by_blocks_and_in_their_tree():
    X, starts, own = problem(200 if SMALL else 3 * BLOCK_ROWS + 11, 5)
    runs = many_kmeans(X, starts, n_jobs=2, **own)
    for m, centres in enumerate(runs.centres):
        columns = slice(None) if own["features"][m] is None else own["features"][m]
        apart = X[:, columns] - centres[runs.labels[m]]
        squares = np.zeros(len(X))
        for f in range(apart.shape[1]):
            squares += apart[:, f] * apart[:, f]
        mine = np.ones(len(X), bool)
        if own["rows"][m] is not None:
            mine[:] = False
            mine[own["rows"][m]] = True
        edges = [*range(0, len(X), BLOCK_ROWS), len(X)]
        parts = [np.cumsum(squares[a:b][mine[a:b]])[-1] for a, b in pairwise(edges)]
        assert runs.inertia[m] == float(add_in_tree(np.array(parts)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sparse_and_mini_batch_members_do_not_depend_on_threads(form):
    n = 50 if SMALL else BLOCK_ROWS + 3
    X, starts, own = problem(n, 8, n_members=4)
    data, rng = form(np.where(np.abs(X) > 1, X, 0.0)), np.random.default_rng(0)
    batches = [rng.integers(0, n, (3, 20)) for _ in starts]
    lloyd = [many_kmeans(data, starts, n_jobs=jobs, max_iter=6, **own) for jobs in JOBS]
    mini = [many_minibatch_kmeans(data, starts, batches, n_jobs=jobs, **own) for jobs in JOBS]
    for runs in (lloyd, mini):
        for other in runs[1:]:
            assert_equal_bits(other, runs[0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_new_objects_go_where_old_ones_would(form):
    X, starts, own = problem(80 if SMALL else BLOCK_ROWS + 99, 2)
    runs = many_kmeans(X, starts, **own)
    for jobs in (1, 3):
        labels = nearest_of_many(form(X), runs.centres, features=own["features"], n_jobs=jobs)
        np.testing.assert_array_equal(labels, runs.labels)
    # Far away from all centres, where single precision tells nothing.
    there = nearest_of_many(form(X * 1e6 + 1e9), runs.centres, features=own["features"])
    for m, centres in enumerate(runs.centres):
        columns = slice(None) if own["features"][m] is None else own["features"][m]
        far = (X * 1e6 + 1e9)[:, columns]
        total = np.zeros((len(far), len(centres)))
        for f in range(far.shape[1]):
            total += (far[:, f, None] - centres[None, :, f]) ** 2
        np.testing.assert_array_equal(there[m], total.argmin(axis=1))


def test_a_stack_of_parts_adds_them_in_the_tree():
    rng = np.random.default_rng(4)
    place, n_levels = (0, 0, 2, 1), 3
    values = rng.normal(size=(8, 2)) * 10.0 ** rng.integers(-9, 10, (8, 2))
    for n in range(1, 9):
        stack, whole = make_parts(n_levels + 2, 2, 2), make_parts(8, 2, 2)
        leaf, total = part_view(stack, n_levels, place), part_view(stack, n_levels + 1, place)
        for block in range(n):
            some = np.array([c for c in (0, 1) if (block + c) % 3], np.int32)  # not all clusters
            for part in (leaf, part_view(whole, block, place)):
                touch(part, some)
                part.sums[some, 0, 0] += values[block, some]
                part.counts[some] += block + 1
            push(stack, place, n_levels, block, total)
        passes.flush(stack, place, n_levels, total)
        passes.add_tree(whole, place)
        wanted = part_view(whole, 0, place)
        np.testing.assert_array_equal(total.touched, wanted.touched)
        for c in np.flatnonzero(wanted.touched):
            np.testing.assert_array_equal(total.sums[c], wanted.sums[c])
            assert total.counts[c] == wanted.counts[c]
        assert not stack.touched[: n_levels + 1].any()
        assert not whole.touched[1:].any()


def test_adding_a_part_keeps_what_rounding_takes():
    parts = make_parts(2, 1, 1)
    left, right = (part_view(parts, row, (0, 0, 1, 1)) for row in range(2))
    for part, value in ((left, 1.0), (right, 2.0**-60)):
        touch(part, np.array([0], np.int32))
        part.sums[0, 0, 0] = value
    add_part(left, right)
    assert left.sums[0].ravel().tolist() == [1.0, 2.0**-60]
    assert not right.touched[0]


@pytest.mark.skipif(SMALL, reason="plain Python has no such lock")
def test_the_lock_lets_one_in_at_a_time():
    from consilience.kernels._jit import compiled

    @compiled
    def count(cell, total, n):
        for _ in range(n):
            take(cell)
            total[0] += 1
            release(cell)

    cell, total = np.zeros(1, np.int64), np.zeros(1, np.int64)
    count(cell, total, 1)
    threads = [threading.Thread(target=count, args=(cell, total, 100_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 400_001
    assert cell[0] == 0


def test_a_failure_in_one_thread_ends_the_others(monkeypatch):
    if SMALL:
        pytest.skip("one thread only in plain Python")
    X, starts, own = problem(3 * BLOCK_ROWS, 1)
    call, failed = passes.take_units, []

    def fails_once(*args):
        if not failed:
            failed.append(True)
            raise MemoryError("no room")
        return call(*args)

    monkeypatch.setattr(passes, "take_units", fails_once)
    with pytest.raises(MemoryError, match="no room"):
        many_kmeans(X, starts, n_jobs=3, **own)


def test_turns_are_told_to_stop_when_one_fails():
    over = threading.Event()

    def turn(first, step):
        if first == 1:
            raise ValueError("here")
        assert over.wait(20)

    with pytest.raises(ValueError, match="here"):
        _parallel.in_turns(turn, 3, 3, over.set)
    assert over.is_set()
