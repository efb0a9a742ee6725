"""Objects on a plane: where they are, which colour, how faint, and how many."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.decomposition import PCA

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.plot import embedded_objects, plot_embedding


def data(seed, n=60, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.arange(1, d + 1)


def test_points_are_the_first_two_components(seed):
    X = data(seed)
    before = X.copy()
    found = embedded_objects(X)
    model = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(found.points), np.abs(model.transform(X)), atol=1e-9)
    share = round(100 * model.explained_variance_ratio_[0])
    assert found.names[0] == f"component 1 ({share} % of the variance)"
    np.testing.assert_array_equal(X, before)


def test_sparse_data_give_the_same_points(seed):
    X = data(seed) * (data(seed + 1) > 0)
    dense, found = embedded_objects(X), embedded_objects(sparse.csr_array(X))
    np.testing.assert_allclose(np.abs(found.points), np.abs(dense.points), atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 4), (2, 1), (2, 4), (3, 3), (4, 2)])
def test_few_objects_or_features(plt, seed, kind, n, d):
    X = kind(data(seed, n, d))
    assert embedded_objects(X).points.shape == (n, 2)
    assert np.isfinite(embedded_objects(X).points).all()
    plot_embedding(X, np.arange(n))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_large_and_small_numbers_are_drawn_alike(seed, scale):
    X = np.random.default_rng(seed).normal(size=(30, 4))
    points = embedded_objects(scale * X).points / scale
    np.testing.assert_allclose(points, embedded_objects(X).points, rtol=1e-6, atol=1e-9)


def test_two_features_are_drawn_as_they_are(plt, seed):
    X = data(seed, d=2)
    ax = plot_embedding(X)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), X)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")


def test_equal_objects_and_one_feature(plt):
    assert not embedded_objects(np.ones((5, 3))).points.any()
    ax = plot_embedding(np.arange(6.0)[:, None])
    assert ax.collections[0].get_offsets()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert not ax.get_yticks().size


def test_colours_follow_labels_and_noise_is_grey_below(plt, seed):
    X = data(seed)
    labels = np.random.default_rng(seed).integers(-1, 3, 60)
    ax = plot_embedding(X, labels)
    below, above = ax.collections
    assert len(below.get_offsets()) == (labels == -1).sum()
    (grey,) = {to_hex(colour) for colour in below.get_facecolors()}
    assert grey[1:3] == grey[3:5] == grey[5:7]
    colours = np.array([to_hex(colour) for colour in above.get_facecolors()])
    placed = labels[labels >= 0]
    for cluster in range(3):
        assert len(set(colours[placed == cluster])) == 1
    assert len(set(colours)) == 3
    sizes = [f"{c}: {(labels == c).sum()}" for c in range(3)]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"none: {(labels == -1).sum()}", *sizes]


def test_labels_may_be_names(plt, seed):
    ax = plot_embedding(data(seed, 4), ["oak", "ash", "oak", None])
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["none: 1", "oak: 2", "ash: 1"]


def test_doubtful_objects_are_faint(plt, seed):
    sure = np.linspace(0, 1, 60)
    sure[3] = np.nan
    ax = plot_embedding(data(seed), np.zeros(60, int), confidence=sure)
    opacity = ax.collections[0].get_facecolors()[:, 3]
    assert (np.diff(np.delete(opacity, 3)) > 0).all()
    assert opacity[3] == opacity[0] > 0
    assert opacity[-1] == 1


def test_many_objects_are_thinned_and_the_title_says_so(plt, seed):
    X = data(seed, 500)
    labels = np.repeat([0, 1, 2], [440, 55, 5])
    ax = plot_embedding(X, labels, max_points=100)
    assert ax.get_title() == "100 of 500 objects shown"
    found = embedded_objects(X, labels, max_points=100)
    assert np.bincount(labels[found.objects]).tolist() == [88, 11, 1]
    full = embedded_objects(X)
    np.testing.assert_allclose(found.points, full.points[found.objects])
    np.testing.assert_allclose(ax.collections[0].get_offsets(), found.points)
    # The legend counts all objects, not only those shown.
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["0: 440", "1: 55", "2: 5"]


def test_many_clusters_have_no_legend(plt, seed):
    assert plot_embedding(data(seed), np.arange(60)).get_legend() is None
    assert plot_embedding(data(seed), np.arange(60) % 17).get_legend() is None
    assert len(plot_embedding(data(seed), np.arange(60) % 16).get_legend().get_texts()) == 16


def test_bad_input(seed):
    X = data(seed)
    with pytest.raises(InvalidInputError, match="one label for each of the 60 objects"):
        plot_embedding(X, [0, 1])
    with pytest.raises(InvalidInputError, match=r"X of plot_embedding cannot be drawn.*NaN"):
        plot_embedding(np.full((3, 3), np.nan))
    with pytest.raises(InvalidInputError, match="cannot be drawn"):
        plot_embedding(X[:, 0])
    with pytest.raises(InvalidInputError, match="confidence of plot_embedding must hold"):
        plot_embedding(X, confidence=[0.5])
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        plot_embedding(X, confidence=np.full(60, 1.5))
    with pytest.raises(InvalidParameterError, match="'max_points' parameter of plot_embedding"):
        embedded_objects(X, max_points=0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [0.0, 1.0, -1e300])
@pytest.mark.parametrize("small", [1.0, 1e-200, 5e-324])
def test_small_differences_beside_a_large_constant_end_in_no_warning(kind, constant, small):
    from consilience.plot.embedding import _on_a_plane

    X = np.random.default_rng(0).normal(size=(20, 5)) * small
    X[:, 4] = constant
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        points, _ = _on_a_plane(kind(X), np.arange(20), 0)
    assert points.shape == (20, 2)
    assert np.isfinite(points).all()
    if constant == 1.0 and small > 1e-300:
        alone, _ = _on_a_plane(X[:, :4] / small, np.arange(20), 0)
        np.testing.assert_allclose(np.abs(points / small), np.abs(alone), atol=1e-9)
