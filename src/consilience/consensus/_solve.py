"""What every consensus function does around its own mathematics.

The degenerate cases are decided here once: one cluster, as many as objects, more than
can be told apart, objects nobody placed. A method only ever sees objects that some member
placed, and a number of clusters between 2 and what its rows allow.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import check_n_clusters
from consilience.consensus._unplaced import place_unseen
from consilience.ensemble import NOISE, Collapsed, Ensemble
from consilience.errors import warn
from consilience.evidence import never_placed, never_seen
from consilience.kernels._parallel import by_rows
from consilience.kernels.labels.signatures import taken
from consilience.rows import rows_of, same_objects

__all__ = [
    "NOISE_ONLY",
    "ConsensusResult",
    "by_first_appearance",
    "cluster_order",
    "few_rows",
    "solve",
]

# Objects, for each cluster wanted, among which more distinct rows than clusters are looked for.
_A_LOOK = 50

NOISE_ONLY = "No member put any object into a cluster; every object is noise."


@dataclass(frozen=True)
class ConsensusResult:
    """What a consensus function found.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        0..K-1 in order of first appearance; -1 for objects every member calls noise.
    n_clusters : int
        Clusters found; may be fewer than asked for.
    objective : float or None
        Value of what the method optimises, where it has one.
    n_iter : int or None
        Iterations taken.
    converged : bool or None
        Whether it stopped by itself.
    solver : str or None
        The solver used, where there is a choice.
    memberships : ndarray of shape (n_objects, K) or None
        Soft assignment in the order of the labels, where the method has one; rows of
        objects nobody placed are zero.
    details : dict
        What else the method has to say, by name.
    """

    labels: NDArray[np.int32]
    n_clusters: int = 0
    objective: float | None = None
    n_iter: int | None = None
    converged: bool | None = None
    solver: str | None = None
    memberships: NDArray[np.float64] | None = None
    details: dict[str, Any] = field(default_factory=dict)


Run = Callable[[Ensemble, int, Any], ConsensusResult]


def solve(
    ensemble: Ensemble,
    n_clusters: int | None,
    run: Run,
    *,
    owner: str,
    X: Any = None,
    splits_equals: bool = False,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Run a method where it is defined, and decide the rest.

    Parameters
    ----------
    ensemble : Ensemble
        All objects.
    n_clusters : int or None
        Clusters wanted. None where the method chooses: it is then given the number of objects.
    run : callable
        ``run(ensemble, n_clusters, X)`` on the objects some member placed (with their rows
        of ``X``), with 2 <= n_clusters < number of those objects.
    owner : str
        Name of the estimator, for messages.
    X : array or None
        Data of all objects, where the method uses them or to place objects nobody saw.
    splits_equals : bool, default=False
        Whether the method may tell objects with equal labels apart (balanced parts, or by
        the data). If not, more clusters than distinct label rows give the rows themselves,
        with a warning.
    n_jobs : int or None
        Threads of what is done here.
    """
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_objects, owner=owner)
    unplaced = never_placed(ensemble)
    if unplaced.all():
        warn(NOISE_ONLY)
        return ConsensusResult(np.full(ensemble.n_objects, NOISE, np.int32))
    some = unplaced.any()
    placed = ensemble.take(~unplaced) if some else ensemble
    rows = None if X is None else same_objects(rows_of(X, owner=owner), ensemble.n_objects)
    data = None if rows is None else rows.values
    data = data[~unplaced] if some and data is not None else data
    if n_clusters is None:
        result = run(placed, placed.n_objects, data)
    else:
        result = _decide(placed, int(n_clusters), run, data, splits_equals, n_jobs)
    result = by_first_appearance(result, n_jobs=n_jobs)
    if some:
        result = _over_all_objects(result, unplaced)
    counts = ensemble.counts if isinstance(ensemble, Collapsed) else None
    unseen = never_seen(ensemble)
    labels = place_unseen(result.labels, unseen, rows, owner=owner, counts=counts)
    return replace(result, labels=labels, n_clusters=int(labels.max()) + 1)


