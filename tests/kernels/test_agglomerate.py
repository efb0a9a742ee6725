"""The tree against SciPy where nothing ties, against exact fractions where everything does."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from consilience.kernels.links.agglomerate import agglomerate

METHODS = ["single", "complete", "average", "centroid", "ward"]
MONOTONE = ["single", "complete", "average", "ward"]
seeds = st.integers(0, 2**32 - 1)


@st.composite
def tied_distances(draw, max_size=8, max_weight=3):
    """Condensed small whole-number distances, full of ties, and weights."""
    n = draw(st.integers(1, max_size))
    pairs = n * (n - 1) // 2
    top = draw(st.sampled_from([1, 2, 6]))
    distances = draw(st.lists(st.integers(0, top), min_size=pairs, max_size=pairs))
    weights = draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n))
    return np.array(distances, np.float64), np.array(weights)


def union_distance(method, x, y, a, b, m, h):
    match method:
        case "single":
            return min(x, y)
        case "complete":
            return max(x, y)
        case "average":
            return (a * x + b * y) / (a + b)
        case "centroid":
            return (a * x + b * y) / (a + b) - a * b * h / (a + b) ** 2
        case "ward":
            return ((a + m) * x + (b + m) * y - m * h) / (a + b + m)


def merge_slowly(distances, method, weights):
    """Reference: the first of the closest pairs of slots merges, in exact arithmetic."""
    sizes = {i: Fraction(int(w)) for i, w in enumerate(weights)}
    node = {i: i for i in sizes}
    d = {p: Fraction(v) for p, v in zip(combinations(sizes, 2), distances, strict=True)}
    if method == "ward":
        # Ward's distance of two groups of identical objects, merged at height 0.
        d = {(i, j): v * 2 / (1 / sizes[i] + 1 / sizes[j]) for (i, j), v in d.items()}
    rows = []
    while d:
        h = min(d.values())
        i, j = min(pair for pair, value in d.items() if value == h)
        a, b = sizes[i], sizes.pop(j)
        for q in sizes:
            if q != i:
                to_i, to_j = tuple(sorted((q, i))), tuple(sorted((q, j)))
                d[to_i] = union_distance(method, d[to_i], d.pop(to_j), a, b, sizes[q], h)
        del d[i, j]
        sizes[i] = a + b
        rows.append([*sorted((node[i], node[j])), float(h), float(a + b)])
        node[i] = len(weights) + len(rows) - 1
    return np.array(rows).reshape(-1, 4)


@given(tied_distances(), st.sampled_from(METHODS))
def test_tie_rule_in_exact_arithmetic(problem, method):
    distances, weights = problem
    wanted = merge_slowly(distances, method, weights)
    got = agglomerate(distances.copy(), method, weights=weights, squared=False)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-11)


@given(tied_distances(), st.sampled_from(["centroid", "ward"]))
def test_tie_rule_on_squared_distances(problem, method):
    distances, weights = problem
    wanted = merge_slowly(distances**2, method, weights)
    got = agglomerate(distances.copy(), method, weights=weights)
    np.testing.assert_allclose(got[:, [0, 1, 3]], wanted[:, [0, 1, 3]])
    np.testing.assert_allclose(got[:, 2] ** 2, wanted[:, 2], rtol=0, atol=1e-10)


@given(tied_distances(max_weight=1), st.sampled_from(METHODS))
def test_tie_rule_in_single_precision(problem, method):
    distances, weights = problem
    wanted = merge_slowly(distances, method, weights)
    got = agglomerate(distances.astype(np.float32), method, squared=False)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5)


@given(st.data(), st.sampled_from(["complete", "average", "centroid"]))
def test_equal_values_computed_two_ways_tie(data, method):
    n = data.draw(st.integers(2, 9))
    pairs = n * (n - 1) // 2
    apart = np.array(data.draw(st.lists(st.integers(0, 7), min_size=pairs, max_size=pairs)))
    other_way = np.array(data.draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs)))
    distances = np.where(other_way, 1 - (7 - apart) / 7, apart / 7)
    wanted = merge_slowly(apart, method, np.ones(n))
    got = agglomerate(distances, method, squared=False)
    np.testing.assert_array_equal(got[:, :2], wanted[:, :2])
    np.testing.assert_allclose(got[:, 2] * 7, wanted[:, 2], rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", ["single", "complete", "average", "centroid"])
@pytest.mark.parametrize("n_members", [4, 9])
def test_ties_of_co_association_after_rounding_to_12_decimals(method, n_members):
    rng = np.random.default_rng(n_members)
    n = 70
    labels = np.where(rng.random((n, n_members)) < 0.6, np.arange(n)[:, None] % 5, 0)
    condensed = pdist(labels, "hamming")
    got = agglomerate(condensed.copy(), method, squared=False)
    update = {
        "single": lambda x, y, a, b, h: np.minimum(x, y),
        "complete": lambda x, y, a, b, h: np.maximum(x, y),
        "average": lambda x, y, a, b, h: (a * x + b * y) / (a + b),
        "centroid": lambda x, y, a, b, h: (a * x + b * y) / (a + b) - a * b * h / (a + b) ** 2,
    }[method]
    d, sizes, node = squareform(condensed), np.ones(n), np.arange(n)
    d[np.tril_indices(n)] = np.inf
    for t in range(n - 1):
        i, j = divmod(int(np.argmin(np.round(d, 12))), n)
        assert list(got[t, :2]) == sorted((node[i], node[j]))
        full = np.minimum(d, d.T)
        new = update(full[i], full[j], sizes[i], sizes[j], d[i, j])
        d[i, i + 1 :], d[:i, i] = new[i + 1 :], new[:i]
        d[j], d[:, j] = np.inf, np.inf
        sizes[i] += sizes[j]
        node[i] = n + t


@given(seeds, st.integers(2, 40), st.sampled_from(METHODS))
def test_equals_scipy_without_ties(seed, n, method):
    distances = pdist(np.random.default_rng(seed).normal(size=(n, 3)))
    wanted = linkage(distances, method)
    np.testing.assert_allclose(agglomerate(distances, method), wanted, rtol=0, atol=1e-10)


@given(seeds, st.integers(2, 30), st.sampled_from(METHODS))
def test_single_precision_is_close(seed, n, method):
    distances = pdist(np.random.default_rng(seed).normal(size=(n, 3)))
    got = agglomerate(distances.astype(np.float32), method)
    np.testing.assert_allclose(got[:, 2], linkage(distances, method)[:, 2], rtol=1e-4, atol=1e-4)


@given(seeds, st.integers(2, 12), st.sampled_from(METHODS))
def test_weights_stand_for_identical_objects(seed, n, method):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    weights = rng.integers(1, 4, n)
    wanted = linkage(pdist(np.repeat(X, weights, axis=0)), method)[-(n - 1) :]
    got = agglomerate(pdist(X), method, weights=weights)
    np.testing.assert_allclose(got[:, 2:], wanted[:, 2:], rtol=0, atol=1e-10)


@given(seeds, st.integers(2, 25))
def test_unsquared_centroid_is_scipy_on_roots(seed, n):
    # Any distances will do: the rule applied to d is SciPy's rule applied to (sqrt d)².
    distances = np.random.default_rng(seed).uniform(1, 2, n * (n - 1) // 2)
    wanted = linkage(np.sqrt(distances), "centroid")
    wanted[:, 2] **= 2
    got = agglomerate(distances, "centroid", squared=False)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-10)


@given(tied_distances(), st.sampled_from(["single", "complete"]), st.booleans())
def test_counts_give_the_tree_of_their_floats(problem, method, at_the_limit):
    distances, _ = problem
    counts = distances.astype(np.uint8) + np.uint8(249 if at_the_limit else 0)
    wanted = agglomerate(counts.astype(np.float64), method)
    np.testing.assert_array_equal(agglomerate(counts, method), wanted)


def test_the_largest_integer_is_a_distance_like_any_other():
    counts = np.array([255, 255, 254, 255, 255, 255], np.uint8)
    tree = agglomerate(counts, "complete")
    np.testing.assert_array_equal(tree[:, :2], [[0, 3], [1, 4], [2, 5]])
    np.testing.assert_array_equal(tree[:, 2], [254, 255, 255])


@given(tied_distances(), st.sampled_from(MONOTONE), st.booleans())
def test_heights_never_fall(problem, method, single_precision):
    distances, weights = problem
    heights = agglomerate(
        (distances / 7).astype(np.float32 if single_precision else np.float64),
        method,
        weights=weights,
    )[:, 2]
    assert np.all(np.diff(heights) >= 0)


@given(tied_distances(), st.sampled_from(METHODS), st.sampled_from([1e-15, 1e15]))
def test_the_unit_of_the_distances_does_not_matter(problem, method, unit):
    distances, weights = problem
    wanted = agglomerate(distances.copy(), method, weights=weights)
    got = agglomerate(distances * unit, method, weights=weights)
    np.testing.assert_array_equal(got[:, [0, 1, 3]], wanted[:, [0, 1, 3]])


@pytest.mark.parametrize("method", METHODS)
def test_all_equal_distances_merge_in_order(method):
    tree = agglomerate(np.zeros(10), method)
    np.testing.assert_array_equal(tree[:, 0], [0, 2, 3, 4])
    np.testing.assert_array_equal(tree[:, 1], [1, 5, 6, 7])
    np.testing.assert_array_equal(tree[:, 2], 0)
    assert agglomerate(np.empty(0), method).shape == (0, 4)


def test_counts_cannot_be_averaged():
    with pytest.raises(ValueError, match="'average'"):
        agglomerate(np.zeros(3, np.uint8), "average")
