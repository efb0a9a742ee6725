"""Measures of the foreground against their definitions and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from consilience import compare
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority import thresholds


@st.composite
def scored_objects(draw):
    """Scores with ties, and a truth with both kinds of objects."""
    n = draw(st.integers(2, 30))
    scores = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), float)
    y = np.array([*draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2)), 0, 1])
    return scores, y


@given(scored_objects())
def test_auc_counts_pairs_and_halves_ties(both):
    scores, y = both
    inside, outside = scores[y > 0], scores[y == 0]
    wins = (inside[:, None] > outside).sum() + 0.5 * (inside[:, None] == outside).sum()
    assert compare.auc(scores, y) == pytest.approx(wins / (len(inside) * len(outside)))
    assert compare.auc(scores, y) == pytest.approx(metrics.roc_auc_score(y > 0, scores))
    assert compare.auc(-scores, y) == pytest.approx(1 - compare.auc(scores, y))


@given(scored_objects())
def test_hard_results_have_a_roc_of_two_segments(both):
    scores, y = both
    labels = np.where(scores > 0, 3, -1)
    area = compare.hard_auc(labels, y)
    assert area == pytest.approx(compare.auc(labels >= 0, y))
    assert area == pytest.approx(compare.hard_auc(labels >= 0, y))
    curve = compare.roc_curve(labels, y)
    assert len(curve.x) <= 3
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(area)


@given(scored_objects())
def test_curves_follow_the_thresholds(both):
    scores, y = both
    roc = compare.roc_curve(scores, y)
    precision_recall = compare.precision_recall_curve(scores, y)
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(compare.auc(scores, y))
    assert (precision_recall.x[0], precision_recall.y[0]) == (0, 1)
    np.testing.assert_array_equal(roc.thresholds, [np.inf, *np.unique(scores)[::-1]])
    for i, threshold in list(enumerate(roc.thresholds))[1:]:
        found = compare.precision_recall_f1(scores >= threshold, y)
        assert roc.y[i] == pytest.approx(found.recall)
        assert roc.x[i] == pytest.approx((found.n_found - found.n_right) / (y == 0).sum())
        assert precision_recall.x[i] == pytest.approx(found.recall)
        assert precision_recall.y[i] == pytest.approx(found.precision)


@given(scored_objects())
def test_precision_recall_f1_agree_with_scikit_learn(both):
    scores, y = both
    labels = np.where(scores > 0, 0, -1)
    found = compare.precision_recall_f1(labels, y)
    wanted = metrics.precision_recall_fscore_support(
        y > 0, labels >= 0, average="binary", zero_division=0.0
    )
    assert (found.precision, found.recall, found.f1) == pytest.approx(wanted[:3])
    assert found.n_objects == len(y)


@given(scored_objects())
def test_best_threshold_has_the_best_f1_of_the_curve(both):
    scores, y = both
    if scores.min() == scores.max():
        return
    curve = compare.precision_recall_curve(scores, y)
    total = np.maximum(curve.x + curve.y, 1e-300)
    f1 = 2 * curve.x * curve.y / total
    best = compare.precision_recall_f1(scores >= thresholds.best(scores, y).value, y).f1
    assert best == pytest.approx(f1.max())


def test_undefined_ratios_are_zero():
    nothing = compare.precision_recall_f1([-1, -1], [1, 0])
    assert (nothing.precision, nothing.recall, nothing.f1) == (0, 0, 0)
    none_true = compare.precision_recall_f1([0, -1], [0, 0])
    assert (none_true.precision, none_true.recall, none_true.f1) == (0, 0, 0)
    neither = compare.precision_recall_f1([-1, -1], [False, False])
    assert (neither.precision, neither.recall, neither.f1) == (0, 0, 0)


@pytest.mark.parametrize("y", [[0, 0], [1, 2]])
def test_areas_need_both_kinds(y):
    for measure in (compare.auc, compare.roc_curve, compare.precision_recall_curve):
        with pytest.raises(InvalidInputError, match="not defined: the truth has no"):
            measure([0.1, 0.2], y)
    with pytest.raises(InvalidInputError, match="not defined"):
        compare.hard_auc([0, -1], y)


def test_input_that_cannot_be_used():
    with pytest.raises(InvalidInputError, match="each of the 2 objects"):
        compare.auc([1, 2], [0, 1, 1])
    with pytest.raises(InvalidInputError, match="finite"):
        compare.auc([1, np.nan], [0, 1])
    with pytest.raises(InvalidInputError, match="one label for each object"):
        compare.precision_recall_f1(["a", "b"], [0, 1])
    with pytest.raises(InvalidInputError, match="one label for each object"):
        compare.hard_auc([], [])
    for measure in (compare.hard_auc, compare.precision_recall_f1):
        with pytest.raises(InvalidInputError, match="a label for every object, -1"):
            measure([0, np.nan, 1, -1], [1, 1, 1, 0])
    with pytest.raises(InvalidParameterError, match="true source"):
        compare.hard_auc([0, -1], None)
