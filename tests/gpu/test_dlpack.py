# ruff: noqa: E402
"""Tensors and anybody's arrays with DLPack are checked where they lie, and enter without a copy."""

import os

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

import consilience as cs
from consilience import rows as border
from consilience.rows import as_given, device_of_data, rows_of

pytestmark = pytest.mark.torch
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
X = np.random.default_rng(0).normal(size=(300, 3))


class Foreign:
    """An array of another library: only DLPack, and the name space of its kind."""

    def __init__(self, tensor):
        self.tensor, self.shape = tensor, tuple(tensor.shape)

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __array_namespace__(self):
        return self

    def from_dlpack(self, other):
        return Foreign(torch.from_dlpack(other))


@pytest.fixture
def on_a_card(monkeypatch):
    """The processor stands for a card where there is none."""
    monkeypatch.setattr(border, "_HOST", ())


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_a_tensor_enters_without_a_copy(kind):
    there = torch.as_tensor(X).to(DEVICE, kind)
    rows = rows_of(there, owner="test")
    assert rows.tensor.tensor.data_ptr() == there.data_ptr()
    assert rows.shape == X.shape
    assert rows.dtype == np.dtype(str(kind).removeprefix("torch."))
    assert rows._values is None
    np.testing.assert_array_equal(rows.values, there.cpu().numpy())
    np.testing.assert_array_equal(rows.take([5, 2]).values, there[[5, 2]].cpu().numpy())


def test_arrays_of_others_enter_without_a_copy(on_a_card):
    there = torch.as_tensor(X).to(DEVICE)
    rows = rows_of(Foreign(there), owner="test")
    assert rows.tensor.tensor.data_ptr() == there.data_ptr()
    assert device_of_data(Foreign(there)).startswith(DEVICE)
    back = as_given(np.arange(3), Foreign(there))
    assert isinstance(back, Foreign)
    assert back.tensor.tolist() == [0, 1, 2]


def test_memory_of_the_host_is_an_array():
    here = torch.as_tensor(X)
    assert rows_of(Foreign(here), owner="test").values.ctypes.data == here.data_ptr()
    assert device_of_data(Foreign(here)) is None


def test_members_of_a_tensor_are_made_without_its_values(monkeypatch, on_a_card):
    options = {"n_members": 6, "n_clusters": (2, 5), "max_samples": 0.5, "random_state": 0}
    wanted = cs.generate.KMeansEnsemble(**options).generate(X)
    there = torch.as_tensor(X).to(DEVICE)

    def refuse(self):
        raise AssertionError("the rows were copied to the host")

    monkeypatch.setattr(border.Rows, "values", property(refuse))
    monkeypatch.setattr(border.OnDevice, "__array__", refuse)
    for given in (there, Foreign(there)):
        got = cs.generate.KMeansEnsemble(**options).generate(given)
        np.testing.assert_array_equal(got.labels, wanted.labels)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.where(np.arange(900).reshape(300, 3) == 7, np.nan, X), "NaN"),
        (np.where(np.arange(900).reshape(300, 3) == 7, np.inf, X), "infinity"),
        (X[0], "1D array"),
        (X[:0], "0 sample"),
    ],
)
def test_what_is_no_table_is_refused_in_the_same_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        rows_of(torch.as_tensor(wrong).to(DEVICE), owner="test")


def test_whole_numbers_and_transposed_tensors_are_made_fit():
    whole = torch.arange(12, device=DEVICE).reshape(4, 3)
    assert rows_of(whole, owner="test").dtype == np.float64
    turned = rows_of(whole.to(torch.float32).T, owner="test")
    assert turned.tensor.tensor.is_contiguous()
    np.testing.assert_array_equal(turned.values, whole.cpu().numpy().T)


def test_estimators_remember_and_check_the_columns():
    there = torch.as_tensor(X).to(DEVICE)
    model = cs.EAC(2, generator=cs.generate.KMeansEnsemble(5, 4, random_state=0)).fit(there)
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="3 features"):
        model.predict(there[:, :2])


def test_huge_units_are_left_to_the_host():
    options = {"n_members": 3, "n_clusters": 3, "random_state": 0}
    got = cs.generate.KMeansEnsemble(**options).generate(torch.as_tensor(X * 1e200).to(DEVICE))
    wanted = cs.generate.KMeansEnsemble(**options).generate(X * 1e200)
    np.testing.assert_array_equal(got.labels, wanted.labels)


def test_an_array_without_a_name_space_gets_a_tensor_where_it_lies(on_a_card):
    class Bare(Foreign):
        __array_namespace__ = property()  # as if it had none

    back = as_given(np.arange(3), Bare(torch.as_tensor(X).to(DEVICE)))
    assert isinstance(back, torch.Tensor)
    assert (back.tolist(), back.device.type) == ([0, 1, 2], torch.device(DEVICE).type)


def test_what_was_checked_where_it_lies_is_not_brought_to_the_host(monkeypatch):
    there = torch.as_tensor(X).to(DEVICE)

    def fetched(*_, **__):
        raise AssertionError

    with monkeypatch.context() as patch:
        for name in ("__array__", "numpy", "cpu"):
            patch.setattr(torch.Tensor, name, fetched)
        model = cs.EAC(2)
        rows = rows_of(there, owner="test", fitted=model, min_objects=300)
        assert rows_of(rows, owner="test") is rows
        assert (rows.shape, len(rows), rows.is_sparse, rows.is_stored) == (
            (300, 3),
            300,
            False,
            False,
        )
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_few_numbers_in_a_tensor_are_a_table(shape):
    rows = rows_of(torch.ones(shape), owner="test")
    assert rows.tensor is not None
    assert rows.values.tolist() == np.ones(shape).tolist()
    with pytest.raises(ValueError, match=f"minimum of {shape[0] + 1} is required"):
        rows_of(torch.ones(shape), owner="test", min_objects=shape[0] + 1)


def test_whole_numbers_and_asked_for_types_become_float64():
    for given, kind in (
        (torch.ones(3, 2, dtype=torch.int16), "floats"),
        (torch.ones(3, 2), "float64"),
    ):
        rows = rows_of(given, owner="test", kind=kind)
        assert (rows.dtype, rows.values.dtype) == (np.float64, np.float64)
