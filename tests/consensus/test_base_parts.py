"""What estimators take before they fit: data in memory and block by block."""

import numpy as np
import pytest

from consilience import open_rows
from consilience.consensus.accumulation import EAC
from consilience.consensus.bipartite import HBGF
from consilience.consensus.defaults import default_method
from consilience.errors import InvalidInputError


def test_data_read_block_by_block_are_taken_by_methods_of_rows(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    np.save(tmp_path / "x.npy", X)
    stored = open_rows(tmp_path / "x.npy")
    found = HBGF(2)._check_data(stored, None)
    assert found.is_stored
    assert len(found) == 6
    with pytest.raises(InvalidInputError, match="EAC needs its data in memory"):
        EAC(2)._check_data(stored, None)


def test_two_objects_are_data_and_one_is_not():
    assert len(HBGF(2)._check_data(np.zeros((2, 1)), None)) == 2
    with pytest.raises(ValueError, match="minimum of 2"):
        HBGF(2)._check_data(np.zeros((1, 1)), None)


@pytest.mark.parametrize("known", [True, False])
def test_the_larger_of_two_sizes_gets_a_linear_method(known):
    small, large = (
        default_method(n, 100, n_clusters_known=known).name for n in (1_000, 10_000_000)
    )
    assert small == "eac"
    assert large == ("sec" if known else "correlationclustering")
