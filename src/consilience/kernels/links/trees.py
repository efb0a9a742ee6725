"""Merge trees in SciPy's linkage format: cut them, expand them, read the number of clusters off.

A cut into k clusters undoes the last k - 1 merges. It never looks at heights, so it gives exactly
k clusters whatever the ties and inversions (cuts by height give fewer clusters on ties).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.kernels._jit import compiled

# Smaller differences of heights are rounding noise.
_NOISE_GAP = 1e-12


def cut_merges(tree: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """Labels of the k clusters that are left when the last k - 1 merges are undone.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Linkage matrix, merges in the order made.
    k : int
        Number of clusters, 1 to n.

    Returns
    -------
    ndarray of shape (n,), int32
        Labels 0..k-1, numbered in the order in which objects first meet them.

    Examples
    --------
    >>> import numpy as np
    >>> tree = np.array([[1.0, 2.0, 0.5, 2.0], [0.0, 3.0, 0.5, 3.0]])
    >>> cut_merges(tree, 2)
    array([0, 1, 1], dtype=int32)
    """
    n = len(tree) + 1
    assert 1 <= k <= n
    n_nodes, labels = n + n - k, np.empty(n, np.int32)
    merges = tree[: n - k, :2].astype(np.int64)
    _leaf_labels(merges, np.arange(n_nodes), np.full(n_nodes, -1, np.int32), labels)
    return labels


@compiled(plain_up_to=20_000)
def _leaf_labels(merges, top, name, labels):
    """Label every leaf by the top of its tree in the forest of these merges."""
    n, met = labels.size, 0
    for t in range(len(merges) - 1, -1, -1):
        top[merges[t, 0]] = top[n + t]
        top[merges[t, 1]] = top[n + t]
    for i in range(n):
        if name[top[i]] < 0:
            name[top[i]] = met
            met += 1
        labels[i] = name[top[i]]


def expand_tree(tree: NDArray[np.float64], inverse: ArrayLike) -> NDArray[np.float64]:
    """Tree over all objects from a tree over their distinct signatures.

    Parameters
    ----------
    tree : ndarray of shape (u - 1, 4)
        Linkage matrix over u signatures.
    inverse : array-like of shape (n,), int
        Signature of every object, each of 0..u-1 at least once.

    Returns
    -------
    ndarray of shape (n - 1, 4), float64
        Identical objects merge first, at height 0: groups in the order of their first object, in a
        group one object after the other. Then come the merges of ``tree``. The last column counts
        objects. This is what `kernels.links.agglomerate` makes of all objects,
        ties included, if signatures are numbered by first appearance and lie apart.

    Examples
    --------
    >>> import numpy as np
    >>> expand_tree(np.array([[0.0, 1.0, 0.7, 3.0]]), [0, 1, 0])
    array([[0. , 2. , 0. , 2. ],
           [1. , 3. , 0.7, 3. ]])
    """
    groups = np.asarray(inverse, np.int64)
    assert groups.max() == len(tree)
    n, u = groups.size, len(tree) + 1
    full, sizes = np.empty((n - 1, 4)), np.zeros(u + len(tree))
    room = np.full(u, n), np.empty(u, np.int64), np.empty(u + len(tree), np.int64)
    _expand(np.asarray(tree, np.float64), groups, sizes, *room, full)
    return full


@compiled(plain_up_to=20_000)
def _expand(tree, groups, sizes, first, at, node, full):
    n, u = len(groups), len(tree) + 1
    for i in range(n - 1, -1, -1):
        first[groups[i]] = i
        sizes[groups[i]] += 1
    # Rows of a group lie together, groups in the order of their first objects.
    row = 0
    for i in range(n):
        g = groups[i]
        if i == first[g]:
            at[g], node[g] = row, i
            row += int(sizes[g]) - 1
        else:
            full[at[g], 0], full[at[g], 1] = min(node[g], i), max(node[g], i)
            full[at[g], 2] = 0.0
            full[at[g], 3] = 2.0 if node[g] == first[g] else full[at[g] - 1, 3] + 1.0
            node[g] = n + at[g]
            at[g] += 1
    for t in range(len(tree)):
        g, h = np.int64(tree[t, 0]), np.int64(tree[t, 1])
        sizes[u + t] = sizes[g] + sizes[h]
        full[row, 0], full[row, 1] = min(node[g], node[h]), max(node[g], node[h])
        full[row, 2], full[row, 3] = tree[t, 2], sizes[u + t]
        node[u + t] = n + row
        row += 1


def lifetimes(heights: ArrayLike) -> NDArray[np.float64]:
    """Range of thresholds over which the tree has k clusters, for k = 2, ..., n - 1.

    Parameters
    ----------
    heights : array-like of shape (n - 1,)
        Heights of the merges over all n objects, in any order (centroid link may invert them). Of
        a tree over signatures, add a zero for every object collapsed into another.

    Returns
    -------
    ndarray of shape (max(n - 2, 0),), float64
        Entry k - 2 is the height of the merge that ends the k clusters minus the height of the
        one that made them. Below 1e-12 it is 0.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE TPAMI
    27(6).

    Examples
    --------
    >>> lifetimes([0.25, 0.25, 0.5, 1.0])
    array([0.5 , 0.25, 0.  ])
    """
    gaps = np.diff(np.sort(np.asarray(heights, np.float64)))[::-1]
    return np.where(gaps < _NOISE_GAP, 0.0, gaps)


def longest_lifetime(heights: ArrayLike, *, allow_one: bool = False) -> int:
    """Number of clusters with the longest lifetime; the smallest on ties, 1 if all are zero.

    Parameters
    ----------
    heights : array-like of shape (n - 1,)
        As for `lifetimes`.
    allow_one : bool, default False
        Answer 1 as well when no gap stands out: the longest is below twice the shortest positive
        one, and they differ.

    Notes
    -----
    ``allow_one`` is the rule of the authors' program, which in that case leaves every object on
    its own by mistake.

    Examples
    --------
    >>> longest_lifetime([0.25, 0.25, 0.5, 1.0])
    2
    >>> longest_lifetime([0.25, 0.5, 0.8])
    2
    >>> longest_lifetime([0.25, 0.5, 0.8], allow_one=True)
    1
    """
    gaps = lifetimes(heights)
    positive = gaps[gaps > 0]
    if positive.size == 0:
        return 1
    longest, shortest = positive.max(), positive.min()
    if allow_one and shortest + _NOISE_GAP < longest < 2 * shortest:
        return 1
    return 2 + int(np.argmax(gaps > longest - _NOISE_GAP))
