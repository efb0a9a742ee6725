"""One tree through an answer: every number of groups at once, few of them joined, many divided.

Cuts of one tree are nested, so all of them are a number of a leaf for each object and a small table
of leaves x numbers of groups. The tree goes *through* the answer: at its own number of groups the
cut is the answer, object for object. Above it groups are joined by average link of the
co-association, as `consilience.consensus.levels` does; below it each group is divided by Ward's
link of the co-association, which does not split off single objects one by one.
"""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances

from consilience._labels import UNSEEN
from consilience.consensus._group_tree import _joins
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.evidence import co_association
from consilience.kernels.links.agglomerate import agglomerate
from consilience.report._thin import thinned

__all__ = ["Cuts", "Split", "cuts_of", "only_cut", "pair_sums", "shares_with"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Positions = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]

#: Numbers of groups there is always a cut for, where the evidence divides as far.
LEAST_CUTS = 20
# Objects whose pairs are looked at when groups are divided.
_PAIRS = 2000
# Parts nearer than this cannot be told apart.
_NOTHING = 1e-9
# Shares of objects with groups that are looked at at once.
_SHARES = 1 << 22


@dataclass(frozen=True)
class Split:
    """What happens between a number of groups and the next larger one.

    Attributes
    ----------
    n_groups : int
        Groups there are after it.
    group, new : int
        The group that is divided, and the number of its part that gets a new one.
    together : float
        Mean co-association of objects of one part with those of the other.
    sizes : tuple of two int
        Objects of the part that keeps the number, and of the other.
    """

    n_groups: int
    group: int
    new: int
    together: float
    sizes: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Cuts:
    """All cuts of a tree.

    Attributes
    ----------
    leaf : ndarray of shape (n_objects,), int16, or int32 where there are very many leaves
        Where the object is in the finest cut; -1 in no group.
    numbers : ndarray of shape (n_cuts, n_leaves), as ``leaf``
        The number of the group of each leaf, one row a cut. A group keeps its number as long as it
        stays the larger part of what it was.
    least : int
        Groups of the first row; each row has one more.
    default : int
        Groups of the answer.
    splits : tuple of Split
        Between the rows.
    together : ndarray of shape (n_leaves, n_leaves)
        Mean co-association of leaves, of pairs of different objects; NaN where there is no pair.
        Empty where nothing is known of pairs.
    order : ndarray of shape (n_leaves,), as ``leaf``
        Leaves side by side, so that no branch crosses another.
    """

    leaf: Numbers
    numbers: Numbers
    least: int
    default: int
    splits: tuple[Split, ...]
    together: Floats
    order: Numbers

    @property
    def most(self) -> int:
        """Groups of the finest cut."""
        return self.least + len(self.numbers) - 1

    def labels(self, n_groups: int) -> Labels:
        """Group of each object where there are so many; -1 in none."""
        row = np.append(self.numbers[n_groups - self.least], -1)
        return row[self.leaf].astype(np.int32)


def only_cut(labels: Labels) -> Cuts:
    """The answer alone, where nothing is known of what joins or divides its groups."""
    k = int(labels.max(initial=-1)) + 1
    groups = _numbers(np.arange(k), k)
    return Cuts(_numbers(labels, k), groups[None], k, k, (), np.empty((0, 0)), groups)


def _numbers(values: Any, n_leaves: int) -> Numbers:
    """Numbers of leaves in the narrowest type that the page knows and that holds them."""
    return np.asarray(values, np.int16 if n_leaves <= 1 << 15 else np.int32)


def cuts_of(ensemble: Ensemble, labels: Labels, points: Floats | None, *, seed: int) -> Cuts:
    """The tree through an answer, cut for 1 to max(20, 2 k) groups.

    Parameters
    ----------
    ensemble : Ensemble
    labels : ndarray of shape (n_objects,)
        Groups 0..k-1 of the answer, without a gap; negative in none.
    points : ndarray of shape (n_objects, d) or None
        Where the objects lie; says which of groups that no member joins are joined first.
    seed : int
        Draws the objects whose pairs are looked at, where there are more than 2,000.

    Notes
    -----
    Memory: a matrix of 2,000 x 2,000 at most, and arrays of n_objects. All other objects go to the
    part of their group that they are most often with.
    """
    k = int(labels.max(initial=-1)) + 1
    if k < 1:
        return only_cut(labels)
    leaf, above, divided = _divided(ensemble, labels, max(LEAST_CUTS, 2 * k), seed)
    joined, seen = pair_sums(ensemble, leaf, len(above))
    return _assembled(leaf, above, divided, joined, seen, _means(points, labels, k))


