"""Rows of a Dask array on a cluster: a task a piece, on whichever worker has it.

The blocks of the array are cut into pieces of whole logical blocks and kept on the workers, where
there are many of them a few together. A pass is one task for each; what comes back is small, and is
added in the tree by the number of the piece. So neither the number of workers nor their speed, nor
the loss of one, changes a bit: a task that was lost is made again.
"""

import asyncio
import concurrent.futures
import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from consilience._optional import optional
from consilience._stored import Stored, is_dask, lost_cluster
from consilience.engines._pieces import told
from consilience.errors import ClusterLostError, InvalidInputError

__all__ = ["Cluster", "cluster_of", "releasing", "workers_at"]

# What Dask raises where a scheduler is gone.
_GONE = (asyncio.CancelledError, concurrent.futures.CancelledError, OSError)
# Pieces that a task goes through, if there are so many tasks for every thread: a task costs the
# scheduler milliseconds, and all wait for the last one.
_TOGETHER, _TASKS = 4, 4
# Seconds that a scheduler may take to answer, and workers to come.
_ANSWER, _COME = 15, 60


class _Kept(NamedTuple):
    """Pieces of a table on the workers of a client, and what else was asked of these."""

    client: Any
    groups: list[range]  # numbers of the pieces that lie together
    blocks: list[Any]
    array: Any  # as it was given
    sent: "WeakSet[Any]"


# Tables whose pieces the workers of a client keep.
_kept: "WeakKeyDictionary[Stored, _Kept]" = WeakKeyDictionary()


