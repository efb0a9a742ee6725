"""Minority scores: the curve, its thresholds, the histogram and the Gaussians over it."""

import numpy as np
import pytest
from scipy.stats import norm

from consilience.datasets import make_toy_minority
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority import EWOCS, thresholds
from consilience.minority._score_mixture import fit, to_unit
from consilience.plot import plot_score_histogram, plot_scores, score_curve, score_histogram


def two_humps(seed, n=300):
    rng = np.random.default_rng(seed)
    scores = np.r_[rng.normal(0.2, 0.05, n), rng.normal(0.8, 0.04, n // 6)]
    truth = np.repeat([0, 1], [n, n // 6])
    order = rng.permutation(len(scores))
    return scores[order], truth[order]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_curve_is_the_sorted_scores(plt, seed):
    scores, truth = two_humps(seed)
    ax = plot_scores(scores, y=truth, m=50)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.sort(scores)[::-1])
    rules = thresholds.every(scores, y=truth, m=50)
    assert words(ax) == [
        *(f"{rule.method}: {rule.n_foreground} objects" for rule in rules),
        "foreground in the truth",
    ]
    marks = {tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() in "osD^*v"}
    assert {(rule.n_foreground, rule.value) for rule in rules} <= marks
    # From each mark a line falls to the lowest score.
    falls = {tuple(map(tuple, line.get_xydata())) for line in ax.lines if line.get_ls() == "--"}
    least = scores.min()
    assert falls == {
        ((rule.n_foreground, least), (rule.n_foreground, rule.value)) for rule in rules
    }
    strokes = next(line for line in ax.lines if line.get_marker() == "|")
    order = np.argsort(-scores, kind="stable")
    np.testing.assert_array_equal(strokes.get_xdata(), 1 + np.flatnonzero(truth[order]))


def test_many_scores_are_thinned_but_not_at_the_thresholds(seed):
    scores, _ = two_humps(seed, 12_000)
    shown = score_curve(scores)
    assert len(shown.ranks) <= 2010
    descending = np.sort(scores)[::-1]
    np.testing.assert_array_equal(shown.scores, descending[shown.ranks - 1])
    assert shown.ranks[0] == 1
    assert shown.ranks[-1] == shown.n_objects == len(scores)
    assert {rule.n_foreground for rule in shown.thresholds} <= set(shown.ranks.tolist())


def test_equal_scores_have_no_threshold(plt):
    assert words(plot_scores(np.ones(5))) == [
        "2gauss: nothing",
        "dist: nothing",
        "ngauss+var: nothing",
    ]
    shown = score_histogram(np.ones(5), bins=3)
    assert shown.counts.sum() == 5
    assert shown.expected([1.0]).sum() > 4.9
    plot_score_histogram(np.ones(5), threshold=0.5)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 250.0])
def test_gaussians_are_those_of_the_rules_in_the_units_of_the_scores(seed, scale):
    scores, _ = two_humps(seed)
    shown = score_histogram(scale * scores - 3 * scale, n_components=2, bins=30)
    found = fit(to_unit(scores), 2)
    reach, low = np.ptp(scores), scores.min()
    np.testing.assert_allclose(shown.means, scale * (low + reach * found.means - 3), rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(shown.variances), scale * reach * np.sqrt(found.variances))
    assert shown.weights.sum() == pytest.approx(1)


def test_curves_count_objects_in_a_bin(plt, seed):
    scores, _ = two_humps(seed)
    shown = score_histogram(scores, bins=40)
    width = shown.edges[1] - shown.edges[0]
    middles = shown.edges[:-1] + width / 2
    expected = shown.expected(middles)
    # Narrow bins: the density times the width.
    density = norm.pdf(middles, shown.means[:, None], np.sqrt(shown.variances)[:, None])
    small = shown.variances[:, None] > (3 * width) ** 2
    wanted = len(scores) * shown.weights[:, None] * density * width
    np.testing.assert_allclose(
        np.where(small, expected, 0), np.where(small, wanted, 0), rtol=0.1, atol=0.2
    )
    # Over the whole line the curves hold all objects.
    far = np.arange(-200, 240) * width + middles[0]
    assert shown.expected(far).sum() == pytest.approx(len(scores))
    ax = plot_score_histogram(scores, bins=40, threshold=0.5)
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], shown.counts)
    gaussians = [line for line in ax.lines if line.get_label().startswith("Gaussian")]
    assert len(gaussians) == len(shown.means)
    np.testing.assert_allclose(
        [line.get_ydata() for line in gaussians], shown.expected(gaussians[0].get_xdata())
    )
    assert ax.lines[-1].get_xdata() == [0.5, 0.5]


def test_an_estimator_brings_scores_and_threshold(plt):
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-5, 5, (600, 2)), rng.normal(0, 0.1, (60, 2))]
    model = EWOCS(n_repetitions=10, random_state=0).fit(X)
    assert plot_scores(model).lines[0].get_ydata()[0] == model.scores_.max()
    assert f"threshold {model.threshold_:.3g}" in words(plot_score_histogram(model))


def test_logarithmic_count(plt, seed):
    ax = plot_score_histogram(two_humps(seed)[0], log=True)
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] > 0


def test_bad_input(seed):
    scores, truth = two_humps(seed)
    with pytest.raises(InvalidInputError, match="plot_scores needs finite scores"):
        score_curve([1.0, np.nan])
    with pytest.raises(InvalidInputError, match="plot_score_histogram needs a vector"):
        score_histogram([])
    with pytest.raises(InvalidInputError, match="plot_scores needs one true source"):
        score_curve(scores, y=truth[:5])
    with pytest.raises(InvalidParameterError, match="'n_components' parameter"):
        score_histogram(scores, n_components=11)
    with pytest.raises(InvalidParameterError, match="'bins' parameter"):
        score_histogram(scores, bins=0)
    with pytest.raises(InvalidParameterError, match="'threshold' parameter"):
        plot_score_histogram(scores, threshold="dist")


def test_a_histogram_has_sixty_bins_unless_told(plt, monkeypatch):
    from consilience.plot import scores as module

    values = np.linspace(0, 1, 200) ** 2
    made = module.score_histogram(values, n_components=1)
    assert len(made.counts) == 60
    asked = []

    def histogram(scores, *, n_components, bins):
        asked.append(bins)
        return made

    monkeypatch.setattr(module, "score_histogram", histogram)
    module.plot_score_histogram(values, n_components=1)
    assert asked == [60]


def test_the_cut_of_a_fitted_model_is_drawn_first():
    X, _ = make_toy_minority(0.15, random_state=3)
    model = EWOCS(n_repetitions=30, random_state=0).fit(X)
    shown = score_curve(model)
    assert shown.thresholds[0] == model.threshold_result_
    assert [rule.method for rule in shown.thresholds[1:]] == ["2gauss", "dist", "ngauss+var"]
    published = EWOCS(n_repetitions=30, threshold="dist", random_state=0).fit(X)
    assert [rule.method for rule in score_curve(published).thresholds] == [
        "2gauss",
        "dist",
        "ngauss+var",
    ]
