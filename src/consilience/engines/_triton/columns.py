"""Facts of columns: sums over the rows of a block, one row after another as on the CPU."""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._triton._language import tl, triton

__all__ = ["block_facts"]


@triton.jit
def _block_facts(
    rows, sums, rests, squares, low, high, n, d, block, WIDTH: tl.constexpr
):  # fmt: skip
    """Sum, and then sums about the mean, of a block's rows; a thread has a column."""
    b = tl.program_id(0)
    f = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = f < d
    first = b.to(tl.int64) * block
    last = tl.minimum(first + block, n)
    total = tl.zeros((WIDTH,), tl.float64)
    least = tl.full((WIDTH,), float("inf"), tl.float64)
    most = tl.full((WIDTH,), float("-inf"), tl.float64)
    for i in range(first, last):
        x = tl.load(rows + i * d + f, mask=inside, other=0.0).to(tl.float64)
        total += x
        least = tl.minimum(least, x)
        most = tl.maximum(most, x)
    mean = total / (last - first).to(tl.float64)
    rest = tl.zeros((WIDTH,), tl.float64)
    square = tl.zeros((WIDTH,), tl.float64)
    for i in range(first, last):
        gap = tl.load(rows + i * d + f, mask=inside, other=0.0).to(tl.float64) - mean
        rest += gap
        square += gap * gap
    place = b.to(tl.int64) * d + f
    tl.store(sums + place, total, mask=inside)
    tl.store(rests + place, rest, mask=inside)
    tl.store(squares + place, square, mask=inside)
    tl.store(low + place, least, mask=inside)
    tl.store(high + place, most, mask=inside)


def block_facts(rows: Any, block: int) -> tuple[Any, ...]:
    """Sums, sums of what is apart from the mean, of its squares, least and largest of blocks.

    Each (n_blocks, n_columns) float64; all rows count.
    """
    n, d = rows.shape
    n_blocks = triton.cdiv(n, block)
    facts = torch.empty((5, n_blocks, d), dtype=torch.float64, device=rows.device)
    _block_facts[(n_blocks, triton.cdiv(d, 32))](
        rows, *facts, n, d, block, WIDTH=32, num_warps=1, enable_fp_fusion=False
    )
    return tuple(facts)
