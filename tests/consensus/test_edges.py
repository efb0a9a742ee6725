"""What parts of methods do at the ends of what they are given: one, none, equal, just enough."""

import numpy as np
import pytest
from scipy import sparse

from consilience import Ensemble
from consilience.consensus import CONSENSUS, _number_curves, levels
from consilience.consensus._number_curves import mean_strength, principal
from consilience.errors import ConsilienceWarning
from consilience.generate import _base
from consilience.generate._base import compact_in_place
from consilience.generate.graphs import _embedding


@pytest.mark.parametrize("block", [1, 3, 100])
@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([4, -2, 0, 4, 9, -1], [1, -2, 0, 1, 2, -1]),
        ([0, 1, 2], [0, 1, 2]),
        ([-1, -2], [-1, -2]),
        ([7], [0]),
        ([], []),
    ],
)
def test_numbers_without_holes_block_by_block(monkeypatch, block, labels, wanted):
    monkeypatch.setattr(_base, "_BLOCK", block)
    found = compact_in_place(np.array(labels, np.int16))
    assert found.tolist() == wanted
    assert found.dtype == np.int8


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (2, 2)])
def test_the_axes_of_a_sparse_table_that_has_hardly_any(shape):
    X = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    found = principal(sparse.csr_array(X), 0)
    gaps = np.linalg.norm(found[:, None] - found[None], axis=2)
    wanted = np.linalg.norm(X[:, None] - X[None], axis=2)
    scale = gaps.max() / wanted.max() if wanted.any() else 1.0
    np.testing.assert_allclose(gaps, scale * wanted, atol=1e-12)


def test_many_axes_keep_the_distances_of_fewer(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 4)) @ np.ones((4, 30)) * np.arange(30)
    X[:, 3] += np.random.default_rng(1).normal(size=60)
    exact = principal(X, 0)
    monkeypatch.setattr(_number_curves, "_EXACT_AXES", 10)
    quick = principal(X, 0)
    assert quick.shape == exact.shape
    np.testing.assert_allclose(quick @ quick.T, exact @ exact.T, atol=1e-9)


def test_one_member_predicts_nobody():
    assert mean_strength(np.zeros((1, 5), np.int8)) == 0.0


def test_a_node_alone_is_its_own_eigenvector():
    graph = sparse.csr_array((3, 3))
    values, vectors = _embedding(graph, np.array([1]), 2, np.random.RandomState(0))
    assert (values.tolist(), vectors.tolist()) == ([1.0], [[1.0]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0] * 6, [2] * 6], "but no two objects differ in any member's labels; they are one"),
        (
            [[0, 0, 1, 1]],
            "but only 2 groups of objects differ in any member's labels; they are the",
        ),
    ],
)
@pytest.mark.parametrize("name", ["eac", "lwea", "voting"])
def test_how_few_objects_differ_is_said(name, table, words):
    with pytest.warns(ConsilienceWarning, match=f"n_clusters=3 was asked for, {words} cluster"):
        found = CONSENSUS[name].run(Ensemble(table), 3, random_state=0)
    assert len(set(found.labels.tolist())) == len(set(table[0]))


def test_words_of_a_division_inside_a_group_name_it():
    found = levels(Ensemble([[0, 0, 1, 1], [0, 0, 1, 1]]), [0, 0, 1, 1], random_state=0)
    (split,) = found.splits
    assert split.words.startswith("2 groups: group 0 beside group 1, 2 and 2 objects, ")
    inside = type(split)(**{**vars(split), "level": None, "groups": (1,)})
    assert inside.words == f"Within group 1: parts of 2 and 2 objects, {split._verdict}."
