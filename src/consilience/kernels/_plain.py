"""Small calls of kernels that nobody compiled yet run as plain Python.

Compiling a kernel takes a tenth of a second to several seconds; on a table of a few hundred
objects the interpreter is done sooner. So a kernel that says how large a small call is
(``@compiled(plain_up_to=...)``) is interpreted while its calls are small, no code of it lies on the
disk, and what was spent on it so far is less than compiling costs. Then it is compiled, and
interpreted no more: whoever runs many small jobs pays at most about twice what the better way
would have cost.

Both ways give the same bits, so which one is taken changes no result. What keeps them equal:

- whole numbers narrower than 64 bits are widened before they are added up, for plain Python keeps
  a sum of bytes in a byte;
- `math.log`, not `np.log`, which is another function there than in compiled code;
- sums in the order of the loops, by `np.add.accumulate` where a loop is written as arrays.

A loop inside that the interpreter is too slow for has a form in arrays, ``@compiled(plain=...)``,
which stands above it and is used in its place.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import thread_time
from types import FunctionType
from typing import Any

import numpy as np

from consilience.kernels._linked import Kernel

__all__ = ["PATIENCE", "Patience", "PlainFirst", "n_values", "plain_form"]

# Seconds of the interpreter on one kernel after which it is compiled.
PATIENCE = 0.25


class Patience:
    """How long one does without a kernel: for calls up to a size, and for some seconds in all."""

    def __init__(self, kernel: Any, plain_up_to: int, seconds: float = PATIENCE) -> None:
        self.over = False
        self._kernel = kernel
        self._plain_up_to = plain_up_to
        self._seconds = seconds

    def lasts(self, size: int) -> bool:
        """Whether a call of this size is done without the kernel; if not, no later one is."""
        large = size > self._plain_up_to
        self.over = self.over or large or self._seconds <= 0.0 or _is_compiled(self._kernel)
        return not self.over

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Do without the kernel, as quietly as compiled code, and note the time it takes."""
        start = thread_time()
        try:
            with np.errstate(all="ignore"):
                yield
        finally:
            self._seconds -= thread_time() - start


class PlainFirst(Kernel):
    """A kernel that is interpreted as long as that pays."""

    patience: Patience
    # How large a call is, of its arguments.
    size: Callable[..., int]

    def __call__(self, *arguments: Any) -> Any:
        """Run, interpreted or compiled."""
        if self.patience.over or not self.patience.lasts(self.size(*arguments)):
            return super().__call__(*arguments)
        with self.patience.tried():
            return plain_form(self)(*arguments)


def n_values(*arguments: Any) -> int:
    """Values of all arrays among the arguments.

    >>> n_values(np.zeros((2, 3)), 5, (np.zeros(4), None))
    10
    """
    total = 0
    for one in arguments:
        if isinstance(one, np.ndarray):
            total += one.size
        elif isinstance(one, tuple):
            total += n_values(*one)
    return total


def _is_compiled(kernel: Any) -> bool:
    """Whether there is compiled code: in this process, or on the disk from an earlier one."""
    if not isinstance(kernel, Kernel):  # where nothing is ever compiled, it is as good as compiled
        return True
    return bool(kernel.overloads) or getattr(kernel._cache, "holds_code", bool)()


@cache
def plain_form(kernel: Kernel) -> Callable[..., Any]:
    """The function of a kernel, in which the kernels it calls are plain functions, too."""
    if kernel.plain is not None:
        return kernel.plain
    function = kernel.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Kernel):
            names[name] = plain_form(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)
