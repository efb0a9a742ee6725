"""What is kept of a clustering to place new objects, and how near is near."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from consilience._labels import UNSEEN
from consilience._units import squarable
from consilience._validation import check_jobs
from consilience.ensemble import Ensemble
from consilience.evidence import confidence as confidence_in
from consilience.evidence import never_seen
from consilience.generate.models import Centres
from consilience.kernels.data.place import place
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import part_sums, row_sums
from consilience.predict._hashes import Hashes
from consilience.predict._placer import Placer, Rule, directions, in_range, nearest_objects

__all__ = ["learn"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Objects that rule and limits are judged on: each is left out in its turn.
_JUDGED = 2000
# Objects among which the nearest of those is looked for.
_AMONG = 20_000
# Labels that mean co-association gives back, above which nothing else is tried.
_ENOUGH = 0.98
# Share of the left-out objects that may be called unlike anything seen, and what the distance
# that the others keep to is widened by: a limit found on few objects is itself uncertain.
_UNLIKE = 0.02
_MARGIN = 1.25
_OF_FEW = 2.0  # more, over the root of their number


def learn(
    X: Any,
    ensemble: Ensemble,
    labels: Labels,
    *,
    hashes: Hashes,
    confidence: Floats | None = None,
    runner_up: Labels | None = None,
    models: Sequence[Centres | None] | None = None,
    n_jobs: int | None = None,
) -> Placer:
    """What places new objects beside those of a clustering.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_objects, n_features)
        The objects as they were clustered.
    ensemble : Ensemble
        Their members.
    labels : ndarray of shape (n_objects,)
        Their groups.
    hashes : ndarray of shape (n_objects,), uint64
        `row_hashes` of the rows as they came.
    confidence, runner_up : ndarray of shape (n_objects,), optional
        What was said of them; without it they are judged like new objects.
    models : sequence of Centres or None, one a member, optional
        None places by the nearest objects seen.
    n_jobs : int or None

    Notes
    -----
    *The rule.* Mean co-association gives most left-out objects their label back, and follows
    every member; where groups are chains or rings that members cut across, the nearest object
    seen may do so more often, and is taken then. Judged on 2,000 objects.

    *Near.* A member with centres measures an object by its distance to the nearest one, over the
    root mean square of that distance among the objects it is known for, each left out of its own
    centre. Of all members the smallest counts. The limit is what 98 of 100 objects keep to, times
    1.25 + 2 / sqrt(n) for n judged; for members without centres the same of the distance to the
    nearest other object.
    """
    check_jobs(n_jobs, owner="learn")
    members, starts = ensemble.members, first_columns(ensemble.members)
    power = squarable(X)[1]
    values = in_range(X, power)
    known = _usable(models, ensemble, power)
    labels = np.asarray(labels, np.int32)
    counts, pairs = _tables(members, starts, labels)
    some = _spread(len(labels), _JUDGED)
    weights, limit = _centre_limit(values, members, known, some, n_jobs)
    by_nearest = not np.isfinite(weights).any() or any(one is None for one in known)
    points = directions(values)
    rule, nearest = _rule(points, members, starts, labels, counts, pairs, some)
    keep = by_nearest or rule == "nearest"
    reach = -np.inf  # members with centres say what is near, unless there are others
    if by_nearest:
        reach = _reach(nearest if nearest is not None else _left_out(points, some))
    if confidence is None or runner_up is None:
        sure = confidence_in(ensemble, np.where(never_seen(ensemble), -1, labels), n_jobs=n_jobs)
        confidence, runner_up = sure.confidence, sure.runner_up
    return Placer(
        labels=labels,
        confidence=confidence,
        runner_up=runner_up,
        hashes=hashes,
        table=counts / np.maximum(pairs, 1),
        starts=starts,
        models=tuple(known),
        weights=weights,
        limit=limit,
        rule=rule,
        seen=points if keep else None,
        members=members if any(one is None for one in known) else None,
        reach=reach,
        power=power,
        as_sparse=bool(sparse.issparse(X)),
    )


def _usable(
    models: Sequence[Centres | None] | None, ensemble: Ensemble, power: int
) -> list[Centres | None]:
    """The models of all members; none in a unit whose squares leave the range of numbers."""
    if models is None or power or len(models) != ensemble.n_members:
        return [None] * ensemble.n_members
    fits = zip(models, ensemble.n_clusters, strict=True)
    return [one if one is not None and len(one.values) == k else None for one, k in fits]


def _spread(n: int, most: int) -> NDArray[np.intp]:
    """So many of n objects, at equal steps: the same for the same data."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def _tables(
    members: NDArray[Any], starts: NDArray[np.int64], labels: Labels
) -> tuple[Floats, Floats]:
    """Objects of each group in each cluster, and seen pairs of an object with each group."""
    n_groups = int(labels.max()) + 1
    counts = part_sums(members, starts, labels, n_groups, np.ones(len(labels)))
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    if members.min(initial=0) > UNSEEN:
        return counts, len(members) * sizes.astype(np.float64)
    seen = [np.bincount(labels[(m != UNSEEN) & (labels >= 0)], minlength=n_groups) for m in members]
    return counts, np.sum(seen, axis=0).astype(np.float64)


