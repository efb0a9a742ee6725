"""ECMC: the collapsed problem is the full one, and what its answers must satisfy."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.completion import ECMC, _co_association, complete, ecmc, spectral_points
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import co_association

seeds = st.integers(0, 2**31)


def planted(seed, *, wrong=0.1, unseen=0.0, n=90, n_members=20, k=3):
    """Members that agree on k groups but for a share of random and of missing labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, k, off.sum())
    labels[rng.random(labels.shape) < unseen] = -2
    return truth, Ensemble(labels)


def certain(ensemble):
    """Rows, and which pairs of them are surely together, surely apart, or unknown."""
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    rows = distinct_rows(ensemble.take(placed))
    A, seen = _co_association(rows, None)
    where = ((A <= 0.2) | (A >= 0.8)) & seen
    return rows, np.where(where & (A >= 0.8), 1.0, 0.0), where


def objective_slowly(N, known, where, C):
    """Reference: nuclear norm plus the price of contradicting what is known."""
    return np.abs(np.linalg.eigvalsh(N)).sum() + C * np.abs(known - N)[where].sum()


@given(ensembles(min_objects=2, max_objects=10), st.floats(0.1, 2.0))
def test_the_collapsed_problem_is_the_full_one(ensemble, C):
    rows, known, where = certain(ensemble)
    places = np.repeat(np.arange(rows.n_rows), rows.counts)
    grid = np.ix_(places, places)
    few = complete(known, where, rows.counts, C)
    many = complete(known[grid], where[grid], np.ones(len(places), np.int64), C)
    assert few.n_iter == many.n_iter
    assert few.objective == pytest.approx(many.objective, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(few.matrix[grid], many.matrix, atol=1e-8)
    wanted = objective_slowly(many.matrix, known[grid], where[grid], C)
    assert few.objective == pytest.approx(wanted, rel=1e-8, abs=1e-8)


@given(ensembles(min_objects=2, max_objects=10), st.floats(0.1, 2.0))
def test_the_matrix_is_symmetric_and_of_the_rank_it_says(ensemble, C):
    rows, known, where = certain(ensemble)
    found = complete(known, where, rows.counts, C)
    np.testing.assert_allclose(found.matrix, found.matrix.T, atol=1e-10)
    root = np.sqrt(rows.counts)
    values = np.linalg.eigvalsh(root[:, None] * found.matrix * root)
    assert found.rank == (values > 0.5).sum()
    assert found.converged


@pytest.mark.parametrize(("C", "kept"), [(0.05, []), (0.2, [8]), (0.6, [8, 2])])
def test_a_block_survives_if_its_size_times_the_price_is_above_one(C, kept):
    sizes = np.array([8, 2])
    found = complete(np.eye(2), np.ones((2, 2), bool), sizes, C)
    wanted = np.diag([1.0 if size in kept else 0.0 for size in sizes])
    np.testing.assert_allclose(found.matrix, wanted, atol=1e-4)
    assert found.rank == len(kept)


def test_unknown_pairs_are_filled_in():
    # Two groups of three rows; the pairs of the first and last row of a group are unknown.
    known = np.kron(np.eye(2), np.ones((3, 3)))
    where = np.ones((6, 6), bool)
    for a, b in ((0, 2), (3, 5)):
        where[a, b] = where[b, a] = False
    found = complete(np.where(where, known, 0.0), where, np.full(6, 5), 0.4)
    np.testing.assert_allclose(found.matrix, known, atol=1e-2)
    assert found.rank == 2


def test_points_of_one_block_coincide():
    matrix = np.kron(np.eye(2), np.ones((2, 2)))
    matrix = np.pad(matrix, (0, 1))
    points, degree = spectral_points(matrix, np.array([3, 1, 2, 2, 4]), 2)
    np.testing.assert_allclose(points[0], points[1], atol=1e-10)
    np.testing.assert_allclose(points[2], points[3], atol=1e-10)
    assert abs(points[0] @ points[2]) < 1e-8
    assert (points[4] == 0).all()
    np.testing.assert_allclose(degree, [4, 4, 4, 4, 0])


@given(ensembles(min_objects=2))
def test_pairs_are_those_of_the_co_association(ensemble):
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    rows = distinct_rows(ensemble.take(placed))
    A, seen = _co_association(rows, None)
    full = Ensemble(rows.members.T)
    both = (full.members[:, :, None] != -2) & (full.members[:, None, :] != -2)
    np.testing.assert_array_equal(seen | np.eye(len(A), dtype=bool), seen)
    off = ~np.eye(len(A), dtype=bool)
    np.testing.assert_array_equal(seen[off], both.any(axis=0)[off])
    if seen.all() and (both.any(axis=0) | ~off).all():
        np.testing.assert_allclose(A, co_association(full), atol=1e-12)


# ---- the method -------------------------------------------------------------------------


@pytest.mark.parametrize("C", [None, "grid", 0.5])
@pytest.mark.parametrize("unseen", [0.0, 0.2])
def test_groups_are_found_through_wrong_and_missing_labels(C, unseen, seed):
    truth, ensemble = planted(seed, unseen=unseen)
    found = ecmc(ensemble, 3, C=C, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert 0 < found.details["known"] <= 1
    assert found.details["rank"] >= 1


def test_threads_and_order_change_nothing(seed):
    _, ensemble = planted(seed, wrong=0.2)
    first = ecmc(ensemble, 3, C="grid", random_state=seed)
    threads = ecmc(ensemble, 3, C="grid", random_state=seed, n_jobs=2)
    np.testing.assert_array_equal(first.labels, threads.labels)
    assert first.objective == threads.objective
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    shuffled = ecmc(ensemble.take(order), 3, C="grid", random_state=seed)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert shuffled.objective == first.objective


@pytest.mark.parametrize("n", [60, 150, 400])
def test_default_members_of_blobs_are_enough(n):
    X, truth = make_blobs(n, centers=[[0, 0], [0, 8], [8, 0], [8, 8]], random_state=0)
    model = ECMC(4, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.details_["rank"] >= 4


@pytest.mark.parametrize("wrong", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("sizes", [[40, 40, 40], [60, 20, 20, 20], [24] * 5, [40, 20, 20, 20, 20]])
def test_small_and_blurred_groups_are_found(sizes, wrong):
    truth, ensemble = of_sizes(sizes, wrong)
    found = ecmc(ensemble, len(sizes), random_state=0)
    assert adjusted_rand_score(truth, found.labels) >= 0.9
    assert found.details["rank"] >= len(sizes)


def of_sizes(sizes, wrong, n_members=12):
    """Members that know groups of these sizes but for a share of random labels."""
    rng = np.random.default_rng(5)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, len(sizes), off.sum())
    return truth, Ensemble(labels)


def test_a_matrix_of_too_few_groups_is_said_and_the_default_raises_the_price():
    truth, ensemble = of_sizes([100, 4, 4], 0.03)
    with pytest.warns(ConsilienceWarning, match=r"only 1 groups apart.*n_clusters=3, at C=0.09"):
        ecmc(ensemble, 3, C=0.09, random_state=0)
    with pytest.warns(ConsilienceWarning, match=r"Raise C \(None does so by itself"):
        ecmc(ensemble, 3, reading="published", C=0.09, random_state=0)
    found = ecmc(ensemble, 3, random_state=0)
    assert found.details["C"] > 2 / np.sqrt(len(truth))
    assert "C was raised from 0.192 to 0.385" in found.details["note"]
    assert adjusted_rand_score(truth, found.labels) == 1.0


@pytest.mark.parametrize("wrong", [0.1, 0.45])
def test_names_and_order_change_no_bit(wrong, seed):
    """Clusters renamed, members and objects shuffled: the same numbers, so the same labels."""
    rng = np.random.default_rng(seed)
    _, ensemble = planted(seed, wrong=wrong, n=60, n_members=9)
    order, members = rng.permutation(60), rng.permutation(9)
    labels = np.column_stack([rng.permutation(3)[column] for column in ensemble.labels.T])
    renamed = Ensemble(labels[order][:, members])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        first, second = (ecmc(e, 4, random_state=seed) for e in (ensemble, renamed))
    assert first.objective == second.objective
    assert adjusted_rand_score(first.labels[order], second.labels) == 1.0


def test_the_published_reading_has_its_own_thresholds_and_price(seed):
    _, ensemble = planted(seed)
    found = ecmc(ensemble, 3, reading="published", random_state=seed)
    given = ecmc(ensemble, 3, low=0.2, high=0.8, C=2 / np.sqrt(90), random_state=seed)
    kept = {name: found.details[name] for name in ("low", "high", "C")}
    assert kept == pytest.approx({"low": 0.2, "high": 0.8, "C": 2 / np.sqrt(90)})
    assert found.objective == pytest.approx(given.objective)
    np.testing.assert_array_equal(found.labels, given.labels)


def test_thresholds_follow_the_mean_of_the_co_association(seed):
    _, ensemble = planted(seed)
    mean = co_association(ensemble).mean()
    found = ecmc(ensemble, 3, random_state=seed).details
    assert found["low"] == pytest.approx(mean / 3)
    assert found["high"] == pytest.approx(mean + 0.4 * (1 - mean))
    with pytest.raises(InvalidParameterError, match="'low' parameter of ECMC must be below"):
        ecmc(ensemble, 3, low=0.95)


def test_too_small_a_price_is_said():
    _, ensemble = planted(0)
    with pytest.warns(ConsilienceWarning, match=r"every group is smaller than 1 / C"):
        found = ecmc(ensemble, 3, C=1e-3, random_state=0)
    assert set(found.labels) <= {0, 1, 2}


def test_rows_without_a_block_follow_their_nearest():
    # A loner that two of five members put with the second group, and three nowhere else.
    labels = [[0] * 6 + [1] * 6 + [1]] * 2 + [[0] * 6 + [1] * 6 + [2]] * 3
    found = ecmc(Ensemble(labels), 2, C=0.3, random_state=0)
    assert found.labels[:12].tolist() == [0] * 6 + [1] * 6
    assert found.labels[12] == 1


def test_too_many_rows_are_refused():
    _, ensemble = planted(0)
    with pytest.raises(MemoryBudgetError, match=r"more than max_rows=5. Raise max_rows"):
        ecmc(ensemble, 3, max_rows=5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"low": -0.1}, "'low' parameter of ECMC must be a number at least 0 and at most 1"),
        ({"high": 2.0}, "'high' parameter of ECMC"),
        ({"reading": "mine"}, "'reading' parameter of ECMC must be one of 'adapted', 'published'"),
        ({"low": 0.8, "high": 0.8}, "'low' parameter of ECMC must be below 'high'"),
        ({"C": 0.0}, "'C' parameter of ECMC must be a number above 0 or one of 'grid' or None"),
        ({"tol": 0.0}, "'tol' parameter of ECMC"),
        ({"max_rows": 0}, "'max_rows' parameter of ECMC"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        ecmc(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        ECMC(2, **params).fit(ensemble=ensemble)


def test_the_estimator_keeps_what_was_found(seed):
    _, ensemble = planted(seed)
    model = ECMC(3, random_state=seed).fit(ensemble=ensemble)
    assert model.converged_
    assert model.details_["C"] == pytest.approx(2 / np.sqrt(ensemble.n_objects))
