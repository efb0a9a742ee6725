"""What every generator keeps: seeds, workers, records, bad input."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans

from consilience import NOISE, UNSEEN, generate
from consilience.errors import ConsilienceError, ConsilienceWarning, InvalidParameterError
from consilience.generate import (
    Combined,
    CommunityEnsemble,
    DistanceEnsemble,
    EstimatorEnsemble,
    GraphEnsemble,
    KMeansEnsemble,
    LACEnsemble,
    MembershipEnsemble,
    MixedEnsemble,
    USPECEnsemble,
)

GENERATORS = {
    "kmeans": KMeansEnsemble(6, (2, 4)),
    "kmeans sub-sampled": KMeansEnsemble(6, (2, 4), max_samples=0.6, max_features=0.5),
    "kmeans unseen": KMeansEnsemble(6, 3, max_samples=(0.5, 0.8), assign="unseen"),
    "kmeans++": KMeansEnsemble(6, 3, init="k-means++"),
    "cosine": KMeansEnsemble(6, 3, metric="cosine"),
    "online": KMeansEnsemble(6, 3, online=True),
    "mini-batch": KMeansEnsemble(6, 3, algorithm="minibatch", batch_size=20, max_iter=10),
    "estimators": EstimatorEnsemble([KMeans(n_init=1), DBSCAN(eps=0.6)], [2, 3], max_samples=0.8),
    "combined": Combined([KMeansEnsemble(3, 2), EstimatorEnsemble(KMeans(n_init=1), 3)]),
    "lac": LACEnsemble(6, 3),
    "u-spec": USPECEnsemble(3, (2, 4), n_representatives=20),
    "graph": GraphEnsemble(6, (2, 4)),
    "graph unseen": GraphEnsemble(6, 3, max_samples=(0.5, 0.8), assign="unseen"),
    "distances": DistanceEnsemble(10, (2, 4), metric="manhattan"),
    "distances unseen": DistanceEnsemble(5, 3, metric="cosine", assign="unseen"),
    "memberships": MembershipEnsemble(4, (2, 4)),
    "memberships unseen": MembershipEnsemble(4, 3, max_samples=0.7, assign="unseen"),
    "mixed": MixedEnsemble(6, (2, 4)),
    "mixed categories": MixedEnsemble(6, (2, 4), categorical=[0, 3]),
    "mixed views": MixedEnsemble(6, (2, 4), views=[0, 0, 1, 1]),
    "woec": generate.woec(6, 3),
    "split and merge": generate.split_and_merge(5),
    "cosine split and merge": generate.cosine_split_and_merge(5),
    "mini-batch split and merge": generate.minibatch_split_and_merge(5),
    "many algorithms": generate.many_algorithms([2, 3]),
    "k-means ensemble": generate.kmeans_ensemble(3, 5),
    "full ensemble": generate.full_ensemble(3),
    "rcc": generate.rcc(3),
    "fdc": generate.fdc(3, 4),
    "odc": generate.odc(3, 4),
}

EVERY = [*{type(made): made for made in GENERATORS.values()}.values(), CommunityEnsemble(2)]
SHARES = [
    (made, name)
    for made in EVERY
    for name in ("max_samples", "max_features", "max_edges")
    if name in made.get_params(deep=False)
]
GRAPH = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]


@pytest.fixture(params=sorted(GENERATORS))
def generator(request):
    return clone(GENERATORS[request.param])


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.4, (20, 4)) for c in (0.5, 2.5, 4.5)])


def _seeded(generator, seed):
    names = generator.get_params(deep=False)
    return clone(generator).set_params(random_state=seed) if "random_state" in names else generator


def test_a_seed_fixes_the_ensemble_whatever_the_workers(generator, X, seed):
    first = _seeded(generator, seed).generate(X)
    second = _seeded(generator, seed).set_params(n_jobs=2).generate(X)
    np.testing.assert_array_equal(first.labels, second.labels)


# Nothing in the four fixed algorithms is random.
@pytest.mark.parametrize("name", sorted(set(GENERATORS) - {"rcc"}))
def test_another_seed_gives_another_ensemble(name, X):
    generator = GENERATORS[name]
    first, second = (_seeded(generator, s).generate(X).labels for s in (1, 2))
    assert first.shape == second.shape
    assert (first != second).any()


def test_every_object_has_a_dense_label_in_every_member(generator, X):
    ensemble = _seeded(generator, 0).generate(X)
    assert ensemble.n_objects == len(X)
    for labels in ensemble:
        placed = np.unique(labels[labels >= 0])
        np.testing.assert_array_equal(placed, np.arange(len(placed)))
        assert set(np.unique(labels[labels < 0])) <= {NOISE, UNSEEN}


def test_one_record_a_member_with_its_seed(generator, X):
    ensemble = _seeded(generator, 0).generate(X)
    assert len(ensemble.records) == ensemble.n_members
    for record in ensemble.records:
        assert record["error"] is None
        assert {"algorithm", "seed", "n_clusters", "seconds"} <= set(record)


def test_input_is_not_written_to_and_read_only_input_works(generator, X):
    before = X.copy()
    X.flags.writeable = False
    _seeded(generator, 0).generate(X)
    np.testing.assert_array_equal(X, before)


def test_a_frame_keeps_its_index(generator, X):
    pandas = pytest.importorskip("pandas")
    names = [f"row{i}" for i in range(len(X))]
    ensemble = _seeded(generator, 0).generate(pandas.DataFrame(X, index=names))
    assert ensemble.index.tolist() == names


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(generator, X, bad):
    X[3, 1] = bad
    if isinstance(generator, MixedEnsemble) and np.isnan(bad):
        assert generator.generate(X).n_objects == len(X)  # a gap
        return
    with pytest.raises(ValueError, match="X contains"):
        generator.generate(X)


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.ones((5, 0)), np.ones(4), [["a", "b"]] * 9])
def test_data_of_the_wrong_shape_or_type_is_refused(generator, X):
    with pytest.raises(ValueError, match=r"X|array|sample|string"):
        generator.generate(X)


def test_constant_data_and_duplicates_do_not_hang(generator):
    X = np.repeat([[1.0, 2.0, 3.0, 4.0]], 30, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clusterers warn of fewer distinct points than clusters
        ensemble = _seeded(generator, 0).generate(X)
    assert ensemble.n_objects == 30


class Raises(ClusterMixin, BaseEstimator):
    """A clusterer that fails for some seeds."""

    def __init__(self, random_state=None, always=False):
        self.random_state = random_state
        self.always = always

    def fit(self, X, y=None):
        if self.always or self.random_state % 2:
            raise RuntimeError("odd seed")
        self.labels_ = (X[:, 0] > 2.5).astype(int)
        return self


def test_a_failing_member_is_reported_with_its_seed_and_the_run_goes_on(X):
    generator = EstimatorEnsemble(Raises(), n_members=12, random_state=0)
    with pytest.warns(ConsilienceWarning, match=r"of 12 members failed.*seeds \d+.*odd seed"):
        ensemble = generator.generate(X)
    failed = [r for r in generator.records_ if r["error"]]
    assert 0 < len(failed) < 12
    assert ensemble.n_members == 12 - len(failed)
    assert all("odd seed" in record["error"] for record in failed)


def test_if_every_member_fails_the_first_error_is_told(X):
    with pytest.raises(ConsilienceError, match=r"None of the 3 members.*seed \d+.*odd seed"):
        EstimatorEnsemble(Raises(always=True), n_members=3, random_state=0).generate(X)


def test_callbacks_hear_of_every_member(X):
    class Count:
        ends = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.ends += context.task_name == "member"

    count = Count()
    generator = KMeansEnsemble(7, 2, random_state=0).set_callbacks(count)
    generator.generate(X)
    assert count.ends == 7


def test_a_callback_can_stop_early_and_keeps_what_is_done(X):
    class Stop:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "member"

    generator = KMeansEnsemble(40, 2, random_state=0).set_callbacks(Stop())
    with pytest.warns(ConsilienceWarning, match=r"Stopped by a callback after \d+ of 40"):
        ensemble = generator.generate(X)
    whole = KMeansEnsemble(40, 2, random_state=0).generate(X)
    np.testing.assert_array_equal(ensemble.labels, whole.labels[:, : ensemble.n_members])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_members": 0}, "'n_members' parameter of KMeansEnsemble must be .* Got 0"),
        ({"n_members": 2.5}, "'n_members' .* Got 2.5"),
        ({"n_clusters": 0}, "'n_clusters' .* Got 0"),
        ({"n_clusters": (5, 2)}, r"low <= high. Got \(5, 2\) instead. Swap"),
        ({"n_clusters": 61}, "at most the number of objects a member sees, 60 .* Got 61"),
        ({"n_clusters": ("root", 3)}, "'n_clusters' .* Got"),
        ({"n_clusters": []}, "'n_clusters' .* Got"),
        ({"n_clusters": 8, "max_samples": 0.1}, r"sees, 6 \(max_samples=0.1.*raise max_samples"),
        ({"max_samples": 0.0}, "'max_samples' .* Got 0.0"),
        ({"max_samples": 1.5}, "'max_samples' .* Got 1.5"),
        ({"max_samples": 100}, "at most the number of objects, n_samples=60. Got 100"),
        ({"max_samples": (0.9, 0.5)}, "Swap the two ends"),
        ({"max_features": 9}, "'max_features' .* at most the number of features, n_features=4"),
        ({"max_features": "half"}, "'max_features' .* Got 'half'"),
        ({"metric": "manhattan"}, "must be one of 'euclidean', 'cosine'. Got 'manhattan'"),
        ({"assign": None}, "'assign' .* Got None"),
        ({"random_state": -1}, "'random_state' .* Got -1"),
        ({"n_jobs": "all"}, "'n_jobs' .* Got 'all'"),
        ({"algorithm": "minibatch", "online": True}, "'online' .* must be False"),
        ({"metric": "cosine", "online": True}, "'online' .* must be False .* 'cosine'"),
    ],
)
def test_bad_parameters_name_parameter_value_and_remedy(X, params, message):
    with pytest.raises(ValueError, match=message):
        KMeansEnsemble(**params).generate(X)


def test_bad_clusterers_are_refused(X):
    with pytest.raises(ValueError, match="'estimators' parameter of EstimatorEnsemble"):
        EstimatorEnsemble(KMeans).generate(X)
    with pytest.raises(ValueError, match="'estimators'"):
        EstimatorEnsemble([]).generate(X)
    for wrong in (KMeans(), SimpleNamespace(generate=lambda X: None)):  # which cannot be copied
        with pytest.raises(ValueError, match="'generators' parameter of Combined"):
            Combined([wrong]).generate(X)


@pytest.mark.parametrize(("generator", "name"), SHARES)
def test_shares_whose_ends_are_swapped_or_that_are_too_large_are_refused(generator, name, X):
    X = GRAPH if isinstance(generator, CommunityEnsemble) else X
    for wrong, message in (((0.9, 0.5), "Swap the two ends"), (10_000, "at most the number of")):
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter.*{message}"):
            clone(generator).set_params(**{name: wrong}).generate(X)


def test_two_objects_are_enough_and_one_is_not():
    found = KMeansEnsemble(3, 2, random_state=0).generate([[0.0], [1.0]])
    assert found.labels.shape == (2, 3)
    with pytest.raises(ValueError, match="minimum of 2"):
        KMeansEnsemble(3, 1, random_state=0).generate([[0.0]])
