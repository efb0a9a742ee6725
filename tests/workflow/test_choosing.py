"""The method of a strict job suits the size of the ensemble; the number comes from a part."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.consensus import default_method
from consilience.ensemble import Ensemble
from consilience.rows import Rows
from consilience.workflow import _choosing
from consilience.workflow._choosing import Number, by_lines, strict_method


@pytest.mark.parametrize(("n", "m"), [(100, 10), (10**6, 50), (50, 10**6)])
def test_the_size_of_the_ensemble_decides(n, m):
    ensemble = SimpleNamespace(n_objects=n, n_members=m)
    assert strict_method(SimpleNamespace(X=None), ensemble, None) == default_method(n, m)
    assert default_method(10**6, 50).name != default_method(50, 10**6).name


def test_the_number_of_many_objects_is_found_in_a_part_of_them(monkeypatch):
    """A part drawn by the seed, in the order of the objects; members see all of them."""
    looked = []

    class Looked:
        choice_, n_clusters_, clarity_ = "choice", 3, "clear"

        def __init__(self, **params):
            self.params = params

        def fit(self, X, ensemble=None):
            looked.append(X)
            return self

    monkeypatch.setattr(_choosing, "AutoConsensus", Looked)
    monkeypatch.setattr(_choosing, "_ENOUGH", 50)
    how = {"most": None, "effort": "default", "n_jobs": None}
    X = np.arange(120.0).reshape(60, 2)
    for seed in (0, 0, 1):
        assert by_lines(Rows(X), None, seed=seed, **how) == Number(3, "choice", "clear")
    assert [len(part) for part in looked] == [50, 50, 50]
    assert all((np.diff(part[:, 0]) > 0).all() for part in looked)
    np.testing.assert_array_equal(looked[0], looked[1])
    assert (looked[0] != looked[2]).any()
    by_lines(Rows(X[:50]), None, seed=0, **how)
    by_lines(Rows(X), Ensemble(np.zeros((60, 1), int)), seed=0, **how)
    assert [len(part) for part in looked[3:]] == [50, 60]
    Looked.choice_ = None
    assert by_lines(Rows(X), None, seed=0, **how) == Number(1)
