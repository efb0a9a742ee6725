"""The width of the Gaussian kernel that follows from how far the objects are apart.

A width stated for two columns says nothing in two hundred, where all distances grow and draw
together: every object would be far from every other, and all would score alike.
"""

from functools import partial
from typing import Any

import numpy as np

from consilience._threads import one_thread
from consilience.kernels._parallel import in_threads
from consilience.minority._divergence import Euclidean
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
    apart = gaps[gaps > equal]
    if not len(apart):
        return _GIVEN
    # Equal objects are no neighbours, however many there are.
    gaps[gaps <= equal] = np.inf
    place = min(max(int(np.ceil(_NEAR * len(gaps))), _NEIGHBOURS), len(gaps) - 1) - 1
    # The median takes longest, so that it is first.
    calls = [partial(np.median, apart)]
    for start in range(0, len(gaps), _ROWS):
        calls.append(partial(_at_place, gaps[start : start + _ROWS], place))
    middle, *parts = in_threads(lambda call: call(), calls, n_jobs)
    typical, nearest = float(middle), np.concatenate(parts)
    nearest = nearest[np.isfinite(nearest)]
    near = float(np.median(nearest)) if len(nearest) else typical
    return float(max(_AT_NEAR / near, _AT_TYPICAL / typical))


def _at_place(rows: Any, place: int) -> Any:
    """The number that would stand at this place of every row, were it sorted."""
    return np.partition(rows, place, axis=1)[:, place]
