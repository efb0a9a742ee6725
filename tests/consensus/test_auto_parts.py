"""The steps of AutoConsensus: what is looked at, which numbers are tried, votes and words."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience import Ensemble
from consilience.consensus import AutoConsensus, auto, autoconsensus
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


# ---- the whole ------------------------------------------------------------------------------


@pytest.fixture
def looked(monkeypatch):
    """Every object is a point on a line; what is tried, found and judged is written down."""
    seen = SimpleNamespace(numbers=[], threads=[], judged=[], found=2, taken="support")

    def partitions(scene, numbers, n_jobs):
        seen.numbers.append(list(numbers))
        seen.threads.append(n_jobs)
        ks = sorted({seen.found, 2}) if seen.found else []
        return [Partition("k-means", np.arange(scene.n_objects, dtype=np.int32) % k) for k in ks]

    def judged(points, distances, labels, agreement, *, n_objects, rng):
        assert distances.shape == (len(points), len(points))
        seen.judged.append((len(labels), agreement, n_objects))
        return CLEAR

    monkeypatch.setattr(MODULE, "partitions", partitions)
    monkeypatch.setattr(
        MODULE,
        "supports",
        lambda scene, tried: support_of(len(tried), agreement=np.ones(len(tried))),
    )
    monkeypatch.setattr(MODULE, "best_of", lambda tried, support, k: (len(tried) - 1, seen.taken))
    monkeypatch.setattr(MODULE, "judge", judged)
    return seen


def on_a_sample(n=40, k=None, X=True, most=None, objects=1000, device=None, seed=0):
    data = np.random.default_rng(0).normal(size=(n, 2)) if X is True else X
    members = Ensemble([np.arange(n) % 2, np.arange(n) % 3])
    rng = np.random.RandomState(seed)
    effort = auto._Effort(objects, 11, 1)
    return auto._on_a_sample(members, k, data, most, effort, rng, device, 5)


def test_more_numbers_are_tried_where_the_best_is_one_of_the_last(looked):
    lasts = {}
    # A quarter of 400 objects may be groups; three quarters of 30 are 22.5.
    for found, taken in [(22, "support"), (23, "support"), (23, "likelihood"), (23, "silhouette")]:
        looked.numbers.clear()
        looked.found, looked.taken = found, taken
        result = on_a_sample(n=400)
        lasts[found, taken] = [numbers[-1] for numbers in looked.numbers]
        assert len(np.unique(result.labels)) == found
    assert lasts == {
        (22, "support"): [30],
        (23, "support"): [30, 60],
        (23, "likelihood"): [30, 60],
        (23, "silhouette"): [30],
    }
    # Three quarters of 60 are 45, and of 100 75; past 100 there is no more.
    looked.taken = "support"
    for found, wanted in [(44, [30, 60]), (45, [30, 60, 100]), (99, [30, 60, 100])]:
        looked.found = found
        looked.numbers.clear()
        on_a_sample(n=400)
        assert [numbers[-1] for numbers in looked.numbers] == wanted


@pytest.mark.parametrize("given", [{"k": 3}, {"most": 30}])
def test_no_more_numbers_are_tried_than_were_asked_for(looked, given):
    looked.found = 30
    on_a_sample(n=400, **given)
    assert [numbers[-1] for numbers in looked.numbers] == [30]
    assert looked.threads == [5]


def test_a_quarter_of_the_objects_ends_the_search(looked):
    looked.found = 30
    on_a_sample(n=120)  # 30 is a quarter of 120: it might as well go on, and ends at the same
    assert [numbers[-1] for numbers in looked.numbers] == [30, 30]
    looked.numbers.clear()
    looked.found = 29
    on_a_sample(n=119)
    assert [numbers[-1] for numbers in looked.numbers] == [29]


def test_lines_that_find_more_groups_than_were_asked_for_do_not_count(looked):
    looked.found = 7
    assert len(np.unique(on_a_sample(most=7).labels)) == 7
    assert len(np.unique(on_a_sample(most=6).labels)) == 2
    assert on_a_sample(most=6).details["alternatives"][0].n_clusters == 2


def test_nothing_that_divides_is_one_group_of_so_many_objects(looked):
    looked.found = 0
    for n, X in [(40, True), (2, True), (40, np.ones((40, 2)))]:
        found = on_a_sample(n=n, X=X)
        assert found.labels.tolist() == [0] * n
        assert (found.details["n_looked_at"], found.details["line"]) == (n, None)
        assert found.details["choice"].n_clusters == 1
    assert looked.numbers == [list(range(2, 11))]
    assert on_a_sample(k=3).details["choice"] is None


def test_a_sample_is_looked_at_and_everybody_else_votes(looked):
    found = on_a_sample(n=40, objects=24)
    assert looked.judged == [(24, 1.0, 11)]
    assert found.details["n_looked_at"] == 24
    assert len(found.labels) == 40
    told = found.details
    assert (told["clarity"], told["line"], told["choice"].n_clusters) == (CLEAR, "k-means", 2)
    assert told["choice"].n_objects == 24
    assert [one.n_clusters for one in told["alternatives"]] == [2]
    assert "ran_on" not in told
    assert on_a_sample(k=2).details["choice"] is None
    pytest.importorskip("torch")
    device = on_a_sample(n=40, objects=24, device="cpu")
    assert device.details["ran_on"] == {"consensus": "cpu", "labels of all objects": "cpu"}
    np.testing.assert_array_equal(device.labels, found.labels)


def test_objects_are_looked_at_in_the_order_of_their_points(looked):
    """Groups by turns: the first column says whose turn it is."""
    X = np.random.default_rng(1).permutation(40)[:, None] @ [[1.0, -1.0]]
    for given in (X, X[::-1]):
        found = on_a_sample(X=given).labels
        np.testing.assert_array_equal(found, given[:, 0] % 2)
    ties = np.column_stack([np.zeros(40), X[:, 0]])
    np.testing.assert_array_equal(on_a_sample(X=ties).labels, X[:, 0] % 2)


def test_copies_have_the_label_of_the_first(looked):
    once = np.random.default_rng(2).normal(size=(20, 2))
    found = on_a_sample(X=np.concatenate([once, once])).labels
    np.testing.assert_array_equal(found[:20], found[20:])
    assert [size for size, *_ in looked.judged] == [20]


@pytest.mark.parametrize("k", [None, 2, 3])
def test_only_a_number_that_was_asked_for_is_missed(looked, k):
    members = Ensemble([np.arange(40) % 2, np.arange(40) % 5])
    X = np.random.default_rng(0).normal(size=(40, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = autoconsensus(members, k, X=X, effort="quick", random_state=0, n_jobs=3)
    assert len(caught) == (k == 3)
    assert (found.details["choice"] is None) == (k is not None)
    assert looked.threads == [3]
    assert looked.judged[0][2] == 200


def test_equal_labels_are_apart_only_where_data_tell_them_apart(looked):
    members = Ensemble([np.arange(40) % 2])
    X = np.random.default_rng(0).normal(size=(40, 2))
    autoconsensus(members, X=X, random_state=0)
    assert looked.judged[0][0] == 40


def test_members_are_made_as_suits_the_data():
    model = AutoConsensus()
    assert model._default_generator() is not None
    data = SimpleNamespace(shape=(30, 4), values=np.zeros((30, 4)))
    words = SimpleNamespace(shape=(30, 4), values=sparse.csr_array((30, 4)))
    found = [type(model._default_generator(one)) for one in (data, words)]
    plain = auto.default_generator(30, 4, sparse=False).generator
    other = auto.default_generator(30, 4, sparse=True).generator
    assert found == [type(plain), type(other)]
