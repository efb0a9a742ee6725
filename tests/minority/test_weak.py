"""Weak clusterers draw from their key alone, and grade as their definitions say."""

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import InvalidParameterError
from consilience.minority.divergences import resolve
from consilience.minority.weak import (
    SAMPLE,
    WEAK,
    RandomBregman,
    RandomSplit,
    random,
    weak_clusterer,
)

WEAKS = {
    "split": weak_clusterer("split", k_max=8),
    "hard": weak_clusterer("hard", divergence="mahalanobis", k_max=9),
    "soft": weak_clusterer("soft", divergence="gaussian", k_max=9),
    "soft euclidean": weak_clusterer("soft", k_max=9),
    "soft kl": weak_clusterer("soft", divergence="kl", k_max=9),
}


@pytest.fixture(params=sorted(WEAKS))
def weak(request):
    return WEAKS[request.param]


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).uniform(0.1, 1, size=(60, 3))


def grades_slowly(weak, X, draw):
    """Reference: one object at a time."""
    out = np.zeros((len(X), draw.n_clusters))
    for i, x in enumerate(X):
        if isinstance(weak, RandomSplit):
            out[i, np.argmax(draw.planes[:, :-1] @ x + draw.planes[:, -1])] = 1
            continue
        distances = weak.divergence.pair(x[None], X[draw.rows])[0]
        if weak.soft:
            weights = np.exp(-(distances - distances.min()))
            out[i] = weights / weights.sum()
        else:
            out[i, distances.argmin()] = 1
    return out


def test_grades_equal_the_definition(weak, X, seed):
    fitted = weak.fit(X)
    for number in range(5):
        draw = fitted.draw(seed, number)
        found = fitted.grades(fitted.objects(X), fitted.model(X, draw))
        np.testing.assert_allclose(found, grades_slowly(fitted, X, draw), atol=1e-10)


@pytest.mark.parametrize("name", ["split", "soft", "soft kl"])
def test_sparse_grades_equal_dense(name, X, seed):
    X = np.where(np.random.default_rng(seed).uniform(size=X.shape) < 0.4, 0, X)
    stored, fitted = WEAKS[name].fit(sparse.csr_array(X)), WEAKS[name].fit(X)
    draw = fitted.draw(seed, 0)
    wanted = fitted.grades(fitted.objects(X), fitted.model(X, draw))
    S = sparse.csr_array(X)
    np.testing.assert_allclose(
        stored.grades(stored.objects(S), stored.model(S, draw)), wanted, atol=1e-8
    )


def test_a_draw_depends_on_its_key_only(weak, X):
    fitted = weak.fit(X)
    for number in (3, 0, 2**40):
        first, second = fitted.draw(7, number), fitted.draw(7, number)
        assert first.n_clusters == second.n_clusters
        np.testing.assert_array_equal(first.rows, second.rows)
        np.testing.assert_array_equal(first.planes, second.planes)
    numbers = [
        random(*key).integers(2**60)
        for key in [(7, WEAK, 0), (8, WEAK, 0), (7, SAMPLE, 0), (7, WEAK, 1), (7, WEAK, 2**40)]
    ]
    assert len(set(numbers)) == 5


def test_numbers_of_clusters_are_uniform_and_seeds_distinct(X):
    fitted = weak_clusterer("soft", k_max=6).fit(X)
    draws = [fitted.draw(0, r) for r in range(2000)]
    counts = np.bincount([draw.n_clusters for draw in draws], minlength=7)[2:]
    assert counts.sum() == 2000
    # Five standard deviations of a share of one fifth.
    assert np.abs(counts - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)
    assert all(len(set(draw.rows.tolist())) == draw.n_clusters for draw in draws)
    used = np.bincount(np.concatenate([draw.rows for draw in draws]), minlength=60)
    assert used.min() > 0.5 * used.mean()


def test_hyperplanes_are_uniform(X):
    fitted = weak_clusterer("split").fit(X)
    values = np.concatenate([fitted.draw(0, r).planes.ravel() for r in range(200)])
    assert -1 <= values.min() < -0.99 < 0.99 < values.max() <= 1
    assert abs(values.mean()) < 5 * np.sqrt(1 / 3 / len(values))


@pytest.mark.parametrize(("n", "most"), [(1, 1), (2, 2), (5, 5)])
def test_no_more_clusters_than_objects(n, most, X):
    for weak in WEAKS.values():
        fitted = weak.fit(X[:n])
        found = {fitted.draw(0, r).n_clusters for r in range(100)}
        assert found == set(range(min(2, n), most + 1))


def test_equal_seeds_share_a_soft_grade_and_the_first_takes_a_hard_one():
    X = np.tile([[0.1, 0.7]], (40, 1))
    soft = weak_clusterer("soft", divergence="gaussian", k_max=20).fit(X)
    hard = weak_clusterer("hard", divergence="mahalanobis", k_max=20).fit(X)
    draw = soft.draw(0, 0)
    assert draw.n_clusters > 2
    np.testing.assert_allclose(
        soft.grades(soft.objects(X), soft.model(X, draw)), 1 / draw.n_clusters
    )
    assert (hard.labels(hard.objects(X), hard.model(X, draw)) == 0).all()


def test_ties_of_whole_numbers_go_to_the_first_seed(seed):
    # On a grid many objects are equally far from several seeds; centring rounds them apart.
    X = np.random.default_rng(seed).integers(0, 4, (300, 2)) + 0.1
    hard = weak_clusterer("hard", divergence="euclidean", k_max=30).fit(X)
    for number in range(10):
        draw = hard.draw(seed, number)
        gaps = ((X[:, None] - X[draw.rows]) ** 2).sum(axis=2).round(6)
        labels = hard.labels(hard.objects(X), hard.model(X, draw))
        np.testing.assert_array_equal(labels, gaps.argmin(axis=1))


def test_a_very_hard_gaussian_is_the_nearest_seed(X, seed):
    soft = RandomBregman(k_max=9, divergence=resolve("gaussian", alpha=1e6, gamma=0.1)).fit(X)
    hard = weak_clusterer("hard", divergence="euclidean", k_max=9).fit(X)
    draw = soft.draw(seed, 1)
    grades = soft.grades(soft.objects(X), soft.model(X, draw))
    labels = hard.labels(hard.objects(X), hard.model(X, draw))
    # Objects within a ten-thousandth of a border may keep a share on both sides.
    clear = grades.max(axis=1) > 0.9
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(grades.argmax(axis=1)[clear], labels[clear])


def test_objects_and_bad_parameters():
    assert weak_clusterer(WEAKS["hard"]) is WEAKS["hard"]
    assert weak_clusterer("soft").k_max == 100
    with pytest.raises(InvalidParameterError, match="weak"):
        weak_clusterer("firm")
    with pytest.raises(InvalidParameterError, match="k_max"):
        weak_clusterer("soft", k_max=1)
