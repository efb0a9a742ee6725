"""The default width of the Gaussian kernel: by distances, so that it fits any number of columns."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from consilience import open_rows
from consilience.compare import auc
from consilience.datasets import make_minority
from consilience.errors import ConsilienceWarning
from consilience.minority import EWOCS, tune_gaussian
from consilience.minority._scaling import fit_scaling
from consilience.minority._width import _median, gamma_of_distances


def planted(d, spread, seed, n=400, m=20):
    """Normal noise and two groups around two of its objects, so much narrower."""
    rng = np.random.default_rng([seed, d])
    X = rng.normal(size=(n + 2 * m, d))
    for group, rows in enumerate((slice(n, n + m), slice(n + m, n + 2 * m))):
        X[rows] = X[group] + spread * X[rows]
    return X, np.r_[np.zeros(n), np.repeat([1, 2], m)]


def width_slowly(X):
    """Reference: the median object's neighbour, and the median pair."""
    gaps = squareform(pdist(X, "sqeuclidean"))
    near = [sorted(np.delete(row, i))[neighbour(len(X)) - 1] for i, row in enumerate(gaps)]
    return max(6 / np.median(near), 10 / np.median(pdist(X, "sqeuclidean")))


def neighbour(n):
    """The number of the neighbour that is looked at: a hundredth of the objects, two at least."""
    return min(max(int(np.ceil(0.01 * n)), 2), n - 1)


@pytest.mark.parametrize("n", [2, 50, 300])
@pytest.mark.parametrize("d", [1, 3, 30])
def test_the_width_is_its_definition(d, n, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    wanted = width_slowly(X)
    assert gamma_of_distances(X, 0) == pytest.approx(wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        model = EWOCS(n_repetitions=2, scaling="none", threshold="2gauss", random_state=0).fit(X)
    assert model.divergence_.gamma == pytest.approx(wanted)
    assert model.divergence_.alpha == 10


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_change_of_unit_changes_the_width_with_it(factor, seed):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    ratio = gamma_of_distances(factor * X, 0) / gamma_of_distances(X, 0)
    assert ratio == pytest.approx(factor**-2)


def test_equal_pairs_say_nothing_about_the_width(seed):
    """Of four copies each, the neighbour of a hundredth is the nearest object that is not equal."""
    X = np.random.default_rng(seed).normal(size=(70, 3))
    gaps = squareform(pdist(X, "sqeuclidean"))
    np.fill_diagonal(gaps, np.inf)
    wanted = max(6 / np.median(gaps.min(axis=1)), 10 / np.median(pdist(X, "sqeuclidean")))
    assert gamma_of_distances(np.repeat(X, 4, axis=0), 0) == pytest.approx(wanted)
    assert gamma_of_distances(np.ones((5, 2)), 0) == 10
    assert gamma_of_distances(np.ones((1, 2)), 0) == 10


def test_sparse_and_single_precision_have_the_same_width(seed):
    X = np.random.default_rng(seed).binomial(3, 0.2, (80, 12)).astype(float)
    wanted = gamma_of_distances(X, 0)
    assert gamma_of_distances(sparse.csr_array(X), 0) == pytest.approx(wanted)
    assert gamma_of_distances(X.astype(np.float32), 0) == pytest.approx(wanted, rel=1e-5)


def test_a_sample_of_many_objects_is_drawn_by_the_seed(seed):
    X = np.random.default_rng(seed).normal(size=(3000, 2))
    found = [gamma_of_distances(X, s) for s in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    assert found[2] == pytest.approx(found[0], rel=0.1)


@pytest.mark.parametrize(("d", "spread"), [(2, 0.05), (20, 0.5), (200, 0.6), (2000, 0.7)])
def test_the_default_sees_groups_at_any_number_of_columns(d, spread):
    """The width of the paper sees nothing from two hundred columns on, and the flag says so."""
    for seed in range(2):
        X, y = planted(d, spread, seed)
        model = EWOCS(n_repetitions=40, threshold="2gauss", random_state=seed).fit(X)
        assert auc(model.scores_, y) > 0.95
        if d >= 200:
            with pytest.warns(ConsilienceWarning, match="Nothing stands out"):
                old = EWOCS(gamma=10.0, scaling="box", n_repetitions=40, random_state=seed).fit(X)
            assert old.flag_ == "no_contrast"


def test_on_the_data_of_the_paper_the_default_is_no_worse_than_its_width():
    for d in (2, 3, 5, 8):
        gaps = []
        for seed in range(3):
            X, y = make_minority(d, background=0.3, foreground=0.3, random_state=10 * d + seed)
            new, old = (
                EWOCS(
                    gamma=gamma,
                    n_repetitions=40,
                    threshold="2gauss",
                    clusterer=None,
                    random_state=seed,
                ).fit(X)
                for gamma in ("distance", 10.0)
            )
            gaps.append(auc(new.scores_, y) - auc(old.scores_, y))
        assert np.mean(gaps) > -0.005


def test_published_settings_do_not_follow_the_default():
    for weak in ("soft", "hard", "split"):
        model = EWOCS.preset("paper", weak=weak)
        assert (model.alpha, model.gamma) == (10.0, 10.0)


def test_a_width_is_looked_for_in_the_scaled_data(seed):
    """Columns of two units: in the unit of the larger one the other would be invisible."""
    X = planted(3, 0.1, seed, n=150, m=10)[0] * [1.0, 1000.0, 1.0]
    model = EWOCS(gamma="contrast", scaling="box", n_repetitions=5, random_state=seed).fit(X)
    scaled = fit_scaling("box", X, owner="test").apply(X)
    wanted = tune_gaussian(scaled, "contrast", random_state=model.seed_).gamma
    assert model.divergence_.gamma == wanted


@pytest.mark.parametrize("n", [300, 1200])
def test_rows_that_lie_in_a_file_have_the_width_of_those_in_memory(n, tmp_path):
    X, _ = planted(2, 0.1, 0, n=n)
    np.save(tmp_path / "rows.npy", X)
    stored = open_rows(str(tmp_path / "rows.npy"))
    assert gamma_of_distances(stored.values, 3) == gamma_of_distances(X, 3)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "values",
    [
        np.array([3.0]),
        np.array([3.0, 1.0]),
        np.repeat(2.0, 500),
        np.random.default_rng(0).normal(size=2001) ** 2,
        np.random.default_rng(1).normal(size=2000),
        np.arange(1000.0),
        np.r_[np.zeros(970), np.tile([9.0] * 96 + [0.0], 10)],  # the few looked at are all small
        np.r_[np.tile([9.0] + [0.0] * 96, 10)],  # and all large
    ],
)
def test_the_median_of_parts_is_that_of_all(values, n_jobs):
    for cut in (0, 1, len(values) // 3):
        parts = [values[:cut], values[cut:]]
        assert _median(parts, n_jobs) == np.median(values)
