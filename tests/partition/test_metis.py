"""METIS: balanced, never empty, order does not leak, and a clear error without it."""

import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.errors import InvalidParameterError, MemoryBudgetError, MissingPackageError
from consilience.partition import has_metis, metis, similarity_graph
from consilience.partition import metis as metis_function
from consilience.partition.graph import Graph

needs_metis = pytest.mark.skipif(not has_metis(), reason="pymetis is not installed")


def blocks(sizes, inside=1.0, between=0.05, seed=0):
    """Blocks of the sizes given, with a little noise so that no two cuts are equal."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    S = np.where(truth[:, None] == truth[None, :], inside, between)
    noise = np.random.default_rng(seed).random(S.shape) * 0.01
    return S + noise + noise.T, truth


def same(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@needs_metis
@pytest.mark.parametrize("k", [2, 3, 5, 9, 12])
def test_equal_blocks_are_found(seed, k):
    S, truth = blocks([8] * k, seed=seed)
    order = np.random.default_rng(seed).permutation(len(S))
    found = metis(similarity_graph(S[np.ix_(order, order)]), k, random_state=seed)
    assert same(found.labels, truth[order])
    assert found.sizes.tolist() == [8] * k
    assert found.solver == "metis"


@needs_metis
def test_tiny_graphs_are_cut_nearly_as_brute_force_does(seed):
    ratios = []
    for i in range(20):
        S = np.random.default_rng(100 * seed + i).random((8, 8))
        graph = similarity_graph(S + S.T)
        cuts = [graph.cut(np.isin(np.arange(8), half)) for half in combinations(range(8), 4)]
        found = metis(graph, 2, random_state=i)
        assert sorted(found.sizes) in ([4, 4], [3, 5])
        ratios.append(found.cut / min(cuts))
    # Parts of 3 and 5 may cut less than any halves.
    assert np.mean(ratios) < 1.03


@needs_metis
@settings(max_examples=40)
@given(st.integers(0, 2**31), st.integers(1, 14), st.integers(1, 14))
def test_every_part_has_a_vertex_and_the_cut_is_that_of_the_labels(seed, n, k):
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    weights = rng.random(n) ** 4 if seed % 2 else None
    graph = similarity_graph(S + S.T, weights)
    if k > n:
        with pytest.raises(InvalidParameterError, match=f"number of vertices, {n}"):
            metis(graph, k)
        return
    found = metis(graph, k, random_state=seed)
    assert sorted(set(found.labels)) == list(range(k))
    assert found.labels.dtype == np.int32
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels))
    assert found.cut == pytest.approx(graph.cut(found.labels))


@needs_metis
def test_a_heavy_vertex_does_not_leave_parts_empty():
    S, _ = blocks([6])
    found = metis(similarity_graph(S, np.array([1e6, 1, 1, 1, 1, 1])), 4, random_state=0)
    assert (found.sizes > 0).all()


@needs_metis
def test_vertex_weights_are_what_is_balanced():
    S, _ = blocks([12], inside=1.0)
    weights = np.array([11.0] + [1.0] * 11)
    found = metis(similarity_graph(S, weights), 2, random_state=0)
    assert sorted(found.sizes) == [1, 11]


@needs_metis
def test_shares_are_kept(seed):
    S, _ = blocks([20], seed=seed)
    found = metis(similarity_graph(S), 2, shares=np.array([1.0, 3.0]), random_state=seed)
    assert np.abs(found.sizes - [5, 15]).max() <= 2


@needs_metis
def test_the_seed_decides_and_nothing_else(seed):
    S, _ = blocks([30], seed=1)
    graph = similarity_graph(S)
    first, second = (metis(graph, 4, random_state=seed).labels for _ in range(2))
    np.testing.assert_array_equal(first, second)


@needs_metis
def test_order_does_not_leak_into_groups_of_equal_vertices():
    """Two halves of 40 equal vertices: which of them are cut off is a matter of the seed."""
    S = np.ones((40, 40))
    graph = similarity_graph(S)
    firsts = [metis(graph, 2, random_state=s).labels[:20] for s in range(30)]
    together = np.mean([max(np.mean(f == 0), np.mean(f == 1)) for f in firsts])
    # By vertex number it would be 1; at random, 20 of 40, it is about 0.58.
    assert together < 0.68


@needs_metis
def test_no_edges_still_gives_balanced_parts():
    found = metis(similarity_graph(np.zeros((9, 9))), 3, random_state=0)
    assert found.sizes.max() - found.sizes.min() <= 2
    assert found.cut == 0


@needs_metis
def test_edges_too_light_to_count_are_left_out():
    S, truth = blocks([5, 5])
    S[0, 9] = S[9, 0] = 1e-15
    assert same(metis(similarity_graph(S), 2, random_state=0).labels, truth)


def test_one_part_never_reaches_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    found = metis(similarity_graph(np.ones((4, 4))), 1)
    assert found.labels.tolist() == [0] * 4
    assert found.cut == 0


@needs_metis
def test_large_dense_graphs_are_refused(monkeypatch):
    module = sys.modules[metis_function.__module__]
    monkeypatch.setattr(module, "MAX_DENSE", 10)
    S, _ = blocks([11])
    with pytest.raises(MemoryBudgetError, match=r"refused above 10 vertices.*solver='balanced'"):
        metis(similarity_graph(S), 2)
    # A sparse graph of the same size is none of that.
    ring = np.roll(np.eye(11), 1, axis=0)
    assert metis(similarity_graph(ring + ring.T), 2, random_state=0).cut == 2


def test_without_metis_the_error_says_what_else_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    assert not has_metis()
    with pytest.raises(MissingPackageError, match=r"pip install pymetis\n.*solver='auto'"):
        metis(similarity_graph(np.ones((4, 4))), 2)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(MissingPackageError, match="no wheels for Windows"):
        metis(similarity_graph(np.ones((4, 4))), 2)


@needs_metis
def test_the_graph_is_left_as_it_was(seed):
    S, _ = blocks([6, 6], seed=seed)
    S[0, 9] = S[9, 0] = 1e-15
    graph = similarity_graph(S)
    before = graph.adjacency.copy()
    metis(Graph(graph.adjacency), 3, random_state=seed)
    assert (graph.adjacency != before).nnz == 0


@needs_metis
def test_weights_are_made_for_the_integers_that_metis_has(monkeypatch):
    module = sys.modules["consilience.partition.metis"]
    bits = np.iinfo(module._pymetis().zero_copy_dtype()).bits
    asked = []
    whole = module.whole_weights

    def noted(values, *, width):
        asked.append(width)
        return whole(values, width=width)

    monkeypatch.setattr(module, "whole_weights", noted)
    metis(similarity_graph(blocks([4, 4])[0]), 2, random_state=0)
    assert asked == [bits]
