"""Triton kernels for the passes of `consilience.engines.torch`, each with its launcher.

A kernel works on a tile of objects and adds up in registers or, across programs, whole numbers;
there are no atomic additions of floats, so two runs give the same bits. Launchers take and
return torch tensors. Under ``TRITON_INTERPRET=1`` everything runs on the CPU device, slowly.
"""

import math
from typing import Any

from consilience._optional import optional
from consilience.engines._device._torch import torch

triton: Any = optional("triton", extra=None, what="The kernels of a torch device")
tl: Any = optional("triton.language", extra=None, what="The kernels of a torch device")

__all__ = [
    "add_scores",
    "cluster_sums",
    "count_pairs",
    "judge",
    "nearest_centres",
    "nearest_objects",
    "own_squares",
    "weak_passes",
]

_LOG2E = 1.4426950408889634

# Seeds, objects and warps of a tile of a pass over the objects: a thread holds all seeds of its
# objects, so that sums over seeds need nobody else.
OBJECT_TILE = (4, 1024, 4)
# Seeds, objects, steps and warps of a pass over the seeds.
SEED_TILE = (4, 1024, 8, 4)
# Objects of a tile by the clusters it has room for, and clusters that are summed up together.
TILES_OF_ROWS = {16: 64, 32: 128, 64: 128, 128: 64, 256: 64}
SUMMED = 128
# Objects and columns of digits of a tile of sums, and its warps.
SUM_TILE = (64, 128, 4)


# ---- weak clusterings ------------------------------------------------------------------------


@triton.jit
def _exp2(x, FAST: tl.constexpr):
    """Two to the x. The card's own instruction, without the detour for numbers below 2^-126."""
    if FAST:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return tl.exp2(x)


