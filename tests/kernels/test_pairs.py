"""Pair counts against their definition, member by member."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from consilience.kernels.pairs import compare
from consilience.kernels.pairs import counts as pairs

PLAIN, NOISY, GAPS = 0, -1, -2


@st.composite
def label_tables(draw, lowest=GAPS, max_objects=25, max_members=12):
    """Member-major label tables of every integer type, with noise and unseen labels."""
    n = draw(st.integers(1, max_objects))
    n_members = draw(st.integers(1, max_members))
    lowest = draw(st.integers(lowest, PLAIN))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    highest = rng.integers(1, 6, size=(n_members, 1))
    labels = rng.integers(lowest, highest, size=(n_members, n))
    return labels.astype(draw(st.sampled_from([np.int8, np.int16, np.int32])))


def count_pairs_slowly(members):
    """Reference: the definition, one member at a time."""
    joined = sum((r >= 0)[:, None] & (r[:, None] == r[None]) for r in members.astype(object))
    seen = sum((r != -2)[:, None] & (r != -2)[None] for r in members.astype(object))
    return np.asarray(joined, int), np.asarray(seen, int)


def nearest_slowly(members, k, missing):
    """Reference: sort each row by exact co-association, then by index."""
    joined, seen = count_pairs_slowly(members)
    shares = joined / (np.maximum(seen, 1) if missing == "pair" else len(members))
    np.fill_diagonal(shares, -1)
    return np.argsort(-shares, axis=1, kind="stable")[:, :k]


@pytest.fixture(params=[(128, 1024), (3, 4), (1, 7), (8, 2)])
def blocks(request, monkeypatch):
    """Tiles of several shapes, so that few objects meet every edge of a tile."""
    rows, width = request.param
    monkeypatch.setattr(pairs, "ROWS", rows)
    monkeypatch.setattr(pairs, "NEAREST_ROWS", rows)
    monkeypatch.setattr(pairs, "block_width", lambda members: width)


several_blocks = settings(max_examples=25, deadline=None)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("n_jobs", [1, 2])
@given(label_tables())
@several_blocks
def test_all_pairs_equal_their_definition(n_jobs, members):
    joined, seen = count_pairs_slowly(members)
    got_joined, got_seen = pairs.count_pairs(members, with_seen=True, n_jobs=n_jobs)
    assert got_joined.dtype == got_seen.dtype == np.uint8
    np.testing.assert_array_equal(got_joined, joined)
    np.testing.assert_array_equal(got_seen, seen)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("n_jobs", [1, 2])
@given(label_tables())
@several_blocks
def test_condensed_pairs_are_the_upper_half(n_jobs, members):
    joined, seen = count_pairs_slowly(members)
    got_joined, got_seen = pairs.count_pairs_condensed(members, with_seen=True, n_jobs=n_jobs)
    np.testing.assert_array_equal(got_joined, squareform(joined, checks=False))
    np.testing.assert_array_equal(got_seen, squareform(seen, checks=False))


@pytest.mark.usefixtures("blocks")
@given(label_tables(), st.data())
@several_blocks
def test_rows_and_blocks_are_rows_of_the_matrix(members, data):
    joined, seen = count_pairs_slowly(members)
    n = members.shape[1]
    chosen = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4)))
    rows, rows_seen = pairs.count_rows(members, chosen, with_seen=True)
    np.testing.assert_array_equal(rows, joined[chosen])
    np.testing.assert_array_equal(rows_seen, seen[chosen])
    row, row_seen = pairs.count_row(members, int(chosen[0]))
    np.testing.assert_array_equal(row, joined[chosen[0]])
    assert row_seen is None

    start = data.draw(st.integers(0, n - 1))
    stop = data.draw(st.integers(start, n))
    block, block_seen = np.full((2, stop - start, n), 77, np.uint8)
    pairs.count_pairs_block(members, start, stop, block, block_seen)
    np.testing.assert_array_equal(block, joined[start:stop])
    np.testing.assert_array_equal(block_seen, seen[start:stop])


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@given(label_tables(), st.data())
@several_blocks
def test_nearest_are_the_first_of_each_sorted_row(n_jobs, missing, members, data):
    n = members.shape[1]
    if n == 1:
        with pytest.raises(ValueError, match="k must be 1 to 0"):
            pairs.nearest_pairs(members, 1, missing=missing)
        return
    k = data.draw(st.integers(1, n - 1))
    indices, joined, seen = pairs.nearest_pairs(members, k, missing=missing, n_jobs=n_jobs)
    all_joined, all_seen = count_pairs_slowly(members)
    wanted = nearest_slowly(members, k, missing)
    assert indices.dtype == np.int32
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_array_equal(joined, np.take_along_axis(all_joined, wanted, 1))
    assert (seen is not None) == (missing == "pair" and pairs.has_unseen(members))
    if seen is not None:
        np.testing.assert_array_equal(seen, np.take_along_axis(all_seen, wanted, 1))


@pytest.mark.parametrize("n_members", [252, 253, 255, 256, 505, 600])
@pytest.mark.parametrize("lowest", [PLAIN, NOISY, GAPS])
def test_many_members_do_not_overflow(n_members, lowest):
    rng = np.random.default_rng(n_members)
    members = rng.integers(lowest, 2, size=(n_members, 6)).astype(np.int8)
    members[:, 1] = members[:, 0]
    # Joined by all members: the largest count there is.
    members[:, 2:4] = 0
    joined, seen = pairs.count_pairs(members, with_seen=True)
    wanted_joined, wanted_seen = count_pairs_slowly(members)
    assert joined.dtype == (np.uint8 if n_members <= 255 else np.uint16)
    np.testing.assert_array_equal(joined, wanted_joined)
    np.testing.assert_array_equal(seen, wanted_seen)
    for missing in ("pair", "all"):
        indices, _, _ = pairs.nearest_pairs(members, 3, missing=missing)
        np.testing.assert_array_equal(indices, nearest_slowly(members, 3, missing))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_largest_labels_are_labels_like_any_other(dtype):
    top = np.iinfo(dtype).max
    members = np.array([[top, top, -1, -2, top - 1]], dtype)
    joined, _ = pairs.count_pairs(members, with_seen=False)
    np.testing.assert_array_equal(joined, count_pairs_slowly(members)[0])


def test_counts_take_the_narrowest_type():
    kinds = [compare.count_type(n) for n in (1, 255, 256, 65535, 65536)]
    assert kinds == [np.uint8, np.uint8, np.uint16, np.uint16, np.uint32]


@given(st.integers(1, 10**6), st.sampled_from([np.int8, np.int16, np.int32]))
def test_blocks_are_never_empty_nor_huge(n_members, dtype):
    members = np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (n_members, 1), (0, 0))
    assert 1024 <= compare.block_width(members) <= 8192


def test_read_only_labels_are_accepted():
    members = np.array([[0, 0, 1], [1, -2, 1]], np.int8)
    members.flags.writeable = False
    joined, seen = pairs.count_pairs(members, with_seen=True)
    np.testing.assert_array_equal(joined, count_pairs_slowly(members)[0])
    np.testing.assert_array_equal(seen, count_pairs_slowly(members)[1])
