"""What a command says while it works, on the standard error stream.

One line a stage that takes longer than a moment, now and then another; on a terminal, seconds that
run. What the command does itself, reading and writing, is timed here; a job times its own stages.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TextIO

__all__ = ["BARS", "Clock", "Teller", "detail_shown", "shown_detail", "shown_stage", "stages_shown"]

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
BARS = ("generate", "score")


@dataclass
class Teller:
    """Says on a stream what is being done, if it takes longer than ``moment`` seconds."""

    stream: TextIO
    live: bool
    moment: float = 1.0
    again: float = 30.0
    detail: str = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell of what happens inside."""
        self.detail = ""
        if self.live and name in BARS:
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
            told = f"{words} ... {time.monotonic() - start:.0f} s{self.detail}"
            print(f"\r{told}", end="", file=self.stream, flush=True)
            over.wait(1.0)
        print(f"\r{' ' * len(told)}\r", end="", file=self.stream, flush=True)

    def _repeat(self, words: str, over: Event, start: float) -> None:
        """A line, and another whenever twice the time has passed."""
        print(f"consilience: {words} ...", file=self.stream, flush=True)
        pause = self.again
        while not over.wait(pause):
            passed = time.monotonic() - start
            text = f"consilience: still {words} ({passed:.0f} s{self.detail}) ..."
            print(text, file=self.stream, flush=True)
            pause = passed


_TELLER: ContextVar[Teller | None] = ContextVar("teller", default=None)


@contextmanager
def stages_shown(silent: bool = False) -> Iterator[None]:
    """Tell of all stages inside, unless told not to (by CONSILIENCE_PROGRESS=0, too)."""
    silent = silent or os.environ.get("CONSILIENCE_PROGRESS") == "0" or sys.stderr is None
    teller = None if silent else Teller(sys.stderr, live=sys.stderr.isatty())
    token = _TELLER.set(teller)
    try:
        with nullcontext() if silent else _told_of_compiling():
            yield
    finally:
        _TELLER.reset(token)


@contextmanager
def _told_of_compiling() -> Iterator[None]:
    """Pass on what the kernels say of themselves: that the first run of all compiles them."""
    logger, handler = logging.getLogger("consilience.kernels"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("consilience: %(message)s ..."))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


@contextmanager
def shown_stage(name: str) -> Iterator[None]:
    """Tell of what happens inside, where stages are told."""
    teller = _TELLER.get()
    with nullcontext() if teller is None else teller.stage(name):
        yield


def shown_detail(done: int, n_blocks: int) -> None:
    """Tell how many blocks the pass that is at work has gone through, where stages are told."""
    teller = _TELLER.get()
    if teller is not None:
        teller.detail = f", block {done:,} of {n_blocks:,}"


def detail_shown() -> Callable[[], str]:
    """What `shown_detail` said last, for whoever shows it, in a thread of its own maybe."""
    teller = _TELLER.get()
    return lambda: "" if teller is None else teller.detail.removeprefix(", ")


@dataclass
class Clock:
    """Seconds of each stage, in the order they were run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and tell of it."""
        start = time.perf_counter()
        with shown_stage(name):
            yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
