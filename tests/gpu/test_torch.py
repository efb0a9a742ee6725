# ruff: noqa: E402
"""The engine of a torch device does what the CPU's does: equal labels and counts, to the bit.

``CONSILIENCE_TEST_DEVICE=cuda python -m pytest tests/gpu`` runs the same tests on a card.
"""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import member_major

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from consilience.engines import Engine, engine_for
from consilience.engines._device import columns, pairs, weak
from consilience.engines._device._torch import add_in_tree
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch, device_of
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels import _blocks
from consilience.kernels._parallel import Team
from consilience.kernels.minority import blocks
from consilience.kernels.minority.blocks import Models, dense_objects, sparse_objects
from consilience.kernels.minority.near import near_kernel
from consilience.kernels.minority.passes import Grading, Memory, Scale, repetitions
from consilience.kernels.minority.weak import Scratch
from consilience.kernels.pairs.counts import nearest_pairs

pytestmark = pytest.mark.torch
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")


@st.composite
def tables(draw, max_objects=40, max_features=6):
    """Rows with many ties, as grids have, or without; of float32 or float64, with offsets."""
    n, d = draw(st.integers(1, max_objects)), draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    if draw(st.booleans()):
        X = rng.integers(0, 3, (n, d)).astype(float)
    else:
        X = rng.normal(size=(n, d)) * 10.0 ** draw(st.integers(-3, 3))
    X += draw(st.sampled_from([0.0, 1.0, -1e4]))
    return X.astype(draw(st.sampled_from([np.float64, np.float32])))


def ensemble_of(X, rng, n_members, max_k=8):
    """Starts, objects and features of members: some see everything, some do not."""
    n, d = X.shape
    starts, objects, features = [], [], []
    for _ in range(n_members):
        own = None if rng.random() < 0.5 else np.sort(rng.choice(n, rng.integers(1, n + 1), False))
        seen = None if rng.random() < 0.5 else np.sort(rng.choice(d, rng.integers(1, d + 1), False))
        pool = np.arange(n) if own is None else own
        # With repeats: equal starts make empty clusters.
        start = X[rng.choice(pool, rng.integers(1, max_k + 1))]
        starts.append(start if seen is None else start[:, seen])
        objects.append(own)
        features.append(seen)
    return starts, objects, features


@given(tables(), st.integers(0, 2**31), st.sampled_from([0.0, 1e-3]), st.integers(1, 30))
def test_k_means_has_the_labels_and_centres_of_the_cpu(X, seed, tol, max_iter):
    rng = np.random.default_rng(seed)
    starts, objects, features = ensemble_of(X, rng, 3)
    options = {"objects": objects, "features": features, "tol": tol, "max_iter": max_iter}
    options |= {"assign_all": bool(rng.random() < 0.5), "spherical": bool(rng.random() < 0.3)}
    got, wanted = Torch(X, DEVICE).lloyd(starts, **options), Cpu(X).lloyd(starts, **options)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
    np.testing.assert_array_equal(got.converged, wanted.converged)
    for one, other in zip(got.centres, wanted.centres, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13 * np.abs(X).max())
    scale = np.square(X.astype(float)).sum()
    np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=1e-9, atol=1e-13 * scale)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_k_means_of_several_blocks_has_the_centres_of_the_cpu(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9001, 5)).astype(kind)
    starts, objects, features = ensemble_of(X, rng, 4, max_k=20)
    options = {"objects": objects, "features": features, "max_iter": 15}
    got, wanted = Torch(X, DEVICE).lloyd(starts, **options), Cpu(X).lloyd(starts, **options)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    for one, other in zip(got.centres, wanted.centres, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-16)


def test_two_thousand_columns_and_centres_far_from_zero():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 2000)) + 1e3).astype(np.float32)
    starts = [X[:7], X[5:25]]
    got, wanted = Torch(X, DEVICE).lloyd(starts), Cpu(X).lloyd(starts)
    np.testing.assert_array_equal(got.labels, wanted.labels)


@given(tables(), st.integers(0, 2**31))
def test_assignment_is_that_of_the_cpu(X, seed):
    starts, _, features = ensemble_of(X, np.random.default_rng(seed), 3)
    wanted = Cpu(X).assign(starts, features=features)
    np.testing.assert_array_equal(Torch(X, DEVICE).assign(starts, features=features), wanted)


def test_blocks_of_distances_change_no_label(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (500, 3)).astype(float)
    starts, objects, features = ensemble_of(X, rng, 3)
    wanted = Torch(X, DEVICE).lloyd(starts, objects=objects, features=features)
    monkeypatch.setattr("consilience.engines._device.kmeans._DISTANCES", 100)
    got = Torch(X, DEVICE).lloyd(starts, objects=objects, features=features)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    for one, other in zip(got.centres, wanted.centres, strict=True):
        np.testing.assert_array_equal(one, other)


