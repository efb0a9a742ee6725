"""Clusterers fitted to samples of data that are not in memory: the members of data in memory."""

import numpy as np
import pytest
from engines.test_blocks import Sliced
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

from consilience._stored import _table
from consilience.datasets import open_rows
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.generate import EstimatorEnsemble, RunFolder
from consilience.kernels._blocks import BLOCK_ROWS

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 50
X = RNG.normal(size=(N, 3)) + 6.0 * RNG.integers(0, 3, N)[:, None]
CLUSTERERS = [KMeans(n_init=1), AgglomerativeClustering(), DBSCAN(eps=0.3, min_samples=4)]


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)


class Broken(KMeans):
    """A clusterer that fails."""

    def fit_predict(self, X, y=None, sample_weight=None):
        raise RuntimeError("out of luck")


@pytest.mark.parametrize("how", [{}, {"max_features": 2}, {"assign": "unseen"}], ids=str)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_members_are_those_in_memory(how, n_jobs, tmp_path):
    maker = EstimatorEnsemble(CLUSTERERS, [2, 3], max_samples=300, random_state=0, **how)
    wanted = maker.generate(X)
    maker.set_params(n_jobs=n_jobs)
    found = maker.generate(open_rows(Sliced(X)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(found.members, wanted.members)
    assert [r["algorithm"] for r in found.records] == [r["algorithm"] for r in wanted.records]
    again = maker.generate(open_rows(Sliced(X)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(again.members, wanted.members)


def test_failures_are_left_out_and_samples_are_needed():
    maker = EstimatorEnsemble([KMeans(2, n_init=1), Broken(2)], max_samples=200, random_state=0)
    with pytest.warns(ConsilienceWarning, match="1 of 2 members failed.*out of luck"):
        assert maker.generate(open_rows(Sliced(X))).n_members == 1
    with pytest.raises(InvalidParameterError, match=r"'max_samples' parameter .* must leave"):
        EstimatorEnsemble(KMeans(2)).generate(open_rows(Sliced(X)))
