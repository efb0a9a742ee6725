"""The minority-clustering paper's tables: what is run, what a cell holds, what is claimed."""

import numpy as np
import pytest
from numba import config

from consilience.compare import auc, precision_recall_f1
from consilience.datasets import make_minority
from consilience.errors import InvalidParameterError
from consilience.experiments import _ewocs_systems as systems
from consilience.experiments import ewocs
from consilience.experiments._cells import Cell, Plan, of, published
from consilience.experiments._ewocs_claims import G10, RANKED, ewocs_ranks
from consilience.experiments._ewocs_systems import DIMENSIONS, ENSEMBLES, OURS, PAPERS
from consilience.experiments._registry import EXPERIMENTS, conclude
from consilience.experiments.ewocs import ewocs_table2, ewocs_table3, ewocs_table4
from consilience.minority import EWOCS, thresholds

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")

QUICK = ("BBOCC MAH", "kMD 100x800-50", "EW-RSPLIT 500x50", G10)


@pytest.fixture
def quick(monkeypatch):
    """Tables of the systems that take no time."""
    monkeypatch.setattr(ewocs, "PAPERS", {name: PAPERS[name] for name in QUICK})
    monkeypatch.setattr(ewocs, "OURS", {})


@pytest.fixture
def small(monkeypatch):
    """Data sets of a fifth of the objects: some rules take seconds on the published sizes."""

    def fifth(name, run):
        scales = {"background": 0.2, "foreground": 0.2}
        return make_minority(DIMENSIONS[name], **scales, random_state=run)

    monkeypatch.setattr(ewocs, "synthetic", fifth)


# ---- what is run -----------------------------------------------------------------------------


def test_every_published_system_is_a_column_and_the_other_way_round():
    known = published("ewocs")
    for table, dimensions in (("3", set(DIMENSIONS)), ("4", {"2-D"})):
        keys = [key for key in known if key[0] == table]
        assert {data for _, data, _, _ in keys} == dimensions
        columns = {column for _, _, _, column in keys}
        assert columns == set(PAPERS) | ({"RANDOM", "ALLFG", "CONVEX"} if table == "3" else set())
    rows = {row for table, _, row, column in known if table == "4" and column in ENSEMBLES}
    assert {row for row in rows if row.startswith("F1")} == {
        f"F1 {rule}" for rule in ("BEST", "SIZE", "DIST", "NGAUSS+BEST", "NGAUSS+VAR", "2GAUSS")
    }


def test_published_f1_lies_between_precision_and_recall():
    # The mean over data sets of F1 is not the F1 of the means, but not far outside them.
    known = published("ewocs")
    for (table, data, row, column), (f1, _) in known.items():
        if table in "34" and row.startswith("F1"):
            sides = [known.get((table, data, row.replace("F1", m), column), (np.nan,))[0]
                     for m in ("Precision", "Recall")]  # fmt: skip
            assert np.isnan(sides[0]) or f1 <= max(sides) + 0.05, (data, row, column)


def test_ensembles_have_the_published_settings():
    for name, system in ENSEMBLES.items():
        repetitions, k_max = name.split()[1].split("x")
        assert system.params["n_repetitions"] == int(repetitions), name
        assert system.params["k_max"] == int(k_max), name
        assert system.params["aggregate"] == "mean", name
        assert system.params["scaling"] == "none", name
        weak = {"RSPLIT": "split", "HRBC": "hard", "SRBC": "soft"}
        assert system.params["weak"] == weak[name.split()[0].removeprefix("EW-")], name
    assert ENSEMBLES["EW-SRBC 100x100 MAH"].params["divergence"] == "mahalanobis"
    assert (ENSEMBLES[G10].params["alpha"], ENSEMBLES[G10].params["gamma"]) == (10, 10)
    assert all(system.params["aggregate"] == "log" for system in OURS.values())


def test_eight_sets_in_turn_have_all_scales():
    sizes = [np.bincount(np.minimum(systems.synthetic("2-D", run)[1], 1)) for run in range(8)]
    background, foreground = np.array(sizes).T
    assert background[4:].min() > background[:4].max()
    doubled = np.array([False, False, True, True] * 2)
    assert foreground[doubled].mean() > 1.5 * foreground[~doubled].mean()
    X, y = systems.synthetic("3-D", 13)
    again = make_minority(3, background=2, foreground=1, spread=2, random_state=300_013)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])


