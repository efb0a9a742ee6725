"""What cells of the tables of pairs of members are worth, on a torch device.

The formulas are those of `consilience.kernels.pairs.ambiguity`, for all pairs at once: the tables
of all pairs are one symmetric matrix, so that the objects of column c are those of row c.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import torch
from consilience.engines._device.labels import LabelRows

__all__ = ["overlap_sums"]

# Rows of each member before those of its clusters: unseen and noise.
_BEFORE = 2
# Cells that are judged at once.
_CELLS = 1 << 24


def overlap_sums(rows: LabelRows, pairs: NDArray[np.int64], *, relative: bool) -> tuple[Any, Any]:
    """Sums over pairs of members of what an object's cell is worth, and how many pairs saw it.

    Parameters
    ----------
    rows : LabelRows
    pairs : ndarray of shape (n_pairs, 2), int64
        Members, the first of them never falling.
    relative : bool
        The overlap relative to the best of row and column, else the share of the information.

    Returns
    -------
    sums : tensor of shape (n_objects,), float64
    counts : tensor of shape (n_objects,), int64
    """
    table = rows.contingency(outside=_BEFORE)
    cells = _Cells(table, rows.edges + _BEFORE * np.arange(rows.n_members + 1))
    values = torch.empty(table.shape, dtype=torch.float64, device=table.device)
    for some in cells.chunks():
        values[some] = cells.overlap(some) if relative else cells.information(some)
    if relative:
        cells.relate(values)
    sums = rows.pair_sums(values, pairs, _BEFORE)
    if not bool((table.diagonal()[~cells.saw] > 0).any()):  # everybody saw everything
        return sums, torch.full(sums.shape, len(pairs), device=sums.device)
    saw = cells.saw.to(torch.int8)
    return sums, rows.pair_sums(saw[:, None] * saw[None, :], pairs, _BEFORE)


class _Cells:
    """Objects in two clusters at once, in either, and in all that both members saw."""

    def __init__(self, table: Any, edges: NDArray[np.int64]) -> None:
        widths = np.diff(edges)
        place = np.arange(edges[-1]) - np.repeat(edges[:-1], widths)
        device = table.device
        self.table, self.edges = table, edges
        self.owner = torch.as_tensor(np.repeat(np.arange(len(widths)), widths), device=device)
        self.saw = torch.as_tensor(place >= 1, device=device)
        self.inside = torch.as_tensor(place >= _BEFORE, device=device)
        # Objects of each row that each member saw: (C, n_members). Whole numbers, exact.
        own = torch.zeros((len(table), len(widths)), dtype=torch.int64, device=device)
        for b, (start, end) in enumerate(pairwise(edges)):
            own[:, b] = table[:, start + 1 : end].sum(dim=1)
        both = torch.zeros((len(widths),) * 2, dtype=torch.int64, device=device)
        both.index_add_(0, self.owner, torch.where(self.saw[:, None], own, 0))
        self.own, self.both = own.to(torch.float64), both.to(torch.float64)

    def chunks(self) -> Iterator[slice]:
        """Rows that are judged together."""
        n = len(self.table)
        step = max(1, _CELLS // max(n, 1))
        yield from (slice(start, min(start + step, n)) for start in range(0, n, step))

    def _counts(self, some: slice) -> tuple[Any, Any, Any, Any]:
        """Of some rows: objects in row and column, in the row, in the column, and in all."""
        row, column = self.own[some][:, self.owner], self.own[:, self.owner[some]].T
        return (
            self.table[some].to(torch.float64),
            row,
            column,
            self.both[self.owner[some]][:, self.owner],
        )

    def _there(self, some: slice) -> Any:
        return self.inside[some][:, None] & self.inside[None, :] & (self.table[some] > 0)

    def information(self, some: slice) -> Any:
        """Shares of the mutual information over the root of both entropies' parts."""
        joint, row, column, n = self._counts(some)
        there = self._there(some) & (row < n) & (column < n)
        joint, row, column, n = (torch.where(there, one, 1.0) for one in (joint, row, column, n))
        own = row * torch.log(row / n) * column * torch.log(column / n)
        shares = joint * torch.log(n * joint / (row * column)) / torch.sqrt(own)
        return torch.where(there, shares, 0.0)

    def overlap(self, some: slice) -> Any:
        """Objects in both over the root of the product of those in either."""
        joint, row, column, _ = self._counts(some)
        there = self._there(some)
        product = torch.where(there, row * column, 1.0)
        return torch.where(there, joint / torch.sqrt(product), 0.0)

    def relate(self, overlap: Any) -> None:
        """Divide every overlap by the smaller of the best of its row and of its column."""
        best = torch.zeros((len(overlap), len(self.edges) - 1), dtype=torch.float64).to(overlap)
        for b, (start, end) in enumerate(pairwise(self.edges)):
            best[:, b] = overlap[:, start:end].amax(dim=1)
        for some in self.chunks():
            most = torch.minimum(best[some][:, self.owner], best[:, self.owner[some]].T)
            share = (overlap[some] / torch.where(most > 0, most, 1.0)).clamp(max=1.0)
            overlap[some] = torch.where(overlap[some] > 0, share, 0.0)
