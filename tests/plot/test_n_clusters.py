"""Consensus CDF, delta area and ambiguous pairs: the lines are the numbers of the result."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from consilience.consensus import MontiConsensus, MontiResult
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.plot import plot_consensus_cdf, plot_delta_area, plot_pac


@pytest.fixture
def result(seed):
    """A result of four numbers of clusters, of which 4 was chosen; only the curves matter."""
    rng = np.random.default_rng(seed)
    nothing = np.zeros(2)
    return MontiResult(
        labels=np.array([0, 1], np.int32),
        n_clusters=4,
        candidates=np.array([2, 3, 4, 6]),
        thresholds=np.linspace(0, 1, 101),
        cdf=np.sort(rng.random((4, 101)), axis=1),
        area=rng.random(4),
        delta=rng.random(4),
        pac=rng.random(4),
        reference_pac=rng.random(4),
        confidence=nothing,
        runner_up=np.zeros(2, np.int32),
        item_consensus=nothing,
        cluster_consensus=nothing,
        linkage=np.array([[0, 1, 1.0, 2]]),
        ensemble=Ensemble([[0, 1]]),
    )


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_line_for_each_number(plt, result):
    ax = plot_consensus_cdf(result)
    curves = [line for line in ax.lines if len(line.get_xdata()) == 101]
    np.testing.assert_array_equal([line.get_ydata() for line in curves], result.cdf)
    assert words(ax) == ["k = 2", "k = 3", "k = 4, chosen", "k = 6"]
    widths = [line.get_linewidth() for line in curves]
    assert np.argmax(widths) == 2
    assert len({to_hex(line.get_color()) for line in curves}) == 4


@pytest.mark.parametrize(("n", "n_columns"), [(16, 1), (17, 2), (32, 2), (33, 3)])
def test_sixteen_names_stand_in_a_column(plt, result, n, n_columns):
    many = replace(result, candidates=np.arange(2, n + 2), cdf=np.tile(result.cdf[:1], (n, 1)))
    assert plot_consensus_cdf(many).get_legend()._ncols == n_columns


def test_delta_area_marks_the_chosen_number(plt, result):
    ax = plot_delta_area(result)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[[2, 3, 4, 6], result.delta])
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), [[4, result.delta[2]]])
    assert words(ax) == ["chosen: k = 4"]
    low, high = ax.get_ylim()
    assert low <= min(0, result.delta.min())
    assert high > result.delta.max()


def test_ambiguous_pairs_beside_their_reference(plt, result):
    ax = plot_pac(result)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), result.pac)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), result.reference_pac)
    assert words(ax) == ["the data", "permuted data", "chosen: k = 4"]
    assert [line.get_linestyle() for line in ax.lines[:2]] == ["-", "--"]
    alone = plot_pac(replace(result, reference_pac=np.full(4, np.nan)))
    assert words(alone) == ["the data", "chosen: k = 4"]


def test_the_estimator_tells_its_own_number_and_window(plt):
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [9]], 15, axis=0)
    model = MontiConsensus((2, 3), n_resamples=8, window=(0.2, 0.7), random_state=0).fit(X)
    ax = plot_consensus_cdf(model)
    assert f"k = {model.n_clusters_}, chosen" in words(ax)
    dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert dotted == [0.2, 0.7]
    assert words(plot_delta_area(model)) == [f"chosen: k = {model.n_clusters_}"]


@pytest.mark.parametrize("draw", [plot_consensus_cdf, plot_delta_area, plot_pac])
def test_bad_input(draw):
    with pytest.raises(InvalidInputError, match=f"{draw.__name__} needs a MontiResult.*Got dict"):
        draw({})
    with pytest.raises(InvalidInputError, match=r"fitted\. Got MontiConsensus"):
        draw(MontiConsensus())
