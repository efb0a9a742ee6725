"""Density levels through one tree: mutual reachability, and the hierarchy of its components.

Two objects are joined at a radius r if both are dense there (their core value is at most r) and
they lie within r: exactly if max(core, core, distance) is at most r. So the components at every
radius come from one minimum spanning tree of that weight.
"""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["follow_levels", "tree_of_matrix", "tree_of_points"]


@compiled
def tree_of_points(columns, core):
    """Minimum spanning tree of the mutual reachability of points: ends and weight of each edge.

    ``columns`` is (n_features, n_objects); distances are squared Euclidean, from coordinate
    differences as in `kernels.minority.density`, and ``core`` must be too.
    O(n ** 2 * n_features) time, one copy of the points beside a few vectors of memory: points
    not reached yet lie packed at the front.
    """
    n_features, n = columns.shape
    columns, waiting = columns.copy(), _start(core)
    gaps, point = np.empty(n), np.empty(n_features)
    left, right, weights = np.empty(n - 1, np.int32), np.empty(n - 1, np.int32), np.empty(n - 1)
    place = 0
    for t in range(n - 1):
        last = n - 1 - t
        for f in range(n_features):
            point[f] = columns[f, place]
            columns[f, place] = columns[f, last]
        i, core_i = _take_out(waiting, place, last)
        for j in range(last):
            gaps[j] = 0.0
        for f in range(n_features):
            x, column = point[f], columns[f]
            for j in range(last):
                gap = x - column[j]
                gaps[j] += gap * gap
        place = _approach(waiting, gaps, i, core_i, last)
        left[t], right[t], weights[t] = waiting[2][place], waiting[0][place], waiting[3][place]
    return left, right, weights


@compiled
def tree_of_matrix(distances, core):
    """The same for a symmetric matrix of distances, (n_objects, n_objects)."""
    n = distances.shape[0]
    waiting, gaps = _start(core), np.empty(n)
    left, right, weights = np.empty(n - 1, np.int32), np.empty(n - 1, np.int32), np.empty(n - 1)
    place = 0
    for t in range(n - 1):
        last = n - 1 - t
        i, core_i = _take_out(waiting, place, last)
        row, objects = distances[i], waiting[0]
        for j in range(last):
            gaps[j] = row[objects[j]]
        place = _approach(waiting, gaps, i, core_i, last)
        left[t], right[t], weights[t] = waiting[2][place], waiting[0][place], waiting[3][place]
    return left, right, weights


@compiled
def _start(core):
    """Objects not reached, their core values, who of the tree is nearest, and how near."""
    n = core.shape[0]
    return np.arange(n).astype(np.int32), core.copy(), np.zeros(n, np.int32), np.full(n, np.inf)


@compiled
def _take_out(waiting, place, last):
    """Take one object out of those not reached, the last one moves to its place."""
    objects, core, link, near = waiting
    i, core_i = objects[place], core[place]
    objects[place], core[place] = objects[last], core[last]
    link[place], near[place] = link[last], near[last]
    return i, core_i


@compiled
def _approach(waiting, gaps, i, core_i, n_waiting):
    """Update who is nearest to the tree after object i joined it; the place of the nearest."""
    _, core, link, near = waiting
    for j in range(n_waiting):
        weight = max(gaps[j], core[j], core_i)
        nearer = weight < near[j]
        near[j] = weight if nearer else near[j]
        link[j] = i if nearer else link[j]
    best = 0
    for j in range(1, n_waiting):
        if near[j] < near[best]:
            best = j
    return best


@compiled
def follow_levels(children, heights, core, radii, n_part):
    """Clusters of all levels, from the widest radius inwards: who they are and who was in them.

    Parameters
    ----------
    children : (n - 1, 2) int64
        Merges of the spanning tree in order of height, clusters numbered n + t.
    heights : (n - 1,) float64
    core : (n,) float64
    radii : (n_levels,) float64
        Not increasing.
    n_part : int
        When a cluster falls apart, parts of at most this many objects are dropped.

    Returns
    -------
    parent, first, last : (n_clusters,) int32
        The cluster each came from (-1 at the first level), and the levels it lives through.
    last_cluster, last_level : (n,) int32
        The innermost cluster an object was in, and the last level it was in it; -1 if none. It
        was in that cluster's ancestors before, so this says where it was at every level.
    """
    n, n_levels = core.shape[0], radii.shape[0]
    state = _nothing_known(n)
    parent, first, last, home, until = state
    top, size = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    name = np.empty(2 * n, np.int32)
    parts = np.empty(n, np.int64)
    n_parts_of, n_big_of = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    n_clusters = 0
    for level in range(n_levels):
        _find_tops(children, heights, radii[level], top)
        n_parts = _list_parts(core, radii[level], level, top, home, until, parts, name, size)
        n_clusters = _name_parts(
            level, n_part, parts[:n_parts], name, size, n_parts_of, n_big_of, state, n_clusters
        )
        for i in range(n):
            if until[i] == level - 1 and core[i] <= radii[level] and name[top[i]] >= 0:
                home[i], until[i] = name[top[i]], level
    return parent[:n_clusters], first[:n_clusters], last[:n_clusters], home, until


@compiled
def _nothing_known(n):
    """Parent, first and last level of clusters to come; last cluster and level of objects."""
    return (
        np.full(2 * n, -1, np.int32),
        np.empty(2 * n, np.int32),
        np.empty(2 * n, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
    )


@compiled
def _find_tops(children, heights, radius, top):
    """Fill ``top`` with the last merge, within the radius, that holds each object or merge."""
    n = heights.shape[0] + 1
    for node in range(2 * n - 1):
        top[node] = node
    for t in range(n - 2, -1, -1):
        if heights[t] <= radius:
            top[children[t, 0]] = top[n + t]
            top[children[t, 1]] = top[n + t]


@compiled
def _list_parts(core, radius, level, top, home, until, parts, name, size):
    """Components of this level that hold a member of a cluster of the level before.

    ``size`` counts their objects, ``name`` is set to the cluster they were in (-1 at the first
    level). A component never holds objects of two clusters: it lies inside one of the level
    before.
    """
    n_parts = 0
    for node in range(2 * core.shape[0] - 1):
        size[node] = 0
    for i in range(core.shape[0]):
        if until[i] == level - 1 and core[i] <= radius:
            part = top[i]
            if size[part] == 0:
                parts[n_parts] = part
                name[part] = home[i]
                n_parts += 1
            size[part] += 1
    return n_parts


@compiled
def _name_parts(level, n_part, parts, name, size, n_parts_of, n_big_of, state, n_clusters):
    """Turn the cluster each part was in into the one it is now; the number of clusters.

    A cluster left whole keeps its name; of one that fell apart small parts are dropped (-1), a
    single large one keeps the name, several are new clusters.
    """
    parent, first, last, _, _ = state
    # At the first level the old name is -1: the last place of the counters, which none has.
    for part in parts:
        n_parts_of[name[part]] = 0
        n_big_of[name[part]] = 0
    for part in parts:
        n_parts_of[name[part]] += 1
        n_big_of[name[part]] += size[part] > n_part
    for part in parts:
        old = name[part]
        if level > 0 and n_parts_of[old] > 1 and size[part] <= n_part:
            name[part] = -1
            continue
        if level == 0 or (n_parts_of[old] > 1 and n_big_of[old] > 1):
            name[part] = n_clusters
            parent[n_clusters], first[n_clusters] = old, level
            n_clusters += 1
        last[name[part]] = level
    return n_clusters
