"""Tables of two labelings: the matching of large tables is that of small ones."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from consilience import _tables


@pytest.mark.parametrize("seed", range(20))
def test_a_sparse_matching_gains_as_much_as_a_dense_one(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 7, size=2)
    matrix = rng.integers(0, 2, shape) * rng.uniform(1, 9, shape)
    rows, columns = np.nonzero(matrix)
    if not rows.size:
        return
    cells = _tables._matched_sparsely(rows, columns, matrix[rows, columns])
    # No row and no column twice, and no better choice.
    assert len(set(rows[cells])) == len(set(columns[cells])) == len(cells)
    best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    assert matrix[rows, columns][cells].sum() == pytest.approx(best)
