"""Pseudo-systems: what they find follows from the truth alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from consilience.compare.foreground import hard_auc, precision_recall_f1
from consilience.datasets import _minority
from consilience.errors import InvalidInputError
from consilience.minority import references


def mixture_slowly(corners, x):
    """Reference: non-negative shares by least squares; in the hull if nothing is left over."""
    system = np.vstack([(corners - x).T, np.ones(len(corners))])
    return nnls(system, np.r_[np.zeros(corners.shape[1]), 1.0])[1] < 1e-7


def test_all_foreground_has_the_f1_of_its_share(seed):
    y = np.random.default_rng(seed).integers(0, 4, 200)
    labels = references.all_foreground(y)
    share = (y > 0).mean()
    found = precision_recall_f1(labels, y)
    assert found.recall == 1
    assert found.f1 == pytest.approx(2 * share / (1 + share))
    assert hard_auc(labels, y) == 0.5


def test_random_foreground_has_the_true_share(seed):
    y = np.repeat([0, 1, 2], [4000, 600, 400])
    labels = references.random_foreground(y, random_state=seed)
    assert set(labels) == {-1, 0}
    # Five standard deviations of a binomial share.
    assert abs((labels >= 0).mean() - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 5000)
    assert abs(hard_auc(labels, y) - 0.5) < 5 * 0.5 * np.sqrt(0.16 * (1 / 1000 + 1 / 4000))
    np.testing.assert_array_equal(labels, references.random_foreground(y, random_state=seed))
    assert (references.random_foreground(np.ones(50)) == 0).all()
    assert (references.random_foreground(np.zeros(50)) == -1).all()


@given(st.integers(0, 2**31), st.integers(1, 6))
@settings(max_examples=25)
def test_convex_hulls_equal_their_definition(seed, d):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [30, d + 2, 2 * d + 6]))
    X = rng.normal(0, 1, (len(y), d))
    X[y == 0] *= 0.4  # else hardly anything is inside from four dimensions on
    X[y == 2] += 0.5
    labels = references.convex_hulls(X, y)
    for i in np.flatnonzero(y == 0):
        inside = [c for c in (1, 2) if mixture_slowly(X[y == c], X[i])]
        assert labels[i] == (inside[0] - 1 if inside else -1)
    np.testing.assert_array_equal(labels[y > 0], y[y > 0] - 1)


def test_area_of_convex_hulls_counts_false_finds(seed):
    X, y = _minority.make_minority(2, random_state=seed)
    labels = references.convex_hulls(X, y)
    false = ((labels >= 0) & (y == 0)).sum()
    assert false > 0
    assert hard_auc(labels, y) == pytest.approx(1 - false / (2 * (y == 0).sum()))
    assert precision_recall_f1(labels, y).recall == 1


@pytest.mark.parametrize("d", [2, 8])
def test_published_row_of_convex_hulls(d):
    # Table 3: .957 AUC in two dimensions, 1 in eight; two standard errors of ten sets.
    areas = []
    for s in range(10):
        a, b, c = (1 + (s >> bit) % 2 for bit in (2, 1, 0))
        X, y = _minority.make_minority(
            d, background=a, foreground=b, spread=c, random_state=1000 + s
        )
        areas.append(hard_auc(references.convex_hulls(X, y), y))
    wanted, reach = (0.957, 0.02) if d == 2 else (1.0, 1e-3)
    assert abs(np.mean(areas) - wanted) < reach


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_flat_small_and_repeated_sources(d):
    zeros = np.zeros(d)
    line = np.outer([0.0, 1.0, 2.0, 3.0], np.ones(d))
    X = np.vstack([line, 1.5 * np.ones(d), 4.0 * np.ones(d), zeros, zeros + np.eye(d)[0]])
    labels = references.convex_hulls(X, [1, 1, 1, 1, 0, 0, 0, 0])
    # On the line and on its end; the last one is off it, unless the line is all there is.
    np.testing.assert_array_equal(labels, [0, 0, 0, 0, 0, -1, 0, 0 if d == 1 else -1])
    same = references.convex_hulls(
        np.vstack([np.ones((5, d)), np.ones(d), zeros]), [1] * 5 + [0, 0]
    )
    np.testing.assert_array_equal(same, [0] * 6 + [-1])


def test_constant_columns_change_nothing(seed):
    X, y = _minority.make_minority(2, background=0.2, random_state=seed)
    plain = references.convex_hulls(X, y)
    wider = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    np.testing.assert_array_equal(references.convex_hulls(wider, y), plain)
    np.testing.assert_array_equal(references.convex_hulls(1e6 + 10 * X, y), plain)


def test_without_foreground_nothing_is_found():
    assert (references.convex_hulls(np.eye(3), [0, 0, 0]) == -1).all()


def test_input_that_cannot_be_used():
    with pytest.raises(InvalidInputError, match="X of convex_hulls must be finite"):
        references.convex_hulls([[np.nan, 1.0]], [1])
    with pytest.raises(InvalidInputError, match="each of the 2 objects"):
        references.convex_hulls(np.eye(2), [1])
    with pytest.raises(InvalidInputError, match="adding 1"):
        references.random_foreground([-1, 0])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("beyond", "inside"), [(-0.5, True), (0.5, True), (2.0, False)])
def test_room_outside_the_hull_is_in_the_unit_of_the_data(size, beyond, inside):
    # A square of side 2 and a point that lies so many slacks beyond the middle of a side.
    corners, slack = size * np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]), 0.01 * size
    point = np.array([size + beyond * slack, 0.0])
    assert references._is_mixture(corners, point, slack) == inside
