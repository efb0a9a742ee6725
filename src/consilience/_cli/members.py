"""Clusterings made for a job, kept in its folder one by one until the job is done."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError, InvalidParameterError
from consilience.generate import ResumeError, RunFolder

__all__ = ["clear_members", "keep_members", "make_members"]


def make_members(generator: Any, X: Any, folder: Path, *, resume: bool, force: bool) -> Ensemble:
    """The generator's ensemble; members are written to the folder as they are made.

    Parameters
    ----------
    generator : generator
    X : array of shape (n_objects, n_features)
    folder : Path
    resume : bool
        Take the members that an interrupted run left there, if it was the same run; also
        with ``force``, which then only says that older results may be replaced.
    force : bool
        Throw those away.
    """
    run = RunFolder(folder)
    if force and not resume:
        run.clear()
    try:
        return generator.generate(X, checkpoint=run)
    except ResumeError as error:
        if not error.differences:
            raise
        raise InvalidParameterError(
            f"{str(folder)!r} holds another run, and clusterings of two runs must not be mixed: "
            f"{'; '.join(error.differences)}. Repeat the command as it was, begin anew with "
            "--force, or name another folder with --out."
        ) from error
    except BaseException:
        # A plan alone is nothing to go on with; members are never removed because of an error.
        if run.is_bare():
            run.clear()
        raise


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
    run = RunFolder(folder)
    with suppress(ConsilienceError, OSError):
        done, wanted = len(run.finished), run.n_members
        if done:
            again = command if "--resume" in command.split() else f"{command} --resume"
            # A command that was refused would be refused again: only what is kept is said.
            how = (
                " for --resume."
                if isinstance(error, ConsilienceError)
                else f". Go on with: {again}"
            )
            error.add_note(
                f"{done} of {wanted} clusterings are finished and kept in {str(folder)!r}{how}"
            )


def clear_members(folder: Path) -> None:
    """Remove what was kept to go on with, now that the results are there."""
    with suppress(ResumeError):  # somebody else is reading it, and may have it
        RunFolder(folder).clear()
