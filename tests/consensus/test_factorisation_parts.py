"""The steps of NMF and WCC, one by one, by hand or against dense matrices."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.factorisation import (
    Factors,
    _result,
    _settled,
    alternate,
    descend,
    factorise,
    make_target,
    nmfconsensus,
    simplex_weights,
    start_factors,
    wcc,
)
from consilience.errors import ConsilienceWarning

# The functions of the package hide the module.
MODULE = sys.modules[nmfconsensus.__module__]


@pytest.fixture
def dense(seed):
    """A target, weights and factors, and the same as dense matrices over all objects."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (14, 4))
    rows = distinct_rows(Ensemble(labels[np.r_[np.arange(14), :6]]))
    weights = rng.dirichlet(np.ones(4))
    S = rng.random((2, 2)) + 0.1
    start = Factors(rng.random((rows.n_rows, 2)) + 0.1, S + S.T, [], False)
    members = np.repeat(rows.members, rows.counts, axis=1)
    M = sum(w * (one[:, None] == one) for w, one in zip(weights, members, strict=True))
    return SimpleNamespace(target=make_target(rows), rows=rows, weights=weights, start=start, M=M)


def whole(dense, H):
    return np.repeat(H, dense.rows.counts, axis=0)


def distance(dense, H, S):
    return ((dense.M - whole(dense, H) @ S @ whole(dense, H).T) ** 2).sum()


@pytest.mark.parametrize(
    ("tries", "power"),
    [
        ([1.0, 1.0], 0.5),  # what does not raise the distance is taken, the longer step first
        ([1.0, 0.5], 0.5),
        ([1.0, 2.0, 1.0], 0.25),
        ([1.0, 2.0, 1.5], 0.0),
    ],
)
def test_the_longest_step_that_does_not_raise_the_distance_is_taken(
    dense, monkeypatch, tries, power
):
    said = iter([*tries, 0.0])
    monkeypatch.setattr(MODULE, "_distance", lambda *_: next(said))
    H, S = dense.start.H, dense.start.S
    full = whole(dense, H)
    ratio = (dense.M @ full @ S) / (full @ S @ full.T @ full @ S)
    moved = full * ratio**power
    HH = moved.T @ moved
    found = descend(dense.target, dense.weights, dense.start, max_iter=1, tol=0.0)
    np.testing.assert_allclose(whole(dense, found.H), moved)
    np.testing.assert_allclose(found.S, S * (moved.T @ dense.M @ moved) / (HH @ S @ HH))
    assert found.path == [0.0]
    assert list(said) == []


@pytest.mark.parametrize("method", [descend, factorise])
def test_the_path_is_the_distance_and_as_long_as_is_wanted(dense, method):
    found = method(dense.target, dense.weights, dense.start, max_iter=3, tol=0.0)
    assert len(found.path) == 3
    assert not found.converged
    assert found.path[-1] == pytest.approx(distance(dense, found.H, found.S))
    assert method(dense.target, dense.weights, dense.start, max_iter=9, tol=1e9).converged


def test_a_published_update_is_that_of_the_paper(dense):
    H, S = whole(dense, dense.start.H), dense.start.S
    MHS = dense.M @ H @ S
    H = H * np.sqrt(MHS / (H @ H.T @ MHS))
    HH = H.T @ H
    S = S * np.sqrt((H.T @ dense.M @ H) / (HH @ S @ HH))
    found = factorise(dense.target, dense.weights, dense.start, max_iter=1, tol=0.0)
    np.testing.assert_allclose(whole(dense, found.H), H)
    np.testing.assert_allclose(found.S, S)
    # However large the tolerance, a second update is made, and is the last.
    two = factorise(dense.target, dense.weights, dense.start, max_iter=50, tol=1e9)
    assert len(two.path) == 2
    assert two.converged


@pytest.mark.parametrize(
    ("fall", "tol", "ends"), [(0.5, 0.5, True), (0.5, 0.25, False), (0.0, 0.0, True)]
)
def test_a_descent_ends_with_a_fall_of_its_share_of_the_norm(dense, monkeypatch, fall, tol, ends):
    norm = float(dense.weights @ dense.target.products @ dense.weights)
    fall, last = fall * norm, 10 * norm
    said = iter([last, last, last - fall, *[last - fall] * 9])
    monkeypatch.setattr(MODULE, "_distance", lambda *_: next(said))
    tol *= 1 + 1e-9  # differences are rounded
    found = descend(dense.target, dense.weights, dense.start, max_iter=1, tol=tol)
    assert found.converged is ends


