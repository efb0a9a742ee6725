"""What all rivals take: sparse data, kernels with parameters of their own, budgets of memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

import consilience as cs
from consilience.errors import InvalidInputError
from consilience.minority import (
    autohds,
    bbc,
    bbcpress,
    bbocc,
    hocc,
    softbbc,
    tune_gaussian,
)
from consilience.minority.dgrade import dgrade, dgrade_memory
from consilience.minority.hds import hds, hds_memory
from consilience.minority.kmd import kmd

PLAIN = {"divergence": "euclidean"}
DRAWN = {"random_state": 0}
FUNCTIONS = {
    "bbc": lambda X: bbc(X, 12, np.arange(60) % 3, **PLAIN),
    "bbcpress": lambda X: bbcpress(X, 1, 0.2, **PLAIN, **DRAWN),
    "bbocc": lambda X: bbocc(X, 0.2, **PLAIN, **DRAWN),
    "dgrade": lambda X: dgrade(X, 0.2, **PLAIN),
    "hocc": lambda X: hocc(X, 0.2, **PLAIN),
    "softbbc": lambda X: softbbc(X, 2, beta=3.0, **PLAIN, **DRAWN),
    "hds": lambda X: hds(X, n_eps=4, n_part=3, **PLAIN),
    "autohds": lambda X: autohds(X, n_eps=4, n_part=3, **PLAIN),
    "kmd": lambda X: kmd(X, family="multinomial", start_size=30, min_size=5, **DRAWN),
}


def rows_of(seed):
    """Rows with many zeros; equal distances would leave a choice that rounding makes."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(1.0, (60, 5)) * (rng.random((60, 5)) < 0.6)
    X[:, 0] += 0.01 * rng.random(60)
    X[:12] = [4.0, 0.0, 0.0, 3.0, 0.0] + 0.1 * rng.random((12, 5))
    return X


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sparse_rows_are_the_rows_that_they_stand_for(name):
    X = rows_of(0)  # of other rows some are as near as others but for rounding
    wanted, found = FUNCTIONS[name](X), FUNCTIONS[name](sparse.csr_array(X))
    if name == "hds":
        np.testing.assert_allclose(found.core, wanted.core, atol=1e-5)
        return
    np.testing.assert_array_equal(found.labels, wanted.labels)


def test_a_width_is_found_in_sparse_rows(seed):
    X = rows_of(seed)
    found = [
        tune_gaussian(form(X), "contrast", n_sample=20, random_state=0).scale
        for form in (np.asarray, sparse.csr_array)
    ]
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize(
    "model",
    [cs.BBOCC(0.2), cs.BBCPress(2, 0.2), cs.DGRADE(0.2), cs.SoftBBC(2, log_density=-3.0)],
    ids=lambda model: type(model).__name__,
)
def test_a_kernel_with_parameters_is_refused_like_any_other(model, seed):
    with pytest.raises(InvalidInputError, match="A callable kernel gives no centroids"):
        model.set_params(divergence=RBF(1.0)).fit(rows_of(seed))


def test_dense_groups_by_a_kernel_with_parameters_are_those_by_a_function(seed):
    X, kernel = rows_of(seed), RBF(2.0)
    model = cs.AutoHDS(n_eps=4, n_part=3)
    found = model.set_params(divergence=kernel).fit(X).labels_
    wanted = model.set_params(divergence=lambda a, b: kernel(a, b)).fit(X).labels_
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n", [1, 90, 1000])
def test_few_objects_need_the_memory_of_their_pairs_at_most(n):
    assert dgrade_memory(n, 256) == 8 * n * min(n, 256) + n * (24 * n + 24 * min(n, 256)) + 64 * n
    assert hds_memory(n, 3) == 4 * 8 * n**2 + (16 + 220 + 4 * 8 * 3) * n
    rows = rows_of(0)
    assert cs.DGRADE(max_memory=dgrade_memory(len(rows), len(rows))).fit(rows).memory_ < 2**20


@pytest.mark.parametrize("n", [2048, 3000])
def test_blocks_of_rows_are_the_most_that_many_objects_need(n):
    height = 2**24 // (8 * n)
    assert dgrade_memory(n, 256) == 8 * n * 256 + height * (24 * n + 24 * 256) + 64 * n
    assert hds_memory(n, 3) == 4 * 2**24 + (16 + 220 + 4 * 8 * 3) * n
    assert hds_memory(n, 3, matrix=True) == 4 * 2**24 + (16 + 220) * n + 4 * n**2
