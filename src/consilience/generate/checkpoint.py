"""Runs that can be interrupted: members on disk as they are made, and a plan beside them.

>>> import tempfile
>>> from consilience.generate import KMeansEnsemble
>>> X = np.random.default_rng(0).normal(size=(60, 2))
>>> generator = KMeansEnsemble(n_members=5, n_clusters=3, random_state=0)
>>> folder = tempfile.TemporaryDirectory()
>>> ensemble = generator.generate(X, checkpoint=RunFolder(folder.name))

Had that been killed, at any moment, the same line would go on where it stopped. Here
everything is done, and the members are only read:

>>> again = generator.generate(X, checkpoint=RunFolder(folder.name))
>>> bool((again.labels == ensemble.labels).all())
True
>>> RunFolder(folder.name).finished
[0, 1, 2, 3, 4]
>>> folder.cleanup()
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience._files import written_whole
from consilience._maps import let_go
from consilience.engines import label_room
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError, InvalidInputError
from consilience.generate._base import Generator, Made, Session
from consilience.generate._chunks import (
    MEMBERS,
    Chunk,
    KeptPieces,
    chunk_path,
    locked,
    numbers,
    piece_folders,
    read_chunk,
    remove_pieces,
    sweep,
    write_chunk,
)
from consilience.generate._plan import Plan, differences, identity, make_plan, read_plan

__all__ = ["ResumeError", "RunFolder"]

PLAN = "plan.json"
#: The name under which sums over weak clusterings are kept.
REPETITIONS = "repetitions"
_REMEDY = "take another folder, or remove the run with RunFolder(folder).clear()"


class ResumeError(ConsilienceError, ValueError):
    """A folder holds a run that cannot be gone on with.

    Attributes
    ----------
    folder : Path
    differences : tuple of str
        What differs between the run in the folder and the one asked for, each in a few
        words; empty where something else is in the way.
    """

    def __init__(self, message: str, folder: Path, differences: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.folder = folder
        self.differences = tuple(differences)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.folder, self.differences)


class RunFolder:
    """A folder that keeps the members of one run, so that the run can be resumed.

    Give it to ``generate`` of any generator as ``checkpoint``. Every member is written as
    soon as it is made; whatever ends the process, running the same again makes only the
    members that are missing, and the ensemble is the one an uninterrupted run gives.

    Parameters
    ----------
    folder : path
        Made if it does not exist. Other files in it are left alone.
    job : mapping, optional
        Whatever else must be the same for the run to be the same, for instance options of
        a command: names and plain values. Kept in the plan and compared with it.
    resume : bool, default=True
        Go on with a run that the folder holds, if it is the same; False refuses any folder
        that holds a run.

    Notes
    -----
    Layout: ``plan.json`` holds the versions at work, a fingerprint of the data, the
    generator's class and all its parameters but ``n_jobs``, the members' seeds, and the job.
    ``members/0007.npz`` holds the labels of member 7, how it was made, and what else the
    generator keeps of it, under checksums. A generator that combines others gives each a
    folder of the same kind, ``part-000``, ``part-001`` and so on. A member is one file that
    appears in one step: a store of chunked arrays, such as zarr, would add nothing.

    A member that is damaged, or of another plan, is made anew. Members that failed are not
    kept: they are tried again. With ``random_state=None`` the seeds of the plan hold. Members
    that are made together, as `KMeansEnsemble` does, are written when their group is done. Of data
    that are not in memory their centres are kept before, and their labels block by block.

    One process at a time may work in a folder; a second one is refused, where the file
    system has locks.

    Examples
    --------
    >>> import tempfile
    >>> from consilience.generate import KMeansEnsemble
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = RunFolder(folder.name, job={"scale": "standard"})
    >>> _ = KMeansEnsemble(8, 3, random_state=0).generate(X, checkpoint=run)
    >>> run
    RunFolder(8 of 8 members)
    >>> run.ensemble()
    Ensemble(n_objects=60, n_members=8, n_clusters=3..3, noise=0, unseen=0)
    >>> KMeansEnsemble(8, 4, random_state=0).generate(X, checkpoint=run)
    Traceback (most recent call last):
    consilience.generate.checkpoint.ResumeError: ... n_clusters was 3, now 4. ...
    >>> run.clear()
    >>> run.finished
    []
    >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        job: Mapping[str, Any] | None = None,
        resume: bool = True,
    ) -> None:
        self.folder = Path(folder)
        self.job = dict(job or {})
        self.resume = resume

    def __repr__(self) -> str:
        wanted = self.n_members
        if wanted is None:
            return "RunFolder(no run)"
        return f"RunFolder({len(self.finished)} of {wanted} members)"

    # ---- what is there ----------------------------------------------------------------

    @property
    def plan(self) -> Plan | None:
        """What ``plan.json`` says; None where there is none."""
        path = self.folder / PLAN
        try:
            # A machine that lost power may leave a file that is named but empty. Members know
            # their run, so nothing is mixed if the plan is written again.
            return read_plan(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise ResumeError(f"{str(path)!r} {error}", self.folder) from error

    @property
    def n_members(self) -> int | None:
        """Members the run is to have; None where there is no run."""
        plan = self.plan
        return None if plan is None else int(plan["n_members"])

    @property
    def finished(self) -> list[int]:
        """Numbers of the members that are done and whole."""
        return [number for number, _ in self._chunks()]

    def is_bare(self) -> bool:
        """Whether there is no file of any member, be it whole, damaged or of another run."""
        made = numbers(self.folder) or self.n_pieces or self.n_repetitions
        return not made and all(part.is_bare() for part in self._parts())

    @property
    def n_pieces(self) -> int:
        """Blocks that are labelled by members that are not finished."""
        kept = (path.stem for group in piece_folders(self.folder) for path in group.glob("*.npz"))
        return sum(name.isdigit() for name in kept)

    @property
    def n_repetitions(self) -> int:
        """Weak clusterings whose scores are added up and kept."""
        for group in piece_folders(self.folder):
            with suppress(Exception), np.load(group / f"{REPETITIONS}.npz") as kept:
                return int(kept["n"])
        return 0

    def ensemble(self, *, index: Any = None) -> Ensemble:
        """The members that are done, in order, however the run ended.

        Parameters
        ----------
        index : sequence, optional
            One identifier an object: the folder keeps none.
        """
        done = [chunk for _, chunk in self._chunks()]
        if not done:
            raise InvalidInputError(f"{str(self.folder)!r} holds no finished member yet.")
        kind = np.result_type(*(chunk.labels.dtype for chunk in done))
        members = np.stack([chunk.labels for chunk in done], dtype=kind)
        return Ensemble._trusted(members, index=index, records=[chunk.record for chunk in done])

    def _chunks(self) -> Iterator[tuple[int, Chunk]]:
        """The members that are done, also those of the parts."""
        plan = self.plan
        if plan is None:
            return
        yield from _whole_chunks(self.folder, plan)
        before = 0
        for part in self._parts():
            yield from ((before + number, chunk) for number, chunk in part._chunks())
            before += part.n_members or 0

    def _parts(self) -> list["RunFolder"]:
        # As many digits as they need at least: longer names are larger numbers.
        paths = sorted(self.folder.glob("part-*"), key=lambda path: (len(path.name), path.name))
        return [RunFolder(path) for path in paths if path.is_dir()]

    # ---- a run in it ------------------------------------------------------------------

    @contextmanager
    def opened(
        self, generator: Any, data: Any, n_members: int, seeds: list[int]
    ) -> Iterator[Session]:
        """A session of a generator; ``generate`` calls this.

        Parameters
        ----------
        generator : generator
        data : array or CSR matrix
            As the generator uses them.
        n_members : int
        seeds : list of int
            Of the members, if the run begins here.

        Yields
        ------
        Session
            With the seeds of the plan and the members that are done. Until it ends no other
            process can open the folder.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            plan = self._agreed(make_plan(generator, data, n_members, seeds, self.job), generator)
            sweep(self.folder)
            session = _FolderSession([int(seed) for seed in plan["seeds"]])
            session.folder, session.generator, session.mark = self.folder, generator, identity(plan)
            if isinstance(generator, Generator):
                (self.folder / MEMBERS).mkdir(exist_ok=True)
                for number, chunk in _whole_chunks(self.folder, plan):
                    # Those of many objects lie in files, not in memory.
                    labels = label_room(chunk.labels.shape, chunk.labels.dtype, beside=n_members)
                    labels[:] = chunk.labels
                    let_go(labels)
                    session.finished[number] = generator._restored(
                        labels, chunk.record, chunk.extras
                    )
            yield session

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with locked(self.folder) as free:
            if not free:
                raise ResumeError(
                    f"Another process is working in {str(self.folder)!r}. Wait for it, stop it, "
                    "or take another folder.",
                    self.folder,
                )
            yield

    def _agreed(self, new: Plan, generator: Any) -> Plan:
        """The plan to follow: the one there is, if it agrees, or the new one, now written."""
        old = self.plan
        if old is None:
            with written_whole(self.folder / PLAN) as partial:
                partial.write_text(json.dumps(new, indent=1), encoding="utf-8")
            return new
        if not self.resume:
            raise ResumeError(
                f"{str(self.folder)!r} already holds a run ({len(self.finished)} of "
                f"{old['n_members']} members). Resume it, {_REMEDY}.",
                self.folder,
            )
        if generator.random_state is None and len(old["seeds"]) == len(new["seeds"]):
            new = {**new, "seeds": old["seeds"]}
        changes = differences(old, new)
        if changes:
            raise ResumeError(
                f"{str(self.folder)!r} holds another run, and the members of two runs must not be "
                f"mixed: {'; '.join(changes)}. Run it as it was, {_REMEDY}.",
                self.folder,
                changes,
            )
        return old

    def clear(self) -> None:
        """Remove the run: its members and its plan, no other file, nor the folder itself.

        Nothing happens where there is no run. A plan that is damaged or not ours is an error,
        and nothing is removed.
        """
        if not (self.folder / PLAN).exists():
            return
        _ = self.plan  # raises if it is not ours
        with self._alone():
            self._remove()

    def _remove(self) -> None:
        # The plan goes last: a run that is half removed can still be resumed.
        for part in self._parts():
            part._remove_part()
        for number in numbers(self.folder):
            chunk_path(self.folder, number).unlink(missing_ok=True)
        remove_pieces(self.folder)
        sweep(self.folder)
        _remove_empty(self.folder / MEMBERS)
        (self.folder / PLAN).unlink(missing_ok=True)

    def _remove_part(self) -> None:
        """Remove a part of a run; one whose plan was never written holds no member."""
        if (self.folder / PLAN).exists():
            self.clear()
        else:
            sweep(self.folder)
        _remove_empty(self.folder)


@dataclass
class _FolderSession(Session):
    """A session that writes members into a folder."""

    folder: Path = Path()
    generator: Any = None
    mark: str = ""

    def keep(self, number: int, made: Made) -> None:
        if made.labels is not None:  # what failed may succeed another time
            extras = self.generator._extras(made)
            write_chunk(self.folder, number, self.mark, made.labels, made.record, extras)

    def pieces(self, members: Sequence[int]) -> KeptPieces:
        return KeptPieces(self.folder, self.mark, members)

    def part(self, number: int) -> RunFolder:
        return RunFolder(self.folder / f"part-{number:03d}")


def _whole_chunks(folder: Path, plan: Plan) -> Iterator[tuple[int, Chunk]]:
    """Members of a plan in its own folder, without those that are damaged or of another plan."""
    above = plan.get("rows_above", 0)
    mark = identity(plan)
    n_objects = plan["data"]["shape"][0] - (above if isinstance(above, int) else 0)
    for number in numbers(folder):
        chunk = read_chunk(folder, number, mark, n_objects)
        if chunk is not None:
            yield number, chunk


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # it is not there, or somebody keeps files of his own in it
        folder.rmdir()
