"""Consensus by completing the certain part of the co-association: ECMC.

The matrix behind it is of low rank plus a sparse one, on weighted rows. A matrix of n objects that
is constant on groups of c_a x c_b equal objects has the same nuclear norm, Frobenius norm and
eigenvalues as the small matrix of its groups scaled by sqrt(c_a c_b), so everything is done on the
scaled small one, exactly.
"""

from collections.abc import Callable
from math import sqrt
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import COUNT, POSITIVE, Interval, NoneValue, Options, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, distinct_rows, several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.engines import engine_for
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError, MemoryBudgetError, warn
from consilience.evidence import fractions
from consilience.partition import kmeans_labels, largest_eigenvectors, one_thread

__all__ = ["ECMC", "ecmc"]

Floats = NDArray[np.float64]
Reading = Literal["adapted", "published"]

_SHARE: list[Rule] = [Interval(Real, 0, 1), NoneValue()]
_REFINEMENTS = 3
_ODD, _PRIME = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_GRID = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
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


@consensus_method(
    estimator="ECMC",
    paper="Yi, Yang, Jin, Jain & Mahdavi 2012",
    memory="u^2 for u distinct label rows",
    rules={
        "reading": [Options(("adapted", "published"))],
        "low": _SHARE,
        "high": _SHARE,
        "C": [*POSITIVE, Options(("grid",)), NoneValue()],
        "n_init": COUNT,
        "max_iter": COUNT,
        "tol": POSITIVE,
        "max_rows": COUNT,
    },
)
def ecmc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    reading: Reading = "adapted",
    low: float | None = None,
    high: float | None = None,
    C: float | str | None = None,
    n_init: int = 10,
    max_iter: int = 300,
    tol: float = 1e-5,
    max_rows: int = 3000,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of the low-rank matrix that agrees with the pairs the members are sure of.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. A pair's co-association is the share of the
        members that saw both objects; noise is together with nobody. Pairs that no member
        saw together are unknown.
    reading : {"adapted", "published"}, default="adapted"
        Which defaults. "published": ``low`` 0.2, ``high`` 0.8 and C = 2 / sqrt(n), as in the
        comparison of Ren et al. (2017); they suit members of about ``n_clusters`` clusters
        that mostly agree. "adapted": thresholds that follow the mean co-association m of
        all pairs, ``low`` m / 3 and ``high`` m + 0.4 (1 - m), so that members of many small
        clusters and of few large ones both know something; and a C that is raised where it
        must be.
    low, high : float or None, default=None
        Pairs of co-association at most ``low`` are apart, of at least ``high`` together;
        those between are unknown and completed. None: by the reading.
    C : float, "grid" or None, default=None
        Price of contradicting a known pair: a group of fewer than 1 / C objects is treated
        as error. None is 2 / sqrt(n); in the adapted reading twice as much, and again, until
        the matrix tells ``n_clusters`` groups apart (or C is 1). "grid" tries 0.25 to 8 over
        sqrt(n) and keeps, of those whose matrix has rank at least ``n_clusters``, the one of
        the smallest sum of the matrix (the largest C if there is none).
    n_init : int, default=10
        Starts of the k-means on the eigenvectors.
    max_iter : int, default=300
        Most steps of the completion.
    tol : float, default=1e-5
        The completion ends when known pairs are matched, and the matrix stands still, to
        this, relatively.
    max_rows : int, default=3000
        Most distinct label rows: a step takes time of the order of their third power.
    random_state : int, RandomState or None
        Seeds k-means; the result does not depend on the order of the objects, nor, in the
        adapted reading, on that of the members or on the names of their clusters.

    Returns
    -------
    ConsensusResult
        ``objective`` is the nuclear norm plus C times the contradiction;
        ``details`` hold ``"C"``, ``"low"``, ``"high"``, the ``"rank"`` (eigenvalues above 1/2:
        a group of m objects has the eigenvalue m), the share of ``"known"`` pairs and a
        ``"note"`` if C was raised.

    Raises
    ------
    MemoryBudgetError
        If there are more than ``max_rows`` distinct label rows.

    Warns
    -----
    ConsilienceWarning
        If the completed matrix tells fewer than ``n_clusters`` groups apart.

    Notes
    -----
    Objects with equal labels are one row, together with certainty, and the problem is
    solved exactly on the rows: u x u instead of n x n. Objects whose completed row is empty
    get the label of the object of highest co-association.

    References
    ----------
    Yi, Yang, Jin, Jain & Mahdavi (2012), Robust ensemble clustering by matrix completion,
    ICDM, section 3.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1]] * 4 + [[0, 0, 1, 1, 1, 0]])
    >>> ecmc(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    if low is not None and high is not None:
        _check_order(low, high)
    rng = check_random_state(random_state)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        _check_size(rows.n_rows, max_rows)
        A, seen = _co_association(rows, n_jobs)
        if reading == "adapted":
            rows, A, seen = _canonical(rows, A, seen)
        least, most = _thresholds(reading, low, high, A, seen, rows.counts)
        where = ((least >= A) | (most <= A)) & seen
        known = np.where(where & (most <= A), 1.0, 0.0)

        def at(price: float) -> Completed:
            return complete(known, where, rows.counts, price, max_iter=max_iter, tol=tol)

        with one_thread():
            if C is None and reading == "adapted":
                best, price, note = _raised(at, placed.n_objects, k)
            else:
                best, price = _of_prices(at, _prices(C, placed.n_objects), rows.counts, k, n_jobs)
                note = ""
            points, degree = spectral_points(best.matrix, rows.counts, k)
        if 0 < best.rank < k:
            _warn_of_rank(best.rank, k, price)
        labels = _cluster(points, degree, A, rows.counts, k, rng, n_init)
        weights = rows.counts.astype(float)
        shares = float(weights @ where @ weights / weights.sum() ** 2)
        return ConsensusResult(
            labels[rows.inverse],
            objective=best.objective,
            n_iter=best.n_iter,
            converged=best.converged,
            details={
                "C": price,
                "low": least,
                "high": most,
                "rank": best.rank,
                "known": shares,
                "note": note,
            },
        )

    return solve(ensemble, n_clusters, run, owner="ECMC", X=X)


def _thresholds(
    reading: str,
    low: float | None,
    high: float | None,
    A: Floats,
    seen: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> tuple[float, float]:
    """``low`` and ``high``, those not given by the reading."""
    usual = (0.2, 0.8)
    if reading == "adapted":
        weights = counts.astype(float)
        mean = float(weights @ (A * seen) @ weights / (weights @ seen @ weights))
        usual = (mean / 3.0, mean + 0.4 * (1.0 - mean))
    least, most = usual[0] if low is None else low, usual[1] if high is None else high
    _check_order(least, most)
    return least, most


def _canonical(
    rows: Rows, A: Floats, seen: NDArray[np.bool_]
) -> tuple[Rows, Floats, NDArray[np.bool_]]:
    """Rows in an order that comes of their co-association alone, and their matrices in it.

    Neither names nor order of clusters, members or objects enter: so renamed labels give the
    same numbers to the last bit, and k-means the same draws. The key of a row is refined
    from what it shares with the others (sums of integers that wrap around: exact in any
    order); rows of equal keys are alike to the method.
    """
    keys = rows.counts.astype(np.uint64)
    pairs = A.view(np.uint64) + seen
    with np.errstate(over="ignore"):
        for _ in range(_REFINEMENTS):
            mixed = (pairs ^ (keys * _ODD)) * _PRIME
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _ODD
            keys = (keys ^ np.uint64(1)) * _PRIME + mixed.sum(axis=1, dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    members = np.ascontiguousarray(rows.members[:, order])
    ordered = Rows(members, rows.starts, rows.counts[order], rank[rows.inverse])
    both = np.ix_(order, order)
    return ordered, A[both], seen[both]


def _co_association(rows: Rows, n_jobs: int | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Shares of the members that saw the pair and joined it, and which pairs any saw."""
    joined, seen = engine_for(rows.members).pair_counts(with_seen=True, n_jobs=n_jobs)
    A = fractions(joined, seen, len(rows.members)).astype(np.float64, copy=False)
    known = np.asarray(seen) > 0
    # Equal objects stay together, also where members call them noise.
    np.fill_diagonal(A, 1.0)
    np.fill_diagonal(known, True)
    return A, known


def _prices(C: float | str | None, n_objects: int) -> list[float]:
    if isinstance(C, str):
        return [factor / sqrt(n_objects) for factor in _GRID]
    return [2.0 / sqrt(n_objects) if C is None else float(C)]


def _raised(
    at: Callable[[float], Completed], n_objects: int, k: int
) -> tuple[Completed, float, str]:
    """The completion at 2 / sqrt(n), at twice as much until it tells k groups apart.

    At 1 even a group of one object would survive: more cannot help.
    """
    first = price = _prices(None, n_objects)[0]
    completed = at(price)
    least = completed.rank
    while completed.rank < k and price < 1.0:
        price *= 2.0
        completed = at(price)
    if price == first:
        return completed, price, ""
    note = f"C was raised from {first:.3g} to {price:.3g}: there the matrix told only {least} of "
    return completed, price, note + f"{k} groups apart."


def _of_prices(
    at: Callable[[float], Completed],
    prices: list[float],
    counts: NDArray[np.int64],
    k: int,
    n_jobs: int | None,
) -> tuple[Completed, float]:
    """The smallest sum of the matrix among those of rank k or more, else the last."""
    completed = several(at, prices, n_jobs)
    sums = [float(counts @ one.matrix @ counts) for one in completed]
    enough = [number for number, one in enumerate(completed) if one.rank >= k]
    chosen = min(enough, key=sums.__getitem__) if enough else len(completed) - 1
    return completed[chosen], prices[chosen]


def _warn_of_rank(rank: int, k: int, price: float) -> None:
    warn(
        f"The completed matrix of ECMC tells only {rank} groups apart, fewer than "
        f"n_clusters={k}, at C={price:.3g}: the others are guessed. Raise C (None does so by "
        "itself), bring low and high closer together, or ask for fewer clusters.",
    )


def _cluster(
    points: Floats,
    degree: Floats,
    A: Floats,
    counts: NDArray[np.int64],
    k: int,
    rng: np.random.RandomState,
    n_init: int,
) -> NDArray[np.int32]:
    """k-means of the points; rows without a degree follow the row they are closest to."""
    inside = degree > 0
    if not inside.any():
        warn(
            "The completed matrix of ECMC is zero: every group is smaller than 1 / C. "
            "Raise C; the co-association itself was clustered instead.",
        )
        points, degree = spectral_points(A, counts, k)
        inside = degree > 0
    labels = np.zeros(len(points), np.int32)
    weights = counts[inside].astype(float)
    few = min(k, int(inside.sum()))
    labels[inside] = kmeans_labels(points[inside], few, weights, rng, n_init=n_init)
    nearest = A[:, inside].argmax(axis=1)
    return np.where(inside, labels, labels[inside][nearest])


def _check_size(n_rows: int, max_rows: int) -> None:
    if n_rows > max_rows:
        raise MemoryBudgetError(
            f"ECMC works on a dense matrix of the distinct label rows: {n_rows} here, more than "
            f"max_rows={max_rows}. Raise max_rows, or use a method without the matrix such as "
            "KCC, SEC or NMFConsensus."
        )


def _check_order(low: float, high: float) -> None:
    if not low < high:
        raise InvalidParameterError(
            f"The 'low' parameter of ECMC must be below 'high'. Got low={low!r} and "
            f"high={high!r} instead."
        )


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
        with np.errstate(over="ignore"):  # of a huge C nothing is left, as should be
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
    _, vectors = largest_eigenvectors(scale[:, None] * W * scale, k)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = (degree > 0)[:, None] & (lengths > 1e-12)
    points: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=usable)
    return points, degree


class ECMC(FixedNumber, function=ecmc):
    """Cluster by matrix completion; see `ecmc` for the method."""

    reading: Reading = "adapted"
    low: float | None = None
    high: float | None = None
    C: float | str | None = None
    n_init: int = 10
    max_iter: int = 300
    tol: float = 1e-5
    max_rows: int = 3000
