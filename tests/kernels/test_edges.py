"""Nodes that move by the weights of their edges: no move is left that gains."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from consilience.kernels.pairs.edges import move_nodes


def worth(matrix, labels):
    """Sum of the weights of pairs in one group."""
    return matrix[labels[:, None] == labels[None]].sum() / 2


def signed_graph(n, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.5), 1)
    return (upper + upper.T).astype(float)


@given(st.integers(2, 12), st.integers(0, 10_000), st.booleans())
def test_no_single_move_gains_afterwards(n, seed, from_one):
    matrix = signed_graph(n, seed)
    graph = sparse.csr_array(matrix)
    labels = np.zeros(n, np.int64) if from_one else np.arange(n)
    before = worth(matrix, labels)
    moved = move_nodes(graph.indptr, graph.indices, graph.data, labels, 1000)
    after = worth(matrix, labels)
    assert after >= before
    assert (moved > 0) == (after > before)
    assert labels.min() >= 0
    assert labels.max() < n
    for node in range(n):
        for group in (*np.unique(labels), n):  # the last is a group of its own
            other = labels.copy()
            other[node] = group
            assert worth(matrix, other) <= after + 1e-9
