"""Two maps of the objects: by their columns, and by what the members say of them.

The map of the evidence is a spectral embedding of the co-association. It needs no pair: with the
thin table of objects x clusters of members, scaled, as B, the co-association is B B', and its
singular vectors are those of B. As many of its axes as groups have to be told apart by are turned
into two so that the groups' middles lie as far apart as their distances say.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.extmath import randomized_svd

from consilience._labels import UNSEEN
from consilience._units import exponents, without_unit
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.plot.embedding import embedded_objects
from consilience.report._plane import undrawable
from consilience.report._thin import thinned

__all__ = ["Map", "map_of_columns", "map_of_evidence"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Rows that the axes are found by; all rows are then placed on them.
_ROWS = 20_000
_MOST_AXES = 24
# The first axes may tell parts of one group apart before they tell all groups apart.
_MORE_AXES = 4
# Objects with equal labels lie on one spot; they are spread by this share of the map.
_SPREAD = 0.015
_STEPS = 200
# Numbers of up to this power of two, and of the same below 1, are easily held in single precision.
_EASY_POWER = 100


class Map(NamedTuple):
    """Places of the objects.

    ``name`` is short, ``words`` say how to read it, ``axes`` name both directions.
    """

    name: str
    words: str
    axes: tuple[str, str]
    places: NDArray[np.float32]


def map_of_columns(X: Any, columns: tuple[str, ...]) -> Map | str:
    """Principal axes of the data; one or two columns as they are. Or why there is no such map."""
    if X is None or not hasattr(X, "shape"):
        return "There are no columns of numbers: the clusterings came without the data."
    try:
        embedded = embedded_objects(X, max_points=X.shape[0])
    except InvalidInputError as error:
        return undrawable(error)
    named = embedded.names[0] == "feature 0" and len(columns)
    first = columns[0] if named else embedded.names[0]
    second = columns[1] if named and len(columns) > 1 else embedded.names[1]
    words = (
        "Objects near each other have alike columns. Two directions can hide what is apart in "
        "others."
    )
    axes = (first, second or "random height, means nothing")
    return Map("columns", words, axes, _in_single_precision(embedded.points, embedded.names))


def _in_single_precision(points: Floats, names: tuple[str, str]) -> NDArray[np.float32]:
    """Places in another unit, a power of two, where their own is beyond single precision.

    Columns have a unit each, components one in common.
    """
    powers = exponents(points)
    if names[0] != "feature 0":
        powers[:] = powers.max()
    powers[np.abs(powers) <= _EASY_POWER] = 0
    return np.asarray(without_unit(points, powers), np.float32)


def map_of_evidence(ensemble: Ensemble, labels: Labels, *, seed: int) -> Map:
    """Spectral embedding of the co-association, in linear time and memory.

    Parameters
    ----------
    ensemble : Ensemble
    labels : ndarray of shape (n_objects,)
        Groups that shall be seen apart; negative in none.
    seed : int
        Of the random projection, and of the spread of objects with equal labels.
    """
    axes = _axes(ensemble, labels, seed)
    places = _turned(axes, labels)
    width = np.maximum(np.ptp(places, axis=0), 1e-9)
    spread = np.random.default_rng(seed).uniform(-_SPREAD, _SPREAD, places.shape)
    words = (
        "Objects near each other were often put together by the clusterings. Groups they agree on "
        "stand apart; an object between two groups is claimed by both. Lengths mean little here."
    )
    named = ("direction 1 of the clusterings' agreement", "direction 2")
    return Map("evidence", words, named, (places + width * spread).astype(np.float32))


def _axes(ensemble: Ensemble, labels: Labels, seed: int) -> Floats:
    """Spectral coordinates of all objects, the constant one left out."""
    n, k = ensemble.n_objects, int(labels.max(initial=-1)) + 1
    wanted = min(max(2, k - 1) + _MORE_AXES, _MOST_AXES)
    table = _scaled(ensemble)
    if not table.shape[1] or n < 3:
        return np.zeros((n, wanted))
    degree = table @ np.asarray(table.sum(axis=0)).ravel()
    root = 1.0 / np.sqrt(np.where(degree > 0, degree, np.inf))
    walk = sparse.csr_array(sparse.diags_array(root) @ table)
    some = walk[thinned(labels, _ROWS, seed=seed)] if n > _ROWS else walk
    components = min(wanted + 1, *some.shape)
    _, lengths, vectors = randomized_svd(some, components, n_iter=7, random_state=seed)
    lengths = np.where(lengths > 1e-9, lengths, np.inf)
    # Rows of a random walk: an object's place does not hang on how many it is with.
    places = root[:, None] * np.asarray(walk @ (vectors / lengths[:, None]).T)
    axes = np.zeros((n, wanted))
    axes[:, : components - 1] = places[:, 1:] / (np.abs(places[:, 1:]).max(axis=0) + 1e-300)
    return axes


def _scaled(ensemble: Ensemble) -> sparse.csr_array:
    """B with B B' the co-association; nearly so where members left objects out."""
    seen = np.maximum((ensemble.members != UNSEEN).sum(axis=0), 1)
    table = ensemble.indicator().astype(np.float64)
    return sparse.csr_array(sparse.diags_array(1.0 / np.sqrt(seen)) @ table)


def _turned(axes: Floats, labels: Labels) -> Floats:
    """Two directions in which the groups' middles lie as their distances say."""
    k = int(labels.max(initial=-1)) + 1
    if k < 2:
        return axes[:, :2]
    middles = np.stack([axes[labels == g].mean(axis=0) for g in range(k)])
    centre = middles.mean(axis=0)
    if k == 2:
        return _along(axes - centre, middles[1] - middles[0])
    # Roots, so that groups which are near stand apart beside others that are far.
    wanted = _laid_out(np.sqrt(squareform(pdist(middles))))
    # The least turn that puts the middles there: the pseudo-inverse forgets what tells none apart.
    turn = np.linalg.pinv(middles - centre, rcond=1e-3) @ wanted
    return np.asarray((axes - centre) @ turn)


def _along(axes: Floats, direction: Floats) -> Floats:
    """The direction from one middle to the other, and the first axis beside it."""
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        return axes[:, :2]
    unit = direction / length
    along = axes @ unit
    beside = axes[:, [0, 1]] - np.outer(along, unit[:2])
    return np.column_stack([along, beside[:, int(beside.var(axis=0).argmax())]])


def _laid_out(distances: Floats) -> Floats:
    """Points on a plane with these distances, as nearly as stress majorisation gets."""
    k = len(distances)
    centred = -0.5 * (distances**2)
    centred -= centred.mean(axis=0) + centred.mean(axis=1)[:, None] - centred.mean()
    values, vectors = np.linalg.eigh(centred)
    top = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # The sign of a vector means nothing: fixed, so that the same answer has the same map.
    points = top * np.where(top[np.abs(top).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    # Equally far groups scale to a line or a star by chance; a circle is a fair start.
    angle = 2 * np.pi * np.arange(k) / k
    points = points + 0.05 * distances.max() * np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(_STEPS):
        now = squareform(pdist(points))
        ratio = np.divide(distances, now, out=np.zeros_like(now), where=now > 1e-12)
        pull = -ratio
        pull[np.diag_indices(k)] = ratio.sum(axis=1)
        points = pull @ points / k
    return np.asarray(points - points.mean(axis=0))
