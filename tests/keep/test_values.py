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


@given(st.lists(PLAIN, max_size=5), st.sampled_from([np.int64, np.float32, np.bool_]))
def test_names_of_objects_and_keys_stay_what_they_are(names, kind):
    names = [*names, kind(1), kind(0), np.str_("a"), np.inf]
    wanted = [name.item() if isinstance(name, np.generic) else name for name in names]
    array = np.fromiter(names, object, len(names))
    assert repr(there_and_back(array).tolist()) == repr(wanted)
    assert repr(there_and_back(dict.fromkeys(names))) == repr(dict.fromkeys(wanted))


def test_names_of_other_kinds_come_back_as_text():
    names = np.fromiter([(1, 2), np.datetime64("2024-01-05")], object, 2)
    assert there_and_back(names).tolist() == ["(1, 2)", "2024-01-05"]
    assert there_and_back({(1, 2): 3}) == {"(1, 2)": 3}


def test_sparse_matrices_come_back():
    matrix = sparse.random_array((5, 7), density=0.3, random_state=0).tocsr()
    again = there_and_back(matrix)
    assert (again != matrix).nnz == 0


def test_what_cannot_be_kept_is_told_by_its_looks():
    found = there_and_back({"a": np.random.RandomState(0)})["a"]
    assert isinstance(found, Omitted)
    assert "RandomState" in found.text
