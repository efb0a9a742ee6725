"""DyadicAspect: joined pairs as draws from a mixture of pairs of independent objects."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._validation import COUNT, MEMORY, NOT_NEGATIVE, memory_in_bytes
from consilience.consensus._peace_fits import EVERY, NO_MASS, Fit
from consilience.consensus._peace_pairs import Pairs, make_pairs
from consilience.consensus._peace_starts import SoftConsensus, all_objects, best_of
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import draw_seeds, several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.kernels.peace.aspect import aspect_likelihood_rows, aspect_rows

__all__ = ["DyadicAspect", "dyadicaspect"]

Floats = NDArray[np.float64]

# Rows of B are drawn from a Dirichlet distribution with this parameter everywhere.
_EVEN = 10.0


class Aspects(NamedTuple):
    """Share of each aspect, (K,), and its distribution over one object of a group, (n, K)."""

    shares: Floats
    objects: Floats


@consensus_method(
    estimator="DyadicAspect",
    few_clusters=True,
    paper="Lourenço, Fred & Figueiredo 2011",
    memory="n^2 bytes, or n (R + k) past max_memory",
    rules={"n_init": COUNT, "tol": NOT_NEGATIVE, "max_iter": COUNT, "max_memory": MEMORY},
)
def dyadicaspect(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_init: int = 10,
    tol: float = 1e-8,
    max_iter: int = 1000,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Aspects of a mixture model of the pairs that members joined, fitted by EM.

    Every joined pair is a draw from P(i, j) = sum_r p_r b_ri b_rj: an aspect is drawn, then
    two objects from its distribution. The sum of c log P over pairs is maximised, c the
    number of members that joined the pair, scaled to R where not all members saw it.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody.
    n_clusters : int
        Aspects; some may win no object.
    n_init : int, default=10
        Random starts; the run with the highest likelihood wins.
    tol : float, default=1e-8
        A run ends when the log-likelihood gains less than this in a step, relative to its
        size (looked at every ten steps).
    max_iter : int, default=1000
        Most steps of a run.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Where the matrix of counts would need more, its rows are made from the labels.

    Returns
    -------
    ConsensusResult
        ``memberships`` are P(aspect | object), even for objects that were joined with
        nobody (``details["alone"]`` tells which); ``objective`` the log-likelihood. In
        ``details``: ``log_likelihood``, ``spread`` (of it over the starts), ``objectives``,
        ``start_labels``, ``best_start``, ``sweeps``, ``path``, ``alone`` (1 for such
        objects; -1 for objects nobody placed) and ``matrix_free``.

    Warns
    -----
    ConsilienceWarning
        If no two objects were ever joined: there is nothing to fit, and all objects are
        one cluster.

    Notes
    -----
    Only joined pairs count, so that members with many small clusters do no harm. Objects
    that are together in every member that saw them are one weighted object: exact, EM keeps
    equal columns equal. Pairs of an object with itself are left out. A step takes time
    O(u^2 k) for u groups.

    References
    ----------
    Lourenço, Fred & Figueiredo (2011), A generative dyadic aspect model for evidence
    accumulation clustering, SIMBAD, pages 104-116.
    """
    budget = memory_in_bytes(max_memory, owner="DyadicAspect")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        pairs = make_pairs(placed, budget, n_jobs=n_jobs, n_runs=n_init)
        if not pairs.joined.any():
            return _nothing_joined(placed.n_objects, k)
        fits = several(
            lambda seed: fit_aspect(
                pairs, aspect_start(pairs, k, seed), tol=tol, max_iter=max_iter
            ),
            draw_seeds(random_state, n_init),
            n_jobs,
        )
        best, _labels = best_of(fits, pairs, highest=True)
        best.details["log_likelihood"] = best.objective
        best.details["alone"] = (pairs.joined == 0)[pairs.inverse].astype(np.int8)
        return best

    result = solve(ensemble, n_clusters, run, owner="DyadicAspect", X=X)
    return all_objects(result, ensemble, "start_labels", "alone")


def _nothing_joined(n: int, k: int) -> ConsensusResult:
    """One cluster of everybody: no pair was joined, and the model has nothing to explain."""
    warn(
        "No member put any two objects together: DyadicAspect has nothing to fit, and all "
        "objects are one cluster. Use members with fewer clusters.",
    )
    even = np.full((n, k), 1.0 / k)
    alone = np.ones(n, np.int8)
    return ConsensusResult(
        np.zeros(n, np.int32), converged=False, memberships=even, details={"alone": alone}
    )


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


class DyadicAspect(SoftConsensus, function=dyadicaspect, attributes=("log_likelihood", "alone")):
    """Cluster by an aspect model of joined pairs; see `dyadicaspect` for the method.

    Attributes
    ----------
    log_likelihood_, alone_
        See `dyadicaspect`, under ``details``.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> DyadicAspect(2, random_state=0).fit(ensemble=members).labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """

    n_init: int = 10
    tol: float = 1e-8
    max_iter: int = 1000
    max_memory: float | str = "4 GiB"
