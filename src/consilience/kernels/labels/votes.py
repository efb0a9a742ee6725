"""Votes of a member's clusters on objects: counted where they overlap, cast, or passed on."""

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = ["cast_votes", "overlap", "pass_on"]


def overlap(
    labels: NDArray[np.signedinteger],
    n_clusters: int,
    weights: NDArray[np.int64],
    votes: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Votes that the objects of each cluster of a member have got so far, (n_clusters, k).

    Parameters
    ----------
    labels : (n_objects,) signed integers
        The member's clusters 0..n_clusters-1; negative for none.
    n_clusters : int
    weights : (n_objects,) int64
    votes : (n_objects, k) int32

    Examples
    --------
    >>> votes = np.array([[1, 0], [1, 0], [0, 1]], np.int32)
    >>> overlap(np.array([0, 1, 1], np.int8), 2, np.array([1, 1, 5]), votes).tolist()
    [[1, 0], [1, 5]]
    """
    out = np.zeros((n_clusters, votes.shape[1]), np.int64)
    _overlap(labels, weights, votes, out)
    return out


@compiled
def _overlap(labels, weights, votes, out):
    for i in range(labels.shape[0]):
        c = labels[i]
        if c >= 0:
            for q in range(votes.shape[1]):
                out[c, q] += weights[i] * votes[i, q]


@compiled
def cast_votes(labels, match, votes, amount):
    """Add ``amount`` to column ``match[label]`` of each object with a label."""
    for i in range(labels.shape[0]):
        if labels[i] >= 0:
            votes[i, match[labels[i]]] += amount


def pass_on(
    labels: NDArray[np.signedinteger],
    n_clusters: int,
    weights: NDArray[np.int64],
    shares: NDArray[np.float64],
    n_votes: NDArray[np.int64],
) -> None:
    """Let each cluster of a member vote on its objects with the mean of their shares so far.

    Parameters
    ----------
    labels : (n_objects,) signed integers
        The member's clusters 0..n_clusters-1; negative: it has no vote there.
    n_clusters : int
    weights : (n_objects,) int64
        How often each object counts in a mean.
    shares : (n_objects, k) float64
        The mean of the votes each object has got; changed to that of one vote more.
    n_votes : (n_objects,) int64
        The number of those votes, 0 for objects without any, which count in no mean;
        changed too. A cluster without any vote passes nothing on.

    Examples
    --------
    >>> shares, n_votes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 0])
    >>> pass_on(np.array([0, 0, 0], np.int8), 1, np.ones(3, np.int64), shares, n_votes)
    >>> shares.tolist(), n_votes.tolist()
    ([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]], [2, 2, 1])
    """
    votes = np.zeros((n_clusters, shares.shape[1]))
    mass = np.zeros(n_clusters)
    _mean_shares(labels, weights, shares, n_votes, votes, mass)
    _give(labels, votes, mass, shares, n_votes)


@compiled
def _mean_shares(labels, weights, shares, n_votes, votes, mass):
    """Fill the votes of the clusters, in the order of the objects."""
    k = shares.shape[1]
    for i in range(labels.shape[0]):
        c = labels[i]
        if c >= 0 and n_votes[i] > 0:
            w = float(weights[i])
            mass[c] += w
            for q in range(k):
                votes[c, q] += w * shares[i, q]
    for c in range(mass.shape[0]):
        for q in range(k):
            votes[c, q] /= max(mass[c], 1.0)


@compiled
def _give(labels, votes, mass, shares, n_votes):
    """Add a vote to the mean of each object in a cluster that has one."""
    for i in range(labels.shape[0]):
        c = labels[i]
        if c >= 0 and mass[c] > 0:
            got = n_votes[i]
            for q in range(shares.shape[1]):
                shares[i, q] = (shares[i, q] * got + votes[c, q]) / (got + 1)
            n_votes[i] = got + 1
