"""How sure a consensus is of each object: its own cluster against the best other one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import UNSEEN
from consilience._validation import (
    DEVICE,
    Boolean,
    NoneValue,
    Options,
    as_array,
    check_jobs,
    check_value,
)
from consilience.ensemble import Collapsed, Ensemble, takes_ensemble
from consilience.errors import InvalidInputError
from consilience.evidence._soft import soft_nearness
from consilience.evidence.coassociation import Missing, operator_of
from consilience.kernels._parallel import in_threads
from consilience.kernels.labels.confidence import Nearness, nearness
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["DOUBTFUL_BELOW", "Confidence", "confidence", "doubtful", "suited_elsewhere"]

#: Below this confidence another group has a third of the own group's evidence, or more.
DOUBTFUL_BELOW = 0.75

_BLOCK_BYTES = 2**26
# Pairs that are looked at one by one unless asked: about a second's work.
_EXACT_PAIRS = 10**8


@dataclass(frozen=True)
class Confidence:
    """Evidence of each object for its own cluster and for the best other one.

    Attributes
    ----------
    confidence : ndarray of shape (n_objects,)
        ``own / (own + other)``: 1 if nothing speaks for another cluster, 0.5 if the object
        is torn between two, below 0.5 if another cluster would suit it better; 0 for
        objects in no cluster.
    own, other : ndarray of shape (n_objects,)
        Mean co-association with the other objects of the own cluster, and with the best
        other cluster. An object alone in its cluster has ``own = 1``.
    runner_up : ndarray of shape (n_objects,)
        The best other cluster; -1 where there is none.
    exact : bool
        Whether each pair counted alike; see ``exact`` of `confidence`.
    device : str
        Where it was computed.
    """

    confidence: NDArray[np.float64]
    own: NDArray[np.float64]
    other: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    exact: bool = True
    device: str = "cpu"


@takes_ensemble(soft=True)
def confidence(
    ensemble: Ensemble,
    labels: NDArray[np.integer],
    *,
    missing: Missing = "pair",
    exact: bool | None = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Confidence:
    """Mean co-association with the own cluster against the best other cluster.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members, or memberships: see `co_association`.
    labels : array of shape (n_objects,)
        A consensus: clusters 0..K-1; negative for objects in no cluster, which count in no
        mean.
    missing : {"pair", "all"}, default="pair"
        See `co_association`.
    exact : bool or None, default=None
        Only matters where objects are unseen and ``missing="pair"``, so that every pair has a
        denominator of its own. True looks at every pair. False weighs each pair by the members
        that saw it, which cluster tables can add up. None is True up to 10,000 objects.
    n_jobs : int or None
        Threads; None means one.
    device : str or None, default=None
        A torch device, such as "cuda", for what goes through cluster tables: the same numbers.

    Returns
    -------
    Confidence

    Notes
    -----
    Time O(n R K) through cluster tables, memory O(n) beside the tables; exact where every pair
    has its own denominator, time O(n^2 R) and memory O(n K).

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> confidence(ens, np.array([0, 0, 0, 1, 1, 1])).confidence.round(2).tolist()
    [1.0, 1.0, 0.5, 0.86, 0.86, 0.86]
    """
    check_value("missing", missing, [Options(("pair", "all"))], owner="confidence")
    check_value("exact", exact, [Boolean(), NoneValue()], owner="confidence")
    check_jobs(n_jobs, owner="confidence")
    check_value("device", device, DEVICE, owner="confidence")
    labels = as_array(labels)
    if labels.shape != (ensemble.n_objects,):
        raise InvalidInputError(
            f"labels must hold one label for each of the {ensemble.n_objects} objects. "
            f"Got shape {labels.shape} instead."
        )
    if labels.dtype.kind not in "biu":
        raise InvalidInputError(
            "labels must be whole numbers, below 0 for objects in no cluster. Got values of type "
            f"{labels.dtype} instead. Use relabel(labels) first."
        )
    # True and False would choose, not number.
    codes: NDArray[np.int64] = labels.astype(np.int64, copy=False)
    n_clusters = int(codes.max()) + 1
    n = ensemble.n_objects
    if n_clusters < 1:
        zeros = np.zeros(n)
        return Confidence(zeros, zeros, zeros, np.full(n, -1, np.int32))
    pairwise = missing == "pair" and ensemble.has_unseen
    if exact is None:
        exact = n * n <= _EXACT_PAIRS
    share = np.empty(n)
    if pairwise and exact:
        own, other, runner_up = _over_pairs(ensemble, codes, n_clusters, n_jobs)
        total = own + other
        share = np.divide(own, total, out=np.zeros(n), where=total > 0)
        device = None
    elif isinstance(ensemble, SoftEnsemble):
        own, other, runner_up = soft_nearness(
            ensemble, codes, n_clusters, by_seen=pairwise, n_jobs=n_jobs or 1
        )
        total = own + other
        share = np.divide(own, total, out=np.zeros(n), where=total > 0)
        device = None
    else:
        counts = ensemble.counts if isinstance(ensemble, Collapsed) else None
        own, other, runner_up = _through_tables(
            ensemble, codes, n_clusters, counts, pairwise, share, n_jobs, device
        )
    return Confidence(
        share, own, other, runner_up, exact=exact or not pairwise, device=device or "cpu"
    )


def doubtful(
    labels: NDArray[np.integer], confidence: NDArray[np.float64] | None
) -> NDArray[np.bool_]:
    """Objects whose group is in doubt: their confidence is below 0.75.

    The one notion of "doubtful" of this library: in results, tables, reports and words.

    Parameters
    ----------
    labels : array of shape (n_objects,)
        Clusters; negative for objects in none, which are not doubtful but left out.
    confidence : array of shape (n_objects,) or None
        As `confidence` gives it. None, and a single cluster, leave nothing to be in doubt.

    Returns
    -------
    ndarray of shape (n_objects,), bool

    Notes
    -----
    At 0.75 another cluster has a third of the evidence of the own one. Below 0.5 it has more than
    the own one; few objects do, since most methods would have put them there, so that this line
    would leave nearly all misplaced objects out.

    Examples
    --------
    >>> doubtful(np.array([0, 0, 1, -1]), np.array([1.0, 0.7, 0.75, 0.0])).tolist()
    [False, True, False, False]
    """
    codes, sure = _judged(labels, confidence, owner="doubtful")
    if sure is None or codes.max(initial=-1) < 1:
        return np.zeros(len(codes), bool)
    return np.asarray((codes >= 0) & (sure < DOUBTFUL_BELOW))


def suited_elsewhere(
    labels: NDArray[np.integer],
    confidence: NDArray[np.float64] | None,
    runner_up: NDArray[np.integer] | None,
) -> NDArray[np.bool_]:
    """Doubtful objects that the members put together with another cluster more often.

    >>> suited_elsewhere(np.array([0, 0, 1]), np.array([0.4, 0.6, 0.0]), np.array([1, 1, -1]))
    array([ True, False, False])
    """
    codes, sure = _judged(labels, confidence, owner="suited_elsewhere")
    flags = doubtful(codes, sure)
    if sure is None:
        return flags
    # At 0 nothing may speak for any cluster; only a runner-up tells.
    others = sure > 0
    if runner_up is not None:
        others = _judged(runner_up, sure, owner="suited_elsewhere", name="runner_up")[0] >= 0
    return np.asarray(flags & (sure < 0.5) & others)


def _judged(
    labels: Any, confidence: Any, *, owner: str, name: str = "labels"
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """A whole number and a confidence for each object."""
    codes = as_array(labels)
    if codes.ndim != 1 or codes.dtype.kind not in "biu":
        raise InvalidInputError(
            f"The {name!r} parameter of {owner} must hold one whole number for each object. Got "
            f"shape {codes.shape} and type {codes.dtype} instead."
        )
    # Unsigned numbers and truth values have no -1 to compare with.
    codes = codes.astype(np.int64)
    if confidence is None:
        return codes, None
    sure = as_array(confidence)
    if sure.shape != codes.shape or sure.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"The 'confidence' parameter of {owner} must hold one number for each of the "
            f"{len(codes)} objects. Got shape {sure.shape} and type {sure.dtype} instead."
        )
    return codes, sure.astype(np.float64)


def _through_tables(
    ensemble: Ensemble,
    labels: NDArray[np.int64],
    n_clusters: int,
    counts: NDArray[np.int64] | None,
    by_seen: bool,
    share: NDArray[np.float64],
    n_jobs: int | None,
    device: str | None,
) -> Nearness:
    """Means through the tables of consensus clusters in the members' clusters; fills ``share``."""
    starts = ensemble.offsets()
    if device is None:
        return nearness(
            ensemble.members, labels, n_clusters, by_seen=by_seen, starts=starts, counts=counts,
            share=share, n_jobs=n_jobs,
        )  # fmt: skip
    from consilience.engines.torch import label_rows

    rows = label_rows(ensemble.members, starts, device)
    own, other, runner_up, share[:] = rows.nearness(
        labels, n_clusters, by_seen=by_seen, weights=counts
    )
    return Nearness(own, other, runner_up)


