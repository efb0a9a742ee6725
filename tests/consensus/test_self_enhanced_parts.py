"""The steps of EC-CMS on few rows, against matrices of all objects."""

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.locally_weighted import cluster_certainty, own_similarity
from consilience.consensus.self_enhanced import (
    _clipped,
    _Inverse,
    _norm,
    _Spread,
    enhanced,
    sure_pairs,
    usual_price,
    weighted_similarity,
)
from consilience.evidence import co_association

COUNTS = np.array([1, 3, 2, 1])
PLACES = np.repeat(np.arange(4), COUNTS)
# Rows 0, 1 and 2 are a chain; row 3 is alone.
SURE = np.array([[1.0, 0.9, 0, 0], [0.9, 0.8, 0.85, 0], [0, 0.85, 1, 0], [0, 0, 0, 0.5]])
UNSEEN = -2


def full(spread):
    """The matrix over all objects."""
    table = spread.pairs[np.ix_(PLACES, PLACES)]
    np.fill_diagonal(table, spread.own[PLACES])
    return table


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    return _Spread(rng.normal(size=(4, 4)), rng.normal(size=4))


def test_the_norm_is_that_over_all_objects():
    for seed in range(3):
        assert _norm(drawn(seed), COUNTS) == pytest.approx(np.linalg.norm(full(drawn(seed))))


def test_what_is_clipped_is_symmetric_and_from_0_to_1():
    given = _Spread(np.array([[3.0, -2.0], [1.0, 0.25]]), np.array([1.5, -0.5]))
    found = _clipped(given)
    assert found.pairs.tolist() == [[1.0, 0.0], [0.0, 0.25]]
    assert found.own.tolist() == [1.0, 0.0]
    assert _clipped(_Spread(given.pairs.T, np.array([0.5, 0.25]))).own.tolist() == [0.5, 0.25]


def test_the_inverse_is_that_over_all_objects():
    B = SURE[np.ix_(PLACES, PLACES)].copy()
    np.fill_diagonal(B, 0.0)
    inverse = np.linalg.inv(2 * (np.diag(B.sum(axis=1)) - B) + 2 * np.eye(len(B)))
    solver = _Inverse(SURE, COUNTS)
    assert solver.n_components == 2
    assert [group.tolist() for group, _ in solver.blocks] == [[0, 1, 2]]
    assert solver.single.tolist() == [3]
    for seed in range(3):
        found = full(solver.times(drawn(seed)))
        wanted = inverse @ full(drawn(seed))
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_sure_pairs_are_those_of_the_co_association_and_of_equal_objects(missing):
    labels = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, -1, 1], [1, UNSEEN, 1, 1, 1]])
    rows = distinct_rows(Ensemble(labels))
    S = co_association(Ensemble(labels), missing=missing)
    # Two with the labels of one are together where that has a cluster.
    placed = (labels >= 0).sum(axis=1)
    np.fill_diagonal(S, placed / ((labels != UNSEEN).sum(axis=1) if missing == "pair" else 5))
    for alpha in (0.4, 0.75, 0.8, 1.0):
        found = sure_pairs(rows, alpha, missing)[np.ix_(rows.inverse, rows.inverse)]
        np.testing.assert_allclose(found, S * (S - alpha > -1e-9))


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_the_diagonal_of_similarities_is_that_of_equal_objects(missing):
    labels = np.array([[0, 0, 0, 0], [0, 0, 1, -1], [1, UNSEEN, 1, 1]])
    rows = distinct_rows(Ensemble(labels))
    found = weighted_similarity(rows, missing, None)
    own = own_similarity(rows, cluster_certainty(rows, 0.4, n_jobs=None), missing)
    np.testing.assert_allclose(found.diagonal(), own)
    assert own[rows.inverse[1]] < 1.0  # noise is with nobody


def test_the_usual_price_counts_all_others():
    B = SURE[np.ix_(PLACES, PLACES)].copy()
    np.fill_diagonal(B, 0.0)
    assert usual_price(SURE, COUNTS) == pytest.approx(B.sum(axis=1).mean())


@pytest.mark.parametrize("most", [1, 2, 5])
def test_steps_are_counted_up_to_the_most(most):
    weak = np.random.default_rng(0).random((4, 4))
    weak = (weak + weak.T) / 2
    found = enhanced(SURE, weak, COUNTS, 0.5, most)
    assert (found.n_iter, found.n_components) == (most, 2)
    assert found.converged is False
    assert (found.pairs >= 0).all()
    assert (found.pairs <= 1).all()
