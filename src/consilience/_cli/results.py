"""The one writer of result folders: a lock, a stage, a list of what is to be moved, the move.

Files are written to a stage inside the folder. Once all of them are complete a list of them
appears in one step, and from then on the results exist: they are moved to their places, the
file that stands for all of them last, and whoever finds the list finishes the move. A process
that is killed leaves the folder as it was before, or something the next run puts right.

>>> import tempfile
>>> place = tempfile.TemporaryDirectory()
>>> with taken(Path(place.name, "here"), "an example") as results:
...     written = results.publish({"a.txt": lambda path: path.write_text("a")}, last="a.txt")
>>> [path.name for path in Path(place.name, "here").iterdir()]
['a.txt']
>>> place.cleanup()
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience._cli.folders import PARTS, PLAN, check_writable, is_part
from consilience._cli.locks import acquire, holder, release
from consilience._files import PARTIAL
from consilience.errors import ConsilienceError

__all__ = ["FolderInUseError", "ResultFolder", "taken"]

#: Inside a result folder, while a run is working there.
WORK = ".consilience-run"
_LOCK, _STAGE, _COMMIT, _SCRATCH = "lock", "stage", "commit.json", "scratch"


class FolderInUseError(ConsilienceError, OSError):
    """Another run is working in the folder."""


@dataclass(frozen=True)
class ResultFolder:
    """A folder that nobody else may write results to; see `taken`."""

    folder: Path

    def scratch(self) -> Path:
        """A folder for what is only needed during the run."""
        place = self.folder / WORK / _SCRATCH
        place.mkdir()
        return place

    def publish(
        self,
        writers: Mapping[str, Callable[[Path], Any]],
        *,
        last: str,
        replaces: Sequence[str] = (),
    ) -> list[Path]:
        """Write several files so that all of them appear, or none.

        Parameters
        ----------
        writers : mapping
            The function that writes a file to a path, by the file's name.
        last : str
            The one that stands for all: while it is there, all others are those of its run.
        replaces : sequence of str
            Names of an earlier run's files: those that are not written again are removed.
        """
        work = self.folder / WORK
        stage = work / _STAGE
        names = [*(name for name in writers if name != last), last]
        moves = {"move": names, "remove": [name for name in replaces if name not in writers]}
        stage.mkdir()
        for name in names:
            (stage / name).parent.mkdir(exist_ok=True)
            writers[name](stage / name)
            _sync(stage / name)
        draft = work / f"{PARTIAL}commit"
        draft.write_text(json.dumps(moves), encoding="utf-8")
        for path in (draft, stage):
            _sync(path)
        # What fails up to here is cleared with the lock; from here on the results exist.
        draft.replace(work / _COMMIT)
        try:
            _sync(work)
            _finish(self.folder)
        except BaseException as error:
            error.add_note(f"the results were finished, and are in {str(self.folder)!r}")
            raise
        return [self.folder / name for name in writers]


@contextmanager
def taken(folder: Path, command: str) -> Iterator[ResultFolder]:
    """A folder for this run alone, with whatever a killed run left there put right.

    Parameters
    ----------
    folder : Path
        Made if need be, and taken away again if nothing comes into it.
    command : str
        What is running, for whoever is refused meanwhile.
    """
    check_writable(folder)
    left = (folder / WORK).exists()  # then the folder itself may be what was left
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    lock = folder / WORK / _LOCK
    handle = acquire(lock, command)
    if handle is None:
        raise FolderInUseError(
            f"Another run is working in {str(folder)!r}{holder(lock)}. Wait for it, stop it, or "
            "name another folder with --out."
        )
    try:
        _finish(folder)
        yield ResultFolder(folder)
    finally:
        with suppress(OSError):  # what cannot be put right now, the next run tries again
            _finish(folder)
        release(handle, lock)
        for place in made or [folder] * left:
            with suppress(OSError):  # something is in it
                place.rmdir()


def _finish(folder: Path) -> None:
    """Move what is listed to be moved, and remove all that was only of use for that."""
    work = folder / WORK
    moves = _listed(work / _COMMIT)
    if moves is not None:
        stage, last = work / _STAGE, moves["move"][-1]
        if (stage / last).exists():
            # From here on, until the new one is there, nothing says that the files belong together.
            (folder / last).unlink(missing_ok=True)
        for name in moves["remove"]:
            (folder / name).unlink(missing_ok=True)
        for name in moves["move"]:
            (folder / name).parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # it was moved before
                (stage / name).replace(folder / name)
        _sync(folder)
        with suppress(OSError):  # there are none, or they are of this run
            (folder / PARTS).rmdir()
    _clear(work)
    for path in folder.glob(f"{PARTIAL}*{Path(PLAN).suffix}"):
        path.unlink(missing_ok=True)


def _listed(path: Path) -> dict[str, list[str]] | None:
    """What a list says; None where there is none, or none that could have been completed."""
    try:
        moves = json.loads(path.read_bytes())
        names = {key: [_inside(name) for name in moves[key]] for key in ("move", "remove")}
        return names if names["move"] else None
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, RecursionError):  # the disk is damaged
        return None


def _inside(name: str) -> str:
    """The name of a file in the folder, or of a part, whatever somebody wrote into a list."""
    return name if is_part(name) else Path(name).name


def _clear(work: Path) -> None:
    """Remove everything of a run but its lock."""
    # The list goes first: without it what is in the stage was never finished.
    for path in (work / _COMMIT, *work.glob(f"{PARTIAL}*")):
        path.unlink(missing_ok=True)
    for place in (_STAGE, _SCRATCH):
        with suppress(FileNotFoundError):
            shutil.rmtree(work / place)


def _sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk now."""
    with suppress(OSError):  # some systems cannot do so for folders, some disks not at all
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
