"""Mean, variance, least and largest value of every column, to the bit those of the CPU's kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.engines._device._torch import add_in_tree, kernels_for, torch

__all__ = ["BLOCK_ROWS", "block_parts", "column_facts", "facts_of_blocks"]

# That of `consilience.kernels._blocks`, which needs numba; a test holds them together.
BLOCK_ROWS = 4096


def column_facts(rows: Any, objects: Any = None) -> tuple[Any, Any, Any, Any]:
    """Mean, variance, least and largest value of every column, (n_columns,) float64 each.

    Parameters
    ----------
    rows : tensor of shape (n_objects, n_columns)
    objects : int array, optional
        Rows that count, sorted and without repeats.

    Notes
    -----
    Of every block of 4,096 rows one row after another is added, all blocks and columns at once:
    the order of the kernel `consilience.kernels.data.columns`, whose formulas these are.
    """
    if objects is None and len(rows):
        return facts_of_blocks([block_parts(rows)])
    table, held = _in_blocks(rows, objects)
    counts = held.sum(dim=1)
    some = counts > 0
    table, held, counts = table[some], held[some], counts[some].to(torch.float64)[:, None]
    sums = _added(table)
    apart = torch.where(held[:, :, None], table - (sums / counts)[:, None], 0.0)
    rests, squares = _added(apart), _added(apart * apart)
    low = torch.where(held[:, :, None], table, torch.inf).amin(dim=(0, 1))
    high = torch.where(held[:, :, None], table, -torch.inf).amax(dim=(0, 1))
    total = counts.sum()
    mean = add_in_tree(_put_back(sums, some)) / total
    offset = sums / counts - mean
    spread = squares + 2.0 * offset * rests + counts * offset**2
    return mean, add_in_tree(_put_back(spread, some)) / total, low, high


def block_parts(rows: Any) -> tuple[Any, ...]:
    """Sums, sums about the mean, of its squares, least, largest and count of every 4,096 rows.

    Of shape (n_blocks, n_columns) each but the counts, (n_blocks, 1).
    """
    n = len(rows)
    counts = torch.full(
        (-(-n // BLOCK_ROWS), 1), float(BLOCK_ROWS), dtype=torch.float64, device=rows.device
    )
    counts[-1] = n - BLOCK_ROWS * (len(counts) - 1)
    kernels = kernels_for(rows.device)
    if kernels is not None and rows.is_contiguous():
        return (*kernels.block_facts(rows, BLOCK_ROWS), counts)
    table, held = _in_blocks(rows, None)
    sums = _added(table)
    apart = torch.where(held[:, :, None], table - (sums / counts)[:, None], 0.0)
    low = torch.where(held[:, :, None], table, torch.inf).amin(dim=1)
    high = torch.where(held[:, :, None], table, -torch.inf).amax(dim=1)
    return sums, _added(apart), _added(apart * apart), low, high, counts


def facts_of_blocks(parts: Sequence[tuple[Any, ...]]) -> tuple[Any, Any, Any, Any]:
    """Facts of all columns, from the parts of tables that lie one after the other.

    All tables but the last have a multiple of 4,096 rows.
    """
    sums, rests, squares, low, high, counts = (torch.cat(some) for some in zip(*parts, strict=True))
    total = counts.sum()
    mean = add_in_tree(sums) / total
    offset = sums / counts - mean
    spread = squares + 2.0 * offset * rests + counts * offset**2
    return mean, add_in_tree(spread) / total, low.amin(dim=0), high.amax(dim=0)


def _in_blocks(rows: Any, objects: Any) -> tuple[Any, Any]:
    """Rows as (n_blocks, longest, n_columns) float64, zeros behind the last, and which are rows."""
    n, d = rows.shape
    n_blocks, device = max(-(-n // BLOCK_ROWS), 1), rows.device
    if objects is None:
        longest = min(n, BLOCK_ROWS)
        place = torch.arange(n, device=device)
        block, within, chosen = place // BLOCK_ROWS, place % BLOCK_ROWS, rows
    else:
        own = torch.as_tensor(np.asarray(objects, np.int64), device=device)
        block = own // BLOCK_ROWS
        first = torch.searchsorted(block, torch.arange(n_blocks, device=device))
        within = torch.arange(len(own), device=device) - first[block]
        longest, chosen = int(within.max()) + 1, rows[own]
    table = torch.zeros((n_blocks, longest, d), dtype=torch.float64, device=device)
    table[block, within] = chosen.to(torch.float64)
    held = torch.zeros((n_blocks, longest), dtype=torch.bool, device=device)
    held[block, within] = True
    return table, held


def _added(table: Any) -> Any:
    """Sums over the rows of every block, one row after another."""
    sums = torch.zeros_like(table[:, 0])
    for row in table.unbind(dim=1):
        sums += row
    return sums


def _put_back(sums: Any, some: Any) -> Any:
    """Sums of the blocks that hold rows at their places among all: the tree goes by numbers."""
    out = torch.zeros((len(some), sums.shape[1]), dtype=sums.dtype, device=sums.device)
    out[some] = sums
    return out
