"""Ways to cluster, one by one: what they are asked, what they see and where they end."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn import config_context, get_config

from consilience import Ensemble
from consilience.consensus import _lines
from consilience.consensus._lines import Partition, Scene


def scene_of(X, members=None, graph=None):
    members = np.zeros((len(X), 1), int) if members is None else np.asarray(members)
    return Scene(cdist(X, X), X, Ensemble(members), graph, 2)


def chains_of(gap, sizes=(6, 6), step=1.0):
    """Objects on a line, a step apart, with gaps between groups."""
    place = np.concatenate(
        [
            np.arange(size) * step + at
            for size, at in zip(
                sizes, np.cumsum([0, *(size - 1 + gap for size in sizes[:-1])]), strict=True
            )
        ]
    )
    return scene_of(place[:, None])


@pytest.mark.parametrize(
    ("gap", "sizes", "most", "found"),
    [
        (1.5, (6, 6), 5, [0] * 6 + [1] * 6),
        (1.49, (6, 6), 5, None),
        (9.0, (5, 6), 2, [0] * 5 + [1] * 6),
        (9.0, (4, 6), 5, None),
        (9.0, (6, 6, 6), 3, [0] * 6 + [1] * 6 + [2] * 6),
        (9.0, (6, 6, 6), 2, None),
        (9.0, (6, 144), 3, [0] * 6 + [1] * 144),
        (9.0, (6, 145), 3, None),
    ],
)
def test_chains_are_cut_where_steps_are_half_as_long_again(gap, sizes, most, found):
    said = list(_lines._by_chains(chains_of(gap, sizes), most))
    assert len(said) == (found is not None)
    if found is not None:
        assert said[0].line == _lines.CHAINS
        groups = dict.fromkeys(said[0].labels.tolist())
        assert [list(groups).index(label) for label in said[0].labels] == found
        assert said[0].n_clusters == len(sizes)


def test_copies_are_no_chains_but_their_distance_is_a_step():
    assert not list(_lines._by_chains(scene_of(np.zeros((12, 1))), 4))
    copies = scene_of(np.repeat([0.0, 1.0], 6)[:, None])
    said = list(_lines._by_chains(copies, 11))
    assert [one.n_clusters for one in said] == [2]


def test_the_finest_chains_are_taken():
    place = np.concatenate([np.arange(6.0) + at for at in (0, 8, 50, 58)])
    assert [one.n_clusters for one in _lines._by_chains(scene_of(place[:, None]), 9)] == [4]
    assert [one.n_clusters for one in _lines._by_chains(scene_of(place[:, None]), 3)] == [2]


def test_mixtures_are_tried_while_there_is_hope(monkeypatch):
    values = {2: 5.0, 3: 4.0, 4: 4.0, 5: 9.0, 6: 8.0, 7: 7.0, 8: 6.0, 9: 5.0, 10: 1.0}

    class Mixture:
        def __init__(self, k, **options):
            assert options == {
                "covariance_type": "diag", "reg_covar": 1e-3, "random_state": _lines._SEED,
            }  # fmt: skip
            self.k = k

        def fit(self, points):
            self.points = points

        def bic(self, points):
            return values[self.k]

        def predict(self, points):
            return np.full(len(points), self.k)

    monkeypatch.setattr(_lines, "GaussianMixture", Mixture)
    said = [one.labels[0] for one in _lines._by_mixture(np.zeros((3, 1)), "diag", range(2, 11))]
    # Six numbers after 3, the last that was better; 4 is no better than 3.
    assert said == [2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("shape", "columns"),
    [((140, 61), 60), ((140, 60), 60), ((100, 51), 50), ((9, 5), 4), ((9, 4), 4)],
)
def test_gaussians_are_fitted_in_few_columns(shape, columns):
    points = np.random.default_rng(0).normal(size=shape)
    found = _lines.narrow(points)
    assert found.shape == (shape[0], columns)
    assert (found is points) == (shape[1] == columns)


def test_everybody_is_a_neighbour_of_its_own_too():
    graph = sparse.csr_array(np.array([[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    normal, root = _lines._normal(graph)
    np.testing.assert_allclose(root, np.sqrt([3, 2, 2]))
    whole = graph.toarray() + np.eye(3)
    np.testing.assert_allclose(normal.toarray(), whole / np.outer(root, root))


def test_members_that_place_everybody_are_a_line():
    table = np.array([[0, 0, 0], [1, -1, 0], [1, 1, -2]])
    said = list(_lines._by_members(scene_of(np.zeros((3, 1)), table)))
    assert [(one.line, one.labels.tolist()) for one in said] == [("members", [0, 1, 1])]


def test_what_is_asked_of_lines():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(at, 0.1, (6, 2)) for at in (0, 5)])
    near = (cdist(X, X) < 2).astype(float) - np.eye(12)
    table = np.repeat([0, 1], 6)[:, None] * np.ones(3, int)
    scene = scene_of(X, table, sparse.csr_array(near))
    # Ward's tree of distances, or of the roots of what members say apart.
    apart = squareform(scene.distances, checks=False)
    for points, between in ((X, apart), (None, np.sqrt(apart))):
        one = Scene(scene.distances, points, scene.ensemble, scene.graph, 1)
        said = list(_lines._by_ward(one, range(2, 9)))
        assert [each.line for each in said] == ["Ward"] * 7
        for k, each in zip(range(2, 9), said, strict=True):
            np.testing.assert_array_equal(
                each.labels, fcluster(linkage(between, "ward"), k, "maxclust")
            )
    names = {part.line for way in _lines._ways(one, [2]) for part in way()}
    assert names == {"average link", "single link", "graph", "density", "Ward", "members"}
    said = list(_lines._by_graph(scene, [2, 11, 12]))
    assert [(each.line, each.n_clusters <= 11) for each in said] == [("graph", True)] * 2
    assert len(set(zip(said[0].labels, np.repeat([0, 1], 6), strict=True))) == 2
    for link in ("average", "single"):
        said = list(_lines._by_tree(link, scene, [2]))
        assert said[0].line == f"{link} link"
        assert said[0].labels.tolist() in ([0] * 6 + [1] * 6, [1] * 6 + [0] * 6)
    names = [list(way()) for way in _lines._ways(scene, [2])]
    names = {one.line for said in names for one in said}
    assert names == {"average link", "single link", "graph", "density", "Ward", "k-means",
                     "mixture", "chains"}  # fmt: skip


def test_lines_of_one_group_or_said_before_are_left_out(monkeypatch):
    said = [
        ("a", [5, 5, 2]),
        ("a", [0, 0, 1]),
        ("b", [1, 1, 0]),
        ("b", [3, 3, 3]),
        ("a", [0, 1, 1]),
    ]
    ways = [[Partition(line, np.array(labels, np.int32))] for line, labels in said]

    def of(scene, numbers):
        assert (scene, numbers) == ("scene", [2])
        return [partial(iter, way) for way in ways]

    monkeypatch.setattr(_lines, "_ways", of)
    found = [(one.line, one.labels.tolist()) for one in _lines.partitions("scene", [2])]
    assert found == [("a", [0, 0, 1]), ("b", [0, 0, 1]), ("a", [0, 1, 1])]


def test_lines_are_of_arrays_whatever_scikit_learn_is_set_to():
    with config_context(array_api_dispatch=True):
        assert _lines._said(lambda: iter([get_config()["array_api_dispatch"]])) == [False]


def test_the_graph_is_seen_by_walks_on_it(monkeypatch):
    """Columns are the slowest to change in a random walk; the first does not change at all."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    near = (cdist(X, X) < 1.5).astype(float) - np.eye(12)
    seen = []
    monkeypatch.setattr(
        _lines, "_kmeans", lambda points, k, _: seen.append(points) or np.arange(12) % k
    )
    list(_lines._by_graph(scene_of(X, graph=sparse.csr_array(near)), [2, 4]))
    assert [points.shape for points in seen] == [(12, 2), (12, 4)]
    walk = (near + np.eye(12)) / (near + np.eye(12)).sum(axis=1, keepdims=True)
    turned = walk @ seen[1]
    slow = np.sort(np.linalg.eigvals(walk).real)[::-1][:4]
    np.testing.assert_allclose(turned, seen[1] * slow, atol=1e-8)
    np.testing.assert_allclose(seen[1][:, 0], seen[1][0, 0])


def test_densities_leave_distances_as_they_are():
    scene = scene_of(np.random.default_rng(0).normal(size=(30, 2)))
    kept = scene.distances.copy()
    list(_lines._by_density(scene))
    np.testing.assert_array_equal(scene.distances, kept)
