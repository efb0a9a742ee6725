"""Confidence against its definition."""

import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ensembles, labelings

from consilience import UNSEEN, Ensemble, relabel
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import co_association, confidence, never_placed, never_seen
from consilience.evidence.confidence import doubtful, suited_elsewhere

pytestmark = pytest.mark.filterwarnings("ignore:.*never seen together")


def slowly(S, labels):
    """Reference: means over rows of the matrix, one object at a time."""
    n_clusters = labels.max() + 1
    own, other = np.zeros(len(labels)), np.zeros(len(labels))
    for i, c in enumerate(labels):
        if c < 0:
            continue
        mates = (labels == c) & (np.arange(len(labels)) != i)
        own[i] = S[i, mates].mean() if mates.any() else 1.0
        others = [S[i, labels == d].mean() for d in range(n_clusters) if d != c]
        other[i] = max(others, default=0.0)
    total = own + other
    return np.divide(own, total, out=np.zeros(len(labels)), where=total > 0), own, other


@given(st.data(), st.sampled_from(["pair", "all"]), st.sampled_from([None, 2]))
def test_it_equals_its_definition(data, missing, n_jobs):
    ensemble = data.draw(ensembles(min_objects=2))
    labels = relabel(data.draw(labelings(ensemble.n_objects, unseen=False)))
    found = confidence(ensemble, labels, missing=missing, n_jobs=n_jobs)
    share, own, other = slowly(co_association(ensemble, missing=missing), labels)
    np.testing.assert_allclose(found.own, own, atol=1e-12)
    np.testing.assert_allclose(found.other, other, atol=1e-12)
    np.testing.assert_allclose(found.confidence, share, atol=1e-9)
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()


def test_unanimous_members_are_believed():
    labels = np.repeat([0, 1, 2], 4)
    found = confidence(Ensemble([labels] * 3), labels)
    np.testing.assert_array_equal(found.confidence, 1.0)
    np.testing.assert_array_equal(found.runner_up, -1)


def test_an_object_between_two_clusters_is_torn():
    members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]]
    found = confidence(Ensemble(members), np.array([0, 0, 0, 1, 1]))
    assert found.confidence[2] == pytest.approx(0.5)
    assert found.runner_up[2] == 1


def test_objects_in_no_cluster_have_no_confidence():
    found = confidence(Ensemble([[0, 0, -1]]), np.array([0, 0, -1]))
    assert found.confidence.tolist() == [1, 1, 0]
    nothing = confidence(Ensemble([[-1, -1]]), np.array([-1, -1]))
    assert nothing.confidence.tolist() == [0, 0]


def test_labels_of_another_length_are_refused():
    with pytest.raises(InvalidInputError, match=r"one label for each of the 3 objects. Got shape"):
        confidence(Ensemble([[0, 0, 1]]), np.array([0, 1]))


def test_who_was_never_seen_or_placed():
    ensemble = Ensemble([[0, -1, -2, -2], [0, -1, -2, -1]])
    assert never_seen(ensemble).tolist() == [False, False, True, False]
    assert never_placed(ensemble).tolist() == [False, True, True, True]


