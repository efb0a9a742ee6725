"""Figure 11 of the minority-clustering paper: tests of the threshold rules over all data sets."""

from collections.abc import Iterator, Sequence

from consilience.compare import PairwiseTests
from consilience.experiments._cells import Cell, Claim, Plan
from consilience.experiments._ewocs_claims import alike, all_below, diagram, rank_tests
from consilience.experiments._ewocs_runs import PAPER, Columns, cells_of, kept, setting_of
from consilience.experiments._ewocs_systems import DIMENSIONS, PAPERS, by_threshold, synthetic
from consilience.experiments._registry import experiment, wanted

__all__ = ["criteria_ranks", "ewocs_figure11"]

G10 = "EW-SRBC 100x100 G(10,10)"
MEASURES = ("F1", "Precision", "Recall")
FREE = ("DIST", "NGAUSS+VAR", "2GAUSS")


def criteria_ranks(cells: Sequence[Cell], row: str) -> PairwiseTests | None:
    """Tests of the rules over all data sets in one measure; None for fewer than two sets."""
    mine = [cell for cell in cells if cell.row == row]
    names = dict.fromkeys(cell.column for cell in mine)
    return rank_tests(
        {n: [value for cell in mine if cell.column == n for value in cell.values] for n in names}
    )


def _claims(cells: Sequence[Cell]) -> list[Claim]:
    """What the paper reads off its Figure 11."""
    tests = {row: criteria_ranks(cells, row) for row in MEASURES}
    f1, precision, recall = (tests[row] for row in MEASURES)
    if f1 is None or precision is None or recall is None:
        return []
    claims = [diagram(one, row) for one, row in ((f1, "F1"), (precision, "Precision"),
                                                 (recall, "Recall"))]  # fmt: skip
    others = [name for name in f1.ranks.names if name != "BEST"]
    besides = [name for name in others if name != "SIZE"]
    claims.append(all_below(f1, "F1", "SIZE", besides, "all rules but BEST"))
    known = ("SIZE", "NGAUSS+BEST")
    claims += [
        all_below(f1, "F1", name, list(FREE), "all rules without supervision") for name in known
    ]
    claims.append(all_below(precision, "Precision", "SIZE", ["BEST", *besides], "all others"))
    claims += [all_below(recall, "Recall", name, ["SIZE"], "SIZE") for name in ["BEST", *besides]]
    claims += [
        alike(tests, row, "NGAUSS+VAR", "NGAUSS+BEST")
        for row, tests in (("Precision", precision), ("Recall", recall))
    ]
    claims.append(all_below(f1, "F1", "NGAUSS+BEST", ["NGAUSS+VAR"], "NGAUSS+VAR"))
    claims += [alike(f1, "F1", name, "NGAUSS+VAR") for name in ("DIST", "2GAUSS")]
    return claims


@experiment(
    "ewocs-figure11",
    keeps_runs=True,
    title="Figure 11: tests of the threshold rules (EW-SRBC 100x100 with G(10,10))",
    paper=PAPER,
    needs_data=False,
    judge=_claims,
    remarks=(
        "Per cent, by dimension of the generated sets; the tests are over the sets of all "
        "dimensions together (Bergmann-Hommel at 0.05). The paper has 160 sets and prints the "
        "diagrams without their ranks.",
        "BEST and NGAUSS+BEST know the truth, SIZE the number of foreground objects.",
    ),
)
def ewocs_figure11(plan: Plan) -> Iterator[list[Cell]]:
    """Precision, recall and F1 of each rule on the scores of one system.

    Parameters
    ----------
    plan : Plan
        ``runs`` data sets a dimension (default 10), ``sets`` (2-D, 3-D, 5-D, 8-D), ``members``
        repetitions (100).

    Yields
    ------
    list of Cell
        The cells of one dimension, one a measure and rule.
    """
    n_repetitions = None if plan.members is None else plan.members[0]
    for name in wanted("ewocs-figure11", "sets", plan.sets, tuple(DIMENSIONS)):
        setting = setting_of(n_repetitions)
        runs = kept(plan, "ewocs-figure11", name, setting, _rules, name, n_repetitions, default=10)
        yield cells_of("Figure 11", name, runs, MEASURES)


def _rules(name: str, n_repetitions: int | None, run: int) -> Columns:
    X, y = synthetic(name, run)
    (model,) = PAPERS[G10].run(X, y, run, n_repetitions)
    columns: Columns = {}
    for row, value in by_threshold(model, y, told=False).items():
        measure, rule = row.split(" ", 1)
        columns.setdefault(rule, {})[measure] = value
    return columns
