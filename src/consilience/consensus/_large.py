"""Cuts of a tree by its clusters that are not small: single link leaves stray objects till last."""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from consilience.kernels.trees import cut_merges

__all__ = ["cut_large", "large_counts", "smallest_counted"]

Tree = NDArray[np.float64]
Sizes = NDArray[np.int64]

# Lengths that differ by less are equal up to rounding.
_EQUAL = 1e-12


def smallest_counted(n_objects: int) -> int:
    """Objects of a cluster that counts where the number is chosen: 2 %, but at least five."""
    return max(5, ceil(0.02 * n_objects))


def large_counts(tree: Tree, at_least: int, leaves: Sizes | None = None) -> Sizes:
    """Clusters of at least so many objects, before the first merge of a tree and after each.

    ``leaves`` are the objects of each leaf, one each if not given.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> large_counts(tree, 2).tolist()
    [0, 1, 2, 1, 1]
    """
    n = len(tree) + 1
    sizes = np.concatenate([np.ones(n) if leaves is None else leaves, tree[:, 3]])
    large = (sizes >= at_least).astype(np.int64)
    nodes = tree[:, :2].astype(np.int64)
    change = large[n:] - large[nodes[:, 0]] - large[nodes[:, 1]]
    return np.asarray(np.cumsum(np.append(large[:n].sum(), change)))


def cut_large(tree: Tree, leaves: Sizes, at_least: int, k: int | None) -> NDArray[np.int32]:
    """Labels of the leaves where k clusters of at least so many objects last longest.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Rising heights, in SciPy's format, sizes counting objects.
    leaves : ndarray of shape (n,)
        Objects of each leaf.
    at_least : int
        Objects of a cluster that counts.
    k : int or None
        Such clusters; None takes the number above 1 that has the widest range of heights in
        all, the smallest on ties.

    Returns
    -------
    ndarray of shape (n,), int32
        -1 for leaves in clusters that do not count; -1 everywhere where no height has k.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> cut_large(tree, np.ones(5, int), 2, None).tolist()
    [0, 0, 1, 1, -1]
    """
    counts = large_counts(tree, at_least, leaves)[:-1]
    lasts = np.diff(tree[:, 2], prepend=0.0)
    if k is None:
        totals = np.bincount(counts, lasts, minlength=3)
        totals[:2] = 0.0
        k = int(np.argmax(totals > totals.max() - _EQUAL)) if totals.max() > _EQUAL else -1
    lasts = np.where(counts == k, lasts, -1.0)
    if lasts.max(initial=-1.0) < 0:
        return np.full(len(leaves), -1, np.int32)
    # The widest range of heights with k such clusters, the first on ties.
    labels = cut_merges(tree, len(leaves) - int(np.argmax(lasts > lasts.max() - _EQUAL)))
    large = np.bincount(labels, leaves) >= at_least
    return np.where(large[labels], np.cumsum(large)[labels] - 1, -1).astype(np.int32)
