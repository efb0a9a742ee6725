"""What every consensus method keeps, whichever it is: parametrised over the table.

Methods that cut into parts of equal size, or that look at the data as well, may split
objects with equal labels; what only holds for the others is asked of the others only.
"""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import ensembles

import consilience as cs
from consilience import Ensemble
from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble

# Announced, and rightly so, on ensembles as small as these.
pytestmark = pytest.mark.filterwarnings("ignore:.*too few for the walks.*EAC was used instead")

FEW = KMeansEnsemble(5, (2, 4), random_state=0)
# All estimators as first constructed: test_default_construction.py.
ESTIMATORS = [
    cs.EAC(3, generator=FEW),
    cs.EAC(3, linkage="single", generator=FEW),
    cs.EAC(3, linkage="ward", generator=FEW),
    cs.EAC(2, linkage="complete", generator=FEW, missing="all"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(params=sorted(CONSENSUS))
def method(request):
    return CONSENSUS[request.param]


TRUTH = np.repeat([0, 1, 2], 20)


@pytest.fixture
def three_groups(seed):
    """Fifteen members that agree on three groups of twenty but for one object in ten."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(TRUTH[:, None], 15, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    return Ensemble(labels)


def _blobs(groups):
    """Data in which the groups lie apart."""
    rng = np.random.default_rng(0)
    return 8.0 * np.eye(int(groups.max()) + 1)[groups] + rng.normal(
        size=(len(groups), groups.max() + 1)
    )


def _splits_equals(method):
    return method.balanced or method.needs_data


def _labels(method, ensemble, k, X=None):
    """Labels by the table; data only for methods that need them."""
    if X is None:
        X = np.random.default_rng(1).normal(size=(ensemble.n_objects, 2))
    return method.run(ensemble, k, X if method.needs_data else None, random_state=0).labels


def _agreement_wanted(method):
    # A graph partitioner is a heuristic on a graph with little contrast: near, not exact.
    return 0.75 if _splits_equals(method) else 1.0


def test_names_and_order_of_members_do_not_matter(method, three_groups):
    names = np.random.default_rng(0).permutation(10)
    shuffled = Ensemble(names[three_groups.labels][:, ::-1])
    first, second = (_labels(method, e, 3, _blobs(TRUTH)) for e in (three_groups, shuffled))
    assert adjusted_rand_score(first, second) >= _agreement_wanted(method)


@pytest.fixture(scope="module")
def weak():
    """Members that are wrong about almost every second object."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 60)
    members = [np.where(rng.random(60) < 0.45, rng.integers(0, 3, 60), truth) for _ in range(9)]
    return Ensemble(members)


@pytest.mark.parametrize("rows", [1, 3, 17])
def test_blocks_of_rows_do_not_change_the_labels(method, weak, rows, monkeypatch):
    X = np.random.default_rng(3).normal(size=(weak.n_objects, 2))
    whole = _labels(method, weak, 3, X)
    for name, module in list(sys.modules.items()):
        if name.startswith(("consilience.consensus.", "consilience.partition.")):
            if hasattr(module, "_BLOCK"):
                monkeypatch.setattr(module, "_BLOCK", rows)
            if hasattr(module, "_BLOCK_BYTES"):
                monkeypatch.setattr(module, "_BLOCK_BYTES", rows * 8 * weak.n_objects)
    np.testing.assert_array_equal(_labels(method, weak, 3, X), whole)


def test_groups_are_found_through_the_noise(method, three_groups):
    labels = _labels(method, three_groups, 3, _blobs(TRUTH))
    assert adjusted_rand_score(TRUTH, labels) >= _agreement_wanted(method)


def test_a_unanimous_ensemble_is_returned(method):
    sizes = [4, 4, 4, 4] if _splits_equals(method) else [3, 5, 2, 6]
    groups = np.repeat([0, 1, 2, 3], sizes)
    labels = _labels(method, Ensemble([groups] * 4), 4, _blobs(groups))
    assert adjusted_rand_score(groups, labels) == 1.0


def test_labels_are_consecutive_int32_by_first_appearance(method, three_groups):
    labels = _labels(method, three_groups, 3, _blobs(TRUTH))
    assert labels.dtype == np.int32
    first = [int(np.argmax(labels == c)) for c in range(3)]
    assert first == sorted(first)
    assert set(labels) == {0, 1, 2}


@settings(max_examples=25)
@given(ensembles(min_objects=2))
@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_any_ensemble_gets_every_object_labelled(name, ensemble):
    method = CONSENSUS[name]
    for k in (1, 2, ensemble.n_objects):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            labels = _labels(method, ensemble, k)
        assert labels.shape == (ensemble.n_objects,)
        assert labels.max() < k
        placed = np.unique(labels[labels >= 0])
        np.testing.assert_array_equal(placed, np.arange(len(placed)))
        assert labels.min() >= (-1 if method.keeps_noise else 0)


def test_noise_everywhere_stays_noise_where_the_method_says_so(method):
    groups = np.array([0, 0, 0, 1, 1, 1, 0])
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1, -1], [0, 0, 0, 1, 1, 1, -1]])
    labels = _labels(method, ensemble, 2, _blobs(groups))
    assert labels[:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert (labels[6] == -1) == method.keeps_noise


def test_an_object_nobody_saw_is_placed_with_a_warning(method):
    ensemble = Ensemble([[0, 0, 1, 1, 1, None]] * 2)
    if not method.needs_data:
        with pytest.warns(ConsilienceWarning, match=r"1 object was seen by no member.*largest"):
            labels = _labels(method, ensemble, 2)
        assert labels[5] == np.bincount(labels[:5]).argmax()
    X = np.array([[0.0], [0], [9], [9], [9], [1]])
    with pytest.warns(ConsilienceWarning, match="nearest mean"):
        model = method.estimator(n_clusters=2).fit(X, ensemble=ensemble)
    assert model.labels_[5] == model.labels_[0]
    assert model.confidence_[5] == 0


def test_one_cluster_and_as_many_as_objects(method):
    ensemble = Ensemble([[0, 1, 2, 3], [3, 1, 0, 2]])
    assert _labels(method, ensemble, 1).tolist() == [0] * 4
    assert _labels(method, ensemble, 4).tolist() == [0, 1, 2, 3]


def test_more_clusters_than_objects_is_refused(method):
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* n_samples=3. Got 4"):
        _labels(method, Ensemble([[0, 1, 2]]), 4)


def test_more_clusters_than_signatures_warns_where_equals_stay_together(method):
    ensemble = Ensemble([[0, 0, 1, 1]])
    if _splits_equals(method):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            assert _labels(method, ensemble, 3).max() <= 2
    else:
        with pytest.warns(ConsilienceWarning, match="only 2 groups of objects differ"):
            labels = _labels(method, ensemble, 3)
        assert labels.tolist() == [0, 0, 1, 1]


def test_one_constant_member_and_identical_members(method):
    groups = np.repeat([0, 1], 3)
    constant = Ensemble([[0] * 6, groups, groups])
    assert _labels(method, constant, 2, _blobs(groups)).tolist() == [0, 0, 0, 1, 1, 1]
    with pytest.warns(ConsilienceWarning, match="no two objects differ"):
        assert _labels(method, Ensemble([[0] * 6] * 3), 2).tolist() == [0] * 6


@pytest.mark.parametrize("bad", [0, -1, 2.5, "two", True])
def test_wrong_n_clusters_is_refused(method, bad):
    with pytest.raises(InvalidParameterError, match="'n_clusters' parameter of"):
        _labels(method, Ensemble([[0, 0, 1]]), bad)
    with pytest.raises(InvalidParameterError, match="'n_clusters' parameter of"):
        method.estimator(n_clusters=bad).fit(np.eye(3), ensemble=Ensemble([[0, 0, 1]]))


def test_data_or_ensemble_must_be_there_and_agree(method):
    model = method.estimator(n_clusters=2)
    with pytest.raises(InvalidInputError, match=r"needs data or an ensemble. Got neither"):
        model.fit()
    with pytest.raises(InvalidInputError, match=r"Pass it as fit\(ensemble=...\)"):
        model.fit(Ensemble([[0, 0, 1]]))
    with pytest.raises(InvalidInputError, match="X has 2 rows, the ensemble 3 objects"):
        model.fit(np.zeros((2, 2)), ensemble=Ensemble([[0, 0, 1]]))


def test_data_that_are_needed_are_asked_for(method):
    if method.needs_data:
        with pytest.raises(InvalidInputError, match=r"Got no X. Call .*fit\(X, ensemble"):
            method.estimator(n_clusters=2).fit(ensemble=Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]))
    else:
        model = method.estimator(n_clusters=2)
        labels = model.fit_predict(ensemble=[["x", "x", "y", "y"], [0, 0, 1, 1]])
        assert labels.tolist() == [0, 0, 1, 1]


def test_values_that_are_not_finite_are_refused(method):
    with pytest.raises(ValueError, match="X contains NaN"):
        method.estimator(n_clusters=2).fit(np.array([[0.0], [np.nan], [1.0]]))


def test_a_wrong_generator_is_refused(method):
    with pytest.raises(InvalidParameterError, match="'generator' parameter of"):
        method.estimator(n_clusters=2, generator="kmeans").fit(np.zeros((9, 2)))


def test_seeds_and_workers(method, seed):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    generator = KMeansEnsemble(10, (2, 6))
    runs = [
        method.estimator(n_clusters=4, generator=generator, random_state=seed, n_jobs=jobs).fit(X)
        for jobs in (None, 2)
    ]
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    np.testing.assert_array_equal(runs[0].confidence_, runs[1].confidence_)


def test_the_table_is_complete(method):
    assert method.summary.endswith(".")
    assert method.paper
    assert method.memory
    assert getattr(cs, method.estimator_name) is method.estimator
    assert method.function.__name__ == method.name == method.estimator_name.lower()
