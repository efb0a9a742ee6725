"""Label files: an ensemble the user already has, and the labels a run writes."""

import csv
from array import array
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._files import written_whole
from consilience._formulas import guarded, holds_guarded, unguarded
from consilience._labels import UNSEEN, encode
from consilience._words import shown
from consilience.datasets._cells import MISSING, number
from consilience.datasets._csv import open_csv
from consilience.datasets._files import (
    CSV_ENDINGS,
    LABEL_ENDINGS,
    checked_path,
    main_array,
    open_parquet,
    parquet_batches,
    position_of,
    read_arrays,
    unique_names,
)
from consilience.datasets._membership_files import memberships_in
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, warn
from consilience.soft_ensemble import SoftEnsemble

_ID_NAMES = ("", "id", "__index_level_0__")


# The columns of files that `write_labels` writes.
_WRITTEN = ["id", "cluster", "confidence", "runner_up", "ambiguity", "doubtful"]


def read_labels(path: str | PathLike[str], *, id_column: str | None = None) -> Ensemble:
    """The ensemble in a file: one row an object, one column a member.

    Parameters
    ----------
    path : str or path-like
        ``.csv`` or ``.tsv`` (also ``.gz``), ``.parquet``, ``.npy`` or ``.npz`` (one
        two-dimensional array, or one named ``labels``), or what `Ensemble.save` wrote.
        Labels are whole numbers, -1 for noise (seen, in no cluster) and -2 for unseen, or
        names. An empty cell (or NA, NaN, null, none) is unseen. In a column of names, numbers
        are names too. Columns with names such as ``mixture:0``, ``mixture:1`` that hold shares are
        memberships in the clusters of a member: rows sum to 1, less what is noise, and are empty
        where the member did not see the object.
    id_column : str, optional
        Column of identifiers, kept as the ensemble's index. Without it, a first column named
        ``id``, or without a name as pandas writes its index, is taken; so is, with a warning,
        the first column of a text file if it has a different name in every of ten or more rows.

    Returns
    -------
    Ensemble
        Members are named as their columns; a `SoftEnsemble` of memberships.

    Raises
    ------
    InvalidInputError
        If the file cannot be read or holds data instead of labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     _ = file.write_text("id,first,second\\na,0,x\\nb,0,x\\nc,1,\\n")
    ...     ensemble = read_labels(file)
    >>> ensemble.labels.tolist(), ensemble.index.tolist(), ensemble.names
    ([[0, 0], [0, 0], [1, -2]], ['a', 'b', 'c'], ('first', 'second'))
    """
    source, ending = checked_path(path, LABEL_ENDINGS)
    if ending in CSV_ENDINGS:
        return _read_csv(source, id_column)
    if ending == ".parquet":
        return _read_parquet(source, id_column)
    arrays = read_arrays(source)
    if {"members", "meta"} <= set(arrays):
        return SoftEnsemble.load(source) if "memberships" in arrays else Ensemble.load(source)
    ids = None
    if id_column is not None:
        ids = arrays[list(arrays)[position_of(source, list(arrays), id_column, "id_column")]]
    labels = main_array(source, arrays, "labels")
    codes = [encode(c, what=f"{source.name!r} column {m}") for m, c in enumerate(labels.T)]
    return Ensemble(codes, index=ids)


def has_column(path: str | PathLike[str], name: str) -> bool:
    """Whether a label file has a column of that name; numpy files have none."""
    source, ending = checked_path(path, LABEL_ENDINGS)
    if ending in CSV_ENDINGS:
        with open_csv(source) as file:
            return name in file.names
    if ending == ".parquet":
        with open_parquet(source) as file:
            return name in file.schema_arrow.names
    return False


