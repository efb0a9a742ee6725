"""From curves to a choice: what each criterion sees, what is taken, and how to say it."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed
from consilience.consensus._monti import delta_areas

__all__ = [
    "Criterion",
    "NumberChoice",
    "Taken",
    "by_delta_area",
    "by_lifetime",
    "by_pac",
    "by_stability",
    "decide",
    "tighter_than_chance",
]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
#: By what kind of evidence the lines of `AutoConsensus` decide.
Taken = Literal["support", "silhouette", "borders", "likelihood"]

# Figures below were measured on generated mixtures and on data without groups; the
# benchmark `bench_number` repeats the count of what they get right.
_FIRM = 0.85  # prediction strength of a number that can be taken
_CLEAR = 1.0 - 1.0 / np.e  # instability below 1/e of the least that groupless data show
_NEARLY = 1.5  # difference of two such logarithms that decides nothing
_PAC_CLEAR = 1.0 - np.exp(-2.0)
_LONG = 0.25  # a lifetime that can be taken, as a share of all thresholds
_TIGHTER = 0.05  # logarithm of the variance within clusters that groupless data have more
_HINT = 0.4  # clarity from which a criterion's number is a guess worth naming
_TINY = 1e-12
_STEADY = 0.01  # instability that may be chance
_GAIN = 0.002
_DECIDING = ("stability", "lifetime")


@dataclass(frozen=True)
class Criterion:
    """What one criterion says about the number of clusters.

    Attributes
    ----------
    name : str
        "lifetime", "delta-area", "pac" or "stability".
    title : str
        A few words for a table or a legend.
    tested : ndarray of int64
        Numbers of clusters.
    values : ndarray of float64
        The criterion's curve over ``tested``.
    reference : ndarray of float64 or None
        The same on data without groups: at each number the best of several such sets (the
        mean for "delta-area").
    larger_is_better : bool
    n_clusters : int or None
        Its choice; None: it sees no structure.
    clarity : float
        0 (a coin toss) to 1 (beyond doubt): the share of what groupless data show at the
        same number that is gone here; for "lifetime" how far the longest stands out.
    words : str
        One plain sentence.
    """

    name: str
    title: str
    tested: Numbers
    values: Floats
    reference: Floats | None
    larger_is_better: bool
    n_clusters: int | None
    clarity: float
    words: str


@dataclass(frozen=True)
class NumberChoice:
    """The number of clusters taken, and what spoke for it.

    Attributes
    ----------
    n_clusters : int
        What is taken; where nothing is clear the best guess, 1 when nothing speaks for groups.
    clear : bool
        False: there is no clear structure.
    taken : str
        Name of the criterion that decided; "none" where no criterion saw anything.
    criteria : tuple of Criterion
        All of them, the one that is asked first at the front.
    words : str
        Two or three plain sentences: what was taken, why, how clear it was.
    n_objects : int
        Objects looked at: a sample of large data.
    """

    n_clusters: int
    clear: bool
    taken: str
    criteria: tuple[Criterion, ...]
    words: str
    n_objects: int

    @property
    def by_lines(self) -> bool:
        """Whether independent ways to cluster decided, and not criteria."""
        return self.taken in get_args(Taken)


def by_stability(tested: Numbers, values: Floats, reference: Floats, tighter: Floats) -> Criterion:
    """The number on which halves agree, down to the weakest of its clusters.

    ``tighter`` is the logarithm of how much less variance lies within clusters than in the
    tightest data without groups, less what may be chance. A long cloud falls into two as
    firmly as two groups do, so that firmness alone shows little; but its halves are not as
    tight.
    """
    score = _steadier(values, reference)
    seen = np.flatnonzero((values >= _FIRM) & (_clarity(score) >= _CLEAR))
    if seen.size:
        # Groups of groups are steady too: the largest number of those nearly as good.
        seen = seen[score[seen] >= score[seen].max() - _NEARLY]
    else:
        seen = np.flatnonzero((values >= _FIRM) & (tighter >= 0))
    best = int(seen[-1] if seen.size else score.argmax())
    k = int(tested[best])
    figures = (
        f"the weakest cluster of one half of the objects holds together to {_share(values[best])} "
        f"in another; {_share(reference[best])} would do without any groups"
    )
    if seen.size and tighter[best] >= 0:
        figures += ", and clusters would be less tight"
    words = f"{_start(k, bool(seen.size))}: {figures}."
    return Criterion(
        "stability",
        "stability of the weakest cluster",
        tested,
        values,
        reference,
        True,
        k if seen.size else None,
        float(_clarity(score[best])),
        words,
    )


def by_pac(tested: Numbers, values: Floats, reference: Floats) -> Criterion:
    """The number whose pairs are far less ambiguous than in data without groups."""
    # A pair can only be torn at the border of its clusters, and k clusters hold 1 / k of all
    # pairs: times k, numbers can be compared with each other.
    score = np.log((tested * reference + 0.02) / (tested * values + 0.02))
    best = int(score.argmax())
    k, seen = int(tested[best]), bool(_clarity(score[best]) >= _PAC_CLEAR)
    words = (
        f"{_start(k, seen)}: {_share(values[best])} of the pairs of objects are together in "
        f"some halves and apart in others; without any groups {_share(reference[best])} are."
    )
    return Criterion(
        "pac",
        "ambiguous pairs (PAC)",
        tested,
        values,
        reference,
        False,
        k if seen else None,
        float(_clarity(score[best])),
        words,
    )


def by_delta_area(tested: Numbers, areas: Floats, reference_areas: list[Floats]) -> Criterion:
    """The number after which the area stops to grow, beside its growth without groups."""
    values = delta_areas(areas)
    reference = np.mean([delta_areas(one) for one in reference_areas], axis=0)
    growth = np.log((np.maximum(values, 0) + _GAIN) / (np.maximum(reference, 0) + _GAIN))
    fall = growth[:-1] - growth[1:] if len(tested) > 1 else np.zeros(1)
    best = int(fall.argmax())
    k, seen = int(tested[best]), bool(_clarity(fall[best]) >= 0.5)
    after = min(best + 1, len(tested) - 1)
    words = (
        f"{_start(k, seen)}: one more cluster adds {_share(values[after])} to the area under "
        f"the consensus distribution; without any groups {_share(reference[after])}."
    )
    return Criterion(
        "delta-area",
        "gain of area (delta area)",
        tested,
        values,
        reference,
        True,
        k if seen else None,
        float(_clarity(fall[best])),
        words,
    )


def by_lifetime(tested: Numbers, values: Floats, reference: Floats) -> Criterion:
    """The number that lasts longest in the dendrogram, if it stands out."""
    best = int(values.argmax())
    k, longest = int(tested[best]), float(values[best])
    rest = np.delete(values, best).max(initial=0.0)
    rival = max(float(reference.max()), float(rest))
    clarity = 1.0 - rival / longest if longest > rival else 0.0
    seen = longest >= _LONG and clarity >= 0.5
    words = (
        f"{_start(k, seen)}: {k} clusters last over {_share(longest)} of the heights of the "
        f"dendrogram, the next best number over {_share(rest)}; without any groups the longest "
        f"lasts {_share(reference.max())}."
    )
    return Criterion(
        "lifetime",
        "lifetime in the dendrogram",
        tested,
        values,
        reference,
        True,
        k if seen else None,
        clarity,
        words,
    )


def _nothing_words(criteria: list[Criterion]) -> str:
    """Why there is one group, with what a criterion that does not decide says all the same."""
    alone = [f"{one.name} says {one.n_clusters}" for one in criteria if one.n_clusters is not None]
    if not alone:
        return "There is no clear structure: no more is seen than in data without any groups."
    return (
        f"There is no clear structure: {' and '.join(alone)}, but that decides nothing where the "
        "others see no more than in data without any groups."
    )


def decide(
    criteria: list[Criterion],
    n_objects: int,
    of: int,
    notes: list[str],
    *,
    agreed: int | None = None,
) -> NumberChoice:
    """Stability decides, then lifetime; without either, the better hint of the two.

    A lifetime that stands far out and sees more groups than stability goes first: single link
    does not split a group for half of all heights, while k-means may join small groups that
    lie near each other for the sake of stray objects. So does any lifetime where stability
    speaks for tight clusters only. Where nothing is clear but all clusterings have the same
    number of clusters, ``agreed``, somebody chose it, and it is the guess.
    """
    asked = [one for one in criteria if one.name in _DECIDING]
    seeing = [one for one in asked if one.n_clusters is not None]
    if seeing:
        best = seeing[0]
        for one in seeing[1:]:
            more = (one.n_clusters or 0) > (best.n_clusters or 0)
            if best.clarity < _CLEAR or (_stands_far_out(one) and more):
                best = one
        words = _clear_words(best, criteria)
        return _choice(_best(best), True, best, criteria, words, n_objects, of, notes)
    if agreed is not None:
        words = (
            f"There is no clear structure. {agreed} clusters are taken because every clustering "
            "has as many."
        )
        return _choice(agreed, False, None, criteria, words, n_objects, of, notes)
    hint = max(asked, key=lambda one: one.clarity)
    if hint.clarity < _HINT:
        words = _nothing_words(criteria)
        return _choice(1, False, None, criteria, words, n_objects, of, notes)
    k = _best(hint)
    words = (
        f"There is no clear structure. {k} clusters are a guess by {hint.name}: a hint, not more "
        "than data without any groups may show."
    )
    return _choice(k, False, hint, criteria, words, n_objects, of, notes)


def tighter_than_chance(within: Floats, references: list[Floats], axes: float, n: int) -> Floats:
    """How much less variance lies within clusters than in groupless data, less a margin.

    Parameters
    ----------
    within : ndarray
        Share of the variance within clusters, for each number of clusters.
    references : list of ndarray
        The same of groupless data; the least counts.
    axes : float
        Number of axes that carry the variance: with few of them, chance has more room.
    n : int
        Objects.
    """
    least = np.min(references, axis=0)
    gain = np.log(np.maximum(least, _TINY) / np.maximum(within, _TINY))
    return np.asarray(gain - max(_TIGHTER, 1.5 / np.sqrt(axes * n)))


def _stands_far_out(one: Criterion) -> bool:
    return one.name == "lifetime" and one.clarity >= 0.7 and bool(one.values.max() >= 2 * _LONG)


def _choice(
    k: int,
    clear: bool,
    by: Criterion | None,
    criteria: list[Criterion],
    words: str,
    n_objects: int,
    of: int,
    notes: list[str],
) -> NumberChoice:
    if n_objects < of:
        notes = [f"Looked at a random sample of {n_objects:,} of {of:,} objects.", *notes]
    taken = "none" if by is None else by.name
    return NumberChoice(k, clear, taken, tuple(criteria), " ".join([words, *notes]), n_objects)


def _clear_words(taken: Criterion, criteria: list[Criterion]) -> str:
    others = [one for one in criteria if one is not taken]
    agree = [one.name for one in others if one.n_clusters == taken.n_clusters]
    differ = [
        f"{one.name} says {one.n_clusters}"
        for one in others
        if one.n_clusters not in (None, taken.n_clusters)
    ]
    silent = [one.name for one in others if one.n_clusters is None]
    # Delta area is right too seldom for its word to count.
    doubts = [one for one in others if one.name != "delta-area" and one.n_clusters is not None]
    doubts = [one for one in doubts if one.n_clusters != taken.n_clusters]
    degree = "very clear" if taken.clarity >= 0.9 and not doubts else "clear"
    parts = [f"{listed(agree)} agree{'s' if len(agree) == 1 else ''}"] if agree else []
    parts += [
        *differ,
        *([f"{listed(silent)} see{'s' if len(silent) == 1 else ''} nothing"] if silent else []),
    ]
    said = f" ({'; '.join(parts)})" if parts else ""
    return f"{taken.n_clusters} clusters, taken by {taken.name}{said}. This is {degree}."


def _best(criterion: Criterion) -> int:
    """The number a deciding criterion takes, or would take if it had to."""
    if criterion.n_clusters is not None:
        return criterion.n_clusters
    if criterion.name == "lifetime" or criterion.reference is None:
        return int(criterion.tested[criterion.values.argmax()])
    return int(criterion.tested[_steadier(criterion.values, criterion.reference).argmax()])


def _steadier(values: Floats, reference: Floats) -> Floats:
    """How many times less unstable than data without groups, as a logarithm."""
    return np.asarray(np.log((1.0 - reference + _STEADY) / (1.0 - values + _STEADY)))


def _clarity(score: Floats) -> Floats:
    return np.clip(1.0 - np.exp(-score), 0.0, 1.0)


def _start(k: int, seen: bool) -> str:
    return f"For {k} clusters" if seen else f"No clear number, {k} at best"


def _share(value: float) -> str:
    percent = 100 * float(value)
    return f"{percent:.0f} %" if percent >= 9.95 or percent == 0 else f"{percent:.1f} %"
