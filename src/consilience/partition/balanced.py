"""Parts of given sizes from the rows of F, as if cutting the graph S = F F^T, without S."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._validation import as_array
from consilience.errors import InvalidInputError
from consilience.kernels.data.tall import (
    dense_dots,
    dense_sum,
    dense_sum_of_dots,
    sparse_dots,
    sparse_sum,
    sparse_sum_of_dots,
)
from consilience.partition._parts import Parts, check_n_parts, checked_sizes, one_part

__all__ = ["balanced_rows"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

_POWER_STEPS = 50
# One less the cosine of two power steps in a row, at which the direction is good enough.
_SETTLED = 1e-9
# What is left of the rows' squares where all that is left is rounding.
_NOTHING = 1e-14
_REFINE_STEPS = 100
_SWEEPS = 20
# Gains below this share of the whole are rounding, not progress.
_GAIN = 1e-12


def balanced_rows(
    F: Any,
    k: int,
    *,
    sizes: ArrayLike | None = None,
    groups: NDArray[np.integer[Any]] | None = None,
    random_state: Any = None,
) -> Parts:
    """Parts of equal or given sizes, as similar inside as can be found.

    Maximises the sum over parts of ||sum of the part's rows of F||^2, the similarity inside
    parts under S = F F^T; the cut of S is what is left of ||sum of all rows||^2, halved.

    Parameters
    ----------
    F : array or sparse matrix of shape (n_rows, p)
        Finite. Objects x clusters over the root of the number of members gives the
        co-association as S.
    k : int
        Number of parts, at most the number of objects.
    sizes : sequence of k whole numbers, optional
        Objects in each part; as equal as can be by default.
    groups : array of shape (n_objects,), optional
        The row of F of each object, where equal objects share a row: the same result for
        less work, up to which of the equal objects goes where. One object a row by default.
    random_state : int, RandomState or None
        Start of the power iteration, and the order in which ties are broken: balanced parts
        must split groups of equal objects, and must not do so by their order.

    Returns
    -------
    Parts
        With exactly the sizes wanted.

    Notes
    -----
    Recursive bisection along the leading direction of the centred rows, each refined by
    moving the m best objects to one side until nothing changes, then the same for all pairs
    of parts. The objective is convex and each step maximises its linearisation exactly, so
    it never falls. Memory O(non-zeros of F + n_rows k), time O(steps x non-zeros).

    Examples
    --------
    >>> F = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> parts = balanced_rows(F, 2, random_state=0)
    >>> (parts.labels[0] == parts.labels[1]).item(), parts.sizes.tolist()
    (True, [2, 2])
    """
    rows = _Rows.of(F)
    objects = np.arange(rows.n_rows) if groups is None else np.asarray(groups)
    n = len(objects)
    check_n_parts(k, n, owner="balanced_rows", what="objects")
    wanted = checked_sizes(sizes, k, n)
    if k == 1:
        return one_part(n, "balanced")
    rng = check_random_state(random_state)
    held = np.bincount(objects, minlength=rows.n_rows)
    # Ties are broken by these keys and never by position.
    search = _Search(rows, rng.permutation(rows.n_rows), rng.standard_normal(rows.n_columns))
    share = np.zeros((k, rows.n_rows), np.int64)
    _bisect(search, held, wanted, 0, k, share)
    sums = _refine_pairs(search, share, wanted)
    labels = _hand_out(share, objects, rng.permutation(n))
    whole, inside = sums.sum(axis=0), float((sums * sums).sum())
    cut = max((float(whole @ whole) - inside) / 2, 0.0)
    return Parts(labels, cut, "balanced", wanted)


@dataclass(frozen=True)
class _Rows:
    """The rows of F, dense or sparse, behind the three passes that are needed."""

    n_rows: int
    n_columns: int
    dense: Floats | None
    starts: NDArray[Any]
    columns: NDArray[Any]
    values: Floats

    @classmethod
    def of(cls, F: Any) -> "_Rows":
        if sparse.issparse(F):
            csr = sparse.csr_array(F, dtype=np.float64)
            n, p, entries = csr.shape[0], csr.shape[1], csr.data
            alike = entries.size > 0 and (entries == entries[0]).all()
            rows = cls(n, p, None, csr.indptr, csr.indices, entries[:1] if alike else entries)
        else:
            given = as_array(F)
            if given.ndim != 2 or given.dtype.kind not in "biuf":
                raise InvalidInputError(
                    f"F must be a table of rows. Got shape {given.shape} of {given.dtype}."
                )
            table = entries = np.ascontiguousarray(given, np.float64)
            none = np.zeros(0, np.int64)
            rows = cls(table.shape[0], table.shape[1], table, none, none, np.zeros(0))
        if not np.isfinite(entries).all():
            raise InvalidInputError("F must be finite. Got NaN or infinity.")
        return rows

    @cached_property
    def squares(self) -> Floats:
        """The squared length of each row."""
        if self.dense is not None:
            return np.asarray(np.einsum("ij,ij->i", self.dense, self.dense))
        ends = np.repeat(np.arange(self.n_rows), np.diff(self.starts))
        each = np.broadcast_to(self.values**2, ends.shape)
        return np.asarray(np.bincount(ends, each, self.n_rows), np.float64)

    def dots(self, chosen: Counts, direction: Floats) -> Floats:
        out: Floats = (
            sparse_dots(self.starts, self.columns, self.values, chosen, direction)
            if self.dense is None
            else dense_dots(self.dense, chosen, direction)
        )
        return out

    def sum(self, chosen: Counts, counts: Counts) -> Floats:
        out: Floats = (
            sparse_sum(self.starts, self.columns, self.values, chosen, counts, self.n_columns)
            if self.dense is None
            else dense_sum(self.dense, chosen, counts)
        )
        return out

    def sum_of_dots(self, chosen: Counts, counts: Counts, direction: Floats) -> Floats:
        out: Floats = (
            sparse_sum_of_dots(self.starts, self.columns, self.values, chosen, counts, direction)
            if self.dense is None
            else dense_sum_of_dots(self.dense, chosen, counts, direction)
        )
        return out


@dataclass(frozen=True)
class _Search:
    """What the search carries along: the rows, the keys for ties, a random direction."""

    rows: _Rows
    keys: NDArray[np.int64]
    start: Floats


@dataclass(frozen=True)
class _Sides:
    """Sums of the rows on either side of a cut."""

    first: Floats
    second: Floats

    @property
    def inside(self) -> float:
        """Similarity inside the two sides."""
        return float(self.first @ self.first + self.second @ self.second)


def _bisect(
    search: _Search, held: Counts, sizes: Counts, low: int, high: int, share: Counts
) -> None:
    """Fill ``share[low:high]`` (objects of each row in each part) from the objects held."""
    if high - low == 1:
        share[low] = held
        return
    middle = low + (high - low) // 2
    wanted = int(sizes[low:middle].sum())
    chosen = np.flatnonzero(held)
    counts = held[chosen]
    whole = search.rows.sum(chosen, counts)
    along = search.rows.dots(chosen, _leading_direction(search, chosen, counts, whole))
    # Either end of the leading direction may be the better place for the first side.
    trials = []
    for sign in (1.0, -1.0):
        taken = _best(sign * along, counts, wanted, search.keys[chosen])
        first = search.rows.sum(chosen, taken)
        sides = _Sides(first, whole - first)
        trials.append(_refine(search, chosen, counts, wanted, taken, sides))
    taken = max(trials, key=lambda trial: trial[1].inside)[0]
    left = np.zeros_like(held)
    left[chosen] = taken
    _bisect(search, left, sizes, low, middle, share)
    _bisect(search, held - left, sizes, middle, high, share)


def _leading_direction(search: _Search, chosen: Counts, counts: Counts, whole: Floats) -> Floats:
    """Leading eigenvector of the rows' covariance, by power iteration."""
    n = int(counts.sum())
    mean = whole / n
    most = float(counts @ search.rows.squares[chosen])
    direction = search.start / max(float(np.linalg.norm(search.start)), 1e-300)
    for _ in range(_POWER_STEPS):
        moved = search.rows.sum_of_dots(chosen, counts, direction)
        moved -= (n * (mean @ direction)) * mean
        length = float(np.linalg.norm(moved))
        if length <= _NOTHING * most:
            break  # all rows are equal, or nothing is left along the start
        moved /= length
        settled = abs(float(moved @ direction)) > 1 - _SETTLED
        direction = moved
        if settled:
            break
    return direction


