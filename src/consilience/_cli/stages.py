"""What every job of the command line keeps while it runs, and says of it.

Seconds by stage, warnings as notes, and on the standard error stream what is being done: one line
a stage that takes longer than a moment, now and then another; on a terminal, seconds that run.
"""

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TextIO

__all__ = ["Clock", "Teller", "noting", "telling"]

_WORDS = {
    "read": "reading",
    "generate": "making the clusterings",
    "number of clusters": "looking for the number of clusters",
    "consensus": "combining the clusterings",
    "ambiguity": "scoring the objects",
    "score": "scoring the objects",
    "thresholds": "looking for thresholds",
    "write": "writing the results",
}
# Stages with a bar of their own on a terminal.
_BARS = ("generate", "score")


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect the text of warnings meant for users, each once, instead of showing them."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        yield notes
    notes += dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)


@dataclass
class Teller:
    """Says on a stream what is being done, if it takes longer than ``moment`` seconds."""

    stream: TextIO
    live: bool
    moment: float = 1.0
    again: float = 30.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell of what happens inside."""
        if self.live and name in _BARS:
            yield
            return
        over = Event()
        voice = Thread(target=self._speak, args=(_WORDS.get(name, name), over), daemon=True)
        with suppress(RuntimeError):  # no thread can start: nothing is said
            voice.start()
        try:
            yield
        finally:
            over.set()
            if voice.ident is not None:
                voice.join()

    def _speak(self, words: str, over: Event) -> None:
        start = time.monotonic()
        if over.wait(self.moment):
            return
        with suppress(OSError, ValueError):  # nobody listens any more
            if self.live:
                self._count(words, over, start)
            else:
                self._repeat(words, over, start)

    def _count(self, words: str, over: Event, start: float) -> None:
        """One line on a terminal whose seconds run; it is gone in the end."""
        told = ""
        while not over.is_set():
            told = f"{words} ... {time.monotonic() - start:.0f} s"
            print(f"\r{told}", end="", file=self.stream, flush=True)
            over.wait(1.0)
        print(f"\r{' ' * len(told)}\r", end="", file=self.stream, flush=True)

    def _repeat(self, words: str, over: Event, start: float) -> None:
        """A line, and another whenever twice the time has passed."""
        print(f"consilience: {words} ...", file=self.stream, flush=True)
        pause = self.again
        while not over.wait(pause):
            passed = time.monotonic() - start
            print(f"consilience: still {words} ({passed:.0f} s) ...", file=self.stream, flush=True)
            pause = passed


_TELLER: ContextVar[Teller | None] = ContextVar("teller", default=None)


@contextmanager
def telling(silent: bool = False) -> Iterator[None]:
    """Tell of all stages inside, unless told not to (by CONSILIENCE_PROGRESS=0, too)."""
    silent = silent or os.environ.get("CONSILIENCE_PROGRESS") == "0" or sys.stderr is None
    teller = None if silent else Teller(sys.stderr, live=sys.stderr.isatty())
    token = _TELLER.set(teller)
    try:
        yield
    finally:
        _TELLER.reset(token)


@dataclass
class Clock:
    """Seconds of each stage, in the order they were run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and tell of it."""
        teller = _TELLER.get()
        start = time.perf_counter()
        with nullcontext() if teller is None else teller.stage(name):
            yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
