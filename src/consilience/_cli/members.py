"""Clusterings that an interrupted job left in its folder: how it is told what to do about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from consilience.errors import ConsilienceError, InvalidParameterError
from consilience.workflow._members import (
    NewRun,
    ResumeError,
    RunFolder,
    kept_blocks,
    kept_members,
    kept_repetitions,
)

__all__ = ["keep_members", "run_in"]


@contextmanager
def run_in(folder: Path, wish: Any) -> Iterator[RunFolder]:
    """The run that a job keeps its clusterings in; a refusal to go on is told in options.

    Parameters
    ----------
    folder : Path
    wish : ClusterWish, AmbiguousWish or MinorityWish
        ``--resume`` takes the members that an interrupted run left there, if it was the same
        run; also with ``--force``, which then only says that older results may be replaced.
        ``--force`` alone throws those away.
    """
    anew = wish.writing.force and not wish.resume
    try:
        yield NewRun(folder) if anew else RunFolder(folder)
    except ResumeError as error:
        if not error.differences:
            raise
        raise InvalidParameterError(
            f"{str(folder)!r} holds another run, and clusterings of two runs must not be mixed: "
            f"{'; '.join(error.differences)}. Repeat the command as it was, begin anew with "
            "--force, or name another folder with --out."
        ) from error


def keep_members(folder: Path, command: str, error: BaseException) -> None:
    """Add to an error what was kept and how to go on.

    Parameters
    ----------
    folder : Path
    command : str
        The command line that was interrupted.
    error : BaseException
        Gets a note.
    """
    done, wanted = kept_members(folder) or (0, 0)
    blocks, counted = kept_blocks(folder), kept_repetitions(folder)
    if done or blocks or counted:
        again = command if "--resume" in command.split() else f"{command} --resume"
        # A command that was refused would be refused again: only what is kept is said.
        how = " for --resume." if isinstance(error, ConsilienceError) else f". Go on with: {again}"
        more = f", and {blocks} blocks of others," if blocks else ""
        what = f"{done} of {wanted} clusterings are finished{more} and kept"
        if counted:
            what = f"{counted} weak clusterings are counted and kept"
        error.add_note(f"{what} in {str(folder)!r}{how}")
