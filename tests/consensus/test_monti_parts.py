"""Pairs and their consensus, part by part: which pairs are drawn, and data that are shuffled."""

import numpy as np
import pytest
from scipy import sparse

from consilience.consensus._monti import permuted, random_pairs


def test_any_two_different_objects_are_drawn_either_way():
    rng = np.random.default_rng(0)
    drawn = set()
    for _ in range(60):
        first, second = random_pairs(20, 189, rng)
        drawn |= {*zip(first.tolist(), second.tolist(), strict=True)}
    assert drawn == {(i, j) for i in range(20) for j in range(20) if i != j}


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_columns_that_are_nearly_empty_are_shuffled_one_by_one(form, seed):
    dense = np.zeros((12, 4))
    dense[[1, 5], 0] = 1.0, 2.0
    dense[[2, 3, 11], 2] = 3.0, 4.0, 5.0
    dense[0, 3] = 6.0
    given = form(dense)
    found = permuted(given, np.random.default_rng(seed))
    assert found.format == "csr"
    np.testing.assert_array_equal(np.sort(found.toarray(), axis=0), np.sort(dense, axis=0))
    assert not np.array_equal(found.toarray(), dense)
    np.testing.assert_array_equal(given.toarray(), dense)
    places = {tuple(permuted(given, np.random.default_rng(s)).toarray()[:, 3]) for s in range(150)}
    assert len(places) == 12
