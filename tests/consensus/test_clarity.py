"""Tables without groups: what they keep of the data, and that machines draw the same."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from consilience.consensus import _clarity


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
