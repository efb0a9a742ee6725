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
from consilience.engines._device.kmeans import UNSEEN, Fitted, Table, refilled, unit_length

__all__ = [
    "MOST_CLUSTERS",
    "Digits",
    "Group",
    "Run",
    "assign_many",
    "fitting_group",
    "groups_of",
    "label_type",
    "lloyd_many",
    "numbers",
]

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

    def sums(self, digit_sums: Any) -> Any:
        """Sums of values, (n_members, K, n_features), of sums of digits."""
        d, kind = self.rows.shape[1], torch.float64
        total = torch.zeros((), dtype=kind, device=digit_sums.device)
        # From the lowest on: what is rounded is small beside what follows.
        for first in range(0, self.n_digits, _TOGETHER):
            part = torch.zeros((), dtype=torch.int64, device=digit_sums.device)
            for place in range(first, min(first + _TOGETHER, self.n_digits)):
                part = part + (digit_sums[:, place * d : (place + 1) * d] << 8 * (place - first))
            total = total + part.to(kind) * (self.unit[:, None] * 2.0 ** (8 * first))
        return total.transpose(1, 2)


@dataclass
class Group:
    """Members whose clusters fit the same tiles; what kernels read of them."""

    table: Any  # Digits: the rows that are worked on
    K: int
    shift: Any  # (d,) float64: means of the columns
    n_clusters: Any  # (M,) int64
    centres: Any  # (M, K, d) float64, infinite where there is no cluster
    features: Any  # (M, d) uint8
    seen: Any = None  # (M, n) uint8, or None: everything
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
        own = there & (self.features[:, None] > 0)
        gap = torch.where(own, self.centres - self.shift, 0.0).to(torch.float32)
        squares = gap.square().sum(dim=2)
        self.seeds = gap.contiguous()
        self.half = torch.where(there[:, :, 0], squares / 2, torch.inf).contiguous()
        self.reach = squares.amax(dim=1).sqrt().contiguous()

    def hold(self, table: Digits, seen: Any = None) -> None:
        """Work on these rows."""
        self.table, self.seen = table, seen
        n_pairs, device = self.n_members * self.n_objects, self.centres.device
        if self.waiting is None or len(self.waiting) < n_pairs:
            self.waiting = torch.empty(n_pairs, dtype=torch.int64, device=device)
            self.n_waiting = torch.zeros(1, dtype=torch.int32, device=device)

    def room(self) -> Any:
        """Labels of the rows, not yet known."""
        shape = (self.n_members, self.n_objects)
        return torch.zeros(shape, dtype=label_type(self.K), device=self.centres.device)


def assign_many(
    table: Digits, kernels: Any, centres: Sequence[Any], features: Sequence[Any]
) -> list[Any]:
    """Nearest centre of every object in every member, ties to the smaller index."""
    labels: list[Any] = [None] * len(centres)
    n, d = table.rows.shape
    for members in groups_of(n, d, centres):
        some = [centres[m] for m in members]
        group = fitting_group(table.table, table.rows.device, some, [features[m] for m in members])
        group.hold(table)
        nearest = group.room()
        kernels.nearest_centres(group, numbers(range(len(members)), table.rows.device), nearest)
        for place, m in enumerate(members):
            labels[m] = nearest[place]
    return labels


