"""Labels that stay on a device from one stage of a job to the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy.typing import NDArray

__all__ = ["labels_stay", "staying"]

# Of the job that is at work: labels on the host, and the same on a device, by both.
_HELD: ContextVar[dict[tuple[Any, ...], tuple[NDArray[Any], Any]] | None] = ContextVar(
    "labels that stay", default=None
)


@contextmanager
def labels_stay() -> Iterator[None]:
    """While this lasts, the labels of an ensemble travel to a device once, and stay there.

    For several calls with ``device=`` on one ensemble, as in a job of `consilience.cluster`, which
    does this by itself. At the end their memory is free again. No result depends on it.

    Examples
    --------
    >>> with labels_stay():
    ...     pass  # confidence(ensemble, labels, device="cuda"), object_weights(ensemble, ...)
    """
    if _HELD.get() is not None:  # inside of another
        yield
        return
    token = _HELD.set({})
    try:
        yield
    finally:
        _HELD.reset(token)


def staying(members: NDArray[Any], device: str, limit: int | None, make: Callable[[], Any]) -> Any:
    """What ``make`` puts on a device of these labels, once for every `labels_stay`.

    Only labels that nobody may write to are known again. Of those that stay together no more than
    ``limit`` bytes do.
    """
    held = _HELD.get()
    if held is None or members.flags.writeable:
        return make()
    key = (members.ctypes.data, members.shape, members.dtype.str, device)
    if key not in held:
        there = sum(one.nbytes for one, _ in held.values())
        if limit is not None and there + members.nbytes > limit:
            held.clear()
        # The array is held too: its address is not given to another one meanwhile.
        held[key] = (members, make())
    return held[key][1]
