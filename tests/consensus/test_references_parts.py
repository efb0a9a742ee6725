"""Tables without groups, part by part: ellipses, columns with one peak, and their groups."""

from functools import partial

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist
from scipy.stats import norm, rankdata

from consilience.consensus import _clarity
from consilience.consensus._support import Borders


def test_ellipses_keep_the_distances_from_the_middle_in_units_of_the_spread(seed):
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.normal(size=(40, 2)) * [1.0, 4.0] + 3, np.full(40, 2.0)])
    drawn = _clarity._elliptical(points, np.random.RandomState(seed))

    def lengths(table):
        off = table[:, :2] - points[:, :2].mean(axis=0)
        own = points[:, :2] - points[:, :2].mean(axis=0)
        return np.sqrt(np.einsum("ij,jk,ik->i", off, np.linalg.inv(own.T @ own), off))

    np.testing.assert_allclose(np.sort(lengths(drawn)), np.sort(lengths(points)))
    assert not np.allclose(lengths(drawn), lengths(points))
    np.testing.assert_allclose(drawn[:, 2], 2.0)
    # Drawn anew, in all directions: none is left out.
    assert len(np.unique(np.sign(drawn[:, :2] - points[:, :2].mean(axis=0)), axis=0)) == 4


def test_columns_are_drawn_with_their_correlations_of_ranks(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3))
    points[:, 1] = np.maximum(points[:, 1], np.median(points[:, 1]))  # ties
    widths = np.array([0.0, 0.5, 2.0])
    found = _clarity._same_columns(points, widths, np.random.RandomState(seed))
    again = np.random.RandomState(seed)
    scores = norm.ppf((rankdata(points, axis=0) - 0.5) / 50)
    drawn = again.normal(size=(50, 3)) @ np.real(sqrtm(np.corrcoef(scores.T)))
    smeared = points + again.normal(size=(50, 3)) * widths
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(smeared, axis=0))
    np.testing.assert_array_equal(rankdata(found, axis=0), rankdata(drawn, axis=0))


def test_a_line_has_no_ellipse():
    line = np.arange(10.0)[:, None] * [1.0, 2.0] + np.array([5.0, 0.0])
    assert len(_clarity._kinds(line)) == 1
    assert len(_clarity._kinds(line + [[0.0, 0.1]] * np.eye(10)[:, :1])) == 2
    same, ellipse = _clarity._kinds(np.random.default_rng(0).normal(size=(20, 2)))
    assert isinstance(same, partial)
    assert same.func is _clarity._same_columns
    assert ellipse.func is _clarity._elliptical


@pytest.mark.parametrize(
    ("below", "n", "one"), [(2, 100, True), (3, 100, False), (97, 100, False), (98, 100, True)]
)
def test_strays_beyond_a_valley_are_no_peak(below, n, one):
    values = np.concatenate([np.zeros(below), np.full(n - below, 1.0)])
    values = np.sort(values + np.linspace(0, 0.001, n))
    assert _clarity._one_peak(values, 0.01) == one
    # Without any width every gap is a valley; with a very large one nothing is.
    assert _clarity._one_peak(values, 0.0) == one
    assert _clarity._one_peak(values, 100.0)


