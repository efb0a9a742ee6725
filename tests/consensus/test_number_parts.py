"""The steps of choosing a number: what is tried, what is drawn, and who is asked with what."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus.number import (
    _checked,
    _from_data,
    _from_members,
    _lifetimes,
    _nothing,
    _numbers,
    _Task,
    choose_n_clusters,
)
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

# A function of the same name may hide the module.
MODULE = sys.modules[choose_n_clusters.__module__]
SEEDS = np.arange(100, 114)


def task(tested=(2, 3), n_jobs=1):
    return _Task(np.array(tested), 7, SEEDS, n_jobs)


# ---- which numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k_max", "n", "last"),
    [
        (None, 7, None),
        (None, 8, 2),
        (None, 23, 2),
        (None, 24, 3),
        (None, 119, 14),
        (None, 120, 15),
        (None, 2000, 15),
        (5, 20, 5),
        (6, 23, 5),
        (6, 24, 6),
        (40, 400, 40),
        (2, 7, None),
    ],
)
def test_numbers_reach_to_an_eighth_or_as_far_as_was_asked_to_a_quarter(k_max, n, last):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        found = _numbers(k_max, n)
    assert found.tolist() == list(range(2, (last or 1) + 1))


@pytest.mark.parametrize(
    ("k_max", "n", "warned"), [(5, 20, 0), (6, 20, 1), (3, 8, 1), (3, 7, 0), (None, 20, 0)]
)
def test_only_more_than_a_quarter_is_warned_of_where_there_are_numbers(k_max, n, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _numbers(k_max, n)
    assert len(caught) == warned
    for one in caught:
        assert issubclass(one.category, ConsilienceWarning)
        assert f"at most {n // 4} clusters" in str(one.message)


# ---- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("k_max", 1, 2),
        ("n_resamples", 1, 2),
        ("random_state", "seed", None),
        ("n_jobs", "all", 1),
    ],
)
def test_wrong_values_are_refused_by_name(name, bad, good):
    X = np.ones((3, 1))
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of choose_n_clusters"):
        choose_n_clusters(X, **{name: bad})
    assert choose_n_clusters(X, **{name: good}).n_clusters == 1


def test_data_and_members_are_of_the_same_objects_and_one_of_them_is_needed():
    X, members = np.arange(6.0).reshape(3, 2), Ensemble([[0, 0, 1]])
    assert _checked(None, members) == (None, members)
    found, made = _checked(X, [[0, 0, 1]])
    np.testing.assert_array_equal(found, X)
    assert made.labels.tolist() == members.labels.tolist()
    assert _checked(X, None)[1] is None
    with pytest.raises(InvalidInputError, match="Got neither"):
        _checked(None, None)
    with pytest.raises(InvalidParameterError, match="Pass it as ensemble"):
        _checked(members, None)
    with pytest.raises(InvalidInputError, match="3"):
        _checked(X[:2], members)


# ---- the whole ------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the data, or of the members."""
    asked = []
    monkeypatch.setattr(MODULE, "_from_data", lambda *given: asked.append(given))
    monkeypatch.setattr(MODULE, "_from_members", lambda *given: asked.append(given))
    return asked


def test_data_go_before_members_which_are_asked_alone(asked):
    X, members = np.arange(40.0)[:, None], Ensemble([np.arange(40) % 2])
    choose_n_clusters(X, ensemble=members, n_resamples=3, random_state=5, n_jobs=2)
    choose_n_clusters(ensemble=members, k_max=3, random_state=5)
    (data, beside, first, n), (alone, second, m) = asked
    assert (data is X or np.array_equal(data, X), beside, n) == (True, members, 40)
    assert (alone, m) == (members, 40)
    assert (first.tested.tolist(), first.n_resamples, first.n_jobs) == ([2, 3, 4, 5], 3, 2)
    assert (second.tested.tolist(), second.n_resamples, second.n_jobs) == ([2, 3], 20, 1)
    seeds = np.random.RandomState(5).randint(2**31 - 1, size=14)
    for one in (first, second):
        np.testing.assert_array_equal(one.seeds, seeds)


