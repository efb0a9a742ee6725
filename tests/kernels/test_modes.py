"""Hills over a graph against their definition, object by object with plain sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from consilience.kernels.minority.modes import hills


@st.composite
def landscapes(draw):
    """Heights, with ties, and a graph with edges both ways."""
    n = draw(st.integers(1, 25))
    heights = np.array(draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)), float)
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    graph = np.zeros((n, n), bool)
    for a, b in edges:
        if a != b:
            graph[a, b] = graph[b, a] = True
    return heights, graph


def climbed(heights, graph, depth, least):
    rows = sparse.csr_matrix(graph)
    order = np.argsort(-heights, kind="stable")
    starts, neighbours = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return hills(order, heights, starts, neighbours, depth, least)


def climbed_slowly(heights, graph, depth, least):
    """The definition: hills are sets with their top first, in a list."""
    order = np.argsort(-heights, kind="stable").tolist()
    found = []

    def of(j):
        return next(hill for hill in found if j in hill)

    for place, i in enumerate(order):
        before = [j for j in order[:place] if graph[i, j]]
        if not before:
            found.append([i])
            continue
        of(before[0]).append(i)
        for j in np.flatnonzero(graph[i]).tolist():
            if j not in before or of(j) is of(i):
                continue
            high, low = sorted((of(i), of(j)), key=lambda hill: order.index(hill[0]))
            above = heights[low[0]] - heights[i]
            smaller = low if len(low) <= len(high) else high
            two = above >= depth or (
                above >= 0.57 * depth and heights[smaller[0]] - heights[i] >= 1.43 * depth
            )
            if min(len(high), len(low)) < least or not two:
                high.extend(low)
                found.remove(low)
    tops = np.empty(len(heights), int)
    for hill in found:
        tops[hill] = hill[0]
    return tops


@given(landscapes(), st.floats(0, 5), st.integers(1, 5))
@settings(max_examples=150)
def test_hills_equal_their_definition(landscape, depth, least):
    np.testing.assert_array_equal(
        climbed(*landscape, depth, least), climbed_slowly(*landscape, depth, least)
    )


@given(landscapes())
@settings(max_examples=40)
def test_where_no_valley_is_deep_enough_hills_are_the_parts_of_the_graph(landscape):
    heights, graph = landscape
    tops = climbed(heights, graph, 100.0, 1)
    parts = connected_components(graph, directed=False)[1]
    assert len(set(zip(tops.tolist(), parts.tolist(), strict=True))) == len(set(tops.tolist()))
    assert len(set(tops.tolist())) == parts.max() + 1
    assert (heights[tops] >= heights).all()


@pytest.mark.parametrize(("depth", "number"), [(2.0, 2), (4.0, 2), (5.1, 1), (9.0, 1)])
def test_two_hills_on_a_line_are_two_where_the_lower_stands_out(depth, number):
    heights = np.array([1.0, 3, 5, 7, 9, 7, 5, 2, 3, 5, 6, 7, 6, 4, 2])
    graph = np.eye(15, k=1, dtype=bool) | np.eye(15, k=-1, dtype=bool)
    assert len(set(climbed(heights, graph, depth, 3).tolist())) == number
    # A hill that is too small is none, however high.
    assert len(set(climbed(heights, graph, depth, 7).tolist())) == 1
