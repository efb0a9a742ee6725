"""Curves over numbers of clusters, part by part: axes, halves, what lasts, members alike."""

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

from consilience import Ensemble
from consilience.consensus import _number_curves
from consilience.consensus._number_curves import (
    groupless,
    like_members,
    mean_strength,
    principal,
    range_lengths,
    resample,
    tree_lifetimes,
)
from consilience.consensus.accumulation import eac
from consilience.generate import KMeansEnsemble


def axes_of(X):
    """Scores along the axes of centred rows, of unit spread in all."""
    centred = X - X.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    scores = left * spread
    return scores / scores.std()


@pytest.mark.parametrize("unit", [1e-200, 1.0, -1.0, 1e200])
@pytest.mark.parametrize("place", [0.0, 5.0, -5.0])
def test_axes_are_those_of_any_unit(unit, place):
    X = np.random.default_rng(0).normal(size=(20, 3)) * [9.0, 3.0, 1.0] + place
    found = principal(unit * X, 0)
    np.testing.assert_allclose(abs(found), abs(axes_of(X)), rtol=1e-6, atol=1e-9)
    assert found.flags.c_contiguous


def test_no_more_than_fifty_axes_and_none_that_is_flat():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60))
    assert principal(X, 0).shape == (80, 50)
    sides = np.linalg.qr(rng.normal(size=(40, 3)) - rng.normal(size=(40, 3)).mean(axis=0))[0]
    sides = np.linalg.qr(sides - sides.mean(axis=0))[0]
    for third, kept in ((0.5e-9, 2), (4e-9, 3)):
        assert principal(sides * [1.0, 0.5, third], 0).shape == (40, kept)
    assert principal(np.zeros((4, 3)), 0).shape == (4, 0)


@pytest.mark.parametrize(("columns", "kept"), [(1, 1), (2, 1), (3, 2), (4, 3), (70, 50)])
def test_sparse_rows_keep_all_longest_axes_but_one(columns, kept):
    X = np.random.default_rng(0).normal(size=(90, columns)) * np.arange(1, columns + 1) + 1
    found = principal(sparse.csr_array(X), 0)
    assert found.shape == (90, kept)
    if 1 < columns < 5:
        _, _, axes = np.linalg.svd(X, full_matrices=False)
        wanted = axes_of(X @ axes[:kept].T)
        np.testing.assert_allclose(abs(found), abs(wanted), rtol=1e-4, atol=1e-6)


def test_the_longest_axes_of_large_data_are_found_without_the_others(monkeypatch):
    asked = []

    def found(X, n_axes, *, random_state):
        asked.append((X.shape, n_axes, random_state))
        return np.linalg.svd(X, full_matrices=False)

    monkeypatch.setattr(_number_curves, "randomized_svd", found)
    monkeypatch.setattr(_number_curves, "_EXACT_AXES", 5)
    rng = np.random.default_rng(0)
    principal(rng.normal(size=(9, 5)), 3)
    assert asked == []
    principal(rng.normal(size=(9, 6)), 3)
    assert asked == [((9, 6), 50, 3)]


def test_data_without_groups_are_drawn_anew_by_each_seed():
    spreads = np.array([3.0, 1.0])
    for flat in (False, True):
        one, other = (groupless(spreads, 500, seed, flat=flat) for seed in (0, 1))
        assert one.shape == (500, 2)
        assert not np.isin(one, other).any()
    assert (abs(one) <= np.sqrt(3) * spreads).all()
    assert (abs(one).max(axis=0) > 1.7 * spreads).all()


