"""Objects about which the members disagree: how ambiguous each one is, and where to draw a line.

Two members put an object into a cluster each. Where the two clusters are much the same set, the
object is where both expect it; where they hardly overlap, it lies between clusters. Scores add
this up over pairs of members; low means ambiguous.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._labels import smallest_type
from consilience._validation import (
    DEVICE,
    Interval,
    NoneValue,
    Options,
    RandomState,
    Rule,
    Satisfies,
    as_array,
    check_jobs,
    check_value,
)
from consilience.ensemble import Ensemble, takes_ensemble
from consilience.errors import InvalidInputError, warn
from consilience.evidence._thresholds import RULES, find_threshold
from consilience.evidence.confidence import never_placed, never_seen
from consilience.kernels.pairs.ambiguity import (
    INFORMATION,
    RELATIVE,
    mean_overlap,
)

__all__ = [
    "Ambiguity",
    "GroupAmbiguity",
    "ambiguous",
    "anco",
    "group_ambiguity",
    "nco",
    "relative_overlap",
]

Score = Literal["relative", "anco"]
Floats = NDArray[np.float64]

# Objects times pairs of members whose overlap is looked at: one or two seconds.
_PAIR_BUDGET = 3 * 10**8
_FEWEST_PAIRS = 50


def _is_a_row(value: Any) -> bool:
    return as_array(value).ndim == 1


SCORES = Options(("relative", "anco"))
#: What the parameters of `ambiguous` may be; `AmbiguityAware` has the same.
AMBIGUITY_RULES: dict[str, list[Rule]] = {
    "score": [
        SCORES,
        Satisfies(_is_a_row, "one score for each object"),
    ],
    "threshold": [Options(RULES), Interval(Real)],
    "max_share": [Interval(Real, 0, 1, open_low=True)],
    "quantile": [Interval(Real, 0, 1)],
    "n_pairs": [Interval(Integral, 1), NoneValue()],
    "random_state": [RandomState()],
}


@dataclass(frozen=True)
class Ambiguity:
    """Which objects are ambiguous, by which scores, and why those.

    Attributes
    ----------
    flags : ndarray of shape (n_objects,), bool
        True for ambiguous objects: the score is below the threshold, or no member saw it.
    scores : ndarray of shape (n_objects,), float64
        Low means ambiguous; NaN where the members say nothing (fewer than two saw the object,
        or none put it into a cluster).
    threshold : float
        Objects with a lower score are flagged; ``-inf`` flags nothing.
    rule : str
        The rule that set the threshold in the end: "otsu", "gap", "kde", "gmm2", "quantile",
        "number", or "none" where a guard left nothing to flag.
    why : str
        The same in words, guards included.
    """

    flags: NDArray[np.bool_]
    scores: Floats
    threshold: float
    rule: str
    why: str

    @property
    def n_flagged(self) -> int:
        """Number of ambiguous objects."""
        return int(self.flags.sum())

    def histogram(self, bins: int = 50) -> tuple[NDArray[np.int64], Floats]:
        """Counts and edges of a histogram of the scores, as `numpy.histogram` returns them."""
        scores = self.scores[np.isfinite(self.scores)]
        if not scores.size:
            return np.histogram(scores, bins)
        low, high = float(scores.min()), float(scores.max())
        # Scores that differ by rounding only leave no room for edges between them.
        room = 4 * bins * float(np.spacing(max(abs(low), abs(high))))
        if high - low < room:
            room = max(room, 0.5) if low == high else room
            low, high = low - room, high + room
        return np.histogram(scores, bins, (low, high))


class GroupAmbiguity(NamedTuple):
    """What `group_ambiguity` found: a value an object, and from how many pairs of members."""

    values: Floats
    n_pairs: int
    every: int


def nco(a: Any, b: Any) -> Floats:
    """Normalised cluster overlap of two labelings, for every object.

    For an object in cluster h of ``a`` and cluster l of ``b``: its cell's term of the mutual
    information over the entropy terms of its two clusters,
    ``n_hl log(n n_hl / (n_h n_l)) / sqrt(n_h log(n_h / n) n_l log(n_l / n))``.

    Parameters
    ----------
    a, b : labels of n_objects
        In any form an `Ensemble` takes. Only objects that both saw count.

    Returns
    -------
    ndarray of shape (n_objects,), float64
        Neither bounded by 1 nor positive in general: negative where the two clusters share
        fewer objects than by chance. 0 for noise and where a cluster holds all objects; NaN
        where one of the two did not see the object.

    References
    ----------
    Ambiguity detection in cluster ensembles, equation 3. The printed formula is damaged; this
    reading alone agrees with its denominator and with the paper's tables.

    Examples
    --------
    >>> nco([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]).round(3).tolist()
    [0.649, 0.649, -0.377, 0.662, 0.662, 0.662]
    """
    means, counts = _overlap(Ensemble([a, b]), INFORMATION, None, None, None)
    return np.where(counts > 0, means, np.nan)


@takes_ensemble
def anco(
    ensemble: Ensemble,
    *,
    n_pairs: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Floats:
    """Accumulated normalised cluster overlap: the sum of `nco` over all pairs of members.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    n_pairs : int or None, default=None
        Estimate the sum from that many random pairs of members; None takes all.
    random_state : int, RandomState or None
        For the choice of pairs.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.
    device : str or None, default=None
        A torch device, such as "cuda", where cells are counted and looked up: the same scores.

    Returns
    -------
    ndarray of shape (n_objects,), float64
        Low for ambiguous objects. Grows with R, and objects of clusters of different sizes
        get different values even where all members agree. Where members miss objects: the
        mean over the pairs that both saw the object, times R (R - 1) / 2. NaN for objects
        that fewer than two members saw or none put into a cluster; with one member there are
        no pairs, and every score is 1.

    Notes
    -----
    Time O(u R^2) for u distinct label rows, memory O(n R) and 64 MiB of tables.

    References
    ----------
    Ambiguity detection in cluster ensembles, equation 4.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    >>> anco(ens).round(3).tolist()
    [2.297, 2.297, 0.245, 2.325, 2.325, 2.325]
    """
    R = ensemble.n_members
    return _scores(
        ensemble, INFORMATION, R * (R - 1) / 2, n_pairs, random_state, n_jobs, device, "anco"
    )


@takes_ensemble
def relative_overlap(
    ensemble: Ensemble,
    *,
    n_pairs: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Floats:
    """Mean overlap of an object's clusters relative to the best matches of those clusters.

    With ``v_hl = n_hl / sqrt(n_h n_l)`` a pair of members adds ``v_hl`` over the smaller of
    the largest ``v`` of cluster h and the largest of cluster l, at most 1. So 1 means that the
    object always lies where at least one of its two clusters has its best match: a cluster
    split in two by another member is no disagreement, crossing clusters are.

    Parameters
    ----------
    ensemble, n_pairs, random_state, n_jobs
        See `anco`.

    Returns
    -------
    ndarray of shape (n_objects,), float64
        In [0, 1], low for ambiguous objects; NaN and one member as in `anco`.

    Notes
    -----
    Ours, not the paper's. A threshold on `anco` flags whole clusters where one member merges
    or splits them; this score does not see that as disagreement. Same cost.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2]])
    >>> relative_overlap(ens).round(3).tolist()
    [1.0, 1.0, 0.587, 1.0, 1.0, 1.0]
    """
    return _scores(
        ensemble, RELATIVE, 1.0, n_pairs, random_state, n_jobs, device, "relative_overlap"
    )


@takes_ensemble
def ambiguous(
    ensemble: Ensemble,
    *,
    score: Score | Any = "relative",
    threshold: str | float = "otsu",
    max_share: float = 0.25,
    quantile: float = 0.1,
    labels: Any = None,
    n_pairs: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Ambiguity:
    """Objects whose score is low: flags, scores, the threshold, and why that one.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    score : {"relative", "anco"} or array of shape (n_objects,), default="relative"
        `relative_overlap`, the paper's `anco`, or scores of your own (low is ambiguous, NaN
        is unknown).
    threshold : {"otsu", "gap", "kde", "gmm2", "quantile"} or number, default="otsu"
        The split with the largest variance between its sides; the middle of the widest gap
        that flags at most ``max_share``; the lowest density between the main mode and the
        next one below; where two Gaussians claim a score equally; the score that a share
        ``quantile`` of the objects is below; or a threshold of your own (the paper's was
        chosen by eye).
    max_share : float, default=0.25
        Largest share of the objects flagged. Where the rule flags more, the widest gap that
        keeps to it decides instead, else nothing is flagged; ``why`` says so.
    quantile : float, default=0.1
        For ``threshold="quantile"``.
    labels : array of shape (n_objects,), optional
        A consensus: objects of a cluster that the flags would empty are not flagged.
    n_pairs, random_state, n_jobs
        See `anco`.

    Returns
    -------
    Ambiguity

    Notes
    -----
    Nothing is flagged where all scores are equal or there is only one member. Objects that no
    member saw are always flagged. Where a number was given and a guard overrules it, a warning
    says so.

    References
    ----------
    Ambiguity detection in cluster ensembles, section 4.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]])
    >>> result = ambiguous(ens)
    >>> np.flatnonzero(result.flags)
    array([3])
    >>> result.why
    '1 of 8 scores are below 0.6291, set by otsu'
    """
    params: dict[str, Any] = {"score": score, "threshold": threshold, "max_share": max_share}
    params |= {"quantile": quantile, "n_pairs": n_pairs, "random_state": random_state}
    for name, value in params.items():
        check_value(name, value, AMBIGUITY_RULES[name], owner="ambiguous")
    check_jobs(n_jobs, owner="ambiguous")
    scores = _given_or_made(ensemble, score, n_pairs, random_state, n_jobs)
    known = np.isfinite(scores)
    line = find_threshold(scores[known], threshold, max_share=max_share, quantile=quantile)
    if isinstance(threshold, Real) and line.rule != "number":
        warn(f"threshold={threshold:g} is not used: {line.why}.")
    flags = np.zeros(ensemble.n_objects, bool)
    flags[known] = scores[known] < line.value
    why = line.why
    if labels is not None:
        flags, kept = _spare_clusters(flags, _consensus(labels, ensemble.n_objects))
        if kept:
            why += f"; {kept} of them are all that is left of a cluster and stay"
    unseen = never_seen(ensemble)
    if unseen.any():
        flags |= unseen
        why += f"; {int(unseen.sum())} objects that no member saw are flagged as well"
    return Ambiguity(flags, scores, line.value, line.rule, why)


@takes_ensemble
def group_ambiguity(
    ensemble: Ensemble, labels: Any, *, random_state: Any = 0, n_jobs: int | None = None
) -> GroupAmbiguity:
    """How far the members disagree about the group of each object of a consensus.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    labels : array of int of shape (n_objects,)
        The consensus. Members' clusters are joined to those of it that they mostly lie in:
        members are often finer than their consensus, and borders inside one of its clusters are
        no disagreement about groups.
    random_state : int, RandomState or None, default=0
        Of very many objects some pairs of members are drawn, for a second or two of work.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    GroupAmbiguity
        ``values``, one less `relative_overlap`: 0 where the members agree, NaN where they say
        nothing; ``n_pairs`` of members that were looked at, and ``every``, how many there are.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2]])
    >>> group_ambiguity(ens, [0, 0, 0, 1, 1, 1]).values.round(2).tolist()
    [0.0, 0.0, 0.43, 0.0, 0.0, 0.0]
    """
    codes = _consensus(labels, ensemble.n_objects)
    R = ensemble.n_members
    every = R * (R - 1) // 2
    n_pairs = min(every, max(_FEWEST_PAIRS, _PAIR_BUDGET // ensemble.n_objects))
    joined = _at_the_result(ensemble, np.maximum(codes, -1))
    some = max(n_pairs, 1)
    scores = relative_overlap(joined, n_pairs=some, random_state=random_state, n_jobs=n_jobs)
    return GroupAmbiguity(1.0 - scores, n_pairs, every)


def _at_the_result(ensemble: Ensemble, codes: NDArray[np.int64]) -> Ensemble:
    """Members whose clusters are joined to those of the result they mostly lie in."""
    groups, k = _as_they_appear(codes)
    if not k:
        return ensemble
    joined = []
    for member in ensemble.members:
        labels = member.astype(np.int32)
        placed = labels >= 0
        inside = placed & (groups >= 0)
        n_cells = k * (max(int(labels.max()), -1) + 1)
        cells = np.bincount(labels[inside] * k + groups[inside], minlength=n_cells).reshape(-1, k)
        mostly = cells.argmax(axis=1)
        # A cluster with no object in any group is none of them.
        outside = np.flatnonzero(~cells.any(axis=1))
        mostly[outside] = k + np.arange(len(outside))
        labels[placed] = mostly[labels[placed]]
        joined.append(labels.astype(smallest_type(k + len(outside))))
    return Ensemble(joined)


def _as_they_appear(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Groups numbered as they first appear, and how many: names decide no tie between them."""
    names, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    is_group = names >= 0
    number = np.full(len(names), -1)
    number[is_group] = np.argsort(np.argsort(first[is_group]))
    return number[inverse], int(is_group.sum())


