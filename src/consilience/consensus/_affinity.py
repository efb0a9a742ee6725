"""How close some objects are to each cluster of a consensus that they are not part of."""

import numpy as np
from numpy.typing import NDArray

from consilience.ensemble import Ensemble
from consilience.evidence import fractions
from consilience.evidence.coassociation import operator_of
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import cluster_sums, row_sums
from consilience.kernels.pairs.counts import count_rows
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["attach_outside", "mean_affinity"]

Floats = NDArray[np.float64]

# Rows of pair counts that exist at once, in bytes.
_BLOCK_BYTES = 2**25


def mean_affinity(
    ensemble: Ensemble, labels: NDArray[np.integer], objects: NDArray[np.integer]
) -> Floats:
    """Mean co-association of objects with the objects of each cluster.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    labels : ndarray of shape (n_objects,)
        Clusters 0..K-1, all of them in use; negative for objects in none, ``objects`` among
        them.
    objects : ndarray of int
        The objects asked for.

    Returns
    -------
    ndarray of shape (len(objects), K), float64
        In [0, 1]. Time O(n R K), or O(m n R) for m objects where members miss objects.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1], [0, 0, 1, 1]])
    >>> mean_affinity(ens, np.array([0, 0, -1, 1]), np.array([2]))
    array([[0.5, 0.5]])
    """
    placed = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[placed]).astype(np.float64)
    onehot = np.zeros((ensemble.n_objects, len(sizes)))
    onehot[placed, labels[placed]] = 1.0 / sizes[labels[placed]]
    if isinstance(ensemble, SoftEnsemble):
        rows = operator_of(ensemble)
        return np.concatenate([rows.rows(i, i + 1) @ onehot for i in objects])
    members = ensemble.members
    if not ensemble.has_unseen:
        starts = first_columns(members)
        shares = cluster_sums(members, starts, onehot)
        chosen = np.ascontiguousarray(members[:, objects])
        return row_sums(chosen, starts, shares) / ensemble.n_members
    step = max(1, _BLOCK_BYTES // (8 * ensemble.n_objects))
    affinity = np.empty((len(objects), len(sizes)))
    for start in range(0, len(objects), step):
        some = objects[start : start + step]
        joined, seen = count_rows(members, some, with_seen=True)
        affinity[start : start + step] = fractions(joined, seen, ensemble.n_members) @ onehot
    return affinity


def attach_outside(ensemble: Ensemble, labels: NDArray[np.int32]) -> int:
    """Give objects without a cluster to the one they are most often with, in place; how many.

    On ties, and where they are with nobody, to the largest.
    """
    outside = np.flatnonzero(labels < 0)
    if outside.size:
        # The largest cluster comes first, so that it gets those who are with nobody.
        by_size = np.argsort(-np.bincount(labels[labels >= 0]), kind="stable")
        affinity = mean_affinity(ensemble, labels, outside)[:, by_size]
        labels[outside] = by_size[affinity.argmax(axis=1)]
    return int(outside.size)
