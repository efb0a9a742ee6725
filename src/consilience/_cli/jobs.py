"""How every job is carried out: folder, work, files, and only then words on the screen."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from rich.console import Console

from consilience import __version__
from consilience._cli.arguments import Writing, as_command
from consilience._cli.folders import (
    PARTS,
    PLAN,
    REPORT,
    RESULTS,
    SUMMARY,
    TIMINGS,
    check_folder,
    check_keeps,
    check_source,
    default_folder,
)
from consilience._cli.members import keep_members
from consilience._cli.outputs import as_json
from consilience._cli.progress import progress
from consilience._cli.results import ResultFolder, taken
from consilience._cli.show import show_notes, show_written
from consilience._cli.speech import Speaker
from consilience._cli.stages import Clock, stages_shown
from consilience.workflow import Result
from consilience.workflow._members import clear_members

__all__ = ["Answer", "Job", "all_writers", "carry_out"]


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """What a job found for a wish, and how it is told: every figure is the result's."""

    wish: Any
    result: Result
    name: ClassVar[str]

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
    def decisive(self) -> Any:
        """The wish without what changes no result: where it goes, what is printed, resuming."""
        plain = {"writing": Writing(), "resume": False}
        return replace(self.wish, **plain)

    @property
    def command(self) -> str:
        """The command line that gives the same results."""
        return as_command(self.name, self.decisive)

    def summary(self) -> dict[str, Any]:
        """What ``summary.json`` says: the same whenever the run is the same."""
        unimportant = {*asdict(Writing()), "resume"}
        options = _plain(asdict(self.decisive))
        return {
            "consilience": __version__,
            "job": self.name,
            "command": self.command,
            "options": {name: v for name, v in options.items() if name not in unimportant},
            **self.result.to_dict(),
            "warnings": list(self.result.notes),
        }

    def timings(self) -> dict[str, Any]:
        """What ``timings.json`` says: all that may differ between equal runs."""
        return self.result.timings()

    def data_in_words(self) -> str:
        """The file, and what was read from it."""
        return f"{self.wish.source.name}: {self.result.data.in_words()}"

    def about(self) -> dict[str, str]:
        """What the report says was done, beside what the result knows."""
        return {"Data": self.data_in_words(), "Command": self.command}


@dataclass(frozen=True)
class Job:
    """One command that works on data.

    ``find(wish, folder, callbacks=...)`` refuses what it can before the data are read. ``more`` are
    files that it may write beside ``results``.
    """

    name: str
    prefix: str
    results: str
    find: Callable[..., Answer]
    more: tuple[str, ...] = ()


def carry_out(wish: Any, job: Job) -> None:
    """Find what is wished for, write it, and say so.

    Nobody else can write to the folder meanwhile. Words come last: the results are there
    even if nobody listens any more.
    """
    start = time.perf_counter()
    check_source(wish.source)
    folder = wish.writing.out or default_folder(wish.source, job.prefix)
    with taken(folder, as_command(job.name, wish)) as results:
        remarks = _remarks(wish, folder)
        answer, written = _done_and_written(wish, job, results)
    console = Speaker(quiet=wish.writing.quiet)
    if wish.writing.json:
        console.write((folder / SUMMARY).read_text(encoding="utf-8"))
    else:
        answer.show(console)
        show_notes(remarks, console)
        show_written(written, time.perf_counter() - start, console)
    console.close(f"The results are in {str(folder)!r}.")


def _done_and_written(wish: Any, job: Job, results: ResultFolder) -> tuple[Answer, list[Path]]:
    """What was found, and the files it was written to."""
    folder, writing = results.folder, wish.writing
    resume = wish.resume
    earlier = check_folder(folder, job.results, *job.more, force=writing.force, resume=resume)
    replaced = (folder / name for name in (*RESULTS, PARTS, *earlier))
    check_keeps(replaced, wish.files(), "folder")
    silent = writing.quiet or writing.json
    try:
        with stages_shown(silent=writing.quiet):
            answer = job.find(wish, folder, callbacks=progress(bars=not silent))
            with Clock().stage("write"):
                written = results.publish(all_writers(answer), last=SUMMARY, replaces=earlier)
    except BaseException as error:
        keep_members(folder, as_command(job.name, wish), error)
        raise
    clear_members(folder)
    return answer, written


def _remarks(wish: Any, folder: Path) -> list[str]:
    """What is said of how the run went, but is no part of its results."""
    if wish.resume and not (folder / PLAN).exists():
        return [
            f"There was nothing to go on with in {str(folder)!r}: the run began at the beginning."
        ]
    return []


def all_writers(
    answer: Answer, more: Mapping[str, Callable[[Path], Any]] = MappingProxyType({})
) -> dict[str, Callable[[Path], Any]]:
    """The job's files and more, the report where there is one, the timings, the summary."""
    writers = {**more, **answer.writers()}
    shown = None if answer.wish.no_report else answer.report()
    if shown is not None:
        from consilience.explore import report_data
        from consilience.report import without_objects, write_report

        hidden = answer.wish.writing.no_data
        page, view = (without_objects(shown), "") if hidden else (shown, report_data(answer.result))
        writers[REPORT] = lambda path: write_report(page, path, view=view)
    summary = answer.summary() | {"files": [*writers, TIMINGS, SUMMARY]}
    texts = {
        TIMINGS: as_json(answer.timings()),
        SUMMARY: as_json(summary),
    }
    return writers | {name: partial(_write_text, text=text) for name, text in texts.items()}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by name, those of parts beside the others, paths as text."""
    flat: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, dict):
            flat |= _plain(value)
        else:
            flat[name] = str(value) if isinstance(value, Path) else value
    return flat
