"""Pseudo-systems for reference tables: chance, everything, and the hulls of the true sources.

Each takes the truth and returns labels, -1 for the background. None of them is a method.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError
from sklearn.utils import check_random_state

from consilience._labels import encode
from consilience._validation import RandomState, as_array, as_numbers, check_value
from consilience.errors import InvalidInputError
from consilience.minority._truth import foreground_truth, source_numbers

__all__ = ["all_foreground", "convex_hulls", "random_foreground"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# The number of facets explodes with the dimension; from here on a linear program is cheaper.
_MOST_FACET_DIMENSIONS = 5
_DIRECTIONS = 256
_SLACK = 1e-9
# Objects times facets looked at together.
_BLOCK = 2**22


def random_foreground(y: Any, *, random_state: int | np.random.RandomState | None = None) -> Labels:
    """RANDOM: every object is foreground with the probability of the true share.

    Parameters
    ----------
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground.
    random_state : int, RandomState or None, default=None
        Seed of the labels.

    Returns
    -------
    ndarray of shape (n_objects,), int32
        0 foreground, -1 background.

    Examples
    --------
    >>> random_foreground([0, 0, 0, 0]).tolist()
    [-1, -1, -1, -1]
    """
    check_value("random_state", random_state, [RandomState()], owner="random_foreground")
    truth = foreground_truth(y, as_array(y).size, owner="random_foreground")
    rng = check_random_state(random_state)
    share = truth.mean() if truth.size else 0.0
    return np.where(rng.uniform(size=len(truth)) < share, 0, -1).astype(np.int32)


def all_foreground(y: Any) -> Labels:
    """ALLFG: every object is foreground.

    Its F1 is ``2 p / (1 + p)`` where p is the true share of the foreground.

    Parameters
    ----------
    y : array of shape (n_objects,)
        True sources, or anything of that length.

    Returns
    -------
    ndarray of shape (n_objects,), int32
        All 0.

    Examples
    --------
    >>> all_foreground([0, 1, 0]).tolist()
    [0, 0, 0]
    """
    return np.zeros(len(encode(y, what="y")), np.int32)


def convex_hulls(X: Any, y: Any) -> Labels:
    """CONVEX: the true foreground, and the background inside the hull of a foreground source.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        Dense, finite.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground.

    Returns
    -------
    ndarray of shape (n_objects,), int32
        0, 1, ... in the order of the source numbers; a background object inside several hulls
        belongs to the first; -1 for the background outside.

    Notes
    -----
    Objects outside a hull's box, or outside its extent in one of 256 directions, are dismissed
    first. Up to five dimensions the facets of the hull decide on the others; above, a linear
    program for each. So it does for flat sources, which have no facets (no more objects than
    dimensions, say). On the border counts as inside.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 6.2.

    Examples
    --------
    >>> X = [[0, 0], [4, 0], [0, 4], [4, 4], [2, 2], [9, 9]]
    >>> convex_hulls(X, [3, 3, 3, 3, 0, 0]).tolist()
    [0, 0, 0, 0, 0, -1]
    """
    data = as_numbers("X", X, owner="convex_hulls", shape=(None, None))
    if data.shape[1] == 0:
        raise InvalidInputError("X of convex_hulls must have at least one column. Got none.")
    numbers = source_numbers(y, len(data), owner="convex_hulls")
    labels = np.full(len(data), -1, np.int32)
    background = numbers == 0
    for place, source in enumerate(np.unique(numbers[~background])):
        labels[numbers == source] = place
        undecided = np.flatnonzero(background & (labels < 0))
        labels[undecided[_inside(data[numbers == source], data[undecided])]] = place
    return labels


def _inside(corners: Floats, objects: Floats) -> NDArray[np.bool_]:
    """Which objects lie in the convex hull of the corners, its border included."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    slack = _SLACK * max(float(np.abs(corners).max()), 1e-300)
    inside = ((objects >= low - slack) & (objects <= high + slack)).all(axis=1)
    wide = high > low  # where the corners agree, the box has decided
    near = np.flatnonzero(inside)
    if near.size and wide.any():
        inside[near] = _in_hull(corners[:, wide], objects[near][:, wide], slack)
    return inside


def _in_hull(corners: Floats, objects: Floats, slack: float) -> NDArray[np.bool_]:
    """The same for objects in the box, by facets or by a linear program each."""
    inside = _within_extent(corners, objects, slack)
    near = np.flatnonzero(inside)
    equations = _facets(corners)
    if equations is None:
        inside[near] = [_is_mixture(corners, x, slack) for x in objects[near]]
        return inside
    step = max(1, _BLOCK // len(equations))
    for start in range(0, len(near), step):
        block = near[start : start + step]
        heights = objects[block] @ equations[:, :-1].T + equations[:, -1]
        inside[block] = (heights <= slack).all(axis=1)
    return inside


def _facets(corners: Floats) -> Floats | None:
    """Unit normals and offsets of the hull's facets; None where there are none or too many."""
    n, d = corners.shape
    if d > _MOST_FACET_DIMENSIONS or n <= d:
        return None
    if d == 1:  # qhull starts at two dimensions
        return np.array([[1.0, -corners.max()], [-1.0, corners.min()]])
    try:
        return np.asarray(ConvexHull(corners).equations)
    except QhullError:  # all objects in one plane
        return None


def _within_extent(corners: Floats, objects: Floats, slack: float) -> NDArray[np.bool_]:
    """Objects that no direction separates from the corners, of a fixed set of directions."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((corners.shape[1], _DIRECTIONS))
    directions /= np.linalg.norm(directions, axis=0)
    reach = corners @ directions
    there = objects @ directions
    return np.asarray(
        ((there >= reach.min(axis=0) - slack) & (there <= reach.max(axis=0) + slack)).all(axis=1)
    )


def _is_mixture(corners: Floats, x: Floats, slack: float) -> bool:
    """Whether shares of the corners, at least 0 and summing to 1, give x.

    Solved for the least sum of deviations, which says more than feasibility does: rounding may
    leave no exact solution for an object on the border.
    """
    n, d = corners.shape
    centred = (corners - x).T
    scale = max(float(np.abs(centred).max()), 1e-300)
    balance = np.hstack([centred / scale, np.eye(d), -np.eye(d)])
    shares = np.r_[np.ones(n), np.zeros(2 * d)][None]
    solution = linprog(
        np.r_[np.zeros(n), np.ones(2 * d)],
        A_eq=np.vstack([balance, shares]),
        b_eq=np.r_[np.zeros(d), 1.0],
        method="highs",
    )
    return bool(solution.status == 0 and solution.fun <= max(slack / scale, 1e-7))
