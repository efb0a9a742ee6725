"""Clusterings made for a job, kept in a folder one by one, so that nothing finished is lost."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError, InvalidParameterError
from consilience.generate import ResumeError, RunFolder
from consilience.generate.combined import takes_rows
from consilience.rows import Rows

__all__ = [
    "NewRun",
    "ResumeError",
    "RunFolder",
    "check_source",
    "clear_members",
    "keeping_something",
    "kept_blocks",
    "kept_members",
    "kept_repetitions",
    "make_members",
    "run_folder",
]


class NewRun(RunFolder):
    """A folder whose earlier run is thrown away as soon as the first member is about to be made.

    Not before: a job that is refused until then removes nothing.
    """

    @contextmanager
    def opened(self, *args: Any) -> Iterator[Any]:
        """See `RunFolder.opened`."""
        self.clear()
        with super().opened(*args) as session:
            yield session


def run_folder(run: Any, *, owner: str) -> RunFolder | None:
    """The folder that keeps the members, from what a user may give as ``run``."""
    if run is None or isinstance(run, RunFolder):
        return run
    if isinstance(run, str | PathLike):
        return RunFolder(run)
    raise InvalidParameterError(
        f"The 'run' parameter of {owner} must be a folder or None. Got {run!r} instead."
    )


def check_source(ensemble: Any, generator: Any, run: Any, *, owner: str) -> None:
    """Refuse what is there to make members where they are given."""
    for name, value in (("generator", generator), ("run", run)):
        if ensemble is not None and value is not None:
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} belongs to members that are to be made, and "
                "'ensemble' gives them. Give one of them."
            )


def make_members(generator: Any, rows: Rows | None, run: RunFolder | None) -> Ensemble:
    """The generator's ensemble; members are written to the folder as they are made.

    Parameters
    ----------
    generator : generator
    rows : Rows
    run : RunFolder or None
        Members that an interrupted run left there are taken, if it was the same run.
    """
    assert rows is not None  # a job without data has been refused
    # Anybody's generator that is not ours gets plain numbers.
    X = rows if takes_rows(generator) else rows.values
    if run is None:
        return generator.generate(X)
    with keeping_something(run):
        return generator.generate(X, checkpoint=run)


@contextmanager
def keeping_something(run: RunFolder | None) -> Iterator[None]:
    """Remove the plan of a run that ends with an error before anything of it was kept."""
    try:
        yield
    except ResumeError:
        raise
    except BaseException:
        # A plan alone is nothing to go on with; members are never removed because of an error.
        if run is not None and run.is_bare():
            run.clear()
        raise


def kept_blocks(folder: Path) -> int:
    """Blocks that are labelled by members that are not finished."""
    return RunFolder(folder).n_pieces


def kept_repetitions(folder: Path) -> int:
    """Weak clusterings whose scores are kept."""
    return RunFolder(folder).n_repetitions


def kept_members(folder: Path) -> tuple[int, int] | None:
    """Members that a folder holds, and how many it is to have; None without a run to read."""
    run = RunFolder(folder)
    with suppress(ConsilienceError, OSError):
        wanted = run.n_members
        return None if wanted is None else (len(run.finished), wanted)
    return None


def clear_members(folder: Path) -> None:
    """Remove what was kept to go on with, now that the results are there."""
    with suppress(ResumeError):  # somebody else is reading it, and may have it
        RunFolder(folder).clear()
