# ruff: noqa: E402
"""The engine of a device at its ends: nothing to do, the narrowest types, what is told and left."""

import os

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from consilience.engines._device import beyond
from consilience.engines._device.memory import VARIABLE
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
X = np.random.default_rng(0).normal(size=(300, 3))


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


@pytest.fixture(params=["whole", "blocks"])
def limit(request, monkeypatch):
    """Rows on the device, or in blocks of 64 on the way to it."""
    monkeypatch.setattr(beyond, "_WHOLE", 64)
    if request.param == "blocks":
        monkeypatch.setenv(VARIABLE, "2 KB")
    return request.param


def test_clusters_filled_again_are_moved_to_the_unit_sphere(way, limit):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (140, 3)) + 0.5
    starts = [np.repeat(rows[:1], 5, axis=0), np.repeat(rows[[0, 1]], 3, axis=0)]
    options = {"spherical": True, "objects": [None, np.arange(0, 140, 2)]}
    options["max_iter"] = 4
    engines = Torch(rows, DEVICE), Cpu(rows)
    got, wanted = (e.lloyd(starts, **options) for e in engines)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
    np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=1e-9)
    for one, other in zip(got.centres, wanted.centres, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("k", [127, 128, 129, 256, 257])
def test_labels_are_of_the_narrowest_type_with_room_for_all_clusters(limit, k):
    starts = [X[:k], X[:2]]
    got, wanted = (e.lloyd(starts, max_iter=1) for e in (Torch(X, DEVICE), Cpu(X)))
    assert got.labels.dtype == (np.int8 if k <= 128 else np.int16)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    placed = Torch(X, DEVICE).assign(starts)
    assert placed.dtype == np.int32
    np.testing.assert_array_equal(placed, Cpu(X).assign(starts))


@pytest.mark.parametrize("assign_all", [True, False])
def test_sizes_are_those_of_the_labels(way, limit, assign_all):
    objects = [None, np.arange(0, 300, 2), np.arange(30)]
    runs = Torch(X, DEVICE).lloyd(
        [X[:3], X[:5], X[:2]], objects=objects, assign_all=assign_all, max_iter=2
    )
    for labels, sizes, centres in zip(runs.labels, runs.sizes, runs.centres, strict=True):
        counted = np.bincount(labels[labels >= 0], minlength=len(centres))
        np.testing.assert_array_equal(sizes, counted)
    unseen = (runs.labels == -2).sum(axis=1).tolist()
    assert unseen == ([0, 0, 0] if assign_all else [0, 150, 270])
    assert (runs.labels >= -2).all()
    assert not (runs.labels == -1).any()


def test_a_tolerance_is_a_share_of_the_variance_of_the_columns_a_member_sees(limit):
    rows = X * [1.0, 30.0, 0.1]
    features = [np.array([2]), None, np.array([0, 2])]
    starts = [rows[:3, [2]], rows[:3], rows[:4, [0, 2]]]
    for tol in (1e-4, 1e-2, 0.3):
        options = {"features": features, "tol": tol, "objects": [None, np.arange(99), None]}
        got, wanted = (e.lloyd(starts, **options) for e in (Torch(rows, DEVICE), Cpu(rows)))
        np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
        np.testing.assert_array_equal(got.converged, wanted.converged)
        np.testing.assert_array_equal(got.labels, wanted.labels)


def test_no_members_are_no_work(limit):
    engine = Torch(X, DEVICE)
    runs, wanted = engine.lloyd([]), Cpu(X).lloyd([])
    assert runs.labels.shape == wanted.labels.shape == (0, 300)
    assert list(runs.centres) == list(runs.sizes) == []
    assert engine.assign([]).shape == (0, 300)


def test_runs_have_the_defaults_of_the_processor(limit):
    far = X * 1e3
    starts = [far[:9]]
    for options in ({}, {"max_iter": 3}, {"tol": 0.5}):
        got, wanted = (e.lloyd(starts, **options) for e in (Torch(far, DEVICE), Cpu(far)))
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
        np.testing.assert_array_equal(got.converged, wanted.converged)
        assert got.n_iter.any()


def test_every_pass_says_where_it_ran(limit):
    engine = Torch(X, DEVICE)
    assert engine.ran_on == {}
    there = str(engine.device)
    engine.column_facts()
    assert engine.ran_on == {"column_facts": there}
    engine.lloyd([X[:2]])
    engine.assign([X[:2]])
    assert engine.ran_on == dict.fromkeys(("column_facts", "lloyd", "assign"), there)
    # Facts of some rows that lie on the host are made there.
    engine.column_facts(objects=np.arange(5))
    assert engine.ran_on["column_facts"] == ("cpu" if limit == "blocks" else there)
    engine.lloyd([X[:2]], online=True)
    assert engine.ran_on["lloyd"] == "cpu"
    members = np.array([[0, 0, 1], [1, 0, 1]], np.int8)
    engine = Torch(members, DEVICE)
    engine.spanning_tree(by_pair=False)
    assert engine.ran_on == {"spanning_tree": there}


@pytest.mark.parametrize("how", [{"online": True}, {"batches": [np.arange(60).reshape(3, 20)] * 2}])
def test_what_is_left_to_the_processor_is_what_was_asked_for(how):
    how = how | {
        "objects": [np.arange(0, 300, 2), None], "features": [np.array([0, 2]), None],
        "max_iter": 4, "tol": 1e-3, "assign_all": False, "n_jobs": 2,
    }  # fmt: skip
    starts = [X[:3, [0, 2]], X[:4]]
    for rows in (X, torch.as_tensor(X).to(DEVICE)):
        engine = Torch(rows, DEVICE)
        for spherical in {False, "batches" in how}:
            got, wanted = (e.lloyd(starts, spherical=spherical, **how) for e in (engine, Cpu(X)))
            np.testing.assert_array_equal(got.labels, wanted.labels)
            np.testing.assert_array_equal(got.n_iter, wanted.n_iter)
            for one, other in zip(got.centres, wanted.centres, strict=True):
                np.testing.assert_array_equal(one, other)
        assert engine.ran_on == {"lloyd": "cpu"}
    assert engine._left("lloyd") is engine._left("assign")  # one engine keeps its copy


def test_sparse_rows_are_left_to_the_processor_with_all_that_was_asked_for():
    S = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    engine, features = Torch(S, DEVICE), [np.array([1]), None]
    starts = [X[:2, [1]], X[:3]]
    np.testing.assert_array_equal(
        engine.assign(starts, features=features), Cpu(S).assign(starts, features=features)
    )
    for one, other in zip(
        engine.column_facts(objects=np.arange(9)), Cpu(S).column_facts(objects=np.arange(9)),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(one, other)
    got, wanted = (e.lloyd(starts, features=features, max_iter=2) for e in (engine, Cpu(S)))
    np.testing.assert_array_equal(got.labels, wanted.labels)
    assert engine.ran_on == dict.fromkeys(("assign", "column_facts", "lloyd"), "cpu")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_in_full(limit, bad):
    from consilience.errors import InvalidInputError

    rows = X.copy()
    rows[299, 2] = bad
    for call in (lambda e: e.lloyd([X[:2]]), lambda e: e.assign([X[:2]])):
        with pytest.raises(InvalidInputError) as refused:
            call(Torch(rows, DEVICE))
        assert str(refused.value) == "X must hold finite numbers. Got NaN or infinity in it."


def test_rows_nobody_may_write_to_are_taken_and_kept():
    rows = X.copy()
    rows.flags.writeable = False
    got = Torch(rows, DEVICE).lloyd([rows[:3]], objects=[np.arange(0, 300, 3)])
    np.testing.assert_array_equal(
        got.labels, Cpu(X).lloyd([X[:3]], objects=[np.arange(0, 300, 3)]).labels
    )
    np.testing.assert_array_equal(rows, X)
    turned = np.asfortranarray(X)
    np.testing.assert_array_equal(Torch(turned, DEVICE).assign([X[:3]]), Cpu(X).assign([X[:3]]))
