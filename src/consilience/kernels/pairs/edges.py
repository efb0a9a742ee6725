"""Nodes of a graph moved between groups, one after the other, by the weights of their edges."""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["move_nodes"]


@compiled
def move_nodes(indptr, indices, gains, labels, max_passes):
    """Put each node where the sum of its edges is largest, until none moves; counts the moves.

    ``gains`` are the weights of the edges, row by row as in a CSR matrix; below 0 they speak
    against a common group. ``labels`` are 0..n-1 and are changed in place. A node that every group
    speaks against gets one of its own.

    Moves are made at once: nodes that look at groups as they were would swap places forever. The
    sums of a node lie in one array of all groups, of which only the places that its edges touch
    are read and cleared, so that a pass costs what there are edges.
    """
    n = len(labels)
    sums, sizes = np.zeros(n), np.zeros(n, np.int64)
    empty, n_empty = np.empty(n, np.int64), 0
    for i in range(n):
        sizes[labels[i]] += 1
    for group in range(n):
        if sizes[group] == 0:
            empty[n_empty] = group
            n_empty += 1
    moved = np.int64(0)
    for _ in range(max_passes):
        before = moved
        for i in range(n):
            own = labels[i]
            for at in range(indptr[i], indptr[i + 1]):
                sums[labels[indices[at]]] += gains[at]
            best, most = own, sums[own]
            for at in range(indptr[i], indptr[i + 1]):
                group = labels[indices[at]]
                # Equal but for rounding is no reason to move.
                if sums[group] > most + 1e-9:
                    best, most = group, sums[group]
            for at in range(indptr[i], indptr[i + 1]):
                sums[labels[indices[at]]] = 0.0
            if most < -1e-9 and sizes[own] > 1:
                n_empty -= 1
                best = empty[n_empty]
            if best != own:
                labels[i] = best
                sizes[best] += 1
                sizes[own] -= 1
                if sizes[own] == 0:
                    empty[n_empty] = own
                    n_empty += 1
                moved += 1
        if moved == before:
            break
    return moved