def write_labels(
    path: str | PathLike[str],
    ids: Iterable[Any] | None,
    labels: NDArray[Any] | Sequence[int],
    confidence: NDArray[Any] | Sequence[float] | None = None,
    *,
    runner_up: NDArray[Any] | Sequence[int] | None = None,
    ambiguity: NDArray[Any] | Sequence[float] | None = None,
    doubtful: NDArray[Any] | Sequence[bool] | None = None,
) -> None:
    """Write a CSV file with an identifier, a cluster and more for each object, or nothing at all.

    Parameters
    ----------
    path : str or path-like
        The file; one that is there is replaced once the new one is complete.
    ids : iterable or None
        Identifier of each object; None numbers them from 0, in the order of the data.
    labels : array-like of int of shape (n_objects,)
        Cluster of each object.
    confidence : array-like of shape (n_objects,), optional
        How sure each label is. This column and those below are left out where they are not given.
    runner_up : array-like of int of shape (n_objects,), optional
        The cluster that comes next; an empty cell is written for -1.
    ambiguity : array-like of shape (n_objects,), optional
        How far the members disagree; an empty cell is written for NaN.
    doubtful : array-like of bool of shape (n_objects,), optional
        Written as 0 and 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     write_labels(file, None, [0, 1], [1.0, 0.75])
    ...     print(file.read_text())
    id,cluster,confidence
    0,0,1
    1,1,0.75
    """
    ids = range(len(labels)) if ids is None else map(guarded, ids)
    columns: dict[str, Iterable[Any]] = {"id": ids, "cluster": np.asarray(labels).tolist()}
    for name, values in (("confidence", confidence), ("ambiguity", ambiguity)):
        if values is not None:
            numbers = np.asarray(values, np.float64).tolist()
            columns[name] = ("" if one != one else f"{one:.6g}" for one in numbers)
    if runner_up is not None:
        columns["runner_up"] = ("" if one < 0 else one for one in np.asarray(runner_up).tolist())
    if doubtful is not None:
        columns["doubtful"] = np.asarray(doubtful).astype(int).tolist()
    header = [name for name in _WRITTEN if name in columns]
    with (
        written_whole(Path(path)) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*(columns[name] for name in header), strict=True))


def _id_position(source: Path, names: list[str], id_column: str | None) -> int | None:
    """Which column holds identifiers; refuses a file with no column left for members."""
    unique_names(source, names)
    if id_column is not None:
        at: int | None = position_of(source, names, id_column, "id_column")
    else:
        at = 0 if names[0].lower() in _ID_NAMES else None
        if names[-1] == _ID_NAMES[-1]:  # pandas stores its index behind the columns
            at = len(names) - 1
    if len(names) == (at is not None):
        raise InvalidInputError(
            f"{source.name!r} has only a column of identifiers. Add one column a member."
        )
    return at


