"""Monti's consensus clustering: curves against the matrix, the number chosen, the reference."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import ensembles

from consilience.consensus._monti import (
    Values,
    ambiguous_share,
    consensus_values,
    cumulative,
    delta_areas,
    mean_value,
    permuted,
    random_pairs,
)
from consilience.consensus.monti import MontiConsensus, monticonsensus
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.evidence import co_association
from consilience.generate import KMeansEnsemble

FEW = {"n_resamples": 20, "n_references": 0}


# Twelve resamples: with few, some object would now and then be seen by none, with a warning.
@parametrize_with_checks([MontiConsensus((2, 3), n_resamples=12)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def blobs(seed, n=25, spread=0.3):
    """Three clear groups, the third further away than the first two from each other."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0, 0], [4, 0, 0], [0, 9, 0]])
    X = np.concatenate([rng.normal(c, spread, (n, 3)) for c in centres])
    return X, np.repeat([0, 1, 2], n)


# ---- curves -------------------------------------------------------------------------------


def slow_values(ensemble):
    """Joined / seen of every pair that some member saw."""
    found = []
    for i in range(ensemble.n_objects):
        for j in range(i):
            a, b = ensemble.labels[i], ensemble.labels[j]
            seen = int(((a != -2) & (b != -2)).sum())
            if seen:
                found.append(int(((a == b) & (a >= 0)).sum()) / seen)
    return np.array(found)


@given(ensembles(min_objects=2))
def test_values_are_those_of_all_pairs(ensemble):
    wanted = slow_values(ensemble)
    found = consensus_values(ensemble, None)
    np.testing.assert_array_equal(np.repeat(found.values, found.counts), np.sort(wanted))
    if len(wanted):
        for t in (0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0):
            assert cumulative(found, np.array([t]))[0] == pytest.approx((wanted <= t).mean())
        ambiguous = ((wanted > 0.1) & (wanted <= 0.9)).mean()
        assert ambiguous_share(found, 0.1, 0.9) == pytest.approx(ambiguous)
        assert mean_value(found) == pytest.approx(wanted.mean())


@given(ensembles(min_objects=3), st.integers(0, 99))
def test_some_pairs_are_counted_like_all(ensemble, seed):
    pairs = random_pairs(ensemble.n_objects, 2, np.random.default_rng(seed))
    first, second = pairs
    assert (first != second).all()
    found = consensus_values(ensemble, pairs)
    wanted = []
    for i, j in zip(first, second, strict=True):
        wanted.extend(slow_values(ensemble.take([i, j])))
    np.testing.assert_array_equal(np.repeat(found.values, found.counts), np.sort(wanted))


def test_random_pairs_are_even_and_needed_only_past_the_limit():
    rng = np.random.default_rng(0)
    assert random_pairs(5, 10, rng) is None
    first, second = random_pairs(5, 9, rng)
    assert len(first) == 9
    first, second = random_pairs(2000, 200_000, rng)
    counts = np.bincount(first, minlength=2000) + np.bincount(second, minlength=2000)
    assert abs(counts.mean() - 200) < 1e-9
    assert counts.std() < 20


def test_no_pair_at_all_is_no_ambiguity():
    nothing = Values(np.empty(0), np.empty(0, np.int64))
    assert cumulative(nothing, np.array([0.0, 1.0])).tolist() == [1.0, 1.0]
    assert ambiguous_share(nothing, 0.1, 0.9) == 0.0
    assert mean_value(nothing) == 0.0


def test_delta_is_the_gain_over_the_largest_area_before():
    found = delta_areas(np.array([0.4, 0.6, 0.5, 0.75]))
    np.testing.assert_allclose(found, [0.4, 0.5, -1 / 6, 0.25])
    assert delta_areas(np.array([0.0, 0.2])).tolist() == [0.0, 0.2]


def test_permuting_keeps_every_feature_and_breaks_the_objects(seed):
    X = np.arange(60.0).reshape(20, 3) + 1
    X[::3, 0] = 0
    before = X.copy()
    for data in (X, sparse.csr_array(X)):
        found = permuted(data, np.random.default_rng(seed))
        dense = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(X, axis=0))
        assert not (dense == X).all(axis=1).all()
        kept = data.toarray() if sparse.issparse(data) else data
        np.testing.assert_array_equal(kept, before)


# ---- the method ---------------------------------------------------------------------------


