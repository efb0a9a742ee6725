"""Values as JSON and arrays, and back."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.keep._values import Omitted, pack, unpack

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


def there_and_back(value):
    packed, arrays = pack(value, {})
    return unpack(json.loads(json.dumps(packed, allow_nan=False)), arrays, {})


@settings(max_examples=40)
@given(NESTED)
def test_plain_values_come_back(value):
    assert repr(there_and_back(value)) == repr(value)


def test_arrays_come_back_and_are_kept_once():
    X = np.arange(6.0).reshape(2, 3)
    value = {"x": X, "again": X, "t": X.T, "names": np.array(["a", "b"], object), "nan": np.nan}
    packed, arrays = pack(value, {})
    assert len(arrays) == 2
    again = unpack(packed, arrays, {})
    np.testing.assert_array_equal(again["t"], X.T)
    assert again["x"] is again["again"]
    assert again["names"].tolist() == ["a", "b"]
    assert np.isnan(again["nan"])


def test_sparse_matrices_come_back():
    matrix = sparse.random_array((5, 7), density=0.3, random_state=0).tocsr()
    again = there_and_back(matrix)
    assert (again != matrix).nnz == 0


def test_what_cannot_be_kept_is_told_by_its_looks():
    found = there_and_back({"a": np.random.RandomState(0)})["a"]
    assert isinstance(found, Omitted)
    assert "RandomState" in found.text
