"""Eigenvectors for the spectral partitioners."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError, subspace_angles

from consilience.partition import _embed, largest_eigenvectors


def test_eigenvectors_are_found_where_the_quick_way_gives_up(monkeypatch):
    """LAPACK's inverse iteration fails on some matrices with equal eigenvalues."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    A = A @ A.T
    values, vectors = largest_eigenvectors(A, 3)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[-3:])
    plain = _embed.eigh

    def gives_up(matrix, driver, **options):
        if driver == "evx":
            raise LinAlgError("1 eigenvectors failed to converge.")
        return plain(matrix, driver=driver, **options)

    monkeypatch.setattr(_embed, "eigh", gives_up)
    again, same = largest_eigenvectors(A, 3)
    np.testing.assert_allclose(again, values)
    np.testing.assert_allclose(abs((same * vectors).sum(axis=0)), 1.0)


def test_eigenvectors_that_are_not_given_are_computed_otherwise(monkeypatch):
    """Found by the fuzzer: of 121 clusters of equal members none came back, and no error either."""
    real = _embed.eigh
    N = np.diag([1.0, 3.0, 2.0])

    def too_few(matrix, driver, **how):
        values, vectors = real(matrix, driver=driver, **how)
        return (values[:1], vectors[:, :1]) if driver == "evx" else (values, vectors)

    wanted = _embed.largest_eigenvectors(N, 2)
    monkeypatch.setattr(_embed, "eigh", too_few)
    values, vectors = _embed.largest_eigenvectors(N, 2)
    np.testing.assert_allclose(values, wanted[0])
    np.testing.assert_allclose(np.abs(vectors), np.abs(wanted[1]))


def with_eigenvalues(values, seed):
    """A symmetric matrix that has them, and its eigenvectors in their order."""
    V = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    N = V * values @ V.T
    return (N + N.T) / 2, V


@pytest.mark.parametrize("first", [[1.0] * 5, [1.0, 0.9, 0.9, 0.3, 0.2]])
def test_eigenvalues_that_stand_out_are_found_by_powers(seed, first):
    N, V = with_eigenvalues(np.r_[first, np.linspace(0.05, 0.0, 395)], seed)
    values, vectors = _embed._by_powers(N, 5)
    np.testing.assert_allclose(values, first, rtol=1e-12)
    assert subspace_angles(vectors, V[:, :5]).max() < 1e-10
    np.testing.assert_allclose(N @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)
    asked = _embed.leading_eigenvectors(N, 5, np.random.RandomState(0), positive=True)
    lapack = _embed.leading_eigenvectors(N, 5, np.random.RandomState(0))
    np.testing.assert_allclose(asked[0], lapack[0], rtol=1e-12)
    assert subspace_angles(asked[1], lapack[1]).max() < 1e-10


@pytest.mark.parametrize(
    "values",
    [np.linspace(1.0, 0.0, 400), np.r_[[1.0] * 9, np.zeros(391)]],
    ids=["none stands out", "one of several equal ones is the last wanted"],
)
def test_eigenvalues_that_powers_do_not_tell_apart_are_left_to_lapack(values):
    N, _ = with_eigenvalues(values, 0)
    assert _embed._by_powers(N, 5) is None
    found = _embed.leading_eigenvectors(N, 5, np.random.RandomState(0), positive=True)
    lapack = _embed.leading_eigenvectors(N, 5, np.random.RandomState(0))
    for one, other in zip(found, lapack, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_matrix_of_zeros_has_no_powers_to_tell_apart():
    assert _embed._by_powers(np.zeros((400, 400)), 2) is None