def test_three_clear_groups_are_three(seed):
    X, y = blobs(seed)
    found = monticonsensus(X, (2, 6), n_resamples=30, random_state=seed)
    assert found.n_clusters == 3
    assert adjusted_rand_score(y, found.labels) == 1.0
    assert found.candidates.tolist() == [2, 3, 4, 5, 6]
    assert found.pac[1] == 0
    assert found.pac[2:].min() > 0
    assert found.reference_pac.shape == (5,)
    assert found.cdf.shape == (5, 101)
    assert (np.diff(found.cdf, axis=1) >= 0).all()
    np.testing.assert_array_equal(found.cdf[:, -1], 1.0)
    assert found.confidence.min() > 0.9
    np.testing.assert_array_equal(found.cluster_consensus, 1.0)


def test_the_reference_is_the_same_on_shuffled_features(seed):
    X, _ = blobs(seed, spread=2.0)
    found = monticonsensus(X, [3, 5], n_resamples=15, n_references=2, random_state=seed)
    resamples, _, *shuffles = np.random.RandomState(seed).randint(2**31 - 1, size=4)
    for place, k in enumerate((3, 5)):
        shares = []
        for shuffle in shuffles:
            data = permuted(X, np.random.default_rng(shuffle))
            params = {"max_samples": 0.8, "init": "k-means++", "assign": "unseen"}
            members = KMeansEnsemble(15, k, random_state=resamples, **params).generate(data)
            values = slow_values(members)
            shares.append(((values > 0.1) & (values <= 0.9)).mean())
        assert found.reference_pac[place] == pytest.approx(np.mean(shares))


def test_attributes_follow_from_the_consensus_matrix(seed):
    X, _ = blobs(seed, spread=1.5)
    found = monticonsensus(X, 4, n_resamples=30, n_references=0, random_state=seed)
    assert np.isnan(found.reference_pac).all()
    matrix = co_association(found.ensemble)
    upper = matrix[np.triu_indices(len(X), 1)]
    assert found.area[0] == pytest.approx(1 - upper.mean())
    assert found.delta[0] == found.area[0]
    for threshold, share in zip(found.thresholds, found.cdf[0], strict=True):
        assert share == pytest.approx((upper <= threshold).mean())
    assert found.pac[0] == pytest.approx(((upper > 0.1) & (upper <= 0.9)).mean())
    for c in range(found.n_clusters):
        inside = matrix[np.ix_(found.labels == c, found.labels == c)]
        if len(inside) > 1:
            wanted = (inside.sum() - len(inside)) / (inside.size - len(inside))
            assert found.cluster_consensus[c] == pytest.approx(wanted)
    seen = (found.ensemble.labels != -2).mean()
    assert seen == pytest.approx(0.8)


def test_the_chosen_number_is_that_of_the_criterion(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    by_pac = monticonsensus(X, (2, 5), n_resamples=15, random_state=seed)
    best = by_pac.candidates[by_pac.pac == by_pac.pac.min()].max()
    assert by_pac.n_clusters == best
    by_reference = monticonsensus(
        X, (2, 5), n_resamples=15, random_state=seed, criterion="reference", n_references=2
    )
    gain = by_reference.reference_pac - by_reference.pac
    assert by_reference.n_clusters == by_reference.candidates[gain == gain.max()].max()


def test_pac_of_no_structure_falls_with_the_number_as_it_does_on_the_reference():
    """What PAC alone would call the best number is an artefact; the reference shows it."""
    differences = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(80, 4))
        found = monticonsensus(X, [2, 9], n_resamples=30, random_state=0)
        assert found.pac[0] > found.pac[1]
        assert found.reference_pac[0] > found.reference_pac[1]
        differences.append(found.pac - found.reference_pac)
    error = np.std(differences, axis=0, ddof=1) / np.sqrt(20)
    assert (error < [0.03, 0.01]).all()
    assert (np.abs(np.mean(differences, axis=0)) < 3 * error).all()


def test_random_pairs_estimate_the_curves():
    X, _ = blobs(1, n=60, spread=2.0)
    exact = monticonsensus(X, 3, random_state=0, **FEW)
    some = monticonsensus(X, 3, random_state=0, max_pairs=15_000, **FEW)
    assert abs(exact.pac[0] - some.pac[0]) < 0.03
    assert exact.pac[0] != some.pac[0]
    np.testing.assert_array_equal(exact.labels, some.labels)


