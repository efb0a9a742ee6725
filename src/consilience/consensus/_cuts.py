"""What the methods that cut a graph say about their result."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.partition import Parts, bipartite_graph

__all__ = ["balance", "cut_result", "warn_if_loose"]


def warn_if_loose(placed: Ensemble, k: int, owner: str) -> None:
    """Warn if balanced parts have to pack groups that nothing connects."""
    graph = bipartite_graph(placed.signatures().ensemble.indicator())
    groups = int(connected_components(graph.adjacency, directed=False, return_labels=False))
    if groups > k:
        warnings.warn(
            f"The objects fall into {groups} groups that no member joins; {owner} packs them into "
            f"n_clusters={k} clusters of equal size, arbitrarily. Ask for {groups} or more.",
            ConsilienceWarning,
            stacklevel=5,
        )


def balance(labels: NDArray[np.int32], k: int) -> float:
    """The largest cluster over the mean size."""
    return float(np.bincount(labels).max() * k / len(labels))


def cut_result(
    found: Parts, objective: float, labels: NDArray[np.int32] | None = None
) -> ConsensusResult:
    labels = found.labels if labels is None else labels
    k = len(found.sizes)
    return ConsensusResult(
        labels,
        objective=objective,
        solver=found.solver,
        details={"balance": balance(labels, k), "note": found.note},
    )
