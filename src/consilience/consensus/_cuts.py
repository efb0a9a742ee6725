"""What the methods that cut a graph share: checks, sizes, the transfer cut, their result."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._rows import Rows
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError, warn
from consilience.kernels.labels.graph import count_groups
from consilience.partition import Parts, transfer_cut

__all__ = [
    "balance",
    "check_lengths",
    "check_n_columns",
    "check_n_parts",
    "check_sizes",
    "cut_result",
    "cut_rows",
    "rows_result",
    "warn_if_loose",
    "whole_sizes",
]

Floats = NDArray[np.float64]


def warn_if_loose(placed: Ensemble, k: int, owner: str) -> None:
    """Warn if balanced parts have to pack groups that nothing connects."""
    groups = count_groups(placed.members, placed.offsets(), k)
    if groups > k:
        warn(
            f"The objects fall into {groups} groups that no member joins; {owner} packs them into "
            f"n_clusters={k} clusters of equal size, arbitrarily. Ask for {groups} or more.",
        )


def balance(labels: NDArray[np.int32], k: int) -> float:
    """The largest cluster over the mean size."""
    return float(np.bincount(labels).max() * k / len(labels))


def cut_result(
    parts: Parts, objective: float, labels: NDArray[np.int32] | None = None
) -> ConsensusResult:
    labels = parts.labels if labels is None else labels
    k = len(parts.sizes)
    return ConsensusResult(
        labels,
        objective=objective,
        solver=parts.solver,
        details={"balance": balance(labels, k), "note": parts.note},
    )


def check_n_columns(rows: Rows, k: int, *, owner: str) -> ConsensusResult | None:
    """Raise if fewer clusters exist than parts are wanted; the answer where there is only one."""
    n_clusters = int(rows.starts[-1])
    if n_clusters == 1:
        warn(
            f"All members together have one cluster; {owner} returns it. n_clusters={k} was "
            "asked for.",
        )
        return ConsensusResult(np.zeros(len(rows.inverse), np.int32))
    check_n_parts(k, n_clusters, owner=owner)
    return None


def check_n_parts(k: int, n_clusters: int, *, owner: str) -> None:
    """Raise if more parts are wanted than all members have clusters."""
    if k > n_clusters:
        raise InvalidParameterError(
            f"The 'n_clusters' parameter of {owner} must be at most the number of clusters of "
            f"all members, {n_clusters}. Got {k} instead."
        )


def cut_rows(
    rows: Rows,
    k: int,
    *,
    owner: str,
    random_state: Any,
    weights: Floats | None = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by the normalised cut of the graph of objects and clusters.

    Parameters
    ----------
    rows : Rows
        Equal objects share a row and count as often as there are of them: exact.
    k : int
        Clusters wanted.
    owner : str
        For messages.
    random_state : int, RandomState or None
    weights : ndarray of shape (n_clusters_of_all_members,), optional
        Weight of an edge to each cluster; 1 if not given.
    n_jobs : int or None
        Threads.
    """
    alone = check_n_columns(rows, k, owner=owner)
    if alone is not None:
        return alone
    own = np.ones(int(rows.starts[-1])) if weights is None else weights
    links = rows.links(rows.dividing_members(k), own, n_jobs=n_jobs)
    parts = transfer_cut(links, k, random_state=random_state, weights=rows.counts, n_jobs=n_jobs)
    return rows_result(parts, rows, n_jobs=n_jobs)


def rows_result(
    parts: Parts, rows: Rows, *, n_jobs: int | None = None, **details: Any
) -> ConsensusResult:
    """Parts of the rows as a result over objects."""
    return ConsensusResult(
        rows.of_objects(parts.labels, n_jobs),
        objective=parts.cut,
        solver=parts.solver,
        details={"note": parts.note, **details},
    )


def check_lengths(sizes: Any, n_clusters: int, *, owner: str) -> None:
    """Raise unless there is one size a cluster, or none at all."""
    if sizes is not None and len(sizes) != n_clusters:
        raise InvalidParameterError(
            f"The 'sizes' parameter of {owner} must hold one size for each of n_clusters="
            f"{n_clusters} clusters. Got {len(sizes)} instead."
        )


def check_sizes(sizes: Any, n_clusters: int, solver: str, *, owner: str) -> None:
    """Raise unless there is one size a cluster, and a solver that keeps sizes."""
    check_lengths(sizes, n_clusters, owner=owner)
    if sizes is not None and solver == "spectral":
        raise InvalidParameterError(
            f"The 'sizes' parameter of {owner} needs solver='metis' or 'balanced'. "
            "Got solver='spectral'."
        )


def whole_sizes(sizes: Sequence[float], n: int) -> NDArray[np.int64]:
    """Sizes as whole numbers of at least 1 that add up to n; largest remainders go up.

    >>> whole_sizes([1, 1, 2], 10).tolist()
    [3, 2, 5]
    """
    # Exactly: rounding would decide between equal remainders, and no sum is too large.
    shares = [Fraction(float(size)) for size in sizes]
    total = sum(shares)
    exact = [share * n / total for share in shares]
    whole = np.array([floor(one) for one in exact], np.int64)
    by_remainder = sorted(range(len(exact)), key=lambda c: floor(exact[c]) - exact[c])
    whole[by_remainder[: n - whole.sum()]] += 1
    while whole.min() < 1:
        whole[whole.argmin()] += 1
        whole[whole.argmax()] -= 1
    return whole
