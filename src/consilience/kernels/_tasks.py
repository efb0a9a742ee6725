"""Tasks that threads take from one counter, inside compiled code.

A thread that is done takes the next task, so that all end together whatever the tasks cost and
whatever else the cores have to do; the interpreter's lock is not asked for in between.
"""

from threading import Lock
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

__all__ = ["counter", "next_task", "shrinking_blocks"]

_lock = Lock()


def counter() -> NDArray[np.int64]:
    """A counter for the tasks of one pass: `next_task` gives 0, 1, 2, ..."""
    return np.zeros(1, np.int64)


def next_task(taken: NDArray[np.int64]) -> int:
    """The number of the next task, which no other thread gets."""
    with _lock:
        taken[0] += 1
        return int(taken[0]) - 1


def shrinking_blocks(n_rows: int, n_threads: int, *, most: int, least: int) -> NDArray[np.int64]:
    """Where blocks begin that get smaller towards the end, and where the last one ends.

    Large blocks cost less, small ones let threads end together. Only for work whose result does
    not depend on the blocks.

    >>> shrinking_blocks(100, 2, most=30, least=5)
    array([  0,  25,  43,  57,  67,  75,  81,  86,  91,  96, 100])
    """
    edges = [0]
    while edges[-1] < n_rows:
        size = min(max((n_rows - edges[-1]) // (2 * n_threads), least), most)
        edges.append(min(edges[-1] + size, n_rows))
    return np.array(edges, np.int64)


@intrinsic
def _fetch_and_add(typing_context: Any, taken: Any) -> Any:
    """One more in a single step that no other thread can get between; the number before."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        one = context.get_constant(types.int64, 1)
        return builder.atomic_rmw("add", array.data, one, "monotonic")

    return types.int64(taken), code


@overload(next_task)
def _compiled_next_task(taken):
    return lambda taken: _fetch_and_add(taken)
