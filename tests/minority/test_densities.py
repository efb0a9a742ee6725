"""What densities show by themselves: slopes are no groups, hills and gaps are."""

import numpy as np
import pytest

from consilience.minority import EWOCS, _densities
from consilience.minority._densities import _unrounded, _valley, hills_of, shape_of

FEW = {"n_repetitions": 50, "random_state": 0}


def slope(kind, rng, n=1000, d=5):
    """Backgrounds with one dense place."""
    normal = rng.normal(size=(n, d))
    if kind == "cone":
        normal[:, 0] = rng.uniform(0.3, 3, n)
        normal[:, 1:] *= normal[:, :1]
        return normal
    return {
        "exponential": rng.exponential(size=(n, d)),
        "laplace": rng.laplace(size=(n, d)),
        "heavy": normal / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
        "two scales": normal * rng.choice([1.0, 4.0], (n, 1)),
        "corner": np.abs(normal),
        "counts": rng.poisson(3, (n, d)) * 1.0,
    }[kind]


SLOPES = ["cone", "exponential", "laplace", "heavy", "two scales", "corner", "counts"]


def with_clumps(rng, number, d, n=700):
    """Even noise, and clumps of unequal sizes in different corners."""
    sizes = rng.integers(40, 120, number)
    signs = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1], [0, 0]])[:number]
    centres = np.zeros((number, d))
    centres[:, :2] = 1.2 * signs
    parts = [rng.uniform(-2, 2, (n, d))]
    parts += [c + 0.12 * rng.normal(size=(m, d)) for c, m in zip(centres, sizes, strict=True)]
    return np.vstack(parts), np.repeat(np.arange(number + 1), [n, *sizes])


@pytest.mark.parametrize("kind", SLOPES)
@pytest.mark.parametrize("d", [5, 20])
def test_the_top_of_one_slope_is_not_separate(kind, d, seed):
    shape = shape_of(slope(kind, np.random.default_rng(seed), d=d), 0)
    assert not shape.separate
    assert shape.gap < 1.3


@pytest.mark.parametrize("d", [8, 20])
def test_a_cone_has_no_foreground(d):
    """Its narrow end is many times as dense as the rest, and no reference has that."""
    model = EWOCS(clusterer=None, **FEW).fit(slope("cone", np.random.default_rng(d), d=d))
    assert (model.n_foreground_, model.flag_) == (0, "no_groups")
    assert not model.reference_.separate
    assert ("top of one slope" in model.threshold_result_.why) == (model.p_value_ <= 0.05)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize("d", [2, 4, 10])
def test_as_many_groups_are_found_as_were_planted(number, d):
    X, y = with_clumps(np.random.default_rng([3, d, number]), number, d)
    model = EWOCS(**FEW).fit(X)
    assert model.n_clusters_ == number
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    both = (model.labels_ >= 0) & (y > 0)
    assert both.sum() > 0.8 * (y > 0).sum()
    # Each clump is one group.
    assert len(set(zip(model.labels_[both], y[both], strict=True))) <= number + 2


@pytest.mark.parametrize("number", [2, 3])
def test_a_number_of_groups_that_is_given_is_kept(number):
    X, _ = with_clumps(np.random.default_rng(0), 1, 3)
    assert EWOCS(n_clusters=number, **FEW).fit(X).n_clusters_ == number


def test_hills_do_not_hang_on_the_order_or_the_unit(seed):
    X, y = with_clumps(np.random.default_rng(seed), 3, 4)
    dense = X[y > 0]
    labels = hills_of(dense)
    order = np.random.default_rng(seed).permutation(len(dense))
    moved = hills_of(1e3 * dense[order] + 5)
    pairs = {*zip(labels[order].tolist(), moved.tolist(), strict=True)}
    assert labels.max() == 2
    assert len(pairs) == len(set(labels.tolist()))


def test_two_objects_are_one_hill():
    np.testing.assert_array_equal(hills_of(np.array([[0.0], [1.0]])), [0, 0])
    np.testing.assert_array_equal(hills_of(np.zeros((30, 2))), np.zeros(30))


def test_a_gap_lies_between_the_dense_objects_and_the_others(seed):
    rng = np.random.default_rng(seed)
    heights = np.r_[rng.normal(size=900), rng.normal(8, 1, 100)]
    gap, share = _valley(heights, 15)
    assert gap > 5
    assert share == pytest.approx(0.1, abs=0.01)
    # One heap has no gap, and a majority is no minority.
    assert _valley(rng.normal(size=1000), 15)[0] < 1.3
    assert _valley(-heights, 15)[0] == 1.0
    assert _valley(np.zeros(50), 15) == (1.0, 0.0)


def test_rounded_columns_are_spread_over_their_steps(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.round(rng.normal(size=400)), rng.normal(size=400), np.ones(400)])
    spread = _unrounded(X, rng)
    np.testing.assert_array_equal(spread[:, 1:], X[:, 1:])
    assert np.abs(spread[:, 0] - X[:, 0]).max() <= 0.5
    assert len(np.unique(spread[:, 0])) == 400


def test_a_gap_decides_where_references_hold_the_groups():
    """In many columns references cut too low; the densities show where the groups end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(560, 120))
    X[500:] = 0.6 * rng.normal(size=120) + 0.6 * X[500:]
    model = EWOCS(clusterer=None, **FEW).fit(X)
    assert model.reference_.gap > 2
    assert model.reference_.gap_share == pytest.approx(60 / 560, abs=0.01)
    assert abs(model.n_foreground_ - 60) < 10


@pytest.mark.parametrize("d", [2, 20])
def test_neighbours_are_those_of_all_objects_whatever_the_threads(seed, d):
    X = np.random.default_rng(seed).normal(size=(_densities._AT_ONCE + 100, d))
    X[50:100] = 0.0  # more equal objects than neighbours
    wanted = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(wanted, np.inf)
    for n_jobs in (1, 3):
        distances, rows = _densities._neighbours(X, 7, n_jobs)
        np.testing.assert_allclose(distances, np.sort(wanted, axis=1)[:, :7], atol=1e-7)
        np.testing.assert_allclose(np.take_along_axis(wanted, rows, axis=1), distances, atol=1e-7)
        np.testing.assert_array_equal(hills_of(X, n_jobs), hills_of(X))
