"""Normalised cut of a small graph with vertex weights, where METIS is not there."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from consilience._threads import one_thread
from consilience.partition._embed import (
    fill_empty,
    kmeans_labels,
    leading_eigenvectors,
    unit_rows,
)
from consilience.partition._parts import Parts, check_n_parts, one_part
from consilience.partition.graph import Graph

__all__ = ["spectral"]


def spectral(graph: Graph, k: int, *, random_state: Any = None) -> Parts:
    """Parts of a graph by its normalised cut; vertex weights count in k-means only.

    Parameters
    ----------
    graph : Graph
        At most a few thousand vertices: memory is O(n^2).
    k : int
        Number of parts, at most the number of vertices.
    random_state : int, RandomState or None
        Starts of k-means.

    Returns
    -------
    Parts
        Not balanced. ``cut`` is the normalised cut, between 0 and k.

    References
    ----------
    Ng, Jordan & Weiss (2001), On spectral clustering, NIPS 14; Shi & Malik (2000),
    Normalized cuts and image segmentation, IEEE TPAMI 22(8).

    Examples
    --------
    >>> from consilience.partition import similarity_graph
    >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    >>> spectral(similarity_graph(S), 2, random_state=0).sizes.tolist()
    [3, 3]
    """
    n = graph.n_vertices
    check_n_parts(k, n, owner="spectral")
    if k == 1:
        return one_part(n, "spectral")
    rng = check_random_state(random_state)
    S = graph.adjacency.toarray()
    degrees = S.sum(axis=1)
    # A vertex without edges is a part of its own to the embedding, not a division by zero.
    S[degrees == 0, degrees == 0] = 1.0
    scale = 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    with one_thread():
        _, V = leading_eigenvectors(S * scale[:, None] * scale[None, :], k, rng)
    E = unit_rows(V)
    weights = graph.vertex_weights
    if weights is not None:
        # k-means wants a positive total; a vertex that weighs nothing still counts a little.
        weights = np.maximum(weights, 1e-9 * max(float(weights.max()), 1e-300))
    labels, repaired = fill_empty(kmeans_labels(E, k, weights, rng, n_init=10), k, E)
    note = f"{repaired} empty parts were given one vertex each" if repaired else ""
    parts = np.zeros((k, n))
    parts[labels, np.arange(n)] = 1.0
    inside = ((parts @ graph.adjacency) * parts).sum(axis=1)
    volume = parts @ degrees
    kept = np.divide(inside, volume, out=np.ones(k), where=volume > 0)
    cut = float(max(k - kept.sum(), 0.0))
    return Parts(labels, cut, "spectral", np.bincount(labels, minlength=k), note)
