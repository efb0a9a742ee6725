"""The steps of the tree over the number of groups: who is asked, judged, corrected and named."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import get_config

from consilience import Ensemble
from consilience.consensus import Levels, Split, levels
from consilience.consensus._clarity import judge
from consilience.consensus.levels import _deeper, _in_order, _judged, _Scene, _tested, _within
from consilience.errors import ConsilienceError

# The function of the same name hides the module.
MODULE = sys.modules[levels.__module__]
# Four groups of three, noise and one that nobody saw.
LABELS = np.append(np.repeat(np.arange(4), 3), [-1, -2]).astype(np.int32)


def split(groups, parts, level, p=None, adjusted=None, verdict="clear", members=()):
    sizes = tuple(3 * len(part) for part in parts)
    return Split(groups, parts, sizes, level, 0.75, p, adjusted, verdict, tuple(members))


def between(level, *parts, adjusted=None, verdict="clear"):
    members = tuple(np.flatnonzero(np.isin(LABELS, part)) for part in parts)
    groups = tuple(sorted(parts[0] + parts[1]))
    return split(groups, parts, level, None, adjusted, verdict, members)


def inside(group, *members, adjusted=0.01, verdict="clear"):
    return split((group,), ((group,),) * len(members), None, 0.01, adjusted, verdict, members)


def tree(*splits, clarity=None):
    return Levels(LABELS, splits, clarity)


TWO = between(2, (0, 2), (1, 3), adjusted=0.05)
THREE = between(3, (1,), (3,), adjusted=0.051)
FOUR = between(4, (0,), (2,), adjusted=0.01, verdict="weak")


@pytest.mark.parametrize(
    ("n_groups", "wanted"),
    [(1, [0, 0, 0, 0]), (2, [0, 1, 0, 1]), (3, [0, 1, 0, 2]), (4, [0, 1, 2, 3])],
)
def test_a_level_has_as_many_groups_as_are_asked_for(n_groups, wanted):
    found = tree(TWO, THREE, FOUR, inside(0, np.array([0]), np.array([1, 2]))).at(n_groups)
    np.testing.assert_array_equal(found, np.append(np.repeat(wanted, 3), [-1, -2]))
    assert found.dtype == np.int32


def test_a_split_is_significant_up_to_one_in_twenty_and_where_it_is_clear():
    assert [one.significant for one in (TWO, THREE, FOUR)] == [True, False, False]
    assert between(2, (0,), (1,)).significant is None
    hardly = between(2, (0,), (1,), adjusted=0.05, verdict="none")
    assert hardly.words.endswith("hardly more than chance (p = 0.05).")


def test_a_frame_says_what_is_significant():
    pytest.importorskip("pandas")
    frame = tree(TWO, THREE, between(4, (0,), (2,))).to_pandas()
    assert frame["significant"].tolist() == [True, False, None]
    assert frame["p_adjusted"].tolist()[:2] == [0.05, 0.051]


def test_only_significant_splits_part_the_coarsest_and_make_the_finest():
    parts = inside(1, np.array([3]), np.array([4]), np.array([5]))
    unclear = inside(0, np.array([0]), np.array([1, 2]), adjusted=0.06)
    found = tree(TWO, THREE, FOUR, parts, unclear)
    assert found.coarsest.tolist() == [*np.repeat([0, 1, 0, 1], 3), -1, -2]
    assert found.finest.tolist() == [0, 0, 0, 1, 4, 5, 2, 2, 2, 3, 3, 3, -1, -2]
    assert tree(THREE).coarsest.tolist() == [0] * 12 + [-1, -2]
    assert found.labels.tolist() == LABELS.tolist()
    assert found.n_groups == 4
    assert [Levels(LABELS[start:], (), None).n_groups for start in (12, 14)] == [0, 0]


def test_words_of_a_tree():
    assert str(tree()) == "One group, and nothing divides it."
    lines = [
        "2 groups: groups 0 and 2 beside groups 1 and 3, 6 and 6 objects, stability 0.75, "
        "more than chance (p = 0.05).",
        "3 groups: group 1 beside group 3, 3 and 3 objects, stability 0.75, "
        "no more than chance (p = 0.051).",
        "4 groups: group 0 beside group 2, 3 and 3 objects, stability 0.75, "
        "hardly more than chance (p = 0.01).",
    ]
    assert str(tree(TWO, THREE, FOUR)).splitlines() == lines
    clear, weak = (SimpleNamespace(verdict=said, words="Weak.") for said in ("clear", "weak"))
    assert str(tree(TWO, THREE, FOUR, clarity=clear)).splitlines() == lines
    said = "Not tested one by one. Weak."
    assert str(tree(TWO, THREE, FOUR, clarity=weak)).splitlines() == [said, *lines]
    within = inside(2, np.array([6]), np.array([7, 8]), adjusted=None)
    wanted = "Within group 2: parts of 3 and 3 objects, stability 0.75, not tested."
    assert within.words == wanted


# ---- who is asked and judged ----------------------------------------------------------------


def scene(*, X=True, deeper=True, n=160):
    data = np.arange(2.0 * n).reshape(n, 2) if X else None
    ensemble = Ensemble([np.arange(n) % 2, np.arange(n) % 3])
    return _Scene(ensemble, np.zeros(n, np.int32), data, deeper, np.random.RandomState(0))


@pytest.fixture
def asked(monkeypatch):
    """Objects that smaller groups were looked for among: thirds, halves or one group are found."""
    asked = []

    def answer(ensemble, *, X, effort, random_state):
        assert effort == "quick"
        assert ensemble.n_objects == len(X)
        asked.append((X[:, 0] / 2).astype(int).tolist())
        clarity = SimpleNamespace(agreement=0.5, p_value=0.02, verdict="clear")
        labels = np.arange(len(X)) % (1 if len(X) % 2 else 2 if len(X) == 44 else 3)
        return SimpleNamespace(labels=labels, details={"clarity": clarity})

    monkeypatch.setattr(MODULE, "autoconsensus", answer)
    return asked


def test_within_a_group_parts_are_those_that_are_found(asked):
    objects = np.arange(10, 50)
    (found,) = _within(scene(), 7, objects)
    assert asked == [objects.tolist()]
    assert (found.groups, found.parts) == ((7,), ((7,), (7,), (7,)))
    assert [part.tolist() for part in found.members] == [objects[g::3].tolist() for g in range(3)]
    assert found.sizes == (14, 13, 13)
    told = (found.level, found.stability, found.p_value, found.p_adjusted, found.verdict)
    assert told == (None, 0.5, 0.02, None, "clear")


def test_few_objects_no_data_and_who_does_not_want_are_not_asked(asked):
    assert _within(scene(), 0, np.arange(39)) == []
    assert _within(scene(X=False), 0, np.arange(60)) == []
    assert _within(scene(deeper=False), 0, np.arange(60)) == []
    assert asked == []
    assert _within(scene(), 0, np.arange(41)) == []  # one group was found
    assert len(asked) == 1
    (halves,) = _within(scene(), 0, np.arange(44))
    assert halves.sizes == (22, 22)


def test_parts_of_parts_are_looked_at_and_theirs(asked):
    """Of 160 objects two halves, of which thirds fall apart, and theirs are too small."""
    halves = inside(5, np.arange(80), np.arange(80, 160))
    assert _deeper(scene(), halves, 3) == []
    assert asked == []
    found = _deeper(scene(), halves)
    assert [one.sizes for one in found] == [(27, 27, 26)] * 2
    assert all(one.groups == (5,) and one.significant for one in found)
    assert [one.p_adjusted for one in found] == [0.02, 0.02]


def test_of_parts_only_significant_ones_are_looked_into(asked, monkeypatch):
    monkeypatch.setattr(MODULE, "_FEWEST", 6)
    once = inside(5, np.arange(84), np.arange(84, 125))
    # 84 in thirds of 28, these in 10, 9 and 9: one more level would be the fourth.
    found = _deeper(scene(), once)
    assert [one.sizes for one in found] == [(28, 28, 28), *[(10, 9, 9)] * 3]
    assert [len(one) for one in asked] == [84, 41, 28, 28, 28]
    asked.clear()
    monkeypatch.setattr(MODULE, "_LEVEL", 0.01)
    assert _deeper(scene(), once, 1) == []
    assert [len(one) for one in asked] == [84, 41]


def adjusted_slowly(p):
    """Benjamini and Hochberg: the least share at which the split would be kept."""
    n = len(p)
    return [min(1.0, *(q * n / sum(r <= q for r in p) for q in p if q >= one)) for one in p]


@given(st.lists(st.sampled_from([0.01, 0.02, 0.03, 0.2, 0.5, 1.0]), max_size=6))
def test_values_are_corrected_for_those_beside(values):
    family = [split((0,), ((0,), (0,)), None, p) for p in values]
    found = _tested(scene(), family)
    assert [one.p_value for one in found] == values
    assert [one.p_adjusted for one in found] == pytest.approx(adjusted_slowly(values))


def test_without_data_no_value_is_corrected(monkeypatch):
    none = split((0, 1), ((0,), (1,)), 2, None, None, None)
    some = split((2, 3), ((2,), (3,)), 3, 0.01)
    assert _tested(scene(X=False), [none, some]) == [none, some]


@pytest.mark.parametrize(("p", "wanted"), [(None, 1.0), (0.3, 0.3)])
def test_a_split_is_judged_among_its_objects_whoever_would_be_joined_first(monkeypatch, p, wanted):
    asked = []

    def said(scene, labels, agreement):
        asked.append((labels.tolist(), agreement))
        return SimpleNamespace(p_value=p, verdict="weak")

    monkeypatch.setattr(MODULE, "_clarity", said)
    one = split((0, 1), ((0,), (1,)), 2, members=(np.array([3, 1]), np.array([0])))
    found = _judged(scene(n=5), one)
    assert asked == [([1, 0, -1, 0, -1], 1.0)]
    assert (found.p_value, found.verdict, found.p_adjusted) == (wanted, "weak", None)
    assert _judged(scene(X=False), one) is one


def test_clarity_is_that_of_the_judge_on_at_most_so_many_objects(monkeypatch):
    asked = []

    def judging(points, apart, labels, agreement, **how):
        asked.append((points, apart, labels, agreement, how["n_objects"]))
        return judge(points, apart, labels, agreement, **how)

    monkeypatch.setattr(MODULE, "judge", judging)
    monkeypatch.setattr(MODULE, "_LOOKED_AT", 20)
    labels = np.append(np.arange(30) % 2, [-1] * 130).astype(np.int32)
    MODULE._clarity(scene(), labels, 0.5)
    ((points, apart, some, agreement, n_objects),) = asked
    assert (len(points), n_objects, agreement) == (20, 20, 0.5)
    assert min(some) == 0
    far = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(apart, far, atol=1e-6)
    assert points.var(axis=0).mean() == pytest.approx(1.0)


def test_seeds_are_any_that_a_generator_takes(monkeypatch):
    seeds = []

    def points(X, seed):
        seeds.append(seed)
        return np.zeros(X.shape)

    def answer(*args, random_state, **_):
        seeds.append(random_state)
        return SimpleNamespace(labels=np.zeros(1, int))

    monkeypatch.setattr(MODULE, "points_of", points)
    monkeypatch.setattr(MODULE, "group_tree", lambda *_: [])
    monkeypatch.setattr(MODULE, "judge", lambda *_, **__: None)
    monkeypatch.setattr(MODULE, "autoconsensus", answer)
    at = scene()
    MODULE._tree(at)
    MODULE._clarity(at, at.labels, 1.0)
    _within(at, 0, np.arange(60))
    assert len(seeds) == 3
    assert 10**6 < min(seeds) < max(seeds) < 2**32


# ---- from the top down ----------------------------------------------------------------------


@pytest.fixture
def judged(monkeypatch):
    """Splits whose two parts are named in it are clear; the others are not."""
    clear, seen = set(), []

    def said(scene, labels, agreement):
        inside = np.unique(scene.labels[labels >= 0]).tolist()
        seen.append(tuple(inside))
        assert agreement == 1.0
        assert not get_config()["array_api_dispatch"]
        good = tuple(inside) in clear
        return SimpleNamespace(p_value=0.01 if good else 0.5, verdict="clear" if good else "none",
                               words="Said.", agreement=agreement)  # fmt: skip

    monkeypatch.setattr(MODULE, "_clarity", said)
    return clear, seen


FOURS = np.repeat(np.arange(4), 5)
# All members join 0 with 1 and 2 with 3, one of four joins all.
MEMBERS = [FOURS, FOURS // 2, FOURS // 2, np.zeros(20, int)]


def test_splits_are_tested_from_the_top_down(judged):
    clear, seen = judged
    clear |= {(0, 1, 2, 3), (2, 3)}
    X = np.random.default_rng(0).normal(size=(20, 2))
    found = levels(Ensemble(MEMBERS), FOURS, X=X, random_state=0)
    assert seen == [(0, 1, 2, 3), (0, 1, 2, 3), (0, 1), (2, 3)]
    said = {one.groups: one.significant for one in found.splits}
    assert said == {(0, 1, 2, 3): True, (0, 1): False, (2, 3): True}
    assert [one.level for one in found.splits] == [2, 3, 4]
    assert {one.groups: one.p_adjusted for one in found.splits}[2, 3] == pytest.approx(0.02)


@pytest.mark.parametrize("clear_whole", [True, False])
def test_below_what_is_not_clear_nothing_is_tested(judged, monkeypatch, clear_whole):
    clear, seen = judged
    clear |= {(0, 1), (2, 3)} | ({(0, 1, 2, 3)} if clear_whole else set())
    X = np.random.default_rng(0).normal(size=(20, 2))
    if clear_whole:  # all groups at once are, the two halves are not
        before = MODULE._clarity

        def only_once(*args):
            if seen:
                clear.discard((0, 1, 2, 3))
            return before(*args)

        monkeypatch.setattr(MODULE, "_clarity", only_once)
    found = levels(Ensemble(MEMBERS), FOURS, X=X, deeper=False, random_state=0)
    assert len(seen) == 1 + clear_whole
    assert [one.significant for one in found.splits] == [False if clear_whole else None, None, None]


def test_two_groups_at_once_are_judged_and_then_their_split(judged):
    clear, seen = judged
    clear.add((0, 1))
    halves = np.arange(20) // 10
    X = np.random.default_rng(0).normal(size=(20, 2))
    found = levels(Ensemble([halves] * 3), halves, X=X, random_state=0)
    assert seen == [(0, 1), (0, 1)]
    assert found.clarity.verdict == "clear"
    assert [one.significant for one in found.splits] == [True]


def test_one_group_is_looked_into_and_none_is_not(judged, asked, monkeypatch):
    _, seen = judged
    monkeypatch.setattr(MODULE, "group_tree", None)  # there is nothing to join
    X = np.arange(120.0).reshape(60, 2)
    ensemble = Ensemble([np.arange(60) % 2] * 2)
    (found,) = levels(ensemble, np.zeros(60, int), X=X).splits
    assert (found.groups, found.sizes, found.significant) == ((0,), (20, 20, 20), True)
    assert levels(ensemble, np.full(60, -1), X=X).splits == ()
    assert levels(ensemble, np.zeros(60, int)).splits == ()
    assert seen == []
    assert len(asked) == 1


@pytest.mark.parametrize("given", [{"deeper": 1}, {"random_state": "x"}, {"random_state": -1}])
def test_what_cannot_be_used_is_refused_by_name(given):
    with pytest.raises(ConsilienceError, match=next(iter(given))):
        levels(Ensemble([[0, 0, 1]]), [0, 0, 1], **given)


def test_numbers_are_given_in_the_order_of_first_appearance():
    found = _in_order(np.array([5, 2, 5, 9, 2]))
    assert (found.tolist(), found.dtype) == ([0, 1, 0, 2, 1], np.int32)
