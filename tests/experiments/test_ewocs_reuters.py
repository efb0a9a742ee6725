"""Table 7 and Figures 12 and 13 of the minority-clustering paper, on a tiny collection."""

import os

import numpy as np
import pytest
from numba import config
from scipy.stats import t as student_t

from consilience.compare import auc, precision_recall_f1
from consilience.datasets import STOP_WORDS, load_reuters
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.experiments import ewocs_reuters
from consilience.experiments._cells import Cell, Plan, of, published
from consilience.experiments._registry import EXPERIMENTS, conclude
from consilience.minority import BBOCC, EWOCS

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
needs_data = pytest.mark.skipif(
    "CONSILIENCE_DATA" not in os.environ,
    reason="set CONSILIENCE_DATA to the folder of the papers' data sets",
)
NAMES = ("ewocs-table7", "ewocs-figure12", "ewocs-figure13")


def run(name, **plan):
    return [cell for part in EXPERIMENTS[name].run(Plan(**plan)) for cell in part]


def test_every_published_system_of_table_7_is_run(news, monkeypatch):
    fast = {n: ewocs_reuters.System(s.kind, s.params, s.told, 1) for n, s in
            (ewocs_reuters.BUBBLES | ewocs_reuters.OTHERS).items()}  # fmt: skip
    monkeypatch.setattr(ewocs_reuters, "BUBBLES", fast)
    monkeypatch.setattr(ewocs_reuters, "OTHERS", {})
    cells = run("ewocs-table7", data_home=news, runs=2, members=(20, 10), sets=("Reuters",))
    known = {(row, column) for table, _, row, column in published("ewocs") if table == "7"}
    assert known <= {(cell.row, cell.column) for cell in cells}
    curve = [cell.row for cell in cells if "R=" in cell.row]
    assert curve == ["AUC, R=10", "AUC, R=20"]
    assert of(cells, row="AUC", column="EW-SRBC x50 EUC").published == 0.902
    documents = load_reuters(news, random_state=1)
    everything = of(cells, row="F1 BEST", column="ALLFG")
    share = documents.y.mean()
    assert everything.values[1] == pytest.approx(100 * 2 * share / (1 + share))
    claims = {claim.statement: claim for claim in conclude("ewocs-table7", cells)}
    assert len(claims) == 8
    biased = claims["REUTERS: EW-SRBC with 2GAUSS favours recall"]
    recall, precision = (
        of(cells, row=f"{measure} 2GAUSS", column="EW-SRBC x50 EUC").measured
        for measure in ("Recall", "Precision")
    )
    assert biased.difference == pytest.approx(recall - precision)


def test_variants_assign_hard_and_leave_out_few_words(news):
    cells = run("ewocs-table7", data_home=news, members=(10,), sets=("HARD", "HARD-38"))
    mine = of(cells, data="HARD", row="AUC")
    documents = load_reuters(news, random_state=0)
    model = EWOCS.preset(
        "paper", weak="hard", divergence="euclidean", k_max=50, n_repetitions=10, clusterer=None,
        random_state=0,
    ).fit(documents.X)  # fmt: skip
    assert mine.values == (auc(model.scores_, documents.y),)
    # Beside a variant stand the figures that it is to explain.
    assert mine.published == 0.902
    assert {c.column for c in cells if c.data == "HARD-38"} == {
        "BBOCC EUC", "BBCPRESS/4 EUC", "EW-SRBC x50 EUC",
    }  # fmt: skip


def test_the_few_stop_words_are_38_of_ours():
    assert len(ewocs_reuters._COMMONEST) == 38
    assert ewocs_reuters._COMMONEST < STOP_WORDS


def test_stop_words_are_the_readers_choice(news):
    few = load_reuters(news, background=1.0, stop_words={"the"})
    none = load_reuters(news, background=1.0, stop_words=())
    assert {"and", "wa"} <= set(few.terms)
    assert set(none.terms) - set(few.terms) == {"the"}
    for wrong in ("the", [1], 3):
        with pytest.raises(InvalidParameterError, match="'stop_words' parameter of load_reuters"):
            load_reuters(news, stop_words=wrong)