@pytest.mark.parametrize("n", [2000, 2001])
def test_two_thousand_objects_are_looked_at(asked, n):
    X, members = np.arange(float(n))[:, None], Ensemble([np.arange(n) % 7])
    choose_n_clusters(X, ensemble=members, random_state=0)
    choose_n_clusters(ensemble=members, random_state=0)
    choose_n_clusters(X, random_state=0)
    data, beside, _, of = asked[0]
    assert (len(data), beside.n_objects, of) == (2000, 2000, n)
    seed = np.random.RandomState(0).randint(2**31 - 1, size=14)[0]
    wanted = np.sort(np.random.default_rng(seed).permutation(n)[:2000])
    np.testing.assert_array_equal(data[:, 0], wanted)
    np.testing.assert_array_equal(beside.labels[:, 0], data[:, 0] % 7)
    assert (asked[1][0].n_objects, asked[1][2]) == (2000, n)
    assert asked[2][1] is None


def test_a_sample_decides_how_many_numbers_can_be_told(asked):
    with pytest.warns(ConsilienceWarning, match="at most 500 clusters"):
        choose_n_clusters(np.arange(3000.0)[:, None], k_max=600, random_state=0)
    assert asked[0][2].tested[-1] == 500


def test_few_objects_are_too_few():
    found = choose_n_clusters(np.arange(7.0)[:, None])
    said = (found.n_clusters, found.clear, found.taken, found.criteria, found.n_objects)
    assert said == (1, False, "none", (), 7)
    assert found.words == "There is no clear structure: 7 objects are too few to tell."
    assert _nothing("why", 3).words == "There is no clear structure: why."


def test_equal_objects_have_nothing_to_tell():
    found = _from_data(np.ones((20, 2)), None, task(), 25)
    assert found.words == "There is no clear structure: all objects are equal."
    assert found.n_objects == 25


# ---- from data ------------------------------------------------------------------------------


@pytest.fixture
def judged(monkeypatch):
    """What every criterion is told, by its name; axes of spread 2 and 1 for any data."""
    told = {}
    Z = np.column_stack([np.tile([2.0, -2.0], 10), np.tile([1.0, 1.0, -1.0, -1.0], 5)])

    def curves(sets, tested, n_resamples, seed, n_jobs):
        told["resample"] = (len(sets), tested.tolist(), n_resamples, seed, n_jobs)
        values = [np.array([i, -i, 10 * i]) for i in (4, 3, 9, 1, 7, 2, 5)]
        return [SimpleNamespace(strength=v, pac=v, area=v, within=v) for v in values]

    def groupless(spreads, n, seed, *, flat):
        told.setdefault("groupless", []).append((spreads.tolist(), n, seed, flat))
        return seed

    def tighter(own, others, axes, n):
        told["tighter"] = (own.tolist(), [one.tolist() for one in others], axes, n)
        return "tighter"

    def decide(criteria, n, of, notes):
        told["decide"] = (criteria, n, of, notes)
        return "decided"

    def keep(name):
        def keeping(*given):
            told[name] = given
            return name

        return keeping

    monkeypatch.setattr(MODULE, "principal", lambda X, seed: (told.update(principal=seed), Z)[1])
    monkeypatch.setattr(MODULE, "groupless", groupless)
    monkeypatch.setattr(MODULE, "resample", curves)
    monkeypatch.setattr(MODULE, "tighter_than_chance", tighter)
    monkeypatch.setattr(MODULE, "_lifetimes", lambda *given: (given[1:3], "longest"))
    for name in ("by_stability", "by_lifetime", "by_pac", "by_delta_area"):
        monkeypatch.setattr(MODULE, name, keep(name))
    monkeypatch.setattr(MODULE, "decide", decide)
    return told


def test_data_are_judged_beside_six_groupless_sets_every_other_flat(judged):
    assert _from_data("data", "members", task((2, 3, 4), 5), 60) == "decided"
    assert judged["principal"] == 101
    assert judged["groupless"] == [([2.0, 1.0], 20, 108 + i, i % 2 == 1) for i in range(6)]
    assert judged["resample"] == (7, [2, 3, 4], 7, 102, 5)
    others = [[i, -i, 10 * i] for i in (3, 9, 1, 7, 2, 5)]
    # Variances of 4 and 1: as many axes as 25 / 17.
    assert judged["tighter"] == ([4, -4, 40], others, 25 / 17, 20)
    order = ["by_stability", "by_lifetime", "by_pac", "by_delta_area"]
    assert judged["decide"] == (order, 20, 60, [])
    for name in order:
        assert judged[name][0].tolist() == [2, 3, 4]
    _, own, steadiest, chance = judged["by_stability"]
    assert (own.tolist(), steadiest.tolist(), chance) == ([4, -4, 40], [9, -1, 90], "tighter")
    assert judged["by_lifetime"][1:] == (("members", [108 + i for i in range(6)]), "longest")
    _, own, least = judged["by_pac"]
    assert (own.tolist(), least.tolist()) == ([4, -4, 40], [1, -9, 10])
    _, own, areas = judged["by_delta_area"]
    assert (own.tolist(), [one.tolist() for one in areas]) == ([4, -4, 40], others)