@given(tables(), st.booleans(), st.integers(0, 2**31))
def test_column_facts_are_those_of_the_cpu_to_the_bit(X, some, seed):
    rng = np.random.default_rng(seed)
    own = np.flatnonzero(rng.random(len(X)) < 0.5) if some else None
    own = own if own is None or len(own) else np.array([len(X) - 1])
    got, wanted = (engine.column_facts(objects=own) for engine in (Torch(X, DEVICE), Cpu(X)))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_column_facts_of_several_blocks():
    X = np.random.default_rng(2).normal(size=(13000, 3))
    # Nobody of the second block.
    own = np.r_[5:4000:3, 8200:13000]
    for objects in (None, own):
        got, wanted = (e.column_facts(objects=objects) for e in (Torch(X, DEVICE), Cpu(X)))
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@given(member_major(max_objects=20, max_members=6), st.booleans(), st.booleans())
def test_pair_counts_are_those_of_the_cpu(members, with_seen, condensed):
    options = {"with_seen": with_seen, "condensed": condensed}
    got, wanted = (e.pair_counts(**options) for e in (Torch(members, DEVICE), Cpu(members)))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one is None or one.dtype == other.dtype


def test_more_members_than_a_byte_counts():
    members = np.random.default_rng(0).integers(-2, 3, (700, 30)).astype(np.int8)
    got, wanted = (e.pair_counts(with_seen=True) for e in (Torch(members, DEVICE), Cpu(members)))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype == np.uint16


@given(member_major(min_objects=2, max_objects=20, max_members=6), st.data())
def test_nearest_pairs_are_those_of_the_cpu(members, data):
    k = data.draw(st.integers(1, members.shape[1] - 1))
    by_pair = data.draw(st.booleans())
    there = torch.as_tensor(members).to(DEVICE)
    got = pairs.nearest_pairs(
        there, k, by_pair=by_pair, most=data.draw(st.sampled_from([1, 10**6]))
    )
    wanted = nearest_pairs(members, k, missing="pair" if by_pair else "all")
    np.testing.assert_array_equal(got[0].cpu(), wanted[0])
    np.testing.assert_array_equal(got[1].cpu(), wanted[1])
    if by_pair:
        # The CPU's leaves out what is the same everywhere.
        seen = len(members) if wanted[2] is None else wanted[2]
        np.testing.assert_array_equal(got[2].cpu(), np.broadcast_to(seen, got[2].shape))


# ---- repetitions of weak clusterings ----------------------------------------------------------

ALPHA, GAMMA = 10.0, 3.0


def grading_of(kind, dtype):
    if kind == "hard":
        return Grading("hard", (8 * np.finfo(dtype).eps,))
    if kind == "softmax":
        return Grading("softmax")
    if kind == "near":
        return Grading("near", near_kernel(ALPHA, GAMMA, Scratch(dtype).constants))
    return Grading("gaussian", (np.array([ALPHA], dtype), np.array([GAMMA], dtype)))


