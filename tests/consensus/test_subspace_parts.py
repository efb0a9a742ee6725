"""The steps of refinement and of ensembles of subspace clusterings, one by one."""

import sys

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus.refinement import _by_size, refine
from consilience.consensus.subspace import (
    WBPA,
    WSPA,
    _are_runs,
    _check_runs,
    _refitted,
    wbpa,
    wspa,
)
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.generate.lac import LACEnsemble, LACRun, refit_lac

MODULE = sys.modules[wspa.__module__]
X = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [8.0, 2.0], [9.0, 1.0], [10.0, 3.0]])
LABELS = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]])
RUN = LACRun(np.zeros((2, 2)), np.full((2, 2), 0.5))


def test_labels_are_numbered_from_the_largest_cluster_on():
    ensemble = Ensemble(np.arange(9)[:, None])
    found = _by_size(ensemble, np.array([5, -3, 2, 2, 2, 9, 9, -1, 5]))
    assert found[[2, 3, 4]].tolist() == [0, 0, 0]
    assert found[[1, 7]].tolist() == [-1, -1]
    assert found.dtype == np.int32
    assert found[0] == found[8]
    assert found[5] == found[6]
    assert sorted([found[0], found[5]]) == [1, 2]


def test_cluster_0_is_a_cluster_like_others_when_numbered():
    found = _by_size(Ensemble(np.arange(5)[:, None]), np.array([0, 1, 1, 1, 0]))
    assert found.tolist() == [1, 0, 0, 0, 1]
    assert _by_size(Ensemble([[0, 1]]), np.array([0, 0])).tolist() == [0, 0]


def test_clusters_of_one_size_are_told_apart_by_their_labels(seed):
    rng = np.random.default_rng(seed)
    members, labels = np.arange(12)[:, None], np.repeat(np.arange(4), 3)
    first = _by_size(Ensemble(members), labels)
    for _ in range(5):
        order = rng.permutation(12)
        names = rng.permutation(4)
        found = _by_size(Ensemble(members[order]), names[labels[order]])
        np.testing.assert_array_equal(found, first[order])


def test_labels_of_others_and_of_nobody_are_handed_on():
    ensemble = Ensemble([[0, 1, 2]])
    for labels in ([7, 8], [-1, -2, -3]):
        assert _by_size(ensemble, np.array(labels)).tolist() == labels


def test_a_cluster_that_keeps_one_object_loses_the_others():
    members = [[0, 1, 1, 1, 1, 1]] * 3
    found = refine(Ensemble(members), [0, 0, 0, 1, 1, 1])
    assert found.moved.tolist() == [False, True, True, False, False, False]
    assert found.labels.tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]])
def test_a_cluster_that_all_would_leave_keeps_them(labels):
    members = [[0, 1, 0, 0, 1, 1]] * 3
    # Of its own cluster each sees nobody, of the other one half.
    found = refine(Ensemble(members), labels)
    assert not found.moved.any()
    assert found.labels.tolist() == [0, 0, 1, 1, 1, 1]


def test_the_last_cluster_may_be_one_that_all_would_leave():
    # Clusters of 4 and of 2 and of 1: the last object would join the first.
    members = [[0, 0, 0, 0, 1, 1, 0]] * 2
    found = refine(Ensemble(members), [0, 0, 0, 0, 1, 1, 2])
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert not found.moved.any()


def test_refine_names_itself_where_threads_are_wrong():
    with pytest.raises(InvalidParameterError, match="refine"):
        refine(Ensemble([[0, 1]]), [0, 1], n_jobs=0)


@pytest.mark.parametrize("labels", [[[0, 1]], [0.0, 1.0], 3, ["a", "b"]])
def test_labels_are_one_whole_number_each(labels):
    with pytest.raises(InvalidInputError, match="one whole number"):
        refine(Ensemble([[0, 1]]), labels)
    assert refine(Ensemble([[0, 1]]), [True, False]).labels.tolist() == [0, 1]


# ---- subspaces ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "wanted"),
    [([RUN], True), ((RUN, RUN), True), ([RUN, 3], False), ([3], False), (RUN, False), (3, False)],
)
def test_runs_are_a_sequence_of_runs(value, wanted):
    assert _are_runs(value) is wanted


