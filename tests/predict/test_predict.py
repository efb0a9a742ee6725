"""Where new objects are placed: against the definition, and in every form data and members have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, AgglomerativeClustering, BisectingKMeans, KMeans
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import NOISE, UNSEEN, Ensemble
from consilience.datasets import make_spirals
from consilience.errors import ConsilienceError
from consilience.generate import (
    Combined,
    EstimatorEnsemble,
    GraphEnsemble,
    KMeansEnsemble,
    RunFolder,
)
from consilience.generate.models import Centres
from consilience.predict import learn, placed
from consilience.predict._hashes import row_hashes
from consilience.predict._learn import _centre_limit, _kept_by_most


def blobs(n_each, seed=0, d=2, centres=((0, 0), (8, 0), (0, 8))):
    rng = np.random.default_rng(seed)
    centres = np.array([[*c, *[0] * (d - 2)] for c in centres], float)
    return np.concatenate([rng.normal(c, 1, (n_each, d)) for c in centres])


def placer_of(X, generator, labels):
    ensemble = generator.generate(X)
    models = generator.models_
    return learn(X, ensemble, labels, hashes=row_hashes(X), models=models), ensemble


# ---- the definition ---------------------------------------------------------------------------


def slowly(x, X, ensemble, models, labels):
    """Mean co-association of a new object with each group, pair by pair."""
    row = []
    for model in models:
        own = slice(None) if model.features is None else model.features
        unit = x / np.linalg.norm(x) if model.unit else x
        row.append(((unit[own] - model.values) ** 2).sum(axis=1).argmin())
    joined = np.array(row)[:, None] == ensemble.members
    seen = ensemble.members != UNSEEN
    return [
        joined[:, labels == g].sum() / max(seen[:, labels == g].sum(), 1)
        for g in range(labels.max() + 1)
    ]


@pytest.mark.parametrize(
    "generator",
    [
        KMeansEnsemble(8, (2, 5), random_state=0),
        KMeansEnsemble(8, 4, max_samples=0.6, assign="unseen", random_state=1),
        KMeansEnsemble(8, 4, max_features=0.5, random_state=2),
        KMeansEnsemble(8, 4, metric="cosine", random_state=3),
        KMeansEnsemble(8, 4, algorithm="minibatch", max_iter=5, random_state=4),
    ],
    ids=["all", "unseen", "features", "cosine", "minibatch"],
)
def test_groups_are_compared_by_mean_co_association(generator):
    X, labels = blobs(30, d=4), np.repeat([0, 1, 2], 30).astype(np.int32)
    placer, ensemble = placer_of(X, generator, labels)
    new = blobs(5, seed=9, d=4)
    found = placed(replace(placer, rule="groups"), new)
    for x, label, sure, other in zip(
        new, found.labels, found.confidence, found.runner_up, strict=True
    ):
        means = np.array(slowly(x, X, ensemble, generator.models_, labels))
        assert label == means.argmax()
        best, second = np.sort(means)[::-1][:2]
        assert sure == pytest.approx(best / (best + second))
        assert other == (-1 if second == 0 else np.argsort(-means, kind="stable")[1])


def test_one_thread_or_two_and_blocks_change_nothing(monkeypatch):
    X = blobs(30)
    model = cs.KCC(3, generator=KMeansEnsemble(6, 5), random_state=0).fit(X)
    new = blobs(200, seed=1)
    first = model.predict_info(new)
    monkeypatch.setattr("consilience.predict._placer._TOGETHER", 17)
    again = model.set_params(n_jobs=2).predict_info(new)
    for name in ("labels", "confidence", "runner_up", "unlike"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


# ---- groups of any shape ----------------------------------------------------------------------


def test_two_spirals_go_on_in_a_left_out_half():
    X, arms = make_spirals(600, random_state=0)
    model = cs.AutoConsensus(effort="quick", random_state=0).fit(X[::2])
    assert adjusted_rand_score(model.predict(X[1::2]), arms[1::2]) >= 0.9


def test_the_nearest_object_decides_where_members_cut_across_rings():
    X, rings = make_circles(400, noise=0.03, factor=0.5, random_state=0)
    placer, _ = placer_of(X[::2], KMeansEnsemble(10, 3, random_state=0), rings[::2])
    assert placer.rule == "nearest"
    found = placed(placer, X[1::2])
    assert adjusted_rand_score(found.labels, rings[1::2]) >= 0.9
    # Members say nothing for either ring, and the confidence tells so.
    assert found.confidence.mean() < 0.7


# ---- members without centres ------------------------------------------------------------------


@pytest.mark.parametrize(
    "generator",
    [
        GraphEnsemble(6, 5),
        EstimatorEnsemble(AgglomerativeClustering(), 4, n_members=3, max_samples=0.7),
        EstimatorEnsemble(
            AgglomerativeClustering(), 4, n_members=6, max_samples=0.7, assign="unseen"
        ),
        Combined([KMeansEnsemble(4, 5), GraphEnsemble(3, 5)]),
    ],
    ids=["graph", "nearest", "unseen", "both kinds"],
)
def test_members_without_centres_go_by_the_nearest_object_they_saw(generator):
    X = blobs(40)
    model = cs.EAC(3, generator=generator, random_state=0).fit(X)
    truth = np.repeat([0, 1, 2], 40)
    assert adjusted_rand_score(model.labels_, truth) == 1
    assert adjusted_rand_score(model.predict(blobs(40, seed=1)), truth) == 1
    assert model.predict_info(X + 500).unlike.all()
    assert model.predict_info(blobs(300, seed=2)).unlike.mean() <= 0.05


def test_members_that_did_not_see_the_nearest_ask_the_next():
    X = np.arange(6.0)[:, None]
    members = np.array([[0, UNSEEN, UNSEEN, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    labels = np.array([0, 0, 0, 1, 1, 1], np.int32)
    placer = learn(X, Ensemble(members.T), labels, hashes=row_hashes(X))
    # The first member saw neither 1 nor 2; 3 is nearer to 2.1 than 0 is, and in the other cluster.
    assert placed(placer, np.array([[2.1]])).confidence[0] < 1
    assert placed(placer, np.array([[0.9]])).confidence[0] == 1


def test_what_every_member_calls_noise_is_noise():
    X = np.concatenate([blobs(20), [[100.0, 100.0], [-100.0, 100.0]]])
    generator = EstimatorEnsemble([DBSCAN(2), DBSCAN(3)])
    model = cs.EAC(3, generator=generator, random_state=0).fit(X)
    assert (model.labels_[-2:] == NOISE).all()
    found = model.predict_info(X + 1e-9, lookup=False)
    np.testing.assert_array_equal(found.labels, model.labels_)
    assert (found.confidence[-2:] == 0).all()
    assert (found.runner_up[-2:] == -1).all()


# ---- what members leave behind ----------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"max_samples": 0.5}, {"metric": "cosine"}])
def test_centres_give_the_members_labels_back(options):
    X = blobs(40, d=3) + 5
    generator = KMeansEnsemble(5, 6, random_state=0, **options)
    ensemble = generator.generate(X)
    placer = learn(X, ensemble, ensemble[0].astype(np.int32), hashes=row_hashes(X))
    assert placer.members is not None  # without models all members go by neighbours
    for labels, model in zip(ensemble, generator.models_, strict=True):
        rows = X / np.linalg.norm(X, axis=1, keepdims=True) if model.unit else X
        nearest = ((rows[:, None] - model.values) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(nearest, labels)


def test_how_far_is_far_is_measured_where_some_member_has_no_centres():
    X, generator = blobs(40), KMeansEnsemble(4, 5, random_state=0)
    placer, ensemble = placer_of(X, generator, np.repeat([0, 1, 2], 40).astype(np.int32))
    assert placer.reach == -np.inf
    for models in (None, [None, *generator.models_[1:]]):
        other = learn(X, ensemble, placer.labels, hashes=row_hashes(X), models=models)
        assert 0 < other.reach < np.inf


def test_centres_are_kept_with_the_members_of_an_interrupted_run(tmp_path):
    X = blobs(20)
    first, again = (KMeansEnsemble(4, 3, max_features=0.5, random_state=0) for _ in range(2))
    first.generate(X, checkpoint=RunFolder(tmp_path))
    again.generate(X, checkpoint=RunFolder(tmp_path))
    for one, other in zip(first.models_, again.models_, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.features, other.features)


def test_only_clusterers_that_go_by_centres_have_them():
    X = blobs(30)
    clusterers = [KMeans(4, n_init=1), AgglomerativeClustering(4), BisectingKMeans(7), DBSCAN(1)]
    generator = EstimatorEnsemble(clusterers, random_state=0)
    ensemble = generator.generate(X)
    k_means, linked, bisected, dense = generator.models_
    assert linked is None
    assert dense is None
    assert len(k_means.values) == 4
    if bisected is not None:  # only if its tree happens to cut where the nearest centre does
        nearest = ((X[:, None] - bisected.values) ** 2).sum(axis=2).argmin(axis=1)
        assert (nearest == ensemble[2]).mean() > 0.99


# ---- odd data ---------------------------------------------------------------------------------


def test_sparse_rows_are_compared_by_direction():
    rng = np.random.default_rng(0)
    topics = np.repeat([0, 1], 60)
    X = rng.poisson(np.where(np.arange(400) // 200 == topics[:, None], 0.4, 0.02))
    matrix = sparse.csr_array(X.astype(float))
    model = cs.EAC(2, generator=KMeansEnsemble(8, 4, metric="cosine"), random_state=0)
    model.fit(matrix[::2])
    assert adjusted_rand_score(model.predict(matrix[1::2]), topics[1::2]) >= 0.9
    np.testing.assert_array_equal(model.predict(matrix[::2]), model.labels_)
    np.testing.assert_array_equal(model.predict(X[::2].astype(float)), model.labels_)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_units_of_any_size(unit):
    X, new = blobs(30), blobs(30, seed=1)
    model = cs.KCC(3, generator=KMeansEnsemble(6, 5), random_state=0).fit(X * unit)
    found = model.predict_info(new * unit)
    assert adjusted_rand_score(found.labels, np.repeat([0, 1, 2], 30)) == 1
    assert found.unlike.mean() <= 0.1
    assert model.predict_info((X + 100) * unit).unlike.all()


def test_objects_that_are_all_alike_but_two():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], [9, 1], axis=0)
    model = cs.KCC(2, generator=KMeansEnsemble(4, 2), random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X + 1e-9), model.labels_)


# ---- refusals ---------------------------------------------------------------------------------


def test_labels_alone_do_not_say_where_new_objects_lie():
    model = cs.EAC(2)
    assert hasattr(model, "predict")
    model.fit(ensemble=[[0, 0, 1, 1], [0, 0, 1, 1]])
    assert not hasattr(model, "predict")
    with pytest.raises(ConsilienceError, match=r"labels only.*Fit it to the data, fit\(X\)"):
        model.predict([[1.0]])
    X = [[0.0], [0.1], [5.0], [5.1]]
    model.fit(X, ensemble=[[0, 0, 1, 1], [0, 0, 1, 1]])
    np.testing.assert_array_equal(model.predict([[0.05], [5.05]]), model.labels_[[0, 2]])


def test_data_changed_in_place_are_noticed():
    X = blobs(20)
    model = cs.KCC(3, generator=KMeansEnsemble(4, 3), random_state=0).fit(X)
    X[0] += 1
    with pytest.raises(ConsilienceError, match="changed in place"):
        model.predict(X)


def test_clusters_of_one_and_two_objects_are_measured_by_what_is_left_of_them():
    """Of c objects one lies nearer to the mean than if it were none of it, by (c - 1) / c."""
    X = np.array([[0.0], [2.0], [100.0], [103.0], [106.0], [500.0]])
    labels = np.array([[0, 0, 1, 1, 1, 2]])
    centres = Centres(np.array([[1.0], [103.0], [500.0]]), None, False)
    weights, limit = _centre_limit(X, labels, [centres], np.arange(6), None)
    # Without it the mean of two is the other one, of three that of the others; alone is nobody.
    squares = np.array([4.0, 4.0, 4.5**2, 0.0, 4.5**2])
    assert weights[0] == pytest.approx(1 / squares.mean())
    assert limit == pytest.approx(_kept_by_most(np.sqrt(squares / squares.mean())) ** 2)