@pytest.mark.parametrize("n", [30, 31])
def test_curves_are_their_definition(n):
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(n, 2)) + 8 * np.eye(3, 2)[np.arange(n) % 3]
    Z -= Z.mean(axis=0)
    tested = np.array([2, 3, 5])
    found = resample([Z, 2 * Z], tested, 7, 11, 1)
    draws = np.random.default_rng(11)
    halves = [draws.permutation(n)[: (n + 1) // 2] for _ in range(7)]
    for at, k in enumerate(tested):
        members = []
        for half in halves:
            tree = hierarchy.linkage(pdist(Z[half]), "ward")
            cut = hierarchy.fcluster(tree, k, "maxclust")
            starts = np.array([Z[half][cut == c].mean(axis=0) for c in range(1, k + 1)])
            members.append(KMeans(k, init=starts, n_init=1).fit(Z[half]).predict(Z))
        members = np.array(members)
        joined = (members[:, :, None] == members[:, None]).mean(axis=0)
        joined = joined[np.triu_indices(n, 1)]
        within = [
            sum(((Z[own == c] - Z[own == c].mean(axis=0)) ** 2).sum() for c in np.unique(own))
            for own in members[:5]
        ]
        for curves in found:  # no unit matters
            assert curves.pac[at] == pytest.approx(((joined > 0.1) & (joined <= 0.9)).mean())
            assert curves.area[at] == pytest.approx(1 - joined.mean())
            assert curves.strength[at] == pytest.approx(mean_strength(members.astype(np.int8)))
            assert curves.within[at] == pytest.approx(np.mean(within) / (Z**2).sum())


def test_nothing_lies_within_clusters_of_one():
    for seed in range(20):
        Z = np.random.default_rng(seed).normal(size=(12, 3))
        Z -= Z.mean(axis=0)
        within = _number_curves._within(Z, np.arange(12, dtype=np.int32))
        assert within == pytest.approx(0, abs=1e-12)
        assert within >= 0
        assert _number_curves._within(Z, np.zeros(12, np.int32)) == pytest.approx(1)


def test_a_member_alone_predicts_nothing():
    assert mean_strength(np.array([[0, 0, 1, 1]], np.int8)) == 0.0
    assert mean_strength(np.array([[0, 0], [0, 0]], np.int8)) == 1.0
    assert mean_strength(np.array([[0, 0, 1], [0, 0, 1]], np.int8)) == 0.0


@pytest.mark.parametrize("gap", [5e-13, 1e-12, 1.5e-12, 0.25])
def test_heights_that_differ_by_rounding_are_equal(gap):
    tree = np.array([[0, 1, 0.0, 2], [2, 3, gap, 3]])
    kept = gap if gap >= 1e-12 else 0.0
    assert range_lengths(tree, 1, np.array([2, 3])).tolist() == [kept, 0.0]
    # Two is all there is: no number lies between merges of so few.
    assert range_lengths(tree[:1], 1, np.array([2, 3])).tolist() == [0.0, 0.0]
    assert range_lengths(tree, 1, np.array([1])).tolist() == [0.0]


def test_lifetimes_are_those_of_clusters_of_five(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [20, 10, 4])
    members = [np.where(rng.random(34) < 0.8, truth, rng.integers(0, 3, 34)) for _ in range(9)]
    ensemble = Ensemble(members)
    tree = eac(ensemble, None, linkage="single").linkage
    tested = np.array([1, 2, 3])
    wanted = np.zeros(40)
    for low, high in zip(tree[:-1, 2], tree[1:, 2], strict=True):
        if high - low > 1e-12:
            sizes = np.bincount(hierarchy.fcluster(tree, (low + high) / 2, "distance"))
            wanted[(sizes >= 5).sum()] += high - low
    np.testing.assert_allclose(tree_lifetimes(ensemble, tested), wanted[tested], atol=1e-12)


def test_members_on_other_data_have_as_many_clusters_as_those_given():
    Z = np.random.default_rng(0).normal(size=(10, 2))
    given = np.zeros((102, 12), int)
    given[1] = np.arange(12) % 3
    given[2:] = np.arange(12)
    found = like_members(Z, 4, Ensemble(list(given[:4])))
    assert found.n_clusters.tolist() == [2, 3, 10, 10]
    wanted = KMeansEnsemble(4, [2, 3, 10, 10], random_state=4).generate(Z)
    np.testing.assert_array_equal(found.members, wanted.members)
    assert like_members(Z, 4, Ensemble(list(given))).n_members == 100
    own = like_members(Z, 4)
    np.testing.assert_array_equal(
        own.members, KMeansEnsemble(50, random_state=4).generate(Z).members
    )


def test_what_lies_far_from_zero_has_its_axes():
    X = np.random.default_rng(0).integers(-9, 10, (20, 2)) * [9.0, 1.0]
    found = principal(X + 2.0**36, 0)
    np.testing.assert_allclose(abs(found), abs(axes_of(X)), atol=1e-3)
