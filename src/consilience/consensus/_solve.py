"""What every consensus function does around its own mathematics.

The degenerate cases are decided here once: one cluster, as many as objects, more than
can be told apart, objects nobody placed. A method only ever sees objects that some member
placed, and a number of clusters between 2 and what its rows allow.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, check_jobs, check_n_clusters, check_value
from consilience.consensus._strangers import numeric_rows, place_strangers
from consilience.ensemble import NOISE, Ensemble
from consilience.errors import ConsilienceWarning
from consilience.evidence import never_placed, never_seen

__all__ = ["ConsensusResult", "by_first_appearance", "solve"]


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
    n_clusters: int,
    run: Run,
    *,
    owner: str,
    X: Any = None,
    n_jobs: Any = None,
    splits_equals: bool = False,
) -> ConsensusResult:
    """Run a method where it is defined, and decide the rest.

    Parameters
    ----------
    ensemble : Ensemble
        All objects.
    n_clusters : int
        Clusters wanted.
    run : callable
        ``run(ensemble, n_clusters, X)`` on the objects some member placed (with their rows
        of ``X``), with 2 <= n_clusters < number of those objects.
    owner : str
        Name of the estimator, for messages.
    X : array or None
        Data of all objects, where the method uses them or to place objects nobody saw.
    n_jobs : int or None
        What the method was given, to be checked.
    splits_equals : bool, default=False
        Whether the method may tell objects with equal labels apart (balanced parts, or by
        the data). If not, more clusters than distinct label rows give the rows themselves,
        with a warning.
    """
    check_value("n_clusters", n_clusters, [Interval(Integral, 1)], owner=owner)
    check_n_clusters(n_clusters, ensemble.n_objects, owner=owner)
    check_jobs(n_jobs, owner=owner)
    strangers = never_placed(ensemble)
    if strangers.all():
        warnings.warn(
            "No member put any object into a cluster; every object is noise.",
            ConsilienceWarning,
            stacklevel=3,
        )
        return ConsensusResult(np.full(ensemble.n_objects, NOISE, np.int32))
    some = strangers.any()
    placed = ensemble.take(~strangers) if some else ensemble
    if X is not None:
        X = numeric_rows(X, ensemble.n_objects)
    data = X if X is None or not some else X[~strangers]
    found = _decide(placed, int(n_clusters), run, data, splits_equals)
    found = by_first_appearance(found)
    if some:
        found = _with_strangers(found, strangers)
    labels = place_strangers(found.labels, never_seen(ensemble), X, owner=owner)
    return replace(found, labels=labels, n_clusters=int(labels.max()) + 1)


def _decide(ensemble: Ensemble, k: int, run: Run, X: Any, splits_equals: bool) -> ConsensusResult:
    n = ensemble.n_objects
    if k == 1:
        return ConsensusResult(np.zeros(n, np.int32))
    _, inverse, counts = ensemble.signatures()
    distinct = len(counts)
    if splits_equals and distinct > 1:
        return ConsensusResult(np.arange(n, dtype=np.int32)) if k >= n else run(ensemble, k, X)
    if k > distinct:
        warnings.warn(
            f"n_clusters={k} was asked for, but only {distinct} groups of objects differ in "
            "any member's labels; they are the clusters. More diverse members would split them.",
            ConsilienceWarning,
            stacklevel=4,
        )
    if k >= distinct:
        return ConsensusResult(inverse.astype(np.int32))
    return run(ensemble, k, X)


def by_first_appearance(found: ConsensusResult) -> ConsensusResult:
    """The same result with clusters numbered as they first appear; empty ones vanish."""
    names, first, codes = np.unique(found.labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    memberships = found.memberships
    if memberships is not None:
        used = names[order]
        empty = np.setdiff1d(np.arange(memberships.shape[1]), used)
        memberships = memberships[:, np.concatenate([used, empty])]
    return replace(
        found, labels=rank[codes].astype(np.int32), n_clusters=len(names), memberships=memberships
    )


def _with_strangers(found: ConsensusResult, strangers: NDArray[np.bool_]) -> ConsensusResult:
    """The result over all objects; strangers are noise and members of nothing."""
    labels = np.full(len(strangers), NOISE, np.int32)
    labels[~strangers] = found.labels
    memberships = None
    if found.memberships is not None:
        memberships = np.zeros((len(strangers), found.memberships.shape[1]))
        memberships[~strangers] = found.memberships
    return replace(found, labels=labels, memberships=memberships)
