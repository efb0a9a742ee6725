"""Passes over rows against plain products of dense matrices."""

import numpy as np
import pytest
from scipy import sparse

from consilience.kernels.data.tall import (
    csr_gram,
    dense_dots,
    dense_sum,
    dense_sum_of_dots,
    sparse_dots,
    sparse_sum,
    sparse_sum_of_dots,
)


@pytest.fixture(params=[1, 2, 3])
def case(request):
    """A table with empty rows and columns, some of its rows, counts, and a direction."""
    rng = np.random.default_rng(request.param)
    F = rng.random((12, 5)) * (rng.random((12, 5)) < 0.5)
    chosen = rng.permutation(12)[: rng.integers(0, 12)]
    return F, sparse.csr_array(F), chosen, rng.integers(0, 4, len(chosen)), rng.normal(size=5)


def test_dots(case):
    F, csr, chosen, _, direction = case
    wanted = F[chosen] @ direction
    found = sparse_dots(csr.indptr, csr.indices, csr.data, chosen, direction)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(dense_dots(F, chosen, direction), wanted, atol=1e-12)


def test_sums(case):
    F, csr, chosen, counts, _ = case
    wanted = counts @ F[chosen]
    found = sparse_sum(csr.indptr, csr.indices, csr.data, chosen, counts, 5)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(dense_sum(F, chosen, counts), wanted, atol=1e-12)


def test_sums_of_dots(case):
    F, csr, chosen, counts, direction = case
    wanted = (counts * (F[chosen] @ direction)) @ F[chosen]
    parts = (csr.indptr, csr.indices, csr.data)
    found = sparse_sum_of_dots(*parts, chosen, counts, direction)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    found = dense_sum_of_dots(F, chosen, counts, direction)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_one_value_stands_for_all(case):
    F, csr, chosen, counts, direction = case
    F, two = 2.0 * (F > 0), np.array([2.0])
    parts = (csr.indptr, csr.indices, two)
    found = sparse_dots(*parts, chosen, direction)
    np.testing.assert_allclose(found, F[chosen] @ direction, atol=1e-12)
    found = sparse_sum(*parts, chosen, counts, 5)
    np.testing.assert_allclose(found, counts @ F[chosen], atol=1e-12)
    found = sparse_sum_of_dots(*parts, chosen, counts, direction)
    wanted = (counts * (F[chosen] @ direction)) @ F[chosen]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_gram(case):
    F, csr, *_ = case
    weights = np.arange(12.0)
    found = np.zeros((5, 5))
    csr_gram(csr.indptr, csr.indices, csr.data, weights, found)
    np.testing.assert_allclose(found, F.T @ (weights[:, None] * F), atol=1e-12)