def _over_pairs(
    ensemble: Ensemble, labels: NDArray[np.int64], n_clusters: int, n_jobs: int | None
) -> Nearness:
    """Means over all pairs, each with a denominator of its own."""
    n = ensemble.n_objects
    chosen = np.flatnonzero(labels >= 0)
    onehot = np.zeros((n, n_clusters))
    onehot[chosen, labels[chosen]] = 1.0
    operator = operator_of(ensemble, missing="pair")
    step = max(1, _BLOCK_BYTES // (8 * n))

    def block_sums(start: int) -> NDArray[np.float64]:
        return operator.rows(start, min(start + step, n)) @ onehot

    sums = np.concatenate(in_threads(block_sums, range(0, n, step), n_jobs))
    sums[chosen, labels[chosen]] -= 1.0  # the unit diagonal
    return _means(np.maximum(sums, 0.0), labels, n_clusters)


def _means(sums: NDArray[np.float64], labels: NDArray[np.int64], n_clusters: int) -> Nearness:
    """Means of the own and of the best other cluster, from sums over clusters."""
    n = len(labels)
    placed = np.flatnonzero(labels >= 0)
    own_cluster = labels[placed]
    sizes = np.bincount(own_cluster, minlength=n_clusters)
    means = sums / np.maximum(sizes, 1)
    own, other = np.zeros(n), np.zeros(n)
    mates = sizes[own_cluster] - 1
    # Alone in its cluster, an object is as close to it as to itself.
    own[placed] = np.where(mates > 0, sums[placed, own_cluster] / np.maximum(mates, 1), 1.0)
    runner_up = np.full(n, -1, np.int32)
    if n_clusters > 1:
        means[placed, own_cluster] = -1.0
        runner_up[placed] = means[placed].argmax(axis=1)
        other[placed] = means[placed, runner_up[placed]]
        runner_up[other == 0] = -1
    return Nearness(own, other, runner_up)


@takes_ensemble(soft=True)
def never_seen(ensemble: Ensemble) -> NDArray[np.bool_]:
    """Objects that no member saw."""
    if not ensemble.has_unseen:
        return np.zeros(ensemble.n_objects, bool)
    return np.asarray((ensemble.members == UNSEEN).all(axis=0))


@takes_ensemble(soft=True)
def never_placed(ensemble: Ensemble) -> NDArray[np.bool_]:
    """Objects that no member put into a cluster: noise or unseen everywhere."""
    return ensemble._never_placed()
