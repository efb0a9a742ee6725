"""Members as files of a folder: one file a member, whole and checked, or not there.

A member is an ``.npz`` file that is renamed into place once it is complete. The container
keeps a checksum of every array, so a file that was damaged later is noticed as well.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._files import PARTIAL, written_whole
from consilience._maps import let_go
from consilience.generate._plan import plain

try:
    import fcntl
except ImportError:  # a system without it: two processes in one folder go unnoticed
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Chunk",
    "KeptPieces",
    "chunk_path",
    "locked",
    "numbers",
    "piece_folders",
    "read_chunk",
    "remove_pieces",
    "sweep",
    "write_chunk",
]

Arrays = dict[str, NDArray[Any]]

MEMBERS = "members"
_NAME = re.compile(r"\d{4,}\.npz")
_EXTRA = "extra_"
_GROUP = "group-"


@dataclass(frozen=True)
class Chunk:
    """A member as it stands on disk."""

    labels: NDArray[np.signedinteger[Any]]
    record: dict[str, Any]
    extras: Arrays


def chunk_path(folder: Path, number: int) -> Path:
    """The file of a member."""
    return folder / MEMBERS / f"{number:04d}.npz"


def numbers(folder: Path) -> list[int]:
    """Numbers of the members there are files of, in order."""
    names = [path.name for path in (folder / MEMBERS).glob("*.npz")]
    return sorted(int(name[:-4]) for name in names if _NAME.fullmatch(name))


def write_chunk(
    folder: Path,
    number: int,
    mark: str,
    labels: NDArray[Any],
    record: Mapping[str, Any],
    extras: Arrays,
) -> None:
    """Write a member of the run ``mark``, whole or not at all."""
    facts = {"run": mark, "number": number, "record": record, "extras": sorted(extras)}
    about = json.dumps(facts, default=plain)
    arrays = {
        "labels": labels,
        "about": np.frombuffer(about.encode(), np.uint8),
        **{_EXTRA + name: value for name, value in extras.items()},
    }
    with written_whole(chunk_path(folder, number)) as partial:
        np.savez(partial, allow_pickle=False, **arrays)
    let_go(labels)


def read_chunk(folder: Path, number: int, mark: str, n_objects: int) -> Chunk | None:
    """A member of the run ``mark``; None if there is none, or it is damaged or of another run."""
    try:
        # Opened here, because numpy leaves a damaged file open.
        with chunk_path(folder, number).open("rb") as file, np.load(file) as kept:
            arrays = dict(kept.items())
        labels, about = arrays.pop("labels"), json.loads(arrays.pop("about").tobytes())
        extras = {name.removeprefix(_EXTRA): array for name, array in arrays.items()}
        # The container's checksums are of each array, not of how many there are.
        wanted = {"run": mark, "number": number, "extras": sorted(extras)}
        fits = {name: about[name] for name in wanted} == wanted
        record = about["record"]
    except MemoryError:
        raise
    except Exception:  # what a damaged file makes its reader raise is anyone's guess
        return None
    if not fits or labels.shape != (n_objects,) or labels.dtype.kind != "i":
        return None
    return Chunk(labels, record, extras)


class KeptPieces:
    """What is made for a group of members before these are finished: fits, and labels of pieces.

    One file each, in a folder of the group, ``members/group-0000-0031``; whole or not there.
    """

    def __init__(self, folder: Path, mark: str, members: Sequence[int]) -> None:
        self.folder = folder / MEMBERS / f"{_GROUP}{members[0]:04d}-{members[-1]:04d}"
        self._mark = f"{mark} {','.join(map(str, members))}"

    def get(self, name: str) -> Arrays | None:
        """Arrays that are kept under a name; None if there are none, or they are damaged."""
        try:
            with (self.folder / f"{name}.npz").open("rb") as file, np.load(file) as kept:
                arrays = dict(kept.items())
            return arrays if arrays.pop("mark").tobytes().decode() == self._mark else None
        except MemoryError:
            raise
        except Exception:  # what a damaged file makes its reader raise is anyone's guess
            return None

    def put(self, name: str, arrays: Arrays) -> None:
        """Keep arrays, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = np.frombuffer(self._mark.encode(), np.uint8)
        with written_whole(self.folder / f"{name}.npz") as partial:
            np.savez(partial, allow_pickle=False, mark=mark, **arrays)

    def clear(self) -> None:
        """Remove all of it: the members are finished."""
        _remove_pieces(self.folder)


def piece_folders(folder: Path) -> list[Path]:
    """Folders of groups of members that are not finished."""
    return sorted((folder / MEMBERS).glob(f"{_GROUP}*-*"))


def _remove_pieces(group: Path) -> None:
    for path in (*group.glob("*.npz"), *group.glob(f"{PARTIAL}*")):
        path.unlink(missing_ok=True)
    with suppress(OSError):  # it is not there, or somebody keeps files of his own in it
        group.rmdir()


def remove_pieces(folder: Path) -> None:
    """Remove what is kept of members that are not finished."""
    for group in piece_folders(folder):
        _remove_pieces(group)


def sweep(folder: Path) -> None:
    """Remove files that a killed process had not finished."""
    for place in (folder, folder / MEMBERS, *piece_folders(folder)):
        for path in place.glob(f"{PARTIAL}*"):
            path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Whether nobody else has the folder; nobody can take it until the block ends.

    The lock is on the folder itself and leaves no file; the system lifts it when the process
    ends, however it ends.
    """
    if fcntl is None:
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        free = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            free = False
        except OSError:  # a file system without locks
            pass
        yield free
    finally:
        os.close(handle)
