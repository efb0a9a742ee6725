"""EWOCS: the identities of its scores, runs however divided, new objects, odd data."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import EAC
from consilience.datasets._minority import make_minority, make_toy_minority
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.minority import BBOCC, DGRADE, EXPECTED_FAILED_CHECKS, BBCPress
from consilience.minority import scores as engine
from consilience.minority._stopping import Progress
from consilience.minority.divergences import resolve
from consilience.minority.ewocs import EWOCS
from consilience.minority.scores import Running, extend, score_objects
from consilience.minority.weak import weak_clusterer

WEAKS = {
    "split": {"weak": "split", "k_max": 9},
    "hard": {"weak": "hard", "divergence": "mahalanobis", "k_max": 12},
    "soft": {"weak": "soft", "gamma": 10.0, "k_max": 12},
    "soft mean": {"gamma": 10.0, "aggregate": "mean", "k_max": 12},
    "soft euclidean": {"divergence": "euclidean", "k_max": 12},
}


@pytest.fixture(params=sorted(WEAKS))
def params(request):
    # The tests of the references are in test_reference.py.
    return {"n_repetitions": 20, "threshold": "2gauss", "random_state": 3, **WEAKS[request.param]}


@pytest.fixture(scope="module")
def toy():
    return make_toy_minority(0.2, random_state=0)


# Weights change chances, copies change draws: see the table. (Without arguments dense objects, too
# few for a reference, are all background either way.)
WITHOUT_WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": EXPECTED_FAILED_CHECKS["EWOCS"][
        "check_sample_weight_equivalence_on_sparse_data"
    ]
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        # Its data are groups without a background: nearly all objects are wanted.
        EWOCS(n_repetitions=10, threshold="size", n_foreground=0.9),
        # One check leaves the seed to chance: hard clusters or splits of its four equal places may
        # tell nothing apart, which is worth a warning to a user.
        EWOCS(
            "hard",
            divergence="mahalanobis",
            n_repetitions=10,
            threshold="size",
            n_foreground=0.9,
            random_state=0,
        ),
        EWOCS(
            "split",
            n_repetitions=30,
            threshold="size",
            n_foreground=0.9,
            n_clusters=3,
            random_state=0,
        ),
        EWOCS(n_repetitions=10, score_by="knn", threshold="size", n_foreground=0.9),
    ],
    expected_failed_checks=lambda model: WITHOUT_WEIGHTS,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(WEAKS))
@pytest.mark.parametrize("aggregate", ["mean", "log"])
def test_scores_are_sums_of_co_occurrences(name, aggregate, seed):
    X = np.random.default_rng(seed).uniform(-2, 2, (40, 2))
    kind = WEAKS[name]
    divergence = kind.get("divergence", "gaussian")
    weak = weak_clusterer(kind.get("weak", "soft"), divergence=divergence, k_max=9).fit(X)
    total = np.zeros(40)
    for r in range(6):
        draw = weak.draw(seed, r)
        G = weak.grades(weak.objects(X), weak.model(X, draw))
        s = (G @ G.T).sum(axis=1)
        k = draw.n_clusters
        assert (s >= 1 / k - 1e-9).all()
        assert (s <= 40 + 1e-9).all()
        np.testing.assert_allclose(s.sum(), (G.sum(axis=0) ** 2).sum())
        total += s / 40 if aggregate == "mean" else np.log(s * k / 40)
    found = score_objects(X, weak, 6, seed=seed, aggregate=aggregate)
    np.testing.assert_allclose(found.scores, total / 6, rtol=1e-10, atol=1e-12)


def test_a_hard_limit_of_soft_is_hard(seed):
    X = np.random.default_rng(seed).normal(size=(200, 2))
    soft = weak_clusterer("soft", divergence=resolve("gaussian", alpha=1e6, gamma=0.1), k_max=15)
    hard = weak_clusterer("hard", divergence="euclidean", k_max=15)
    one, two = (score_objects(X, weak, 30, seed=seed).scores for weak in (soft, hard))
    np.testing.assert_allclose(one, two, rtol=0.01)


def test_rows_in_another_order_get_the_same_scores(params, seed):
    X = np.random.default_rng(seed).uniform(size=(50, 3))
    kind = params.get("weak", "soft")
    weak = weak_clusterer(kind, divergence=params.get("divergence", "gaussian"), k_max=9)
    order = np.random.default_rng(seed).permutation(50)
    first, second = weak.fit(X), weak.fit(X[order])
    for r in range(3):
        draw = first.draw(seed, r)
        G = first.grades(first.objects(X), first.model(X, draw))
        H = second.grades(second.objects(X[order]), second.model(X, draw))
        np.testing.assert_allclose(G[order], H, atol=1e-9)


def test_threads_blocks_and_memory_change_nothing(params, toy, monkeypatch):
    X = toy[0]
    one = EWOCS(**params).fit(X)
    two = EWOCS(**params, n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    monkeypatch.setattr(engine, "_KEPT", 0)
    again = EWOCS(**params).fit(X)
    np.testing.assert_array_equal(one.scores_, again.scores_)
    np.testing.assert_array_equal(one.labels_, again.labels_)
    monkeypatch.setattr(engine, "_BLOCK", 37)
    chunked = EWOCS(**params).fit(X)
    np.testing.assert_allclose(one.scores_, chunked.scores_, rtol=1e-11)
    np.testing.assert_array_equal(one.labels_, chunked.labels_)


@pytest.mark.parametrize("first", [1, 7, 13])
def test_continuing_equals_one_run(params, first, toy):
    X = toy[0]
    whole = EWOCS(**params).fit(X)
    parts = EWOCS(**(params | {"n_repetitions": first})).fit(X)
    if first == 7:
        parts = pickle.loads(pickle.dumps(parts))
    parts.more(X, 20 - first)
    assert parts.n_repetitions_ == 20
    for name in ("scores_", "labels_", "standard_errors_", "undecided_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.threshold_ == whole.threshold_
    assert parts.reliability_ == whole.reliability_
    np.testing.assert_array_equal(parts.score_samples(X[:9]), whole.score_samples(X[:9]))


def test_continuing_with_other_objects_is_refused(toy):
    X = toy[0]
    model = EWOCS(gamma=10.0, n_repetitions=5, random_state=0).fit(X)
    with pytest.raises(InvalidInputError, match="fitted on"):
        model.more(X + 1e-3)


def test_fitted_objects_get_their_scores_and_labels_again(params, toy):
    X = toy[0]
    model = EWOCS(**params).fit(X)
    np.testing.assert_array_equal(model.score_samples(X), model.scores_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    # One at a time the sums run in another order.
    some = np.r_[0:40, np.abs(model.scores_ - model.threshold_).argmin()]
    np.testing.assert_allclose(model.score_samples(X[some]), model.scores_[some], rtol=1e-9)
    alone = np.concatenate([model.predict(X[[i]]) for i in some])
    np.testing.assert_array_equal(alone, model.labels_[some])


# Two objects always score alike.
@pytest.mark.filterwarnings("ignore:Nothing stands out")
@given(seed=st.integers(0, 2**31), n=st.integers(1, 40))
@settings(max_examples=15)
def test_labels_follow_the_threshold(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(1)
    model = EWOCS(gamma=3.0, k_max=5, n_repetitions=4, threshold="dist", random_state=seed).fit(X)
    np.testing.assert_array_equal(model.labels_ >= 0, model.scores_ >= model.threshold_)
    assert model.n_foreground_ == (model.labels_ >= 0).sum()
    found = np.unique(model.labels_[model.labels_ >= 0])
    np.testing.assert_array_equal(found, np.arange(model.n_clusters_))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("name", ["soft", "soft mean", "soft euclidean"])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_single_precision_agrees(name, shift, seed):
    X = make_minority(5, background=0.2, foreground=0.2, random_state=seed)[0]
    # Rounded so that the shifted data are the same in both precisions.
    X = (np.rint(X * 1024) / 1024 + shift).astype(np.float32)
    params = {"n_repetitions": 30, "threshold": "2gauss", "random_state": 0, **WEAKS[name]}
    single, double = EWOCS(**params).fit(X), EWOCS(**params).fit(X.astype(np.float64))
    assert single.divergence_ is not None
    scale = np.abs(double.scores_).max()
    assert np.abs(single.scores_ - double.scores_).max() < 1e-5 * scale


def test_new_objects_are_judged_in_the_precision_of_the_model(params, toy):
    X = toy[0]
    for first, second in ((np.float32, np.float64), (np.float64, np.float32)):
        model = EWOCS(**params).fit(X.astype(first))
        found = model.score_samples(X.astype(first).astype(second))
        same = np.isclose(found, model.scores_, rtol=1e-4, atol=1e-4)
        # The input is rounded: of hard clusters a border may move across an object.
        assert same.mean() > 0.9
        assert (model.predict(X.astype(second)) >= 0).any()


def test_hard_scores_in_single_precision_are_near(seed):
    X = make_minority(5, background=0.2, foreground=0.2, random_state=seed)[0].astype(np.float32)
    params = {"weak": "hard", "divergence": "mahalanobis", "n_repetitions": 30, "random_state": 0}
    single, double = EWOCS(**params).fit(X), EWOCS(**params).fit(X.astype(np.float64))
    np.testing.assert_allclose(single.scores_, double.scores_, rtol=0.01, atol=0.01)


def test_sparse_equals_dense(seed):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((300, 40), density=0.1, rng=rng, format="csr")
    for kind in ({"gamma": 1.0, "scaling": "none"}, {"weak": "split", "scaling": "none"}):
        params = {"n_repetitions": 10, "random_state": 0, **kind}
        dense, stored = EWOCS(**params).fit(X.toarray()), EWOCS(**params).fit(X)
        np.testing.assert_allclose(dense.scores_, stored.scores_, rtol=1e-9)
        np.testing.assert_allclose(stored.score_samples(X), stored.scores_, rtol=1e-12)


def test_a_kernel_matrix_equals_its_vectors(seed):
    X = np.random.default_rng(seed).normal(size=(80, 2))
    params = {"n_repetitions": 20, "random_state": 0, "scaling": "none", "threshold": "2gauss"}
    # The number of groups is seen in rows, which a matrix does not have.
    params["n_clusters"] = 3
    plain = EWOCS(divergence="euclidean", **params).fit(X)
    K = X @ X.T
    matrix = EWOCS(divergence="precomputed", **params).fit(K)
    np.testing.assert_allclose(matrix.scores_, plain.scores_, rtol=1e-9)
    np.testing.assert_array_equal(matrix.labels_, plain.labels_)
    new = np.random.default_rng(seed + 1).normal(size=(7, 2))
    np.testing.assert_allclose(matrix.score_samples(new @ X.T), plain.score_samples(new), rtol=1e-9)
    called = EWOCS(divergence=lambda a, b: np.asarray(a) @ np.asarray(b).T, **params).fit(X)
    np.testing.assert_allclose(called.scores_, plain.scores_, rtol=1e-9)
    D = resolve("euclidean").pair(X, X)
    squared = EWOCS(divergence=resolve("precomputed", kind="squared_distance"), **params).fit(D)
    np.testing.assert_allclose(squared.scores_, plain.scores_, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "aggregate"),
    [("soft", "mean"), ("soft", "log"), ("hard", "log")],
)
def test_the_reliability_predicts_the_correlation_with_a_longer_run(kind, aggregate):
    X, _ = make_minority(2, background=0.2, foreground=0.2, random_state=5)
    divergence = "gaussian" if kind == "soft" else "mahalanobis"
    weak = weak_clusterer(kind, divergence=divergence)
    limit = score_objects(X, weak, 1000, seed=1, aggregate=aggregate).scores
    for R in (30, 300):
        # An estimate from few repetitions is itself uncertain: its mean over runs is judged.
        runs = [score_objects(X, weak, R, seed=2 + run, aggregate=aggregate) for run in range(5)]
        true = [np.corrcoef(found.scores, limit)[0, 1] ** 2 for found in runs]
        assert abs(np.mean([found.reliability for found in runs]) - np.mean(true)) < 0.1
        found = runs[0]
        gaps = (found.scores - found.scores.mean() - limit + limit.mean()) / found.standard_errors
        # Standard errors of the right size: most objects within two of them, many not within
        # a quarter.
        assert np.mean(np.abs(gaps) < 2) > 0.7
        assert np.mean(np.abs(gaps) < 0.25) < 0.5


def test_auto_stops_by_the_reliability_or_at_the_ceiling(toy):
    X = toy[0]
    params = {"gamma": 10.0, "random_state": 0}
    model = EWOCS(tol=0.8, **params).fit(X)
    assert model.converged_
    assert model.n_repetitions_ % 100 == 0
    assert (model.history_[-2:, 1] >= 0.8).all()
    assert len(model.history_) == 2 or (model.history_[:-1, 1].min() < 0.8)
    capped = EWOCS(tol=0.999999, max_repetitions=150, **params).fit(X)
    assert capped.n_repetitions_ == 150
    assert capped.converged_ is False
    fixed = EWOCS(n_repetitions=150, **params).fit(X)
    assert fixed.converged_ is None
    np.testing.assert_array_equal(fixed.scores_, capped.scores_)


def test_the_published_rule_stops_by_the_median_change():
    X = np.random.default_rng(0).normal(size=(60, 2))
    weak = weak_clusterer("soft", divergence="euclidean", k_max=10).fit(X)
    running = Running.empty(60, "mean")
    before, changes = None, []
    for r in range(50):
        extend(running, weak, X, range(r, r + 1), seed=4, with_changes=True)
        s = running.scores
        unit = (s - s.min()) / (s.max() - s.min())
        if before is not None:
            changes.append(np.mean((unit - before) ** 2))
        before = unit
    np.testing.assert_allclose(running.changes, changes, rtol=1e-6, atol=1e-18)
    model = EWOCS(
        divergence="euclidean", k_max=10, aggregate="mean", stop="paper", tol=1e-5, random_state=0
    ).fit(X)
    assert model.converged_
    assert model.history_[-1, 2] < 1e-5
    assert (model.history_[:-1, 2] >= 1e-5).all()


@pytest.mark.parametrize("weak", ["soft", "hard", "split"])
def test_published_settings_find_the_groups_of_generated_data(weak):
    X, y = make_minority(5, random_state=1)
    model = EWOCS.preset("paper", weak=weak, threshold="best", random_state=0).fit(X, y)
    # Published: 0.999, 0.985 and 0.986; a set of its own may be a little harder.
    assert roc_auc_score(y > 0, model.scores_) > {"soft": 0.99, "hard": 0.94, "split": 0.93}[weak]
    found = model.labels_ >= 0
    both = found & (y > 0)
    if weak == "soft":
        assert adjusted_rand_score(y[both], model.labels_[both]) > 0.5


def test_groups_of_the_foreground_are_told_apart(toy):
    X, y = make_toy_minority(random_state=1)
    model = EWOCS(gamma=60.0, threshold="2gauss", n_repetitions=100, random_state=0).fit(X)
    both = (model.labels_ >= 0) & (y > 0)
    assert both.sum() > 600
    assert adjusted_rand_score(y[both], model.labels_[both]) > 0.7
    five = EWOCS(
        gamma=60.0, threshold="2gauss", n_repetitions=100, n_clusters=5, random_state=0
    ).fit(X)
    assert five.n_clusters_ == 5


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(3, n_init=1, random_state=0), DBSCAN(eps=0.3), EAC(3), None],
    ids=["k-means", "dbscan", "eac", "none"],
)
def test_any_clusterer_may_split_the_foreground(clusterer, toy):
    X, _ = toy
    model = EWOCS(
        gamma=60.0, threshold="2gauss", n_repetitions=30, clusterer=clusterer, random_state=0
    ).fit(X)
    plain = EWOCS(gamma=60.0, threshold="2gauss", n_repetitions=30, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_ >= 0, plain.labels_ >= 0)
    found = np.unique(model.labels_[model.labels_ >= 0])
    np.testing.assert_array_equal(found, np.arange(model.n_clusters_))
    np.testing.assert_array_equal(model.predict(X) >= 0, model.labels_ >= 0)
    if isinstance(clusterer, KMeans):
        wanted = clusterer.fit_predict(X[model.labels_ >= 0])
        assert adjusted_rand_score(wanted, model.labels_[model.labels_ >= 0]) == 1
    if clusterer is None:
        assert model.n_clusters_ == 1


def test_a_large_foreground_is_split_by_a_part_of_it(toy, monkeypatch):
    from consilience.minority import _groups

    X, _ = toy
    params = {"gamma": 60.0, "n_repetitions": 50, "n_clusters": 4, "random_state": 0}
    whole = EWOCS(**params).fit(X)
    monkeypatch.setattr(_groups, "_MOST_OBJECTS", 80)
    part = EWOCS(**params).fit(X)
    assert part.n_foreground_ > 80
    both = part.labels_ >= 0
    assert adjusted_rand_score(whole.labels_[both], part.labels_[both]) > 0.6
    np.testing.assert_array_equal(part.predict(X), part.labels_)


# --- odd data: specification 3.7 ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "threshold", ["reference", "2gauss", "dist", "ngauss", "size", "best", 0.5]
)
def test_equal_objects_are_all_background(params, threshold, dtype):
    X = np.full((700, 2), 0.1, dtype)
    y = np.r_[np.ones(10), np.zeros(690)]
    with pytest.warns(ConsilienceWarning, match="Nothing stands out"):
        model = EWOCS(**(params | {"threshold": threshold, "n_foreground": 5})).fit(X, y)
    assert np.ptp(model.scores_) == 0
    assert model.flag_ == "no_contrast"
    assert (model.labels_ == -1).all()
    assert model.n_clusters_ == 0
    assert np.isfinite(model.scores_).all()
    np.testing.assert_array_equal(model.predict(X), -1)


def test_one_object_is_background(params):
    model = EWOCS(**params).fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [-1]
    assert model.flag_ == "degenerate"
    assert model.scores_[0] == (1.0 if model.aggregate == "mean" else 0.0)
    assert model.predict([[1.0, 2.0]]).tolist() == [-1]


def test_more_clusters_than_objects_are_capped(params, toy):
    X = toy[0][:5]
    model = EWOCS(**(params | {"k_max": 100})).fit(X)
    assert np.isfinite(model.scores_).all()
    assert max(draw.n_clusters for draw in model._fitted.draws) <= 5


def test_copies_of_one_object_are_a_dense_group(seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.uniform(-2, 2, (500, 2)), np.tile([[0.3, -0.7]], (60, 1))]
    for kind in ({"gamma": 10.0}, {"weak": "hard", "divergence": "euclidean"}):
        model = EWOCS(n_repetitions=100, threshold="2gauss", random_state=seed, **kind).fit(X)
        assert (model.labels_[500:] >= 0).all()
        assert len(np.unique(model.scores_[500:])) == 1
        assert len(np.unique(model.labels_[500:])) == 1


def test_constant_columns_and_a_far_outlier_are_allowed(params, seed):
    X = np.random.default_rng(seed).normal(size=(80, 3))
    X[:, 1] = 7.3
    X[0] = 1e9
    for scaling in ("none", "box", "std", "robust"):
        model = EWOCS(**(params | {"scaling": scaling})).fit(X)
        assert np.isfinite(model.scores_).all()
        assert np.isfinite(model.score_samples(X[:5] * 1e3)).all()


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_extreme_units_give_finite_scores(params, scale, seed):
    X = np.random.default_rng(seed).normal(size=(40, 2)) * scale
    if params.get("divergence") is None or params.get("weak") == "split":
        assert np.isfinite(EWOCS(**params).fit(X).scores_).all()


@pytest.mark.parametrize("factor", [1e-7, 1e7])
@pytest.mark.parametrize(
    "make",
    [
        lambda m: EWOCS(
            divergence="mahalanobis", n_repetitions=40, threshold="2gauss", random_state=0
        ),
        lambda m: EWOCS(
            "hard", divergence="mahalanobis", n_repetitions=40, threshold="2gauss", random_state=0
        ),
        lambda m: BBOCC(m, random_state=0),
        lambda m: BBCPress(3, m, random_state=0),
        lambda m: DGRADE(m),
    ],
)
def test_the_unit_of_one_column_changes_neither_scores_nor_labels(make, factor):
    X, y = make_minority(3, background=0.1, foreground=0.1, n_sources=3, random_state=1)
    first, second = (make(int((y > 0).sum())).fit(Z) for Z in (X, X * [1, factor, 1]))
    assert roc_auc_score(y > 0, second.scores_) == pytest.approx(
        roc_auc_score(y > 0, first.scores_), abs=1e-6
    )
    np.testing.assert_array_equal(second.labels_, first.labels_)


def test_scaling_maps_columns_as_it_says(seed):
    from consilience.minority._scaling import fit_scaling

    X = np.random.default_rng(seed).normal(3, 5, (400, 3))
    X[:, 2] = 4.0
    box = fit_scaling("box", X, owner="EWOCS").apply(X)
    np.testing.assert_allclose(box.min(axis=0), [-2, -2, 0])
    np.testing.assert_allclose(box.max(axis=0), [2, 2, 0])
    std = fit_scaling("std", X, owner="EWOCS").apply(X)
    np.testing.assert_allclose(std[:, :2].std(axis=0), 1)
    robust = fit_scaling("robust", X, owner="EWOCS").apply(X)
    np.testing.assert_allclose(np.quantile(robust[:, 0], [0.02, 0.98]), [-2, 2])
    assert fit_scaling("none", X, owner="EWOCS") is None
    rare = np.r_[np.zeros(99), 1.0][:, None]
    assert np.ptp(fit_scaling("robust", rare, owner="EWOCS").apply(rare)) == 4
    stored = sparse.csr_array(np.where(X > 3, X, 0))
    with pytest.raises(InvalidParameterError, match="sparse"):
        fit_scaling("box", stored, owner="EWOCS")
    scaled = fit_scaling("std", stored, owner="EWOCS").apply(stored)
    np.testing.assert_allclose(scaled.toarray()[:, :2].std(axis=0), 1)


# --- bad input ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weak", "firm"),
        ("divergence", "manhattan"),
        ("divergence", 3),
        ("alpha", 0),
        ("alpha", np.inf),
        ("alpha", 1.7e308),
        ("gamma", -1.0),
        ("gamma", "good"),
        ("gamma", np.nan),
        ("k_max", 1),
        ("n_repetitions", 0),
        ("n_repetitions", "many"),
        ("aggregate", "median"),
        ("threshold", "guess"),
        ("n_foreground", -1),
        ("n_foreground", 1.5),
        ("scaling", "unit"),
        ("stop", "never"),
        ("tol", 0),
        ("max_repetitions", 0),
        ("n_clusters", 0),
        ("clusterer", "k-means"),
        ("clusterer", KMeans),
        ("random_state", -1),
        ("n_jobs", "two"),
    ],
)
def test_bad_parameters_are_named(name, value, toy):
    params = {"gamma": 10.0, "n_repetitions": 2}
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
        EWOCS(**(params | {name: value})).fit(toy[0])


def test_bad_data_are_refused(toy):
    X = toy[0]
    cheap = {"gamma": 10.0, "n_repetitions": 2, "random_state": 0}
    with pytest.raises(ValueError, match="NaN"):
        EWOCS(**cheap).fit(np.where(X > 4, np.nan, X))
    with pytest.raises(InvalidInputError, match="at least 0"):
        EWOCS(divergence="kl", n_repetitions=2).fit(X)
    with pytest.raises(InvalidInputError, match="square"):
        EWOCS(divergence="precomputed", n_repetitions=2).fit(X)
    with pytest.raises(InvalidInputError, match="symmetric"):
        EWOCS(divergence="precomputed", n_repetitions=2).fit(np.triu(np.ones((5, 5))))
    with pytest.raises(InvalidInputError, match="columns"):
        EWOCS(divergence="precomputed", scaling="box").fit(np.eye(5))
    with pytest.raises(InvalidParameterError, match="number or the share"):
        EWOCS(**cheap, threshold="size").fit(X)
    with pytest.raises((InvalidInputError, InvalidParameterError), match="y"):
        EWOCS(**cheap, threshold="best").fit(X)
    with pytest.raises(InvalidInputError, match="0 objects"):
        EWOCS(divergence=lambda a, b: np.ones((len(a), len(b)))).fit([])
    with pytest.raises(InvalidParameterError, match="must be 'paper'"):
        EWOCS.preset("fast")


@pytest.mark.parametrize(("m", "count"), [(0, 1), (560, 560), (10**6, 560)])
def test_impossible_sizes_are_brought_to_possible_ones(m, count, toy):
    X = toy[0]
    cheap = {"gamma": 10.0, "n_repetitions": 2, "random_state": 0, "clusterer": None}
    model = EWOCS(**cheap, threshold="size", n_foreground=m).fit(X)
    assert model.n_foreground_ == count
    assert (model.flag_ == "clamped") == (m != count)


def test_more_groups_than_foreground_warn(toy):
    cheap = {"gamma": 10.0, "n_repetitions": 5, "random_state": 0}
    with pytest.warns(ConsilienceWarning, match="each is its own group"):
        model = EWOCS(**cheap, threshold="size", n_foreground=3, n_clusters=7).fit(toy[0])
    assert model.n_clusters_ <= 3


@pytest.mark.parametrize("gamma", ["contrast", "auto"])
def test_a_tuned_kernel_is_that_of_tune_gaussian(gamma):
    from consilience.minority.tuning import tune_gaussian

    X, _ = make_toy_minority(0.1, random_state=0)
    model = EWOCS(gamma=gamma, n_repetitions=5, random_state=0).fit(X)
    wanted = tune_gaussian(X, gamma, random_state=model.seed_)
    assert model.divergence_.alpha == wanted.alpha
    assert model.divergence_.gamma == wanted.gamma
    # Nearest seeds do not depend on the width: nothing is tuned.
    assert EWOCS("hard", gamma=gamma, n_repetitions=2).fit(X).divergence_.gamma == 10.0


def test_a_weak_clusterer_may_be_given(toy):
    X = toy[0]
    weak = weak_clusterer("hard", divergence="euclidean", k_max=7)
    given = EWOCS(weak, scaling="none", n_repetitions=5, random_state=0).fit(X)
    named = EWOCS("hard", divergence="euclidean", k_max=7, n_repetitions=5, random_state=0).fit(X)
    np.testing.assert_array_equal(given.scores_, named.scores_)


def test_a_rule_says_nothing_before_it_has_looked():
    paper, reliability = Progress("paper"), Progress("reliability")
    assert not paper.settled
    assert not reliability.settled
    paper.seen.append((100, 0.0, 1e-10))
    assert not paper.settled
    paper.seen.append((200, 0.0, 0.9e-10))
    assert paper.settled
    reliability.seen.append((100, 0.995, np.nan))
    assert not reliability.settled  # twice running
    reliability.seen.append((200, 0.995, np.nan))
    assert reliability.settled
    reliability.seen.append((300, 0.994, np.nan))
    assert not reliability.settled


def test_continuing_checks_the_parameters_again(toy):
    X = toy[0]
    model = EWOCS(n_repetitions=5, random_state=0).fit(X)
    with pytest.raises(InvalidParameterError, match="threshold"):
        model.set_params(threshold="nonsense").more(X, 5)


@pytest.mark.parametrize("n_repetitions", [0, -3, 2.7, True, "a", None])
def test_continuing_needs_a_number_of_repetitions(n_repetitions, toy):
    model = EWOCS(gamma=10.0, n_repetitions=2, random_state=0).fit(toy[0])
    with pytest.raises(InvalidParameterError, match=r"'n_repetitions' .* of EWOCS\.more"):
        model.more(toy[0], n_repetitions)
    assert model.n_repetitions_ == 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_repetitions": 0}, "'n_repetitions' parameter of score_objects"),
        ({"n_repetitions": 2.5}, "'n_repetitions' parameter of score_objects"),
        ({"weak": "soft"}, "'weak' parameter of score_objects .*weak_clusterer"),
        ({"seed": -1}, "'seed' parameter of score_objects"),
    ],
)
def test_bad_parameters_of_scores_are_named(params, message, toy):
    with pytest.raises(InvalidParameterError, match=message):
        score_objects(**({"X": toy[0], "weak": weak_clusterer("hard")} | params))


@pytest.mark.parametrize(
    ("params", "y", "error", "message"),
    [
        ({"threshold": "size"}, None, InvalidParameterError, "'n_foreground' parameter of EWOCS"),
        ({"threshold": "best"}, None, InvalidParameterError, "'y' parameter of EWOCS.fit"),
        ({"threshold": "ngauss+best"}, None, InvalidParameterError, "'y' parameter of EWOCS.fit"),
        ({"threshold": "best"}, [0, 1], InvalidInputError, "EWOCS.fit needs one true source"),
    ],
)
def test_what_a_threshold_needs_is_asked_for_before_anything_is_counted(
    params, y, error, message, toy, monkeypatch
):
    def counted(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr(EWOCS, "_count", counted)
    with pytest.raises(error, match=message):
        EWOCS(**params).fit(toy[0], y)


def test_a_sparse_table_goes_to_a_kernel_as_it_is():
    def linear(a, b):
        return (a @ b.T).toarray()

    X = sparse.random(40, 9, 0.3, "csr", random_state=0)
    options = {"n_repetitions": 5, "random_state": 0, "threshold": "2gauss"}
    rows = EWOCS(divergence=linear, **options).fit(X)
    matrix = EWOCS(divergence="precomputed", **options).fit((X @ X.T).toarray())
    np.testing.assert_allclose(rows.scores_, matrix.scores_, rtol=1e-9)
    np.testing.assert_array_equal(rows.predict(X), rows.labels_)


def pairs_of(X):
    return X @ X.T


def same_letter(a, b):
    return np.array([[float(x == y) for y in b] for x in a])


@pytest.mark.parametrize("weak", ["soft", "hard"])
@pytest.mark.parametrize(
    ("divergence", "data"),
    [
        ("euclidean", np.asarray),
        ("kl", np.abs),
        ("cosine", np.abs),
        ("mahalanobis", np.asarray),
        ("precomputed", pairs_of),
        (same_letter, lambda X: list("abcab" * 8)),
    ],
    ids=["euclidean", "kl", "cosine", "mahalanobis", "precomputed", "words"],
)
def test_a_weak_clusterer_that_is_given_is_one_that_is_named(weak, divergence, data):
    X = data(np.random.default_rng(0).normal(size=(40, 3)))
    options = {"n_repetitions": 5, "random_state": 0, "threshold": "2gauss"}
    named = EWOCS(weak, divergence=divergence, **options).fit(X)
    given = EWOCS(weak_clusterer(weak, divergence=divergence), **options).fit(X)
    assert given.scaling_ == named.scaling_
    np.testing.assert_array_equal(given.scores_, named.scores_)
    np.testing.assert_array_equal(given.predict(X), named.predict(X))


def test_hyperplanes_have_no_divergence_to_be_asked_about(toy):
    options = {"n_repetitions": 3, "random_state": 0, "threshold": "2gauss"}
    wanted = EWOCS("split", **options).fit(toy[0]).scores_
    for params in ({"divergence": "precomputed"}, {"divergence": "mahalanobis"}):
        for weak in ("split", weak_clusterer("split")):
            model = EWOCS(weak, **params, **options).fit(toy[0])
            np.testing.assert_array_equal(model.scores_, wanted)


@pytest.mark.parametrize("aggregate", ["log", "mean"])
@pytest.mark.parametrize("weak", ["split", "hard", "soft"])
def test_objects_of_little_or_no_weight_have_scores_and_get_them_again(weak, aggregate, seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 9]
    weights = np.r_[np.ones(60), np.zeros(40), np.full(20, 0.01)]
    options = {"aggregate": aggregate, "threshold": "2gauss", "n_repetitions": 30}
    model = EWOCS(weak, random_state=seed, **options).fit(X, sample_weight=weights)
    assert np.isfinite(model.scores_).all()
    assert model.scores_[60:].max() <= model.scores_[:60].max()
    np.testing.assert_allclose(model.score_samples(X), model.scores_, rtol=1e-9, atol=1e-12)
