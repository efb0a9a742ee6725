"""The rank diagram: its data, its text, and that no two labels meet in the picture."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.compare import (
    bergmann_hommel,
    rank_bars,
    rank_diagram,
    rank_text,
    ranks_from_means,
)
from consilience.errors import MissingPackageError

LONG = [f"EW-SRBC 100x100 G({i},10) MAH" for i in range(14)]


@pytest.fixture
def plt():
    module = pytest.importorskip("matplotlib.pyplot")
    module.switch_backend("agg")
    yield module
    module.close("all")


def results(seed, m, spread, n=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) + spread * np.arange(m)


def bars_slowly(different):
    """Reference: all runs without a difference, less those inside another."""
    m = len(different)
    runs = [
        (i, j)
        for i in range(m)
        for j in range(i + 1, m)
        if not different[i : j + 1, i : j + 1].any()
    ]
    return [
        run for run in runs if not any(o != run and o[0] <= run[0] and run[1] <= o[1] for o in runs)
    ]


@given(st.integers(0, 2**31), st.integers(2, 10), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=30)
def test_bars_are_maximal_runs_without_a_difference(seed, m, spread):
    tests = bergmann_hommel(results(seed, m, spread))
    found = rank_bars(tests)
    order = [tests.ranks.names.index(name) for name in found.names]
    assert (np.diff(found.mean_ranks) >= 0).all()
    assert list(found.bars) == bars_slowly(tests.different[np.ix_(order, order)])
    assert len(found.rows) == len(found.bars)
    for row in set(found.rows):
        inside = [bar for bar, where in zip(found.bars, found.rows, strict=True) if where == row]
        ends = [found.mean_ranks[i] for bar in inside for i in bar]
        assert ends == sorted(ends)


def test_no_difference_is_one_bar_and_clear_differences_none():
    alike = rank_bars(np.ones((12, 4)), names="abcd")
    assert alike.bars == ((0, 3),)
    apart = rank_bars(results(0, 4, 20.0), names="abcd")
    assert apart.bars == ()
    assert apart.names == tuple("dcba")


def test_demsar_s_example_as_text():
    found = rank_text(
        ranks_from_means([2.1, 3.25, 2.2, 4.333, 3.117], 30, names=["A", "BB", "C", "D", "E"])
    )
    lines = found.splitlines()
    assert lines[1:6] == [
        " 2.10  A   |",
        " 2.20  C   |",
        " 3.12  E     |",
        " 3.25  BB    |",
        " 4.33  D",
    ]
    assert "Bergmann-Hommel, 0.05; 30 data sets" in lines[6]


def texts(ax, gid="method"):
    return [text for text in ax.texts if text.get_gid() == gid]


@pytest.mark.parametrize("m", [2, 3, 5, 14, 21])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_labels_do_not_overlap_and_stay_in_the_picture(plt, m, spread, seed):
    names = (LONG + [f"method {i}" for i in range(12)])[:m]
    ax = rank_diagram(results(seed, m, spread), names=names)
    figure = ax.figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    for i, one in enumerate(boxes):
        assert figure.bbox.x0 - 1 <= one.x0
        assert one.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 - 1 <= one.y0
        assert one.y1 <= figure.bbox.y1 + 1
        for other in boxes[:i]:
            assert not one.overlaps(other)


def test_what_is_drawn_is_the_data(plt, seed):
    shown = rank_bars(results(seed, 6, 0.3), names="abcdef")
    ax = rank_diagram(shown)
    drawn = [line for line in ax.lines if line.get_gid() == "bar"]
    assert len(drawn) == len(shown.bars)
    for line, (first, last) in zip(drawn, shown.bars, strict=True):
        np.testing.assert_allclose(line.get_xdata(), shown.mean_ranks[[first, last]], atol=0.05)
    leaders = [line for line in ax.lines if line.get_gid() == "leader"]
    np.testing.assert_allclose([line.get_xdata()[0] for line in leaders], shown.mean_ranks)
    for text, name, mean in zip(texts(ax), shown.names, shown.mean_ranks, strict=True):
        assert name in text.get_text()
        assert f"{mean:.2f}" in text.get_text()
    # The better half is named before the first rank, the others behind the last.
    assert not any(text.get_annotation_clip() for text in texts(ax))
    sides = [text.xy[0] for text in texts(ax)]
    assert max(sides[:3]) < 1
    assert min(sides[3:]) > 6


@pytest.mark.parametrize(("m", "ranks"), [(20, range(1, 21)), (21, [1, 5, 10, 15, 21])])
def test_many_ranks_are_numbered_by_fives(plt, m, ranks):
    said = [text.get_text() for text in rank_diagram(results(0, m, 0.3)).texts]
    assert [word for word in said if word.isdigit()] == [str(rank) for rank in ranks]


def test_leaders_do_not_cross(plt, seed):
    ax = rank_diagram(results(seed, 9, 0.3))
    paths = [np.c_[line.get_data()] for line in ax.lines if line.get_gid() == "leader"]
    for top, corner, side in paths:
        for other_top, other_corner, _ in paths:
            x, y = other_top[0], corner[1]
            between = min(corner[0], side[0]) < x < max(corner[0], side[0])
            assert not (between and top[1] < y < other_corner[1])


def test_draws_on_the_axes_it_is_given(plt, seed):
    _, ax = plt.subplots()
    assert rank_diagram(results(seed, 4, 0.3), ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_without_matplotlib_the_text_still_works(monkeypatch, seed):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    table = results(seed, 4, 0.3)
    with pytest.raises(MissingPackageError, match=r"rank_diagram needs.*\n.*consilience\[plot\]"):
        rank_diagram(table)
    assert rank_text(table).count("\n") == 5


def test_bars_share_a_row_where_they_leave_a_gap():
    from consilience.compare.rank_diagram import _rows

    # Two hundredths of the axis, from rank 1 to 4, are 0.06.
    for start, rows in ((2.05, (0, 1)), (2.08, (0, 0))):
        assert _rows([(0, 1), (2, 3)], np.array([1, 2, start, 3.5])) == rows


def test_every_test_is_at_five_per_cent_unless_told():
    import inspect

    from consilience import compare

    found = [
        inspect.signature(getattr(compare, name)).parameters["alpha"].default
        for name in compare.__all__
        if inspect.isfunction(getattr(compare, name))
        and "alpha" in inspect.signature(getattr(compare, name)).parameters
    ]
    assert len(found) > 1
    assert set(found) == {0.05}
