"""The two files of something that is kept: written whole, read with limits.

``model.json`` has the version of the format, what it is, its plain values and the checksums of
both files; ``model.npz`` the arrays, each as it lies in memory. Nothing in them is run when they
are read: there is no pickle, no archive is unpacked to the disk, and no array can take more memory
than its file has bytes.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from consilience._files import written_whole
from consilience.errors import InvalidInputError
from consilience.keep._values import Kind, pack, unpack

__all__ = ["ARRAYS", "FACTS", "FORMAT", "KeptFiles", "read_kept", "write_kept"]

FACTS, ARRAYS = "model.json", "model.npz"
#: Of what this version writes; it reads all up to this.
FORMAT = 1
# Ours have a few kilobytes, and a line a member and an object with a name that is not a number.
_LARGEST = 512 << 20
_NAME = re.compile(r"(a\d{1,9})\.npy")
_REMEDY = "Save it again, or take a copy that is whole."


class KeptFiles:
    """A value as its two files; the arrays are to be written first.

    Parameters
    ----------
    value : any
        Of one of the kinds.
    kinds : mapping of name -> Kind
    version : str
        Of the package.
    """

    def __init__(self, value: Any, kinds: Mapping[str, Kind], version: str) -> None:
        self._packed, self._arrays = pack(value, kinds)
        self._version = version
        self._digest = ""

    def write_arrays(self, path: Path) -> None:
        """Write the arrays, uncompressed."""
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **self._arrays)
        self._digest = _digest_of(path)

    def write_facts(self, path: Path) -> None:
        """Write everything else, and what the arrays' file must be like."""
        facts = {
            "consilience": self._version,
            "format": FORMAT,
            "arrays": self._digest,
            "value": self._packed,
        }
        text = json.dumps({**facts, "facts": _digest(facts)}, allow_nan=False)
        path.write_text(text, encoding="utf-8")


def write_kept(folder: str | Path, value: Any, kinds: Mapping[str, Kind], version: str) -> None:
    """Write a value into a folder, which is made if need be; what we kept there is replaced."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InvalidInputError(f"{str(place)!r} is a file. Name a folder to save to.")
    if (place / FACTS).exists():
        try:
            _facts(place)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{str(place)!r} holds a {FACTS} that this version did not write, or that was "
                "changed since: it is not replaced. Name another folder."
            ) from error
    elif (place / ARRAYS).exists():
        raise InvalidInputError(
            f"{str(place)!r} holds a {ARRAYS} that consilience did not write. Name another folder."
        )
    place.mkdir(parents=True, exist_ok=True)
    files = KeptFiles(value, kinds, version)
    with written_whole(place / FACTS) as facts:
        with written_whole(place / ARRAYS) as arrays:
            files.write_arrays(arrays)
        files.write_facts(facts)


@dataclass(frozen=True)
class _Facts:
    version: str
    arrays: str
    value: Any


def read_kept(folder: str | Path, kinds: Mapping[str, Kind]) -> Any:
    """The value that a folder keeps.

    Raises
    ------
    InvalidInputError
        If there is none, or it is of a later version, damaged, changed by hand, or not ours.
    """
    place = Path(folder)
    if not (place / FACTS).is_file():
        raise InvalidInputError(
            f"{str(place)!r} keeps nothing to load: there is no {FACTS}. Name the folder of a run "
            "of 'consilience cluster' without --no-keep, or one written by save()."
        )
    facts = _facts(place)
    arrays = _read_arrays(place / ARRAYS, facts.arrays)
    try:
        return unpack(facts.value, arrays, kinds)
    except MemoryError:
        raise
    except Exception as error:  # what odd values make a class raise is anyone's guess
        raise InvalidInputError(
            f"{FACTS} in {str(place)!r}, written by consilience {facts.version}, holds what "
            f"this version cannot use ({type(error).__name__}: {error}). Use the version that "
            "wrote it, or a newer one."
        ) from error


def _facts(folder: Path) -> _Facts:
    """What the JSON says, once it is known to be ours and unchanged."""
    path = folder / FACTS
    where = f"{FACTS} in {str(folder)!r}"
    if path.stat().st_size > _LARGEST:
        raise InvalidInputError(f"{where} is larger than any that consilience writes. {_REMEDY}")
    try:
        facts = json.loads(path.read_bytes())
        version, number = str(facts["consilience"]), int(facts["format"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInputError(
            f"{where} is damaged, or consilience did not write it. {_REMEDY}"
        ) from error
    if number > FORMAT:
        raise InvalidInputError(
            f"{where} has format {number}, written by consilience {version}; this version reads up "
            f"to {FORMAT}. Use the version that wrote it, or a newer one."
        )
    try:
        stated = facts.pop("facts")
        if stated != _digest(facts):
            raise ValueError
        return _Facts(version, str(facts["arrays"]), facts["value"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInputError(f"{where} was changed since it was written. {_REMEDY}") from error


def _digest(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_arrays(path: Path, digest: str) -> dict[str, NDArray[Any]]:
    where = f"{ARRAYS} in {str(path.parent)!r}"
    if not path.is_file():
        raise InvalidInputError(f"There is no {where}, which {FACTS} belongs to. {_REMEDY}")
    if _digest_of(path) != digest:
        raise InvalidInputError(
            f"{where} is damaged, or not the one that {FACTS} was written with. {_REMEDY}"
        )
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > path.stat().st_size:
                raise ValueError("it would unpack to more than its own size")
            return dict(_read_array(archive, entry) for entry in entries)
    except MemoryError:
        raise
    except Exception as error:  # what a damaged archive makes its reader raise is anyone's guess
        raise InvalidInputError(f"{where} cannot be used: {error}. {_REMEDY}") from error


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[str, NDArray[Any]]:
    """One array, once its header promises no more than there is."""
    name = _NAME.fullmatch(entry.filename)
    if name is None or entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{entry.filename!r} is no array as consilience writes them")
    with archive.open(entry) as file:
        if npy.read_magic(file) != (1, 0):
            raise ValueError(f"{entry.filename!r} is no array as consilience writes them")
        shape, _, dtype = npy.read_array_header_1_0(file)
        if dtype.hasobject:
            raise ValueError(f"{entry.filename!r} holds a pickle, which is never read")
        if file.tell() + int(np.prod(shape, dtype=object)) * dtype.itemsize != entry.file_size:
            raise ValueError(f"{entry.filename!r} is not as long as it says")
    with archive.open(entry) as file:
        return name[1], npy.read_array(file, allow_pickle=False)
