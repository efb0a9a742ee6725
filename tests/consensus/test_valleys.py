"""Valleys between groups: seen where groups are apart, in many columns too, and nowhere else."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

from consilience.consensus._valleys import _lines, _Part, _shrunk, valleys


def seen(points, labels, seed=0):
    return valleys(
        np.asarray(points, float), np.asarray(labels, np.int32), np.random.RandomState(seed)
    )


def two_groups(columns, apart, n=240, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n // 2)
    points = rng.normal(size=(n, columns))
    points[:, 0] += apart * labels
    return points, labels


@pytest.mark.parametrize("columns", [2, 12, 60])
def test_groups_far_apart_in_one_of_many_columns_have_a_valley(columns):
    for seed in range(3):
        assert seen(*two_groups(columns, 7, seed=seed)) > 0.55


@pytest.mark.parametrize("columns", [2, 12, 60])
def test_halves_of_one_group_have_none(columns):
    for seed in range(3):
        points, _ = two_groups(columns, 0, seed=seed)
        assert seen(points, points[:, 0] > 0) < 0.55


def test_labels_that_follow_chance_in_more_columns_than_objects_have_none():
    """Any labels can be told apart there by those who saw them: lines are learnt from others."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 59))
    assert seen(points, np.arange(60) % 2) < 0.55


def test_a_bent_band_has_none_at_its_cut():
    rng = np.random.default_rng(0)
    along = rng.uniform(0, 6, 800)
    band = np.column_stack([along, np.sin(along) + rng.normal(0, 0.1, 800)])
    assert seen(band, along > 3) < 0.55


def test_a_small_group_beside_a_large_one_is_seen():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [570, 30])
    assert seen(rng.normal(size=(600, 5)) + 9 * labels[:, None], labels) > 0.5


def test_neither_units_nor_names_matter():
    points, labels = two_groups(5, 4)
    wanted = seen(points, labels)
    assert seen(points * 1e6, labels) == pytest.approx(wanted, abs=1e-9)
    assert seen(points, 1 - labels) == pytest.approx(wanted, abs=1e-9)


def test_one_group_and_strays_have_nothing_to_compare():
    points, _ = two_groups(2, 0)
    assert seen(points, np.zeros(240)) == 0
    assert seen(points, np.arange(240) < 3) == 0


def test_repeated_and_constant_columns_do_no_harm():
    points, labels = two_groups(3, 6)
    more = np.column_stack([points, points, np.ones(240)])
    assert seen(more, labels) == pytest.approx(seen(points, labels), abs=0.1)


def test_the_covariance_is_ledoit_and_wolfs():
    rows = np.random.default_rng(0).normal(size=(40, 7)) @ np.diag(np.arange(1.0, 8))
    rows -= rows.mean(axis=0)
    wanted, _ = ledoit_wolf(rows, assume_centered=True)
    lengths = (rows**2).sum(axis=1)
    found = _shrunk(rows.T @ rows, (lengths**2).sum(), np.array(40))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_lines_are_fishers_of_either_half_and_cross_the_middle():
    """Direction, unit and middle of every pair by scikit-learn's covariance of what lies within."""
    rng = np.random.default_rng(0)
    labels, halves = np.arange(150) % 3, rng.permutation(150) % 2
    points = rng.normal(size=(150, 4)) + 4 * np.eye(3, 4)[labels]
    parts = [_Part.of(points, np.flatnonzero(labels == group), halves) for group in range(3)]
    counts = np.array([[len(half) for half in part.halves] for part in parts])
    pairs = np.array([[0, 1], [1, 2]])
    lines, middles = _lines(parts, counts, pairs)
    for (a, b), own, at in zip(pairs, lines, middles, strict=True):
        for half in (0, 1):
            one, other = (points[(labels == g) & (halves == half)] for g in (a, b))
            within = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
            spread = ledoit_wolf(within, assume_centered=True)[0]
            line = np.linalg.solve(spread, other.mean(axis=0) - one.mean(axis=0))
            line /= np.sqrt(line @ spread @ line)
            np.testing.assert_allclose(own[half], line, rtol=1e-6)
            middle = line @ (one.mean(axis=0) + other.mean(axis=0)) / 2
            assert at[half] == pytest.approx(middle, rel=1e-6)


def test_groups_of_copies_are_as_far_apart_as_can_be():
    points = np.repeat([[0.0, 0.0], [1e-3, 1.0]], 60, axis=0)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        assert seen(points, np.repeat([0, 1], 60)) > 0.55
        assert seen(np.zeros((40, 2)), np.arange(40) % 2) >= 0
