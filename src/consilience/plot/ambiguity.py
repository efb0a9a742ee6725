"""How clear each object is to the members, and where the line to ambiguous ones was drawn."""

from typing import Any

import numpy as np

from consilience._validation import Boolean, Interval, check_value
from consilience.errors import InvalidInputError
from consilience.evidence import Ambiguity
from consilience.plot._axes import ACCENT, MAIN, axes

__all__ = ["plot_ambiguity"]


def plot_ambiguity(found: Ambiguity, *, ax: Any = None, bins: int = 50, log: bool = True) -> Any:
    """Draw the histogram of the scores of `consilience.evidence.ambiguous` with its threshold.

    Parameters
    ----------
    found : Ambiguity
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    bins : int, default=50
    log : bool, default=True
        Count on a logarithmic axis: most objects are clear, and the few others would not show.

    Returns
    -------
    matplotlib Axes
        Flagged objects are stacked on the others, so objects below the threshold that were
        spared (the last of their cluster) keep the colour of clear ones. The title says how
        many have no score.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> from consilience.evidence import ambiguous
    >>> ens = Ensemble([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]])
    >>> ax = plot_ambiguity(ambiguous(ens), bins=4)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['clear: 7', 'ambiguous: 1', 'threshold 0.629 (otsu)']
    """
    if not isinstance(found, Ambiguity):
        raise InvalidInputError(
            "plot_ambiguity needs what consilience.evidence.ambiguous returned. "
            f"Got {type(found).__name__} instead."
        )
    check_value("bins", bins, [Interval(int, 1)], owner="plot_ambiguity")
    check_value("log", log, [Boolean()], owner="plot_ambiguity")
    ax = axes(ax, what="plot_ambiguity", size=(6.4, 3.6))
    known = np.isfinite(found.scores)
    counts, edges = found.histogram(bins)
    clear, _ = np.histogram(found.scores[known & ~found.flags], edges)
    widths = np.diff(edges)
    flagged = found.flags & known
    words = f"clear: {int((known & ~found.flags).sum()):,}"
    ax.bar(edges[:-1], clear, widths, align="edge", color=MAIN, label=words)
    words = f"ambiguous: {int(flagged.sum()):,}"
    extra = counts - clear
    ax.bar(edges[:-1], extra, widths, clear, align="edge", color=ACCENT, label=words)
    if np.isfinite(found.threshold):
        words = f"threshold {found.threshold:.3g} ({found.rule})"
        ax.axvline(found.threshold, color="0.2", lw=1.1, ls="--", label=words)
    if log and counts.any():
        # Below one object there is nothing to see, and a logarithm has no zero.
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.set_ylim(0.7, 1.5 * max(1, int(counts.max(initial=0))))
    ax.set(xlabel="score of the object (low: ambiguous)", ylabel="objects")
    ax.spines[["top", "right"]].set_visible(False)
    unknown = int((~known).sum())
    if unknown:
        ax.set_title(f"{unknown:,} of {len(known):,} objects have no score", fontsize="small")
    handles, names = ax.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda i: names[i].startswith("threshold"))
    ax.legend(
        [handles[i] for i in order], [names[i] for i in order], fontsize="small", frameon=False
    )
    return ax
