"""k-means: nearest centres, judged where products leave doubt, and sums of digits."""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["added", "cluster_sums", "judge", "nearest_centres", "square_parts", "values_of"]

# Objects of a tile by the clusters it has room for, and clusters that are summed up together.
TILES_OF_ROWS = {16: 64, 32: 128, 64: 128, 128: 64, 256: 64}
SUMMED = 128
# Objects and columns of digits of a tile of sums, and its warps.
SUM_TILE = (64, 128, 4)


@triton.jit
def _settle(
    product, m, i, row, inside, lengths, half, reach, labels, waiting, n_waiting, n, share,
    K: tl.constexpr,
):  # fmt: skip
    """Write the nearest centres of a tile of objects; list those for which they are not sure."""
    c = tl.arange(0, K)
    score = tl.load(half + m * K + c)[None, :] - product
    least = tl.min(score, axis=1)
    # The first of equals.
    label = tl.min(tl.where(score == least[:, None], c[None, :], K), axis=1)
    second = tl.min(tl.where(c[None, :] == label[:, None], float("inf"), score), axis=1)
    bound = tl.load(lengths + row, mask=inside, other=0.0) + tl.load(reach + m)
    # Written so that what is not a number counts as doubt.
    doubt = inside & ~(second - least > share * bound * bound + 1e-30)
    tl.store(labels + m * n + i, tl.where(label < K, label, 0), mask=inside)
    number = doubt.to(tl.int32)
    n_new = tl.sum(number, axis=0)
    if n_new > 0:
        first = tl.atomic_add(n_waiting, n_new)
        tl.store(waiting + first + tl.cumsum(number, 0) - 1, m * n + i, mask=doubt)


# How many members are still at work differs from round to round: not a reason to compile anew.
@triton.jit(do_not_specialize=["n_members"])
def _nearest_centres(
    rows, lengths, centres, half, reach, members, n_members, labels, waiting, n_waiting, n, d,
    share, K: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, WHOLE: tl.constexpr,
    PRECISION: tl.constexpr, OWN: tl.constexpr,
):  # fmt: skip
    """Nearest centres of a tile of objects in all members, one after another.

    Rows of up to STEP features are read once for all members (WHOLE). Where members have rows of
    their own (OWN), a program works for one of them.
    """
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, c, f = i < n, tl.arange(0, K), tl.arange(0, STEP)
    row = i.to(tl.int64)
    begin = tl.program_id(1)
    if OWN:
        row += tl.load(members + begin).to(tl.int64) * n
        n_members = begin + 1
    at = rows + row[:, None] * d
    x = tl.load(at + f[None, :], mask=inside[:, None] & (f < d)[None, :], other=0.0)
    for number in range(begin, n_members):
        m = tl.load(members + number).to(tl.int64)
        seeds = centres + (m * K + c[None, :]) * d
        seed = tl.load(seeds + f[:, None], mask=(f < d)[:, None], other=0.0)
        product = tl.dot(x, seed, input_precision=PRECISION)
        if not WHOLE:
            for start in range(STEP, d, STEP):
                g = start + f
                there = inside[:, None] & (g < d)[None, :]
                more = tl.load(at + g[None, :], mask=there, other=0.0)
                seed = tl.load(seeds + g[:, None], mask=(g < d)[:, None], other=0.0)
                product = tl.dot(more, seed, product, input_precision=PRECISION)
        _settle(
            product,
            m,
            i,
            row,
            inside,
            lengths,
            half,
            reach,
            labels,
            waiting,
            n_waiting,
            n,
            share,
            K,
        )


@triton.jit
def _judge(
    rows, centres, features, waiting, n_waiting, labels, n, d, n_programs,
    K: tl.constexpr, OWN: tl.constexpr,
):  # fmt: skip
    """Nearest centres by squared differences in float64, added in the order of the features."""
    c = tl.arange(0, K)
    last = tl.load(n_waiting)
    for at in range(tl.program_id(0), last, n_programs):
        pair = tl.load(waiting + at)
        m, i = pair // n, pair if OWN else pair % n
        total = tl.zeros((K,), tl.float64)
        for f in range(d):
            x = tl.load(rows + i * d + f).to(tl.float64)
            gap = x - tl.load(centres + (m * K + c) * d + f)
            # A feature the member does not see adds nothing.
            gap = tl.where(tl.load(features + m * d + f) > 0, gap, 0.0)
            total += gap * gap
        least = tl.min(total, axis=0)
        tl.store(labels + pair, tl.min(tl.where(total == least, c, K - 1), axis=0))


