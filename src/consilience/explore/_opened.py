"""The folder of a run as a view: what can be shown is shown, and the rest says why."""

import csv
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from consilience._formulas import unguarded
from consilience.errors import InvalidInputError
from consilience.explain._columns import columns_of
from consilience.explore._cuts import only_cut
from consilience.explore._make import _NO_MEMBERS, _in_a_row, view
from consilience.explore._view import Answer, Scored, View
from consilience.keep import FACTS
from consilience.workflow import ClusterResult, load

__all__ = ["open_run"]

_TABLES = {"labels.csv": "cluster", "ambiguous.csv": "cluster", "scores.csv": "group"}
_PLAN = "plan.json"


def open_run(folder: str | Path) -> View:
    """What a run's folder holds, as the explorer shows it.

    Parameters
    ----------
    folder : path
        Of ``consilience cluster``, ``minority`` or ``ambiguous``, or one written by ``save``.

    Returns
    -------
    View
        Of everything, where the run was kept whole. Otherwise of its table of labels or scores,
        with ``missing`` saying what is not there and why.

    Raises
    ------
    InvalidInputError
        If nothing in the folder can be shown.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InvalidInputError(
            f"{str(place)!r} is no folder. Name the folder of a run, such as the one that "
            "'consilience cluster data.csv' writes."
        )
    reason = _not_kept(place)
    if reason is None:
        try:
            result = load(place)
            if isinstance(result, ClusterResult):
                return view(result)
            reason = f"It keeps the estimator {type(result).__name__}, not a result."
        except InvalidInputError as error:
            reason = str(error)
    for name, column in _TABLES.items():
        if _inside(place, name) is not None:
            return _of_table(place, name, column, reason)
    raise InvalidInputError(
        f"{str(place)!r} holds nothing to explore. {reason}{_interrupted(place)}"
    )


def _not_kept(place: Path) -> str | None:
    if _inside(place, FACTS) is not None:
        return None
    return (
        f"There is no {FACTS}: the run was made by 'minority' or 'ambiguous', with --no-keep, or "
        "by an earlier version, which kept neither data nor members. Explore such results from "
        "Python: result.explore()."
    )


def _interrupted(place: Path) -> str:
    if not (place / _PLAN).exists():
        return ""
    return " The run was interrupted before it had results: go on with it by --resume."


def _inside(place: Path, name: str) -> Path | None:
    """A file of the folder itself; None where it is not there, or a link that leads out of it."""
    path = place / name
    if not path.is_file() or path.resolve().parent != place.resolve():
        return None
    return path


def _of_table(place: Path, name: str, column: str, reason: str) -> View:
    """A view of a table of labels: groups, confidence and scores, no map that means anything."""
    table = _read(place / name)
    if "id" not in table or column not in table:
        raise InvalidInputError(
            f"{str(place)!r} holds nothing to explore. {reason} And {name} has no columns 'id' and "
            f"{column!r}: it is damaged, or consilience did not write it."
        )
    labels = np.array([_whole(cell, name) for cell in table[column]], np.int32)
    labels = np.maximum(labels, -1)
    n = len(labels)
    confidence = _numbers(table.get("confidence"))
    scores = _numbers(table.get("score"))
    scored = None
    if scores is not None:
        high = name == "scores.csv"
        scored = Scored("score", high, scores, _border(scores, labels, high), (), None)
    return View(
        kind="labels",
        title=place.name,
        n_objects=n,
        n_all=n,
        objects=np.arange(n),
        ids=tuple(table["id"]),
        answers=(Answer(name, f"As {name} has them", _without_gaps(labels, labels)),),
        names=(),
        cuts=only_cut(_without_gaps(labels, labels)),
        confidence=confidence,
        runner_up=_runner_up(_numbers(table.get("runner_up")), labels),
        columns=columns_of(None, n),
        maps=(_in_a_row(n, scores if scores is not None else confidence),),
        scores=scored,
        missing=(f"Only {name} can be shown. {reason}", _NO_MEMBERS),
    )


def _read(path: Path) -> dict[str, list[str]]:
    """Columns of a CSV file of ours; lines above the header that start with # are left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(_without_comments(file))
            header = next(lines, [])
            rows = [row for row in lines if len(row) == len(header)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(
            f"{path.name} in {str(path.parent)!r} cannot be read: {error}."
        ) from error
    cells = itertools.zip_longest(*rows) if rows else ([] for _ in header)
    return {
        name: [unguarded(cell) for cell in column]
        for name, column in zip(header, cells, strict=True)
    }


def _without_comments(lines: Iterator[str]) -> Iterator[str]:
    above = itertools.dropwhile(lambda line: line.startswith("#"), lines)
    yield from above


def _whole(cell: str, name: str) -> int:
    try:
        return int(np.array(int(cell), np.int32))
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{name} has the group {cell!r}, which is no number of a group: it is damaged, "
            "or consilience did not write it."
        ) from error


def _numbers(cells: list[str] | None) -> Any:
    if cells is None:
        return None
    return np.array([_number(cell) for cell in cells])


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _border(scores: Any, labels: Any, high: bool) -> float:
    """The least score of an object in a group."""
    inside = scores[(labels >= 0) & np.isfinite(scores)]
    if not high or not inside.size:
        return math.nan
    return float(inside.min())


def _runner_up(given: Any, labels: Any) -> Any:
    """Second groups by the numbers that the groups are shown with; -1 where there is none."""
    return None if given is None else _without_gaps(np.nan_to_num(given, nan=-1.0), labels)


def _without_gaps(groups: Any, labels: Any) -> Any:
    """Groups by their places among those of ``labels``, in their order; -1 for any other."""
    known = np.unique(labels[labels >= 0])
    place = np.searchsorted(known, groups).astype(np.int32)
    return np.where(np.isin(groups, known), place, -1).astype(np.int32)