def weak_job(n, counts, seed, dtype=np.float64, wide=False):
    """Objects and seeds of squared distances, as kernels take them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.7, (n, 3))
    X[rng.random((n, 3)) < 0.3] = 0
    X = X.astype(dtype)
    seeds, own = [X[rng.integers(0, n, k)] for k in counts], (X**2).sum(axis=1)
    models = Models.stacked(
        [2 * S for S in seeds], [(S**2).sum(axis=1) for S in seeds], dtype, wide=wide
    )
    if wide:
        return sparse_objects(sparse.csr_array(X), own), models
    with Team(1, 1) as team:
        return dense_objects(lambda a, b: (X[a:b], own[a:b]), n, team), models


def run_both(job, kind, scale, sizes=None):
    objects, models = job
    grading = grading_of(kind, objects.rows.dtype)
    with Team(1, 1) as team:
        options = {"team": team, "memory": Memory(2**26, 1), "sizes": sizes}
        wanted = repetitions(objects, models, grading, scale, **options)
        got = Torch(np.empty((len(objects.rows), 1)), DEVICE).repetitions(
            objects, models, grading, scale, **options
        )
    return got, wanted


@pytest.mark.parametrize("kind", ["hard", "softmax", "gaussian", "near"])
@given(
    n=st.sampled_from([1, 2, 7, 100, 1024, 2053]),
    counts=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
    logs=st.booleans(),
    wide=st.booleans(),
)
def test_sizes_and_scores_are_those_of_the_cpu(kind, n, counts, seed, logs, wide):
    job = weak_job(n, counts, seed, wide=wide)
    got, wanted = run_both(job, kind, Scale(n, logs))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["softmax", "gaussian", "near"])
def test_single_precision_agrees_to_a_hundred_thousandth(kind, seed):
    got, wanted = run_both(weak_job(3000, [4, 30, 9], seed, np.float32), kind, Scale(3000, False))
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("kind", ["hard", "softmax", "near"])
def test_given_sizes_and_floors(kind):
    job = weak_job(50, [4, 3], 0)
    sizes = np.array([0.0, 0.0, 7.0, 0.1, 3.0, 0.0, 1e-9])
    got, wanted = run_both(job, kind, Scale(40, True, floors=True), sizes)
    np.testing.assert_array_equal(got.sizes, sizes)
    np.testing.assert_allclose(got.scores, wanted.scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["hard", "softmax", "gaussian"])
def test_memory_changes_no_bit_beyond_the_products(kind, seed):
    """Sums go by blocks of objects; products of whole numbers are exact whatever their shape."""
    rng = np.random.default_rng(seed)
    X = torch.as_tensor(rng.integers(0, 2, (5000, 12)).astype(np.float32)).to(DEVICE)
    rows = (X**2).sum(dim=1)
    picks = torch.as_tensor(rng.integers(0, 5000, 20)).to(DEVICE)
    seeds = weak.Seeds(X[picks], rows[picks], [0, 3, 11, 20], factor=2.0)
    rule = weak.Rule(kind, 5000, True, tie=1e-6, alpha=10.0, gamma=0.2)
    objects = weak.Objects(X, rows, torch.device(DEVICE))
    whole = weak.repetitions(objects, seeds, rule)
    # A device with room for a fifth of the product, whose objects stay on the host.
    elsewhere = weak.Objects(X.cpu(), rows.cpu(), torch.device(DEVICE))
    for part in (objects, elsewhere):
        for one, other in zip(weak.repetitions(part, seeds, rule, most=20_000), whole, strict=True):
            assert torch.equal(one, other)


# ---- the engine --------------------------------------------------------------------------------


def test_the_engine_keeps_the_interface():
    import inspect

    calls = {n: f for n, f in vars(Engine).items() if inspect.isfunction(f) and n[0] != "_"}
    for name, function in calls.items():
        assert inspect.signature(getattr(Torch, name)) == inspect.signature(function)


def test_tensors_are_worked_on_where_they_are_and_arrays_where_asked():
    X = np.random.default_rng(0).normal(size=(50, 2))
    there = torch.as_tensor(X).to(DEVICE)
    for engine in (engine_for(there), engine_for(X, DEVICE), engine_for(X, torch.device(DEVICE))):
        assert isinstance(engine, Torch)
        np.testing.assert_array_equal(engine.assign([X[:3]]), Cpu(X).assign([X[:3]]))
        assert engine.ran_on["assign"].startswith(DEVICE)
    assert isinstance(engine_for(X), Cpu)


def test_what_a_device_does_not_gain_from_is_left_to_the_cpu_and_told():
    X = np.random.default_rng(0).normal(size=(50, 2))
    batches = [np.arange(40).reshape(4, 10)]
    for rows in (X, torch.as_tensor(X).to(DEVICE)):
        engine = Torch(rows, DEVICE)
        got, wanted = (e.lloyd([X[:3]], batches=batches) for e in (engine, Cpu(X)))
        np.testing.assert_array_equal(got.labels, wanted.labels)
        assert engine.ran_on == {"lloyd": "cpu"}
    S = sparse.csr_array(X)
    engine = Torch(S, DEVICE)
    np.testing.assert_array_equal(engine.lloyd([X[:3]]).labels, Cpu(S).lloyd([X[:3]]).labels)
    np.testing.assert_array_equal(engine.assign([X[:3]]), Cpu(S).assign([X[:3]]))
    np.testing.assert_array_equal(engine.column_facts().mean, Cpu(S).column_facts().mean)
    assert set(engine.ran_on.values()) == {"cpu"}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad):
    X = np.array([[0.0], [bad]])
    with pytest.raises(InvalidInputError, match="finite"):
        Torch(X, DEVICE).lloyd([X[:1]])


def test_devices_that_are_not_there_are_refused():
    X = np.zeros((2, 1))
    with pytest.raises(InvalidParameterError, match=r"'device'.*Got 'gpu' instead"):
        Torch(X, "gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidParameterError, match="no CUDA device"):
            Torch(X, "cuda")


@pytest.mark.parametrize("device", ["meta", "mps", "xpu", "xpu:3", "vulkan"])
def test_kinds_of_devices_that_are_not_here_are_refused(device):
    kind = getattr(torch, device.partition(":")[0], None)
    if hasattr(kind, "is_available") and kind.is_available():
        pytest.skip("it is here")
    with pytest.raises(InvalidParameterError, match=f"'device' parameter is '{device}'"):
        device_of(device)


@pytest.mark.parametrize(
    ("count", "there"), [(1, "are 'cuda:0'. Name"), (3, "are 'cuda:0' to 'cuda:2'. Name")]
)
def test_cards_past_the_last_are_refused(count, there, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    assert device_of(f"cuda:{count - 1}") == torch.device("cuda", count - 1)
    with pytest.raises(InvalidParameterError, match=f"'cuda:{count}', but the .* {there}"):
        device_of(f"cuda:{count}")


def test_blocks_and_trees_are_those_of_the_kernels():
    assert columns.BLOCK_ROWS == _blocks.BLOCK_ROWS
    assert weak.BLOCK == blocks.BLOCK
    parts = np.random.default_rng(0).normal(size=(13, 4))
    np.testing.assert_array_equal(add_in_tree(torch.as_tensor(parts)), _blocks.add_in_tree(parts))


def test_products_of_single_precision_are_that_whatever_the_user_has_set():
    from consilience.engines._device._torch import full_precision

    torch.set_float32_matmul_precision("medium")
    try:
        with full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
