"""Distinct rows of an ensemble, and all that linear methods look at: products with one matrix.

The methods that are linear in objects see an ensemble only through products with the matrix B of
rows x clusters of all members. Of labels B is never made (`Rows`); memberships are its entries
(`consilience.consensus._soft_rows.SoftRows`).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels.kmeans.labels import LabelRuns, Price, count_table, lloyd, nearest
from consilience.kernels.labels.contingency import cluster_contingency, first_columns
from consilience.kernels.labels.products import cluster_sums, part_sums, row_sums
from consilience.kernels.labels.signatures import taken
from consilience.kernels.labels.votes import Ballot, pass_on
from consilience.partition import LabelLinks

__all__ = ["Rows", "dividing_members"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


class Rows(NamedTuple):
    """Distinct label rows: members x rows, first columns, how many objects, where each went."""

    members: NDArray[np.signedinteger[Any]]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    inverse: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.counts)

    # ---- products with B ----------------------------------------------------------------

    def row_sums(
        self, table: Floats, *, n_jobs: int | None = None, out: Floats | None = None
    ) -> Floats:
        """``B @ table``."""
        return row_sums(self.members, self.starts, table, n_jobs=n_jobs, out=out)

    def row_squares(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """Sum of the weights of each row's clusters, by the squares of B: its own product."""
        return self.row_sums(weights[:, None], n_jobs=n_jobs)[:, 0]

    def cluster_sums(self, values: Floats, *, n_jobs: int | None = None) -> Floats:
        """``B.T @ values``."""
        return cluster_sums(self.members, self.starts, values, n_jobs=n_jobs)

    def cluster_sizes(self, *, n_jobs: int | None = None) -> Floats:
        """Objects in each cluster of each member."""
        return self.cluster_sums(self.counts[:, None].astype(float), n_jobs=n_jobs)[:, 0]

    def part_sums(
        self, labels: NDArray[np.int32], k: int, weights: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Weight of the rows of each of k parts in each cluster, clusters x parts."""
        return part_sums(self.members, self.starts, labels, k, weights, n_jobs=n_jobs)

    def contingency(self, weights: Floats, *, n_jobs: int | None = None) -> Floats:
        """``B.T @ diag(weights) @ B``, clusters x clusters."""
        return cluster_contingency(self.members, weights, starts=self.starts, n_jobs=n_jobs or 1)

    # ---- parts of them --------------------------------------------------------------------

    def some_members(self, step: int) -> "Rows":
        """Every ``step``-th member alone."""
        members = np.ascontiguousarray(self.members[::step])
        return self._replace(members=members, starts=first_columns(members))

    def take(self, chosen: NDArray[np.int64]) -> "Rows":
        """Some of the rows, without their objects."""
        members = np.ascontiguousarray(self.members[:, chosen])
        return self._replace(members=members, counts=self.counts[chosen])

    def dividing_members(self, k: int) -> NDArray[np.bool_]:
        """Members that divide the objects; all of them where those alone would not do."""
        return dividing_members(self.members, k)

    def links(self, kept: NDArray[np.bool_], weights: Floats, *, n_jobs: int | None = None) -> Any:
        """The graph of rows and clusters of the members kept, as `transfer_cut` takes it."""
        members = self.members if kept.all() else self.members[kept]
        return LabelLinks(members, weights[np.repeat(kept, np.diff(self.starts))], n_jobs or 1)

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
        """See `consilience.kernels.kmeans.labels.lloyd`."""
        return lloyd(
            self.members, self.starts, self.counts, scale, shift, labels, k, price,
            max_iter=max_iter, n_jobs=n_jobs,
        )  # fmt: skip

    def count_table(self, labels: Labels, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weight of every cluster inside every centre, and weight of every centre."""
        table, sizes, _ = count_table(self.members, self.starts, self.counts, labels, k)
        return table, sizes

    def nearest(
        self, scale: Floats, costs: Floats, offset: Floats, *, n_jobs: int | None = None
    ) -> Labels:
        """The nearest centre of every row."""
        return nearest(self.members, self.starts, self.counts, scale, costs, offset, n_jobs=n_jobs)

    def votes_of(self, member: int) -> NDArray[Any]:
        """What a member says of the rows, as `ballot` takes it."""
        return self.members[member]

    def ballot(self, k: int, n_jobs: int | None = None) -> Any:
        """Votes of the rows for k columns; see `consilience.kernels.labels.votes.Ballot`."""
        return Ballot(self.counts, k, n_jobs)

    def pass_on(
        self, first: int, others: Iterable[int], *, n_jobs: int | None = None
    ) -> tuple[Floats, NDArray[Any]]:
        """Shares in the clusters of the first member after the others voted, and how many did."""
        labels = self.members[first]
        shares = np.zeros((self.n_rows, int(labels.max()) + 1))
        placed = np.flatnonzero(labels >= 0)
        shares[placed, labels[placed]] = 1.0
        n_votes = (labels >= 0).astype(np.int64)
        pass_on(self.members, self.starts, others, self.counts, shares, n_votes, n_jobs=n_jobs)
        return shares, n_votes

    def of_objects(self, values: NDArray[Any], n_jobs: int | None = None) -> NDArray[Any]:
        """Values of the rows, for every object that of its row; copied by threads."""
        return taken(values, self.inverse, n_jobs)


def dividing_members(members: NDArray[np.signedinteger[Any]], k: int) -> NDArray[np.bool_]:
    """Members that divide the objects; all of them where those alone would not do.

    A cluster of all objects is a hub that only dilutes the cut.
    """
    divides = np.asarray(members.any(axis=1))
    kept = members if divides.all() else members[divides]
    # A member that placed nobody has no cluster, unseen (-2) or noise.
    n_clusters = np.maximum(kept.max(axis=1).astype(np.int64) + 1, 0)
    enough = divides.any() and int(n_clusters.sum()) >= k
    # An object may be in no other cluster; then its only edge stays.
    if not enough or (kept.min() < 0 and (kept < 0).all(axis=0).any()):
        return np.ones(len(members), bool)
    return divides
