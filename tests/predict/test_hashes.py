"""Rows known again by their hashes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from consilience.predict._hashes import known_rows, row_hashes

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 1e-300, 1e300, np.nextafter(1.0, 2.0)]),
)


@given(TABLES)
def test_rows_have_one_hash_exactly_if_they_are_equal(X):
    found = row_hashes(X)
    for i in range(len(X)):
        for j in range(len(X)):
            assert (found[i] == found[j]) == (X[i] == X[j]).all()


@given(TABLES)
def test_sparse_rows_have_the_hashes_of_dense_ones(X):
    np.testing.assert_array_equal(row_hashes(sparse.csr_array(X)), row_hashes(X))
    zeros = sparse.csr_array(X)
    zeros.data[:1] = 0.0  # stored all the same
    np.testing.assert_array_equal(row_hashes(zeros), row_hashes(zeros.toarray()))


def test_blocks_of_rows_make_no_difference(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    whole = row_hashes(X)
    monkeypatch.setattr("consilience.predict._hashes._TOGETHER", 21)
    np.testing.assert_array_equal(row_hashes(X), whole)


@given(
    arrays(np.uint64, st.integers(1, 12), elements=st.integers(0, 4)),
    arrays(np.uint64, st.integers(0, 12), elements=st.integers(0, 6)),
    st.integers(0, 99),
)
def test_a_known_row_is_one_with_the_most_frequent_label(seen, new, seed):
    labels = np.random.default_rng(seed).integers(0, 3, len(seen)).astype(np.int32)
    found = known_rows(seen, seen.argsort(kind="stable"), labels, new)
    if np.array_equal(seen, new):
        np.testing.assert_array_equal(found, np.arange(len(seen)))
        return
    for one, place in zip(new, found, strict=True):
        copies = labels[seen == one]
        if not copies.size:
            assert place == -1
            continue
        assert seen[place] == one
        assert (copies == labels[place]).sum() == np.bincount(copies).max()


def test_entries_stored_in_pieces_count_as_their_sum():
    X = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0, -5.0, 4.0]), np.array([1, 1, 0, 0, 2]), np.array([0, 2, 5])),
        shape=(2, 3),
    )
    np.testing.assert_array_equal(row_hashes(X), row_hashes(np.array([[0, 3.0, 0], [0, 0, 4.0]])))
    assert X.nnz == 5  # the caller's matrix stays as it was
