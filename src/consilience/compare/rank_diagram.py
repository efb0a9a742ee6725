"""Demsar's rank diagram: methods on a line by mean rank, bars over those that do not differ.

What the diagram shows is computed apart from how it is drawn: `rank_bars` gives the data,
`rank_diagram` a matplotlib picture, `rank_text` the same for a terminal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience.compare.bergmann_hommel import PairwiseTests, bergmann_hommel

__all__ = ["RankBars", "rank_bars", "rank_diagram", "rank_text"]

Floats = NDArray[np.float64]

_NAMED = {"bergmann-hommel": "Bergmann-Hommel", "shaffer": "Shaffer", "holm": "Holm"}
# Inches: a row of labels, a row of bars, the axis with its numbers, the line of words below.
_LABEL_ROW, _BAR_ROW, _AXIS, _WORDS = 0.24, 0.13, 0.62, 0.3
_ASIDE = {"fontsize": "small", "color": "0.35"}


@dataclass(frozen=True)
class RankBars:
    """What a rank diagram shows.

    Attributes
    ----------
    names : tuple of str
        Methods from the best mean rank to the worst.
    mean_ranks : ndarray of shape (n_methods,)
        In the same order.
    bars : tuple of (int, int)
        First and last method of every maximal run of neighbours in which no pair differs; runs
        of one method have no bar.
    rows : tuple of int
        A row for each bar, 0 nearest to the axis, such that bars in one row do not touch.
    words : str
        What a bar means.
    """

    names: tuple[str, ...]
    mean_ranks: Floats
    bars: tuple[tuple[int, int], ...]
    rows: tuple[int, ...]
    words: str


def rank_bars(
    results: Any,
    *,
    names: Sequence[str] | None = None,
    larger_is_better: bool = True,
    alpha: float = 0.05,
) -> RankBars:
    """Methods in the order of their mean ranks, and the bars that join those alike.

    Parameters
    ----------
    results : PairwiseTests, or what `bergmann_hommel` takes
        Tests already made, or a table of data sets by methods.
    names, larger_is_better, alpha
        As in `bergmann_hommel`; not used where tests are given.

    Returns
    -------
    RankBars

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7,
    figure 1.

    Examples
    --------
    >>> from consilience.compare import ranks_from_means
    >>> diagram = rank_bars(ranks_from_means([2.1, 3.25, 2.2, 4.333, 3.117], 30, names="ABCDE"))
    >>> diagram.names, diagram.bars
    (('A', 'C', 'E', 'B', 'D'), ((0, 1), (2, 3)))
    """
    tests = _tests(results, names, larger_is_better, alpha)
    order = np.argsort(tests.ranks.mean_ranks, kind="stable")
    different = tests.different[np.ix_(order, order)]
    bars: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not different[first : last + 2, first : last + 2].any():
            last += 1
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    means = tests.ranks.mean_ranks[order]
    words = (
        f"A bar joins methods that do not differ significantly "
        f"({_NAMED[tests.procedure]}, {tests.alpha:g}; {tests.ranks.n_datasets} data sets)."
    )
    return RankBars(
        names=tuple(tests.ranks.names[i] for i in order),
        mean_ranks=means,
        bars=tuple(bars),
        rows=_rows(bars, means),
        words=words,
    )


def rank_diagram(
    results: Any,
    *,
    ax: Any = None,
    names: Sequence[str] | None = None,
    larger_is_better: bool = True,
    alpha: float = 0.05,
) -> Any:
    """Draw methods on a line by mean rank, the best at the left, with bars over those alike.

    Parameters
    ----------
    results : PairwiseTests, RankBars, or what `bergmann_hommel` takes
        Tests already made, or a table of data sets by methods.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure high enough for its labels is made.
    names, larger_is_better, alpha
        As in `bergmann_hommel`; not used where tests are given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal([0.9, 0.88, 0.5], 0.05, (20, 3))
    >>> ax = rank_diagram(table, names=["A", "B", "C"])
    >>> [text.get_text() for text in ax.texts if text.get_gid() == "method"]
    ['A  1.45', 'B  1.55', '3.00  C']
    """
    plt = optional("matplotlib.pyplot", extra="plot", what="rank_diagram")
    shown = (
        results
        if isinstance(results, RankBars)
        else rank_bars(results, names=names, larger_is_better=larger_is_better, alpha=alpha)
    )
    n_rows = (len(shown.names) + 1) // 2
    bars_end = _AXIS + _BAR_ROW * (1 + max(shown.rows, default=-1))
    height = bars_end + _LABEL_ROW * (n_rows + 0.5) + _WORDS
    if ax is None:
        _, ax = plt.subplots(figsize=(_width(shown), height), layout="constrained")
    low, high = 1, len(shown.names)
    margin = 0.04 * (high - low)
    ax.set(xlim=(low - margin, high + margin), ylim=(height, 0))  # inches from the top
    ax.axis("off")
    _draw_axis(ax, low, high)
    _draw_methods(ax, shown, bars_end, margin)
    for (first, last), row in zip(shown.bars, shown.rows, strict=True):
        reach = 0.006 * (high - low)
        ends = [shown.mean_ranks[first] - reach, shown.mean_ranks[last] + reach]
        y = _AXIS + _BAR_ROW * (row + 0.5)
        ax.plot(ends, [y, y], color="0.1", lw=4, solid_capstyle="butt", gid="bar")
    place = {"transform": ax.get_yaxis_transform(), "ha": "center", "va": "bottom"}
    ax.text(0.5, height - 0.06, shown.words, **place, **_ASIDE)
    return ax


def rank_text(
    results: Any,
    *,
    names: Sequence[str] | None = None,
    larger_is_better: bool = True,
    alpha: float = 0.05,
) -> str:
    """The rank diagram as text: one line a method, one column a bar.

    Parameters
    ----------
    results : PairwiseTests, RankBars, or what `bergmann_hommel` takes
        Tests already made, or a table of data sets by methods.
    names, larger_is_better, alpha
        As in `bergmann_hommel`; not used where tests are given.

    Returns
    -------
    str

    Examples
    --------
    >>> from consilience.compare import ranks_from_means
    >>> print(rank_text(ranks_from_means([2.1, 3.25, 2.2, 4.333, 3.117], 30, names="ABCDE")))
     rank  method
     2.10  A  |
     2.20  C  |
     3.12  E    |
     3.25  B    |
     4.33  D
    A bar joins methods that do not differ significantly (Bergmann-Hommel, 0.05; 30 data sets).
    """
    shown = (
        results
        if isinstance(results, RankBars)
        else rank_bars(results, names=names, larger_is_better=larger_is_better, alpha=alpha)
    )
    width = max(len(name) for name in shown.names)
    lines = [" rank  method"]
    for place, (name, mean) in enumerate(zip(shown.names, shown.mean_ranks, strict=True)):
        columns = " ".join("|" if first <= place <= last else " " for first, last in shown.bars)
        lines.append(f"{mean:5.2f}  {name:<{width}}  {columns}".rstrip())
    return "\n".join([*lines, shown.words])


def _tests(
    results: Any, names: Sequence[str] | None, larger_is_better: bool, alpha: float
) -> PairwiseTests:
    if isinstance(results, PairwiseTests):
        return results
    return bergmann_hommel(results, names=names, larger_is_better=larger_is_better, alpha=alpha)


def _rows(bars: list[tuple[int, int]], means: Floats) -> tuple[int, ...]:
    """First row in which each bar, left to right, does not touch the one before it."""
    gap = 0.02 * (len(means) - 1)
    rows: list[int] = []
    ends: list[float] = []
    for first, last in bars:
        free = [row for row, end in enumerate(ends) if means[first] - end > gap]
        row = free[0] if free else len(ends)
        if row == len(ends):
            ends.append(0.0)
        ends[row] = float(means[last])
        rows.append(row)
    return tuple(rows)


def _width(shown: RankBars) -> float:
    """Inches for the axis and for the longest name at either side."""
    n_left = (len(shown.names) + 1) // 2
    sides = shown.names[:n_left], shown.names[n_left:]
    return 5.0 + sum(0.6 + 0.085 * max(map(len, names), default=0) for names in sides)


def _draw_axis(ax: Any, low: int, high: int) -> None:
    """A line with a tick and a number for every rank."""
    ax.plot([low, high], [_AXIS - 0.12] * 2, color="0.1", lw=1)
    step = 1 if high <= 20 else 5
    inner = [rank for rank in range(step, high, step) if high - rank > step // 2]
    for rank in sorted({low, high, *inner}):
        ax.plot([rank, rank], [_AXIS - 0.12, _AXIS - 0.2], color="0.1", lw=1)
        ax.text(rank, _AXIS - 0.24, str(rank), ha="center", va="bottom", fontsize="small")
    ax.text((low + high) / 2, 0.02, "mean rank (1 is best)", ha="center", va="top", **_ASIDE)


def _draw_methods(ax: Any, shown: RankBars, bars_end: float, margin: float) -> None:
    """Names beside the line: the better half at the left, the others at the right.

    The outermost method of each side has the uppermost label, so that no leader crosses
    another.
    """
    m = len(shown.names)
    n_left = (m + 1) // 2
    digits = len(f"{shown.mean_ranks[-1]:.2f}")
    for place, (name, mean) in enumerate(zip(shown.names, shown.mean_ranks, strict=True)):
        left = place < n_left
        row = place if left else m - 1 - place
        y = bars_end + _LABEL_ROW * (row + 0.5)
        side = 1 - margin if left else m + margin
        ax.plot([mean, mean, side], [_AXIS - 0.12, y, y], color="0.5", lw=0.8, gid="leader")
        figure = f"{mean:{digits}.2f}".replace(" ", "\N{FIGURE SPACE}")
        label = f"{name}  {figure}" if left else f"{figure}  {name}"
        gap = -4 if left else 4
        ax.annotate(
            label,
            (side, y),
            xytext=(gap, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            annotation_clip=False,
            gid="method",
        )
