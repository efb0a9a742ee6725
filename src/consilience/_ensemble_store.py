"""Ensembles on disk: arrays and JSON, never pickles; nothing half-written is left behind."""

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience._labels import UNSEEN
from consilience._optional import optional
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError

_FORMAT = 1
_INDEX_COLUMN = "__object__"


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that replaces it only if the block succeeds."""
    handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=".partial-", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        # mkstemp makes private files; give the result the rights a plain open() would.
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o666 & ~mask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def save(ensemble: Ensemble, path: str | PathLike[str]) -> None:
    """Write an ensemble to ``.npz`` or ``.parquet``."""
    target = _checked(path)
    meta = {
        "format": _FORMAT,
        "names": ensemble.names,
        "records": [dict(record) for record in ensemble.records],
    }
    text = json.dumps(meta, default=_plain)
    write = _write_npz if target.suffix == ".npz" else _write_parquet
    with written_whole(target) as partial:
        write(ensemble, text, partial)


def load(path: str | PathLike[str]) -> Ensemble:
    """Read an ensemble that `save` wrote."""
    source = _checked(path)
    if not source.is_file():
        raise FileNotFoundError(f"There is no file {str(source)!r}.")
    read = _read_npz if source.suffix == ".npz" else _read_parquet
    try:
        labels, index, meta = read(source)
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{source.name!r} is not an ensemble written by Ensemble.save, or it is damaged "
            f"({error}). Write it again."
        ) from error
    return Ensemble(labels, index=index, names=meta["names"], records=meta["records"])


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
    raise TypeError(f"records must hold plain values; {value!r} cannot be stored as JSON")


def _plain_index(ensemble: Ensemble) -> Any:
    """The index as an array of numbers or text, which every reader understands."""
    if ensemble.index is None:
        return None
    index = np.asarray(ensemble.index.tolist())
    return index.astype(str) if index.dtype.kind in "OSV" else index


def _write_npz(ensemble: Ensemble, text: str, path: Path) -> None:
    arrays = {"members": ensemble.members, "meta": np.array(text)}
    index = _plain_index(ensemble)
    if index is not None:
        arrays["index"] = index
    np.savez_compressed(path, **arrays)


def _read_npz(path: Path) -> tuple[Any, Any, dict[str, Any]]:
    with np.load(path, allow_pickle=False) as stored:
        index = stored.get("index")
        return stored["members"].T, index, json.loads(str(stored["meta"]))


def _write_parquet(ensemble: Ensemble, text: str, path: Path) -> None:
    arrow = optional("pyarrow", extra="store", what="Ensemble.save to '.parquet'")
    parquet = optional("pyarrow.parquet", extra="store", what="Ensemble.save to '.parquet'")
    columns = {
        name: arrow.array(labels, mask=labels == UNSEEN)
        for name, labels in zip(ensemble._column_names(), ensemble.members, strict=True)
    }
    if len(columns) != ensemble.n_members:
        raise InvalidInputError("names must differ from each other to be stored as '.parquet'.")
    index = _plain_index(ensemble)
    if index is not None:
        columns[_INDEX_COLUMN] = arrow.array(index)
    table = arrow.table(columns).replace_schema_metadata({"consilience": text})
    parquet.write_table(table, path)


def _read_parquet(path: Path) -> tuple[Any, Any, dict[str, Any]]:
    parquet = optional("pyarrow.parquet", extra="store", what="Ensemble.load of '.parquet'")
    table = parquet.read_table(path)
    meta = json.loads((table.schema.metadata or {})[b"consilience"])
    index = None
    if _INDEX_COLUMN in table.column_names:
        index = np.asarray(table.column(_INDEX_COLUMN).to_pylist())
        table = table.drop_columns([_INDEX_COLUMN])
    labels = [c.fill_null(UNSEEN).to_numpy() for c in table.columns]
    return np.column_stack(labels), index, meta
