"""The steps of the consensus that listens to what is known, each against its definition."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import known as module
from consilience.consensus._lines import Partition
from consilience.consensus.known import (
    Knowledge,
    _candidates,
    _heard,
    _learned,
    _repaired,
    informed,
    knowledge_of,
)
from consilience.evidence import confidence

seeds = st.integers(0, 2**31)
NO_PAIRS = np.empty((0, 2), np.int64)


def some_knowledge(rng, n=8):
    """Pairs that agree with groups nobody tells, and a few of these."""
    truth = rng.integers(0, 3, n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, 7))])
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    partial = np.where(rng.random(n) < rng.choice([0.0, 0.5]), truth, -1)
    return Knowledge(n, pairs[same], pairs[~same], partial)


# ---- what is known --------------------------------------------------------------------------


@given(seeds)
def test_pairs_are_those_told_and_all_of_known_groups(seed):
    known = some_knowledge(np.random.default_rng(seed))
    together, apart = (list(map(tuple, pairs)) for pairs in (known.must, known.cannot))
    for i, j in combinations(np.flatnonzero(known.partial >= 0), 2):
        (together if known.partial[i] == known.partial[j] else apart).append((i, j))
    assert [list(map(tuple, pairs)) for pairs in known.pairs] == [together, apart]
    told = {i for pair in (*known.must.tolist(), *known.cannot.tolist()) for i in pair}
    assert known.objects.tolist() == sorted(told | {*np.flatnonzero(known.partial >= 0)})


@pytest.mark.parametrize(("n", "all_of_them"), [(60, True), (61, False)])
def test_of_many_known_groups_pairs_are_drawn(n, all_of_them):
    partial = np.append(np.arange(n) % 2, [-1] * 5)
    known = Knowledge(n + 5, NO_PAIRS, np.array([[0, 1]]), partial)
    together, apart = known.pairs
    assert apart[0].tolist() == [0, 1]
    if all_of_them:
        assert (len(together), len(apart)) == (2 * 435, 900 + 1)
        return
    # Of 8,000 drawn nearly half are of either kind; the same ones always.
    drawn = np.random.default_rng(0)
    drawn = np.stack([drawn.choice(np.arange(n), 8000) for _ in range(2)], axis=1)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    same = drawn[:, 0] % 2 == drawn[:, 1] % 2
    np.testing.assert_array_equal(together, drawn[same][:2000])
    np.testing.assert_array_equal(apart[1:], drawn[~same][:2000])


def test_all_pairs_of_one_kind_are_drawn_where_there_are_few():
    known = Knowledge(90, NO_PAIRS, NO_PAIRS, np.arange(90) % 30)
    together, apart = known.pairs
    # A thirtieth of 8,000, less the objects drawn twice, another ninetieth.
    assert 120 <= len(together) <= 240
    assert len(apart) == 2000
    assert (together[:, 0] % 30 == together[:, 1] % 30).all()
    assert (together[:, 0] != together[:, 1]).all()


@given(seeds)
def test_respect_is_the_share_of_pairs_seen_that_are_as_they_should_be(seed):
    rng = np.random.default_rng(seed)
    known = some_knowledge(rng)
    labels = rng.integers(-2, 3, 8)
    shares = []
    for pairs, wanted in zip(known.pairs, (True, False), strict=True):
        seen = [(i, j) for i, j in pairs if labels[i] >= 0 and labels[j] >= 0]
        right = sum((labels[i] == labels[j]) == wanted for i, j in seen)
        shares += [(right + 1) / (len(seen) + 2)] if len(pairs) else []
    assert known.respect(labels) == pytest.approx(np.mean(shares) if shares else 0.5)


@given(seeds)
def test_linked_objects_go_where_most_of_them_are(seed):
    rng = np.random.default_rng(seed)
    known = some_knowledge(rng)
    labels = rng.integers(-2, 3, 8).astype(np.int32)
    before = labels.copy()
    wanted = labels.copy()
    for part in range(known.components.max() + 1):
        its = np.flatnonzero(known.components == part)
        votes = [int((before[its] == group).sum()) for group in range(3)]
        if len(its) > 1 and max(votes):
            wanted[its] = votes.index(max(votes))
    np.testing.assert_array_equal(known.merged(labels), wanted)
    np.testing.assert_array_equal(labels, before)


def test_labels_neither_respect_nor_break_what_nobody_knows():
    known = Knowledge(4, NO_PAIRS, NO_PAIRS, np.array([-1, 0, -1, -1]))
    assert known.respect(np.arange(4)) == 0.5
    assert known.objects.tolist() == [1]


def test_violations_name_the_pair_and_what_is_broken():
    known = Knowledge(6, NO_PAIRS, np.array([[4, 0], [1, 2], [3, 5]]), np.full(6, -1))
    found = known.violations(np.array([0, 1, 0, -1, 0, -1]))
    assert [(one.first, one.second, one.kind) for one in found] == [(4, 0, "cannot_link")]


# ---- who is heard, and what is looked at -----------------------------------------------------


@given(ensembles(min_members=1, max_members=9, min_objects=4, max_objects=4), seeds)
def test_heard_are_members_of_the_usual_respect_or_more(ensemble, seed):
    known = some_knowledge(np.random.default_rng(seed), 4)
    respect = [known.respect(labels) for labels in ensemble.members]
    kept = [m for m, value in enumerate(respect) if value >= np.median(respect)]
    seen = (ensemble.members[kept] >= 0).any(axis=0).all()
    if len(kept) < 4 or not seen:
        kept = list(range(ensemble.n_members))
    np.testing.assert_array_equal(_heard(ensemble, known).members, ensemble.members[kept])


def test_four_members_are_enough_to_be_heard_alone():
    right, wrong = [0, 0, 1, 1], [0, 1, 1, 0]
    known = knowledge_of(4, [(0, 1)])
    assert _heard(Ensemble([right] * 4 + [wrong] * 3), known).n_members == 4
    assert _heard(Ensemble([right] * 3 + [wrong] * 2), known).n_members == 5
    hidden = [0, 0, 1, -2]
    assert _heard(Ensemble([hidden] * 4 + [wrong] * 3), known).n_members == 7


@given(seeds, st.integers(1, 6))
def test_in_the_space_learned_differences_of_linked_objects_are_as_long_in_all_directions(seed, m):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)) * [1.0, 3.0, 10.0]
    links = np.array([rng.choice(12, 2, replace=False) for _ in range(m)])
    within = np.zeros((3, 3))
    for i, j in links:
        apart = points[i] - points[j]
        within += np.outer(apart, apart) / 2 / m
    within = m / (3 + m) * within + 3 / (3 + m) * np.diag(points.var(axis=0))
    found = _learned(points, links)
    wanted = cdist(points, points, "mahalanobis", VI=np.linalg.inv(within))
    distances = cdist(found, found)
    np.testing.assert_allclose(distances / distances.max(), wanted / wanted.max(), atol=1e-9)
    assert found.var(axis=0).mean() == pytest.approx(1.0)


def test_a_direction_without_differences_is_no_longer_than_its_floor():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1e-8]])
    found = _learned(points, np.array([[0, 1], [1, 2]]))
    # Its variance is 1e-16 of the other's, and counts as 1e-9: so its spread is 10^-3.5 as large.
    spread = found.std(axis=0)
    own = 0.5 * points[:, 0].var() + 0.5 * 0.5
    wanted = points[:, 1].std() / np.sqrt(1e-9 * own) / (points[:, 0].std() / np.sqrt(own))
    assert min(spread) / max(spread) == pytest.approx(wanted)


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the lines, which answer with a partition for each number and for 8."""
    asked = []

    def said(scene, numbers):
        asked.append((scene.points, list(numbers)))
        return [Partition("Ward", np.arange(40, dtype=np.int32) % k) for k in (*numbers, 8)]

    def scene_of(ensemble, points, how):
        return SimpleNamespace(points=points, distances=ensemble.n_clusters - 1)

    monkeypatch.setattr(module, "partitions", said)
    monkeypatch.setattr(module, "scene_of", scene_of)
    monkeypatch.setattr(module, "supports", lambda scene, candidates: candidates)
    monkeypatch.setattr(module, "whole_score", lambda candidates: [one.line for one in candidates])
    return asked


