"""A picture of the co-association by level of detail: leaves of the tree, and some objects."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from consilience.ensemble import Ensemble
from consilience.explore._cuts import Cuts, joined_shares
from consilience.kernels.links.agglomerate import agglomerate
from consilience.report._thin import thinned

__all__ = ["Pairs", "pairs_of"]

Positions = NDArray[np.int64]

#: Objects of which every pair is shown.
MOST_ROWS = 360


class Pairs(NamedTuple):
    """Co-association of some objects, in the order of the tree.

    ``objects`` are their rows, ``joined`` their matrix in 255ths. Leaves of the tree are the coarse
    picture: ``Cuts.together``, in the order of ``Cuts.order``.
    """

    objects: Positions
    joined: NDArray[np.uint8]


def pairs_of(ensemble: Ensemble, cuts: Cuts, *, seed: int) -> Pairs:
    """Some objects of every leaf, leaf after leaf, inside a leaf by average link."""
    leaf = cuts.leaf.astype(np.int64)
    some = thinned(leaf, MOST_ROWS, seed=seed)
    joined = joined_shares(ensemble.take(some))
    place = np.empty(len(cuts.order) + 1, np.int64)
    place[cuts.order] = np.arange(len(cuts.order))
    place[-1] = len(cuts.order)  # in no group: at the end
    within = np.zeros(len(some), np.int64)
    if len(some) > 1:
        tree = agglomerate(1.0 - joined[np.triu_indices(len(some), 1)], "average")
        within[hierarchy.leaves_list(tree)] = np.arange(len(some))
    order = np.lexsort((within, place[leaf[some]]))
    shades = np.round(255 * joined[np.ix_(order, order)]).astype(np.uint8)
    return Pairs(some[order], shades)
