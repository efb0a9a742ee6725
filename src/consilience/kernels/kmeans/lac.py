"""Locally adaptive clustering: k-means where every cluster weighs the features its own way.

Both passes of an iteration assign each object and add up what the next step needs, so that the
data are read twice and nothing of the size of the data is kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["LACFit", "feature_weights", "lac", "squared_distances"]

Floats = NDArray[np.float64]


class LACFit(NamedTuple):
    """Clusters found: labels in 0..k-1 (some may be empty), centres, weights, iterations."""

    labels: NDArray[np.int32]
    centres: Floats
    weights: Floats
    n_iter: int
    converged: bool


def lac(X: Floats, centres: Floats, inv_h: float, max_iter: int) -> LACFit:
    """Cluster from given centres and equal feature weights.

    Parameters
    ----------
    X : (n_objects, n_features) float64, C-contiguous
    centres : (n_clusters, n_features) float64
        Where to start.
    inv_h : float
        1 / h of the paper: 0 is k-means, large values put all weight on one feature.
    max_iter : int
        Iterations at most.

    Returns
    -------
    LACFit
        A cluster that loses all objects keeps its centre and weights.

    Notes
    -----
    Time O(iterations * n_objects * n_clusters * n_features), memory of the labels.

    References
    ----------
    Domeniconi, Gunopulos, Ma, Yan, Al-Razgan & Papadopoulos (2007), Locally adaptive metrics
    for clustering high dimensional data, Data Mining and Knowledge Discovery 14.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 4.0], [9.0, 5.0], [13.0, 5.0]])
    >>> fit = lac(X, X[[0, 3]], 1.0, 100)
    >>> fit.labels, fit.weights.round(2)
    (array([0, 0, 1, 1], dtype=int32), array([[0.98, 0.02],
           [0.02, 0.98]]))
    """
    centres = np.array(centres, np.float64)
    weights = np.full(centres.shape, 1.0 / X.shape[1])
    labels = np.full(len(X), -1, np.int32)
    spread, sums = np.empty_like(centres), np.empty_like(centres)
    counts = np.empty(len(centres))
    for iteration in range(1, max_iter + 1):
        before, centres_before = labels.copy(), centres.copy()
        _assign_and_spread(X, centres, weights, labels, spread, counts)
        _weigh(spread, counts, inv_h, weights)
        _assign_and_sum(X, centres, weights, labels, sums, counts)
        filled = counts > 0
        centres[filled] = sums[filled] / counts[filled, None]
        if np.array_equal(labels, before) and np.array_equal(centres, centres_before):
            return LACFit(labels, centres, weights, iteration, True)
    return LACFit(labels, centres, weights, max_iter, False)


def _weigh(spread: Floats, counts: Floats, inv_h: float, weights: Floats) -> None:
    """Feature weights of every filled cluster from its mean squared deviations."""
    filled = counts > 0
    deviation = spread[filled] / counts[filled, None]
    weights[filled] = feature_weights(deviation, inv_h)


def feature_weights(deviation: Floats, inv_h: float) -> Floats:
    """Weights of the features of each cluster, from its mean squared deviations; they sum to 1.

    >>> feature_weights(np.array([[0.0, 4.0]]), 1.0).round(2)
    array([[0.98, 0.02]])
    """
    # The smallest deviation is subtracted so that no cluster has only zeros.
    with np.errstate(over="ignore"):  # to a weight of 0
        raw = np.exp(-inv_h * (deviation - deviation.min(axis=1, keepdims=True)))
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


@compiled
def _nearest(x, centres, weights):
    """The cluster whose weighted distance is smallest, the first on ties."""
    best, nearest = np.inf, 0
    for j in range(centres.shape[0]):
        distance = 0.0
        for s in range(x.shape[0]):
            gap = x[s] - centres[j, s]
            distance += weights[j, s] * gap * gap
        if distance < best:
            best, nearest = distance, j
    return nearest


@compiled
def _assign_and_spread(X, centres, weights, labels, spread, counts):
    """Assign every object; add up squared deviations from the centres."""
    spread[:] = 0.0
    counts[:] = 0.0
    for i in range(X.shape[0]):
        j = _nearest(X[i], centres, weights)
        labels[i] = j
        counts[j] += 1.0
        for s in range(X.shape[1]):
            gap = X[i, s] - centres[j, s]
            spread[j, s] += gap * gap


@compiled
def _assign_and_sum(X, centres, weights, labels, sums, counts):
    """Assign every object; add up the objects of every cluster."""
    sums[:] = 0.0
    counts[:] = 0.0
    for i in range(X.shape[0]):
        j = _nearest(X[i], centres, weights)
        labels[i] = j
        counts[j] += 1.0
        for s in range(X.shape[1]):
            sums[j, s] += X[i, s]


@compiled
def squared_distances(X, centres, weights, out):
    """Fill ``out`` (n_objects, n_clusters) with squared distances of objects to centres.

    ``weights`` (n_clusters, n_features) says how each cluster weighs the features; ones give
    the Euclidean distance. Differences are squared one by one: nothing cancels far from the
    origin.
    """
    for i in range(X.shape[0]):
        for j in range(centres.shape[0]):
            distance = 0.0
            for s in range(X.shape[1]):
                gap = X[i, s] - centres[j, s]
                distance += weights[j, s] * gap * gap
            out[i, j] = distance
