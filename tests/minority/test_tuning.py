"""Tuning of the Gaussian kernel: the vertex, the contrast, units, fall-backs."""

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.minority import tuning
from consilience.minority._score_mixture import fit, to_unit
from consilience.minority.divergences import Gaussian
from consilience.minority.scores import score_objects
from consilience.minority.tuning import Surface, contrast, tune_gaussian, vertex
from consilience.minority.weak import weak_clusterer


def noisy(seed, n_noise=120):
    rng = np.random.default_rng(seed)
    parts = [rng.uniform(-2, 2, (n_noise, 2)), rng.normal(1, 0.08, (25, 2))]
    return np.concatenate([*parts, rng.normal(-1, 0.08, (25, 2))])


def surface(rows):
    values = np.array([[float(mark == "#") for mark in row] for row in rows])
    return Surface(np.arange(1.0, len(rows) + 1), 10.0 ** np.arange(len(rows[0])), values)


def test_the_vertex_is_the_first_alpha_of_the_largest_region():
    v_shaped = surface(["....", "..#.", ".###", "####"])
    assert vertex(v_shaped, 0.5) == pytest.approx((2.0, 100.0))
    # An island with a smaller alpha is noise; touching by a corner is not touching.
    islands = surface(["#...", ".##.", ".##.", "####"])
    alpha, gamma = vertex(islands, 0.5)
    assert alpha == 2.0
    assert gamma == pytest.approx(10**1.5)
    # Of the first row only what belongs to the region counts.
    split = surface([".#.#", "...#", "..##"])
    assert vertex(split, 0.5) == pytest.approx((1.0, 1000.0))
    assert vertex(surface(["....", "...."]), 0.5) is None


def test_contrast_is_the_gain_of_a_second_gaussian(seed):
    X = noisy(seed)
    weak = weak_clusterer("soft", divergence=Gaussian(alpha=10.0, gamma=30.0), k_max=100)
    found = score_objects(X, weak, 60, seed=7)
    scores = to_unit(found.scores)
    gain = fit(scores, 2, 1e-4).log_likelihood - fit(scores, 1, 1e-4).log_likelihood
    wanted = found.reliability * gain / len(X)
    assert contrast(X, 10.0, 30.0, 7, None) == pytest.approx(wanted, rel=1e-12)


def test_contrast_takes_the_best_of_its_surface(seed):
    X = noisy(seed)
    found = tune_gaussian(X, "contrast", random_state=seed)
    assert found.alpha == 10.0
    assert found.surface.shape == (1, 13)
    assert found.gamma == found.gammas[found.surface[0].argmax()]
    assert found.divergence == Gaussian(alpha=10.0, gamma=found.gamma)
    gaps = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(len(X), 1)]
    assert found.scale == pytest.approx(np.median(gaps))
    np.testing.assert_allclose(found.gammas * found.scale, np.geomspace(1, 1e4, 13))
    # Units do not matter, nor do threads.
    other = tune_gaussian(8 * X, "contrast", random_state=seed, n_jobs=2)
    assert other.gamma * 64 == pytest.approx(found.gamma)
    np.testing.assert_allclose(other.surface, found.surface, rtol=1e-6)
    finer = tune_gaussian(X, "contrast", refine=True, random_state=seed)
    best = max(finer.surface.max(), finer.finer[0].values.max())
    assert best >= found.surface.max()
    at = found.surface[0].argmax()
    ends = found.gammas[[max(at - 1, 0), min(at + 1, 12)]]
    assert ends[0] * 0.999 <= finer.gamma <= ends[1] * 1.001


