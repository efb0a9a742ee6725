"""What every plot keeps: draws on the Axes given, returns it, and changes nothing else."""

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from consilience import compare_results, plot
from consilience.consensus import levels, monticonsensus
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError, MissingPackageError
from consilience.evidence import ambiguous, cluster_stability

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3)) + np.repeat([[0], [8]], 12, axis=0)
Y = np.repeat([0, 1], 12)
MEMBERS = Ensemble([Y, np.arange(24) // 6, (np.arange(24) + 3) // 12 % 2])
SCORES = RNG.random(24)
TWO = compare_results(Y, X[:, 0] > 1)
TREE = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.8, 4]])

CALLS = {
    "plot_ambiguity": lambda **given: plot.plot_ambiguity(ambiguous(MEMBERS), **given),
    "plot_co_association": lambda **given: plot.plot_co_association(MEMBERS, Y, **given),
    "plot_consensus_cdf": lambda **given: plot.plot_consensus_cdf(_monti(), **given),
    "plot_delta_area": lambda **given: plot.plot_delta_area(_monti(), **given),
    "plot_dendrogram": lambda **given: plot.plot_dendrogram(TREE, n_clusters=2, **given),
    "plot_embedding": lambda **given: plot.plot_embedding(X, Y, **given),
    "plot_levels": lambda **given: plot.plot_levels(levels(MEMBERS, Y), **given),
    "plot_pac": lambda **given: plot.plot_pac(_monti(), **given),
    "plot_precision_recall": lambda **given: plot.plot_precision_recall(SCORES, Y, **given),
    "plot_roc": lambda **given: plot.plot_roc(SCORES, Y, **given),
    "plot_score_histogram": lambda **given: plot.plot_score_histogram(SCORES, **given),
    "plot_scores": lambda **given: plot.plot_scores(SCORES, y=Y, **given),
    "plot_stability": lambda **given: plot.plot_stability(cluster_stability(MEMBERS), **given),
    "plot_two_answers": lambda **given: plot.plot_two_answers(TWO, **given),
    "plot_vat": lambda **given: plot.plot_vat(MEMBERS, **given),
}


@cache
def _monti():
    return monticonsensus(X, (2, 3), n_resamples=5, random_state=0)


@pytest.fixture(params=sorted(CALLS))
def draw(request):
    return CALLS[request.param]


def test_every_plot_is_here():
    assert set(CALLS) == {name for name in plot.__all__ if name.startswith("plot_")}
    for name in plot.__all__:
        assert getattr(plot, name) is not None


def test_draws_on_the_axes_it_is_given(plt, draw):
    figure, (left, right) = plt.subplots(1, 2)
    assert draw(ax=left) is left
    assert left.has_data()
    assert not right.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_only_planes_and_unit_squares_have_a_frame(plt, name):
    ax = CALLS[name]()
    legend = ax.get_legend()
    assert legend is None or not legend.get_frame_on()
    framed = {"co_association", "vat", "consensus_cdf", "embedding", "precision_recall", "roc"}
    seen = {ax.spines[side].get_visible() for side in ("top", "right")}
    assert seen == {name.removeprefix("plot_") in framed}


def test_makes_one_figure_that_holds_all_its_words(plt, draw):
    ax = draw()
    assert plt.get_fignums() == [ax.figure.number]
    ax.figure.draw_without_rendering()
    low, high = sorted(ax.get_xlim())  # matplotlib keeps ticks outside, which it does not draw
    ticks = [text for text in ax.get_xticklabels() if low <= text.get_position()[0] <= high]
    words = [ax.xaxis.label, ax.yaxis.label, ax.title, *ax.texts, *ticks]
    if ax.get_legend() is not None:
        words.extend(ax.get_legend().get_texts())
    page = ax.figure.bbox
    for text in words:
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= page.x0 - 1, text
            assert box.x1 <= page.x1 + 1, text
            assert box.y0 >= page.y0 - 1, text
            assert box.y1 <= page.y1 + 1, text


def test_style_is_left_alone_and_nothing_is_shown(plt, draw, monkeypatch):
    import matplotlib

    def refuse(*_, **__):
        raise AssertionError("a plot must not call show")

    monkeypatch.setattr(plt, "show", refuse)
    before = dict(matplotlib.rcParams)
    draw()
    assert dict(matplotlib.rcParams) == before


def test_what_is_no_axes_is_refused(plt, draw):
    with pytest.raises(InvalidParameterError, match=r"'ax' parameter of plot_.*matplotlib Axes"):
        draw(ax="here")
    assert not plt.get_fignums()


def test_without_matplotlib_the_error_says_what_to_install(draw, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"^plot_\w+ needs.*\n.*consilience\[plot\]"):
        draw()
    # What a picture shows can be had all the same.
    assert len(plot.dendrogram_lines(TREE).leaves) == 4
    assert len(plot.embedded_objects(X, Y).points) == 24


def test_importing_the_room_does_not_import_matplotlib():
    code = "import sys, consilience.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"