def test_memory_is_that_of_the_labels_and_the_sums():
    # Two million objects and 100 members took gigabytes: ones and places of a sparse matrix.
    n, n_members, k = 20_000, 100, 4
    truth = np.arange(n) % k
    members = np.random.default_rng(0).integers(0, 5, (n_members, n), np.int8)
    ensemble = Ensemble(list(members))
    confidence(ensemble.take(np.arange(50)), truth[:50])  # compiles
    tracemalloc.start()
    confidence(ensemble, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * (4 * k + 10)


def weighed_slowly(ensemble, labels):
    """Reference: joined over seen, each summed over the objects of a cluster."""
    n, members = ensemble.n_objects, ensemble.members
    own, other = np.zeros(n), np.zeros(n)
    for i in np.flatnonzero(labels >= 0):
        together = (members == members[:, [i]]) & (members >= 0) & (members[:, [i]] >= 0)
        both = (members != UNSEEN) & (members[:, [i]] != UNSEEN)
        shares = []
        for c in range(labels.max() + 1):
            inside = (labels == c) & (np.arange(n) != i)
            seen = both[:, inside].sum()
            shares.append(together[:, inside].sum() / seen if seen else 0.0)
        alone = (labels == labels[i]).sum() == 1
        own[i] = 1.0 if alone else shares[labels[i]]
        other[i] = max((s for c, s in enumerate(shares) if c != labels[i]), default=0.0)
    return own, other


@given(st.data(), st.sampled_from([None, 2]))
def test_pairs_weigh_as_much_as_members_saw_them_where_it_is_no_longer_exact(data, n_jobs):
    ensemble = data.draw(ensembles(min_objects=2))
    labels = relabel(data.draw(labelings(ensemble.n_objects, unseen=False)))
    found = confidence(ensemble, labels, exact=False, n_jobs=n_jobs)
    own, other = weighed_slowly(ensemble, labels)
    np.testing.assert_allclose(found.own, own, atol=1e-12)
    np.testing.assert_allclose(found.other, other, atol=1e-12)
    assert found.exact == (not ensemble.has_unseen or labels.max() < 0)


def test_the_estimate_is_near_and_used_only_where_pairs_are_many(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 600)
    labels = np.where(rng.random((600, 30)) < 0.3, rng.integers(0, 4, (600, 30)), truth[:, None])
    ensemble = Ensemble(np.where(rng.random((600, 30)) < 0.3, UNSEEN, labels))
    exact = confidence(ensemble, truth)
    assert exact.exact
    module = sys.modules["consilience.evidence.confidence"]
    monkeypatch.setattr(module, "_EXACT_PAIRS", 600 * 600 - 1)
    near = confidence(ensemble, truth)
    assert not near.exact
    # The standard error of a share of some 10 members is 0.15, of the mean of 150 far less.
    assert np.abs(near.confidence - exact.confidence).max() < 0.02
    assert confidence(ensemble, truth, exact=True).exact


@pytest.mark.parametrize(("name", "value"), [("exact", 1), ("exact", "yes"), ("missing", "none")])
def test_wrong_options_are_refused(name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of confidence"):
        confidence(Ensemble([[0, 0, 1]]), np.array([0, 0, 1]), **{name: value})


@pytest.mark.parametrize("lowest", [0, -2])
def test_threads_change_no_digit(lowest, seed):
    rng = np.random.default_rng(seed)
    # Enough labels for several threads to be worth it.
    ensemble = Ensemble(rng.integers(lowest, 6, (30_000, 50)))
    labels = rng.integers(-1, 5, 30_000)
    one, *more = (confidence(ensemble, labels, n_jobs=n_jobs) for n_jobs in (1, 2, 3, 5))
    for found in more:
        np.testing.assert_array_equal(found.own, one.own)
        np.testing.assert_array_equal(found.other, one.other)
        np.testing.assert_array_equal(found.runner_up, one.runner_up)
        np.testing.assert_array_equal(found.confidence, one.confidence)
    assert (one.own[labels < 0] == 0).all()
    assert (one.runner_up[labels < 0] == -1).all()


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64, np.int8, np.int64])
def test_doubt_is_the_same_for_labels_of_any_whole_type(kind):
    labels, sure = np.array([0, 0, 1, 1]), [0.3, 0.7, 0.75, 1.0]
    assert doubtful(labels.astype(kind), sure).tolist() == [True, True, False, False]
    elsewhere = suited_elsewhere(labels.astype(kind), sure, (1 - labels).astype(kind))
    assert elsewhere.tolist() == [True, False, False, False]


def test_truth_values_are_labels_and_one_of_them_alone_is_a_single_cluster():
    assert doubtful([False, True], [0.5, 1.0]).tolist() == [True, False]
    for alone in ([False, False], [0, 0]):
        assert doubtful(alone, [0.5, 1.0]).tolist() == [False, False]
