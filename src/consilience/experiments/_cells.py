"""The nouns of an experiment: one cell of a table, one claim, one plan of what to run."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt
from os import PathLike

import numpy as np

from consilience.compare import paired

__all__ = ["Cell", "Claim", "Plan", "Published", "paired_claim", "published"]

# (table, data, row, column) -> (value, spread or nan)
Published = dict[tuple[str, str, str, str], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run of an experiment; None means what the paper has, or the experiment's own.

    Attributes
    ----------
    data_home : path-like or None
        Folder of the data sets; None takes the environment variable ``CONSILIENCE_DATA``.
    runs : int or None
        Independent repetitions.
    sets : tuple of str or None
        Data sets, by the names of the table.
    members : tuple of int or None
        Ensemble sizes.
    seed : int
        Equal seeds give equal figures, whatever ``n_jobs``. It numbers the first run: runs
        ``seed`` to ``seed + runs - 1`` are made, so that a longer run holds a shorter one and
        ``seed=10`` continues ten runs of ``seed=0``; seeds closer than ``runs`` share runs.
    n_jobs : int or None
        Processes over the runs.
    columns : tuple of str or None
        Columns to be run, where the experiment has columns that can be run alone.
    store : path-like or None
        Folder in which runs are kept as they are finished, and from which those that are there
        are taken. What a method changes is not noticed: kept runs belong to one version.
    stored_only : bool
        Make no run; show what is kept.
    """

    data_home: str | PathLike[str] | None = None
    runs: int | None = None
    sets: tuple[str, ...] | None = None
    members: tuple[int, ...] | None = None
    seed: int = 0
    n_jobs: int | None = None
    columns: tuple[str, ...] | None = None
    store: str | PathLike[str] | None = None
    stored_only: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of a table: every run of ours, and what was published."""

    table: str
    data: str
    row: str
    column: str
    values: tuple[float, ...]
    published: float = float("nan")
    published_spread: float = float("nan")
    note: str = ""

    @property
    def measured(self) -> float:
        """Mean over the runs; nan without any."""
        return float(np.mean(self.values)) if self.values else float("nan")

    @property
    def spread(self) -> float:
        """Standard deviation over the runs; nan for fewer than two."""
        if len(self.values) < 2:
            return float("nan")
        # Equal runs have none, though their mean may be rounded.
        equal = min(self.values) == max(self.values)
        return 0.0 if equal else float(np.std(self.values, ddof=1))

    @property
    def error(self) -> float:
        """Standard error of the mean over the runs; nan for fewer than two."""
        return self.spread / sqrt(max(len(self.values), 1))

    @property
    def difference(self) -> float:
        """Measured minus published; nan where nothing was published."""
        return self.measured - self.published


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper, and whether our runs bear it out.

    Attributes
    ----------
    statement : str
    holds : bool
    difference : float
        Mean difference, or by how much a count differs from what was stated.
    p_value : float
        nan where the statement is a count, not a test.
    runs : int
        Observations that decide it.
    error : float
        Standard error of ``difference``; nan where it has none.
    test : str
        What decided, in a word or two for a table.
    unit : str
        What ``runs`` counts.
    """

    statement: str
    holds: bool
    difference: float
    p_value: float
    runs: int
    error: float = float("nan")
    test: str = ""
    unit: str = "runs"


def paired_claim(statement: str, better: Cell, worse: Cell, *, level: float = 0.05) -> Claim:
    """Whether one cell's runs lie above another's, by a paired t-test on the same runs.

    The claim holds if the mean difference is positive and the two-sided p-value below
    ``level``.
    """
    test = paired(better.values, worse.values)
    holds = test.mean_difference > 0 and test.t_p < level
    gaps = np.subtract(better.values, worse.values)
    error = float(np.std(gaps, ddof=1) / sqrt(len(gaps)))
    return Claim(statement, holds, test.mean_difference, test.t_p, test.n_pairs, error, "paired t")


def of(cells: Sequence[Cell], **key: str) -> Cell | None:
    """The first cell with these fields, such as ``data="Iris"``; None without one."""
    for cell in cells:
        if all(getattr(cell, name) == value for name, value in key.items()):
            return cell
    return None


@cache
def published(name: str) -> Published:
    """The published figures of one paper, from the table of that name in this package."""
    figures: Published = {}
    place = files("consilience.experiments").joinpath("published", f"{name}.csv")
    for line in csv.DictReader(place.read_text(encoding="utf-8").splitlines()):
        key = (line["table"], line["data"], line["row"], line["column"])
        figures[key] = (float(line["value"]), float(line["spread"] or "nan"))
    return figures
