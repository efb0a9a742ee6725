"""Eigenvectors for the spectral partitioners."""

import numpy as np
from scipy.linalg import LinAlgError

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
