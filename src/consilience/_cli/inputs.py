"""What a run works on: data and labels from files, lined up, checked and scaled."""

import warnings
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.datasets import read_labels, read_table
from consilience.datasets._label_files import has_column
from consilience.ensemble import UNSEEN, Ensemble
from consilience.errors import ConsilienceWarning, InvalidInputError

__all__ = ["Input", "gather", "standardise"]


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

    def identifiers(self) -> NDArray[Any]:
        """Identifier of each object, its row number where there is none."""
        return np.arange(self.n_objects) if self.ids is None else self.ids


def gather(
    data: Path | None,
    labels: Path | None,
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    scale: bool = True,
) -> Input:
    """Read the files there are and line them up.

    Parameters
    ----------
    data, labels : Path or None
        A table of numbers, an ensemble, or both; objects in the same order.
    id_column, truth_column : str or None
        Columns of the data, or of the labels where there are no data. Both files are
        checked for the same identifiers where both have them.
    scale : bool
        Whether columns are brought to mean 0 and variance 1.
    """
    if data is None:
        assert labels is not None
        return _labels_only(labels, id_column, truth_column)
    table = read_table(data, id_column=id_column, truth_column=truth_column)
    X, kept = table.X, table.columns
    dropped: tuple[str, ...] = ()
    if scale:
        X, kept, dropped = standardise(table.X, table.columns, what=repr(data.name))
    ensemble, ids = None, table.ids
    if labels is not None:
        shared = id_column if id_column and has_column(labels, id_column) else None
        ensemble = read_labels(labels, id_column=shared)
        _check_same_objects(data, table.ids, len(X), labels, ensemble)
        ids = ensemble.index if ids is None else ids
    return Input(len(X), X, kept, dropped, ensemble, ids, table.truth)


def standardise(
    X: NDArray[np.float64], columns: tuple[str, ...], *, what: str = "The data"
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...]]:
    """Columns with mean 0 and variance 1, their names, and the constant columns left out.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     standardise(np.array([[1.0, 5.0], [3.0, 5.0]]), ("a", "b"))
    (array([[-1.],
           [ 1.]]), ('a',), ('b',))
    """
    varies = X.max(axis=0) > X.min(axis=0)
    if len(X) > 1 and not varies.any():
        raise InvalidInputError(
            f"{what} has the same value in every row of every column: no object differs from "
            "another, so there is nothing to cluster."
        )
    kept = tuple(compress(columns, varies)) if len(X) > 1 else columns
    dropped = tuple(name for name in columns if name not in kept)
    if dropped:
        one = len(dropped) == 1
        warnings.warn(
            f"{'Column' if one else 'Columns'} {', '.join(map(repr, dropped))} of {what} "
            f"{'has' if one else 'have'} the same value in every row and "
            f"{'is' if one else 'are'} left out.",
            ConsilienceWarning,
            stacklevel=3,
        )
        X = X[:, varies]
    largest = np.abs(X).max(axis=0)
    scaled = X / np.where(largest > 0, largest, 1.0)  # first: squares of 1e200 would overflow
    scaled -= scaled.mean(axis=0)
    spread = scaled.std(axis=0)
    scaled /= np.where(spread > 0, spread, 1.0)
    return scaled, kept, dropped


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


def _check_same_objects(
    data: Path, ids: NDArray[Any] | None, n_objects: int, labels: Path, ensemble: Ensemble
) -> None:
    if n_objects != ensemble.n_objects:
        raise InvalidInputError(
            f"{data.name!r} and {labels.name!r} must hold the same objects in the same order: "
            f"the data have {n_objects} rows, the labels {ensemble.n_objects}."
        )
    if ids is None or ensemble.index is None:
        return
    differ = np.flatnonzero(ids.astype(str) != ensemble.index.astype(str))
    if differ.size:
        i = int(differ[0])
        ours, theirs = np.asarray(ids[i]).item(), np.asarray(ensemble.index[i]).item()
        raise InvalidInputError(
            f"{data.name!r} and {labels.name!r} must hold the same objects in the same order: "
            f"object {i + 1} is {ours!r} in the data and {theirs!r} in the labels."
        )
