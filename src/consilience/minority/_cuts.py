"""What a threshold is, and the cuts it may come from: shared by the rules in `thresholds`."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience.minority._score_mixture import (
    ScoreMixture,
    choose,
    condense,
    finite_scores,
    fit_points,
    to_unit,
)

__all__ = [
    "Threshold",
    "boundaries",
    "cut",
    "decided_first",
    "descending_scores",
    "f1_at",
    "group_ends",
    "is_flat",
    "no_boundary",
    "no_contrast",
    "nothing",
    "values_of",
    "variance_gap",
]

Floats = NDArray[np.float64]
Flag = Literal[
    "no_contrast", "no_boundary", "no_truth", "clamped", "no_groups", "no_reference", "uncertain"
]


@dataclass(frozen=True)
class Threshold:
    """A threshold, and how it came about.

    Attributes
    ----------
    value : float
        Foreground are the scores ``>= value``; infinity if everything is background.
    method : str
        "reference", "best", "size", "dist", "ngauss+best", "ngauss+var", "2gauss" or "number".
    n_foreground : int
        How many of the scores are foreground.
    candidates : tuple of float
        Thresholds the rule chose from, high to low; for rules that weigh every possible cut
        only the one they took. Empty where nothing was found.
    flag : str or None
        "no_contrast": all scores are equal. "no_boundary": the mixture has no place where
        foreground gives way to background. "no_truth": the truth has no foreground.
        "clamped": the size asked for was brought between 1 and the number of objects.
        "no_groups": no more objects score high than in a reference without groups, or those that
        do are the top of one slope. "no_reference": none of the references fits the low-scoring
        half of the objects, or none can be drawn, or what they explain is apart from the rest.
        "uncertain": there are groups, but nothing marks where they end.
    why : str
        The reason in one sentence.
    """

    value: float
    method: str
    n_foreground: int
    candidates: tuple[float, ...]
    flag: Flag | None
    why: str


def decided_first(taken: Threshold, rules: tuple[Threshold, ...]) -> tuple[Threshold, ...]:
    """The rules, after the one that decided where it is not among them."""
    if any(rule.method == taken.method for rule in rules):
        return rules
    return (taken, *rules)


def descending_scores(scores: Any, owner: str) -> Floats:
    """The scores, checked, from high to low."""
    return np.sort(finite_scores(scores, owner=owner))[::-1]


def is_flat(descending: Floats) -> bool:
    """Whether all scores are equal."""
    return bool(descending[0] == descending[-1])


def group_ends(descending: Floats) -> NDArray[np.intp]:
    """Last index of every group of equal scores: the only places for a cut."""
    return np.flatnonzero(np.r_[descending[1:] != descending[:-1], True])


def f1_at(ends: NDArray[np.intp], truth: NDArray[np.bool_]) -> Floats:
    """F1 of the cuts after each index in ``ends``; truth in the order of the scores."""
    right = np.cumsum(truth)
    return np.asarray(2.0 * right[ends] / (ends + 1 + right[-1]))


def boundaries(
    descending: Floats, n_components: int | None = None
) -> tuple[ScoreMixture, dict[int, int]]:
    """A mixture, and for each number c of components on top the index of their last object.

    Without ``n_components`` the Bayesian information criterion chooses it.
    """
    points = condense(to_unit(descending))
    mixture = choose(points) if n_components is None else fit_points(points, n_components)
    return mixture, _crossings(mixture, np.cumsum(points.counts))


def _crossings(mixture: ScoreMixture, ends: Floats) -> dict[int, int]:
    """Last object at which the c highest components still hold half of the probability.

    A wide light component can win on both sides of a narrow one, which is why the last
    crossing counts. Numbers c without a crossing are left out.
    """
    cuts = {}
    higher = np.cumsum(mixture.posteriors, axis=1)
    for c in range(1, mixture.n_components):
        inside = higher[:, c - 1] >= 0.5
        crossing = np.flatnonzero(inside[:-1] & ~inside[1:])
        if crossing.size:
            cuts[c] = int(ends[crossing[-1]]) - 1
    return cuts


def variance_gap(variances: Floats, c: int) -> float:
    """Equation 17: mean variance of the c highest components against that of the others."""
    return float(abs(variances[:c].mean() - variances[c:].mean()))


def values_of(descending: Floats, cuts: dict[int, int]) -> tuple[float, ...]:
    """The scores at the cuts, each once, from high to low."""
    return tuple(float(descending[index]) for index in sorted(set(cuts.values())))


def cut(
    descending: Floats,
    index: int,
    method: str,
    why: str,
    flag: Flag | None = None,
    candidates: tuple[float, ...] | None = None,
) -> Threshold:
    """The threshold at an index, moved to the end of its group of equal scores."""
    value = float(descending[index])
    count = int(np.searchsorted(-descending, -value, side="right"))
    chosen_from = (value,) if candidates is None else candidates
    return Threshold(value, method, count, chosen_from, flag, why)


def nothing(method: str, flag: Flag, why: str) -> Threshold:
    """All background, for a reason."""
    return Threshold(float("inf"), method, 0, (), flag, f"{why} Everything is background.")


def no_contrast(method: str, n_objects: int) -> Threshold:
    """All background: equal scores tell nothing."""
    return nothing(method, "no_contrast", f"All {n_objects} scores are equal.")


def no_boundary(method: str, descending: Floats, mixture: ScoreMixture) -> Threshold:
    """All background; says what the authors' own program answers here, which is of no use."""
    theirs = (
        f"the highest score ({descending[0]:g}, one object)"
        if method == "2gauss"
        else f"the lowest score ({descending[-1]:g}, everything foreground)"
    )
    reason = (
        "One Gaussian describes the scores best."
        if mixture.n_components == 1
        else f"{mixture.n_components} Gaussians have no boundary from foreground to background."
    )
    return nothing(method, "no_boundary", f"{reason} The authors' program takes {theirs}.")
