"""What the methods that weigh objects share, part by part: weights, data, members alone."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from consilience import Ensemble
from consilience.consensus._objects import (
    checked_data,
    needed_data,
    of_placed,
    only_member,
    weights_of,
)
from consilience.errors import InvalidInputError
from consilience.evidence.weights import object_weights

ENSEMBLE = Ensemble([[0, 0, 1, 1, -1], [0, 1, 1, 1, -2]])


def test_weights_are_one_or_of_the_ensemble_or_as_given():
    assert weights_of(None, ENSEMBLE, None).tolist() == [1.0] * 5
    found = weights_of("one-shot", ENSEMBLE, None)
    np.testing.assert_array_equal(found, object_weights(ENSEMBLE))
    assert weights_of([1, 2, 3, 4, 5], ENSEMBLE, None).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    with pytest.raises(InvalidInputError, match=r"each of the 5 objects\. Got 4 instead"):
        weights_of([1, 2, 3, 4], ENSEMBLE, None)


def test_values_are_those_of_objects_that_some_member_placed():
    values = np.arange(5.0)
    assert of_placed(values, ENSEMBLE).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert of_placed(values, Ensemble([[0, 0, 1, 1, 1]])).tolist() == values.tolist()


def test_data_are_checked_where_they_are_given():
    assert checked_data(None, ENSEMBLE, owner="This") is None
    X = np.arange(10).reshape(5, 2)
    found = checked_data(X, ENSEMBLE, owner="This")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, X)
    sparse = csr_array(X.astype(float))
    np.testing.assert_array_equal(checked_data(sparse, ENSEMBLE, owner="This").toarray(), X)
    for bad in (X[:4], X * 1e200):
        with pytest.raises(InvalidInputError):
            checked_data(bad, ENSEMBLE, owner="This")
    assert needed_data(X, owner="This") is X
    with pytest.raises(InvalidInputError, match="This uses the data"):
        needed_data(None, owner="This")


def test_a_member_alone_is_the_answer_if_it_has_the_clusters():
    alone = Ensemble([[2, 2, 1, 1, 0]])
    found = only_member(alone, 3)
    assert found.labels.dtype == np.int32
    together = found.labels[:, None] == found.labels
    np.testing.assert_array_equal(together, alone.members[0][:, None] == alone.members[0])
    assert only_member(alone, 2) is None
    assert only_member(alone, 4) is None
    assert only_member(Ensemble([[0, 0, 1], [0, 0, 1]]), 2) is None
