"""Where new objects belong, by what the members and the groups left behind."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from consilience._labels import UNSEEN
from consilience._validation import check_jobs
from consilience.generate.models import Centres
from consilience.kernels.data.place import place
from consilience.kernels.labels.products import row_sums
from consilience.predict._hashes import Hashes, known_rows
from consilience.predict._prediction import Prediction

__all__ = ["NEIGHBOURS", "Placer", "directions", "in_range", "nearest_objects", "placed"]

Labels = NDArray[np.int32]
Floats = NDArray[np.float64]
Rule = Literal["groups", "nearest"]

#: Objects near a new one among which a member's nearest is looked for, where it saw only some.
NEIGHBOURS = 16
# New objects looked at together: 26 MB of labels with 100 members.
_TOGETHER = 2**16


@dataclass(frozen=True, eq=False)
class Placer:
    """All that is needed to place new objects; arrays and numbers, which can be stored.

    Attributes
    ----------
    labels, confidence, runner_up : ndarray of shape (n_objects,)
        Of the objects seen.
    hashes : ndarray of shape (n_objects,), uint64
        Their rows, as they came.
    table : ndarray of shape (clusters of all members, n_groups)
        What a cluster adds to the mean co-association with each group.
    starts : ndarray of shape (n_members + 1,)
        First row of each member in the table.
    models : tuple of Centres or None, one a member
        None places an object where the nearest one is that the member saw.
    weights : ndarray of shape (n_members,)
        What the squared distance to a centre counts; infinite where there is nothing to judge by.
    limit : float
        Of the least weighted square of all members: above, no member with centres finds an
        object near.
    rule : {"groups", "nearest"}
        Whether the label is that of the group with the largest mean co-association, or that of
        the nearest object seen.
    seen : ndarray, CSR matrix or None
        The objects seen, where somebody must look for the nearest.
    members : ndarray of shape (n_members, n_objects) or None
        Their labels, for members without centres.
    reach : float
        Distance to the nearest object seen above which an object is far from all.
    power : int
        Power of two taken out of all values first.
    as_sparse : bool
        Whether the objects seen were a sparse matrix.
    """

    labels: Labels
    confidence: Floats
    runner_up: Labels
    hashes: Hashes
    table: Floats
    starts: NDArray[np.int64]
    models: tuple[Centres | None, ...]
    weights: Floats
    limit: float
    rule: Rule
    seen: Any
    members: NDArray[Any] | None
    reach: float
    power: int
    as_sparse: bool

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Objects by their hashes."""
        return self.hashes.argsort(kind="stable")

    @cached_property
    def index(self) -> Any:
        """What finds the nearest objects seen."""
        return NearestNeighbors().fit(self.seen)

    @cached_property
    def with_centres(self) -> NDArray[np.intp]:
        """Members that have centres."""
        return np.flatnonzero([one is not None for one in self.models])

    @cached_property
    def without_centres(self) -> NDArray[np.intp]:
        """Members that have none."""
        return np.flatnonzero([one is None for one in self.models])

    @cached_property
    def some_unseen(self) -> bool:
        """Whether a member without centres saw only some of the objects."""
        # Labels are kept of an ensemble with such a member only.
        own = () if self.members is None else self.members[self.without_centres]
        return any(bool((labels == UNSEEN).any()) for labels in own)


def in_range(X: Any, power: int) -> Any:
    """Values whose squares stay in range, as `consilience._units.squarable` makes them."""
    if not power:
        return X
    values = np.ldexp(X.data if sparse.issparse(X) else X, -power)
    return type(X)((values, X.indices, X.indptr), X.shape) if sparse.issparse(X) else values


def directions(X: Any) -> Any:
    """Points whose neighbours are looked for: sparse rows are compared by their direction."""
    return normalize(X) if sparse.issparse(X) else X


def _alike(X: Any, *, as_sparse: bool) -> Any:
    """Rows in the form of the objects seen."""
    if sparse.issparse(X) == as_sparse:
        return X
    return sparse.csr_array(X) if as_sparse else X.toarray()


