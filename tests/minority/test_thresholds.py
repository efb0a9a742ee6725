"""Thresholds: each rule against its definition, and every way scores can be unhelpful."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import norm

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority import _cuts, thresholds
from consilience.minority import _score_mixture as mixtures

UNSUPERVISED = {
    "dist": thresholds.dist,
    "ngauss+var": thresholds.ngauss_var,
    "2gauss": thresholds.two_gauss,
}
RULES = {
    **UNSUPERVISED,
    "best": lambda s: thresholds.best(s, np.arange(len(s)) % 2),
    "ngauss+best": lambda s: thresholds.ngauss_best(s, np.arange(len(s)) % 2),
    "size": lambda s: thresholds.size(s, 1),
    "number": lambda s: thresholds.find(s, 0.5),
}
# Few distinct values: ties everywhere.
TIED = st.lists(st.integers(0, 6), min_size=2, max_size=30)
LOOSE = st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=40)
VECTORS = st.one_of(TIED, LOOSE).map(lambda s: np.array(s, float))


def drawn_scores(seed, n=600, share=0.2):
    """Two groups, the higher one with a tail; foreground first."""
    rng = np.random.default_rng(seed)
    m = int(share * n)
    scores = np.concatenate([0.35 + rng.gamma(3, 0.06, m), rng.normal(0.1, 0.04, n - m)])
    return scores, np.repeat([1, 0], [m, n - m])


def f1_of(selected, truth):
    right = (selected & truth).sum()
    return 2 * right / (selected.sum() + truth.sum())


def fitted_slowly(scores, k, floor=1e-12):
    """Reference: section 4.1 object by object, without counts."""
    s = np.sort(scores)[::-1]
    n = len(s)
    grades = np.zeros((n, k))
    for c in range(k):
        grades[math.floor(c * n / k) : math.floor((c + 1) * n / k), c] = 1
    mean, var = np.full(k, s.mean()), np.full(k, floor)
    before = -np.inf
    for _ in range(100):
        mass = grades.sum(axis=0)
        for c in np.flatnonzero(mass > 0):
            mean[c] = np.average(s, weights=grades[:, c])
            var[c] = max(np.average((s - mean[c]) ** 2, weights=grades[:, c]), floor)
        weight = (mass + 1) / (n + k)
        logs = np.log(weight) + norm.logpdf(s[:, None], mean, np.sqrt(var))
        total = logsumexp(logs, axis=1)
        grades = np.exp(logs - total[:, None])
        likelihood = total.sum()
        if likelihood - before < 1e-6 * abs(before):
            break
        before = likelihood
    order = np.argsort(-mean, kind="stable")
    return likelihood, mean[order], var[order], weight[order], grades[:, order]


def boundary_slowly(descending, foreground):
    """Reference: smallest score above the last fall of the probability below one half."""
    for i in range(len(descending) - 2, -1, -1):
        if foreground[i] >= 0.5 > foreground[i + 1]:
            return descending[i]
    return None


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_mixture_equals_its_definition(seed, k, decimals):
    scores = drawn_scores(seed, n=150)[0].round(decimals)
    found = mixtures.fit(scores, k)
    likelihood, mean, var, weight, grades = fitted_slowly(scores, k)
    assert found.log_likelihood == pytest.approx(likelihood, rel=1e-8)
    np.testing.assert_allclose(found.means, mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.variances, var, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.weights, weight, rtol=1e-6)
    back = found.posteriors[np.argsort(-scores, kind="stable")]
    np.testing.assert_allclose(back, grades, atol=1e-5)


def test_mixture_of_one_is_the_normal_distribution(seed):
    scores = np.random.default_rng(seed).normal(3, 2, 400)
    found = mixtures.fit(scores, 1)
    assert found.means[0] == pytest.approx(scores.mean())
    assert found.variances[0] == pytest.approx(scores.var())
    wanted = norm.logpdf(scores, scores.mean(), scores.std()).sum()
    assert found.log_likelihood == pytest.approx(wanted)


def test_floor_of_the_variances_and_equal_scores():
    found = mixtures.fit(np.full(9, 0.3), 2, variance_floor=1e-4)
    assert (found.variances == 1e-4).all()
    assert np.isfinite(found.log_likelihood)
    np.testing.assert_allclose(found.posteriors.sum(axis=1), 1)
    np.testing.assert_array_equal(mixtures.to_unit(np.full(4, 7.0)), 0)


def test_bic_counts_three_parameters_a_component(seed):
    scores = mixtures.to_unit(drawn_scores(seed)[0])
    points = mixtures.condense(np.sort(scores)[::-1])
    n = len(scores)
    bic = [2 * fitted_slowly(scores, k)[0] - (3 * k - 1) * np.log(n) for k in range(1, 11)]
    assert mixtures.choose(points).n_components == 1 + int(np.argmax(bic))


@given(VECTORS)
def test_ends_are_consistent_with_the_scores(scores):
    for name, rule in RULES.items():
        found = rule(scores)
        assert found.method == name
        assert found.n_foreground == (scores >= found.value).sum()
        assert (found.flag in (None, "clamped")) == np.isfinite(found.value)
        if np.isfinite(found.value):
            assert name == "number" or found.value in scores
            assert found.value in found.candidates
            assert sorted(found.candidates, reverse=True) == list(found.candidates)
        else:
            assert found.n_foreground == 0
            assert not found.candidates
        assert found.why.endswith(".")


@given(VECTORS, st.sampled_from([0.25, 8.0]), st.sampled_from([-4.0, 0.0, 16.0]))
def test_linear_maps_change_nothing(scores, factor, shift):
    # Rounding must not merge distinct scores, or the question is another one.
    scores = np.round(scores * 64) / 64
    for name, rule in UNSUPERVISED.items():
        plain, mapped = rule(scores), rule(factor * scores + shift)
        assert (plain.n_foreground, plain.flag) == (mapped.n_foreground, mapped.flag), name


@given(VECTORS, st.randoms())
def test_order_of_objects_changes_nothing(scores, random):
    places = list(range(len(scores)))
    random.shuffle(places)
    for rule in UNSUPERVISED.values():
        assert rule(scores) == rule(scores[places])


@given(VECTORS, st.data())
def test_best_is_the_largest_f1_of_all_cuts(scores, data):
    truth = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))))
    found = thresholds.best(scores, truth)
    if scores.min() == scores.max():
        assert found.flag == "no_contrast"
    elif not truth.any():
        assert found.flag == "no_truth"
    else:
        cuts = np.unique(scores)[::-1]
        f1 = [f1_of(scores >= cut, truth) for cut in cuts]
        assert found.value == cuts[int(np.argmax(f1))]


@given(VECTORS)
def test_dist_is_the_nearest_to_the_corner(scores):
    found = thresholds.dist(scores)
    if scores.min() == scores.max():
        assert found.flag == "no_contrast"
        return
    s = np.sort(scores)[::-1]
    z = (s - s[-1]) / (s[0] - s[-1])
    squared = [z[i - 1] ** 2 + (i / len(s)) ** 2 for i in range(1, len(s) + 1)]
    assert found.value == s[int(np.argmin(squared))]


@given(VECTORS, st.integers(0, 45))
def test_size_takes_the_highest_scores_and_their_ties(scores, m):
    found = thresholds.size(scores, m)
    if scores.min() == scores.max():
        assert found.flag == "no_contrast"
        return
    count = min(max(m, 1), len(scores))
    assert found.value == np.sort(scores)[-count]
    assert found.n_foreground >= count
    assert (found.flag == "clamped") == (count != m)
    assert ("Ties" in found.why) == (found.n_foreground > count)


def test_size_as_a_share_of_the_objects():
    scores = np.arange(10.0)
    assert thresholds.size(scores, 0.3).n_foreground == 3
    assert thresholds.size(scores, 1.0).n_foreground == 10
    assert thresholds.size(scores, 1).n_foreground == 1
    assert thresholds.size(scores, 0.001).flag == "clamped"
    assert thresholds.size(scores, 10).flag is None


@pytest.mark.parametrize("m", [-1, 1.5, -0.1, "3", None, True, math.nan])
def test_size_refuses_what_is_no_size(m):
    with pytest.raises(InvalidParameterError, match="'m' parameter of size"):
        thresholds.size([1.0, 2.0], m)


@pytest.mark.parametrize("decimals", [2, 12])
def test_candidates_are_the_boundaries_of_the_mixture(seed, decimals):
    scores, y = drawn_scores(seed)
    scores = scores.round(decimals)
    descending = np.sort(scores)[::-1]
    unit = mixtures.to_unit(descending)
    k = mixtures.choose(mixtures.condense(unit)).n_components
    _, _, var, _, grades = fitted_slowly(unit, k)
    cuts, gaps = [], []
    for c in range(1, k):
        cut = boundary_slowly(descending, grades[:, :c].sum(axis=1))
        if cut is not None:
            cuts.append(cut)
            gaps.append(abs(var[:c].mean() - var[c:].mean()))
    found = thresholds.ngauss_var(scores)
    assert found.candidates == tuple(sorted(set(cuts), reverse=True))
    assert found.value == cuts[int(np.argmax(gaps))]
    f1 = [f1_of(scores >= cut, y > 0) for cut in cuts]
    assert thresholds.ngauss_best(scores, y).value == cuts[int(np.argmax(f1))]
    two = fitted_slowly(unit, 2)[-1]
    assert thresholds.two_gauss(scores).value == boundary_slowly(descending, two[:, 0])


def test_last_crossing_counts():
    # A wide light component wins on both sides of a narrow heavy one.
    probability = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.1, 0.9], [0.6, 0.4]])
    unused = np.zeros(2)
    mixture = mixtures.ScoreMixture(0.0, unused, unused, unused, probability)
    cuts = _cuts._crossings(mixture, np.cumsum([1, 2, 3, 4, 5]))
    assert cuts == {1: 5}  # the sixth object ends the third point


@given(VECTORS)
@settings(max_examples=30)
def test_upper_bounds_are_upper_bounds(scores):
    truth = np.arange(len(scores)) < max(1, len(scores) // 3)
    top = f1_of(scores >= thresholds.best(scores, truth).value, truth)
    among = f1_of(scores >= thresholds.ngauss_best(scores, truth).value, truth)
    assert among <= top + 1e-12
    for rule in UNSUPERVISED.values():
        assert f1_of(scores >= rule(scores).value, truth) <= top + 1e-12
    blind = f1_of(scores >= thresholds.ngauss_var(scores).value, truth)
    assert blind <= among + 1e-12


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("scores", [np.full(7, 0.4), np.zeros(1), np.full(3, -2.5)])
def test_equal_scores_are_all_background(name, scores):
    found = RULES[name](scores)
    assert (found.value, found.n_foreground, found.flag) == (math.inf, 0, "no_contrast")
    assert found.method == name
    assert "equal" in found.why


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "scores",
    [
        np.array([0.0, 1.0]),
        np.array([0.0, 5e-324]),
        np.array([-1.7e308, 1.7e308, 0.0]),
        np.array([1.0, 1.0 + 2**-52, 1.0]),
        np.r_[np.zeros(50), 1e9],
        np.r_[np.ones(50), -1e9],
        np.array([3, 1, 2]),
        np.array([0.1, 0.2, 0.3], np.float32),
    ],
)
def test_extreme_scores_give_a_cut_or_a_flag(name, scores):
    found = RULES[name](scores)
    assert not math.isnan(found.value)
    assert found.n_foreground == (scores >= found.value).sum()
    assert np.isfinite(found.value) or found.flag in ("no_boundary", "no_truth")


def test_one_gaussian_has_no_boundary():
    # Quantiles of a normal distribution: as normal as 300 scores can be.
    scores = norm.ppf((np.arange(300) + 0.5) / 300)
    for found in (
        thresholds.ngauss_var(scores),
        thresholds.ngauss_best(scores, np.arange(300) > 250),
    ):
        assert found.flag == "no_boundary"
        assert (found.value, found.n_foreground, found.candidates) == (math.inf, 0, ())
        assert "One Gaussian" in found.why
        assert f"lowest score ({scores[0]:g}, everything foreground)" in found.why


def test_two_gaussians_without_a_boundary(monkeypatch):
    flat = mixtures.ScoreMixture(0.0, *[np.zeros(2)] * 3, np.tile([0.4, 0.6], (3, 1)))
    monkeypatch.setattr("consilience.minority._cuts.fit_points", lambda points, k: flat)
    found = thresholds.two_gauss([1.0, 2.0, 3.0])
    assert found.flag == "no_boundary"
    assert "highest score (3, one object)" in found.why


def test_groups_far_apart_are_found_by_every_rule_of_gaussians(seed):
    rng = np.random.default_rng(seed)
    scores = np.r_[rng.normal(10, 0.5, 60), rng.normal(0, 0.5, 540)]
    truth = np.arange(600) < 60
    for found in (thresholds.two_gauss(scores), thresholds.ngauss_best(scores, truth)):
        np.testing.assert_array_equal(scores >= found.value, truth)


def test_histogram_agrees_with_all_objects(seed, monkeypatch):
    scores, _ = drawn_scores(seed, n=6000)
    descending = np.sort(scores)[::-1]
    monkeypatch.setattr(mixtures, "EXACT_UP_TO", 10_000)
    exact = [_cuts.boundaries(descending, k) for k in (2, 3, 4)]
    monkeypatch.setattr(mixtures, "EXACT_UP_TO", 100)
    binned = [_cuts.boundaries(descending, k) for k in (2, 3, 4)]
    for (one, cuts), (other, binned_cuts) in zip(exact, binned, strict=True):
        # EM may stop a round earlier or later, so more than the width of a bin is allowed.
        np.testing.assert_allclose(one.means, other.means, atol=0.01)
        assert cuts.keys() == binned_cuts.keys()
        for c in cuts:
            assert abs(cuts[c] - binned_cuts[c]) <= 0.01 * len(scores)
    for found in thresholds.every(scores):
        assert found.value in scores
        assert found.n_foreground == (scores >= found.value).sum()


def test_histogram_takes_over_above_its_size():
    scores = np.random.default_rng(0).random(mixtures.EXACT_UP_TO + 1)
    descending = np.sort(scores)[::-1]
    points = mixtures.condense(descending)
    assert len(points.values) <= mixtures.N_BINS
    assert points.counts.sum() == len(scores)
    # Every object is within half a bin of the point that stands for it.
    stands = np.repeat(points.values, points.counts.astype(int))
    assert np.abs(stands - descending).max() <= points.bin_width / 2 * (1 + 1e-9)
    assert len(mixtures.condense(descending[1:]).values) == len(np.unique(scores[1:]))


def test_a_component_does_not_shrink_onto_a_bin(seed):
    scores = np.r_[np.random.default_rng(seed).normal(0, 1e-4, 25_000), 1.0, -1.0]
    found = mixtures.fit(scores, 3)
    assert (found.variances >= (2 / mixtures.N_BINS) ** 2 / 12 * (1 - 1e-9)).all()
    assert found.posteriors.shape == (25_002, 3)
    np.testing.assert_allclose(found.posteriors.sum(axis=1), 1)


def test_find_by_name(seed):
    scores, y = drawn_scores(seed)
    assert thresholds.find(scores, "2gauss") == thresholds.two_gauss(scores)
    assert thresholds.find(scores, "dist") == thresholds.dist(scores)
    assert thresholds.find(scores, "ngauss") == thresholds.ngauss_var(scores)
    assert thresholds.find(scores, "ngauss+var") == thresholds.ngauss_var(scores)
    assert thresholds.find(scores, "best", y=y) == thresholds.best(scores, y)
    assert thresholds.find(scores, "ngauss+best", y=y) == thresholds.ngauss_best(scores, y)
    assert thresholds.find(scores, "size", m=120) == thresholds.size(scores, 120)
    given_by_hand = thresholds.find(scores, 0.3)
    assert (given_by_hand.value, given_by_hand.method) == (0.3, "number")
    methods = [found.method for found in thresholds.every(scores, y=y, m=120)]
    assert methods == ["2gauss", "dist", "ngauss+var", "size", "best", "ngauss+best"]
    assert len(thresholds.every(scores)) == 3


@pytest.mark.parametrize("method", ["otsu", None, math.nan, math.inf, True])
def test_find_refuses_unknown_rules(method):
    with pytest.raises(InvalidParameterError, match="'method' parameter of find must be one of"):
        thresholds.find([1.0, 2.0], method)


def test_what_a_rule_needs_is_asked_for():
    with pytest.raises(InvalidParameterError, match=r"'y' parameter of best.*2gauss"):
        thresholds.find([1.0, 2.0], "best")
    with pytest.raises(InvalidParameterError, match=r"'y' parameter of ngauss_best"):
        thresholds.ngauss_best([1.0, 2.0], None)
    with pytest.raises(InvalidParameterError, match=r"'m' parameter of find.*share"):
        thresholds.find([1.0, 2.0], "size")


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 0, 0], r"each of the 2 objects.*shape \(3,\)"),
        ([-1, 0], "adding 1"),
        ([0.5, 0], "whole numbers"),
        ([math.nan, 0], "whole numbers"),
        (["a", "b"], "whole numbers"),
    ],
)
def test_a_truth_that_is_none(y, words):
    with pytest.raises(InvalidInputError, match=words):
        thresholds.best([1.0, 2.0], y)


@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]], [math.nan, 1.0], [math.inf, 1.0]])
@pytest.mark.parametrize("name", RULES)
def test_scores_that_are_none(name, scores):
    with pytest.raises(InvalidInputError, match="score"):
        RULES[name](scores)


def test_truth_without_foreground():
    for rule in (thresholds.best, thresholds.ngauss_best):
        found = rule([1.0, 2.0, 3.0], [0, 0, 0])
        assert (found.value, found.flag) == (math.inf, "no_truth")


def test_input_is_not_written_to(seed):
    scores, y = drawn_scores(seed, n=60)
    scores.setflags(write=False)
    y.setflags(write=False)
    thresholds.every(scores, y=y, m=5)