def test_auto_keeps_centres_apart_and_has_no_unit(seed):
    X = noisy(seed)
    found = tune_gaussian(X, random_state=seed)
    assert found.method == "auto"
    assert found.flag is None
    assert found.surface.shape == (13, 14)
    np.testing.assert_allclose(found.alphas, np.geomspace(0.3, 300, 13))
    np.testing.assert_allclose(found.gammas * found.scale, np.geomspace(0.1, 1e4, 14))
    second = found.finer[0]
    assert second.values.shape == (7, 7)
    coarse = vertex(Surface(found.alphas, found.gammas, found.surface), 1e-3)
    assert (found.alpha, found.gamma) == (vertex(second, 1e-3) or coarse)
    # The second grid lies around the vertex of the first, half as wide in both logarithms.
    grids = ((second.alphas, found.alphas), (second.gammas, found.gammas))
    for (axis, first), middle in zip(grids, coarse, strict=True):
        assert axis[3] == pytest.approx(middle)
        assert np.log(axis[-1] / axis[0]) == pytest.approx(np.log(first[-1] / first[0]) / 2)
    # Centres collapse where nothing is told apart, and do not where grades are crisp.
    apart = (found.surface > 1e-3).sum(axis=1)
    assert apart[0] < apart[-1]
    # So narrow a kernel that centres lose their objects: they fall to the mean of all.
    assert (found.surface[:, -1] <= 1e-3).all()
    other = tune_gaussian(8 * X, random_state=seed, n_jobs=2)
    assert other.alpha == pytest.approx(found.alpha)
    assert other.gamma * 64 == pytest.approx(found.gamma, rel=1e-6)


def test_contrast_steps_in_where_centres_collapse_everywhere():
    X = noisy(0, 40)
    with pytest.warns(ConsilienceWarning, match="method='contrast' chose instead"):
        found = tune_gaussian(X, epsilon=1e9, n_clusters=3, random_state=0)
    assert (found.method, found.flag) == ("contrast", "collapsed")
    assert found.gamma == tune_gaussian(X, "contrast", random_state=0).gamma


def test_degenerate_data_and_bad_input():
    for method in ("auto", "contrast"):
        same = tune_gaussian(np.full((7, 2), 3.0), method)
        assert (same.alpha, same.gamma, same.flag) == (10.0, 10.0, "no_contrast")
        assert tune_gaussian([[1.0, 2.0]], method).flag == "degenerate"
        with pytest.raises(ValueError, match="NaN"):
            tune_gaussian([[np.nan], [1.0]], method)
    # Most objects equal: the median distance is zero.
    twins = np.r_[np.zeros((30, 2)), np.eye(2)]
    assert tune_gaussian(twins, "contrast", random_state=0).scale > 0
    for name, bad in (("method", "best"), ("n_clusters", 1), ("epsilon", 0), ("refine", 1)):
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of tune_gaussian"):
            tune_gaussian(twins, **{name: bad})


@pytest.mark.parametrize(
    ("n", "n_clusters", "n_sample", "wanted"),
    [
        (400, None, None, 20),
        (25, None, None, 2),
        (900, None, 50, 5),
        (900, None, 400, 30),
        (9, None, None, 2),
        (30, 7, None, 7),
        (30, 40, None, 30),
        (900, 40, 20, 20),
    ],
)
def test_clusters_of_the_sample_hold_ten_objects_and_are_no_more_than_the_root(
    n, n_clusters, n_sample, wanted
):
    X = np.random.default_rng(0).normal(size=(n, 2))
    made = tuning._Collapse(X, np.arange(n), n_clusters, n_sample, 0.1, True, 0, None)
    assert made.n_clusters == wanted
    assert len(made.X) == min(n, n_sample or n)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("method", ["auto", "contrast"])
@pytest.mark.filterwarnings("ignore:Centres collapse")
def test_objects_that_differ_may_all_be_missed_by_the_first_thousand(method, form):
    X = np.zeros((5000, 1))
    X[:2, 0] = 1.0, 2.0
    tuned = tune_gaussian(form(X), method, random_state=0)
    # The mean of the squared distances of all pairs: twice the variance.
    assert tuned.scale == pytest.approx(2 * X.var(ddof=1))
    assert np.isfinite(tuned.gamma)


@pytest.mark.parametrize("at", [0, 1, 6, 11, 12])
def test_a_finer_grid_goes_from_one_neighbour_of_the_best_to_the_other(at, seed, monkeypatch):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    grid = tuning._contrast(X, np.arange(30), 0, None, False, None).gammas
    monkeypatch.setattr(
        tuning, "contrast", lambda part, alpha, gamma, *_: -abs(np.log(gamma / (1.01 * grid[at])))
    )
    found = tuning._contrast(X, np.arange(30), 0, None, True, None)
    (finer,) = found.finer
    wanted = np.geomspace(grid[max(at - 1, 0)], grid[min(at + 1, 12)], 9)
    np.testing.assert_allclose(finer.gammas, wanted)
    nearest = np.abs(np.log(wanted / (1.01 * grid[at]))).argmin()
    assert found.gamma == pytest.approx(wanted[nearest])