def _refine(
    search: _Search, chosen: Counts, counts: Counts, wanted: int, taken: Counts, sides: _Sides
) -> tuple[Counts, _Sides]:
    """Move the ``wanted`` best objects to the first side until nothing is gained.

    Returns how many objects of each chosen row are on the first side, and the sums of rows
    of the two sides.
    """
    keys = search.keys[chosen]
    for _ in range(_REFINE_STEPS):
        pull = search.rows.dots(chosen, sides.first - sides.second)
        better = _best(pull, counts, wanted, keys)
        moving = np.flatnonzero(better != taken)
        if not moving.size:
            break
        change = search.rows.sum(chosen[moving], (better - taken)[moving])
        moved = _Sides(sides.first + change, sides.second - change)
        if moved.inside <= sides.inside * (1 + _GAIN):
            break
        taken, sides = better, moved
    return taken, sides


def _best(pull: Floats, counts: Counts, wanted: int, keys: NDArray[np.int64]) -> Counts:
    """How many objects of each row are among the ``wanted`` with the largest pull."""
    total = int(counts.sum())
    if total > 4 * len(counts):
        order = np.lexsort((keys, -pull))
        return _fill(counts, order, wanted)
    # Selection instead of sorting: only rows at the edge need an order.
    each = pull if total == len(counts) else np.repeat(pull, counts)
    edge = np.partition(each, total - wanted)[total - wanted]
    taken = np.where(pull > edge, counts, 0)
    tied = np.flatnonzero(pull == edge)
    missing = wanted - int(taken.sum())
    taken[tied] = _fill(counts[tied], np.argsort(keys[tied]), missing)
    return taken


