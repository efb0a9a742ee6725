"""Labels of many members: counts, sums over the clusters an object is in, and what follows.

A table has a row for every cluster of every member. Sums over the members of an object are made
in registers, member after member, in the order in which the processor adds them; what is counted
across objects are whole numbers. One compiled form serves any number of members, clusters and
objects: it is not made anew for those that are 1 or a multiple of 16 (``do_not_specialize``).
"""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["count_parts", "judge_objects", "label_sums", "nearest_rows", "pair_sums"]

# Clusters of a member that are counted together, and objects of a tile of them.
CLUSTERS, OBJECTS = 64, 128
# Objects that a program counts: seven bits of as many weights stay within an int32.
_CHUNK = 16384


@triton.jit
def _add_rows(labels, stride, starts, table, n_members, i, inside, q, k, total):
    """Sums of the table's rows of each object's clusters, and how many there are."""
    placed = tl.zeros_like(i)
    for r in range(n_members):
        label = tl.load(labels + tl.cast(r, tl.int64) * stride + i, mask=inside, other=-1)
        row = tl.load(starts + r) + label.to(tl.int64)
        there = (label >= 0)[:, None] & (q < k)[None, :]
        total += tl.load(table + row[:, None] * k + q[None, :], mask=there, other=0)
        placed += (label >= 0).to(tl.int32)
    return total, placed


@triton.jit(do_not_specialize=["n_members", "n", "k"])
def _label_sums(
    labels, stride, starts, table, sums, n_members, n, k, ROOM: tl.constexpr, TILE: tl.constexpr
):
    """Sums of the table's rows of each object's clusters, one member after another."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, q = i < n, tl.arange(0, ROOM)
    total = tl.zeros((TILE, ROOM), sums.dtype.element_ty)
    total, _ = _add_rows(labels, stride, starts, table, n_members, i, inside, q, k, total)
    place = sums + i.to(tl.int64)[:, None] * k + q[None, :]
    tl.store(place, total, mask=inside[:, None] & (q < k)[None, :])


@triton.jit(do_not_specialize=["n_members", "n", "k"])
def _nearest_rows(
    labels, stride, starts, costs, scale, offset, old, new, best, n_members, n, k,
    ROOM: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """The centre with the least of ``scale * sum + offset``, the own one unless that is more."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, q = i < n, tl.arange(0, ROOM)
    total = tl.zeros((TILE, ROOM), tl.float64)
    total, _ = _add_rows(labels, stride, starts, costs, n_members, i, inside, q, k, total)
    factor = tl.load(scale + i, mask=inside, other=1.0)
    distance = factor[:, None] * total + tl.load(offset + q, mask=q < k, other=0.0)[None, :]
    distance = tl.where((q < k)[None, :], distance, float("inf"))
    mine = tl.load(old + i, mask=inside, other=0)
    own = tl.min(tl.where(q[None, :] == mine[:, None], distance, float("inf")), axis=1)
    least = tl.min(distance, axis=1)
    # The first of equals.
    first = tl.min(tl.where(distance == least[:, None], q[None, :], ROOM), axis=1)
    tl.store(new + i, tl.where(least < own, first, mine), mask=inside)
    tl.store(best + i, tl.minimum(least, own), mask=inside)


