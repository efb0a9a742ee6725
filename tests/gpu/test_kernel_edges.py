# ruff: noqa: E402
"""Kernels at the edges of their tiles, one after another against their definitions in NumPy.

Here under Triton's interpreter; arrays have odd numbers around them (`guarded`).
"""

import os
from importlib import import_module

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)
pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")

from consilience import Ensemble
from consilience.engines._device import kmeans, many, pairs, plain, weak
from consilience.engines._device._torch import kernels_for
from consilience.engines._device.columns import column_facts
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch, label_rows
from consilience.kernels.labels.confidence import nearness
from consilience.kernels.labels.products import row_sums
from consilience.kernels.pairs.counts import nearest_pairs

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu") != "cpu",
        reason="kernels are either interpreted or compiled in a process",
    ),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


class Kernels:
    """The module of the kernels, imported once it is known that they are interpreted."""

    def __getattr__(self, name):
        return getattr(kernels_for(torch.device("cpu")), name)


kernels = Kernels()


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, guarded):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


# ---- labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "tile"), [(16, 64), (17, 32), (32, 32), (33, 16), (64, 16)])
@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_sums_of_rows(k, tile, kind):
    rng = np.random.default_rng(k)
    table = rng.normal(0, 99, (20, k)).astype(kind)
    for n in (tile, tile + 1):
        members = rng.integers(-2, 4, (5, n)).astype(np.int8)
        rows = label_rows(members, np.arange(0, 21, 4), "cpu")
        assert rows.by_kernel(k)
        ((_, _, got),) = rows.row_sums(rows.there(table))
        if kind is np.float64:
            wanted = row_sums(members, np.arange(0, 21, 4), table)
        else:
            own = table[np.maximum(members, 0) + np.arange(0, 20, 4)[:, None]]
            wanted = np.where(members[:, :, None] >= 0, own, 0).sum(axis=0)
        np.testing.assert_array_equal(got, wanted)
    assert not rows.by_kernel(0)
    assert not rows.by_kernel(65)


@pytest.mark.parametrize("n", [512, 513])
@pytest.mark.parametrize("whole", [False, True])
def test_sums_over_pairs_of_members(n, whole):
    rng = np.random.default_rng(n)
    members = rng.integers(-2, 2, (3, n)).astype(np.int8)
    rows = label_rows(members, np.arange(0, 7, 2), "cpu")
    table = rng.integers(0, 99, (6, 6)) if whole else rng.normal(size=(6, 6))
    wanted = np.zeros(n, table.dtype)
    for a, b in [(0, 2), (1, 2)]:
        both = (members[a] >= 0) & (members[b] >= 0)
        wanted += np.where(both, table[2 * a + members[a], 2 * b + members[b]], 0)
    got = rows.pair_sums(rows.there(table), np.array([[0, 2], [1, 2]]))
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == (torch.int64 if whole else torch.float64)


@pytest.mark.parametrize("k", [1, 16, 17, 33, 65])
@pytest.mark.parametrize("by_seen", [False, True])
def test_means_of_own_and_other_parts(k, by_seen):
    rng = np.random.default_rng(k)
    ensemble = Ensemble(rng.integers(-2, 4, (65, 4)))
    parts = rng.integers(-1, k, 65)
    starts = ensemble.offsets()
    wanted = nearness(ensemble.members, parts, k, by_seen=by_seen, starts=starts)
    rows = label_rows(ensemble.members, starts, "cpu")
    *got, _ = rows.nearness(parts, k, by_seen=by_seen)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [1, 16, 17, 65])
@pytest.mark.parametrize(("most", "n"), [(1, 129), (127, 128), (128, 257), (20_000, 3)])
def test_counts_of_parts_by_clusters(monkeypatch, k, most, n):
    monkeypatch.setattr("consilience.engines._triton.labels._CHUNK", 128)
    rng = np.random.default_rng(most)
    members = rng.integers(-2, 65, (2, n)).astype(np.int8)
    starts = np.array([0, 65, 130])
    parts, weights = rng.integers(-1, k, n), rng.integers(1, most + 1, n)
    rows, wanted = label_rows(members, starts, "cpu"), np.zeros((130, k), int)
    for r, own in enumerate(members.astype(int)):
        inside = (own >= 0) & (parts >= 0)
        np.add.at(wanted, (starts[r] + own[inside], parts[inside]), weights[inside])
    given = rows.there(parts.astype(np.int32)), k, rows.there(weights) if most > 1 else None
    np.testing.assert_array_equal(rows.counts(*given), wanted)
    sizes = np.bincount(parts[parts >= 0], weights[parts >= 0], minlength=k)
    np.testing.assert_array_equal(rows.sizes(*given), sizes)


# ---- pairs -----------------------------------------------------------------------------------


def largest(counts, first, k):
    """Of every row of counts the objects with the largest but the row's own, and these counts."""
    found = []
    for a, own in enumerate(counts.numpy().astype(int)):
        others = np.delete(np.arange(len(own)), first + a)
        found.append(others[np.argsort(-own[others], kind="stable")][:k])
    chosen = np.array(found)
    return torch.as_tensor(chosen), torch.as_tensor(np.take_along_axis(counts.numpy(), chosen, 1))