def test_figure_12_tells_bbocc_every_share(news, monkeypatch):
    monkeypatch.setattr(ewocs_reuters, "_SHARES", (0.1, 0.3, 0.8))
    cells = run("ewocs-figure12", data_home=news, runs=2, members=(20,))
    documents = load_reuters(news, random_state=1)
    n = len(documents.y)
    each = [
        precision_recall_f1(
            BBOCC(round(0.3 * n), divergence="euclidean", random_state=1000 + start)
            .fit(documents.X).labels_,
            documents.y,
        ).recall
        for start in range(5)
    ]  # fmt: skip
    cell = of(cells, row="per cent, share=0.3", column="Recall")
    assert cell.values[1] == pytest.approx(100 * np.mean(each))
    claims = {claim.statement: claim for claim in conclude("ewocs-figure12", cells)}
    low, high = (of(cells, row=f"per cent, share={s}", column="F1") for s in (0.8, 0.3))
    # Three documents of ten are on the topic.
    assert "BBOCC's F1 is best around the true share, 0.275 (here at 0.3)" in claims
    found = claims["BBOCC's F1 falls with a share of 0.8"]
    assert found.difference == pytest.approx(high.measured - low.measured)


def test_figure_13_has_one_draw_and_many_ensembles(news):
    cells = run("ewocs-figure13", data_home=news, runs=2, members=(5, 20))
    assert {cell.data for cell in cells} == {"SOFT", "HARD"}
    first = of(cells, data="SOFT", row="AUC, R=20", column="AUC")
    documents = load_reuters(news, random_state=0)
    for seed, value in enumerate(first.values):
        model = EWOCS.preset(
            "paper", divergence="euclidean", k_max=50, n_repetitions=20, clusterer=None,
            random_state=seed,
        ).fit(documents.X)  # fmt: skip
        assert value == auc(model.scores_, documents.y)


def test_claims_of_figure_13_compare_the_ends():
    cells = [
        Cell("", "SOFT", f"F1, R={step}", "DIST", values)
        for step, values in ((30, (50.0, 60.0, 55.0, 52.0)), (300, (70.0, 71.0, 72.0, 71.5)))
    ]
    rise, spread = conclude("ewocs-figure13", cells)
    assert rise.statement == "SOFT: F1 with DIST is higher at R=300 than at R=30"
    assert rise.difference == pytest.approx(71.125 - 54.25)
    assert spread.statement == "SOFT: its standard deviation with DIST is smaller there"
    narrow, wide = (np.std(cell.values, ddof=1) for cell in (cells[1], cells[0]))
    assert spread.difference == pytest.approx(narrow - wide)
    # Pitman and Morgan by their own formula: t of the ratio of variances, given the correlation.
    ratio, r = (narrow / wide) ** 2, np.corrcoef(cells[0].values, cells[1].values)[0, 1]
    t = (ratio - 1) * np.sqrt(2) / (2 * np.sqrt(ratio * (1 - r**2)))
    assert spread.p_value == pytest.approx(2 * student_t.cdf(t, 2))
    assert spread.holds is bool(spread.p_value < 0.05)


def test_a_spread_that_may_be_chance_is_no_smaller_one():
    cells = [
        Cell("", "SOFT", f"F1, R={step}", "DIST", values)
        for step, values in ((30, (50.0, 60.0, 55.0)), (300, (70.0, 78.0, 72.0)))
    ]
    _, spread = conclude("ewocs-figure13", cells)
    assert spread.difference < 0
    assert not spread.holds
    pair = [Cell(c.table, c.data, c.row, c.column, c.values[:2]) for c in cells]
    _, spread = conclude("ewocs-figure13", pair)
    assert np.isnan(spread.p_value)
    assert not spread.holds


@pytest.mark.parametrize(
    ("first", "last"),
    [((50.0, 60.0, 55.0), (70.0, 60.0, 65.0)), ((50.0, 60.0, 55.0), (60.0, 70.0, 65.0))],
    ids=["one rises as the other falls", "one is the other and ten"],
)
def test_spreads_that_are_equal_are_no_smaller(first, last):
    cells = [
        Cell("", "HARD", f"F1, R={step}", "BEST", values)
        for step, values in ((30, first), (300, last))
    ]
    _, spread = conclude("ewocs-figure13", cells)
    assert (spread.difference, spread.p_value, spread.holds) == (0.0, 1.0, False)
    assert (spread.test, spread.runs) == ("Pitman-Morgan", 3)


@pytest.mark.parametrize("name", NAMES)
def test_folders_and_sets_are_asked_for(name, monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(InvalidInputError, match="No data folder is known"):
        run(name)
    with pytest.raises(InvalidParameterError, match="Got 'oil'"):
        run(name, sets=("oil",))
    assert conclude(name, []) == []


@needs_data
def test_bbocc_comes_out_on_the_real_news(monkeypatch):
    bbocc = {"BBOCC EUC": ewocs_reuters.BUBBLES["BBOCC EUC"]}
    monkeypatch.setattr(ewocs_reuters, "BUBBLES", bbocc)
    cells = run("ewocs-table7", sets=("HARD-38",), members=(5,))
    assert abs(of(cells, row="AUC", column="BBOCC EUC").difference) < 0.01
