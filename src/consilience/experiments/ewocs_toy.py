"""Figures 5, 6 and 7 of the minority-clustering paper: the systems on the TOY data.

The published figures are drawings of one draw; the statements that the paper makes about them
are tested here over several.
"""

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np

from consilience.compare import precision_recall_f1
from consilience.datasets import make_toy_minority
from consilience.experiments._cells import Cell, Claim, Plan, of, paired_claim
from consilience.experiments._ewocs_runs import PAPER, Columns, cells_of, kept, mean_of, setting_of
from consilience.experiments._ewocs_systems import (
    PAPERS,
    System,
    best_measures,
    references_of,
)
from consilience.experiments._registry import experiment, wanted
from consilience.minority import BBCPress
from consilience.minority.thresholds import every

__all__ = ["TOY_SYSTEMS", "ewocs_figures5_7", "toy_models"]

G10, KMD, HDS = "EW-SRBC 100x100 G(10,10)", "kMD 100x800-50", "AUTOHDS 200-30 MAH"
# As in the paper, BBCPRESS is told the true number of sources.
_PRESS = {"BBCPRESS/5 MAH": System(BBCPress, {"n_clusters": 5}, told=True, starts=5)}
TOY_SYSTEMS: dict[str, System] = (
    {"BBOCC MAH": PAPERS["BBOCC MAH"]}
    | _PRESS
    | {name: PAPERS[name] for name in ("DGRADE MAH", HDS, KMD, G10)}
)
_BY_RULE = "TOY, EW-SRBC by rule"


def _claims(cells: Sequence[Cell]) -> list[Claim]:
    """What the paper says of Figures 5 to 7."""
    claims: list[Claim] = []
    for data, words, upper, lower in (
        ("TOY", "BBOCC finds one region only: its F1 is below BBCPRESS's",
         ("F1", "BBCPRESS/5 MAH"), ("F1", "BBOCC MAH")),
        ("TOY", "BBCPRESS and its fixed shapes are below EW-SRBC (F1)",
         ("F1", G10), ("F1", "BBCPRESS/5 MAH")),
        ("TOY", "DGRADE is below EW-SRBC (F1)", ("F1", G10), ("F1", "DGRADE MAH")),
        ("TOY", "AUTOHDS includes more background than kMD (precision)",
         ("Precision", KMD), ("Precision", HDS)),
        ("TOY", "AUTOHDS includes more background than EW-SRBC (precision)",
         ("Precision", G10), ("Precision", HDS)),
        ("TOY", "kMD favours precision over recall", ("Precision", KMD), ("Recall", KMD)),
        ("TOY", "EW-SRBC favours recall over precision", ("Recall", G10), ("Precision", G10)),
        ("TOY", "EW-SRBC encloses more area than AUTOHDS (AUC)", ("AUC", G10), ("AUC", HDS)),
        ("TOY", "EW-SRBC encloses more area than kMD (AUC)", ("AUC", G10), ("AUC", KMD)),
        (_BY_RULE, "DIST trades recall ...", ("Recall", "BEST"), ("Recall", "DIST")),
        (_BY_RULE, "... for precision", ("Precision", "DIST"), ("Precision", "BEST")),
        (_BY_RULE, "SIZE is nearer to BEST than DIST (F1)", ("F1", "SIZE"), ("F1", "DIST")),
        (_BY_RULE, "NGAUSS+VAR is nearer to BEST than DIST (F1)",
         ("F1", "NGAUSS+VAR"), ("F1", "DIST")),
        (_BY_RULE, "2GAUSS is nearer to BEST than DIST (F1)", ("F1", "2GAUSS"), ("F1", "DIST")),
    ):  # fmt: skip
        a = of(cells, data=data, row=upper[0], column=upper[1])
        b = of(cells, data=data, row=lower[0], column=lower[1])
        if a is not None and b is not None and len(a.values) > 1:
            claims.append(paired_claim(words, a, b))
    return claims + _same_cuts(cells)


def _same_cuts(cells: Sequence[Cell]) -> list[Claim]:
    """How often both rules on the mixture cut at the same place."""
    cuts = [of(cells, row="objects", column=rule) for rule in ("NGAUSS+VAR", "NGAUSS+BEST")]
    if cuts[0] is None or cuts[1] is None:
        return []
    gaps = np.subtract(cuts[0].values, cuts[1].values)
    words = f"NGAUSS+VAR cuts where NGAUSS+BEST does ({int((gaps == 0).sum())} of {len(gaps)})"
    return [Claim(words, not gaps.any(), float(gaps.mean()), nan, len(gaps))]


@experiment(
    "ewocs-figures5-7",
    keeps_runs=True,
    title="Figures 5 to 7: the systems and the threshold rules on TOY",
    paper=PAPER,
    needs_data=False,
    judge=_claims,
    remarks=(
        "Per cent; AUC from 0 to 1. The paper draws one data set and prints no numbers; here "
        "every run draws the 2800 objects anew, and the picture is that of the first.",
        "BBOCC, BBCPRESS and kMD: mean of five starts. BBOCC, BBCPRESS and DGRADE are told the "
        "number of foreground objects, BBCPRESS the number of sources too. CONVEX knows the truth.",
        "The last rows: EW-SRBC cut by each rule, and the number of objects it then calls "
        "foreground (800 are).",
    ),
)
def ewocs_figures5_7(plan: Plan) -> Iterator[list[Cell]]:
    """Precision, recall, F1 and AUC of every system, and of EW-SRBC by every rule.

    Parameters
    ----------
    plan : Plan
        ``runs`` draws of the data (default 10), ``sets`` (TOY), ``members`` repetitions of
        EW-SRBC (100).

    Yields
    ------
    list of Cell
        The systems (Figures 5 and 6), then the rules (Figure 7).
    """
    wanted("ewocs-figures5-7", "sets", plan.sets, ("TOY",))
    n_repetitions = None if plan.members is None else plan.members[0]
    setting = setting_of(n_repetitions)
    runs = kept(plan, "ewocs-figures5-7", "TOY", setting, _on_toy, n_repetitions, default=10)
    systems = (*TOY_SYSTEMS, "CONVEX")
    yield cells_of("Figures 5, 6", "TOY", [{name: one[name] for name in systems} for one in runs])
    by_rule = [{name: one[name] for name in one if name not in systems} for one in runs]
    yield cells_of("Figure 7", _BY_RULE, by_rule)


def toy_models(run: int, n_repetitions: int | None = None) -> tuple[Any, Any, dict[str, list[Any]]]:
    """Objects, truth, and the fitted systems on one draw, one a start."""
    X, y = make_toy_minority(random_state=run)
    return X, y, {name: one.run(X, y, run, n_repetitions) for name, one in TOY_SYSTEMS.items()}


def _on_toy(n_repetitions: int | None, run: int) -> Columns:
    """The systems, and EW-SRBC by rule."""
    X, y, models = toy_models(run, n_repetitions)
    columns = {name: mean_of([best_measures(m, y) for m in mine]) for name, mine in models.items()}
    columns["CONVEX"] = references_of(X, y, run)["CONVEX"]
    scores = models[G10][0].scores_
    for cut in every(scores, y=y, m=int((y > 0).sum())):
        one = precision_recall_f1(scores >= cut.value, y)
        columns[cut.method.upper()] = {
            "F1": 100 * one.f1,
            "Precision": 100 * one.precision,
            "Recall": 100 * one.recall,
            "objects": float(one.n_found),
        }
    return columns
