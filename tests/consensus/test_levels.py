"""The tree over the number of groups: joins by definition, and splits that are there or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score as ari

import consilience as cs
from consilience.consensus import Levels, Split, levels
from consilience.consensus._group_tree import group_tree
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import co_association


def two_levels(seed, between=12.0, within=4.0, size=15):
    """Three far groups of three near ones each."""
    rng = np.random.default_rng(seed)
    far = between * np.eye(3)
    near = np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1]]) * within
    sub = np.repeat(np.arange(9), size)
    X = far[sub // 3] + near[sub % 3] + 0.5 * rng.normal(size=(9 * size, 3))
    return X, sub // 3, sub


# ---- groups of groups ---------------------------------------------------------------------


def brute_tree(ensemble, labels):
    """Average link by the co-association of all pairs of objects, from the definition."""
    together = co_association(ensemble, missing="pair")
    parts = [(g,) for g in range(labels.max() + 1)]
    seen = (ensemble.members != cs.UNSEEN).astype(float)
    both = seen.T @ seen
    found = []
    while len(parts) > 1:
        pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]

        def near(pair):
            one, other = (np.isin(labels, part) for part in pair)
            block, weight = together[np.ix_(one, other)], both[np.ix_(one, other)]
            return (block * weight).sum() / weight.sum() if weight.sum() else 0.0

        best = max(pairs, key=near)
        found.append((best, near(best)))
        parts = [part for part in parts if part not in best] + [tuple(sorted(best[0] + best[1]))]
        parts.sort()
    return found[::-1]


@given(st.integers(0, 2**16))
def test_groups_are_joined_by_mean_co_association(seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(5), rng.integers(0, 5, 25)]).astype(np.int32)
    members = np.where(rng.random((7, 30)) < 0.6, labels, rng.integers(-2, 5, (7, 30)))
    ensemble = cs.Ensemble(list(members))
    found = group_tree(ensemble, labels, np.random.RandomState(0))
    wanted = brute_tree(ensemble, labels)
    np.testing.assert_allclose([node.together for node in found], [near for _, near in wanted])
    assert [set(node.parts) for node in found] == [set(parts) for parts, _ in wanted]


def test_members_that_agree_give_a_stable_tree():
    labels = np.repeat(np.arange(4), 10).astype(np.int32)
    # Half of the members join 0 with 1, all join 2 with 3.
    members = [np.array([0, 0, 2, 2])[labels]] * 10 + [np.array([0, 1, 2, 2])[labels]] * 10
    nodes = group_tree(cs.Ensemble(members), labels, np.random.RandomState(0))
    assert [node.groups for node in nodes] == [(0, 1, 2, 3), (0, 1), (2, 3)]
    assert all(node.stability == 1.0 for node in nodes)
    random = np.random.default_rng(0).integers(0, 4, (20, 4))
    nodes = group_tree(
        cs.Ensemble([row[labels] for row in random]), labels, np.random.RandomState(0)
    )
    assert min(node.stability for node in nodes) < 0.8


def test_groups_that_no_member_joins_are_joined_by_their_distance():
    """Fine members part all groups; who is nearer to whom is in the data only."""
    rng = np.random.default_rng(0)
    places = np.array([[0, 0], [40, 0], [0, 5], [40, 5], [0, 10], [40, 10.0]])
    labels = np.repeat(np.arange(6), 20).astype(np.int32)
    points = places[labels] + rng.normal(size=(120, 2))
    members = cs.Ensemble([labels, 2 * labels + rng.integers(0, 2, 120)] * 5)
    root, *others = group_tree(members, labels, np.random.RandomState(0), points)
    assert root.parts == ((0, 2, 4), (1, 3, 5))
    assert root.stability == 1.0
    assert {node.stability < 1.0 for node in others} == {True}  # 0, 2, 4 are equally spaced
    without = group_tree(members, labels, np.random.RandomState(0))
    assert max(node.stability for node in without[:-1]) < 0.5  # a toss, and called one


# ---- both levels, and none ----------------------------------------------------------------


@pytest.mark.parametrize("start", ["coarse", "fine"])
def test_planted_groups_are_found_at_both_levels(start):
    X, top, sub = two_levels(0)
    labels = {"coarse": top, "fine": sub}[start]
    ensemble = cs.generate.KMeansEnsemble(30, n_clusters=(9, 20), random_state=0).generate(X)
    found = levels(ensemble, labels, X=X, random_state=0)
    assert ari(found.at(3), top) == 1.0
    assert ari(found.finest, sub) > 0.95
    above = [split for split in found.splits if split.level is not None]
    assert [split.level for split in above] == list(range(2, labels.max() + 2))
    assert all(split.significant for split in above)
    assert all(sum(split.sizes) == sum(map(len, split.members)) for split in found.splits)
    if start == "fine":
        assert ari(found.coarsest, sub) == 1.0
        assert not [split for split in found.splits if split.level is None]


def test_groups_apart_are_apart_whichever_would_be_joined_first():
    """Members that toss a coin for who is joined with whom say nothing against the groups."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    X = 12 * np.eye(3)[labels] + rng.normal(size=(120, 3))
    joined = [np.array(names)[labels] for names in ([0, 0, 1], [0, 1, 1], [0, 1, 0])]
    found = levels(cs.Ensemble(joined * 10), labels, X=X, deeper=False, random_state=0)
    assert min(split.stability for split in found.splits) < 0.7
    assert [split.significant for split in found.splits] == [True, True]


