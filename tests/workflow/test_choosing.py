"""The method of a strict job is the one that suits the size of the ensemble."""

from types import SimpleNamespace

import pytest

from consilience.consensus import default_method
from consilience.workflow._choosing import strict_method


@pytest.mark.parametrize(("n", "m"), [(100, 10), (10**6, 50), (50, 10**6)])
def test_the_size_of_the_ensemble_decides(n, m):
    ensemble = SimpleNamespace(n_objects=n, n_members=m)
    assert strict_method(SimpleNamespace(X=None), ensemble, None) == default_method(n, m)
    assert default_method(10**6, 50).name != default_method(50, 10**6).name
