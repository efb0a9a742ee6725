# ruff: noqa: E402
"""Tables larger than the device: a small limit stands for a small card; the same bits come out."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

import consilience as cs
from consilience.engines._device import beyond, weak
from consilience.engines._device import memory as limits
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch
from consilience.errors import InvalidInputError, InvalidParameterError

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")


@pytest.fixture(params=["plain", "kernels"])
def way(request, monkeypatch):
    """Plain torch, and Triton's kernels: compiled on a card, interpreted elsewhere."""
    if request.param == "kernels":
        pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")
        if DEVICE == "cpu":
            monkeypatch.setenv("TRITON_INTERPRET", "1")
    elif DEVICE != "cpu":
        monkeypatch.setattr("consilience.engines.torch.kernels_for", lambda device: None)
    return request.param


@pytest.fixture
def limited(monkeypatch):
    """Set the limit; None lifts it."""

    def limit(size):
        if size is None:
            monkeypatch.delenv(limits.VARIABLE, raising=False)
        else:
            monkeypatch.setenv(limits.VARIABLE, size)

    return limit


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 rows, the kernels' tile; nothing hangs on the size but column facts' bits."""
    monkeypatch.setattr(beyond, "_WHOLE", 64)
    monkeypatch.setattr("consilience.engines._device.columns.BLOCK_ROWS", 64)


def members_of(rng, X, sizes, ks):
    """Objects, features and starts of members; some starts leave clusters empty."""
    objects = [None if s is None else np.sort(rng.permutation(len(X))[:s]) for s in sizes]
    features = [np.array([0, 2]) if m == 1 else None for m in range(len(ks))]
    starts = []
    for own, seen, k in zip(objects, features, ks, strict=True):
        rows = X[rng.permutation(len(X))[:k]] if own is None else X[own[:k]]
        rows[k // 2] = rows[0]
        starts.append(rows if seen is None else rows[:, seen])
    return starts, {"objects": objects, "features": features}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("assign_all", [True, False])
def test_k_means_is_the_same_for_any_limit(way, limited, small_blocks, kind, assign_all):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, (300, 3)).astype(kind)
    starts, options = members_of(rng, X, (40, 270, None), (5, 3, 17))
    options |= {"max_iter": 3, "assign_all": assign_all, "tol": 1e-4 if assign_all else 0.0}
    wanted = Cpu(X).lloyd(starts, **options)
    found = []
    for limit in (None, "2 KB", "25 KB"):
        limited(limit)
        engine = Torch(X, DEVICE)
        assert engine._is_beyond() == (limit is not None)
        found.append(engine.lloyd(starts, **options))
    for got in found:
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
        np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=1e-9)
        np.testing.assert_array_equal(got.inertia, found[0].inertia)
        for one, other in zip(got.centres, found[0].centres, strict=True):
            np.testing.assert_array_equal(one, other)


def test_facts_and_nearest_centres_are_the_same_for_any_limit(way, limited):
    rng = np.random.default_rng(1)
    X = rng.normal(3.0, 1.0, (4300, 3))
    centres, features = [X[:4], X[5:7, 1:]], [None, np.array([1, 2])]
    limited("100 KB")
    engine = Torch(X, DEVICE)
    for got, wanted in zip(engine.column_facts(), Cpu(X).column_facts(), strict=True):
        np.testing.assert_array_equal(got, wanted)
    got = engine.assign(centres, features=features)
    np.testing.assert_array_equal(got, Cpu(X).assign(centres, features=features))


@given(st.integers(1, 9000), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_any_size_in_blocks_has_the_labels_of_the_processor(n, d, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(np.float64)
    starts = [X[rng.integers(0, n, k)] for _ in range(2)]
    table = beyond.HostTable(X, torch.device(DEVICE), 1)
    assert table.step == 4096
    engine = Torch(X, DEVICE)
    engine._beyond, engine._is_beyond = table, lambda: True
    got, wanted = (one.lloyd(starts, max_iter=3) for one in (engine, Cpu(X)))
    np.testing.assert_array_equal(got.labels, wanted.labels)


def test_what_is_no_number_is_refused_in_blocks_too(limited):
    X = np.ones((5000, 3))
    X[4999, 1] = np.nan
    limited("1 KB")
    with pytest.raises(InvalidInputError, match="finite"):
        Torch(X, DEVICE).lloyd([X[:2]])


def test_a_limit_that_is_no_memory_is_refused(limited):
    limited("much")
    with pytest.raises(InvalidParameterError, match=limits.VARIABLE):
        Torch(np.ones((5, 2)), DEVICE).lloyd([np.ones((1, 2))])


@pytest.mark.parametrize("kind", ["real", "whole", "sparse"])
@pytest.mark.parametrize("grades", ["soft", "hard"])
def test_ewocs_scores_are_the_same_bits_for_any_limit(way, limited, monkeypatch, kind, grades):
    # Blocks of 1,024 objects.
    monkeypatch.setattr(weak, "_WHOLE", weak.BLOCK)
    monkeypatch.setattr(weak, "AT_ONCE", 1 << 13)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 3)).astype(np.float32)
    if kind != "real":
        X = (X > 0.5).astype(np.float32)
    given = sparse.csr_array(X) if kind == "sparse" else X
    options = {"gamma": 0.5, "n_repetitions": 2, "threshold": "2gauss", "scaling": "none"}
    options |= {"random_state": 0, "clusterer": None, "weak": grades, "k_max": 6}
    wanted = cs.EWOCS(**options).fit(given)
    found = []
    for limit in (None, "5 KB", "12 KB"):
        limited(limit)
        found.append(cs.EWOCS(**options, device=DEVICE).fit(given))
    for got in found:
        np.testing.assert_allclose(got.scores_, wanted.scores_, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(got.scores_, found[0].scores_)


def test_whole_jobs_are_the_same_for_any_limit(limited):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, (3000, 2)) for c in (0.0, 3.0)])
    options = {"n_members": 5, "random_state": 0, "effort": "quick"}
    wanted = cs.cluster(X, **options)
    limited("20 KB")
    got = cs.cluster(X, **options, device=DEVICE)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.confidence, wanted.confidence)
