"""What is kept of results on disk, and how they are made of it again."""

from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience import __version__
from consilience.compare import Comparison
from consilience.consensus._kept import kinds as kinds_of_consensus
from consilience.consensus.known import Violation
from consilience.datasets._points import Points
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._scale import Scaling
from consilience.keep import KeptFiles, Kind, Omitted, dataclass_kind, read_kept, write_kept
from consilience.predict._seen import Seen
from consilience.workflow._data import Data
from consilience.workflow._view_agreement import ViewAgreement
from consilience.workflow.cluster_result import ClusterResult

__all__ = ["kept_files", "load", "save"]


def load(folder: str | PathLike[str]) -> Any:
    """The result or the estimator that a folder keeps.

    Reads plain values and arrays and runs nothing: there is no pickle in what consilience writes,
    and none is read. What an earlier version kept can be loaded; what a later one kept is refused
    with its version.

    Parameters
    ----------
    folder : path
        Of a run of ``consilience cluster``, or one that ``save`` of a result or an estimator wrote.

    Returns
    -------
    ClusterResult or estimator

    Raises
    ------
    InvalidInputError
        If there is nothing to load, or it is damaged, was changed by hand or is of a later version.

    Examples
    --------
    >>> import tempfile
    >>> import consilience as cs
    >>> X, _ = cs.datasets.make_gaussians(150, 3, random_state=0)
    >>> result = cs.cluster(X, n_members=20, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(folder)
    ...     again = cs.load(folder)
    >>> bool((again.predict(X).labels == result.labels).all())
    True
    """
    return read_kept(Path(folder), _kinds())


def save(result: ClusterResult, folder: str | PathLike[str]) -> None:
    """Keep a result in a folder."""
    write_kept(Path(folder), result, _kinds(), __version__)


def kept_files(result: ClusterResult) -> KeptFiles:
    """The files of a result, for whoever writes several files at once."""
    return KeptFiles(result, _kinds(), __version__)


def _kinds() -> dict[str, Kind]:
    kinds = [
        Kind("ClusterResult", ClusterResult, _result_fields, _result),
        Kind("Data", Data, _data_fields, _data),
        Kind("Comparison", Comparison, _comparison_fields, _comparison),
        *(
            dataclass_kind(one)
            for one in (Scaling, Points, Recipe, Column, ViewAgreement, Violation)
        ),
    ]
    return kinds_of_consensus() | {kind.name: kind for kind in kinds}


# Times and places differ between equal runs, whose files are equal.
_NOT_KEPT = ("seconds", "ran_on", "seen")


def _result_fields(result: ClusterResult) -> dict[str, Any]:
    values = {one.name: getattr(result, one.name) for one in fields(result)}
    placer = None if result.seen is None else result.placer()
    return {name: v for name, v in values.items() if name not in _NOT_KEPT} | {"placer": placer}


def _result(values: dict[str, Any]) -> ClusterResult:
    placer = values.pop("placer")
    seen = None if placer is None else Seen(None, placer=placer)
    known = {one.name for one in fields(ClusterResult)}
    given: dict[str, Any] = {name: value for name, value in values.items() if name in known}
    if isinstance(given["generator"], Omitted):
        given["generator"] = None
    return ClusterResult(**given, seconds={}, seen=seen)


def _data_fields(data: Data) -> dict[str, Any]:
    values = {one.name: getattr(data, one.name) for one in fields(data)} | {"distances": None}
    for name in ("index", "truth"):
        if values[name] is not None:
            values[name] = np.asarray(values[name])
    # What was scaled is made again from the original, to the same numbers.
    return values | ({"X": None} if _follows(data) else {})


def _follows(data: Data) -> bool:
    """Whether X follows from the original; where it had gaps, the members filled them."""
    return data.scaling is not None and getattr(data.scaling, "reference", None) is None


def _data(values: dict[str, Any]) -> Data:
    known = {one.name for one in fields(Data)}
    data = Data(**{name: value for name, value in values.items() if name in known})
    return replace(data, X=data.as_clustered(data.original)) if _follows(data) else data


def _comparison_fields(comparison: Comparison) -> dict[str, Any]:
    values = {one.name: getattr(comparison, one.name) for one in fields(comparison)}
    return {name: value for name, value in values.items() if name != "seconds"}


def _comparison(values: dict[str, Any]) -> Comparison:
    return Comparison(**values, seconds=np.zeros(len(values["names"])))
