"""Trees over similarities that come from clusters, one row for each group of equal objects.

Every similarity here is a vector product: object i has a vector over all clusters of all
members, and its similarity to j is the sum of that vector over j's clusters. Rows of the
matrix are made in blocks, straight into the condensed form that the linkage takes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import UNSEEN
from consilience.consensus._rows import Rows, several
from consilience.consensus._rules import Link
from consilience.consensus._solve import ConsensusResult
from consilience.errors import MemoryBudgetError
from consilience.evidence import Missing
from consilience.kernels.labels.products import row_sums
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges, expand_tree

__all__ = [
    "Divisor",
    "Vectors",
    "check_budget",
    "labels_of_members",
    "link_distances",
    "seen_together",
    "tree_result",
]

Floats = NDArray[np.float64]
# Vectors over all clusters of rows start to stop, and what to divide their products by: rows
# from start on x rows start to stop.
Vectors = Callable[[int, int], Floats]
Divisor = Callable[[int, int], Floats]

# Rows made together: their vectors, clusters x rows, stay in the second-level cache.
_BLOCK = 64


def check_budget(n_rows: int, needed: int, budget: int, *, remedy: str) -> None:
    """Raise `MemoryBudgetError` if the matrix of pairs does not fit, and say what would help."""
    if needed > budget:
        raise MemoryBudgetError(
            f"The similarities of {n_rows} distinct objects take {needed / 2**30:.3g} GiB, more "
            f"than max_memory={budget / 2**30:.3g} GiB. Raise max_memory, or {remedy}."
        )


def labels_of_members(rows: Rows, start: int, stop: int) -> Any:
    """For each member: the rows of a block it placed, its labels there, its first column."""
    for labels, column in zip(rows.members[:, start:stop], rows.starts[:-1], strict=True):
        placed = np.flatnonzero(labels >= 0)
        yield placed, labels[placed].astype(np.int64), int(column)


def seen_together(rows: Rows, missing: Missing) -> Divisor:
    """How many members count for a pair of rows: those that saw both, or all."""
    n_members = len(rows.members)
    if missing == "all" or not (rows.members == UNSEEN).any():
        return lambda start, stop: np.full((1, 1), float(n_members))
    seen = (rows.members != UNSEEN).astype(np.float64)
    # Sums of ones: exact, whatever the order.
    return lambda start, stop: seen[:, start:].T @ seen[:, start:stop]


def link_distances(rows: Rows, vectors: Vectors, divisor: Divisor, *, n_jobs: int | None) -> Floats:
    """One minus the similarity of all pairs of rows, condensed in SciPy's order.

    Parameters
    ----------
    rows : Rows
    vectors : callable
        ``vectors(start, stop)``: (stop - start, n_clusters), the vectors of some rows. The
        similarity of i to j is the sum of i's vector over j's clusters, and symmetric.
    divisor : callable
        ``divisor(start, stop)``: what to divide by, (n_rows - start, stop - start) or (1, 1);
        where it is 0, the similarity is 0.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_rows * (n_rows - 1) / 2,), in [0, 1] for similarities in [0, 1]
    """
    n = rows.n_rows
    out = np.empty(n * (n - 1) // 2)

    def fill(start: int) -> None:
        stop = min(start + _BLOCK, n)
        table = np.ascontiguousarray(vectors(start, stop).T)
        sums = row_sums(np.ascontiguousarray(rows.members[:, start:]), rows.starts, table)
        by = divisor(start, stop)
        np.divide(sums, by, out=sums, where=by > 0)
        np.subtract(1.0, sums, out=sums)
        np.maximum(sums, 0.0, out=sums)
        for column, i in enumerate(range(start, stop)):
            at = i * n - i * (i + 1) // 2
            out[at : at + n - i - 1] = sums[column + 1 :, column]

    several(fill, range(0, n, _BLOCK), n_jobs)
    return out


def tree_result(
    rows: Rows, distances: Floats, k: int, linkage: Link, *, weighted: bool = True, **details: Any
) -> ConsensusResult:
    """The k clusters of the tree of the rows; ``distances`` is overwritten.

    A row counts as often as there are objects with it, or once if not ``weighted``. Ties go
    to the first pair: in the order of `distinct_rows`, shuffled objects give the same tree.
    """
    tree = agglomerate(distances, linkage, weights=rows.counts if weighted else None)
    labels = cut_merges(tree, k)[rows.inverse]
    # The tree numbers groups as the rows are ordered, whatever the order of the objects.
    all_details = {"linkage": expand_tree(tree, rows.inverse), **details}
    return ConsensusResult(labels, solver="linkage", details=all_details)