@pytest.mark.parametrize(
    ("path", "tol", "settled"),
    [
        ([], 1.0, False),
        ([4.0], 1.0, False),
        ([4.0, 3.0], 0.25, True),
        ([4.0, 3.0], 0.24, False),
        ([4.0, 5.0], 0.25, True),
        ([4.0, 5.0], 0.24, False),
        ([9.0, 2.0, 2.0], 0.0, True),
        ([2.0, 2.0, 9.0], 0.0, False),
        ([-4.0, -3.0], 0.25, True),
    ],
)
def test_a_path_settles_by_its_last_step_relative_to_where_it_came_from(path, tol, settled):
    assert _settled(path, tol) is settled


def test_a_start_is_the_labelling_softened_by_a_fifth():
    rows = distinct_rows(Ensemble(np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]])))
    assert rows.counts.tolist() == [2, 1, 2]
    target, weights = make_target(rows), np.array([0.25, 0.75])
    found = start_factors(target, weights, np.array([0, 1, 1], np.int32), 3)
    sizes = np.sqrt([2.0, 3.0, 1.0])  # who has nobody counts as one
    H = np.array([[1.2, 0.2, 0.2], [0.2, 1.2, 0.2], [0.2, 1.2, 0.2]]) / sizes
    np.testing.assert_allclose(found.H, H)
    full = np.repeat(H, rows.counts, axis=0)
    members = np.repeat(rows.members, rows.counts, axis=1)
    M = sum(w * (one[:, None] == one) for w, one in zip(weights, members, strict=True))
    np.testing.assert_allclose(found.S, np.diag(np.diag(full.T @ M @ full)))
    assert found.path == []
    assert not found.converged


def test_a_single_member_has_all_the_weight():
    rows = distinct_rows(Ensemble([[0, 1, 1]]))
    start = Factors(np.ones((rows.n_rows, 2)), np.eye(2), [], False)
    assert simplex_weights(make_target(rows), start).tolist() == [1.0]


@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e6])
def test_weights_of_two_members_are_those_of_the_ridge(factor):
    """Of (1, 1 + a; 1, 1 + b) and a ridge r the weights are as b + r to a + r."""
    tiny = 2e-9
    products = factor * (np.ones((2, 2)) + tiny * np.diag([1.0, 3.0]))
    rows = distinct_rows(Ensemble([[0, 1, 1], [0, 0, 1]]))
    nothing = Factors(np.ones((rows.n_rows, 2)), np.zeros((2, 2)), [], False)
    found = simplex_weights(make_target(rows)._replace(products=products), nothing)
    # The largest eigenvalue is 2, so that the ridge is 2e-9: 8 to 4.
    np.testing.assert_allclose(found, [2 / 3, 1 / 3], rtol=1e-5)


def test_the_result_is_that_of_the_strongest_column():
    rows = distinct_rows(Ensemble(np.array([[0, 0], [0, 1], [0, 1], [1, 1], [2, 2]])))
    H = np.array([[0.3, 0.2], [0.1, 0.1], [0.0, 0.0], [0.1, 0.2]])
    best = Factors(H, np.array([[1.0, 0.5], [0.5, 4.0]]), [3.0, 2.0, 1.5], True)
    found = _result(best, rows, {"more": 1})
    # Columns count as the roots of S: 1 and 2. Rows: 3 to 4, 1 to 2, nothing, 1 to 4.
    shares = np.array([[3 / 7, 4 / 7], [1 / 3, 2 / 3], [0.5, 0.5], [0.2, 0.8]])
    np.testing.assert_allclose(found.memberships, shares[rows.inverse])
    assert found.labels.tolist() == np.array([1, 1, 0, 1])[rows.inverse].tolist()
    assert (found.objective, found.n_iter, found.converged) == (1.5, 3, True)
    assert found.details == {"more": 1}