@triton.jit(do_not_specialize=["n_members"])
def _cluster_sums(
    digits, stride, labels, seen, members, n_members, sums, counts, n, width, chunk,
    K: tl.constexpr, TOGETHER: tl.constexpr, TILE: tl.constexpr, WIDTH: tl.constexpr,
    SOME: tl.constexpr, OWN: tl.constexpr,
):  # fmt: skip
    """Sums of the digits of the objects of every cluster: whole numbers, exact in any order.

    Several members share what is read of the digits: a column a cluster of each. A member that
    has rows of its own (OWN) is alone.
    """
    place = tl.program_id(0) * TOGETHER + tl.arange(0, TOGETHER)
    known = place < n_members
    m = tl.load(members + place, mask=known, other=0).to(tl.int64)
    w = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    c = tl.arange(0, K)
    total = tl.zeros((WIDTH, TOGETHER * K), tl.int32)
    number = tl.zeros((TOGETHER * K,), tl.int32)
    begin = tl.program_id(1) * chunk
    columns = digits + tl.sum(m, axis=0) * n if OWN else digits
    for start in range(begin, begin + chunk, TILE):
        i = start + tl.arange(0, TILE)
        there = (i < n)[:, None] & known[None, :]
        where = m[None, :] * n + i[:, None]
        label = tl.load(labels + where, mask=there, other=0).to(tl.int32)
        if SOME:
            there = there & (tl.load(seen + where, mask=there, other=0) != 0)
        label = tl.where(there, label, -1)
        own = (label[:, :, None] == c[None, None, :]).to(tl.int8)
        own = tl.reshape(own, (TILE, TOGETHER * K))
        value = tl.load(
            columns + w.to(tl.int64)[:, None] * stride + i[None, :],
            mask=(w < width)[:, None] & (i < n)[None, :],
            other=0,
        )
        total = tl.dot(value, own, total, out_dtype=tl.int32)
        if tl.program_id(2) == 0:
            number += tl.sum(own.to(tl.int32), axis=0)
    column = tl.reshape((m * K)[:, None] * width + c[None, :], (TOGETHER * K,))
    some = tl.reshape(known[:, None] & (c >= 0)[None, :], (TOGETHER * K,))
    tl.atomic_add(
        sums + column[None, :] + w.to(tl.int64)[:, None] * K,
        total.to(tl.int64),
        mask=(w < width)[:, None] & some[None, :],
    )
    if tl.program_id(2) == 0:
        column = tl.reshape((m * K)[:, None] + c[None, :], (TOGETHER * K,))
        tl.atomic_add(counts + column, number.to(tl.int64), mask=some)


@triton.jit
def _own_squares(
    rows, centres, features, labels, seen, members, parts, n, d, n_parts,
    K: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, SOME: tl.constexpr,
    OWN: tl.constexpr,
):  # fmt: skip
    """Squared distances of a tile of objects to their own centres, added up."""
    m = tl.load(members + tl.program_id(0)).to(tl.int64)
    i = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = i < n
    label = tl.load(labels + m * n + i, mask=inside, other=0).to(tl.int64)
    row = i.to(tl.int64)
    if OWN:
        row += m * n
    if SOME:
        inside = inside & (tl.load(seen + m * n + i, mask=inside, other=0) != 0)
    total = tl.zeros((TILE, STEP), tl.float64)
    for start in range(0, d, STEP):
        f = start + tl.arange(0, STEP)
        visible = tl.load(features + m * d + f, mask=f < d, other=0) > 0
        there = inside[:, None] & visible[None, :]
        x = tl.load(rows + row[:, None] * d + f[None, :], mask=there, other=0.0)
        own = tl.load(centres + (m * K + label[:, None]) * d + f[None, :], mask=there, other=0.0)
        gap = x.to(tl.float64) - own
        total += gap * gap
    tl.store(parts + m * n_parts + tl.program_id(1), tl.sum(tl.sum(total, axis=1), axis=0))


