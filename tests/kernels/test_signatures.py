"""Equal label rows are grouped exactly, whatever the hashes do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from strategies import member_major

from consilience.kernels.labels import signatures
from consilience.kernels.labels.signatures import RowTable, group_rows, hash_rows, sort_rows, taken


def group_rows_slowly(members):
    """Oracle: numpy's unique rows, renumbered by first appearance."""
    _, first, inverse, counts = np.unique(
        members.T, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    by_appearance = np.argsort(first)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(first))
    return first[by_appearance], rank[inverse.ravel()], counts[by_appearance]


def assert_groups(got, wanted):
    for left, right in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(left, right)


@given(member_major(max_objects=20))
def test_groups_equal_unique_rows(members):
    assert_groups(group_rows(members), group_rows_slowly(members))


@given(member_major(max_objects=20))
def test_groups_survive_hashes_that_collide(members):
    n = members.shape[1]
    wanted = group_rows_slowly(members)
    full = np.uint64(2**64 - 1)
    for keys in (np.zeros(n, np.uint64), np.full(n, full), (members[0] % 2).astype(np.uint64)):
        assert_groups(signatures._groups(members, keys, 1), wanted)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
@pytest.mark.parametrize("n_labels", [3, 200])
def test_many_equal_rows_or_hardly_any_do_not_depend_on_threads(n_jobs, n_labels):
    rng = np.random.default_rng(n_labels)
    members = rng.integers(-2, n_labels, (6, 3 * signatures._BLOCK)).astype(np.int16)
    assert_groups(group_rows(members, n_jobs), group_rows_slowly(members))


def test_group_rows_compares_labels_and_not_only_hashes(monkeypatch):
    monkeypatch.setattr(signatures, "hash_rows", lambda members, keys, n_jobs: keys.fill(7))
    members = np.array([[0, 1, 0, 1, 2], [0, 0, 0, 1, 2]], np.int8)
    assert_groups(group_rows(members), group_rows_slowly(members))


@given(member_major(max_objects=12))
def test_equal_rows_have_equal_hashes_whatever_the_type(members):
    keys = []
    for kind in (np.int8, np.int16, np.int32):
        keys.append(np.empty(members.shape[1], np.uint64))
        hash_rows(members.astype(kind), keys[-1])
    np.testing.assert_array_equal(keys[0], keys[1])
    np.testing.assert_array_equal(keys[0], keys[2])
    _, inverse, _ = group_rows_slowly(members)
    for g in range(inverse.max() + 1):
        assert len(set(keys[0][inverse == g].tolist())) == 1


def test_more_objects_than_a_block(seed):
    rng = np.random.default_rng(seed)
    n = 2 * signatures._BLOCK + 5
    members = rng.integers(-2, 3, (4, n)).astype(np.int8)
    assert_groups(group_rows(members), group_rows_slowly(members))


@pytest.mark.parametrize("n", [1, 8, 9, 16, 17, 100])
def test_as_many_groups_as_objects(n):
    members = np.arange(n, dtype=np.int16)[None]
    assert_groups(group_rows(members), (np.arange(n), np.arange(n), np.ones(n)))


def test_hashes_of_different_rows_differ(seed):
    # 64 bits for 20,000 rows: a collision by chance has probability 1e-11.
    rng = np.random.default_rng(seed)
    members = np.unique(rng.integers(0, 50, (20_000, 6)).astype(np.int8), axis=0).T.copy()
    keys = np.empty(members.shape[1], np.uint64)
    hash_rows(members, keys)
    assert len(np.unique(keys)) == len(keys)
    # The table is addressed by the low bits: they must spread, too.
    assert len(np.unique(keys & np.uint64(2**16 - 1))) > 0.8 * 2**16 * (
        1 - np.exp(-len(keys) / 2**16)
    )


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_groups_do_not_depend_on_threads(n_jobs):
    members = np.random.default_rng(0).integers(0, 2, (200, 30_000)).astype(np.int8)
    members[:, 20_000:] = members[:, :10_000]
    first, inverse, counts = group_rows(members, n_jobs)
    np.testing.assert_array_equal(first, np.arange(20_000))
    np.testing.assert_array_equal(inverse, np.r_[np.arange(20_000), np.arange(10_000)])
    np.testing.assert_array_equal(counts, np.repeat([2, 1], 10_000))


