"""What a run works on: a table and labels from files, lined up."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._cli.arguments import Reading
from consilience._cli.stages import Clock
from consilience._words import listed
from consilience.datasets import Table, read_labels, read_table
from consilience.datasets._label_files import has_column
from consilience.ensemble import UNSEEN, Ensemble
from consilience.errors import InvalidInputError
from consilience.workflow._notes import noting

__all__ = ["Input", "Read", "gather", "read"]


@dataclass(frozen=True)
class Input:
    """A table, labels, or both, of the same objects; known groups that the labels bring."""

    table: Table | None = None
    ensemble: Ensemble | None = None
    truth: NDArray[Any] | None = None
    views: Mapping[str, Table] | None = None

    @property
    def n_objects(self) -> int:
        """Objects in the files."""
        if self.views is not None:
            return max(int(table.X.shape[0]) for table in self.views.values())
        if self.table is not None:
            return int(self.table.X.shape[0])
        assert self.ensemble is not None
        return self.ensemble.n_objects


@dataclass(frozen=True)
class Read:
    """What was read, what was said on the way, and how long it took."""

    input: Input
    notes: tuple[str, ...]
    seconds: float

    def in_front(self, seconds: dict[str, float], notes: tuple[str, ...]) -> dict[str, Any]:
        """Times and notes of a whole run: checking and scaling count as reading."""
        rest = {name: value for name, value in seconds.items() if name != "prepare"}
        first = round(self.seconds + seconds.get("prepare", 0.0), 3)
        return {
            "seconds": {"read": first} | rest,
            "notes": tuple(dict.fromkeys((*self.notes, *notes))),
        }


def read(
    data: Path | None,
    labels: Path | None,
    reading: Reading,
    views: Mapping[str, Path] | None = None,
) -> Read:
    """Read the files there are; see `gather`."""
    clock = Clock()
    with noting() as notes, clock.stage("read"):
        if views:
            given = Input(views={name: _table(path, reading) for name, path in views.items()})
        else:
            given = gather(data, labels, reading)
    return Read(given, tuple(notes), clock.seconds["read"])


def gather(data: Path | None, labels: Path | None, reading: Reading) -> Input:
    """Read the files there are and line them up.

    Parameters
    ----------
    data, labels : Path or None
        A table of numbers, an ensemble, or both; objects in the same order.
    reading : Reading
        Its columns are those of the data, or of the labels where there are no data. Both
        files are checked for the same identifiers, in the same order, where both have them.
    """
    if data is None:
        assert labels is not None
        return _labels_only(labels, _named(reading), reading.truth_column)
    table = _table(data, reading)
    if labels is None:
        return Input(table)
    named, n = _named(reading), table.X.shape[0]
    shared = named if named and has_column(labels, named) else None
    ensemble = read_labels(labels, id_column=shared)
    if len(table.left_out):
        rows = np.arange(n + len(table.left_out))
        _check_same_count(data, len(rows), labels, ensemble)
        ensemble = ensemble.take(np.delete(rows, table.left_out))
    _check_same_count(data, n, labels, ensemble)
    _check_same_objects(data, table.ids, labels, ensemble, named=named is not None)
    return Input(table, ensemble)


def _table(path: Path, reading: Reading) -> Table:
    """A table of a file, read as asked for."""
    return read_table(
        path,
        id_column=reading.id_column,
        truth_column=reading.truth_column,
        ignore=reading.ignore,
        columns=reading.columns,
        sheet=reading.sheet,
        layer=reading.layer,
        transpose=reading.transpose,
        impute=reading.impute,
        encode=reading.encode,
        ordinal=reading.orders(),
        decimal=reading.decimal,
        encoding=reading.encoding,
    )


def _named(reading: Reading) -> str | None:
    """The column of identifiers that the user named; "none" says that there is none."""
    return None if reading.id_column == "none" else reading.id_column


def _labels_only(path: Path, id_column: str | None, truth_column: str | None) -> Input:
    """An ensemble, with one of its columns taken out as known groups if asked for."""
    ensemble = read_labels(path, id_column=id_column)
    truth = None
    if truth_column is not None:
        names = list(ensemble.names or ())
        if truth_column not in names:
            raise InvalidInputError(
                f"{path.name!r} has no column {truth_column!r}, named as truth_column. Its "
                f"columns are {listed(map(repr, names)) or 'without names'}."
            )
        place = names.index(truth_column)
        if len(names) == 1:
            raise InvalidInputError(f"{path.name!r} has no member beside {truth_column!r}.")
        truth = ensemble[place]
        if (truth == UNSEEN).any():
            raise InvalidInputError(
                f"{path.name!r} has {int((truth == UNSEEN).sum())} objects without a known group "
                f"in column {truth_column!r}. Fill them in, or leave out --truth-column."
            )
        ensemble = ensemble[[m for m in range(len(names)) if m != place]]
    return Input(ensemble=ensemble, truth=truth)


def _check_same_count(data: Path, n_objects: int, labels: Path, ensemble: Ensemble) -> None:
    if n_objects != ensemble.n_objects:
        raise InvalidInputError(
            f"{data.name!r} and {labels.name!r} must hold the same objects in the same order: "
            f"the data have {n_objects} rows, the labels {ensemble.n_objects}."
        )


def _check_same_objects(
    data: Path, ids: NDArray[Any] | None, labels: Path, ensemble: Ensemble, *, named: bool
) -> None:
    """Raise if identifiers differ; those that nobody named, only if they are in another order.

    What was recognised in one file may be names and in the other row numbers.
    """
    if ids is None or ensemble.index is None:
        return
    first, second = ids.astype(str), ensemble.index.astype(str)
    differ = np.flatnonzero(first != second)
    if differ.size and (named or set(first.tolist()) == set(second.tolist())):
        i = int(differ[0])
        ours, theirs = np.asarray(ids[i]).item(), np.asarray(ensemble.index[i]).item()
        raise InvalidInputError(
            f"{data.name!r} and {labels.name!r} must hold the same objects in the same order: "
            f"row {i} is {ours!r} in the data and {theirs!r} in the labels."
        )
