"""Synthetic sets: sizes, seeds, and the shapes they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from consilience.datasets import make_gaussians, make_half_rings, make_spirals
from consilience.errors import InvalidParameterError

MAKERS = [make_spirals, make_half_rings, make_gaussians]


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=25, deadline=None)
@given(n_objects=st.integers(3, 60), seed=st.integers(0, 2**32 - 1))
def test_sizes_and_seeds(make, n_objects, seed):
    X, y = make(n_objects, random_state=seed)
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert X.shape == (n_objects, 2)
    assert y.shape == (n_objects,)
    assert set(y) == set(range(int(y.max()) + 1))
    sizes = np.bincount(y)
    assert sizes.max() - sizes.min() <= 1
    again, labels = make(n_objects, random_state=np.random.RandomState(seed))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, make(n_objects, random_state=(seed + 1) % 2**32)[0])


@pytest.mark.parametrize("seed", range(5))
def test_spirals_are_chains_that_kmeans_cuts(seed):
    X, y = make_spirals(random_state=seed)
    chained = fcluster(linkage(X, "single"), 2, "maxclust")
    assert adjusted_rand_score(y, chained) == 1.0
    cut = KMeans(2, n_init=5, random_state=seed).fit_predict(X)
    assert adjusted_rand_score(y, cut) < 0.2


@settings(max_examples=25, deadline=None)
@given(n_arms=st.integers(1, 6), turns=st.floats(0.2, 3.0), seed=st.integers(0, 1000))
def test_arms_without_noise_are_one_curve_turned(n_arms, turns, seed):
    X, y = make_spirals(40 * n_arms, n_arms=n_arms, turns=turns, noise=0.0, random_state=seed)
    # On the curve, the radius alone gives the angle.
    angle = 2 * np.pi * np.hypot(*X.T) + 2 * np.pi * y / n_arms
    radius = np.hypot(*X.T)[:, None]
    np.testing.assert_allclose(
        X, radius * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-9
    )


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0.0, 1.0), n_objects=st.integers(2, 80), seed=st.integers(0, 1000))
def test_half_rings_without_noise_have_radius_one(share, n_objects, seed):
    X, y = make_half_rings(n_objects, share=share, noise=0.0, random_state=seed)
    centres = np.array([[0.0, 0.0], [1.0, 0.5]])[y]
    np.testing.assert_allclose(np.hypot(*(X - centres).T), 1.0)
    assert (np.where(y == 0, X[:, 1], 0.5 - X[:, 1]) >= -1e-12).all()
    assert 1 <= (y == 0).sum() <= n_objects - 1
    assert abs((y == 0).sum() - share * n_objects) <= 1


@settings(max_examples=20, deadline=None)
@given(
    n_clusters=st.integers(2, 6),
    n_features=st.integers(1, 5),
    spread=st.floats(0.01, 10.0),
    seed=st.integers(0, 1000),
)
def test_nearest_gaussians_are_as_far_apart_as_asked(n_clusters, n_features, spread, seed):
    X, y = make_gaussians(
        200 * n_clusters,
        n_clusters,
        n_features,
        separation=50.0,
        spread=spread,
        random_state=seed,
    )
    means = np.stack([X[y == c].mean(axis=0) for c in range(n_clusters)])
    assert pdist(means).min() / spread == pytest.approx(50.0, abs=1.0)
    deviations = np.concatenate([X[y == c] - means[c] for c in range(n_clusters)])
    assert deviations.std() == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (make_spirals, {"n_objects": 0}, "n_objects"),
        (make_spirals, {"n_objects": 2.5}, "n_objects"),
        (make_spirals, {"n_objects": 3, "n_arms": 4}, "n_arms"),
        (make_spirals, {"turns": 0}, "turns"),
        (make_spirals, {"noise": -1}, "noise"),
        (make_spirals, {"noise": float("nan")}, "noise"),
        (make_spirals, {"random_state": "zero"}, "random_state"),
        (make_half_rings, {"n_objects": 1}, "n_objects"),
        (make_half_rings, {"share": 1.5}, "share"),
        (make_gaussians, {"n_clusters": 0}, "n_clusters"),
        (make_gaussians, {"n_objects": 2, "n_clusters": 3}, "n_clusters"),
        (make_gaussians, {"n_features": 0}, "n_features"),
        (make_gaussians, {"separation": -1}, "separation"),
        (make_gaussians, {"spread": 0}, "spread"),
    ],
)
def test_parameters_are_refused_by_name(make, arguments, name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {make.__name__}"):
        make(**arguments)
