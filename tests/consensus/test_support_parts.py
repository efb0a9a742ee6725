"""What speaks for partitions, part by part: borders, lines, columns of few values."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, silhouette_score

from consilience import Ensemble
from consilience.consensus import _atoms, _support
from consilience.consensus._lines import Partition, Scene


def scene_of(X, members=None, graph=None):
    members = np.zeros((len(X), 1), int) if members is None else np.asarray(members)
    return Scene(cdist(X, X), X, Ensemble(members), graph, 2)


@pytest.mark.parametrize("n", [2, 5, 8, 9, 20])
def test_reachability_is_its_definition(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    distances = cdist(X, X)
    far, core = _support.reach(distances)
    wanted = [sorted(row)[min(7, n - 1)] for row in distances.tolist()]
    np.testing.assert_allclose(core, wanted)
    for i in range(n):
        for j in range(n):
            assert far[i, j] == max(distances[i, j], core[i], core[j])


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_copies_are_no_denser_than_a_thousandth_of_what_is_usual(unit):
    place = unit * np.array([0.0] * 9 + list(range(100, 110)))
    distances = abs(place[:, None] - place)
    _, core = _support.reach(distances)
    others = [sorted(row)[7] for row in distances[9:].tolist()]
    np.testing.assert_allclose(core[:9], 1e-3 * np.median(others))
    np.testing.assert_allclose(core[9:], others)
    # Where there are copies only, nothing is usual.
    np.testing.assert_allclose(_support.reach(np.zeros((3, 3)))[1], 1e-3)


def test_a_border_is_that_of_two_in_a_hundred():
    values = np.random.default_rng(0).permutation(101.0 - np.arange(101))
    assert _support._at(values, 0.02) == 3.0
    assert _support._at(values, 0.5) == 51.0
    assert _support._at(np.array([7.0]), 0.02) == 7.0
    assert _support._at(np.array([2.0, 1.0, 3.0, 4.0]), 0.5) == 2.0


def borders_of(sizes, ratios):
    """Groups of these sizes, as far from others as ``ratios`` times their inner distance of 1."""
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    # The distance from one group to the others is its own where all others have less.
    far = np.repeat(ratios, sizes)[:, None] * np.ones(len(labels))
    return _support.border_sparsity(labels, far, np.ones(len(labels)))


def test_no_group_counts_for_more_than_a_bound():
    found = borders_of([4, 6], [np.exp(3.0), np.exp(-2.0)])
    assert found.mean == pytest.approx(0.4 * 3.0 - 0.6 * 2.0)
    assert found.capped == pytest.approx(0.4 * 0.7 - 0.6 * 0.5)
    found = borders_of([4, 6], [np.exp(0.6), np.exp(-0.4)])
    assert found.mean == found.capped == pytest.approx(0.4 * 0.6 - 0.6 * 0.4)


@pytest.mark.parametrize(
    ("sizes", "counted"),
    [
        ([4, 6], [0, 1]),
        ([3, 6], []),  # a group of three is strays, and one alone has no border
        ([3, 4, 6], [1, 2]),
        ([5, 120, 125], [0, 1, 2]),  # two in a hundred of all
        ([5, 120, 126], [1, 2]),
    ],
)
def test_strays_have_no_border(sizes, counted):
    found = borders_of(sizes, [np.e] * len(sizes))
    share = sum(sizes[g] for g in counted) / sum(sizes)
    assert found.mean == pytest.approx(share)
    assert found.capped == pytest.approx(0.7 * share)


def test_strays_are_no_border_of_others():
    labels = np.repeat([0, 1, 2], [4, 4, 1]).astype(np.int32)
    place = np.array([0.0, 1, 2, 3, 20, 21, 22, 23, 4])
    far = abs(place[:, None] - place)
    found = _support.border_sparsity(labels, far, np.ones(9))
    # From 3 to 20, not to the stray at 4.
    assert found.mean == pytest.approx(8 / 9 * np.log(17))


def test_others_are_the_best_of_every_other_line_that_was_asked():
    rng = np.random.default_rng(0)
    agreement = rng.random((5, 5))
    lines = np.array(["a", "b", "a", "c", "b"])
    for asked in (("a", "b"), ("a", "b", "c", "nobody"), ("c",), ("nobody",)):
        wanted = []
        for i, own in enumerate(lines):
            best = [
                max(agreement[i, j] for j in range(5) if lines[j] == line)
                for line in asked
                if line != own and line in lines
            ]
            wanted.append(np.mean(best) if best else 0.0)
        np.testing.assert_allclose(_support._of_others(agreement, lines, asked), wanted)


def test_what_speaks_for_partitions_is_asked_of_the_lines_it_is_named_after(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2))
    near = sparse.coo_array((cdist(X, X) < 1).astype(float) - np.eye(24))
    scene = scene_of(X, graph=near)
    lines = ("k-means", "graph", "density", "single link", "Ward", "mixture", "chains", "members")
    found = [Partition(line, (rng.permutation(24) % 3).astype(np.int32)) for line in lines]
    support = _support.supports(scene, found)
    pairs = np.array(
        [[adjusted_rand_score(one.labels, other.labels) for other in found] for one in found]
    )
    of_data = ("k-means", "Ward", "graph", "mixture", "density")
    asked = {
        "agreement": tuple(line for line in lines if line != "chains"),
        "data_agreement": of_data,
        "loose_agreement": ("graph", "single link", "density"),
        "round_agreement": ("k-means", "Ward", "mixture"),
        "graph_agreement": ("graph",),
    }
    for name, names in asked.items():
        for i, own in enumerate(lines):
            others = [pairs[i, lines.index(line)] for line in names if line != own]
            wanted = np.mean(others) if others else 0.0
            assert getattr(support, name)[i] == pytest.approx(wanted)
    far, core = _support.reach(scene.distances)
    for i, one in enumerate(found):
        assert support.silhouette[i] == pytest.approx(silhouette_score(X, one.labels))
        assert support.modularity[i] == _support._modularity(near, one.labels)
        borders = _support.border_sparsity(one.labels, far, core)
        assert (support.sparsity[i], support.capped[i]) == (borders.mean, borders.capped)
    likely = _support._likelihoods(scene, found)
    np.testing.assert_array_equal(support.icl, likely[0])
    assert support.one_gaussian == likely[1]


def test_a_group_of_one_has_no_silhouette(seed):
    X = np.random.default_rng(seed).normal(size=(9, 2))
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 3, 3], np.int32)
    found = _support._silhouette(cdist(X, X), labels)
    assert found == pytest.approx(silhouette_score(X, labels))
    assert _support._silhouette(np.zeros((4, 4)), np.array([0, 0, 1, 1], np.int32)) == 0.0


def test_partitions_into_singles_or_into_one_agree_with_themselves_only():
    each, one = np.arange(4), np.zeros(4, int)
    np.testing.assert_array_equal(_support.agreements([each, one]), np.eye(2))
    np.testing.assert_array_equal(_support.agreements([np.zeros(1, int)]), [[1.0]])


def test_modularity_of_a_graph_by_hand():
    # Two triangles and one edge between them.
    edges = np.array([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    graph = sparse.coo_array((np.ones(14), (rows, columns)), (6, 6))
    labels = np.repeat([0, 1], 3).astype(np.int32)
    assert _support._modularity(graph, labels) == pytest.approx(12 / 14 - 0.5)
    assert _support._modularity(graph, np.zeros(6, np.int32)) == pytest.approx(0.0)


def test_likelihoods_are_of_lines_that_see_round_groups(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    X[15:] += 9
    labels = np.repeat([0, 1], 15).astype(np.int32)
    lines = ("k-means", "graph", "Ward", "density", "mixture", "average link")
    found, one = _support._likelihoods(scene_of(X), [Partition(line, labels) for line in lines])
    finite = np.isfinite(found).tolist()
    assert finite == [True, False, True, False, True, False]
    assert np.isfinite(one)
    assert found[0] == found[2] < one
    for atomic in (None, np.round(X)):
        scene = SimpleNamespace(points=atomic)
        found, one = _support._likelihoods(scene, [Partition("k-means", labels)])
        assert found.tolist() == [np.inf]
        assert one == -np.inf


@pytest.mark.parametrize(
    ("counts", "has"),
    [
        ([1] * 8, False),
        ([2] + [1] * 8, True),  # nine values
        ([2] + [1] * 9, True),  # ten
        ([2] + [1] * 10, False),
        ([3] + [1] * 12, True),  # a fifth of all
        ([3] + [1] * 13, False),
        ([2] * 15, False),
    ],
)
def test_few_values_or_a_heavy_one_are_atoms(counts, has):
    assert _atoms.has_atoms(np.repeat(np.arange(len(counts)) * 1.5, counts)) == has


def test_columns_of_one_category_belong_together():
    rng = np.random.default_rng(0)
    one, two = rng.permutation(np.arange(24) % 3), rng.permutation(np.arange(24) % 2)
    normal, few = rng.normal(size=24), np.arange(24) % 4
    table = np.column_stack([normal, np.eye(3)[one], normal, few, np.eye(2)[two]])
    assert [s.tolist() for s in _atoms.sources(table)] == [[1, 2, 3], [5], [6, 7]]
    # Values of a category may be any two numbers; none may be missing, and nobody has two.
    scaled = table * 3 - 1
    assert [s.tolist() for s in _atoms.sources(scaled)] == [[1, 2, 3], [5], [6, 7]]
    missing = np.delete(table, 3, axis=1)
    assert [s.tolist() for s in _atoms.sources(missing)] == [[1], [2], [4], [5, 6]]
    double = table.copy()
    double[:, 2] = np.maximum(double[:, 2], double[:, 1])
    assert [s.tolist() for s in _atoms.sources(double)] == [[1], [2, 3], [5], [6, 7]]
    # Not all values of a category are in the table.
    assert [s.tolist() for s in _atoms.sources(np.eye(3)[one][:, :2])] == [[0], [1]]
    # A constant is no value of a category.
    constant = np.column_stack([np.ones(24), table[:, 1:4]])
    assert [s.tolist() for s in _atoms.sources(constant)] == [[0], [1, 2, 3]]
    assert _atoms.sources(normal[:, None]) == []
    assert [s.tolist() for s in _atoms.sources(np.eye(2))] == [[0, 1]]


@pytest.mark.parametrize(
    ("n_values", "n_columns", "n_distinct", "n", "looked_at"),
    [
        (11, 1, 11, 14, True),
        (10, 1, 10, 14, False),  # so few rows may each be a group
        (12, 1, 12, 15, True),  # a fifth are copies
        (12, 1, 12, 14, False),
        (6, 2, 12, 24, False),  # so few values in each column are equal by chance
        (7, 2, 12, 24, True),
    ],
)
def test_copies_are_looked_at_once(n_values, n_columns, n_distinct, n, looked_at):
    columns = [np.arange(n_distinct) % n_values]
    if n_columns == 2:
        columns.append(np.arange(n_distinct) // n_values)
    points = np.column_stack(columns).astype(float)[np.arange(n) % n_distinct]
    found = _atoms.distinct(points)
    assert (found is not None) == looked_at
    if found is not None:
        first, which = found
        assert len(first) == n_distinct
        np.testing.assert_array_equal(points[first][which], points)
        assert sorted(first.tolist()) == list(range(n_distinct))


def test_what_groups_say_is_the_share_of_the_variance_between_them(seed):
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(12, 3)) + 5, np.arange(12, dtype=np.int32) % 3
    within = sum(
        ((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in range(3)
    )
    whole = ((points - points.mean(axis=0)) ** 2).sum()
    assert _atoms.told(points, labels) == pytest.approx(1 - within / whole)
    assert _atoms.told(np.ones((12, 2)), labels) == 0.0


def test_each_source_gets_an_order_of_its_own():
    points = np.column_stack([np.arange(50.0), np.arange(50.0) + 100, np.arange(50.0) + 200])
    table = np.zeros((50, 3))
    atoms = [np.array([0, 2])]
    found = _atoms.permuted(table, points, atoms, np.random.RandomState(0))
    assert sorted(found[:, 0]) == points[:, 0].tolist()
    assert found[:, 0].tolist() != points[:, 0].tolist()
    np.testing.assert_array_equal(found[:, 2], found[:, 0] + 200)
    assert not found[:, 1].any()
    assert not table.any()
