"""Pairs of objects: counts as products of bytes, and the largest counts of a row."""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["count_pairs", "nearest_objects"]


@triton.jit
def _count_pairs(
    table, counts, first, n_rows, n, width, stride,
    TILE: tl.constexpr, STEP: tl.constexpr, SYMMETRIC: tl.constexpr,
):  # fmt: skip
    """Counts of a tile of pairs: products of one-hot rows of bytes, and their mirror image."""
    row, column = tl.program_id(1), tl.program_id(0)
    if SYMMETRIC and column < row:
        return
    i = row * TILE + tl.arange(0, TILE)
    j = column * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.int32)
    for start in range(0, width, STEP):
        f = start + tl.arange(0, STEP)
        one = tl.load(
            table + (first + i).to(tl.int64)[:, None] * width + f[None, :],
            mask=(i < n_rows)[:, None],
            other=0,
        )
        other = tl.load(
            table + j.to(tl.int64)[:, None] * width + f[None, :], mask=(j < n)[:, None], other=0
        )
        total = tl.dot(one, tl.trans(other), total, out_dtype=tl.int32)
    kind = counts.dtype.element_ty
    there = (i < n_rows)[:, None] & (j < n)[None, :]
    tl.store(counts + i.to(tl.int64)[:, None] * stride + j[None, :], total.to(kind), mask=there)
    if SYMMETRIC and column > row:
        mirror = counts + j.to(tl.int64)[:, None] * stride + i[None, :]
        tl.store(mirror, tl.trans(total).to(kind), mask=tl.trans(there))


@triton.jit
def _nearest_objects(
    counts, stride, first, indices, largest, n, k, TILE: tl.constexpr, ROOM: tl.constexpr
):
    """The objects with the largest counts of one row, ties to the smaller index.

    Count and index make one key. Objects come in the order of their indices, so that an object
    that only equals the last one kept is not nearer: most tiles are passed over after a look.
    """
    a = tl.program_id(0)
    own = first + a
    kept = tl.full((ROOM,), -1, tl.int32)
    bound = -1
    for start in range(0, n, TILE):
        j = start + tl.arange(0, TILE)
        inside = (j < n) & (j != own)
        count = tl.load(counts + a.to(tl.int64) * stride + j, mask=inside, other=0).to(tl.int32)
        count = tl.where(inside, count, -1)
        if tl.max(count, axis=0) > bound:
            key = tl.where(inside, (count << 23) | (8388607 - j), -1)
            best = tl.topk(key, ROOM)
            kept = tl.topk(tl.reshape(tl.join(kept, best), (2 * ROOM,)), ROOM)
            # Of the k-th; the first of `kept` are the largest.
            last = tl.sum(tl.where(tl.arange(0, ROOM) == k - 1, kept, 0), axis=0)
            bound = tl.where(last < 0, -1, last >> 23)
    place = tl.arange(0, ROOM)
    tl.store(indices + a.to(tl.int64) * k + place, 8388607 - (kept & 8388607), mask=place < k)
    tl.store(largest + a.to(tl.int64) * k + place, kept >> 23, mask=place < k)


def count_pairs(table: Any, counts: Any, first: int = 0, *, symmetric: bool) -> None:
    """Fill ``counts`` (n_rows, n_objects) with the pairs of the objects from ``first`` on.

    ``table`` is one-hot, int8, (n_objects, a multiple of 128).
    """
    n_rows, n = counts.shape
    tile = 128
    _count_pairs[(triton.cdiv(n, tile), triton.cdiv(n_rows, tile))](
        table, counts, first, n_rows, n, table.shape[1], counts.stride(0),
        TILE=tile, STEP=128, SYMMETRIC=symmetric, num_warps=8, num_stages=3,
    )  # fmt: skip


def nearest_objects(counts: Any, first: int, k: int) -> tuple[Any, Any]:
    """Of every row of counts the k objects with the largest, and these counts; k up to 128."""
    n_rows, n = counts.shape
    indices = torch.empty((n_rows, k), dtype=torch.int32, device=counts.device)
    largest = torch.empty_like(indices)
    room = max(32, triton.next_power_of_2(k))
    _nearest_objects[(n_rows,)](
        counts, counts.stride(0), first, indices, largest, n, k,
        TILE=1024, ROOM=room, num_warps=1,
    )  # fmt: skip
    return indices, largest
