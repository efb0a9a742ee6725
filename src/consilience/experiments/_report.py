"""An experiment on paper: lines for a terminal, a CSV file, a page in Markdown."""

import csv
import io
from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from consilience.experiments._cells import Cell, Claim, paired_claim
from consilience.experiments._registry import Experiment

__all__ = ["Summary", "as_csv", "as_lines", "as_page", "summaries"]

_HEADER = (
    "table,data,row,column,published,published_spread,measured,standard_error,difference,spread,"
    "runs,note"
)
# Below the winner of a row only if a paired test says so at this level, as in the papers.
_LEVEL = 0.05
# What describes the members, or looks at the truth.
_NO_METHOD = ("Min", "Max", "Mean", "RANDOM", "ALLFG", "CONVEX")
# Rows of sizes, changes, times and unlike measures, of which the largest is not the best.
_NO_SCORE = (
    "objects", "to learn", "to judge", "repetitions", "seconds", "milliseconds", "log10",
    "per cent",
)  # fmt: skip

_READING = (
    "Each cell: mean ± standard error of the mean over the runs, and (published); the standard "
    "deviation of one run is the standard error times the root of the number of runs. A figure "
    "without ± comes of one run. Bold: the best mean of a row, and those that a paired t-test on "
    "the same runs does not put below it (5 %, not corrected for the number of columns); rows "
    "whose columns have different numbers of runs have none."
)
_JUDGING = (
    "A statement holds if the mean difference has its sign and the test named gives p below 0.05; "
    "one that nothing differs, if it does not. "
    "Differences: mean ± standard error over the runs, each run one pair. A count compares means "
    "and is no test."
)


def as_csv(cells: Sequence[Cell]) -> str:
    """One line a cell; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER.split(","))
    for cell in cells:
        known, ours = (cell.published, cell.published_spread), (cell.measured, cell.error)
        writer.writerow(
            [cell.table, cell.data, cell.row, cell.column]
            + [_number(value) for value in (*known, *ours, cell.difference, cell.spread)]
            + [len(cell.values), cell.note]
        )
    return text.getvalue()


def as_lines(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """Column, mean, standard error, published and difference of each cell, as text."""
    return [
        (
            cell.column,
            _number(cell.measured),
            _number(cell.error),
            _number(cell.published),
            "" if isnan(cell.difference) else f"{cell.difference:+.4f}",
        )
        for cell in cells
    ]


class Summary(NamedTuple):
    """How far the means of a column lie from the published figures.

    ``near`` of the ``judged`` cells, those of several runs, differ by at most two standard
    errors of our own mean; the paper's own error is not known and not counted.
    """

    column: str
    cells: int
    median: float
    largest: float
    near: int
    judged: int


def summaries(cells: Sequence[Cell]) -> list[Summary]:
    """The differences to what was published, for each column that has any."""
    by_column = []
    for column in dict.fromkeys(cell.column for cell in cells):
        mine = [cell for cell in cells if cell.column == column and not isnan(cell.difference)]
        if mine:
            gaps = [abs(cell.difference) for cell in mine]
            judged = [cell for cell in mine if not isnan(cell.error)]
            near = sum(abs(cell.difference) <= 2 * cell.error for cell in judged)
            median = float(np.median(gaps))
            by_column.append(Summary(column, len(mine), median, max(gaps), near, len(judged)))
    return by_column


def as_page(
    experiment: Experiment, cells: Sequence[Cell], claims: Sequence[Claim], command: str
) -> str:
    """A page in Markdown with every cell, the differences in one table, and the claims."""
    parts = [
        f"# {experiment.title}",
        f"{experiment.paper}. Made by `{command}`.",
        _READING,
        "\n".join(f"- {remark}" for remark in experiment.remarks),
        _figures(cells),
        "## Differences to the published figures, by column",
        _differences(cells),
    ]
    if claims:
        parts += ["## The paper's statements", _JUDGING, _claims(claims)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _differences(cells: Sequence[Cell]) -> str:
    by_column = summaries(cells)
    if not by_column:
        return "None were published."
    return _table(
        ("column", "cells", "median absolute", "largest", "within two standard errors"),
        [
            (
                one.column,
                one.cells,
                f"{one.median:.4f}",
                f"{one.largest:.4f}",
                f"{one.near} of {one.judged}" if one.judged else "one run",
            )
            for one in by_column
        ],
    )


def _figures(cells: Sequence[Cell]) -> str:
    """The figures of a page; rows that share no column stand in tables of their own."""
    return "\n\n".join(_figure_table(group) for group in _groups(cells))


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that belong together: by row or by column, or by others between them."""
    groups: list[list[Cell]] = []
    for data, row in dict.fromkeys((cell.data, cell.row) for cell in cells):
        mine = [cell for cell in cells if (cell.data, cell.row) == (data, row)]
        names = {cell.column for cell in mine}
        joined = [group for group in groups if names & {cell.column for cell in group}]
        for group in joined[1:]:
            joined[0].extend(group)
            groups.remove(group)
        if joined:
            joined[0].extend(mine)
        else:
            groups.append(mine)
    order = {id(cell): place for place, cell in enumerate(cells)}
    return [sorted(group, key=lambda cell: order[id(cell)]) for group in groups]