def sort_rows_slowly(members):
    """Oracle: the groups, in the order of their hashes, by first appearance on ties."""
    first, inverse, counts = group_rows_slowly(members)
    keys = np.empty(members.shape[1], np.uint64)
    signatures.hash_rows(members, keys, 1)
    order = sorted(range(len(first)), key=lambda g: (int(keys[first[g]]), g))
    rank = np.argsort(order)
    return first[order], rank[inverse], counts[order]


@given(member_major(max_objects=20))
def test_sorted_groups_are_the_groups_by_their_hashes(members):
    assert_groups(sort_rows(members), sort_rows_slowly(members))


def _copy_keys(keys, members, out, n_jobs):
    np.copyto(out, keys)


@given(member_major(max_objects=20))
def test_sorting_survives_hashes_that_collide(members):
    with pytest.MonkeyPatch.context() as patch:
        for few in (1, 2, 3):
            keys = (members[0] % few).astype(np.uint64) << np.uint64(62)
            patch.setattr(
                signatures, "hash_rows", lambda _, out, __, keys=keys: np.copyto(out, keys)
            )
            assert_groups(sort_rows(members), sort_rows_slowly(members))


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_sorting_does_not_depend_on_threads(n_jobs):
    members = np.random.default_rng(0).integers(-2, 3, (6, 3 * signatures._BLOCK)).astype(np.int8)
    assert_groups(sort_rows(members, n_jobs), sort_rows_slowly(members))


@pytest.mark.parametrize("shape", [(), (3,)])
def test_rows_taken_by_threads_are_the_rows(seed, shape):
    rng = np.random.default_rng(seed)
    values, chosen = rng.random((50, *shape)), rng.integers(0, 50, 20_000)
    for n_jobs in (1, 3):
        np.testing.assert_array_equal(taken(values, chosen, n_jobs), values[chosen])


@given(member_major(max_objects=40), st.integers(1, 9))
def test_a_table_of_rows_groups_blocks_as_all_at_once(members, block):
    table = RowTable(len(members), members.dtype)
    parts = [table.add(members[:, at : at + block]) for at in range(0, members.shape[1], block)]
    first, inverse, counts = group_rows_slowly(members)
    np.testing.assert_array_equal(np.concatenate(parts), inverse)
    np.testing.assert_array_equal(table.counts, counts)
    np.testing.assert_array_equal(table.members(), members[:, first])


def test_a_table_of_rows_grows():
    members = np.random.default_rng(0).integers(0, 5, (4, 700)).astype(np.int8)
    table = RowTable(4, np.int8)
    numbers = np.concatenate([table.add(members[:, :300]), table.add(members[:, 300:])])
    np.testing.assert_array_equal(table.members()[:, numbers], members)
    np.testing.assert_array_equal(table.counts, np.bincount(numbers))
    assert table.n_rows > 128


def test_rows_of_equal_hash_are_told_apart(monkeypatch):
    def constant(members, keys, n_jobs=1):
        keys[:] = 7

    monkeypatch.setattr(signatures, "hash_rows", constant)
    members = np.array([[0, 1, 0, 2, 1], [0, 0, 0, 0, 1]], np.int8)
    table = RowTable(2, np.int8)
    assert table.add(members).tolist() == [0, 1, 0, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_many_keys_are_in_the_stable_order_of_numpy(n_jobs):
    rng = np.random.default_rng(3)
    n = 2 * signatures._FEW_KEYS + 7
    wide = rng.integers(0, 2**63, n, dtype=np.uint64) * np.uint64(2)
    # Spread over all parts, many of them equal, and all in one part.
    for keys in (wide, wide[rng.integers(0, 90, n)], wide >> np.uint64(20)):
        found = signatures.stable_order(keys, n_jobs)
        np.testing.assert_array_equal(found, np.argsort(keys, kind="stable"))


@given(member_major(max_objects=12))
def test_the_hash_of_one_object_is_that_of_all(members):
    keys = np.empty(members.shape[1], np.uint64)
    hash_rows(members, keys)
    with np.errstate(over="ignore"):
        assert [int(signatures.hash_of(members, i)) for i in range(len(keys))] == keys.tolist()


def test_a_table_tells_the_bytes_of_its_rows_keys_counts_and_slots():
    table = RowTable(3, np.int8)
    assert table.nbytes == 64 * (3 + 8 + 8) + 128 * 8
    before = table.nbytes
    table.add(np.arange(300, dtype=np.int16).reshape(3, 100).astype(np.int8))
    assert table.n_rows == 100
    assert table.nbytes >= before + 36 * (3 + 8 + 8)
