"""AutoConsensus on a sample: which numbers are tried, who is looked at, and what is told."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning

from consilience import Ensemble
from consilience.consensus import AutoConsensus, auto, autoconsensus
from consilience.consensus._clarity import Clarity
from consilience.consensus._lines import Partition
from consilience.consensus._support import Support

pytestmark = pytest.mark.filterwarnings("ignore:Fewer groups")

CLEAR = Clarity("clear", 0.01, 99, 10, 0.5, 0.6, 0.7)
MODULE = sys.modules[auto.__name__]


def support_of(n, **given):
    """Of n partitions: zeros, but for what is given."""
    names = [name for name in Support.__dataclass_fields__ if name != "one_gaussian"]
    return Support(**(dict.fromkeys(names, np.zeros(n)) | {"one_gaussian": -np.inf} | given))


@pytest.fixture
def looked(monkeypatch):
    """Every object is a point on a line; what is tried, found and judged is written down."""
    seen = SimpleNamespace(numbers=[], threads=[], judged=[], found=2, taken="support")
    seen.scenes, seen.dispatch = [], []

    def partitions(scene, numbers, n_jobs):
        seen.numbers.append(list(numbers))
        seen.threads.append(n_jobs)
        seen.scenes.append(scene)
        seen.dispatch.append(get_config()["array_api_dispatch"])
        warnings.warn("Fewer groups than were asked for.", ConvergenceWarning, stacklevel=1)
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
    autoconsensus(members, 2, random_state=0)
    assert looked.judged == []  # the rows of labels are the groups
    autoconsensus(members, 2, X=X, random_state=0)
    assert looked.judged[0][0] == 40


def test_the_sample_does_not_hang_on_the_order_of_the_objects(looked, monkeypatch):
    monkeypatch.setitem(auto.EFFORTS, "quick", auto._Effort(10, 5, 1))
    members = Ensemble([np.arange(40) % 2])
    X = np.random.default_rng(0).normal(size=(40, 2))
    order = np.random.default_rng(1).permutation(40)
    for data, of in [(X, members), (X[order], members.take(order))]:
        autoconsensus(of, X=data, effort="quick", random_state=0)
    np.testing.assert_allclose(looked.scenes[0].distances, looked.scenes[1].distances)


def test_lines_see_numpy_arrays_and_may_not_converge(looked):
    members = Ensemble([np.arange(40) % 2, np.arange(40) % 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        autoconsensus(members, X=np.arange(80.0).reshape(40, 2), random_state=0)
    assert looked.dispatch == [False]


def test_sparse_data_have_a_seed_drawn_after_the_sample(looked, monkeypatch):
    seeds = []
    monkeypatch.setattr(MODULE, "points_of", lambda X, seed: (seeds.append(seed), X)[1])
    wanted = []
    for seed in range(5):
        on_a_sample(seed=seed)
        rng = np.random.RandomState(seed)
        rng.permutation(40)
        wanted.append(rng.randint(2**31 - 1))
    assert seeds == wanted


def test_members_are_made_as_suits_the_data(monkeypatch):
    assert AutoConsensus()._default_generator() is not None
    told = lambda n, d, *, sparse: SimpleNamespace(generator=(n, d, sparse))  # noqa: E731
    monkeypatch.setattr(MODULE, "default_generator", told)
    for values, is_sparse in [(np.zeros((30, 4)), False), (sparse.csr_array((30, 4)), True)]:
        data = SimpleNamespace(shape=(30, 4), values=values)
        assert AutoConsensus()._default_generator(data) == (30, 4, is_sparse)
