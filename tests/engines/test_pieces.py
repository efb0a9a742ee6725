"""How rows are cut into pieces: what a pass is given, what is kept, and who is told."""

import errno
import os
from tempfile import gettempdir

import numpy as np
import pytest

from consilience._stored import _table, open_stored
from consilience.engines import _pieces, blocks, engine_for
from consilience.engines._pieces import Chosen, Disk, label_room, told, watched, within
from consilience.engines._weak_pieces import Sums
from consilience.engines.blocks import Blocks
from consilience.engines.cpu import Cpu
from consilience.errors import InvalidInputError, InvalidParameterError, MemoryBudgetError
from consilience.kernels._blocks import BLOCK_ROWS

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 100
X = RNG.normal(size=(N, 3)) * [1.0, 20.0, 0.1]
EDGES = [(0, BLOCK_ROWS), (BLOCK_ROWS, 2 * BLOCK_ROWS), (2 * BLOCK_ROWS, N)]


class Sliced:
    """A table that hands out rows by slices only."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, rows):
        return self.values[rows]


@pytest.fixture
def table(monkeypatch):
    """X in three pieces."""
    monkeypatch.setattr(_table, "BLOCK", BLOCK_ROWS * 3)
    found = open_stored(Sliced(X))
    assert found.pieces() == EDGES
    return found


@pytest.fixture(params=["memory", "disk"])
def where(request, monkeypatch):
    """Labels in memory, or on the disk."""
    if request.param == "disk":
        monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    return request.param


def test_a_pass_is_given_every_piece_with_what_is_its_own(table):
    chosen = Chosen(np.array([0, 5, BLOCK_ROWS - 1, BLOCK_ROWS, N - 1]))

    def call(rows, start, some, word):
        return len(rows), start, float(rows[0, 0]), (some.objects - start).tolist(), word

    wanted = [
        (stop - start, start, X[start, 0], own, "word")
        for (start, stop), own in zip(EDGES, ([0, 5, BLOCK_ROWS - 1], [0], [99]), strict=True)
    ]
    assert list(Disk(table).map(call, chosen, "word")) == wanted
    assert list(Disk(table).map(call, chosen, "word", only=[2, 0])) == [wanted[2], wanted[0]]
    assert list(Disk(table).map(call, chosen, "word", only=[])) == []


def test_what_is_kept_with_a_piece_comes_back_to_it(table, where):
    def call(rows, start, own, factor):
        before = np.zeros((2, len(rows)), np.int32) if own is None else own
        return before + factor * np.arange(start, start + len(rows), dtype=np.int32), start

    disk, kept = Disk(table), None
    for _ in range(2):
        kept, answers = disk.step(call, kept, 3)
        assert list(answers) == [start for start, _ in EDGES]
    for own, (start, stop) in zip(kept, EDGES, strict=True):
        np.testing.assert_array_equal(own, np.tile(6 * np.arange(start, stop), (2, 1)))
        assert isinstance(own, np.memmap) == (where == "disk")
    chosen = Chosen(np.array([1, N - 2]))
    found = disk.revisit(lambda own, some: (own.shape, some.objects.tolist()), kept, chosen)
    assert list(found) == [((2, BLOCK_ROWS), [1]), ((2, BLOCK_ROWS), []), ((2, 100), [N - 2])]


def test_who_watches_is_told_of_every_piece(table):
    seen = []
    with watched(lambda done, of: seen.append((done, of))):
        engine_for(table).column_facts()
        assert seen == [(1, 3), (2, 3), (3, 3)]
        seen.clear()
        list(Disk(table).map(lambda rows, start: None, only=[1]))
        assert seen == [(1, 1)]
        seen.clear()
        _, answers = Disk(table).step(lambda rows, start, own: (np.zeros((1, len(rows))), 0), None)
        list(answers)
        assert seen == [(1, 3), (2, 3), (3, 3)]
    engine_for(table).column_facts()
    assert len(seen) == 3
    assert list(told(iter("ab"), 2)) == ["a", "b"]


def test_what_has_rows_of_its_own_is_cut_and_the_rest_handed_on():
    sums = Sums(np.arange(10.0), np.arange(10.0) ** 2)
    found = within([Chosen(np.array([2, 4, 5, 9])), "word", sums], 4, 9)
    assert found[0].objects.tolist() == [4, 5]
    assert found[1] == "word"
    assert (found[2].total.tolist(), found[2].squares.tolist()) == (
        [4.0, 5.0, 6.0, 7.0, 8.0], [16.0, 25.0, 36.0, 49.0, 64.0],
    )  # fmt: skip


@pytest.mark.parametrize("kind", [np.int8, np.int32])
@pytest.mark.parametrize("beside", [1, 3])
def test_labels_are_in_memory_as_long_as_they_and_those_beside_fit(monkeypatch, kind, beside):
    needed = beside * np.zeros((4, 5), kind).nbytes
    for limit, on_disk in [(needed, False), (needed - 1, True)]:
        monkeypatch.setattr(_pieces, "_IN_MEMORY", limit)
        room = label_room((4, 5), kind, beside=beside)
        assert (isinstance(room, np.memmap), room.shape, room.dtype) == (on_disk, (4, 5), kind)
        room[:] = 7
        assert (room == 7).all()


def test_labels_on_disk_leave_no_file_and_have_their_room_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    asked = []
    monkeypatch.setattr(
        os, "posix_fallocate", lambda *given: asked.append(given[1:]), raising=False
    )
    room = label_room((4, 5), np.int32)
    assert asked == [(0, room.nbytes)]
    assert list(tmp_path.iterdir()) == []
    assert label_room((0, 5), np.int32).shape == (0, 5)
    assert len(asked) == 1


def test_a_full_disk_is_told_with_its_bytes_and_its_folder(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(MemoryBudgetError) as refused:
        label_room((1000, 2), np.int16)
    assert str(refused.value) == (
        "Labels of 4,000 bytes do not fit into the folder for temporary files, "
        f"{gettempdir()!r} (No space left on device). Set TMPDIR to a folder with more room."
    )


# ---- the engine ------------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [0.0, 1e-2, 0.3])
def test_the_tolerance_is_of_the_columns_that_a_member_works_on(table, monkeypatch, tol):
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    features = [np.array([2]), None, np.array([0, 2])]
    starts = [X[:3, [2]], X[:3], X[:4, [0, 2]]]
    options = {"features": features, "tol": tol, "objects": [None, np.arange(0, N, 3), None]}
    got, wanted = (e.lloyd(starts, **options) for e in (engine_for(table), Cpu(X)))
    np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
    np.testing.assert_array_equal(got.converged, wanted.converged)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    # A variance of other columns would end the narrow ones sooner.
    assert got.n_iter.min() > 1


def test_members_are_fitted_in_memory_as_long_as_their_objects_fit(table, monkeypatch):
    objects, starts = [np.arange(50), np.arange(70)], [X[:2], X[:3]]
    engine, asked = engine_for(table), []
    fitted = Blocks._on_samples
    monkeypatch.setattr(
        Blocks, "_on_samples", lambda self, *a: asked.append("here") or fitted(self, *a)
    )
    wanted = Cpu(X).lloyd(starts, objects=objects)
    for most, here in [(120 * 3, 1), (120 * 3 - 1, 0)]:
        monkeypatch.setattr(blocks, "_SAMPLES", most)
        asked.clear()
        found = engine.lloyd(starts, objects=objects)
        assert len(asked) == here
        np.testing.assert_array_equal(found.labels, wanted.labels)
    monkeypatch.setattr(blocks, "_SAMPLES", N * 3)
    asked.clear()
    engine.lloyd(starts[:1])  # everybody
    assert asked
    with pytest.raises(InvalidParameterError) as refused:
        engine.lloyd(starts[:2], online=True)
    assert str(refused.value) == (
        "The 'online' parameter must be False for data that are not in memory: objects move one "
        "after another. Members that see fewer objects (max_samples) are fitted in memory, and "
        "may have it."
    )


class Memory(dict):
    """A keeper that notes what it is asked for."""

    def __init__(self):
        super().__init__()
        self.put_there = []

    def put(self, name, arrays):
        self.put_there.append(name)
        self[name] = arrays


@pytest.mark.parametrize("how", [{}, {"objects": [np.arange(90), np.arange(5, 80)]}, "batches"])
@pytest.mark.parametrize("assign_all", [True, False])
def test_what_was_kept_is_not_made_again(table, monkeypatch, how, assign_all):
    monkeypatch.setattr(blocks, "_SAMPLES", 90 * 6)
    starts = [X[:3], X[[5, 6000]]]
    if how == "batches":
        how = {"batches": [np.arange(60).reshape(3, 20)] * 2, "objects": [None, np.arange(80)]}
    how = how | {"max_iter": 3, "assign_all": assign_all}
    wanted = Cpu(X).lloyd(starts, **how)
    keeper = Memory()
    for lost in ((), ("000001",), ("000000", "000002"), ("fit", "000002")):
        for name in lost:
            del keeper[name]
        engine, read = engine_for(table), []
        whole = type(table).read
        monkeypatch.setattr(
            type(table), "read",
            lambda self, a, b, whole=whole, read=read: read.append(a) or whole(self, a, b),
        )  # fmt: skip
        engine.keeper = keeper
        keeper.put_there.clear()
        found = engine.lloyd(starts, **how)
        monkeypatch.setattr(type(table), "read", whole)
        np.testing.assert_array_equal(found.labels, wanted.labels)
        for one, other in zip(found.centres, wanted.centres, strict=True):
            np.testing.assert_array_equal(one, other)
        for name in ("inertia", "n_iter", "converged"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        names = [*lost] if lost else ["fit", "000000", "000001", "000002"]
        assert [name for name in keeper.put_there if name != "fit"] == [
            name for name in names if name != "fit"
        ]
        if "fit" not in names:  # only the lost pieces are read
            assert read == [EDGES[int(name)][0] for name in lost]
    assert sorted(keeper) == ["000000", "000001", "000002", "fit"]
    assert sorted(keeper["fit"]) == [
        "centres_0000", "centres_0001", "converged", "inertia", "n_iter",
    ]  # fmt: skip
    assert sorted(keeper["000000"]) == ["labels", "squares"]


def test_labels_by_pieces_are_of_the_narrowest_type(table):
    for k, kind in [(3, np.int8), (127, np.int8), (128, np.int16)]:
        labels = engine_for(table).assign([X[:2], X[:k]])
        assert labels.dtype == kind
        np.testing.assert_array_equal(labels, Cpu(X).assign([X[:2], X[:k]]))


def test_pieces_have_digests_of_their_values(table, monkeypatch):
    import hashlib

    found = engine_for(table).digests()
    assert found == [hashlib.sha256(X[a:b].tobytes()).hexdigest()[:16] for a, b in EDGES]
    each = engine_for(table).each(lambda rows, start, more: (start, len(rows), more), "more")
    assert list(each) == [(start, stop - start, "more") for start, stop in EDGES]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_values_at_ranks_are_those_of_sorted_columns(monkeypatch, kind):
    monkeypatch.setattr(_table, "BLOCK", BLOCK_ROWS * 3)
    values = X.astype(kind)
    values[:50, 0], values[50:90, 0], values[90, 1] = 0.0, -0.0, np.finfo(kind).max
    values[91, 1], values[:, 2] = -np.finfo(kind).tiny, -7.5
    ranks = [0, 1, 17, N // 2, N - 2, N - 1]
    found = engine_for(open_stored(Sliced(values))).order_statistics(ranks)
    np.testing.assert_array_equal(found, np.sort(values, axis=0)[ranks].astype(float))
    assert found.dtype == np.float64


def test_what_takes_data_in_memory_is_refused_in_full(table):
    engine = engine_for(table)
    rest = (
        f" made of data in memory only, and {table.what} is read block by block. "
        "Give a sample: rows.take(objects)."
    )
    with pytest.raises(InvalidInputError) as refused:
        engine.repetitions(*[None] * 4, team=None, memory=None)
    assert str(refused.value) == "Scores of single weak clusterings are" + rest
    with pytest.raises(InvalidInputError) as refused:
        engine.pair_counts(with_seen=False)
    assert str(refused.value) == "Counts of pairs are" + rest
    with pytest.raises(InvalidParameterError) as refused:
        engine_for(table, "cuda")
    assert str(refused.value) == (
        f"device='cuda' takes data in memory, and {table.what} is read block by block. "
        "Leave 'device' out."
    )
