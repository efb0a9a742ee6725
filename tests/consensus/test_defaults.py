"""The method taken for an ensemble of a given size: it runs, and it fits the size."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience.consensus.defaults import default_method
from consilience.datasets import make_gaussians
from consilience.errors import InvalidParameterError
from consilience.generate.defaults import default_generator


@pytest.mark.parametrize("n", [2, 1_000, 20_000, 10**5, 10**7])
@pytest.mark.parametrize("known", [False, True])
def test_a_large_ensemble_gets_a_method_of_linear_memory(n, known):
    found = default_method(n, 100, n_clusters_known=known)
    assert found.method.name == found.name
    assert known or not found.method.needs_n_clusters
    assert not found.method.needs_data
    assert not found.method.balanced
    assert n <= 20_000 or "n^2" not in found.method.memory
    assert found.why.endswith(".")


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint16])
def test_numpys_numbers_are_numbers(kind):
    n = min(np.iinfo(kind).max, 10**6)
    assert default_method(kind(n), kind(100)) == default_method(int(n), 100)


@pytest.mark.parametrize("n_objects", [300, 10**6])
def test_what_is_taken_finds_plain_groups(n_objects):
    X, y = make_gaussians(300, 3, 4, separation=8, random_state=0)
    members = default_generator(300, 4, n_members=30, random_state=0).generator.generate(X)
    found = default_method(n_objects, 30)
    settings = dict(found.parameters)
    if found.name != "eac":
        settings["random_state"] = 0
    labels = found.method.function(members, 3, **settings).labels
    assert adjusted_rand_score(y, labels) == 1.0


def test_a_method_that_chooses_the_number_finds_it():
    X, y = make_gaussians(200, 4, separation=9, random_state=0)
    members = default_generator(200, 2, n_members=30, random_state=0).generator.generate(X)
    found = default_method(200, 30, n_clusters_known=False)
    labels = found.method.function(members, None, **found.parameters).labels
    assert adjusted_rand_score(y, labels) > 0.95
    assert np.bincount(labels).size >= 4


@pytest.mark.parametrize("kind", ["normal", "uniform", "groups"])
def test_an_unknown_number_never_ends_in_single_objects(kind):
    rng = np.random.default_rng(0)
    X, y = make_gaussians(500, 4, 20, separation=8, random_state=0)
    if kind != "groups":
        X = getattr(rng, kind)(size=(500, 20))
    members = default_generator(500, 20, random_state=0).generator.generate(X)
    found = default_method(500, members.n_members, n_clusters_known=False)
    labels = found.method.function(members, None, **found.parameters).labels
    assert np.bincount(labels).min() >= 10
    if kind == "groups":
        assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("change", [{"n_objects": 0}, {"n_members": 0}, {"n_clusters_known": 1.5}])
def test_bad_sizes_are_refused_by_name(change):
    with pytest.raises(InvalidParameterError, match=next(iter(change))):
        default_method(**({"n_objects": 5, "n_members": 5} | change))
