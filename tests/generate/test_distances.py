"""Members by distances: of any metric, or given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import METRICS, NJW, PAM, DistanceEnsemble, Linkage
from consilience.generate.distances import distances_between

NAMED = [metric for metric in METRICS if metric != "precomputed"]
GROUPS = np.repeat([0, 1, 2], 20)
SCIPY = {"manhattan": "cityblock"}


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.4, (20, 4)) for c in (0.5, 2.5, 4.5)])


@parametrize_with_checks(
    [
        PAM(2, metric="manhattan"),
        Linkage(2, metric="chebyshev"),
        NJW(2, metric="manhattan"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("metric", NAMED)
def test_named_metrics_are_those_of_scipy_and_given_ones_the_same(X, metric):
    X = np.abs(X).round(1)
    values = X > 2 if metric == "jaccard" else X
    wanted = cdist(values, values, SCIPY.get(metric, metric))
    D = distances_between(np.asarray(values, float), metric, owner="test")
    np.testing.assert_allclose(D, wanted, atol=1e-7)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()
    for named, given_ in (
        (PAM(3, metric=metric), PAM(3, metric="precomputed")),
        (Linkage(3, metric=metric), Linkage(3, metric="precomputed")),
    ):
        first, second = named.fit_predict(np.asarray(values, float)), given_.fit_predict(D)
        np.testing.assert_array_equal(first, second)
    members = [
        DistanceEnsemble(5, 3, metric=how, random_state=0).generate(what).labels
        for how, what in ((metric, np.asarray(values, float)), ("precomputed", D))
    ]
    np.testing.assert_array_equal(*members)


def test_metric_of_clusterers_is_euclidean_by_default(X):
    for clusterer in (PAM(3), Linkage(3), NJW(3, random_state=0)):
        plain = clusterer.fit_predict(X)
        by_pairs = clusterer.set_params(metric="precomputed").fit_predict(cdist(X, X))
        assert adjusted_rand_score(plain, by_pairs) == 1.0


@pytest.mark.parametrize("way", ["PAM", "average link", "complete link", "spectral", "graph"])
def test_every_way_finds_groups_that_are_apart(X, way, seed):
    members = DistanceEnsemble(2, 3, ways=[way], random_state=seed).generate(X)
    for labels in members:
        assert adjusted_rand_score(GROUPS, labels) == 1.0
    assert members.records[0]["algorithm"] == f"{way}, euclidean"


@given(st.integers(0, 2**31), st.integers(2, 9))
def test_order_of_objects_only_moves_labels(seed, n):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    order = rng.permutation(n)
    D = cdist(points, points, "cityblock")
    for k in (1, 2, n):
        way = DistanceEnsemble(2, k, metric="precomputed", ways=["complete link"], max_samples=1.0)
        first, second = (
            way.set_params(random_state=0).generate(what).labels[:, 0]
            for what in (D, D[np.ix_(order, order)])
        )
        assert adjusted_rand_score(first[order], second) == 1.0


def test_objects_left_out_go_to_the_nearest_or_stay_unseen(X):
    generator = DistanceEnsemble(5, 3, metric="manhattan", max_samples=0.5, random_state=0)
    placed = generator.generate(X)
    assert not placed.has_unseen
    assert all(adjusted_rand_score(GROUPS, labels) > 0.9 for labels in placed)
    unseen = generator.set_params(assign="unseen").generate(X)
    assert ((unseen.labels == -2).sum(axis=0) == 30).all()
    seen = unseen.labels >= 0
    np.testing.assert_array_equal(unseen.labels[seen], placed.labels[seen])


def test_a_member_of_one_object_puts_all_into_its_cluster(X):
    members = DistanceEnsemble(5, 1, max_samples=1, random_state=0).generate(X)
    assert not members.labels.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:5], r"must be a square matrix.*Got shape \(5, 60\)"),
        (lambda D: -D, r"at least 0.*Similarities are no distances"),
        (lambda D: D + 1, r"0 from an object to itself. Got 1 in row 0, column 0"),
        (lambda D: np.triu(D), r"the same both ways. Got .* in row 0, column 1, and 0"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(X, change, message):
    D = change(cdist(X, X))
    for owner in (DistanceEnsemble(2, 2, metric="precomputed"), PAM(2, metric="precomputed")):
        with pytest.raises(InvalidInputError, match=message):
            (owner.generate if hasattr(owner, "generate") else owner.fit)(D)


def test_rows_for_which_a_metric_is_not_defined_are_named(X):
    X[7] = 0.0
    with pytest.raises(InvalidInputError, match=r"'cosine' .* row 7 \(it holds only zeros\)"):
        DistanceEnsemble(2, 2, metric="cosine").generate(X)
    with pytest.raises(InvalidInputError, match=r"'correlation' .* row 7 \(all its values"):
        DistanceEnsemble(2, 2, metric="correlation").generate(X)
    X[7] = -1.0
    with pytest.raises(InvalidInputError, match=r"'braycurtis' .* at least 0"):
        DistanceEnsemble(2, 2, metric="braycurtis").generate(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "mahalanobis"}, "'metric' parameter of DistanceEnsemble must be one of"),
        ({"ways": ["k-means"]}, "'ways' parameter .* 'PAM'"),
        ({"n_clusters": 61}, "at most the number of objects a member sees, 48. Got 61"),
        ({"max_samples": 100}, "at most the number of objects, n_samples=60. Got 100"),
    ],
)
def test_bad_parameters_are_refused(X, params, message):
    with pytest.raises(InvalidParameterError, match=message):
        DistanceEnsemble(**params).generate(X)
