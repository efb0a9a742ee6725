"""Valleys, part by part: the whole by its definition, groups of copies, how little is added."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

from consilience.consensus._valleys import _shrunk, valleys
from consilience.kernels.data.dip import dip


def dips(one, other):
    """Dips by share of two groups, each given as its two halves."""
    if min(len(half) for half in (*one, *other)) < 3:
        return np.zeros(3)
    before, behind = [], []
    for half in (0, 1):
        a, b = one[half], other[half]
        within = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
        spread = ledoit_wolf(within, assume_centered=True)[0]
        line = np.linalg.solve(spread, b.mean(axis=0) - a.mean(axis=0))
        line /= np.sqrt(line @ spread @ line)
        middle = line @ (a.mean(axis=0) + b.mean(axis=0)) / 2
        before += [middle - line @ row for row in one[1 - half]]
        behind += [line @ row - middle for row in other[1 - half]]
    found = []
    fewer = min(len(before), len(behind))
    for share in (1.0, 0.5, 0.25):
        few = max(6, int(share * fewer))
        if share == 0.25:
            few = min(few, 50)
        near, far = (
            sorted(side)[: int(few * min(2.0, len(side) / fewer))] for side in (before, behind)
        )
        values = np.sort([*(-value for value in near), *far])
        found.append(dip(values) * np.sqrt(len(values)))
    return np.array(found)


def by_definition(points, labels, seed):
    n = len(labels)
    halves = np.random.RandomState(seed).permutation(n) % 2
    own = [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]
    own = [objects for objects in own if len(objects) >= 8 and len(objects) >= 0.02 * n]
    if len(own) < 2:
        return 0.0
    parts = [[points[some[halves[some] == half]] for half in (0, 1)] for some in own]
    means = [points[some].mean(axis=0) for some in own]
    total = np.zeros(3)
    for g, part in enumerate(parts):
        others = [h for h in range(len(own)) if h != g]
        others.sort(key=lambda h: sum((means[g] - means[h]) ** 2))
        least = np.min([dips(part, parts[h]) for h in others[:3]], axis=0)
        total += len(own[g]) / n * np.minimum(least, 2.0)
    return total.min()


@pytest.mark.parametrize(
    ("sizes", "apart"),
    [
        ([40, 60], 4.0),
        ([12, 70], 4.0),  # no more than twice as many of the larger group
        ([230, 300], 4.0),  # in the quarter no more than fifty
        ([600, 640], 0.5),
        ([230, 300], 40.0),  # no valley counts for more than 2
        ([30, 30, 7], 3.0),  # seven are strays
        ([8, 192, 200], 3.0),  # two in a hundred of all
        ([9, 245, 246], 3.0),  # fewer than that
        ([30, 25, 20, 35, 28, 40], 3.0),  # three neighbours of each
        ([8, 9, 30], 6.0),
        ([30], 1.0),
    ],
)
def test_valleys_are_their_definition(sizes, apart, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    means = apart * rng.normal(size=(len(sizes), 2)) + 10
    points = means[labels] + rng.normal(size=(len(labels), 2)) * [1.0, 0.5]
    found = valleys(points, labels, np.random.RandomState(seed))
    assert found == pytest.approx(by_definition(points, labels, seed), rel=1e-5)


def test_a_line_is_learnt_from_three_objects_of_each_group():
    labels = np.repeat([0, 1], [8, 30]).astype(np.int32)
    points = np.random.default_rng(0).normal(size=(38, 2)) + 8 * labels[:, None]
    fewest = set()
    for seed in range(20):
        half = (np.random.RandomState(seed).permutation(38) % 2)[:8].sum()
        found = valleys(points, labels, np.random.RandomState(seed))
        assert (found > 0) == (3 <= half <= 5)
        assert found == pytest.approx(by_definition(points, labels, seed), rel=1e-5)
        fewest.add(min(half, 8 - half))
    assert fewest >= {2, 3, 4}


@pytest.mark.parametrize("gap", [[1e-3, 1.0], [3e3, -3e3], [-1e4, 2.0]])
def test_two_groups_of_copies_are_two_peaks_however_far(gap):
    points = np.repeat([[0.0, 0.0], gap], 60, axis=0)
    found = valleys(points, np.repeat([0, 1], 60).astype(np.int32), np.random.RandomState(0))
    # Of 15 on each side: two peaks of half of the objects are a quarter from one peak.
    assert found == pytest.approx(0.25 * np.sqrt(30))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_covariance_is_that_of_any_unit(unit):
    rng = np.random.default_rng(0)
    for rows in (rng.normal(size=(15, 4)), rng.normal(size=(30, 3)) * [1, 2, 9]):
        of_unit = unit * (rows - rows.mean(axis=0))
        lengths = (of_unit**2).sum(axis=1)
        found = _shrunk(of_unit.T @ of_unit, (lengths**2).sum(), np.array(len(rows)))
        wanted, _ = ledoit_wolf(of_unit / unit, assume_centered=True)
        np.testing.assert_allclose(found / unit**2, wanted, rtol=1e-6, atol=1e-8)


def test_columns_that_repeat_each_other_leave_a_little_of_the_identity():
    # Rows (1, 1) and (-1, -1) say for certain what the covariance is: nothing is shrunk.
    rows = np.array([[1.0, 1.0], [-1.0, -1.0]] * 4)
    found = _shrunk(rows.T @ rows, np.float64(8 * 4), np.array(8))
    np.testing.assert_allclose(found - 1, 1e-9 * np.eye(2), rtol=1e-5, atol=1e-15)
