"""Where calls on pieces of rows are made; `Disk` makes them here, one piece after the other.

A piece is a run of whole logical blocks (`Stored.pieces`). Whoever has rows in pieces says how a
function of a piece is called for all of them, and how what belongs to a piece is kept with it; the
passes themselves (`Blocks`) are the same everywhere.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from tempfile import TemporaryFile, gettempdir
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience._stored import Stored
from consilience.errors import MemoryBudgetError

__all__ = ["Chosen", "Disk", "Keeper", "Pieces", "label_room", "told", "watched", "within"]

# Labels of up to so many bytes are kept in memory, more on disk.
_IN_MEMORY = 2**28


class Pieces(Protocol):
    """The pieces of a table, and calls on all of them."""

    table: Stored

    def map(
        self, call: Callable[..., Any], *shared: Any, only: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """``call(X, start, *shared)`` of every piece, in the order of the pieces.

        What is shared and has rows of its own (``within``) is handed on with those of the piece.
        ``only`` are the numbers of the pieces to go through, in order.
        """
        ...

    def step(
        self, call: Callable[..., tuple[Any, Any]], kept: Sequence[Any] | None, *shared: Any
    ) -> tuple[Sequence[Any], Iterator[Any]]:
        """``call(X, start, own, *shared)`` of every piece, where ``own`` was kept with it.

        A call returns what is to be kept with the piece, and what comes back. Nothing was kept
        before the first step (None).
        """
        ...

    def revisit(self, call: Callable[..., Any], kept: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """``call(own, *shared)`` of what was kept with every piece; no row is read."""
        ...


class Keeper(Protocol):
    """Where what was made of pieces is kept, so that it need not be made again."""

    def get(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Arrays that were put there under a name; None without."""
        ...

    def put(self, name: str, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep arrays, all or none of them."""
        ...


_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(call: Callable[[int, int], None]) -> Iterator[None]:
    """Have passes inside tell of their pieces: ``call(done, of_how_many)``."""
    token = _watcher.set(call)
    try:
        yield
    finally:
        _watcher.reset(token)


def told(answers: Iterable[Any], n_pieces: int) -> Iterator[Any]:
    """What was found of one piece after another; whoever watches is told."""
    watcher = _watcher.get()
    for done, one in enumerate(answers, 1):
        if watcher is not None:
            watcher(done, n_pieces)
        yield one


class Chosen(NamedTuple):
    """Numbers of some objects, sorted."""

    objects: NDArray[np.integer[Any]]

    def within(self, start: int, stop: int) -> "Chosen":
        """Those that lie in a piece."""
        first, last = np.searchsorted(self.objects, (start, stop))
        return Chosen(self.objects[first:last])


def within(shared: Sequence[Any], start: int, stop: int) -> list[Any]:
    """What is shared by all pieces as one of them needs it."""
    return [item.within(start, stop) if hasattr(item, "within") else item for item in shared]


class Disk:
    """Pieces that are read here, each when its turn comes."""

    def __init__(self, table: Stored) -> None:
        self.table = table

    def map(
        self, call: Callable[..., Any], *shared: Any, only: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """See `Pieces.map`."""
        pieces = self.table.pieces()
        chosen = pieces if only is None else [pieces[number] for number in only]
        calls = (
            call(self.table.read(start, stop), start, *within(shared, start, stop))
            for start, stop in chosen
        )
        return told(calls, len(chosen))

    def step(
        self, call: Callable[..., tuple[Any, Any]], kept: Sequence[Any] | None, *shared: Any
    ) -> tuple[Sequence[Any], Iterator[Any]]:
        """See `Pieces.step`."""
        pieces = self.table.pieces()
        now: list[Any] = [None] * len(pieces)
        before = [None] * len(pieces) if kept is None else kept

        def steps() -> Iterator[Any]:
            room = None
            for number, (start, stop) in enumerate(pieces):
                own = within(shared, start, stop)
                state, answer = call(self.table.read(start, stop), start, before[number], *own)
                height = len(state)
                if room is None:
                    # Of all pieces, which may be larger than memory. Not one a piece: every map of
                    # a file is an open file, and a process may have a thousand.
                    room = label_room((height * self.table.shape[0],), state.dtype)
                now[number] = room[height * start : height * stop].reshape(height, stop - start)
                now[number][:] = state
                let_go(room, before[number])
                yield answer

        return now, told(steps(), len(pieces))

    def revisit(self, call: Callable[..., Any], kept: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """See `Pieces.revisit`."""
        for own, (start, stop) in zip(kept, self.table.pieces(), strict=True):
            yield call(own, *within(shared, start, stop))
            let_go(own)


def label_room(shape: tuple[int, ...], kind: Any, *, beside: int = 1) -> NDArray[Any]:
    """An array for labels: in memory, or a map of a file without a name, gone with the array.

    ``beside`` is how many such arrays there are going to be.

    >>> label_room((2, 3), np.int8).shape
    (2, 3)
    """
    n_bytes = np.dtype(kind).itemsize * math.prod(shape)
    if beside * n_bytes <= _IN_MEMORY:
        return np.empty(shape, kind)
    with TemporaryFile(prefix="consilience-") as file:
        # Now: where a disk is full later, writing to a map of it ends the process.
        if n_bytes and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            except OSError as error:
                raise MemoryBudgetError(
                    f"Labels of {n_bytes:,} bytes do not fit into the folder for temporary files, "
                    f"{gettempdir()!r} ({error.strerror}). Set TMPDIR to a folder with more room."
                ) from error
        return np.memmap(file, kind, "w+", shape=shape)
