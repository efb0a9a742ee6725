"""k-means of tables larger than the device: blocks of rows on their way from the host.

The rules and sums are those of `consilience.engines._device.many`: whole numbers, added over the
blocks. Labels lie on the host, too. No label, centre or inertia depends on the size of a block.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device import columns
from consilience.engines._device._torch import torch
from consilience.engines._device.kmeans import UNSEEN, Fitted, Table
from consilience.engines._device.many import (
    Digits,
    Run,
    fitting_group,
    groups_of,
    label_type,
    numbers,
)
from consilience.engines._device.memory import streamed

__all__ = ["HostTable", "assign_beyond", "lloyd_beyond", "row_bytes"]

# Rows of a block: a whole number of the blocks of column facts, and of the kernels' tiles.
_WHOLE = columns.BLOCK_ROWS


def row_bytes(n_features: int, itemsize: int) -> int:
    """Bytes that k-means needs on a device for a row: itself, twice in float64, its digits."""
    return n_features * (2 * itemsize + 16 + 8)


class HostTable:
    """Rows on the host, and what all blocks of them have in common.

    Parameters
    ----------
    rows : ndarray of shape (n_objects, n_features), float32 or float64
    device : torch device
    limit : int
        Bytes that a block may need on the device.
    """

    def __init__(self, rows: NDArray[Any], device: Any, limit: int) -> None:
        kept = np.ascontiguousarray(rows)
        self.rows = torch.from_numpy(kept if kept.flags.writeable else kept.copy())
        self.device = device
        n, d = self.rows.shape
        # Two blocks are there at a time.
        fitting = limit // (2 * row_bytes(d, self.rows.element_size()))
        self.step = max(_WHOLE, fitting // _WHOLE * _WHOLE)
        self.pieces = [slice(a, min(a + self.step, n)) for a in range(0, n, self.step)]
        self.facts = columns.facts_of_blocks(
            [columns.block_parts(block) for _, block in self.sent()]
        )
        self.shift = self.facts[0]

    def sent(self) -> Iterator[tuple[slice, Any]]:
        """Places and rows of one block after another, on the device."""
        some = (self.rows[piece] for piece in self.pieces)
        yield from zip(self.pieces, streamed(some, self.device), strict=True)

    def table(self, rows: Any) -> Table:
        """Rows on the device as k-means takes them, with the facts of all."""
        mean, _, low, high = self.facts
        return Table(rows, mean, low, high, n_objects=len(self.rows))

    def blocks(self) -> Iterator[tuple[slice, Digits]]:
        """Places and digits of one block after another."""
        for piece, rows in self.sent():
            yield piece, Digits(self.table(rows))

    def taken(self, objects: Any) -> Any:
        """Rows of some objects, on the device."""
        at = objects.cpu() if isinstance(objects, torch.Tensor) else torch.as_tensor(objects)
        return self.rows[at].to(self.device)


def lloyd_beyond(
    table: HostTable,
    kernels: Any,
    starts: Sequence[Any],
    objects: Sequence[Any],
    features: Sequence[Any],
    *,
    max_iter: int,
    tols: Sequence[float],
    spherical: bool,
    assign_all: bool,
) -> list[Fitted]:
    """One k-means a start; see `consilience.engines._device.kmeans.lloyd`."""
    results: list[Any] = [None] * len(starts)
    n, d = table.rows.shape
    most = table.step * d
    few = [own is not None and 0 < len(own) * d <= most for own in objects]
    for members in groups_of(n, d, starts, few, objects, own_values=most):
        tasks = [(starts[m], objects[m], features[m], tols[m]) for m in members]
        if few[members[0]]:
            run: Run = _OwnRun(table, kernels, tasks)
        else:
            run = _StreamedRun(table, kernels, tasks)
        for m, one in zip(members, run.ended(max_iter, spherical, assign_all), strict=True):
            results[m] = one
    return results


def assign_beyond(
    table: HostTable, kernels: Any, centres: Sequence[Any], features: Sequence[Any]
) -> list[Any]:
    """Nearest centre of every object in every member, ties to the smaller index; on the host."""
    n, d = table.rows.shape
    labels: list[Any] = [None] * len(centres)
    for members in groups_of(n, d, centres):
        some = [centres[m] for m in members]
        group = fitting_group(table, table.device, some, [features[m] for m in members])
        whole = torch.empty((len(members), n), dtype=label_type(group.K))
        for piece, digits in table.blocks():
            group.hold(digits)
            nearest = group.room()
            kernels.nearest_centres(group, numbers(range(len(members)), table.device), nearest)
            whole[:, piece] = nearest.cpu()
        for place, m in enumerate(members):
            labels[m] = whole[place]
    return labels


class _StreamedRun(Run):
    """Members that see many rows: a pass over the blocks is a round."""

    def __init__(self, table: HostTable, kernels: Any, tasks: Sequence[Any]) -> None:
        starts, self.objects, self.features, self.tols = zip(*tasks, strict=True)
        self.host, self.kernels, self.device = table, kernels, table.device
        self.group = fitting_group(table, table.device, starts, self.features)
        n = len(table.rows)
        self.labels = torch.zeros((len(tasks), n), dtype=label_type(self.group.K))
        self.seen = None
        if any(own is not None for own in self.objects):
            self.seen = torch.zeros((len(tasks), n), dtype=torch.uint8)
            for m, own in enumerate(self.objects):
                self.seen[m, slice(None) if own is None else own.cpu()] = 1
        self.final: list[Any] = [None] * len(tasks)
        self.n_iter, self.converged = [0] * len(tasks), [False] * len(tasks)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Places and labels of one block after another, whose rows the group holds."""
        # A copy has its rows one after another, as kernels take them; a part of the host's has not.
        for piece, digits in self.host.blocks():
            seen = None if self.seen is None else self.seen[:, piece].to(self.device).contiguous()
            self.group.hold(digits, seen)
            yield piece, self.labels[:, piece].to(self.device).contiguous()

    def _pass(self, members: Any) -> tuple[Any, Any, Any]:
        """Which labels changed, sums and counts of clusters, over all blocks."""
        changed = sums = counts = None
        for piece, before in self._blocks():
            labels = before.clone()
            self.kernels.nearest_centres(self.group, members, labels)
            other = labels != before
            if self.group.seen is not None:
                other &= self.group.seen > 0
            parts = (other.any(dim=1), *self.kernels.cluster_sums(self.group, members, labels))
            if changed is None:
                changed, sums, counts = parts
            else:
                changed, sums, counts = changed | parts[0], sums + parts[1], counts + parts[2]
            self.labels[:, piece] = labels.cpu()
        return changed, self.kernels.values_of(self.group, sums), counts

    def _label_late(self, late: list[int]) -> None:
        members = numbers(late, self.device)
        for piece, labels in self._blocks():
            self.kernels.nearest_centres(self.group, members, labels)
            self.labels[:, piece] = labels.cpu()
        for m in late:
            self.final[m] = self.labels[m]

    def _keep(self, m: int) -> None:
        self.final[m] = self.labels[m]  # it is written no more

    def _turn(self) -> None:
        """Labels are compared block by block, before they are replaced."""

    def _refill(self, m: int, new: Any, counts: Any) -> bool:
        """Fill the empty clusters of a member, and correct its means and counts."""
        own, k = self.objects[m], int(self.group.n_clusters[m])
        columns_seen = self.group.features[m] > 0
        centres = self.group.centres[m, :k][:, columns_seen]
        labels = self.labels[m].to(torch.int64)
        distance = torch.empty(len(labels), dtype=torch.float64)
        for piece, digits in self.host.blocks():
            part = digits.table.part(None, torch.nonzero(columns_seen).ravel())
            distance[piece] = part.distances(centres, labels[piece].to(self.device)).cpu()
        at = slice(None) if own is None else own.cpu()
        placed, sizes, n_moved = refill_by(distance[at], labels[at], k)
        if n_moved:
            labels[at] = placed
            self.labels[m] = labels.to(self.labels.dtype)
            own_sums = torch.zeros((2, k, centres.shape[1]), dtype=torch.float64)
            outside = torch.full_like(labels, k)
            outside[at] = placed
            for piece, digits in self.host.blocks():
                part = digits.table.part(None, torch.nonzero(columns_seen).ravel())
                own_sums += part.sums(outside[piece].to(self.device), k).cpu()
            filled = new[m, :k].clone()
            filled[:, columns_seen] = part.means_of(
                own_sums.to(self.device), sizes.to(self.device), centres
            )
            new[m, :k] = filled
            counts[m, :k] = sizes.to(self.device)
        return n_moved > 0

    def _results(self, assign_all: bool) -> list[Fitted]:
        group, members = self.group, numbers(range(self.group.n_members), self.device)
        self.labels = torch.stack(self.final)
        parts = [self.kernels.square_parts(group, members, labels) for _, labels in self._blocks()]
        seen = None if self.seen is None else self.seen.to(self.device)
        inertia = self.kernels.added(torch.cat(parts, dim=1), seen).tolist()
        results = []
        for m, seen in enumerate(self.features):
            own, k = self.labels[m], int(group.n_clusters[m])
            if self.seen is not None and self.objects[m] is not None and not assign_all:
                own = torch.where(self.seen[m] > 0, own.to(torch.int32), UNSEEN)
            centres = group.centres[m, :k] if seen is None else group.centres[m, :k][:, seen]
            results.append(Fitted(own, centres, inertia[m], self.n_iter[m], self.converged[m]))
        return results


