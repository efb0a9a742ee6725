"""Weak clusterings: two passes over the product of a batch of seeds with the objects."""

import math
from collections.abc import Sequence
from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["FIRST_TILE", "OBJECT_TILE", "WeakBlock", "add_scores", "sizes_of"]

_LOG2E = 1.4426950408889634

# Seeds, objects and warps of a tile: a thread holds all seeds of its objects, so that sums over
# seeds need nobody else. The first pass also adds over objects; within one warp nobody waits.
FIRST_TILE = (4, 256, 1)
OBJECT_TILE = (4, 1024, 4)
# Objects of a tile of hard grades.
_HARD_TILE = 1024


@triton.jit
def _exp2(x, FAST: tl.constexpr):
    """Two to the x. The card's own instruction, without the detour for numbers below 2^-126."""
    if FAST:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return tl.exp2(x)


@triton.jit
def _looked_up(table, index, FAST: tl.constexpr):
    """Numbers of a table, one for each place of a tile.

    A load of Triton's would spread the tile over the threads anew, by addresses that it takes for
    scattered; the card's own instruction leaves every number where its index is.
    """
    if FAST:
        return tl.inline_asm_elementwise(
            "{ .reg .u64 at; mad.wide.u32 at, $2, 4, $1; ld.global.nc.f32 $0, [at]; }",
            "=f,l,r",
            [table.to(tl.uint64), index],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
    return tl.load(table + index)


@triton.jit
def _values(
    product, stride, low, k, c, row, columns, objects, inside, factor, steep, height, table,
    KIND: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    """Logarithms of a tile's weights to base 2, seeds by objects.

    KIND 0, of a Gaussian kernel: ``height`` is the logarithm of twice alpha, a factor that costs
    nothing so. KIND 1, of divergences, and 2, of a kernel whose weights could overflow: up to a
    constant. KIND 3, of a Gaussian kernel where divergences are whole numbers: the weights
    themselves, from the table, in place of two exponentials.
    """
    known = c < k
    place = (low + c).to(tl.int64)[:, None] * stride + objects[None, :]
    near = tl.load(product + place, mask=known[:, None] & inside[None, :], other=0.0)
    near = near.to(tl.float32) * factor
    column = tl.load(columns + low + c, mask=known, other=0.0)
    if KIND == 1:
        value = height * (near - column[:, None])
    else:
        gap = tl.minimum(near - (row[None, :] + column[:, None]), 0.0)
        if KIND == 0:
            value = _exp2(gap * steep + height, FAST)
        elif KIND == 2:
            value = height * tl.exp2(gap * steep)
        else:
            # Past the last seed the gap is a row term, which the table has too.
            value = _looked_up(table, (-gap).to(tl.int32), FAST)
    return tl.where(known[:, None], value, 0.0 if KIND == 3 else float("-inf"))


@triton.jit
def _weights(value, KIND: tl.constexpr, FAST: tl.constexpr):
    return value if KIND == 3 else _exp2(value, FAST)


@triton.jit
def _first_pass(
    product, stride, rows, columns, bounds, inverse, most, parts, n, width, n_seeds, factor, steep,
    height, table,
    SEEDS: tl.constexpr, TILE: tl.constexpr, KIND: tl.constexpr, FAST: tl.constexpr,
    SIZES: tl.constexpr,
):  # fmt: skip
    """One over the sum of every object's weights, their largest logarithm (KIND 1 and 2), and the
    sums of every seed's grades over the objects of the tile, into its row of parts.

    Rows of all tables have ``width`` places, a multiple of 16, so that whole lines are read. The
    second time seeds are read from the last to the first: the last are still in the caches.
    """
    chunk, r = tl.program_id(0), tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = chunk * TILE + tl.arange(0, TILE)
    inside = objects < width
    row = tl.load(rows + objects, mask=inside, other=0.0)
    total = tl.zeros((TILE,), tl.float32)
    top = tl.full((TILE,), float("-inf"), tl.float32)
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        value = _values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            table, KIND, FAST,
        )  # fmt: skip
        if KIND == 0 or KIND == 3:
            total += tl.sum(_weights(value, KIND, FAST), axis=0)
        else:
            new = tl.maximum(top, tl.max(value, axis=0))
            more = tl.sum(tl.exp2(value - new[None, :]), axis=0)
            total = total * tl.exp2(top - new) + more
            top = new
    place = r.to(tl.int64) * width + objects
    if KIND == 1 or KIND == 2:
        tl.store(most + place, top, mask=inside)
    # Who is no object counts nothing in the sums of the seeds.
    share = tl.where(objects < n, 1.0 / total, 0.0)
    tl.store(inverse + place, share, mask=inside)
    if SIZES:
        for back in range(0, k, SEEDS):
            c = tl.cdiv(k, SEEDS) * SEEDS - SEEDS - back + tl.arange(0, SEEDS)
            value = _values(
                product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
                table, KIND, FAST,
            )  # fmt: skip
            if KIND == 1 or KIND == 2:
                value -= top[None, :]
            sums = tl.sum(_weights(value, KIND, FAST) * share[None, :], axis=1)
            tl.store(parts + chunk.to(tl.int64) * n_seeds + low + c, sums, mask=c < k)


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
    n_repetitions, n_objects, floors, factor, steep, height, table,
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
    total = tl.zeros((TILE,), tl.float32)
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        size = tl.load(sizes + low + c, mask=c < k, other=0.0).to(tl.float32)
        value = _values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            table, KIND, FAST,
        )  # fmt: skip
        if KIND == 1 or KIND == 2:
            value -= tl.load(most + place, mask=inside, other=float("inf"))[None, :]
        total += tl.sum(_weights(value, KIND, FAST) * size[:, None], axis=0)
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
    tally = tl.histogram(tl.where(inside, label, 0), BINS)
    bins = tl.arange(0, BINS)
    tally -= tl.where(bins == 0, TILE - tl.sum(inside.to(tl.int32)), 0)
    tl.atomic_add(counts + low + bins, tally, mask=bins < k)


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


