"""Prim's tree against its definition, single link against SciPy on the explicit distances."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience.kernels.links import prim
from consilience.kernels.links.merges import linkage_table


@st.composite
def label_tables(draw, max_objects=30, max_members=8):
    """Member-major label tables with noise and unseen labels."""
    n = draw(st.integers(1, max_objects))
    n_members = draw(st.integers(1, max_members))
    lowest = draw(st.integers(-2, 0))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    highest = rng.integers(1, 6, size=(n_members, 1))
    return rng.integers(lowest, highest, size=(n_members, n)).astype(np.int8)


def shares_slowly(members, missing):
    """Reference: exact co-association as fractions, (n, n) of objects."""
    n = members.shape[1]
    shares = np.empty((n, n), object)
    for i in range(n):
        for j in range(n):
            a, b = members[:, i], members[:, j]
            joined = int(np.sum((a == b) & (a >= 0)))
            seen = int(np.sum((a != -2) & (b != -2))) if missing == "pair" else len(a)
            shares[i, j] = Fraction(joined, max(seen, 1))
    return shares


def prim_slowly(shares, start):
    """Reference: the nearest object not reached yet, by its definition."""
    order, parent, distance = [start], [-1], [0.0]
    while len(order) < len(shares):
        best = (Fraction(-1), None, None)
        for j in range(len(shares)):
            if j not in order:
                for i in order:
                    if shares[i, j] > best[0]:
                        best = (shares[i, j], i, j)
        distance.append(1.0 - float(best[0]))
        parent.append(best[1])
        order.append(best[2])
    return order, parent, distance


def distances_slowly(members, missing):
    """Reference: condensed distances as SciPy wants them."""
    distances = 1.0 - shares_slowly(members, missing).astype(float)
    return squareform(distances, checks=False)


@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("width", [1, 5, 1024])
@given(label_tables(max_objects=14), st.data())
@settings(max_examples=25, deadline=None)
def test_order_equals_its_definition(width, missing, members, data):
    start = data.draw(st.integers(0, members.shape[1] - 1))
    pack_below = data.draw(st.sampled_from([0.0, 0.3, 0.75, 1.0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prim, "block_width", lambda members: width)
        got = prim.prim_order(members, missing=missing, start=start, pack_below=pack_below)
    order, parent, distance = prim_slowly(shares_slowly(members, missing), start)
    np.testing.assert_array_equal(got[0], order)
    np.testing.assert_array_equal(got[1], parent)
    np.testing.assert_allclose(got[2], distance, rtol=0, atol=1e-15)
    assert (got[0].dtype, got[1].dtype, got[2].dtype) == (np.int32, np.int32, np.float64)


@pytest.mark.parametrize("missing", ["pair", "all"])
@given(label_tables())
@settings(max_examples=40, deadline=None)
def test_tree_has_the_smallest_total_length(missing, members):
    left, right, distance = prim.minimum_spanning_tree(members, missing=missing)
    full = squareform(distances_slowly(members, missing))
    np.testing.assert_allclose(full[left, right], distance, rtol=0, atol=1e-15)
    heights = hierarchy.single(squareform(full))[:, 2] if len(full) > 1 else np.empty(0)
    np.testing.assert_allclose(np.sort(distance), heights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", ["pair", "all"])
@given(label_tables())
@settings(max_examples=40, deadline=None)
def test_single_link_has_the_heights_of_scipy(missing, members):
    assume(members.shape[1] > 1)
    got = prim.single_link(members, missing=missing)
    wanted = hierarchy.single(distances_slowly(members, missing))
    assert hierarchy.is_valid_linkage(got)
    np.testing.assert_allclose(got[:, 2], wanted[:, 2], rtol=0, atol=1e-12)


def merges(tree):
    """The clusters a tree makes, as sets of objects, in order."""
    clusters = [frozenset([i]) for i in range(len(tree) + 1)]
    for a, b, *_ in tree:
        clusters.append(clusters[int(a)] | clusters[int(b)])
    return clusters[len(tree) + 1 :]


@pytest.mark.parametrize("missing", ["pair", "all"])
@given(label_tables(max_members=30))
@settings(max_examples=25, deadline=None)
def test_clusters_below_every_height_are_those_of_scipy(missing, members):
    """Single link has one answer at every height, ties or not."""
    assume(members.shape[1] > 1)
    got = prim.single_link(members, missing=missing)
    wanted = hierarchy.single(distances_slowly(members, missing))
    for height in np.unique(wanted[:, 2].round(9)):
        ours = hierarchy.fcluster(got, height + 1e-9, "distance")
        theirs = hierarchy.fcluster(wanted, height + 1e-9, "distance")
        # Equal partitions: as many clusters, and as many when both are told apart.
        both = np.unique(np.stack([ours, theirs]), axis=1).shape[1]
        assert both == ours.max() == theirs.max()


@given(label_tables(), st.data())
@settings(max_examples=25, deadline=None)
def test_weights_are_sizes_and_nothing_else(members, data):
    n = members.shape[1]
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)))
    plain = prim.single_link(members, missing="all")
    weighted = prim.single_link(members, weights, missing="all")
    np.testing.assert_array_equal(weighted[:, :3], plain[:, :3])
    wanted = [sum(weights[i] for i in cluster) for cluster in merges(plain)]
    np.testing.assert_array_equal(weighted[:, 3], wanted)


@pytest.mark.parametrize("lowest", [0, -2])
def test_many_members_are_counted_in_wide_counters(lowest):
    rng = np.random.default_rng(5)
    members = rng.integers(lowest, 3, (700, 8)).astype(np.int16)
    members[:, 3] = members[:, 6]
    got = prim.prim_order(members, missing="pair")
    wanted = prim_slowly(shares_slowly(members, "pair"), 0)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-15)


def test_equal_heights_keep_the_order_of_the_merges():
    left, right = np.array([3, 2, 0]), np.array([1, 3, 1])
    table = linkage_table(left, right, np.array([0.5, 0.5, 0.5]), np.array([1, 2, 3, 4]))
    np.testing.assert_array_equal(table[:, :2], [[1, 3], [2, 4], [0, 5]])
    np.testing.assert_array_equal(table[:, 3], [6, 9, 10])
