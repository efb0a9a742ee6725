"""Words to somebody who may have left: results are never lost because nobody listens."""

import os
import sys
from contextlib import suppress
from typing import Any

from rich.console import Console

__all__ = ["Speaker", "silence"]


class Speaker(Console):
    """A console that goes quiet when it cannot be written to, and says so when asked.

    Parameters
    ----------
    parameters of `rich.console.Console`
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.failed: OSError | None = None

    def print(self, *objects: Any, **how: Any) -> None:
        """Print, unless printing failed before."""
        try:
            super().print(*objects, **how)
        except OSError as error:
            self._give_up(error)

    def write(self, text: str) -> None:
        """Print text as it is."""
        try:
            if not self.quiet:
                print(text, end="", flush=True)
        except OSError as error:
            self._give_up(error)

    def on_broken_pipe(self) -> None:
        """Go quiet; `rich` would end the process."""
        self._give_up(BrokenPipeError())

    def close(self, told: str) -> None:
        """Raise what went wrong, unless the reader just left; ``told``, if any, is added to it."""
        if self.failed is not None and not isinstance(self.failed, BrokenPipeError):
            if told:
                self.failed.add_note(told)
            raise self.failed

    def _give_up(self, error: OSError) -> None:
        if self.failed is None:
            self.failed = error
        self.quiet = True
        silence()


def silence() -> None:
    """Send what is still to be printed nowhere, also at exit."""
    with suppress(OSError, ValueError):  # a stream of Python's own, such as one in a notebook
        place = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, place)
        os.close(nowhere)