class WeakBlock:
    """The passes over the product of a batch's seeds with a block of objects.

    Two: sums of every object's weights and of every seed's grades (`first`), and scores (`last`).

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
    table : tensor of shape (at least the largest divergence + 1,), float32, optional
        Weights of whole divergences; see `consilience.engines._device.weak.Objects`.
    """

    def __init__(
        self,
        product: Any,
        rows: Any,
        columns: Any,
        bounds: Any,
        n: int,
        rule: Any,
        *,
        factor: float,
        most: int,
        table: Any = None,
    ) -> None:
        assert len(rows) % 16 == 0, "lines of memory are read whole"
        self.product, self.rows, self.columns, self.bounds = product, rows, columns, bounds
        self.n, self.rule, self.factor, self.most, self.table = n, rule, factor, most, table
        self.shape, self.device = (len(bounds) - 1, len(rows)), rows.device
        # Sums of the seeds over the objects of every program; or counts, of hard grades.
        self.parts: Any = None

    def _common(self) -> tuple[Any, ...]:
        return self.product, self.product.stride(0), self.rows, self.columns, self.bounds

    def first(self, *, want_sizes: bool) -> "WeakBlock":
        """Sums over seeds, and sums over objects where they are wanted."""
        if self.rule.kind == "hard":
            self._label()
            return self
        n_repetitions, width = self.shape
        self.inverse = torch.empty(self.shape, device=self.device)
        numbers, shapes, needs_top = self._settings()
        self.top = torch.empty_like(self.inverse) if needs_top else self.inverse
        (seeds, tile, warps), n_seeds = FIRST_TILE, len(self.columns)
        n_chunks = triton.cdiv(width, tile)
        if want_sizes:
            self.parts = torch.empty((n_chunks, n_seeds), device=self.device)
        _first_pass[(n_chunks, n_repetitions)](
            *self._common(), self.inverse, self.top, self.parts if want_sizes else self.inverse,
            self.n, width, n_seeds, *numbers,
            SIZES=want_sizes, SEEDS=seeds, TILE=tile, num_warps=warps, **shapes,
        )  # fmt: skip
        return self

    def last(self, product: Any, sizes: Any) -> tuple[Any, Any]:
        """Scores (n_repetitions, width) float32, and their sums over tiles of objects."""
        if self.rule.kind == "hard":
            return self._score_labels(sizes)
        self.product = product
        n_repetitions, width = self.shape
        numbers, shapes, _ = self._settings()
        scores = torch.empty(self.shape, device=self.device)
        seeds, tile, warps = OBJECT_TILE
        grid = (triton.cdiv(width, tile), n_repetitions)
        parts = torch.empty(grid, device=self.device)
        _object_scores[grid](
            *self._common(), self.inverse, self.top, sizes, scores, parts, self.n, width,
            n_repetitions, float(self.rule.n_objects), float(self.rule.floors), *numbers,
            LOGS=self.rule.logs, SEEDS=seeds, TILE=tile, num_warps=warps, **shapes,
        )  # fmt: skip
        return scores, parts

    def _settings(self) -> tuple[tuple[Any, ...], dict[str, Any], bool]:
        """Numbers and shapes of a pass, and whether it needs the largest logarithms."""
        steep, height, kind = _constants(self.rule)
        if kind == 0 and self.table is not None:
            kind = 3
        table = self.columns if self.table is None else self.table
        shapes = {"KIND": kind, "FAST": self.rows.is_cuda}
        return (self.factor, steep, height, table), shapes, kind in (1, 2)

    def _label(self) -> None:
        """Nearest seeds, and how many objects each has."""
        n_repetitions, width = self.shape
        self.labels = torch.empty(self.shape, dtype=torch.int32, device=self.device)
        self.parts = torch.zeros(len(self.columns), dtype=torch.int32, device=self.device)
        _hard_labels[(triton.cdiv(self.n, _HARD_TILE), n_repetitions)](
            *self._common(), self.labels, self.parts, self.n, width, self.factor, self.rule.tie,
            TILE=_HARD_TILE, BINS=max(16, triton.next_power_of_2(self.most)), num_warps=4,
        )  # fmt: skip

    def _score_labels(self, sizes: Any) -> tuple[Any, Any]:
        n_repetitions, width = self.shape
        scores = torch.empty(self.shape, device=self.device)
        grid = (triton.cdiv(self.n, _HARD_TILE), n_repetitions)
        parts = torch.empty(grid, device=self.device)
        _hard_scores[grid](
            self.labels, self.bounds, sizes, scores, parts, self.n, width, n_repetitions,
            float(self.rule.n_objects), float(self.rule.floors), TILE=_HARD_TILE,
            LOGS=self.rule.logs, num_warps=4,
        )  # fmt: skip
        return scores, parts


def sizes_of(blocks: Sequence[WeakBlock], rule: Any) -> Any:
    """Sizes of the clusters, float64, from the first passes over all blocks, in their order."""
    if rule.kind == "hard":
        return torch.stack([one.parts for one in blocks]).sum(dim=0).to(torch.float64)
    parts = [one.parts for one in blocks]
    return (parts[0] if len(parts) == 1 else torch.cat(parts)).sum(dim=0, dtype=torch.float64)


def _constants(rule: Any) -> tuple[float, float, int]:
    """Steepness, height and kind of the weights as the kernels take them."""
    if rule.kind == "softmax":
        return 0.0, _LOG2E, 1
    height = 2 * rule.alpha * _LOG2E
    # Below 2^100 weights need not be brought down to 1.
    if height > 100:
        return rule.gamma * _LOG2E, height, 2
    return rule.gamma * _LOG2E, math.log2(height), 0


def add_scores(scores: Any, means: Any, total: Any, squares: Any) -> None:
    """As `consilience.engines._device.weak.add_scores`, in one pass."""
    n_repetitions, n = scores.shape
    _add_scores[(triton.cdiv(n, 512),)](
        scores, scores.stride(0), means, total, squares, n, n_repetitions, TILE=512, num_warps=4
    )
