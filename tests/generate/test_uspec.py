"""U-SPEC: its links against brute force, its embedding against the transfer cut, its edges."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidParameterError
from consilience.generate import _spectral, uspec
from consilience.generate._spectral import Graph, Links, eigenvectors
from consilience.generate.uspec import (
    USPEC,
    USPECEnsemble,
    _representatives,
)
from consilience.kernels.data.representatives import nearest_representatives
from consilience.partition import transfer_cut
from consilience.partition.transfer import _columns, _MatrixLinks, _rows


@parametrize_with_checks(
    [USPEC(2, random_state=0), USPEC(3, n_representatives=8, n_neighbors=2, random_state=1)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def rings(seed, n=300):
    """Two circles, one inside the other."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    truth = rng.integers(0, 2, n)
    radius = 1 + 3 * truth + rng.normal(0, 0.05, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), truth


def nearest_slowly(X, centres, heads, points, near, K):
    """Reference: nearest group, nearest representative in it, nearest of its candidates."""
    which, squares = [], []
    for x in X:
        group = ((centres - x) ** 2).sum(axis=1).argmin()
        inside = points[heads[group] : heads[group + 1]]
        home = heads[group] + ((inside - x) ** 2).sum(axis=1).argmin()
        gaps = ((points[near[home]] - x) ** 2).sum(axis=1)
        order = np.argsort(gaps, kind="stable")[:K]
        which.append(near[home][order])
        squares.append(gaps[order])
    return np.array(which), np.array(squares)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 12), st.integers(1, 4))
def test_links_equal_their_definition(seed, d, p, K):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (p, d)).astype(float)  # whole numbers: sums are exact, ties exist
    n_groups = int(rng.integers(1, p + 1))
    heads = np.sort(np.concatenate([[0, p], rng.choice(np.arange(1, p), n_groups - 1, False)]))
    centres = rng.integers(-3, 4, (n_groups, d)).astype(float)
    m = int(rng.integers(min(K, p), p + 1))
    near = np.stack([rng.permutation(p)[:m] for _ in range(p)])
    X = rng.integers(-3, 4, (15, d)).astype(float)
    got = nearest_representatives(X, centres, heads, points, near, min(K, m))
    which, squares = nearest_slowly(X, centres, heads, points, near, min(K, m))
    np.testing.assert_array_equal(got[0], which)
    np.testing.assert_array_equal(got[1], squares)


@pytest.mark.parametrize("n_blocks", [1, 3, 17])
def test_blocks_of_objects_change_nothing(n_blocks, seed):
    X = np.random.default_rng(seed).normal(size=(200, 6))
    parts = _representatives(X, 40, np.random.default_rng(seed))
    links = Links(*parts, 5)
    whole = links.nearest(X)
    blocks = [links.nearest(np.ascontiguousarray(b)) for b in np.array_split(X, n_blocks)]
    for got, expected in zip(zip(*blocks, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(got), expected)


def test_with_candidates_enough_the_neighbours_are_the_exact_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    points, heads, centres = _representatives(X, 30, rng)
    which, squares = Links(points, heads, centres, 4).nearest(X)  # 41 candidates of 30
    gaps = cdist(X, points, "sqeuclidean")
    np.testing.assert_array_equal(which, np.argsort(gaps, axis=1)[:, :4])
    np.testing.assert_allclose(squares, np.sort(gaps, axis=1)[:, :4])


def test_candidates_are_the_representative_itself_and_ten_for_each_neighbour(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    points, heads, centres = _representatives(X, 50, rng)
    near = np.argsort(cdist(points, points), axis=1)[:, :21]
    which, squares = nearest_slowly(X, centres, heads, points, near, 2)
    got = Links(points, heads, centres, 2).nearest(X)
    np.testing.assert_array_equal(got[0], which)
    np.testing.assert_allclose(got[1], squares)


def test_most_neighbours_are_the_exact_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 3))
    points, heads, centres = _representatives(X, 100, rng)
    which, _ = Links(points, heads, centres, 3).nearest(X)
    exact = np.argsort(cdist(X, points), axis=1)[:, :3]
    hits = [len(np.intersect1d(a, b)) for a, b in zip(which, exact, strict=True)]
    assert np.mean(hits) > 2.7


def test_representatives_lie_in_their_groups(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 2))
    points, heads, centres = _representatives(X, 50, rng)
    assert points.shape == (50, 2)
    assert len(centres) == len(heads) - 1 <= 7
    assert heads[-1] == 50
    groups = np.repeat(np.arange(len(centres)), np.diff(heads))
    np.testing.assert_array_equal(cdist(points, centres).argmin(axis=1), groups)


