"""The width of the Gaussian kernel that follows from how far the objects are apart.

A width stated for two columns says nothing in two hundred, where all distances grow and draw
together: every object would be far from every other, and all would score alike.
"""

from typing import Any

import numpy as np

from consilience.minority._divergence import Euclidean
from consilience.minority.weak import SAMPLE, random

__all__ = ["gamma_of_distances"]

# Objects whose distances are looked at.
_MOST_OBJECTS = 1000
# In few columns near is what the nearest hundredth of all pairs are (of few objects, as many
# pairs as make two neighbours for each); in many, where the nearest pairs are hardly nearer than
# the others, it is a share of the typical distance. The kernel falls to exp(-5) over the one and
# to exp(-10) over the other, whichever is narrower: see the table of docs/minority.md.
_NEAR, _NEIGHBOURS, _AT_NEAR, _AT_TYPICAL = 0.01, 2, 5.0, 10.0
# Squared distances below this share of the largest are those of equal objects.
_EQUAL = 1e-12
# The width of the paper, for objects that are all equal.
_GIVEN = 10.0


def gamma_of_distances(X: Any, seed: int) -> float:
    """Inverse squared width of the kernel for these objects.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
    seed : int
        Draws the objects looked at where there are more than a thousand.

    Returns
    -------
    float
        In the inverse squared unit of X; 10 where all objects are equal.
    """
    n = X.shape[0]
    if n > _MOST_OBJECTS:
        X = X[np.sort(random(seed, SAMPLE, 1).choice(n, _MOST_OBJECTS, replace=False))]
    gaps = Euclidean().pair(X.astype(np.float64), X.astype(np.float64))
    pairs = np.concatenate([row[i + 1 :] for i, row in enumerate(gaps)])
    apart = pairs[pairs > _EQUAL * pairs.max(initial=0.0)]
    if not len(apart):
        return _GIVEN
    share = min(max(_NEAR, _NEIGHBOURS / X.shape[0]), 1.0)
    near, typical = _quantiles(apart, (share, 0.5))
    return float(max(_AT_NEAR / near, _AT_TYPICAL / typical))


def _quantiles(values: Any, shares: tuple[float, ...]) -> list[float]:
    """Quantiles, between the two values next to them; all by one partition, which is the work."""
    places = [share * (len(values) - 1) for share in shares]
    ends = [[int(place), min(int(place) + 1, len(values) - 1)] for place in places]
    values.partition(sorted({end for pair in ends for end in pair}))
    return [
        float(np.quantile(values[pair], place - pair[0]))
        for place, pair in zip(places, ends, strict=True)
    ]
