"""Cells, claims, the published figures, and how they are written down."""

import csv
import io
import math
import re

import numpy as np
import pytest
from scipy import stats

from consilience.errors import InvalidParameterError
from consilience.experiments import EXPERIMENTS, Cell
from consilience.experiments._cells import of, paired_claim, published
from consilience.experiments._registry import wanted
from consilience.experiments._report import _groups, as_csv, as_lines, as_page, summaries


def cell(column="A", values=(0.5, 0.7), known=0.55, **fields):
    return Cell("4", fields.pop("data", "Iris"), "R=40", column, values, known, **fields)


def test_a_cell_is_the_mean_of_its_runs():
    mine = cell()
    assert mine.measured == pytest.approx(0.6)
    assert mine.spread == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert mine.error == pytest.approx(0.1)
    assert cell(values=(0.1, 0.4, 0.2, 0.6)).error == pytest.approx(stats.sem([0.1, 0.4, 0.2, 0.6]))
    assert mine.difference == pytest.approx(0.05)
    assert math.isnan(cell(values=(0.5,)).spread)
    assert math.isnan(cell(values=(0.5,)).error)
    # Equal runs have no spread; of a mean that is rounded there is one, some 1e-14.
    assert {cell(values=(96.62921348314607,) * n).error for n in range(2, 40)} == {0.0}
    assert math.isnan(Cell("4", "Iris", "R=40", "A", (0.5,)).difference)


def test_a_cell_without_runs_has_no_figures():
    empty = cell(values=())
    assert all(map(math.isnan, (empty.measured, empty.spread, empty.error, empty.difference)))


def test_a_claim_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    low = rng.normal(size=12)
    high = low + rng.normal(0.4, 0.3, size=12)
    claim = paired_claim("high above low", cell(values=tuple(high)), cell(values=tuple(low)))
    assert claim.p_value == pytest.approx(stats.ttest_rel(high, low).pvalue)
    assert claim.difference == pytest.approx((high - low).mean())
    assert claim.error == pytest.approx(stats.sem(high - low))
    assert claim.test == "paired t"
    assert claim.holds is (claim.p_value < 0.05)
    # The other way round the difference is as sure, and the claim as wrong.
    other = paired_claim("low above high", cell(values=tuple(low)), cell(values=tuple(high)))
    assert other.p_value == pytest.approx(claim.p_value)
    assert not other.holds


def test_runs_that_do_not_differ_decide_by_their_difference():
    same = paired_claim("", cell(values=(0.3, 0.4)), cell(values=(0.3, 0.4)))
    more = paired_claim("", cell(values=(0.4, 0.5)), cell(values=(0.3, 0.4)))
    assert (same.p_value, same.holds) == (1.0, False)
    assert (more.p_value, more.holds) == (pytest.approx(0, abs=1e-12), True)


def test_a_claim_is_judged_at_five_per_cent_unless_told():
    better, worse = cell(values=(0.5, 0.6, 0.5, 0.9)), cell(values=(0.4, 0.4, 0.4, 0.5))
    doubtful = paired_claim("", better, worse)
    assert 0.05 < doubtful.p_value < 0.1
    assert not doubtful.holds
    assert paired_claim("", better, worse, level=0.1).holds


def test_tables_that_a_later_row_joins_become_one():
    rows = {"one": "A", "two": "B", "three": "AB", "four": "C"}
    cells = [Cell("4", "Iris", row, name, (0.1,)) for row, names in rows.items() for name in names]
    first, second = _groups(cells)
    assert [(c.row, c.column) for c in first] == [
        ("one", "A"), ("two", "B"), ("three", "A"), ("three", "B"),
    ]  # fmt: skip
    assert [c.row for c in second] == ["four"]


def test_the_published_figures_are_those_of_the_paper():
    known = published("woec")
    tables = [key[0] for key in known]
    # 3 toys x 3 indices x 12; x 2; 15 sets x 3 sizes x 13; x 5
    assert [tables.count(table) for table in "2345"] == [108, 18, 585, 225]
    assert known["4", "Iris", "R=40", "WOSP"][0] == 0.6292
    assert known["4", "Wall", "R=60", "WOHB"][0] == 0.7130
    assert known["4", "Australian", "R=40", "Min"][0] == -0.0069
    assert known["2", "Toy2", "NMI", "WOHB"][0] == 0.9914
    assert known["3", "Toy3", "ARI", "WOKmeans"] == (0.9191, 0.0852)
    assert known["5", "Yeast", "R=60", "WOHB"][0] == 0.0964
    assert all(-1 <= value <= 1 for value, _ in known.values())
    for table in "45":
        for data in {key[1] for key in known if key[0] == table}:
            low, high = (known.get((table, data, "R=40", name)) for name in ("Min", "Max"))
            assert low is None or low[0] <= known[table, data, "R=40", "Mean"][0] <= high[0]


def test_the_csv_can_be_read_back():
    cells = [cell(note="a, b"), Cell("4", "Iris", "R=40", "B", (0.25,))]
    first, second = csv.DictReader(io.StringIO(as_csv(cells)))
    assert (first["measured"], first["difference"], first["runs"]) == ("0.6000", "0.0500", "2")
    assert (first["standard_error"], first["spread"]) == ("0.1000", "0.1414")
    assert first["note"] == "a, b"
    assert (second["published"], second["spread"], second["measured"]) == ("", "", "0.2500")
    assert as_lines(cells)[1] == ("B", "0.2500", "", "", "")


