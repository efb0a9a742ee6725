"""Which of many partitions is taken, and by what kind of evidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus._lines import CHAINS, COMPACT, LOOSE, OF_DATA, Partition
from consilience.consensus._number_judge import Taken
from consilience.consensus._support import Support

__all__ = ["best_of", "number_score", "whole_score"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# All of these were chosen on tables of benchmarks/quality.py; recipes.csv has what else was tried.
_HALF = 0.5  # silhouette and modularity beside agreement, sparsity beside loose agreement
_LOOSELY = 0.6  # agreement of the loose lines that can be taken
_SPARSER = 0.2  # more sparsity than the compact choice has
_SPARSE = 0.1  # sparsity of borders that are sparse at all; 0 is as inside
_MODULAR = 0.3  # modularity of a division that is more than a few strays
_ROUNDLY = 0.92  # agreement of the round lines about groups that are no arcs of other shapes
_COMMONLY = 0.75  # and of all lines that look at the data
_APART = 0.3  # silhouette of groups that do not wind around each other
_ALIKE = 0.85  # ARI of the likeliest round groups with the graph, from which on they are taken
_LIKELIER = 0.3  # ICL an object by which they are likelier than one Gaussian; a box is by nothing
_WEAK = 1.1  # support, of at most 2, below which the number is where groups are best apart
_A_GUESS = 10  # most groups there


def best_of(partitions: Sequence[Partition], support: Support, k: int | None) -> tuple[int, Taken]:
    """The partition to take, and by what; the notes of `autoconsensus` say the rule.

    Parameters
    ----------
    partitions : sequence of Partition
    support : Support
        Of each of them.
    k : int or None
        Groups wanted; None chooses.
    """
    number = np.array([one.n_clusters for one in partitions])
    lines = np.array([one.line for one in partitions])
    if k is None:
        wanted, taken = _number(number, lines, support)
        usable, shapes = (number == wanted) & (lines != CHAINS), np.ones(len(partitions), bool)
    else:
        # Where no line has the number, the nearest one below or above.
        away = np.where(lines == CHAINS, np.inf, abs(number - k))
        taken, usable = "support", away == away.min()
        shapes = usable
    best = int(np.where(usable, whole_score(support), -np.inf).argmax())
    rival = _of_any_shape(lines, shapes, support, best)
    if rival is not None:
        return rival, "borders"
    chains = _chains(number, lines, support, k, best)
    if chains is not None:
        return chains, "borders"
    likeliest = _likeliest(support, len(partitions[0].labels)) if k is None else None
    return (best, taken) if likeliest is None else (likeliest, "likelihood")


def _of_any_shape(
    lines: NDArray[Any], shapes: NDArray[np.bool_], support: Support, best: int
) -> int | None:
    """Groups of any shape with sparser borders than the first choice has; None if there are none.

    A union of round groups has sparser borders than they have themselves, and is no better for it.
    """
    loose = np.isin(lines, LOOSE) & shapes
    loose &= (support.modularity >= _MODULAR) & (support.loose_agreement >= _LOOSELY)
    if not loose.any():
        return None
    other = support.loose_agreement + _HALF * support.capped
    rival = int(np.where(loose, other, -np.inf).argmax())
    sparsity = support.sparsity[rival]
    sparser = sparsity >= _SPARSE and sparsity - support.sparsity[best] > _SPARSER
    union = _has_data(lines) and _of_round_groups(support, rival, best)
    return rival if sparser and not union else None


def _chains(
    number: Ints, lines: NDArray[Any], support: Support, k: int | None, best: int
) -> int | None:
    """Groups that no step as long as those within them crosses; None if there are none.

    Taken where no number has much support, or where they wind around each other: those that lie
    apart as wholes may be unions of groups that everybody else sees.
    """
    fitting = np.flatnonzero((lines == CHAINS) & (number == (number if k is None else k)))
    if not fitting.size:
        return None
    weak = float(number_score(lines, support)[number == number[best]].max()) < _WEAK
    winding = support.silhouette[fitting[0]] < _APART
    return int(fitting[0]) if weak or winding else None


def _of_round_groups(support: Support, rival: int, best: int) -> bool:
    """Whether a rival joins round groups that there are, instead of what round lines cut.

    Round lines agree about arcs of a ring too, if less. But shapes that they have to cut wind
    around each other, or lie in the bend of another, and their silhouette is small.
    """
    round_groups = support.round_agreement[best] >= _ROUNDLY
    round_groups &= support.data_agreement[best] >= _COMMONLY
    apart = support.silhouette[rival] >= _APART
    # Even the lines that follow any shape come to the round groups rather than to the rival.
    preferred = support.loose_agreement[best] >= support.loose_agreement[rival]
    return bool(round_groups and (apart or preferred))


def _likeliest(support: Support, n_objects: int) -> int | None:
    """The likeliest round groups, where the graph comes to the same; None where not."""
    likeliest = int(support.icl.argmin())
    likelier = support.one_gaussian - support.icl[likeliest] > _LIKELIER * n_objects
    sure = likelier and support.graph_agreement[likeliest] >= _ALIKE
    return likeliest if sure else None


def _number(number: Ints, lines: NDArray[Any], support: Support) -> tuple[int, Taken]:
    """How many groups, and by what: the lines that look at the data say, where there are any."""
    score = number_score(lines, support)
    best = int(score.argmax())
    if score[best] >= _WEAK or not _has_data(lines):
        return int(number[best]), "support"
    # The more groups the better apart they are, in noise of some columns: that is no number.
    few = np.isin(lines, COMPACT) & (number <= max(_A_GUESS, number.min()))
    separated = np.where(few, support.silhouette, -np.inf)
    return int(number[separated.argmax()]), "silhouette"


def _has_data(lines: NDArray[Any]) -> bool:
    """Without data there is no k-means, and no silhouette but that of the co-association."""
    return bool((lines == "k-means").any())


def number_score(lines: NDArray[Any], support: Support) -> Floats:
    """What speaks for the numbers of groups of partitions: members have no say, if others can.

    Other members would come to another number now and then, where two are about equal.
    """
    if not _has_data(lines):
        return whole_score(support)
    apart = _HALF * (support.silhouette + support.modularity)
    return np.where(np.isin(lines, OF_DATA), support.data_agreement + apart, -np.inf)


def whole_score(support: Support) -> Floats:
    """What speaks for partitions into one and the same number of groups."""
    return support.agreement + _HALF * (support.silhouette + support.modularity)
