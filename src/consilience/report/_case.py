"""What is known of a consensus, for all objects: computed once, read by every section."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import encode
from consilience.ensemble import Ensemble
from consilience.evidence import (
    Ambiguity,
    GroupAmbiguity,
    cluster_stability,
    doubtful,
    group_ambiguity,
    suited_elsewhere,
)
from consilience.evidence import confidence as evidence_confidence
from consilience.report._objects import Truth, checked, known_truth

__all__ = ["Case", "make_case"]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

# With gaps every pair of objects has its own denominator: time grows with the square of these.
_MAX_PAIRWISE = 10_000
# Cells of the table objects x clusters, 8 bytes each.
_MAX_CELLS = 5 * 10**7


@dataclass(frozen=True, eq=False)
class Case:
    """A consensus and the evidence for it.

    Attributes
    ----------
    ensemble : Ensemble
    labels : ndarray of shape (n_objects,)
        Places 0..K-1 in ``numbers``; -1 in no cluster.
    numbers : ndarray of shape (K,)
        The clusters' numbers as they were given.
    confidence : ndarray of shape (n_objects,) or None
    runner_up : ndarray of shape (n_objects,) or None
        Place of the next best cluster; -1 where there is none.
    ambiguity : ndarray of shape (n_objects,)
        Of each object: 0 where the members agree about its group; NaN where they are silent.
    judged : Ambiguity or None
        Which objects are doubtful by other scores than the confidence, where somebody has said.
    stability : ndarray of shape (K,) or None
        How well the members know each cluster again; None where there is one cluster only.
    truth : Truth or None
    notes : tuple of str
    """

    ensemble: Ensemble
    labels: Positions
    numbers: Positions
    confidence: Floats | None
    runner_up: Positions | None
    ambiguity: Floats
    judged: Ambiguity | None
    stability: Floats | None
    truth: Truth | None
    notes: tuple[str, ...]

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return len(self.labels)

    @property
    def n_clusters(self) -> int:
        """Clusters that hold an object."""
        return len(self.numbers)

    @property
    def sizes(self) -> Positions:
        """Objects of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def finer(self) -> bool:
        """Whether the members have far more clusters than the result."""
        return bool(np.median(self.ensemble.n_clusters) >= 2 * max(self.n_clusters, 1))

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Objects that the page calls doubtful."""
        if self.judged is not None:
            return self.judged.flags
        return doubtful(self.labels, self.confidence)

    @property
    def suited_elsewhere(self) -> NDArray[np.bool_]:
        """Objects that another cluster suits better."""
        return suited_elsewhere(self.labels, self.confidence, self.runner_up)

    def number(self, places: Positions) -> Positions:
        """Numbers of clusters, as given, of their places; -1 stays."""
        return np.append(self.numbers, -1)[places]

    def mean_confidence(self, objects: NDArray[np.bool_]) -> float | None:
        """Mean confidence of some objects; None where it is not known."""
        if self.confidence is None or not objects.any():
            return None
        return float(np.mean(self.confidence[objects]))


def make_case(
    ensemble: Ensemble,
    labels: Any,
    *,
    confidence: Any,
    runner_up: Any,
    truth: Any,
    seed: int,
    ambiguity: GroupAmbiguity | None = None,
    judged: Ambiguity | None = None,
) -> Case:
    """Evidence for a consensus, estimated where there is very much of it."""
    n = ensemble.n_objects
    codes, numbers = _compact(labels, n)
    notes: list[str] = []
    if confidence is None:
        sure, other = _confidence_of(ensemble, codes, len(numbers), notes)
    else:
        given = checked(confidence, n, what="confidence").astype(np.float64)
        sure = np.where(np.isfinite(given), given, 0.0)
        other = None if runner_up is None else _places(runner_up, n, numbers)
    return Case(
        ensemble=ensemble,
        labels=codes,
        numbers=numbers,
        confidence=sure,
        runner_up=other,
        ambiguity=_ambiguity_of(ensemble, codes, seed, notes, ambiguity),
        judged=judged,
        stability=_stability_of(ensemble, codes, len(numbers)),
        truth=known_truth(truth, n),
        notes=tuple(notes),
    )


def _compact(labels: Any, n: int) -> tuple[Positions, Positions]:
    """Labels 0..K-1 without holes, -1 for none, and the number each stands for."""
    codes = np.maximum(encode(labels, what="labels"), -1)
    checked(codes, n, what="labels")
    values = np.asarray(labels)
    if values.dtype.kind not in "iu":  # names are numbered as they appear
        values = codes
    groups, first = np.unique(codes, return_index=True)
    return codes, values[first[groups >= 0]].astype(np.int64)


def _places(runner_up: Any, n: int, numbers: Positions) -> Positions:
    """Next best clusters, given by number, as places; -1 where there is none."""
    given = checked(runner_up, n, what="runner_up").astype(np.int64)
    if not len(numbers):
        return np.full(n, -1, np.int64)
    # Compact labels keep the order of the numbers.
    place = np.minimum(np.searchsorted(numbers, given), len(numbers) - 1)
    return np.where(numbers[place] == given, place, -1)


def _confidence_of(
    ensemble: Ensemble, codes: Positions, n_clusters: int, notes: list[str]
) -> tuple[Floats | None, Positions | None]:
    n = ensemble.n_objects
    if n * n_clusters > _MAX_CELLS:
        notes.append(
            f"Confidence was not computed: {n:,} objects and {n_clusters:,} groups are too many."
        )
        return None, None
    exact = n <= _MAX_PAIRWISE or not ensemble.has_unseen
    if not exact:
        notes.append(
            "For the confidence, clusterings that did not see both objects of a pair count as "
            "separating them: exact shares would take too long for so many objects."
        )
    judged = evidence_confidence(ensemble, codes, missing="pair" if exact else "all")
    return judged.confidence, judged.runner_up.astype(np.int64)


def _ambiguity_of(
    ensemble: Ensemble,
    codes: Positions,
    seed: int,
    notes: list[str],
    given: GroupAmbiguity | None,
) -> Floats:
    ambiguity = group_ambiguity(ensemble, codes, random_state=seed) if given is None else given
    checked(ambiguity.values, ensemble.n_objects, what="ambiguity")
    if ambiguity.n_pairs < ambiguity.every:
        notes.append(
            f"The ambiguity of the objects was estimated from {ambiguity.n_pairs:,} of "
            f"{ambiguity.every:,} pairs of clusterings."
        )
    return ambiguity.values


def _stability_of(ensemble: Ensemble, codes: Positions, n_clusters: int) -> Floats | None:
    """How well unions of members' clusters give each cluster back, mean over the members.

    Unions, because members are often finer than their consensus: their pieces of a cluster are
    no disagreement.
    """
    if n_clusters < 2:
        return None
    return cluster_stability(Ensemble([codes]), ensemble, criterion="nmi")