def placed(
    placer: Placer,
    X: Any,
    hashes: Hashes | None = None,
    *,
    n_jobs: int | None = None,
    notes: tuple[str, ...] = (),
    index: Any = None,
) -> Prediction:
    """The groups of new objects.

    Parameters
    ----------
    placer : Placer
    X : ndarray or CSR matrix of shape (n_new, n_features)
        Finite numbers, in the columns and the scale of the objects seen.
    hashes : (n_new,) uint64, optional
        Of the rows as they came: those that were seen keep what was said of them. None places
        every object as if it were new.
    n_jobs : int or None
        Threads; the result does not depend on it.
    notes, index
        What is known of the table.
    """
    check_jobs(n_jobs, owner="placed")
    n = X.shape[0]
    prediction = Prediction(
        labels=np.empty(n, np.int32),
        confidence=np.empty(n),
        runner_up=np.empty(n, np.int32),
        unlike=np.empty(n, bool),
        known=np.zeros(n, bool),
        notes=notes,
        index=index,
    )
    twins = np.full(n, -1)
    if hashes is not None and n:
        twins = known_rows(placer.hashes, placer.order, placer.labels, hashes)
    prediction.known[:] = twins >= 0
    new = np.flatnonzero(twins < 0)
    for start in range(0, len(new), _TOGETHER):
        some = new[start : start + _TOGETHER]
        _place_block(placer, X[some], some, prediction, n_jobs)
    old = np.flatnonzero(prediction.known)
    prediction.labels[old] = placer.labels[twins[old]]
    prediction.confidence[old] = placer.confidence[twins[old]]
    prediction.runner_up[old] = placer.runner_up[twins[old]]
    prediction.unlike[old] = False
    return prediction


def _place_block(
    placer: Placer, X: Any, some: NDArray[np.intp], prediction: Prediction, n_jobs: int | None
) -> None:
    """Place some objects and write what is found at their places."""
    X = in_range(_alike(X, as_sparse=placer.as_sparse), placer.power)
    members = np.empty((len(placer.models), len(some)), np.int32)
    far = np.ones(len(some), bool)
    if len(placer.with_centres):
        least = _by_centres(placer, X, members, n_jobs)
        far &= least > placer.limit
    nearest = None
    if placer.seen is not None:
        nearest, distance = _by_neighbours(placer, directions(X), members)
        far &= distance > placer.reach
    means = row_sums(members, placer.starts, placer.table, n_jobs=n_jobs)
    labels = means.argmax(axis=1) if means.shape[1] else np.full(len(some), -1)
    labels[~(means > 0).any(axis=1)] = -1
    if placer.rule == "nearest":
        assert nearest is not None
        labels = placer.labels[nearest]
    prediction.labels[some] = labels
    prediction.confidence[some], prediction.runner_up[some] = _sure(means, labels)
    prediction.unlike[some] = far


def _by_centres(placer: Placer, X: Any, members: Labels, n_jobs: int | None) -> Floats:
    """Fill in the labels of members with centres; how near the nearest of all is."""
    dense = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X)
    least = np.full(len(dense), np.inf)
    for unit in (False, True):
        own = [m for m in placer.with_centres if placer.models[m].unit is unit]
        if not own:
            continue
        models = [placer.models[m] for m in own]
        places = place(
            normalize(dense) if unit else dense,
            [one.values for one in models if one is not None],
            [one.features for one in models if one is not None],
            [
                np.full(len(one.values), placer.weights[m])
                for m, one in zip(own, models, strict=True)
                if one is not None
            ],
            n_jobs=n_jobs,
        )
        members[own] = places.labels
        np.minimum(least, places.least, out=least)
    return least


def nearest_objects(index: Any, X: Any, k: int) -> tuple[Floats, NDArray[np.intp]]:
    """Distances to the k nearest objects seen, and which they are, the nearest first."""
    distances, objects = index.kneighbors(X, n_neighbors=k)
    return distances, objects


def _by_neighbours(placer: Placer, X: Any, members: Labels) -> tuple[NDArray[np.intp], Floats]:
    """Fill in the labels of members without centres; the nearest object seen and its distance."""
    k = min(NEIGHBOURS, len(placer.labels)) if placer.some_unseen else 1
    distances, objects = nearest_objects(placer.index, X, k)
    for m in placer.without_centres:
        assert placer.members is not None
        labels = placer.members[m][objects]
        # The nearest of those that the member saw; unseen where it saw none of them.
        first = (labels != UNSEEN).argmax(axis=1)
        members[m] = np.take_along_axis(labels, first[:, None], axis=1)[:, 0]
    return objects[:, 0], distances[:, 0]


def _sure(means: Floats, labels: NDArray[Any]) -> tuple[Floats, Labels]:
    """Confidence in the labels and the best other groups, by mean co-associations."""
    n = len(labels)
    runner_up = np.full(n, -1, np.int32)
    own, other = np.zeros(n), np.zeros(n)
    inside = np.flatnonzero(labels >= 0)
    own[inside] = means[inside, labels[inside]]
    if means.shape[1] > 1:
        rest = means[inside]
        rest[np.arange(len(inside)), labels[inside]] = -1.0
        best = rest.argmax(axis=1)
        other[inside] = rest[np.arange(len(inside)), best]
        runner_up[inside] = np.where(other[inside] > 0, best, -1)
    total = own + other
    return np.divide(own, total, out=np.zeros(n), where=total > 0), runner_up
