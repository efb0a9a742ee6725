"""The ``reproduce`` command: run one table of a paper, print it, leave it as files."""

import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from consilience._cli.folders import check_writable
from consilience._cli.outputs import write_files
from consilience._cli.show import show_written, table, tell
from consilience._cli.stages import noting
from consilience._optional import optional
from consilience.errors import InvalidParameterError, MissingPackageError
from consilience.experiments import EXPERIMENTS, Cell, Experiment, Plan, conclude
from consilience.experiments._report import as_csv, as_lines, as_page, summaries
from consilience.plot._record import STYLE, draw_figure

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

    def plan(self) -> Plan:
        """The plan of it; the lists are taken apart at the commas."""
        for flag, value in (("--runs", self.runs), ("--jobs", self.jobs)):
            if value is not None and (value < 1 if flag == "--runs" else value == 0):
                raise InvalidParameterError(
                    f"{flag} must be a positive number. Got {value} instead."
                )
        return Plan(
            data_home=self.data,
            runs=self.runs,
            sets=None if self.sets is None else _parts(self.sets),
            members=None if self.members is None else _counts(self.members),
            seed=self.seed,
            n_jobs=self.jobs,
        )

    def command(self) -> str:
        """The command that gives these figures again; the folder of the data left open."""
        words = ["consilience", "reproduce", self.name]
        if EXPERIMENTS[self.name].needs_data:
            words += ["--data", "DIR"]
        given = {"runs": self.runs, "sets": self.sets, "members": self.members}
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


def reproduce(wish: Wish, console: "Console") -> None:
    """Run a table, print every cell as it is finished, and write the files.

    An interrupt ends the run early; what is finished is then written, and said to be a part.
    """
    if wish.name not in EXPERIMENTS:
        raise InvalidParameterError(
            f"There is no table {wish.name!r} to reproduce. Known: {', '.join(EXPERIMENTS)}."
        )
    experiment, plan = EXPERIMENTS[wish.name], wish.plan()
    folder = Path(f"consilience-{wish.name}") if wish.out is None else wish.out
    _check_folder(folder, wish)
    start = time.perf_counter()
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
    _show_conclusion(experiment, cells, console)
    claims = conclude(wish.name, cells)
    page = as_page(experiment, cells, claims, wish.command())
    picture = _picture(wish.name, cells, plan, console)
    if picture is not None:
        page += f"\n## Picture\n\n![{experiment.title}]({wish.name}.svg)\n"
    texts = {f"{wish.name}.csv": as_csv(cells), f"{wish.name}.md": page}
    writers: dict[str, Callable[[Path], None]] = {
        name: partial(_write_text, text=text) for name, text in texts.items()
    }
    if picture is not None:
        writers[f"{wish.name}.svg"] = partial(_write_picture, picture=picture)
    show_written(write_files(folder, writers), time.perf_counter() - start, console)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _write_picture(path: Path, picture: Any) -> None:
    plt = optional("matplotlib.pyplot", extra="plot", what="reproduce")
    with plt.rc_context(STYLE):
        picture.savefig(path, format="svg", metadata={"Date": None})
    plt.close(picture)


def _picture(name: str, cells: list[Cell], plan: Plan, console: "Console") -> Any:
    """The picture of a table that has one, if it can be drawn here."""
    try:
        return draw_figure(name, cells, plan)
    except MissingPackageError as error:
        tell(console, f"No picture: {error}")
        return None


def _check_folder(folder: Path, wish: Wish) -> None:
    """Raise if the folder cannot be written to, or holds the table already."""
    check_writable(folder)
    page = folder / f"{wish.name}.md"
    if page.exists() and not wish.force:
        raise InvalidParameterError(
            f"{str(page)!r} is there already. Replace it with --force, or name another folder "
            "with --out."
        )


def _show_cells(cells: list[Cell], console: "Console") -> None:
    """One small table for each row of a data set."""
    figures = ("measured", "spread", "published", "difference")
    for data, row in dict.fromkeys((cell.data, cell.row) for cell in cells):
        lines = table(f"{data} {row}", *figures, right=figures)
        for line in as_lines([cell for cell in cells if (cell.data, cell.row) == (data, row)]):
            lines.add_row(*line)
        console.print(lines)


def _show_conclusion(experiment: Experiment, cells: list[Cell], console: "Console") -> None:
    lines = table("column", "cells", "median |difference|", "largest", "within 2 s.e.")
    for name, count, median, largest, near in summaries(cells):
        lines.add_row(name, str(count), f"{median:.4f}", f"{largest:.4f}", str(near))
    console.print(lines)
    for claim in conclude(experiment.name, cells):
        verdict = "holds" if claim.holds else "does not hold"
        test = "" if isnan(claim.p_value) else f", p {claim.p_value:.2g}"
        told = f"(difference {claim.difference:+.4f}{test}, {claim.runs} {claim.unit})"
        tell(console, f"{claim.statement}: {verdict} {told}.")
    for remark in experiment.remarks:
        tell(console, f"Note: {remark}")


def _cut_short(experiment: Experiment) -> Experiment:
    cut = "This run was interrupted: the table is not complete."
    return replace(experiment, remarks=(cut, *experiment.remarks))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _counts(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in _parts(text))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise InvalidParameterError(
            f"--members must be whole numbers with commas between, such as 20,40. Got {text!r} "
            "instead."
        )
    return found
