"""The toy examples of the weighted-object paper."""

import numpy as np
import pytest

from consilience.datasets._woec import make_woec_toy
from consilience.errors import InvalidParameterError

CENTRES = {
    "toy1": [(-10, 10), (10, 10), (0, 0)],
    "toy2": [(-4, 6), (4, 6), (0, 0)],
    "toy3": [(-5.29, 0), (-8.559, 10.062), (0, 16.281), (8.559, 10.062), (5.29, 0)],
}


@pytest.mark.parametrize(
    ("name", "sizes"), [("toy1", [150] * 3), ("toy2", [300] * 3), ("toy3", [300] * 5)]
)
def test_groups_are_where_the_paper_has_them(name, sizes, seed):
    X, y = make_woec_toy(name, random_state=seed)
    assert np.bincount(y).tolist() == sizes
    assert X.shape == (sum(sizes), 2)
    assert X.dtype == np.float64
    means = np.array([X[y == c].mean(axis=0) for c in range(len(sizes))])
    # Five standard errors of a mean.
    assert np.abs(means - CENTRES[name]).max() < 5 * np.sqrt(10 / 150)


@pytest.mark.parametrize(("name", "variance"), [("toy1", 10), ("toy3", 5)])
def test_gaussians_are_round_with_the_variance_of_the_paper(name, variance, seed):
    X, y = make_woec_toy(name, random_state=seed)
    gaps = X - np.array(CENTRES[name])[y]
    cov = gaps.T @ gaps / len(gaps)
    # The standard error of a variance is variance * sqrt(2 / n).
    np.testing.assert_allclose(cov, variance * np.eye(2), atol=5 * variance * np.sqrt(2 / 450))


def test_discs_are_evenly_filled(seed):
    X, y = make_woec_toy("toy2", random_state=seed)
    radius = np.array([3, 3, 4])[y]
    distance = np.linalg.norm(X - np.array(CENTRES["toy2"])[y], axis=1)
    assert (distance <= radius).all()
    # Half of the area lies within the root of a half of the radius.
    assert abs((distance < radius * np.sqrt(0.5)).mean() - 0.5) < 5 * 0.5 / np.sqrt(900)


def test_seeds_fix_the_sample():
    first, again, other = (make_woec_toy("toy2", random_state=s)[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_bad_parameters_are_named():
    with pytest.raises(InvalidParameterError, match=r"'name' parameter of make_woec_toy .* 'toy4'"):
        make_woec_toy("toy4")
    with pytest.raises(InvalidParameterError, match=r"'random_state' .* Got -1"):
        make_woec_toy(random_state=-1)
