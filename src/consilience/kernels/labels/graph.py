"""The graph of objects and clusters, straight from the labels: its lists, and what hangs together.

A vertex a cluster and an object, an edge where the object is in the cluster.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team

__all__ = ["count_groups", "label_graph"]

Labels = NDArray[np.signedinteger[Any]]

# Vertices of a block.
_BLOCK = 1024
# Labels that are worth a thread.
_WORTH = 2**18


def label_graph(
    members: Labels, starts: NDArray[np.int64], order: NDArray[np.int64], *, n_jobs: int | None = 1
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each vertex's neighbours begin, and the neighbours, rising, of vertices in an order.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; negative labels are in no cluster.
    starts : (n_members + 1,) int64
        `first_columns` of the members: cluster c of member r is vertex ``starts[r] + c``, and
        object i comes after all p clusters, as vertex ``p + i``.
    order : (p + n_objects,) int64
        The vertex at every place; neighbours are named by their places.
    n_jobs : int or None, default=1
        Threads; the result does not depend on it.

    Examples
    --------
    >>> members = np.array([[0, 1, 1]], np.int8)
    >>> label_graph(members, np.array([0, 2]), np.array([4, 0, 1, 2, 3]))
    (array([0, 1, 2, 4, 5, 6]), array([2, 3, 0, 4, 1, 2], dtype=int32))
    """
    n_members, p = len(members), int(starts[-1])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    sizes = np.zeros(len(order), np.int64)
    with Team(n_jobs, min(n_members, -(-members.size // _WORTH))) as team:
        step = team.size
        team.run(lambda at: _cluster_degrees(members, starts, at, step, sizes))
        team.run(lambda at: _object_degrees(members, p, at, step, sizes))
        begins = np.concatenate([[0], np.cumsum(sizes[order])])
        ends = np.empty(int(begins[-1]), np.int32)
        team.run(lambda at: _of_clusters(members, starts, order, place, begins, at, step, ends))
        team.run(lambda at: _of_objects(members, starts, order, place, begins, at, step, ends))
    return begins, ends


@compiled
def _cluster_degrees(members, starts, at, step, sizes):
    """Objects in each cluster of every ``step``-th member."""
    for r in range(at, members.shape[0], step):
        for i in range(members.shape[1]):
            if members[r, i] >= 0:
                sizes[starts[r] + members[r, i]] += 1


@compiled
def _object_degrees(members, p, at, step, sizes):
    """Clusters that hold each object, in every ``step``-th block of objects."""
    n_members, n_objects = members.shape
    for start in range(at * _BLOCK, n_objects, step * _BLOCK):
        for r in range(n_members):
            for i in range(start, min(start + _BLOCK, n_objects)):
                if members[r, i] >= 0:
                    sizes[p + i] += 1


@compiled
def _of_clusters(members, starts, order, place, begins, at, step, ends):
    """Objects of the clusters of every ``step``-th member: met in the order of their places."""
    p = starts[starts.size - 1]
    for r in range(at, members.shape[0], step):
        filled = np.zeros(starts[r + 1] - starts[r], np.int64)
        for c in range(filled.size):
            filled[c] = begins[place[starts[r] + c]]
        for position in range(order.size):
            if order[position] >= p:
                label = members[r, order[position] - p]
                if label >= 0:
                    ends[filled[label]] = position
                    filled[label] += 1


@compiled
def _of_objects(members, starts, order, place, begins, at, step, ends):
    """Clusters of the objects in every ``step``-th block of places, put in one by one."""
    p = starts[starts.size - 1]
    for start in range(at * _BLOCK, order.size, step * _BLOCK):
        for position in range(start, min(start + _BLOCK, order.size)):
            if order[position] < p:
                continue
            first = last = begins[position]
            for r in range(members.shape[0]):
                label = members[r, order[position] - p]
                if label >= 0:
                    end = place[starts[r] + label]
                    free = last
                    while free > first and ends[free - 1] > end:
                        ends[free] = ends[free - 1]
                        free -= 1
                    ends[free] = end
                    last += 1


def count_groups(members: Labels, starts: NDArray[np.int64], enough: int = 1) -> int:
    """Groups of objects that no cluster joins to another; stops where there are few enough.

    Parameters
    ----------
    members, starts
        As in `label_graph`, without empty clusters and with every object in some cluster.
    enough : int, default=1
        The number is exact if it is more than this.

    Examples
    --------
    >>> members = np.array([[0, 0, 1, 1], [0, 0, -1, -1]], np.int8)
    >>> count_groups(members, np.array([0, 2, 3]))
    2
    """
    return int(_count_groups(members, starts, np.arange(int(starts[-1])), enough))


@compiled
def _count_groups(members, starts, root, enough):
    """Union of the clusters of each object, the smaller number as the root."""
    groups = root.size
    for i in range(members.shape[1]):
        if groups <= enough:
            break
        own = -1
        for r in range(members.shape[0]):
            if members[r, i] < 0:
                continue
            one = starts[r] + members[r, i]
            while root[one] != one:
                root[one] = root[root[one]]
                one = root[one]
            if own >= 0 and one != own:
                root[max(one, own)] = min(one, own)
                groups -= 1
                one = min(one, own)
            own = one
    return groups
