"""What each generator and recipe makes, checked against its description."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, FeatureAgglomeration, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import NOISE, UNSEEN, generate
from consilience.errors import InvalidParameterError
from consilience.generate import (
    NJW,
    PAM,
    Combined,
    EstimatorEnsemble,
    KMeansEnsemble,
    Linkage,
    MembershipEnsemble,
)
from consilience.generate._draw import Clusters, draw_subset, member_seeds, subset_size
from consilience.generate._plan import _changed_data
from consilience.generate.distances import spectral_rows
from consilience.partition import _embed


@parametrize_with_checks(
    [PAM(2), PAM(2, swap="best"), NJW(2, n_init=2)]
    + [Linkage(2, method=m) for m in ("single", "complete", "average", "centroid", "ward")]
    + [Linkage(2, method="centroid", squared=False)]
)
def test_base_clusterers_keep_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.4, (20, 4)) for c in (0.5, 2.5, 4.5)])


def test_clusters_are_drawn_from_both_ends_of_a_range(X):
    ensemble = KMeansEnsemble(60, (2, 4), random_state=0).generate(X)
    assert set(ensemble.n_clusters) == {2, 3, 4}


def test_rules_follow_the_root_of_the_number_of_objects():
    clusters = Clusters.resolve(("sqrt/2", "sqrt"), 1000, owner="test")
    assert (clusters.low, clusters.high) == (16, 32)
    assert Clusters.resolve("sqrt", 3, owner="test").low == 2


def test_subsets_are_rounded_up_and_float_noise_does_not_count():
    assert subset_size(0.7, 2) == 2
    assert subset_size(0.7, 10) == 7
    assert subset_size(0.9, 10) == 9
    assert subset_size(3, 10) == 3
    rng = np.random.default_rng(0)
    assert draw_subset(rng, 1.0, 10) is None
    rows = draw_subset(rng, 0.5, 10)
    assert len(np.unique(rows)) == 5
    assert (np.diff(rows) > 0).all()


def test_left_out_objects_are_unseen_or_at_the_nearest_centre(X):
    kept = KMeansEnsemble(5, 3, max_samples=0.5, assign="unseen", random_state=1).generate(X)
    full = KMeansEnsemble(5, 3, max_samples=0.5, assign="nearest", random_state=1).generate(X)
    assert ((kept.labels == UNSEEN).sum(axis=0) == 30).all()
    assert not (full.labels == UNSEEN).any()
    for some, all_ in zip(kept, full, strict=True):
        seen = some >= 0
        np.testing.assert_array_equal(some[seen], all_[seen])
        means = np.stack([X[seen & (some == c)].mean(axis=0) for c in range(3)])
        nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(all_[~seen], nearest[~seen])


def test_feature_subsets_are_the_recorded_ones(X):
    ensemble = KMeansEnsemble(5, 2, max_features=0.5, random_state=0).generate(X)
    assert all(len(record["features"]) == 2 for record in ensemble.records)


def test_a_member_follows_from_its_seed_alone(X):
    """Members made in other groups, or alone, are the same."""
    whole = KMeansEnsemble(33, (2, 6), max_samples=0.7, random_state=3).generate(X)
    part = KMeansEnsemble(9, (2, 6), max_samples=0.7, random_state=3).generate(X)
    np.testing.assert_array_equal(whole.labels[:, :9], part.labels)


def test_members_are_what_scikit_learn_finds_from_the_same_start(X):
    ensemble = KMeansEnsemble(8, 3, random_state=0).generate(X)
    for record, labels in zip(ensemble.records, ensemble, strict=True):
        means = np.stack([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
        again = KMeans(len(means), init=means, n_init=1, max_iter=1).fit(X)
        assert record["inertia"] == pytest.approx(again.inertia_, rel=1e-9)


def test_cosine_ignores_the_length_of_rows(X):
    scale = np.random.default_rng(1).uniform(0.5, 5, (len(X), 1))
    plain = KMeansEnsemble(5, 3, metric="cosine", random_state=0)
    np.testing.assert_array_equal(plain.generate(X).labels, plain.generate(X * scale).labels)


def test_cosine_accepts_rows_of_zeros(X):
    X[7] = 0
    ensemble = KMeansEnsemble(5, 3, metric="cosine", random_state=0).generate(X)
    assert (ensemble.labels[7] >= 0).all()


@pytest.mark.parametrize("small", [0, 2**15])
@pytest.mark.parametrize("params", [{}, {"metric": "cosine"}, {"max_features": 0.5}])
def test_sparse_data_give_the_same_members(X, params, small, monkeypatch):
    monkeypatch.setattr("consilience.generate.kmeans._SMALL", small)
    X = np.where(X > 2.5, X, 0)
    X[(X == 0).all(axis=1), 0] = 1
    generator = KMeansEnsemble(5, 3, random_state=0, **params)
    dense, from_sparse = generator.generate(X), generator.generate(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.labels, from_sparse.labels)


def test_negative_labels_of_clusterers_become_noise(X):
    X[0] = 100
    ensemble = EstimatorEnsemble(DBSCAN(eps=1.5), random_state=0).generate(X)
    assert ensemble.labels[0, 0] == NOISE


def test_number_of_clusters_reaches_pipelines_and_mixtures(X):
    models = [make_pipeline(StandardScaler(), KMeans(n_init=1)), GaussianMixture(reg_covar=1e-2)]
    ensemble = EstimatorEnsemble(models, [2, 3], random_state=0).generate(X)
    assert ensemble.n_clusters.tolist() == [2, 3, 2, 3]


@pytest.mark.parametrize("first", [PCA(2), FeatureAgglomeration(2)])
def test_of_a_pipeline_only_the_last_step_gets_the_number_of_clusters(X, first):
    for last in (KMeans(n_init=1), GaussianMixture(reg_covar=1e-2)):
        made = EstimatorEnsemble(make_pipeline(first, last), [5, 6], random_state=0).generate(X)
        assert made.n_clusters.tolist() == [5, 6]
    soft = MembershipEnsemble(2, [5, 6], estimators=make_pipeline(first, last), random_state=0)
    assert [member.shape[1] for member in map(soft.generate(X).of_member, (0, 1))] == [5, 6]


def test_woec_has_two_halves(X):
    ensemble = generate.woec(7, 3, random_state=0).generate(X)
    objects = [record["n_objects"] for record in ensemble.records]
    assert objects == [42] * 3 + [None] * 4
    assert [record["features"] is None for record in ensemble.records] == [True] * 3 + [False] * 4
    assert not ensemble.has_unseen


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", None])
@pytest.mark.parametrize(
    ("recipe", "owner"),
    [
        (lambda n: generate.woec(n, 3), "woec"),
        (generate.split_and_merge, "KMeansEnsemble"),
        (generate.cosine_split_and_merge, "KMeansEnsemble"),
        (generate.minibatch_split_and_merge, "KMeansEnsemble"),
    ],
)
def test_recipes_refuse_what_is_no_number_of_members(X, recipe, owner, wrong):
    with pytest.raises(InvalidParameterError, match=f"'n_members' parameter of {owner} must be"):
        recipe(wrong).generate(X)


def test_members_made_together_share_the_time_they_took(X, monkeypatch):
    groups = []

    def seconds(watch):
        groups.append(watch)
        return 12.0

    monkeypatch.setattr("consilience.generate.kmeans.Stopwatch.seconds", seconds)
    records = KMeansEnsemble(16, 3, random_state=0).generate(X).records
    assert 0 < len(groups) < 16
    assert sum(record["seconds"] for record in records) == pytest.approx(12.0 * len(groups))


def test_a_plan_with_another_number_of_digests_is_compared_as_far_as_it_goes():
    new = {"shape": [4, 1], "type": "f", "rows": [0, 2, 4], "digests": ["a", "b"]}
    assert _changed_data(new | {"digests": ["a", "b", "c"]}, new) == []
    (told,) = _changed_data(new | {"digests": ["x"]}, new)
    assert told.endswith("first among rows 0 to 1")


def test_many_algorithms_runs_six_of_them_on_ninety_percent(X):
    ensemble = generate.many_algorithms([2, 4], random_state=0).generate(X)
    assert ensemble.n_members == 12
    assert ((ensemble.labels == UNSEEN).sum(axis=0) == 6).all()
    assert [record["n_clusters"] for record in ensemble.records] == [2, 4] * 6


def test_full_ensemble_is_seventy_and_thirty(X):
    ensemble = generate.full_ensemble(3, random_state=0).generate(X)
    unseen = (ensemble.labels == UNSEEN).sum(axis=0)
    assert ensemble.n_members == 100
    assert (unseen[:70] == 0).all()
    assert ((unseen[70:] >= 6) & (unseen[70:] <= 12)).all()
    assert len(set(unseen[70:])) > 1


def test_rcc_runs_the_four_algorithms_in_order(X):
    names = [record["algorithm"] for record in generate.rcc(3).generate(X).records]
    assert [name.partition("(")[0] for name in names] == ["PAM", "Linkage", "Linkage", "Linkage"]


def test_combined_keeps_seeds_of_its_parts_and_draws_the_others(X):
    own = KMeansEnsemble(3, 2, random_state=7)
    both = Combined([own, KMeansEnsemble(3, 2)], random_state=0).generate(X)
    np.testing.assert_array_equal(both.labels[:, :3], own.generate(X).labels)
    assert both.records[3]["seed"] != both.records[0]["seed"]


def test_spectral_clustering_separates_rings():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    labels = NJW(2, scale=0.3, random_state=0).fit_predict(np.concatenate([ring, 4 * ring]))
    assert len(set(labels[:60])) == len(set(labels[60:])) == 1
    assert labels[0] != labels[-1]


def test_unit_rows_are_the_definition_of_cosine(X):
    direct = KMeansEnsemble(4, 3, metric="cosine", random_state=0).generate(X)
    ready = KMeansEnsemble(4, 3, metric="cosine", random_state=0).generate(normalize(X))
    np.testing.assert_array_equal(direct.labels, ready.labels)


@pytest.mark.parametrize("power", [-1060, -1000, -600, 600, 1000, 1020])
@pytest.mark.parametrize("options", [{}, {"algorithm": "minibatch"}, {"metric": "cosine"}])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_kmeans_of_huge_and_tiny_numbers_is_that_of_ordinary_ones(
    power, options, form, monkeypatch
):
    monkeypatch.setattr("consilience.generate.kmeans._SMALL", 0)
    # Whole numbers, so that scaling by a power of two is exact down to the smallest floats.
    X = np.random.default_rng(0).integers(-8, 9, (40, 3)).astype(float)
    maker = KMeansEnsemble(3, 4, random_state=0, **options)
    wanted = maker.generate(form(X)).members
    assert len(np.unique(wanted[0])) == 4
    np.testing.assert_array_equal(maker.generate(form(np.ldexp(X, power))).members, wanted)


def test_kmeans_of_huge_and_tiny_single_precision_is_that_of_ordinary_ones():
    X = np.random.default_rng(0).integers(-8, 9, (40, 3)).astype(np.float32)
    maker = KMeansEnsemble(3, 4, random_state=0)
    wanted = maker.generate(X).members
    for power in (-140, -100, 100, 124):
        np.testing.assert_array_equal(maker.generate(np.ldexp(X, power)).members, wanted)


def test_the_sign_of_an_eigenvector_changes_no_label(X, monkeypatch):
    """LAPACK may return either."""
    first = NJW(4, n_init=1, random_state=0).fit_predict(X)
    plain = _embed.eigh
    for signs in ([-1, -1, -1, -1], [1, -1, 1, -1]):

        def turned(*args, signs=signs, **options):
            values, vectors = plain(*args, **options)
            return values, vectors * signs

        monkeypatch.setattr(_embed, "eigh", turned)
        np.testing.assert_array_equal(NJW(4, n_init=1, random_state=0).fit_predict(X), first)


def test_seeds_of_members_are_many_and_stay_what_they_are():
    assert member_seeds(0, 3) == [209652396, 398764591, 924231285]
    assert len(set(member_seeds(1, 2000))) == 2000


@pytest.mark.parametrize("scale", ["median", 0.7])
def test_spectral_rows_are_those_of_the_definition(X, scale):
    """Ng, Jordan & Weiss, steps 1 to 4; signs do not show in products of rows."""
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    pairs = distances[np.triu_indices(len(X), 1)]
    sigma = np.median(pairs) if scale == "median" else scale
    A = np.exp(-(distances**2) / (2 * sigma**2))
    np.fill_diagonal(A, 0.0)
    root = np.sqrt(A.sum(axis=1))
    Y = np.linalg.eigh(A / np.outer(root, root))[1][:, -3:]
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    found = spectral_rows(pairs, 3, scale)
    np.testing.assert_allclose(found @ found.T, Y @ Y.T, atol=1e-9)


def test_medoids_are_objects_of_their_clusters(X):
    found = PAM(3).fit(X)
    np.testing.assert_array_equal(X[found.medoid_indices_], found.cluster_centers_)
    np.testing.assert_array_equal(found.labels_[found.medoid_indices_], [0, 1, 2])


def test_rcc_joins_centroids_by_distances_that_are_not_squared():
    rng = np.random.default_rng(5)
    plain, squared = (Linkage(3, method="centroid", squared=one) for one in (False, True))
    told = 0
    for _ in range(20):
        X = rng.normal(size=(12, 2))
        wanted = plain.fit_predict(X)
        np.testing.assert_array_equal(generate.rcc(3).generate(X).members[3], wanted)
        told += not np.array_equal(wanted, squared.fit_predict(X))
    assert told


@pytest.mark.parametrize(
    ("clusterer", "name"),
    [
        (PAM(0), "n_clusters"),
        (PAM(2, swap="worst"), "swap"),
        (Linkage(0), "n_clusters"),
        (Linkage(2, method="median"), "method"),
        (NJW(0), "n_clusters"),
        (NJW(2, scale=0.0), "scale"),
        (NJW(2, n_init=0), "n_init"),
    ],
)
def test_bad_parameters_of_clusterers_are_named(clusterer, name, X):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
        clusterer.fit(X)
