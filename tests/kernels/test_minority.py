"""Blocks of weak clusterings equal their definitions, in both precisions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.kernels.minority.weak import (
    Scratch,
    exponential,
    gaussian_grades,
    nearest,
    softmax_grades,
    weighted_scores,
    weighted_sizes,
)

# Errors allowed, in roundings of the type.
FLOATS = [np.float64, np.float32]
blocks = st.tuples(
    st.integers(1, 9), st.sampled_from([1, 5, 16, 40, 257]), st.integers(0, 2**32 - 1)
)


def block(shape, dtype, scale=3.0):
    """Products, rows and columns of a block with whole distances at least 0."""
    k, b, seed = shape
    rng = np.random.default_rng(seed)
    X, S = rng.normal(0, scale, (b, 3)), rng.normal(0, scale, (k, 3))
    rows, columns = (X**2).sum(axis=1), (S**2).sum(axis=1)
    parts = (2 * S @ X.T).astype(dtype), rows.astype(dtype), columns.astype(dtype)
    # What the kernels are given, in double: rounding of the input is not theirs.
    P, r, c = (part.astype(np.float64) for part in parts)
    return (*parts, np.maximum(r + c[:, None] - P, 0), c[:, None] - P)


def grades_slowly(divergence):
    """Reference: the softmax of minus the divergences, seeds by objects."""
    weights = np.exp(-(divergence - divergence.min(axis=0)))
    return weights / weights.sum(axis=0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_exponential_is_right_to_the_last_digits(dtype):
    least = -708.0 if dtype == np.float64 else -87.0
    x = np.linspace(least, 0, 256).astype(dtype)
    near_zero = -np.geomspace(1e-12, 1, 256).astype(dtype)
    for values in (x, near_zero, np.zeros(256, dtype)):
        constants = Scratch(dtype).constants
        found = np.array([exponential(x, constants) for x in values])
        wanted = np.exp(values.astype(np.float64))
        assert np.abs(found / wanted - 1).max() < 3 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_exponential_of_very_negative_numbers_is_nearly_nothing(dtype):
    values = np.array([-1e30, -np.inf, -750], dtype)
    values = np.array([exponential(x, Scratch(dtype).constants) for x in values])
    assert (values >= 0).all()
    assert (values < 1e-37).all()


@pytest.mark.parametrize("dtype", FLOATS)
@given(shape=blocks)
@settings(max_examples=15)
def test_soft_grades_equal_their_definition(dtype, shape):
    products, _, columns, _, gaps = block(shape, dtype)
    inverse = np.empty(products.shape[1], dtype)
    softmax_grades(products, columns, inverse, Scratch(dtype).parts())
    tolerance = 1e-12 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(products * inverse, grades_slowly(gaps), atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("alpha", "gamma"), [(10.0, 10.0), (0.1, 0.01), (1e6, 0.1), (10.0, 1e9)])
@given(shape=blocks)
@settings(max_examples=8)
def test_gaussian_grades_equal_their_definition(dtype, alpha, gamma, shape):
    products, rows, columns, distances, _ = block(shape, dtype, scale=0.5)
    inverse = np.empty(products.shape[1], dtype)
    one = [np.array([value], dtype) for value in (alpha, gamma)]
    gaussian_grades(products, rows, columns, *one, inverse, Scratch(dtype).parts())
    wanted = grades_slowly(-2 * alpha * np.expm1(-gamma * distances))
    if dtype == np.float64:
        # A rounding in the distance counts 2 alpha gamma times in the exponent.
        tolerance = 1e-12 + 1e-15 * 2 * alpha * min(gamma, 1.0)
        np.testing.assert_allclose(products * inverse, wanted, atol=tolerance, rtol=1e-12)
    elif alpha <= 10 and gamma <= 10:
        np.testing.assert_allclose(products * inverse, wanted, atol=2e-3)
    np.testing.assert_allclose((products * inverse).sum(axis=0), 1, rtol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@given(shape=blocks)
@settings(max_examples=15)
def test_sizes_and_scores_equal_the_sum_of_co_occurrences(dtype, shape):
    products, _, columns, _, _ = block(shape, dtype)
    inverse = np.empty(products.shape[1], dtype)
    softmax_grades(products, columns, inverse, Scratch(dtype).parts())
    grades = products.astype(np.float64) * inverse.astype(np.float64)
    sizes = np.full(len(grades), 2.0)
    weighted_sizes(products, inverse, sizes)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(sizes - 2, grades.sum(axis=1), rtol=rtol, atol=rtol)
    scores = np.empty(grades.shape[1])
    weighted_scores(products, inverse, sizes - 2, scores)
    np.testing.assert_allclose(scores, (grades.T @ grades).sum(axis=1), rtol=10 * rtol)


@given(shape=blocks)
@settings(max_examples=20)
def test_nearest_is_the_first_least(shape):
    products, _, columns, _, gaps = block(shape, np.float64)
    # Whole numbers make many ties.
    products, columns = np.rint(products / 8), np.rint(columns / 8)
    labels = np.empty(products.shape[1], np.int32)
    nearest(products, columns, np.full(len(labels), 1e-9), labels)
    np.testing.assert_array_equal(labels, (columns[:, None] - products).argmin(axis=0))
    nearest(*block(shape, np.float64)[:3:2], np.zeros(len(labels)), labels)
    np.testing.assert_array_equal(labels, gaps.argmin(axis=0))


def test_ties_rounded_apart_are_still_ties():
    products = np.array([[1.0], [1.0 + 1e-13], [0.0]])
    labels = np.empty(1, np.int32)
    nearest(products, np.zeros(3), np.array([1e-12]), labels)
    assert labels[0] == 0
