"""Graphs are checked before a partitioner sees them; weights become whole numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from consilience.errors import InvalidInputError
from consilience.partition import bipartite_graph, graph, similarity_graph
from consilience.partition.graph import whole_vertex_weights, whole_weights


def symmetric(seed, n=7, density=0.6):
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) * (rng.random((n, n)) < density)
    return S + S.T


FORMS = [
    pytest.param(np.asarray, id="dense"),
    pytest.param(sparse.csr_array, id="csr"),
    pytest.param(sparse.coo_array, id="coo"),
]


@pytest.mark.parametrize("form", FORMS)
def test_the_diagonal_goes_and_the_rest_stays(seed, form):
    S = symmetric(seed)
    found = similarity_graph(form(S)).adjacency
    np.testing.assert_allclose(found.toarray(), S - np.diag(S.diagonal()))
    assert (found.data > 0).all()


@pytest.mark.parametrize("form", FORMS)
def test_input_is_left_as_it_was(seed, form):
    S = symmetric(seed)
    given_ = form(S)
    similarity_graph(given_)
    after = given_ if isinstance(given_, np.ndarray) else given_.toarray()
    np.testing.assert_array_equal(after, S)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "words"),
    [(-0.5, "negative"), (np.nan, "finite"), (np.inf, "finite"), (9.0, "symmetric")],
)
def test_bad_entries_are_refused(form, value, words):
    S = symmetric(0)
    S[1, 4] = value
    if words != "symmetric":
        S[4, 1] = value
    with pytest.raises(InvalidInputError, match=words):
        similarity_graph(form(S))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_diagonal_that_is_no_number_is_refused(form, value):
    """It would hide that the rest is not symmetric."""
    S = np.array([[value, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(InvalidInputError, match="finite"):
        similarity_graph(form(S))


def test_one_missing_mirror_entry_is_refused_for_unsigned_counts():
    S = np.zeros((3, 3), np.uint8)
    S[0, 1] = 1
    with pytest.raises(InvalidInputError, match="symmetric"):
        similarity_graph(S)


def test_rounding_is_not_asymmetry(seed):
    S = symmetric(seed)
    S[1, 4] = 1.0
    S[4, 1] = 1.0 + 1e-13
    A = similarity_graph(S).adjacency.toarray()
    np.testing.assert_array_equal(A, A.T)


def test_shape_and_vertex_weights_are_checked():
    with pytest.raises(InvalidInputError, match="square"):
        similarity_graph(np.ones((2, 3)))
    with pytest.raises(InvalidInputError, match=r"shape \(3,\), one for each vertex"):
        similarity_graph(np.ones((3, 3)), np.ones(2))
    with pytest.raises(InvalidInputError, match=r"vertex weights .* negative"):
        similarity_graph(np.ones((3, 3)), np.array([1.0, -1.0, 1.0]))


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 6))
def test_bipartite_graph_is_the_block_matrix(seed, n, p):
    rng = np.random.default_rng(seed)
    Q = rng.random((n, p)) * (rng.random((n, p)) < 0.5)
    wanted = np.block([[np.zeros((p, p)), Q.T], [Q, np.zeros((n, n))]])
    np.testing.assert_array_equal(bipartite_graph(Q).adjacency.toarray(), wanted)
    found = bipartite_graph(sparse.csr_array(Q)).adjacency
    np.testing.assert_array_equal(found.toarray(), wanted)


def test_zeros_that_are_stored_are_no_edges_and_stay_where_they_are():
    Q = sparse.csr_array(([0.0, 2.0, 1.0], [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    edges = bipartite_graph(Q).adjacency
    assert edges.data.tolist() == [1.0, 2.0, 2.0, 1.0]
    np.testing.assert_array_equal(edges.toarray(), bipartite_graph(Q.toarray()).adjacency.toarray())
    assert Q.data.tolist() == [0.0, 2.0, 1.0]


def test_bipartite_graph_refuses_negative_memberships():
    with pytest.raises(InvalidInputError, match=r"memberships .* negative"):
        bipartite_graph(np.array([[1.0, -1.0]]))


@given(st.integers(0, 2**31), st.integers(2, 8))
def test_cut_is_the_weight_between_parts(seed, n):
    S = symmetric(seed, n)
    labels = np.random.default_rng(seed).integers(0, 3, n)
    wanted = sum(S[i, j] for i in range(n) for j in range(i + 1, n) if labels[i] != labels[j])
    assert similarity_graph(S).cut(labels) == pytest.approx(wanted)


def test_reordering_keeps_the_graph(seed):
    S, weights = symmetric(seed), np.arange(7.0)
    order = np.random.default_rng(seed).permutation(7)
    moved = similarity_graph(S, weights).reorder(order)
    # Neighbours in any other order would give the old one away.
    assert moved.adjacency.has_sorted_indices
    wanted = S - np.diag(S.diagonal())
    np.testing.assert_array_equal(moved.adjacency.toarray(), wanted[np.ix_(order, order)])
    np.testing.assert_array_equal(moved.vertex_weights, weights[order])


def test_components():
    S = np.zeros((5, 5))
    S[0, 1] = S[1, 0] = 1
    assert similarity_graph(S).n_components() == 4


def test_whole_weights_have_clusterpacks_total(seed):
    values = np.random.default_rng(seed).random(1000)
    whole = whole_weights(values)
    assert whole.dtype == np.int64
    assert abs(whole.sum() - 10**8) <= 500
    np.testing.assert_array_equal(whole, np.rint(values * 1e8 / values.sum()))


def test_large_graphs_get_a_larger_total_so_that_edges_do_not_vanish():
    values = np.full(5_500_000, 0.3)
    values[0] = 1e-12
    whole = whole_weights(values)
    assert whole[0] == 0
    assert (whole[1:] == 20).all()


def test_narrow_integers_cap_the_total(monkeypatch):
    monkeypatch.setattr(graph, "_TOTAL", 2**40)
    assert whole_weights(np.ones(4)).tolist() == [2**38] * 4
    assert whole_weights(np.ones(4), width=32).tolist() == [2**28] * 4


def test_no_weight_at_all():
    assert whole_weights(np.zeros(3)).tolist() == [0, 0, 0]
    assert whole_weights(np.zeros(0)).tolist() == []


def test_vertex_weights_are_at_least_one():
    whole = whole_vertex_weights(np.array([1.0, 1e-12, 3.0]))
    assert whole.tolist() == [25_000_000, 1, 75_000_000]
