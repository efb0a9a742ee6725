"""Work shared among threads or processes: the one place that says how many there are.

`Parallel` and `delayed` are joblib's, but a number of workers past any use is lowered, and where
the system lets no more threads start there are fewer of them, or none: the work is then done
where it was asked for. Results do not depend on it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from os import cpu_count
from queue import Empty, SimpleQueue
from threading import Event, Lock, RLock, Thread
from typing import Any, TypeVar
from weakref import finalize

from joblib import Parallel as _JoblibParallel
from joblib import delayed, effective_n_jobs

__all__ = [
    "Parallel",
    "Team",
    "by_rows",
    "delayed",
    "in_threads",
    "in_turns",
    "of_use",
    "streamed",
    "workers",
]

S = TypeVar("S")
T = TypeVar("T")

# More workers than this, for each core, wait for each other only.
_A_CORE = 4
# Threads that joblib needs beside those that work.
_HELPERS = 4
# Seconds that a thread without work waits for more.
_PATIENCE = 2.0
# Rows of a slice of `by_rows`: much more work than Python does around it, small in the cache.
_ROWS = 1 << 11


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
    if of_use(n_jobs, n_blocks) == 1:
        return [turn(0, 1)]
    with Team(n_jobs, n_blocks) as team:

        def guarded(first: int) -> T:
            try:
                return turn(first, team.size)
            except BaseException:
                if stop is not None:
                    stop()
                raise

        waiting = team.start(guarded)
        try:
            return waiting()
        except BaseException:
            if stop is not None:  # an interrupt of the wait comes from no turn
                stop()
            team.settle()
            raise


def by_rows(
    call: Callable[[slice], object], n_rows: int, n_jobs: int | None, *, size: int = _ROWS
) -> None:
    """``call(rows)`` in threads for slices that together are all rows.

    For work of NumPy on rows, which releases the lock. The slices are the same for any ``n_jobs``,
    so that what is found in one does not depend on it. Few rows are done where this is called.

    >>> done = set()
    >>> by_rows(lambda rows: done.add((rows.start, rows.stop)), 5, 2, size=2)
    >>> sorted(done)
    [(0, 2), (2, 4), (4, 5)]
    """
    n_slices = -(-n_rows // size)
    numbers = iter(range(n_slices))

    def turn(first: int, step: int) -> None:
        for number in numbers:  # whoever is free takes the next
            call(slice(number * size, min((number + 1) * size, n_rows)))

    in_turns(turn, n_slices, n_jobs)


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


def in_threads(call: Callable[[S], T], items: Iterable[S], n_jobs: int | None) -> list[T]:
    """``call(item)`` of every item, made in threads, in the order of the items.

    >>> in_threads(len, ["a", "bcd"], 2)
    [1, 3]
    """
    given = list(items)
    made: dict[int, T] = {}
    numbers = iter(range(len(given)))
    failed = Event()

    def turn(first: int, step: int) -> None:
        for number in numbers:  # whoever is free takes the next
            if failed.is_set():
                return
            made[number] = call(given[number])

    in_turns(turn, len(given), n_jobs, failed.set)
    return [made[number] for number in range(len(given))]


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


class Team:
    """Threads that stay for several passes, one after another; used as a context.

    Starting threads takes as long as a short pass, and so does trying how many can start: here
    those that start are those that work, and when a team is dismissed they wait a while for the
    next. ``size`` is how many there are, the calling one among them; a team of one works where it
    is called.

    >>> with Team(2, 5) as team:
    ...     team.run(lambda number: number)
    [0, 1]
    """

    def __init__(self, n_jobs: int | None, n_tasks: int) -> None:
        self._posts: list[_Post] = []
        self._given: list[_Pass] = []
        # Also where nobody enters the context, because something failed before.
        self._dismiss = finalize(self, _send_home, self._posts, self._given)
        wanted = of_use(n_jobs, n_tasks)
        while len(self._posts) < wanted - 1 and self._hire():
            pass
        self.size = len(self._posts) + 1

    def _hire(self) -> bool:
        """Take a thread that waits, or start another, if the system lets us."""
        post = _waiting_thread()
        if post is None:
            return False
        self._posts.append(post)
        return True

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *error: object) -> None:
        self._dismiss()

    def _give(self, work: "_Pass") -> None:
        self._given[:] = [other for other in self._given if not other.is_over]
        self._given.append(work)

    def start(self, turn: Callable[[int], T]) -> Callable[[], list[T]]:
        """Begin ``turn(number)`` in every thread but this; what is returned does its own and waits.

        Nothing raised in a turn is lost: the wait raises it when all are done.
        """
        work = _Pass(turn, self.size)
        self._give(work)
        for number, post in enumerate(self._posts[: self.size - 1], 1):
            post.put((work, number))

        def wait() -> list[T]:
            work.run(0)
            return work.results()

        return wait

    def settle(self) -> None:
        """Wait for all that was begun."""
        for work in list(self._given):
            work.wait()

    def aside(self, call: Callable[[], T]) -> Callable[[], T]:
        """Begin a short call that prepares the next pass; what is returned waits for its result."""
        # One thread more than the team has, from the first such call on.
        if self.size == 1 or (len(self._posts) < self.size and not self._hire()):
            return call
        work = _Pass(lambda _: call(), 1)
        self._give(work)
        self._posts[-1].put((work, 0))
        return lambda: work.results()[0]

    def run(self, turn: Callable[[int], T]) -> list[T]:
        """``turn(number)`` in every thread; their results, by number."""
        return self.start(turn)()


class _Pass:
    """Turns of several threads, and what came of them.

    Whoever ends last opens the one lock that is waited for: a lock for each of many threads would
    have to be waited for one after another, which takes as long as a short pass.
    """

    def __init__(self, turn: Callable[[int], Any], size: int) -> None:
        self._turn = turn
        self._made: list[Any] = [None] * size
        self._errors: dict[int, BaseException] = {}
        self._still_busy = iter(range(size - 1, -1, -1))
        self._over = Lock()
        self._over.acquire()

    @property
    def is_over(self) -> bool:
        return not self._over.locked()

    def run(self, number: int) -> None:
        try:
            self._made[number] = self._turn(number)
        except BaseException as error:  # raised again by whoever waits for the results
            self._errors[number] = error
        finally:
            if next(self._still_busy) == 0:
                self._over.release()

    def wait(self) -> None:
        with self._over:
            pass

    def results(self) -> list[Any]:
        """What the turns returned, by number, when all are done."""
        self.wait()
        if self._errors:
            raise self._errors[min(self._errors)]
        return self._made


# Where a thread gets its turns; None tells it to wait for another team when it has done them.
_Post = SimpleQueue[tuple[_Pass, int] | None]
# Threads that belong to no team, by their posts.
_waiting: list[_Post] = []
# A team may be forgotten, and so dismissed, while its own thread holds this.
_lock = RLock()


def _waiting_thread() -> _Post | None:
    """The post of a thread that waits, or of a new one; None if the system starts no more."""
    with _lock:
        if _waiting:
            return _waiting.pop()
    post: _Post = SimpleQueue()
    try:
        Thread(target=_work, args=(post,), daemon=True).start()
    except RuntimeError:  # a limit of the system on threads, or on memory for their stacks
        return None
    return post


def _work(post: _Post) -> None:
    """What a thread does until nobody has wanted it for a while; it does not hold its team."""
    while True:
        try:
            given = post.get(timeout=_PATIENCE)
        except Empty:
            with _lock:
                if post in _waiting:
                    _waiting.remove(post)
                    return
            continue  # its team thinks
        if given is None:
            with _lock:
                _waiting.append(post)
        else:
            given[0].run(given[1])
        del given


def _send_home(posts: list[_Post], given: list[_Pass]) -> None:
    """Let the threads of a team wait for another."""
    if all(work.is_over for work in given):
        with _lock:
            _waiting.extend(posts)
        return
    for post in posts:  # somebody was interrupted: they end what they do first
        post.put(None)


def _without_threads() -> None:
    """In the child of a fork there are no threads but the one that forked."""
    global _lock
    _waiting.clear()
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_without_threads)