def lloyd_many(
    table: Digits,
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
    few = [own is not None and 0 < len(own) <= _FEW * n for own in objects]
    for members in groups_of(n, d, starts, few, objects):
        tasks = [(starts[m], objects[m], features[m], tols[m]) for m in members]
        run = Run(table, kernels, tasks, own=few[members[0]])
        for m, one in zip(members, run.ended(max_iter, spherical, assign_all), strict=True):
            results[m] = one
    return results


class Run:
    """The rounds of the members of a group."""

    def __init__(
        self,
        table: Digits,
        kernels: Any,
        tasks: Sequence[tuple[Any, Any, Any, float]],
        *,
        own: bool,
    ) -> None:
        starts, self.objects, self.features, self.tols = zip(*tasks, strict=True)
        self.table, self.kernels, self.device = table, kernels, table.rows.device
        self.group = fitting_group(table.table, self.device, starts, self.features, own=own)
        objects = self.objects
        if own:
            table = table.taken(objects)
            n = len(table.rows) // len(tasks)
            # Of rows of their own they see the first.
            objects = tuple(None if len(one) == n else slice(len(one)) for one in objects)
        self.group.hold(table)
        if any(some is not None for some in objects):
            self.group.seen = torch.zeros(
                (len(tasks), self.group.n_objects), dtype=torch.uint8, device=self.device
            )
            for m, some in enumerate(objects):
                self.group.seen[m, slice(None) if some is None else some] = 1
        self.labels, self.before = self.group.room(), self.group.room()
        self.final: list[Any] = [None] * len(tasks)
        self.n_iter, self.converged = [0] * len(tasks), [False] * len(tasks)

    def ended(self, max_iter: int, spherical: bool, assign_all: bool) -> list[Fitted]:
        """All rounds, and what came of them."""
        active = list(range(self.group.n_members))
        for number in range(max_iter):
            if not active:
                break
            active = self._round(active, number, spherical)
        late = [m for m, labels in enumerate(self.final) if labels is None]
        if late:
            self._label_late(late)
        return self._results(assign_all)

    def _round(self, active: list[int], number: int, spherical: bool) -> list[int]:
        """One iteration of the members that still change; those that go on."""
        group = self.group
        changed, values, counts = self._pass(numbers(active, self.device))
        moved = changed | (number == 0)
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
        for m in active:
            if not has_moved[m]:
                self._keep(m)
                self.converged[m] = True
        on = self._moved(new, [m for m in active if has_moved[m]])
        self._turn()
        return on

    def _pass(self, members: Any) -> tuple[Any, Any, Any]:
        """Which labels changed, and sums and counts of clusters."""
        self.kernels.nearest_centres(self.group, members, self.labels)
        changed = self.labels != self.before
        if self.group.seen is not None:
            changed &= self.group.seen > 0
        sums, counts = self.kernels.cluster_sums(self.group, members, self.labels)
        return changed.any(dim=1), self.kernels.values_of(self.group, sums), counts

    def _keep(self, m: int) -> None:
        """Keep the labels of a member that has come to its end."""
        self.final[m] = self.labels[m].clone()

    def _turn(self) -> None:
        """The labels of this round are those before the next."""
        self.labels, self.before = self.before, self.labels

    def _label_late(self, late: list[int]) -> None:
        """Labels of members that were stopped, by their last centres."""
        self.kernels.nearest_centres(self.group, numbers(late, self.device), self.labels)
        for m in late:
            self.final[m] = self.labels[m]

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

    def _results(self, assign_all: bool) -> list[Fitted]:
        group, labels = self.group, torch.stack(self.final)
        parts = self.kernels.square_parts(group, numbers(range(len(labels)), self.device), labels)
        inertia = self.kernels.added(parts).tolist()
        centres = []
        for m, seen in enumerate(self.features):
            own = group.centres[m, : int(group.n_clusters[m])]
            centres.append(own if seen is None else own[:, seen])
        if group.own:
            whole = self._whole(centres, assign_all)
            for m, objects in enumerate(self.objects):
                some = labels[m, : len(objects)].to(whole[m].device, whole[m].dtype)
                whole[m][self._places(m)] = some
        else:
            whole = [self._told(m, labels[m], assign_all) for m in range(len(labels))]
        ends = zip(whole, centres, inertia, self.n_iter, self.converged, strict=True)
        return [Fitted(*one) for one in ends]

    def _told(self, m: int, labels: Any, assign_all: bool) -> Any:
        """Labels of a member's run, those of objects it did not see left out unless wanted."""
        if self.objects[m] is None or assign_all:
            return labels
        left = torch.ones(len(labels), dtype=torch.bool, device=labels.device)
        left[self.objects[m]] = False
        return torch.where(left, UNSEEN, labels.to(torch.int32))

    def _whole(self, centres: Sequence[Any], assign_all: bool) -> list[Any]:
        """Labels of all objects by the centres of members that have rows of their own."""
        if assign_all:
            return assign_many(self.table, self.kernels, centres, self.features)
        empty = torch.full((len(self.table.rows),), UNSEEN, dtype=torch.int32, device=self.device)
        return [empty.clone() for _ in centres]

    def _places(self, m: int) -> Any:
        """Objects of a member among all."""
        return self.objects[m]


def groups_of(
    n: int,
    d: int,
    starts: Sequence[Any],
    few: Sequence[bool] = (),
    objects: Sequence[Any] = (),
    *,
    own_values: int = _OWN_VALUES,
) -> list[list[int]]:
    """Members that fit the same tiles, as many as their labels or rows have room for."""
    by_room: dict[tuple[bool, int], list[int]] = {}
    for m, start in enumerate(starts):
        alone = bool(few) and few[m]
        by_room.setdefault((alone, _tile(len(start))), []).append(m)
    groups = []
    for (alone, _), members in sorted(by_room.items()):
        most = max(1, _LABELS // max(n, 1))
        if alone:
            longest = max(len(objects[m]) for m in members)
            most = max(1, own_values // (longest * max(d, 1)))
        groups += [members[at : at + most] for at in range(0, len(members), most)]
    return groups


def _tile(k: int) -> int:
    return max(16, 1 << (k - 1).bit_length())


def fitting_group(
    table: Any, device: Any, starts: Sequence[Any], features: Sequence[Any], *, own: bool = False
) -> Group:
    """Members that start there; rows they `hold` later.

    ``table`` knows the means of the columns, as ``shift``.
    """
    d, M = len(table.shift), len(starts)
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
    sizes = torch.tensor([len(start) for start in starts], device=device)
    group = Group(None, K, table.shift, sizes, centres, visible, own=own)
    group.renew()
    return group


def label_type(K: int) -> Any:
    """A byte for a label while clusters allow it."""
    return torch.uint8 if K <= 256 else torch.int32


def numbers(members: Any, device: Any) -> Any:
    """Numbers of members as kernels take them."""
    return torch.tensor(list(members), dtype=torch.int32, device=device)
