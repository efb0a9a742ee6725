"""The graph of objects and clusters from labels, against that of their matrix."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from strategies import member_major

from consilience.kernels.labels import graph as label_graphs
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.graph import count_groups, label_graph
from consilience.partition import bipartite_graph


def one_hot(members):
    """Reference: the dense matrix of objects x all clusters."""
    starts = first_columns(members)
    B = np.zeros((members.shape[1], starts[-1]))
    for r, labels in enumerate(members):
        for i in np.flatnonzero(labels >= 0):
            B[i, starts[r] + labels[i]] = 1
    return B


@given(member_major(), st.integers(0, 2**16))
def test_lists_are_those_of_the_matrix(members, seed):
    graph = bipartite_graph(one_hot(members))
    order = np.random.default_rng(seed).permutation(graph.n_vertices)
    wanted = graph.reorder(order).adjacency
    begins, ends = label_graph(members, first_columns(members), order)
    np.testing.assert_array_equal(begins, wanted.indptr)
    np.testing.assert_array_equal(ends, wanted.indices)


def test_lists_do_not_depend_on_threads(seed, monkeypatch):
    monkeypatch.setattr(label_graphs, "_WORTH", 1)
    rng = np.random.default_rng(seed)
    members = rng.integers(-2, 4, (5, 5000)).astype(np.int8)
    starts = first_columns(members)
    order = rng.permutation(int(starts[-1]) + 5000)
    one = label_graph(members, starts, order)
    for n_jobs in (2, 3):
        for got, wanted in zip(
            label_graph(members, starts, order, n_jobs=n_jobs), one, strict=True
        ):
            np.testing.assert_array_equal(got, wanted)


@given(member_major())
def test_groups_are_the_connected_parts(members):
    B = one_hot(members)
    assume(B.any(axis=0).all())
    assume(B.any(axis=1).all())
    graph = bipartite_graph(B).adjacency
    wanted = connected_components(graph, directed=False, return_labels=False)
    starts = first_columns(members)
    assert count_groups(members, starts) == wanted
    for enough in (2, 3):
        got = count_groups(members, starts, enough)
        assert got == wanted if wanted > enough else got <= enough
