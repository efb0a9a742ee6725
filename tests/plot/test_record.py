"""Pictures of reproduced figures: what is drawn is what was measured."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from consilience.experiments import EXPERIMENTS, Cell, Plan
from consilience.plot._record import DRAWN, draw_figure

pytestmark = pytest.mark.filterwarnings("ignore:More than 20 figures")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_every_picture_belongs_to_an_experiment():
    assert set(DRAWN) <= set(EXPERIMENTS)
    assert draw_figure("ewocs-table2", [Cell("2", "2-D", "Cons", "A", (1.0,))], Plan()) is None
    assert all(draw_figure(name, [], Plan()) is None for name in DRAWN)


def test_curves_have_a_panel_for_each_measure_and_level_references():
    cells = [
        Cell("", "REUTERS", f"{row}, share={share}", "BBOCC", (50.0 * share, 50.0 * share + 2))
        for row in ("F1", "Recall")
        for share in (0.1, 0.2, 0.4)
    ]
    cells.append(Cell("", "REUTERS", "F1", "EW", (33.0, 35.0)))
    figure = draw_figure("ewocs-figure12", cells, Plan())
    first, second = (ax for ax in figure.axes if ax.get_visible())
    assert (first.get_title(), first.get_ylabel(), first.get_xlabel()) == ("REUTERS", "F1", "share")
    (curve,) = first.containers
    np.testing.assert_allclose(curve.lines[0].get_xydata(), [[0.1, 6], [0.2, 11], [0.4, 21]])
    # Bars are standard errors: two runs that differ by 2.
    low, high = curve.lines[2][0].get_segments()[0][:, 1]
    assert high - low == pytest.approx(2 * np.sqrt(2) / np.sqrt(2))
    labels = [text.get_text() for text in first.get_legend().get_texts()]
    assert set(labels) == {"BBOCC", "EW"}
    assert {line.get_ydata()[0] for line in first.lines if line.get_label() == "EW"} == {34.0}
    assert second.get_ylabel() == "Recall"
    # A reference belongs to the panel of its own set and measure.
    assert [text.get_text() for text in second.get_legend().get_texts()] == ["BBOCC"]
    assert not first.get_legend().get_frame_on()


def _of_rules(n_sets, *, odd=False):
    """Two rules over two steps, and an AUC, on so many sets."""
    rows = [("F1", "DIST"), ("F1", "BEST"), ("AUC", "AUC")]
    return [
        Cell("", f"set {at}", f"{row}, R={r}", f"{rule}{at if odd else ''}", (0.5, 0.6))
        for at in range(n_sets)
        for row, rule in rows
        for r in (10, 20)
    ]


def test_curves_of_the_same_names_share_a_legend_in_a_free_place():
    figure = draw_figure("ewocs-figure13", _of_rules(2), Plan())
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_ylabel() for ax in shown] == ["F1", "AUC", "F1", "AUC", ""]
    # One line needs no shared legend; nothing covers the others.
    assert [ax.get_legend() is not None for ax in shown] == [False, True, False, True, True]
    assert {text.get_text() for text in shown[4].get_legend().get_texts()} == {"DIST", "BEST"}
    assert not shown[4].axison


@pytest.mark.parametrize(("n_sets", "odd"), [(3, False), (2, True), (1, False)])
def test_without_a_free_place_or_with_other_names_every_panel_has_its_own(n_sets, odd):
    figure = draw_figure("ewocs-figure13", _of_rules(n_sets, odd=odd), Plan())
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert len(shown) == 2 * n_sets
    assert all(ax.get_legend() is not None for ax in shown)


def test_ranks_are_drawn_one_below_the_other():
    rng = np.random.default_rng(0)
    cells = [
        Cell("Figure 11", "2-D", row, rule, tuple(level + rng.normal(0, 0.1, 12)))
        for row in ("F1", "Precision", "Recall")
        for level, rule in enumerate(("DIST", "SIZE", "BEST"))
    ]
    figure = draw_figure("ewocs-figure11", cells, Plan())
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["F1", "Precision", "Recall"]
    named = [t.get_text() for t in figure.axes[0].texts if t.get_gid() == "method"]
    assert named[0].startswith("BEST")
    assert draw_figure("ewocs-figure11", cells[:3][:1], Plan()) is None
    # More names need more room.
    more = [replace(c, column=f"{c.column} {i}") for c in cells for i in range(4)]
    assert draw_figure("ewocs-figure11", more, Plan()).get_size_inches()[1] == pytest.approx(
        figure.get_size_inches()[1] + 3 * 0.14 * 9
    )


def test_panels_stand_in_rows_of_three_with_axes_that_suit_the_figures(plt):
    cells = [
        Cell("1", f"set {at}", f"F1, R={r}", "A", (0.5 + 0.01 * at,))
        for at in range(4)
        for r in (1, 10)
    ]
    from consilience.plot._record import _curves

    figure = _curves(cells, Plan())
    assert figure.get_size_inches() == pytest.approx([13.2, 6.8])
    assert [ax.get_visible() for ax in figure.axes] == [True] * 4 + [False] * 2
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in figure.axes[:4]} == {("linear", "linear")}
    wide = [Cell("1", "one", f"F1, R={r}", "A", (v,)) for r, v in ((1, 0.01), (30, 0.3))]
    (ax,) = _curves(wide, Plan()).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    zero = [Cell("1", "one", f"F1, R={r}", "A", (v,)) for r, v in ((0, 0.0), (30, 0.3))]
    (ax,) = _curves(zero, Plan()).axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
