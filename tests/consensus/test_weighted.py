"""Weighted-object methods: cuts, weighted k-means, degenerate inputs."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import _memberships
from consilience.consensus._cuts import whole_sizes
from consilience.consensus._rows import distinct_rows
from consilience.consensus.metacluster import mcla, overlap
from consilience.consensus.soft import WOHB, WOSP, wohb, wosp
from consilience.consensus.weighted import WOMC, WOKMeans, _weighted_rows, wokmeans, womc
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence.weights import object_weights
from consilience.generate import KMeansEnsemble, woec

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

SOFT = [wosp, wohb]
ALL = [womc, wosp, wohb, wokmeans]


@pytest.fixture
def blobs(seed):
    """Three groups of thirty, and ten k-means members of two to four clusters."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.5, (30, 2)) for c in ((0, 0), (4, 0), (2, 4))])
    return X, KMeansEnsemble(10, (2, 4), random_state=seed).generate(X), np.repeat([0, 1, 2], 30)


# ---- the similarity of clusters ---------------------------------------------------------


def test_the_example_of_figure_3():
    weights = np.array([0.8, 0.8, 0.8, 0.2, 0.6, 0.8, 0.2, 0.2, 0.2, 0.4])
    first = [0] * 5 + [0, 0, 0, 1, 1]
    second = [0] * 5 + [1, 1, 1, 0, 0]
    ensemble = Ensemble([first, second])
    rows, row_weights = _weighted_rows(ensemble, weights, weights)
    assert overlap(rows, row_weights)[0, 2] == pytest.approx(0.64, abs=1e-12)
    assert overlap(distinct_rows(ensemble), np.ones(3))[0, 2] == pytest.approx(0.5)


@given(ensembles(min_objects=2))
def test_overlaps_equal_equation_5(ensemble):
    weights = object_weights(ensemble)
    got = overlap(*_weighted_rows(ensemble, weights, "one-shot"))
    sets = [
        {i for i in range(ensemble.n_objects) if labels[i] == c}
        for labels, k in zip(ensemble, ensemble.n_clusters, strict=True)
        for c in range(k)
    ]
    for (a, one), (b, other) in product(enumerate(sets), repeat=2):
        wanted = sum(weights[i] for i in one & other) / sum(weights[i] for i in one | other)
        assert got[a, b] == pytest.approx(wanted, abs=1e-10)


def test_objects_go_to_the_meta_cluster_that_holds_most_of_their_clusters(blobs):
    _, ensemble, _ = blobs
    found = womc(ensemble, 3, random_state=0)
    meta = found.details["meta_clusters"]
    B = ensemble.indicator().toarray().astype(float)
    T = np.column_stack([B[:, meta == q].mean(axis=1) for q in range(3)])
    T /= T.sum(axis=1, keepdims=True)
    # Meta-clusters have the numbers of the labels.
    np.testing.assert_allclose(found.memberships, T, atol=1e-10)
    own = found.memberships[np.arange(len(T)), found.labels]
    np.testing.assert_allclose(own, found.memberships.max(axis=1), atol=1e-12)


def test_without_weights_it_is_mcla(blobs):
    _, ensemble, _ = blobs
    for k, seed in product((2, 3, 5), (0, 1)):
        plain = mcla(ensemble, k, random_state=seed)
        found = womc(ensemble, k, weights=None, random_state=seed)
        np.testing.assert_array_equal(found.labels, plain.labels)
        assert found.objective == pytest.approx(plain.objective)


def test_weights_may_be_given_and_differ_between_equal_objects(blobs):
    _, ensemble, truth = blobs
    own = object_weights(ensemble)
    one_shot = womc(ensemble, 3, random_state=0)
    given_back = womc(ensemble, 3, weights=own, random_state=0)
    assert adjusted_rand_score(one_shot.labels, given_back.labels) == 1
    np.testing.assert_allclose(one_shot.details["object_weights"], own)
    odd = np.random.default_rng(0).uniform(0.1, 1, len(own))
    found = womc(ensemble, 3, weights=odd, vertex="size", random_state=0)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    np.testing.assert_array_equal(found.details["object_weights"], odd)


