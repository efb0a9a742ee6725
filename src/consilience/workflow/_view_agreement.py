"""How far several views agree with the groups, and with each other, each by itself."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from consilience._words import listed
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble
from consilience.evidence import DOUBTFUL_BELOW, confidence

__all__ = ["Alone", "ViewAgreement", "each_alone", "view_agreement"]

Floats = NDArray[np.float64]
# Average link of the members of one view is for so many objects.
_MOST = 5_000


@dataclass(frozen=True, eq=False)
class ViewAgreement:
    """What each view says of the groups by itself: the members that look at it alone.

    Attributes
    ----------
    names : tuple of str
        Of the views.
    n_objects : tuple of int
        Objects each of them knows.
    n_members : tuple of int
        Members that look at it alone.
    confidence : ndarray of shape (n_views,)
        Mean confidence of its objects in their groups by these members: 1 where the view sees the
        groups by itself, 0.5 where it cannot tell them from another.
    by_group : ndarray of shape (n_views, n_clusters)
        The same of the objects of each group; NaN where it knows none of them.
    between : ndarray of shape (n_views, n_views)
        ARI of the partitions, into as many groups, that average link makes of the members of
        either view, over the objects both know.
    """

    names: tuple[str, ...]
    n_objects: tuple[int, ...]
    n_members: tuple[int, ...]
    confidence: Floats
    by_group: Floats
    between: Floats

    def sentences(self) -> list[str]:
        """What each view tells apart, in words."""
        said = []
        for name, mean, groups in zip(self.names, self.confidence, self.by_group, strict=True):
            told = [str(g) for g in np.flatnonzero(groups >= DOUBTFUL_BELOW)]
            not_told = [str(g) for g in np.flatnonzero(groups < DOUBTFUL_BELOW)]
            what = f"tells apart clusters {listed(told)}" if told else "tells no cluster apart"
            if told and not_told:
                what += f", not {listed(not_told)}"
            said.append(f"View {name!r} by itself {what} (mean confidence {mean:.2f}).")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "names": list(self.names),
            "n_objects": list(self.n_objects),
            "confidence": [round(float(value), 6) for value in self.confidence],
            "by_group": [
                [None if np.isnan(value) else round(float(value), 6) for value in row]
                for row in self.by_group
            ],
            "between": [[round(float(value), 6) for value in row] for row in self.between],
        }


class Alone(NamedTuple):
    """The members that look at one view alone: which objects they saw, and how sure they are.

    ``confidence`` is that in the groups of the answer; it means nothing of objects not seen.
    """

    members: Ensemble
    seen: NDArray[np.bool_]
    confidence: Floats


def each_alone(n_views: int, ensemble: Ensemble, labels: NDArray[np.integer]) -> list[Alone] | None:
    """What each view says by itself; None where a view has no members of its own."""
    drawn = [record.get("views") for record in ensemble.records or ()]
    own = [[m for m, one in enumerate(drawn) if one == [view]] for view in range(n_views)]
    if not own or not all(own):
        return None
    alone = []
    for members in own:
        its = ensemble[members]
        seen = np.any(its.members >= 0, axis=0)
        alone.append(Alone(its, seen, confidence(its, np.where(seen, labels, -1)).confidence))
    return alone


def view_agreement(
    names: tuple[str, ...], ensemble: Ensemble, labels: NDArray[np.integer]
) -> ViewAgreement | None:
    """How far views agree; None where no member says which view it looked at."""
    alone = each_alone(len(names), ensemble, labels)
    if alone is None:
        return None
    k = int(labels.max()) + 1
    sure, groups, parts, counts = [], [], [], []
    for its, seen, known in alone:
        of_group = [known[seen & (labels == g)] for g in range(k)]
        groups.append([float(one.mean()) if one.size else np.nan for one in of_group])
        placed = seen & (labels >= 0)
        sure.append(float(known[placed].mean()) if placed.any() else 0.0)
        counts.append(int(seen.sum()))
        parts.append(_partition(its, seen, k))
    return ViewAgreement(
        names,
        tuple(counts),
        tuple(its.n_members for its, _, _ in alone),
        np.array(sure),
        np.array(groups),
        _between(parts),
    )


def _partition(members: Ensemble, seen: Any, k: int) -> NDArray[np.int64]:
    """Groups by average link of the members of a view, -1 for who is not in it."""
    groups = np.full(members.n_objects, -1, np.int64)
    some = np.flatnonzero(seen)[:_MOST]
    if len(some) >= max(k, 2):
        groups[some] = eac(members.take(some), max(k, 1)).labels
    return groups


def _between(parts: list[NDArray[np.int64]]) -> Floats:
    ari = np.eye(len(parts))
    for i, one in enumerate(parts):
        for j in range(i):
            both = (one >= 0) & (parts[j] >= 0)
            if both.sum() > 1:
                ari[i, j] = ari[j, i] = float(adjusted_rand_score(one[both], parts[j][both]))
    return ari
