"""What a run works on: data and labels from files, lined up, checked and scaled."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._cli.arguments import Reading
from consilience.datasets import read_labels, read_table
from consilience.datasets._label_files import has_column
from consilience.datasets._scale import standardise
from consilience.ensemble import UNSEEN, Ensemble
from consilience.errors import InvalidInputError

__all__ = ["Input", "gather"]


@dataclass(frozen=True)
class Input:
    """Data, labels, identifiers and known groups of the same objects; any may be missing."""

    n_objects: int
    X: NDArray[np.float64] | None = None
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    ensemble: Ensemble | None = None
    ids: NDArray[Any] | None = None
    truth: NDArray[Any] | None = None
    standardised: bool = False
    n_left_out: int = 0

    def in_words(self) -> str:
        """What was read, in a line."""
        text = f"{self.n_objects} object{'s' * (self.n_objects != 1)}"
        if self.X is None:
            return text
        columns = self.X.shape[1]
        scaled = ", standardised" if self.standardised else ", as they are"
        return f"{text}, {columns} column{'s' * (columns != 1)} of numbers{scaled}"

    def facts(self) -> dict[str, Any]:
        """What was read, for ``summary.json``."""
        return {
            "n_objects": self.n_objects,
            "columns": list(self.columns),
            "columns_left_out": list(self.dropped),
            "rows_left_out": self.n_left_out,
            "standardised": self.standardised,
        }

    def identifiers(self) -> NDArray[Any]:
        """Identifier of each object, its row number where there is none."""
        return np.arange(self.n_objects) if self.ids is None else self.ids


def gather(
    data: Path | None,
    labels: Path | None,
    reading: Reading,
    *,
    scale: bool,
) -> Input:
    """Read the files there are and line them up.

    Parameters
    ----------
    data, labels : Path or None
        A table of numbers, an ensemble, or both; objects in the same order.
    reading : Reading
        Its columns are those of the data, or of the labels where there are no data. Both
        files are checked for the same identifiers, in the same order, where both have them.
    scale : bool
        Whether columns are brought to mean 0 and variance 1.
    """
    if data is None:
        assert labels is not None
        return _labels_only(labels, _named(reading), reading.truth_column)
    table = read_table(
        data,
        id_column=reading.id_column,
        truth_column=reading.truth_column,
        ignore=reading.ignore,
        impute=reading.impute,
        encode=reading.encode,
        decimal=reading.decimal,
    )
    X, kept = table.X, table.columns
    dropped: tuple[str, ...] = ()
    if scale:
        what = repr(data.name)
        X, kept, dropped = standardise(X, kept, sources=table.sources, what=what)
    ensemble, ids = None, table.ids
    if labels is not None:
        named = _named(reading)
        shared = named if named and has_column(labels, named) else None
        ensemble = read_labels(labels, id_column=shared)
        if len(table.left_out):
            rows = np.arange(len(X) + len(table.left_out))
            _check_same_count(data, len(rows), labels, ensemble)
            ensemble = ensemble.take(np.delete(rows, table.left_out))
        _check_same_count(data, len(X), labels, ensemble)
        _check_same_objects(data, table.ids, labels, ensemble, named=named is not None)
        ids = ensemble.index if ids is None else ids
    return Input(len(X), X, kept, dropped, ensemble, ids, table.truth, scale, len(table.left_out))


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
                f"columns are {', '.join(map(repr, names)) or 'without names'}."
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
    return Input(ensemble.n_objects, ensemble=ensemble, ids=ensemble.index, truth=truth)


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
            f"object {i + 1} is {ours!r} in the data and {theirs!r} in the labels."
        )
