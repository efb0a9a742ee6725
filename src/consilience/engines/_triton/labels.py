"""Labels of many members: sums over the clusters an object is in."""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["label_sums", "pair_sums"]


@triton.jit
def _label_sums(
    labels, stride, starts, table, sums, n_members, n, k, ROOM: tl.constexpr, TILE: tl.constexpr
):
    """Sums of the table's rows of each object's clusters, one member after another."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, q = i < n, tl.arange(0, ROOM)
    total = tl.zeros((TILE, ROOM), sums.dtype.element_ty)
    for r in range(n_members):
        label = tl.load(labels + tl.cast(r, tl.int64) * stride + i, mask=inside, other=-1)
        row = tl.load(starts + r) + label.to(tl.int64)
        there = (label >= 0)[:, None] & (q < k)[None, :]
        total += tl.load(table + row[:, None] * k + q[None, :], mask=there, other=0)
    place = sums + i.to(tl.int64)[:, None] * k + q[None, :]
    tl.store(place, total, mask=inside[:, None] & (q < k)[None, :])


@triton.jit
def _pair_sums(
    labels, stride, first, table, width, pairs, n_pairs, sums, n, outside, TILE: tl.constexpr
):
    """Sums of the cells that a tile of objects is in, one pair of members after another."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = i < n
    total = tl.zeros((TILE,), tl.float64)
    for p in range(n_pairs):
        a, b = tl.load(pairs + 2 * p).to(tl.int64), tl.load(pairs + 2 * p + 1).to(tl.int64)
        one = tl.load(labels + a * stride + i, mask=inside, other=-128).to(tl.int64) + outside
        two = tl.load(labels + b * stride + i, mask=inside, other=-128).to(tl.int64) + outside
        place = (tl.load(first + a) + one) * width + tl.load(first + b) + two
        total += tl.load(table + place, mask=(one >= 0) & (two >= 0), other=0.0)
    tl.store(sums + i, total, mask=inside)


def pair_sums(labels: Any, first: Any, table: Any, pairs: Any, outside: int) -> Any:
    """Sums over pairs of members of the cell of a table that each object is in, float64."""
    n = labels.shape[1]
    sums = torch.empty(n, dtype=torch.float64, device=labels.device)
    _pair_sums[(triton.cdiv(n, 256),)](
        labels, labels.stride(0), first, table.contiguous(), table.shape[1], pairs, len(pairs),
        sums, n, outside, TILE=256, num_warps=4,
    )  # fmt: skip
    return sums


def label_sums(labels: Any, starts: Any, table: Any) -> Any:
    """Sums of the rows of a table, (n_rows, k) float64 or int64, of each object's clusters.

    ``labels`` is (n_members, n_objects), whose rows may lie apart; additions go by members.
    """
    n_members, n = labels.shape
    k = table.shape[1]
    sums = torch.empty((n, k), dtype=table.dtype, device=table.device)
    if n == 0 or k == 0:
        return sums
    room = triton.next_power_of_2(k)
    tile = max(16, 1024 // room)
    _label_sums[(triton.cdiv(n, tile),)](
        labels, labels.stride(0), starts, table.contiguous(), sums, n_members, n, k,
        ROOM=room, TILE=tile, num_warps=4,
    )  # fmt: skip
    return sums
