"""The pairs of an ensemble as the models of co-association see them: groups of equal objects.

Objects that are together in every member that saw them are one weighted object: exact for
PEACE, whose likelihood has a maximum with equal columns for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import UNSEEN
from consilience.consensus._order import row_order
from consilience.ensemble import Ensemble
from consilience.evidence import twins
from consilience.kernels._parallel import in_threads, workers
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.peace.growth import LANES, inside_rows, total_rows
from consilience.kernels.peace.rows import BLOCK, Store, block_of_columns, make_store

__all__ = ["Pairs", "inside_share", "make_pairs"]

Floats = NDArray[np.float64]

# Passes over fewer groups are over before threads have started.
_WORTH_THREADS = 1000


@dataclass(frozen=True)
class Pairs:
    """Groups of equal objects, and the counts of their pairs.

    Attributes
    ----------
    store : Store
        The counts, or the labels they are made from.
    inverse : ndarray of shape (n_objects,)
        The group of every object.
    weights, own : ndarray of shape (n_groups,)
        Objects in each group; (objects - 1) * members that saw it.
    scale, joined, partners : ndarray of shape (n_groups,)
        Observations of one object of the group, in how many it was joined, and the objects
        that some member saw with it.
    n_jobs : int
        Threads for passes over the pairs.
    block : int
        Objects whose counts are made at once where there is no matrix.
    """

    store: Store
    inverse: NDArray[np.int64]
    weights: Floats
    own: Floats
    scale: Floats
    joined: Floats
    partners: Floats
    n_jobs: int = 1
    block: int = BLOCK

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.weights)

    @property
    def matrix_free(self) -> bool:
        """Whether rows of counts are made from the labels."""
        return not self.store.joined.size

    def over(self, kernel: Callable[..., None], out: Floats, *args: Any) -> Floats:
        """Fill ``out``, a row a group, by a kernel of `kernels.peace.growth` and its kin."""
        return _over(kernel, out, self.store, self.weights, self.own, args, self.n_jobs, self.block)


def make_pairs(
    ensemble: Ensemble, budget: int, *, n_jobs: int | None = None, n_runs: int = 1
) -> Pairs:
    """Groups of an ensemble in an order that does not depend on that of the objects.

    Parameters
    ----------
    ensemble : Ensemble
        Objects that some member placed.
    budget : int
        Bytes the matrix of counts may take; past it rows are made from the labels.
    n_jobs : int or None
        Threads in all.
    n_runs : int
        Runs that will share them: passes over the pairs get what these leave.
    """
    threads = workers(n_jobs, ensemble.n_objects)
    rows, inverse, counts = twins(ensemble)
    order = row_order(rows.members)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    members = np.ascontiguousarray(rows.members[:, order])
    n_matrices = 2 if (members == UNSEEN).any() else 1
    needed = n_matrices * len(order) ** 2 * np.dtype(count_type(len(members))).itemsize
    store = make_store(members, dense=needed <= budget, n_jobs=threads)
    weights = counts[order].astype(np.float64)
    own = (weights - 1.0) * (members != UNSEEN).sum(axis=0)
    inner = max(1, threads // max(n_runs, 1)) if len(order) >= _WORTH_THREADS else 1
    out = np.empty((len(order), 3))
    totals = _over(total_rows, out, store, weights, own, (), inner, BLOCK)
    scale, joined, partners = np.ascontiguousarray(totals.T)
    return Pairs(store, rank[inverse], weights, own, scale, joined, partners, inner)


def _over(
    kernel: Callable[..., None],
    out: Floats,
    store: Store,
    weights: Floats,
    own: Floats,
    args: tuple[Any, ...],
    n_jobs: int,
    block: int,
) -> Floats:
    """Call a kernel on all blocks of groups, in threads if there are several."""
    n, n_members = len(weights), float(len(store.members))
    step = block
    if store.joined.size:
        step = max(LANES, -(-n // (n_jobs * LANES)) * LANES)

    def call(start: int) -> None:
        stop = min(n, start + step)
        joined, seen, column = block_of_columns(store, start, stop)
        kernel(joined, seen, column, start, stop, n_members, weights, own, *args, out)

    in_threads(call, range(0, n, step), n_jobs)
    return out


def inside_share(pairs: Pairs, labels: NDArray[np.int32]) -> float:
    """Mean co-association of two objects of one cluster; 1 where no cluster has two."""
    sums = pairs.over(inside_rows, np.empty((pairs.n_groups, 2)), labels).sum(axis=0)
    return float(sums[0] / sums[1]) if sums[1] > 0 else 1.0