def _means(points: Floats | None, labels: Labels, k: int) -> Floats:
    if points is None:
        return np.zeros((k, 1))
    return np.stack([points[labels == g].mean(axis=0) for g in range(k)])


# ---- below the answer: groups divided -------------------------------------------------


def _divided(
    ensemble: Ensemble, labels: Labels, most: int, seed: int
) -> tuple[Positions, list[int], list[tuple[int, int]]]:
    """Leaf of each object, the group of each leaf, and who was divided from whom in what order."""
    k = int(labels.max()) + 1
    some = thinned(labels, _PAIRS, seed=seed)
    some = some[labels[some] >= 0]
    inside = [some[labels[some] == g] for g in range(k)]
    sizes = np.bincount(labels[labels >= 0], minlength=k)
    trees = [_ward(ensemble, objects) for objects in inside]
    candidates = sorted(
        (
            (float(tree[t, 2]) * sizes[g] / len(inside[g]), g, t)
            for g, tree in enumerate(trees)
            for t in range(len(tree))
            if tree[t, 2] > _NOTHING
        ),
        reverse=True,
    )[: most - k]
    leaf_of = np.full(len(labels), -1, np.int64)
    # Node of a group's tree -> leaf number; the last node is the whole group. Of very many groups
    # some have no object that is looked at, and no tree.
    nodes = [{2 * len(objects) - 2: g} if len(objects) else {} for g, objects in enumerate(inside)]
    above, divided = list(range(k)), []
    for _, g, t in candidates:
        tree, n = trees[g], len(inside[g])
        own = nodes[g].pop(n + t)
        left, right = (int(node) for node in tree[t, :2])
        if _weight(tree, right) > _weight(tree, left):
            left, right = right, left
        nodes[g][left], nodes[g][right] = own, len(above)
        divided.append((own, len(above)))
        above.append(g)
    for g, objects in enumerate(inside):
        for node, number in nodes[g].items():
            leaf_of[objects[_under(trees[g], node, len(objects))]] = number
    return _all_placed(ensemble, labels, leaf_of, above), above, divided


def _weight(tree: Floats, node: int) -> float:
    n = len(tree) + 1
    return 1.0 if node < n else float(tree[node - n, 3])


def _under(tree: Floats, node: int, n: int) -> Positions:
    """Leaves below a node."""
    leaves, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one < n:
            leaves.append(one)
        else:
            waiting += [int(child) for child in tree[one - n, :2]]
    return np.array(leaves, np.int64)


def _ward(ensemble: Ensemble, objects: Positions) -> Floats:
    """Ward's tree of some objects, one less the co-association as squared distances."""
    n = len(objects)
    if n < 2:
        return np.empty((0, 4))
    distances = 1.0 - joined_shares(ensemble.take(objects), "condensed")
    return agglomerate(distances, "ward", squared=False)


