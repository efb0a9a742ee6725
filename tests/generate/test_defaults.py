"""The generator taken for data of a given size and kind: it runs, and it fits them."""

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import InvalidParameterError
from consilience.generate.defaults import default_generator


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_small_data_of_any_size_can_be_clustered(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    found = default_generator(n, 2, n_members=3, random_state=0)
    assert found.generator.generate(X).n_members == 3
    assert found.why.endswith(".")


def test_large_data_are_fitted_on_samples_and_placed_whole():
    found = default_generator(25_000, 2, n_members=2, random_state=0)
    assert "20,000" in found.why
    ensemble = found.generator.generate(np.random.default_rng(0).normal(size=(25_000, 2)))
    assert [record["n_objects"] for record in ensemble.records] == [20_000, 20_000]
    assert not ensemble.has_unseen
    assert ((ensemble.n_clusters >= 20) & (ensemble.n_clusters <= 60)).all()


def test_wide_data_are_seen_in_part():
    found = default_generator(30, 1_500, n_members=2, random_state=0)
    ensemble = found.generator.generate(np.random.default_rng(0).normal(size=(30, 1_500)))
    assert [len(record["features"]) for record in ensemble.records] == [1_000, 1_000]
    assert "1,500 columns" in found.why


def test_sparse_data_are_compared_by_direction():
    found = default_generator(20, 5_000, n_members=2, random_state=0, sparse=True)
    assert found.generator.metric == "cosine"
    words = sparse.random_array((20, 5_000), density=0.01, format="csr", rng=0)
    assert found.generator.generate(words).n_members == 2


def test_equal_seeds_give_equal_members():
    X = np.random.default_rng(0).normal(size=(50, 3))
    one, two = (
        default_generator(50, 3, n_members=4, random_state=5, n_jobs=jobs).generator.generate(X)
        for jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize("n_groups", range(1, 12))
def test_members_of_as_many_clusters_as_there_are_groups(n_groups):
    X = np.random.default_rng(0).normal(size=(10, 2))
    choice = default_generator(10, 2, n_members=3, n_groups=n_groups, random_state=0)
    ensemble = choice.generator.generate(X)
    assert set(ensemble.n_clusters) == {min(n_groups, 10)}
    # As few groups as usual leave objects out of the fit, or all members would be alike.
    fitted_to = {record["n_objects"] or 10 for record in ensemble.records}
    assert fitted_to == {8 if n_groups <= 8 else 10}


def test_groups_beyond_the_objects_of_a_sample_are_fitted_to_more_of_them():
    choice = default_generator(50_000, 2, n_groups=30_000)
    assert choice.generator.max_samples == 30_000
    assert default_generator(50_000, 2, n_groups=5).generator.max_samples == 20_000


@pytest.mark.parametrize("change", [{"n_objects": 0}, {"n_members": 0}, {"sparse": "yes"}])
def test_bad_sizes_are_refused_by_name(change):
    with pytest.raises(InvalidParameterError, match=next(iter(change))):
        default_generator(**({"n_objects": 5, "n_features": 5} | change))