def _given_or_made(
    ensemble: Ensemble, score: Any, n_pairs: int | None, random_state: Any, n_jobs: int | None
) -> Floats:
    if isinstance(score, str):
        make = anco if score == "anco" else relative_overlap
        return make(ensemble, n_pairs=n_pairs, random_state=random_state, n_jobs=n_jobs)
    given = as_array(score)
    if given.shape != (ensemble.n_objects,):
        raise InvalidInputError(
            f"score must hold one number for each of the {ensemble.n_objects} objects. "
            f"Got {len(given)} instead."
        )
    if given.dtype.kind not in "biuf":
        raise InvalidInputError(f"score must hold real numbers. Got {given.dtype} instead.")
    scores = np.array(given, np.float64)
    if np.isinf(scores).any():
        raise InvalidInputError("score must be finite, or NaN where it is unknown. Got inf.")
    return scores


def _consensus(labels: Any, n_objects: int) -> NDArray[np.int64]:
    codes = as_array(labels)
    if codes.shape != (n_objects,) or codes.dtype.kind not in "iu":
        raise InvalidInputError(
            f"labels must hold one whole number for each of the {n_objects} objects. Got shape "
            f"{codes.shape} and type {codes.dtype} instead."
        )
    return codes.astype(np.int64)


def _spare_clusters(
    flags: NDArray[np.bool_], labels: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], int]:
    """Flags without those that would empty a cluster, and how many were taken back."""
    placed = labels >= 0
    left = np.bincount(labels[placed & ~flags], minlength=int(labels.max(initial=0)) + 1)
    spared = flags & placed & (left[np.maximum(labels, 0)] == 0)
    return flags & ~spared, int(spared.sum())


