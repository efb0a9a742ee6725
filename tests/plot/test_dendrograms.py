"""The dendrogram: brackets against SciPy's, colours and cut against the labels."""

import numpy as np
import pytest
from scipy.cluster import hierarchy

from consilience.consensus import EAC, eac
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels.links.trees import cut_merges
from consilience.plot import dendrogram_lines, plot_dendrogram


def tree_of(seed, n=40, link="average"):
    return hierarchy.linkage(np.random.default_rng(seed).normal(size=(n, 2)), link)


def test_all_leaves_are_scipy_s_dendrogram(seed):
    tree = tree_of(seed)
    shown = dendrogram_lines(tree, max_leaves=40)
    wanted = hierarchy.dendrogram(tree, no_plot=True)
    np.testing.assert_allclose(shown.y, wanted["dcoord"])
    np.testing.assert_allclose(shown.x, wanted["icoord"])
    assert list(shown.leaves) == wanted["ivl"]
    assert (shown.clusters == -2).all()
    assert np.isnan(shown.cut)


@pytest.mark.parametrize("link", ["average", "single"])
def test_folded_leaves_are_the_last_merges(seed, link):
    tree = tree_of(seed, link=link)
    shown = dendrogram_lines(tree, n_clusters=4, max_leaves=12)
    np.testing.assert_allclose(np.sort(shown.y.max(axis=1)), np.sort(tree[-11:, 2]))
    groups = np.bincount(cut_merges(tree, 12))
    sizes = sorted(int(leaf.strip("()")) if "(" in leaf else 1 for leaf in shown.leaves)
    assert sizes == sorted(groups.tolist())
    wanted = hierarchy.dendrogram(tree, 12, "lastp", no_plot=True)["ivl"]
    assert sorted(shown.leaves) == sorted(wanted)


def test_the_cut_divides_the_tree_into_the_clusters(seed):
    tree = tree_of(seed)
    for k in (2, 5, 40):
        shown = dendrogram_lines(tree, n_clusters=k, max_leaves=40)
        assert (tree[:, 2] > shown.cut).sum() == k - 1
    assert np.isnan(dendrogram_lines(tree, n_clusters=1).cut)


def test_brackets_have_the_cluster_of_their_objects(seed):
    tree = tree_of(seed)
    labels = cut_merges(tree, 5)
    shown = dendrogram_lines(tree, n_clusters=5, max_leaves=40)
    objects = [int(leaf) for leaf in shown.leaves]
    at = {5 + 10 * place: labels[i] for place, i in enumerate(objects)}
    for x, y, cluster in zip(shown.x, shown.y, shown.clusters, strict=True):
        below = y.max() < shown.cut
        assert (cluster >= 0) == below
        if y[0] == 0 and below:
            assert at[x[0]] == cluster


def test_labels_that_are_no_cut_have_no_line(seed):
    tree = tree_of(seed)
    labels = np.random.default_rng(seed).integers(0, 3, 40)
    assert np.isnan(dendrogram_lines(tree, labels).cut)


def test_estimator_and_result_bring_their_clusters(plt, three_groups):
    ensemble, _ = three_groups
    model = EAC(3).fit(ensemble=ensemble)
    shown = dendrogram_lines(model)
    assert (model.linkage_[:, 2] > shown.cut).sum() == 2
    again = dendrogram_lines(eac(ensemble, 3))
    assert again.cut == shown.cut
    ax = plot_dendrogram(model)
    drawn = ax.collections[0]
    assert len(drawn.get_segments()) == len(shown.y)
    line = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [part.get_ydata()[0] for part in line] == [shown.cut]
    assert len({tuple(colour) for colour in drawn.get_colors()}) <= 4
    assert ax.get_title() == "last 39 of 59 merges"


def test_objects_that_nobody_placed_are_groups_of_their_own():
    members = [[0, 0, 1, 1, -1], [0, 0, 1, 1, -1], [0, 1, 1, 1, -1]]
    found = eac(Ensemble(members), 2)
    shown = dendrogram_lines(found)
    assert found.labels.tolist() == [0, 0, 1, 1, -1]
    assert (found.linkage[:, 2] > shown.cut).sum() == 2


def chain(n):
    """A tree that takes in one object after the other."""
    inner = np.r_[0, np.arange(n, 2 * n - 2)]
    return np.column_stack([inner, np.arange(1, n), np.arange(1, n) / n, np.arange(2, n + 1)])


@pytest.mark.parametrize(("n", "degrees"), [(50, 0), (51, 90), (60, 90)])
def test_names_that_have_no_room_are_turned(plt, n, degrees):
    """50 numbers have 90 digits."""
    shown = plot_dendrogram(chain(n), max_leaves=n).get_xticklabels()
    assert sorted(int(text.get_text()) for text in shown) == list(range(n))
    assert {text.get_rotation() for text in shown} == {degrees}


def test_more_leaves_have_no_names(plt):
    assert not plot_dendrogram(chain(61), max_leaves=61).get_xticklabels()


def test_a_chain_of_many_leaves(plt):
    ax = plot_dendrogram(chain(3000), n_clusters=2, max_leaves=500)
    assert len(ax.collections[0].get_segments()) == 499
    assert not ax.get_xticklabels()


def test_two_objects(plt):
    ax = plot_dendrogram([[0, 1, 0.5, 2]], n_clusters=2)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1"]
    assert ax.texts[0].get_text() == "cut at 0.25"
    plot_dendrogram([[0, 1, 0.0, 2]])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.ones((3, 3)), r"ndarray of shape \(3, 3\)"),
        ([[0, 1, np.nan, 2]], "not finite"),
        ([[0, 1, -0.5, 2]], "negative"),
        ([[0, 2, 0.5, 2]], "does not exist yet"),
        ([[0, 1, 0.5, 2], [0, 2, 0.6, 2]], "merged twice"),
        ("tree", "str of shape"),
        (EAC(2), "EAC of shape"),
    ],
)
def test_bad_linkage(bad, words):
    with pytest.raises(InvalidInputError, match=f"linkage matrix in SciPy's format.*{words}"):
        dendrogram_lines(bad)


def test_bad_parameters(seed):
    tree = tree_of(seed, 5)
    with pytest.raises(InvalidParameterError, match="'max_leaves' parameter of plot_dendrogram"):
        dendrogram_lines(tree, max_leaves=1)
    with pytest.raises(InvalidParameterError, match="at most the number of objects"):
        dendrogram_lines(tree, n_clusters=6)
    with pytest.raises(InvalidInputError, match="each of the 5 objects"):
        dendrogram_lines(tree, [0, 1])