# ---- lifetimes ------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch):
    """Members that are made say of what; their lifetimes are what the test says they are."""
    made = []

    def like(data, seed, like=None):
        made.append((data, seed, like))
        return data

    lives = {"Z": [1.0, 2.0], "members": [3.0, 4.0], "a": [5.0, 0.0], "b": [7.0, 6.0]}
    monkeypatch.setattr(MODULE, "like_members", like)
    monkeypatch.setattr(MODULE, "tree_lifetimes", lambda one, tested: np.array(lives[one]))
    return made


def test_lifetimes_of_data_are_those_of_members_like_the_groupless_ones(drawn):
    own, longest = _lifetimes("Z", None, ["a", "b"], task())
    assert (own.tolist(), longest.tolist()) == ([1.0, 2.0], [7.0, 6.0])
    assert drawn == [("Z", 103, None), ("a", 103, None), ("b", 103, None)]


def test_lifetimes_of_members_are_their_own(drawn):
    own, longest = _lifetimes("Z", "members", ["a", "b"], task())
    assert (own.tolist(), longest.tolist()) == ([3.0, 4.0], [7.0, 6.0])
    assert drawn == [("a", 103, "members"), ("b", 103, "members")]


@pytest.mark.parametrize(
    ("labels", "agreed"),
    [
        ([[0, 1, 2, 0], [2, 1, 0, 0]], 3),
        ([[0, 1, 2, 0], [1, 1, 0, 0]], None),
        ([[0, 1, 1, 0], [-1, -1, -1, -1]], 2),
        ([[0, 1, 1, 0], [0, 0, 0, 0]], None),
        ([[0, 0, 0, 0], [0, 0, 0, 0]], None),
    ],
)
def test_members_alone_are_judged_beside_stand_ins(monkeypatch, labels, agreed):
    told = {}
    ensemble = Ensemble(labels)
    drawn = []

    def groupless(spreads, n, seed, *, flat):
        drawn.append((spreads.tolist(), n, seed, flat))
        return len(drawn)

    def like(data, seed, like):
        assert (like, seed) == (ensemble, drawn[data - 1][2])
        return data

    def lives(one, tested):
        return np.array([0.25, 0.5]) if one is ensemble else np.array([one, -one])

    def lifetime(*given):
        told["lifetime"] = given
        return "criterion"

    def decide(*given, agreed):
        return (*given, agreed)

    monkeypatch.setattr(MODULE, "groupless", groupless)
    monkeypatch.setattr(MODULE, "like_members", like)
    monkeypatch.setattr(MODULE, "tree_lifetimes", lives)
    monkeypatch.setattr(MODULE, "by_lifetime", lifetime)
    monkeypatch.setattr(MODULE, "decide", decide)
    note = "Without the data, lifetime is the only criterion that can be had."
    assert _from_members(ensemble, task(), 9) == (["criterion"], 4, 9, [note], agreed)
    shapes = [([1.0] * d, 4, flat) for d in (2, 5) for flat in (False, True)] * 3
    assert [(spreads, n, flat) for spreads, n, _, flat in drawn] == shapes
    seeds = np.random.default_rng(104).integers(2**31 - 1, size=12).tolist()
    assert [seed for *_, seed, _ in drawn] == seeds
    tested, own, longest = told["lifetime"]
    assert (tested.tolist(), own.tolist(), longest.tolist()) == ([2, 3], [0.25, 0.5], [12, -1])


def test_members_that_placed_nobody_are_asked_nothing():
    found = _from_members(Ensemble([[-1, -1], [-1, -2]]), task(), 9)
    assert found.words.endswith("no clustering put any object into a cluster.")
    assert found.n_objects == 9
