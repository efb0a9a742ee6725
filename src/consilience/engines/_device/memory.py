"""What may lie on a device at once, and blocks on the way to it from memory that stays in place.

``CONSILIENCE_DEVICE_MEMORY`` (such as "20 GiB") says what data may take there; by default a half
of what the device has. Data beyond stay on the host and come in blocks, the next one on its way
while the device works on the one before. The limit decides where data lie, never the order or the
shape in which anything is computed: no result depends on it.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from consilience._validation import memory_in_bytes
from consilience.engines._device._torch import torch

__all__ = ["VARIABLE", "memory_of", "pinned", "streamed"]

VARIABLE = "CONSILIENCE_DEVICE_MEMORY"


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


def _arrived(sent: tuple[Any, Any, Any], work: Any) -> Any:
    there, done, _ = sent
    work.wait_event(done)
    there.record_stream(work)
    return there
