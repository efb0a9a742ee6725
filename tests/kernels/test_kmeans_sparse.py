"""k-means on CSR data against the same data made dense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from scipy import sparse

from consilience.kernels.kmeans import sparse as kmeans_sparse
from consilience.kernels.kmeans.many import many_kmeans

SMALL = bool(config.DISABLE_JIT)


@st.composite
def cases(draw):
    """Sparse data of small multiples of 1/8: sums are exact, ties are common."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 8))
    X = rng.integers(-8, 9, (n, d)) / 8.0 * (rng.random((n, d)) < 0.4)
    rows = np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False))
    features = np.sort(rng.choice(d, rng.integers(1, d + 1), replace=False))
    rows, features = (None if draw(st.booleans()) else a for a in (rows, features))
    own = X if features is None else X[:, features]
    pool = np.arange(n) if rows is None else rows
    start = own[rng.choice(pool, int(rng.integers(1, 5)))]
    return X, start, rows, features


@given(cases(), st.booleans(), st.sampled_from([1, 100]), st.sampled_from([0.0, 0.1]))
def test_csr_equals_dense(case, assign_all, max_iter, tol):
    X, start, rows, features = case
    options = {"rows": [rows], "features": [features], "max_iter": max_iter, "tol": tol}
    dense = many_kmeans(X, [start], assign_all=assign_all, **options)
    csr = many_kmeans(sparse.csr_matrix(X), [start], assign_all=assign_all, **options)
    np.testing.assert_array_equal(csr.labels, dense.labels)
    np.testing.assert_array_equal(csr.centres[0], dense.centres[0])
    np.testing.assert_allclose(csr.inertia, dense.inertia, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(csr.n_iter, dense.n_iter)
    np.testing.assert_array_equal(csr.converged, dense.converged)


def documents(seed, n=400, d=60):
    """Rows of unit length with a topic each, and one of zeros."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 5, n)
    rate = rng.gamma(0.3, size=(5, d))[topic]
    X = rng.poisson(rate).astype(np.float64)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X = np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)
    X[7] = 0.0
    return X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{"spherical": True}, {"online": True}, {}])
def test_text_like_data_equals_dense(seed, options):
    X = documents(seed, n=60 if SMALL else 400)
    starts = [X[np.arange(k) + 10] for k in (2, 5, 9)]
    dense = many_kmeans(X, starts, **options)
    csr = many_kmeans(sparse.csr_array(X), starts, **options)
    np.testing.assert_allclose(csr.inertia, dense.inertia, rtol=1e-9)
    for m in range(3):
        np.testing.assert_allclose(csr.centres[m], dense.centres[m], atol=1e-12)
    others = np.arange(len(X)) != 7  # zeros are equally far from all unit centres
    np.testing.assert_array_equal(csr.labels[:, others], dense.labels[:, others])


def test_small_pieces_give_the_same(monkeypatch):
    X = sparse.csr_array(documents(4, n=100))
    whole = many_kmeans(X, [X[:6].toarray()], online=True)
    monkeypatch.setattr(kmeans_sparse, "_PIECE", 64)
    pieces = many_kmeans(X, [X[:6].toarray()], online=True)
    np.testing.assert_array_equal(whole.labels, pieces.labels)
    np.testing.assert_array_equal(whole.centres[0], pieces.centres[0])


def test_spherical_centres_have_unit_length():
    X = sparse.csr_array(documents(5, n=80))
    runs = many_kmeans(X, [X[10:14].toarray()], spherical=True)
    np.testing.assert_allclose(np.linalg.norm(runs.centres[0], axis=1), 1.0)


def test_ties_that_products_cannot_tell_go_to_the_smaller_index():
    """Numbers of 40 binary places: differences are exact, products are rounded."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = rng.integers(2**39, 2**40, (1, 3)) / 2**40
        centres = np.concatenate([x + 2**-8, x - 2**-8])
        assert kmeans_sparse.nearest_centres(sparse.csr_array(x), centres).tolist() == [0]
        assert kmeans_sparse.nearest_centres(
            sparse.csr_array(x), centres[::-1].copy()
        ).tolist() == [0]
