"""How well other partitions know each cluster of an ensemble again.

One small table for each member and each reference partition; from a row of it, a cluster and
what the reference made of it, the agreement is a closed form on four counts. Members are
independent of each other, so threads share them and change nothing.
"""

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.labels.cells import count_cells
from consilience.kernels.labels.contingency import first_columns

__all__ = ["CRITERIA", "recognised"]

Labels = NDArray[np.signedinteger[Any]]

#: The criteria by name, as the kernel numbers them.
CRITERIA = {"nmi": 0, "max": 1, "apmm": 2}
_NMI, _MAX, _APMM = 0, 1, 2
# Rows and columns of a table before the clusters: unseen (label -2) and noise (-1).
_BEFORE = 2


def recognised(
    members: Labels,
    references: Labels,
    weights: NDArray[Any],
    criterion: str,
    *,
    skip_own: bool = False,
    n_jobs: int = 1,
) -> NDArray[np.float64]:
    """Mean agreement of every cluster with the reference partitions, members one after the other.

    Parameters
    ----------
    members, references : (n_members, n_objects) and (n_references, n_objects) signed integers
        C-contiguous and of the same type; -1 is noise, -2 unseen.
    weights : (n_objects,) numbers
        How often each object counts. Whole numbers give exact tables.
    criterion : {"nmi", "max", "apmm"}
        See `consilience.evidence.cluster_stability`.
    skip_own : bool, default=False
        Whether reference r is member r itself and says nothing about its clusters.
    n_jobs : int, default=1
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters,), float64
        In [0, 1]. Time O(n_objects n_members n_references), memory O(n_clusters).

    Examples
    --------
    >>> members = np.array([[0, 0, 1, 1], [0, 0, 1, 2]], np.int8)
    >>> recognised(members, members[:1].copy(), np.ones(4), "max").round(3).tolist()
    [1.0, 1.0, 1.0, 0.344, 0.344]
    """
    starts = first_columns(members)
    widths = np.maximum(references.max(axis=1).astype(np.int64) + 1, 0) + _BEFORE
    # One weight stands for all: then a pass over the objects reads nothing but labels.
    weights = np.ones(1) if np.all(weights == 1) else np.ascontiguousarray(weights, np.float64)
    sums = np.zeros(int(starts[-1]))
    number = CRITERIA[criterion]

    fixed = (members, references, widths, weights, number, skip_own, starts, sums)
    in_turns(lambda at, step: _add_members(*fixed, at, step), len(members), n_jobs)
    return sums / (len(references) - int(skip_own))


def _cells(members, references, widths, weights, criterion, skip_own, starts, sums, *turn):
    return int(widths.sum()) * sums.size + members.size * len(references) // 10


@compiled(plain_up_to=500_000, size=_cells)
def _add_members(
    members, references, widths, weights, criterion, skip_own, starts, sums, first, turn
):
    """Fill the sums of the members first, first + turn, ..."""
    for r in range(first, members.shape[0], turn):
        own = r if skip_own else -1
        out = sums[starts[r] : starts[r + 1]]
        _add_references(members[r], references, widths, weights, criterion, own, out)


@compiled
def _add_references(labels, references, widths, weights, criterion, own, out):
    """Add the agreement of one member's clusters with every reference but ``own``."""
    height = out.shape[0] + _BEFORE
    for m in range(references.shape[0]):
        if m == own:
            continue
        width = widths[m]
        table = np.zeros(height * width)
        count_cells(labels, references[m], weights, width, table)
        n, in_column = 0.0, np.zeros(width)
        # Row and column 0 are objects that the member or the reference did not see.
        for h in range(1, height):
            for c in range(1, width):
                in_column[c] += table[h * width + c]
                n += table[h * width + c]
        for h in range(_BEFORE, height):
            row = table[h * width : (h + 1) * width]
            out[h - _BEFORE] += _agreement(row, in_column, n, criterion)


@compiled
def _agreement(row, in_column, n, criterion):
    """Agreement of one cluster (its objects by label of the reference) with the reference."""
    size = 0.0
    for c in range(1, row.shape[0]):
        size += row[c]
    if size <= 0.0 or size >= n:
        return 0.0
    if criterion == _APMM:
        return _pieces(row, size, n)
    matched, both = 0.0, 0.0
    if criterion == _NMI:
        for c in range(_BEFORE, row.shape[0]):
            if 2.0 * row[c] > in_column[c]:
                matched += in_column[c]
                both += row[c]
    else:
        best = 0.0
        for c in range(_BEFORE, row.shape[0]):
            if row[c] > 0.0:
                jaccard = row[c] / (size + in_column[c] - row[c])
                if jaccard > best:
                    best, matched, both = jaccard, in_column[c], row[c]
    return _two_blocks(n, size, matched, both)


@compiled
def _two_blocks(n, a, b, both):
    """Arithmetic normalised mutual information of {A, rest} and {B, rest}; 0 if one is trivial."""
    if b <= 0.0 or b >= n:
        return 0.0
    if (both == a and both == b) or (both == 0.0 and a + b == n):
        return 1.0
    information = (
        _term(both, a, b, n)
        + _term(a - both, a, n - b, n)
        + _term(b - both, n - a, b, n)
        + _term(n - a - b + both, n - a, n - b, n)
    )
    entropies = -(_entropy(a, n) + _entropy(n - a, n) + _entropy(b, n) + _entropy(n - b, n))
    return min(1.0, max(0.0, 2.0 * information / entropies))


@compiled
def _term(both, a, b, n):
    return both * log(n * both / (a * b)) if both > 0.0 else 0.0


@compiled
def _entropy(part, n):
    return part * log(part / n)


@compiled
def _pieces(row, size, n):
    """The cluster's own entropy term against those of its pieces; noise objects are alone."""
    whole = _entropy(size, n)
    pieces, n_pieces = row[1] * log(1.0 / n), 0
    for c in range(_BEFORE, row.shape[0]):
        if row[c] > 0.0:
            pieces += _entropy(row[c], n)
            n_pieces += 1
    if n_pieces == 1 and row[1] == 0.0:
        return 1.0
    return 2.0 * whole / (whole + pieces)
