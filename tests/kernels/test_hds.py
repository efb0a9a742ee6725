"""Trees of the mutual reachability, and the hierarchy of levels, against their definitions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from consilience.kernels.links.merges import linkage_table
from consilience.kernels.minority.hds import follow_levels, tree_of_matrix, tree_of_points


def points(max_objects=14):
    """Few places on a grid: many distances tie, some objects are equal."""
    shape = st.tuples(st.integers(2, max_objects), st.integers(1, 2))
    return shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=st.integers(0, 6)))


def reachability(X, n_eps):
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    core = np.sort(distances, axis=1)[:, n_eps - 1]
    return distances, core, np.maximum(distances, np.maximum(core[:, None], core[None]))


@given(points(), st.data())
@settings(max_examples=30)
def test_trees_have_the_least_weight_and_the_components_of_every_radius(X, data):
    distances, core, reach = reachability(X, data.draw(st.integers(1, len(X))))
    # SciPy takes zeros for missing edges.
    least = minimum_spanning_tree(reach + 1).sum() - (len(X) - 1)
    for left, right, weights in (
        tree_of_points(np.ascontiguousarray(X.T), core),
        tree_of_matrix(distances, core),
    ):
        np.testing.assert_array_equal(weights, reach[left, right])
        assert weights.sum() == least
        for radius in np.unique(reach):
            kept = weights <= radius
            graph = np.zeros(reach.shape)
            graph[left[kept], right[kept]] = 1
            _, found = connected_components(graph, directed=False)
            _, wanted = connected_components(reach <= radius, directed=False)
            assert same_groups(found, wanted)


def same_groups(one, other):
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def levels_slowly(distances, core, radii, n_part):
    """Labels of all levels by the definition, and each cluster's parent."""
    labels, parents, before = [], [], None
    for radius in radii:
        dense = np.flatnonzero(core <= radius)
        graph = distances[np.ix_(dense, dense)] <= radius
        parts = connected_components(graph, directed=False)[1]
        now = np.full(len(core), -1)
        if before is None:
            now[dense] = parts
            parents = [-1] * (parts.max() + 1)
        else:
            for cluster in sorted(set(before[dense].tolist()) - {-1}):
                mine = [dense[parts == p] for p in range(parts.max() + 1)]
                mine = [part for part in mine if before[part[0]] == cluster]
                if len(mine) > 1:
                    mine = [part for part in mine if len(part) > n_part]
                for part in mine:
                    now[part] = cluster if len(mine) == 1 else len(parents)
                    if len(mine) > 1:
                        parents.append(cluster)
        labels.append(now)
        before = now
    return np.array(labels), np.array(parents)


@given(points(), st.data())
@settings(max_examples=50)
def test_levels_equal_direct_components(X, data):
    distances, core, _ = reachability(X, data.draw(st.integers(1, len(X))))
    n_part = data.draw(st.integers(0, 3))
    radii = np.sort(core)[::-1].copy()
    wanted, parents = levels_slowly(distances, core, radii, n_part)
    table = linkage_table(*tree_of_points(np.ascontiguousarray(X.T), core))
    parent, first, last, home, until = follow_levels(
        table[:, :2].astype(np.int64), table[:, 2].copy(), core, radii, n_part
    )
    assert len(parent) == len(parents)
    names = {}
    for level in range(len(radii)):
        found = np.full(len(X), -1)
        for i in range(len(X)):
            c = home[i] if until[i] >= level else -1
            while c >= 0 and first[c] > level:
                c = parent[c]
            found[i] = c
            assert c < 0 or first[c] <= level <= last[c]
        np.testing.assert_array_equal(found < 0, wanted[level] < 0)
        # One renaming for all levels: clusters keep their names while they live.
        for ours, theirs in zip(found.tolist(), wanted[level].tolist(), strict=True):
            assert names.setdefault(ours, theirs) == theirs
    assert len(set(names.values())) == len(names)
    assert all(parents[names[c]] == names.get(int(parent[c]), -1) for c in names if c >= 0)