def test_columns_are_smeared_as_little_as_need_be():
    rng = np.random.default_rng(0)
    values = np.sort(np.concatenate([rng.normal(0, 1, 60), rng.normal(9, 1, 60)]))
    width = _clarity._one_peak_width(rng.permutation(values))
    step = (values[-1] - values[0]) / 2**12
    assert _clarity._one_peak(values, width)
    assert not _clarity._one_peak(values, width - step)
    assert width / step == pytest.approx(round(width / step))
    widths = _clarity._one_peak_widths(np.column_stack([values, np.arange(120) // 2]))
    assert widths.tolist() == [width, 0.0]


def test_columns_of_few_values_are_not_smeared():
    gap = np.concatenate([np.arange(20.0), np.arange(100.0, 120)])
    assert _clarity._one_peak_width(gap) > 0
    # Half as many values as objects, or a value that a fifth of them have.
    assert _clarity._one_peak_width(np.repeat(gap, 2)) == 0.0
    assert _clarity._one_peak_width(np.append(np.repeat(gap, 2), 60.0)) > 0
    assert _clarity._one_peak_width(np.append(gap, [0.0] * 9)) == 0.0


class Drawn:
    """Instead of k-means: groups that are told."""

    labels_, asked = np.zeros(0, int), ()

    def __init__(self, k, *, n_init, random_state):
        type(self).asked = (k, n_init, random_state)

    def fit(self, table):
        return self


@pytest.mark.parametrize("groups", [3, 1])
def test_the_better_of_two_ways_is_what_groups_say(groups, monkeypatch):
    monkeypatch.setattr(_clarity, "KMeans", Drawn)
    table = np.array([0.0, 1, 2, 10, 11, 12, 14])[:, None]
    Drawn.labels_ = np.array([0, 0, 0, 1, 1, 1, 2]) if groups == 3 else np.zeros(7, int)
    found = _clarity._most_told(table, 2, np.random.RandomState(5))
    assert Drawn.asked == (2, _clarity._STARTS, np.random.RandomState(5).randint(2**31 - 1))
    best = Drawn.labels_ if groups == 3 else np.repeat([0, 1], [3, 4])
    assert found == _clarity.told(table, best)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_references_are_divided_into_common_numbers_too(k, monkeypatch):
    monkeypatch.setattr(_clarity, "KMeans", Drawn)
    Drawn.labels_ = np.arange(20) % k
    table = np.random.default_rng(0).normal(size=(20, 2))
    seen = []

    def borders(labels, far, core):
        reach = _clarity.reach(cdist(table, table))
        np.testing.assert_allclose(far, reach[0])
        np.testing.assert_allclose(core, reach[1])
        assert labels.min() == 0
        seen.append(int(labels.max()) + 1)
        return Borders(float(len(seen) == 3), 0.0)

    monkeypatch.setattr(_clarity, "border_sparsity", borders)
    monkeypatch.setattr(_clarity, "valleys", lambda points, labels, _: float(-labels.max() - 1))
    assert _clarity._divided(table, k, np.random.RandomState(5)) == (1.0, -2.0)
    assert Drawn.asked == (k, 1, np.random.RandomState(5).randint(2**31 - 1))
    assert seen == [k, *sorted({2, 3, 5, k})]


def test_as_many_references_are_drawn_as_are_asked_for(monkeypatch):
    monkeypatch.setattr(_clarity, "REFERENCES", 4)
    monkeypatch.setattr(_clarity, "_divided", lambda table, k, _: (table, k))
    drawn = iter(range(9))
    found = _clarity._references(lambda _: next(drawn), 3, np.random.RandomState(0))
    assert found.tolist() == [[0, 3], [1, 3], [2, 3], [3, 3]]


def test_ellipses_are_the_same_in_any_unit(seed):
    points = np.random.default_rng(seed).normal(size=(20, 2))
    drawn = _clarity._elliptical(points, np.random.RandomState(seed))
    for unit in (1e-6, 1e6):
        found = _clarity._elliptical(unit * points, np.random.RandomState(seed))
        np.testing.assert_allclose(found, unit * drawn, rtol=1e-6)


@pytest.mark.parametrize(("spread", "flat"), [(1.5e-9, False), (0.8e-9, True)])
def test_directions_of_a_thousand_millionth_are_flat(spread, flat):
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)] * 3)
    drawn = _clarity._elliptical(signs * np.array([1.0, 0.1, spread]), np.random.RandomState(0))
    # Axes are orthogonal but for rounding, which leaves much less in that column.
    assert (np.abs(drawn[:, 2]).max() < 1e-12) == flat


def one_peak(values, width):
    """The definition, bin by bin: counts smeared by a Gaussian, cut at four standard deviations."""
    size = (values[-1] - values[0]) / 128
    counts = [0] * 128
    for value in values:
        counts[min(int((value - values[0]) / size), 127)] += 1
    sigma = max(width / size, 1e-3)
    around = range(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp([-0.5 * (step / sigma) ** 2 for step in around])
    weights = dict(zip(around, weights / weights.sum(), strict=True))
    smeared = [
        sum(weight * counts[at + step] for step, weight in weights.items() if 0 <= at + step < 128)
        for at in range(128)
    ]
    for at in range(1, 127):
        if smeared[at] < smeared[at - 1] and smeared[at] <= smeared[at + 1]:
            below = sum(counts[: at + 1]) / len(values)
            if 0.02 < below < 0.98:
                return False
    return True


def test_peaks_are_counted_as_defined(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(np.concatenate([rng.normal(0, 1, 60), rng.normal(9, 1, 60)]))
    low, high = 0.0, values[-1] - values[0]
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if one_peak(values, middle) else (middle, high)
    assert _clarity._one_peak_width(values) == pytest.approx(high)


def test_a_flat_column_has_one_peak_and_a_gap_of_a_bin_two():
    bins = np.arange(128.0)
    flat = np.sort(np.concatenate([bins + 0.25, bins + 0.75]))
    flat[[0, -1]] = 0.0, 128.0
    assert _clarity._one_peak(flat, 0.0)
    gap = np.sort(np.concatenate([[0.0, 128.0], np.full(10, 10.5), np.full(90, 12.5)]))
    assert not _clarity._one_peak(gap, 0.0)
    assert one_peak(flat, 0.0)
    assert not one_peak(gap, 0.0)