def _scores(
    ensemble: Ensemble,
    kind: int,
    scale: float,
    n_pairs: int | None,
    random_state: Any,
    n_jobs: int | None,
    device: str | None,
    owner: str,
) -> Floats:
    for name, value in (("n_pairs", n_pairs), ("random_state", random_state)):
        check_value(name, value, AMBIGUITY_RULES[name], owner=owner)
    check_jobs(n_jobs, owner=owner)
    check_value("device", device, DEVICE, owner=owner)
    if ensemble.n_members == 1:
        return np.ones(ensemble.n_objects)
    means, counts = _overlap(ensemble, kind, n_pairs, random_state, n_jobs, device)
    silent = (counts == 0) | never_placed(ensemble)
    return np.where(silent, np.nan, scale * means)


def _overlap(
    ensemble: Ensemble,
    kind: int,
    n_pairs: int | None,
    random_state: Any,
    n_jobs: int | None,
    device: str | None = None,
) -> tuple[Floats, NDArray[np.int64]]:
    """Mean overlap of each object over pairs of members, and how many pairs saw it.

    Objects with equal labels are one weighted object: exact.
    """
    pairs = np.stack(np.triu_indices(ensemble.n_members, 1), axis=1).astype(np.int64)
    if n_pairs is not None and n_pairs < len(pairs):
        chosen = check_random_state(random_state).permutation(len(pairs))[:n_pairs]
        pairs = pairs[np.sort(chosen)]
    if device is not None and _tables_fit(ensemble, device):
        return _overlap_there(ensemble, kind, pairs, device)
    rows, inverse, counts = ensemble.signatures(n_jobs=n_jobs)
    means, seen = mean_overlap(
        rows.members, counts, pairs, kind, starts=rows.offsets(), n_jobs=n_jobs or 1
    )
    if len(means) == len(inverse):  # no two objects are equal, and each is where it was
        return means, seen
    return means[inverse], seen[inverse]


def _tables_fit(ensemble: Ensemble, device: str) -> bool:
    """Whether a device has room for the cells of all pairs of members."""
    from consilience.engines.torch import tables_fit

    # Unseen and noise are clusters as well. Roots and logarithms have bits of a device's own.
    n_clusters = int(ensemble.offsets()[-1]) + 2 * ensemble.n_members
    return tables_fit(n_clusters, device, same_bits=False)


def _overlap_there(
    ensemble: Ensemble, kind: int, pairs: NDArray[np.int64], device: str
) -> tuple[Floats, NDArray[np.int64]]:
    """`_overlap` with cells counted and looked up on a torch device."""
    from consilience.engines.torch import label_rows, overlap_sums

    rows = label_rows(ensemble.members, ensemble.offsets(), device)
    tensors = overlap_sums(rows, pairs, relative=kind == RELATIVE)
    sums, counts = (np.asarray(one.cpu().numpy()) for one in tensors)
    return np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0), counts
