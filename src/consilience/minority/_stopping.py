"""When enough weak clusterings have been counted.

Both rules look at the scores after every hundred repetitions. "reliability" stops when the share
of noise in the scores is small, twice running. "paper" stops when the median change of the
scores by one repetition is small; that change falls with the square of their number whatever the
data, so its tolerance is a number of repetitions in disguise.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from consilience.minority._batches import Scorer
from consilience.minority._by_blocks import BlockScorer
from consilience.minority.scores import Running, extend
from consilience.minority.weak import WeakClusterer
from consilience.rows import Stored

__all__ = ["Progress", "count_up", "n_lines"]

# Repetitions between two looks at the scores; between two reports of progress with many objects.
_WINDOW, _STEP = 100, 20
_MANY_OBJECTS = 50_000
_TOLERANCE = {"reliability": 0.995, "paper": 1e-10}


@dataclass
class Progress:
    """The rule, and what it has seen.

    Attributes
    ----------
    rule : {"reliability", "paper"}
    tol : float or None
        None is a reliability of 0.995, or a change of 1e-10.
    seen : list of (repetitions, reliability, median change)
        One entry every hundred repetitions; the change is NaN unless the rule is "paper".
    """

    rule: str = "reliability"
    tol: float | None = None
    seen: list[tuple[int, float, float]] = field(default_factory=list)

    def look(self, running: Running) -> None:
        """Note how settled the scores are, every hundred repetitions."""
        R = running.n_repetitions
        if R % _WINDOW == 0 and (not self.seen or self.seen[-1][0] < R):
            change = float(np.median(running.changes[-_WINDOW:])) if running.changes else np.nan
            self.seen.append((R, running.reliability(), change))

    @property
    def settled(self) -> bool:
        """Whether the rule says that there are enough."""
        tol = _TOLERANCE[self.rule] if self.tol is None else self.tol
        if self.rule == "paper":
            return bool(self.seen) and self.seen[-1][2] < tol
        return len(self.seen) >= 2 and min(self.seen[-1][1], self.seen[-2][1]) >= tol


def n_lines(start: int, last: int, n_objects: int) -> int:
    """Lines `count_up` yields at most on the way from one number of repetitions to another."""
    step = _step(n_objects)
    return -(-last // step) - start // step


def _step(n_objects: int) -> int:
    return _STEP if n_objects > _MANY_OBJECTS else _WINDOW


def count_up(
    running: Running,
    weak: WeakClusterer,
    X: Any,
    progress: Progress,
    *,
    wanted: int | None,
    ceiling: int,
    seed: int,
    n_jobs: int | None,
    device: str | None = None,
) -> Iterator[Callable[[], str]]:
    """Add repetitions until there are enough; yields a line after every few, made when called.

    Parameters
    ----------
    running : Running
        Changed in place.
    weak : WeakClusterer
        Fitted on ``X``.
    X : array or CSR matrix
    progress : Progress
        Changed in place.
    wanted : int or None
        Repetitions in all; None follows the rule.
    ceiling : int
        Most repetitions of the rule.
    seed : int
    n_jobs : int or None
    device : str or None
        Torch's device where repetitions that compiled passes can make are made instead.
    """
    last = ceiling if wanted is None else wanted
    with ExitStack() as stack:
        scorer: Any = None
        if isinstance(X, Stored):
            scorer = BlockScorer(weak, X, n_jobs)
        elif device is not None and Scorer.takes(weak, X):
            from consilience.minority._on_device import DeviceScorer

            scorer = DeviceScorer(weak, X, device)
        elif Scorer.takes(weak, X):
            few = min(last - running.n_repetitions, _step(weak.n_objects))
            scorer = stack.enter_context(Scorer(weak, X, n_jobs, few))
        step = partial(extend, running, weak, X, seed=seed, n_jobs=n_jobs, scorer=scorer)
        yield from _count_up(running, progress, step, wanted, last)


def _line(n_repetitions: int, running: Running) -> str:
    return f"{n_repetitions} repetitions, reliability {running.reliability():.4f}"


def _count_up(
    running: Running, progress: Progress, add: Any, wanted: int | None, last: int
) -> Iterator[Callable[[], str]]:
    step = _step(len(running.total))
    while running.n_repetitions < last:
        start = running.n_repetitions
        stop = min(last, start - start % step + step)
        add(range(start, stop), with_changes=progress.rule == "paper")
        progress.look(running)
        yield partial(_line, stop, running)
        if wanted is None and progress.settled:
            return
