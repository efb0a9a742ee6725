# ruff: noqa: E402
"""The kernels in Triton do what the CPU's do: here under Triton's interpreter, on small tables.

On a card the tests of `test_torch.py` go through the same kernels, compiled.
"""

import os

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)
pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")

from consilience import Ensemble, evidence
from consilience.consensus.kmeans_forms import kcc, sec
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch, label_rows
from consilience.kernels._parallel import Team
from consilience.kernels.labels.products import row_sums
from consilience.kernels.minority.blocks import Models, dense_objects
from consilience.kernels.minority.passes import Grading, Memory, Scale, repetitions
from consilience.kernels.pairs.counts import nearest_pairs

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu") != "cpu",
        reason="kernels are either interpreted or compiled in a process",
    ),
    # The interpreter rounds and divides where a card masks.
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, guarded):
    monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 131])
@pytest.mark.parametrize("spherical", [False, True])
def test_k_means_has_the_labels_and_centres_of_the_cpu(n, kind, spherical):
    rng = np.random.default_rng(n)
    for X in (rng.integers(0, 3, (n, 3)), rng.normal(3.0, 1.0, (n, 3))):
        X = X.astype(kind)
        own, seen = np.arange(0, n, 2), np.array([0, 2])
        # Equal starts leave clusters empty.
        starts = [X[rng.integers(0, n, k)] for k in (1, 5, 17)]
        starts = [starts[0], starts[1][:, seen], starts[2]]
        options = {"objects": [None, own, None], "features": [None, seen, None]}
        options |= {"spherical": spherical, "max_iter": 4, "tol": 1e-3 if spherical else 0.0}
        options["assign_all"] = spherical
        got, wanted = (e.lloyd(starts, **options) for e in (Torch(X, "cpu"), Cpu(X)))
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
        np.testing.assert_array_equal(got.converged, wanted.converged)
        np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=1e-9, atol=1e-9)
        for one, other in zip(got.centres, wanted.centres, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def test_more_features_than_a_tile_has_and_far_offsets():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(150, 77)) + 1e3).astype(np.float32)
    starts = [X[:3], X[5:25]]
    got, wanted = Torch(X, "cpu").lloyd(starts, max_iter=4), Cpu(X).lloyd(starts, max_iter=4)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(Torch(X, "cpu").assign(starts), Cpu(X).assign(starts))


@pytest.mark.parametrize("n", [2, 130])
def test_pair_counts(n):
    members = np.random.default_rng(n).integers(-2, 9, (11, n)).astype(np.int8)
    for condensed in (False, True):
        options = {"with_seen": True, "condensed": condensed}
        got, wanted = (e.pair_counts(**options) for e in (Torch(members, "cpu"), Cpu(members)))
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [3])
def test_nearest_by_co_association(k):
    from consilience.engines._device import pairs

    members = np.random.default_rng(k).integers(-2, 4, (6, 5)).astype(np.int8)
    got = pairs.nearest_pairs(torch.as_tensor(members), k, by_pair=False, most=10)
    wanted = nearest_pairs(members, k, missing="all")
    np.testing.assert_array_equal(got[0], wanted[0])
    np.testing.assert_array_equal(got[1], wanted[1])


@pytest.mark.parametrize("kind", ["hard", "softmax", "gaussian", "steep"])
@pytest.mark.parametrize("n", [1, 1500])
@pytest.mark.parametrize("logs", [False, True])
def test_weak_clusterings(kind, n, logs):
    rng = np.random.default_rng(n)
    X = rng.normal(0, 0.7, (n, 3)).astype(np.float32)
    own, seeds = (X**2).sum(axis=1), [X[rng.integers(0, n, k)] for k in (1, 4, 21, 40)]
    columns = [(S**2).sum(axis=1) for S in seeds]
    models = Models.stacked([2 * S for S in seeds], columns, np.float32, wide=False)
    # Weights of the last would overflow.
    alpha = np.array([200.0 if kind == "steep" else 10.0], np.float32)
    grading = {
        "hard": Grading("hard", (8 * np.finfo(np.float32).eps,)),
        "softmax": Grading("softmax"),
    }.get(kind, Grading("gaussian", (alpha, np.array([3.0], np.float32))))
    with Team(1, 1) as team:
        objects = dense_objects(lambda a, b: (X[a:b], own[a:b]), n, team)
        options = {"team": team, "memory": Memory(2**26, 1)}
        for sizes in (None, np.linspace(0.0, 5.0, len(models.columns))):
            scale = Scale(n, logs, floors=sizes is not None)
            args = (objects, models, grading, scale)
            wanted = repetitions(*args, sizes=sizes, **options)
            got = Torch(X, "cpu").repetitions(*args, sizes=sizes, **options)
            # "steep": an error of a distance counts 400 times.
            bound = {"steep": 2e-3}.get(kind, 1e-5)
            for one, other in zip(got, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=bound, atol=bound)


