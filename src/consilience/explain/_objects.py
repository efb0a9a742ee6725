"""What the members say of single objects: how near their group, and who else claims them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._labels import NOISE, UNSEEN
from consilience.ensemble import Ensemble

__all__ = ["Votes", "closeness", "votes"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class Votes(NamedTuple):
    """Members by what they say of some objects; each member says one thing of an object.

    ``groups`` (n_some, n_groups): it is with this group. ``undecided``: alone, or as much with one
    group as with another. ``left_out``: noise. ``unseen``: the member never saw it.
    """

    groups: Codes
    undecided: Codes
    left_out: Codes
    unseen: Codes


def votes(ensemble: Ensemble, groups: Codes, n_groups: int, objects: Codes) -> Votes:
    """How many members put each of some objects with each group.

    A member puts an object with the group of whose other objects the largest *share* lies in the
    object's cluster: small groups count as much as large ones, as in the confidence, which is made
    of the means of these shares.

    Parameters
    ----------
    ensemble : Ensemble
    groups : array of int of shape (n_objects,)
        0..n_groups-1; below 0 in no group.
    n_groups : int
    objects : array of int
        Rows of the objects asked for.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> votes(ens, np.array([0, 0, 0, 1, 1, 1]), 2, np.array([2])).groups.tolist()
    [[1, 1]]
    """
    own, row = groups[objects], np.arange(len(objects))
    placed = own >= 0
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    others = np.tile(sizes, (len(objects), 1))
    others[row[placed], own[placed]] -= 1
    said = Votes(np.zeros((len(objects), n_groups), np.int64), *np.zeros((3, len(objects)), int))
    for member in ensemble.members:
        there = member[objects].astype(np.int64)
        together = _table(member, groups, n_groups)[np.maximum(there, 0)]
        together[row[placed], own[placed]] -= 1
        share = np.divide(together, others, out=np.zeros(together.shape), where=others > 0)
        # The only one of its group is with it where it is alone.
        lonely = placed & (sizes[own] == 1) & (together.sum(axis=1) == 0)
        share[row[lonely], own[lonely]] = 1.0
        best = share.max(axis=1, initial=0.0)
        clear = (there >= 0) & (best > 0) & ((share == best[:, None]).sum(axis=1) == 1)
        said.groups[row[clear], share[clear].argmax(axis=1)] += 1
        said.undecided[(there >= 0) & ~clear] += 1
        said.left_out[there == NOISE] += 1
        said.unseen[there == UNSEEN] += 1
    return said


def closeness(ensemble: Ensemble, groups: Codes, n_groups: int) -> Floats:
    """Mean share of the other objects of its group that an object is together with.

    Over the members that placed it; 0 for objects in no group, 1 for the only one of a group.
    """
    placed = np.flatnonzero(groups >= 0)
    own = groups[placed]
    mates = np.bincount(own, minlength=n_groups)[own] - 1
    total, times = np.zeros(len(placed)), np.zeros(len(placed))
    for member in ensemble.members:
        there = member[placed].astype(np.int64)
        seen = there >= 0
        together = _table(member, groups, n_groups)[there[seen], own[seen]] - 1
        total[seen] += together / np.maximum(mates[seen], 1)
        times[seen] += 1
    near = np.zeros(len(groups))
    near[placed] = np.where(mates > 0, total / np.maximum(times, 1), 1.0)
    return near


def _table(member: NDArray[np.integer], groups: Codes, n_groups: int) -> Codes:
    """Objects by cluster of a member and group."""
    both = (member >= 0) & (groups >= 0)
    n_clusters = max(int(member.max(initial=-1)), 0) + 1
    cells = member[both].astype(np.int64) * n_groups + groups[both]
    return np.bincount(cells, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups)
