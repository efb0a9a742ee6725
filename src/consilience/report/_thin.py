"""Fewer objects for the page: every cluster still visible, doubtful objects kept first.

>>> labels = np.repeat([0, 1, -1], [9000, 900, 100])
>>> np.bincount(labels[thinned(labels, 200)] + 1).tolist()
[18, 151, 30]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.report._values import counted

__all__ = ["Shown", "choose_shown", "thinned"]

Positions = NDArray[np.int64]

# Share of the places that is split evenly among the clusters, whatever their size.
_EVEN = 0.25


@dataclass(frozen=True, eq=False)
class Shown:
    """The objects on the page.

    Attributes
    ----------
    objects : ndarray of shape (n_shown,)
        Ascending.
    pairs : ndarray of shape (n_pairs,)
        Those whose pairs are shown, ascending; all are among ``objects``.
    notes : tuple of str
        What was left out, in words.
    """

    objects: Positions
    pairs: Positions
    notes: tuple[str, ...]

    def rows(self, objects: Positions) -> Positions:
        """Rows of some shown objects in the table of shown objects."""
        return np.searchsorted(self.objects, objects)


def choose_shown(
    labels: NDArray[Any],
    doubt: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
    *,
    max_points: int,
    max_pairs: int,
    seed: int,
) -> Shown:
    """Objects for the table and the points, and fewer for pictures of pairs.

    Parameters
    ----------
    labels : array of shape (n_objects,)
    doubt : array of shape (n_objects,)
        The larger, the more doubtful; NaN counts as most.
    doubtful : array of shape (n_objects,), bool
        Objects that are kept first, the most doubtful ones, up to half of each cluster's places.
    max_points, max_pairs : int
    seed : int
    """
    n = len(labels)
    few = min(max_pairs, max_points if n <= max_points else max(1, max_points // 2))
    pairs = thinned(labels, few, seed=seed)
    if n <= max_points:
        return Shown(np.arange(n), pairs, tuple(_pair_notes(len(pairs), n)))
    first = np.where(doubtful, np.nan_to_num(doubt, nan=np.inf), -np.inf)
    others = thinned(labels, max_points - len(pairs), first=first, seed=seed + 1)
    objects = np.union1d(pairs, others)
    kept, all_doubtful = int(doubtful[objects].sum()), int(doubtful.sum())
    words = (
        f"The page shows {len(objects):,} of {counted(n, 'object')}: a share of every group, small "
        "groups with more than their share so that they can be seen"
    )
    if all_doubtful:
        words += (
            f", and of {counted(all_doubtful, 'doubtful object')} {kept:,}, more than their share"
        )
    words += ". All counts, means and histograms are of all objects unless they say otherwise."
    return Shown(objects, pairs, (words, *_pair_notes(len(pairs), n)))


def thinned(
    labels: NDArray[Any], most: int, *, first: NDArray[np.float64] | None = None, seed: int = 0
) -> Positions:
    """At most ``most`` objects, ascending: drawn cluster by cluster, small clusters favoured.

    A quarter of the places is split evenly among the clusters, the rest by size; at least one
    object of each cluster as long as there are places. ``first`` (larger = sooner, -inf = by
    chance) fills up to half of a cluster's places before chance does.
    """
    n = len(labels)
    if n <= most:
        return np.arange(n)
    _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    quota = _quotas(sizes, most)
    chance = np.random.default_rng(seed).permutation(n)
    early = np.zeros(n, bool)
    if first is not None:
        wanted = np.flatnonzero(first > -np.inf)
        rank = _ranks(group[wanted], np.lexsort((chance[wanted], -first[wanted], group[wanted])))
        early[wanted[rank < quota[group[wanted]] // 2]] = True
    rank = _ranks(group, np.lexsort((chance, ~early, group)))
    return np.flatnonzero(rank < quota[group])


def _ranks(group: Positions, order: Positions) -> Positions:
    """Place of each object in its group, in an order that is sorted by group."""
    ordered = group[order]
    starts = np.searchsorted(ordered, ordered)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - starts
    return ranks


def _quotas(sizes: Positions, most: int) -> Positions:
    """Objects taken of each cluster: no more than it has, ``most`` in all."""
    k, n = len(sizes), int(sizes.sum())
    if k >= most:
        largest = np.argsort(-sizes, kind="stable")[:most]
        return np.isin(np.arange(k), largest).astype(np.int64)
    quota = np.floor(most * (_EVEN / k + (1 - _EVEN) * sizes / n)).astype(np.int64)
    quota = np.clip(quota, 1, sizes)
    left = most - int(quota.sum())
    if left > 0:  # places that small clusters could not fill
        room = sizes - quota
        quota += np.minimum(room, left * room // max(1, int(room.sum())))
    while quota.sum() > most:  # ones that were raised to 1
        quota[quota.argmax()] -= 1
    return quota


def _pair_notes(n_pairs: int, n: int) -> list[str]:
    if n_pairs == n:
        return []
    return [
        f"Pictures of pairs (how often objects were joined, and the tree) show {n_pairs:,} of "
        f"{counted(n, 'object')}, drawn by chance from every group; a tree of all of them could "
        "join a few objects elsewhere."
    ]
