"""The width of the Gaussian kernel that follows from how far the objects are apart.

A width stated for two columns says nothing in two hundred, where all distances grow and draw
together: every object would be far from every other, and all would score alike.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience._threads import one_thread
from consilience.kernels._parallel import in_threads
from consilience.minority._divergence import Euclidean, Floats
from consilience.minority.weak import SAMPLE, random

__all__ = ["gamma_of_distances"]

# Objects whose distances are looked at.
_MOST_OBJECTS = 1000
# In few columns near is where most objects have a hundredth of the others (of few objects, two
# neighbours): half of the objects decide, so that dense groups do not set the width for the
# background. In many columns, where the nearest are hardly nearer than the others, near is a
# share of the typical distance. The kernel falls to exp(-6) over the one and to exp(-10) over
# the other, whichever is narrower: see the table of docs/minority.md.
_NEAR, _NEIGHBOURS, _AT_NEAR, _AT_TYPICAL = 0.01, 2, 6.0, 10.0
# Objects whose neighbours are looked for at once.
_ROWS = 64
# Of so many distances one is looked at to know where the median may be.
_FEW = 97
# Squared distances below this share of the largest are those of equal objects.
_EQUAL = 1e-12
# The width of the paper, for objects that are all equal.
_GIVEN = 10.0


def gamma_of_distances(X: Any, seed: int, n_jobs: int | None = 1) -> float:
    """Inverse squared width of the kernel for these objects.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
    seed : int
        Draws the objects looked at where there are more than a thousand.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    float
        In the inverse squared unit of X; 10 where all objects are equal.
    """
    n = X.shape[0]
    some = np.arange(n)
    if n > _MOST_OBJECTS:
        some = np.sort(random(seed, SAMPLE, 1).choice(n, _MOST_OBJECTS, replace=False))
    X = X[some]  # in memory, also of a table that lies elsewhere
    # Threads of the product would still turn, waiting for more, while ours score the objects.
    with one_thread():
        gaps = Euclidean().pair(X.astype(np.float64), X.astype(np.float64))
    equal = _EQUAL * float(gaps.max(initial=0.0))
    # Equal objects are no neighbours, however many there are.
    place = min(max(int(np.ceil(_NEAR * len(gaps))), _NEIGHBOURS), len(gaps) - 1) - 1
    slices = [gaps[start : start + _ROWS] for start in range(0, len(gaps), _ROWS)]
    found = in_threads(lambda rows: _above(rows, equal, place), slices, n_jobs)
    apart = [part for part, _ in found]
    if not any(len(part) for part in apart):
        return _GIVEN
    typical, nearest = _median(apart, n_jobs), np.concatenate([places for _, places in found])
    nearest = nearest[np.isfinite(nearest)]
    near = float(np.median(nearest)) if len(nearest) else typical
    return float(max(_AT_NEAR / near, _AT_TYPICAL / typical))


def _above(rows: Floats, equal: float, place: int) -> tuple[Floats, Floats]:
    """The numbers above ``equal``, and of every row that at this place of those in order."""
    above = rows > equal
    sorted_to_place = np.partition(np.where(above, rows, np.inf), place, axis=1)
    return rows[above], sorted_to_place[:, place]


def _median(parts: Sequence[Floats], n_jobs: int | None) -> float:
    """``np.median`` of the parts together, exactly.

    Few numbers of all say between which bounds it lies; only those between them are sorted.
    """
    total = sum(map(len, parts))
    few = np.sort(np.concatenate([part[::_FEW] for part in parts]))
    low, high = few[int(0.45 * (len(few) - 1))], few[int(np.ceil(0.55 * (len(few) - 1)))]
    found = in_threads(lambda part: _between(part, low, high), parts, n_jobs)
    below, near = sum(count for count, _ in found), np.sort(np.concatenate([x for _, x in found]))
    first, last = (total - 1) // 2 - below, total // 2 - below
    if first < 0 or last >= len(near):  # the few were not like the others
        return float(np.median(np.concatenate(parts)))
    return float(np.mean(near[[first, last]]))


def _between(values: Floats, low: float, high: float) -> tuple[int, Floats]:
    """How many lie below the bounds, and those within."""
    reach = values[values <= high]
    near = reach[reach >= low]
    return len(reach) - len(near), near
