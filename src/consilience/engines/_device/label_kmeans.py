"""k-means on label rows on a torch device: the rounds of `consilience.kernels.kmeans.labels`.

Distances are sums of entries of one clusters x k table, added member after member; counts are whole
numbers: labels, objectives and rounds are those of the CPU.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import torch
from consilience.engines._device.labels import LabelRows

__all__ = ["LabelProblem"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Price = Callable[[Counts, Counts], tuple[Floats, Floats, float]]


class LabelProblem:
    """Label rows on a device with their weights, and how distances are scaled and shifted.

    Parameters
    ----------
    rows : LabelRows
    weights : ndarray of shape (n_rows,), int64
        Objects with that row.
    scale, shift : ndarrays of shape (n_rows,), float64
        See `consilience.kernels.kmeans.labels.lloyd`.
    """

    def __init__(self, rows: LabelRows, weights: Counts, scale: Floats, shift: Floats) -> None:
        self.rows = rows
        # Where all count once, what is counted is the same without weights.
        given = None if (weights == 1).all() else weights
        self.weights, self.scale, self.shift = map(rows.there, (given, scale, shift))

    def run(
        self, labels: NDArray[np.int32], k: int, price: Price, max_iter: int
    ) -> tuple[NDArray[np.int32], float, int, bool]:
        """Labels of a local optimum from the labels given, objective, rounds, whether it ended."""
        there = self.rows.there(labels.astype(np.int32, copy=False))
        counts, sizes, members = self._tables(there, k)
        costs, offset, objective = price(counts, sizes)
        for n_iter in range(1, max_iter + 1):
            before = there
            # Nothing is near a centre that does not exist.
            there, best = self.nearest(there, costs, np.where(members > 0, offset, np.inf))
            moved = not torch.equal(before, there)
            members = _host(torch.bincount(there, minlength=k))
            if (members == 0).any():
                there, filled = self._filled(there, best + self.shift, members)
                moved |= filled
            if not moved:
                return _narrow(there), objective, n_iter, True
            counts, sizes, members = self._tables(there, k)
            costs, offset, lower = price(counts, sizes)
            # Rounding can trade equal rows back and forth for ever; no gain is the end.
            if not lower < objective:
                return _narrow(before), objective, n_iter, True
            objective = lower
        return _narrow(there), objective, max_iter, False

    def nearest(self, labels: Any, costs: Floats, offset: Floats) -> tuple[Any, Any]:
        """The nearest centre of every row, its own unless another is nearer; and its distance."""
        new, best = torch.empty_like(labels), torch.empty_like(self.scale)
        beside, table = self.rows.there(offset), self.rows.there(costs)
        if self.rows.by_kernel(len(offset)):
            for some, members in self.rows.blocks():
                self.rows.kernels.nearest_rows(
                    members, self.rows.starts, table, self.scale[some], beside, labels[some],
                    new[some], best[some],
                )  # fmt: skip
            return new, best
        for some, _, sums in self.rows.row_sums(table):
            distance = self.scale[some, None] * sums + beside
            old = labels[some].to(torch.int64)
            own = distance.gather(1, old[:, None])[:, 0]
            least = distance.amin(dim=1)
            place = torch.arange(distance.shape[1], device=old.device).expand_as(distance)
            # The first of equals.
            first = torch.where(distance == least[:, None], place, len(offset)).amin(dim=1)
            new[some] = torch.where(least < own, first, old).to(new.dtype)
            best[some] = torch.minimum(least, own)
        return new, best

    def none(self) -> Any:
        """Labels of rows that are in no centre yet: the first."""
        return torch.zeros(len(self.scale), dtype=torch.int32, device=self.scale.device)

    def _tables(self, labels: Any, k: int) -> tuple[Counts, Counts, Counts]:
        """Weight of every cluster inside every centre, weight of and rows in every centre."""
        counts = self.rows.counts(labels, k, self.weights)
        members = _host(torch.bincount(labels, minlength=k))
        if self.weights is None:
            return _host(counts), members, members
        return _host(counts), _host(self.rows.sizes(labels, k, self.weights)), members

    def _filled(self, labels: Any, best: Any, members: Counts) -> tuple[Any, bool]:
        """Give every empty centre the farthest row of a centre with several."""
        placed, distance, members = _host(labels).copy(), _host(best).copy(), members.copy()
        for q in np.flatnonzero(members == 0):
            allowed = np.where(members[placed] > 1, distance, -np.inf)
            x = int(allowed.argmax())
            if allowed[x] == -np.inf:
                return self.rows.there(placed), False
            members[placed[x]] -= 1
            members[q] += 1
            placed[x], distance[x] = q, -np.inf
        return self.rows.there(placed), True


def _host(values: Any) -> NDArray[Any]:
    return np.asarray(values.cpu().numpy())


def _narrow(labels: Any) -> NDArray[np.int32]:
    return _host(labels).astype(np.int32, copy=False)