def joined_shares(ensemble: Ensemble, form: Literal["dense", "condensed"] = "dense") -> Floats:
    """Co-association of all pairs; 0 of pairs that nobody saw together, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return np.asarray(co_association(ensemble, form=form))


def _all_placed(ensemble: Ensemble, labels: Labels, leaf: Positions, above: list[int]) -> Positions:
    """Objects whose pairs nobody looked at go to the part of their group they are most with."""
    rest = np.flatnonzero((leaf < 0) & (labels >= 0))
    if not len(rest):
        return leaf
    own = np.array(above)
    placed = leaf.copy()
    step = max(1, _SHARES // len(above))
    for start in range(0, len(rest), step):
        some = rest[start : start + step]
        shares = shares_with(ensemble, leaf, len(above), some)
        shares[own[None] != labels[some][:, None]] = -1.0
        placed[some] = shares.argmax(axis=1)
    return placed


def shares_with(
    ensemble: Ensemble, groups: Positions, n_groups: int, objects: Positions
) -> NDArray[np.float32]:
    """Mean co-association of some objects with groups, as (n_some, n_groups).

    Of the pairs that members saw, as `pair_sums`; 0 where nobody saw any. Sums of a table a member,
    never of pairs; an object counts itself where it is in the group.
    """
    joined, seen = np.zeros((2, len(objects), n_groups))
    grouped = groups >= 0
    for member in ensemble.members:
        both = (member >= 0) & grouped
        clusters = int(member.max(initial=-1)) + 1
        cells = member[both].astype(np.int64) * n_groups + groups[both]
        table = np.bincount(cells, minlength=clusters * n_groups).reshape(clusters, n_groups)
        # The last row is for what the member did not place.
        table = np.vstack([table, np.zeros(n_groups, np.int64)])
        joined += table[np.maximum(member[objects], -1)]
        there = np.bincount(groups[grouped & (member != UNSEEN)], minlength=n_groups)
        seen += np.outer(member[objects] != UNSEEN, there)
    return (joined / np.maximum(seen, 1)).astype(np.float32)


# ---- above the answer: groups joined --------------------------------------------------


def pair_sums(ensemble: Ensemble, leaf: Positions, n_leaves: int) -> tuple[Floats, Floats]:
    """Ordered pairs of objects of two leaves that members join, and that they saw."""
    joined, seen = np.zeros((2, n_leaves, n_leaves))
    placed = leaf >= 0
    leaves = leaf[placed]
    for member in ensemble.members:
        own = member[placed]
        here = own >= 0
        cells = own[here].astype(np.int64) * n_leaves + leaves[here]
        clusters = int(own.max(initial=-1)) + 1
        counts = np.bincount(cells, minlength=clusters * n_leaves).astype(np.float64)
        counts = counts.reshape(clusters, n_leaves)
        there = np.bincount(leaves[own != UNSEEN], minlength=n_leaves).astype(np.float64)
        joined += counts.T @ counts
        seen += np.outer(there, there)
        # Pairs of an object with itself say nothing.
        joined[np.diag_indices(n_leaves)] -= counts.sum(axis=0)
        seen[np.diag_indices(n_leaves)] -= there
    return joined, seen


def _assembled(
    leaf: Positions,
    above: list[int],
    divided: list[tuple[int, int]],
    joined: Floats,
    seen: Floats,
    means: Floats,
) -> Cuts:
    """Rows of numbers from one group to all leaves, and the splits between them."""
    k, groups = len(means), np.array(above)
    sizes = np.bincount(leaf[leaf >= 0], minlength=len(above))
    which = (groups[:, None] == np.arange(k)).astype(np.float64)  # leaves x groups
    merges = _joins(
        which.T @ joined @ which,
        which.T @ seen @ which,
        euclidean_distances(means),
        (sizes @ which).astype(np.int64),
    )
    rows: list[Positions] = [groups]
    parted: list[tuple[int, int]] = []
    for parts, _ in merges:  # the nearest first: each row has one group less than the one below
        row = rows[0].copy()
        ends = [int(row[np.isin(groups, part)][0]) for part in parts]
        kept, gone = sorted(ends, key=lambda end: (-sizes[row == end].sum(), end))
        row[row == gone] = kept
        parted.insert(0, (kept, gone))
        rows.insert(0, row)
    for own, new in divided:
        row = rows[-1].copy()
        row[_offspring(divided, new)] = new
        parted.append((own, new))
        rows.append(row)
    splits = tuple(
        _split(i + 2, pair, row, joined, seen, sizes)
        for i, (pair, row) in enumerate(zip(parted, rows[1:], strict=True))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        near = np.where(seen > 0, joined / seen, np.nan)
    numbers = _numbers(rows, len(above))
    order = _side_by_side(numbers, splits)
    return Cuts(_numbers(leaf, len(above)), numbers, 1, k, splits, near, order)


def _offspring(divided: list[tuple[int, int]], new: int) -> list[int]:
    """A leaf and all that are divided from it later."""
    leaves = [new]
    for own, child in divided:
        if own in leaves and child > new:
            leaves.append(child)
    return leaves


def _split(
    n_groups: int,
    pair: tuple[int, int],
    row: Positions,
    joined: Floats,
    seen: Floats,
    sizes: Positions,
) -> Split:
    a, b = (row == number for number in pair)
    pairs = seen[np.ix_(a, b)].sum()
    together = float(joined[np.ix_(a, b)].sum() / pairs) if pairs > 0 else 0.0
    return Split(n_groups, *pair, together, (int(sizes[a].sum()), int(sizes[b].sum())))


def _side_by_side(rows: Numbers, splits: tuple[Split, ...]) -> Numbers:
    """Leaves in an order in which the parts of every group lie beside each other."""
    blocks = [np.arange(rows.shape[1])]
    for row, split in zip(rows[1:], splits, strict=True):
        at = next(i for i, block in enumerate(blocks) if (row[block] == split.new).any())
        new = row[blocks[at]] == split.new
        blocks[at : at + 1] = [blocks[at][~new], blocks[at][new]]
    return _numbers(np.concatenate(blocks), rows.shape[1])
