"""One pass that moves objects to the cluster they are most often with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import as_array, check_jobs
from consilience.consensus._order import object_order
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.ensemble import Ensemble, takes_ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import Missing, confidence

__all__ = ["Refined", "refine"]

# Another cluster must be better by more than rounding: 4/6 and 2/3 are the same.
_BETTER = 1.0 + 1e-12


@dataclass(frozen=True)
class Refined:
    """A consensus after one pass.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        Clusters as before but for the objects moved, numbered in order of first appearance.
    moved : ndarray of shape (n_objects,), bool
        The objects moved.
    """

    labels: NDArray[np.int32]
    moved: NDArray[np.bool_]


@takes_ensemble
def refine(
    ensemble: Ensemble, labels: Any, *, missing: Missing = "pair", n_jobs: int | None = None
) -> Refined:
    """Move every object to the cluster with the largest mean co-association, once.

    A method may leave an object in a cluster although another one suits it better: its
    confidence is then below 0.5. Trees do, because a merge is never undone; so do balanced
    parts, because sizes must be kept.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    labels : array of shape (n_objects,)
        A consensus: clusters 0..K-1; negative for objects in no cluster, which stay there.
    missing : {"pair", "all"}, default="pair"
        See `co_association`.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    Refined

    Notes
    -----
    All moves are decided from the labels given, so that they do not depend on the order of
    the objects; of several clusters that suit an object equally well it goes to the largest. A
    cluster that all its objects would leave keeps them. After the pass an object may still, or
    again, be below 0.5: its neighbours moved as well. Balanced sizes, and long clusters that
    single link follows, are given up: there the mean over a cluster is the wrong judge.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> result = refine(ens, [0, 0, 0, 1, 1, 1])
    >>> result.labels.tolist(), result.moved.nonzero()[0].tolist()
    ([0, 0, 1, 1, 1, 1], [2])
    """
    check_jobs(n_jobs, owner="refine")
    given = as_array(labels)
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise InvalidInputError(
            "labels must be one whole number for each object, below 0 for objects in no cluster. "
            f"Got values of shape {given.shape} and type {given.dtype} instead."
        )
    numbers = _by_size(ensemble, given.astype(np.int64, copy=False))
    sure = confidence(ensemble, numbers, missing=missing, n_jobs=n_jobs)
    moved = (numbers >= 0) & (sure.runner_up >= 0) & (sure.other > _BETTER * sure.own)
    # A cluster that nobody would stay in keeps its objects: its number was asked for.
    stay = np.bincount(numbers[(numbers >= 0) & ~moved], minlength=int(numbers.max(initial=0)) + 1)
    moved &= stay[numbers] > 0
    after = np.where(moved, sure.runner_up, numbers).astype(np.int32)
    placed = after >= 0
    after[placed] = by_first_appearance(ConsensusResult(after[placed])).labels
    return Refined(after, moved)


def _by_size(ensemble: Ensemble, labels: NDArray[Any]) -> NDArray[np.int32]:
    """Labels numbered from the largest cluster on, of equal ones by their first object's labels."""
    numbers = np.full(len(labels), -1, np.int32)
    placed = labels >= 0
    if len(labels) != ensemble.n_objects or not placed.any():
        return labels.astype(np.int32)  # refused by whoever looks at them next, or nothing to do
    place = np.empty(len(labels), np.int64)
    place[object_order(ensemble)] = np.arange(len(labels))
    names, codes, sizes = np.unique(labels[placed], return_inverse=True, return_counts=True)
    first = np.full(len(names), len(labels))
    np.minimum.at(first, codes, place[placed])
    rank = np.empty(len(names), np.int32)
    rank[np.lexsort((first, -sizes))] = np.arange(len(names), dtype=np.int32)
    numbers[placed] = rank[codes]
    return numbers
