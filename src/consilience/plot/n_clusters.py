"""How many clusters: what consensus clustering saw for each number it tried."""

from typing import Any

import numpy as np

from consilience._optional import optional
from consilience.plot._axes import ACCENT, GREY, MAIN, axes, field, legend_beside

__all__ = ["plot_consensus_cdf", "plot_delta_area", "plot_pac"]

_NEEDED = "a MontiResult or a MontiConsensus"


def plot_consensus_cdf(result: Any, *, ax: Any = None) -> Any:
    """Draw, for each number of clusters, the share of pairs with at most a given consensus.

    Parameters
    ----------
    result : MontiResult or fitted MontiConsensus
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        One line for each number tried, in the order of ``candidates``.

    Notes
    -----
    Dotted lines mark the window between which a pair counts as ambiguous: that of the
    estimator, or 0.1 and 0.9 for a result, which does not know it.

    References
    ----------
    Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering, Machine Learning 52, section 3.

    Examples
    --------
    >>> from consilience.consensus import monticonsensus
    >>> X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [9]], 15, axis=0)
    >>> ax = plot_consensus_cdf(monticonsensus(X, (2, 4), n_resamples=10, random_state=0))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['k = 2, chosen', 'k = 3', 'k = 4']
    """
    what = "plot_consensus_cdf"
    candidates, cdf, thresholds = (
        np.asarray(field(result, name, what=what, of=_NEEDED))
        for name in ("candidates", "cdf", "thresholds")
    )
    chosen = _chosen(result, what)
    ax = axes(ax, what=what, size=(6.4, 3.8))
    for edge in getattr(result, "window", (0.1, 0.9)):
        ax.axvline(edge, color=GREY, lw=0.8, ls=":", zorder=0)
    shades = np.linspace(0.9, 0.25, len(candidates))
    blues = optional("matplotlib", extra="plot", what=what).colormaps["Blues"]
    for k, curve, colour in zip(candidates.tolist(), cdf, blues(shades), strict=True):
        own = k == chosen
        ax.plot(
            thresholds,
            curve,
            drawstyle="steps-post",
            color=ACCENT if own else colour,
            lw=2.4 if own else 1.2,
            zorder=3 if own else 2,
            label=f"k = {k}, chosen" if own else f"k = {k}",
        )
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="consensus of a pair", ylabel="share of the pairs")
    legend_beside(ax, ncols=1 + (len(candidates) - 1) // 16)
    return ax


def plot_delta_area(result: Any, *, ax: Any = None) -> Any:
    """Draw how much each further cluster adds to the area under the consensus CDF.

    Parameters
    ----------
    result : MontiResult or fitted MontiConsensus
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The first value is the area itself, as in the paper; the others are relative gains.

    References
    ----------
    Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering, Machine Learning 52, section 3.

    Examples
    --------
    >>> from consilience.consensus import monticonsensus
    >>> X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [9]], 15, axis=0)
    >>> result = monticonsensus(X, (2, 4), n_resamples=10, random_state=0)
    >>> plot_delta_area(result).lines[0].get_xdata().tolist()
    [2, 3, 4]
    """
    what = "plot_delta_area"
    ax = _over_candidates(result, ("delta",), (MAIN,), ("gain of area",), what, ax)
    ax.set_ylabel("relative gain of area (first: area)")
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    return ax


def plot_pac(result: Any, *, ax: Any = None) -> Any:
    """Draw the share of ambiguous pairs for each number of clusters, beside permuted data.

    Parameters
    ----------
    result : MontiResult or fitted MontiConsensus
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        The line of the permuted data is left out where none were made.

    References
    ----------
    Senbabaoglu, Michailidis & Li (2014), Critical limitations of consensus clustering in class
    discovery, Scientific Reports 4.

    Examples
    --------
    >>> from consilience.consensus import monticonsensus
    >>> X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [9]], 15, axis=0)
    >>> result = monticonsensus(X, (2, 4), n_resamples=10, random_state=0)
    >>> [line.get_label() for line in plot_pac(result).lines[:2]]
    ['the data', 'permuted data']
    """
    names, colours = ("the data", "permuted data"), (MAIN, GREY)
    ax = _over_candidates(result, ("pac", "reference_pac"), colours, names, "plot_pac", ax)
    ax.set_ylabel("share of ambiguous pairs")
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    legend_beside(ax)
    return ax


def _over_candidates(
    result: Any,
    fields: tuple[str, ...],
    colours: tuple[str, ...],
    names: tuple[str, ...],
    what: str,
    ax: Any,
) -> Any:
    """Lines of some fields over the numbers of clusters tried, with the chosen one marked."""
    candidates = np.asarray(field(result, "candidates", what=what, of=_NEEDED))
    lines = [np.asarray(field(result, name, what=what, of=_NEEDED)) for name in fields]
    chosen = _chosen(result, what)
    ax = axes(ax, what=what, size=(5.6, 3.4))
    for values, colour, name in zip(lines, colours, names, strict=True):
        if np.isfinite(values).any():
            style = "-" if colour == MAIN else "--"
            ax.plot(candidates, values, ls=style, marker="o", ms=5, color=colour, label=name)
    at = np.flatnonzero(candidates == chosen)
    words = f"chosen: k = {chosen}"
    ax.plot(candidates[at], lines[0][at], "o", ms=10, color=ACCENT, zorder=3, label=words)
    ax.set_xlabel("number of clusters")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.margins(x=0.06)
    ax.spines[["top", "right"]].set_visible(False)
    if len(fields) == 1:
        ax.legend(handles=[ax.lines[-1]], frameon=False, fontsize="small")
    return ax


def _chosen(result: Any, what: str) -> int:
    """The number of clusters taken; of an estimator not its parameter but what it found."""
    fitted = getattr(result, "n_clusters_", None)
    return int(field(result, "n_clusters", what=what, of=_NEEDED) if fitted is None else fitted)
