"""Weights near a seed, sizes and scores from them equal their definitions, in both precisions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.kernels.minority.near import (
    entries_needed,
    near_kernel,
    near_scores,
    near_sizes,
    near_weights,
)
from consilience.kernels.minority.weak import Scratch, exponential

FLOATS = [np.float64, np.float32]
# Seeds, objects of every block, the data's width, and the number they are drawn by. Width and
# gamma decide how many are near: none, a few of a group, all.
shapes = st.tuples(
    st.integers(1, 7),
    st.lists(st.sampled_from([1, 5, 64, 65, 150]), min_size=1, max_size=2),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.integers(0, 2**32 - 1),
)


def draw(shape, dtype):
    """Objects of which some are seeds, in blocks: products, row terms, column terms."""
    k, lengths, scale, number = shape
    rng = np.random.default_rng(number)
    X = rng.normal(0, scale, (sum(lengths), 2))
    S = X[rng.integers(0, len(X), k)]
    cuts = np.cumsum(lengths)[:-1]
    rows = (X**2).sum(axis=1).astype(dtype)
    columns = (S**2).sum(axis=1).astype(dtype)
    products = [2 * S @ part.T for part in np.split(X, cuts)]
    return [part.astype(dtype) for part in products], np.split(rows, cuts), columns


def compute(products, rows, columns, kernel):
    """All of a repetition, in arrays no larger than announced."""
    dtype, k = columns.dtype, len(columns)
    lengths = [len(part) for part in rows]
    values = np.full(k * sum(lengths), np.nan, dtype)
    places = np.full((k * sum(entries_needed(b) for b in lengths), 4), -1)
    inverse, sizes = np.full(sum(lengths), np.nan, dtype), np.zeros(k)
    constants, first, used, at = Scratch(dtype).constants, 0, 0, 0
    for part, own in zip(products, rows, strict=True):
        begin, stop = used, first + len(own)
        used, at = near_weights(
            *(part, own, columns, kernel, constants, first),
            *((values, places), used, at, inverse[first:stop]),
        )
        assert used <= len(places)
        near_sizes((values, places), begin, used, inverse, sizes)
        first = stop
    sizes += inverse.sum(dtype=np.float64)
    scores = np.full(len(inverse), sizes.sum())
    near_scores((values, places), 0, used, sizes, scores)
    return used, inverse, sizes, scores * inverse


def by_definition(products, rows, columns, alpha, gamma):
    """Reference: grades of all objects, their sums, and the scores from both."""
    P = np.concatenate(products, axis=1).astype(np.float64)
    gaps = np.concatenate(rows).astype(np.float64) + columns.astype(np.float64)[:, None] - P
    weights = np.exp(2 * alpha * np.exp(-gamma * np.maximum(gaps, 0)))
    total = weights.sum(axis=0)
    grades = weights / total
    sizes = grades.sum(axis=1)
    return 1 / total, sizes, sizes @ grades


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("alpha", "gamma"), [(10.0, 10.0), (0.1, 0.01), (30.0, 1e9), (1e-9, 1.0)])
@given(shape=shapes)
@settings(max_examples=12)
def test_sizes_and_scores_equal_their_definition(dtype, alpha, gamma, shape):
    data = draw(shape, dtype)
    found = compute(*data, near_kernel(alpha, gamma, Scratch(dtype).constants))[1:]
    wanted = by_definition(*data, alpha, gamma)
    # A rounding in the squared distance, at most about 50, counts 2 alpha gamma times; where
    # gamma is so large that it matters, duplicates are 0 apart or somewhat more.
    eps = np.finfo(dtype).eps
    rtol = eps * (100 + 200 * alpha * gamma)
    if gamma < 1e9 or shape[2] == 0:
        for one, two in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, two, rtol=rtol if gamma < 1e9 else 1000 * eps)
    inverse, sizes, scores = found
    np.testing.assert_allclose(sizes.sum(), len(inverse), rtol=1e4 * eps)
    np.testing.assert_allclose(scores.sum(), (sizes**2).sum(), rtol=1e4 * eps)


@pytest.mark.parametrize("dtype", FLOATS)
@given(shape=shapes, gamma=st.sampled_from([0.5, 10.0, 1000.0]))
@settings(max_examples=12)
def test_leaving_out_what_is_far_changes_no_digit(dtype, shape, gamma):
    data = draw(shape, dtype)
    kernel = near_kernel(10.0, gamma, Scratch(dtype).constants)
    every = (*kernel[:2], np.finfo(dtype).max)
    few, inverse, sizes, _ = compute(*data, kernel)
    _, inverse_of_all, sizes_of_all, _ = compute(*data, every)
    np.testing.assert_array_equal(inverse, inverse_of_all)
    # Sums over objects are taken in another order.
    np.testing.assert_allclose(sizes, sizes_of_all, rtol=1e-13)
    assert few <= len(data[2]) * sum(entries_needed(len(part)) for part in data[1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("alpha", [1e-20, 1e-3, 1.0, 10.0, 32.0])
@pytest.mark.parametrize("gamma", [1e-300, 0.1, 10.0, 1e300])
def test_beyond_reach_a_weight_is_one(dtype, alpha, gamma):
    constants = Scratch(dtype).constants
    twice, steep, reach = near_kernel(alpha, gamma, constants)
    assert twice.dtype == steep.dtype == reach.dtype == dtype
    assert np.isfinite([twice, steep, reach]).all()
    assert reach >= 0
    if 0 < reach < 1e30:
        beyond = np.nextafter(reach, dtype(np.inf))
        assert exponential(twice * exponential(-steep * beyond, constants), constants) == 1
        within = reach * dtype(0.9)
        assert exponential(twice * exponential(-steep * within, constants), constants) > 1


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 265.0), (np.float32, 32.5)])
def test_weights_that_could_overflow_are_refused(dtype, most):
    constants = Scratch(dtype).constants
    assert near_kernel(1.01 * most, 1.0, constants) is None
    twice, _, _ = near_kernel(most, 1.0, constants)
    with np.errstate(over="raise"):
        total = exponential(twice, constants) * dtype(1e6)
    assert np.isfinite(total)
    assert dtype(1) / total > np.finfo(dtype).tiny


def test_an_object_at_the_place_of_a_seed_is_near_whatever_gamma():
    kernel = near_kernel(10.0, 1e300, Scratch(np.float64).constants)
    data = [np.zeros((1, 3))], [np.array([0.0, 1.0, 0.0])], np.zeros(1)
    used, inverse, _, _ = compute(*data, kernel)
    assert used == 2
    np.testing.assert_allclose(inverse, [np.exp(-20), 1, np.exp(-20)])