def _figure_table(cells: Sequence[Cell]) -> str:
    """One line a data set and row of the paper's table, one column a method."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    lines = []
    for data, row in dict.fromkeys((cell.data, cell.row) for cell in cells):
        mine = {cell.column: cell for cell in cells if (cell.data, cell.row) == (data, row)}
        best = _best(list(mine.values()))
        shown = [_figure(mine[name], name in best) if name in mine else "" for name in columns]
        notes = dict.fromkeys(cell.note for cell in mine.values() if cell.note)
        title = f"{data} ({'; '.join(notes)})" if notes else data
        lines.append((title, row, _runs(list(mine.values())), *shown))
    return _table(("data", "", "runs", *columns), lines)


def _runs(cells: Sequence[Cell]) -> str:
    """How many runs a row has; columns of one run show that by their missing error."""
    numbers = sorted({len(cell.values) for cell in cells})
    return " or ".join(str(number) for number in numbers if number > 1 or len(numbers) == 1)


def _best(cells: Sequence[Cell]) -> set[str]:
    """The methods of a row that no paired test puts below the highest mean."""
    if cells[0].row.startswith(_NO_SCORE):
        return set()
    rivals = [cell for cell in cells if cell.column not in _NO_METHOD]
    numbers = {len(cell.values) for cell in rivals}
    # Figures of different runs make no pairs.
    if len(rivals) < 2 or len(numbers) > 1 or numbers == {1}:
        return set()
    top = max(rivals, key=lambda cell: cell.measured)
    return {
        cell.column
        for cell in rivals
        if cell is top or not paired_claim("", top, cell, level=_LEVEL).holds
    }


def _figure(cell: Cell, bold: bool) -> str:
    error = "" if isnan(cell.error) else f" ± {_error(cell.error)}"
    text = f"{cell.measured:.3f}{error}"
    text = f"**{text}**" if bold else text
    known = "" if isnan(cell.published) else f" ({cell.published:.3f})"
    return text + known


def _error(value: float) -> str:
    """Three decimals, as the mean; one more where they would call a small error none."""
    if 0 < value < 0.0005:
        return f"{value:.4f}" if value >= 0.00005 else "<0.0001"
    return f"{value:.3f}"


def _claims(claims: Sequence[Claim]) -> str:
    return _table(
        ("statement", "holds here", "mean difference", "p", "test", "over"),
        [
            (
                claim.statement,
                "yes" if claim.holds else "no",
                f"{claim.difference:+.4f}"
                + ("" if isnan(claim.error) else f" ± {claim.error:.4f}"),
                "" if isnan(claim.p_value) else f"{claim.p_value:.2g}",
                claim.test or ("count" if isnan(claim.p_value) else ""),
                f"{claim.runs} {claim.unit}",
            )
            for claim in claims
        ],
    )


def _table(head: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows += ["| " + " | ".join(str(value) for value in line) + " |" for line in lines]
    return "\n".join(rows)


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.4f}"
