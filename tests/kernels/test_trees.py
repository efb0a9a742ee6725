"""Cuts, expansion and lifetimes of merge trees against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges, expand_tree, lifetimes, longest_lifetime

seeds = st.integers(0, 2**32 - 1)


@st.composite
def trees(draw, max_size=12):
    """Any order of merges, with heights that tie and invert as they please."""
    n = draw(st.integers(1, max_size))
    nodes, sizes, rows = list(range(n)), dict.fromkeys(range(n), 1), []
    for t in range(n - 1):
        a = nodes.pop(draw(st.integers(0, len(nodes) - 1)))
        b = nodes.pop(draw(st.integers(0, len(nodes) - 1)))
        sizes[n + t] = sizes[a] + sizes[b]
        rows.append([min(a, b), max(a, b), draw(st.integers(0, 3)), sizes[n + t]])
        nodes.append(n + t)
    return np.array(rows, np.float64).reshape(-1, 4)


def clusters_of(merges, n):
    """Reference: the sets of objects left after these merges."""
    groups = {i: {i} for i in range(n)}
    for t, (a, b) in enumerate(merges[:, :2].astype(int)):
        groups[n + t] = groups.pop(a) | groups.pop(b)
    return sorted(map(sorted, groups.values()))


@given(trees())
def test_a_cut_undoes_the_last_merges(tree):
    n = len(tree) + 1
    for k in range(1, n + 1):
        labels = cut_merges(tree, k)
        assert labels.dtype == np.int32
        # Sorted by their first objects, clusters carry the labels 0, 1, ...
        wanted = clusters_of(tree[: n - k], n)
        assert [list(np.flatnonzero(labels == c)) for c in range(k)] == wanted


@given(seeds, st.integers(2, 30), st.sampled_from(["single", "complete", "average"]))
def test_a_cut_equals_scipy_without_ties(seed, n, method):
    tree = linkage(pdist(np.random.default_rng(seed).normal(size=(n, 2))), method)
    for k in range(1, n + 1):
        theirs = fcluster(tree, k, "maxclust")
        _, first, inverse = np.unique(theirs, return_index=True, return_inverse=True)
        wanted = np.argsort(np.argsort(first))[inverse]
        np.testing.assert_array_equal(cut_merges(tree, k), wanted)


@given(st.data())
def test_expanded_tree_is_the_tree_of_all_objects(data):
    u = data.draw(st.integers(1, 6))
    rest = data.draw(st.lists(st.integers(0, u - 1), max_size=6))
    groups = data.draw(st.permutations(list(range(u)) + rest))
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    inverse = np.argsort(np.argsort(first))[inverse]
    pairs = u * (u - 1) // 2
    condensed = data.draw(st.lists(st.integers(1, 4), min_size=pairs, max_size=pairs))
    square = squareform(np.array(condensed, np.float64)) if u > 1 else np.zeros((1, 1))
    method = data.draw(st.sampled_from(["single", "complete", "average", "centroid", "ward"]))
    small = agglomerate(squareform(square), method, weights=np.bincount(inverse), squared=False)
    wanted = agglomerate(squareform(square[np.ix_(inverse, inverse)]), method, squared=False)
    np.testing.assert_allclose(expand_tree(small, inverse), wanted, rtol=0, atol=1e-11)


@given(trees(max_size=6), st.data())
def test_expanding_keeps_cuts_and_counts_objects(tree, data):
    u = len(tree) + 1
    rest = data.draw(st.lists(st.integers(0, u - 1), max_size=8))
    inverse = np.array(data.draw(st.permutations(list(range(u)) + rest)))
    full = expand_tree(tree, inverse)
    n = len(inverse)
    assert full.shape == (n - 1, 4)
    assert np.all(full[: n - u, 2] == 0)
    for k in range(1, u + 1):
        labels = cut_merges(full, k)
        small = cut_merges(tree, k)[inverse]
        assert len(set(zip(labels, small, strict=True))) == k
    sizes = np.concatenate([np.ones(n), full[:, 3]])
    children = full[:, :2].astype(int)
    np.testing.assert_array_equal(full[:, 3], sizes[children].sum(axis=1))
    assert np.all(children[:, 0] < children[:, 1])


@given(st.lists(st.integers(0, 20), max_size=12))
def test_lifetimes_are_gaps_between_heights(heights):
    h = sorted(heights)
    n = len(h) + 1
    wanted = [h[n - k] - h[n - k - 1] for k in range(2, n)]
    np.testing.assert_array_equal(lifetimes(heights), wanted)
    best = longest_lifetime(heights)
    if max(wanted, default=0) == 0:
        assert best == 1
    else:
        assert best == 2 + wanted.index(max(wanted))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12))
def test_rounding_noise_neither_lives_nor_breaks_ties(heights):
    noise = np.random.default_rng(len(heights)).uniform(0, 1e-13, len(heights))
    assert longest_lifetime(heights + noise) == longest_lifetime(heights)
    assert (lifetimes(heights + noise) > 0).sum() == (lifetimes(heights) > 0).sum()


@pytest.mark.parametrize(
    ("heights", "free", "with_one"),
    [
        ([], 1, 1),
        ([0.5], 1, 1),
        ([0.5, 0.5, 0.5], 1, 1),
        ([0.0, 0.4, 0.8], 2, 2),  # equal gaps: no doubt about one cluster
        ([0.0, 0.3, 0.8], 2, 1),
        ([0.0, 0.25, 0.75], 2, 2),  # exactly twice stands out
        ([0.0, 0.5, 0.7], 3, 3),
        ([0.8, 0.0, 0.3], 2, 1),
    ],
)
def test_one_cluster_where_no_gap_stands_out(heights, free, with_one):
    assert longest_lifetime(heights) == free
    assert longest_lifetime(heights, allow_one=True) == with_one
