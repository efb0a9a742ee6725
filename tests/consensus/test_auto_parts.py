"""The steps of AutoConsensus: what is looked at, which numbers are tried, votes and words."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience import Ensemble
from consilience.consensus import auto
from consilience.consensus._clarity import Clarity
from consilience.consensus._lines import CHAINS, Partition
from consilience.consensus._solve import ConsensusResult
from consilience.consensus._support import Support
from consilience.errors import ConsilienceWarning
from consilience.evidence import co_association

CLEAR = Clarity("clear", 0.01, 99, 10, 0.5, 0.6, 0.7)
MODULE = sys.modules[auto.__name__]


def support_of(n, **given):
    """Of n partitions: zeros, but for what is given."""
    names = [name for name in Support.__dataclass_fields__ if name != "one_gaussian"]
    return Support(**(dict.fromkeys(names, np.zeros(n)) | {"one_gaussian": -np.inf} | given))


# ---- numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "last", "k", "wanted"),
    [
        (100, 5, None, [2, 3, 4, 5]),
        (16, 30, None, [2, 3, 4]),
        (15, 30, None, [2, 3]),
        (4, 30, None, [2]),
        (3, 1, None, [2]),
        (2, 30, None, []),
        (16, 30, 9, [2, 3, 4, 9]),
        (16, 30, 16, [2, 3, 4]),
        (16, 30, 15, [2, 3, 4, 15]),
        (16, 30, 1, [1, 2, 3, 4]),
    ],
)
def test_numbers_reach_to_a_quarter_of_the_objects_and_to_what_is_given(n, last, k, wanted):
    assert auto._numbers(n, last, k) == wanted


# ---- what is looked at ----------------------------------------------------------------------


def test_points_lie_around_0_with_mean_variance_1():
    X = np.random.default_rng(0).normal([3.0, -50.0, 0.0], [1.0, 4.0, 0.1], (30, 3))
    wanted = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean())
    np.testing.assert_allclose(auto.points_of(X, 0), wanted, atol=1e-12)
    np.testing.assert_array_equal(auto.points_of(np.zeros((3, 2)), 0), np.zeros((3, 2)))
    np.testing.assert_array_equal(auto.points_of(np.full((3, 2), 7.0), 0), np.zeros((3, 2)))
    for unit in (1e-200, 1e-3, 1e200):  # whose squares are no numbers
        np.testing.assert_allclose(auto.points_of(X * unit, 0), wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("shape", "most"), [((80, 60), 50), ((80, 51), 50), ((80, 50), 49), ((30, 60), 29), ((5, 2), 1)]
)
def test_sparse_data_have_fifty_components_or_one_less_than_rows_or_columns(
    shape, most, monkeypatch
):
    asked = []

    def few(X, wanted, seed):
        asked.append((X.shape, wanted, seed))
        return X.toarray()[:, :wanted]

    monkeypatch.setattr(MODULE, "few_columns", few)
    X = np.random.default_rng(0).random(shape)
    found = auto.points_of(sparse.csr_array(X), 3)
    assert asked == [(shape, most, 3)]
    np.testing.assert_allclose(found, auto.points_of(X[:, :most], 0), atol=1e-12)


@pytest.mark.parametrize("shape", [(6, 1), (1, 6)])
def test_one_sparse_row_or_column_is_taken_as_it_is(shape, monkeypatch):
    monkeypatch.setattr(MODULE, "few_columns", None)
    X = np.arange(6.0).reshape(shape)
    np.testing.assert_allclose(auto.points_of(sparse.csr_array(X), 0), auto.points_of(X, 0))


@pytest.mark.parametrize("n", [2, 8, 11, 12, 25])
def test_a_scene_joins_everybody_with_the_ten_nearest(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    members = Ensemble([np.arange(n) % 2])
    scene = auto.scene_of(members, X, auto.EFFORTS["thorough"])
    distances = cdist(X, X)
    np.testing.assert_allclose(scene.distances, distances, atol=1e-7)
    wanted = np.zeros((n, n))
    for i in range(n):
        wanted[i, np.argsort(distances[i])[1:11]] = 1
    np.testing.assert_array_equal(scene.graph.toarray(), np.maximum(wanted, wanted.T))
    assert scene.graph.nnz == np.maximum(wanted, wanted.T).sum()
    assert (scene.points is X, scene.ensemble is members, scene.n_starts) == (True, True, 20)


def test_without_data_a_scene_is_the_co_association():
    members = Ensemble([[0, 0, 1, -1], [0, 1, 1, -1]])
    scene = auto.scene_of(members, None, auto.EFFORTS["quick"])
    wanted = 1.0 - co_association(members)
    np.fill_diagonal(wanted, 0.0)  # noise is with nobody, but with itself
    np.testing.assert_array_equal(scene.distances, wanted)
    assert scene.points is None


def test_copies_are_looked_at_once():
    points = np.random.default_rng(0).normal(size=(20, 2))
    first, which = auto._each_once(points[np.r_[:20, :20]], 40)
    assert len(first) == 20
    np.testing.assert_array_equal(points[np.r_[:20, :20]][first][which], points[np.r_[:20, :20]])
    for given in (points, None):
        first, which = auto._each_once(given, 20)
        assert first.tolist() == which.tolist() == list(range(20))


# ---- what is said ---------------------------------------------------------------------------


@pytest.mark.parametrize(("found", "said"), [(2, True), (3, False), (4, True)])
def test_another_number_than_was_asked_for_is_said(found, said):
    result = ConsensusResult(np.arange(12) % found, details={"n_looked_at": 7})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        auto._say_if_another(3, result)
    assert len(caught) == said
    if said:
        assert issubclass(caught[0].category, ConsilienceWarning)
        words = f"many among the 7 objects that it looks at; {found} groups are the nearest"
        assert words in str(caught[0].message)


@pytest.mark.parametrize("k", [None, 3])
def test_what_nothing_divides_is_one_group(k):
    found = auto._undivided(5, k, 4)
    assert (found.labels.tolist(), found.labels.dtype) == ([0] * 5, np.int32)
    told = found.details
    assert told["clarity"] == Clarity("none", None, 0, 4, 0.0, 0.0, 0.0)
    assert (told["alternatives"], told["line"], told["n_looked_at"]) == ((), None, 4)
    assert (told["choice"] is None) == (k is not None)
    if k is None:
        assert (told["choice"].n_clusters, told["choice"].n_objects) == (1, 4)


def test_who_is_alone_agrees_with_nobody():
    support = support_of(2, agreement=np.array([0.3, 0.8]), loose_agreement=np.array([0.5, 0.1]))
    one, two = Ensemble([[0, 1]]), Ensemble([[0, 1], [0, 1]])
    for points, members, wanted in [
        (None, one, [0.0, 0.0]),
        (None, two, [0.5, 0.8]),
        (np.ones((2, 1)), one, [0.5, 0.8]),
    ]:
        scene = SimpleNamespace(points=points, ensemble=members)
        assert [auto._agreement(scene, support, place) for place in (0, 1)] == wanted


# ---- alternatives ---------------------------------------------------------------------------

SIX = {
    2: np.repeat([0, 1], 3),
    3: np.repeat([0, 1, 2], 2),
    4: np.array([0, 0, 1, 1, 2, 3]),
}


def alternatives(lines, numbers, best, **given):
    tried = [Partition(line, SIX[k]) for line, k in zip(lines, numbers, strict=True)]
    given = {name: np.array(values, float) for name, values in given.items()}
    return auto._alternatives(tried, support_of(len(tried), **given), best)


def test_each_number_has_its_best_division_and_the_taken_one_is_first():
    found = alternatives(
        ["k-means", "Ward", "average link", "k-means", "k-means"],
        [2, 3, 3, 3, 4],
        4,
        agreement=[0.5, 0.2, 0.9, 0.3, 0.1],
        data_agreement=[0.5, 0.2, 5.0, 0.7, 0.1],
        silhouette=[0.2, 0.4, 0.0, 0.2, 0.6],
        modularity=[0.4, 0.2, 0.0, 0.2, 0.0],
        sparsity=[1, 2, 3, 4, 5],
        icl=[np.inf, 7.0, np.inf, 8.0, 9.0],
    )
    told = [(one.n_clusters, one.line, one.sparsity, one.icl, one.sizes) for one in found]
    assert told == [
        (4, "k-means", 5.0, 9.0, (2, 2, 1, 1)),
        (3, "average link", 3.0, 7.0, (2, 2, 2)),
        (2, "k-means", 1.0, None, (3, 3)),
    ]
    # Support is that of the lines of the data: agreement and half of both others.
    np.testing.assert_allclose([one.support for one in found], [0.4, 0.9, 0.8])
    assert [one.agreement for one in found] == [0.1, 0.9, 0.5]
    assert [one.silhouette for one in found] == [0.6, 0.0, 0.2]
    assert [one.modularity for one in found] == [0.0, 0.0, 0.4]
    assert found[0].difference == ""
    assert found[1].difference == "joins the groups of 1 and 1"


def test_numbers_of_members_only_and_chains_are_no_alternatives():
    found = alternatives(
        ["k-means", "average link", CHAINS, "k-means"],
        [2, 4, 3, 3],
        0,
        agreement=[0.5, 0.9, 0.9, 0.3],
        data_agreement=[0.5, 0.9, 0.9, 0.3],
    )
    assert [(one.n_clusters, one.line) for one in found] == [(2, "k-means"), (3, "k-means")]


def test_support_of_what_only_members_come_to_is_their_own():
    found = alternatives(
        ["k-means", "average link"], [2, 4], 1, agreement=[0.5, 0.9], data_agreement=[0.6, 0.0]
    )
    assert [(one.n_clusters, one.support) for one in found] == [(4, 0.9), (2, 0.6)]
