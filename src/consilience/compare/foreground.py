"""How well a result finds the foreground: precision, recall, F1, AUC and their curves.

Truth is a vector of sources, 0 for the background (or True for foreground); a hard result is a
vector of labels, -1 for the background (or again True for foreground); scores are "larger = more
foreground". A ratio without a denominator is 0.

>>> result = precision_recall_f1([0, 0, -1, -1], [1, 0, 2, 0])
>>> result.precision, result.recall, result.f1
(0.5, 0.5, 0.5)
>>> auc([4, 3, 2, 1], [1, 0, 2, 0])
0.75
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from consilience._validation import as_array
from consilience.errors import InvalidInputError
from consilience.minority._score_mixture import finite_scores
from consilience.minority._truth import foreground_truth

__all__ = [
    "Curve",
    "ForegroundScores",
    "auc",
    "hard_auc",
    "precision_recall_curve",
    "precision_recall_f1",
    "roc_curve",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ForegroundScores:
    """Precision, recall and F1 of the foreground class, and the counts behind them."""

    precision: float
    recall: float
    f1: float
    n_right: int
    n_found: int
    n_true: int
    n_objects: int


@dataclass(frozen=True)
class Curve:
    """One point for every threshold, from the strictest to the most generous.

    Attributes
    ----------
    x, y : ndarray of shape (n_points,)
        ROC: share of the background and of the foreground found. Precision-recall: recall and
        precision.
    thresholds : ndarray of shape (n_points,)
        Foreground are the scores ``>= threshold``; the first is infinity (nothing found).
    """

    x: Floats
    y: Floats
    thresholds: Floats


def precision_recall_f1(labels: Any, y: Any) -> ForegroundScores:
    """Precision, recall and F1 of a hard result against the truth.

    Parameters
    ----------
    labels : array of shape (n_objects,)
        -1 background, 0, 1, ... foreground; or True for foreground.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground; or True for foreground.

    Returns
    -------
    ForegroundScores
        Ratios without a denominator are 0.

    Examples
    --------
    >>> precision_recall_f1([0, 1, 1, -1, -1], [1, 1, 0, 0, 1]).f1.__round__(3)
    0.667
    """
    chosen = _in_a_group(labels, owner="precision_recall_f1")
    truth = foreground_truth(y, len(chosen), owner="precision_recall_f1")
    right, n_found, n_true = int((chosen & truth).sum()), int(chosen.sum()), int(truth.sum())
    return ForegroundScores(
        precision=_ratio(right, n_found),
        recall=_ratio(right, n_true),
        f1=_ratio(2 * right, n_found + n_true),
        n_right=right,
        n_found=n_found,
        n_true=n_true,
        n_objects=len(chosen),
    )


def auc(scores: Any, y: Any) -> float:
    """Area under the ROC curve: how often a foreground object outscores a background one.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground; or True for foreground. Both kinds
        must occur.

    Returns
    -------
    float
        In [0, 1]; ties count half (Mann-Whitney with midranks).

    Examples
    --------
    >>> auc([0.5, 0.5, 0.1], [1, 0, 0])
    0.75
    """
    vector = finite_scores(scores, owner="auc")
    truth = foreground_truth(y, len(vector), owner="auc")
    n_true, n_rest = _both_kinds(truth, "auc")
    higher = rankdata(vector)[truth].sum() - n_true * (n_true + 1) / 2
    return float(higher / (n_true * n_rest))


def hard_auc(labels: Any, y: Any) -> float:
    """Area under the two segments through the one point of the ROC curve a hard result has.

    Parameters
    ----------
    labels : array of shape (n_objects,)
        -1 background, 0, 1, ... foreground; or True for foreground.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground; or True for foreground. Both kinds
        must occur.

    Returns
    -------
    float
        ``(1 + share of the foreground found - share of the background found) / 2``.

    Examples
    --------
    >>> hard_auc([0, 0, -1, -1], [1, 0, 0, 0]).__round__(3)
    0.833
    """
    chosen = _in_a_group(labels, owner="hard_auc")
    truth = foreground_truth(y, len(chosen), owner="hard_auc")
    n_true, n_rest = _both_kinds(truth, "hard_auc")
    return 0.5 * (1 + int(chosen[truth].sum()) / n_true - int(chosen[~truth].sum()) / n_rest)


def roc_curve(scores: Any, y: Any) -> Curve:
    """Share of the background (x) and of the foreground (y) found, threshold by threshold.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground. For a hard result give 0 and 1.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground. Both kinds must occur.

    Returns
    -------
    Curve
        From (0, 0) to (1, 1), one point for each distinct score; the area under its segments
        is `auc`.

    Examples
    --------
    >>> curve = roc_curve([4, 3, 2, 1], [1, 0, 1, 0])
    >>> curve.x.tolist(), curve.y.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    cuts, n_found, right, n_true = _counts(scores, y, "roc_curve")
    n_rest = int(n_found[-1]) - n_true
    return Curve((n_found - right) / n_rest, right / n_true, cuts)


def precision_recall_curve(scores: Any, y: Any) -> Curve:
    """Recall (x) and precision (y), threshold by threshold.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground. For a hard result give 0 and 1.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground. Both kinds must occur.

    Returns
    -------
    Curve
        Its first point, where nothing is found, has recall 0 and precision 1 by convention.

    Examples
    --------
    >>> curve = precision_recall_curve([4, 3, 2, 1], [1, 0, 1, 0])
    >>> curve.x.tolist(), curve.y.round(2).tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.67, 0.5])
    """
    cuts, n_found, right, n_true = _counts(scores, y, "precision_recall_curve")
    precision = np.ones(len(n_found))
    precision[1:] = right[1:] / n_found[1:]
    return Curve(right / n_true, precision, cuts)


def _counts(
    scores: Any, y: Any, owner: str
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64], int]:
    """Thresholds, how many objects each finds, how many of these are right, and the truth."""
    vector = finite_scores(scores, owner=owner)
    truth = foreground_truth(y, len(vector), owner=owner)
    n_true, _ = _both_kinds(truth, owner)
    order = np.argsort(-vector, kind="stable")
    descending = vector[order]
    ends = np.flatnonzero(np.r_[descending[1:] != descending[:-1], True])
    right = np.cumsum(truth[order])[ends]
    cuts = np.r_[np.inf, descending[ends]]
    return cuts, np.r_[0, ends + 1], np.r_[0, right], n_true


def _in_a_group(labels: Any, *, owner: str) -> NDArray[np.bool_]:
    """True where a hard result says foreground."""
    vector = as_array(labels)
    if vector.ndim != 1 or vector.size == 0 or vector.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{owner} needs a vector with one label for each object: -1 for the background, "
            f"0, 1, ... or True/False. Got {vector.dtype} of shape {vector.shape} instead."
        )
    if np.isnan(vector).any():
        raise InvalidInputError(
            f"{owner} needs a label for every object, -1 for the background. Got NaN instead."
        )
    return vector if vector.dtype == bool else np.asarray(vector >= 0)


def _both_kinds(truth: NDArray[np.bool_], owner: str) -> tuple[int, int]:
    """How many objects are foreground and background, or an error if one kind is missing."""
    n_true = int(truth.sum())
    if n_true in (0, len(truth)):
        kind = "foreground" if n_true == 0 else "background"
        raise InvalidInputError(
            f"{owner} is not defined: the truth has no {kind} object among {len(truth)}."
        )
    return n_true, len(truth) - n_true


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
