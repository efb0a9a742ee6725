"""Kernels inside kernels are compiled once, and remain kernels that Python can call."""

import gc
import pickle
import sys

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError

from consilience.kernels import _jit
from consilience.kernels._linked import is_linked

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def inner(values, at):
    if values[at] < 0:
        raise ValueError("a root of what is below zero")
    values[at] += np.sqrt(values[at])


def outer(values):
    for at in range(values.size):
        inner(values, at)
    return values


plain_inner = inner


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where compiled code is kept."""
    monkeypatch.setattr(_jit, "_folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def kernels(folder, monkeypatch):
    """Makes a kernel, and one that calls it."""

    def make():
        # By a name of the module: kept code is found by the code of the function alone.
        monkeypatch.setattr(sys.modules[__name__], "inner", _jit.compiled(plain_inner))
        return inner, _jit.compiled(outer)

    return make


def linked(kernel):
    """For each of its types, whether the code is for other kernels only."""
    return [is_linked(code) for code in kernel.overloads.values()]


def test_a_kernel_inside_another_has_no_machine_code_until_python_calls_it(folder, kernels):
    inner, outer = kernels()
    np.testing.assert_array_equal(outer(np.array([4.0, 9.0])), [6.0, 12.0])
    assert (linked(inner), linked(outer)) == ([True], [False])
    assert not any(".inner-" in file.name for file in folder.iterdir())

    values = np.array([4.0, 9.0])
    inner(values, 1)
    assert values.tolist() == [4.0, 12.0]
    assert linked(inner) == [False]
    assert any(".inner-" in file.name for file in folder.iterdir())
    # For other types both ways, and the first code still does what it did.
    np.testing.assert_array_equal(outer(np.array([4.0], np.float32)), [6.0])
    np.testing.assert_array_equal(outer(np.array([16.0])), [20.0])


def test_a_kernel_that_python_called_serves_other_kernels(kernels):
    inner, outer = kernels()
    inner(np.array([4.0]), 0)
    np.testing.assert_array_equal(outer(np.array([4.0, 9.0])), [6.0, 12.0])
    assert linked(inner) == [False]


def test_errors_of_inner_kernels_arrive_from_new_and_from_kept_code(kernels):
    for hits in range(2):
        _, outer = kernels()
        with pytest.raises(ValueError, match="below zero"):
            outer(np.array([1.0, -1.0]))
        assert sum(outer.stats.cache_hits.values()) == hits


def test_the_search_for_garbage_rests_only_while_kernels_are_compiled(kernels):
    def wrong(x):
        return x.no_such_thing

    for collects in (True, False):
        gc.enable() if collects else gc.disable()
        try:
            kernels()[1](np.array([4.0]))
            with pytest.raises(TypingError):
                _jit.compiled(wrong)(1)
            assert gc.isenabled() == collects
        finally:
            gc.enable()


def test_kernels_travel_to_other_processes(kernels):
    inner, _ = kernels()
    values = np.array([4.0])
    pickle.loads(pickle.dumps(inner))(values, 0)
    assert values.tolist() == [6.0]