# ---- the rule ---------------------------------------------------------------------------------


def _rule(
    X: Any,
    members: NDArray[Any],
    starts: NDArray[np.int64],
    labels: Labels,
    counts: Floats,
    pairs: Floats,
    some: NDArray[np.intp],
) -> tuple[Rule, "_Nearest | None"]:
    """What gives left-out objects their labels back; and their neighbours, if these were asked."""
    inside = labels[some] >= 0
    if not inside.any():
        return "groups", None
    back = _by_groups(members[:, some], starts, labels[some], counts, pairs)[inside].mean()
    if back >= _ENOUGH:
        return "groups", None
    nearest = _left_out(X, some)
    same = labels[nearest.objects] == labels[some]
    return ("nearest" if same[inside].mean() > back else "groups"), nearest


def _by_groups(
    members: NDArray[Any],
    starts: NDArray[np.int64],
    labels: Labels,
    counts: Floats,
    pairs: Floats,
) -> NDArray[np.bool_]:
    """Whether objects, left out of the tables, have the largest mean with their own group."""
    joined = row_sums(np.ascontiguousarray(members), starts, counts)
    both = np.tile(pairs, (len(labels), 1))
    inside = np.flatnonzero(labels >= 0)
    own = labels[inside]
    joined[inside, own] -= (members[:, inside] >= 0).sum(axis=0)
    both[inside, own] -= (members[:, inside] != UNSEEN).sum(axis=0)
    means = joined / np.maximum(both, 1)
    return np.asarray((means.argmax(axis=1) == labels) & (means > 0).any(axis=1))


# ---- near and far -----------------------------------------------------------------------------


class _Nearest(NamedTuple):
    """The nearest other object of each of some objects, and its distance."""

    objects: NDArray[np.intp]
    distances: Floats


def _left_out(X: Any, some: NDArray[np.intp]) -> _Nearest:
    """The nearest other object of each, among some of them where there are very many."""
    among = _spread(X.shape[0], _AMONG)
    index = NearestNeighbors().fit(X[among])
    distances, places = nearest_objects(index, X[some], min(2, len(among)))
    objects = among[places]
    # Itself is the nearest, or a copy of it.
    other = (objects != some[:, None]).argmax(axis=1)[:, None]
    return _Nearest(
        np.take_along_axis(objects, other, axis=1)[:, 0],
        np.take_along_axis(distances, other, axis=1)[:, 0],
    )


def _reach(nearest: _Nearest) -> float:
    """The distance to others that most objects keep to; the largest where most have copies."""
    usual = _kept_by_most(nearest.distances)
    return usual if usual > 0 else float(nearest.distances.max())


def _kept_by_most(distances: Floats) -> float:
    """What most left-out objects keep to, widened."""
    margin = _MARGIN + _OF_FEW / np.sqrt(len(distances))
    return float(margin * np.quantile(distances, 1 - _UNLIKE, method="higher"))


def _centre_limit(
    X: Any,
    members: NDArray[Any],
    models: Sequence[Centres | None],
    some: NDArray[np.intp],
    n_jobs: int | None,
) -> tuple[Floats, float]:
    """What squares count in each member with centres, and what most objects keep to.

    An object lies nearer to the mean of a cluster than it would if it were none of it: of c
    objects by (c - 1) / c. Where it is alone there is nothing to measure.
    """
    weights = np.full(len(models), np.inf)
    least = np.full(len(some), np.inf)
    dense = np.ascontiguousarray(X[some].toarray() if sparse.issparse(X) else X[some])
    for m, model in enumerate(models):
        if model is None:
            continue
        rows = normalize(dense) if model.unit else dense
        k = len(model.values)
        places = place(rows, [model.values], [model.features], [np.ones(k)], n_jobs=n_jobs)
        sizes = np.bincount(members[m][members[m] >= 0], minlength=k)[places.labels[0]]
        square = np.where(sizes > 1, places.least * (sizes / np.maximum(sizes - 1, 1)) ** 2, np.inf)
        known = square[np.isfinite(square)]
        if known.size and known.mean() > 0:
            weights[m] = 1.0 / known.mean()
            np.minimum(least, weights[m] * square, out=least)
    known = least[np.isfinite(least)]
    return weights, _kept_by_most(np.sqrt(known)) ** 2 if known.size else -np.inf