# ---- what a cell holds -----------------------------------------------------------------------


def test_a_cell_of_table_3_holds_what_the_system_finds(quick):
    (cells,) = ewocs_table3(Plan(runs=2, sets=("5-d",), members=(10,)))
    assert {cell.column for cell in cells} == {*QUICK, "RANDOM", "ALLFG", "CONVEX"}
    assert {cell.row for cell in cells} == {"AUC", "Precision", "Recall", "F1"}
    assert {cell.note for cell in cells} == {"ensembles of 10 repetitions"}
    assert not any(np.isnan(cell.published) for cell in cells)
    for run in range(2):
        X, y = systems.synthetic("5-D", run)
        model = EWOCS.preset(
            "paper", n_repetitions=10, clusterer=None, random_state=1000 * run
        ).fit(X)
        assert of(cells, row="AUC", column=G10).values[run] == auc(model.scores_, y)
        cut = thresholds.best(model.scores_, y).value
        f1 = 100 * precision_recall_f1(model.scores_ >= cut, y).f1
        assert of(cells, row="F1", column=G10).values[run] == pytest.approx(f1)
        share = (y > 0).mean()
        everything = of(cells, row="F1", column="ALLFG").values[run]
        assert everything == pytest.approx(100 * 2 * share / (1 + share))


def test_random_starts_are_averaged(quick):
    (cells,) = ewocs_table3(Plan(runs=1, sets=("8-D",), members=(5,)))
    X, y = systems.synthetic("8-D", 0)
    models = PAPERS["BBOCC MAH"].run(X, y, 0)
    assert len(models) == 5
    assert len({float(model.threshold_) for model in models}) > 1
    each = [auc(model.scores_, y) for model in models]
    assert of(cells, row="AUC", column="BBOCC MAH").values[0] == pytest.approx(np.mean(each))


def test_more_data_sets_leave_the_first_alone(quick, small):
    (one,) = ewocs_table3(Plan(runs=1, sets=("2-D",), members=(5,)))
    (two,) = ewocs_table3(Plan(runs=2, sets=("2-D",), members=(5,)))
    assert [cell.values[:1] for cell in two] == [cell.values for cell in one]
    (later,) = ewocs_table3(Plan(runs=1, sets=("2-D",), members=(5,), seed=1))
    assert [cell.values for cell in later] == [cell.values[1:] for cell in two]


def test_table_4_has_every_rule_for_ensembles_and_size_for_those_told(quick, small):
    (cells,) = ewocs_table4(Plan(runs=1, members=(20,)))
    assert {cell.data for cell in cells} == {"2-D"}
    rules = {cell.row for cell in cells if cell.column == G10 and cell.row.startswith("F1")}
    assert len(rules) == 6
    told = {cell.row for cell in cells if cell.column == "BBOCC MAH"}
    assert told == {f"{m} {rule}" for m in ("F1", "Precision", "Recall") for rule in
                    ("BEST", "SIZE")}  # fmt: skip
    hard = {cell.row for cell in cells if cell.column == "kMD 100x800-50"}
    assert hard == {"F1 BEST", "Precision BEST", "Recall BEST"}
    best = of(cells, row="F1 BEST", column=G10).measured
    assert all(of(cells, row=row, column=G10).measured <= best for row in rules)


def test_table_2_has_both_ways_of_sampling(monkeypatch):
    monkeypatch.setattr(ewocs, "_SAMPLES", 2)
    found = list(ewocs_table2(Plan(runs=2, sets=("5-D", "2-D"), members=(5,))))
    assert [cells[0].data for cells in found] == ["2-D", "5-D"]
    cells = [cell for part in found for cell in part]
    rows = {"Cons", "M-Det", "micro-Det"}
    assert {cell.row for cell in cells} == {
        f"{row}, {way}" for row in rows for way in ("fixed", "redrawn")
    }
    assert all(0 <= value <= 100 for cell in cells for value in cell.values)
    assert of(cells, data="5-D", row="Cons, fixed", column="SRBC x100 G(10,10)").measured == 100
    first, second = conclude("ewocs-table2", cells)
    assert first.holds == (first.difference == 0)
    assert "5-D" in second.statement


