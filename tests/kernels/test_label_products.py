"""Products with the objects x clusters matrix against the matrix itself."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.labels import products as label_products
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import (
    cluster_sums,
    pair_products,
    part_sums,
    row_sums,
)

seeds = st.integers(0, 2**31)


def one_hot(members):
    """Reference: the dense matrix B of objects x all clusters."""
    starts = first_columns(members)
    B = np.zeros((members.shape[1], starts[-1]))
    for r, labels in enumerate(members):
        for i, label in enumerate(labels):
            if label >= 0:
                B[i, starts[r] + label] = 1
    return B


@given(member_major(), seeds, st.integers(1, 3))
def test_row_and_cluster_sums_equal_the_products(members, seed, k):
    rng = np.random.default_rng(seed)
    B, starts = one_hot(members), first_columns(members)
    table, values = rng.random((B.shape[1], k)), rng.random((B.shape[0], k))
    np.testing.assert_allclose(row_sums(members, starts, table), B @ table, atol=1e-12)
    np.testing.assert_allclose(cluster_sums(members, starts, values), B.T @ values, atol=1e-12)


@given(member_major(), seeds, st.integers(1, 3))
def test_part_sums_equal_the_product(members, seed, k):
    rng = np.random.default_rng(seed)
    n = members.shape[1]
    parts, weights = rng.integers(-1, k, n).astype(np.int32), rng.random(n)
    inside = (parts[:, None] == np.arange(k)) * weights[:, None]
    got = part_sums(members, first_columns(members), parts, k, weights)
    np.testing.assert_allclose(got, one_hot(members).T @ inside, atol=1e-12)


def test_sums_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(label_products, "_WORTH", 1)
    rng = np.random.default_rng(3)
    members = rng.integers(-2, 4, (5, 3000)).astype(np.int8)
    starts, values = first_columns(members), rng.random((3000, 3))
    table, parts = rng.random((starts[-1], 3)), rng.integers(-1, 4, 3000).astype(np.int32)
    for n_jobs in (2, 3, 7):
        for call, given_ in (
            (row_sums, (table,)),
            (cluster_sums, (values,)),
            (part_sums, (parts, 4, values[:, 0])),
        ):
            one = call(members, starts, *given_)
            np.testing.assert_array_equal(one, call(members, starts, *given_, n_jobs=n_jobs))


@given(member_major(), seeds)
def test_pair_products_equal_the_matrices_of_pairs(members, seed):
    weights = np.random.default_rng(seed).random(members.shape[1])
    root = np.sqrt(weights)[:, None]
    starts = first_columns(members)
    scaled = one_hot(members) * root
    pairs = [scaled[:, a:z] @ scaled[:, a:z].T for a, z in pairwise(starts)]
    wanted = [[(one * other).sum() for other in pairs] for one in pairs]
    got = pair_products(members, weights)
    np.testing.assert_allclose(got, wanted, atol=1e-12)
    np.testing.assert_array_equal(got, pair_products(members, weights, n_jobs=2))


def test_sums_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(3)
    members = rng.integers(-2, 4, (5, 300)).astype(np.int8)
    starts, values = first_columns(members), rng.random((300, 3))
    table = rng.random((starts[-1], 3))
    plain = getattr(label_products._row_sums, "py_func", label_products._row_sums)
    plain_too = getattr(label_products._cluster_sums, "py_func", label_products._cluster_sums)
    rows, clusters = row_sums(members, starts, table), cluster_sums(members, starts, values)
    for block in (7, 300, 1000):
        monkeypatch.setattr(label_products, "_BLOCK", block)
        out, sums = np.zeros((300, 3)), np.zeros((int(starts[-1]), 3))
        plain(members, starts, table, np.zeros(1, np.int64), out)
        plain_too(members, starts, values, 0, 1, sums)
        np.testing.assert_array_equal(out, rows)
        np.testing.assert_array_equal(sums, clusters)
