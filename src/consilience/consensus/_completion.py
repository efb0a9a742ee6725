"""Low rank plus sparse, on weighted rows: the matrix behind ECMC.

A matrix of n objects that is constant on groups of c_a x c_b equal objects has the same
nuclear norm, Frobenius norm and eigenvalues as the small matrix of its groups scaled by
sqrt(c_a c_b), so everything below is done on the scaled small one, exactly.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

__all__ = ["Completed", "complete", "spectral_points"]

Floats = NDArray[np.float64]

_GROWTH = 1.2
_MOST = 1e7
# Entries are shares of about 0 to 1; what rounding leaves of a row is not a similarity.
_DUST = 1e-8
# A group of m objects that are surely together is an eigenvalue m; errors leave small ones of
# either sign, which tell nothing apart.
_HALF = 0.5


class Completed(NamedTuple):
    """The low-rank matrix over rows, the groups it tells apart, and how it was found."""

    matrix: Floats
    rank: int
    objective: float
    n_iter: int
    converged: bool


def complete(
    known: Floats,
    where: NDArray[np.bool_],
    counts: NDArray[np.int64],
    C: float,
    *,
    max_iter: int = 300,
    tol: float = 1e-5,
) -> Completed:
    """Minimise ``|N|_* + C |E|_1`` such that ``N + E = known`` where it is known.

    Parameters
    ----------
    known : ndarray of shape (u, u)
        Symmetric; 0 outside ``where``.
    where : ndarray of shape (u, u), bool
        The entries that are known.
    counts : ndarray of shape (u,)
        Objects that each row stands for.
    C : float
        Price of an error.
    max_iter, tol
        Most steps; a run ends when the constraint holds, and N stands still, to ``tol``
        times the norm of what is known.

    Returns
    -------
    Completed
        ``matrix`` is N over rows (not scaled); ``objective`` of the full problem.

    Notes
    -----
    Inexact augmented Lagrangian multipliers, penalty growing by 1.2 a step: where C is close
    to 1 / m for a group of m objects, the growing penalty can stop it short of the optimum.
    Time O(u^3) a step and memory about ten matrices of u x u.
    """
    root = np.sqrt(counts.astype(float))
    D = root[:, None] * root
    A = known * D
    length = float(np.linalg.norm(A))
    top = _spectral_norm(A)
    Y = A / max(top, float(np.abs(known).max()) / C)
    mu = 1.25 / top
    E, N = np.zeros_like(A), np.zeros_like(A)
    n_iter = 0
    converged = False
    while n_iter < max_iter and not converged:
        n_iter += 1
        middle = A - E + Y / mu
        before = N
        N, values = _shrink((middle + middle.T) / 2, 1.0 / mu)
        Z = A - N + Y / mu
        E = np.where(where, np.sign(Z) * np.maximum(np.abs(Z) - C * D / mu, 0.0), Z)
        rest = A - N - E
        Y += mu * rest
        mu = min(mu * _GROWTH, _MOST)
        # The constraint alone is no sign of an optimum: for a small C the first step meets it.
        moved = max(float(np.linalg.norm(rest)), float(np.linalg.norm(N - before)))
        converged = moved <= tol * length
    error = C * float((D * np.abs(A - N))[where].sum())
    objective = float(np.abs(values).sum()) + error
    rank = int((values > _HALF).sum())
    return Completed(N / D, rank, objective, n_iter, converged)


def _shrink(A: Floats, by: float) -> tuple[Floats, Floats]:
    """The symmetric matrix with eigenvalues drawn towards zero, and those that remain."""
    values, vectors = np.linalg.eigh(A)
    kept = np.abs(values) > by
    values, vectors = values[kept], vectors[:, kept]
    values = values - np.sign(values) * by
    return (vectors * values) @ vectors.T, values


def _spectral_norm(A: Floats) -> float:
    values = np.linalg.eigvalsh(A)
    return float(np.abs(values[[0, -1]]).max())


def spectral_points(matrix: Floats, counts: NDArray[np.int64], k: int) -> tuple[Floats, Floats]:
    """Rows of the k leading eigenvectors of the normalised matrix, and the rows' degrees.

    Entries below 1e-8 count as zero. Points have length 1; those of degree 0 are zero.
    """
    W = (matrix + matrix.T) / 2
    W[W < _DUST] = 0.0
    degree = W @ counts.astype(float)
    scale = np.sqrt(counts / np.where(degree > 0, degree, np.inf))
    u = len(W)
    # LAPACK's default driver fails ("Internal Error") on many equal eigenvalues; evx does not.
    _, vectors = eigh(scale[:, None] * W * scale, subset_by_index=(u - k, u - 1), driver="evx")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = (degree > 0)[:, None] & (lengths > 1e-12)
    points: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=usable)
    return points, degree