def candidates_of(n, most=None, k=None, *, X=None, must=None, some=None, labels=None):
    ensemble = Ensemble([np.arange(n) % 2 if labels is None else labels])
    known = knowledge_of(90, must or [])
    some = np.arange(n) if some is None else np.asarray(some)
    return _candidates(ensemble, known, some, X, most, k, None)


@pytest.mark.parametrize(
    ("n", "most", "k", "numbers"),
    [
        (20, None, None, [2, 3, 4, 5]),  # as many as a fourth of the objects
        (19, None, None, [2, 3, 4]),
        (80, None, None, [*range(2, 16)]),
        (80, 18, None, [*range(2, 19)]),
        (80, 3, None, [2, 3]),
        (80, 1, None, [2]),
        (20, 3, 9, [2, 3, 9]),
        (20, None, 20, [2, 3, 4, 5]),  # as many groups as objects say nothing
        (20, None, 19, [2, 3, 4, 5, 19]),
        (3, None, None, [2]),
    ],
)
def test_numbers_looked_for(asked, n, most, k, numbers):
    found, support = candidates_of(n, most, k)
    assert asked == [(None, numbers)]
    wanted = [*numbers, 8]
    if most is not None and k is None:  # a line may say more than it was asked
        wanted = [one for one in wanted if one <= max(numbers)]
    assert [one.n_clusters for one in found] == wanted
    assert support == ["Ward"] * len(wanted)


