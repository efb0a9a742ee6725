"""The runs behind a table: made side by side in processes, and kept as they are finished.

A run is one data set, one setting and one seed; its parts are the columns that can be made
without the others. Runs can be divided among processes, machines and days by data set, seed or
part: kept in one folder, or in several whose files are put together, they give the same figures
as one run of everything.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from threadpoolctl import threadpool_limits

from consilience.errors import ConsilienceWarning, InvalidInputError
from consilience.experiments._cells import Plan
from consilience.kernels._parallel import Parallel, delayed

__all__ = ["Group", "Parts", "Scores", "Work", "groups_of_runs", "seeds"]

# By row and column.
Scores = dict[tuple[str, str], float]
Parts = dict[str, Scores]
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Work:
    """One run to be made.

    Attributes
    ----------
    data, setting : str
        The data set, and all else but the seed that fixes the figures, such as ``"R=40"``.
    seed : int
    make : callable
        ``make(*args, seed, parts)`` gives the scores of each part asked for. It must be known by
        name to another process, and what it gives for a part must not depend on the others.
    args : tuple
    parts : tuple of str
    """

    data: str
    setting: str
    seed: int
    make: Callable[..., Parts]
    args: tuple[Any, ...] = ()
    parts: tuple[str, ...] = ("all",)

    @property
    def key(self) -> Key:
        """What tells this run from the others of its table."""
        return self.data, self.setting, self.seed


class Group(NamedTuple):
    """The runs of one data set and setting, by seed; ``note`` says which parts are left out."""

    data: str
    setting: str
    runs: list[Scores]
    note: str


def seeds(plan: Plan, default: int) -> list[int]:
    """One seed a run, ``default`` runs unless the plan has a number."""
    return [plan.seed + run for run in range(default if plan.runs is None else plan.runs)]


def groups_of_runs(plan: Plan, table: str, works: Sequence[Work]) -> Iterator[Group]:
    """Make what is not kept yet; give the runs of each data set as soon as all are there.

    Parameters
    ----------
    plan : Plan
        ``n_jobs`` processes, each with one thread for linear algebra; ``store``, the folder of
        the runs that are kept; with ``stored_only`` nothing is made.
    table : str
        Name of the experiment.
    works : sequence of Work
        In the order of the table; what is there twice is made and counted once.

    Yields
    ------
    Group
        Without those that have no run, which only ``stored_only`` can leave.
    """
    works = list({work.key: work for work in works}.values())
    store = _Store(None if plan.store is None else Path(plan.store), table)
    wanted = [] if plan.stored_only else [(work, store.missing(work)) for work in works]
    todo = [(work, parts) for work, parts in wanted if parts]
    open_runs = {work.key for work, _ in todo}
    made = _made(plan.n_jobs, todo)
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in works:
        groups.setdefault((work.data, work.setting), []).append(work)
    for group in groups.values():
        while any(work.key in open_runs for work in group):
            work, parts = next(made)
            store.keep(work, parts)
            open_runs.remove(work.key)
        finished = _group(store, group)
        if finished.runs:
            yield finished


def _made(
    n_jobs: int | None, todo: Sequence[tuple[Work, tuple[str, ...]]]
) -> Iterator[tuple[Work, Parts]]:
    """The parts of every run, in the order in which they are finished."""
    if not todo:
        return iter(())
    # One run at a time: a batch would hold finished runs back, and lose them when it is stopped.
    parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    results: Iterator[tuple[Work, Parts]] = parallel(delayed(_make)(*item) for item in todo)
    return results


def _make(work: Work, parts: tuple[str, ...]) -> tuple[Work, Parts]:
    # Sums in another order change last digits, and with them ties: one thread, however many
    # processes there are. Hundreds of runs warn of the same; the remarks say what matters.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return work, work.make(*work.args, seed=work.seed, parts=parts)


def _group(store: "_Store", works: Sequence[Work]) -> Group:
    """The runs that are there, each with the parts that all of them have.

    Where no part is in all of them, those that have the part that most have.
    """
    runs = [kept for work in works if (kept := store.run(work))]
    counts = {part: sum(part in run for run in runs) for part in works[0].parts}
    most = max(counts, key=counts.__getitem__, default="")
    shown_runs = [run for run in runs if most in run]
    shown = [part for part in counts if all(part in run for run in shown_runs)]
    notes = [
        f"{part}: {count} of {len(runs)} runs" if count else f"{part} not run"
        for part, count in counts.items()
        if count < len(runs)
    ]
    scores = [{key: run[part][key] for part in shown for key in run[part]} for run in shown_runs]
    return Group(works[0].data, works[0].setting, scores, "; ".join(notes))


class _Store:
    """Parts of runs by key, kept in a folder if there is one.

    Every call that makes runs adds a file of its own, one line a run: nothing is ever changed,
    so two calls can write to a folder at once, and a call that was stopped leaves at most a last
    line that is not whole.
    """

    def __init__(self, folder: Path | None, table: str) -> None:
        self._folder, self._table = folder, table
        self._file: Path | None = None
        self._runs: dict[Key, Parts] = {}
        if folder is not None and folder.is_dir():
            for path in sorted(folder.glob(f"{table}.*.jsonl")):
                self._read(path)

    def missing(self, work: Work) -> tuple[str, ...]:
        """The parts of a run that are not kept."""
        return tuple(part for part in work.parts if part not in self._runs.get(work.key, {}))

    def run(self, work: Work) -> Parts:
        """What is kept of a run, of the parts it asks for."""
        kept = self._runs.get(work.key, {})
        return {part: kept[part] for part in work.parts if part in kept}

    def keep(self, work: Work, parts: Parts) -> None:
        """Remember parts of a run, and write them down."""
        self._runs.setdefault(work.key, {}).update(parts)
        if self._folder is None:
            return
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._folder / f"{self._table}.{uuid4().hex}.jsonl"
        listed = {
            part: [[*key, value] for key, value in scores.items()] for part, scores in parts.items()
        }
        line = {"data": work.data, "setting": work.setting, "seed": work.seed, "parts": listed}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, text in enumerate(lines, 1):
            if not text.endswith("\n"):
                return  # stopped while it was written
            try:
                line = json.loads(text)
                key = (str(line["data"]), str(line["setting"]), int(line["seed"]))
                parts = {
                    part: {(row, column): float(value) for row, column, value in scores}
                    for part, scores in line["parts"].items()
                }
            except (ValueError, TypeError, KeyError, AttributeError):
                raise InvalidInputError(
                    f"Line {number} of {path.name!r} in the folder of kept runs is no run. "
                    "Remove the file, or name another folder with --store."
                ) from None
            self._add(key, parts, path)

    def _add(self, key: Key, parts: Parts, path: Path) -> None:
        mine = self._runs.setdefault(key, {})
        for part, scores in parts.items():
            # As text, so that figures that are no numbers are equal to themselves.
            if part in mine and repr(mine[part]) != repr(scores):
                raise InvalidInputError(
                    f"{path.name!r} and another file in the folder of kept runs have different "
                    f"figures of {part!r} for seed {key[2]} of {key[0]} ({key[1]}): they were "
                    "made by different versions or from different data. Remove the older file."
                )
            mine[part] = scores
