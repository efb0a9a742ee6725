"""How much speaks for a partition: whether others come to it, and where its borders run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._atoms import sources
from consilience.consensus._likelihood import completed_likelihood
from consilience.consensus._lines import CHAINS, LOOSE, OF_DATA, ROUND, Partition, Scene, narrow
from consilience.kernels.data.borders import to_other_groups
from consilience.kernels.labels.products import pair_products

__all__ = ["Borders", "Support", "agreements", "border_sparsity", "reach", "supports"]

Labels = NDArray[np.int32]
Floats = NDArray[np.float64]

# Objects that make a group; fewer are strays, and their borders say nothing.
_STRAY, _FEWEST = 0.02, 4
# The distance to this neighbour is how sparse it is around an object.
_NEIGHBOUR = 7
# This share of a group's objects lies at its border.
_BORDER = 0.02
# No border is so empty, or so full, that it counts for more.
_MOST, _LEAST = 0.7, -0.5


@dataclass(frozen=True)
class Support:
    """What speaks for each of many partitions.

    Attributes
    ----------
    agreement : ndarray
        Mean, over the other lines, of the ARI with what in each comes nearest to it, at
        whatever number of groups.
    data_agreement : ndarray
        The same over the lines that look at the data, not at the members.
    loose_agreement : ndarray
        The same over the lines that follow any shape.
    round_agreement : ndarray
        The same over the lines that see groups around a centre only.
    graph_agreement : ndarray
        ARI with what comes nearest in the graph of neighbours.
    silhouette, modularity : ndarray
        Mean silhouette; modularity in the graph of neighbours.
    sparsity : ndarray
        How sparse it is at the borders of groups, as the logarithm of a ratio of distances:
        0 as inside, positive if sparser.
    capped : ndarray
        The same with no group counting for more than a bound.
    icl : ndarray
        How likely the groups are as Gaussians, see `completed_likelihood`; infinite for lines that
        see more than groups around a centre.
    one_gaussian : float
        The same of all objects as one group; minus infinity where there are no data, or columns
        have atoms, see `_atoms`.
    """

    agreement: Floats
    data_agreement: Floats
    loose_agreement: Floats
    round_agreement: Floats
    graph_agreement: Floats
    silhouette: Floats
    modularity: Floats
    sparsity: Floats
    capped: Floats
    icl: Floats
    one_gaussian: float


def supports(scene: Scene, partitions: Sequence[Partition]) -> Support:
    """What speaks for each of the partitions."""
    lines = np.array([one.line for one in partitions])
    agreement = agreements([one.labels for one in partitions])
    far, core = reach(scene.distances)
    borders = [border_sparsity(one.labels, far, core) for one in partitions]
    others = tuple(line for line in dict.fromkeys(lines.tolist()) if line != CHAINS)
    icl, one_gaussian = _likelihoods(scene, partitions)
    return Support(
        agreement=_of_others(agreement, lines, others),
        data_agreement=_of_others(agreement, lines, OF_DATA),
        loose_agreement=_of_others(agreement, lines, LOOSE),
        round_agreement=_of_others(agreement, lines, ROUND),
        graph_agreement=_of_others(agreement, lines, ("graph",)),
        silhouette=np.array([_silhouette(scene.distances, one.labels) for one in partitions]),
        modularity=np.array([_modularity(scene.graph, one.labels) for one in partitions]),
        sparsity=np.array([one.mean for one in borders]),
        capped=np.array([one.capped for one in borders]),
        icl=icl,
        one_gaussian=one_gaussian,
    )


def _likelihoods(scene: Scene, partitions: Sequence[Partition]) -> tuple[Floats, float]:
    """Of the lines that see groups around a centre only, and of all objects as one group.

    Of columns with atoms nobody is asked: groups that have one value each are as likely as one
    likes, as Gaussians, and there would be as many as values.
    """
    icl = np.full(len(partitions), np.inf)
    if scene.points is None or sources(scene.points):
        return icl, -np.inf
    points = narrow(scene.points)
    for place, one in enumerate(partitions):
        if one.line in ROUND:
            icl[place] = completed_likelihood(points, one.labels)
    return icl, completed_likelihood(points, np.zeros(len(points), np.int32))


def agreements(labels: Sequence[Labels]) -> Floats:
    """ARI of all pairs of partitions of the same objects.

    Examples
    --------
    >>> agreements([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 1, 0, 1])])
    array([[ 1. ,  1. , -0.5],
           [ 1. ,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    n = len(labels[0])
    # No table of all groups beside all: of many numbers of groups it would not fit.
    pairs = (pair_products(np.array(labels, np.int32), np.ones(n)) - n) / 2
    own = np.diag(pairs)
    chance = np.outer(own, own) / max(n * (n - 1) / 2, 1)
    most = (own[:, None] + own[None, :]) / 2
    room = most - chance
    return np.where(room > 1e-9, (pairs - chance) / np.where(room > 1e-9, room, 1), 1.0)


def _of_others(agreement: Floats, lines: NDArray[Any], asked: Sequence[str]) -> Floats:
    """Mean over the lines asked, but a partition's own, of the best agreement with the line."""
    total, count = np.zeros(len(lines)), np.zeros(len(lines))
    for line in asked:
        its = lines == line
        if its.any():
            total += np.where(its, 0.0, agreement[:, its].max(axis=1))
            count += ~its
    return total / np.maximum(count, 1)


def reach(distances: Floats) -> tuple[Floats, Floats]:
    """Mutual reachability of all pairs, and the distance of each object to its neighbours."""
    place = min(_NEIGHBOUR, len(distances) - 1)
    core = np.partition(distances, place, axis=1)[:, place]
    # Copies lie at no distance; nobody is denser than a thousandth of what is usual.
    usual = np.median(core[core > 0]) if (core > 0).any() else 1.0
    core = np.maximum(core, 1e-3 * usual)
    return np.maximum(distances, np.maximum(core[:, None], core[None, :])), core


class Borders(NamedTuple):
    """How sparse it is at the borders of groups: the logarithm of a ratio of distances.

    Attributes
    ----------
    mean : float
        Over all objects.
    capped : float
        The same with no group counting for more than a bound.
    """

    mean: float
    capped: float


def border_sparsity(labels: Labels, far: Floats, core: Floats) -> Borders:
    """How much farther objects reach across a border than to their neighbours inside.

    For each group the logarithm of what two in a hundred of its objects need to reach another
    group, over the usual distance to a neighbour; the mean over all objects, strays counting 0.
    Borders through the middle of a group are at 0 or below, whatever its shape.
    """
    n = len(labels)
    sizes = np.bincount(labels)
    groups = np.flatnonzero(sizes >= max(_FEWEST, _STRAY * n))
    if len(groups) < 2:
        return Borders(0.0, 0.0)
    counts = np.zeros(len(sizes), np.bool_)
    counts[groups] = True
    nearest = to_other_groups(far, labels, counts)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    inside, across = core[order], nearest[order]
    spans = [slice(starts[g], starts[g] + sizes[g]) for g in groups]
    ratios = np.log([_at(across[span], _BORDER) / _at(inside[span], 0.5) for span in spans])
    share = sizes[groups] / n
    capped = float(np.clip(ratios, _LEAST, _MOST) @ share)
    return Borders(float(ratios @ share), capped)


def _at(values: Floats, share: float) -> float:
    """The value that a share of them is below."""
    place = int(share * (len(values) - 1))
    return float(np.partition(values, place)[place])


def _silhouette(distances: Floats, labels: Labels) -> float:
    """Mean silhouette: scikit-learn's, for a matrix of distances that is known to be one."""
    n, k = len(labels), int(labels.max()) + 1
    inside = np.zeros((n, k))
    inside[np.arange(n), labels] = 1
    sizes = inside.sum(axis=0)
    sums = distances @ inside
    everyone = np.arange(n)
    own = sums[everyone, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[everyone, labels] = np.inf
    other = means.min(axis=1)
    largest = np.maximum(np.maximum(own, other), np.finfo(float).tiny)
    return float(np.where(sizes[labels] > 1, (other - own) / largest, 0.0).mean())


def _modularity(graph: Any, labels: Labels) -> float:
    """Share of the edges within groups, less what chance would put there."""
    edges = graph.tocoo()
    k = int(labels.max()) + 1
    ends = np.bincount(labels[edges.row], weights=edges.data, minlength=k) / edges.data.sum()
    within = edges.data[labels[edges.row] == labels[edges.col]].sum() / edges.data.sum()
    return float(within - (ends**2).sum())
