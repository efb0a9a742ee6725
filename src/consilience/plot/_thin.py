"""Fewer objects for a picture: a sample in which every cluster is still there.

>>> labels = np.repeat([0, 1, -1], [900, 90, 10])
>>> np.bincount(labels[thinned(1000, 100, labels)] + 1).tolist()
[1, 90, 9]
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["counted", "thinned"]

Positions = NDArray[np.int64]


def thinned(
    n_objects: int,
    max_objects: int,
    labels: NDArray[np.integer[Any]] | None = None,
    random_state: int = 0,
) -> Positions:
    """Objects to show, ascending: all, or ``max_objects`` of them, drawn cluster by cluster.

    Every cluster keeps its share, rounded, and at least one object as long as there are no more
    clusters than objects to show. Equal arguments give equal objects.
    """
    if n_objects <= max_objects:
        return np.arange(n_objects)
    rng = np.random.default_rng(random_state)
    if labels is None:
        return np.sort(rng.choice(n_objects, max_objects, replace=False))
    _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    quota = _shares(sizes, max_objects)
    order = rng.permutation(n_objects)
    order = order[np.argsort(group[order], kind="stable")]  # random inside each cluster
    place = np.arange(n_objects) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(quota, sizes)])


def counted(n_shown: int, n_objects: int) -> str:
    """Words for a title: how many of the objects are shown; empty if all are."""
    return "" if n_shown == n_objects else f"{n_shown:,} of {n_objects:,} objects shown"


def _shares(sizes: NDArray[np.integer[Any]], total: int) -> Positions:
    """Whole numbers near ``total * sizes / sum``, one at least, that add up to ``total``."""
    if len(sizes) > total:
        largest = np.argsort(-sizes, kind="stable")[:total]
        return np.isin(np.arange(len(sizes)), largest).astype(np.int64)
    exact = total * sizes / sizes.sum()
    quota = np.maximum(1, np.floor(exact)).astype(np.int64)
    while (rest := total - int(quota.sum())) != 0:
        # Floors leave something over; the ones that were raised to 1 may take too much.
        short = np.argsort(-(exact - quota), kind="stable")
        if rest > 0:
            quota[short[:rest]] += 1
        else:
            spare = [c for c in short[::-1] if quota[c] > 1][:-rest]
            quota[spare] -= 1
    return quota