class Fixed(Links):
    """Links that are known."""

    def __init__(self, nearest, n_points):
        self.known, self.points = nearest, np.empty((n_points, 1))

    def nearest(self, X):
        return self.known


def test_affinities_are_gaussian_with_the_mean_distance_as_width(seed):
    squares = np.random.default_rng(seed).random((6, 2))
    which = np.array([[0, 1], [1, 2], [2, 0], [0, 2], [1, 0], [2, 1]], np.int32)
    graph = Graph(np.empty((6, 1)), Fixed((which, squares), 3))
    links, sigma = graph._links, graph.sigma
    assert sigma == pytest.approx(np.sqrt(squares).mean())
    for i in range(6):
        for j in range(2):
            value = np.exp(-squares[i, j] / (2 * sigma**2))
            assert links[i, which[i, j]] == pytest.approx(value)
    # Representatives nobody is linked to vanish; a link too weak to be a number stays a link.
    far = np.array([[0.0, 0.0]] * 5000 + [[0.0, 1e300]])
    graph = Graph(np.empty((5001, 1)), Fixed((np.array([[0, 3]] * 5001, np.int32), far), 5))
    W, used = graph.between_representatives()
    assert used.tolist() == [0, 3]
    assert W.shape == (2, 2)
    assert graph._links.data.min() > 0


def test_the_embedding_is_that_of_the_transfer_cut(seed):
    X, truth = rings(seed)
    rng = np.random.default_rng(seed)
    points, heads, centres = _representatives(X, 50, rng)
    graph = Graph(X, Links(points, heads, centres, 5))
    W, used = graph.between_representatives()
    got = graph.embedded(eigenvectors(W, 4, np.random.RandomState(0)), used)
    links = graph._links[:, used]
    every, ones = np.arange(links.shape[1]), np.ones(len(X))
    cut, rng = _MatrixLinks(links), np.random.RandomState(0)
    expected, _ = _rows(cut, *_columns(cut, every, ones, 4, rng), None, rng, 1)
    np.testing.assert_allclose(got, expected, atol=1e-10)
    labels = USPEC(2, n_representatives=50, random_state=seed).fit(X).labels_
    assert adjusted_rand_score(labels, transfer_cut(links, 2, random_state=0).labels) == 1.0
    assert adjusted_rand_score(labels, truth) == 1.0


def test_more_representatives_than_objects_are_the_distinct_objects(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.3, (15, 2)) for c in (0, 4)])
    X = np.concatenate([X, X[:5]])
    model = USPEC(2, n_representatives=1000, random_state=seed).fit(X)
    assert len(model.representatives_) == 30
    np.testing.assert_array_equal(model.labels_[30:], model.labels_[:5])
    assert adjusted_rand_score(np.repeat([0, 1, 0], [15, 15, 5]), model.labels_) == 1.0


@pytest.mark.parametrize(
    ("n", "k", "wanted"), [(9, 2, 9), (60, 2, 20), (60, 15, 30), (300, 2, 60), (6000, 2, 1000)]
)
def test_representatives_have_some_objects_each_unless_told_otherwise(n, k, wanted):
    X = np.random.default_rng(0).normal(size=(n, 2))
    assert len(USPEC(k, random_state=0).fit(X).representatives_) == wanted


def test_more_neighbours_than_representatives_are_all_of_them():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    model = USPEC(2, n_neighbors=50, random_state=0).fit(X)
    assert adjusted_rand_score([0, 0, 0, 1, 1, 1], model.labels_) == 1.0


def test_one_cluster_and_labels_without_holes(seed):
    X = np.random.default_rng(seed).normal(size=(100, 2))
    assert USPEC(1, random_state=seed).fit(X).labels_.tolist() == [0] * 100
    labels = USPEC(20, n_representatives=25, random_state=seed).fit(X).labels_
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
    assert labels.dtype == np.int32


@pytest.mark.parametrize("n_representatives", [3, 1000])
def test_equal_objects_make_fewer_clusters(n_representatives):
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 10, axis=0)
    for wanted in (1, 2):
        labels = USPEC(wanted, n_representatives=n_representatives, random_state=0).fit_predict(X)
        assert len(np.unique(labels)) <= 2
        assert len(np.unique(labels[:10])) == len(np.unique(labels[10:])) == 1
    constant = np.ones((12, 3))
    assert USPEC(2, n_representatives=4, random_state=0).fit(constant).labels_.tolist() == [0] * 12


