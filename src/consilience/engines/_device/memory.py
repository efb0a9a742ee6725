"""What may lie on a device at once, and blocks on the way to it from memory that stays in place.

``CONSILIENCE_DEVICE_MEMORY`` (such as "20 GiB") says what data may take there; by default a half
of what the device has. Data beyond stay on the host and come in blocks, the next one on its way
while the device works on the one before. The limit decides where data lie, never the order or the
shape in which anything is computed: no result depends on it.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import memory_in_bytes
from consilience.engines._device._torch import torch
from consilience.kernels._parallel import by_rows

__all__ = ["VARIABLE", "fetched", "memory_of", "pinned", "streamed"]

VARIABLE = "CONSILIENCE_DEVICE_MEMORY"
# Bytes that are on their way from a card at once; less comes in one piece.
_FETCHED = 1 << 26


def memory_of(device: Any) -> int | None:
    """Bytes that data may take on a device; None: no limit, on the processor."""
    given = os.environ.get(VARIABLE)
    if given:
        return int(memory_in_bytes(given, owner="consilience", name=VARIABLE))
    if device.type != "cuda":
        return None
    # Of all it has, not of what is free: another job on it must not change what is done here.
    return int(torch.cuda.get_device_properties(device).total_memory) // 2


def pinned(tensor: Any, device: Any) -> Any:
    """The tensor in memory that a card reads by itself; as it is for other devices."""
    return tensor.pin_memory() if device.type == "cuda" and not tensor.is_cuda else tensor


def streamed(blocks: Iterable[Any], device: Any) -> Iterator[Any]:
    """Blocks of host memory on the device, one after the other, each on its way early.

    A block is copied on a stream of its own while the device works on the one before; it waits in
    memory that stays where it is. Two blocks are on the device at a time.
    """
    if device.type != "cuda":
        yield from (block.to(device) for block in blocks)
        return
    side, work = torch.cuda.Stream(device), torch.cuda.current_stream(device)

    def sent(block: Any) -> tuple[Any, Any, Any]:
        with torch.cuda.stream(side):
            whole = (
                block
                if block.is_pinned() and block.is_contiguous()
                else pinned(block.contiguous(), device)
            )
            there = whole.to(device, non_blocking=True)
            done = torch.cuda.Event()
            done.record(side)
        # Kept until it has arrived: pinned memory is used again once nobody holds it.
        return there, done, whole

    ahead = None
    for block in blocks:
        following = sent(block)
        if ahead is not None:
            yield _arrived(ahead, work)
            # The block after the next must not be written over this one's work.
            side.wait_stream(work)
        ahead = following
    if ahead is not None:
        yield _arrived(ahead, work)


def fetched(tensor: Any, n_jobs: int | None = None, *, at_once: int = _FETCHED) -> NDArray[Any]:
    """A tensor's values in memory of the host.

    A large one comes in pieces through memory that stays in place, the next on its way while
    threads put the one before where it belongs: being the first to touch new memory takes longer
    than the way itself.
    """
    if tensor.device.type != "cuda" or tensor.nbytes <= at_once:
        return np.asarray(tensor.cpu().numpy())
    whole = tensor.contiguous()
    out = np.empty(tuple(whole.shape), whole[:0].cpu().numpy().dtype)
    source, target = whole.view(-1).view(torch.uint8), out.reshape(-1).view(np.uint8)
    rooms = [torch.empty(at_once, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    arrived = [torch.cuda.Event() for _ in rooms]
    starts = range(0, len(target), at_once)

    def send(number: int) -> None:
        some = source[starts[number] : starts[number] + at_once]
        rooms[number % 2][: len(some)].copy_(some, non_blocking=True)
        arrived[number % 2].record()

    send(0)
    for number, start in enumerate(starts):
        if number + 1 < len(starts):
            send(number + 1)
        arrived[number % 2].synchronize()
        own, there = target[start : start + at_once], rooms[number % 2].numpy()

        def put(some: slice, own: Any = own, there: Any = there) -> None:
            own[some] = there[: len(own)][some]

        by_rows(put, len(own), n_jobs, size=1 << 20)
    return out


def _arrived(sent: tuple[Any, Any, Any], work: Any) -> Any:
    there, done, _ = sent
    work.wait_event(done)
    there.record_stream(work)
    return there
