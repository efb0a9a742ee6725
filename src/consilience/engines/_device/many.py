"""Many k-means at once by Triton kernels: a launch a pass, for all members of a group.

The rules, labels and centres are those of `consilience.engines._device.kmeans`, which is the
definition, and so those of the CPU. Members are grouped by the number of clusters that a tile has
room for. Values are cut into digits of eight bits; the sums of the digits over the objects of a
cluster are products of bytes, whole numbers, and so exact in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.engines._device._torch import torch
from consilience.engines._device.kmeans import UNSEEN, Found, Table, refilled, unit_length

__all__ = ["MOST_CLUSTERS", "Digits", "assign_many", "lloyd_many"]

# Clusters of a member that a tile has room for.
MOST_CLUSTERS = 256
# Digits of eight bits a value has below the largest of its column, by bytes of its type: 47 bits,
# the 24 of a float32 and 23 powers of two; 63, the 53 of a float64 and 10.
_DIGITS = {4: 6, 8: 8}
# Digits whose sums together are whole numbers of a float64.
_TOGETHER = 3
# Labels of a group at once.
_LABELS = 1 << 28
# Members that see this share of the objects or less have rows of their own; values of those rows
# that exist at once.
_FEW, _OWN_VALUES = 0.25, 1 << 28


class Digits:
    """Values of a table as digits of eight bits, columns of digits by objects.

    Attributes
    ----------
    digits : tensor of shape (n_digits * n_features, at least n_objects), int8
        Lowest digits of all columns, the next, and so on.
    rows : tensor of shape (n_objects, n_features)
    centred : tensor of shape (n_objects, n_features), float32
        Rows with their column means taken off.
    lengths : tensor of shape (n_objects,), float32
        Of the centred rows.
    """

    def __init__(self, table: Table) -> None:
        self.table, self.rows = table, table.rows
        self.centred = table.centred.to(torch.float32).contiguous()
        self.lengths = self.centred.square().sum(dim=1).sqrt()
        self.n_digits = _DIGITS[table.rows.element_size()]
        n, d = table.rows.shape
        powers = np.frexp(table.largest.cpu().numpy())[1].astype(np.int64)
        unit = np.ldexp(1.0, np.maximum(powers - (8 * self.n_digits - 2), -1022))
        self.unit = torch.as_tensor(unit, device=table.rows.device)
        # Rows of digits begin at multiples of 16 bytes.
        self.digits = torch.zeros(
            (self.n_digits * d, -(-n // 16) * 16), dtype=torch.int8, device=table.rows.device
        )
        step = max(1, (1 << 24) // max(d, 1))
        for start in range(0, n, step):
            some = slice(start, min(start + step, n))
            rest = torch.round(table.rows[some].to(torch.float64) / self.unit).to(torch.int64)
            for place in range(self.n_digits):
                digit = ((rest + 128) & 255) - 128
                self.digits[place * d : (place + 1) * d, some] = digit.T.to(torch.int8)
                rest = (rest - digit) >> 8

    def taken(self, objects: Sequence[Any]) -> "Digits":
        """The rows of some objects for each of several members, one member after another.

        As many for each as the one with the most has; behind the others' there is anything.
        """
        # Rows of digits begin at multiples of 16 bytes.
        most = -(-max(len(own) for own in objects) // 16) * 16
        chosen = torch.zeros((len(objects), most), dtype=torch.int64, device=self.rows.device)
        for place, own in zip(chosen, objects, strict=True):
            place[: len(own)] = own
        some = Digits.__new__(Digits)
        some.table, some.n_digits, some.unit = self.table, self.n_digits, self.unit
        some.rows, some.centred = self.rows[chosen.ravel()], self.centred[chosen.ravel()]
        some.lengths, some.digits = self.lengths[chosen.ravel()], self.digits[:, chosen.ravel()]
        return some

    def sums(self, found: Any) -> Any:
        """Sums of values, (n_members, K, n_features), of sums of digits."""
        d, kind = self.rows.shape[1], torch.float64
        total = torch.zeros((), dtype=kind, device=found.device)
        # From the lowest on: what is rounded is small beside what follows.
        for first in range(0, self.n_digits, _TOGETHER):
            part = torch.zeros((), dtype=torch.int64, device=found.device)
            for place in range(first, min(first + _TOGETHER, self.n_digits)):
                part = part + (found[:, place * d : (place + 1) * d] << 8 * (place - first))
            total = total + part.to(kind) * (self.unit[:, None] * 2.0 ** (8 * first))
        return total.transpose(1, 2)


@dataclass
class Group:
    """Members whose clusters fit the same tiles; what kernels read of them."""

    table: Digits
    K: int
    n_clusters: Any  # (M,) int64
    centres: Any  # (M, K, d) float64, infinite where there is no cluster
    features: Any  # (M, d) uint8
    seen: Any  # (M, n) uint8, or None: everything
    seeds: Any = None  # (M, K, d): centres as the first look takes them
    half: Any = None  # (M, K): halves of their squared lengths
    reach: Any = None  # (M,): length of the longest
    waiting: Any = None
    n_waiting: Any = None
    own: bool = False  # whether every member has rows of its own in the table

    @property
    def n_objects(self) -> int:
        """Objects of a member."""
        n = len(self.table.rows)
        return n // self.n_members if self.own else n

    @property
    def n_members(self) -> int:
        """Members of the group."""
        return len(self.centres)

    def renew(self) -> None:
        """What follows from the centres."""
        there = torch.isfinite(self.centres)
        shift = self.table.table.shift
        own = there & (self.features[:, None] > 0)
        gap = torch.where(own, self.centres - shift, 0.0).to(torch.float32)
        squares = gap.square().sum(dim=2)
        self.seeds = gap.contiguous()
        self.half = torch.where(there[:, :, 0], squares / 2, torch.inf).contiguous()
        self.reach = squares.amax(dim=1).sqrt().contiguous()


def assign_many(table: Digits, centres: Sequence[Any], features: Sequence[Any]) -> list[Any]:
    """Nearest centre of every object in every member, ties to the smaller index."""
    from consilience.engines import _triton as kernels

    labels: list[Any] = [None] * len(centres)
    for members in _groups(table, centres):
        group = _group(table, [centres[m] for m in members], [features[m] for m in members], None)
        found = _room(group)
        kernels.nearest_centres(group, _numbers(range(len(members)), table), found)
        for place, m in enumerate(members):
            labels[m] = found[place]
    return labels


def lloyd_many(
    table: Digits,
    starts: Sequence[Any],
    objects: Sequence[Any],
    features: Sequence[Any],
    *,
    max_iter: int,
    tols: Sequence[float],
    spherical: bool,
    assign_all: bool,
) -> list[Found]:
    """One k-means a start; see `consilience.engines._device.kmeans.lloyd`."""
    found: list[Any] = [None] * len(starts)
    n = len(table.rows)
    few = [own is not None and 0 < len(own) <= _FEW * n for own in objects]
    for members in _groups(table, starts, few, objects):
        tasks = [(starts[m], objects[m], features[m], tols[m]) for m in members]
        run = _Run(table, tasks, own=few[members[0]])
        for m, one in zip(members, run.ended(max_iter, spherical, assign_all), strict=True):
            found[m] = one
    return found


class _Run:
    """The rounds of the members of a group."""

    def __init__(
        self, table: Digits, tasks: Sequence[tuple[Any, Any, Any, float]], *, own: bool = False
    ) -> None:
        starts, self.objects, self.features, self.tols = zip(*tasks, strict=True)
        self.table = table
        self.group = _group(table, starts, self.features, self.objects, own=own)
        self.labels, self.before = _room(self.group), _room(self.group)
        self.final: list[Any] = [None] * len(tasks)
        self.n_iter, self.converged = [0] * len(tasks), [False] * len(tasks)

    def ended(self, max_iter: int, spherical: bool, assign_all: bool) -> list[Found]:
        """All rounds, and what came of them."""
        from consilience.engines import _triton as kernels

        active = list(range(self.group.n_members))
        for number in range(max_iter):
            if not active:
                break
            active = self._round(kernels, active, number, spherical)
        late = [m for m, labels in enumerate(self.final) if labels is None]
        if late:
            kernels.nearest_centres(self.group, _numbers(late, self.table), self.labels)
            for m in late:
                self.final[m] = self.labels[m]
        return self._found(kernels, assign_all)

    def _round(self, kernels: Any, active: list[int], number: int, spherical: bool) -> list[int]:
        """One iteration of the members that still change; those that go on."""
        group, members = self.group, _numbers(active, self.table)
        kernels.nearest_centres(group, members, self.labels)
        changed = self.labels != self.before
        if group.seen is not None:
            changed &= group.seen > 0
        moved = changed.any(dim=1) | (number == 0)
        found, counts = kernels.cluster_sums(group, members, self.labels)
        values = self.table.sums(found)
        there = torch.arange(group.K, device=counts.device) < group.n_clusters[:, None]
        empty = ((counts == 0) & there).any(dim=1)
        means = values / counts.clamp(min=1)[:, :, None]
        means = torch.where(group.features[:, None] > 0, means, 0.0)
        new = torch.where(counts[:, :, None] > 0, means, group.centres)
        has_moved, has_empty = torch.stack([moved, empty]).tolist()
        for m in active:
            self.n_iter[m] += 1
            if has_empty[m]:
                has_moved[m] |= self._refill(m, new, counts)
        if spherical:
            new = torch.where(counts[:, :, None] > 0, unit_length(new), group.centres)
        on = [m for m in active if has_moved[m]]
        for m in active:
            if not has_moved[m]:
                self.final[m], self.converged[m] = self.labels[m].clone(), True
        on = self._moved(new, on)
        self.labels, self.before = self.before, self.labels
        return on

    def _refill(self, m: int, new: Any, counts: Any) -> bool:
        """Fill the empty clusters of a member, and correct its means and counts."""
        own, seen, k = self.objects[m], self.features[m], int(self.group.n_clusters[m])
        part = self.table.table.part(own, seen)
        at = slice(None) if own is None else slice(len(own)) if self.group.own else own
        columns = slice(None) if seen is None else seen
        centres = self.group.centres[m, :k][:, columns]
        labels, sizes, n_moved = refilled(part, self.labels[m][at].to(torch.int64), centres)
        if n_moved:
            self.labels[m][at] = labels.to(self.labels.dtype)
            filled = new[m, :k].clone()
            filled[:, columns] = part.means(labels, sizes, centres)
            new[m, :k] = filled
            counts[m, :k] = sizes
        return n_moved > 0

    def _moved(self, new: Any, on: list[int]) -> list[int]:
        """Put the centres of some members where they belong; those that moved far enough."""
        if not on:
            return on
        group, chosen = self.group, torch.as_tensor(on, device=new.device)
        old = group.centres[chosen]
        if max(self.tols) > 0:
            own = torch.isfinite(old) & (group.features[chosen][:, None] > 0)
            gaps = torch.where(own, new[chosen] - old, 0.0).square().sum(dim=(1, 2)).tolist()
        else:
            gaps = [np.inf] * len(on)
        group.centres[chosen] = new[chosen]
        group.renew()
        far = []
        for m, gap in zip(on, gaps, strict=True):
            self.converged[m] = self.tols[m] > 0 and gap <= self.tols[m]
            if not self.converged[m]:
                far.append(m)
        return far

    def _found(self, kernels: Any, assign_all: bool) -> list[Found]:
        group = self.group
        labels = torch.stack(self.final)
        inertia = kernels.own_squares(group, _numbers(range(len(labels)), self.table), labels)
        if group.own:
            return self._found_by_own(labels, inertia.tolist(), assign_all)
        found = []
        for m, squares in enumerate(inertia.tolist()):
            own, seen, k = labels[m], self.features[m], int(group.n_clusters[m])
            if self.objects[m] is not None and not assign_all:
                left = torch.ones(len(own), dtype=torch.bool, device=own.device)
                left[self.objects[m]] = False
                own = torch.where(left, UNSEEN, own.to(torch.int32))
            centres = group.centres[m, :k] if seen is None else group.centres[m, :k][:, seen]
            found.append(Found(own, centres, squares, self.n_iter[m], self.converged[m]))
        return found

    def _found_by_own(self, labels: Any, inertia: Sequence[float], assign_all: bool) -> list[Found]:
        """What came of members that have rows of their own: labels of all objects."""
        group, n = self.group, len(self.table.rows)
        centres = []
        for m, seen in enumerate(self.features):
            own = group.centres[m, : int(group.n_clusters[m])]
            centres.append(own if seen is None else own[:, seen])
        if assign_all:
            whole = assign_many(self.table, centres, self.features)
        else:
            empty = torch.full((n,), UNSEEN, dtype=torch.int32, device=labels.device)
            whole = [empty.clone() for _ in centres]
        found = []
        for m, objects in enumerate(self.objects):
            whole[m][objects] = labels[m, : len(objects)].to(whole[m].dtype)
            found.append(Found(whole[m], centres[m], inertia[m], self.n_iter[m], self.converged[m]))
        return found


def _groups(
    table: Digits, starts: Sequence[Any], few: Sequence[bool] = (), objects: Sequence[Any] = ()
) -> list[list[int]]:
    """Members that fit the same tiles, as many as their labels or rows have room for."""
    by_room: dict[tuple[bool, int], list[int]] = {}
    for m, start in enumerate(starts):
        alone = bool(few) and few[m]
        by_room.setdefault((alone, _tile(len(start))), []).append(m)
    n, d = table.rows.shape
    found = []
    for (alone, _), members in sorted(by_room.items()):
        most = max(1, _LABELS // max(n, 1))
        if alone:
            longest = max(len(objects[m]) for m in members)
            most = max(1, _OWN_VALUES // (longest * max(d, 1)))
        found += [members[at : at + most] for at in range(0, len(members), most)]
    return found


def _tile(k: int) -> int:
    return max(16, 1 << (k - 1).bit_length())


def _group(
    table: Digits,
    starts: Sequence[Any],
    features: Sequence[Any],
    objects: Any,
    *,
    own: bool = False,
) -> Group:
    if own:
        table = table.taken(objects)
        n, d = len(table.rows) // len(starts), table.rows.shape[1]
        # Of rows of their own they see the first.
        objects = [None if len(one) == n else slice(len(one)) for one in objects]
    else:
        n, d = table.rows.shape
    device, M = table.rows.device, len(starts)
    K = _tile(max(len(start) for start in starts))
    centres = torch.full((M, K, d), torch.inf, dtype=torch.float64, device=device)
    visible = torch.zeros((M, d), dtype=torch.uint8, device=device)
    for m, start in enumerate(starts):
        columns = slice(None) if features[m] is None else features[m]
        visible[m, columns] = 1
        # What a member does not see is not told apart: any number will do.
        whole = torch.zeros((len(start), d), dtype=torch.float64, device=device)
        whole[:, columns] = start
        centres[m, : len(start)] = whole
    seen = None
    if objects is not None and any(some is not None for some in objects):
        seen = torch.zeros((M, n), dtype=torch.uint8, device=device)
        for m, some in enumerate(objects):
            seen[m, slice(None) if some is None else some] = 1
    sizes = torch.tensor([len(start) for start in starts], device=device)
    group = Group(table, K, sizes, centres, visible, seen, own=own)
    group.waiting = torch.empty(M * n, dtype=torch.int64, device=device)
    group.n_waiting = torch.zeros(1, dtype=torch.int32, device=device)
    group.renew()
    return group


def _room(group: Group) -> Any:
    """Labels of a group, not yet known: a byte each while clusters allow it."""
    kind = torch.uint8 if group.K <= 256 else torch.int32
    shape = (group.n_members, group.n_objects)
    return torch.zeros(shape, dtype=kind, device=group.table.rows.device)


def _numbers(members: Any, table: Digits) -> Any:
    return torch.tensor(list(members), dtype=torch.int32, device=table.rows.device)
