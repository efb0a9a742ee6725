"""Ranges of columns and maps of them, whoever makes them."""

import numpy as np
import pytest
from numba import config

from consilience.kernels.data.scaling import column_ranges, map_columns


@pytest.fixture(params=[np.float64, np.float32])
def X(request, seed):
    rng = np.random.default_rng(seed)
    # Enough for several threads to be worth it, but for plain Python.
    n = 300 if config.DISABLE_JIT else 60_000
    return rng.normal(size=(n, 11)).astype(request.param)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_ranges_are_the_least_and_the_greatest(X, n_jobs):
    low, high = column_ranges(X, n_jobs)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_maps_are_those_of_numpy_to_the_last_digit(X, n_jobs):
    powers = np.arange(-5, 6)
    centre, scale = np.linspace(-1, 1, 11), np.geomspace(1e-3, 1e3, 11)
    wanted = (np.ldexp(X.astype(np.float64), -powers) - centre) * scale
    np.testing.assert_array_equal(
        map_columns(X, powers, centre, scale, n_jobs), wanted.astype(X.dtype)
    )


@pytest.mark.parametrize("power", [-1073, -1060, -600, 0, 700, 1024])
def test_any_unit_is_taken_off_exactly(power, seed):
    plain = np.round(np.random.default_rng(seed).uniform(0.5, 0.95, (50, 1)) * 16) / 16
    X = np.ldexp(plain, power)
    wanted = np.ldexp(X, -power)
    one = np.ones(1)
    np.testing.assert_array_equal(map_columns(X, np.array([power]), 0 * one, one), wanted)