def test_nothing_is_looked_for_among_two_objects_or_where_all_are_alike(asked):
    for found, support in (candidates_of(2), candidates_of(9, labels=np.zeros(9, int))):
        assert found == []
        assert len(support) == 0
    assert asked == []


def test_three_links_between_objects_looked_at_are_a_space(asked):
    X = np.random.default_rng(0).normal(size=(90, 2))
    some = np.arange(50, 90)
    three = [(50, 51), (60, 70), (80, 89)]
    others = [(0, 1), (1, 50), (89, 2)]
    found, _ = candidates_of(40, 2, X=X, must=[*three, *others], some=some)
    plain, learned = (points for points, _ in asked)
    np.testing.assert_allclose(plain, module.points_of(X[some], 0))
    np.testing.assert_allclose(learned, _learned(plain, np.array(three) - 50))
    assert [one.n_clusters for one in found] == [2, 2]
    asked.clear()
    candidates_of(40, 2, X=X, must=[*three[:2], *others], some=some)
    candidates_of(40, 2, must=three, some=some)
    assert [points is None for points, _ in asked] == [False, True]


def test_a_sparse_table_is_looked_at_alike_whatever_the_seed(asked):
    X = sparse.random_array((90, 60), density=0.2, rng=0, format="csr")
    candidates_of(90, 2, X=X)
    np.testing.assert_array_equal(asked[0][0], module.points_of(X, 0))
    assert (asked[0][0] != module.points_of(X, 1)).any()


# ---- what is taken ---------------------------------------------------------------------------

SIX = Ensemble([[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]])


@pytest.fixture
def offer(monkeypatch):
    """Puts partitions and their support in place of those that the lines would say."""
    asked = []

    def offered(candidates, support=None):
        found = [Partition(str(at), np.array(one, np.int32)) for at, one in enumerate(candidates)]
        worth = np.zeros(len(found)) if support is None else np.array(support, float)

        def answer(*args):
            asked.append(args)
            return found, worth

        monkeypatch.setattr(module, "_candidates", answer)
        return asked

    return offered


HALVES, THIRDS = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("support", "line"), [([0.0, 0.66], "0"), ([0.0, 0.67], "1")])
def test_a_sixth_more_respect_counts_as_two_thirds_of_support(offer, support, line):
    known = knowledge_of(6, cannot_link=[(2, 3), (0, 5), (1, 4), (0, 4)])
    offer([HALVES, THIRDS], support)
    details = informed(SIX, known).details
    # Of four pairs, and two more of which one is right, one keeps five and the other four.
    assert details == {"line": line, "respect": pytest.approx([5 / 6, 4 / 6][int(line)])}


@pytest.mark.parametrize(("k", "line"), [(None, "2"), (1, "0"), (2, "0"), (3, "2"), (6, "2")])
def test_of_those_nearest_to_the_number_wanted_the_best_is_taken(offer, k, line):
    known = knowledge_of(6, must_link=[(0, 1)])
    asked = offer([HALVES, THIRDS, [0, 0, 1, 1, 1, 2]], [0.1, 0.2, 0.3])
    found = informed(SIX, known, k, max_clusters=5)
    assert found.details["line"] == line
    heard, told, some, X, most, wanted, _ = asked[0]
    assert (heard.n_objects, told, X, most, wanted) == (6, known, None, 5, k)
    assert some.tolist() == list(range(6))


