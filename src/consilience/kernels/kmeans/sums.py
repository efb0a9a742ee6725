"""Sums of clusters over objects, by blocks and in the tree of :mod:`consilience.kernels._blocks`.

A round of k-means needs how the sums and counts of the clusters change, by the few objects that
move. A block of rows adds its own into a :class:`Part`, in twice the working precision, and parts
are added two by two in the tree. A part knows which clusters it touched: adding one costs what
moved, not what there is, and nothing is ever cleared as a whole.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

__all__ = [
    "Part",
    "Parts",
    "add_part",
    "add_sums",
    "add_tree",
    "flush",
    "make_parts",
    "part_of",
    "part_view",
    "push",
    "touch",
]


class Parts(NamedTuple):
    """Parts of many members end to end, one row a part; see `part_of`."""

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    touched: NDArray[np.bool_]


class Part(NamedTuple):
    """Changes of one member's clusters, as views; of clusters not touched they mean nothing."""

    sums: NDArray[np.float64]  # (n_clusters, 2, n_features): sum, and what rounding took from it
    counts: NDArray[np.int64]
    touched: NDArray[np.bool_]


def make_parts(n_parts: int, n_values: int, n_clusters: int) -> Parts:
    """Room for parts of members with so many values of centres and so many clusters in all."""
    return Parts(
        np.empty((n_parts, 2 * n_values)),
        np.empty((n_parts, n_clusters), np.int64),
        np.zeros((n_parts, n_clusters), np.bool_),
    )


@compiled
def part_of(parts, row, place):
    """The part in a row of a member; ``place``: its first value and cluster, and its k and d."""
    value_at, cluster_at, k, d = place
    values = parts.sums[row, 2 * value_at : 2 * (value_at + k * d)]
    clusters = slice(cluster_at, cluster_at + k)
    return Part(
        values.reshape((k, 2, d)), parts.counts[row, clusters], parts.touched[row, clusters]
    )


# For plain Python: an interrupt while compiled code hands a named tuple back may end the process.
part_view = getattr(part_of, "py_func", part_of)


@compiled
def touch(part, clusters):
    """Make a part ready for changes of some clusters (negative ones: none)."""
    sums, counts, touched = part.sums, part.counts, part.touched
    for c in clusters:
        if c >= 0 and not touched[c]:
            touched[c] = True
            counts[c] = 0
            sums[c] = 0.0


@compiled
def add_part(into, part):
    """Add a part to the one on its left in the tree, and leave it empty."""
    # Fields are taken out of tuples before loops: each time, references are counted. No views of
    # single clusters either: they cost more than adding sixteen features.
    sums, counts, touched = into.sums, into.counts, into.touched
    added, numbers, flags = part.sums, part.counts, part.touched
    for c in range(flags.size):
        if not flags[c]:
            continue
        flags[c] = False
        if not touched[c]:
            touched[c], counts[c] = True, 0
            for f in range(sums.shape[2]):
                sums[c, 0, f] = sums[c, 1, f] = 0.0
        counts[c] += numbers[c]
        for f in range(sums.shape[2]):
            before, value = sums[c, 0, f], added[c, 0, f]
            after = before + value
            # Knuth's two-sum: exactly what rounding took from `after`.
            moved = after - before
            lost = (before - (after - moved)) + (value - moved)
            sums[c, 1, f] += added[c, 1, f] + lost
            sums[c, 0, f] = after


@compiled
def add_sums(into, part):
    """Add two sums of twice the working precision, (2, n_features) each."""
    for f in range(into.shape[1]):
        before, value = into[0, f], part[0, f]
        after = before + value
        # Knuth's two-sum: exactly what rounding took from `after`.
        moved = after - before
        lost = (before - (after - moved)) + (value - moved)
        into[1, f] += part[1, f] + lost
        into[0, f] = after


@compiled
def push(stack, place, n_levels, block, out):
    """Add the part of a block, in row ``n_levels`` of the stack, to those of the blocks before.

    ``block`` counts from the first block of an aligned run of 2^n_levels blocks, whose sum goes
    to ``out``. Row l of the stack is a complete sum of 2^l blocks where bit l of ``block`` is
    set, as in counting up by one: a carry is the addition of two such sums.
    """
    part = part_of(stack, n_levels, place)
    for level in range(n_levels):
        left = part_of(stack, level, place)
        add_part(left, part)
        if not (block >> level) & 1:
            return
        part = left
    add_part(out, part)


@compiled
def flush(stack, place, n_levels, out):
    """Add what is left on the stack after the last block of a run that is shorter."""
    for level in range(n_levels):
        into = out if level + 1 == n_levels else part_of(stack, level + 1, place)
        add_part(into, part_of(stack, level, place))


@compiled
def add_tree(parts, place):
    """Add all rows of ``parts`` in the tree; the sum is then in row 0, the others are empty."""
    n, step = parts.touched.shape[0], 1
    while step < n:
        for left in range(0, n - step, 2 * step):
            add_part(part_of(parts, left, place), part_of(parts, left + step, place))
        step *= 2
