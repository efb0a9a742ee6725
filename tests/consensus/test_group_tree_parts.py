"""The tree over groups, part by part: its halves, its places, and joins of equals."""

import numpy as np
import pytest
from sklearn.metrics import euclidean_distances

import consilience as cs
from consilience.consensus._group_tree import _joins, _pair_sums, _places, group_tree


def torn(seed, n=40, k=4, n_members=5):
    """Labels with -1, members with -1 and -2."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(-1, k, n - k)]).astype(np.int32)
    members = rng.integers(-2, 4, (n_members, n))
    return cs.Ensemble(list(members)), labels


def test_pairs_of_groups_are_counted_by_draws_of_members(seed):
    ensemble, labels = torn(seed)
    rng = np.random.default_rng(seed)
    draws = np.vstack([np.ones(5), rng.integers(0, 2, (3, 5)), np.zeros(5)]).astype(float)
    together, seen = _pair_sums(ensemble, labels, draws)
    for d, draw in enumerate(draws):
        used = ensemble.members[draw > 0]
        for g in range(4):
            for h in range(4):
                one, other = used[:, labels == g, None], used[:, None, labels == h]
                assert together[d, g, h] == ((one == other) & (one >= 0)).sum()
                assert seen[d, g, h] == ((one != cs.UNSEEN) & (other != cs.UNSEEN)).sum()


def brute_joins(together, seen, apart, sizes):
    """Average link from the definition: mean over pairs of objects, then distance, then order."""
    parts = [(g,) for g in range(len(sizes))]
    found = []
    while len(parts) > 1:

        def rank(pair):
            one, other = (list(part) for part in pair)
            block = np.ix_(one, other)
            weight = np.outer(sizes[one], sizes[other])
            near = together[block].sum() / max(seen[block].sum(), 1)
            return -near, (apart[block] * weight).sum() / weight.sum()

        pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]
        best = min(pairs, key=rank)  # the first of equals
        found.append((best, -rank(best)[0]))
        parts = [part for part in parts if part not in best] + [tuple(sorted(best[0] + best[1]))]
        parts.sort()
    return found


@pytest.mark.parametrize("k", [1, 2, 5, 7])
@pytest.mark.parametrize("most", [2, 9])
def test_joins_are_their_definition(k, most, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        together = rng.integers(0, most, (k, k)).astype(float)
        together += together.T
        seen = np.full((k, k), 32.0)
        seen[rng.random((k, k)) < 0.2] = 0
        seen = np.minimum(seen, seen.T)
        together[seen == 0] = 0
        # Whole numbers in powers of two: equals are equal however they are added.
        apart = rng.integers(0, 8, (k, k)).astype(float)
        apart += apart.T
        sizes = 2 ** rng.integers(0, 3, k)
        given = [array.copy() for array in (together, seen, apart)]
        found = _joins(together, seen, apart, sizes)
        wanted = brute_joins(together, seen, apart, sizes)
        assert [parts for parts, _ in found] == [parts for parts, _ in wanted]
        np.testing.assert_allclose([near for _, near in found], [near for _, near in wanted])
        for before, after in zip(given, (together, seen, apart), strict=True):
            np.testing.assert_array_equal(before, after)


def test_places_are_means_and_means_of_halves(seed):
    rng = np.random.default_rng(seed)
    labels = np.array([0, 0, 0, 0, 1, 1, -1, 2], np.int32)
    points = rng.normal(size=(8, 2)) + 5
    sizes = np.array([4, 2, 1])
    found = _places(points, labels, sizes, np.random.RandomState(3))
    assert found.shape == (51, 3, 2)
    means = np.array([points[labels == g].mean(axis=0) for g in range(3)])
    spread = np.array([points[labels == g].std(axis=0) for g in range(3)])
    np.testing.assert_allclose(found[0], means)
    drawn = np.random.RandomState(3).normal(size=(50, 3, 2))
    error = spread / np.sqrt(sizes)[:, None]
    np.testing.assert_allclose(found[1:], means + error * drawn, atol=1e-6)


def test_without_points_the_first_is_at_hand_and_then_anyone():
    found = _places(None, np.zeros(3, np.int32), np.array([1, 1, 1]), np.random.RandomState(0))
    assert found.shape == (51, 3, 1)
    assert not found[0].any()
    assert len(np.unique(found[1:])) == 150


@pytest.mark.parametrize("n_members", [1, 2, 5])
def test_stability_is_the_share_of_halves_with_the_same_parts(n_members, seed):
    ensemble, labels = torn(seed, n_members=n_members)
    points = np.random.default_rng(seed).normal(size=(40, 2)) + labels[:, None]
    rng = np.random.RandomState(seed)
    draws = np.zeros((50, n_members))
    for draw in draws:
        draw[rng.permutation(n_members)[: max(1, n_members // 2)]] = 1
    sizes = np.bincount(labels[labels >= 0])
    places = _places(points, labels, sizes, rng)
    sums = _pair_sums(ensemble, labels, np.vstack([np.ones(n_members), draws]))
    first, *others = (
        brute_joins(together, seen, euclidean_distances(means), sizes)
        for together, seen, means in zip(*sums, places, strict=True)
    )
    found = group_tree(ensemble, labels, np.random.RandomState(seed), points)
    assert [node.parts for node in found] == [parts for parts, _ in first[::-1]]
    for node, (parts, near) in zip(found, first[::-1], strict=True):
        assert node.together == pytest.approx(near)
        shares = [parts in [own for own, _ in other] for other in others]
        assert node.stability == pytest.approx(np.mean(shares))
        assert node.groups == tuple(sorted(parts[0] + parts[1]))


def test_members_that_placed_nothing_join_nothing():
    labels = np.array([0, 0, 1, 1], np.int32)
    for nothing in (cs.UNSEEN, cs.NOISE):
        ensemble = cs.Ensemble([[0, 0, 0, 0], [nothing] * 4])
        (node,) = group_tree(ensemble, labels, np.random.RandomState(0))
        assert node.parts == ((0,), (1,))
        assert node.together == (1.0 if nothing == cs.UNSEEN else 0.5)


def test_two_objects_that_one_member_saw_are_as_near_as_it_says():
    together = np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1]])
    found = _joins(together, np.ones((3, 3)), np.zeros((3, 3)), np.ones(3, int))
    assert found == [(((1,), (2,)), 1.0), (((0,), (1, 2)), 0.0)]
