"""What the weighted-object paper says of its data, through our methods.

The tests that need its data sets read the folder ``CONSILIENCE_DATA``.
"""

import os

import numpy as np
import pytest
from numba import config
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from consilience.consensus.bipartite import hbgf
from consilience.consensus.graph import cspa
from consilience.consensus.metacluster import mcla
from consilience.consensus.soft import wohb, wosp
from consilience.consensus.weighted import womc
from consilience.datasets import load
from consilience.datasets._woec import make_woec_toy
from consilience.generate import KMeansEnsemble, woec

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
needs_data = pytest.mark.skipif(
    "CONSILIENCE_DATA" not in os.environ,
    reason="set CONSILIENCE_DATA to the folder of the papers' data sets",
)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def scores(X, y, runs, methods):
    """ARI of methods (rows) in runs (columns), each on the paper's ensemble of 40."""
    k = len(np.unique(y))
    table = np.empty((len(methods), runs))
    for run in range(runs):
        ensemble = woec(40, k, random_state=run).generate(X)
        for m, (method, params) in enumerate(methods):
            labels = method(ensemble, k, X=X, random_state=run, **params).labels
            table[m, run] = adjusted_rand_score(y, labels)
    return table


@needs_data
def test_iris_without_sepal_width_reaches_the_maximum_of_the_paper():
    table = load("iris")
    X = standardised(np.asarray(table.X, float)[:, [0, 2, 3]])
    generator = KMeansEnsemble(100, 3, online=True, random_state=0)
    found = np.array([adjusted_rand_score(table.truth, labels) for labels in generator.generate(X)])
    assert found.max() == pytest.approx(0.6734, abs=5e-5)
    assert (found > 0.6733).mean() >= 0.9


@needs_data
def test_wall_is_cut_by_balance():
    table = load("wall_following_2")
    kept = np.isin(table.truth, ["Move-Forward", "Sharp-Right-Turn"])
    X, y = standardised(np.asarray(table.X, float)[kept]), np.asarray(table.truth)[kept]
    assert len(X) == 4302
    plain = {"weights": None}
    methods = [(mcla, {}), (womc, {}), (wosp, {}), (wohb, {}), (wosp, plain), (wohb, plain)]
    found = scores(X, y, 20, [*methods, (hbgf, {}), (cspa, {})])
    np.testing.assert_allclose(found[:2], 0.0538, atol=5e-5)
    for soft in found[2:4]:
        assert 0.60 < soft.mean() < 0.78
        assert soft.min() > 0.35
        assert soft.max() < 0.91
    assert (found[4:6] > 0.84).all()
    assert (found[4:6] < 0.93).all()
    # Objects are shuffled first, so that balance cannot follow their order in the file.
    assert (found[6:].mean(axis=1) < 0.06).all()


@needs_data
def test_sony_gains_by_soft_memberships():
    table = load("ucr_sony_aibo_2")
    X = standardised(np.asarray(table.X, float))
    found = scores(X, table.truth, 10, [(mcla, {}), (womc, {}), (wosp, {}), (wohb, {})])
    np.testing.assert_allclose(found[:2].mean(axis=1), 0.319, atol=0.003)
    for soft in found[2:]:
        assert 0.375 < soft.mean() < 0.390
        assert stats.ttest_rel(soft, found[0]).pvalue < 1e-6


@compiled
def test_discs_gain_and_a_ring_of_gaussians_does_not():
    gains = {}
    for name, k in (("toy2", 3), ("toy3", 5)):
        runs = []
        for seed in range(4):
            X, y = make_woec_toy(name, random_state=seed)
            X = standardised(X)
            ensemble = woec(40, k, random_state=seed).generate(X)
            runs.append(
                [
                    adjusted_rand_score(y, method(ensemble, k, X=X, random_state=seed).labels)
                    for method in (mcla, wosp, wohb)
                ]
            )
        gains[name] = np.mean(runs, axis=0)
    assert (gains["toy2"][1:] > gains["toy2"][0] + 0.02).all()
    assert gains["toy3"][0] >= gains["toy3"][1]
