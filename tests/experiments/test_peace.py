"""The PEACE paper's figure and tables: what is run, what is counted, what was published."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import config
from scipy import stats
from scipy.sparse import csr_array

from consilience.datasets import make_gaussians
from consilience.experiments import Cell, Plan, conclude, peace_tables
from consilience.experiments import peace as module
from consilience.experiments._cells import of, published
from consilience.experiments._peace_data import BENCHMARKS
from consilience.experiments._runs import Group


def figure(**ahead):
    """Cells of all nine sets; PEACE has 0.5 more in the rows named, else all are level."""
    return [
        Cell("figure 3", data, row, column, (0.4 + ahead.get(data.replace("-", "_"), 0.0),) * 2)
        if column == "PEACE" and row.endswith("CI")
        else Cell("figure 3", data, row, column, (0.4, 0.4))
        for data in BENCHMARKS
        for row in ("(1) CI", "(2) CI", "(1) F1", "(2) F1")
        for column in ("PEACE", "BE", "EAC-SL", "EAC-AL")
    ]


def test_better_and_better_or_equal_are_counted_apart():
    split, many = conclude("peace-tables", figure(iris=0.5, wine=0.5, optdigits=-0.3))[:2]
    assert "better on 3 of 9 sets; here on 2" in split.statement
    assert (split.holds, split.difference) == (False, -1)
    assert "better or equal on 6 of 9 sets; here on 8" in many.statement
    assert (many.holds, many.difference) == (True, 2)


def test_better_means_by_a_paired_test_not_by_the_mean():
    cells = figure()
    at = cells.index(of(cells, data="iris", row="(1) CI", column="PEACE"))
    # Above in the mean of two runs, but one of them lies below.
    cells[at] = Cell("figure 3", "iris", "(1) CI", "PEACE", (0.9, 0.3))
    split, many = conclude("peace-tables", cells)[:2]
    assert "here on 0" in split.statement
    assert "here on 9" in many.statement
    assert split.test == many.test == "paired t on each set"


def test_below_both_eac_is_the_paired_test_of_the_nearest_two():
    cells = figure()
    runs = {"PEACE": (0.1, 0.2, 0.3), "BE": (0.0, 0.1, 0.1), "EAC-SL": (0.5, 0.55, 0.5)}
    runs["EAC-AL"] = (0.3, 0.5, 0.4)
    cells = [
        Cell("figure 3", c.data, c.row, c.column, runs[c.column]) if c.data == "spiral" else c
        for c in cells
    ]
    (found,) = [
        c
        for c in conclude("peace-tables", cells)
        if "(1) CI: PEACE and BE b" in c.statement and "spiral" in c.statement
    ]
    gaps = np.subtract(runs["EAC-AL"], runs["PEACE"])
    assert found.difference == pytest.approx(gaps.mean())
    assert found.error == pytest.approx(stats.sem(gaps))
    assert found.p_value == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)


def test_the_mean_over_sets_is_tested_over_sets():
    gaps = np.linspace(-0.02, 0.08, 9)
    ahead = {data.replace("-", "_"): gap for data, gap in zip(BENCHMARKS, gaps, strict=True)}
    above, near = conclude("peace-tables", figure(**ahead))[-2:]
    assert above.p_value == pytest.approx(stats.ttest_1samp(gaps, 0, alternative="greater").pvalue)
    ends = [(0.05, "less"), (-0.05, "greater")]
    p = max(stats.ttest_1samp(gaps, end, alternative=side).pvalue for end, side in ends)
    assert near.p_value == pytest.approx(p)
    assert (above.holds, near.holds) == (above.p_value < 0.05, p < 0.05)
    assert (near.runs, near.unit) == (9, "data sets")
    assert near.error == pytest.approx(stats.sem(gaps))


def test_equal_on_every_set_is_similar_and_not_above():
    above, near = conclude("peace-tables", figure())[-2:]
    assert (above.holds, above.p_value, above.error) == (False, 1.0, 0.0)
    assert (near.holds, near.p_value) == (True, 0.0)


def test_the_selected_start_is_that_of_the_highest_objective():
    runs = [
        {("1a CI", "PEACE"): ci, ("1a F1", "PEACE"): 1 - ci, ("objective", "PEACE"): objective}
        for ci, objective in ((0.4, -7.0), (0.5, -5.0), (0.6, -6.0))
    ]
    cells = module._text_cells(Group("webkd", "1a, R=100, ensemble 0", runs, ""))
    told = {(c.table, c.column): c.values for c in cells}
    assert told["2", "PEACE selected"] == (0.5,)
    assert told["3", "PEACE selected"] == (0.5,)
    assert told["2", "PEACE"] == (0.4, 0.5, 0.6)
    assert (told["2", "PEACE max"], told["2", "PEACE min"]) == ((0.6,), (0.4,))
    assert of(cells, table="2", column="PEACE").published == 0.423


def test_statements_need_all_nine_sets():
    assert conclude("peace-tables", [c for c in figure() if c.data != "iris"]) == []


def test_an_empty_plan_asks_for_twenty_ensembles_of_every_set(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "groups_of_runs", lambda *given: asked.extend(given[-1]) or ())
    assert [*peace_tables(Plan())] == []
    for data in BENCHMARKS:
        assert [work.seed for work in asked if work.data == data] == [*range(20)]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
def test_starts_on_a_text_share_one_ensemble(monkeypatch):
    X, truth = make_gaussians(60, 3, 2, separation=9.0, random_state=1)
    documents = SimpleNamespace(X=csr_array(np.abs(X)), truth=truth, classes=("a", "b", "c"))
    monkeypatch.setattr(module, "text", lambda name, place: documents)
    module._text_ensemble.cache_clear()
    plan = Plan(runs=2, sets=("webkd",), members=(6,))
    try:
        kinds = list(peace_tables(plan))
        # Of either kind the ensemble of the plan's seed and another one.
        assert module._text_ensemble.cache_info().misses == 4
    finally:
        module._text_ensemble.cache_clear()
    rows = [{cell.row for cell in cells} for cells in kinds]
    assert rows == [{"1a CI", "1a F1"}] * 2 + [{"1b CI", "1b F1"}] * 2
    starts, ensembles = (
        {cell.column: cell.values for cell in cells if cell.row == "1a CI"} for cells in kinds[:2]
    )
    assert list(ensembles) == ["PEACE, other ensembles", "BE, other ensembles"]
    assert len(starts["PEACE"]) == len(ensembles["BE, other ensembles"]) == 2
    # The first run of both is the same start on the same ensemble.
    assert starts["PEACE"][0] == ensembles["PEACE, other ensembles"][0]


def test_a_text_of_as_few_groups_as_classes_needs_no_start(monkeypatch):
    # Members tell three rows apart: the methods are the rows, and every start is as good.
    X, truth = np.repeat(np.eye(3), 4, axis=0), np.repeat(range(3), 4)
    documents = SimpleNamespace(X=csr_array(X), truth=truth, classes=("a", "b", "c"))
    monkeypatch.setattr(module, "text", lambda name, place: documents)
    module._text_ensemble.cache_clear()
    try:
        kinds = list(peace_tables(Plan(runs=2, sets=("webkd",), members=(6,))))
    finally:
        module._text_ensemble.cache_clear()
    values = {(c.row, c.column): c.values for cells in kinds for c in cells}
    for column in ("PEACE", "PEACE selected", "PEACE, other ensembles", "BE", "BE max"):
        assert set(values["1a CI", column]) == {1.0}


def test_the_published_figures_are_those_of_the_paper():
    known = published("peace")
    assert known["2", "webkd", "1a CI", "PEACE"] == (0.423, 0.046)
    assert known["2", "miniN", "1b CI", "BE selected"][0] == 0.356
    assert known["3", "miniN", "1b F1", "PEACE max"][0] == 0.861
    # Two figures of the third table are lost in the text.
    assert len(known) == 2 * 4 * 8 - 1
    assert np.isnan(known["3", "webkd", "1a F1", "BE"][1])


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
def test_a_set_has_both_ensembles_and_all_methods(monkeypatch):
    few = make_gaussians(60, 7, 2, separation=9.0, random_state=1)
    monkeypatch.setattr(module, "benchmark", lambda name, place: few)
    (cells,) = peace_tables(Plan(runs=2, sets=("image-c",), members=(6,)))
    assert {cell.row for cell in cells} == {"(1) CI", "(2) CI", "(1) F1", "(2) F1"}
    assert {cell.column for cell in cells} == {"PEACE", "BE", "EAC-SL", "EAC-AL"}
    assert all(len(cell.values) == 2 and 0 <= cell.measured <= 1 for cell in cells)
    assert of(cells, row="(2) CI", column="PEACE").measured > 0.6
    assert cells[0].note == "stand-in: seven Gaussians"