def test_the_summary_counts_only_what_was_published():
    cells = [cell(), cell(values=(0.1, 0.1), known=0.3), Cell("4", "X", "R=40", "B", (0.2,))]
    (found,) = summaries(cells)
    assert (found.column, found.cells, found.near, found.judged) == ("A", 2, 1, 2)
    assert (found.median, found.largest) == (pytest.approx(0.125), pytest.approx(0.2))


def test_one_run_has_no_error_to_be_within():
    (found,) = summaries([cell(values=(0.55,)), cell()])
    assert (found.cells, found.near, found.judged) == (2, 1, 1)


def test_the_page_has_every_cell_and_marks_the_best():
    experiment = EXPERIMENTS["woec-table4"]
    cells = [
        cell("CSPA", (0.1, 0.2, 0.3)),
        cell("MCLA", (0.51, 0.62, 0.7)),
        cell("Max", (0.9, 0.9, 0.9)),
        cell("CSPA", (0.4, 0.4, 0.5), data="Sony"),
        cell("MCLA", (0.75,), data="Sony"),
        cell("CSPA", (0.25,), data="Wall"),
    ]
    claim = paired_claim("MCLA above CSPA", cells[1], cells[0])
    page = as_page(experiment, cells, [claim], "consilience reproduce woec-table4")
    # Standard errors: the deviations of the three runs, 0.1 and 0.095, over their root.
    assert "| Iris | R=40 | 3 | 0.200 ± 0.058 (0.550) | **0.610 ± 0.055** (0.550) |" in page
    assert "**0.900" not in page  # the best member is no method
    told = f"| MCLA above CSPA | yes | +0.4100 ± {claim.error:.4f} | {claim.p_value:.2g} "
    assert told + "| paired t | 3 runs |" in page
    assert experiment.remarks[0] in page
    # Three runs and one beside them: the row has three, the figure of one has no error.
    assert "| Sony | R=40 | 3 | 0.433 ± 0.033 (0.550) | 0.750 (0.550) |  |" in page
    assert "| Wall | R=40 | 1 | 0.250 (0.550) |  |  |" in page
    assert "| CSPA | 3 | 0.3000 | 0.3500 | 0 of 2 |" in page


def test_rows_that_share_no_column_have_tables_of_their_own():
    rows = {"R=1": ("A", "B"), "size=1": ("C", "D"), "R=2": ("B",), "seconds, n=9": ("C", "D")}
    cells = [
        Cell("9", "X", row, column, (0.1, 0.2 + 0.1 * place))
        for row, columns in rows.items()
        for place, column in enumerate(columns)
    ]
    page = as_page(EXPERIMENTS["woec-table4"], cells, [], "c")
    first, second = re.findall(r"\| data \|.*?(?=\n\n)", page, re.DOTALL)
    assert "| runs | A | B |" in first
    assert ("| X | R=1 |" in first, "| X | R=2 |" in first, "size" in first) == (True, True, False)
    assert "| runs | C | D |" in second
    # Of seconds the most are not the best.
    assert [line.count("**") > 0 for line in second.splitlines()[2:]] == [True, False]


def test_a_small_error_is_not_called_none():
    spreads = {0.0: "0.000", 3e-5: "<0.0001", 2e-4: "0.0002", 0.0006: "0.001", 0.0123: "0.012"}
    for error, shown in spreads.items():
        # Two runs, each an error away from their mean.
        runs = cell(values=(0.5 - error, 0.5 + error))
        page = as_page(EXPERIMENTS["woec-table4"], [runs], [], "c")
        assert f"| 2 | 0.500 ± {shown} (0.550) |" in page


def test_a_page_without_published_figures_says_so():
    page = as_page(EXPERIMENTS["woec-table4"], [Cell("4", "X", "R=40", "B", (0.2,))], [], "c")
    assert "None were published." in page
    assert "The paper's statements" not in page


def test_names_of_data_sets_are_found_in_any_case():
    known = ("Toy1", "Toy2", "Toy3")
    assert wanted("x", "sets", None, known) == list(known)
    assert wanted("x", "sets", ("toy3", "TOY1"), known) == ["Toy1", "Toy3"]
    with pytest.raises(InvalidParameterError, match=r"Toy1, Toy2, Toy3. Got 'Toy4'"):
        wanted("x", "sets", ("Toy4",), known)


def test_a_cell_is_found_by_its_fields():
    cells = [cell(), cell("B")]
    assert of(cells, column="B") is cells[1]
    assert of(cells, column="B", data="Sony") is None


def test_tables_of_made_data_need_no_folder():
    without = {name for name, one in EXPERIMENTS.items() if not one.needs_data}
    assert {"woec-table2", "woec-table3", "ewocs-table2", "ewocs-table3"} <= without
    assert not without & {"woec-table4", "woec-table5", "eeac-table", "peace-tables"}


def test_rows_that_share_columns_by_way_of_a_third_stand_in_one_table():
    kinds = {"first": "A", "second": "B", "third": "AB", "alone": "C"}
    cells = [Cell("1", "set", row, one, (1.0,)) for row, names in kinds.items() for one in names]
    found = [[(cell.row, cell.column) for cell in group] for group in _groups(cells)]
    assert found == [
        [("first", "A"), ("second", "B"), ("third", "A"), ("third", "B")],
        [("alone", "C")],
    ]
