"""Figures 5 to 11, 16 and 17 of the minority-clustering paper, at their smallest."""

import time

import numpy as np
import pytest
from numba import config

from consilience.compare import auc, precision_recall_f1
from consilience.datasets import make_minority, make_toy_minority
from consilience.errors import InvalidParameterError
from consilience.experiments import (
    ewocs_convergence,
    ewocs_criteria,
    ewocs_sensitivity,
    ewocs_toy,
    relations,
)
from consilience.experiments._cells import Cell, Plan, of
from consilience.experiments._ewocs_systems import PAPERS, by_threshold
from consilience.experiments._registry import EXPERIMENTS, conclude
from consilience.minority import EWOCS
from consilience.minority.divergences import Gaussian

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


def small(name, run):
    """A tenth of the objects."""
    return make_minority(2, background=0.2, foreground=0.2, random_state=run)


def run(name, **plan):
    return [cell for part in EXPERIMENTS[name].run(Plan(**plan)) for cell in part]


@pytest.mark.parametrize(
    "name",
    ["ewocs-figure9", "ewocs-figure10", "ewocs-figure11", "ewocs-figures5-7", "ewocs-figures16-17"],
)
def test_unknown_sets_are_refused_and_no_cells_make_no_claims(name):
    with pytest.raises(InvalidParameterError, match="Got '4-D'"):
        run(name, sets=("4-D",))
    assert conclude(name, []) == []


# ---- Figures 5 to 7 --------------------------------------------------------------------------


@pytest.fixture
def toy(monkeypatch):
    """A fifth of the objects, and the systems that take no time."""
    monkeypatch.setattr(
        ewocs_toy,
        "make_toy_minority",
        lambda random_state: make_toy_minority(0.2, random_state=random_state),
    )
    kept = {n: s for n, s in ewocs_toy.TOY_SYSTEMS.items() if not n.startswith(("DGRADE", "AUTO"))}
    monkeypatch.setattr(ewocs_toy, "TOY_SYSTEMS", kept)


def test_toy_holds_what_the_systems_find_and_the_rules_cut(toy):
    cells = run("ewocs-figures5-7", runs=2, members=(20,))
    X, y = make_toy_minority(0.2, random_state=1)
    system = PAPERS[ewocs_toy.G10]
    (model,) = system.run(X, y, 1, 20)
    assert of(cells, row="AUC", column=ewocs_toy.G10).values[1] == auc(model.scores_, y)
    rules = by_threshold(model, y, told=False)
    for row in ("F1", "Precision", "Recall"):
        for rule in ("BEST", "SIZE", "DIST", "2GAUSS", "NGAUSS+VAR", "NGAUSS+BEST"):
            cell = of(cells, data="TOY, EW-SRBC by rule", row=row, column=rule)
            assert cell.values[1] == pytest.approx(rules[f"{row} {rule}"])
    sizes = of(cells, row="objects", column="SIZE")
    assert sizes.values[1] >= (y > 0).sum()
    claims = {claim.statement: claim for claim in conclude("ewocs-figures5-7", cells)}
    found = claims["EW-SRBC encloses more area than kMD (AUC)"]
    mine, other = (of(cells, row="AUC", column=c) for c in (ewocs_toy.G10, ewocs_toy.KMD))
    assert found.difference == pytest.approx(mine.measured - other.measured)


def test_equal_cuts_are_counted():
    data = "TOY, EW-SRBC by rule"
    cells = [
        Cell("Figure 7", data, "objects", "NGAUSS+VAR", (800.0, 700.0, 650.0)),
        Cell("Figure 7", data, "objects", "NGAUSS+BEST", (800.0, 700.0, 620.0)),
    ]
    (claim,) = conclude("ewocs-figures5-7", cells)
    assert "2 of 3" in claim.statement
    assert not claim.holds
    assert claim.difference == pytest.approx(10)


# ---- Figures 9 and 10 ------------------------------------------------------------------------


