"""Moving bubbles: the steps shared by BBOCC, BBC, BBC-Press and DGRADE, and their estimator."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from consilience._validation import as_array
from consilience.errors import InvalidInputError
from consilience.minority._rivals import Rival, Space, nearest_centres, smallest
from consilience.minority.divergences import Divergence, resolve

__all__ = [
    "BubbleRival",
    "Bubbles",
    "Inside",
    "best_centre",
    "found_bubbles",
    "nothing_stands_out",
    "objects_inside",
    "packed_labels",
    "press",
    "pressed_sizes",
    "settle",
    "start_centres",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bubbles:
    """Centres, and the objects within one radius of the nearest of them.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        -1 background, otherwise the nearest centre.
    scores : ndarray of shape (n_objects,), float64
        Minus the divergence from the nearest centre, also of objects outside.
    threshold : float
        Score at the radius: foreground is ``scores >= threshold``. Infinite if nothing
        stands out.
    centres : array of shape (n_clusters, n_features)
        Of a precomputed kernel, weights over the objects (n_clusters, n_objects).
    reach : float
        Divergence up to which a new object is inside: the radius, and what rounding may add.
    costs : tuple of float
        Sum of the divergences of the objects wanted (without others that tie with the last)
        after each step, of the last size.
    n_iter : int
        Steps done, over all sizes.
    converged : bool
        Whether the last size settled before its steps were used up.
    divergence : Divergence or None
        As fitted; None if nothing stands out.
    flag : str or None
        "degenerate" for one object, "no_contrast" for equal objects: all are background.
    """

    labels: NDArray[np.int32]
    scores: Floats
    threshold: float
    centres: Any
    reach: float
    costs: tuple[float, ...]
    n_iter: int
    converged: bool
    divergence: Divergence | None = None
    flag: str | None = None

    @property
    def n_clusters(self) -> int:
        """Number of bubbles with an object inside."""
        return len(self.centres)


@dataclass(frozen=True)
class Inside:
    """Objects within the radius of their nearest centre.

    ``labels`` holds exactly as many as were wanted, of those that tie at the radius the first;
    with all of them the cost could rise. ``which`` is every object's nearest centre.
    """

    gaps: Floats
    which: Ints
    labels: Ints
    radius: float

    @property
    def cost(self) -> float:
        """Sum of their divergences."""
        return float(self.gaps[self.labels >= 0].sum())

    def with_ties(self) -> Ints:
        """Labels of all objects within the radius."""
        return np.where(self.gaps <= self.radius, self.which, -1)


def objects_inside(space: Space, size: int, centres: Any) -> Inside:
    """The ``size`` objects nearest to any centre."""
    gaps, which = space.nearest(centres)
    rows = smallest(gaps, size)
    labels = np.full(space.n_objects, -1, np.int64)
    labels[rows] = which[rows]
    return Inside(gaps, which, labels, float(gaps[rows].max()))


def settle(space: Space, size: int, centres: Any, max_iter: int) -> Bubbles:
    """Move the centres to the means of their objects until no object changes."""
    inside = objects_inside(space, size, centres)
    costs, converged = [inside.cost], False
    n_iter = 0
    while n_iter < max_iter and not converged:
        alive, packed = packed_labels(inside.labels)
        centres = space.group_means(packed, len(alive))
        moved = objects_inside(space, size, centres)
        converged = np.array_equal(moved.labels, packed)
        inside = moved
        costs.append(inside.cost)
        n_iter += 1
    return found_bubbles(space, centres, inside, tuple(costs), n_iter, converged)


def found_bubbles(
    space: Space, centres: Any, inside: Inside, costs: tuple[float, ...], n_iter: int, ended: bool
) -> Bubbles:
    """The result, without bubbles that are empty, with all objects that tie at the radius."""
    alive, packed = packed_labels(inside.with_ties())
    beyond = inside.gaps[inside.gaps > inside.radius]
    # The object that sets the radius must be inside when it comes back in other company: a
    # matrix product rounds by the shape of the whole. Half the way to the next object at most.
    slack = 1e-9 * float(inside.gaps.max())
    if beyond.size:
        slack = min(slack, 0.5 * (float(beyond.min()) - inside.radius))
    return Bubbles(
        packed.astype(np.int32),
        -inside.gaps,
        -inside.radius,
        centres[alive],
        inside.radius + slack,
        costs,
        n_iter,
        ended,
        space.divergence,
    )


def packed_labels(labels: NDArray[Any]) -> tuple[Ints, Ints]:
    """Labels in use, and the labels numbered without holes; -1 stays."""
    # One place more than there are labels, for -1.
    place = np.zeros(int(labels.max()) + 2, np.int64)
    place[labels] = 1
    place[-1] = 0
    alive = np.flatnonzero(place)
    place[alive] = np.arange(len(alive))
    place[-1] = -1
    return alive, place[labels]


def press(space: Space, sizes: list[int], centres: Any, max_iter: int) -> Bubbles:
    """Settle at one size after the other."""
    n_iter = 0
    for size in sizes:
        bubbles = settle(space, size, centres, max_iter)
        centres = bubbles.centres
        n_iter += bubbles.n_iter
    return replace(bubbles, n_iter=n_iter)


def pressed_sizes(n: int, size: int, pressure: float) -> list[int]:
    """Sizes from all objects down to the one wanted."""
    sizes = []
    extra = float(n - size)
    while extra > 1:
        sizes.append(int(size + extra))
        extra *= pressure
    return [*sizes, size]


def best_centre(space: Space, size: int, criterion: str) -> int:
    """The object whose nearest ``size`` objects are nearest; the first on ties."""
    best, lowest = 0, np.inf
    for low, block in space.rows():
        block.partition(size - 1, axis=1)
        values = block[:, size - 1] if criterion == "radius" else block[:, :size].sum(axis=1)
        i = int(values.argmin())
        if values[i] < lowest:
            best, lowest = low + i, float(values[i])
    return best


def start_centres(space: Space, start: Any) -> Any:
    """Centres to start from, given as such or as labels."""
    start = as_array(start)
    if start.dtype.kind not in "biuf":
        start = np.empty(0)
    is_finite = np.isfinite(start).all()
    if start.shape == (space.n_objects,) and is_finite and (start >= 0).any():
        # Any numbers will do here, so not by counting.
        alive, which = np.unique(start[start >= 0], return_inverse=True)
        labels = np.full(space.n_objects, -1, np.int64)
        labels[start >= 0] = which
        return space.group_means(labels, len(alive))
    width = space.n_objects if not space.divergence.vectors else space.X.shape[1]
    if start.ndim == 2 and len(start) and start.shape[1] == width and is_finite:
        return start.astype(np.float64)
    raise InvalidInputError(
        f"bbc needs a start of one label for each of the {space.n_objects} objects, at least one "
        f"of them not negative, or of centres with {width} columns; all finite. Got an array of "
        f"shape {start.shape}."
    )


def nothing_stands_out(X: Any, flag: str) -> Bubbles:
    """One object, or objects that are all equal: nothing stands out."""
    n = X.shape[0]
    none = np.empty((0, X.shape[1]))
    return Bubbles(
        np.full(n, -1, np.int32), np.zeros(n), np.inf, none, -np.inf, (), 0, True, flag=flag
    )


class BubbleRival(Rival):
    """Estimators whose result are bubbles."""

    divergence: Any

    def score_samples(self, X: Any) -> Floats:
        """Minus the divergence of new objects from the nearest centre, (n_objects,).

        Zero for all where nothing stood out in the data fitted on.
        """
        return 0.0 - self._gaps(X)[0]  # which is 0, not -0, at a centre

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The nearest bubble of new objects, or -1 outside its radius, (n_objects,)."""
        gaps, which = self._gaps(X)
        return np.where(gaps <= self._reach, which, -1).astype(np.int32)

    def _gaps(self, X: Any) -> tuple[Floats, Ints]:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if not len(self.cluster_centers_):
            return np.zeros(X.shape[0]), np.zeros(X.shape[0], np.int64)
        return nearest_centres(self.divergence_, X, self.cluster_centers_)

    def _store(self, bubbles: Bubbles) -> Self:
        self.labels_ = bubbles.labels
        self.scores_ = bubbles.scores
        self.threshold_ = bubbles.threshold
        self.cluster_centers_ = bubbles.centres
        self.n_clusters_ = bubbles.n_clusters
        self.n_iter_ = bubbles.n_iter
        self.converged_ = bubbles.converged
        self.divergence_ = (
            resolve(self.divergence) if bubbles.divergence is None else bubbles.divergence
        )
        self.flag_ = bubbles.flag
        self._reach = bubbles.reach
        return self
