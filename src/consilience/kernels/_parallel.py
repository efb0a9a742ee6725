"""Work shared among threads or processes: the one place that says how many there are.

`Parallel` and `delayed` are joblib's, but a number of workers past any use is lowered, and where
the system lets no more threads start there are fewer of them, or none: the work is then done
where it was asked for. Results do not depend on it.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from threading import Event, Thread
from typing import Any, TypeVar

from joblib import Parallel as _JoblibParallel
from joblib import delayed, effective_n_jobs

__all__ = ["Parallel", "Team", "delayed", "in_turns", "workers"]

T = TypeVar("T")

# More workers than this, for each core, wait for each other only.
_A_CORE = 4
# Threads that joblib needs beside those that work.
_HELPERS = 4


class Parallel:
    """joblib's ``Parallel``, with as many workers as are of use and can be started."""

    def __init__(self, n_jobs: int | None = None, **options: Any) -> None:
        self.n_jobs = n_jobs
        self.options = options

    def __call__(self, tasks: Iterable[Any]) -> Any:
        """The results of the tasks, as joblib gives them."""
        tasks = list(tasks)
        n_jobs = workers(self.n_jobs, len(tasks))
        return _JoblibParallel(n_jobs=n_jobs, **self.options)(tasks)


def in_turns(turn: Callable[[int, int], T], n_blocks: int, n_jobs: int | None) -> list[T]:
    """``turn(first, step)`` in threads: each takes the blocks first, first + step, ... of them.

    No Python runs between the blocks of a thread, so that its lock does not matter however short
    they are. For kernels that release it, and whose results do not depend on who made them.

    >>> in_turns(lambda first, step: list(range(first, 5, step)), 5, 2)
    [[0, 2, 4], [1, 3]]
    """
    step = workers(n_jobs, n_blocks)
    if step == 1:
        return [turn(0, 1)]
    with ThreadPoolExecutor(step) as pool:
        return list(pool.map(turn, range(step), [step] * step))


def workers(n_jobs: int | None, n_tasks: int) -> int:
    """How many workers ``n_jobs`` asks for that these tasks can use and that can be started.

    >>> workers(1000, 1), workers(None, 5)
    (1, 1)
    """
    if n_jobs is not None:
        n_jobs = min(n_jobs, _A_CORE * (cpu_count() or 1))
    wanted = min(effective_n_jobs(n_jobs), max(n_tasks, 1))
    if wanted == 1:
        return 1
    return max(1, min(wanted, _startable(wanted + _HELPERS) - _HELPERS))


def _startable(wanted: int) -> int:
    """Threads that can be started now, at most as many as are wanted."""
    over = Event()
    started: list[Thread] = []
    try:
        for _ in range(wanted):
            thread = Thread(target=over.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:  # a limit of the system on threads, or on memory for their stacks
        pass
    finally:
        over.set()
        for thread in started:
            thread.join()
    return len(started)


class Team:
    """Threads that stay for several passes, one after another; used as a context.

    Starting threads takes as long as a short pass. ``size`` is how many there are; a team of
    one works where it is called.

    >>> with Team(2, 5) as team:
    ...     team.run(lambda number: number)
    [0, 1]
    """

    def __init__(self, n_jobs: int | None, n_tasks: int) -> None:
        self.size = workers(n_jobs, n_tasks)
        # One more for calls aside.
        self._pool = ThreadPoolExecutor(self.size + 1) if self.size > 1 else None

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def start(self, turn: Callable[[int], T]) -> Callable[[], list[T]]:
        """Begin ``turn(number)`` in every thread; what is returned waits for their results."""
        if self._pool is None:
            result = [turn(0)]
            return lambda: result
        started = [self._pool.submit(turn, number) for number in range(self.size)]
        return lambda: [future.result() for future in started]

    def aside(self, call: Callable[[], T]) -> Callable[[], T]:
        """Begin a short call that prepares the next pass; what is returned waits for its result."""
        return call if self._pool is None else self._pool.submit(call).result

    def run(self, turn: Callable[[int], T]) -> list[T]:
        """``turn(number)`` in every thread; their results, by number."""
        return self.start(turn)()
