"""Squared distances taken from coordinate differences, and what density estimates make of them.

Coordinates lie feature by feature, so that the innermost loop runs over objects and vectorises.
A pair's distance is the same sum in the same order whichever object comes first, whatever the
block and however many objects are asked for: levels, radii and lists compare distances with
``<=``, and one last digit would take a component apart.
"""

from consilience.kernels._jit import compiled

__all__ = ["count_founders", "found_clusters", "square_distances"]


@compiled
def square_distances(points, columns, out):
    """Fill ``out[i, j]`` with the squared distance of point i and object j.

    ``points`` is (n_points, n_features), ``columns`` (n_features, n_objects).
    """
    n_features, n = columns.shape
    for i in range(points.shape[0]):
        row = out[i]
        for j in range(n):
            row[j] = 0.0
        for f in range(n_features):
            x, column = points[i, f], columns[f]
            for j in range(n):
                gap = x - column[j]
                row[j] += gap * gap


@compiled
def count_founders(neighbours, costs, dense, size, witness):
    """Number of dense objects that have no cheaper one among their ``size`` nearest objects.

    Cheaper is less by (cost, index). ``witness[i]`` is a place in the list of i where a cheaper
    object was found for an earlier, smaller size, or 0: it is asked first, because costs change
    little from size to size. It is updated.
    """
    founders = 0
    for t in range(dense.shape[0]):
        i = dense[t]
        row = neighbours[i]
        if _cheaper(costs, row[witness[i]], i):
            continue
        has_cheaper = False
        for p in range(size):
            if _cheaper(costs, row[p], i):
                witness[i] = p
                has_cheaper = True
                break
        founders += not has_cheaper
    return founders


@compiled
def _cheaper(costs, a, b):
    """Whether object a comes before object b by cost, then by index."""
    return costs[a] < costs[b] or (costs[a] == costs[b] and a < b)


@compiled
def found_clusters(neighbours, costs, dense, size, labels):
    """Label dense objects by the cheapest of their ``size`` nearest; the number of clusters.

    ``dense`` is sorted by (cost, index), so that whoever an object follows has its label. An
    object that is itself the cheapest founds a cluster. ``labels`` is -1 elsewhere.
    """
    n_clusters = 0
    for t in range(dense.shape[0]):
        i = dense[t]
        best = i
        for p in range(size):
            if _cheaper(costs, neighbours[i, p], best):
                best = neighbours[i, p]
        if best == i:
            labels[i] = n_clusters
            n_clusters += 1
        else:
            labels[i] = labels[best]
    return n_clusters
