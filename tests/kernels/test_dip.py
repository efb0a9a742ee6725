"""The dip against its definition: the nearest distribution with one peak, by linear programmes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from consilience.kernels.data.dip import dip


def slow_dip(values):
    """Least largest difference from a single-peaked distribution function, its peak anywhere.

    One linear programme for each value the peak may lie at. Unknowns are the function's heights at
    the values, twice at the peak, where it may jump, and the largest difference, the last.
    """
    places, counts = np.unique(values, return_counts=True)
    after = np.cumsum(counts) / len(values)
    return min(
        _with_peak(places, after - counts / len(values), after, m) for m in range(len(places))
    )


def _with_peak(places, before, after, peak):
    n = len(places)
    left = list(range(peak + 1))
    right = list(range(peak + 1, n + 1))
    rows, bounds = [], []

    def at_most(bound, **terms):
        row = np.zeros(n + 2)
        for name, factor in terms.items():
            row[int(name[1:])] += factor
        rows.append(row)
        bounds.append(bound)

    def near(unknown, height):
        at_most(height, **{f"x{unknown}": 1, f"x{n + 1}": -1})
        at_most(-height, **{f"x{unknown}": -1, f"x{n + 1}": -1})

    for unknown, place in zip(left + right, [*range(peak + 1), *range(peak, n)], strict=True):
        if unknown != peak + 1:
            near(unknown, before[place])
        if unknown != peak:
            near(unknown, after[place])
    for one, other in zip((left + right)[:-1], (left + right)[1:], strict=True):
        at_most(0, **{f"x{one}": 1, f"x{other}": -1})
    for side, first, sign in ((left, 0, 1), (right, peak, -1)):
        for i in range(1, len(side) - 1):
            width = np.diff(places[first + i - 1 : first + i + 2])
            a, b, c = side[i - 1 : i + 2]
            slopes = {f"x{b}": 1 / width[0] + 1 / width[1]}
            slopes |= {f"x{a}": -1 / width[0], f"x{c}": -1 / width[1]}
            at_most(0, **{name: sign * factor for name, factor in slopes.items()})
    goal = np.zeros(n + 2)
    goal[-1] = 1
    return linprog(goal, np.array(rows), bounds, bounds=[(0, 1)] * (n + 1) + [(0, None)]).fun


@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_distance_from_the_nearest_single_peak(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13))
    apart = np.concatenate([rng.normal(size=n // 2), rng.normal(4, 1, size=n - n // 2)])
    for values in (rng.normal(size=n), apart, np.round(2 * apart)):
        values = np.sort(values)
        assert dip(values) == pytest.approx(max(slow_dip(values), 1 / (2 * n)), abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_places_with_many_objects_are_places(seed):
    """Rounded numbers, thirds: what two equal gaps differ by in the last digit decides nothing."""
    rng = np.random.default_rng(seed)
    values = np.sort(np.round(rng.normal(size=30) * rng.choice([0.8, 1.5, 3.0])) / 3)
    assert dip(values) == pytest.approx(max(slow_dip(values), 1 / 60), abs=1e-8)


def test_of_two_places_beside_each_other_only_one_is_the_peak():
    values = np.repeat(np.arange(-3, 4) / 3, [1, 7, 7, 3, 4, 4, 1])
    assert dip(values) == pytest.approx(7 / 54)
    assert slow_dip(values) == pytest.approx(7 / 54)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_it_lies_between_its_bounds_and_knows_no_unit(numbers):
    values = np.sort(np.array(numbers, float))
    found = dip(values)
    assert 1 / (2 * len(values)) <= found <= 0.25 + 1e-12 or len(values) < 3
    assert dip(values * 8 + 3) == found
    assert dip(np.sort(-values)) == pytest.approx(found, abs=1e-12)


def test_two_far_groups_have_nearly_a_quarter_and_one_peak_nearly_nothing():
    rng = np.random.default_rng(0)
    one = np.sort(rng.normal(size=2000))
    two = np.sort(np.concatenate([rng.normal(size=1000), rng.normal(100, 1, size=1000)]))
    assert dip(two) > 0.23
    assert dip(one) < 0.02
    assert dip(np.zeros(7)) == 1 / 14
