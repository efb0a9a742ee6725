"""What is concluded from cells, at the smallest numbers of runs and at every limit."""

from dataclasses import replace

import numpy as np
import pytest

from consilience.experiments import (
    _ewocs_claims,
    _runs,
    ambiguity,
    ewocs_reuters,
    ewocs_sensitivity,
    ewocs_toy,
    relations,
    selection,
)
from consilience.experiments._cells import Cell
from consilience.experiments._registry import conclude
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


@pytest.mark.parametrize("name", ["ewocs-figure9", "ewocs-figure10"])
def test_dimensions_are_judged_one_by_one(name):
    rng = np.random.default_rng(0)
    columns = ("BBCPRESS", "AUTOHDS, n_part=10", "kMD, s_min=10", "DGRADE MAH", AUTO, MAH)
    own, far = (
        curve(*means)
        + [cell(f"F1, gamma={g}", "alpha=3", *rng.random(2)) for g in (1, 10, 100)]
        + [cell(f"F1, k={k}", column, *rng.random(2)) for column in columns[:3] for k in (1, 2)]
        + [cell("F1", column, *rng.random(2)) for column in columns[3:]]
        for means in ((50.0, 52.0, 54.0), (10.0, 12.0, 14.0))
    )
    alone = conclude(name, own), conclude(name, far)
    together = conclude(name, [*own, *(replace(one, data="8-D") for one in far)])
    assert together == [
        replace(claim, statement=f"{data}: {claim.statement}")
        for data, claims in zip(("2-D", "8-D"), alone, strict=True)
        for claim in claims
    ]
    assert alone[0]


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


PAIRED = {
    "ambiguity": (ambiguity, ambiguity._claims, 8),
    "news": (ewocs_reuters, ewocs_reuters._claims_of_table7, 8 * len(ewocs_reuters.VARIANTS)),
    "toy": (ewocs_toy, ewocs_toy._claims, 14),
    "selection": (selection, selection._claims_of_table, 2 * len(selection.SETS)),
    "shares": (selection, selection._claims_of_shares, len(selection.SETS)),
    "rules": (_ewocs_claims, _ewocs_claims.claims_of_table4, 6),
}


@pytest.mark.parametrize("name", PAIRED)
def test_pairs_of_two_runs_are_judged_and_single_runs_are_not(name, monkeypatch):
    """Every claim is upper less lower, of the cells that its words name."""
    module, judge, most = PAIRED[name]
    asked = []

    def found(runs, missing=()):
        def of(cells, **key):
            asked.append(key)
            if len(asked) in missing:
                return None
            words = "".join(key.values())
            start = sum(map(ord, words)) % 97
            return cell(
                key.get("row", "row"), key["column"], *(start + 0.1 * r * r for r in range(runs))
            )

        asked.clear()
        monkeypatch.setattr(module, "of", of)
        claims = judge([cell("row", "column", 1.0)])
        return [one for one in claims if one.test == "paired t"]

    two, five = found(2), found(5)
    assert len(two) == len(five) == most
    assert [one.runs for one in two] == [2] * most
    assert [one.statement for one in two] == [one.statement for one in five]
    assert found(1) == []
    for place in (1, 2):
        assert len(found(2, {place})) < most
    found(3)
    assert len({tuple(sorted(key.items())) for key in asked}) > 2


def rules_of(n, **means):
    """F1 of the rules on so many pairs of types."""
    rules = ("BEST", "SIZE", "DIST", "2GAUSS", "NGAUSS+VAR")
    return [
        cell("F1", rule, means.get(rule, 50.0) + 0.1 * i, data=f"pair {i}")
        for rule in rules
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("size", "holds"), [(52.0, True), (47.5, True), (47.0, False), (40.0, False)]
)
def test_a_size_that_is_told_stays_within_three_points_of_the_best(size, holds):
    first, *others = relations._claims_of_table9(rules_of(2, SIZE=size))
    assert first.statement == "F1: SIZE stays within 3 points of BEST on average"
    assert (bool(first.holds), first.runs) == (holds, 2)
    assert first.difference == pytest.approx(size - 50.0)
    assert [one.statement for one in others] == [
        f"F1: NGAUSS+VAR below {rule}" for rule in ("SIZE", "DIST", "2GAUSS")
    ]
    assert others[0].difference == pytest.approx(size - 50.0)
    assert {one.unit for one in (first, *others)} == {relations._UNIT}
    assert relations._claims_of_table9(rules_of(1)) == []


def test_more_repetitions_are_judged_between_the_first_and_the_last():
    gains = {"BEST": 0.5, "DIST": 1.0, "2GAUSS": 0.25, "NGAUSS+VAR": 2.0}

    def curve(n, steps=(10, 20, 100)):
        return [
            cell(f"F1, R={step}", rule, 40 + place * gain + 0.1 * i * i, data=f"pair {i}")
            for rule, gain in gains.items()
            for place, step in enumerate(steps)
            for i in range(n)
        ]

    found = relations._claims_of_figure15(curve(2))
    assert [one.statement for one in found] == [
        "F1 with DIST is higher at R=100 than at R=10",
        "it is then nearer to BEST with DIST",
        "F1 with 2GAUSS is higher at R=100 than at R=10",
        "it is then nearer to BEST with 2GAUSS",
        "F1 with NGAUSS+VAR rises on some pairs of types only (2 of 2)",
    ]
    wanted = [2.0, 1.0, 0.5, -0.5, 4.0]
    assert [one.difference for one in found] == pytest.approx(wanted)
    assert {(one.runs, one.unit) for one in found} == {(2, relations._UNIT)}
    assert not found[-1].holds  # on all of them
    assert len(relations._claims_of_figure15(curve(2, (10, 20)))) == 5
    assert relations._claims_of_figure15(curve(2, (10,))) == []
    assert relations._claims_of_figure15(curve(1)) == []
    assert relations._claims_of_figure15([]) == []


def test_a_rule_that_gains_nothing_is_compared_with_no_gain():
    cells = [
        cell(f"F1, R={step}", rule, 40.0 + i * (rule == "DIST") * (step - 10), data=f"pair {i}")
        for rule in ("BEST", "DIST", "2GAUSS", "NGAUSS+VAR")
        for step in (10, 20)
        for i in range(3)
    ]
    found = relations._claims_of_figure15(cells)
    assert [one.difference for one in found] == pytest.approx([10.0, 10.0, 0.0, 0.0, 0.0])
    assert not any(one.holds for one in found)
