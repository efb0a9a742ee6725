"""Balanced parts without the matrix, against the matrix and against brute force."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.partition import balanced, balanced_rows


def soft_rows(seed, n, p):
    rng = np.random.default_rng(seed)
    F = rng.random((n, p)) ** 3
    return F / np.linalg.norm(F, axis=1, keepdims=True)


def cut_of(F, labels):
    """Reference: the matrix."""
    S = F @ F.T
    return float(S[labels[:, None] != labels[None, :]].sum() / 2)


def best_cut(F, sizes):
    """Reference: all ways to fill parts of the sizes given."""
    slots = np.repeat(np.arange(len(sizes)), sizes)
    return min(cut_of(F, np.array(way)) for way in set(permutations(slots.tolist())))


@given(st.integers(0, 2**31), st.integers(2, 20), st.integers(1, 5), st.integers(1, 6))
def test_cut_and_sizes_are_those_of_the_labels(seed, n, p, k):
    k = min(k, n)
    F = soft_rows(seed, n, p)
    found = balanced_rows(F, k, random_state=seed)
    assert found.cut == pytest.approx(cut_of(F, found.labels), abs=1e-9)
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels, minlength=k))
    assert found.sizes.max() - found.sizes.min() <= 1
    assert found.solver == "balanced"


@given(st.integers(0, 2**31), st.integers(2, 20), st.integers(2, 5))
def test_sparse_rows_give_the_same_as_dense_ones(seed, n, k):
    k = min(k, n)
    F = soft_rows(seed, n, 4)
    F[F < 0.3] = 0
    dense = balanced_rows(F, k, random_state=seed)
    sparse_ = balanced_rows(sparse.csr_array(F), k, random_state=seed)
    np.testing.assert_array_equal(dense.labels, sparse_.labels)


@pytest.mark.parametrize(
    ("sizes", "bound"), [((3, 3), 1.05), ((2, 4), 1.05), ((2, 2, 2), 1.05), ((1, 2, 3), 1.2)]
)
def test_tiny_cases_come_close_to_brute_force(seed, sizes, bound):
    """Single cuts may rest at a local optimum, more so where sizes differ; not on average."""
    ratios = []
    for i in range(12):
        F = soft_rows(100 * seed + i, 6, 3)
        found = balanced_rows(F, len(sizes), sizes=sizes, random_state=i)
        np.testing.assert_array_equal(found.sizes, sizes)
        ratios.append(found.cut / best_cut(F, sizes))
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) < bound


@settings(max_examples=25)
@given(st.integers(0, 2**31))
def test_no_swap_of_two_objects_of_a_bisection_gains_the_linear_part(seed):
    """At rest every object of the first side is pulled to it at least as much as any other."""
    F = soft_rows(seed, 16, 4)
    found = balanced_rows(F, 2, random_state=seed)
    first = found.labels == 0
    pull = F @ (F[first].sum(axis=0) - F[~first].sum(axis=0))
    assert pull[first].min() >= pull[~first].max() - 1e-9


@pytest.mark.parametrize(
    ("sizes", "n_seeds"),
    [([20] * 10, 4), ([5, 10, 10, 15, 20, 20, 20, 25, 35, 40], 4), ([20] * 3, 60)],
)
def test_no_pair_of_several_parts_gains_the_linear_part(sizes, n_seeds):
    n, k = sum(sizes), len(sizes)
    for seed in range(n_seeds):
        F = np.random.default_rng(seed).dirichlet(np.full(12, 0.5), n)
        labels = balanced_rows(F, k, sizes=sizes, random_state=seed).labels
        sums = np.stack([F[labels == q].sum(axis=0) for q in range(k)])
        for a in range(k):
            for b in range(a):
                pull = F @ (sums[a] - sums[b])
                assert pull[labels == a].min() >= pull[labels == b].max() - 1e-9


def test_what_gains_nothing_does_not_move():
    rows, objects = np.zeros((6, 2)), np.arange(6)
    search = balanced._Search(balanced._Rows.of(rows), objects, np.ones(2))
    sides, taken = balanced._Sides(np.zeros(2), np.zeros(2)), np.array([0, 0, 0, 1, 1, 1])
    kept = balanced._refine(search, objects, np.ones(6, int), 3, taken, sides)
    assert kept[0] is taken
    assert kept[1] is sides


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_planted_groups_are_found_in_any_order(seed, k):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(k), 10))
    F = 0.1 * rng.random((10 * k, k))
    F[np.arange(10 * k), truth] += 1
    labels = balanced_rows(F, k, random_state=seed).labels
    assert len(set(zip(labels, truth, strict=True))) == k


@given(st.integers(0, 2**31), st.integers(2, 6), st.integers(2, 5))
def test_shared_rows_give_parts_as_good_as_single_ones(seed, n_rows, k):
    """Equal objects may share a row: sizes hold, and the cut is that of the labels."""
    rng = np.random.default_rng(seed)
    F = soft_rows(seed, n_rows, 3)
    groups = rng.integers(0, n_rows, 20)
    found = balanced_rows(F, k, groups=groups, random_state=seed)
    assert found.labels.shape == (20,)
    assert found.sizes.max() - found.sizes.min() <= 1
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels, minlength=k))
    assert found.cut == pytest.approx(cut_of(F[groups], found.labels), abs=1e-9)


def test_shared_rows_split_only_where_balance_demands_it(seed):
    F = np.eye(3)
    groups = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], [6, 3, 3]))
    found = balanced_rows(F, 2, groups=groups, random_state=seed)
    assert len(set(found.labels[groups == 0])) == 1
    assert found.cut == 0


def test_order_does_not_leak_into_ties():
    firsts = [balanced_rows(np.ones((40, 1)), 2, random_state=s).labels[:20] for s in range(30)]
    together = np.mean([max(np.mean(f == 0), np.mean(f == 1)) for f in firsts])
    assert together < 0.68
    groups = np.zeros(40, int)
    rows = [
        balanced_rows(np.ones((1, 1)), 2, groups=groups, random_state=s).labels[:20]
        for s in range(30)
    ]
    assert np.mean([max(np.mean(f == 0), np.mean(f == 1)) for f in rows]) < 0.68


def test_the_seed_decides_and_nothing_else(seed):
    F = soft_rows(3, 30, 4)
    first, second = (balanced_rows(F, 4, random_state=seed).labels for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_one_part_and_as_many_as_objects():
    F = soft_rows(0, 5, 3)
    assert balanced_rows(F, 1).labels.tolist() == [0] * 5
    assert sorted(balanced_rows(F, 5, random_state=0).labels) == [0, 1, 2, 3, 4]


def test_rows_of_zeros_are_objects_like_others():
    F = np.zeros((6, 2))
    assert balanced_rows(F, 3, random_state=0).sizes.tolist() == [2, 2, 2]
    assert balanced_rows(sparse.csr_array(F), 3, random_state=0).sizes.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "sizes", [(3, 2), (2, 2, 1), (0, 3, 3), (-1, 4, 3), (2.5, 1.5, 2), ((2, 2, 2),)]
)
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(InvalidInputError, match="3 whole numbers of at least 1 that add up to 6"):
        balanced_rows(soft_rows(0, 6, 2), 3, sizes=sizes)


def test_wrong_rows_are_refused():
    with pytest.raises(InvalidParameterError, match=r"number of objects, 3. Got 4"):
        balanced_rows(np.ones((3, 2)), 4)
    with pytest.raises(InvalidInputError, match="finite"):
        balanced_rows(np.full((3, 2), np.nan), 2)
    with pytest.raises(InvalidInputError, match="table of rows"):
        balanced_rows(np.ones(3), 1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_scale_of_the_rows_changes_nothing(seed, form):
    F = form((np.random.default_rng(seed).random((120, 30)) < 0.3).astype(float))
    wanted = balanced_rows(F, 2, random_state=seed)
    for scale in (2.0**-40, 2.0**40):  # powers of two, so that there is no rounding
        got = balanced_rows(F * scale, 2, random_state=seed)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        assert got.cut == wanted.cut * scale**2
