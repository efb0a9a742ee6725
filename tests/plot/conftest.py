"""What the tests of plots share."""

import numpy as np
import pytest

from consilience.ensemble import Ensemble


@pytest.fixture
def plt():
    """pyplot without a screen; every figure is closed afterwards."""
    module = pytest.importorskip("matplotlib.pyplot")
    module.switch_backend("agg")
    module.close("all")
    yield module
    module.close("all")


@pytest.fixture
def three_groups(seed):
    """Labels of 60 objects in three groups, and an ensemble whose members err now and then."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [30, 20, 10]))
    wrong = rng.random((60, 15)) < 0.1
    members = np.where(wrong, rng.integers(0, 3, (60, 15)), labels[:, None])
    return Ensemble(members), labels
