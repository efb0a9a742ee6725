"""Pictures of reproduced figures: curves, ranks and maps, drawn from the cells of their pages."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from consilience._optional import optional
from consilience.compare import PairwiseTests, precision_recall_curve, rank_diagram
from consilience.experiments import Cell, Plan, criteria_ranks, ewocs_ranks, relations_ranks
from consilience.experiments.ewocs_toy import G10, toy_models
from consilience.minority.thresholds import every
from consilience.plot._axes import cluster_colours
from consilience.plot.curves import plot_roc

__all__ = ["DRAWN", "STYLE", "draw_figure"]

Draw = Callable[[Sequence[Cell], Plan], Any]
# Ids of a picture hang on what it shows only.
STYLE = {"svg.hashsalt": "consilience"}


def draw_figure(name: str, cells: Sequence[Cell], plan: Plan) -> Any:
    """The picture of an experiment, or None where it has none or too few cells.

    Parameters
    ----------
    name : str
        As in ``consilience reproduce NAME``.
    cells : sequence of Cell
        What it measured.
    plan : Plan
        What it was asked for.

    Returns
    -------
    matplotlib Figure or None
    """
    return DRAWN[name](cells, plan) if name in DRAWN and cells else None


# ---- curves ----------------------------------------------------------------------------------


def _curves(cells: Sequence[Cell], plan: Plan) -> Any:
    """Figures against the number at the end of their row, a panel for each kind of row."""
    plt = optional("matplotlib.pyplot", extra="plot", what="reproduce")
    panels: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        head, sign, _ = cell.row.rpartition("=")
        if sign:
            panels.setdefault((cell.data, head), []).append(cell)
    if not panels:
        return None
    n_columns = min(len(panels), 3)
    n_rows = -(-len(panels) // n_columns)
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(4.4 * n_columns, 3.4 * n_rows), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax in grid.flat[len(panels) :]:
        ax.set_visible(False)
    for ax, ((data, head), mine) in zip(grid.flat, panels.items(), strict=False):
        measure, _, variable = head.rpartition(", ")
        _panel(ax, mine, [c for c in cells if c.data == data and c.row == measure])
        ax.set(xlabel=variable, ylabel=measure, title=data)
    _one_legend(grid.flat[: len(panels)], grid.flat[len(panels) :])
    return figure


def _one_legend(panels: Sequence[Any], free: Sequence[Any]) -> None:
    """Panels of several lines that have the same names share a legend where a place is free."""
    named = {ax: ax.get_legend_handles_labels() for ax in panels}
    several = [ax for ax, (_, names) in named.items() if len(names) > 1]
    if not len(free) or len(several) < 2 or len({tuple(named[ax][1]) for ax in several}) > 1:
        return
    for ax in several:
        ax.get_legend().remove()
    free[0].set_visible(True)
    free[0].set_axis_off()
    free[0].legend(*named[several[0]], frameon=False, loc="center left")


def _panel(ax: Any, cells: Sequence[Cell], references: Sequence[Cell]) -> None:
    """One line a column, with standard errors; references are level lines."""
    names = list(dict.fromkeys(cell.column for cell in cells))
    colours = cluster_colours(np.arange(len(names) + len(references)))
    at = [float(cell.row.rpartition("=")[2]) for cell in cells]
    for name, colour in zip(names, colours, strict=False):
        mine = [(x, cell) for x, cell in zip(at, cells, strict=True) if cell.column == name]
        x, y = [one for one, _ in mine], [cell.measured for _, cell in mine]
        bars = [_error(cell) for _, cell in mine]
        ax.errorbar(x, y, bars, color=colour, lw=1.6, marker="o", ms=3, capsize=2, label=name)
    for cell, colour in zip(references, colours[len(names) :], strict=True):
        ax.axhline(cell.measured, color=colour, lw=1.1, ls="--", label=cell.column)
    if min(at) > 0 and max(at) >= 30 * min(at):
        ax.set_xscale("log")
    values = [cell.measured for cell in cells]
    if min(values) > 0 and max(values) >= 30 * min(values):
        ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="x-small")


def _error(cell: Cell) -> float:
    return 0.0 if len(cell.values) < 2 else cell.spread / sqrt(len(cell.values))


# ---- ranks -----------------------------------------------------------------------------------


def _ranked(
    tests: Callable[[Sequence[Cell], str], PairwiseTests | None], rows: Sequence[str]
) -> Draw:
    """Rank diagrams, one below the other, one a measure."""

    def draw(cells: Sequence[Cell], plan: Plan) -> Any:
        plt = optional("matplotlib.pyplot", extra="plot", what="reproduce")
        by_row = {row: tests(cells, row) for row in rows}
        shown = {row: one for row, one in by_row.items() if one is not None}
        if not shown:
            return None
        names = max(len(one.ranks.names) for one in shown.values())
        size = (9.0, (1.5 + 0.14 * names) * len(shown))
        figure, grid = plt.subplots(
            len(shown), 1, figsize=size, layout="constrained", squeeze=False
        )
        for ax, (row, one) in zip(grid.flat, shown.items(), strict=True):
            rank_diagram(one, ax=ax)
            ax.set_title(row, loc="left", fontsize="medium")
        return figure

    return draw


# ---- TOY -------------------------------------------------------------------------------------


def _toy(cells: Sequence[Cell], plan: Plan) -> Any:
    """What each system finds on the first draw, ROC curves, and the rules of EW-SRBC."""
    plt = optional("matplotlib.pyplot", extra="plot", what="reproduce")
    X, y, models = toy_models(plan.seed, None if plan.members is None else plan.members[0])
    figure, grid = plt.subplots(2, 4, figsize=(14, 7), layout="constrained")
    for ax, (name, fitted) in zip(grid.flat, models.items(), strict=False):
        inside = fitted[0].labels_ >= 0
        if name == G10:
            # As the table: at the best threshold.
            scores = fitted[0].scores_
            (cut,) = [one for one in every(scores, y=y) if one.method == "best"]
            inside = scores >= cut.value
        for rows, colour in ((~inside, "0.75"), (inside, "#3b6fb6")):
            ax.plot(*X[rows].T, ".", ms=2, color=colour, rasterized=True)
        ax.set(title=name, xticks=[], yticks=[], aspect="equal")
    hard = {name: (mine[0].labels_ >= 0) * 1.0 for name, mine in models.items() if name[0] in "Ak"}
    plot_roc(hard | {G10: models[G10][0]}, y, ax=grid.flat[6])
    _rules(grid.flat[7], models[G10][0].scores_, y)
    return figure


def _rules(ax: Any, scores: Any, y: Any) -> None:
    """Precision, recall and F1 against the number of objects found, with every rule's cut."""
    curve = precision_recall_curve(scores, y)
    counts = np.array([(scores >= cut).sum() for cut in curve.thresholds])
    f1 = 2 * curve.x * curve.y / np.maximum(curve.x + curve.y, 1e-12)
    colours = iter(cluster_colours(np.arange(12)))
    for name, values in (("precision", curve.y), ("recall", curve.x), ("F1", f1)):
        ax.plot(counts, values, lw=1.4, color=next(colours), label=name)
    for cut in every(scores, y=y, m=int((y > 0).sum())):
        at = int(np.searchsorted(counts, cut.n_foreground))
        ax.plot(cut.n_foreground, f1[at], "o", mfc="none", color=next(colours),
                label=cut.method)  # fmt: skip
    ax.set(xlabel="objects called foreground", title="EW-SRBC by rule")
    ax.legend(frameon=False, fontsize="x-small")


DRAWN: dict[str, Draw] = {
    "ewocs-table3": _ranked(ewocs_ranks, ("F1", "AUC")),
    "ewocs-figures5-7": _toy,
    "ewocs-figure9": _curves,
    "ewocs-figure10": _curves,
    "ewocs-figure11": _ranked(criteria_ranks, ("F1", "Precision", "Recall")),
    "ewocs-figure12": _curves,
    "ewocs-figure13": _curves,
    "ewocs-relations": _ranked(relations_ranks, ("F1", "AUC")),
    "ewocs-figure15": _curves,
    "ewocs-figures16-17": _curves,
}
