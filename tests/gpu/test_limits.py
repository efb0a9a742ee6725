# ruff: noqa: E402
"""What a device is said to need, in bytes of what lies there: enough is enough, less is not."""

import os
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from consilience.engines import labels_stay
from consilience.engines._device import beyond, labels, many, memory, pairs, weak
from consilience.engines._staying import staying
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch, label_rows, pairs_fit, tables_fit
from consilience.kernels.pairs.counts import nearest_pairs

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
HERE = torch.device(DEVICE)


@pytest.fixture
def enough(monkeypatch):
    """Whether a question is answered yes with so many bytes, no with one less, and yes without."""

    def ask(question, needed):
        answers = []
        for limit in (f"{needed} B", f"{needed - 1} B", None):
            if limit is None:
                monkeypatch.delenv(memory.VARIABLE, raising=False)
            else:
                monkeypatch.setenv(memory.VARIABLE, limit)
            answers.append(question())
        return answers == [True, False, True]

    return ask


def table(n_members, n, kind=np.int8, k=3):
    """Labels from unseen to k - 1; the first member placed nobody, the others have k clusters."""
    members = np.random.default_rng(n).integers(-2, k, (n_members, n)).astype(kind)
    members[1:, :k], members[0] = np.arange(k), -1
    return members


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (300, 3)])
def test_k_means_needs_the_rows_twice_and_three_times_in_float64(enough, kind, shape):
    X = np.ones(shape, kind)
    needed = 2 * X.nbytes + 3 * X.astype(np.float64).nbytes
    assert enough(lambda: not Torch(X, DEVICE)._is_beyond(), needed)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_blocks_of_rows_are_as_large_as_two_of_them_may_be(kind):
    X = np.ones((3 * 4096 + 5, 2), kind)
    block = X[:4096]
    needed = 2 * block.nbytes + 3 * block.astype(np.float64).nbytes
    for limit, step in [(1, 1), (4 * needed - 1, 1), (4 * needed, 2), (6 * needed, 3)]:
        found = beyond.HostTable(X, HERE, limit)
        edges = [*range(0, len(X), step * 4096), len(X)]
        assert [(one.start, one.stop) for one in found.pieces] == list(pairwise(edges))


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("with_seen", [False, True])
def test_labels_as_zeros_and_ones_need_them_and_two_copies_in_int64(enough, kind, with_seen):
    members = table(4, 50, kind)
    # Three members of three clusters, and a column for what belongs to none.
    hot = np.zeros((50, 3 * 3 + 1), np.float32)
    assert pairs.one_hot(torch.as_tensor(members)).shape[1] == hot.shape[1] - 1
    needed = hot.nbytes + 2 * members.astype(np.int64).nbytes
    wanted = Cpu(members).pair_counts(with_seen=with_seen)
    nearest = nearest_pairs(members, 4, missing="pair" if with_seen else "all")
    places = {True: str(HERE), False: "cpu"}

    def counted():
        engine = Torch(members, DEVICE)
        for got, counts in zip(engine.pair_counts(with_seen=with_seen), wanted, strict=True):
            np.testing.assert_array_equal(got, counts)
        found = engine.nearest_pairs(4, by_pair=with_seen)
        np.testing.assert_array_equal(found[0], nearest[0])
        np.testing.assert_array_equal(found[1], nearest[1])
        assert [one.dtype for one in found[:2]] == [one.dtype for one in nearest[:2]]
        assert set(engine.ran_on) == {"pair_counts", "nearest_pairs"}
        return engine._hot_fits(), set(engine.ran_on.values()) == {places[engine._hot_fits()]}

    assert enough(lambda: counted() == (True, True), needed)
    assert enough(lambda: Torch(members, DEVICE)._hot_fits(), needed)
    assert counted()[1]
    # What is on the device already has room there.
    there = Torch(torch.as_tensor(members).to(HERE))
    assert there._hot_fits()


