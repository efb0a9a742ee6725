"""Work shared among threads or processes: the one place that says how many there are.

`Parallel` and `delayed` are joblib's, but a number of workers past any use is lowered, and where
the system lets no more threads start there are fewer of them, or none: the work is then done
where it was asked for. Results do not depend on it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from os import cpu_count
from threading import Event, Thread
from typing import Any, TypeVar

from joblib import Parallel as _JoblibParallel
from joblib import delayed, effective_n_jobs

__all__ = ["Parallel", "delayed", "in_turns", "of_use", "streamed", "workers"]

S = TypeVar("S")
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


def in_turns(
    turn: Callable[[int, int], T],
    n_blocks: int,
    n_jobs: int | None,
    stop: Callable[[], None] | None = None,
) -> list[T]:
    """``turn(first, step)`` in threads: each takes the blocks first, first + step, ... of them.

    No Python runs between the blocks of a thread, so that its lock does not matter however short
    they are. For kernels that release it, and whose results do not depend on who made them.
    ``stop`` is called if a turn fails or is interrupted, before the others are waited for. The
    calling thread takes a turn itself; where the system lets no more start, there are fewer.

    >>> in_turns(lambda first, step: list(range(first, 5, step)), 5, 2)
    [[0, 2, 4], [1, 3]]
    """
    wanted = of_use(n_jobs, n_blocks)
    if wanted == 1:
        return [turn(0, 1)]
    return _Turns(turn, stop).run(wanted)


class _Turns:
    """Turns of as many threads as can be started, the calling one among them."""

    def __init__(
        self, turn: Callable[[int, int], T], stop: Callable[[], None] | None = None
    ) -> None:
        self.turn, self.stop = turn, stop
        self.step = 0
        self.ready = Event()  # how many there are is known
        self.found: dict[int, Any] = {}
        self.errors: list[BaseException] = []

    def run(self, wanted: int) -> list[Any]:
        """Results of all turns, in order; raises what the first that failed raised."""
        threads: list[Thread] = []
        try:
            for first in range(1, wanted):
                thread = Thread(target=self._take, args=(first,), daemon=True)
                thread.start()
                threads.append(thread)
        except RuntimeError:  # a limit of the system on threads, or on memory for their stacks
            pass
        except BaseException:
            self.ready.set()  # with no step: there is nothing to do
            raise
        self.step = 1 + len(threads)
        self.ready.set()
        try:
            self._take(0)
            for thread in threads:
                thread.join()
        except BaseException as error:
            self._fail(error)
            for thread in threads:
                thread.join()
        if self.errors:
            raise self.errors[0]
        return [self.found[first] for first in range(self.step)]

    def _take(self, first: int) -> None:
        self.ready.wait()
        if self.step == 0:
            return
        try:
            self.found[first] = self.turn(first, self.step)
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.errors.append(error)
        if self.stop is not None:
            self.stop()


def streamed(
    call: Callable[[S], T], items: Sequence[S], n_jobs: int | None, *, in_order: bool = True
) -> Iterator[tuple[S, T]]:
    """Items and ``call(item)``, made in threads, each as soon as it is there, or in order.

    Calls that have not begun when nobody asks for more are not made.

    >>> list(streamed(len, ["a", "bcd"], 2))
    [('a', 1), ('bcd', 3)]
    """
    n_threads = workers(n_jobs, len(items))
    if n_threads == 1:
        yield from ((item, call(item)) for item in items)
        return
    # So few are under way that what nobody has asked for yet takes little memory.
    waiting: dict[Future[T], S] = {}
    pool = ThreadPoolExecutor(n_threads)
    try:
        for number, item in enumerate(items):
            waiting[pool.submit(call, item)] = item
            if number + 1 >= 2 * n_threads:
                yield _next_of(waiting, in_order)
        while waiting:
            yield _next_of(waiting, in_order)
    finally:
        pool.shutdown(cancel_futures=True)


def _next_of(waiting: dict[Future[T], S], in_order: bool) -> tuple[S, T]:
    """The first of several calls, or the first that is ready; takes it out."""
    first = next(iter(waiting))
    if not in_order:
        first = next(iter(wait(waiting, return_when=FIRST_COMPLETED).done))
    return waiting.pop(first), first.result()


def of_use(n_jobs: int | None, n_tasks: int) -> int:
    """How many workers ``n_jobs`` asks for that these tasks can use.

    >>> of_use(1000, 1), of_use(None, 5)
    (1, 1)
    """
    if n_jobs is not None:
        n_jobs = min(n_jobs, _A_CORE * (cpu_count() or 1))
    return min(effective_n_jobs(n_jobs), max(n_tasks, 1))


def workers(n_jobs: int | None, n_tasks: int) -> int:
    """As `of_use`, and no more than can be started.

    >>> workers(1000, 1), workers(None, 5)
    (1, 1)
    """
    wanted = of_use(n_jobs, n_tasks)
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
