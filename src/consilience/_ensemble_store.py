"""Ensembles on disk: arrays and JSON, never pickles; nothing half-written is left behind."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._files import written_whole
from consilience._labels import UNSEEN
from consilience._optional import optional
from consilience.errors import InvalidInputError, MissingFileError, MissingPackageError

# Labels are written as format 1, memberships as 2: who reads only labels must not take them so.
_FORMAT, _SOFT_FORMAT = 1, 2
_INDEX_COLUMN = "__object__"


@dataclass(frozen=True)
class Stored:
    """The parts of an ensemble as they stand on disk."""

    members: NDArray[Any]
    index: NDArray[Any] | None
    names: Sequence[str] | None
    records: Sequence[Mapping[str, Any]]
    # Of members that are memberships: these, side by side, and the clusters of each member.
    soft: tuple[NDArray[Any], NDArray[Any]] | None = None

    def column_names(self) -> list[str]:
        """The members' names, numbered ones where there are none."""
        return list(self.names or (f"member_{m}" for m in range(len(self.members))))


def save(ensemble: Stored, path: str | PathLike[str]) -> None:
    """Write an ensemble to ``.npz`` or ``.parquet``."""
    target = _checked(path)
    if ensemble.soft is not None and target.suffix != ".npz":
        raise InvalidInputError(
            f"Memberships are stored as '.npz'. Got the path {str(target)!r}. Or store the labels "
            "alone: ensemble.harden().save(path)."
        )
    if not target.parent.is_dir():
        raise MissingFileError(f"There is no folder {str(target.parent)!r}. Make it first.")
    meta = {
        "format": _FORMAT if ensemble.soft is None else _SOFT_FORMAT,
        "names": ensemble.names,
        "records": [dict(record) for record in ensemble.records],
        "n_members": len(ensemble.members),
    }
    text = json.dumps(meta, default=_plain)
    write = _write_npz if target.suffix == ".npz" else _write_parquet
    with written_whole(target) as partial:
        write(ensemble, text, partial)


def load(path: str | PathLike[str]) -> Stored:
    """Read an ensemble that `save` wrote."""
    source = _checked(path)
    if not source.is_file():
        raise MissingFileError(f"There is no file {str(source)!r}.")
    read = _read_npz if source.suffix == ".npz" else _read_parquet
    try:
        labels, index, meta, soft = read(source)
        names, records, version = meta["names"], meta["records"], meta["format"]
        # A damaged name would make a member of the index; older files do not say how many.
        if labels.shape[1] != meta.get("n_members", labels.shape[1]):
            raise ValueError(f"{labels.shape[1]} members in place of {meta['n_members']}")
    except (MissingPackageError, MemoryError):
        raise
    except Exception as error:  # what a damaged file makes its reader raise is anyone's guess
        raise InvalidInputError(
            f"{source.name!r} is not an ensemble written by Ensemble.save, or it is damaged "
            f"({error}). Write it again."
        ) from error
    if version > _SOFT_FORMAT:
        raise InvalidInputError(
            f"{source.name!r} has format {version}; this version of consilience reads up to "
            f"{_SOFT_FORMAT}. Use the version that wrote it, or a newer one."
        )
    return Stored(labels.T, index, names, records, soft)


def _checked(path: str | PathLike[str]) -> Path:
    target = Path(path)
    if target.suffix not in (".npz", ".parquet"):
        raise InvalidInputError(
            f"An ensemble is stored as '.npz' or '.parquet'. Got the path {str(target)!r}."
        )
    return target


def _plain(value: Any) -> Any:
    """JSON form of numpy values in records."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise InvalidInputError(
        "records must hold numbers, text, lists or mappings to be stored. "
        f"Got {value!r} of type {type(value).__name__} instead."
    )


def _plain_index(ensemble: Stored) -> Any:
    """The index as an array of numbers or text, which every reader understands."""
    if ensemble.index is None:
        return None
    if ensemble.index.dtype.kind in "mM":  # whose tolist() may be bare nanoseconds
        return ensemble.index.astype(str)
    items = ensemble.index.tolist()
    if any(isinstance(item, tuple) for item in items):  # of an index of several levels
        items = list(map(str, items))
    index = np.asarray(items)
    return index.astype(str) if index.dtype.kind in "OSV" else index


def _write_npz(ensemble: Stored, text: str, path: Path) -> None:
    arrays: dict[str, Any] = {"members": ensemble.members, "meta": np.array(text)}
    index = _plain_index(ensemble)
    if index is not None:
        arrays["index"] = index
    if ensemble.soft is not None:
        arrays["memberships"], arrays["widths"] = ensemble.soft
    np.savez_compressed(path, **arrays)


def _read_npz(path: Path) -> tuple[Any, Any, dict[str, Any], Any]:
    # Opened here, because numpy leaves a damaged file open.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        members, index = stored["members"].T, stored.get("index")
        meta = json.loads(str(stored["meta"]))
        is_soft = isinstance(meta, dict) and meta["format"] == _SOFT_FORMAT
        return members, index, meta, (stored["memberships"], stored["widths"]) if is_soft else None


def _write_parquet(ensemble: Stored, text: str, path: Path) -> None:
    arrow = optional("pyarrow", extra="store", what="Ensemble.save to '.parquet'")
    parquet = optional("pyarrow.parquet", extra="store", what="Ensemble.save to '.parquet'")
    columns = {
        name: arrow.array(labels, mask=labels == UNSEEN)
        for name, labels in zip(ensemble.column_names(), ensemble.members, strict=True)
    }
    if len(columns) != len(ensemble.members) or _INDEX_COLUMN in columns:
        raise InvalidInputError(
            "names must differ from each other, and none may be "
            f"{_INDEX_COLUMN!r}, to be stored as '.parquet'. Got {list(ensemble.names or ())!r}. "
            "Choose others, or store as '.npz'."
        )
    index = _plain_index(ensemble)
    if index is not None:
        columns[_INDEX_COLUMN] = arrow.array(index)
    table = arrow.table(columns).replace_schema_metadata({"consilience": text})
    parquet.write_table(table, path, write_page_checksum=True)


def _read_parquet(path: Path) -> tuple[Any, Any, dict[str, Any], None]:
    parquet = optional("pyarrow.parquet", extra="store", what="Ensemble.load of '.parquet'")
    table = parquet.read_table(path, page_checksum_verification=True)
    meta = json.loads((table.schema.metadata or {})[b"consilience"])
    index = None
    if _INDEX_COLUMN in table.column_names:
        index = np.asarray(table.column(_INDEX_COLUMN).to_pylist())
        table = table.drop_columns([_INDEX_COLUMN])
    labels = [c.fill_null(UNSEEN).to_numpy() for c in table.columns]
    return np.column_stack(labels), index, meta, None
