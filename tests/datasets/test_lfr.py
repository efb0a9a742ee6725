"""Generated graphs with communities: what the parameters promise holds."""

import numpy as np
import pytest

from consilience.datasets import make_lfr
from consilience.errors import InvalidParameterError


def test_degrees_sizes_and_mixing_are_as_asked(seed):
    sample = make_lfr(2000, mixing=0.4, average_degree=15, max_degree=40, random_state=seed)
    degrees, sizes = np.bincount(sample.edges.ravel(), minlength=2000), np.bincount(sample.groups)
    first, second = sample.groups[sample.edges].T
    assert len(sample.groups) == 2000
    assert degrees.max() <= 40
    assert 14.2 < degrees.mean() < 15.8
    assert sizes.min() >= 20
    assert sizes.max() <= 101  # what is left over goes to the smallest
    assert 0.38 < (first != second).mean() < 0.42


def test_no_pair_twice_and_no_node_with_itself(seed):
    edges = make_lfr(500, mixing=0.1, random_state=seed).edges
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == len(edges)


def test_degrees_fall_as_a_power_law():
    degrees = np.bincount(make_lfr(20_000, mixing=0.7, random_state=0).edges.ravel())
    counts = np.bincount(degrees, minlength=51)
    # Of exponent 2, a degree twice as large is a quarter as frequent.
    assert 2.5 < counts[15:19].sum() / counts[30:38].sum() * 2 < 6


def test_no_mixing_leaves_no_edge_between_communities():
    sample = make_lfr(300, mixing=0.0, random_state=0)
    first, second = sample.groups[sample.edges].T
    np.testing.assert_array_equal(first, second)


def test_the_matrix_is_the_graph():
    sample = make_lfr(100, average_degree=8, max_degree=20, random_state=0)
    matrix = sample.to_scipy()
    assert matrix.sum() == 2 * len(sample.edges)
    assert (matrix != matrix.T).nnz == 0


def test_a_seed_fixes_the_graph():
    one, same, other = (make_lfr(200, random_state=s).edges for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert one.shape != other.shape or (one != other).any()


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"mixing": 1.5}, "mixing"),
        ({"average_degree": 60}, "average_degree"),
        ({"min_size": 200}, "min_size"),
        ({"max_size": 5000}, "max_size"),
        ({"degree_exponent": 0}, "degree_exponent"),
        ({"mixing": 0.0, "min_size": 5, "max_size": 8}, "max_size"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, word):
    with pytest.raises(InvalidParameterError, match=word):
        make_lfr(1000, random_state=0, **given)
