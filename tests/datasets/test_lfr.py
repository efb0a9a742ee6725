"""Generated graphs with communities: what the parameters promise holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.datasets import make_lfr
from consilience.datasets._lfr import _degrees, _sizes
from consilience.errors import InvalidParameterError


def test_degrees_sizes_and_mixing_are_as_asked(seed):
    sample = make_lfr(2000, mixing=0.4, average_degree=15, max_degree=40, random_state=seed)
    degrees, sizes = np.bincount(sample.edges.ravel(), minlength=2000), np.bincount(sample.groups)
    first, second = sample.groups[sample.edges].T
    assert len(sample.groups) == 2000
    assert degrees.max() <= 40
    assert 14.2 < degrees.mean() < 15.8
    assert sizes.min() >= 20
    assert sizes.max() <= 100
    assert 0.38 < (first != second).mean() < 0.42


@pytest.mark.parametrize(
    ("average", "exponent"),
    [(5.0, 1.0), (1.2, 2.0), (1.0, 2.0), (20.0, 0.5), (50.0, 3.0), (20, 20)],
)
def test_degrees_have_the_mean_asked_for(average, exponent):
    """Also below the mean of the whole power law, and where all degrees are one number."""
    degrees = _degrees(20_000, average, 50, exponent, np.random.RandomState(0))
    error = 4 * degrees.std() / np.sqrt(len(degrees))
    assert abs(degrees.mean() - average) <= error


@given(st.integers(1, 40), st.integers(0, 30), st.integers(1, 300), st.integers(0, 99))
@settings(max_examples=300)
def test_communities_keep_their_limits_or_none_can(least, more, n, seed):
    most = min(least + more, n)
    least = min(least, most)
    possible = any(k * least <= n <= k * most for k in range(1, n + 1))
    rng = np.random.RandomState(seed)
    if not possible:
        with pytest.raises(InvalidParameterError, match="'max_size'"):
            _sizes(n, least, most, 1.0, rng)
        return
    sizes = _sizes(n, least, most, 1.0, rng)
    assert sizes.sum() == n
    assert least <= sizes.min() <= sizes.max() <= most
    assert (np.diff(sizes) <= 0).all()


def test_whole_exponents_are_numbers_too():
    whole = make_lfr(200, degree_exponent=2, size_exponent=1, random_state=0)
    same = make_lfr(200, degree_exponent=2.0, size_exponent=1.0, random_state=0)
    np.testing.assert_array_equal(whole.edges, same.edges)


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
        ({"size_exponent": 1000}, "size_exponent"),
        ({"min_size": 300, "max_size": 320}, "max_size"),
        ({"mixing": 0.0, "min_size": 5, "max_size": 8}, "max_size"),
    ],
)
def test_what_cannot_be_is_refused_by_name(given, word):
    with pytest.raises(InvalidParameterError, match=word):
        make_lfr(1000, random_state=0, **given)
