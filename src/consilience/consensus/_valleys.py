"""Whether objects are rare between groups, seen along the line from one group to the next.

In many columns all objects lie about equally far from each other, and distances to neighbours
hardly tell a border from the inside of a group. Seen along one line they still do.
"""

import math

import numpy as np
from numpy.typing import NDArray

from consilience.kernels.data.dip import dip

__all__ = ["valleys"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Ints = NDArray[np.int64]

# Objects that make a group; fewer have no line that could be learnt from one half of them.
_STRAY, _FEWEST = 0.02, 8
# Neighbouring groups that a group is looked at with.
_NEIGHBOURS = 3
# Shares of a group, those nearest to the border. A bent band seen from the side has a valley too,
# but not in the quarter that lies about the cut.
_SHARES = (1.0, 0.5, 0.25)
# No valley is so deep that it counts for more; and the fewest objects of the smaller group to look
# at, and the most in the last share: many would show even the slight valley that a bend leaves.
_MOST, _LEAST, _ENOUGH = 2.0, 6, 50


def valleys(points: Floats, labels: Labels, rng: np.random.RandomState) -> float:
    """How deep the valleys between groups are; 0 where there is nothing to compare.

    For a group and one of the three whose means are nearest: objects of one half give the line
    that tells the two apart best (Fisher's, with Ledoit and Wolf's covariance), the others are
    seen along it, and the dip of what is seen times the root of their number says how far that is
    from one peak: about 0.37 by chance, beyond 0.6 in one of a hundred. The same of the half and
    of the quarter (50 objects at most) of both groups that is nearest to the border. The least of
    a group's neighbours counts, then the mean over all objects, then the least of the three.
    """
    n = len(labels)
    sizes = np.bincount(labels)
    groups = np.flatnonzero(sizes >= max(_FEWEST, _STRAY * n))
    if len(groups) < 2:
        return 0.0
    halves = rng.permutation(n) % 2
    members = [np.flatnonzero(labels == group) for group in groups]
    means = np.array([points[its].mean(axis=0) for its in members])
    apart = ((means[:, None] - means[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    known: dict[tuple[int, int], Floats] = {}
    weakest = np.full((len(groups), len(_SHARES)), _MOST)
    for group, row in enumerate(apart):
        for other in np.argsort(row, kind="stable")[: min(_NEIGHBOURS, len(groups) - 1)].tolist():
            pair = (min(group, other), max(group, other))
            if pair not in known:
                known[pair] = _between(points, members[pair[0]], members[pair[1]], halves)
            weakest[group] = np.minimum(weakest[group], known[pair])
    # Strays count 0: a valley says nothing about them.
    return float((sizes[groups] / n @ weakest).min())


def _between(points: Floats, one: Ints, other: Ints, halves: Ints) -> Floats:
    """Dips of two groups, each object seen along a line that it had no part in."""
    first, second = [], []
    for half in (0, 1):
        ours, theirs = points[one[halves[one] == half]], points[other[halves[other] == half]]
        if min(len(ours), len(theirs)) < 3:
            return np.zeros(len(_SHARES))
        line, middle = _line(ours, theirs)
        first.append(middle - points[one[halves[one] != half]] @ line)
        second.append(points[other[halves[other] != half]] @ line - middle)
    # Both count from the border into their own group.
    near, far = (np.sort(np.concatenate(side)) for side in (first, second))
    return np.array([_dip_of_nearest(near, far, share) for share in _SHARES])


def _dip_of_nearest(near: Floats, far: Floats, share: float) -> float:
    """Dip, times the root of the number, of a share of each side; never many beside few.

    A small group beside a large one is a small part of both, and would hardly show.
    """
    fewer = min(len(near), len(far))
    few = max(_LEAST, int(share * fewer))
    few = min(few, _ENOUGH) if share == _SHARES[-1] else few
    seen = [side[: int(few * min(2.0, len(side) / fewer))] for side in (near, far)]
    values = np.sort(np.concatenate([-seen[0], seen[1]]))
    return float(dip(values) * np.sqrt(len(values)))


def _line(ours: Floats, theirs: Floats) -> tuple[Floats, float]:
    """Direction that tells two groups apart best, of unit spread within them, and the middle."""
    here, there = ours.mean(axis=0), theirs.mean(axis=0)
    within = np.concatenate([ours - here, theirs - there])
    spread = _shrunk_covariance(within)
    # Groups of copies have no spread of their own; beside their distance this is next to nothing.
    spread += 1e-9 * float(((there - here) ** 2).mean()) * np.eye(len(here))
    direction = np.linalg.solve(spread, there - here)
    scale = math.sqrt(max(float(direction @ spread @ direction), np.finfo(float).tiny))
    return direction / scale, float(direction @ (here + there) / 2 / scale)


def _shrunk_covariance(rows: Floats) -> Floats:
    """Covariance of rows of mean 0, drawn towards a multiple of the identity.

    Ledoit & Wolf (2004), J. Multivariate Analysis 88, lemma 3.2 to 3.4.
    """
    n, d = rows.shape
    spread = rows.T @ rows / n
    mean = max(float(np.trace(spread)) / d, np.finfo(float).tiny)
    off = float(((spread - mean * np.eye(d)) ** 2).sum())
    noise = (float(((rows**2).sum(axis=1) ** 2).mean()) - float((spread**2).sum())) / n
    share = 1.0 if off <= 0 else min(1.0, max(noise, 0.0) / off)
    # A little of the identity always: columns may repeat each other.
    return (1 - share) * spread + (share + 1e-9) * mean * np.eye(d)