def _fill(counts: Counts, order: NDArray[np.int64], wanted: int) -> Counts:
    """How many objects of each row are taken when ``wanted`` are, row by row in order."""
    before = np.cumsum(counts[order]) - counts[order]
    taken = np.zeros_like(counts)
    taken[order] = np.clip(wanted - before, 0, counts[order])
    return taken


def _refine_pairs(search: _Search, share: Counts, sizes: Counts) -> Floats:
    """Refine all pairs of parts until none changes; returns the sum of rows of each part."""
    rows, k = search.rows, len(sizes)
    everything = np.arange(rows.n_rows)
    sums = np.stack([rows.sum(everything, share[q]) for q in range(k)])
    # A pair at rest stays at rest until one of its parts changes.
    changed = np.zeros(k, np.int64)
    seen = np.full((k, k), -1, np.int64)
    clock = 0
    for _ in range(_SWEEPS):
        moved = False
        for a in range(k):
            for b in range(a + 1, k):
                if seen[a, b] >= max(changed[a], changed[b]):
                    continue
                clock += 1
                if _refine_pair(search, share, sums, int(sizes[a]), a, b):
                    changed[a] = changed[b] = clock
                    moved = True
                seen[a, b] = clock
        if not moved:
            break
    return sums


def _refine_pair(search: _Search, share: Counts, sums: Floats, wanted: int, a: int, b: int) -> bool:
    both = share[a] + share[b]
    chosen = np.flatnonzero(both)
    counts = both[chosen]
    before, sides = share[a, chosen], _Sides(sums[a], sums[b])
    taken, moved = _refine(search, chosen, counts, wanted, before, sides)
    if abs(int(counts.sum()) - 2 * wanted) > 1:
        # Parts of different size: the small one may belong at the other end.
        pull = search.rows.dots(chosen, moved.second - moved.first)
        turned = _best(pull, counts, wanted, search.keys[chosen])
        first = search.rows.sum(chosen, turned)
        start = _Sides(first, sides.first + sides.second - first)
        turned, other = _refine(search, chosen, counts, wanted, turned, start)
        if other.inside > moved.inside * (1 + _GAIN):
            taken, moved = turned, other
    if moved is sides:
        return False
    share[a, chosen] = taken
    share[b, chosen] = counts - taken
    sums[a], sums[b] = moved.first, moved.second
    return True


def _hand_out(
    share: Counts, objects: NDArray[np.integer[Any]], keys: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Labels of the objects; which of several equal objects goes where is up to the keys."""
    k, n_rows = share.shape
    order = np.lexsort((keys, objects))
    labels = np.empty(len(objects), np.int32)
    parts = np.tile(np.arange(k, dtype=np.int32), n_rows)
    labels[order] = np.repeat(parts, share.T.ravel())
    return labels
