"""The steps of ECPCS on few clusters: sums of powers, products, defaults, memory to the byte."""

import inspect

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import ecpcshc, ecpcsmc
from consilience.consensus.propagated import _product, _summed_products, propagated
from consilience.errors import MemoryBudgetError


@pytest.mark.parametrize("n_steps", [*range(1, 10), 20])
def test_sums_are_those_of_power_after_power(n_steps):
    P = np.random.default_rng(0).random((5, 5)) / 5
    powers = [np.linalg.matrix_power(P, step) for step in range(1, n_steps + 1)]
    wanted = sum(power @ power.T for power in powers)
    np.testing.assert_allclose(_summed_products(P, n_steps, None), wanted, rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 255, 256, 257, 513])
def test_products_in_blocks_have_every_column(n_columns):
    rng = np.random.default_rng(0)
    A, B = rng.random((3, 4)), rng.random((4, n_columns))
    np.testing.assert_allclose(_product(A, B, 2), A @ B)


def test_one_cluster_without_any_other_is_like_itself():
    assert propagated(np.zeros((1, 1)), 3).tolist() == [[1.0]]


def test_the_tree_takes_four_bytes_an_ordered_pair_of_rows():
    ensemble = Ensemble([[0, 0, 1, 1, 2], [0, 1, 1, 2, 2]])
    assert ecpcshc(ensemble, 2, max_memory=80).n_clusters == 2
    with pytest.raises(MemoryBudgetError, match="of 5 distinct objects"):
        ecpcshc(ensemble, 2, max_memory=79)


@pytest.mark.parametrize("method", [ecpcshc, ecpcsmc])
def test_walks_have_twenty_steps_without_a_word(method):
    assert inspect.signature(method).parameters["n_steps"].default == 20
