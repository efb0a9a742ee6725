"""How likely groups are as Gaussians of one of four shapes: the integrated completed likelihood."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["completed_likelihood"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Added to every variance, for groups without any; the points have a mean variance of 1.
_LEAST_VARIANCE = 1e-3


def completed_likelihood(points: Floats, labels: Labels) -> float:
    """ICL of groups: the less the likelier.

    Minus twice the log-likelihood of the points *and* their groups, each group a Gaussian with its
    own mean, and the price of the parameters as in BIC; the least over covariances that are any,
    equal, diagonal or spherical. Other than BIC it does not gain by cutting a group that is
    no Gaussian into several that overlap: a Gaussian is less likely in halves, a box as likely.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
        0, 1, ... without gaps.

    References
    ----------
    Biernacki, Celeux & Govaert (2000), Assessing a mixture model for clustering with the
    integrated completed likelihood, IEEE TPAMI 22(7); here of given groups.

    Examples
    --------
    >>> line = np.linspace(0, 1, 100)[:, None]
    >>> halves = np.repeat([0, 1], 50).astype(np.int32)
    >>> whole = np.zeros(100, np.int32)
    >>> bool(completed_likelihood(line, halves) < completed_likelihood(line, whole))
    False
    >>> apart = line + 5.0 * halves[:, None]
    >>> bool(completed_likelihood(apart, halves) < completed_likelihood(apart, whole))
    True
    """
    n, d = points.shape
    sizes = np.bincount(labels).astype(np.float64)
    k = len(sizes)
    member = np.zeros((n, k))
    member[np.arange(n), labels] = 1
    off = points - (member.T @ points / sizes[:, None])[labels]
    variances = member.T @ off**2 / sizes[:, None]
    common = off.T @ off / n
    full = sum(m * _spread(off[labels == g]) for g, m in enumerate(sizes))
    # Twice the negative log-likelihood but for what all shapes share, and free parameters.
    shapes = (
        (full, k * d * (d + 1) / 2),
        (n * _spread_of(common), d * (d + 1) / 2),
        (float((sizes[:, None] * _fit(variances)).sum()), k * d),
        (float((sizes * d * _fit(variances.mean(axis=1))).sum()), k),
    )
    shared = n * d * np.log(2 * np.pi) - 2 * float(sizes @ np.log(sizes / n))
    price = np.log(n)
    return float(shared + min(fit + (k * d + k - 1 + free) * price for fit, free in shapes))


def _fit(variance: Floats) -> Floats:
    """Log of a variance, and what the points of that variance have of their own; 1 if unbounded."""
    bounded = variance + _LEAST_VARIANCE
    return np.asarray(np.log(bounded) + variance / bounded)


def _spread(off: Floats) -> float:
    return _spread_of(off.T @ off / len(off))


def _spread_of(covariance: Floats) -> float:
    """The same of a covariance, by its eigenvalues."""
    return float(_fit(np.maximum(np.linalg.eigvalsh(covariance), 0.0)).sum())
