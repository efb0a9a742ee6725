"""Objects on a plane: principal components of the data, or else of what the members say."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import UNSEEN
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.partition import largest_eigenvectors
from consilience.plot.embedding import embedded_objects

__all__ = [
    "Plane",
    "plane_of_data",
    "plane_of_ensemble",
    "plane_of_kernel",
    "rows_of",
    "undrawable",
]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

# Objects with equal labels lie on one spot; they are spread by this share of the picture.
_SPREAD = 0.008


class Plane(NamedTuple):
    """Places of the objects shown, and what the axes are."""

    places: Floats
    xlabel: str
    ylabel: str


def rows_of(X: Any, objects: Positions) -> Any:
    """Some rows of an array, a frame, a sparse matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[objects]
    if sparse.issparse(X):
        return X.tocsr()[objects]
    if hasattr(X, "shape"):
        return X[objects]
    return [X[i] for i in objects.tolist()]


def undrawable(error: InvalidInputError) -> str:
    """Why there is no picture of the data, in a line."""
    line = str(error).splitlines()[0].partition("cannot be drawn: ")
    return (line[2] or line[0]).rstrip(".") + "."


def plane_of_data(X: Any, objects: Positions, columns: Sequence[str] = ()) -> Plane:
    """Two principal components of the rows shown; one or two columns as they are."""
    some = rows_of(X, objects)
    embedded = embedded_objects(some, max_points=len(objects))
    xlabel, ylabel = embedded.names
    names = [str(name) for name in (columns if len(columns) else getattr(X, "columns", ()))]
    if xlabel == "feature 0" and names:
        xlabel = names[0]
        ylabel = names[1] if ylabel and len(names) > 1 else ylabel
    # A page needs a word for every axis, also where heights are drawn by chance.
    return Plane(embedded.points, xlabel, ylabel or "random height, means nothing")


def plane_of_ensemble(ensemble: Ensemble, seed: int) -> Plane:
    """Two principal components of the memberships: near are objects that were often joined.

    Where nobody missed an object these are the two coordinates of classical scaling of
    ``sqrt(1 - co-association)``. Linear in the number of objects.
    """
    seen = (ensemble.members != UNSEEN).sum(axis=0)
    table = sparse.diags_array(1.0 / np.maximum(seen, 1)) @ ensemble.indicator().astype(float)
    if not table.shape[1]:
        places = np.zeros((ensemble.n_objects, 2))
    else:
        places = embedded_objects(table.tocsr(), max_points=ensemble.n_objects).points
    # Data in one column already got heights by chance.
    width = np.where(np.ptp(places, axis=0) > 0, np.ptp(places, axis=0), 1.0)
    shift = np.random.default_rng(seed).uniform(-_SPREAD, _SPREAD, places.shape)
    words = "direction {} of the clusterings' agreement"
    return Plane(places + width * shift, words.format(1), words.format(2))


def plane_of_kernel(kernel: Any) -> Plane:
    """Two principal components of the objects in the space of a Mercer kernel.

    Parameters
    ----------
    kernel : array of shape (n_shown, n_shown)
        Of the objects shown.
    """
    values = np.asarray(kernel.toarray() if sparse.issparse(kernel) else kernel, np.float64)
    n = len(values)
    if values.shape != (n, n) or not np.isfinite(values).all():
        raise InvalidInputError("The kernel must be a square matrix of finite numbers.")
    words = "component {} in the space of the kernel"
    if n < 2:
        return Plane(np.zeros((n, 2)), words.format(1), words.format(2))
    values = (values + values.T) / 2
    means = values.mean(axis=0)
    centred = values - means - means[:, None] + means.mean()
    lengths, vectors = largest_eigenvectors(centred, 2)
    # Largest first; the sign of a vector means nothing, so it is fixed by its largest entry.
    vectors = vectors[:, ::-1]
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    places = vectors * np.sqrt(np.maximum(lengths[::-1], 0.0))
    return Plane(places, words.format(1), words.format(2))
