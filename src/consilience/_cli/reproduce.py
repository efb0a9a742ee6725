"""The ``reproduce`` command: run one table of a paper, print it, leave it as files."""

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from consilience._cli.results import ResultFolder, taken
from consilience._cli.show import show_written, table, tell
from consilience._optional import optional
from consilience.errors import InvalidParameterError, MissingPackageError
from consilience.experiments import EXPERIMENTS, Cell, Experiment, Plan, conclude
from consilience.experiments._report import as_csv, as_lines, as_page, summaries
from consilience.plot._record import STYLE, draw_figure
from consilience.workflow._notes import noting

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Wish", "list_experiments", "reproduce"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user typed after ``consilience reproduce TABLE``."""

    name: str
    data: Path | None
    runs: int | None
    sets: str | None
    members: str | None
    seed: int
    jobs: int | None
    out: Path | None
    force: bool = False
    columns: str | None = None
    store: Path | None = None
    stored_only: bool = False

    def plan(self) -> Plan:
        """The plan of it; the lists are taken apart at the commas."""
        self._check_kept()
        if self.runs is not None and self.runs < 1:
            raise InvalidParameterError(
                f"--runs must be a positive number. Got {self.runs} instead."
            )
        if self.jobs == 0:
            raise InvalidParameterError(
                "--jobs must be a positive number, or -1 for all cores. Got 0 instead."
            )
        return Plan(
            data_home=self.data,
            runs=self.runs,
            sets=_names("--sets", self.sets),
            members=None if self.members is None else _counts(self.members),
            seed=self.seed,
            n_jobs=self.jobs,
            columns=_names("--columns", self.columns),
            store=self.store,
            stored_only=self.stored_only,
        )

    def _check_kept(self) -> None:
        """Raise where the table does not know columns or kept runs."""
        experiment = EXPERIMENTS[self.name]
        if self.columns is not None and not experiment.columns:
            raise InvalidParameterError(
                f"The columns of {self.name!r} cannot be run alone. Leave out --columns."
            )
        if self.store is not None and not experiment.keeps_runs:
            raise InvalidParameterError(f"{self.name!r} keeps no runs. Leave out --store.")
        if self.stored_only and self.store is None:
            raise InvalidParameterError(
                "--stored-only shows what is kept in a folder. Name it with --store DIR."
            )

    def command(self) -> str:
        """The command that gives these figures again; the folder of the data left open."""
        words = ["consilience", "reproduce", self.name]
        if EXPERIMENTS[self.name].needs_data:
            words += ["--data", "DIR"]
        given = {"runs": self.runs, "sets": self.sets, "members": self.members}
        given |= {"columns": self.columns}
        for flag, value in (given | {"seed": self.seed or None}).items():
            words += [] if value is None else [f"--{flag}", str(value)]
        return shlex.join(words)


def list_experiments(console: "Console") -> None:
    """Print the tables that can be reproduced."""
    lines = table("table", "what it is")
    for name, experiment in EXPERIMENTS.items():
        needs = " Needs --data." if experiment.needs_data else ""
        lines.add_row(name, f"{experiment.title}. {experiment.paper}.{needs}")
    console.print(lines)
    tell(console, "Run one with: consilience reproduce TABLE --data DIR [--runs N] [--sets a,b]")


def reproduce(wish: Wish, console: "Console") -> Path:
    """Run a table, print every cell as it is finished, and write the files; their folder.

    An interrupt ends the run early; what is finished is then written, and said to be a part.
    """
    if wish.name not in EXPERIMENTS:
        raise InvalidParameterError(
            f"There is no table {wish.name!r} to reproduce. Known: {', '.join(EXPERIMENTS)}."
        )
    experiment, plan = EXPERIMENTS[wish.name], wish.plan()
    folder = Path(f"consilience-{wish.name}") if wish.out is None else wish.out
    start = time.perf_counter()
    with taken(folder, wish.command()) as results:
        _check_folder(folder, wish)
        written = _run(experiment, plan, wish, results, console)
    show_written(written, time.perf_counter() - start, console)
    return folder