@triton.jit(do_not_specialize=["n_members", "n", "k"])
def _judge_objects(
    labels, stride, starts, table, seen, sizes, parts, own, other, next_best, share, n_members, n,
    k, BY_SEEN: tl.constexpr, ROOM: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Mean with the own part and with the best other one, and which that is.

    The formulas are those of `consilience.kernels.labels.confidence`.
    """
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, q = i < n, tl.arange(0, ROOM)
    known = (q < k)[None, :]
    joined = tl.zeros((TILE, ROOM), tl.int64)
    joined, placed = _add_rows(labels, stride, starts, table, n_members, i, inside, q, k, joined)
    size = tl.load(sizes + q, mask=q < k, other=0)
    mine = tl.load(parts + i, mask=inside, other=-1)
    is_mine = q[None, :] == mine[:, None]
    if BY_SEEN:
        pairs = tl.zeros((TILE, ROOM), tl.int64)
        times = tl.zeros_like(i)
        for r in range(n_members):
            label = tl.load(labels + tl.cast(r, tl.int64) * stride + i, mask=inside, other=-2)
            saw = label != -2
            those = tl.load(seen + r * k + q, mask=q < k, other=0)
            pairs += tl.where(saw[:, None], those[None, :], 0)
            times += saw.to(tl.int32)
    else:
        pairs = tl.zeros((TILE, ROOM), tl.int64) + (size * n_members)[None, :]
        times = tl.zeros_like(i) + n_members
    # Among the others of its own part the object itself does not count.
    together = tl.sum(tl.where(is_mine, joined, 0), axis=1) - placed
    mates = tl.sum(tl.where(is_mine, pairs, 0), axis=1) - times
    mean = together.to(tl.float64) / tl.where(mates > 0, mates, 1).to(tl.float64)
    mean = tl.where(mates > 0, mean, 0.0)
    mean = tl.where(tl.sum(tl.where(is_mine, size[None, :], 0), axis=1) > 1, mean, 1.0)
    means = joined.to(tl.float64) / tl.where(pairs > 0, pairs, 1).to(tl.float64)
    means = tl.where(known & (pairs > 0) & (~is_mine), means, 0.0)
    most = tl.max(means, axis=1)
    first = tl.min(tl.where(means == most[:, None], q[None, :], ROOM), axis=1)
    mean, most = tl.where(mine >= 0, mean, 0.0), tl.where(mine >= 0, most, 0.0)
    both = mean + most
    tl.store(own + i, mean, mask=inside)
    tl.store(other + i, most, mask=inside)
    tl.store(next_best + i, tl.where(most > 0, first, -1), mask=inside)
    tl.store(share + i, tl.where(both > 0, mean / tl.where(both > 0, both, 1.0), 0.0), mask=inside)


@triton.jit(do_not_specialize=["n", "k", "columns"])
def _count_parts(
    labels, stride, tasks, parts, weights, counts, n, k, columns, chunk,
    WEIGHTED: tl.constexpr, CLUSTERS: tl.constexpr, COLUMNS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Objects of each part in some clusters of a member: products of one-hot bytes.

    A task is a member, its first cluster here, how many there are, and their first row. Weights
    come by seven bits, a column of every part for each.
    """
    task = tasks + 4 * tl.program_id(0)
    r, low = tl.load(task), tl.load(task + 1)
    number, row = tl.load(task + 2), tl.load(task + 3)
    c, q = tl.arange(0, CLUSTERS), tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    part_of, shift = tl.where(q < columns, q % k, -1), 7 * (q // k)
    total = tl.zeros((CLUSTERS, COLUMNS), tl.int32)
    begin = tl.program_id(1) * chunk
    for start in range(begin, tl.minimum(begin + chunk, n), TILE):
        i = start + tl.arange(0, TILE)
        inside = i < n
        label = tl.load(labels + r * stride + i, mask=inside, other=-3).to(tl.int32)
        part = tl.load(parts + i, mask=inside, other=-2).to(tl.int32)
        own = ((label[None, :] - low) == c[:, None]).to(tl.int8)
        there = part[:, None] == part_of[None, :]
        if WEIGHTED:
            weight = tl.load(weights + i, mask=inside, other=0)
            bits = (weight[:, None] >> shift.to(tl.int64)[None, :]) & 127
            value = tl.where(there, bits, 0).to(tl.int8)
        else:
            value = there.to(tl.int8)
        total = tl.dot(own, value, total, out_dtype=tl.int32)
    place = counts + (row + c).to(tl.int64)[:, None] * columns + q[None, :]
    mask = (c < number)[:, None] & (q < columns)[None, :] & (total > 0)
    tl.atomic_add(place, total.to(tl.int64), mask=mask)


@triton.jit(do_not_specialize=["n_members", "n", "outside"])
def _pair_sums(
    labels, stride, first, table, width, edges, others, sums, n_members, n, outside,
    TILE: tl.constexpr,
):  # fmt: skip
    """Sums of the cells that a tile of objects is in, one pair of members after another."""
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = i < n
    total = tl.zeros((TILE,), sums.dtype.element_ty)
    for a in range(n_members):
        one = tl.load(labels + tl.cast(a, tl.int64) * stride + i, mask=inside, other=-128)
        one = one.to(tl.int32) + outside
        row = table + (tl.load(first + a) + one).to(tl.int64) * width
        for p in range(tl.load(edges + a), tl.load(edges + a + 1)):
            b = tl.load(others + p).to(tl.int64)
            two = tl.load(labels + b * stride + i, mask=inside, other=-128)
            two = two.to(tl.int32) + outside
            there = (one >= 0) & (two >= 0)
            cell = tl.load(row + tl.load(first + b) + two, mask=there, other=0)
            total += cell.to(sums.dtype.element_ty)
    tl.store(sums + i, total, mask=inside)


def pair_sums(labels: Any, first: Any, table: Any, edges: Any, others: Any, outside: int) -> Any:
    """Sums over pairs of members of the cell of a table that each object is in.

    Member a is paired with ``others[edges[a]:edges[a + 1]]``. Sums are float64 of a table of
    floats, int64 of one of integers.
    """
    n_members, n = labels.shape
    kind = torch.float64 if table.dtype.is_floating_point else torch.int64
    sums = torch.empty(n, dtype=kind, device=labels.device)
    _pair_sums[(triton.cdiv(n, 512),)](
        labels, labels.stride(0), first.to(torch.int32), table.contiguous(), table.shape[1], edges,
        others, sums, n_members, n, outside, TILE=512, num_warps=8,
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
    room, tile = _room(k)
    _label_sums[(triton.cdiv(n, tile),)](
        labels, labels.stride(0), starts, table.contiguous(), sums, n_members, n, k,
        ROOM=room, TILE=tile, num_warps=4,
    )  # fmt: skip
    return sums


def nearest_rows(
    labels: Any, starts: Any, costs: Any, scale: Any, offset: Any, old: Any, new: Any, best: Any
) -> None:
    """Fill the nearest centres of label rows and their distances; see `LabelProblem.nearest`."""
    n_members, n = labels.shape
    k = costs.shape[1]
    room, tile = _room(k)
    _nearest_rows[(triton.cdiv(n, tile),)](
        labels, labels.stride(0), starts, costs.contiguous(), scale, offset, old, new, best,
        n_members, n, k, ROOM=room, TILE=tile, num_warps=4, enable_fp_fusion=False,
    )  # fmt: skip


def judge_objects(
    labels: Any, starts: Any, table: Any, seen: Any, sizes: Any, parts: Any
) -> tuple[Any, Any, Any, Any]:
    """Own and best other mean of each object, which that is, and the own share of both.

    ``table`` is (n_rows, k), ``sizes`` (k,), ``seen`` (n_members, k) or None, all int64; ``parts``
    are int32.
    """
    n_members, n = labels.shape
    k = table.shape[1]
    own, other, share = (
        torch.empty(n, dtype=torch.float64, device=labels.device) for _ in range(3)
    )
    next_best = torch.empty(n, dtype=torch.int32, device=labels.device)
    room, tile = _room(k)
    _judge_objects[(triton.cdiv(n, tile),)](
        labels, labels.stride(0), starts, table.contiguous(), table if seen is None else seen,
        sizes, parts, own, other, next_best, share, n_members, n, k,
        BY_SEEN=seen is not None, ROOM=room, TILE=tile, num_warps=4, enable_fp_fusion=False,
    )  # fmt: skip
    return own, other, next_best, share


def count_parts(labels: Any, tasks: Any, parts: Any, weights: Any, counts: Any, k: int) -> None:
    """Add to ``counts`` (n_rows, n_digits * k), int64, the objects of each part in each cluster.

    ``tasks`` are (n_tasks, 4) int64: member, first cluster, clusters (up to `CLUSTERS`), first
    row. Of weights column ``digit * k + part`` has the seven bits from ``7 * digit`` on.
    """
    n, columns = labels.shape[1], counts.shape[1]
    wide = 16 if columns <= 16 else 64
    grid = (len(tasks), triton.cdiv(n, _CHUNK), triton.cdiv(columns, wide))
    _count_parts[grid](
        labels, labels.stride(0), tasks, parts, parts if weights is None else weights, counts, n,
        k, columns, _CHUNK, WEIGHTED=weights is not None, CLUSTERS=CLUSTERS, COLUMNS=wide,
        TILE=OBJECTS, num_warps=4,
    )  # fmt: skip


def _room(k: int) -> tuple[int, int]:
    """Columns that a tile has room for, in a few sizes, and its objects."""
    room = 16 if k <= 16 else 32 if k <= 32 else 64
    return room, 1024 // room
