"""The order that methods see objects in, part by part: members, data and weights beside it."""

import numpy as np
import pytest
from scipy import sparse

from consilience import Ensemble
from consilience.consensus._order import _hashed_values, object_order, ordered, row_order
from consilience.consensus._solve import ConsensusResult


def test_members_that_divide_nothing_change_no_order(seed):
    labels = np.random.default_rng(seed).integers(0, 3, (4, 30))
    wanted = object_order(Ensemble(list(labels)))
    same = [np.zeros(30, int), *labels, np.full(30, -1)]
    np.testing.assert_array_equal(object_order(Ensemble(same)), wanted)
    np.testing.assert_array_equal(row_order(Ensemble(list(labels)).members), wanted)


def test_zeros_may_be_left_out_and_have_no_sign():
    X = np.random.default_rng(0).integers(0, 3, (20, 4)).astype(float)
    wanted = _hashed_values(X)
    np.testing.assert_array_equal(_hashed_values(sparse.csr_array(X)), wanted)
    np.testing.assert_array_equal(_hashed_values(np.where(X == 0, -0.0, X)), wanted)
    np.testing.assert_array_equal(_hashed_values(X.astype(np.float32)), wanted)
    np.testing.assert_array_equal(_hashed_values(X, 2), wanted)
    np.testing.assert_array_equal(_hashed_values(X.reshape(20, 2, 2)), wanted)
    np.testing.assert_array_equal(_hashed_values(X[7:9]), wanted[7:9])
    # Rows are equal if their numbers are.
    distinct = len(np.unique(X, axis=0))
    assert len(np.unique(wanted)) == distinct
    assert _hashed_values(np.zeros((2, 3))).tolist() == [0, 0]
    assert len(np.unique(_hashed_values(np.eye(6)))) == 6
    assert len(np.unique(_hashed_values(np.arange(500.0)[:, None]))) == 500


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", [None, False, True])
def test_what_a_method_is_given_in_order_is_put_back(weighted, data, seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(list(rng.integers(0, 2, (3, 40))))
    X = rng.permutation(40).astype(float)[:, None]
    weights = rng.random(40) if weighted else None
    given = []

    def run(placed, k, values, *more):
        given.append((placed.members, values, more))
        labels = values[:, 0].astype(np.int32)
        return ConsensusResult(labels, memberships=np.outer(labels, [1.0, k]), solver="own")

    options = {} if data is None else {"data": data}
    found = ordered(run, weights, **options)(ensemble, 7, X)
    assert found.labels.tolist() == X[:, 0].tolist()
    np.testing.assert_array_equal(found.memberships, np.outer(X[:, 0], [1, 7]))
    assert found.solver == "own"
    ((members, values, more),) = given
    place = np.empty(40, int)
    place[X[:, 0].astype(int)] = np.arange(40)
    order = place[values[:, 0].astype(int)]
    np.testing.assert_array_equal(members, ensemble.members[:, order])
    assert len(more) == weighted
    if weighted:
        np.testing.assert_array_equal(more[0], weights[order])
    seen = ((X, weights) if weighted else (X,)) if data else ((weights,) if weighted else ())
    np.testing.assert_array_equal(order, object_order(ensemble, *seen))
    if not weighted and not data:  # those with equal labels as they came
        for row in np.unique(ensemble.members, axis=1).T:
            equal = order[(ensemble.members[:, order] == row[:, None]).all(axis=0)]
            assert equal.tolist() == sorted(equal)


def test_without_data_nothing_is_put_in_order_but_labels():
    ensemble = Ensemble([[0, 1, 0, 1], [0, 0, 1, 1]])

    def run(placed, k, X):
        assert X is None
        return ConsensusResult((2 * placed.members[0] + placed.members[1]).astype(np.int32))

    found = ordered(run, data=True)(ensemble, 2, None)
    assert found.labels.tolist() == [0, 2, 1, 3]
    assert found.memberships is None


def test_equal_labels_stay_together_and_data_decide_between_them(seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(list(rng.integers(0, 2, (3, 40))))
    X, weights = rng.normal(size=(40, 2)), rng.integers(0, 3, 40).astype(float)
    shuffled = rng.permutation(40)
    for more in ((X,), (weights,), (weights, X)):
        order = object_order(ensemble, *more)
        rows = ensemble.members[:, order]
        changes = (rows[:, 1:] != rows[:, :-1]).any(axis=0).sum()
        assert changes == len(np.unique(rows, axis=1).T) - 1
        again = object_order(ensemble.take(shuffled), *(values[shuffled] for values in more))
        for values in more:
            np.testing.assert_array_equal(values[shuffled][again], values[order])
    # What is given first decides first.
    for row in np.unique(rows, axis=1).T:
        own = weights[order][(rows == row[:, None]).all(axis=0)]
        assert (own[1:] != own[:-1]).sum() == len(np.unique(own)) - 1


def test_the_hash_of_numbers_stays_what_it_is():
    """In whole numbers of Python: results of any version hang on it."""

    def mixed(value, column):
        bits = int(np.float64(value).view(np.uint64))
        one = (bits ^ (column + 1)) * 0x9E3779B97F4A7C15 % 2**64
        one = (one ^ (one >> 29)) * 0x9E3779B97F4A7C15 % 2**64
        return 0 if bits == 0 else one ^ (one >> 29)

    X = np.array([[0.0, 1.0, -2.5], [1e300, 0.0, 3.0]])
    wanted = [sum(mixed(value, c) for c, value in enumerate(row)) % 2**64 for row in X]
    assert _hashed_values(X).tolist() == wanted