def test_seeds_and_threads(seed):
    X, _ = blobs(seed, spread=2.0)
    first = monticonsensus(X, [2, 4], random_state=seed, n_resamples=10)
    again = monticonsensus(X, [2, 4], random_state=seed, n_resamples=10, n_jobs=2)
    np.testing.assert_array_equal(first.labels, again.labels)
    np.testing.assert_array_equal(first.cdf, again.cdf)
    np.testing.assert_array_equal(first.reference_pac, again.reference_pac)
    np.testing.assert_array_equal(first.confidence, again.confidence)


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(linkage="average"),
        GaussianMixture(random_state=0),
        KMeansEnsemble(init="random", metric="cosine"),
    ],
    ids=["linkage", "mixture", "cosine"],
)
def test_any_clusterer_may_be_resampled(clusterer):
    X, y = blobs(0)
    X = X + 3.0
    before = repr(clusterer)
    found = monticonsensus(X, 3, clusterer=clusterer, random_state=0, **FEW)
    assert repr(clusterer) == before
    assert found.ensemble.n_members == 20
    assert (found.ensemble.n_clusters == 3).all()
    assert found.ensemble.has_unseen
    assert adjusted_rand_score(y, found.labels) == 1.0


def test_sparse_data_and_all_objects():
    X, y = blobs(0)
    found = monticonsensus(sparse.csr_array(X), (2, 4), max_samples=1.0, random_state=0)
    assert not found.ensemble.has_unseen
    assert found.n_clusters == 3
    assert adjusted_rand_score(y, found.labels) == 1.0


def test_numbers_of_clusters_in_any_form():
    X, _ = blobs(0, n=4)
    for form in ((2, 4), range(2, 5), [4, 2, 3, 2]):
        assert monticonsensus(X, form, random_state=0, **FEW).candidates.tolist() == [2, 3, 4]
    with pytest.warns(ConsilienceWarning, match="tries at most n_clusters=10: a member sees only"):
        found = monticonsensus(X, (2, 40), random_state=0, n_resamples=3, n_references=0)
    assert found.candidates.max() == 10
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* member sees, 10"):
        monticonsensus(X, 11, **FEW)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("n_clusters", 0),
        ("n_clusters", (1, 4)),
        ("n_clusters", (4, 2)),
        ("n_clusters", []),
        ("n_clusters", "all"),
        ("clusterer", "kmeans"),
        ("clusterer", KMeansEnsemble),
        ("n_resamples", 0),
        ("max_samples", 1.5),
        ("window", (0.9, 0.1)),
        ("window", 0.1),
        ("criterion", "delta"),
        ("n_references", -1),
        ("max_pairs", 0),
        ("max_memory", "much"),
        ("random_state", "x"),
    ],
)
def test_bad_parameters_are_named(name, bad):
    X, _ = blobs(0)
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of MontiConsensus"):
        monticonsensus(X, **{name: bad})
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of MontiConsensus"):
        MontiConsensus(**{name: bad}).fit(X)


def test_a_criterion_needs_its_reference():
    X, _ = blobs(0)
    with pytest.raises(InvalidParameterError, match="at least 1 with criterion='reference'"):
        monticonsensus(X, criterion="reference", n_references=0)


def test_the_estimator_says_what_the_function_says():
    X, _ = blobs(5)
    model = clone(MontiConsensus((2, 4), n_resamples=15, random_state=1)).fit(X)
    found = monticonsensus(X, (2, 4), n_resamples=15, random_state=1)
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_array_equal(model.pac_, found.pac)
    np.testing.assert_array_equal(model.reference_pac_, found.reference_pac)
    assert model.n_clusters_ == found.n_clusters == 3
    names = ("cdf_", "area_", "delta_", "confidence_", "runner_up_", "linkage_", "ensemble_")
    assert all(hasattr(model, name) for name in names)


def test_an_object_no_resample_drew_is_placed_by_the_data():
    X, _ = blobs(0)
    with pytest.warns(ConsilienceWarning, match="seen by no member"):
        found = monticonsensus(X, 3, n_resamples=2, max_samples=0.5, random_state=0, n_references=0)
    lost = (found.ensemble.labels == -2).all(axis=1)
    assert lost.any()
    assert (found.confidence[lost] == 0).all()
    assert found.labels.min() == 0


def test_the_matrix_is_not_needed():
    X, y = blobs(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = monticonsensus(X, 3, random_state=0, max_memory=1000, **FEW)
    assert adjusted_rand_score(y, found.labels) == 1.0


def test_a_clusterer_of_its_own_is_one_parameter():
    X, _ = blobs(0)
    clusterer = AgglomerativeClustering()
    found = MontiConsensus(3, clusterer=clusterer, random_state=0, **FEW).fit(X)
    wanted = monticonsensus(X, 3, clusterer=clusterer, random_state=0, **FEW)
    np.testing.assert_array_equal(found.labels_, wanted.labels)