@pytest.fixture
def weighed(monkeypatch):
    """Factorisations that say how often they were made, of weights that are told."""
    asked = []

    def made(target, weights, factors, **how):
        asked.append((weights, factors.path))
        return factors._replace(path=[99.0, 10.0 - len(asked)])

    monkeypatch.setattr(MODULE, "factorise", made)
    return asked


def two_members():
    rows = distinct_rows(Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]))
    return make_target(rows), np.zeros(rows.n_rows, np.int32)


@pytest.mark.parametrize(
    ("told", "most", "made", "settled"),
    [
        ([0.5], 5, 2, True),  # equal weights again
        ([0.75, 0.75], 5, 3, True),
        ([0.75, 0.25, 0.75], 2, 3, False),
        ([0.75], 1, 2, False),
        ([0.75, 0.5, 0.5], 5, 4, True),
        ([0.625, 0.6875, 0.6875], 5, 4, True),  # a sixteenth is not below a sixteenth
    ],
)
def test_weights_and_factors_take_turns_until_the_weights_stay(
    monkeypatch, weighed, told, most, made, settled
):
    answers = iter(np.array([[one, 1 - one] for one in told]))
    monkeypatch.setattr(MODULE, "simplex_weights", lambda *_: next(answers))
    target, labels = two_members()
    how = {"max_iter": 3, "max_rounds": most, "tol": 0.1, "weight_tol": 0.0625}
    found, weights = alternate(target, labels, 2, **how)
    assert found.path == [9.0 - one for one in range(made)]
    assert found.converged is settled
    assert [weights.tolist() for weights, _ in weighed] == [
        [0.5, 0.5],
        *([one, 1 - one] for one in told[: made - 1]),
    ]
    assert weights.tolist() == weighed[-1][0].tolist()


def test_the_best_of_the_runs_is_kept_and_that_it_has_not_settled_is_said(monkeypatch):
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (20, 4)))
    runs = []

    def run(target, weights, start, **how):
        assert weights.tolist() == [0.25] * 4
        path = [[1.0, 5.0], [9.0, 2.0], [0.0, 4.0]][len(runs)]
        runs.append(start._replace(path=path, converged=len(runs) != 1))
        return runs[-1]

    monkeypatch.setattr(MODULE, "descend", run)
    with pytest.warns(ConsilienceWarning, match="not settled after max_iter=7"):
        found = nmfconsensus(ensemble, 2, n_init=3, max_iter=7, random_state=0)
    assert len(runs) == 3
    assert (found.objective, found.converged) == (2.0, False)
    assert found.details["path"].tolist() == [9.0, 2.0]
    runs.clear()
    monkeypatch.setattr(MODULE, "factorise", run)
    found = nmfconsensus(ensemble, 2, reading="published", n_init=1, random_state=0)
    assert (found.objective, found.converged) == (5.0, True)


def test_the_best_of_the_labellings_is_where_the_weighting_starts(monkeypatch):
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (20, 4)))
    labellings = MODULE.kcc_labellings
    seen = []

    def kept(*args):
        seen.append(labellings(*args))
        return seen[-1]

    def weighed(target, labels, k, **how):
        seen.append(labels)
        return start_factors(target, np.full(4, 0.25), labels, k)._replace(path=[1.0]), np.ones(4)

    monkeypatch.setattr(MODULE, "kcc_labellings", kept)
    monkeypatch.setattr(MODULE, "alternate", weighed)
    wcc(ensemble, 3, n_init=4, random_state=0)
    np.testing.assert_array_equal(seen[1], seen[0][0])


@pytest.mark.parametrize(("n_init", "made"), [(1, 10), (10, 10), (12, 12)])
def test_starts_are_the_best_of_ten_labellings_at_least(monkeypatch, n_init, made):
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 3, (20, 4)))
    asked, runs = [], []

    def labellings(rows, k, n, random_state, n_jobs):
        asked.append((k, n, random_state))
        return [np.full(rows.n_rows, one % 2, np.int32) for one in range(n)]

    def run(target, weights, start, **how):
        runs.append(start)
        return start._replace(path=[1.0], converged=True)

    monkeypatch.setattr(MODULE, "kcc_labellings", labellings)
    monkeypatch.setattr(MODULE, "descend", run)
    nmfconsensus(ensemble, 2, n_init=n_init, random_state=7)
    assert asked == [(2, made, 7)]
    assert len(runs) == n_init
