"""Tables without groups: what they keep of the data, and that machines draw the same."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from consilience.consensus import _atoms, _clarity


def some_points(seed=0, n=200):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.7], [0.0, 0.0, 0.3]])


@pytest.mark.parametrize("kind", [0, 1])
def test_axes_that_point_the_other_way_draw_the_same_table(kind, monkeypatch):
    """Libraries are free to give an axis either sign, and differ between processors."""
    points = some_points()
    draw = _clarity._kinds(points)[kind]
    wanted = draw(np.random.RandomState(0))
    svd, eigh = np.linalg.svd, np.linalg.eigh
    signs = np.array([-1.0, 1.0, -1.0])

    def turned_svd(*args, **kwargs):
        left, values, axes = svd(*args, **kwargs)
        return left * signs, values, axes * signs[:, None]

    def turned_eigh(*args, **kwargs):
        values, axes = eigh(*args, **kwargs)
        return values, axes * signs

    monkeypatch.setattr(np.linalg, "svd", turned_svd)
    monkeypatch.setattr(np.linalg, "eigh", turned_eigh)
    np.testing.assert_allclose(draw(np.random.RandomState(0)), wanted, rtol=1e-9, atol=1e-9)


def test_references_keep_columns_and_correlations():
    points = some_points(n=2000)
    columns, ellipse = (draw(np.random.RandomState(1)) for draw in _clarity._kinds(points))
    np.testing.assert_allclose(np.sort(columns, axis=0), np.sort(points, axis=0), atol=0.5)
    wanted = spearmanr(points).statistic
    np.testing.assert_allclose(spearmanr(columns).statistic, wanted, atol=0.08)
    np.testing.assert_allclose(np.cov(ellipse.T), np.cov(points.T), atol=0.4)


def test_a_flat_direction_stays_flat():
    points = np.column_stack([some_points(), np.full(200, 3.0)])
    for draw in _clarity._kinds(points):
        np.testing.assert_allclose(draw(np.random.RandomState(0))[:, 3], 3.0, atol=1e-9)


def one_hot(values):
    return np.column_stack([np.eye(values.max() + 1)[column] for column in values.T])


def verdict(table, labels):
    points = table - table.mean(axis=0)
    rng = np.random.RandomState(0)
    return _clarity.judge(points, squareform(pdist(points)), labels, 1.0, n_objects=200, rng=rng)


def test_values_of_independent_categories_are_no_groups():
    """Borders between the values of a category are empty, whatever else there is."""
    values = np.random.default_rng(1).integers(3, size=(200, 4))
    assert verdict(one_hot(values), values[:, 0].astype(np.int32)).verdict == "none"


def test_categories_that_hang_together_are_groups():
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=200)
    other = rng.integers(3, size=(200, 6))
    values = np.where(rng.random((200, 6)) < 0.8, groups[:, None], other)
    assert verdict(one_hot(values), groups.astype(np.int32)).verdict == "clear"


def test_a_few_rows_that_are_repeated_are_groups():
    """Nothing lies between them, in this table or any other."""
    groups = np.arange(120) % 3
    points = np.array([[0.0, 1.0], [2.0, 0.3], [1.2, 3.0]])[groups]
    found = verdict(points, groups.astype(np.int32))
    assert found.verdict == "clear"
    assert "the columns hang together more" in found.words


def test_all_combinations_of_two_columns_are_no_groups():
    values = np.random.default_rng(0).integers(2, size=(160, 2))
    labels = (2 * values[:, 0] + values[:, 1]).astype(np.int32)
    assert verdict(one_hot(values), labels).verdict == "none"


def test_groups_of_one_column_of_numbers_stay_clear_beside_a_category():
    """Groups of the category say more of the table, but the numbers speak for themselves."""
    rng = np.random.default_rng(0)
    groups = rng.integers(2, size=200)
    numbers = np.column_stack([rng.normal(size=200), 0.3 * rng.normal(size=200) + 6 * groups])
    table = np.column_stack(
        [numbers / numbers.std(axis=0), one_hot(rng.integers(3, size=(200, 1)))]
    )
    assert verdict(table, groups.astype(np.int32)).verdict == "clear"


def test_many_zeros_are_not_smeared():
    rng = np.random.default_rng(0)
    column = rng.exponential(size=200) * (rng.random(200) < 0.6)
    np.testing.assert_array_equal(_clarity._one_peak_widths(column[:, None]), 0.0)


def test_shuffled_tables_keep_the_values_of_a_category_together():
    values = np.random.default_rng(0).integers(3, size=(60, 2))
    points = np.column_stack([one_hot(values), np.arange(60.0)])
    atoms = _atoms.sources(points)
    drawn = _atoms.permuted(points, points, atoms, np.random.RandomState(0))
    assert [columns.tolist() for columns in atoms] == [[0, 1, 2], [3, 4, 5]]
    np.testing.assert_array_equal(drawn[:, :3].sum(axis=1), 1.0)
    np.testing.assert_array_equal(drawn[:, 6], points[:, 6])
    np.testing.assert_array_equal(drawn.sum(axis=0), points.sum(axis=0))


def test_copies_of_numbers_are_looked_at_once_but_equal_answers_are_kept():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    first, which = _atoms.distinct(points[rng.integers(40, size=200)])
    assert (len(first), len(which)) == (40, 200)
    assert _atoms.distinct(points) is None
    assert _atoms.distinct(one_hot(rng.integers(3, size=(200, 4)))) is None
    assert _atoms.distinct(points[rng.integers(3, size=200)]) is None


def test_nothing_is_clear_while_most_are_doubtful():
    sure = _clarity.Clarity("clear", 0.01, 99, 200, 0.4, 0.1, 0.9)
    found = _clarity.doubted(sure)
    assert found.verdict == "weak"
    assert found.words.endswith("but most objects are doubtful.")
    weak = _clarity.Clarity("weak", 0.01, 99, 200, 0.4, 0.1, 0.9)
    assert _clarity.doubted(weak) is weak