@pytest.mark.parametrize("low", [0, -2])
def test_weights_of_whole_distances_come_from_a_table(low):
    """As by exponentials, closer to float64; also at the largest distance there can be."""
    from consilience.engines._device import weak

    rng = np.random.default_rng(0)
    X = torch.as_tensor(rng.integers(low, 3, (48, 5)).astype(np.float32))
    X[:2] = torch.tensor([[2.0], [low]])
    rows = (X**2).sum(dim=1)
    draws = [np.array([0]), np.arange(1, 8), rng.permutation(48)[:21], np.array([1, 0])]
    rule = weak.Rule("gaussian", 48, True, alpha=10.0, gamma=0.3)
    cpu = torch.device("cpu")
    reach = 4 * int(rows.max()) + 1
    assert reach > ((X[:, None] - X[None]) ** 2).sum(dim=2).max()
    found = []
    for dtype, reach_of in ((torch.float32, reach), (torch.float32, 0), (torch.float64, 0)):
        objects = weak.Objects(X.to(dtype), rows.to(dtype), cpu, reach=reach_of)
        seeds = weak.seeds_from(objects, draws, factor=2.0)
        found.append(weak.repetitions(objects, seeds, rule))
        # Products for which there is no room are made again, to the same bits.
        in_parts = weak.repetitions(objects, seeds, rule, most=1)
        for part, whole in zip(in_parts, found[-1], strict=True):
            torch.testing.assert_close(part, whole, rtol=1e-6, atol=1e-6)
        assert (objects._table is not None) == (reach_of > 0)
    by_table, by_powers, exact = found
    for one, power, wanted in zip(by_table, by_powers, exact, strict=True):
        torch.testing.assert_close(one.double(), wanted, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(power.double(), wanted, rtol=1e-5, atol=1e-5)


def test_a_table_is_of_one_rule_and_of_squared_distances_only():
    from consilience.engines._device import weak

    X = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    objects = weak.Objects(X, (X**2).sum(dim=1), torch.device("cpu"), reach=9)
    for alpha, gamma in ((1.0, 0.5), (1.0, 0.25), (2.0, 0.25)):
        table = objects.weights(weak.Rule("gaussian", 3, False, alpha=alpha, gamma=gamma))
        wanted = np.exp(2 * alpha * np.exp(-gamma * np.arange(9)))
        np.testing.assert_allclose(table.numpy(), wanted.astype(np.float32), rtol=1e-7)
    draws = [np.array([0, 1])]
    assert weak.seeds_from(objects, draws, factor=2.0).squared
    assert not weak.seeds_from(objects, draws, factor=1.0).squared
    assert not weak.seeds_from(objects, draws, factor=2.0, own_columns=False).squared


@pytest.mark.parametrize("assign_all", [True, False])
def test_members_of_few_objects_have_rows_of_their_own(assign_all):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, (300, 3)).astype(np.float32)
    objects = [np.sort(rng.permutation(300)[:size]) for size in (60, 33, 5)] + [None]
    features = [None, None, np.array([0, 2]), None]
    starts = [
        X[:k] if own is None else X[own[:k]] for own, k in zip(objects, (5, 17, 3, 4), strict=True)
    ]
    starts[1][3:5] = starts[1][2]  # leaves clusters empty
    starts[2] = starts[2][:, features[2]]
    options = {"objects": objects, "features": features, "max_iter": 4, "assign_all": assign_all}
    got, wanted = (engine.lloyd(starts, **options) for engine in (Torch(X, "cpu"), Cpu(X)))
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
    np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=1e-9)
    for m, sizes in enumerate(got.sizes):
        placed = wanted.labels[m][wanted.labels[m] >= 0]
        np.testing.assert_array_equal(sizes, np.bincount(placed, minlength=len(sizes)))


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 40), (4100, 2)])
def test_column_facts_have_the_bits_of_the_cpu(n, d):
    X = np.random.default_rng(n).normal(3.0, 1.0, (n, d))
    for got, wanted in zip(Torch(X, "cpu").column_facts(), Cpu(X).column_facts(), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("k", [1, 5, 64])
def test_sums_over_labels_have_the_bits_of_the_cpu(k):
    rng = np.random.default_rng(k)
    members = rng.integers(-2, 4, (5, 90)).astype(np.int8)
    starts = np.arange(0, 21, 4)
    table = rng.normal(size=(20, k))
    rows = label_rows(members, starts, "cpu")
    ((_, _, got),) = rows.row_sums(rows.there(table))
    np.testing.assert_array_equal(got, row_sums(members, starts, table))


@pytest.mark.parametrize("outside", [0, 2])
def test_sums_over_pairs_of_members(outside):
    rng = np.random.default_rng(0)
    members = rng.integers(-2, 3, (4, 300)).astype(np.int8)
    rows = label_rows(members, np.arange(0, 13, 3), "cpu")
    table = rng.normal(size=(12 + 4 * outside,) * 2)
    pairs = np.array([[0, 1], [0, 3], [2, 3]])
    first, code = (3 + outside) * np.arange(4), members.astype(int) + outside
    wanted = np.zeros(300)
    for a, b in pairs:
        inside = (code[a] >= 0) & (code[b] >= 0)
        cells = table[first[a] + np.maximum(code[a], 0), first[b] + np.maximum(code[b], 0)]
        wanted += np.where(inside, cells, 0.0)
    np.testing.assert_array_equal(rows.pair_sums(rows.there(table), pairs, outside), wanted)


def labelled(n, n_members, k, seed=0):
    """An ensemble with noise and unseen objects, of which some are alike."""
    rng = np.random.default_rng(seed)
    return Ensemble(rng.integers(-2, k, (n, n_members)))


@pytest.mark.parametrize("most", [1, 100, 70_000])
def test_counts_of_parts_and_their_sizes(most):
    rng = np.random.default_rng(most)
    ensemble = labelled(300, 3, 70)  # more clusters than are counted together
    rows = label_rows(ensemble.members, ensemble.offsets(), "cpu")
    parts, weights = rng.integers(-1, 20, 300), rng.integers(1, most + 1, 300)
    table, seen = np.zeros((rows.n_rows, 20), int), np.zeros((3, 20), int)
    for r, own in enumerate(ensemble.members.astype(int)):
        inside = (own >= 0) & (parts >= 0)
        np.add.at(table, (rows.edges[r] + own[inside], parts[inside]), weights[inside])
        inside = (own != -2) & (parts >= 0)
        np.add.at(seen[r], parts[inside], weights[inside])
    given = rows.there(parts.astype(np.int32)), 20, rows.there(weights)
    np.testing.assert_array_equal(rows.counts(*given), table)
    np.testing.assert_array_equal(rows.seen(*given), seen)
    wanted = np.bincount(parts[parts >= 0], weights[parts >= 0], minlength=20)
    np.testing.assert_array_equal(rows.sizes(*given), wanted)


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_confidence_by_a_kernel(missing):
    ensemble = labelled(200, 4, 5)
    labels = np.random.default_rng(1).integers(-1, 6, 200)
    options = {"missing": missing, "exact": False}
    got = evidence.confidence(ensemble, labels, device="cpu", **options)
    wanted = evidence.confidence(ensemble, labels, **options)
    for name in ("confidence", "own", "other", "runner_up"):
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name))