def nearest_centres(state: Any, members: Any, labels: Any, *, precision: str = "tf32x3") -> None:
    """Write the nearest centres of all objects in some members of a `Group`, ties to the first."""
    table, K, n = state.table, state.K, state.n_objects
    d = table.centred.shape[1]
    state.n_waiting.zero_()
    # A score is off by (d + 16) u |x| |c| at most, where u is 2^-22 by three products of halves of
    # the digits, 2^-24 by plain ones; |x| |c| is a quarter of the bound's square at most.
    share = 2.0 * (d + 16) * (2.0**-22 if precision == "tf32x3" else 2.0**-24)
    tile, step = TILES_OF_ROWS[K], max(16, min(64, triton.next_power_of_2(d)))
    _nearest_centres[(triton.cdiv(n, tile), len(members) if state.own else 1)](
        table.centred, table.lengths, state.seeds, state.half, state.reach, members, len(members),
        labels, state.waiting, state.n_waiting, n, d, share,
        K=K, TILE=tile, STEP=step, WHOLE=d <= step, PRECISION=precision, OWN=state.own,
        num_warps=4,
    )  # fmt: skip
    judge(state, labels)


def judge(state: Any, labels: Any) -> None:
    """Decide the objects that wait, by the CPU's arithmetic."""
    n, d = state.n_objects, state.table.rows.shape[1]
    n_programs = 2048 if labels.is_cuda else 1
    _judge[(n_programs,)](
        state.table.rows, state.centres, state.features, state.waiting, state.n_waiting, labels,
        n, d, n_programs, K=state.K, OWN=state.own, num_warps=1, enable_fp_fusion=False,
    )  # fmt: skip


def cluster_sums(state: Any, members: Any, labels: Any) -> tuple[Any, Any]:
    """Sums of digits (n_members, width, K) and counts (n_members, K) of clusters, int64.

    Zeros for members that are not asked for.
    """
    digits, K = state.table.digits, state.K
    width, n, device = digits.shape[0], state.n_objects, labels.device
    sums = torch.zeros((state.n_members, width, K), dtype=torch.int64, device=device)
    counts = torch.zeros((state.n_members, K), dtype=torch.int64, device=device)
    (tile, wide, warps), together = SUM_TILE, 1 if state.own else max(1, SUMMED // K)
    chunk = max(tile, min(32768, triton.cdiv(triton.cdiv(n, 32), tile) * tile))
    seen = labels if state.seen is None else state.seen
    grid = (triton.cdiv(len(members), together), triton.cdiv(n, chunk), triton.cdiv(width, wide))
    _cluster_sums[grid](
        digits, digits.stride(0), labels, seen, members, len(members), sums, counts, n, width,
        chunk, K=K, TOGETHER=together, TILE=tile, WIDTH=wide, SOME=state.seen is not None,
        OWN=state.own, num_warps=warps,
    )  # fmt: skip
    return sums, counts


def values_of(state: Any, sums: Any) -> Any:
    """Sums of values, (n_members, K, n_features), of sums of digits."""
    return state.table.sums(sums)


def added(parts: Any, _: Any = None) -> Any:
    """Sums of what `square_parts` gives for all objects."""
    return parts.sum(dim=1)


def square_parts(state: Any, members: Any, labels: Any) -> Any:
    """Squared distances of the members' own objects to their centres, added over tiles of 64."""
    n, d = state.n_objects, state.table.rows.shape[1]
    tile, step = 64, min(64, max(16, triton.next_power_of_2(d)))
    n_parts = triton.cdiv(n, tile)
    parts = torch.zeros((state.n_members, n_parts), dtype=torch.float64, device=labels.device)
    seen = labels if state.seen is None else state.seen
    _own_squares[(len(members), n_parts)](
        state.table.rows, state.centres, state.features, labels, seen, members, parts, n, d,
        n_parts, K=state.K, TILE=tile, STEP=step, SOME=state.seen is not None, OWN=state.own,
        num_warps=4,
    )  # fmt: skip
    return parts
