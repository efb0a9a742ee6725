"""Hypergraphs by Mt-KaHyPar's deterministic preset: one hyperedge a cluster."""

import threading
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._optional import optional
from consilience._validation import NO_NUMBERS, Interval, as_array, check_value
from consilience.errors import InvalidInputError
from consilience.partition._parts import Parts, check_n_parts, one_part

__all__ = ["hypergraph_parts"]

# Mt-KaHyPar's seed and thread pool belong to the process.
_LOCK = threading.Lock()


def hypergraph_parts(
    B: Any,
    k: int,
    *,
    edge_weights: NDArray[Any] | None = None,
    imbalance: float = 0.05,
    random_state: Any = None,
) -> Parts:
    """Parts of about equal size that few hyperedges reach across.

    Parameters
    ----------
    B : sparse matrix of shape (n, n_edges)
        Vertices x hyperedges; an entry that is not 0 puts the vertex into the hyperedge.
    k : int
        Number of parts, at most the number of vertices.
    edge_weights : array of shape (n_edges,), optional
        Whole numbers of at least 1; by default the number of vertices in the hyperedge, as
        ClusterPack's integer scaling makes them.
    imbalance : float, default=0.05
        By how much a part may exceed n / k.
    random_state : int, RandomState or None
        Seed of the partitioner, and the order of the vertices (permuted before, and back
        after).

    Returns
    -------
    Parts
        ``cut`` is the connectivity: the weight of each hyperedge times the parts it touches
        less one.

    Raises
    ------
    MissingPackageError
        Without the package mtkahypar.

    Notes
    -----
    Only the deterministic presets repeat their results. Hyperedges of one vertex, or of all,
    say nothing and are left out. Seconds for 10,000 vertices, minutes for 100,000.

    References
    ----------
    Gottesbüren, Heuer, Maas, Sanders & Schlag (2024), Scalable high-quality hypergraph
    partitioning, ACM Trans. Algorithms 20(1).
    """
    check_value("imbalance", imbalance, [Interval(Real, 0)], owner="hypergraph_parts")
    B = _table(B)
    n = B.shape[0]
    check_n_parts(k, n, owner="hypergraph_parts")
    mtkahypar = optional("mtkahypar", extra="graph", what="Partitioning hypergraphs (HGPA)")
    if k == 1:
        return one_part(n, "mtkahypar")
    rng = check_random_state(random_state)
    order = rng.permutation(n)
    pins = sparse.csc_array(B[order])
    sizes = np.diff(pins.indptr)
    weights = sizes if edge_weights is None else _checked_weights(edge_weights, len(sizes))
    # One vertex cannot be cut, all of them always are: neither says anything.
    used = np.flatnonzero((sizes > 1) & (sizes < n))
    edges = [pins.indices[pins.indptr[e] : pins.indptr[e + 1]].tolist() for e in used]
    seed = int(rng.randint(2**31 - 1))
    parts = np.empty(n, np.int32)
    parts[order] = _partition(mtkahypar, n, edges, weights[used].tolist(), k, imbalance, seed)
    labels, repaired = _fill_empty(parts, k)
    note = f"{repaired} empty parts were given one vertex each" if repaired else ""
    cut = _connectivity(pins, labels[order], weights, k)
    return Parts(labels, cut, "mtkahypar", np.bincount(labels, minlength=k), note)


def _table(B: Any) -> Any:
    """The table of vertices and hyperedges as CSR, or an error that says what it must be."""
    try:
        table = sparse.csr_array(B if sparse.issparse(B) else np.atleast_2d(B), copy=True)
    except NO_NUMBERS as error:
        raise InvalidInputError(
            f"B must be a table of numbers, vertices x hyperedges. Got {type(B).__name__} instead."
        ) from error
    # Every entry stored is a pin: zeros would be some, and an entry stored in two parts two.
    table.sum_duplicates()
    table.eliminate_zeros()
    return table


def _checked_weights(weights: NDArray[Any], n_edges: int) -> NDArray[np.int64]:
    numbers = as_array(weights)
    if numbers.shape != (n_edges,) or numbers.dtype.kind not in "iu" or (numbers < 1).any():
        raise InvalidInputError(
            f"edge_weights must be {n_edges} whole numbers of at least 1. "
            f"Got shape {numbers.shape} of {numbers.dtype}."
        )
    return numbers.astype(np.int64)


def _partition(
    mtkahypar: Any,
    n: int,
    edges: list[list[int]],
    weights: list[int],
    k: int,
    imbalance: float,
    seed: int,
) -> NDArray[np.int32]:
    if not edges:
        # Nothing can be cut: any balanced parts will do, and the vertices are in random order.
        return np.arange(n, dtype=np.int32) % k
    with _LOCK:
        engine = mtkahypar.initialize(1, False)
        mtkahypar.set_seed(seed)
        context = engine.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
        context.set_partitioning_parameters(k, imbalance, mtkahypar.Objective.KM1)
        context.logging = False
        graph = engine.create_hypergraph(context, n, len(edges), edges, [1] * n, weights)
        return np.asarray(graph.partition(context).get_partition(), np.int32)


def _fill_empty(labels: NDArray[np.int32], k: int) -> tuple[NDArray[np.int32], int]:
    """Give each empty part a vertex of the largest part."""
    repaired = 0
    for part in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        largest = np.bincount(labels, minlength=k).argmax()
        labels[np.flatnonzero(labels == largest)[0]] = part
        repaired += 1
    return labels, repaired


def _connectivity(
    pins: sparse.csc_array, labels: NDArray[np.int32], weights: NDArray[Any], k: int
) -> float:
    """Weight of each hyperedge times the number of parts it touches less one."""
    edge = np.repeat(np.arange(pins.shape[1]), np.diff(pins.indptr))
    touched = np.unique(edge * k + labels[pins.indices])
    reached = np.bincount(touched // k, minlength=pins.shape[1])
    return float((weights * np.maximum(reached - 1, 0)).sum())