@pytest.mark.parametrize("n_objects", [1, 150])
def test_weights_and_overlap_by_kernels(n_objects):
    ensemble = labelled(n_objects, 4, 5)
    for call in (evidence.object_weights, evidence.relative_overlap, evidence.anco):
        got, wanted = call(ensemble, device="cpu"), call(ensemble)
        bound = 0.0 if call is evidence.object_weights else 1e-12
        np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("method", [sec, kcc])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_rounds_on_label_rows_by_a_kernel(method, k):
    ensemble = Ensemble(np.random.default_rng(k).integers(0, 4, (120, 4)))
    options = {"random_state": 0, "n_init": 2}
    got, wanted = (method(ensemble, k, device=d, **options) for d in ("cpu", None))
    np.testing.assert_array_equal(got.labels, wanted.labels)
    assert (got.objective, got.n_iter) == (wanted.objective, wanted.n_iter)


def test_sums_of_scores():
    from consilience.engines import _triton as kernels
    from consilience.engines._device import weak

    torch.manual_seed(0)
    scores, sums = torch.rand((5, 700)), torch.rand((2, 700), dtype=torch.float64)
    means, again = scores.mean(dim=1, dtype=torch.float64), sums.clone()
    kernels.add_scores(scores, means, *sums)
    weak.add_scores(scores, means, *again)
    assert torch.equal(sums[0], again[0])
    torch.testing.assert_close(sums[1], again[1], rtol=1e-14, atol=0)
