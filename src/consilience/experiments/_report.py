"""An experiment on paper: lines for a terminal, a CSV file, a page in Markdown."""

import csv
import io
from collections.abc import Sequence
from math import isnan, sqrt

import numpy as np

from consilience.experiments._cells import Cell, Claim, paired_claim
from consilience.experiments._table import Experiment

__all__ = ["as_csv", "as_lines", "as_page", "summaries"]

_HEADER = "table,data,row,column,published,published_spread,measured,difference,spread,runs,note"
# Below the winner of a row only if a paired test says so at this level, as in the papers.
_LEVEL = 0.05
# What describes the members, or looks at the truth.
_NO_METHOD = ("Min", "Max", "Mean", "RANDOM", "ALLFG", "CONVEX")


def as_csv(cells: Sequence[Cell]) -> str:
    """One line a cell; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER.split(","))
    for cell in cells:
        figures = (cell.published, cell.published_spread, cell.measured, cell.difference)
        writer.writerow(
            [cell.table, cell.data, cell.row, cell.column]
            + [_number(value, "") for value in (*figures, cell.spread)]
            + [len(cell.values), cell.note]
        )
    return text.getvalue()


def as_lines(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """Column, measured, spread, published and difference of each cell, as text."""
    return [
        (
            cell.column,
            _number(cell.measured),
            _number(cell.spread),
            _number(cell.published),
            "" if isnan(cell.difference) else f"{cell.difference:+.4f}",
        )
        for cell in cells
    ]


def summaries(cells: Sequence[Cell]) -> list[tuple[str, int, float, float, int]]:
    """For each column: cells, median and largest absolute difference, cells within noise.

    Within noise means a difference of at most two standard errors of our own mean.
    """
    found = []
    for column in dict.fromkeys(cell.column for cell in cells):
        mine = [cell for cell in cells if cell.column == column and not isnan(cell.difference)]
        if mine:
            gaps = [abs(cell.difference) for cell in mine]
            near = sum(gap <= 2 * _error(cell) for gap, cell in zip(gaps, mine, strict=True))
            found.append((column, len(mine), float(np.median(gaps)), max(gaps), near))
    return found


def as_page(
    experiment: Experiment, cells: Sequence[Cell], claims: Sequence[Claim], command: str
) -> str:
    """A page in Markdown with every cell, the differences in one table, and the claims."""
    runs = sorted({len(cell.values) for cell in cells})
    times = " or ".join(str(number) for number in runs)
    parts = [
        f"# {experiment.title}",
        f"{experiment.paper}. Made by `{command}`; {times} run{'s' * (runs != [1])} a cell.",
        "Each cell: measured ± standard deviation over the runs, and (published). Bold: the "
        "best mean of a row, and those that a paired t-test on the same runs does not put "
        "below it (5 %).",
        "\n".join(f"- {remark}" for remark in experiment.remarks),
        _figures(cells),
        "## Differences to the published figures, by column",
        _table(
            ("column", "cells", "median absolute", "largest", "within two standard errors"),
            [(name, n, f"{a:.4f}", f"{b:.4f}", near) for name, n, a, b, near in summaries(cells)],
        ),
    ]
    if claims:
        parts += ["## The paper's statements", _claims(claims)]
    return "\n\n".join(parts) + "\n"


def _figures(cells: Sequence[Cell]) -> str:
    """One line a data set and row of the paper's table, one column a method."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    lines = []
    for data, row in dict.fromkeys((cell.data, cell.row) for cell in cells):
        mine = {cell.column: cell for cell in cells if (cell.data, cell.row) == (data, row)}
        best = _best(list(mine.values()))
        shown = [_figure(mine[name], name in best) if name in mine else "" for name in columns]
        notes = dict.fromkeys(cell.note for cell in mine.values() if cell.note)
        lines.append((f"{data} ({'; '.join(notes)})" if notes else data, row, *shown))
    return _table(("data", "", *columns), lines)


def _best(cells: Sequence[Cell]) -> set[str]:
    """The methods of a row that no paired test puts below the highest mean."""
    rivals = [cell for cell in cells if cell.column not in _NO_METHOD]
    if len(rivals) < 2 or len(rivals[0].values) < 2:
        return set()
    top = max(rivals, key=lambda cell: cell.measured)
    return {
        cell.column
        for cell in rivals
        if cell is top or not paired_claim("", top, cell, level=_LEVEL).holds
    }


def _figure(cell: Cell, bold: bool) -> str:
    spread = "" if isnan(cell.spread) else f" ± {cell.spread:.3f}"
    text = f"{cell.measured:.3f}{spread}"
    text = f"**{text}**" if bold else text
    known = "" if isnan(cell.published) else f" ({cell.published:.3f})"
    return text + known


def _claims(claims: Sequence[Claim]) -> str:
    return _table(
        ("statement", "holds here", "mean difference", "p", "over"),
        [
            (
                claim.statement,
                "yes" if claim.holds else "no",
                f"{claim.difference:+.4f}",
                "" if isnan(claim.p_value) else f"{claim.p_value:.2g}",
                f"{claim.runs} {claim.unit}",
            )
            for claim in claims
        ],
    )


def _table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows += ["| " + " | ".join(str(value) for value in line) + " |" for line in lines]
    return "\n".join(rows)


def _error(cell: Cell) -> float:
    return 0.0 if isnan(cell.spread) else cell.spread / sqrt(len(cell.values))


def _number(value: float, missing: str = "") -> str:
    return missing if isnan(value) else f"{value:.4f}"
