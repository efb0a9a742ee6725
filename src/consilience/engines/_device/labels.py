"""Passes over an ensemble's labels on a torch device: tables, sums over clusters, nearest groups.

An object is a row with one label a member; a table has a row for every cluster of every member.
Counts are whole numbers. Floats are added member after member, as the CPU's kernels do it
(`consilience.kernels.labels`), so that sums have the same bits. Objects come in blocks; no result
depends on how large these are.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import full_precision, kernels_for, tensor_of, torch
from consilience.engines._device.memory import pinned, streamed

__all__ = ["LabelRows", "bins", "first_largest", "joint_bytes"]

UNSEEN = -2
# Numbers of a block's sums that exist at once, and bytes of its one-hot labels.
_AT_ONCE, _HOT = 1 << 24, 1 << 29
# Columns of a table up to which a kernel holds an object's sums in registers.
_MOST_COLUMNS = 64
# Bits of a weight that a byte takes of it.
_BITS = 7


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
        self.edges = np.array(starts, np.int64)
        self.n_rows = int(self.edges[-1])
        self.starts = torch.as_tensor(self.edges[:-1], device=device)
        self._resident = limit is None or members.nbytes <= limit
        self._limit = limit
        there = tensor_of(np.ascontiguousarray(members))
        self._members = there.to(device) if self._resident else pinned(there, device)
        self.kernels = kernels_for(device)

    def blocks(self, columns: int = 1, *, at_once: int = _AT_ONCE) -> Iterator[tuple[slice, Any]]:
        """Objects and their labels, (n_members, n_some) on the device, block after block.

        Parameters
        ----------
        columns : int
            Numbers that whoever asks holds of every object.
        at_once : int
            Numbers that may exist at once.
        """
        step = max(1024, at_once // max(columns, 1))
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

    def there(self, values: Any) -> Any:
        """An array on the device; None stays None."""
        if values is None:
            return None
        return tensor_of(np.ascontiguousarray(values)).to(self.device)

    # ---- tables of counts ---------------------------------------------------------------------

    def counts(self, parts: Any, n_parts: int, weights: Any = None) -> Any:
        """Objects of each part in each cluster of each member, (n_rows, n_parts) int64.

        Parameters
        ----------
        parts : tensor of shape (n_objects,), int32 or int64
            The part of each object; negative for none.
        n_parts : int
        weights : tensor of shape (n_objects,), int64, optional
            Objects that each stands for.
        """
        if self.kernels is not None:
            return self._counted(self._tasks(), self.n_rows, parts, n_parts, weights)
        total = torch.zeros(self.n_rows * n_parts, dtype=torch.int64, device=self.device)
        for some, labels in self.blocks(2):
            part, times = parts[some], None if weights is None else weights[some]
            for own, (start, end) in zip(labels, pairwise(self.edges.tolist()), strict=True):
                own = own.to(torch.int64)
                inside = (own >= 0) & (part >= 0)
                code = torch.where(inside, own * n_parts + part, (end - start) * n_parts)
                binned = bins(code, (end - start) * n_parts + 1, times)
                total[start * n_parts : end * n_parts] += binned[:-1]
        return total.view(self.n_rows, n_parts)

    def seen(self, parts: Any, n_parts: int, weights: Any = None) -> Any:
        """Objects of each part that each member saw, (n_members, n_parts) int64."""
        if self.kernels is not None:
            # Unseen is a cluster like others to the kernel.
            tasks = [[r, UNSEEN, 1, r] for r in range(self.n_members)]
            unseen = self._counted(tasks, self.n_members, parts, n_parts, weights)
            return self.sizes(parts, n_parts, weights) - unseen
        total = torch.zeros((self.n_members, n_parts), dtype=torch.int64, device=self.device)
        for some, labels in self.blocks(2):
            part, times = parts[some], None if weights is None else weights[some]
            for r, own in enumerate(labels):
                inside = (own != UNSEEN) & (part >= 0)
                total[r] += bins(torch.where(inside, part, n_parts), n_parts + 1, times)[:-1]
        return total

    def sizes(self, parts: Any, n_parts: int, weights: Any = None) -> Any:
        """Objects of each part, (n_parts,) int64."""
        if self.kernels is None:
            code = torch.where(parts >= 0, parts, n_parts).to(torch.int64)
            return bins(code, n_parts + 1, weights)[:-1]
        # All objects in one cluster.
        one = torch.zeros((1, self.n_objects), dtype=torch.int8, device=self.device)
        counts = self._room(1, n_parts, weights)
        tasks = torch.tensor([[0, 0, 1, 0]], device=self.device)
        self.kernels.count_parts(one, tasks, parts, weights, counts, n_parts)
        return _from_digits(counts, n_parts)[0]

    def contingency(self, outside: int = 0) -> Any:
        """Objects in both of two clusters, for all clusters of all members: (C, C) int32 or int64.

        Parameters
        ----------
        outside : {0, 2}
            2 counts unseen and noise as two more clusters of each member, before the others.
        """
        first = self._first(outside)
        total = self.n_rows + outside * self.n_members
        kind = torch.int32 if self.n_objects < 2**31 else torch.int64
        table = torch.zeros((total, total), dtype=kind, device=self.device)
        kernels, at_once = self.kernels, _AT_ONCE if self.kernels is None else _HOT
        for _, labels in self.blocks(max(total, 1), at_once=at_once):
            code = labels.to(torch.int64) + outside
            # A row at the end takes what belongs to no cluster, and is cut off.
            code = torch.where(code >= 0, code + first[:, None], total)
            if kernels is not None:
                table += self._shared(code, total)
                continue
            kind = torch.float16 if self.device.type == "cuda" else torch.float32
            hot = torch.zeros((labels.shape[1], total + 1), dtype=kind, device=self.device)
            hot.scatter_(1, code.T, 1)
            table += _squared(hot[:, :total]).to(table.dtype)
        return table

    def _shared(self, code: Any, total: int) -> Any:
        """Objects of a block in both of two clusters: products of one-hot bytes."""
        wide = -(-code.shape[1] // 128) * 128
        hot = torch.zeros((total + 1, wide), dtype=torch.int8, device=self.device)
        hot.scatter_(0, code, 1)
        table = torch.empty((total, total), dtype=torch.int32, device=self.device)
        self.kernels.count_pairs(hot[:total], table, symmetric=True)
        return table

    def _tasks(self) -> list[list[int]]:
        """Member, first cluster, clusters and first row of what is counted together."""
        tasks, most = [], self.kernels.CLUSTERS
        for r, (start, end) in enumerate(pairwise(self.edges.tolist())):
            for low in range(0, end - start, most):
                tasks.append([r, low, min(most, end - start - low), start + low])
        return tasks

    def _counted(
        self, tasks: list[list[int]], n_rows: int, parts: Any, n_parts: int, weights: Any
    ) -> Any:
        counts = self._room(n_rows, n_parts, weights)
        if tasks and n_parts:
            listed = torch.tensor(tasks, device=self.device)
            for some, labels in self.blocks(2):
                times = None if weights is None else weights[some]
                self.kernels.count_parts(labels, listed, parts[some], times, counts, n_parts)
        return _from_digits(counts, n_parts)

    def _room(self, n_rows: int, n_parts: int, weights: Any) -> Any:
        """Zeros for counts of parts, of weights by digits."""
        bits = 1 if weights is None or not len(weights) else int(weights.max()).bit_length()
        digits = max(1, -(-bits // _BITS))
        return torch.zeros((n_rows, digits * n_parts), dtype=torch.int64, device=self.device)

    # ---- sums over the members of an object ---------------------------------------------------

    def row_sums(self, table: Any) -> Iterator[tuple[slice, Any, Any]]:
        """Sums of the table's rows of each object's clusters, block after block.

        As `consilience.kernels.labels.products.row_sums`, for float64 or int64 tables of shape
        (n_rows, k). Also hands out the labels of the block.
        """
        k = table.shape[1]
        for some, labels in self.blocks(k):
            if self.by_kernel(k):
                yield some, labels, self.kernels.label_sums(labels, self.starts, table)
            else:
                yield some, labels, self._sums(labels, table)

    def by_kernel(self, k: int) -> bool:
        """Whether a kernel holds sums of so many columns in registers."""
        return self.kernels is not None and 0 < k <= _MOST_COLUMNS

    def _sums(self, labels: Any, table: Any) -> Any:
        """Sums of a block in plain torch."""
        # A row of zeros for labels of no cluster.
        wide = torch.cat([table, table.new_zeros((1, table.shape[1]))])
        sums = torch.zeros(
            (labels.shape[1], table.shape[1]), dtype=table.dtype, device=table.device
        )
        for own, start in zip(labels, self.edges[:-1].tolist(), strict=True):
            own = own.to(torch.int64)
            sums += wide[torch.where(own >= 0, own + start, self.n_rows)]
        return sums

    def pair_sums(self, table: Any, pairs: NDArray[np.int64], outside: int = 0) -> Any:
        """Sums over pairs of members of the cell of a table that an object is in.

        Parameters
        ----------
        table : tensor of shape (C, C), float64 or integers
            As `contingency` has its rows and columns. Sums of integers are int64.
        pairs : ndarray of shape (n_pairs, 2)
            Members, the first of them never falling; sums go in their order.
        outside : {0, 2}
            As in `contingency`; labels of no row add nothing.

        Returns
        -------
        tensor of shape (n_objects,)
        """
        first, sums = self._first(outside), []
        if self.kernels is not None:
            edges = np.searchsorted(pairs[:, 0], np.arange(self.n_members + 1))
            lists = [self.there(one.astype(np.int32)) for one in (edges, pairs[:, 1])]
        for _, labels in self.blocks():
            if self.kernels is not None:
                sums.append(self.kernels.pair_sums(labels, first, table, *lists, outside))
            else:
                sums.append(self._pair_sums(labels, first, table, pairs, outside))
        return torch.cat(sums)

    def _pair_sums(
        self, labels: Any, first: Any, table: Any, pairs: NDArray[np.int64], outside: int
    ) -> Any:
        """`pair_sums` of a block in plain torch."""
        kind = torch.float64 if table.dtype.is_floating_point else torch.int64
        own = torch.zeros(labels.shape[1], dtype=kind, device=self.device)
        code = labels.to(torch.int64) + outside
        # Behind the table there is a row and a column of zeros.
        wide = torch.nn.functional.pad(table, (0, 1, 0, 1))
        code = torch.where(code >= 0, code + first[:, None], len(table))
        for a, b in np.asarray(pairs).tolist():
            own += wide[code[a], code[b]]
        return own

    def _first(self, outside: int) -> Any:
        """First row of each member where each has so many more."""
        return self.starts + outside * torch.arange(self.n_members, device=self.device)

    def moments(self) -> tuple[Any, Any, Any]:
        """Sums over all objects j of V_ij and of V_ij squared, V_ij the members that join i and j.

        As `consilience.kernels.pairs.confusion.pair_moments`, of objects that count once; and by
        how many members each object is placed. Tensors, float64.
        """
        table = self.contingency()
        own = table.diagonal()[:, None].to(torch.int64).contiguous()
        first, placed = [], []
        for _, labels, sums in self.row_sums(own):
            first.append(sums[:, 0])
            placed.append((labels >= 0).sum(dim=0))
        ones = torch.cat(first).to(torch.float64)
        pairs = np.stack(np.triu_indices(self.n_members, 1), axis=1)
        # Whole numbers, of which float64 holds the sums exactly.
        twos = 2.0 * self.pair_sums(table, pairs).to(torch.float64) + ones
        return ones, twos, torch.cat(placed).to(torch.float64)

    # ---- what is decided object by object -----------------------------------------------------

    def nearness(
        self,
        labels: NDArray[np.int64],
        n_parts: int,
        *,
        by_seen: bool,
        weights: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """As `consilience.kernels.labels.confidence.nearness`, whose formulas these are.

        Own and best other mean, which that is, and the own share of both.
        """
        parts, weights = self.there(labels.astype(np.int32)), self.there(weights)
        table = self.counts(parts, n_parts, weights)
        seen = self.seen(parts, n_parts, weights) if by_seen else None
        sizes = self.sizes(parts, n_parts, weights)
        by_block: list[tuple[Any, ...]] = []
        for some, members in self.blocks(n_parts):
            if self.by_kernel(n_parts):
                judged = self.kernels.judge_objects
                by_block.append(judged(members, self.starts, table, seen, sizes, parts[some]))
            else:
                joined = self._sums(members, table)
                by_block.append(
                    self._judged(members, joined, parts[some].to(torch.int64), seen, sizes)
                )
        own, other, next_best, share = (
            np.concatenate([one.cpu().numpy() for one in column])
            for column in zip(*by_block, strict=True)
        )
        return own, other, next_best, share

    def _judged(
        self, members: Any, joined: Any, part: Any, seen: Any, sizes: Any
    ) -> tuple[Any, ...]:
        """`nearness` of a block in plain torch."""
        placed = (members >= 0).sum(dim=0)
        if seen is None:
            pairs = (self.n_members * sizes).expand_as(joined)
            own_pairs = torch.full_like(placed, self.n_members)
        else:
            saw = (members != UNSEEN).T.to(torch.float64)
            # Whole numbers below 2^53: exact, however the product adds them.
            pairs = (saw @ seen.to(torch.float64)).to(torch.int64)
            own_pairs = (members != UNSEEN).sum(dim=0)
        own, other, next_best = _judged(joined, pairs, part, sizes, placed, own_pairs)
        both = own + other
        return (
            own,
            other,
            next_best,
            torch.where(both > 0, own / torch.where(both > 0, both, 1.0), 0.0),
        )

    def largest(self, table: NDArray[np.float64]) -> NDArray[np.int32]:
        """Column of the largest of each object's `row_sums`, the first of equals."""
        columns = np.empty(self.n_objects, np.int32)
        for some, _, sums in self.row_sums(self.there(table)):
            columns[some] = first_largest(sums).to(torch.int32).cpu().numpy()
        return columns


def joint_bytes(n_rows: int) -> int:
    """Bytes that tables of all pairs of clusters take on a device, with what is made of them."""
    return 28 * n_rows * n_rows


def _from_digits(counts: Any, n_parts: int) -> Any:
    """Counts of parts from those of their weights' digits."""
    # Said in full: of no clusters, or no parts, nobody can tell how many digits there are.
    n_digits = max(1, counts.shape[1] // max(n_parts, 1))
    digits = counts.view(len(counts), n_digits, n_parts)
    return sum(digits[:, place] << _BITS * place for place in range(n_digits))


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