def _run(
    experiment: Experiment, plan: Plan, wish: Wish, results: ResultFolder, console: "Console"
) -> list[Path]:
    """Run the table as far as it gets, and write what is finished."""
    tell(console, f"{experiment.title}\n{experiment.paper}")
    cells: list[Cell] = []
    try:
        # Hundreds of runs say the same again and again; the remarks say what matters.
        with noting():
            for finished in experiment.run(plan):
                cells += finished
                _show_cells(finished, console)
    except KeyboardInterrupt:
        if not cells:
            raise
        tell(console, "Interrupted: what follows is the part that was finished.")
        experiment = _cut_short(experiment)
    if not cells:
        raise InvalidParameterError(_nothing(wish))
    _show_conclusion(experiment, cells, console)
    claims = conclude(wish.name, cells)
    page = as_page(experiment, cells, claims, wish.command())
    picture = _picture(wish.name, cells, plan, console)
    if picture is not None:
        title, text = page.split("\n\n", 1)
        page = f"{title}\n\n![{experiment.title}]({wish.name}.svg)\n\n{text}"
    texts = dict(zip(_files(wish), (as_csv(cells), page), strict=True))
    writers: dict[str, Callable[[Path], None]] = {
        name: partial(_write_text, text=text) for name, text in texts.items()
    }
    if picture is not None:
        writers[f"{wish.name}.svg"] = partial(_write_picture, picture=picture)
    return results.publish(writers, last=_files(wish)[-1])


def _nothing(wish: Wish) -> str:
    """Why there is no cell, and what helps."""
    if wish.stored_only:
        return (
            f"No runs of this plan are kept in {str(wish.store)!r}. Leave out --stored-only to "
            "make them."
        )
    return "Nothing of this plan can be run. Name other data sets with --sets, or other columns."


def _files(wish: Wish) -> tuple[str, str]:
    """Names of the table and of the page."""
    return f"{wish.name}.csv", f"{wish.name}.md"


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _write_picture(path: Path, picture: Any) -> None:
    plt = optional("matplotlib.pyplot", extra="plot", what="reproduce")
    with plt.rc_context(STYLE):
        # Scatters of thousands of points are small images inside: this many dots keep pages light.
        picture.savefig(path, format="svg", dpi=80, metadata={"Date": None})
    plt.close(picture)


def _picture(name: str, cells: list[Cell], plan: Plan, console: "Console") -> Any:
    """The picture of a table that has one, if it can be drawn here."""
    try:
        return draw_figure(name, cells, plan)
    except MissingPackageError as error:
        tell(console, f"No picture: {error}")
        return None


def _check_folder(folder: Path, wish: Wish) -> None:
    """Raise if the folder holds the table already."""
    for path in (folder / name for name in reversed(_files(wish))):
        if path.exists() and not wish.force:
            raise InvalidParameterError(
                f"{str(path)!r} is there already. Replace it with --force, or name another "
                "folder with --out."
            )


def _show_cells(cells: list[Cell], console: "Console") -> None:
    """One small table for each row of a data set."""
    figures = ("mean", "standard error", "published", "difference")
    for data, row in dict.fromkeys((cell.data, cell.row) for cell in cells):
        lines = table(f"{data} {row}", *figures, right=figures)
        for line in as_lines([cell for cell in cells if (cell.data, cell.row) == (data, row)]):
            lines.add_row(*line)
        console.print(lines)


def _show_conclusion(experiment: Experiment, cells: list[Cell], console: "Console") -> None:
    lines = table("column", "cells", "median |difference|", "largest", "within 2 s.e.")
    for one in summaries(cells):
        near = f"{one.near} of {one.judged}"
        lines.add_row(one.column, str(one.cells), f"{one.median:.4f}", f"{one.largest:.4f}", near)
    console.print(lines)
    for claim in conclude(experiment.name, cells):
        verdict = "holds" if claim.holds else "does not hold"
        test = "" if isnan(claim.p_value) else f", p {claim.p_value:.2g}"
        error = "" if isnan(claim.error) else f" ± {claim.error:.4f}"
        told = f"(difference {claim.difference:+.4f}{error}{test}, {claim.runs} {claim.unit})"
        tell(console, f"{claim.statement}: {verdict} {told}.")
    for remark in experiment.remarks:
        tell(console, f"Note: {remark}")


def _cut_short(experiment: Experiment) -> Experiment:
    cut = "This run was interrupted: the table is not complete."
    return replace(experiment, remarks=(cut, *experiment.remarks))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _names(flag: str, text: str | None) -> tuple[str, ...] | None:
    """What was typed with commas between; None where nothing was."""
    names = None if text is None else _parts(text)
    if names == ():
        raise InvalidParameterError(
            f"{flag} must be names with commas between. Got {text!r} instead."
        )
    return names


def _counts(text: str) -> tuple[int, ...]:
    try:
        counts = tuple(int(part) for part in _parts(text))
    except ValueError:
        counts = ()
    if not counts or min(counts) < 1:
        raise InvalidParameterError(
            f"--members must be whole numbers with commas between, such as 20,40. Got {text!r} "
            "instead."
        )
    return counts
