"""What the minority-clustering paper's tables and figures share: runs, means, cells."""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from consilience.experiments._cells import Cell, Plan, published
from consilience.experiments._ewocs_systems import Scores
from consilience.experiments._runs import Parts, Work, groups_of_runs, seeds

__all__ = [
    "PAPER",
    "Columns",
    "cell_of",
    "cells_of",
    "kept",
    "mean_of",
    "rows_of",
    "setting_of",
    "steps_of",
]

PAPER = "Gonzàlez & Turmo (2015), Unsupervised ensemble minority clustering, Machine Learning 98"

# What each system scored, by its column of the table.
Columns = dict[str, Scores]


def kept(
    plan: Plan,
    table: str,
    data: str,
    setting: str,
    run: Callable[..., Columns],
    *args: Any,
    default: int,
) -> list[Columns]:
    """The columns of each run; those in the plan's folder are not made again.

    ``run(*args, number)`` makes one: runs are numbered from the seed on, so that they can be added
    to. ``setting`` says all that fixes the figures of a run beside the data set and its number.
    Empty where nothing may be made and nothing is kept.
    """
    works = [Work(data, setting, n, _as_parts, (run, *args)) for n in seeds(plan, default)]
    return [
        _as_columns(scores) for group in groups_of_runs(plan, table, works) for scores in group.runs
    ]


def _as_parts(run: Callable[..., Columns], *args: Any, seed: int, parts: Sequence[str]) -> Parts:
    columns = run(*args, seed)
    scores = {(row, column): one[row] for column, one in columns.items() for row in one}
    return dict.fromkeys(parts, scores)


def _as_columns(scores: Mapping[tuple[str, str], float]) -> Columns:
    columns: Columns = {}
    for (row, column), value in scores.items():
        columns.setdefault(column, {})[row] = value
    return columns


def setting_of(numbers: Sequence[int] | int | None) -> str:
    """Numbers of repetitions as a setting; those of the table where there are none."""
    if numbers is None:
        return "R as published"
    return f"R={numbers}" if isinstance(numbers, int) else f"R={','.join(map(str, numbers))}"


def steps_of(plan: Plan, default: Sequence[int]) -> tuple[int, ...]:
    """Numbers of repetitions at which scores are looked at, ascending."""
    return tuple(sorted(set(plan.members or default)))


def mean_of(starts: Sequence[Scores]) -> Scores:
    """Mean over the starts on one data set."""
    return {row: float(np.mean([scores[row] for scores in starts])) for row in starts[0]}


def rows_of(runs: Sequence[Columns]) -> list[str]:
    """Every row that a system of the first run has, as they first appear; none without runs."""
    return list(dict.fromkeys(row for one in runs[:1] for scores in one.values() for row in scores))


def cells_of(
    table: str,
    data: str,
    runs: Sequence[Mapping[str, Scores]],
    rows: Sequence[str] | None = None,
    note: str = "",
    *,
    known_as: str | None = None,
) -> list[Cell]:
    """Cells of a table, row by row; systems without a figure in a row are left out there.

    ``known_as`` is the data set whose published figures stand beside, if not ``data``.
    """
    return [
        cell_of(table, data, row, column, [one[column][row] for one in runs], note, known_as)
        for row in (rows_of(list(runs)) if rows is None else rows)  # type: ignore[arg-type]
        for column in (runs[0] if runs else ())
        if row in runs[0][column]
    ]


def cell_of(
    table: str,
    data: str,
    row: str,
    column: str,
    values: Sequence[float],
    note: str = "",
    known_as: str | None = None,
) -> Cell:
    """One cell with the published figure of its place, where there is one."""
    place = (table, data if known_as is None else known_as, row, column)
    value, spread = published("ewocs").get(place, (nan, nan))
    return Cell(table, data, row, column, tuple(map(float, values)), value, spread, note)
