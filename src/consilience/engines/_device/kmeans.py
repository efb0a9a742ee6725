"""Lloyd's k-means on a torch device: the labels and centres of the CPU's kernels.

Two things make them the same whatever the device, its shapes and its threads:

- **Labels.** Products tell the nearest centre of almost every object; where the second nearest
  is closer than a bound on their rounding, the squared differences are added in float64 in the
  order of the features, as the CPU's judge does (`consilience.kernels.kmeans.scan`).
- **Sums.** Values are cut into whole multiples of a power of two that is so large that no sum of
  them is ever rounded, and what is left of them likewise. Sums are then exact, in any order.

A member of an ensemble may have its own objects and features.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.engines._device._torch import full_precision, torch

__all__ = ["UNSEEN", "Fitted", "Table", "assign", "lloyd", "refilled", "unit_length"]

UNSEEN = -2
# Values of distances that exist at once. Rows a block follow from the number of clusters.
_DISTANCES = 1 << 26
# Bits of a float64's digits.
_DIGITS = 53


class Table:
    """Rows on the device, with their column means taken off, and what bounds the rounding.

    Parameters
    ----------
    rows : tensor of shape (n_objects, n_features), float32 or float64
    mean, low, high : tensors of shape (n_features,), float64
        Facts of the columns.
    n_objects : int, optional
        Rows of the whole table, where these are a part of it.
    """

    def __init__(
        self, rows: Any, mean: Any, low: Any, high: Any, *, n_objects: int | None = None
    ) -> None:
        self.rows, self.shift = rows, mean
        self.kind = rows.dtype
        self.centred = (rows.to(torch.float64) - mean).to(self.kind)
        # Multiples of these powers of two: sums of n_objects of them have at most 53 digits, and
        # so have sums of what is left. Made by NumPy: exp2 of a device may be off by a digit.
        n_all = len(rows) if n_objects is None else n_objects
        n_bits = _DIGITS - max(n_all - 1, 0).bit_length() - 1
        self.largest = torch.maximum(high.abs(), low.abs())
        powers = np.frexp(self.largest.cpu().numpy())[1].astype(np.int64)
        self.unit, self.fine = (
            torch.as_tensor(np.ldexp(1.0, np.maximum(powers - n, -1022)), device=rows.device)
            for n in (n_bits, 2 * n_bits)
        )

    def part(self, objects: Any, features: Any) -> "Part":
        """What a member sees."""
        rows, centred, unit, fine, shift = (
            self.rows,
            self.centred,
            self.unit,
            self.fine,
            self.shift,
        )
        if objects is not None:
            rows, centred = rows[objects], centred[objects]
        if features is not None:
            rows, centred = rows[:, features], centred[:, features]
            unit, fine, shift = unit[features], fine[features], shift[features]
        lengths = centred.square().sum(dim=1).sqrt()
        return Part(rows, centred, lengths, shift, unit, fine)


@dataclass
class Part:
    """Objects and features of a member."""

    rows: Any
    centred: Any
    lengths: Any
    shift: Any
    unit: Any
    fine: Any

    def nearest(self, centres: Any) -> Any:
        """Nearest centre of every object, (n_objects,) int64; ties to the smaller index."""
        k, d = centres.shape
        n = len(self.rows)
        labels = torch.zeros(n, dtype=torch.int64, device=self.rows.device)
        if k == 1 or n == 0:
            return labels
        seeds = (centres - self.shift).to(self.centred.dtype)
        half, reach = seeds.square().sum(dim=1) / 2, seeds.square().sum(dim=1).sqrt().max()
        share = 4.0 * (d + 16) * torch.finfo(self.centred.dtype).eps
        step = max(1, _DISTANCES // k)
        for start in range(0, n, step):
            some = slice(start, start + step)
            with full_precision():
                scores = half - self.centred[some] @ seeds.T
            two = torch.topk(scores, 2, dim=1, largest=False)
            labels[some] = two.indices[:, 0]
            gap = two.values[:, 1] - two.values[:, 0]
            # Written so that what is not a number counts as doubt.
            sure = gap > share * (self.lengths[some] + reach).square() + 1e-30
            doubtful = torch.nonzero(~sure).ravel() + start
            if len(doubtful):
                labels[doubtful] = _judged(self.rows[doubtful], centres)
        return labels

    def distances(self, centres: Any, labels: Any) -> Any:
        """Squared distance of every object to its own centre, float64."""
        total = torch.zeros(len(self.rows), dtype=torch.float64, device=self.rows.device)
        for f in range(centres.shape[1]):
            gap = self.rows[:, f].to(torch.float64) - centres[labels, f]
            total += gap * gap
        return total

    def means(self, labels: Any, counts: Any, centres: Any) -> Any:
        """Means of the clusters; centres stay where there is nobody to be the mean of."""
        return self.means_of(self.sums(labels, len(centres)), counts, centres)

    def sums(self, labels: Any, k: int) -> Any:
        """Coarse and fine sums of clusters, (2, k, n_features); other labels are in none."""
        kind = torch.float64
        sums = torch.zeros((2, k, self.rows.shape[1]), dtype=kind, device=labels.device)
        step = max(1, _DISTANCES // (k + self.rows.shape[1]))
        for start in range(0, len(labels), step):
            some = slice(start, start + step)
            values = self.rows[some].to(kind)
            coarse = torch.round(values / self.unit)
            rest = torch.round((values - coarse * self.unit) / self.fine)
            own = labels[some, None] == torch.arange(k, device=labels.device)
            # Whole numbers below 2^53: exact, however the product adds them.
            sums[0] += own.T.to(kind) @ coarse
            sums[1] += own.T.to(kind) @ rest
        return sums

    def means_of(self, sums: Any, counts: Any, centres: Any) -> Any:
        """As `means`, of sums that are known."""
        means = (sums[0] * self.unit + sums[1] * self.fine) / counts.clamp(min=1)[:, None]
        return torch.where(counts[:, None] > 0, means, centres)


def _judged(rows: Any, centres: Any) -> Any:
    """Nearest centres by squared differences in float64, added in the order of the features."""
    labels = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    step = max(1, _DISTANCES // len(centres))
    for start in range(0, len(rows), step):
        some = rows[start : start + step].to(torch.float64)
        total = torch.zeros((len(some), len(centres)), dtype=torch.float64, device=rows.device)
        for f in range(centres.shape[1]):
            gap = some[:, f, None] - centres[None, :, f]
            total += gap * gap
        least = total.amin(dim=1, keepdim=True)
        # The first of equals: argmin promises none.
        place = torch.arange(len(centres), device=rows.device).expand_as(total)
        labels[start : start + step] = torch.where(total == least, place, len(centres)).amin(dim=1)
    return labels


@dataclass
class Fitted:
    """One run: labels of all objects (-2: unseen), centres, inertia, rounds, whether it ended."""

    labels: Any
    centres: Any
    inertia: float
    n_iter: int
    converged: bool


def lloyd(
    table: Table,
    start: Any,
    *,
    objects: Any = None,
    features: Any = None,
    max_iter: int,
    tol: float,
    spherical: bool,
    assign_all: bool,
) -> Fitted:
    """One k-means; see `consilience.kernels.kmeans.many.many_kmeans`, whose rules these are.

    Parameters
    ----------
    table : Table
    start : tensor of shape (k, d), float64
    objects, features : tensors of indices, optional
    max_iter : int
    tol : float
        Squared shift of the centres that ends the run; 0 waits for labels.
    spherical, assign_all : bool
    """
    part, centres = table.part(objects, features), start.clone()
    labels, settled, converged, n_iter = None, False, False, 0
    while n_iter < max_iter and not converged:
        new = part.nearest(centres)
        moved = labels is None or not torch.equal(labels, new)
        labels, counts, n_moved = refilled(part, new, centres)
        n_iter += 1
        if not (moved or n_moved):
            settled = converged = True
            break
        centres, shift = _moved(part, labels, counts, centres, spherical)
        converged = tol > 0 and shift <= tol
    if not settled:
        labels = part.nearest(centres)
    inertia = float(part.distances(centres, labels).sum())
    if objects is not None:
        labels = _placed(table, labels, centres, objects, features, assign_all)
    return Fitted(labels, centres, inertia, n_iter, converged)


def assign(table: Table, centres: Any, features: Any = None) -> Any:
    """Nearest centre of every object, ties to the smaller index."""
    return table.part(None, features).nearest(centres)


def refilled(part: Part, labels: Any, centres: Any) -> tuple[Any, Any, int]:
    """Give every empty cluster the object farthest from its centre; how many were moved.

    Ties go to the smaller object, no cluster loses its only object, and objects that lie on their
    centre stay.
    """
    counts = torch.bincount(labels, minlength=len(centres))
    n_moved = 0
    if bool((counts == 0).any()):
        distance = part.distances(centres, labels)
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


def _moved(
    part: Part, labels: Any, counts: Any, centres: Any, spherical: bool
) -> tuple[Any, float]:
    """Centres at the means of their objects, and the sum of the squared shifts."""
    means = part.means(labels, counts, centres)
    if spherical:
        means = torch.where(counts[:, None] > 0, unit_length(means), centres)
    return means, float((means - centres).square().sum())


def unit_length(means: Any) -> Any:
    """Means scaled to unit length, zeros left alone; squares added in the order of the features."""
    squares = torch.zeros_like(means[..., :1])
    for value in means.split(1, dim=-1):
        squares += value * value
    lengths = _roots(squares)
    return means / torch.where(lengths > 0, lengths, 1.0)


def _roots(values: Any) -> Any:
    """Square roots to the last digit, as cards and NumPy give them; torch on a CPU does not."""
    if values.device.type == "cpu":
        return torch.from_numpy(np.sqrt(values.numpy()))
    return values.sqrt()


def _placed(
    table: Table, labels: Any, centres: Any, objects: Any, features: Any, assign_all: bool
) -> Any:
    """Labels of all objects: of those the member did not see, the nearest centre or unseen."""
    n = len(table.rows)
    if assign_all:
        whole = table.part(None, features).nearest(centres)
    else:
        whole = torch.full((n,), UNSEEN, dtype=torch.int64, device=labels.device)
    whole[objects] = labels
    return whole