def _decide(
    ensemble: Ensemble, k: int, run: Run, X: Any, splits_equals: bool, n_jobs: int | None
) -> ConsensusResult:
    n = ensemble.n_objects
    if k == 1:
        return ConsensusResult(np.zeros(n, np.int32))
    # As a rule the first few objects differ enough, and nobody else need be looked at.
    if ensemble._has_more_rows(k, _A_LOOK * k):
        return run(ensemble, k, X)
    _, inverse, counts = ensemble.signatures(n_jobs=n_jobs)
    distinct = len(counts)
    if splits_equals and distinct > 1:
        return ConsensusResult(np.arange(n, dtype=np.int32)) if k >= n else run(ensemble, k, X)
    if k > distinct:
        warn(few_rows(k, distinct))
    if k >= distinct:
        return ConsensusResult(inverse.astype(np.int32))
    return run(ensemble, k, X)


def few_rows(k: int, distinct: int) -> str:
    """What to say where more clusters are wanted than can be told apart."""
    found = (
        "no two objects differ in any member's labels; they are one cluster"
        if distinct == 1
        else f"only {distinct} groups of objects differ in any member's labels; they are the "
        "clusters"
    )
    return f"n_clusters={k} was asked for, but {found}. More diverse members would split them."


def by_first_appearance(result: ConsensusResult, *, n_jobs: int | None = None) -> ConsensusResult:
    """The same result with clusters numbered as they first appear; empty ones vanish.

    Memberships are reordered where they are: they are the result's own, and may be large. What a
    method says of its clusters in ``details`` it puts into their `cluster_order` itself.
    """
    names, labels = _in_order_of_first(result.labels, n_jobs)
    memberships = result.memberships
    if memberships is not None:
        _reorder(memberships, _and_empty(names, memberships.shape[1]), n_jobs)
    return replace(result, labels=labels, n_clusters=len(names), memberships=memberships)


def cluster_order(
    labels: NDArray[np.integer[Any]], n_clusters: int, *, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Clusters as they first appear, then the empty ones: these become 0, 1, ... of a result.

    >>> cluster_order(np.array([2, 2, 0]), 4).tolist()
    [2, 0, 1, 3]
    """
    return _and_empty(_in_order_of_first(labels, n_jobs)[0], n_clusters)


def _and_empty(names: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    return np.concatenate([names, np.setdiff1d(np.arange(n_clusters), names)])


def _in_order_of_first(
    labels: NDArray[np.integer[Any]], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Names of the clusters as they first appear, and the labels numbered so."""
    n, low = len(labels), int(labels.min(initial=0))
    codes = labels.astype(np.int64) - low
    width = int(codes.max(initial=-1)) + 1
    names = np.arange(low, low + width) if width <= 4 * n else None
    if names is None:  # names that are no numbers of clusters
        names, codes = np.unique(labels, return_inverse=True)
    first = np.full(len(names), n)
    np.minimum.at(first, codes, np.arange(n))
    order = np.argsort(first, kind="stable")[: int((first < n).sum())]
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return names[order], taken(rank, codes, n_jobs)


def _reorder(table: NDArray[np.float64], order: NDArray[np.int64], n_jobs: int | None) -> None:
    """Bring the columns of a table into another order, in place and by threads."""
    if np.array_equal(order, np.arange(table.shape[1])):
        return

    def put(rows: slice) -> None:
        table[rows] = np.take(table[rows], order, axis=1)

    by_rows(put, len(table), n_jobs)


def _over_all_objects(result: ConsensusResult, unplaced: NDArray[np.bool_]) -> ConsensusResult:
    """The result over all objects; those nobody placed are noise and members of nothing."""
    labels = np.full(len(unplaced), NOISE, np.int32)
    labels[~unplaced] = result.labels
    memberships = None
    if result.memberships is not None:
        memberships = np.zeros((len(unplaced), result.memberships.shape[1]))
        memberships[~unplaced] = result.memberships
    return replace(result, labels=labels, memberships=memberships)
