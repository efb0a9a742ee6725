"""k-means of numbers and categories, beside its definition in indicators."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.kernels.kmeans.prototypes import prototypes


def prototypes_slowly(numbers, codes, number_weights, code_weights, starts, max_iter):
    """Reference: indicators beside the numbers, means of what is known, squared distances."""
    parts, weights = [numbers], [number_weights]
    for j, column in enumerate(codes.T):
        split = (column[:, None] == np.arange(column.max(initial=-1) + 1)).astype(float)
        split[column < 0] = np.nan
        parts.append(split)
        weights.append(np.full(split.shape[1], 0.5 * code_weights[j]))
    X, w = np.hstack(parts), np.concatenate(weights)
    known = ~np.isnan(X)
    cells = np.where(known, X, 0.0)
    centres = cells[starts]
    labels = np.full(len(X), -1)
    for _ in range(max_iter):
        costs = [((known * w) * (cells - centre) ** 2).sum(axis=1) for centre in centres]
        new = np.argmin(np.round(costs, 12), axis=0)
        if (new == labels).all():
            break
        labels = new
        for c in np.unique(labels):
            its = labels == c
            counts = known[its].sum(axis=0)
            centres[c] = cells[its].sum(axis=0) / np.maximum(counts, 1)
    return labels


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
def test_labels_are_those_of_the_definition(seed, p, q, k):
    rng = np.random.default_rng(seed)
    n = 12
    numbers = rng.normal(size=(n, p))
    numbers[rng.uniform(size=numbers.shape) < 0.2] = np.nan
    codes = rng.integers(-1, 3, (n, q)).astype(np.int32)
    weights = rng.uniform(0.1, 2, p), rng.uniform(0.1, 2, q)
    starts = rng.choice(n, k, replace=False).astype(np.int64)
    got = prototypes(numbers, codes, *weights, starts, max_iter=5)
    np.testing.assert_array_equal(got, prototypes_slowly(numbers, codes, *weights, starts, 5))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_round_lowers_the_cost(missing):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (60, 4)).astype(np.int32)
    codes[rng.uniform(size=codes.shape) < missing] = -1
    numbers, one = np.empty((60, 0)), np.ones(4)
    starts = np.arange(4, dtype=np.int64)

    def cost(labels):
        total = 0.0
        for c in np.unique(labels):
            for column in codes[labels == c].T:
                shares = np.bincount(column[column >= 0], minlength=3)
                size = max(shares.sum(), 1)
                total += 0.5 * (size - (shares**2).sum() / size)
        return total

    rounds = [
        cost(prototypes(numbers, codes, np.empty(0), one, starts, max_iter=m)) for m in range(1, 6)
    ]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(rounds))