def test_links_are_kept_and_groups_numbered_as_they_appear(offer):
    offer([[0, 1, 1, 0, 2, 2]])
    found = informed(SIX, knowledge_of(6, must_link=[(0, 4), (4, 5), (1, 2)]))
    assert found.labels.tolist() == [0, 1, 1, 2, 0, 0]
    assert (found.labels.dtype, found.n_clusters) == (np.int32, 3)
    offer([])
    assert informed(SIX, knowledge_of(6, [(0, 4)])).labels.tolist() == [0] * 6


@pytest.mark.parametrize("seed", range(5))
def test_half_of_the_objects_looked_at_are_known_and_the_rest_are_any(offer, monkeypatch, seed):
    monkeypatch.setitem(module.EFFORTS, "quick", module.EFFORTS["quick"].__class__(10, 0, 0))
    ensemble = Ensemble([np.arange(30) % 3] * 2)
    asked = offer([np.arange(10) % 3])
    for n_known in (4, 14):
        known = knowledge_of(30, partial_labels=dict.fromkeys(range(n_known), "a"))
        informed(ensemble, known, effort="quick", random_state=seed)
        heard, _, some, *_ = asked[-1]
        assert len(set(some.tolist())) == heard.n_objects == 10
        assert some.tolist() == sorted(some.tolist())
        assert (some < n_known).sum() >= min(n_known, 5)
        np.testing.assert_array_equal(heard.members[0], ensemble.members[0][some])


def repaired_slowly(ensemble, known, labels):
    """One pair after the other: who is less sure goes first, alone, and to nobody's rival."""
    sure, labels = confidence(ensemble, labels), labels.copy()
    broken = [(i, j) for i, j in known.cannot if labels[i] == labels[j] >= 0]
    for i, j in broken:
        for mover in (i, j) if sure.confidence[i] <= sure.confidence[j] else (j, i):
            rivals = {*known.cannot[(known.cannot == mover).any(axis=1)].ravel()} - {mover}
            group = sure.runner_up[mover]
            taken = group in {labels[rival] for rival in rivals}
            linked = (known.components == known.components[mover]).sum() > 1
            if labels[i] == labels[j] and group >= 0 and not taken and not linked:
                labels[mover] = group
                break
    return labels


@given(ensembles(min_objects=8, max_objects=8, min_members=3), seeds)
def test_who_breaks_a_cannot_link_goes_to_the_next_group(ensemble, seed):
    rng = np.random.default_rng(seed)
    known = some_knowledge(rng)
    more = np.array([rng.choice(8, 2, replace=False) for _ in range(4)])
    apart = known.components[more[:, 0]] != known.components[more[:, 1]]
    known = Knowledge(8, known.must, np.concatenate([known.cannot, more[apart]]), known.partial)
    labels = rng.integers(-1, 3, 8).astype(np.int32)
    before = labels.copy()
    found = _repaired(ensemble, known, labels)
    np.testing.assert_array_equal(found, repaired_slowly(ensemble, known, labels))
    np.testing.assert_array_equal(labels, before)


def test_who_goes_and_who_stays():
    # Object 2 is torn, 3 is sure of the second group.
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    labels = np.array([0, 0, 1, 1, 1, 1], np.int32)

    def after(cannot, must=()):
        return _repaired(ensemble, knowledge_of(6, list(must), cannot), labels).tolist()

    assert after([(3, 2)]) == after([(2, 3)]) == [0, 0, 0, 1, 1, 1]
    assert after([(2, 3), (2, 0)]) == [0, 0, 1, 1, 1, 1]  # there is its rival, and 3 has no other
    assert after([(2, 3)], [(2, 5)]) == [0, 0, 1, 1, 1, 1]  # it may not leave what it is linked to
    assert after([(4, 2), (2, 5)]) == [0, 0, 0, 1, 1, 1]  # one move mends both


def test_one_of_a_pair_goes_and_nobody_whose_pair_is_mended():
    """Object 2 is torn between the first two groups, 4, still less sure, between the last two."""
    labels = np.array([0, 0, 1, 1, 1, 1, 2, 2], np.int32)
    ensemble = Ensemble([labels, [0, 0, 0, 1, 2, 1, 2, 2], [0, 0, 1, 1, 2, 1, 2, 2]])

    def after(*cannot):
        return _repaired(ensemble, knowledge_of(8, None, cannot), labels).tolist()

    assert after((2, 4)) == [0, 0, 1, 1, 2, 1, 2, 2]
    assert after((2, 3), (2, 4)) == [0, 0, 0, 1, 1, 1, 2, 2]
