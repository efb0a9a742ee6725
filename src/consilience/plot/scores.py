"""Minority scores: sorted with every threshold, and as a histogram with the fitted Gaussians."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from consilience._validation import Boolean, Interval, NoneValue, check_value
from consilience.minority import thresholds
from consilience.minority._cuts import decided_first
from consilience.minority._score_mixture import (
    ScoreMixture,
    choose,
    condense,
    finite_scores,
    fit_points,
    to_unit,
)
from consilience.minority._truth import foreground_truth
from consilience.plot._axes import ACCENT, MAIN, axes, legend_beside, vector_of_scores

__all__ = [
    "ScoreCurve",
    "ScoreHistogram",
    "plot_score_histogram",
    "plot_scores",
    "score_curve",
    "score_histogram",
]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

# More points than a picture has pixels across.
_MAX_POINTS = 2000
_RULES = {
    "reference": ("#0072b2", "P"),
    "2gauss": ("#d95f30", "o"),
    "dist": ("#009e73", "s"),
    "ngauss+var": ("#7a5195", "D"),
    "size": ("#a6761d", "^"),
    "best": ("#1a1a1a", "*"),
    "ngauss+best": ("#cc79a7", "v"),
}
_COMPONENTS = ("#d95f30", "#009e73", "#7a5195", "#e69f00", "#56b4e9", "#a6761d", "#cc79a7")


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """Sorted scores and every threshold for them.

    Attributes
    ----------
    ranks : ndarray of shape (n_points,)
        1 is the highest score; some ranks are left out where there are many objects.
    scores : ndarray of shape (n_points,)
        Descending.
    foreground : ndarray of shape (n_points,), bool, or None
        Whether the object at each rank is foreground in the truth; None without one.
    thresholds : tuple of Threshold
        As `consilience.minority.thresholds.every` returns them, after the one by which a
        fitted estimator decided.
    n_objects : int
    """

    ranks: Positions
    scores: Floats
    foreground: NDArray[np.bool_] | None
    thresholds: tuple[thresholds.Threshold, ...]
    n_objects: int


def score_curve(scores: Any, *, y: Any = None, m: float | None = None) -> ScoreCurve:
    """Scores from high to low, thinned to about 2000 points, and every threshold.

    Parameters
    ----------
    scores, y, m
        See `plot_scores`.

    Returns
    -------
    ScoreCurve
        The ends and the objects at the thresholds are always among the points.

    Examples
    --------
    >>> scores = [0.9, 0.7, 0.5, 0.6, 0.8] + [0.001 * i for i in range(20)]
    >>> curve = score_curve(scores)
    >>> curve.scores[:3].tolist(), [rule.n_foreground for rule in curve.thresholds]
    ([0.9, 0.8, 0.7], [5, 6, 5])
    """
    vector = finite_scores(vector_of_scores(scores), owner="plot_scores")
    n = len(vector)
    truth = None if y is None else foreground_truth(y, n, owner="plot_scores")
    rules = thresholds.every(vector, y=y, m=m)
    taken = getattr(scores, "threshold_result_", None)
    rules = rules if taken is None else decided_first(taken, rules)
    order = np.argsort(-vector, kind="stable")
    evenly = np.linspace(0, n - 1, min(n, _MAX_POINTS)).astype(np.int64)
    at_rules = [rule.n_foreground - 1 for rule in rules if rule.n_foreground]
    places = np.unique(np.concatenate([evenly, np.array(at_rules, np.int64)]))
    chosen = order[places]
    return ScoreCurve(
        places + 1, vector[chosen], None if truth is None else truth[chosen], rules, n
    )


def plot_scores(scores: Any, *, y: Any = None, m: float | None = None, ax: Any = None) -> Any:
    """Draw minority scores from high to low with every threshold that can be found.

    Parameters
    ----------
    scores : array of shape (n_objects,), or a fitted estimator with ``scores_``
        Larger = more foreground.
    y : array of shape (n_objects,), optional
        True sources, 0 for the background: foreground objects are marked along the foot, and
        the rules that look at the truth are drawn as well.
    m : int or float, optional
        Number or share of foreground objects, for the rule "size".
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        Of more than 2000 objects every so manieth is drawn, which the curve does not show; the
        thresholds are those of all objects.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.

    Examples
    --------
    >>> scores = [0.9, 0.7, 0.5, 0.6, 0.8] + [0.001 * i for i in range(20)]
    >>> ax = plot_scores(scores)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['2gauss: 5 objects', 'dist: 6 objects', 'ngauss+var: 5 objects']
    """
    shown = score_curve(scores, y=y, m=m)
    ax = axes(ax, what="plot_scores", size=(7.0, 3.8))
    ax.plot(shown.ranks, shown.scores, color=MAIN, lw=1.8, zorder=2)
    for rule in shown.thresholds:
        colour, marker = _RULES.get(rule.method, ("0.3", "x"))
        if not rule.n_foreground:
            ax.plot([], [], marker=marker, ls="", color=colour, label=f"{rule.method}: nothing")
            continue
        at = (rule.n_foreground, rule.value)
        ax.plot([at[0]] * 2, [shown.scores[-1], at[1]], color=colour, lw=0.9, ls="--", zorder=1)
        words = f"{rule.method}: {rule.n_foreground:,} objects"
        # Hollow, so that rules that agree are seen inside each other.
        ax.plot(*at, marker=marker, ls="", ms=8, mfc="none", mec=colour, mew=1.6, label=words)
    if shown.foreground is not None:
        marked = shown.ranks[shown.foreground]
        foot = np.full(len(marked), -0.03)
        ax.plot(
            marked,
            foot,
            "|",
            transform=ax.get_xaxis_transform(),
            color=ACCENT,
            ms=5,
            mew=0.7,
            clip_on=False,
            label="foreground in the truth",
        )
        ax.tick_params(axis="x", pad=9)
    ax.set(xlabel="objects, the highest score first", ylabel="score")
    ax.margins(x=0.02)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax, title="threshold", alignment="left")
    return ax


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """A histogram of scores and the mixture of Gaussians fitted to them.

    Attributes
    ----------
    counts : ndarray of shape (n_bins,)
    edges : ndarray of shape (n_bins + 1,)
    means, variances, weights : ndarray of shape (n_components,)
        In the units of the scores, the highest mean first.
    n_objects : int
    """

    counts: NDArray[np.int64]
    edges: Floats
    means: Floats
    variances: Floats
    weights: Floats
    n_objects: int

    def expected(self, at: Any) -> Floats:
        """Objects of each component expected in a bin centred at each point.

        Returns
        -------
        ndarray of shape (n_components, n_points)
            Integrals over a bin, not densities: comparable with the bars however narrow a
            component is.
        """
        points = np.asarray(at, np.float64)
        half = (self.edges[1] - self.edges[0]) / 2
        # Floored: components of tied scores have no width at all.
        scale = np.maximum(np.sqrt(self.variances), 1e-9 * (half or 1.0))[:, None]
        z = points - self.means[:, None]
        inside = ndtr((z + half) / scale) - ndtr((z - half) / scale)
        return np.asarray(self.n_objects * self.weights[:, None] * inside)


def score_histogram(
    scores: Any, *, n_components: int | None = None, bins: int = 60
) -> ScoreHistogram:
    """Histogram of scores with the mixture of Gaussians that the threshold rules fit.

    Parameters
    ----------
    scores, n_components, bins
        See `plot_score_histogram`.

    Returns
    -------
    ScoreHistogram

    Examples
    --------
    >>> histogram = score_histogram([0.0, 0.1, 0.2, 0.9, 1.0, 1.1], n_components=2, bins=4)
    >>> histogram.counts.tolist(), histogram.means.round(2).tolist()
    ([3, 0, 0, 3], [1.0, 0.1])
    """
    owner = "plot_score_histogram"
    vector = finite_scores(vector_of_scores(scores), owner=owner)
    check_value("n_components", n_components, [Interval(Integral, 1, 10), NoneValue()], owner=owner)
    check_value("bins", bins, [Interval(Integral, 1)], owner=owner)
    mixture = _mixture(vector, n_components)
    low, reach = float(vector.min()), float(np.ptp(vector))
    counts, edges = np.histogram(vector, bins)
    return ScoreHistogram(
        counts=counts,
        edges=edges,
        means=low + reach * mixture.means,
        variances=reach**2 * mixture.variances,
        weights=mixture.weights,
        n_objects=len(vector),
    )


def plot_score_histogram(
    scores: Any,
    *,
    ax: Any = None,
    n_components: int | None = None,
    threshold: float | None = None,
    bins: int = 60,
    log: bool = False,
) -> Any:
    """Draw the histogram of minority scores with the Gaussians fitted to it.

    Parameters
    ----------
    scores : array of shape (n_objects,), or a fitted estimator with ``scores_``
        Larger = more foreground.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    n_components : int, optional
        Gaussians, 1 to 10. By default as many as the Bayesian information criterion wants, as
        in the rule "ngauss".
    threshold : float, optional
        Where the foreground begins; by default that of the estimator, if one is given.
    bins : int, default=60
    log : bool, default=False
        Count on a logarithmic axis, for a foreground too small to be seen.

    Returns
    -------
    matplotlib Axes
        Curves are objects expected in a bin, so that they can be compared with the bars.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.4.

    Examples
    --------
    >>> ax = plot_score_histogram([0.0, 0.1, 0.2, 0.9, 1.0, 1.1], n_components=2, bins=4)
    >>> len(ax.patches), [line.get_label() for line in ax.lines]
    (4, ['Gaussian at 1', 'Gaussian at 0.1', 'their sum'])
    """
    owner = "plot_score_histogram"
    check_value("threshold", threshold, [Interval(Real), NoneValue()], owner=owner)
    check_value("log", log, [Boolean()], owner=owner)
    shown = score_histogram(scores, n_components=n_components, bins=bins)
    ax = axes(ax, what=owner, size=(7.0, 3.8))
    widths = np.diff(shown.edges)
    ax.bar(shown.edges[:-1], shown.counts, widths, align="edge", color="#c9d6e8", label="objects")
    at = np.linspace(shown.edges[0], shown.edges[-1], 600)
    expected = shown.expected(at)
    for place, (curve, mean) in enumerate(zip(expected, shown.means, strict=True)):
        colour = _COMPONENTS[place % len(_COMPONENTS)]
        ax.plot(at, curve, color=colour, lw=1.6, label=f"Gaussian at {mean:.3g}")
    if len(expected) > 1:
        ax.plot(at, expected.sum(axis=0), color="0.2", lw=1, ls=":", label="their sum")
    cut = getattr(scores, "threshold_", None) if threshold is None else threshold
    if cut is not None and np.isfinite(cut):
        ax.axvline(cut, color="0.2", lw=1.1, ls="--", label=f"threshold {cut:.3g}")
    ax.set(xlabel="score (high: foreground)", ylabel="objects")
    highest = max(1, int(shown.counts.max()))
    ax.set_ylim(0, 1.12 * highest)
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.set_ylim(0.7, 1.5 * highest)
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax)
    return ax


def _mixture(vector: Floats, n_components: int | None) -> ScoreMixture:
    """The mixture that the threshold rules fit: on scores mapped to [0, 1]."""
    points = condense(np.sort(to_unit(vector))[::-1])
    return choose(points) if n_components is None else fit_points(points, int(n_components))
