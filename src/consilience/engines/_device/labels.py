"""Passes over an ensemble's labels on a torch device: tables, sums over clusters, nearest groups.

An object is a row with one label a member; a table has a row for every cluster of every member.
Counts are whole numbers. Floats are added member after member, as the CPU's kernels do it
(`consilience.kernels.labels`), so that sums have the same bits. Objects come in blocks; no result
depends on how large these are.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import full_precision, kernels_for, torch
from consilience.engines._device.memory import pinned, streamed

__all__ = ["LabelRows", "bins", "first_largest"]

UNSEEN = -2
# Numbers of a block's sums that exist at once.
_AT_ONCE = 1 << 24
# Columns of a table up to which a kernel holds an object's sums in registers.
_MOST_COLUMNS = 64


class LabelRows:
    """Labels of an ensemble on a device, or on the host with blocks of them on the way to it.

    Parameters
    ----------
    members : ndarray of shape (n_members, n_objects), signed integers
        -1 is noise, -2 unseen.
    starts : ndarray of shape (n_members + 1,), int64
        First row of each member in the tables, and their number of rows.
    device : torch device
    limit : int, optional
        Bytes that labels may take on the device; more stay on the host.
    """

    def __init__(
        self,
        members: NDArray[Any],
        starts: NDArray[np.int64],
        device: Any,
        *,
        limit: int | None = None,
    ) -> None:
        self.device = device
        self.n_members, self.n_objects = members.shape
        self.n_rows = int(starts[-1])
        self.starts = torch.as_tensor(np.array(starts[:-1], np.int64), device=device)
        self._resident = limit is None or members.nbytes <= limit
        self._limit = limit
        kept = np.ascontiguousarray(members)
        there = torch.from_numpy(kept if kept.flags.writeable else kept.copy())
        self._members = there.to(device) if self._resident else pinned(there, device)

    def blocks(self, columns: int = 1) -> Iterator[tuple[slice, Any]]:
        """Objects and their labels, (n_members, n_some) on the device, block after block.

        Parameters
        ----------
        columns : int
            Numbers that whoever asks holds of every object.
        """
        step = max(1024, _AT_ONCE // max(columns, 1))
        if not self._resident:
            assert self._limit is not None
            step = max(1, min(step, self._limit // (2 * self._members.element_size())))
            step = max(1, step // max(self.n_members, 1))
        parts = [
            slice(start, min(start + step, self.n_objects))
            for start in range(0, self.n_objects, step)
        ]
        if self._resident:
            yield from ((part, self._members[:, part]) for part in parts)
        else:
            some = (self._members[:, part] for part in parts)
            yield from zip(parts, streamed(some, self.device), strict=True)

    def row_sums(self, table: Any) -> Iterator[tuple[slice, Any, Any]]:
        """Sums of the table's rows of each object's clusters, block after block.

        As `consilience.kernels.labels.products.row_sums`, for float64 or int64 tables of shape
        (n_rows, k). Also hands out the labels of the block.
        """
        k = table.shape[1]
        kernels = kernels_for(self.device)
        by_kernel = kernels is not None and k <= _MOST_COLUMNS
        for some, labels in self.blocks(k):
            if by_kernel and kernels is not None:
                yield some, labels, kernels.label_sums(labels, self.starts, table)
            else:
                yield some, labels, self._sums(labels, table)

    def _sums(self, labels: Any, table: Any) -> Any:
        """Sums of a block in plain torch."""
        # A row of zeros for labels of no cluster.
        wide = torch.cat([table, table.new_zeros((1, table.shape[1]))])
        sums = torch.zeros(
            (labels.shape[1], table.shape[1]), dtype=table.dtype, device=table.device
        )
        for own, start in zip(labels, self.starts.tolist(), strict=True):
            own = own.to(torch.int64)
            sums += wide[torch.where(own >= 0, own + start, self.n_rows)]
        return sums

    def counts(self, parts: Any, n_parts: int, weights: Any = None) -> Any:
        """Objects of each part in each cluster of each member, (n_rows, n_parts) int64.

        Parameters
        ----------
        parts : tensor of shape (n_objects,), int64
            The part of each object; negative for none.
        n_parts : int
        weights : tensor of shape (n_objects,), int64, optional
            Objects that each stands for.
        """
        total = torch.zeros(self.n_rows * n_parts, dtype=torch.int64, device=self.device)
        starts = self.starts.tolist()
        ends = [*starts[1:], self.n_rows]
        for some, labels in self.blocks(2):
            part, times = parts[some], None if weights is None else weights[some]
            for own, start, end in zip(labels, starts, ends, strict=True):
                own = own.to(torch.int64)
                inside = (own >= 0) & (part >= 0)
                code = torch.where(inside, own * n_parts + part, (end - start) * n_parts)
                found = bins(code, (end - start) * n_parts + 1, times)
                total[start * n_parts : end * n_parts] += found[:-1]
        return total.view(self.n_rows, n_parts)

    def seen(self, parts: Any, n_parts: int, weights: Any = None) -> Any:
        """Objects of each part that each member saw, (n_members, n_parts) int64."""
        total = torch.zeros((self.n_members, n_parts), dtype=torch.int64, device=self.device)
        for some, labels in self.blocks(2):
            part, times = parts[some], None if weights is None else weights[some]
            for r, own in enumerate(labels):
                inside = (own != UNSEEN) & (part >= 0)
                total[r] += bins(torch.where(inside, part, n_parts), n_parts + 1, times)[:-1]
        return total

    def contingency(self, outside: int = 0) -> Any:
        """Objects in both of two clusters, for all clusters of all members: (C, C) int64.

        Parameters
        ----------
        outside : {0, 2}
            2 counts unseen and noise as two more clusters of each member, before the others.
        """
        first = self._first(outside)
        total = self.n_rows + outside * self.n_members
        found = torch.zeros((total, total), dtype=torch.int64, device=self.device)
        for _, labels in self.blocks(max(total, 1)):
            code = labels.to(torch.int64) + outside
            # A column at the end takes what belongs to no cluster, and is cut off.
            code = torch.where(code >= 0, code + first[:, None], total)
            kind = torch.float16 if self.device.type == "cuda" else torch.float32
            hot = torch.zeros((labels.shape[1], total + 1), dtype=kind, device=self.device)
            hot.scatter_(1, code.T, 1)
            found += _squared(hot[:, :total]).to(torch.int64)
        return found

    def pair_sums(self, table: Any, pairs: Any, outside: int = 0) -> NDArray[np.float64]:
        """Sums over pairs of members of the cell of a table that an object is in.

        Parameters
        ----------
        table : tensor of shape (C, C), float64
            As `contingency` has its rows and columns.
        pairs : ndarray of shape (n_pairs, 2)
            Members; sums go in their order.
        outside : {0, 2}
            As in `contingency`; labels of no row add nothing.
        """
        first, found = self._first(outside), np.empty(self.n_objects)
        kernels = kernels_for(self.device)
        for some, labels in self.blocks():
            if kernels is not None:
                own = kernels.pair_sums(labels, first, table, self.there(pairs), outside)
            else:
                own = torch.zeros(labels.shape[1], dtype=torch.float64, device=self.device)
                code = labels.to(torch.int64) + outside
                # Behind the table there is a row and a column of zeros.
                wide = torch.nn.functional.pad(table, (0, 1, 0, 1))
                code = torch.where(code >= 0, code + first[:, None], len(table))
                for a, b in np.asarray(pairs).tolist():
                    own += wide[code[a], code[b]]
            found[some] = own.cpu().numpy()
        return found

    def _first(self, outside: int) -> Any:
        """First row of each member where each has so many more."""
        return self.starts + outside * torch.arange(self.n_members, device=self.device)

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over all objects j of V_ij and of V_ij squared, V_ij the members that join i and j.

        As `consilience.kernels.pairs.confusion.pair_moments`, of objects that count once.
        """
        table = self.contingency().to(torch.float64)
        first = np.empty(self.n_objects)
        for some, _, sums in self.row_sums(table.diagonal()[:, None].contiguous()):
            first[some] = sums[:, 0].cpu().numpy()
        pairs = np.stack(np.triu_indices(self.n_members, 1), axis=1)
        return first, 2.0 * self.pair_sums(table, pairs) + first

    def there(self, values: Any) -> Any:
        """An array on the device; None stays None."""
        if values is None:
            return None
        array = np.ascontiguousarray(values)
        return torch.as_tensor(array if array.flags.writeable else array.copy()).to(self.device)

    def nearness(
        self,
        labels: NDArray[np.int64],
        n_parts: int,
        *,
        by_seen: bool,
        weights: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
        """As `consilience.kernels.labels.confidence.nearness`, whose formulas these are."""
        parts, weights = self.there(labels), self.there(weights)
        table = self.counts(parts, n_parts, weights)
        seen = self.seen(parts, n_parts, weights).to(torch.float64) if by_seen else None
        sizes = bins(torch.where(parts >= 0, parts, n_parts), n_parts + 1, weights)[:-1]
        found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] = (
            np.empty(self.n_objects),
            np.empty(self.n_objects),
            np.empty(self.n_objects, np.int32),
        )
        for some, members, joined in self.row_sums(table):
            part = parts[some]
            placed = (members >= 0).sum(dim=0)
            if seen is None:
                pairs = (self.n_members * sizes).expand_as(joined)
                own_pairs = torch.full_like(placed, self.n_members)
            else:
                saw = (members != UNSEEN).T.to(torch.float64)
                # Whole numbers below 2^53: exact, however the product adds them.
                pairs = (saw @ seen).to(torch.int64)
                own_pairs = (members != UNSEEN).sum(dim=0)
            judged = _judged(joined, pairs, part, sizes, placed, own_pairs)
            for out, one in zip(found, judged, strict=True):
                out[some] = one.cpu().numpy()
        return found

    def largest(self, table: NDArray[np.float64]) -> NDArray[np.int32]:
        """Column of the largest of each object's `row_sums`, the first of equals."""
        found = np.empty(self.n_objects, np.int32)
        for some, _, sums in self.row_sums(self.there(table)):
            found[some] = first_largest(sums).to(torch.int32).cpu().numpy()
        return found


