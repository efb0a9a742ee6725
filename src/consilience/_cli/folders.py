"""Where results go, decided before any work is done; imports nothing that is slow."""

import json
import os
from pathlib import Path

from consilience.errors import InvalidParameterError

__all__ = ["AMBIGUOUS", "LABELS", "SCORES", "SUMMARY", "check_folder", "default_folder"]

LABELS, AMBIGUOUS, SCORES = "labels.csv", "ambiguous.csv", "scores.csv"
SUMMARY = "summary.json"


def default_folder(source: Path, job: str = "") -> Path:
    """Where a run on a file writes unless told otherwise: ``consilience-STEM`` right here.

    >>> str(default_folder(Path("there/cells.v2.csv.gz")))
    'consilience-cells.v2'
    """
    name = source.name.removesuffix(".gz")
    return Path(f"consilience-{job}{Path(name).stem or name}")


def check_folder(folder: Path, result: str = LABELS) -> None:
    """Raise, before any work is done, if a run could not write there or would destroy files.

    A result such as ``labels.csv`` without our ``summary.json`` beside it is somebody else's.
    """
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
    foreign = (folder / result).exists() and not _is_ours(folder / SUMMARY)
    if foreign or ((folder / SUMMARY).exists() and not _is_ours(folder / SUMMARY)):
        raise InvalidParameterError(
            f"{str(folder)!r} holds a {result} or {SUMMARY} that consilience did not write, and "
            "would replace. Name another folder with --out."
        )


def _is_ours(summary: Path) -> bool:
    try:
        return "consilience" in json.loads(summary.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False
