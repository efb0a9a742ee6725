"""Figures 16 and 17 of the minority-clustering paper: repetitions and time against size.

The paper counts the repetitions until the median change of the scores over a hundred of them
falls below 1e-10, on eleven sets of 9766 to 844331 objects, and fits powers of the size.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from consilience._words import listed
from consilience.datasets import make_minority
from consilience.experiments._cells import Cell, Claim, Plan
from consilience.experiments._ewocs_runs import (
    PAPER,
    Columns,
    cells_of,
    kept,
    rows_of,
    steps_of,
)
from consilience.experiments._ewocs_systems import Scores
from consilience.experiments._registry import experiment, wanted
from consilience.experiments.relations import all_pairs
from consilience.minority._batches import Scorer
from consilience.minority.divergences import Gaussian
from consilience.minority.scores import Running, extend, score_new
from consilience.minority.weak import weak_clusterer

__all__ = ["ewocs_figures16_17"]

_TOLERANCE, _WINDOW = 1e-10, 100
# Beyond, the number that is needed is extrapolated.
_MOST = 3000
# What changes: scores mapped onto [0, 1], or mean relative sizes.
SCALES = ("mapped", "sizes")
_RELATIONS, _GENERATED = "RELATIONS", "2-D"
_SIZES = {_RELATIONS: (500, 1000, 2000, 4000, 8000), _GENERATED: (1000, 2000, 4000, 8000, 16000)}
_KERNEL = {_RELATIONS: (0.1, 0.1), _GENERATED: (10.0, 10.0)}
# Objects of a generated set of scale one.
_WHOLE = 6200


class _Fit(NamedTuple):
    """A row whose figures are fitted by a power of the size, and the published power."""

    row: str
    words: str
    published: float


_FITS = (
    _Fit("repetitions", "repetitions to a median change below 1e-10", 0.4),
    _Fit("milliseconds a repetition", "time of a repetition", 1.1),
    _Fit("seconds to convergence", "time to convergence", 1.5),
)


def _claims(cells: Sequence[Cell]) -> list[Claim]:
    """The published powers of the size against ours, by regression of logarithms."""
    claims = []
    for data in dict.fromkeys(cell.data for cell in cells):
        for fit in _FITS:
            for column in dict.fromkeys(cell.column for cell in cells):
                mine = [
                    cell
                    for cell in cells
                    if (cell.data, cell.column) == (data, column)
                    and cell.row.startswith(f"{fit.row}, n=")
                ]
                if len(mine) > 2:
                    claims.append(_power(f"{data}, {column}", fit, mine))
    return claims


def _power(whose: str, fit: _Fit, cells: Sequence[Cell]) -> Claim:
    """Whether the fitted power of the size is the published one, give or take its error."""
    size = np.log([float(cell.row.rpartition("=")[2]) for cell in cells for _ in cell.values])
    value = np.log([value for cell in cells for value in cell.values])
    line = stats.linregress(size, value)
    words = (
        f"{whose}: {fit.words} grows like n^{fit.published:g} "
        f"(here n^{line.slope:.2f} ± {line.stderr:.2f})"
    )
    gap = float(line.slope - fit.published)
    sure = line.stderr > 0  # of three sizes at least
    p = float(2 * stats.t.sf(abs(gap) / line.stderr, len(size) - 2)) if sure else nan
    error = float(line.stderr) if sure else nan
    held = p > 0.05 if sure else gap == 0
    return Claim(words, held, gap, p, len(size), error, "regression", "sets")


@experiment(
    "ewocs-figures16-17",
    keeps_runs=True,
    title="Figures 16 and 17: repetitions to convergence and run time of EW-SRBC against size",
    paper=PAPER,
    judge=_claims,
    remarks=(
        "The paper's corpora are under licence: RELATIONS are random parts of the pairs of all "
        "types of CoNLL-2004 together, EW-SRBC x100 G(0.1,0.1); 2-D are generated sets, "
        "EW-SRBC x100 G(10,10). The first row of a size is the median change in the first "
        "hundred repetitions, as a power of ten; in the paper it is about -9 for 9766 objects.",
        "The paper does not say on which scale scores change. Two readings: 'mapped' onto "
        "[0, 1] as its thresholds map them, and 'sizes' of the clusters relative to all objects, "
        "whose changes are mostly a shift that all objects share. A change falls with the square "
        "of the repetitions, so 1e-10 is a number of repetitions in disguise.",
        f"Where scores have not settled after {_MOST} repetitions, the number that they need is "
        "extrapolated by that law. Times are those of one core, with whatever else it had to do: "
        "compare their powers, not their seconds. Learning, and scoring as many new objects, are "
        "timed apart.",
        "Statements: 'mean difference' is the fitted power minus the published one, 'p' is for "
        "no difference.",
    ),
)
def ewocs_figures16_17(plan: Plan) -> Iterator[list[Cell]]:
    """Repetitions until the scores settle, and seconds, for sets of several sizes.

    Parameters
    ----------
    plan : Plan
        ``runs`` sets of each size (default 3), ``members`` sizes (500 to 8000 and 1000 to
        16000), ``sets`` (RELATIONS, which needs data; 2-D).

    Yields
    ------
    list of Cell
        One kind of data.
    """
    for name in wanted("ewocs-figures16-17", "sets", plan.sets, tuple(_SIZES)):
        sizes = steps_of(plan, _SIZES[name])
        # What is only shown needs no data.
        loaded = name == _RELATIONS and not plan.stored_only
        everything = all_pairs(plan.data_home) if loaded else None
        setting = f"n={','.join(map(str, sizes))}"
        args = (name, sizes, everything)
        runs = kept(plan, "ewocs-figures16-17", name, setting, _over_sizes, *args, default=3)
        yield cells_of("Figures 16, 17", name, runs, note=_too_large(sizes, runs))


def _over_sizes(name: str, sizes: Sequence[int], everything: Any, run: int) -> Columns:
    columns: Columns = {column: {} for column in (*SCALES, "learning", "scoring")}
    if name == _RELATIONS:  # a collection may have fewer objects than were asked for
        sizes = sorted({min(n, everything.shape[0]) for n in sizes})
    for n in sizes:
        X = _objects(name, n, everything, run)
        settled = _settle(X, _KERNEL[name], run)
        end = f", n={n}"
        for scale in SCALES:
            columns[scale] |= _of_scale(settled, scale, end)
        columns["learning"][f"milliseconds a repetition{end}"] = 1000 * settled.learning
        columns["scoring"][f"milliseconds a repetition{end}"] = 1000 * settled.scoring
    return columns


def _too_large(sizes: Sequence[int], runs: Sequence[Columns]) -> str:
    """Sizes that were asked for and are more than there are objects, in words; "" without any."""
    shown = {int(row.rpartition("=")[2]) for row in rows_of(runs)}
    larger = [n for n in sizes if shown and n > max(shown)]
    return f"only {max(shown)} objects for n={listed(map(str, larger))}" if larger else ""


def _objects(name: str, n: int, everything: Any, run: int) -> Any:
    if name == _RELATIONS:
        rows = np.random.default_rng([run, n]).permutation(everything.shape[0])[:n]
        return everything[np.sort(rows)]
    scale = n / _WHOLE
    X, _ = make_minority(2, background=scale, foreground=scale, random_state=200_000 + run)
    return X


@dataclass(frozen=True)
class _Settled:
    """What a run until the slowest scale settles shows."""

    needed: dict[str, int]
    first: dict[str, float]
    learning: float
    scoring: float


def _of_scale(settled: _Settled, scale: str, end: str) -> Scores:
    needed = settled.needed[scale]
    return {
        f"log10 of the first change{end}": float(np.log10(settled.first[scale])),
        f"repetitions{end}": float(needed),
        f"seconds to convergence{end}": needed * settled.learning,
    }


def _settle(X: Any, kernel: tuple[float, float], seed: int) -> _Settled:
    """Repetitions, one at a time, until the median change is small on every scale."""
    divergence = Gaussian(alpha=kernel[0], gamma=kernel[1])
    weak = weak_clusterer("soft", divergence=divergence, k_max=100).fit(X)
    running = Running.empty(weak.n_objects, "mean")
    changes: dict[str, list[float]] = {scale: [] for scale in SCALES}
    needed: dict[str, int] = {}
    before, spent = running.scores, 0.0
    for seconds in _repetitions(running, weak, X, seed):
        spent += seconds
        after = running.scores
        if running.n_repetitions > 1:
            for scale, change in _changes(before, after).items():
                changes[scale].append(change)
        before = after
        if running.n_repetitions % _WINDOW == 0:
            _look(changes, needed, running.n_repetitions)
        if len(needed) == len(SCALES):
            break
    return _Settled(
        needed={scale: needed.get(scale, _beyond(changes[scale])) for scale in SCALES},
        first={scale: float(np.median(changes[scale][: _WINDOW - 1])) for scale in SCALES},
        learning=spent / running.n_repetitions,
        scoring=_scoring(running, weak, X),
    )


def _repetitions(running: Running, weak: Any, X: Any, seed: int) -> Iterator[float]:
    """Seconds of each repetition, after it has been counted."""
    with Scorer(weak, X, 1, _MOST) as scorer:
        for number in range(_MOST):
            start = time.perf_counter()
            extend(running, weak, X, range(number, number + 1), seed=seed, scorer=scorer)
            yield time.perf_counter() - start


def _look(changes: dict[str, list[float]], needed: dict[str, int], done: int) -> None:
    """Note the scales that have settled in the last window."""
    for scale, values in changes.items():
        if scale not in needed and np.median(values[-_WINDOW:]) < _TOLERANCE:
            needed[scale] = done


def _beyond(changes: Sequence[float]) -> int:
    """Repetitions it would take: changes fall with the square of their number."""
    last = float(np.median(changes[-_WINDOW:]))
    return round(len(changes) * (last / _TOLERANCE) ** 0.5)


def _changes(before: Any, after: Any) -> Scores:
    """Mean squared change of the scores on each scale."""
    step = after - before
    return {
        "mapped": float(((_unit(after) - _unit(before)) ** 2).mean()),
        "sizes": float((step**2).mean()),
    }


def _unit(scores: Any) -> Any:
    reach = np.ptp(scores)
    return (scores - scores.min()) / reach if reach > 0 else np.zeros(len(scores))


def _scoring(running: Running, weak: Any, X: Any) -> float:
    """Seconds to score as many new objects by one repetition."""
    few = min(_WINDOW, running.n_repetitions)
    part = Running(running.aggregate, running.total, running.squares, draws=running.draws[:few],
                   sizes=running.sizes[:few])  # fmt: skip
    start = time.perf_counter()
    score_new(part, weak, X, part.draws, X)
    return (time.perf_counter() - start) / few
