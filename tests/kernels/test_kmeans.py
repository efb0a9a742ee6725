"""Many k-means against the plain definition, bit for bit."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from consilience.kernels.kmeans.many import many_kmeans, nearest_of_many
from consilience.kernels.kmeans.members import BLOCK, make_members, member_of
from consilience.kernels.kmeans.scan import (
    TILE,
    certain_gap,
    make_scratch,
    make_sieve,
    padded_columns,
    scan,
    two_nearest,
)

# Plain Python is a thousand times slower: smaller data there, same properties.
SMALL = bool(config.DISABLE_JIT)


def squared_distances(X, centres):
    """All pairs, squares added in the order of the features."""
    total = np.zeros((len(X), len(centres)))
    for f in range(X.shape[1]):
        total += (X[:, f, None] - centres[None, :, f]) ** 2
    return total


def refill(distance, labels, k):
    """The empty-cluster rule, word for word; True if it moved somebody."""
    moved = False
    counts = np.bincount(labels, minlength=k)
    for c in np.flatnonzero(counts == 0):
        able = [i for i in range(len(labels)) if counts[labels[i]] > 1 and distance[i] > 0]
        if not able:
            break
        far = max(able, key=lambda i: (distance[i], -i))
        counts[labels[far]] -= 1
        counts[c] += 1
        labels[far] = c
        moved = True
    return moved


def means(X, labels, before, spherical):
    centres = before.copy()
    for c in np.unique(labels):
        inside = X[labels == c]
        centre = np.array([math.fsum(column) for column in inside.T]) / len(inside)
        squared = 0.0
        for value in centre:
            squared += value * value
        centres[c] = centre / math.sqrt(squared) if spherical and squared > 0 else centre
    return centres


def plain_lloyd(X, start, max_iter=100, tol=0.0, spherical=False):
    """Reference: Lloyd's iteration with exact sums; labels, centres, iterations, converged."""
    X = X.astype(np.float64)
    centres, labels = np.array(start, np.float64), None
    limit = tol * X.var(axis=0).mean()
    for t in range(max_iter):
        distance = squared_distances(X, centres)
        new = distance.argmin(axis=1)
        moved = refill(distance[np.arange(len(X)), new], new, len(centres))
        if not moved and labels is not None and np.array_equal(new, labels):
            return labels, centres, t + 1, True
        labels, before = new, centres
        centres = means(X, labels, before, spherical)
        if limit > 0 and np.sum((centres - before) ** 2) <= limit:
            return squared_distances(X, centres).argmin(axis=1), centres, t + 1, True
    return squared_distances(X, centres).argmin(axis=1), centres, max_iter, False


def expect(X, start, rows=None, features=None, assign_all=True, **options):
    """Reference for one member with its own rows and features."""
    own = X if features is None else X[:, features]
    used = np.arange(len(X)) if rows is None else rows
    found, centres, n_iter, converged = plain_lloyd(own[used], start, **options)
    labels = np.full(len(X), -2)
    if assign_all:
        labels = squared_distances(own.astype(np.float64), centres).argmin(axis=1)
    labels[used] = found
    inertia = squared_distances(own[used].astype(np.float64), centres)
    return labels, centres, inertia[np.arange(len(used)), found].sum(), n_iter, converged


def assert_as_expected(X, starts, rows=None, features=None, **options):
    runs = many_kmeans(X, starts, rows=rows, features=features, **options)
    for m, start in enumerate(starts):
        labels, centres, inertia, n_iter, converged = expect(
            X, start, rows and rows[m], features and features[m], **options
        )
        np.testing.assert_array_equal(runs.labels[m], labels)
        np.testing.assert_array_equal(runs.centres[m], centres)
        np.testing.assert_allclose(runs.inertia[m], inertia, rtol=1e-12, atol=1e-300)
        assert (runs.n_iter[m], runs.converged[m]) == (n_iter, converged)
    return runs


@st.composite
def tables(draw):
    """Small data: grids full of ties and duplicates, or rough floats, at some scale and offset."""
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        X = rng.integers(0, draw(st.integers(1, 6)), (n, d)).astype(np.float64)
    else:
        X = rng.standard_t(2, (n, d))
    X = X * 10.0 ** draw(st.integers(-5, 5)) + draw(st.sampled_from([0.0, 0.0, 1.0, -1e6, 1e8]))
    return X.astype(draw(st.sampled_from([np.float64, np.float64, np.float32]))), rng


@st.composite
def ensembles(draw):
    """Data and members, each with its own k, rows, features and start."""
    X, rng = draw(tables())
    rows, features, starts = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        some = [
            np.sort(rng.choice(size, rng.integers(1, size + 1), replace=False))
            if draw(st.booleans())
            else None
            for size in X.shape
        ]
        own = X if some[0] is None else X[some[0]]
        own = own if some[1] is None else own[:, some[1]]
        k = int(rng.integers(1, min(len(own), 5) + 1))
        # With replacement: starts may coincide, and clusters begin empty.
        starts.append(own[rng.integers(0, len(own), k)])
        rows.append(some[0])
        features.append(some[1])
    return X, starts, rows, features


