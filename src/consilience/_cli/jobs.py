"""How every job is carried out: folder, work, files, and only then words on the screen."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from consilience import __version__
from consilience._cli.arguments import as_command
from consilience._cli.folders import (
    REPORT,
    SUMMARY,
    check_folder,
    check_source,
    default_folder,
)
from consilience._cli.inputs import Input
from consilience._cli.members import clear_members, keep_members
from consilience._cli.outputs import as_json, write_files
from consilience._cli.show import show_written
from consilience._cli.stages import Clock, telling

__all__ = ["Found", "Job", "all_writers", "carry_out", "progress"]


@dataclass(frozen=True, kw_only=True)
class Found(ABC):
    """What a job found in its input, and how it is told."""

    wish: Any
    input: Input
    seconds: dict[str, float]
    notes: tuple[str, ...]
    name: ClassVar[str]

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What ``summary.json`` says beside the common things: plain numbers and text."""

    @abstractmethod
    def writers(self) -> dict[str, Callable[[Path], None]]:
        """The job's own files by name, each with the function that writes it to a path."""

    def report(self) -> dict[str, Any] | None:
        """What the report shows; None for a job that has none."""
        return None

    @abstractmethod
    def show(self, console: Console) -> None:
        """Print it."""

    @property
    def command(self) -> str:
        """The command line that gives the same."""
        return as_command(self.name, self.wish)

    def summary(self) -> dict[str, Any]:
        """What ``summary.json`` says."""
        return {
            "consilience": __version__,
            "job": self.name,
            "command": self.command,
            "options": _plain(asdict(self.wish)),
            **self.facts(),
            "seconds": self.seconds,
            "warnings": list(self.notes),
        }

    def about(self, **more: str) -> dict[str, str]:
        """What the report says was done."""
        took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.seconds.items())
        return {
            "Data": f"{self.wish.source.name}: {self.input.in_words()}",
            **more,
            "Seed": str(self.wish.seed),
            "Time": took,
            "Command": self.command,
        }


@dataclass(frozen=True)
class Job:
    """One command that works on data.

    ``find(wish, folder, callbacks=...)`` refuses what it can before the data are read.
    """

    name: str
    prefix: str
    results: str
    find: Callable[..., Found]


def carry_out(wish: Any, job: Job) -> None:
    """Find what is wished for, write it, and say so."""
    start = time.perf_counter()
    writing = wish.writing
    check_source(wish.source)
    folder = writing.out or default_folder(wish.source, job.prefix)
    resume = getattr(wish, "resume", False)
    check_folder(folder, job.results, force=writing.force, resume=resume)
    silent = writing.quiet or writing.json
    try:
        with telling(silent=writing.quiet):
            found = job.find(wish, folder, callbacks=() if silent else progress())
            with_report = not getattr(wish, "no_report", False)
            with Clock().stage("write"):
                written = write_files(folder, all_writers(found, with_report=with_report))
    except BaseException as error:
        keep_members(folder, as_command(job.name, wish), error)
        raise
    clear_members(folder)
    if writing.json:
        print(as_json(found.summary()), end="")
    elif not writing.quiet:
        console = Console(highlight=False)
        found.show(console)
        show_written(written, time.perf_counter() - start, console)


def progress() -> tuple[Any, ...]:
    """scikit-learn's progress bars on a terminal, nothing in a pipe."""
    if not sys.stdout.isatty():
        return ()
    from sklearn.callback import ProgressBar

    return (ProgressBar(),)


def all_writers(found: Found, *, with_report: bool = True) -> dict[str, Callable[[Path], None]]:
    """The job's files, the summary, and the report where there is one."""
    writers = found.writers()
    text = as_json(found.summary())
    writers[SUMMARY] = lambda path: _write_text(path, text)
    shown = found.report() if with_report else None
    if shown is not None:
        from consilience.report import write_report

        writers[REPORT] = lambda path: write_report(shown, path)
    return writers


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, those of parts beside the others, paths as text."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, dict):
            found |= _plain(value)
        else:
            found[name] = str(value) if isinstance(value, Path) else value
    return found
