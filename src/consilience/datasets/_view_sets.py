"""Generated views of the same objects, each of which separates some of the groups."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from consilience._validation import Interval
from consilience.datasets._synthetic import _NOISE, Seed, _check, _enough, _rng, _shared_out

__all__ = ["ViewSample", "make_views"]


class ViewSample(NamedTuple):
    """Two views of the same objects, and the group of each.

    Attributes
    ----------
    first, second : ndarray of shape (n_objects, n_features), float64
        A row of NaN where an object is missing from a view.
    groups : ndarray of shape (n_objects,), int64
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    groups: NDArray[np.int64]


def make_views(
    n_objects: int = 240,
    n_clusters: int = 6,
    n_features: int = 6,
    *,
    separation: float = 6.0,
    missing: float = 0.0,
    random_state: Seed = None,
) -> ViewSample:
    """Groups of which the first view tells the first half apart, the second view the others.

    Parameters
    ----------
    n_objects : int, default=240
        Number of objects, shared out as evenly as possible.
    n_clusters : int, default=6
        Number of groups, at least 4. In a view, the half of them that it does not tell apart has
        one centre.
    n_features : int, default=6
        Columns of each view.
    separation : float, default=6.0
        Distance of centres in a view, in units of the spread within a group.
    missing : float, default=0.0
        Share of the objects that are missing from the second view.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Examples
    --------
    >>> sample = make_views(40, missing=0.25, random_state=0)
    >>> sample.first.shape, int(np.isnan(sample.second[:, 0]).sum())
    ((40, 6), 10)
    """
    owner = "make_views"
    _check(owner, random_state, n_clusters=(n_clusters, [Interval(Integral, 4)]))
    _check(owner, n_objects=(n_objects, [Interval(Integral, 4)]))
    _check(owner, n_features=(n_features, [Interval(Integral, 1)]), separation=(separation, _NOISE))
    _check(owner, missing=(missing, [Interval(Real, 0, 0.9)]))
    _enough(owner, n_objects, n_clusters, "n_clusters")
    rng = _rng(random_state)
    groups = rng.permutation(_shared_out(n_objects, n_clusters))
    half = n_clusters // 2
    views = []
    for its in (np.minimum(groups, half), np.maximum(groups, half - 1) - (half - 1)):
        # In a view, all groups of the other half are one.
        centres = rng.standard_normal((int(its.max()) + 1, n_features))
        centres *= separation / pdist(centres).min()
        views.append(centres[its] + rng.standard_normal((n_objects, n_features)))
    gone = rng.permutation(n_objects)[: round(missing * n_objects)]
    views[1][gone] = np.nan
    return ViewSample(views[0], views[1], groups.astype(np.int64))