@given(ensembles(), st.booleans(), st.sampled_from([1, 2, 100]), st.booleans())
def test_every_member_equals_plain_lloyd(ensemble, assign_all, max_iter, spherical):
    X, starts, rows, features = ensemble
    options = {"assign_all": assign_all, "max_iter": max_iter, "spherical": spherical}
    assert_as_expected(X, starts, rows, features, **options)


@given(ensembles(), st.sampled_from([1e-4, 0.1, 10.0]))
def test_tolerance_stops_as_defined(ensemble, tol):
    X, starts, rows, features = ensemble
    assert_as_expected(X, starts, rows, features, tol=tol)


def blobs(n, d, seed, *, k=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(k, d))[rng.integers(0, k, n)] * 4 + rng.normal(size=(n, d))
    return np.where(rng.random((n, 1)) < 0.2, rng.uniform(-12, 12, (n, d)), X)


@pytest.mark.parametrize("seed", range(2 if SMALL else 6))
def test_many_blocks_equal_plain_lloyd(seed):
    n = 150 if SMALL else BLOCK + TILE + 77
    X = blobs(n, 1 + 2 * seed, seed)
    rng = np.random.default_rng(seed)
    rows = [None, np.sort(rng.choice(n, n // 2, replace=False)), None]
    starts = [X[rng.choice(n if r is None else r, 2 + 3 * seed, replace=False)] for r in rows]
    assert_as_expected(X, starts, rows, max_iter=8 if SMALL else 60)


@pytest.mark.parametrize("power", [20, 27])
def test_a_common_offset_changes_nothing(power):
    n = 80 if SMALL else 3000
    # Multiples of 2^-10: adding the offset is exact, so the data is the same data elsewhere.
    X = np.round(blobs(n, 4, 1) * 2**10) / 2**10
    starts = [X[:5], X[7:20]]
    here = many_kmeans(X, starts)
    there = many_kmeans(X + 2.0**power, [start + 2.0**power for start in starts])
    np.testing.assert_array_equal(here.labels, there.labels)
    np.testing.assert_allclose(here.inertia, there.inertia, rtol=1e-7)
    for near, far in zip(here.centres, there.centres, strict=True):
        np.testing.assert_allclose(near, far - 2.0**power, atol=2.0 ** (power - 50))


def test_one_huge_value_leaves_the_rest_exact():
    # The sieve sees nothing of the other objects then: the judge decides for all of them.
    X = blobs(60 if SMALL else 600, 3, 2)
    X[11, 1] = 1e13
    assert_as_expected(X, [X[:4], X[20:26]])


@pytest.mark.parametrize("seed", range(3))
def test_inertia_is_that_of_scikit_learn(seed):
    X = blobs(100 if SMALL else 2000, 5, seed)
    starts = [X[:k] for k in (2, 5, 11)]
    for tol in (0.0, 1e-3):
        runs = many_kmeans(X, starts, tol=tol, max_iter=100)
        for m, start in enumerate(starts):
            with threadpool_limits(1):
                other = KMeans(len(start), init=start, n_init=1, max_iter=100, tol=tol).fit(X)
            np.testing.assert_allclose(runs.inertia[m], other.inertia_, rtol=1e-9)
            assert runs.n_iter[m] == other.n_iter_


@given(ensembles(), st.booleans())
def test_a_member_does_not_depend_on_the_others(ensemble, online):
    X, starts, rows, features = ensemble
    together = many_kmeans(X, starts, rows=rows, features=features, online=online)
    for m in range(len(starts)):
        alone = many_kmeans(
            X, starts[m : m + 1], rows=rows[m : m + 1], features=features[m : m + 1], online=online
        )
        np.testing.assert_array_equal(alone.labels[0], together.labels[m])
        np.testing.assert_array_equal(alone.centres[0], together.centres[m])
        assert alone.inertia[0] == together.inertia[m]
        assert alone.n_iter[0] == together.n_iter[m]


def test_groups_of_members_in_threads_get_the_same_result():
    X = blobs(100 if SMALL else 2000, 4, 7)
    starts = [X[m : m + 3 + m] for m in range(8)]
    together = many_kmeans(X, starts)
    with ThreadPoolExecutor(4) as pool:
        groups = list(pool.map(lambda g: many_kmeans(X, starts[g::4]), range(4)))
    for g, group in enumerate(groups):
        np.testing.assert_array_equal(group.labels, together.labels[g::4])
        np.testing.assert_array_equal(group.inertia, together.inertia[g::4])


def test_members_that_wait_their_turn_get_the_same_result(monkeypatch):
    X = blobs(90, 3, 4)
    starts = [X[m : m + 4] for m in range(5)]
    rows = [None, np.arange(50), None, np.arange(20, 90), None]
    at_once = many_kmeans(X, starts, rows=rows)
    monkeypatch.setattr("consilience.kernels.kmeans.runs._BOUND_BYTES", 2 * 4 * len(X))
    in_turns = many_kmeans(X, starts, rows=rows)
    np.testing.assert_array_equal(in_turns.labels, at_once.labels)
    np.testing.assert_array_equal(in_turns.inertia, at_once.inertia)


def test_single_precision_data_gives_the_result_of_the_same_numbers():
    X = blobs(200, 3, 5).astype(np.float32)
    single, double = (many_kmeans(data, [X[:6]]) for data in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(single.labels, double.labels)
    np.testing.assert_array_equal(single.centres[0], double.centres[0])


def test_empty_clusters_take_the_farthest_objects():
    X = np.array([[0.0], [1.0], [2.0], [30.0], [50.0]])
    start = np.array([[0.0], [100.0], [200.0]])  # object 4 is halfway: a tie, so cluster 0
    runs = many_kmeans(X, [start], max_iter=1)
    np.testing.assert_array_equal(runs.centres[0], [[1.0], [50.0], [30.0]])


def test_equally_far_objects_go_in_order():
    X = np.array([[-1.0], [1.0], [0.0]])
    runs = many_kmeans(X, [np.array([[0.0], [9.0]])], max_iter=1)
    np.testing.assert_array_equal(runs.centres[0], [[0.5], [-1.0]])


@pytest.mark.parametrize("n_distinct", [1, 2, 3])
def test_too_few_distinct_objects_leave_clusters_empty(n_distinct):
    X = np.repeat(np.arange(float(n_distinct)), 4)[:, None]
    runs = many_kmeans(X, [X[[0, 0, 0, 4 % len(X), 11 % len(X)]]])
    assert runs.converged[0]
    assert runs.inertia[0] == 0.0
    assert len(np.unique(runs.labels[0])) == n_distinct


def test_as_many_clusters_as_objects():
    X = np.array([[0.0], [0.0], [5.0], [7.0]])
    runs = many_kmeans(X, [np.zeros((4, 1))])
    assert runs.inertia[0] == 0.0
    assert len(np.unique(runs.labels[0])) == 3


def test_no_members_and_read_only_input():
    X = np.ones((3, 2))
    X.setflags(write=False)
    assert many_kmeans(X, []).labels.shape == (0, 3)
    assert many_kmeans(X, [X[:1]]).labels.tolist() == [[0, 0, 0]]


def test_spherical_keeps_a_centre_without_direction():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    runs = many_kmeans(X, [np.array([[0.0, -0.1], [0.0, 1.0]])], spherical=True, max_iter=1)
    np.testing.assert_array_equal(runs.centres[0], [[0.0, 0.0], [0.0, 1.0]])


def test_spherical_and_online_exclude_each_other():
    with pytest.raises(ValueError, match="spherical"):
        many_kmeans(np.ones((3, 2)), [np.ones((1, 2))], spherical=True, online=True)


@given(tables(), st.integers(1, 5))
def test_what_the_sieve_calls_certain_is_so(table, k):
    X, rng = table
    X = X.astype(np.float64)
    centres = X[rng.integers(0, len(X), k)] + rng.normal(size=(k, X.shape[1])) * X.std() * 1e-3
    sieve, scratch, features = make_sieve(X), make_scratch(X.shape[1]), np.arange(X.shape[1])
    one = member_of(make_members([centres], [features], sieve, np.empty((1, len(X)), np.int32)), 0)
    columns = padded_columns(features, X.shape[1])
    scan(sieve.strips[0], columns, len(X), one.coarse, one.weights, scratch)
    norms, reach = sieve.strips[0, -1], one.reach[0]
    certain_gap(scratch.nearest, scratch.second, norms, len(X), reach, len(columns), scratch.gap)
    for i in range(len(X)):
        if scratch.gap[i] > 0:
            label, nearest, second = two_nearest(X, i, features, centres)
            assert label == scratch.label[i]
            assert scratch.gap[i] <= (math.sqrt(second) - math.sqrt(nearest)) * sieve.scale


def test_no_objects_and_no_members_are_done_at_once():
    """A sieve made of other objects knows the range: there may be none to place."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    sieve = make_sieve(X, 1)
    assert nearest_of_many(X[:0], [X[:2]], sieve=sieve).shape == (1, 0)
    assert many_kmeans(X[:0], [X[:2]], sieve=sieve).labels.shape == (1, 0)
    assert nearest_of_many(X, []).shape == (0, 6)
    assert many_kmeans(X, []).labels.shape == (0, 6)
