"""Linear algebra on one thread: libraries must not start threads inside ours."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread, so that sums do not depend on the number of threads.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {library["num_threads"] for library in threadpool_info()} <= {1}
    True
    """
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(_n_modules: int) -> ThreadpoolController:
    """The libraries that have threads, looked for again only when a module has been imported.

    To look takes milliseconds, longer than many a small job inside; a library comes with a module.
    """
    return ThreadpoolController()
