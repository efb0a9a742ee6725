"""Figures 9 and 10 of the minority-clustering paper: what the parameters of the systems do.

Best F1 on two-dimensional generated sets; every setting sees the same sets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from consilience.experiments._cells import Cell, Claim, Plan, of, paired_claim
from consilience.experiments._ewocs_runs import (
    PAPER,
    Columns,
    cells_of,
    kept,
    mean_of,
    setting_of,
    steps_of,
)
from consilience.experiments._ewocs_systems import PAPERS, System, best_measures, synthetic
from consilience.experiments._registry import Judge, experiment, wanted
from consilience.minority import EWOCS, KMD, AutoHDS, BBCPress

__all__ = ["ewocs_figure9", "ewocs_figure10"]

_OWN = ("2-D",)
AUTO, MAH = "EW-SRBC 100x100 G(AUTO)", "EW-SRBC 100x100 MAH"
_REMARK = (
    "Best F1 in per cent on two-dimensional generated sets, another one every run; the paper "
    "prints the figures without their numbers, and the ranges of the parameters are ours."
)


def _by_dimension(judge: Judge) -> Judge:
    """A judge of one dimension for cells of several: each is judged by itself, and named.

    The figure's own dimension, where there is no other, is not.
    """

    def judged(cells: Sequence[Cell]) -> list[Claim]:
        sets = tuple(dict.fromkeys(cell.data for cell in cells))
        return [
            claim if sets == _OWN else replace(claim, statement=f"{data}: {claim.statement}")
            for data in sets
            for claim in judge([cell for cell in cells if cell.data == data])
        ]

    return judged


# ---- Figure 9 --------------------------------------------------------------------------------

_STEPS = (10, 20, 50, 100, 200)
_K_MAX = (10, 25, 50, 100, 200)
_ALPHAS = (1.0, 3.0, 10.0, 30.0, 100.0)
_GAMMAS = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
_PEAK = (3.0, 30.0)


def _claims_of_figure9(cells: Sequence[Cell]) -> list[Claim]:
    """More and finer clusterings help and level off; there is a best width."""
    claims = _growth(cells)
    for alpha in _ALPHAS:
        curve = [cell for cell in cells if cell.column == f"alpha={alpha:g}"]
        if curve:
            top = _x(max(curve, key=lambda cell: cell.measured).row)
            words = f"alpha={alpha:g}: F1 has its maximum around gamma=10 (here at {top:g})"
            held, n = _PEAK[0] <= top <= _PEAK[1], len(curve[0].values)
            claims.append(Claim(words, held, float(np.log10(top / 10)), nan, n))
    auto = of(cells, row="F1", column=AUTO)
    for name in (MAH, "EW-HRBC 100x100 MAH"):
        other = of(cells, row="F1", column=name)
        if auto is not None and other is not None and len(auto.values) > 1:
            claims.append(paired_claim(f"G(AUTO) above {name} (F1)", auto, other))
    return claims


def _growth(cells: Sequence[Cell]) -> list[Claim]:
    """F1 over the repetitions: it rises, and less and less."""
    curve = [cell for cell in cells if cell.column == "k_max=100" and "R=" in cell.row]
    if len(curve) < 3 or len(curve[0].values) < 2:
        return []
    first, middle, last = curve[0], curve[-2], curve[-1]
    rise = paired_claim(
        f"k_max=100: F1 is higher at R={_x(last.row):g} than at R={_x(first.row):g}", last, first
    )
    late = last.measured - middle.measured
    early = middle.measured - first.measured
    words = (
        f"k_max=100: F1 levels off (from R={_x(middle.row):g} to {_x(last.row):g} it gains "
        f"{late:+.2f}, from {_x(first.row):g} to {_x(middle.row):g} {early:+.2f})"
    )
    return [rise, Claim(words, abs(late) < abs(early), late - early, nan, len(first.values))]


@experiment(
    "ewocs-figure9",
    keeps_runs=True,
    title="Figure 9: parameters of EW-SRBC, two-dimensional generated data",
    paper=PAPER,
    needs_data=False,
    judge=_by_dimension(_claims_of_figure9),
    remarks=(
        _REMARK,
        "First repetitions R and clusters k_max with G(10,10), then alpha and gamma with "
        "R = k_max = 100; the last row holds the references drawn in the figure. The mean "
        "difference of the statements about a maximum is log10(gamma / 10).",
    ),
)
def ewocs_figure9(plan: Plan) -> Iterator[list[Cell]]:
    """Best F1 of EW-SRBC by repetitions and clusters, and by the kernel's two parameters.

    Parameters
    ----------
    plan : Plan
        ``runs`` data sets (default 8), ``members`` numbers of repetitions (10, 20, 50, 100,
        200), ``sets`` (2-D; the other dimensions on request).

    Yields
    ------
    list of Cell
        The two parts of the figure, of one dimension.
    """
    asked = _OWN if plan.sets is None else plan.sets
    steps = steps_of(plan, _STEPS)
    for name in wanted("ewocs-figure9", "sets", asked, ("2-D", "3-D", "5-D", "8-D")):
        setting = setting_of(steps)
        runs = kept(plan, "ewocs-figure9", name, setting, _ensembles, name, steps, default=8)
        yield cells_of("Figure 9", name, runs)


def _ensembles(name: str, steps: Sequence[int], run: int) -> Columns:
    X, y = synthetic(name, run)
    columns: Columns = {}
    for k_max in _K_MAX:
        model = _srbc(run, k_max=k_max, n_repetitions=steps[0]).fit(X)
        curve = {f"F1, R={steps[0]}": best_measures(model, y)["F1"]}
        for step in steps[1:]:
            model.more(X, step - model.n_repetitions_)
            curve[f"F1, R={step}"] = best_measures(model, y)["F1"]
        columns[f"k_max={k_max}"] = curve
    for alpha in _ALPHAS:
        models = {g: _srbc(run, alpha=alpha, gamma=g).fit(X) for g in _GAMMAS}
        columns[f"alpha={alpha:g}"] = {
            f"F1, gamma={g:g}": best_measures(model, y)["F1"] for g, model in models.items()
        }
    return columns | _f1_of(("EW-HRBC 100x100 MAH", MAH, AUTO), X, y, run)


def _srbc(run: int, **changes: Any) -> EWOCS:
    settings = dict(PAPERS["EW-SRBC 100x100 G(10,10)"].params) | changes
    return EWOCS(**(settings | {"random_state": 1000 * run}))


def _f1_of(names: Sequence[str], X: Any, y: Any, run: int) -> Columns:
    return {name: {"F1": _best_f1(PAPERS[name], X, y, run)} for name in names}


def _best_f1(system: System, X: Any, y: Any, run: int) -> float:
    return mean_of([best_measures(model, y) for model in system.run(X, y, run)])["F1"]


def _x(row: str) -> float:
    return float(row.rpartition("=")[2])


# ---- Figure 10 -------------------------------------------------------------------------------

_K = (1, 2, 3, 5, 7, 10, 15, 20)
_N_EPS, _N_PART = (50, 100, 200, 400), (10, 30, 100)
_START, _LEAST = (400, 800, 1600), (10, 25, 50, 100)


def _claims_of_figure10(cells: Sequence[Cell]) -> list[Claim]:
    """How much the settings decide, and whether any of them reaches EW-SRBC."""
    auto = of(cells, row="F1", column=AUTO)
    if auto is None or len(auto.values) < 2:
        return []
    claims = []
    groups = {
        kind: [cell for cell in cells if cell.column.startswith(kind)]
        for kind in ("BBCPRESS", "AUTOHDS", "kMD")
    }
    for kind, mine in groups.items():
        top = max(mine, key=lambda cell: cell.measured)
        words = f"EW-SRBC with G(AUTO) above {kind} at its best setting on average ({_named(top)})"
        claims.append(paired_claim(words, auto, top))
    reach = {
        kind: tuple(np.ptp([cell.values for cell in mine], axis=0)) for kind, mine in groups.items()
    }
    wide, narrow = (Cell("", "", "", "", reach[kind]) for kind in ("AUTOHDS", "kMD"))
    words = "kMD hangs less on its parameters than AUTOHDS (reach of F1 over all settings)"
    claims.append(paired_claim(words, wide, narrow))
    dgrade = of(cells, row="F1", column="DGRADE MAH")
    press = max(groups["BBCPRESS"], key=lambda cell: cell.measured)
    if dgrade is not None:
        words = f"DGRADE, told no number of clusters, above {_named(press)}"
        claims.append(paired_claim(words, dgrade, press))
    return claims


def _named(cell: Cell) -> str:
    return f"{cell.column}, {cell.row.partition(', ')[2]}"


@experiment(
    "ewocs-figure10",
    keeps_runs=True,
    title="Figure 10: parameters of BBCPRESS, AUTOHDS and kMD, two-dimensional generated data",
    paper=PAPER,
    needs_data=False,
    judge=_by_dimension(_claims_of_figure10),
    remarks=(
        _REMARK,
        "Clusters of BBCPRESS (told the number of foreground objects; mean of two starts); n_eps "
        "and n_part of AUTOHDS; start and least size of kMD (100 rounds, one start). The last "
        "row holds the references drawn in the figure.",
    ),
)
def ewocs_figure10(plan: Plan) -> Iterator[list[Cell]]:
    """Best F1 of three rivals by their parameters, beside EW-SRBC with G(AUTO).

    Parameters
    ----------
    plan : Plan
        ``runs`` data sets (default 5), ``sets`` (2-D; the other dimensions on request).

    Yields
    ------
    list of Cell
        The three parts of the figure, of one dimension.
    """
    asked = _OWN if plan.sets is None else plan.sets
    for name in wanted("ewocs-figure10", "sets", asked, ("2-D", "3-D", "5-D", "8-D")):
        runs = kept(plan, "ewocs-figure10", name, "", _settings, name, default=5)
        yield cells_of("Figure 10", name, runs)


def _settings(name: str, run: int) -> Columns:
    X, y = synthetic(name, run)
    curves: Mapping[str, Mapping[str, System]] = {
        "BBCPRESS": {
            f"k={k}": System(BBCPress, {"n_clusters": k}, told=True, starts=2) for k in _K
        },
        **{
            f"AUTOHDS, n_part={part}": {
                f"n_eps={eps}": System(AutoHDS, {"n_eps": eps, "n_part": part}) for eps in _N_EPS
            }
            for part in _N_PART
        },
        **{
            f"kMD, s_min={least}": {
                f"s_0={start}": System(KMD, {"start_size": start, "min_size": least})
                for start in _START
            }
            for least in _LEAST
        },
    }
    columns: Columns = {
        column: {f"F1, {at}": _best_f1(system, X, y, run) for at, system in curve.items()}
        for column, curve in curves.items()
    }
    return columns | _f1_of(("DGRADE MAH", AUTO), X, y, run)
