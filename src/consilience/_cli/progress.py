"""The stages of a job as a command shows them: callbacks of scikit-learn.

A voice tells of every stage; on a terminal a bar runs where many clusterings are made.
"""

import sys
from contextlib import ExitStack
from typing import Any

from consilience._cli.stages import BARS, detail_shown, shown_stage

__all__ = ["Bars", "Voice", "progress"]

# Told as part of reading, which goes before it.
_SILENT = ("prepare",)


class Voice:
    """Tells of each stage of a job while it runs; see `shown_stage`."""

    def __init__(self) -> None:
        self._open = ExitStack()

    def setup(self, estimator: Any, context: Any) -> None:
        """The job begins."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A stage begins."""
        if context.parent is not None and context.task_name not in _SILENT:
            self._open.enter_context(shown_stage(context.task_name))

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """A stage has ended."""
        self._open.close()

    def teardown(self, estimator: Any, context: Any) -> None:
        """The job has ended, however it ended."""
        self._open.close()


class Bars:
    """A bar on a terminal for the stages that make many clusterings, one step a clustering."""

    # Into the generator, not into what the generator is made of.
    max_propagation_depth = 1

    def __init__(self) -> None:
        self._open = ExitStack()
        self._bar: Any = None
        self._shown: Any = None

    def setup(self, estimator: Any, context: Any) -> None:
        """The job begins."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A bar for the generator that takes over a stage."""
        if context.source_task_name in BARS:
            self._bar = self._open.enter_context(_bar())
            name = f"{context.estimator_name} - {context.task_name}"
            self._task = self._bar.add_task(name, total=context.max_subtasks)
            self._shown = context

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """A clustering is made, or all of them."""
        if self._shown is None:
            return
        if context.parent is self._shown:
            self._bar.advance(self._task)
        elif context is self._shown:
            self._bar.update(self._task, completed=1, total=1)
            self.teardown(estimator, context)

    def teardown(self, estimator: Any, context: Any) -> None:
        """The bar stays as it is."""
        self._shown = None
        self._open.close()


def progress(*, bars: bool = True) -> tuple[Any, ...]:
    """What a job is told to: a voice, and bars on a terminal."""
    return (Voice(), Bars()) if bars and sys.stdout.isatty() else (Voice(),)


def _bar() -> Any:
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.text import Text

    said = detail_shown()

    class Detail(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(said())

    return Progress(
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        TaskProgressColumn("{task.percentage:>3.0f}%"),
        Remaining(elapsed_when_finished=True),
        Detail(),
    )
