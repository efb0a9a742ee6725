"""How close objects are to clusters they are no part of: by all pairs, and where they go."""

import numpy as np
import pytest

from consilience import Ensemble, SoftEnsemble
from consilience.consensus import _affinity
from consilience.consensus._affinity import attach_outside, mean_affinity
from consilience.evidence import co_association


def torn(seed, lowest, n=25):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([[0, 1, 2], rng.integers(-1, 3, n - 3)]).astype(np.int32)
    members = rng.integers(lowest, 3, (6, n))
    members[0] = rng.integers(0, 3, n)  # every pair is seen
    return Ensemble(list(members)), labels


@pytest.mark.parametrize("lowest", [0, -1, -2])
@pytest.mark.parametrize("room", [1, 8 * 25 * 3, 2**25])
def test_affinity_is_the_mean_over_all_pairs(lowest, room, seed, monkeypatch):
    monkeypatch.setattr(_affinity, "_BLOCK_BYTES", room)
    ensemble, labels = torn(seed, lowest)
    objects = np.flatnonzero(labels < 0)[::-1]
    together = co_association(ensemble)
    wanted = [[together[i][labels == c].mean() for c in range(3)] for i in objects]
    np.testing.assert_allclose(mean_affinity(ensemble, labels, objects), wanted)
    one = mean_affinity(ensemble, labels, objects[:1])
    np.testing.assert_allclose(one, wanted[:1])


def test_counts_are_made_for_as_many_objects_as_there_is_room(monkeypatch):
    made = []
    count_rows = _affinity.count_rows

    def counted(members, some, **options):
        made.append(len(some))
        return count_rows(members, some, **options)

    monkeypatch.setattr(_affinity, "count_rows", counted)
    ensemble, labels = torn(0, -2)
    labels[3:13] = -1
    for room, wanted in ((8 * 25 * 4, [4, 4, 2]), (8 * 25 * 4 - 1, [3, 3, 3, 1]), (1, [1] * 10)):
        monkeypatch.setattr(_affinity, "_BLOCK_BYTES", room)
        made.clear()
        mean_affinity(ensemble, labels, np.arange(3, 13))
        assert made == wanted


def test_affinity_of_memberships_is_that_of_their_products(seed):
    rng = np.random.default_rng(seed)
    members = [rng.dirichlet(np.ones(3), 12) for _ in range(4)]
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 0, -1, -1, 1, -1], np.int32)
    objects = np.flatnonzero(labels < 0)
    ensemble = SoftEnsemble(members)
    together = co_association(ensemble)
    wanted = [[together[i][labels == c].mean() for c in range(3)] for i in objects]
    np.testing.assert_allclose(mean_affinity(ensemble, labels, objects), wanted)


def test_objects_outside_go_to_those_they_are_with(seed):
    ensemble, labels = torn(seed, -2)
    outside = np.flatnonzero(labels < 0)
    near = mean_affinity(ensemble, labels, outside)
    sizes = np.bincount(labels[labels >= 0])
    before = labels.copy()
    assert attach_outside(ensemble, labels) == len(outside)
    np.testing.assert_array_equal(labels[before >= 0], before[before >= 0])
    for own, row in zip(labels[outside], near, strict=True):
        assert row[own] == row.max()
        assert sizes[own] == sizes[row == row.max()].max()
    assert attach_outside(ensemble, labels) == 0


def test_who_is_with_nobody_goes_to_the_largest():
    ensemble = Ensemble([[0, 1, 1, 2, 2, 3, 4, 1]] * 3)
    labels = np.array([0, 1, 1, 2, 2, -1, -1, 1], np.int32)
    assert attach_outside(ensemble, labels) == 2
    assert labels.tolist() == [0, 1, 1, 2, 2, 1, 1, 1]
    labels = np.array([0, 0, 1, 1, 2, -1, -1, 2], np.int32)  # of equals the first
    assert attach_outside(ensemble, labels) == 2
    assert labels.tolist() == [0, 0, 1, 1, 2, 0, 0, 2]