@pytest.mark.parametrize("method", [womc])
def test_label_only_methods_do_not_see_the_order_of_objects(method, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 25)[:, None] * np.ones((1, 9), int)
    wrong = rng.random(labels.shape) < 0.3
    labels[wrong] = rng.integers(0, 4, wrong.sum())
    order = rng.permutation(100)
    first = method(Ensemble(labels), 4, random_state=seed).labels
    second = method(Ensemble(labels[order]), 4, random_state=seed).labels
    assert adjusted_rand_score(first[order], second) == 1


# ---- cuts -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
def test_groups_are_found_whatever_the_weights(method, blobs):
    X, ensemble, truth = blobs
    for weights in ("one-shot", None, np.linspace(0.5, 1, 90)):
        found = method(ensemble, 3, X=X, weights=weights, random_state=0)
        # METIS is a heuristic: on complete graphs of low contrast it may swap a few objects.
        assert adjusted_rand_score(truth, found.labels) > 0.8
        assert found.details["object_weights"].shape == (90,)


@pytest.mark.parametrize(
    ("method", "solver"),
    [(wosp, s) for s in ("metis", "balanced", "spectral")] + [(wohb, "metis"), (wohb, "spectral")],
)
def test_every_solver_finds_the_groups_and_says_its_name(method, solver, blobs):
    if solver == "metis":
        pytest.importorskip("pymetis")
    X, ensemble, truth = blobs
    found = method(ensemble, 3, X=X, solver=solver, random_state=0)
    assert adjusted_rand_score(truth, found.labels) > (0.8 if solver == "metis" else 0.99)
    assert found.solver == solver
    # Each of METIS's two bisections may leave one object of ninety on the wrong side.
    assert 1 <= found.details["balance"] <= (32 / 30 if solver == "metis" else 1)


@pytest.mark.parametrize("solver", ["metis", "balanced"])
def test_sizes_are_kept(solver, seed):
    if solver == "metis":
        pytest.importorskip("pymetis")
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(0, 0.3, (60, 2)), rng.normal(4, 0.3, (20, 2))])
    ensemble = KMeansEnsemble(8, 2, random_state=seed).generate(X)
    slack = 3 if solver == "metis" else 0
    equal = wosp(ensemble, 2, X=X, solver=solver, random_state=0)
    np.testing.assert_allclose(np.bincount(equal.labels), [40, 40], atol=slack)
    found = wosp(ensemble, 2, X=X, solver=solver, sizes=[1, 3], random_state=0)
    np.testing.assert_allclose(np.bincount(found.labels), [60, 20], atol=slack)
    assert found.details["balance"] == np.bincount(found.labels).max() / 40


def test_sizes_become_whole_numbers():
    assert whole_sizes([1, 1, 1], 10).sum() == 10
    assert whole_sizes([1000, 1], 4).tolist() == [3, 1]
    for sizes, message in (([1, 1, 1], "n_clusters=2 clusters. Got 3"), ([0, 1], "'sizes' .* Got")):
        with pytest.raises(InvalidParameterError, match=message):
            wosp(Ensemble([[0, 0, 1]]), 2, sizes=sizes)
    with pytest.raises(InvalidParameterError, match="Got solver='spectral'"):
        wosp(Ensemble([[0, 0, 1]]), 2, sizes=[1, 2], solver="spectral")


def test_objects_alone_may_be_balanced(seed):
    pytest.importorskip("pymetis")
    X = np.random.default_rng(seed).normal(size=(60, 2))
    ensemble = woec(40, 4, random_state=seed).generate(X)
    found = wohb(ensemble, 4, X=X, balance="objects", random_state=seed)
    assert np.bincount(found.labels).tolist() == [15] * 4


@pytest.mark.parametrize("method", SOFT)
def test_blocks_and_threads_change_nothing(method, blobs, monkeypatch):
    X, ensemble, _ = blobs
    whole = method(ensemble, 4, X=X, random_state=3)
    for block, jobs in ((1, None), (17, 2), (64, 2)):
        monkeypatch.setattr(_memberships, "_BLOCK", block)
        again = method(ensemble, 4, X=X, random_state=3, n_jobs=jobs)
        np.testing.assert_array_equal(again.labels, whole.labels)