class _Words:
    """One column of text, kept as a code a cell and the distinct words in order."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.words: dict[str, int] = {}
        self.lines: list[int] = []  # where each distinct word first stands

    def add(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        words = self.words
        for cell, line in zip(cells, lines, strict=True):
            code = words.setdefault(cell, len(words))
            if code == len(self.lines):
                self.lines.append(line)
            self.codes.append(code)

    def all_names_differ(self) -> bool:
        """Whether every cell is another name, of ten or more; numbers are no names here."""
        if not 10 <= len(self.codes) == len(self.words):
            return False
        return not any(number(word) is not None for word in self.words)

    def labels(self, source: Path, name: str) -> NDArray[np.int64]:
        """The labels: numbers if every word is one, else the order of first appearance."""
        words = [word.strip() for word in self.words]
        missing = np.array([word.lower() in MISSING - {"?"} for word in words])
        numbers = [number(word) for word in words]
        if all(n is not None or gone for n, gone in zip(numbers, missing, strict=True)):
            values = np.array([UNSEEN if n is None or n != n else n for n in numbers])
            self._refuse_data(source, name, values)
        else:
            names: dict[str, int] = {}
            values = np.array(
                [
                    UNSEEN if gone else names.setdefault(word, len(names))
                    for word, gone in zip(words, missing, strict=True)
                ]
            )
        return values.astype(np.int64)[np.frombuffer(self.codes, np.intc)]

    def numbers(self) -> NDArray[np.float64] | None:
        """The column as numbers, NaN where a cell is empty; None if it has words."""
        values = [
            np.nan if word.strip().lower() in MISSING else number(word.strip())
            for word in self.words
        ]
        if any(value is None for value in values):
            return None
        return np.array(values, np.float64)[np.frombuffer(self.codes, np.intc)]

    def _refuse_data(self, source: Path, name: str, values: NDArray[Any]) -> None:
        """Raise if a number is no label: a fraction, infinite, or below -2."""
        with np.errstate(invalid="ignore"):
            odd = (values != np.floor(values)) | (values < UNSEEN) | (np.abs(values) > 2**53)
        if not odd.any():
            return
        first = int(np.argmax(odd))
        raise InvalidInputError(
            f"{source.name!r} line {self.lines[first]}, column {name!r}: "
            f"{shown(list(self.words)[first])} is not a label. Labels are whole numbers from 0, "
            "-1 for noise, -2 or an empty cell for unseen, or names. Leave out columns of data; "
            "name identifiers with id_column (on the command line --id-column)."
        )


def _read_csv(source: Path, id_column: str | None) -> Ensemble:
    with open_csv(source) as file:
        names = file.names
        at = _id_position(source, names, id_column)
        columns = [_Words() for _ in names]
        ids: list[str] = []
        for rows, lines in file.chunks:
            for i, cells in enumerate(zip(*rows, strict=True)):
                if i == at:
                    ids.extend(cell.strip() for cell in cells)
                else:
                    columns[i].add(cells, lines)
        for note in file.notes:
            warn(note)
    if at is None and len(names) > 1 and columns[0].all_names_differ():
        at, ids = 0, [word.strip() for word in columns[0].words]
        warn(
            f"Column {names[0]!r} of {source.name!r} has a different name in every row: it is "
            "taken as identifiers, not as a clustering. id_column (--id-column) names another.",
        )
    if holds_guarded(names):
        ids = list(map(unguarded, ids))
    # What `write_labels` says of the labels is no clustering.
    ours = at == 0 and names[:2] == _WRITTEN[:2] and set(names) <= set(_WRITTEN)
    members = [1] if ours else [i for i in range(len(names)) if i != at]
    index = None if at is None else np.array(ids, dtype=np.str_)
    own = [names[i] for i in members]
    soft = memberships_in(source, own, lambda place: columns[members[place]].numbers(), index)
    if soft is not None:
        return soft
    for i in members:
        _warn_of_ids(source, names[i], len(columns[i].words), len(columns[i].codes))
    labels = [columns[i].labels(source, names[i]) for i in members]
    return Ensemble(labels, index=index, names=[names[i] for i in members])


def _read_parquet(source: Path, id_column: str | None) -> Ensemble:
    with open_parquet(source) as file:
        if b"consilience" in (file.schema_arrow.metadata or {}):
            return Ensemble.load(source)
        names = list(file.schema_arrow.names)
        at = _id_position(source, names, id_column)
        columns: list[list[Any]] = [[] for _ in names]
        for batch in parquet_batches(source, file):
            for values, column in zip(columns, batch.columns, strict=True):
                values.extend(column.to_pylist())
    members = [i for i in range(len(names)) if i != at]
    index = None if at is None else np.asarray(columns[at])
    own = [names[i] for i in members]
    soft = memberships_in(source, own, lambda place: _numbers(columns[members[place]]), index)
    if soft is not None:
        return soft
    labels = [encode(columns[i], what=f"{source.name!r} column {names[i]!r}") for i in members]
    for i, codes in zip(members, labels, strict=True):
        _warn_of_ids(source, names[i], int(codes.max()) + 1, len(codes))
    return Ensemble(labels, index=index, names=[names[i] for i in members])


def _numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """Values of a column as numbers, NaN for None; None if there are others."""
    if not all(value is None or isinstance(value, int | float) for value in values):
        return None
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _warn_of_ids(source: Path, name: str, n_values: int, n_objects: int) -> None:
    """Warn of a column in which every object stands alone: it says nothing as a member."""
    if n_values == n_objects >= 10:  # of fewer it may well be the clustering
        warn(
            f"Column {name!r} of {source.name!r} has a different label for every object. If it "
            "holds identifiers, name it with id_column (--id-column).",
        )