@pytest.mark.parametrize(("n_members", "count"), [(2, np.uint8), (255, np.uint8), (256, np.uint16)])
@pytest.mark.parametrize("n_tables", [0, 1, 2])
def test_pair_counts_need_labels_their_tables_and_one_more(enough, n_members, count, n_tables):
    members = table(n_members, 7, np.int16)
    needed = members.nbytes + (n_tables + 1) * np.zeros((7, 7), count).nbytes
    assert enough(lambda: pairs_fit(members, DEVICE, n_tables), needed)


@pytest.mark.parametrize("shape", [(1, 1), (3, 40)])
def test_a_spanning_tree_needs_labels_twice_its_objects_and_ranks(enough, shape):
    members = np.zeros(shape, np.int16)
    n_members, n = shape
    objects, ranks = np.zeros((n, 8)), np.zeros((n_members + 1, n_members + 1))
    needed = 2 * members.nbytes + objects.nbytes + ranks.nbytes
    assert enough(lambda: pairs_fit(members, DEVICE, None), needed)


def test_a_spanning_tree_is_of_so_many_members_and_objects(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    for shape, fits in [((4000, 1), True), ((4001, 1), False), ((1, 2**31 - 1), True),
                        ((1, 2**31), False)]:  # fmt: skip
        members = np.broadcast_to(np.zeros((1, 1), np.int8), shape)
        assert pairs_fit(members, "cpu", None) == fits
        assert pairs_fit(members, "cpu", 1)


@pytest.mark.parametrize("n", [1, 5])
def test_tables_of_pairs_of_clusters_need_28_bytes_a_cell(enough, n):
    # Three times in float64, and once in int32.
    cells = np.zeros((n, n))
    needed = 3 * cells.nbytes + cells.astype(np.int32).nbytes
    assert labels.joint_bytes(n) == needed
    assert enough(lambda: tables_fit(n, DEVICE, same_bits=True), needed)
    assert not enough(lambda: tables_fit(n, DEVICE, same_bits=False), needed)


@pytest.mark.parametrize("same_bits", [True, False])
def test_tables_of_pairs_of_clusters_are_made_up_to_eight_gibibytes(monkeypatch, same_bits):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    most = int(np.sqrt(8 * 2**30 / 28))
    assert tables_fit(most, "cpu", same_bits=same_bits)
    assert not tables_fit(most + 1, "cpu", same_bits=same_bits)


def test_so_many_counts_are_made_at_once_as_64_bytes_are_there_for():
    found = [pairs.counts_at_once(limit) for limit in (None, 1, 64, 127, 128, 6400)]
    assert found == [2**28, 1, 1, 1, 2, 100]
    assert [pairs.counts_at_once(64 * 2**28 + more) for more in (-1, 0, 64)] == [
        2**28 - 1, 2**28, 2**28,
    ]  # fmt: skip


def test_memory_is_what_was_asked_for_or_unlimited_on_the_processor(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    assert memory.memory_of(torch.device("cpu")) is None
    for given, wanted in [("", None), ("3 KiB", 3072), ("1 B", 1)]:
        monkeypatch.setenv(memory.VARIABLE, given)
        assert memory.memory_of(torch.device("cpu")) == wanted


# ---- blocks of labels ------------------------------------------------------------------------


def heights(rows, *args, **options):
    """Objects of the blocks of label rows, which lie one after another and hold the labels."""
    found = [(some, block.cpu()) for some, block in rows.blocks(*args, **options)]
    edges = [0, *(some.stop for some, _ in found)]
    assert [(some.start, some.stop) for some, _ in found] == list(pairwise(edges))
    assert edges[-1] == rows.n_objects
    together = torch.cat([block for _, block in found], dim=1)
    np.testing.assert_array_equal(together, rows._members.cpu())
    return np.diff(edges).tolist()


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_labels_lie_on_the_device_if_they_fit(kind):
    members = table(3, 4000, kind)
    starts = np.array([0, 0, 3, 6])
    whole = labels.LabelRows(members, starts, HERE, limit=members.nbytes)
    assert heights(whole) == [4000]
    parts = labels.LabelRows(members, starts, HERE, limit=members.nbytes - 1)
    # Two blocks are there at a time.
    step = (members.nbytes - 1) // (2 * members[:, 0].nbytes)
    assert heights(parts) == [step, step, 4000 - 2 * step]
    least = labels.LabelRows(members[:, :5], starts, HERE, limit=1)
    assert heights(least) == [1] * 5


def test_blocks_of_labels_hang_on_what_is_held_of_every_object():
    members = table(3, 2600)
    rows = labels.LabelRows(members, np.array([0, 0, 3, 6]), HERE)
    assert heights(rows, 1, at_once=2600) == [2600]
    assert heights(rows, 1, at_once=1300) == heights(rows, 2, at_once=2600) == [1300, 1300]
    assert heights(rows, 0, at_once=1300) == [1300, 1300]
    assert heights(rows, 2600, at_once=2600) == [1024, 1024, 552]
    tight = labels.LabelRows(members, np.array([0, 0, 3, 6]), HERE, limit=600)
    assert set(heights(tight, 2600, at_once=2600)[:-1]) == {100}
    tight = labels.LabelRows(members, np.array([0, 0, 3, 6]), HERE, limit=members.nbytes - 1)
    assert heights(tight, 2600, at_once=2600)[0] == 1024 // 3


def test_labels_stay_together_up_to_the_limit():
    made = []

    def kept(members, limit):
        return staying(members, "cpu", limit, lambda: made.append(len(made)) or made[-1])

    one, two, three = (np.zeros((2, n), np.int8) for n in (10, 20, 30))
    for members in (one, two, three):
        members.flags.writeable = False
    with labels_stay():
        assert [kept(members, 120) for members in (one, two, three)] == [0, 1, 2]
        assert [kept(members, 120) for members in (one, two, three)] == [0, 1, 2]
    made.clear()
    with labels_stay():
        assert [kept(members, 119) for members in (one, two, three)] == [0, 1, 2]
        # The first two had to go.
        assert [kept(members, 119) for members in (three, one)] == [2, 3]
        with labels_stay():
            assert kept(one, 119) == 3
        assert kept(one, 119) == 3
        assert staying(one, "cuda:0", 119, lambda: "elsewhere") == "elsewhere"
        assert kept(np.zeros((2, 10), np.int8), 119) == 4  # may change, and is not kept
        assert kept(one.view(np.uint8), 119) == 5
        assert kept(one.reshape(4, 5), 119) == 6
    made.clear()
    assert [kept(one, None), kept(one, None)] == [0, 1]  # nothing stays outside


def test_the_rows_of_a_job_are_made_once(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    members = table(3, 40)
    members.flags.writeable = False
    starts = np.array([0, 0, 3, 6])
    with labels_stay():
        first = label_rows(members, starts, DEVICE)
        assert label_rows(members, starts, DEVICE) is first
    assert label_rows(members, starts, DEVICE) is not first


# ---- groups of members, and batches of repetitions -------------------------------------------


def test_members_are_grouped_by_tiles_and_as_their_labels_have_room(monkeypatch):
    starts = [np.zeros((k, 2)) for k in (1, 16, 17, 32, 33, 64, 65, 256, 2)]
    tiles = [[0, 1, 8], [2, 3], [4, 5], [6], [7]]
    assert many.groups_of(100, 2, starts) == tiles
    monkeypatch.setattr(many, "_LABELS", 300)
    assert many.groups_of(100, 2, starts) == tiles
    assert many.groups_of(101, 2, starts) == [[0, 1], [8], *tiles[1:]]
    assert many.groups_of(301, 2, starts)[:3] == [[0], [1], [8]]
    assert many.groups_of(0, 2, starts) == tiles


def test_members_of_few_objects_are_together_as_their_rows_have_room():
    starts = [np.zeros((2, 5))] * 4
    objects = [np.arange(10), None, np.arange(30), np.arange(20)]
    few = [one is not None for one in objects]
    for room, wanted in [
        (450, [[0, 2, 3]]),
        (449, [[0, 2], [3]]),
        (300, [[0, 2], [3]]),
        (299, [[0], [2], [3]]),
        (1, [[0], [2], [3]]),
    ]:
        assert many.groups_of(99, 5, starts, few, objects, own_values=room) == [[1], *wanted]
    assert many.groups_of(99, 0, starts, few, objects, own_values=90) == [[1], [0, 2, 3]]


def test_batches_of_repetitions_have_at_most_so_many_numbers():
    lengths = [3, 2, 1, 4]
    found = [
        [(one.start, one.stop) for one in weak.batches_of(lengths, 10, most=most)]
        for most in (100, 99, 60, 59, 1)
    ]
    each = [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert found == [[(0, 4)], [(0, 3), (3, 4)], [(0, 3), (3, 4)], [(0, 2), (2, 4)], each]
    assert list(weak.batches_of([], 10)) == []
    assert list(weak.batches_of([5, 5], 0, most=10)) == [slice(0, 2)]
    assert list(weak.batches_of([5, 6], 0, most=10)) == [slice(0, 1), slice(1, 2)]


def products(monkeypatch, n, n_seeds, *, most, at_once=None, dtype=torch.float32, **where):
    """Heights of the products of a call of `repetitions`, whose answers must not depend on them."""
    rng = np.random.default_rng(0)
    X = torch.as_tensor(rng.integers(0, 3, (n, 4)).astype(np.float32)).to(HERE)
    rows, asked, whole = (X**2).sum(dim=1), [], weak.raw_product

    def noted(matrix, seeds):
        asked.append(len(matrix))
        return whole(matrix.float(), weak.Seeds(seeds.matrix.float(), None, []))

    picks = torch.as_tensor(rng.integers(0, n, n_seeds)).to(HERE)
    seeds = weak.Seeds(X[picks].to(dtype), rows[picks], [0, 1, n_seeds], factor=2.0)
    rule = weak.Rule("softmax", n, False)
    with monkeypatch.context() as patch:
        patch.setattr(weak, "raw_product", noted)
        if at_once is not None:
            patch.setattr(weak, "AT_ONCE", at_once)
        objects = weak.Objects(X.to(dtype), rows, HERE, **where)
        got = weak.repetitions(objects, seeds, rule, most=most)
    plain = weak.repetitions(weak.Objects(X, rows, HERE), weak.Seeds(
        X[picks], rows[picks], [0, 1, n_seeds], factor=2.0), rule)  # fmt: skip
    for one, other in zip(got, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    return asked


@pytest.mark.parametrize("exact", [True, False])
def test_products_are_whole_where_they_are_exact_and_fit(monkeypatch, exact):
    monkeypatch.setattr(weak, "_WHOLE", 2048)
    n, n_seeds = 2500, 5
    how = {"dtype": torch.float16 if exact else torch.float32}
    small, large = [1024, 1024, 452], [2048, 452]
    found = products(monkeypatch, n, n_seeds, most=n * n_seeds, **how)
    assert found == ([n] if exact else large)
    found = products(monkeypatch, n, n_seeds, most=n * n_seeds, on_host=True, **how)
    assert found == large
    # A product that is not kept is made again for the scores.
    assert products(monkeypatch, n, n_seeds, most=n * n_seeds - 1, **how) == large * 2
    assert products(monkeypatch, n, n_seeds, most=2048 * n_seeds, **how) == large * 2
    assert products(monkeypatch, n, n_seeds, most=2048 * n_seeds - 1, **how) == small * 2
    assert products(monkeypatch, n, n_seeds, most=1, **how) == small * 2
    # Fewer seeds than columns: these count then.
    assert products(monkeypatch, n, 2, most=2 * n - 1, **how) == small * 2


def test_products_are_made_in_blocks_of_their_own_size(monkeypatch):
    monkeypatch.setattr(weak, "_WHOLE", 2048)
    small, large, most = [1024, 1024, 452], [2048, 452], 20_000
    for at_once, wanted in [(2048 * 5, large), (2048 * 5 - 1, small), (4096 * 5 - 1, large)]:
        found = products(monkeypatch, 2500, 5, most=most, at_once=at_once)
        assert found == wanted
    # Of jobs of any size blocks are the larger ones.
    monkeypatch.setattr(weak, "MOST", most)
    assert products(monkeypatch, 2500, 5, most=most, at_once=1) == large
    assert products(monkeypatch, 2500, 5, most=most - 1, at_once=1) == small
