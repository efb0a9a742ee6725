"""What is concluded from cells, at the smallest numbers of runs and at every limit."""

import numpy as np
import pytest

from consilience.experiments import _runs, ewocs_reuters, ewocs_sensitivity
from consilience.experiments._cells import Cell
from consilience.experiments._runs import Work

AUTO, MAH = ewocs_sensitivity.AUTO, ewocs_sensitivity.MAH


def cell(row, column, *values, data="2-D"):
    return Cell("figure", data, row, column, values)


def curve(*means, spread=0.1):
    steps = (10, 20, 50, 100, 200)
    return [
        cell(f"F1, R={step}", "k_max=100", mean - spread, mean + spread)
        for step, mean in zip(steps, means, strict=False)
    ]


def test_a_curve_of_three_points_and_two_runs_is_enough():
    rise, level = ewocs_sensitivity._growth(curve(50.0, 60.0, 61.0))
    assert rise.statement == "k_max=100: F1 is higher at R=50 than at R=10"
    assert rise.holds
    assert level.statement == (
        "k_max=100: F1 levels off (from R=20 to 50 it gains +1.00, from 10 to 20 +10.00)"
    )
    assert level.holds
    assert level.difference == pytest.approx(-9.0)
    assert not ewocs_sensitivity._growth(curve(50.0, 52.0, 61.0))[1].holds
    assert ewocs_sensitivity._growth(curve(50.0, 60.0)) == []
    assert (
        ewocs_sensitivity._growth([cell(f"F1, R={r}", "k_max=100", 1.0) for r in (1, 2, 3)]) == []
    )


@pytest.mark.parametrize(
    ("top", "holds"), [(1.0, False), (3.0, True), (10.0, True), (30.0, True), (100.0, False)]
)
def test_where_the_best_width_may_lie(top, holds):
    cells = [
        cell(f"F1, gamma={g:g}", "alpha=3", 10.0 + 5 * (g == top)) for g in (1, 3, 10, 30, 100)
    ]
    (claim,) = ewocs_sensitivity._claims_of_figure9(cells)
    assert claim.statement == f"alpha=3: F1 has its maximum around gamma=10 (here at {top:g})"
    assert bool(claim.holds) == holds
    assert claim.difference == pytest.approx(np.log10(top / 10))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_run_is_no_comparison(n):
    runs = np.arange(n) / 10
    cells = [cell("F1", AUTO, *(60 + runs)), cell("F1", MAH, *(50 + 2 * runs))]
    found = ewocs_sensitivity._claims_of_figure9(cells)
    assert [claim.statement for claim in found] == [f"G(AUTO) above {MAH} (F1)"] * (n > 1)


def test_repetitions_are_judged_from_two_points_of_two_runs():
    def one(row, *values, rule="DIST"):
        return cell(f"R={row}", rule, *values, data="SOFT")

    few, many = one(100, 50.0, 60.0, 55.0, 51.0), one(1000, 70.0, 71.0, 71.0, 70.0)
    between = one(300, 1.0, 2.0, 4.0, 3.0)
    raised, narrowed = ewocs_reuters._claims_of_figure13([few, between, many])
    assert raised.statement == "SOFT: F1 with DIST is higher at R=1000 than at R=100"
    assert raised.difference == pytest.approx(16.5)
    assert narrowed.statement == "SOFT: its standard deviation with DIST is smaller there"
    assert narrowed.holds
    assert narrowed.difference == pytest.approx(many.spread - few.spread)
    assert not ewocs_reuters._claims_of_figure13([many, few])[1].holds
    assert not ewocs_reuters._claims_of_figure13([few, one(9, *few.values)])[1].holds
    assert ewocs_reuters._claims_of_figure13([few]) == []
    assert ewocs_reuters._claims_of_figure13([one(1, 5.0), one(2, 6.0)]) == []
    two = [cell(c.row, "DIST", *c.values[:2], data="SOFT") for c in (few, many)]
    assert [claim.holds for claim in ewocs_reuters._claims_of_figure13(two)] == [False, False]
    other = cell("R=3", "DIST", 1.0, 2.0, data="HARD")
    assert ewocs_reuters._claims_of_figure13([few, other]) == []


def test_runs_are_kept_in_folders_that_are_not_there_yet(tmp_path):
    folder = tmp_path / "deep" / "er"
    work = Work("data", "setting", 3, len, (), ("a", "b"))
    store = _runs._Store(folder, "table")
    assert store.missing(work) == ("a", "b")
    store.keep(work, {"a": {("row", "column"): 0.5}})
    again = _runs._Store(folder, "table")
    assert again.missing(work) == ("b",)
    assert again.run(work) == {"a": {("row", "column"): 0.5}}
