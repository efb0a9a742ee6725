"""Tables of two labelings: the matching of large tables is that of small ones."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from consilience import _contingency


@pytest.mark.parametrize("seed", range(20))
def test_a_sparse_matching_gains_as_much_as_a_dense_one(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 7, size=2)
    matrix = rng.integers(0, 2, shape) * rng.uniform(1, 9, shape)
    rows, columns = np.nonzero(matrix)
    if not rows.size:
        return
    cells = _contingency._matched_sparsely(rows, columns, matrix[rows, columns])
    # No row and no column twice, and no better choice.
    assert len(set(rows[cells])) == len(set(columns[cells])) == len(cells)
    best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    assert matrix[rows, columns][cells].sum() == pytest.approx(best)


@pytest.mark.parametrize("k", [3, 60])
def test_a_table_counts_every_pair_of_labels(k, seed):
    """Few cells are counted, many are sorted."""
    a, b = 2 * np.random.default_rng(seed).integers(0, k, (2, 150))
    found = _contingency.tabulate(a, b)
    assert (len(np.unique(a)) * len(np.unique(b)) > 1024) == (k == 60)
    full = np.zeros((len(found.row_sums), len(found.column_sums)), int)
    full[found.rows, found.columns] = found.counts
    np.testing.assert_array_equal(full, contingency_matrix(a, b))
    np.testing.assert_array_equal(found.row_sums, full.sum(axis=1))
    np.testing.assert_array_equal(found.column_sums, full.sum(axis=0))
    np.testing.assert_array_equal(found.row_codes, np.unique(a))
    np.testing.assert_array_equal(found.column_codes, np.unique(b))