def test_softness_is_a_factor_on_the_divergence():
    from consilience.minority.divergences import Euclidean, Mahalanobis

    X = np.random.default_rng(0).normal(size=(20, 3)) @ np.diag([1.0, 5.0, 0.1])
    plain = Mahalanobis().fit(X).pair(X, X[:4])
    softer = ewocs._softer(X)
    np.testing.assert_allclose(Euclidean().pair(softer, softer[:4]), 10 * plain, atol=1e-9)


# ---- what is claimed -------------------------------------------------------------------------


def _cells_of_ranks(order, n=12):
    """Cells of two dimensions in which systems stand in a fixed order, up to noise."""
    rng = np.random.default_rng(0)
    return [
        Cell("3", data, row, name, tuple(90 - 5 * place + rng.normal(0, 0.1, n)))
        for data in ("2-D", "8-D")
        for row in ("F1", "AUC")
        for place, name in enumerate(order)
    ]


def test_ranks_take_the_data_sets_of_all_dimensions():
    cells = _cells_of_ranks(RANKED[::-1])
    tests = ewocs_ranks(cells, "AUC")
    assert tests.ranks.n_datasets == 24
    assert len(RANKED) == 9
    np.testing.assert_allclose(tests.ranks.mean_ranks, np.arange(9, 0, -1))
    assert ewocs_ranks(cells[:5], "AUC") is None
    assert ewocs_ranks([], "F1") is None


def test_claims_follow_the_ranks():
    # As the paper has it: leaders first, BBOCC last.
    leaders = ["EW-SRBC 100x100 G(AUTO)", G10, "kMD 100x800-50", "DGRADE MAH"]
    rest = [name for name in RANKED if name not in (*leaders, "BBOCC MAH")]
    told = conclude("ewocs-table3", _cells_of_ranks([*leaders, *rest, "BBOCC MAH"], n=60))
    assert all(claim.holds for claim in told)
    assert {(claim.runs, claim.unit) for claim in told} == {(120, "data sets")}
    upside_down = conclude("ewocs-table3", _cells_of_ranks(["BBOCC MAH", *rest, *leaders[::-1]]))
    held = [claim.statement for claim in upside_down if claim.holds]
    # Only that systems differ, and that neighbours in the ranks are alike.
    assert all("differ" in words or "not significantly" in words for words in held)
    assert not any("ranks before" in words for words in held)


def test_few_data_sets_make_no_claims_and_no_warnings():
    assert conclude("ewocs-table3", _cells_of_ranks(RANKED, n=1)[:9]) == []
    assert conclude("ewocs-table3", _cells_of_ranks(RANKED, n=2)) != []
    assert conclude("ewocs-table4", []) == []
    assert conclude("ewocs-table2", []) == []


def test_claims_of_table_4_are_paired_over_data_sets():
    ours = Cell("4", "2-D", "F1 2GAUSS", "EW-SRBC 100x100 G(AUTO)", (70.0, 62.0, 81.0, 66.0))
    theirs = Cell("4", "2-D", "F1 SIZE", "BBOCC MAH", (40.0, 30.0, 52.0, 35.0))
    (claim,) = conclude("ewocs-table4", [ours, theirs])
    assert claim.holds
    assert claim.difference == pytest.approx(30.5)
    assert claim.statement.startswith("2-D: EW-SRBC 100x100 G(AUTO) with 2GAUSS above BBOCC")


# ---- bad input -------------------------------------------------------------------------------


def test_unknown_sets_are_refused():
    for name in ("ewocs-table2", "ewocs-table3", "ewocs-table4"):
        with pytest.raises(InvalidParameterError, match="Got '4-D'"):
            next(EXPERIMENTS[name].run(Plan(sets=("4-D",))))


def test_claims_of_table_2_say_how_far_the_worst_is_from_full_consistency():
    from consilience.experiments._ewocs_claims import claims_of_table2

    for worst, holds in ((100.0, True), (97.5, False)):
        cells = [
            Cell("2", data, "Cons", "SRBC x100 G(10,10)", values)
            for data, values in (("2-D", (worst, worst)), ("5-D", (100.0, 100.0)))
        ]
        first, second = claims_of_table2(cells)
        assert (first.holds, first.difference, first.runs) == (holds, worst - 100, 2)
        assert (second.holds, second.difference) == (True, 0)
