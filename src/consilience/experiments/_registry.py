"""The table of experiments that ``consilience reproduce`` offers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from consilience.errors import InvalidParameterError
from consilience.experiments._cells import Cell, Claim, Plan

__all__ = ["EXPERIMENTS", "Experiment", "conclude", "experiment", "wanted"]

Run = Callable[[Plan], Iterator[list[Cell]]]
Judge = Callable[[Sequence[Cell]], list[Claim]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table of a paper: how to run it, what it says, where it comes from.

    Attributes
    ----------
    name : str
        What a user types.
    run : callable
        ``run(plan)`` yields the cells of a data set as soon as it is finished.
    judge : callable or None
        The claims that a list of cells can decide.
    title, paper : str
        For people.
    needs_data : bool
        Whether it reads the folder of data sets.
    remarks : tuple of str
        What a reader of the figures must know.
    keeps_runs : bool
        Whether it knows ``Plan.store``.
    columns : tuple of str
        What ``Plan.columns`` can name; empty where columns cannot be run alone.
    """

    name: str
    run: Run
    judge: Judge | None
    title: str
    paper: str
    needs_data: bool
    remarks: tuple[str, ...]
    keeps_runs: bool = False
    columns: tuple[str, ...] = ()


EXPERIMENTS: dict[str, Experiment] = {}


def experiment(
    name: str,
    *,
    title: str,
    paper: str,
    needs_data: bool = True,
    judge: Judge | None = None,
    remarks: tuple[str, ...] = (),
    keeps_runs: bool = False,
    columns: tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Enter a function ``run(plan)`` into the table of experiments."""

    def enter(run: Run) -> Run:
        EXPERIMENTS[name] = Experiment(
            name, run, judge, title, paper, needs_data, remarks, keeps_runs, columns
        )
        return run

    return enter


def conclude(name: str, cells: Sequence[Cell]) -> list[Claim]:
    """The claims of an experiment that these cells decide; empty where it makes none."""
    judge = EXPERIMENTS[name].judge
    return [] if judge is None else judge(cells)


def wanted(
    owner: str, parameter: str, asked: tuple[str, ...] | None, known: Sequence[str]
) -> list[str]:
    """The names asked for, in the table's order and spelling; all without a wish.

    Raises
    ------
    InvalidParameterError
        If a name is not in the table; upper and lower case do not matter.
    """
    if asked is None:
        return list(known)
    lower = {name.lower(): name for name in known}
    for name in asked:
        if name.lower() not in lower:
            raise InvalidParameterError(
                f"The '{parameter}' parameter of {owner} must name "
                f"{'columns' if parameter == 'columns' else 'data sets'} of its table: "
                f"{', '.join(known)}. Got {name!r} instead."
            )
    chosen = {lower[name.lower()] for name in asked}
    return [name for name in known if name in chosen]