def test_figure_9_grows_one_ensemble_and_turns_one_knob_at_a_time(monkeypatch):
    monkeypatch.setattr(ewocs_sensitivity, "synthetic", small)
    monkeypatch.setattr(ewocs_sensitivity, "_K_MAX", (10, 100))
    monkeypatch.setattr(ewocs_sensitivity, "_ALPHAS", (10.0,))
    monkeypatch.setattr(ewocs_sensitivity, "_GAMMAS", (0.1, 10.0))
    monkeypatch.setattr(ewocs_sensitivity, "AUTO", "EW-SRBC 100x100 MAH")
    cells = run("ewocs-figure9", runs=2, members=(20, 10, 100))
    grown = of(cells, row="F1, R=100", column="k_max=100")
    fixed = of(cells, row="F1, gamma=10", column="alpha=10")
    assert grown.values == fixed.values
    X, y = small("2-D", 1)
    model = EWOCS.preset("paper", alpha=10.0, gamma=10.0, clusterer=None, random_state=1000).fit(X)
    f1 = max(precision_recall_f1(model.scores_ >= cut, y).f1 for cut in model.scores_)
    assert fixed.values[1] == pytest.approx(100 * f1)
    claims = [claim.statement for claim in conclude("ewocs-figure9", cells)]
    assert any("maximum around gamma=10 (here at 10)" in words for words in claims)
    assert "k_max=100: F1 is higher at R=100 than at R=10" in claims


def test_figure_10_takes_every_setting(monkeypatch):
    monkeypatch.setattr(ewocs_sensitivity, "synthetic", small)
    for name, values in {
        "_K": (1, 3), "_N_EPS": (20, 40), "_N_PART": (10,), "_START": (100,), "_LEAST": (10, 40),
    }.items():  # fmt: skip
        monkeypatch.setattr(ewocs_sensitivity, name, values)
    monkeypatch.setattr(ewocs_sensitivity, "AUTO", "EW-SRBC 100x100 MAH")
    cells = run("ewocs-figure10", runs=2)
    shown = {(cell.column, cell.row) for cell in cells}
    assert {("BBCPRESS", "F1, k=3"), ("AUTOHDS, n_part=10", "F1, n_eps=40")} <= shown
    assert {("kMD, s_min=40", "F1, s_0=100"), ("DGRADE MAH", "F1")} <= shown
    claims = {claim.statement: claim for claim in conclude("ewocs-figure10", cells)}
    reach = {
        kind: np.ptp([c.values for c in cells if c.column.startswith(kind)], axis=0)
        for kind in ("AUTOHDS", "kMD")
    }
    words = "kMD hangs less on its parameters than AUTOHDS (reach of F1 over all settings)"
    assert claims[words].difference == pytest.approx((reach["AUTOHDS"] - reach["kMD"]).mean())


# ---- Figure 11 -------------------------------------------------------------------------------


def test_figure_11_tests_the_rules_over_all_dimensions(monkeypatch):
    monkeypatch.setattr(ewocs_criteria, "synthetic", small)
    cells = run("ewocs-figure11", runs=2, sets=("2-D", "8-D"), members=(20,))
    assert {cell.row for cell in cells} == {"F1", "Precision", "Recall"}
    tests = ewocs_criteria.criteria_ranks(cells, "F1")
    assert tests.ranks.n_datasets == 4
    assert len(tests.ranks.names) == 6
    # No rule beats the one that takes the best.
    means = dict(zip(tests.ranks.names, tests.ranks.mean_ranks, strict=True))
    assert means["BEST"] == min(means.values())
    assert {claim.runs for claim in conclude("ewocs-figure11", cells)} == {4}


def test_claims_of_figure_11_follow_the_ranks():
    rng = np.random.default_rng(0)
    level = {
        "F1": {"BEST": 9, "SIZE": 8, "NGAUSS+BEST": 7, "NGAUSS+VAR": 5, "DIST": 5, "2GAUSS": 5},
        "Precision": {"SIZE": 9, "BEST": 8, "NGAUSS+BEST": 7, "NGAUSS+VAR": 7, "DIST": 5,
                      "2GAUSS": 4},
        "Recall": {"2GAUSS": 9, "DIST": 8, "NGAUSS+BEST": 6, "NGAUSS+VAR": 6, "BEST": 5,
                   "SIZE": 3},
    }  # fmt: skip
    cells = [
        Cell("Figure 11", "2-D", row, rule, tuple(high + rng.normal(0, 0.05, 160)))
        for row, rules in level.items()
        for rule, high in rules.items()
    ]
    told = conclude("ewocs-figure11", cells)
    assert len(told) > 12
    assert [claim.statement for claim in told if not claim.holds] == []


# ---- Figures 16 and 17 -----------------------------------------------------------------------


