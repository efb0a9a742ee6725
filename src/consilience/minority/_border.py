"""The border of a fitted EWOCS by references: who can be compared, and the answer in words."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._threads import one_thread
from consilience.errors import InvalidParameterError
from consilience.minority import thresholds
from consilience.minority._cuts import (
    Flag,
    Threshold,
    cut,
    descending_scores,
    is_flat,
    no_contrast,
    nothing,
)
from consilience.minority._fitted import Fitted
from consilience.minority._neighbours import N_NEIGHBOURS, NeighbourScores
from consilience.minority._reference import (
    A_COLUMN,
    DEEP,
    FEWEST_OBJECTS,
    REPETITIONS,
    Model,
    Reference,
    against_references,
)
from consilience.minority._truth import foreground_truth
from consilience.minority.divergences import Euclidean, Gaussian, Mahalanobis
from consilience.minority.scores import Running, extend, score_new
from consilience.rows import Stored

__all__ = ["ALPHA", "by_reference", "can_refer", "check_rule", "without_reference"]

Floats = NDArray[np.float64]

# Dense groups are claimed where data without any look so in at most this share of cases.
ALPHA = 0.05
# The references are fitted to the lower half of the scores: a larger foreground is a misfit.
_MAJORITY = 0.5


def check_rule(owner: Any, y: Any, n_objects: int, *, name: str) -> None:
    """Refuse a threshold without what it needs, before anything is counted.

    Parameters
    ----------
    owner : EWOCS
    y : array of shape (n_objects,) or None
        True sources.
    n_objects : int
    name : str
        The method that was called.
    """
    if owner.threshold == "size" and owner.n_foreground is None:
        raise InvalidParameterError(
            "The 'n_foreground' parameter of EWOCS must be the number or the share of foreground "
            "objects where threshold='size'. Got None instead. Without it choose 'dist' or "
            "'2gauss'."
        )
    if owner.threshold in thresholds.BY_TRUTH:
        foreground_truth(y, n_objects, owner=name, instead=thresholds.WITHOUT_TRUTH)


def can_refer(fitted: Fitted, data: Any) -> bool:
    """Whether there are columns that references can be drawn in."""
    dense = isinstance(data, np.ndarray | Stored) and len(data.shape) == 2
    return dense and not fitted.is_pairwise


def without_reference(scores: Floats) -> Threshold:
    """The published rule, for objects that are no table."""
    threshold = thresholds.two_gauss(scores)
    if threshold.flag == "no_contrast":
        return threshold
    why = (
        f"{threshold.why} References need a table of dense columns, so this is the rule '2gauss', "
        "which does not test whether there is anything."
    )
    return replace(threshold, flag="no_reference", why=why)


def by_reference(
    fitted: Fitted, data: Any, scores: Floats, owner: Any
) -> tuple[Threshold, Reference | None]:
    """The border, and what the objects were compared with.

    Parameters
    ----------
    fitted : Fitted
    data : array of shape (n_objects, n_features)
        Scaled.
    scores : array of shape (n_objects,)
    owner : EWOCS
        Its seed and its threads.
    """
    descending = descending_scores(scores, "EWOCS")
    if is_flat(descending):
        return no_contrast("reference", len(scores)), None
    counted = len(data) if fitted.weak.counts is None else int((fitted.weak.counts > 0).sum())
    if counted < FEWEST_OBJECTS:
        why = f"{counted} objects are too few to be compared with a reference."
        return nothing("reference", "no_reference", why), None
    divergence = getattr(fitted.weak, "divergence", None)
    bounded = divergence is not None and not isinstance(
        divergence, Euclidean | Gaussian | Mahalanobis
    )
    # Many small fits: threads of libraries inside them would cost more than they give.
    with one_thread():
        shown = against_references(
            data,
            lambda rows, number: _model(fitted, data, rows, owner.seed_ + number, owner.n_jobs),
            owner.seed_,
            clip=bounded,
            weights=fitted.weak.counts,
            has_unit=not isinstance(divergence, Mahalanobis),
        )
    return _told(descending, scores, fitted.weak.counts, shown), shown


def _model(
    fitted: Fitted, data: Any, rows: NDArray[np.int64], seed: int, n_jobs: int | None
) -> Model:
    """Scores by a model of some of the objects, made as that of all of them was."""
    part = data[rows]
    counts = None if fitted.weak.counts is None else fitted.weak.counts[rows]
    if fitted.neighbours is not None:
        # Half of the objects: half of the neighbours are as far away.
        return NeighbourScores.of(part, N_NEIGHBOURS // 2, counts)
    weak = replace(fitted.weak.fit(part), counts=counts)
    running = Running.empty(len(part), fitted.running.aggregate, part.dtype)
    extend(running, weak, part, range(REPETITIONS), seed=seed, n_jobs=n_jobs)

    def score(X: Any) -> Floats:
        return score_new(running, weak, part, running.draws, X, n_jobs=n_jobs)

    return score


def _misfit(shown: Reference) -> str:
    """That no reference fits, and why."""
    if shown.n_objects < A_COLUMN * shown.n_columns:
        return (
            f"No reference fits these data ({shown.n_objects} objects in {shown.n_columns} columns "
            "do not show how the background spreads)"
        )
    return f"No reference fits these data (misfit {shown.misfit:.2f})"


def _told(descending: Floats, scores: Floats, counts: Floats | None, shown: Reference) -> Threshold:
    """The threshold, its flag, and why."""
    test = f"(p = {shown.p_value:.2g}, {shown.n_references} references)"
    misfit = "" if shown.fits else _misfit(shown)
    if shown.p_value > ALPHA:
        if shown.fits and shown.gap >= DEEP:
            return _against_references(descending, scores, counts, shown, test)
        return _nothing_stands_out(misfit, test)
    if not shown.separate:
        why = (
            f"No dense groups: more objects lie densely than in data without any {test}, but they "
            "are the top of one slope, as the middle of a background is; there is no second "
            "dense place, and no gap between dense objects and others."
        )
        return nothing("reference", "no_groups", why)
    if shown.share > _MAJORITY:
        why = f"{misfit + '. ' * bool(misfit)}More than half of the objects stand out {test}: "
        return nothing("reference", "no_reference", f"{why}that is no minority.")
    flag: Flag | None = None if shown.fits else "no_reference"
    where = (
        "the border is where the densities leave a gap."
        if shown.by_gap
        else "here the expected F1 is largest, and "
        f"{shown.precision:.0%} of the foreground are expected to be right."
    )
    guess = f"{misfit}, so this is a guess: " * bool(misfit)
    doubt = ""
    if shown.uncertain and shown.fits:
        flag = "uncertain"
        doubt = " No gap between dense objects and others marks the border: it is uncertain."
    why = (
        f"{guess}{shown.excess:.1%} of the objects stand out from data without groups {test}; "
        f"{where}{doubt}"
    )
    return cut(descending, _place(scores, counts, shown.share), "reference", why, flag)


def _nothing_stands_out(misfit: str, test: str) -> Threshold:
    """Nothing, for sure or as far as one can tell."""
    if not misfit:
        why = (
            f"No dense groups: no more is seen than in data without any {test}. Groups that "
            "together hold most of the objects are not looked for here, but by clustering."
        )
        return nothing("reference", "no_groups", why)
    why = (
        f"{misfit}, so nobody can tell whether there are dense groups; compared with the "
        f"nearest one nothing stands out {test}."
    )
    return nothing("reference", "no_reference", why)


def _against_references(
    descending: Floats, scores: Floats, counts: Floats | None, shown: Reference, test: str
) -> Threshold:
    """A foreground that references explain, though the densities leave a gap before it."""
    why = (
        f"A reference explains all that is seen {test}, but objects are either dense or not: the "
        f"densest {shown.gap_share:.1%} of them are apart from the others, with {shown.gap:.1f} "
        "times fewer in between. So this is a guess."
    )
    return cut(
        descending, _place(scores, counts, shown.gap_share), "reference", why, "no_reference"
    )


def _place(scores: Floats, counts: Floats | None, share: float) -> int:
    """Place among the descending scores of the last object of a share."""
    if counts is None:
        return max(round(share * len(scores)), 1) - 1
    reached = np.cumsum(counts[np.argsort(-scores, kind="stable")]) / counts.sum()
    return min(int(np.searchsorted(reached, share)), len(scores) - 1)
