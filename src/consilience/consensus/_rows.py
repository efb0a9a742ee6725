"""What the label-only methods share: distinct rows in a fixed order, starts, several runs."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience.consensus._products import Rows, dividing_members
from consilience.consensus._soft_rows import soft_dividing, soft_rows
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.kernels._parallel import by_rows, in_threads
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.signatures import sort_rows
from consilience.kernels.links.chain import sums_have_room
from consilience.partition import kmeans_labels, leading_eigenvectors, one_thread, unit_rows
from consilience.soft_ensemble import SoftEnsemble

__all__ = [
    "Rows",
    "check_sums",
    "distinct_rows",
    "dividing",
    "draw_seeds",
    "normal_blocks",
    "rows_in_order",
    "several",
    "spectral_start",
]

T = TypeVar("T")

# The spectral start looks at members with at most this many clusters in all.
_MOST_CLUSTERS = 1500


def distinct_rows(ensemble: Ensemble, *, n_jobs: int | None = None) -> Rows:
    """The distinct label rows in an order that does not depend on that of the objects.

    Random starts are drawn row by row: ordered by a hash of the labels, they give the same
    clusters for shuffled objects.
    """
    if isinstance(ensemble, SoftEnsemble):
        return soft_rows(ensemble)
    first, inverse, counts = sort_rows(ensemble.members, n_jobs)
    members = np.empty((ensemble.n_members, len(first)), ensemble.members.dtype)

    # Member by member: what a thread reads here and there is small enough for its cache.
    def copy(number: slice) -> None:
        np.take(ensemble.members[number], first, axis=1, out=members[number], mode="clip")

    by_rows(copy, len(members), n_jobs, size=1)
    weighed = ensemble._weighed(inverse, counts)
    return Rows(members, first_columns(members), weighed, inverse)


def dividing(ensemble: Ensemble, k: int) -> NDArray[np.bool_]:
    """Members that divide the objects; all of them where those alone would not do."""
    if isinstance(ensemble, SoftEnsemble):
        return soft_dividing(ensemble.memberships, ensemble.offsets(), k)
    if ensemble._lowest >= 0:  # then the number of clusters says it
        n_clusters = ensemble.n_clusters
        divides = n_clusters > 1
        enough = divides.any() and int(n_clusters[divides].sum()) >= k
        return divides if enough else np.ones(len(divides), bool)
    return dividing_members(ensemble.members, k)


def rows_in_order(
    order: NDArray[np.int64],
    members: NDArray[np.signedinteger[Any]],
    inverse: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Rows:
    """Rows put into an order of `consilience.consensus._order`."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    members = np.take(members, order, axis=1)
    return Rows(members, first_columns(members), counts[order], rank[inverse])


def check_sums(
    counts: NDArray[Any], n_members: int, *, by_pair: bool, owner: str, remedy: str
) -> None:
    """Raise `InvalidInputError` where average link could not add up pairs exactly.

    Its sums are whole numbers of 64 bits, so that ties are ties. ``by_pair``: shares of pairs
    that each have their own denominator are added, which need more room.
    """
    total = int(counts.sum())
    if not sums_have_room(total, n_members, by_pair=by_pair):
        raise InvalidInputError(
            f"{owner} cannot add up the pairs of {total} objects by {n_members} members exactly: "
            f"the sums leave the range of 64-bit integers. {remedy}"
        )


def draw_seeds(random_state: Any, n: int) -> list[int]:
    """One seed a run, drawn before any work starts: the result cannot depend on n_jobs."""
    return [int(s) for s in check_random_state(random_state).randint(2**31 - 1, size=n)]


def several(run: Callable[..., T], starts: Sequence[Any], n_jobs: int | None) -> list[T]:
    """``run(start)`` for every start, in threads, in the order of the starts."""
    return in_threads(run, starts, n_jobs)


def normal_blocks(table: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """A table of clusters x k whose columns add up to 1 over each member's clusters."""
    widths = np.diff(starts)
    kept = widths > 0
    totals = np.add.reduceat(table, starts[:-1][kept], axis=0)
    normal: NDArray[np.float64] = table / np.repeat(totals, widths[kept], axis=0)
    return normal


def spectral_start(
    rows: Rows, k: int, seed: int, *, n_jobs: int | None = None
) -> NDArray[np.int32] | None:
    """Labels of the rows by vote of k groups of similar clusters; None if there are too few.

    The groups are those of a spectral partition of the bipartite graph of objects and
    clusters, taken on the side of the clusters; each row goes to the group most of its
    clusters are in, relative to the group's size (the last step of MCLA). Members are
    left out evenly where all of them have more than 1500 clusters.
    """
    part = rows.some_members(-(-int(rows.starts[-1]) // _MOST_CLUSTERS))
    n_clusters = int(part.starts[-1])
    if not k <= n_clusters <= _MOST_CLUSTERS:
        return None
    present = part.row_sums(np.ones((n_clusters, 1)), n_jobs=n_jobs)[:, 0]
    per_label = rows.counts / np.maximum(present, 1)
    shares = part.contingency(per_label, n_jobs=n_jobs)
    root = np.sqrt(np.maximum(shares.sum(axis=1), np.finfo(float).tiny))
    rng = check_random_state(seed)
    with one_thread():
        _, vectors = leading_eigenvectors(shares / root[:, None] / root, k, rng)
    group = kmeans_labels(unit_rows(vectors), k, root**2, rng, n_init=10)
    votes = np.zeros((len(root), k))
    votes[np.arange(len(root)), group] = 1.0
    votes /= np.maximum(votes.sum(axis=0), 1.0)
    held, labels = part.row_sums(votes, n_jobs=n_jobs), np.empty(rows.n_rows, np.int32)

    def decide(some: slice) -> None:
        labels[some] = held[some].argmax(axis=1)

    by_rows(decide, rows.n_rows, n_jobs)
    return labels