@contextmanager
def workers_at(where: str, n_workers: int | None = None, memory: float | None = None) -> Any:
    """The client of a scheduler, the current one inside; workers are given back at the end.

    Parameters
    ----------
    where : str
        Address of a scheduler, such as "tcp://host:8786", or "local" for workers made here.
    n_workers : int or None
        Of "local"; None makes two.
    memory : float or None
        Bytes that all workers of "local" together may take; None leaves it to Dask.
    """
    distributed = optional("distributed", extra="distributed", what="Clustering on a cluster")
    with ExitStack() as opened:
        target: Any = where
        if where == "local":
            n_workers = 2 if n_workers is None else n_workers
            target = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit="auto" if memory is None else memory / n_workers,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
            opened.enter_context(target)
        try:
            client = opened.enter_context(distributed.Client(target, timeout=_ANSWER))
            client.wait_for_workers(1, timeout=_COME)
        except TypeError as error:  # what Dask raises without certificates
            raise ClusterLostError(
                f"The Dask cluster at {where!r} cannot be asked: {error}. Name the certificates of "
                "a scheduler with TLS in Dask's own configuration, 'distributed.comm.tls'."
            ) from error
        except (OSError, ValueError, TimeoutError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ClusterLostError(
                f"No Dask cluster answers at {where!r} ({why}). Start a scheduler with 'dask "
                f"scheduler' and workers with 'dask worker ADDRESS', and name its address."
            ) from error
        yield client


@contextmanager
def releasing(rows: Any, *, after_errors_only: bool = False) -> Iterator[None]:
    """Have workers forget the pieces of a table in the end, also of a job that is interrupted.

    Parameters
    ----------
    rows : Stored, or anything else
        Nothing is done for what is no stored table.
    after_errors_only : bool, default=False
        Whether pieces stay where they are if all went well, for the next job.
    """
    try:
        yield
    except BaseException:
        _release(rows)  # the traceback of an interrupt may keep all of them for long
        raise
    if not after_errors_only:
        _release(rows)


def _release(rows: Any) -> None:
    known = _kept.pop(rows.base, None) if isinstance(rows, Stored) else None
    if known is not None:
        rows.base.array = known.array
        # Where the scheduler is gone, to ask it takes as long as it may take to answer.
        with suppress(Exception):
            if known.client.status == "running":
                known.client.cancel(list(known.sent), force=True)


def cluster_of(table: Stored) -> "Cluster | None":
    """The pieces of a Dask array on the cluster of the current client; None without one."""
    # A client is there only where somebody imported distributed to make it.
    if not is_dask(getattr(table.base, "array", None)) or "distributed" not in sys.modules:
        return None
    distributed = optional("distributed", extra="distributed", what="Clustering on a cluster")
    try:
        return Cluster(table, distributed.default_client())
    except ValueError:
        return None


class Cluster:
    """Pieces on the workers of a Dask client.

    What all tasks of a pass share, centres for one, is a task of its own: it goes to every worker
    once, and is made again where it was lost. All tasks of a pass go to the scheduler together.
    """

    def __init__(self, table: Stored, client: Any) -> None:
        self.table, self._client = table, client
        self._bounds = table.pieces()
        known = _kept.get(table.base)
        if known is None or known.client is not client:
            array: Any = getattr(table.base, "array", None)
            groups = self._grouped()
            _kept[table.base] = known = _Kept(
                client, groups, self._pieces(groups), array, WeakSet()
            )
        self._groups, self._blocks, self._sent = known.groups, known.blocks, known.sent

    def map(
        self, call: Callable[..., Any], *shared: Any, only: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """See `Pieces.map`; few results wait on the workers to be fetched."""
        chosen = set(range(len(self._bounds)) if only is None else only)
        return told(self._mapped(call, shared, chosen), len(chosen))

    def _mapped(
        self, call: Callable[..., Any], shared: tuple[Any, ...], chosen: set[int]
    ) -> Iterator[Any]:
        self._check()
        common = self._common(call, shared)
        wanted = [[n for n in group if n in chosen] for group in self._groups]
        places = [place for place, own in enumerate(wanted) if own]
        together = 1 + sum(self._asked(self._client.nthreads).values())
        waiting: deque[Any] = deque()
        for first in range(0, len(places), together):
            some = places[first : first + together]
            while len(waiting) > together:
                yield from _fetched(waiting.popleft())
            blocks = [self._blocks[place] for place in some]
            own = [self._own(shared, place, wanted[place]) for place in some]
            waiting += self._sent_out(_on_pieces, common, blocks, own)
        while waiting:
            yield from _fetched(waiting.popleft())

    def step(
        self, call: Callable[..., tuple[Any, Any]], kept: Sequence[Any] | None, *shared: Any
    ) -> tuple[Sequence[Any], Iterator[Any]]:
        """See `Pieces.step`; what is kept stays on the workers."""
        self._check()
        before = [None] * len(self._groups) if kept is None else list(kept)
        common, own = self._common(call, shared), self._all_own(shared)
        pairs = self._sent_out(_on_kept_pieces, common, self._blocks, before, own)
        answers = self._sent_out(itemgetter(1), pairs)
        return pairs, told(self._each(answers), len(self._bounds))

    def revisit(self, call: Callable[..., Any], kept: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """See `Pieces.revisit`; where it is kept."""
        self._check()
        common, own = self._common(call, shared), self._all_own(shared)
        return self._each(self._sent_out(_on_kept, common, list(kept), own))

    def _each(self, futures: Sequence[Any]) -> Iterator[Any]:
        """What was found of one piece after another, by tasks of several."""
        return chain.from_iterable(map(_fetched, futures))

    def _check(self) -> None:
        if self._client.status != "running":
            raise lost_cluster(f"the client is {self._client.status}")

    def _common(self, call: Callable[..., Any], shared: tuple[Any, ...]) -> Any:
        """What is the same for all pieces, on the workers; the rest has its place in it."""
        same = [None if hasattr(item, "within") else item for item in shared]
        pass_ = _Pass(call, self.table, same)
        # Not pure, here and below: Dask would look for an equal task by hashing all centres.
        future = self._asked(self._client.submit, _as_it_is, pass_, pure=False)
        self._sent.add(future)
        return future

    def _own(self, shared: tuple[Any, ...], place: int, numbers: Sequence[int]) -> "_Own":
        """Pieces of a group, each with what is shared and has rows of its own, by its place."""
        parts = [at for at, item in enumerate(shared) if hasattr(item, "within")]
        group = self._groups[place]
        return _Own(
            (self._bounds[group[0]][0], self._bounds[group[-1]][1]),
            [
                (self._bounds[n], {at: shared[at].within(*self._bounds[n]) for at in parts})
                for n in numbers
            ],
        )

    def _all_own(self, shared: tuple[Any, ...]) -> list["_Own"]:
        return [self._own(shared, place, group) for place, group in enumerate(self._groups)]

    def _sent_out(self, task: Callable[..., Any], *given: Any) -> list[Any]:
        """A task for each of what is given in lists, and what is not in each."""
        n = max(len(one) for one in given if isinstance(one, list))
        each = [one if isinstance(one, list) else [one] * n for one in given]
        made: list[Any] = self._asked(self._client.map, task, *each, pure=False)
        self._sent.update(made)
        return made

    def _asked(self, call: Callable[..., Any], *given: Any, **options: Any) -> Any:
        """What the client says; a client that is closing fails in many ways."""
        try:
            return call(*given, **options)
        except Exception as error:
            if self._client.status == "running":
                raise
            raise lost_cluster(str(error)) from error

    def _grouped(self) -> list[range]:
        """Numbers of the pieces that lie together, and are gone through by one task."""
        n, threads = len(self._bounds), sum(self._asked(self._client.nthreads).values())
        size = max(1, min(_TOGETHER, n // (_TASKS * max(threads, 1))))
        return [range(first, min(first + size, n)) for first in range(0, n, size)]

    def _pieces(self, groups: Sequence[range]) -> list[Any]:
        """The pieces as stored, on the workers; later reads take them from there too."""
        base: Any = self.table.base
        sizes = tuple(self._bounds[own[-1]][1] - self._bounds[own[0]][0] for own in groups)
        base.array = self._asked(self._client.persist, base.array.rechunk((sizes, -1)))
        whole = list(base.array.to_delayed().ravel())
        blocks: list[Any] = self._asked(self._client.compute, whole)
        return self._evenly(blocks)

    def _evenly(self, blocks: list[Any]) -> list[Any]:
        """Pieces so that no worker has more than its share: all wait for the last one every round.

        Those above it are copied to workers that have fewer; what is lost is made again.
        """
        distributed = optional("distributed", extra="distributed", what="Clustering on a cluster")
        self._asked(distributed.wait, blocks)
        holders = self._asked(self._client.who_has, blocks)
        at = [next(iter(holders.get(block.key, ())), None) for block in blocks]
        for number, worker in moves(at, self._asked(self._client.nthreads)).items():
            how = {"workers": [worker], "allow_other_workers": True, "pure": False}
            blocks[number] = self._asked(self._client.submit, _as_it_is, blocks[number], **how)
        return blocks


def _fetched(future: Any) -> Any:
    """What a task found; clear words where there is nobody left to ask."""
    distributed = optional("distributed", extra="distributed", what="Clustering on a cluster")
    try:
        return future.result()
    except distributed.KilledWorker as error:
        raise ClusterLostError(
            "A task of the Dask cluster was at work on several workers in turn that all died, most "
            "likely of too little memory. Give workers more memory, or start fewer on a machine. "
            "Members that a run folder holds (run=, checkpoint=) are not made again."
        ) from error
    except _GONE as error:
        if isinstance(error, OSError) and future.status == "error":  # of the task, not of Dask
            raise InvalidInputError(
                f"A worker cannot read its part of the data: {type(error).__name__}: {error}."
            ) from error
        raise lost_cluster(str(error) or type(error).__name__) from error


def moves(at: Sequence[str | None], threads: dict[str, int]) -> dict[int, str]:
    """Which pieces go to which workers, so that each has its share by threads, to one.

    Parameters
    ----------
    at : sequence of str or None
        The worker that has each piece; None where nobody has.
    threads : dict of str to int

    Examples
    --------
    >>> moves(["a", "a", "a", "a", "b"], {"a": 1, "b": 1})
    {3: 'b'}
    """
    known = [worker for worker in at if worker in threads]
    held = {worker: known.count(worker) for worker in threads}
    targets: dict[int, str] = {}
    for number in reversed(range(len(at))):
        worker = at[number]
        if worker not in threads:
            continue
        least = min(threads, key=lambda one: (held[one] + 1) / threads[one])
        # Only if the largest share of the two gets smaller.
        if (held[least] + 1) / threads[least] < held[worker] / threads[worker]:
            targets[number] = least
            held[worker], held[least] = held[worker] - 1, held[least] + 1
    return targets


class _Pass(NamedTuple):
    """What the tasks of a pass share; None stands for what each piece has of its own."""

    call: Callable[..., Any]
    table: Stored
    same: list[Any]

    def filled(self, own: dict[int, Any]) -> list[Any]:
        """All that is shared, as one piece needs it."""
        return [own.get(place, item) for place, item in enumerate(self.same)]


class _Own(NamedTuple):
    """What a task has of its own: the bounds of its block, and its pieces."""

    bounds: tuple[int, int]
    pieces: list[tuple[tuple[int, int], dict[int, Any]]]


def _as_it_is(value: Any) -> Any:
    return value


def _rows_of(common: _Pass, block: Any, own: _Own, start: int, stop: int) -> Any:
    """The rows of a piece, which lies in a block."""
    first, last = own.bounds
    if (start, stop) == own.bounds or np.shape(block)[:1] != (last - first,):
        return common.table.made_of(block, start, stop)  # refuses a block of another size
    return common.table.made_of(block[start - first : stop - first], start, stop)


def _on_pieces(common: _Pass, block: Any, own: _Own) -> list[Any]:
    return [
        common.call(_rows_of(common, block, own, *bounds), bounds[0], *common.filled(mine))
        for bounds, mine in own.pieces
    ]


def _on_kept_pieces(
    common: _Pass, block: Any, kept: tuple[list[Any], Any] | None, own: _Own
) -> tuple[list[Any], list[Any]]:
    """What is to be kept, and what comes back; so was what was kept before, if anything."""
    before = [None] * len(own.pieces) if kept is None else kept[0]
    pairs = [
        common.call(_rows_of(common, block, own, *bounds), bounds[0], state, *common.filled(mine))
        for (bounds, mine), state in zip(own.pieces, before, strict=True)
    ]
    return [state for state, _ in pairs], [answer for _, answer in pairs]


def _on_kept(common: _Pass, kept: tuple[list[Any], Any], own: _Own) -> list[Any]:
    return [
        common.call(state, *common.filled(mine))
        for state, (_, mine) in zip(kept[0], own.pieces, strict=True)
    ]