def test_as_many_clusters_as_representatives_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    message = r"'n_clusters' parameter of USPEC must be below .* 10 \(n_representatives=10, .*=50\)"
    with pytest.raises(InvalidParameterError, match=f"{message}. Got 10"):
        USPEC(10, n_representatives=10).fit(X)
    with pytest.raises(InvalidParameterError, match=r"below .* 50 \(.*=None, n_samples=50\)"):
        USPEC(50).fit(X)
    with pytest.raises(InvalidParameterError, match=r"USPECEnsemble must be below .*, 10 "):
        USPECEnsemble(2, 10, n_representatives=10).generate(X)
    with pytest.raises(
        InvalidParameterError, match=r"USPECEnsemble must be below .* Got \[3, 12\]"
    ):
        USPECEnsemble(2, [3, 12], n_representatives=10).generate(X)


def test_a_range_of_clusters_is_cut_off_below_the_representatives(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    ensemble = USPECEnsemble(12, (5, 60), n_representatives=9, random_state=seed).generate(X)
    assert {record["n_clusters"] for record in ensemble.records} <= {5, 6, 7, 8}
    usual = USPECEnsemble(12, random_state=seed).generate(X)
    assert {record["n_clusters"] for record in usual.records} <= set(range(3, 11))
    assert {record["n_representatives"] for record in usual.records} == {20}
    edge = USPECEnsemble(3, (8, 60), n_representatives=9, random_state=seed).generate(X)
    assert [record["n_clusters"] for record in edge.records] == [8, 8, 8]
    small = USPECEnsemble(3, random_state=seed).generate(X[:10])
    assert [record["n_clusters"] for record in small.records] <= [5, 5, 5]
    published = USPECEnsemble(3, n_representatives=1000, random_state=seed).generate(X[:10])
    assert [record["n_clusters"] for record in published.records] == [9, 9, 9]
    assert [record["n_representatives"] for record in small.records] == [10, 10, 10]


def test_a_seed_fixes_the_members_whatever_the_workers(seed):
    X, truth = rings(seed)
    generator = USPECEnsemble(4, (2, 6), n_representatives=50, random_state=seed)
    first = generator.generate(X)
    second = clone(generator).set_params(n_jobs=2).generate(X)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert len({record["sigma"] for record in first.records}) == 4
    for labels, record in zip(first, first.records, strict=True):
        assert record["algorithm"] == "U-SPEC"
        assert record["error"] is None
        assert record["sigma"] > 0
        # No cluster reaches from one ring into the other.
        for cluster in range(labels.max() + 1):
            assert len(np.unique(truth[labels == cluster])) == 1


def test_members_take_fewer_iterations_than_the_clusterer():
    alone, member = USPEC().get_params(), USPECEnsemble().get_params()
    assert (alone["n_init"], alone["max_iter"]) == (3, 100)
    assert (member["n_init"], member["max_iter"]) == (1, 5)
    assert (member["n_members"], member["n_clusters"]) == (20, (20, 60))
    assert alone["n_representatives"] is member["n_representatives"] is None
    assert alone["n_neighbors"] == member["n_neighbors"] == 5
    assert uspec._REPRESENTATIVE_ITERATIONS == uspec._DRAWN == _spectral._CANDIDATES == 10


def test_constant_data_make_members_of_one_cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = USPECEnsemble(3, random_state=0).generate(np.ones((30, 2)))
    assert ensemble.n_clusters.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_representatives": 1}, "'n_representatives' parameter of {} must be .* Got 1"),
        ({"n_neighbors": 0}, "'n_neighbors' .* Got 0"),
        ({"n_init": 0}, "'n_init' .* Got 0"),
        ({"max_iter": 2.5}, "'max_iter' .* Got 2.5"),
        ({"random_state": "zero"}, "'random_state' .* Got 'zero'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(InvalidParameterError, match=message.format("USPEC")):
        USPEC(2, **params).fit(X)
    with pytest.raises(InvalidParameterError, match=message.format("USPECEnsemble")):
        USPECEnsemble(2, 2, **params).generate(X)


@pytest.mark.parametrize("power", [700, -700])
def test_representatives_and_width_are_in_the_unit_of_the_data(power, seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    here = USPEC(3, n_representatives=12, random_state=seed).fit(X)
    there = USPEC(3, n_representatives=12, random_state=seed).fit(np.ldexp(X, power))
    np.testing.assert_array_equal(there.labels_, here.labels_)
    near = np.ldexp(there.representatives_, -power)
    np.testing.assert_allclose(near, here.representatives_, rtol=1e-12)
    assert np.ldexp(there.sigma_, -power) == pytest.approx(here.sigma_)
