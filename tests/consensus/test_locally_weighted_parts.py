"""The steps of weighted objects and of locally weighted clusters, one by one."""

import sys
import warnings

import numpy as np
import pytest

from consilience import Ensemble, SoftEnsemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.locally_weighted import (
    _check_weights,
    _stretch,
    cluster_certainty,
    lwea,
    lwgp,
    own_similarity,
    shared_clusters,
)
from consilience.consensus.weighted import _lloyd, _weighted_rows, wokmeans, womc
from consilience.errors import InvalidParameterError, MemoryBudgetError

# The functions of the same names hide the modules.
WEIGHTED = sys.modules[womc.__module__]
LOCAL = sys.modules[lwea.__module__]
LABELS = np.array([[0, 0], [1, 1], [0, 0], [0, 1], [1, 2], [1, -1], [0, -2], [0, 0]])
ROWS = distinct_rows(Ensemble(LABELS))
WIDTHS = (2, 3)
# Rows x clusters: who holds whom.
HELD = np.concatenate(
    [m == np.arange(k)[:, None] for m, k in zip(ROWS.members, WIDTHS, strict=True)]
).T.astype(float)


@pytest.mark.parametrize("kind", [None, "one-shot"])
def test_weights_that_come_from_the_labels_are_those_of_the_rows(kind):
    _, group = np.unique(LABELS, axis=0, return_inverse=True)
    weights = 1.0 + group.ravel()
    rows, of_rows = _weighted_rows(Ensemble(LABELS), weights, kind)
    assert rows.n_rows == len(of_rows) == 6
    np.testing.assert_array_equal(of_rows[rows.inverse], weights)
    np.testing.assert_array_equal(rows.members[:, rows.inverse].T, LABELS)


def test_weights_that_are_given_are_those_of_single_objects(seed):
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 8)
    rows, of_rows = _weighted_rows(Ensemble(LABELS), weights, weights)
    assert rows.counts.tolist() == [1] * 8
    np.testing.assert_array_equal(of_rows[rows.inverse], weights)
    np.testing.assert_array_equal(rows.members[:, rows.inverse].T, LABELS)


def test_memberships_have_weights_of_single_objects_too(seed):
    rng = np.random.default_rng(seed)
    tables = [np.repeat(rng.dirichlet(np.ones(3), 4), 2, axis=0) for _ in range(2)]
    weights = rng.uniform(0.5, 2.0, 8)
    rows, of_rows = _weighted_rows(SoftEnsemble(tables), weights, weights)
    assert rows.n_rows == 8
    np.testing.assert_array_equal(of_rows[rows.inverse], weights)
    np.testing.assert_allclose(np.asarray(rows.B)[rows.inverse], np.column_stack(tables))


@pytest.mark.parametrize("objectives", [(0.5, 0.0, 0.25), (2.0, 1.5, 1.75)])
def test_the_least_sum_of_squares_wins_also_if_it_is_none(monkeypatch, objectives):
    given = iter(objectives)

    def run(X, start, weights, max_iter):
        labels = np.zeros(len(X), np.int32)
        return ConsensusResult(labels, objective=next(given))

    monkeypatch.setattr(WEIGHTED, "_lloyd", run)
    X = np.arange(8.0)[:, None]
    found = wokmeans(Ensemble(LABELS[:, :1]), 2, X=X, n_init=3, random_state=0)
    assert found.objective == min(objectives)


def test_every_start_is_as_many_objects_as_clusters_are_wanted(monkeypatch):
    starts = []

    def run(X, start, weights, max_iter):
        starts.append((start.tolist(), max_iter))
        return ConsensusResult(np.zeros(len(X), np.int32), objective=1.0)

    monkeypatch.setattr(WEIGHTED, "_lloyd", run)
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (12, 4)))
    wokmeans(ensemble, 5, X=np.arange(12.0)[:, None], n_init=20, max_iter=7, random_state=0)
    assert len(starts) == 20
    assert all(len(set(start)) == 5 and most == 7 for start, most in starts)
    assert {one for start, _ in starts for one in start} == set(range(12))


def test_the_data_order_objects_of_equal_labels(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(16, 2)), np.arange(16)[:, None] % 2
    how = {"n_init": 1, "max_iter": 1, "random_state": 0, "weights": None}
    first = wokmeans(Ensemble(labels), 3, X=X, **how)
    for _ in range(4):
        order = rng.permutation(16)
        again = wokmeans(Ensemble(labels[order]), 3, X=X[order], **how)
        assert again.objective == first.objective
        pairs = again.labels[:, None] == again.labels
        np.testing.assert_array_equal(pairs, first.labels[order][:, None] == first.labels[order])


def test_objects_of_equal_labels_are_told_apart_by_the_data():
    X = np.array([[0.0], [0.1], [4.0], [4.1], [9.0], [9.1]])
    found = wokmeans(Ensemble([[0, 0, 0, 0, 1, 1]]), 3, X=X, random_state=0)
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]


def test_one_run_of_weighted_k_means_by_hand():
    X, weights = np.array([[0.0], [1.0], [4.0], [10.0], [12.0]]), np.array([3.0, 1, 1, 1, 3])
    found = _lloyd(X, np.array([0, 1]), weights, 100)
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    # Centres at 5/5 and 46/4.
    wanted = 3 * 1 + 0 + 9 + 1.5**2 + 3 * 0.5**2
    assert found.objective == pytest.approx(wanted)
    assert found.converged
    assert found.labels.dtype == np.int32