@triton.jit
def _values(
    product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
    KIND: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    """Logarithms of a tile's weights to base 2, seeds by objects.

    KIND 0, of a Gaussian kernel: ``height`` is the logarithm of twice alpha, a factor that costs
    nothing so. Past the last seed the distance is large, and the weight 1 to the last digit.
    KIND 1, of divergences, and 2, of a kernel whose weights could overflow: up to a constant.
    """
    known = c < k
    place = (low + c).to(tl.int64)[:, None] * stride + objects[None, :]
    near = tl.load(product + place, mask=known[:, None] & inside[None, :], other=0.0)
    near = near.to(tl.float32) * factor
    column = tl.load(columns + low + c, mask=known, other=1e30)
    if KIND == 1:
        return tl.where(known[:, None], height * (near - column[:, None]), float("-inf"))
    gap = tl.minimum(near - (row[None, :] + column[:, None]), 0.0)
    if KIND == 0:
        return _exp2(gap * steep + height, FAST)
    return tl.where(known[:, None], height * tl.exp2(gap * steep), float("-inf"))


@triton.jit
def _object_sums(
    product, stride, rows, columns, bounds, inverse, most, n, width, factor, steep, height,
    SEEDS: tl.constexpr, TILE: tl.constexpr, KIND: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    """One over the sum of every object's weights, and their largest logarithm (not KIND 0).

    Rows of all tables have ``width`` places, a multiple of 16, so that whole lines are read.
    """
    r = tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = objects < width
    row = tl.load(rows + objects, mask=inside, other=0.0)
    total = tl.zeros((TILE,), tl.float32)
    top = tl.full((TILE,), float("-inf"), tl.float32)
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        value = _values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            KIND, FAST,
        )  # fmt: skip
        if KIND == 0:
            total += tl.sum(_exp2(value, FAST), axis=0)
        else:
            new = tl.maximum(top, tl.max(value, axis=0))
            more = tl.sum(tl.exp2(value - new[None, :]), axis=0)
            total = total * tl.exp2(top - new) + more
            top = new
    place = r.to(tl.int64) * width + objects
    if KIND == 0:
        total -= tl.cdiv(k, SEEDS) * SEEDS - k
    else:
        tl.store(most + place, top, mask=inside)
    # Who is no object counts nothing in the sums of the seeds.
    tl.store(inverse + place, tl.where(objects < n, 1.0 / total, 0.0), mask=inside)


@triton.jit
def _seed_sums(
    product, stride, rows, columns, bounds, inverse, most, parts, n, width, n_seeds, factor,
    steep, height,
    SEEDS: tl.constexpr, TILE: tl.constexpr, STEPS: tl.constexpr,
    KIND: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    """Sums of the grades of every seed over the objects of a program, into its row of parts."""
    chunk, r = tl.program_id(0), tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        total = tl.zeros((SEEDS, TILE), tl.float32)
        for step in range(STEPS):
            objects = (chunk * STEPS + step) * TILE + tl.arange(0, TILE)
            inside = objects < width
            place = r.to(tl.int64) * width + objects
            row = tl.load(rows + objects, mask=inside, other=0.0)
            share = tl.load(inverse + place, mask=inside, other=0.0)
            value = _values(
                product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
                KIND, FAST,
            )  # fmt: skip
            if KIND != 0:
                value -= tl.load(most + place, mask=inside, other=float("inf"))[None, :]
            total += _exp2(value, FAST) * share[None, :]
        tl.store(parts + chunk.to(tl.int64) * n_seeds + low + c, tl.sum(total, axis=1), mask=c < k)


@triton.jit
def _scaled(mean, k, n_objects, floor, inside, LOGS: tl.constexpr):
    """The score of a mean size."""
    mean = tl.maximum(mean, floor)
    if LOGS:
        return tl.where(inside, tl.log(tl.where(inside, mean, 1.0) * (k / n_objects)), 0.0)
    return tl.where(inside, mean / n_objects, 0.0)


@triton.jit
def _object_scores(
    product, stride, rows, columns, bounds, inverse, most, sizes, scores, parts, n, width,
    n_repetitions, factor, steep, height, n_objects, floors,
    SEEDS: tl.constexpr, TILE: tl.constexpr, KIND: tl.constexpr, FAST: tl.constexpr,
    LOGS: tl.constexpr,
):  # fmt: skip
    """Scores of a tile of objects, and their sum."""
    r = tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = objects < width
    place = r.to(tl.int64) * width + objects
    row = tl.load(rows + objects, mask=inside, other=0.0)
    top = tl.load(most + place, mask=inside, other=float("inf")) if KIND != 0 else row
    total = tl.zeros((TILE,), tl.float32)
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        size = tl.load(sizes + low + c, mask=c < k, other=0.0).to(tl.float32)
        value = _values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            KIND, FAST,
        )  # fmt: skip
        if KIND != 0:
            value -= top[None, :]
        total += tl.sum(_exp2(value, FAST) * size[:, None], axis=0)
    mean = total * tl.load(inverse + place, mask=inside, other=0.0)
    score = _scaled(mean, k, n_objects, floors / k, objects < n, LOGS)
    tl.store(scores + place, score, mask=inside)
    tl.store(parts + tl.program_id(0) * n_repetitions + r, tl.sum(score, axis=0))


@triton.jit
def _hard_labels(
    product, stride, rows, columns, bounds, labels, counts, n, width, factor, tie,
    TILE: tl.constexpr, BINS: tl.constexpr,
):  # fmt: skip
    """Nearest seeds of a tile of objects, one seed after another as on the CPU; their counts."""
    r = tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = objects < n
    row = tl.load(rows + objects, mask=inside, other=0.0)
    largest = tl.abs(tl.load(columns + low))
    for c in range(1, k):
        largest = tl.maximum(largest, tl.abs(tl.load(columns + low + c)))
    slack = tie * (tl.abs(row) + largest)
    start = product + low.to(tl.int64) * stride
    best = tl.load(columns + low) - factor * tl.load(start + objects, mask=inside, other=0.0).to(
        tl.float32
    )
    label = tl.zeros((TILE,), tl.int32)
    for c in range(1, k):
        near = tl.load(start + tl.cast(c, tl.int64) * stride + objects, mask=inside, other=0.0)
        value = tl.load(columns + low + c) - factor * near.to(tl.float32)
        nearer = value < best - slack
        best = tl.where(nearer, value, best)
        label = tl.where(nearer, c, label)
    tl.store(labels + r.to(tl.int64) * width + objects, label, mask=inside)
    # Who is outside was counted for the first.
    found = tl.histogram(tl.where(inside, label, 0), BINS)
    bins = tl.arange(0, BINS)
    found -= tl.where(bins == 0, TILE - tl.sum(inside.to(tl.int32)), 0)
    tl.atomic_add(counts + low + bins, found, mask=bins < k)


@triton.jit
def _hard_scores(
    labels, bounds, sizes, scores, parts, n, width, n_repetitions, n_objects, floors,
    TILE: tl.constexpr, LOGS: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = objects < n
    place = r.to(tl.int64) * width + objects
    label = tl.load(labels + place, mask=inside, other=0)
    mean = tl.load(sizes + low + label, mask=inside, other=1.0).to(tl.float32)
    score = _scaled(mean, k, n_objects, floors, inside, LOGS)
    tl.store(scores + place, score, mask=inside)
    tl.store(parts + tl.program_id(0) * n_repetitions + r, tl.sum(score, axis=0))


@triton.jit
def _add_scores(scores, stride, means, total, squares, n, n_repetitions, TILE: tl.constexpr):
    objects = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = objects < n
    sums = tl.load(total + objects, mask=inside, other=0.0)
    spread = tl.load(squares + objects, mask=inside, other=0.0)
    for r in range(n_repetitions):
        place = tl.cast(r, tl.int64) * stride + objects
        score = tl.load(scores + place, mask=inside, other=0.0).to(tl.float64)
        gap = score - tl.load(means + r)
        sums += score
        spread += gap * gap
    tl.store(total + objects, sums, mask=inside)
    tl.store(squares + objects, spread, mask=inside)


def weak_passes(
    product: Any,
    rows: Any,
    columns: Any,
    bounds: Any,
    n: int,
    rule: Any,
    *,
    factor: float,
    most: int,
    sizes: Any = None,
) -> tuple[Any, Any, Any]:
    """Sizes of clusters, scores of objects and their means from the product of a batch.

    Three passes: sums of every object's weights, of every seed's grades, and scores.

    Parameters
    ----------
    product : tensor of shape (n_seeds, width), float16 or float32
        The width is a multiple of 16; past the objects there is anything finite.
    rows, columns : tensors of shape (width,), (n_seeds,), float32
    bounds : tensor of shape (n_repetitions + 1,), int32
    n : int
        Objects.
    rule : consilience.engines._device.weak.Rule
    factor : float
        Of the product.
    most : int
        Most seeds of a repetition.
    sizes : tensor of shape (n_seeds,), float64, optional

    Returns
    -------
    sizes, scores, means : tensors
        float64 of shape (n_seeds,), float32 of (n_repetitions, n_objects), float64.
    """
    n_repetitions, width = len(bounds) - 1, len(rows)
    assert width % 16 == 0, "lines of memory are read whole"
    scores, inverse = torch.empty((2, n_repetitions, width), device=rows.device)
    common = (product, product.stride(0), rows, columns, bounds)
    if rule.kind == "hard":
        return _hard_passes(common, rule, n, factor, most, sizes, scores)
    steep, height, kind = _constants(rule)
    top = torch.empty_like(inverse) if kind else inverse
    numbers, shapes = (factor, steep, height), {"KIND": kind, "FAST": rows.is_cuda}
    seeds, tile, warps = OBJECT_TILE
    grid = (triton.cdiv(width, tile), n_repetitions)
    shape = {"SEEDS": seeds, "TILE": tile, "num_warps": warps, **shapes}
    _object_sums[grid](*common, inverse, top, n, width, *numbers, **shape)
    if sizes is None:
        sizes = _sizes(common, inverse, top, n, numbers, shapes)
    parts = torch.empty((grid[0], n_repetitions), device=rows.device)
    _object_scores[grid](
        *common, inverse, top, sizes, scores, parts, n, width, n_repetitions, *numbers,
        float(rule.n_objects), float(rule.floors), LOGS=rule.logs, **shape,
    )  # fmt: skip
    return sizes, scores[:, :n], parts.sum(dim=0, dtype=torch.float64) / n


def _sizes(
    common: Any, inverse: Any, top: Any, n: int, numbers: Any, shapes: dict[str, Any]
) -> Any:
    """Sizes of the clusters, from the sums over the objects of every program."""
    seeds, tile, steps, warps = SEED_TILE
    (n_repetitions, width), n_seeds = inverse.shape, len(common[3])
    n_chunks = triton.cdiv(width, tile * steps)
    parts = torch.empty((n_chunks, n_seeds), device=inverse.device)
    _seed_sums[(n_chunks, n_repetitions)](
        *common, inverse, top, parts, n, width, n_seeds, *numbers,
        SEEDS=seeds, TILE=tile, STEPS=steps, num_warps=warps, **shapes,
    )  # fmt: skip
    return parts.sum(dim=0, dtype=torch.float64)


def _constants(rule: Any) -> tuple[float, float, int]:
    """Steepness, height and kind of the weights as the kernels take them."""
    if rule.kind == "softmax":
        return 0.0, _LOG2E, 1
    height = 2 * rule.alpha * _LOG2E
    # Below 2^100 weights need not be brought down to 1.
    if height > 100:
        return rule.gamma * _LOG2E, height, 2
    return rule.gamma * _LOG2E, math.log2(height), 0


def _hard_passes(
    common: Any, rule: Any, n: int, factor: float, most: int, sizes: Any, scores: Any
) -> tuple[Any, Any, Any]:
    columns, bounds = common[3:]
    n_repetitions, tile, device = len(bounds) - 1, 1024, scores.device
    width = scores.shape[1]
    labels = torch.empty((n_repetitions, width), dtype=torch.int32, device=device)
    counts = torch.zeros(len(columns), dtype=torch.int32, device=device)
    grid = (triton.cdiv(n, tile), n_repetitions)
    _hard_labels[grid](
        *common, labels, counts, n, width, factor, rule.tie, TILE=tile,
        BINS=max(16, triton.next_power_of_2(most)), num_warps=4,
    )  # fmt: skip
    sizes = counts.to(torch.float64) if sizes is None else sizes
    parts = torch.empty((grid[0], n_repetitions), dtype=torch.float32, device=device)
    _hard_scores[grid](
        labels, bounds, sizes, scores, parts, n, width, n_repetitions, float(rule.n_objects),
        float(rule.floors), TILE=tile, LOGS=rule.logs, num_warps=4,
    )  # fmt: skip
    return sizes, scores[:, :n], parts.sum(dim=0, dtype=torch.float64) / n


def add_scores(scores: Any, means: Any, total: Any, squares: Any) -> None:
    """As `consilience.engines._device.weak.add_scores`, in one pass."""
    n_repetitions, n = scores.shape
    _add_scores[(triton.cdiv(n, 512),)](
        scores, scores.stride(0), means, total, squares, n, n_repetitions, TILE=512, num_warps=4
    )


# ---- k-means ---------------------------------------------------------------------------------


@triton.jit
def _settle(
    product, m, i, inside, lengths, half, reach, labels, waiting, n_waiting, n, share,
    K: tl.constexpr,
):  # fmt: skip
    """Write the nearest centres of a tile of objects; list those for which they are not sure."""
    c = tl.arange(0, K)
    score = tl.load(half + m * K + c)[None, :] - product
    least = tl.min(score, axis=1)
    # The first of equals.
    label = tl.min(tl.where(score == least[:, None], c[None, :], K), axis=1)
    second = tl.min(tl.where(c[None, :] == label[:, None], float("inf"), score), axis=1)
    bound = tl.load(lengths + i, mask=inside, other=0.0) + tl.load(reach + m)
    # Written so that what is not a number counts as doubt.
    doubt = inside & ~(second - least > share * bound * bound + 1e-30)
    tl.store(labels + m * n + i, tl.where(label < K, label, 0), mask=inside)
    number = doubt.to(tl.int32)
    n_new = tl.sum(number, axis=0)
    if n_new > 0:
        first = tl.atomic_add(n_waiting, n_new)
        tl.store(waiting + first + tl.cumsum(number, 0) - 1, m * n + i, mask=doubt)


@triton.jit
def _nearest_centres(
    rows, lengths, centres, half, reach, members, n_members, labels, waiting, n_waiting, n, d,
    share, K: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, WHOLE: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Nearest centres of a tile of objects in all members, one after another.

    Rows of up to STEP features are read once for all members (WHOLE).
    """
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside, c, f = i < n, tl.arange(0, K), tl.arange(0, STEP)
    at = rows + i.to(tl.int64)[:, None] * d
    x = tl.load(at + f[None, :], mask=inside[:, None] & (f < d)[None, :], other=0.0)
    for number in range(n_members):
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
            product, m, i, inside, lengths, half, reach, labels, waiting, n_waiting, n, share, K
        )


@triton.jit
def _judge(rows, centres, features, waiting, n_waiting, labels, n, d, n_programs, K: tl.constexpr):
    """Nearest centres by squared differences in float64, added in the order of the features."""
    c = tl.arange(0, K)
    last = tl.load(n_waiting)
    for at in range(tl.program_id(0), last, n_programs):
        pair = tl.load(waiting + at)
        m, i = pair // n, pair % n
        total = tl.zeros((K,), tl.float64)
        for f in range(d):
            x = tl.load(rows + i * d + f).to(tl.float64)
            gap = x - tl.load(centres + (m * K + c) * d + f)
            # A feature the member does not see adds nothing.
            gap = tl.where(tl.load(features + m * d + f) > 0, gap, 0.0)
            total += gap * gap
        least = tl.min(total, axis=0)
        tl.store(labels + pair, tl.min(tl.where(total == least, c, K - 1), axis=0))


@triton.jit
def _cluster_sums(
    digits, stride, labels, seen, members, n_members, sums, counts, n, width, chunk,
    K: tl.constexpr, TOGETHER: tl.constexpr, TILE: tl.constexpr, WIDTH: tl.constexpr,
    SOME: tl.constexpr,
):  # fmt: skip
    """Sums of the digits of the objects of every cluster: whole numbers, exact in any order.

    Several members share what is read of the digits: a column a cluster of each.
    """
    place = tl.program_id(0) * TOGETHER + tl.arange(0, TOGETHER)
    known = place < n_members
    m = tl.load(members + place, mask=known, other=0).to(tl.int64)
    w = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    c = tl.arange(0, K)
    total = tl.zeros((WIDTH, TOGETHER * K), tl.int32)
    number = tl.zeros((TOGETHER * K,), tl.int32)
    begin = tl.program_id(1) * chunk
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
            digits + w.to(tl.int64)[:, None] * stride + i[None, :],
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
):  # fmt: skip
    """Squared distances of a tile of objects to their own centres, added up."""
    m = tl.load(members + tl.program_id(0)).to(tl.int64)
    i = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = i < n
    label = tl.load(labels + m * n + i, mask=inside, other=0).to(tl.int64)
    if SOME:
        inside = inside & (tl.load(seen + m * n + i, mask=inside, other=0) != 0)
    total = tl.zeros((TILE, STEP), tl.float64)
    for start in range(0, d, STEP):
        f = start + tl.arange(0, STEP)
        visible = tl.load(features + m * d + f, mask=f < d, other=0) > 0
        there = inside[:, None] & visible[None, :]
        x = tl.load(rows + i.to(tl.int64)[:, None] * d + f[None, :], mask=there, other=0.0)
        own = tl.load(centres + (m * K + label[:, None]) * d + f[None, :], mask=there, other=0.0)
        gap = x.to(tl.float64) - own
        total += gap * gap
    tl.store(parts + m * n_parts + tl.program_id(1), tl.sum(tl.sum(total, axis=1), axis=0))


def nearest_centres(state: Any, members: Any, labels: Any, *, precision: str = "tf32x3") -> None:
    """Write the nearest centres of all objects in some members of a `Group`, ties to the first."""
    table, K = state.table, state.K
    n, d = table.centred.shape
    state.n_waiting.zero_()
    # A score is off by (d + 16) u |x| |c| at most, where u is 2^-22 by three products of halves of
    # the digits, 2^-24 by plain ones; |x| |c| is a quarter of the bound's square at most.
    share = 2.0 * (d + 16) * (2.0**-22 if precision == "tf32x3" else 2.0**-24)
    tile, step = TILES_OF_ROWS[K], max(16, min(64, triton.next_power_of_2(d)))
    _nearest_centres[(triton.cdiv(n, tile),)](
        table.centred, table.lengths, state.seeds, state.half, state.reach, members, len(members),
        labels, state.waiting, state.n_waiting, n, d, share,
        K=K, TILE=tile, STEP=step, WHOLE=d <= step, PRECISION=precision, num_warps=4,
    )  # fmt: skip
    judge(state, labels)


def judge(state: Any, labels: Any) -> None:
    """Decide the objects that wait, by the CPU's arithmetic."""
    n, d = state.table.rows.shape
    n_programs = 2048 if labels.is_cuda else 1
    _judge[(n_programs,)](
        state.table.rows, state.centres, state.features, state.waiting, state.n_waiting, labels,
        n, d, n_programs, K=state.K, num_warps=1, enable_fp_fusion=False,
    )  # fmt: skip


def cluster_sums(state: Any, members: Any, labels: Any) -> tuple[Any, Any]:
    """Sums of digits (n_members, width, K) and counts (n_members, K) of clusters, int64.

    Zeros for members that are not asked for.
    """
    digits, K = state.table.digits, state.K
    width, n, device = digits.shape[0], state.table.rows.shape[0], labels.device
    sums = torch.zeros((state.n_members, width, K), dtype=torch.int64, device=device)
    counts = torch.zeros((state.n_members, K), dtype=torch.int64, device=device)
    (tile, wide, warps), together = SUM_TILE, max(1, SUMMED // K)
    chunk = max(tile, min(32768, triton.cdiv(triton.cdiv(n, 32), tile) * tile))
    seen = labels if state.seen is None else state.seen
    grid = (triton.cdiv(len(members), together), triton.cdiv(n, chunk), triton.cdiv(width, wide))
    _cluster_sums[grid](
        digits, digits.stride(0), labels, seen, members, len(members), sums, counts, n, width,
        chunk, K=K, TOGETHER=together, TILE=tile, WIDTH=wide, SOME=state.seen is not None,
        num_warps=warps,
    )  # fmt: skip
    return sums, counts


def own_squares(state: Any, members: Any, labels: Any) -> Any:
    """Sum of squared distances of the members' own objects to their centres, float64."""
    n, d = state.table.rows.shape
    tile, step = 64, min(64, max(16, triton.next_power_of_2(d)))
    n_parts = triton.cdiv(n, tile)
    parts = torch.zeros((state.n_members, n_parts), dtype=torch.float64, device=labels.device)
    seen = labels if state.seen is None else state.seen
    _own_squares[(len(members), n_parts)](
        state.table.rows, state.centres, state.features, labels, seen, members, parts, n, d,
        n_parts, K=state.K, TILE=tile, STEP=step, SOME=state.seen is not None, num_warps=4,
    )  # fmt: skip
    return parts.sum(dim=1)


# ---- pairs -----------------------------------------------------------------------------------


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
    counts, stride, first, indices, found, n, k, TILE: tl.constexpr, ROOM: tl.constexpr
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
    tl.store(found + a.to(tl.int64) * k + place, kept >> 23, mask=place < k)


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
    found = torch.empty_like(indices)
    room = max(32, triton.next_power_of_2(k))
    _nearest_objects[(n_rows,)](
        counts, counts.stride(0), first, indices, found, n, k,
        TILE=1024, ROOM=room, num_warps=1,
    )  # fmt: skip
    return indices, found
