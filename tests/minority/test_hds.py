"""HDS and AutoHDS: levels by the definition, the choice of the most stable, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse.csgraph import connected_components
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError, MemoryBudgetError
from consilience.minority.divergences import Gaussian, Precomputed
from consilience.minority.hds import AutoHDS, autohds, hds, hds_memory


@parametrize_with_checks(
    [AutoHDS(n_eps=5, n_part=3), AutoHDS(n_eps=4, n_part=3, divergence="euclidean")]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def grid(max_objects=16):
    shape = st.tuples(st.integers(2, max_objects), st.integers(1, 2))
    return shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=st.integers(0, 7)))


@given(grid(), st.data())
@settings(max_examples=40)
def test_every_level_equals_direct_connected_components(X, data):
    n = len(X)
    n_eps = data.draw(st.integers(1, n - 1))
    r_shave, f_shave = data.draw(st.sampled_from([(0.1, 0.0), (0.3, 0.2), (0.01, 0.01)]))
    # Parts are never dropped, so that all components of all levels can be told by name.
    found = hds(X, n_eps=n_eps, n_part=0, r_shave=r_shave, f_shave=f_shave, divergence="euclidean")
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    core = np.sort(distances, axis=1)[:, n_eps - 1]
    np.testing.assert_array_equal(found.core, core)
    assert found.level_sizes[0] == np.floor((1 - f_shave) * n + 0.5)
    assert found.level_sizes[-1] == 1
    assert (np.diff(found.level_sizes) < 0).all()
    for level, (size, radius) in enumerate(zip(found.level_sizes, found.radii, strict=True)):
        assert radius == np.sort(core)[size - 1]
        labels, dense = found.labels_at(level), core <= radius
        np.testing.assert_array_equal(labels >= 0, dense)
        graph = (distances <= radius)[np.ix_(dense, dense)]
        wanted = connected_components(graph, directed=False)[1]
        pairs = set(zip(labels[dense].tolist(), wanted.tolist(), strict=True))
        assert len(pairs) == len(set(wanted.tolist())) == len(set(labels[dense].tolist()))


@given(grid(), st.integers(0, 3))
@settings(max_examples=30)
def test_a_matrix_of_distances_gives_what_its_points_give(X, n_part):
    options = {"n_eps": 2, "n_part": n_part, "r_shave": 0.2}
    by_points = hds(X, divergence="euclidean", **options)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    by_matrix = hds(squared, divergence=Precomputed(kind="squared_distance"), **options)
    for level in range(by_points.n_levels):
        one, other = by_points.labels_at(level), by_matrix.labels_at(level)
        np.testing.assert_array_equal(one < 0, other < 0)
        assert len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))
    by_kernel = hds(X, divergence=Gaussian(alpha=2.0, gamma=0.1), **options)
    np.testing.assert_array_equal(by_kernel.last_cluster, by_points.last_cluster)
    np.testing.assert_array_equal(by_kernel.last_level, by_points.last_level)


def noisy(seed, n_noise=150, sizes=(60, 40), d=2):
    rng = np.random.default_rng(seed)
    parts = [rng.uniform(-4, 4, (n_noise, d))]
    parts += [rng.normal(3 * c - 1.5, 0.15, (size, d)) for c, size in enumerate(sizes)]
    return np.concatenate(parts), np.repeat(np.arange(len(sizes) + 1), [n_noise, *sizes])


def test_chosen_clusters_are_the_most_stable_and_unrelated(seed):
    X, _ = noisy(seed)
    result = autohds(X, n_eps=6, n_part=4)
    h = result.hierarchy
    ancestors = []
    for c in range(h.n_clusters):
        above = {c}
        while h.parent[c] >= 0:
            c = int(h.parent[c])
            above.add(c)
        ancestors.append(above)
    left = sorted(range(h.n_clusters), key=lambda c: -h.stability[c])
    wanted = []
    while left:
        wanted.append(left[0])
        best = left[0]
        left = [c for c in left if c not in ancestors[best] and best not in ancestors[c]]
    np.testing.assert_array_equal(result.clusters, wanted)
    np.testing.assert_array_equal(result.stability, h.stability[wanted])
    for rank, c in enumerate(wanted):
        np.testing.assert_array_equal(result.labels == rank, h.labels_at(h.first[c]) == c)
    sizes = np.r_[h.level_sizes[0] / 0.99, h.level_sizes]
    lives = np.log(sizes[h.first] / sizes[h.last + 1]) / -np.log(0.99)
    np.testing.assert_allclose(h.stability, lives)


def test_dense_groups_are_found_and_noise_is_left(seed):
    X, y = noisy(seed)
    model = AutoHDS(n_eps=15, n_part=10).fit(X)
    for source in (1, 2):
        inside = model.labels_[y == source]
        assert (inside >= 0).mean() > 0.9
    assert (model.labels_[y == 0] < 0).mean() > 0.5
    assert model.memory_ == hds_memory(*X.shape)
    # Only the order of distances counts, and Mahalanobis has no unit.
    np.testing.assert_array_equal(AutoHDS(n_eps=15, n_part=10).fit_predict(4 * X), model.labels_)


def test_degenerate_data():
    same = autohds(np.full((9, 3), 2.5), n_eps=3)
    assert same.flag == "no_contrast"
    assert (same.labels == 0).all()
    assert np.isinf(same.stability).all()
    one = AutoHDS().fit([[1.0, 2.0]])
    assert one.flag_ == "degenerate"
    np.testing.assert_array_equal(one.labels_, [-1])
    X = np.random.default_rng(0).normal(size=(30, 2))
    whole = autohds(X, n_eps=30)
    assert whole.hierarchy.n_levels == 1
    assert (whole.labels >= 0).sum() >= 29
    flat = np.c_[X, np.full(30, 3.0)]
    np.testing.assert_array_equal(
        autohds(flat, n_eps=4, n_part=2).labels, autohds(X, n_eps=4, n_part=2).labels
    )


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InvalidParameterError, match="'n_eps' parameter of AutoHDS"):
        autohds(X, n_eps=0)
    with pytest.raises(InvalidParameterError, match="'r_shave' parameter of hds"):
        hds(X, r_shave=1.0)
    with pytest.raises(MemoryBudgetError, match=r"needs .* GiB here, more than max_memory"):
        AutoHDS(max_memory="1 KiB").fit(X)
    with pytest.raises(ValueError, match="NaN"):
        autohds(np.full((3, 2), np.nan))
    with pytest.raises(InvalidInputError, match="at least 0"):
        autohds(X, divergence="kl")
    with pytest.raises(InvalidInputError, match="square"):
        autohds(X, divergence="precomputed")
    with pytest.raises(InvalidInputError, match="symmetric"):
        autohds(np.arange(9.0).reshape(3, 3), divergence="precomputed")
