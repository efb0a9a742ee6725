"""The steps of clustering with weighted objects: rows and their weights, starts and runs."""

import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from consilience import Ensemble, SoftEnsemble
from consilience.consensus import wokmeans, womc
from consilience.consensus._solve import ConsensusResult
from consilience.errors import ConsilienceWarning, InvalidInputError
from consilience.evidence import object_weights

# A function of the same name hides the module.
MODULE = sys.modules[womc.__module__]
ENSEMBLE = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])


def test_weights_of_labels_are_those_of_their_rows():
    weights = np.array([2.0, 2, 3, 5, 5, 5])
    for kind in (None, "one-shot"):
        rows, found = MODULE._weighted_rows(ENSEMBLE, weights, kind)
        assert (rows.n_rows, sorted(rows.counts.tolist())) == (3, [1, 2, 3])
        np.testing.assert_array_equal(found[rows.inverse], weights)


def test_weights_that_are_given_make_every_object_a_row():
    weights = np.array([2.0, 7, 3, 5, 5, 1])
    rows, found = MODULE._weighted_rows(ENSEMBLE, weights, weights)
    assert (rows.n_rows, rows.counts.tolist()) == (6, [1] * 6)
    np.testing.assert_array_equal(found[rows.inverse], weights)
    np.testing.assert_array_equal(rows.members[:, rows.inverse], ENSEMBLE.members)
    order = np.array([3, 0, 5, 2, 4, 1])
    other, again = MODULE._weighted_rows(ENSEMBLE.take(order), weights[order], weights[order])
    np.testing.assert_array_equal(again, found)
    np.testing.assert_array_equal(other.members, rows.members)


def test_memberships_with_weights_that_are_given_are_rows_of_one_object():
    shares = np.random.default_rng(0).dirichlet([1.0, 1.0], (2, 5))
    soft, weights = SoftEnsemble(list(shares)), np.array([2.0, 7, 3, 5, 1])
    rows, found = MODULE._weighted_rows(soft, weights, weights)
    assert rows.n_rows == 5
    np.testing.assert_array_equal(found[rows.inverse], weights)
    order = np.array([3, 0, 2, 4, 1])
    _, again = MODULE._weighted_rows(soft.take(order), weights[order], weights[order])
    np.testing.assert_array_equal(again, found)


def test_meta_clusters_tell_the_weights():
    for given, wanted in [
        (None, np.ones(6)),
        ("one-shot", object_weights(ENSEMBLE)),
        (np.arange(1.0, 7), np.arange(1.0, 7)),
    ]:
        found = womc(ENSEMBLE, 2, weights=given, random_state=0)
        np.testing.assert_allclose(found.details["object_weights"], wanted)
    with pytest.raises(InvalidInputError, match=r"each of the 6 objects\. Got 5"):
        womc(ENSEMBLE, 2, weights=np.ones(5))


def test_what_meta_clusters_are_told(monkeypatch):
    told = []
    real = MODULE.meta_clusters

    def meta(rows, k, **options):
        told.append((rows.n_rows, k, options.pop("weights")[rows.inverse].tolist(), options))
        return real(rows, k, **(options | {"weights": np.ones(rows.n_rows)}))

    monkeypatch.setattr(MODULE, "meta_clusters", meta)
    ensemble = Ensemble([[0, 0, 0, 1, 1, -1], [0, 0, 1, 1, 1, -1]])
    weights = np.array([2.0, 7, 3, 5, 4, 1])
    womc(ensemble, 2, weights=weights, vertex="size", solver="spectral", random_state=3, n_jobs=1)
    options = {"vertex": "size", "solver": "spectral", "random_state": 3, "n_jobs": 1}
    # Who was never placed has no row.
    assert told == [(5, 2, [2.0, 7.0, 3.0, 5.0, 4.0], options | {"owner": "WOMC"})]


# ---- k-means --------------------------------------------------------------------------------