@pytest.mark.parametrize("n", [128, 129, 260])
def test_nearest_objects_by_blocks_of_rows(monkeypatch, n):
    members, blocks = np.random.default_rng(n).integers(-1, 5, (7, n)).astype(np.int8), []

    def noted(counts, first, k):
        blocks.append((first, len(counts)))
        return largest(counts, first, k)

    # The interpreter takes long to sort.
    monkeypatch.setattr("consilience.engines._triton.nearest_objects", noted)
    wanted = nearest_pairs(members, 33, missing="all")
    for most, step in [(1, 128), (n * 64 - 1, 128), (n * 64, 256), (pairs._COUNTS, n)]:
        blocks.clear()
        got = pairs.nearest_pairs(torch.as_tensor(members), 33, by_pair=False, most=most)
        np.testing.assert_array_equal(got[0], wanted[0])
        np.testing.assert_array_equal(got[1], wanted[1])
        assert blocks == [(at, min(step, n - at)) for at in range(0, n, step)]


@pytest.mark.parametrize(("k", "n"), [(1, 129), (33, 1025)])
def test_largest_counts_of_rows(k, n):
    counts = np.random.default_rng(k).integers(0, 4, (1, n)).astype(np.uint8)
    counts[0, [0, -1]] = 255, 254
    got = kernels.nearest_objects(torch.as_tensor(counts), n - 2, k)
    for one, other in zip(got, largest(torch.as_tensor(counts), n - 2, k), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("n", [128, 129])
def test_pairs_of_rows_of_bytes(n, symmetric):
    table = np.random.default_rng(n).integers(0, 2, (n, 256)).astype(np.int8)
    counts = torch.empty((n, n), dtype=torch.int32)
    kernels.count_pairs(torch.as_tensor(table), counts, symmetric=symmetric)
    wanted = table.astype(int) @ table.T.astype(int)
    np.testing.assert_array_equal(counts, wanted)
    some = torch.empty((3, n), dtype=torch.uint8)
    kernels.count_pairs(torch.as_tensor(table), some, n - 3, symmetric=False)
    np.testing.assert_array_equal(some, wanted[n - 3 :].astype(np.uint8))


@pytest.mark.parametrize(("n_members", "wanted"), [(255, torch.uint8), (256, torch.int32)])
def test_counts_of_up_to_255_members_are_bytes(n_members, wanted):
    members = np.random.default_rng(0).integers(0, 2, (n_members, 3)).astype(np.int8)
    joined, _ = pairs.pair_counts(torch.as_tensor(members), with_seen=False, condensed=False)
    assert joined.dtype == wanted
    np.testing.assert_array_equal(joined, (members[:, :, None] == members[:, None]).sum(axis=0))
    table = pairs.bytes_of(torch.as_tensor(members))
    assert table.shape == (3, -(-2 * n_members // 128) * 128)
    assert int(table.sum()) == 3 * n_members


# ---- columns and trees -------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 32, 33])
@pytest.mark.parametrize("n", [4, 5, 9])
def test_facts_of_blocks_of_rows(n, d):
    rows = np.random.default_rng(n).normal(3.0, 1.0, (n, d))
    got = [one.numpy() for one in kernels.block_facts(torch.as_tensor(rows), 4)]
    for b, start in enumerate(range(0, n, 4)):
        block = rows[start : start + 4]
        total = np.add.accumulate(block, axis=0)[-1]
        gap = block - total / len(block)
        wanted = (total, np.add.accumulate(gap)[-1], np.add.accumulate(gap * gap)[-1])
        for one, other in zip(got, (*wanted, block.min(axis=0), block.max(axis=0)), strict=True):
            np.testing.assert_array_equal(one[b], other)


def test_tiles_of_trees_are_few_enough():
    found = [kernels.tile_of(n) for n in (1, 1024 * 256, 1024 * 256 + 1, 1024 * 512 + 1)]
    assert found == [256, 256, 512, 1024]


# ---- k-means ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "d", "whole"),
    [(16, 64, 16, False), (16, 65, 17, True), (17, 129, 64, False), (64, 128, 65, False),
     (65, 65, 3, True), (256, 65, 2, True), (257, 20, 2, False)],
)  # fmt: skip
def test_nearest_centres(k, n, d, whole):
    rng = np.random.default_rng(k)
    X = rng.integers(0, 3, (n, d)).astype(np.float32) if whole else rng.normal(size=(n, d))
    centres = [rng.normal(size=(k, d)) if not whole else X[rng.integers(0, n, k)] + 0.0]
    np.testing.assert_array_equal(Torch(X, "cpu").assign(centres), Cpu(X).assign(centres))


@pytest.mark.parametrize(
    ("K", "n", "d", "some"),
    [(16, 65, 17, False), (16, 2049, 1, True), (128, 64, 2, True), (256, 65, 17, False)],
)
def test_sums_and_squares_of_clusters(K, n, d, some):
    """Of every second member of nine, in one pass; zeros for the others."""
    rng = np.random.default_rng(n)
    X = torch.as_tensor(rng.normal(size=(n, d)))
    mean, _, low, high = column_facts(X)
    digits = many.Digits(kmeans.Table(X, mean, low, high))
    M = 9 if K == 16 else 3
    features = [torch.tensor([0]) if m == 2 else None for m in range(M)]
    widths = [d if one is None else 1 for one in features]
    starts = [torch.as_tensor(rng.normal(size=(K - 3 * (m > 0), widths[m]))) for m in range(M)]
    group = many.fitting_group(digits.table, X.device, starts, features)
    seen = torch.as_tensor(rng.integers(0, 2, (M, n)).astype(np.uint8)) if some else None
    group.hold(digits, seen)
    labels = torch.as_tensor(rng.integers(0, K - 3, (M, n)).astype(np.uint8))
    asked = many.numbers(range(0, M, 2), X.device)
    sums, counts = kernels.cluster_sums(group, asked, labels)
    each, squares = digits.digits[:, :n].numpy().astype(int), np.zeros(M)
    for m in range(M):
        own = np.zeros(n, bool) if m % 2 else np.ones(n, bool) if seen is None else seen[m] > 0
        own = np.asarray(own)
        one_hot = (labels[m].numpy()[own][:, None] == np.arange(K)).astype(int)
        np.testing.assert_array_equal(sums[m], each[:, own] @ one_hot)
        np.testing.assert_array_equal(counts[m], one_hot.sum(axis=0))
        at = [0] if m == 2 else slice(None)
        centres = group.centres[m].numpy()[labels[m].numpy()[own]][:, at]
        squares[m] = ((X.numpy()[own][:, at] - centres) ** 2).sum()
    parts = kernels.square_parts(group, asked, labels)
    assert parts.shape == (M, -(-n // 64))
    np.testing.assert_allclose(kernels.added(parts), squares, rtol=1e-12, atol=1e-12)
    whole = plain.square_parts(group, asked, labels)
    np.testing.assert_allclose(plain.added(whole, seen), squares, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(plain.cluster_sums(group, asked, labels)[1], counts)


def test_every_launch_asks_for_warps_there_are_and_for_the_bits_of_the_processor(monkeypatch):
    """A card has warps by powers of two; where bits are the processor's no products are fused."""
    launched = {}

    def noting(name, kernel):
        class Noting:
            def __call__(self, *args, **options):  # from another kernel
                return kernel(*args, **options)

            def __getitem__(self, grid):
                def launch(*args, **options):
                    launched.setdefault(name, []).append(options)
                    return kernel[grid](*args, **options)

                return launch

        return Noting()

    for module in ("columns", "kmeans", "labels", "pairs", "tree", "weak"):
        home = vars(import_module(f"consilience.engines._triton.{module}"))
        for name, value in list(home.items()):
            if type(value).__name__ == "InterpretedFunction":
                monkeypatch.setitem(home, name, noting(name, value))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)).astype(np.float32)
    Torch(X, "cpu").lloyd([X[:3]], max_iter=2)
    Torch(X, "cpu").column_facts()
    members = rng.integers(-1, 3, (3, 20)).astype(np.int8)
    Torch(members[:, :2].copy(), "cpu").nearest_pairs(1, by_pair=False)
    Torch(members, "cpu").spanning_tree(by_pair=False)
    rows = label_rows(members, np.array([0, 3, 6, 9]), "cpu")
    parts = np.zeros(20, int)
    rows.nearness(parts, 2, by_seen=False)
    rows.moments()
    costs, offset = rows.there(np.zeros((9, 2))), rows.there(np.zeros(2))
    new, best = torch.zeros(20, dtype=torch.int32), torch.zeros(20, dtype=torch.float64)
    labels = rows.there(members)
    kernels.nearest_rows(
        labels, rows.starts, costs, torch.ones(20, dtype=torch.float64), offset, new, new, best
    )
    there = torch.as_tensor(X[:16])
    objects = weak.Objects(there, there.square().sum(dim=1), torch.device("cpu"))
    total = torch.zeros((2, 16), dtype=torch.float64)
    for kind in ("hard", "softmax"):
        seeds = weak.seeds_from(objects, [np.arange(3)], factor=2.0)
        weak.add_batch(objects, seeds, weak.Rule(kind, 16, True), *total)
    names = {
        "_block_facts", "_nearest_centres", "_judge", "_cluster_sums", "_own_squares",
        "_label_sums",
        "_judge_objects", "_count_parts", "_pair_sums", "_nearest_rows", "_count_pairs",
        "_nearest_objects", "_reach", "_first_pass", "_object_scores", "_hard_labels",
        "_hard_scores", "_add_scores",
    }  # fmt: skip
    assert set(launched) == names
    for options in (one for every in launched.values() for one in every):
        assert options["num_warps"] in (1, 2, 4, 8)
    unfused = {
        name for name, every in launched.items()
        if all(one.get("enable_fp_fusion", True) is False for one in every)
    }  # fmt: skip
    assert unfused == {"_block_facts", "_judge", "_nearest_rows", "_judge_objects"}