class _OwnRun(Run):
    """Members that see few rows: these are brought to the device, the others only at the end."""

    def __init__(self, table: HostTable, kernels: Any, tasks: Sequence[Any]) -> None:
        self.host = table
        rows = [table.taken(own) for _, own, _, _ in tasks]
        digits = Digits(table.table(torch.cat(rows)))
        ends = np.cumsum([0, *map(len, rows)])
        there = [torch.arange(a, b, device=table.device) for a, b in pairwise(ends.tolist())]
        inside = [(t[0], place, *t[2:]) for t, place in zip(tasks, there, strict=True)]
        super().__init__(digits, kernels, inside, own=True)
        self.theirs = [own for _, own, _, _ in tasks]

    def _whole(self, centres: Sequence[Any], assign_all: bool) -> list[Any]:
        if assign_all:
            return assign_beyond(self.host, self.kernels, centres, self.features)
        n = len(self.host.rows)
        return [torch.full((n,), UNSEEN, dtype=torch.int32) for _ in centres]

    def _places(self, m: int) -> Any:
        return self.theirs[m].cpu()


def refill_by(distance: Any, labels: Any, k: int) -> tuple[Any, Any, int]:
    """Labels, counts and moves after every empty cluster took the object farthest from its own.

    The rule of `consilience.engines._device.kmeans.refilled`, by distances known already.
    """
    labels, counts, n_moved = labels.clone(), torch.bincount(labels, minlength=k), 0
    for c in torch.nonzero(counts == 0).ravel().tolist():
        allowed = torch.where(counts[labels] > 1, distance, 0.0)
        most = allowed.max()
        if not bool(most > 0):
            break
        far = torch.nonzero(allowed == most)[0, 0]
        counts[labels[far]] -= 1
        labels[far] = c
        counts[c] += 1
        n_moved += 1
    return labels, counts, n_moved
