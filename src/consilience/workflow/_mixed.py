"""Which members are made of a table with categories or gaps, and what they say of the gaps."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.datasets._points import Points, drawn
from consilience.ensemble import Ensemble
from consilience.evidence import co_association
from consilience.generate import MixedEnsemble
from consilience.workflow._data import Data

__all__ = ["in_all_views", "mixed_generator", "refilled"]

Floats = NDArray[np.float64]

# As for numbers: past so many objects members have fewer clusters than the root of their number.
_MODERATE = 20_000
_CLUSTERS = (20, 60)
# Fewer objects tell nothing of groups.
_FEWEST = 20
# Up to so many objects the co-association of all pairs says who is near.
_PAIRS = 4_000


def mixed_generator(
    data: Data, n_members: int, n_groups: int | None, seed: int, n_jobs: int | None
) -> tuple[Any, str]:
    """The generator for such a table, and a sentence of reason."""
    n_clusters: Any = ("sqrt/2", "sqrt") if data.n_objects <= _MODERATE else _CLUSTERS
    generator = MixedEnsemble(
        n_members,
        n_clusters if n_groups is None else min(n_groups, data.n_objects),
        categorical=list(data.categorical),
        weights=[float(weight) for weight in data.mixed_weights],
        views=list(data.view_of) or None,
        random_state=seed,
        n_jobs=n_jobs,
    )
    reasons = []
    if data.categorical:
        names = "k-means, k-modes and k-prototypes on parts of the columns"
        if len(data.categorical) == data.mixed.shape[1]:
            names = "k-modes on parts of the columns"
        reasons.append("Numbers and categories each have a say, and columns that hang together")
        reasons[0] += " with nothing a small one"
    else:
        names = "k-means on parts of the columns"
    if data.views:
        names = names.replace("parts of the columns", "parts of the views and of their columns")
        reasons.append("what several views show by themselves is hardly an accident of one of them")
    if np.isnan(data.mixed).any():
        reasons.append(
            "each clustering sees the objects that have most of its columns, and the others are "
            "unseen by it"
        )
    why = "; ".join(reasons)
    return generator, f"{names}. {why[:1].upper()}{why[1:]}."


def in_all_views(data: Data) -> NDArray[np.intp] | None:
    """Objects of which every view knows something; None where that are all, or less than half.

    What the groups are is told from these: where a view is missing, groups that only it tells
    apart would lie upon each other. The other objects go where members put them.
    """
    if not data.views:
        return None
    known = ~np.isnan(data.mixed)
    views = np.array(data.view_of)
    there = [known[:, views == view].any(axis=1) for view in range(len(data.views))]
    whole = np.flatnonzero(np.logical_and.reduce(there))
    few = max(data.n_objects // 2, _FEWEST)
    return whole if few <= len(whole) < data.n_objects else None


def refilled(data: Data, ensemble: Ensemble) -> Data:
    """The data with the points of gaps where the members expect them.

    A gap is the mean of its column over the objects that members put the object with, by squared
    co-association; of more than 4,000 objects the mean, over members, of the object's cluster.
    Members see gaps: what they say of an object comes from what is known of it.
    """
    points = data.scaling
    if not isinstance(points, Points) or points.reference is None:
        return data
    cells = points.with_gaps(data.transformed(data.original))
    known = ~np.isnan(cells)
    means = _expected if data.n_objects <= _PAIRS else _expected_by_clusters
    expected, sure = means(ensemble, np.where(known, cells, 0.0), known.astype(np.float64))
    X = np.ascontiguousarray(np.where(known, cells, np.where(sure, expected, data.X)))
    return replace(data, X=X, scaling=replace(points, reference=drawn(X)))


def _expected(ensemble: Ensemble, cells: Floats, known: Floats) -> tuple[Floats, Any]:
    near = np.asarray(co_association(ensemble), np.float64) ** 2
    weight = near @ known
    sure = weight > 0
    return np.divide(near @ cells, weight, out=np.zeros(cells.shape), where=sure), sure


def _expected_by_clusters(ensemble: Ensemble, cells: Floats, known: Floats) -> tuple[Floats, Any]:
    total, count = np.zeros(cells.shape), np.zeros(cells.shape)
    for labels in ensemble.members:
        seen = np.flatnonzero(labels >= 0)
        its = labels[seen].astype(np.int64)
        for j in range(cells.shape[1]):
            sums = np.bincount(its, cells[seen, j])
            sizes = np.bincount(its, known[seen, j])
            means = sums / np.maximum(sizes, 1.0)
            total[seen, j] += means[its]
            count[seen, j] += sizes[its] > 0
    return total / np.maximum(count, 1.0), count > 0
