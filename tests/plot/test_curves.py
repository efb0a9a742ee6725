"""ROC and precision-recall: the lines are the curves of `compare`, the legend their areas."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from consilience.compare import auc, precision_recall_curve, roc_curve
from consilience.errors import InvalidInputError
from consilience.plot import average_precision, plot_precision_recall, plot_roc


def scored(seed, n=200):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = 0, 1
    return (rng.normal(size=n) + y).round(1), y


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_roc_of_several_methods(plt, seed):
    scores, y = scored(seed)
    named = {"A": scores, "B": -scores}
    ax = plot_roc(named, y)
    assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]
    for line, values in zip(ax.lines[1:], named.values(), strict=True):
        curve = roc_curve(values, y)
        np.testing.assert_array_equal(line.get_xydata(), np.c_[curve.x, curve.y])
    assert words(ax) == [f"{name}: area {auc(values, y):.3f}" for name, values in named.items()]


def test_precision_and_recall(plt, seed):
    scores, y = scored(seed)
    ax = plot_precision_recall(scores, y)
    curve = precision_recall_curve(scores, y)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(y.mean())
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), curve.x)
    np.testing.assert_array_equal(ax.lines[1].get_ydata()[1:], curve.y[1:])
    assert ax.lines[1].get_ydata()[0] == curve.y[1]
    wanted = average_precision_score(y, scores)
    assert average_precision(curve) == pytest.approx(wanted)
    assert words(ax) == [f"average precision {wanted:.3f}"]


def test_many_points_keep_their_ends(plt, seed):
    rng = np.random.default_rng(seed)
    scores, y = rng.random(9000), np.arange(9000) % 2
    for draw in (plot_roc, plot_precision_recall):
        line = draw(scores, y).lines[-1]
        assert len(line.get_xdata()) <= 2000
        assert line.get_xdata()[0] == 0
        assert line.get_xdata()[-1] == 1


@pytest.mark.parametrize("draw", [plot_roc, plot_precision_recall])
def test_bad_input(draw):
    with pytest.raises(InvalidInputError, match="no foreground object"):
        draw([1, 2], [0, 0])
    with pytest.raises(InvalidInputError, match="one true source for each of the 2"):
        draw([1, 2], [0])
    with pytest.raises(InvalidInputError, match="at least one method"):
        draw({}, [0, 1])