def test_repetitions_are_counted_as_the_published_rule_counts_them(monkeypatch):
    X, _ = make_minority(2, background=0.2, foreground=0.2, random_state=0)
    for tolerance in (1e-5, 2e-6):
        model = EWOCS.preset(
            "paper", alpha=10.0, gamma=10.0, n_repetitions="auto", stop="paper", tol=tolerance,
            max_repetitions=800, threshold="dist", clusterer=None, random_state=3,
        ).fit(X)  # fmt: skip
        monkeypatch.setattr(ewocs_convergence, "_TOLERANCE", tolerance)
        monkeypatch.setattr(ewocs_convergence, "SCALES", ("mapped",))
        monkeypatch.setattr(ewocs_convergence, "_changes", _mapped_change)
        start = time.perf_counter()
        found = ewocs_convergence._settle(X, (10.0, 10.0), model.seed_)
        assert 0 < found.learning * model.n_repetitions_ < time.perf_counter() - start
        assert model.converged_
        assert found.needed == {"mapped": model.n_repetitions_}
        assert found.first["mapped"] == pytest.approx(model.history_[0, 2])


def test_seconds_to_convergence_are_those_of_the_repetitions_needed():
    settled = ewocs_convergence._Settled({"mapped": 8}, {"mapped": 0.01}, 0.25, 0.0)
    assert ewocs_convergence._of_scale(settled, "mapped", ", n=9") == {
        "log10 of the first change, n=9": pytest.approx(-2),
        "repetitions, n=9": 8.0,
        "seconds to convergence, n=9": 2.0,
    }


def _mapped_change(before, after, unit=ewocs_convergence._unit):
    return {"mapped": float(np.mean((unit(after) - unit(before)) ** 2))}


def test_sizes_are_fitted_by_powers(monkeypatch):
    monkeypatch.setattr(ewocs_convergence, "_MOST", 200)
    cells = run("ewocs-figures16-17", runs=2, sets=("2-D",), members=(200, 400, 800))
    rows = {cell.row for cell in cells}
    assert {"repetitions, n=200", "seconds to convergence, n=800"} <= rows
    claims = conclude("ewocs-figures16-17", cells)
    # Two scales of repetitions and of time to convergence; learning and scoring.
    assert len(claims) == 6
    assert {claim.runs for claim in claims} == {6}


def test_sizes_beyond_the_collection_are_one_and_said_to_be(sentences, monkeypatch):
    monkeypatch.setattr(ewocs_convergence, "_MOST", 100)
    some = {types: relations.PAIRS[types] for types in ("LOC-PER", "LOC-LOC")}
    monkeypatch.setattr(relations, "PAIRS", some)
    n = ewocs_convergence.all_pairs(sentences).shape[0]
    plan = {"runs": 1, "sets": ("RELATIONS",), "data_home": sentences}
    cells = run("ewocs-figures16-17", members=(20, n, n + 1, n + 9, 20), **plan)
    assert {cell.row.rpartition("=")[2] for cell in cells} == {"20", str(n)}
    assert {cell.note for cell in cells} == {f"only {n} objects for n={n + 1} and {n + 9}"}
    assert {cell.note for cell in run("ewocs-figures16-17", members=(20, n), **plan)} == {""}


def test_a_power_law_is_recovered():
    rng = np.random.default_rng(0)
    cells = [
        Cell("", "2-D", f"repetitions, n={n}", "mapped",
             tuple(3 * n**0.4 * np.exp(rng.normal(0, 0.01, 5))))
        for n in (100, 1000, 10_000)
    ]  # fmt: skip
    (claim,) = conclude("ewocs-figures16-17", cells)
    assert claim.holds
    assert abs(claim.difference) < 0.01
    steeper = [Cell(c.table, c.data, c.row, c.column, tuple(np.square(c.values))) for c in cells]
    (claim,) = conclude("ewocs-figures16-17", steeper)
    assert not claim.holds
    assert claim.difference == pytest.approx(0.4, abs=0.02)


def test_what_has_not_settled_is_extrapolated_by_the_square():
    repetitions = np.arange(2, 1002)
    changes = 3e-4 / repetitions**2.0
    assert ewocs_convergence._beyond(changes.tolist()) == pytest.approx(
        np.sqrt(3e-4 / 1e-10), rel=0.06
    )


def test_kernels_of_figure_16_are_the_papers():
    assert ewocs_convergence._KERNEL["RELATIONS"] == (0.1, 0.1)
    assert Gaussian(alpha=0.1, gamma=0.1).alpha == 0.1
