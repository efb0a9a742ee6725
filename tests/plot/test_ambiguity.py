"""The histogram of ambiguity scores: bars count the objects, colours the flags."""

import numpy as np
import pytest

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import Ambiguity, ambiguous
from consilience.plot import plot_ambiguity


def found_of(seed, n=200):
    scores = np.random.default_rng(seed).random(n)
    return Ambiguity(scores < 0.2, scores, 0.2, "number", "given")


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_bars_count_clear_and_flagged_objects(plt, seed):
    found = found_of(seed)
    found.flags[np.argmin(found.scores)] = False  # spared: below the threshold, not flagged
    ax = plot_ambiguity(found, bins=10)
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, 10)
    counts, edges = np.histogram(found.scores, 10)
    np.testing.assert_array_equal(heights.sum(axis=0), counts)
    np.testing.assert_array_equal(heights[1], np.histogram(found.scores[found.flags], edges)[0])
    feet = [bar.get_y() for bar in ax.patches[10:]]
    np.testing.assert_array_equal(feet, heights[0])
    flagged = found.n_flagged
    assert words(ax)[:2] == [f"clear: {200 - flagged}", f"ambiguous: {flagged}"]
    assert ax.lines[0].get_xdata() == [0.2, 0.2]


def test_objects_without_a_score_are_counted_in_the_title(plt, seed):
    found = found_of(seed)
    found.scores[:3] = np.nan
    found.flags[:3] = True
    ax = plot_ambiguity(found)
    assert sum(bar.get_height() for bar in ax.patches) == 197
    assert ax.get_title() == "3 of 200 objects have no score"


def test_no_threshold_no_line(plt):
    ax = plot_ambiguity(Ambiguity(np.zeros(5, bool), np.ones(5), -np.inf, "none", ""), log=False)
    assert not ax.lines
    assert words(ax) == ["clear: 5", "ambiguous: 0"]
    assert ax.get_yscale() == "linear"


def test_of_an_ensemble(plt, three_groups):
    ensemble, _ = three_groups
    found = ambiguous(ensemble)
    ax = plot_ambiguity(found)
    assert f"threshold {found.threshold:.3g} ({found.rule})" in words(ax)


def test_nothing_is_known(plt):
    ax = plot_ambiguity(Ambiguity(np.ones(4, bool), np.full(4, np.nan), -np.inf, "none", ""))
    assert sum(bar.get_height() for bar in ax.patches) == 0


def test_bad_input(seed):
    with pytest.raises(InvalidInputError, match=r"ambiguous returned\. Got list"):
        plot_ambiguity([0.1, 0.2])
    with pytest.raises(InvalidParameterError, match="'bins' parameter of plot_ambiguity"):
        plot_ambiguity(found_of(seed), bins=0)
    with pytest.raises(InvalidParameterError, match="'log' parameter of plot_ambiguity"):
        plot_ambiguity(found_of(seed), log="yes")