def test_there_is_one_run_for_each_member_of_the_features_of_the_data():
    ensemble = Ensemble(LABELS)
    _check_runs([RUN, RUN], ensemble, X, "WSPA")
    _check_runs([RUN, RUN], ensemble, None, "WSPA")
    with pytest.raises(InvalidParameterError, match=r"each of the 2 members\. Got 1"):
        _check_runs([RUN], ensemble, X, "WSPA")
    with pytest.raises(InvalidInputError, match=r"\[2\] features, X has 1"):
        _check_runs([RUN, RUN], ensemble, X[:, :1], "WSPA")


@pytest.mark.parametrize("function", [wspa, wbpa])
def test_runs_of_other_data_are_refused(function):
    with pytest.raises(InvalidParameterError, match="one run for each"):
        function(Ensemble(LABELS), 2, runs=[RUN], X=X)
    with pytest.raises(InvalidInputError, match="features"):
        function(Ensemble(LABELS), 2, runs=[RUN, RUN], X=X[:, :1])


@pytest.mark.parametrize(
    ("records", "inv_h", "wanted"),
    [
        (None, None, [0.1, 0.1]),
        (None, 0.3, [0.3, 0.3]),
        (({"inv_h": 0.5}, {}), None, [0.5, 0.1]),
        (({"inv_h": 0.5}, {}), 0.3, [0.3, 0.3]),
    ],
)
def test_members_are_fitted_again_as_sharply_as_is_told(records, inv_h, wanted):
    ensemble = Ensemble(LABELS, records=records or ())
    found = _refitted(ensemble, X, inv_h)
    assert len(found) == 2
    for run, labels, sharp in zip(found, LABELS.T, wanted, strict=True):
        again = refit_lac(X, labels, sharp)
        np.testing.assert_array_equal(run.centres, again.centres)
        np.testing.assert_array_equal(run.weights, again.weights)


@pytest.mark.parametrize("estimator", [WSPA, WBPA])
def test_members_are_made_by_lac_and_their_runs_taken(estimator):
    model = estimator(2, random_state=0)
    made = model._default_generator()
    assert isinstance(made, LACEnsemble)
    assert (made.n_members, made.n_clusters) == (40, 2)
    assert model._options(None)["runs"] is None
    given = estimator(2, generator=LACEnsemble(3, 2), random_state=0)
    maker = given._generator(None, None)
    maker.runs_ = [RUN]
    assert given._options(None)["runs"] == [RUN]
    assert given._options(None)["runs"] is None  # once
    other = estimator(2, generator=KMeansEnsemble(3, 2), random_state=0)
    other._generator(None, None)
    assert other._options(None)["runs"] is None


@pytest.mark.parametrize("estimator", [WSPA, WBPA])
def test_data_are_dense_and_of_two_objects_at_least(estimator):
    model = estimator(2)
    assert model.__sklearn_tags__().input_tags.sparse is False
    assert len(model._check_data(X[:2], None)) == 2
    with pytest.raises(ValueError, match="minimum of 2"):
        model._check_data(X[:1], None)
    assert model._check_data(None, Ensemble(LABELS)) is None
    with pytest.raises(InvalidInputError, match="Got neither"):
        model._check_data(None, None)
    with pytest.raises(InvalidInputError, match="Got an Ensemble instead"):
        model._check_data(Ensemble(LABELS), None)


@pytest.mark.parametrize("function", [wspa, wbpa])
def test_the_data_order_objects_of_equal_labels(monkeypatch, seed, function):
    given = []
    found = MODULE.by_distances

    def kept(data, runs):
        given.append(data.copy())
        return found(data, runs)

    monkeypatch.setattr(MODULE, "by_distances", kept)
    rng = np.random.default_rng(seed)
    data, labels = rng.normal(size=(10, 2)), np.stack([np.arange(10) % 2, np.arange(10) // 9], 1)
    for order in (np.arange(10), rng.permutation(10)):
        function(Ensemble(labels[order]), 2, X=data[order], solver="spectral", random_state=0)
    np.testing.assert_array_equal(given[0], given[1])


@pytest.mark.parametrize("function", [wspa, wbpa])
def test_objects_of_equal_labels_are_told_apart_by_the_data(function):
    # Two distinct rows of labels, three clusters.
    labels = np.repeat([[0, 0], [1, 1]], [4, 2], axis=0)
    data = np.array([[0.0], [0.1], [4.0], [4.1], [9.0], [9.1]])
    found = function(Ensemble(labels), 3, X=data, solver="spectral", random_state=0)
    assert found.n_clusters == 3


def test_sizes_are_refused_also_where_nothing_is_cut():
    with pytest.raises(InvalidParameterError, match="sizes"):
        wspa(Ensemble(LABELS[:, :1]), 2, X=X, sizes=[1, 2, 3])
