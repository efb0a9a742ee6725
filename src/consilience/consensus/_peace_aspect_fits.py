"""EM for the aspect model of co-clustered pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._peace_fits import EVERY, NO_MASS, Fit
from consilience.consensus._peace_pairs import Pairs
from consilience.kernels.peace_aspect import aspect_likelihood_rows, aspect_rows

__all__ = ["Aspects", "aspect_likelihood", "aspect_start", "aspect_step", "fit_aspect"]

Floats = NDArray[np.float64]

# Rows of B are drawn from a Dirichlet distribution with this parameter everywhere.
_EVEN = 10.0


class Aspects(NamedTuple):
    """Share of each aspect, (K,), and its distribution over one object of a group, (n, K)."""

    shares: Floats
    objects: Floats


def aspect_start(pairs: Pairs, k: int, seed: int) -> Aspects:
    """Equal shares, and distributions near the even one."""
    rng = np.random.default_rng(seed)
    B = rng.standard_gamma(_EVEN, (pairs.n_groups, k))
    # An object that was never joined is drawn by no pair.
    B[pairs.joined == 0] = 0.0
    return Aspects(np.full(k, 1.0 / k), B / _column_sums(pairs, B))


def _column_sums(pairs: Pairs, table: Floats) -> Floats:
    """Sums over all objects, in one order whatever linear algebra does with its threads."""
    sums: Floats = (pairs.weights[:, None] * table).sum(axis=0)
    return sums


def aspect_likelihood(pairs: Pairs, now: Aspects) -> float:
    """Sum of c log P over all ordered pairs of different objects."""
    A = now.shares * now.objects
    each = pairs.over(aspect_likelihood_rows, np.empty(pairs.n_groups), A, now.objects)
    return float(each.sum())


def aspect_step(pairs: Pairs, now: Aspects) -> Aspects:
    """The aspects after one step of EM; the likelihood has not fallen."""
    A = now.shares * now.objects
    T = A * pairs.over(aspect_rows, np.empty_like(A), A, now.objects)
    sums = _column_sums(pairs, T)
    # An aspect that no pair wants keeps its distribution, with a share of zero.
    B = np.divide(T, sums, out=now.objects.copy(), where=sums > 0)
    B[B < NO_MASS] = 0.0
    return Aspects(sums / sums.sum(), B)


def fit_aspect(pairs: Pairs, start: Aspects, *, tol: float, max_iter: int) -> Fit:
    """One run of EM: until the likelihood gains less than ``tol`` of itself in a step."""
    now, path = start, [aspect_likelihood(pairs, start)]
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        steps = min(EVERY, max_iter - n_iter)
        for _ in range(steps):
            now = aspect_step(pairs, now)
        n_iter += steps
        path.append(aspect_likelihood(pairs, now))
        converged = path[-1] - path[-2] <= steps * tol * abs(path[-1])
    chances = now.shares * now.objects
    total = chances.sum(axis=1, keepdims=True)
    even = np.full_like(chances, 1.0 / chances.shape[1])
    soft = np.divide(chances, total, out=even, where=total > 0)
    return Fit(soft, path[-1], None, converged, n_iter, 0, path)
