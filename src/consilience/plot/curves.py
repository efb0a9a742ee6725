"""Scores against the truth: ROC and precision-recall curves of one or several methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from consilience.compare import Curve, auc, precision_recall_curve, roc_curve
from consilience.errors import InvalidInputError
from consilience.plot._axes import GREY, axes, cluster_colours, vector_of_scores

__all__ = ["average_precision", "plot_precision_recall", "plot_roc"]

# More points than a picture has pixels across.
_MAX_POINTS = 2000


def plot_roc(scores: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw how much of the foreground is found as more of the background is let in.

    Parameters
    ----------
    scores : array of shape (n_objects,), fitted estimator with ``scores_``, or dict of these
        Larger = more foreground; a dict gives several curves with their names.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground. Both kinds must occur.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        The legend gives the area under each curve (`consilience.compare.auc`); the dashed line
        is chance.

    Examples
    --------
    >>> ax = plot_roc({"A": [4, 3, 2, 1], "B": [4, 2, 3, 1]}, [1, 1, 0, 0])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['A: area 1.000', 'B: area 0.750']
    """
    named = _named(scores)
    curves = {name: roc_curve(values, y) for name, values in named.items()}
    words = {name: f"area {auc(values, y):.3f}" for name, values in named.items()}
    ax = axes(ax, what="plot_roc", size=(4.6, 4.4))
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls="--", zorder=1)
    _draw(ax, curves, words, "default", "lower right")
    ax.set(xlabel="share of the background let in", ylabel="share of the foreground found")
    return ax


def plot_precision_recall(scores: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw how pure the objects found are as more of the foreground is found.

    Parameters
    ----------
    scores, y, ax
        As in `plot_roc`.

    Returns
    -------
    matplotlib Axes
        The legend gives the `average_precision`; the dashed line is the share of the foreground
        among all objects, which is chance.

    Examples
    --------
    >>> ax = plot_precision_recall([4, 3, 2, 1], [1, 0, 1, 0])
    >>> ax.get_legend().get_texts()[0].get_text()
    'average precision 0.833'
    """
    curves = {name: precision_recall_curve(values, y) for name, values in _named(scores).items()}
    words = {n: f"average precision {average_precision(c):.3f}" for n, c in curves.items()}
    ax = axes(ax, what="plot_precision_recall", size=(4.6, 4.4))
    chance = next(iter(curves.values())).y[-1]
    ax.axhline(chance, color=GREY, lw=0.9, ls="--", zorder=1)
    # Between two thresholds no precision is reached, least of all one on the line between.
    _draw(ax, curves, words, "steps-pre", "best")
    ax.set(xlabel="recall: share of the foreground found", ylabel="precision: share that is right")
    return ax


def average_precision(curve: Curve) -> float:
    """Mean of the precision over the recall that each threshold adds.

    Parameters
    ----------
    curve : Curve
        Of `consilience.compare.precision_recall_curve`.

    Returns
    -------
    float
        In [0, 1]; no interpolation.

    Examples
    --------
    >>> round(average_precision(precision_recall_curve([4, 3, 2, 1], [1, 0, 1, 0])), 3)
    0.833
    """
    return float(np.sum(np.diff(curve.x) * curve.y[1:]))


def _named(scores: Any) -> dict[str, Any]:
    """Scores by the names of their methods; one without a name has the empty one."""
    if not isinstance(scores, Mapping):
        return {"": vector_of_scores(scores)}
    if not scores:
        raise InvalidInputError("scores must hold at least one method. Got an empty dict.")
    return {str(name): vector_of_scores(values) for name, values in scores.items()}


def _draw(ax: Any, curves: dict[str, Curve], words: dict[str, str], style: str, place: str) -> None:
    """A line for each method on the unit square, explained in a legend."""
    colours = cluster_colours(np.arange(len(curves)))
    for (name, curve), colour in zip(curves.items(), colours, strict=True):
        n = len(curve.x)
        at = np.unique(np.linspace(0, n - 1, min(n, _MAX_POINTS)).astype(np.int64))
        x, y = curve.x[at], curve.y[at].copy()
        if style != "default" and len(y) > 1:
            y[0] = y[1]  # nothing found has no precision; the 1 of convention would be a spike
        label = f"{name}: {words[name]}" if name else words[name]
        ax.plot(x, y, drawstyle=style, color=colour, lw=1.8, label=label)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
    ax.legend(loc=place, frameon=False, fontsize="small")