@compiled
def test_large_data_are_cut_without_the_matrix(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.4, (3000, 2)) for c in ((0, 0), (4, 0), (2, 4))])
    ensemble = KMeansEnsemble(6, 3, max_samples=0.1, random_state=seed).generate(X)
    plain = wosp(ensemble, 3, X=X, random_state=0)
    monkeypatch.setattr(_memberships, "_COMPRESS", 0)
    turned = wosp(ensemble, 3, X=X, solver="metis", random_state=0)
    assert plain.solver == turned.solver == "balanced"
    assert "refused" in turned.details["note"]
    assert np.bincount(plain.labels).tolist() == [3000] * 3
    assert adjusted_rand_score(plain.labels, turned.labels) > 0.999


# ---- weighted k-means -------------------------------------------------------------------


def test_weighted_k_means_ends_at_a_fixed_point(blobs):
    X, ensemble, _ = blobs
    found = wokmeans(ensemble, 5, X=X, random_state=0)
    w, labels = object_weights(ensemble), found.labels
    centres = np.array(
        [np.average(X[labels == c], axis=0, weights=w[labels == c]) for c in range(5)]
    )
    squares = ((X[:, None] - centres[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(squares.argmin(axis=1), labels)
    assert found.objective == pytest.approx((w * squares.min(axis=1)).sum())
    assert found.converged


def test_weighted_k_means_finds_the_best_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(7, 1)), rng.uniform(0.1, 1, 7)
    ensemble = Ensemble(rng.integers(0, 3, (7, 3)))
    costs = []
    for labels in product((0, 1), repeat=7):
        labels = np.array(labels)
        parts = [labels == c for c in set(labels)]
        means = [np.average(X[p], axis=0, weights=w[p]) for p in parts]
        costs.append(
            sum((w[p][:, None] * (X[p] - m) ** 2).sum() for p, m in zip(parts, means, strict=True))
        )
    found = wokmeans(ensemble, 2, X=X, weights=w, n_init=42, random_state=seed)
    assert found.objective == pytest.approx(min(costs))


def test_more_starts_are_never_worse(blobs):
    X, ensemble, _ = blobs
    one, ten = (wokmeans(ensemble, 6, X=X, n_init=n, random_state=1).objective for n in (1, 10))
    assert ten <= one * (1 + 1e-12)


# ---- degenerate inputs ------------------------------------------------------------------


@st.composite
def problems(draw):
    ensemble = draw(ensembles(min_objects=3, max_objects=9))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = rng.normal(draw(st.sampled_from([0, 1e4])), 1, (ensemble.n_objects, 2))
    return ensemble, X, rng.uniform(0.1, 1, ensemble.n_objects)


def _too_few_clusters(ensemble, k):
    """Whether meta-clusters are wanted that the members have not enough clusters for."""
    placed = (ensemble.members >= 0).any(axis=0)
    distinct = len(np.unique(ensemble.labels[placed], axis=0))
    return 1 < k < distinct and ensemble.n_clusters.sum() < k


@pytest.mark.parametrize("method", ALL)
@given(problem=problems(), k=st.integers(1, 9))
def test_every_object_of_any_ensemble_is_labelled(method, problem, k):
    ensemble, X, _ = problem
    k = min(k, ensemble.n_objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        if method is womc and _too_few_clusters(ensemble, k):
            with pytest.raises(InvalidParameterError, match="number of clusters of all members"):
                method(ensemble, k, X=X, random_state=0)
            return
        found = method(ensemble, k, X=X, random_state=0)
    assert found.labels.shape == (ensemble.n_objects,)
    assert found.labels.max() < k
    used = np.unique(found.labels[found.labels >= 0])
    np.testing.assert_array_equal(used, np.arange(len(used)))


@pytest.mark.parametrize("method", ALL)
def test_one_member_is_returned(method, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [6, 9, 15])
    X = truth[:, None] * 2 + rng.normal(0, 0.1, (30, 2))
    found = method(Ensemble([truth]), 3, X=X, random_state=0)
    assert adjusted_rand_score(truth, found.labels) == 1


@pytest.mark.parametrize("method", SOFT)
def test_one_member_with_other_clusters_is_cut(method, seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    found = method(Ensemble([X[:, 0] > 0]), 3, X=X, random_state=0)
    assert found.n_clusters == 3
    np.testing.assert_allclose(found.details["object_weights"], 0.01 / 1.01)


@pytest.mark.parametrize("method", SOFT)
def test_members_with_one_cluster_change_nothing(method, blobs):
    X, ensemble, _ = blobs
    constant = Ensemble([*ensemble, np.zeros(90, int)])
    weights = object_weights(ensemble)
    first = method(ensemble, 4, X=X, weights=weights, random_state=0)
    second = method(constant, 4, X=X, weights=weights, random_state=0)
    np.testing.assert_array_equal(first.labels, second.labels)


@pytest.mark.parametrize("method", SOFT)
def test_members_that_tell_nothing_apart_give_one_cluster(method):
    ensemble = Ensemble([[0, 0, 0, -1], [0, 0, 0, 0]])
    with pytest.warns(ConsilienceWarning, match="No member has more than one cluster"):
        found = method(ensemble, 2, X=np.arange(4.0)[:, None])
    assert found.labels.tolist() == [0] * 4


@pytest.mark.parametrize("method", SOFT)
def test_unseen_objects_have_memberships_by_the_data(method, blobs):
    X, ensemble, truth = blobs
    labels = ensemble.labels.copy()
    labels[np.random.default_rng(0).random(labels.shape) < 0.4] = -2
    found = method(Ensemble(labels), 3, X=X, random_state=0)
    assert adjusted_rand_score(truth, found.labels) > 0.8


@pytest.mark.parametrize("method", [wosp, wohb, wokmeans])
def test_data_are_needed_finite_and_of_the_same_objects(method):
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(InvalidInputError, match=r"uses the data as well .* X=X"):
        method(ensemble, 2)
    with pytest.raises(ValueError, match="NaN"):
        method(ensemble, 2, X=[[0.0], [1], [np.nan], [3]])
    with pytest.raises(InvalidInputError, match="X has 3 rows, the ensemble 4 objects"):
        method(ensemble, 2, X=np.ones((3, 1)))


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("weights", ["many", [1, -1, 1, 1], [np.nan] * 4, np.ones((2, 2))])
def test_wrong_weights_are_refused(method, weights):
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(InvalidParameterError, match="'weights' parameter of WO"):
        method(ensemble, 2, X=np.arange(4.0)[:, None], weights=weights)
    with pytest.raises(InvalidInputError, match=r"each of the 4 objects. Got 2 instead"):
        method(ensemble, 2, X=np.arange(4.0)[:, None], weights=[1, 1])


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (womc, {"vertex": "area"}),
        (womc, {"solver": "balanced"}),
        (wosp, {"t": 0}),
        (wosp, {"t_mode": "last"}),
        (wosp, {"solver": "kway"}),
        (wohb, {"balance": "clusters"}),
        (wohb, {"solver": "balanced"}),
        (wokmeans, {"n_init": 0}),
        (wokmeans, {"max_iter": 1.5}),
    ],
)
def test_wrong_parameters_are_named(method, params):
    name, value = next(iter(params.items()))
    with pytest.raises(InvalidParameterError, match=rf"'{name}' parameter of WO.* Got {value!r}"):
        method(Ensemble([[0, 0, 1]]), 2, X=np.ones((3, 1)), **params)


@pytest.mark.parametrize("estimator", [WOMC, WOSP, WOHB, WOKMeans])
def test_estimators_say_what_their_function_says(estimator, blobs):
    X, ensemble, truth = blobs
    model = estimator(3, weights=None, random_state=0).fit(X, ensemble=ensemble)
    function = {WOMC: womc, WOSP: wosp, WOHB: wohb, WOKMeans: wokmeans}[estimator]
    found = function(ensemble, 3, weights=None, X=X, random_state=0)
    np.testing.assert_array_equal(model.labels_, found.labels)
    assert model.objective_ == found.objective
    np.testing.assert_array_equal(model.details_["object_weights"], 1)
    own = estimator(3, random_state=0).fit(X)
    assert own.ensemble_.n_members == 40
    assert adjusted_rand_score(truth, own.labels_) > 0.8