def test_a_run_that_used_all_its_iterations_has_not_converged():
    X = np.random.default_rng(0).normal(size=(40, 2))
    whole = _lloyd(X, np.arange(4), np.ones(40), 100)
    assert whole.n_iter > 2
    for most, converged in ((1, False), (whole.n_iter, False), (whole.n_iter + 1, True)):
        found = _lloyd(X, np.arange(4), np.ones(40), most)
        assert (found.n_iter, found.converged) == (min(most, whole.n_iter), converged)


def test_fewer_distinct_objects_than_clusters_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _lloyd(np.zeros((4, 1)), np.array([0, 1]), np.ones(4), 100)
    assert len(set(found.labels.tolist())) == 1


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("theta", [None, 0.3])
def test_the_certainty_of_a_cluster_is_its_formula(normalise, theta):
    wanted = []
    for width, first in zip(WIDTHS, (0, 2), strict=True):
        for cluster in range(first, first + width):
            own = HELD[:, cluster] * ROWS.counts
            shares = own @ HELD / own.sum()
            bits = -sum(p * np.log2(p) for p in shares if p > 0)
            bits /= np.log2(width) if normalise else 1.0
            wanted.append(np.exp(-bits / ((theta or (0.09 if normalise else 0.4)) * 2)))
    found = cluster_certainty(ROWS, theta, normalise=normalise)
    np.testing.assert_allclose(found, wanted)
    assert (found < 1).any()
    if not normalise:
        np.testing.assert_array_equal(cluster_certainty(ROWS, theta), found)


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_a_row_is_like_itself_by_its_clusters_over_who_saw_it(missing):
    certainty = np.linspace(0.2, 0.9, 5)
    seen = (ROWS.members != -2).sum(axis=0) if missing == "pair" else 2
    np.testing.assert_allclose(own_similarity(ROWS, certainty, missing), HELD @ certainty / seen)


@pytest.mark.parametrize(
    ("distances", "own", "wanted"),
    [
        ([0.7, 0.9], [0.2, 0.1], [0.0, 1 - 0.1 / 0.3]),
        ([0.7, 0.9], [0.2, 0.5], [1 - 0.3 / 0.5, 1 - 0.1 / 0.5]),
        ([1.0, 1.0], [0.0, 0.0], [1.0, 1.0]),
    ],
)
def test_distances_are_stretched_by_hand(distances, own, wanted):
    found = np.array(distances)
    _stretch(found, np.array(own))
    np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 4), (4, 6), (2, 2)])
def test_vectors_hold_the_certainty_of_own_clusters(start, stop):
    certainty = np.linspace(0.2, 0.9, 5)
    found = shared_clusters(ROWS, certainty)(start, stop)
    np.testing.assert_array_equal(found, HELD[start:stop] * certainty)


def test_the_matrix_may_take_all_the_memory_allowed():
    # u (u - 1) / 2 distances of 8 bytes.
    lwea(Ensemble(LABELS), 2, max_memory=4 * 6 * 5)
    with pytest.raises(MemoryBudgetError, match="use LWGP"):
        lwea(Ensemble(LABELS), 2, max_memory=4 * 6 * 5 - 1)


def test_only_a_normalised_tree_is_stretched():
    plain, normal = (
        lwea(Ensemble(LABELS), 2, theta=0.4, normalise=one).details for one in (False, True)
    )
    certainty = [cluster_certainty(ROWS, 0.4, normalise=one) for one in (False, True)]
    np.testing.assert_array_equal(plain["certainty"], certainty[0])
    np.testing.assert_array_equal(normal["certainty"], certainty[1])
    # The nearest of two rows: what they share over the members that saw both, and over the most.
    for details, weights in zip((plain, normal), certainty, strict=True):
        both = (ROWS.members[:, :, None] != -2) & (ROWS.members[:, None] != -2)
        similar = (HELD * weights) @ HELD.T / both.sum(axis=0)
        most = similar.max() if details is normal else 1.0
        np.fill_diagonal(similar, 0.0)
        nearest = 1 - similar.max() / most
        heights = details["linkage"][:, 2]
        assert heights[heights > 0][0] == pytest.approx(nearest)


def test_as_many_clusters_with_a_weight_as_are_wanted_are_enough():
    _check_weights(ROWS, np.array([0.5, 0.0, 0.5, 0.0, 0.5]), 3, 0.1)
    with pytest.raises(InvalidParameterError, match=r"n_clusters=3 .*which leaves 2"):
        _check_weights(ROWS, np.array([0.5, 0.0, 0.5, 0.0, 0.0]), 3, 0.1)
    # Of fewer clusters than are wanted all must have one; that is said elsewhere.
    _check_weights(ROWS, np.full(5, 0.5), 6, 0.1)


def test_a_weight_of_next_to_nothing_is_none(monkeypatch):
    certainty = cluster_certainty(ROWS, None)
    limit = np.sort(certainty)[1]
    monkeypatch.setattr(LOCAL, "_LEAST", limit)
    found = lwgp(Ensemble(LABELS), 2, random_state=0).details["certainty"]
    np.testing.assert_array_equal(found, np.where(certainty < limit, 0.0, certainty))
    assert (found == 0).any()
