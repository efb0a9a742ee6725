"""Transfer cut of the graph of objects and clusters, on distinct label rows."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._rows import Rows
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.partition import Parts, transfer_cut

__all__ = ["check_n_columns", "check_n_parts", "cut_result", "cut_rows", "dividing_members"]

Floats = NDArray[np.float64]


def check_n_columns(rows: Rows, k: int, *, owner: str) -> ConsensusResult | None:
    """Raise if fewer clusters exist than parts are wanted; the answer where there is only one."""
    n_clusters = int(rows.starts[-1])
    if n_clusters == 1:
        warnings.warn(
            f"All members together have one cluster; {owner} returns it. n_clusters={k} was "
            "asked for.",
            ConsilienceWarning,
            stacklevel=6,
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
    rows: Rows, k: int, *, owner: str, random_state: Any, weights: Floats | None = None
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
    """
    alone = check_n_columns(rows, k, owner=owner)
    if alone is not None:
        return alone
    kept = dividing_members(rows.members, k)
    widths = np.diff(rows.starts)
    Q = Ensemble._trusted(rows.members[kept]).indicator().astype(np.float64)
    if weights is not None:
        Q.data = weights[np.repeat(kept, widths)][Q.indices]
    parts = transfer_cut(Q, k, random_state=random_state, weights=rows.counts)
    return cut_result(parts, rows)


def cut_result(parts: Parts, rows: Rows, **details: Any) -> ConsensusResult:
    """Parts of the rows as a result over objects."""
    return ConsensusResult(
        parts.labels[rows.inverse],
        objective=parts.cut,
        solver=parts.solver,
        details={"note": parts.note, **details},
    )


def dividing_members(members: NDArray[np.signedinteger[Any]], k: int) -> NDArray[np.bool_]:
    """Members that divide the objects; all of them where those alone would not do.

    A cluster of all objects is a hub that only dilutes the cut.
    """
    divides = np.asarray((members != 0).any(axis=1))
    kept = members[divides]
    enough = divides.any() and int((kept.max(axis=1).astype(np.int64) + 1).sum()) >= k
    # An object may be in no other cluster; then its only edge stays.
    if not enough or (kept < 0).all(axis=0).any():
        return np.ones(len(members), bool)
    return divides
