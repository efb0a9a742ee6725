"""Large ensembles: results are the same, bit for bit, on any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Ensemble
from consilience.consensus import CONSENSUS, _label_kmeans
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.kernels.kmeans import labels as label_kmeans
from consilience.kernels.labels import votes
from consilience.partition import _embed

METHODS = {
    "mcla": {},
    "womc": {},
    "lwgp": {},
    "usenc": {},
    "voting": {},
    "cumulativevoting": {},
    "sec": {"n_init": 2},
    "kcc": {"n_init": 2},
    "hbgf": {"solver": "spectral"},
}


@pytest.fixture
def large(seed, monkeypatch):
    """More rows than one block of anything, without the time that needs."""
    for module, name, value in (
        (_embed, "_MANY_ROWS", 5000),
        (_embed, "_SAMPLE", 500),
        (_label_kmeans, "_SAMPLE_ABOVE", 5000),
        (_label_kmeans, "_SAMPLE", 500),
        (label_kmeans, "_WORTH", 1),
        (votes, "_WORTH", 1),
    ):
        monkeypatch.setattr(module, name, value)
    rng = np.random.default_rng(seed)
    labels = np.tile(rng.integers(0, 6, 20_000)[:, None], 10)
    wrong = rng.random(labels.shape) < 0.3
    labels[wrong] = rng.integers(-2, 6, int(wrong.sum()))
    return Ensemble(labels)


@pytest.mark.parametrize("name", METHODS)
def test_threads_change_nothing(large, name):
    method = CONSENSUS[name].function
    one, three = (
        method(large, 6, random_state=0, n_jobs=n_jobs, **METHODS[name]) for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.labels, three.labels)
    assert one.objective == three.objective
    if one.memberships is not None:
        np.testing.assert_array_equal(one.memberships, three.memberships)


@given(st.lists(st.integers(-2, 9), min_size=1, max_size=12), st.sampled_from([1, 10**6]))
def test_clusters_are_numbered_as_they_first_appear(labels, apart):
    given_ = np.array(labels, np.int32) * apart
    names = list(dict.fromkeys(given_.tolist()))
    found = by_first_appearance(ConsensusResult(given_))
    assert found.labels.tolist() == [names.index(label) for label in given_.tolist()]
    assert found.n_clusters == len(names)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(0, 2**16))
def test_columns_follow_their_clusters(labels, seed):
    table = np.random.default_rng(seed).random((len(labels), 5))
    # Memberships are reordered where they are.
    result = ConsensusResult(np.array(labels, np.int32), memberships=table.copy())
    found = by_first_appearance(result)
    own = table[np.arange(len(labels)), labels]
    np.testing.assert_array_equal(found.memberships[np.arange(len(labels)), found.labels], own)
    np.testing.assert_array_equal(np.sort(found.memberships), np.sort(table))
