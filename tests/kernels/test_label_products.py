"""Products with the objects x clusters matrix against the matrix itself."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import member_major

from consilience.kernels.labels import products as label_products
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import cluster_sums, pair_products, row_sums

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
        plain(members, starts, table, 0, 1, out)
        plain_too(members, starts, values, 0, 1, sums)
        np.testing.assert_array_equal(out, rows)
        np.testing.assert_array_equal(sums, clusters)
