"""Sums over objects: near the exact ones, and the same bits whoever makes which part of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from scipy import sparse

from consilience.kernels._blocks import (
    BLOCK_ROWS,
    add_in_tree,
    block_slices,
    n_blocks_of,
    sum_of_rows,
    tree_sum,
)
from consilience.kernels.data.columns import column_facts

# Plain Python is a thousand times slower: smaller data there, same properties.
SMALL = bool(config.DISABLE_JIT)
JOBS = (1, 2, 3, 5)

seeds = st.integers(0, 2**32 - 1)


def rough(seed, *shape):
    """Numbers of very different size and both signs: their sum hangs on the order."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape)


@st.composite
def rows_around_a_border(draw):
    """Numbers of rows just before, at and after the ends of blocks."""
    n_blocks = draw(st.integers(0, 1 if SMALL else 5))
    return max(1, n_blocks * BLOCK_ROWS + draw(st.integers(-3, 3)))


def tree_by_definition(parts):
    """The tree, word for word: halves at the largest power of two below the number of parts."""
    if len(parts) == 1:
        return parts[0]
    half = 1 << ((len(parts) - 1).bit_length() - 1)
    return tree_by_definition(parts[:half]) + tree_by_definition(parts[half:])


def in_order(values):
    """Plain addition from the first to the last."""
    return np.cumsum(values, axis=0)[-1] if len(values) else 0.0


@given(seeds, st.integers(1, 40))
def test_the_tree_is_the_one_defined_and_near_the_exact_sum(seed, n):
    parts = rough(seed, n)
    total = float(add_in_tree(parts))
    assert total == tree_by_definition(parts) == tree_sum(parts)
    slack = (n.bit_length() + 1) * 2.0**-53 * np.abs(parts).sum()
    assert abs(total - math.fsum(parts)) <= slack


@given(seeds, st.integers(1, 64), st.integers(0, 6))
def test_sums_of_aligned_runs_of_blocks_are_nodes_of_the_tree(seed, n, level):
    parts, size = rough(seed, n, 3), 1 << level
    runs = [add_in_tree(parts[at : at + size]) for at in range(0, n, size)]
    np.testing.assert_array_equal(add_in_tree(np.array(runs)), add_in_tree(parts))
    np.testing.assert_array_equal(tree_sum(iter(parts)), add_in_tree(parts))


def test_no_blocks_add_up_to_nothing():
    np.testing.assert_array_equal(add_in_tree(np.empty((0, 2))), [0.0, 0.0])
    assert n_blocks_of(0) == 0
    assert sum_of_rows(np.empty(0), 0) == 0.0


@given(rows_around_a_border(), seeds)
def test_a_sum_of_rows_goes_by_blocks_of_their_global_numbers(n, seed):
    values = rough(seed, n)
    blocks = [in_order(values[at : at + BLOCK_ROWS]) for at in range(0, n, BLOCK_ROWS)]
    assert sum_of_rows(values, n) == tree_by_definition(blocks)
    rows = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.5)
    some = [in_order(values[rows[part]]) for part in block_slices(n, rows)]
    assert sum_of_rows(values[rows], n, rows) == tree_by_definition(np.array(some))
    assert all(
        (rows[part] // BLOCK_ROWS == b).all() for b, part in enumerate(block_slices(n, rows))
    )


@given(rows_around_a_border(), seeds, st.booleans(), st.sampled_from([np.float64, np.float32]))
def test_column_facts_are_the_same_bits_on_any_number_of_threads(n, seed, some, kind):
    X = rough(seed, n, 3).astype(kind)
    rows = None
    if some:
        rows = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.5)
        rows = rows if rows.size else np.array([n - 1])
    facts = [column_facts(X, rows=rows, n_jobs=jobs) for jobs in JOBS]
    for other in facts[1:]:
        np.testing.assert_array_equal(other, facts[0])
    own = (X if rows is None else X[rows]).astype(np.float64)
    blocks = [in_order(own[part]) * np.ones(3) for part in block_slices(n, rows)]
    np.testing.assert_array_equal(facts[0].mean, tree_by_definition(blocks) / len(own))
    np.testing.assert_allclose(facts[0].variance, own.var(axis=0), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(facts[0].low, own.min(axis=0))
    np.testing.assert_array_equal(facts[0].high, own.max(axis=0))


def test_column_facts_of_a_sparse_matrix_are_those_of_its_array():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((BLOCK_ROWS + 7, 4)) < 0.3, rng.normal(size=(BLOCK_ROWS + 7, 4)), 0.0)
    for rows in (None, np.arange(5, BLOCK_ROWS + 7, 3)):
        dense, stored = (column_facts(form, rows=rows) for form in (X, sparse.csr_array(X)))
        np.testing.assert_allclose(stored, dense, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(stored.mean, dense.mean)


def test_a_column_of_one_value_has_no_variance_to_speak_of():
    facts = column_facts(np.full((9, 1), 0.1))
    assert facts.low == facts.high == 0.1
    assert facts.variance[0] <= 1e-33


@pytest.mark.parametrize("jobs", JOBS)
def test_columns_far_from_zero_keep_their_variance(jobs):
    X = np.random.default_rng(1).normal(size=(3 * BLOCK_ROWS if not SMALL else 50, 2))
    there = column_facts(X + 2.0**26, n_jobs=jobs)
    np.testing.assert_allclose(there.variance, (X + 2.0**26).var(axis=0), rtol=1e-12)
