"""Whether objects are rare between groups, seen along the line from one group to the next.

In many columns all objects lie about equally far from each other, and distances to neighbours
hardly tell a border from the inside of a group. Seen along one line they still do.
"""

from typing import NamedTuple

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
    parts = [_Part.of(points, np.flatnonzero(labels == group), halves) for group in groups]
    pairs, places = _neighbours(np.array([part.mean for part in parts]))
    depths = _between(points, parts, pairs)
    weakest = np.minimum(depths[places].min(axis=1), _MOST)
    # Strays count 0: a valley says nothing about them.
    return float((sizes[groups] / n @ weakest).min())


class _Part(NamedTuple):
    """A group in two halves: its objects, and of each half mean, scatter and how uneven that is.

    What two groups have within them is the sum of what each has, so nothing here is made twice.
    """

    halves: tuple[Ints, Ints]
    mean: Floats
    means: Floats
    scatters: Floats
    fourths: Floats

    @classmethod
    def of(cls, points: Floats, members: Ints, halves: Ints) -> "_Part":
        second = halves[members] == 1
        both = members[~second], members[second]
        rows = [points[half] for half in both]
        means = np.array([half.sum(axis=0) / max(len(half), 1) for half in rows])
        within = [half - mean for half, mean in zip(rows, means, strict=True)]
        scatters = np.array([half.T @ half for half in within])
        fourths = np.array([(np.einsum("ij,ij->i", half, half) ** 2).sum() for half in within])
        return cls(both, points[members].mean(axis=0), means, scatters, fourths)


def _neighbours(means: Floats) -> tuple[Ints, Ints]:
    """Pairs of groups to look at, (n_pairs, 2), and the pairs of each group with its nearest."""
    apart = ((means[:, None] - means[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, : min(_NEIGHBOURS, len(means) - 1)]
    own, other = np.arange(len(means))[:, None], nearest
    # A pair as one number: rows take much longer to tell apart.
    both = np.minimum(own, other) * len(means) + np.maximum(own, other)
    numbers, places = np.unique(both, return_inverse=True)
    return np.column_stack(np.divmod(numbers, len(means))), places.reshape(nearest.shape)


def _between(points: Floats, parts: list[_Part], pairs: Ints) -> Floats:
    """Dips of every pair of groups by share, each object seen along a line it had no part in."""
    counts = np.array([[len(half) for half in part.halves] for part in parts])
    depths = np.zeros((len(pairs), len(_SHARES)))
    # Lines are learnt from three objects of each group at least.
    able = np.flatnonzero(counts[pairs].min(axis=(1, 2)) >= 3)
    if not len(able):
        return depths
    lines, middles = _lines(parts, counts, pairs[able])
    for at, line, middle in zip(able, lines, middles, strict=True):
        one, other = (parts[group].halves for group in pairs[at])
        # Both count from the border into their own group.
        before = [middle[half] - points[one[1 - half]] @ line[half] for half in (0, 1)]
        behind = [points[other[1 - half]] @ line[half] - middle[half] for half in (0, 1)]
        near, far = np.sort(np.concatenate(before)), np.sort(np.concatenate(behind))
        # All values from one side to the other: a share of each is a stretch in the middle.
        values = np.concatenate([-near[::-1], far])
        depths[at] = [_dip_of_nearest(values, len(near), share) for share in _SHARES]
    return depths


def _dip_of_nearest(values: Floats, n_near: int, share: float) -> float:
    """Dip, times the root of the number, of a share of each side; never many beside few.

    The first ``n_near`` values are one side, the rest the other. A small group beside a large one
    is a small part of both, and would hardly show.
    """
    n_far = len(values) - n_near
    fewer = min(n_near, n_far)
    few = max(_LEAST, int(share * fewer))
    few = min(few, _ENOUGH) if share == _SHARES[-1] else few
    near, far = (min(int(few * min(2.0, n / fewer)), n) for n in (n_near, n_far))
    values = np.sort(values[n_near - near : n_near + far])  # sides may overlap
    return float(dip(values) * np.sqrt(len(values)))


def _lines(parts: list[_Part], counts: Ints, pairs: Ints) -> tuple[Floats, Floats]:
    """Directions that tell the groups of each pair apart best, by half, and the middles there.

    Of unit spread within the groups; (n_pairs, 2, n_columns) and (n_pairs, 2).
    """
    means, scatters, fourths = (
        np.array([getattr(part, name) for part in parts])[pairs]
        for name in ("means", "scatters", "fourths")
    )
    spread = _shrunk(scatters.sum(axis=1), fourths.sum(axis=1), counts[pairs].sum(axis=1))
    gap = means[:, 1] - means[:, 0]
    # Groups of copies have no spread of their own; beside their distance this is next to nothing.
    np.einsum("...ii->...i", spread)[...] += 1e-9 * (gap**2).mean(axis=2)[..., None]
    lines = np.linalg.solve(spread, gap[..., None])[..., 0]
    scales = ((spread @ lines[..., None])[..., 0] * lines).sum(axis=2)
    lines /= np.sqrt(np.maximum(scales, np.finfo(float).tiny))[..., None]
    return lines, (lines * means.sum(axis=1)).sum(axis=2) / 2


def _shrunk(scatters: Floats, fourths: Floats, counts: Ints) -> Floats:
    """Covariances drawn towards a multiple of the identity, (..., d, d).

    Of rows of mean 0: the sums of their products, of the squares of their squared lengths, and how
    many they are. Ledoit & Wolf (2004), J. Multivariate Analysis 88, lemma 3.2 to 3.4.
    """
    d = scatters.shape[-1]
    spread = scatters / counts[..., None, None]
    mean = np.maximum(np.trace(spread, axis1=-2, axis2=-1) / d, np.finfo(float).tiny)
    squares = np.einsum("...ij,...ij->...", spread, spread)
    # How far from round: squares of what is left when the round part is taken off.
    off = np.maximum(squares - d * mean**2, 0.0)
    noise = np.maximum(fourths / counts - squares, 0.0) / counts
    share = np.where(noise < off, noise / np.where(off > 0, off, 1.0), 1.0)
    spread *= (1 - share)[..., None, None]
    # A little of the identity always: columns may repeat each other.
    np.einsum("...ii->...i", spread)[...] += ((share + 1e-9) * mean)[..., None]
    return spread