X = np.array([[0.0], [1.0], [4.0], [5.0]])


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_a_run_goes_from_the_objects_given_to_weighted_centres(as_given):
    # Centres 0 and 1; then 0 and the mean of 1, 4, 5; then 0.25 and 14 / 3.
    weights = np.array([3.0, 1.0, 1.0, 2.0])
    found = MODULE._lloyd(as_given(X), np.array([0, 1]), weights, 100)
    assert (found.labels.tolist(), found.labels.dtype) == ([0, 0, 1, 1], np.int32)
    centres = np.array([0.25, 0.25, 14 / 3, 14 / 3])
    assert found.objective == pytest.approx(weights @ (X[:, 0] - centres) ** 2)
    assert found.converged is True
    assert 2 <= found.n_iter < 100


def test_a_run_that_takes_all_its_iterations_has_not_converged():
    needed = MODULE._lloyd(X, np.array([0, 1]), np.ones(4), 100).n_iter
    for most in range(1, needed + 2):
        found = MODULE._lloyd(X, np.array([0, 1]), np.ones(4), most)
        assert (found.n_iter, found.converged) == (min(most, needed), most > needed)


def test_fewer_objects_than_clusters_are_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = MODULE._lloyd(np.zeros((4, 1)), np.array([0, 1]), np.ones(4), 100)
    assert found.objective == 0.0


@pytest.fixture
def runs(monkeypatch):
    """Every start with what it is told; the second run of three is the best."""
    told = []

    def run(data, start, weights, max_iter):
        told.append((data[:, 0].tolist(), start.tolist(), weights.tolist(), max_iter))
        objective = [0.5, 0.0, 2.0][(len(told) - 1) % 3]
        return ConsensusResult((data[:, 0] > 2).astype(np.int32), objective=objective)

    monkeypatch.setattr(MODULE, "_lloyd", run)
    return told


def test_the_best_of_random_starts_is_kept(runs):
    weights = np.array([3.0, 1.0, 7.0, 2.0])
    ensemble = Ensemble([[0, 0, 1, 1]])
    found = wokmeans(ensemble, 2, weights=weights, X=X, n_init=3, max_iter=9, random_state=0)
    assert (found.objective, len(runs)) == (0.0, 3)
    assert found.labels.tolist() == [0, 0, 1, 1]
    assert found.details["object_weights"].tolist() == weights.tolist()
    rng = np.random.RandomState(0)
    given = dict(zip(X[:, 0].tolist(), weights.tolist(), strict=True))
    for data, start, of_objects, max_iter in runs:
        assert start == rng.permutation(4)[:2].tolist()
        assert of_objects == [given[x] for x in data]
        assert max_iter == 9


def test_runs_see_the_objects_in_an_order_of_their_own(runs):
    order = np.array([2, 0, 3, 1])
    ensemble = Ensemble([[0, 0, 0, 1], [1, 1, 1, 1]])
    wokmeans(ensemble, 2, X=X, n_init=1, random_state=0)
    wokmeans(ensemble.take(order), 2, X=X[order], n_init=1, random_state=0)
    assert runs[0] == runs[1]
    assert runs[0][3] == 100


def test_usually_ten_starts_are_made_and_who_was_never_placed_is_left_out(runs):
    ensemble = Ensemble([[0, 0, 1, -1]])
    found = wokmeans(ensemble, 2, weights=np.arange(1.0, 5), X=X, random_state=0)
    assert len(runs) == 10
    assert sorted(runs[0][0]) == [0.0, 1.0, 4.0]
    assert sorted(runs[0][2]) == [1.0, 2.0, 3.0]
    assert found.labels.tolist() == [0, 0, 1, -1]


def test_data_are_needed():
    with pytest.raises(InvalidInputError, match="WOKMeans"):
        wokmeans(ENSEMBLE, 2)


def test_objects_with_equal_labels_may_be_parted():
    ensemble = Ensemble([[0, 0, 0, 0], [0, 0, 0, 1]])
    found = wokmeans(ensemble, 3, weights=None, X=X * [[1.0], [1.0], [9.0], [9.0]], random_state=0)
    assert found.n_clusters == 3


def test_one_row_of_labels_is_no_division():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        assert womc(Ensemble([[0, 0, 0], [1, 1, 1]]), 2).n_clusters == 1
