"""Hypergraphs by Mt-KaHyPar: balance, repeatability, the objective, and life without it."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.errors import InvalidInputError, InvalidParameterError, MissingPackageError
from consilience.partition import hypergraph_parts
from consilience.partition.hypergraph import _fill_empty


def onehot(labels):
    """Vertices x hyperedges, one hyperedge for each label of each column."""
    return np.concatenate([column[:, None] == np.unique(column) for column in labels.T], axis=1)


def connectivity(B, labels, weights):
    """Reference: the definition, hyperedge by hyperedge."""
    reached = [len(set(labels[column > 0])) for column in B.T]
    return sum(w * (r - 1) for w, r in zip(weights, reached, strict=True) if r)


@pytest.fixture
def mtkahypar():
    return pytest.importorskip("mtkahypar", exc_type=ImportError)


@pytest.mark.usefixtures("mtkahypar")
def test_unanimous_groups_are_found(seed):
    truth = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], 10))
    B = onehot(np.column_stack([truth] * 4))
    found = hypergraph_parts(sparse.csr_array(B), 3, random_state=seed)
    assert found.cut == 0
    assert found.sizes.tolist() == [10, 10, 10]
    assert len(set(zip(found.labels, truth, strict=True))) == 3
    assert found.solver == "mtkahypar"


@pytest.mark.usefixtures("mtkahypar")
@settings(max_examples=15)
@given(st.integers(0, 2**31), st.integers(2, 4))
def test_cut_is_the_connectivity_and_no_part_is_empty(seed, k):
    labels = np.random.default_rng(seed).integers(0, 3, (15, 4))
    B = onehot(labels).astype(int)
    found = hypergraph_parts(B, k, random_state=seed)
    assert found.cut == connectivity(B, found.labels, B.sum(axis=0))
    assert (found.sizes > 0).all()
    weights = np.arange(1, B.shape[1] + 1)
    found = hypergraph_parts(B, k, edge_weights=weights, random_state=seed)
    assert found.cut == connectivity(B, found.labels, weights)


@pytest.mark.usefixtures("mtkahypar")
def test_parts_keep_the_balance(seed):
    labels = np.random.default_rng(seed).integers(0, 4, (200, 6))
    found = hypergraph_parts(onehot(labels), 4, imbalance=0.1, random_state=seed)
    assert found.sizes.max() <= 55


@pytest.mark.usefixtures("mtkahypar")
def test_the_seed_decides_and_nothing_else(seed):
    B = onehot(np.random.default_rng(0).integers(0, 4, (60, 6)))
    first, second = (hypergraph_parts(B, 3, random_state=seed).labels for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.usefixtures("mtkahypar")
def test_hyperedges_that_say_nothing():
    assert hypergraph_parts(np.eye(6), 3, random_state=0).sizes.tolist() == [2, 2, 2]
    found = hypergraph_parts(np.ones((6, 1)), 3, random_state=0)
    assert found.sizes.tolist() == [2, 2, 2]
    assert found.cut == 12
    assert sorted(
        hypergraph_parts(onehot(np.arange(4)[:, None] % 2), 4, random_state=0).labels
    ) == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.usefixtures("mtkahypar")
def test_bad_input():
    with pytest.raises(InvalidParameterError, match=r"number of vertices, 3. Got 4"):
        hypergraph_parts(np.ones((3, 2)), 4)
    with pytest.raises(InvalidInputError, match="edge_weights must be 2 whole numbers"):
        hypergraph_parts(np.ones((3, 2)), 2, edge_weights=np.array([0.5, 1]))
    assert hypergraph_parts(np.ones((3, 2)), 1).labels.tolist() == [0, 0, 0]


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(MissingPackageError, match=r"HGPA.*'mtkahypar'.*\n.*consilience\[graph\]"):
        hypergraph_parts(np.ones((3, 2)), 2)


def test_an_empty_part_gets_a_vertex_of_the_largest():
    labels, repaired = _fill_empty(np.array([1, 0, 0, 0, 0], np.int32), 4)
    assert repaired == 2
    assert np.bincount(labels).tolist() == [2, 1, 1, 1]


def test_the_engine_prints_nothing(mtkahypar, capfd):
    hypergraph_parts(onehot(np.repeat([[0], [1], [2]], 20, axis=0)), 3, random_state=0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("mtkahypar")
def test_what_a_sparse_table_stores_besides_its_entries_is_no_pin(seed):
    """Zeros that are stored, and an entry stored in two parts."""
    B = np.kron(np.eye(2), np.ones((3, 1)))
    rows, columns = np.indices(B.shape).reshape(2, -1)
    entries = np.concatenate([B.ravel(), B.ravel()])
    twice = sparse.coo_array((entries, (np.tile(rows, 2), np.tile(columns, 2))), shape=B.shape)
    raw = sparse.csr_array(([1.0] * 12, list(range(2)) * 6, range(0, 13, 2)), shape=B.shape)
    raw.data = B.ravel().copy()
    wanted = hypergraph_parts(B, 2, random_state=seed)
    assert wanted.cut == 0
    for form in (twice, raw):
        got = hypergraph_parts(form, 2, random_state=seed)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        assert got.cut == 0
    assert raw.nnz == 12  # what was given stays as it was