def first_largest(values: Any) -> Any:
    """Column of the largest of every row, the first of equals: torch's argmax promises none."""
    most = values.amax(dim=1, keepdim=True)
    place = torch.arange(values.shape[1], device=values.device).expand_as(values)
    return torch.where(values == most, place, values.shape[1]).amin(dim=1)


def _squared(hot: Any) -> Any:
    """Products of all columns with each other: counts of at most 2^24 objects, exact."""
    if hot.dtype == torch.float16:
        return torch.mm(hot.T, hot, out_dtype=torch.float32)
    with full_precision():
        return hot.T @ hot


def bins(codes: Any, n_bins: int, weights: Any = None) -> Any:
    """How often each code occurs, int64; or the whole weight of those that have it."""
    if weights is None:
        return torch.bincount(codes, minlength=n_bins)
    # Whole numbers: the order in which a device adds them does not matter.
    out = torch.zeros(n_bins, dtype=torch.int64, device=codes.device)
    return out.scatter_add_(0, codes, weights)


def _judged(
    joined: Any, pairs: Any, part: Any, sizes: Any, placed: Any, own_pairs: Any
) -> tuple[Any, Any, Any]:
    """Own and best other mean of a block of objects, and which that is."""
    inside, mine = part >= 0, part.clamp(min=0)
    own_joined = joined.gather(1, mine[:, None])[:, 0] - placed
    mates = pairs.gather(1, mine[:, None])[:, 0] - own_pairs
    own = torch.where(mates > 0, own_joined.to(torch.float64) / mates.clamp(min=1), 0.0)
    own = torch.where(sizes[mine] > 1, own, 1.0)
    share = joined.to(torch.float64) / pairs.clamp(min=1)
    share = torch.where(pairs > 0, share, 0.0).scatter(1, mine[:, None], 0.0)
    other = share.amax(dim=1)
    next_best = torch.where(other > 0, first_largest(share), -1)
    return (
        torch.where(inside, own, 0.0),
        torch.where(inside, other, 0.0),
        torch.where(inside, next_best, -1).to(torch.int32),
    )
