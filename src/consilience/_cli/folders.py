"""Where results go, decided before any work is done; imports nothing that is slow."""

import json
import os
from difflib import get_close_matches
from pathlib import Path

from consilience.errors import InvalidParameterError

__all__ = [
    "AMBIGUOUS",
    "LABELS",
    "PLAN",
    "REPORT",
    "SCORES",
    "SUMMARY",
    "check_folder",
    "check_source",
    "check_writable",
    "default_folder",
]

LABELS, AMBIGUOUS, SCORES = "labels.csv", "ambiguous.csv", "scores.csv"
SUMMARY, REPORT = "summary.json", "report.html"
#: Of a run whose members are not all made, or not yet combined.
PLAN = "plan.json"


def default_folder(source: Path, job: str = "") -> Path:
    """Where a run on a file writes unless told otherwise: ``consilience-STEM`` right here.

    >>> str(default_folder(Path("there/cells.v2.csv.gz")))
    'consilience-cells.v2'
    """
    name = source.name.removesuffix(".gz")
    return Path(f"consilience-{job}{Path(name).stem or name}")


def check_folder(folder: Path, *results: str, force: bool = False, resume: bool = False) -> None:
    """Raise, before any work is done, if a run could not write there or would destroy files.

    Parameters
    ----------
    folder : Path
        It need not exist.
    results : str
        Names of the files the run writes, beside the summary and the report.
    force : bool, default=False
        Whether results of an earlier run of ours may be replaced. Files that consilience did
        not write are never replaced: those without our ``summary.json`` beside them.
    resume : bool, default=False
        Whether a run that was interrupted is gone on with; all results beside it are ours,
        because it would not have begun beside others.
    """
    check_writable(folder)
    if (folder / PLAN).exists():
        if not _is_ours(folder / PLAN, "consilience_run", if_empty=True):
            raise InvalidParameterError(
                f"{str(folder)!r} holds a {PLAN} that is damaged, or that consilience did not "
                "write. Remove it, or name another folder with --out."
            )
        if resume or force:
            return
        raise InvalidParameterError(
            f"{str(folder)!r} holds a run that was interrupted. Go on with it by --resume, begin "
            "anew with --force, or name another folder with --out."
        )
    there = [name for name in (*results, SUMMARY, REPORT) if (folder / name).exists()]
    if not there:
        return
    if not _is_ours(folder / SUMMARY, "consilience"):
        raise InvalidParameterError(
            f"{str(folder)!r} holds a {there[0]} that consilience did not write, and would "
            "replace. Name another folder with --out."
        )
    if not force:
        raise InvalidParameterError(
            f"{str(folder)!r} holds the results of a run that was finished. Replace them with "
            "--force, or name another folder with --out."
        )


def check_source(source: Path) -> None:
    """Raise if there is no such file, and name one that is spelt alike."""
    if source.exists():
        return
    there = [path.name for path in source.parent.iterdir()] if source.parent.is_dir() else []
    near = get_close_matches(source.name, there, n=1)
    hint = f" Did you mean {str(source.with_name(near[0]))!r}?" if near else ""
    raise InvalidParameterError(f"There is no file {str(source)!r}.{hint}")


def check_writable(folder: Path) -> None:
    """Raise if a folder, which need not exist, could not be written to."""
    if folder.exists() and not folder.is_dir():
        raise InvalidParameterError(
            f"{str(folder)!r} is a file, and the results need a folder. Name another with --out."
        )
    above = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InvalidParameterError(
            f"Results cannot be written to {str(folder)!r}: {str(above)!r} is not a folder you "
            "may write to. Name another with --out."
        )


def _is_ours(file: Path, key: str, *, if_empty: bool = False) -> bool:
    """Whether a JSON file holds a key of ours; ``if_empty`` where it holds nothing."""
    try:
        # A machine that lost power may leave zeros, or nothing.
        text = file.read_bytes().strip(b"\0")
        return key in json.loads(text) if text else if_empty
    except (OSError, ValueError, TypeError):
        return False
