"""Rows of memberships: what `Rows` is of labels, by dense products with the memberships.

Where labels add a cluster's number, memberships add it by how far the object is in the cluster:
k-means pays the expected cost of a label, a vote goes to several columns by their shares. Sums are
made block by block in a fixed order, so that no result depends on threads.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._threads import one_thread
from consilience.consensus._products import Labels, Rows
from consilience.kernels._parallel import by_rows, in_threads
from consilience.kernels.kmeans.labels import LabelRuns, Price
from consilience.kernels.labels.signatures import hash_rows
from consilience.soft_ensemble import SoftEnsemble, distinct_memberships

__all__ = ["SoftRows", "soft_dividing", "soft_rows", "soft_rows_in_order"]

Floats = NDArray[np.float64]

# Rows multiplied together.
_BLOCK = 4096
# Votes, and gains of a move, that differ by less are equal up to rounding.
_DIGITS, _EQUAL = 12, 1e-12


class SoftRows(Rows):
    """Distinct rows of memberships: as `Rows`, whose ``members`` are the most likely clusters.

    Attributes
    ----------
    B : ndarray of shape (n_rows, n_clusters of all members)
    """

    B: Floats

    def __new__(
        cls,
        members: NDArray[np.signedinteger[Any]],
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
        inverse: NDArray[np.int64],
        B: Floats,
    ) -> "SoftRows":
        rows = super().__new__(cls, members, starts, counts, inverse)
        rows.B = B
        return rows

    # ---- products with B ----------------------------------------------------------------

    def row_sums(
        self, table: Floats, *, n_jobs: int | None = None, out: Floats | None = None
    ) -> Floats:
        """``B @ table``."""
        sums = np.empty((self.n_rows, table.shape[1])) if out is None else out

        def multiply(some: slice) -> None:
            np.matmul(self.B[some], table, out=sums[some])

        with one_thread():
            by_rows(multiply, self.n_rows, n_jobs, size=_BLOCK)
        return sums

    def row_squares(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """``B**2 @ weights``."""
        sums = np.empty(self.n_rows)

        def multiply(some: slice) -> None:
            sums[some] = (self.B[some] ** 2) @ weights

        with one_thread():
            by_rows(multiply, self.n_rows, n_jobs, size=_BLOCK)
        return sums

    def cluster_sums(self, values: Floats, *, n_jobs: int | None = None) -> Floats:
        """``B.T @ values``."""

        def of_block(some: slice) -> Floats:
            sums: Floats = self.B[some].T @ values[some]
            return sums

        with one_thread():
            parts = in_threads(of_block, _blocks(self.n_rows), n_jobs)
        return sum(parts[1:], parts[0])

    def part_sums(
        self, labels: Labels, k: int, weights: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Weight of the rows of each of k parts in each cluster, clusters x parts."""
        return self.cluster_sums(_onehot(labels, k, weights), n_jobs=n_jobs)

    def contingency(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """``B.T @ diag(weights) @ B``, clusters x clusters."""

        def of_block(some: slice) -> Floats:
            products: Floats = self.B[some].T @ (weights[some, None] * self.B[some])
            return products

        with one_thread():
            parts = in_threads(of_block, _blocks(self.n_rows), n_jobs)
        table = sum(parts[1:], parts[0])
        return np.asarray((table + table.T) / 2.0)

    # ---- parts of them --------------------------------------------------------------------

    def some_members(self, step: int) -> "SoftRows":
        """Every ``step``-th member alone."""
        kept = np.zeros(len(self.members), bool)
        kept[::step] = True
        widths = np.diff(self.starts)
        starts = np.concatenate([[0], np.cumsum(widths[kept])])
        B = np.ascontiguousarray(self.B[:, np.repeat(kept, widths)])
        return SoftRows(self.members[kept], starts, self.counts, self.inverse, B)

    def take(self, chosen: NDArray[np.int64]) -> "SoftRows":
        """Some of the rows, without their objects."""
        members = np.ascontiguousarray(self.members[:, chosen])
        return SoftRows(members, self.starts, self.counts[chosen], self.inverse, self.B[chosen])

    def dividing_members(self, k: int) -> NDArray[np.bool_]:
        """Members that divide the objects; all of them where those alone would not do."""
        return soft_dividing(self.B, self.starts, k)

    def links(
        self, kept: NDArray[np.bool_], weights: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """The graph of rows and clusters of the members kept, as `transfer_cut` takes it."""
        columns = np.repeat(kept, np.diff(self.starts))
        return np.ascontiguousarray(self.B[:, columns] * weights[columns])

    # ---- rounds of k-means and of votes -----------------------------------------------------

    def lloyd(
        self,
        scale: Floats,
        shift: Floats,
        labels: Labels,
        k: int,
        price: Price,
        *,
        max_iter: int,
        n_jobs: int | None = None,
    ) -> LabelRuns:
        """As `consilience.kernels.kmeans.labels.lloyd`; a row costs what its labels would."""
        labels = labels.copy()
        costs, offset, objective = price(*self.count_table(labels, k))
        for n_iter in range(1, max_iter + 1):
            before = labels.copy()
            rows = np.bincount(labels, minlength=k)
            # Nothing is near a centre that does not exist.
            distances = self.row_sums(costs, n_jobs=n_jobs) * scale[:, None]
            distances += np.where(rows > 0, offset, np.inf)
            moved = _move_nearer(distances, labels)
            best = distances[np.arange(len(labels)), labels] + shift
            moved += _fill_empty(labels, best, np.bincount(labels, minlength=k))
            if not moved:
                return LabelRuns(labels, objective, n_iter, True)
            costs, offset, lower = price(*self.count_table(labels, k))
            # Rounding can trade equal rows back and forth for ever; no gain is the end.
            if not lower < objective:
                return LabelRuns(before, objective, n_iter, True)
            objective = lower
        return LabelRuns(labels, objective, max_iter, False)

    def count_table(self, labels: Labels, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weight of every cluster inside every centre, and weight of every centre."""
        table = self.part_sums(labels, k, self.counts.astype(float))
        return table, np.bincount(labels, self.counts, k)

    def nearest(
        self, scale: Floats, costs: Floats, offset: Floats, *, n_jobs: int | None = None
    ) -> Labels:
        """The nearest centre of every row."""
        distances = self.row_sums(costs, n_jobs=n_jobs) * scale[:, None] + offset
        return np.asarray(distances.argmin(axis=1), np.int32)

    def votes_of(self, member: int) -> Floats:
        """What a member says of the rows, as `ballot` takes it."""
        return self.B[:, self.starts[member] : self.starts[member + 1]]

    def ballot(self, k: int, n_jobs: int | None = None) -> "SoftBallot":
        """Votes of the rows for k columns."""
        return SoftBallot(self.counts, k)

    def pass_on(
        self, first: int, others: Iterable[int], *, n_jobs: int | None = None
    ) -> tuple[Floats, NDArray[Any]]:
        """Shares in the clusters of the first member after the others voted, and how many did.

        A cluster's vote is the mean of its objects' shares so far, each by its membership; an
        object gets the votes of all its clusters, and a member counts as far as it places it.
        """
        n_votes = self.votes_of(first).sum(axis=1)
        shares = self.votes_of(first) / np.where(n_votes > 0, n_votes, 1.0)[:, None]
        with one_thread():
            for member in others:
                own = self.votes_of(member)
                weighed = own * (self.counts * (n_votes > 0))[:, None]
                mass = weighed.sum(axis=0)
                votes = (weighed.T @ shares) / np.where(mass > 0, mass, 1.0)[:, None]
                given = own[:, mass > 0].sum(axis=1)
                total = n_votes + given
                shares = shares * n_votes[:, None] + own @ votes
                shares /= np.where(total > 0, total, 1.0)[:, None]
                n_votes = total
        return shares, n_votes


class SoftBallot:
    """Votes of the rows for k columns, cast by member after member: `Ballot` of memberships."""

    def __init__(self, weights: NDArray[np.int64], k: int) -> None:
        self.weights = weights
        self._votes = np.zeros((len(weights), k))

    def __enter__(self) -> "SoftBallot":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is kept open."""

    @property
    def votes(self) -> Floats:
        """Votes for each column; rounded, so that ties are ties."""
        return self._votes.round(_DIGITS)

    def cast(self, member: NDArray[Any], match: NDArray[np.int64], amount: int = 1) -> None:
        """Add votes of memberships, or of labels, to the columns that clusters are matched to."""
        table = _onehot(match.astype(np.int32), self._votes.shape[1], np.ones(len(match)))
        with one_thread():
            self._votes += amount * (_as_table(member, len(match)) @ table)

    def overlap(self, member: NDArray[Any], n_clusters: int) -> Floats:
        """Votes that the objects of each cluster of a member have got so far, (n_clusters, k)."""
        weighed = _as_table(member, n_clusters) * self.weights[:, None]
        with one_thread():
            return np.asarray(weighed.T @ self._votes).round(_DIGITS)


def soft_rows(ensemble: SoftEnsemble) -> SoftRows:
    """The distinct rows of memberships in an order that does not depend on that of the objects.

    By the hash of the most likely clusters, as rows of labels; those with the same by memberships.
    """
    first, inverse, counts = distinct_memberships(ensemble.memberships, ensemble._unseen)
    keys = np.empty(ensemble.n_objects, np.uint64)
    hash_rows(ensemble.members, keys)
    order = np.lexsort([*ensemble.memberships[first].T[::-1], keys[first]])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return _of_objects(ensemble, first[order], rank[inverse], counts[order])


def soft_rows_in_order(ensemble: SoftEnsemble, order: NDArray[np.int64]) -> SoftRows:
    """Every object as a row of its own, in this order."""
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return _of_objects(ensemble, order, inverse, np.ones(len(order), np.int64))


def soft_dividing(B: Floats, starts: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Members that divide the objects; all of them where those alone would not do."""
    widths = np.diff(starts)
    whole = np.append((B == 1.0).all(axis=0), False)
    divides = ~((widths == 1) & whole[starts[:-1]])
    kept = np.repeat(divides, widths)
    if int(widths[divides].sum()) < k or not B[:, kept].any(axis=1).all():
        return np.ones(len(widths), bool)
    return divides


def _of_objects(
    ensemble: SoftEnsemble,
    chosen: NDArray[np.int64],
    inverse: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> SoftRows:
    members = np.take(ensemble.members, chosen, axis=1)
    return SoftRows(members, ensemble.offsets(), counts, inverse, ensemble.memberships[chosen])


def _as_table(member: NDArray[Any], n_clusters: int) -> Floats:
    """Memberships as they are; labels as memberships of 0 and 1."""
    if member.ndim == 2:
        return member
    return _onehot(member.astype(np.int32), n_clusters, np.ones(len(member)))


def _onehot(labels: Labels, k: int, values: Floats) -> Floats:
    """Rows x k, with the value of a row in the column of its label; nothing for negative ones."""
    table = np.zeros((len(labels), k))
    placed = np.flatnonzero(labels >= 0)
    table[placed, labels[placed]] = values[placed]
    return table


def _move_nearer(distances: Floats, labels: Labels) -> int:
    """Move every row to its nearest centre, if that is nearer than its own; how many moved."""
    each = np.arange(len(labels))
    nearest = distances.argmin(axis=1)
    own, least = distances[each, labels], distances[each, nearest]
    nearer = np.flatnonzero(least < own - _EQUAL * np.abs(own))
    labels[nearer] = nearest[nearer]
    return len(nearer)


def _fill_empty(labels: Labels, best: Floats, rows: NDArray[np.int64]) -> int:
    """Give every empty centre the farthest row of a centre with several; how many moved."""
    empty = np.flatnonzero(rows == 0)
    for q in empty:
        distance = np.where(rows[labels] > 1, best, -np.inf)
        x = int(distance.argmax())
        if distance[x] == -np.inf:
            return 0
        rows[labels[x]] -= 1
        rows[q] += 1
        labels[x] = q
        best[x] = -np.inf
    return len(empty)


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
