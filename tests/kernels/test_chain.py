"""Average link against its definition, against SciPy, and against itself with other thresholds."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience.kernels.links import chain
from consilience.kernels.links.chain_store import RowStore
from consilience.kernels.links.chain_whole import average_link_whole, whole_bytes
from consilience.kernels.links.kept import kept_average_link


@st.composite
def label_tables(draw, max_objects=30, max_members=8):
    """Member-major label tables with noise and unseen labels; ties abound."""
    n = draw(st.integers(1, max_objects))
    n_members = draw(st.integers(1, max_members))
    lowest = draw(st.integers(-2, 0))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    highest = rng.integers(1, 6, size=(n_members, 1))
    return rng.integers(lowest, highest, size=(n_members, n)).astype(np.int8)


@st.composite
def weighted_tables(draw, **limits):
    members = draw(label_tables(**limits))
    n = members.shape[1]
    return members, np.array(draw(st.lists(st.integers(1, 6), min_size=n, max_size=n)))


def intervals(seed, n_members, n_objects, lowest):
    """Objects on a line cut at random: co-associations of every size, so ties are rare."""
    rng = np.random.default_rng(seed)
    where = rng.random(n_objects) ** 2
    cuts = rng.random((n_members, 3))
    labels = (where[None, :, None] > cuts[:, None, :]).sum(axis=2)
    gaps = rng.random(labels.shape) < 0.1
    return np.where(gaps & (lowest < 0), lowest, labels).astype(np.int8)


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


def check_every_merge(tree, shares, weights):
    """The definition, ties or not: each merge joins two clusters of the smallest mean distance.

    Returns whether another pair was as near at any merge.
    """
    n, ties = len(shares), False
    sums = {(i, j): shares[i, j] * int(weights[i] * weights[j]) for i in range(n) for j in range(n)}
    sizes = {i: int(weights[i]) for i in range(n)}
    for t, (a, b, height, size) in enumerate(tree):
        a, b, new = int(a), int(b), n + t
        means = [1 - sums[i, j] / (sizes[i] * sizes[j]) for i, j in combinations(sizes, 2)]
        assert a < b
        assert abs(float(1 - sums[a, b] / (sizes[a] * sizes[b])) - height) < 1e-12
        assert abs(float(min(means)) - height) < 1e-12
        ties |= means.count(min(means)) > 1
        total = sizes.pop(a) + sizes.pop(b)
        assert total == size
        for q in sizes:
            sums[new, q] = sums[q, new] = sums[a, q] + sums[b, q]
        sizes[new] = total
    return ties


@pytest.mark.parametrize("missing", ["pair", "all"])
@given(weighted_tables(max_objects=12), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_merge_is_one_of_the_nearest(missing, table, weighted):
    members, weights = table
    tree = chain.average_link(members, weights if weighted else None, missing=missing)
    assert tree.shape == (members.shape[1] - 1, 4)
    assert np.all(np.diff(tree[:, 2]) >= 0)
    weights = weights if weighted else np.ones_like(weights)
    check_every_merge(tree, shares_slowly(members, missing), weights)


@pytest.mark.parametrize("missing", ["pair", "all"])
@given(weighted_tables(), st.data())
@settings(max_examples=60, deadline=None)
def test_thresholds_change_time_only(missing, table, data):
    members, weights = table
    wanted = chain.average_link(members, weights, missing=missing)
    thresholds = {
        "max_memory": data.draw(st.sampled_from([0, 1000, 3000, 10**6])),
        "large": data.draw(st.sampled_from([1, 2, 5, 100])),
        "squeeze_below": data.draw(st.sampled_from([0.0, 0.5, 0.9, 1.0])),
    }
    with pytest.MonkeyPatch.context() as patch:
        width = data.draw(st.sampled_from([1, 7, 4096]))
        patch.setattr(chain, "block_width", lambda members: width)
        got = chain.average_link(members, weights, missing=missing, **thresholds)
    np.testing.assert_array_equal(got, wanted)


# Not 10**7 times: the square of all weights, times the members, has to fit 63 bits.
@given(weighted_tables(max_objects=60), st.sampled_from([1, 10**6]), st.sampled_from([1, 3]))
@settings(max_examples=60, deadline=None)
def test_the_tree_is_the_same_where_all_rows_are_in_memory(table, times, n_jobs):
    members, weights = np.maximum(table[0], -1), times * table[1]
    wanted = chain.average_link(members, weights, missing="all")
    np.testing.assert_array_equal(average_link_whole(members, weights, n_jobs=n_jobs), wanted)
    n = members.shape[1]
    # Sums that outgrow 32 bits get wider rows.
    assert whole_bytes(members, weights) in ([5 * n * n] if times == 1 else [9 * n * n])


@pytest.mark.parametrize("large", [1, 3, 100])
@pytest.mark.parametrize("max_memory", [0, 10**6])
@pytest.mark.parametrize("lowest", [0, -1, -2])
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_without_ties_the_tree_is_that_of_scipy(lowest, max_memory, large, seed):
    members = intervals(seed, 400, 6, lowest)
    got = chain.average_link(members, missing="pair", max_memory=max_memory, large=large)
    shares = shares_slowly(members, "pair")
    assume(not check_every_merge(got, shares, np.ones(6)))
    wanted = hierarchy.average(squareform(1.0 - shares.astype(float), checks=False))
    assert hierarchy.is_valid_linkage(got)
    np.testing.assert_allclose(got[:, 2], wanted[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(got[:, [0, 1, 3]], wanted[:, [0, 1, 3]])


@pytest.mark.parametrize("lowest", [0, -1, -2])
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=6, max_size=6))
@settings(max_examples=15, deadline=None)
def test_weights_stand_for_copies(lowest, seed, weights):
    members = intervals(seed, 400, 6, lowest)
    got = chain.average_link(members, np.array(weights), missing="pair")
    shares = shares_slowly(members, "pair")
    # Merges at height zero mix with those of the copies.
    assume(got[0, 2] > 0 and not check_every_merge(got, shares, weights))
    np.fill_diagonal(shares, 1)
    copies = np.repeat(np.arange(6), weights)
    distances = 1.0 - shares[np.ix_(copies, copies)].astype(float)
    wanted = hierarchy.average(squareform(distances))[-5:]
    np.testing.assert_allclose(got[:, 2], wanted[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(got[:, 3], wanted[:, 3])


@pytest.mark.parametrize("large", [1, 100])
@pytest.mark.parametrize("lowest", [0, -2])
def test_wide_labels_and_many_members(lowest, large):
    rng = np.random.default_rng(large)
    members = rng.integers(lowest, 3, (300, 9)).astype(np.int8)
    members[:, 4:6] = 127
    tree = chain.average_link(members, missing="pair", large=large)
    check_every_merge(tree, shares_slowly(members, "pair"), np.ones(9, int))


@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("label", [-2, -1, 0])
def test_objects_nobody_tells_apart(label, missing):
    tree = chain.average_link(np.full((3, 20), label, np.int8), missing=missing)
    np.testing.assert_array_equal(tree[:, 2], 0.0 if label == 0 else 1.0)
    assert tree[-1, 3] == 20


@pytest.mark.parametrize("max_memory", [0, 700, 10**6])
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_stored_rows_follow_merges(max_memory, data):
    """The store against the explicit matrix of sums."""
    n = data.draw(st.integers(3, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    sums = rng.integers(0, 100, (n, n))
    sums += sums.T
    store, alive = RowStore(n, max_memory), np.arange(n)
    while alive.size > 2:
        for slot in rng.choice(alive, 2):
            if store.find(slot) is None:
                store.make_room(slot, int(rng.integers(50)))[:] = sums[slot]
            store.set_worth(slot, int(rng.integers(50)))
        for slot in alive:
            row = store.find(slot)
            assert row is None or np.array_equal(row[alive], sums[slot, alive])
        kept, gone = np.sort(rng.choice(alive, 2, replace=False))
        for slot in (kept, gone):
            if store.find(slot) is None:
                store.make_room(slot, 100)[:] = sums[slot]
            store.set_worth(slot, 100)
        store.merge(kept, gone, int(rng.integers(50)))
        sums[kept] += sums[gone]
        sums[:, kept] += sums[:, gone]
        alive = alive[alive != gone]
        if rng.random() < 0.3:
            store.squeeze(alive)
            sums, alive = sums[np.ix_(alive, alive)], np.arange(alive.size)


@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("copies", [1, 2**24, 2**28])
def test_many_copies_link_as_few_do(copies, missing):
    """Heights are means over pairs: as many copies of every object change none of them."""
    members = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 2]], np.int8)
    weights = np.array([1, 2, 1, 1])
    few = chain.average_link(members, weights, missing=missing)
    many = chain.average_link(members, weights * copies, missing=missing)
    np.testing.assert_array_equal(many[:, :3], few[:, :3])
    np.testing.assert_array_equal(many[:, 3], few[:, 3] * copies)
    np.testing.assert_array_equal(average_link_whole(members, weights * copies), many)


def test_sums_that_leave_the_integers_are_refused():
    """Beyond the room shares were all 0 or 1, or the chain went round in a circle for ever."""
    plain = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 2]], np.int8)
    holes = plain.copy()
    holes[2, 0] = -2
    fits = np.array([2**29, 2**29, 2**29, 2**29 - 1])  # 2 ** 31 - 1 squared, twice
    chain.average_link(plain[:2], fits, missing="all")
    with pytest.raises(OverflowError, match=f"pairs of {2**31 - 1} objects"):
        chain.average_link(plain, fits, missing="all")
    with pytest.raises(OverflowError, match=f"pairs of {2**31 - 1} objects"):
        average_link_whole(plain, fits)
    chain.average_link(holes, np.full(4, 2**24), missing="pair")
    with pytest.raises(OverflowError, match="range of integers"):
        chain.average_link(holes, np.full(4, 2**25), missing="pair")
    with pytest.raises(OverflowError, match="range of integers"):
        kept_average_link(plain, np.full(4, 2**25), max_memory=2**20)


@pytest.mark.parametrize(
    ("copies", "n_members", "by_pair", "room"),
    [
        (1, 1, True, True),
        (2**31, 2, False, False),
        (2**31 - 1, 2, False, True),
        (2**26, 5, True, True),
        (2**27, 5, True, False),
        (2**27, 5, False, True),
        (2**26, 2**11, True, False),
    ],
)
def test_room_for_sums(copies, n_members, by_pair, room):
    assert chain.sums_have_room(copies, n_members, by_pair=by_pair) is room