def test_noise_has_no_significant_split():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    ensemble = cs.generate.KMeansEnsemble(20, random_state=0).generate(X)
    labels = cs.consensus.eac(ensemble, 4).labels
    found = levels(ensemble, labels, X=X, random_state=0)
    assert not any(split.significant for split in found.splits)
    assert found.coarsest.max() == 0
    # All at once are not clear: no split is tested, so that there is one chance to be wrong.
    assert found.clarity.verdict != "clear"
    assert all(split.p_value is None for split in found.splits)
    assert str(found).startswith("Not tested one by one. No clear structure")


def test_levels_are_nested():
    X, _, sub = two_levels(1, size=12)
    ensemble = cs.generate.KMeansEnsemble(20, n_clusters=(9, 20), random_state=0).generate(X)
    labels = np.where(np.arange(len(sub)) == 5, -1, sub)
    found = levels(ensemble, labels, random_state=0)
    finer = found.at(9)
    assert ari(finer[labels >= 0], labels[labels >= 0]) == 1.0
    for k in range(8, 0, -1):
        coarser = found.at(k)
        assert coarser[5] == -1
        assert set(coarser[labels >= 0]) == set(range(k))
        assert all(len(set(coarser[finer == g])) == 1 for g in range(k + 1))
        finer = coarser


def test_without_data_nothing_is_tested():
    _, _, sub = two_levels(1, size=5)
    found = levels(cs.Ensemble([sub, sub // 3]), sub)
    assert all(split.significant is None for split in found.splits)
    assert all(split.verdict is None for split in found.splits)
    assert found.finest.tolist() == sub.tolist()
    frame = found.to_pandas()
    assert frame["level"].tolist() == list(range(2, 10))


def test_the_same_seed_says_the_same():
    X, top, _ = two_levels(2, size=15)
    ensemble = cs.generate.KMeansEnsemble(20, random_state=0).generate(X)
    one, two = (levels(ensemble, top, X=X, deeper=False, random_state=3) for _ in range(2))
    assert str(one) == str(two)
    order = np.random.default_rng(0).permutation(len(X))
    other = levels(ensemble.take(order), top[order], X=X[order], deeper=False, random_state=3)
    assert [split.parts for split in other.splits] == [split.parts for split in one.splits]


def test_one_group_has_no_level_above():
    X, _, _ = two_levels(0, size=3)
    ensemble = cs.generate.KMeansEnsemble(5, random_state=0).generate(X)
    found = levels(ensemble, np.zeros(27, int), X=X, random_state=0)
    assert not found.splits  # 27 objects are too few to be divided
    assert str(found) == "One group, and nothing divides it."
    assert levels(ensemble, np.full(27, -1), X=X).splits == ()


def test_bad_arguments_are_refused():
    ensemble = cs.Ensemble([[0, 0, 1]])
    with pytest.raises(InvalidInputError, match="one whole number for each of the 3"):
        levels(ensemble, [0, 1])
    for gap in ([0, 0, 2], [1, 1, 2], [0, 1, 2**40]):
        with pytest.raises(InvalidInputError, match="without a gap"):
            levels(ensemble, gap)
    with pytest.raises(InvalidInputError, match="X has 2 rows, the ensemble 3"):
        levels(ensemble, [0, 0, 1], X=np.ones((2, 1)))
    with pytest.raises(InvalidParameterError, match="'ensemble'"):
        levels([[0, 0, 1]], [0, 0, 1])
    found = levels(ensemble, [0, 0, 1])
    assert isinstance(found, Levels)
    assert isinstance(found.splits[0], Split)
    for wrong in (0, 3, True, 1.0):
        with pytest.raises(InvalidParameterError, match="at least 1 and at most 2"):
            found.at(wrong)
    np.testing.assert_array_equal(found.at(np.int64(2)), found.at(2))
