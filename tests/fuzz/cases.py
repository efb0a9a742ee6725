"""One case of the fuzzer: a function of a seed and a number, and how it ended.

Nearly half of the cases are commands on files, nearly half are calls of the library, the others
are whole jobs in Python, which take the longest. Every case can be run again alone, because
nothing but the seed and its number goes into it.
"""

import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import calls, commands, jobs, sweep
from fuzz.oracle import Broken

from consilience.consensus import _clarity

__all__ = ["LIMIT", "Outcome", "run_case", "run_sweep"]

#: Seconds of work after which a case counts as one that does not end.
LIMIT = 120
# Tables without groups take most of the time of a command: as many as the smallest p of 0.05
# needs, so that groups can still be clear.
_REFERENCES = 19


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "ok", "refused" or "broken", and what was asked."""

    seed: int
    index: int
    kind: str
    ended: str
    what: str
    why: str = ""


def run_case(seed: int, index: int) -> Outcome:
    """Run one case in an empty folder; never raises."""
    rng = np.random.default_rng([seed, index])
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _inside(Path(folder)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers made too large on purpose
            case = _drawn(rng)
        ended, why = _ended(case)
    return Outcome(seed, index, case.kind, ended, case.what, why)


def run_sweep(name: str, odd: tuple[Any, ...] | None = None) -> list[tuple[str, str, str]]:
    """How the calls of a unit of `sweep` ended, what they were, and why."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _inside(Path(folder)):
        found = [(call.what, *_ended(call)) for call in sweep.sweep(name, odd)]
    return [(ended, what, why) for what, ended, why in found]


def _ended(case: commands.Case | calls.Call) -> tuple[str, str]:
    """How a case ended, and why."""
    try:
        with _few_references(), _time_limit(LIMIT):
            ended, _, why = case.run().partition(": ")
    except Broken as error:
        ended, why = "broken", str(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        ended, why = "broken", "".join(traceback.format_exception(error)[-4:])
    return ended, why


def _drawn(rng: np.random.Generator) -> commands.Case | calls.Call:
    kind = rng.random()
    if kind < 0.46:
        return commands.draw(rng)
    return calls.draw(rng) if kind < 0.92 else jobs.draw(rng)


@contextmanager
def _few_references() -> Iterator[None]:
    kept, _clarity.REFERENCES = _clarity.REFERENCES, _REFERENCES
    try:
        yield
    finally:
        _clarity.REFERENCES = kept


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """The folder as the current one, and a terminal of 80 columns without colours."""
    before, environment = Path.cwd(), dict(os.environ)
    os.environ["COLUMNS"] = "80"
    os.environ.pop("FORCE_COLOR", None)
    inner = folder.joinpath(*["case"] * commands.ABOVE)
    inner.mkdir(parents=True)
    os.chdir(inner)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Stop what has worked for so long; a busy machine does not count, waiting for ever does."""
    if not hasattr(signal, "SIGPROF"):  # Windows
        yield
        return

    def stop(*_: object) -> None:
        raise Broken(f"has not ended after {seconds} s")

    before = [signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(10 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])
