"""What a member leaves behind that places objects it has not seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience.kernels.data.place import place

__all__ = ["Centres", "centres_of"]

# Labels that the nearest centre may give otherwise, of equal distances: more, and the clusterer
# does not go by centres.
_OTHERWISE = 0.001
# Labels looked at together.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class Centres:
    """Centres of a member's clusters, in order: a new object goes to the nearest.

    Attributes
    ----------
    values : ndarray of shape (n_clusters, d), float64
        In the member's own features, and in the unit of `consilience._units.squarable`.
    features : ndarray of int or None
        The columns it looks at; None for all.
    unit : bool
        Whether rows are brought to length 1 first (cosine).
    """

    values: NDArray[np.float64]
    features: NDArray[np.intp] | None = None
    unit: bool = False


def centres_of(
    values: NDArray[np.floating[Any]], labels: NDArray[np.integer[Any]], **how: Any
) -> Centres:
    """Centres of the clusters that have objects, numbered as `compact` numbers them.

    >>> centres_of(np.array([[0.0], [5.0], [9.0]]), np.array([2, 0, -2])).values.ravel()
    array([0., 9.])
    """
    used = np.zeros(len(values), bool)
    for at in range(0, len(labels), _BLOCK):
        some = labels[at : at + _BLOCK]
        used[some[some >= 0]] = True
    let_go(labels)
    return Centres(np.array(values[used], np.float64, order="C"), **how)


def fitted_centres(
    model: Any,
    X: Any,
    labels: NDArray[np.integer[Any]],
    features: NDArray[np.intp] | None,
) -> Centres | None:
    """Centres of a clusterer by which it placed the objects X; None if it has none.

    Parameters
    ----------
    model : fitted clusterer
    X : ndarray of shape (n_objects, d)
        What it was fitted to, in its own features.
    labels : ndarray of shape (n_objects,)
        What it said.
    features : index array or None
        Its own features among all.
    """
    centres = getattr(model, "cluster_centers_", None)
    if not isinstance(centres, np.ndarray) or not isinstance(X, np.ndarray) or centres.ndim != 2:
        return None
    if centres.shape[1] != X.shape[1] or not 0 < len(centres) <= len(X):
        return None
    if labels.min() < 0 or labels.max() >= len(centres) or not np.isfinite(centres).all():
        return None
    values = np.array(centres, np.float64, order="C")
    nearest = place(np.ascontiguousarray(X), [values], [None], [np.ones(len(values))]).labels[0]
    if (nearest != labels).mean() > _OTHERWISE:
        return None
    return centres_of(values, labels, features=features)
