"""Tables of two labelings: the matching of large tables is that of small ones."""

from itertools import permutations

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


@pytest.mark.parametrize("most_cells", [0, 10**6], ids=["sparse", "dense"])
def test_matched_clusters_share_most_objects_and_then_are_most_alike(most_cells, seed, monkeypatch):
    monkeypatch.setattr(_contingency, "DENSE_CELLS", most_cells)
    for draw in range(20):
        rng = np.random.default_rng([seed, draw])
        a, b = rng.integers(0, rng.integers(1, 5, size=(2, 1)), (2, 9))
        table = _contingency.tabulate(a, b)
        shape = (len(table.row_sums), len(table.column_sums))
        shared, alike = np.zeros(shape), np.zeros(shape)
        shared[table.rows, table.columns] = table.counts
        alike[table.rows, table.columns] = _contingency.cell_f1(table)
        np.testing.assert_allclose(
            alike, 2 * shared / (shared.sum(axis=1)[:, None] + shared.sum(axis=0))
        )
        if shape[0] > shape[1]:
            shared, alike = shared.T, alike.T
        best = max(
            (one[range(len(one)), list(to)].sum(), alike[range(len(one)), list(to)].sum())
            for one in [shared]
            for to in permutations(range(one.shape[1]), len(one))
        )
        cells = _contingency.matched_cells(table)
        assert len(set(table.rows[cells])) == len(set(table.columns[cells])) == len(cells)
        assert cells.tolist() == sorted(cells)
        assert table.counts[cells].sum() == best[0]
        assert _contingency.cell_f1(table)[cells].sum() == pytest.approx(best[1])
