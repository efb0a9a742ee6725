"""Objects about which an ensemble says nothing: where they go, and that it is said.

Noise everywhere: every member saw the object and left it out; it stays noise. Unseen
everywhere: no member saw it; it is placed by the data, or with the largest cluster.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import plural
from consilience.engines import engine_for
from consilience.errors import warn
from consilience.rows import rows_of, same_objects

__all__ = ["add_unplaced", "place_unseen"]


def place_unseen(
    labels: NDArray[np.int32],
    unseen: NDArray[np.bool_],
    X: Any,
    *,
    owner: str,
    counts: NDArray[np.int64] | None = None,
) -> NDArray[np.int32]:
    """Labels with objects no member saw in the cluster of the nearest mean, or the largest.

    Warns, because these labels rest on no evidence. Without any cluster they stay noise.
    ``counts`` says of how many objects each is a row.
    """
    if X is not None:
        X = same_objects(rows_of(X, owner=owner), len(labels)).values
    known = ~unseen & (labels >= 0)
    if not unseen.any() or not known.any():
        return labels
    labels = labels.copy()
    sizes = np.bincount(labels[known], None if counts is None else counts[known])
    if X is None:
        labels[unseen] = sizes.argmax()
        where = "the largest cluster"
        if counts is None:
            where += "; pass X to place them by the data"
    else:
        engine, own = engine_for(X), [known & (labels == c) for c in range(len(sizes))]
        means = [engine.column_facts(objects=np.flatnonzero(one)).mean for one in own]
        labels[unseen] = engine_for(X[unseen]).assign([np.stack(means)])[0]
        where = "the cluster with the nearest mean"
    n_unseen = int(unseen.sum() if counts is None else counts[unseen].sum())
    was, them, their = ("was", "it", "Its") if n_unseen == 1 else ("were", "them", "Their")
    warn(
        f"{plural(n_unseen, 'object')} {was} seen by no member; {owner} put {them} into {where}. "
        f"{their} confidence is 0.",
    )
    return labels


def add_unplaced(tree: NDArray[np.float64], placed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A tree over all objects: that of the placed ones, then the others, one by one, last.

    They join at height 1, or at the tree's own where that is above.

    Parameters
    ----------
    tree : ndarray of shape (n_placed - 1, 4)
        SciPy's format, over the placed objects in their order.
    placed : ndarray of shape (n_objects,), bool

    Examples
    --------
    >>> add_unplaced(np.array([[0.0, 1.0, 0.5, 2.0]]), np.array([True, False, True]))
    array([[0. , 2. , 0.5, 2. ],
           [1. , 3. , 1. , 3. ]])
    """
    n = len(placed)
    inside, outside = np.flatnonzero(placed), np.flatnonzero(~placed)
    if not outside.size:
        return tree
    ids = np.concatenate([inside, n + np.arange(len(tree))])
    moved = tree.copy()
    moved[:, :2] = np.sort(ids[tree[:, :2].astype(np.int64)], axis=1)
    first = int(ids[-1]) if inside.size else int(outside[0])
    joining = outside if inside.size else outside[1:]
    base = n + len(tree)
    grown = np.concatenate([[first], base + np.arange(max(len(joining) - 1, 0))])[: len(joining)]
    sizes = max(inside.size, 1) + 1.0 + np.arange(len(joining))
    pairs = np.sort(np.column_stack([joining, grown]), axis=1)
    heights = np.full(len(joining), max(1.0, tree[:, 2].max(initial=0.0)))
    added = np.column_stack([pairs, heights, sizes])
    return np.concatenate([moved, added])
