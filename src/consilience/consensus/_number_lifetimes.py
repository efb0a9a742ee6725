"""How long a number of clusters lasts in the dendrogram of an ensemble."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._large import large_counts, smallest_counted
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.generate import KMeansEnsemble

__all__ = ["like_members", "range_lengths", "tree_lifetimes"]

Floats = NDArray[np.float64]

_N_MEMBERS = 50
_MOST_MEMBERS = 100


def range_lengths(linkage: Floats, at_least: int, tested: NDArray[np.int64]) -> Floats:
    """Total range of thresholds at which the tree has k clusters that are not tiny.

    Parameters
    ----------
    linkage : ndarray of shape (n - 1, 4)
        A tree with rising heights, in SciPy's format.
    at_least : int
        Objects of a cluster that counts. With 1 every cluster counts, and the lengths are
        those of `consilience.evidence.lifetimes`.
    tested : ndarray of int
        Numbers of clusters.

    Notes
    -----
    Single link leaves stray objects alone until late; counted as clusters, they would decide
    the number.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> range_lengths(tree, 2, np.array([2, 3])).round(3).tolist()
    [0.6, 0.0]
    """
    n = len(linkage) + 1
    counts = large_counts(linkage, at_least)[1:-1]
    gaps = np.diff(linkage[:, 2])
    lengths = np.bincount(counts, gaps, minlength=int(tested.max()) + 1) if n > 2 else np.zeros(0)
    found = np.zeros(int(tested.max()) + 1)
    found[: len(lengths)] = lengths[: len(found)]
    # Rounding of heights that are equal.
    return np.where(found < 1e-12, 0.0, found)[tested]


def tree_lifetimes(ensemble: Ensemble, tested: NDArray[np.int64]) -> Floats:
    """Lifetimes in the single-link dendrogram, of clusters with 2 % of the objects or more."""
    tree = eac(ensemble, None, linkage="single").linkage
    return range_lengths(tree, smallest_counted(ensemble.n_objects), tested)


def like_members(Z: Any, seed: int, like: Ensemble | None = None) -> Ensemble:
    """k-means members on data; with as many clusters as the members of an ensemble have."""
    if like is None:
        return KMeansEnsemble(_N_MEMBERS, random_state=seed).generate(Z)
    sizes = [int(min(max(k, 2), len(Z))) for k in like.n_clusters][:_MOST_MEMBERS]
    return KMeansEnsemble(len(sizes), sizes, random_state=seed).generate(Z)
