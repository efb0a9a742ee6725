"""Where results go, decided before any work is done; imports nothing that is slow."""

import json
import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from consilience.errors import InvalidParameterError

__all__ = [
    "AMBIGUOUS",
    "ANNOTATED",
    "LABELS",
    "MODEL",
    "PARTS",
    "PLAN",
    "PROFILE",
    "REPORT",
    "RESULTS",
    "SCORES",
    "SPIRALS",
    "SUMMARY",
    "TIMINGS",
    "check_folder",
    "check_keeps",
    "check_place",
    "check_source",
    "check_writable",
    "default_folder",
    "is_part",
]

LABELS, AMBIGUOUS, SCORES = "labels.csv", "ambiguous.csv", "scores.csv"
SUMMARY, REPORT = "summary.json", "report.html"
#: Where labels go in parts, where there are too many for one file.
PARTS = "labels"
#: What makes each cluster, as tables; beside the report.
PROFILE = (
    "profile-clusters.csv",
    "profile-columns.csv",
    "profile-differences.csv",
    "profile-objects.csv",
)
#: What places new objects: arrays and plain values.
MODEL = ("model.npz", "model.json")
#: A copy of annotated data with the clusters in it.
ANNOTATED = "annotated.h5ad"
SPIRALS = "spirals.csv"  # the data of the demonstration
#: The one file that differs between equal runs.
TIMINGS = "timings.json"
#: Of a run whose members are not all made, or not yet combined.
PLAN = "plan.json"

#: All files that a run may write.
RESULTS = (
    LABELS,
    AMBIGUOUS,
    SCORES,
    SPIRALS,
    *PROFILE,
    *MODEL,
    ANNOTATED,
    REPORT,
    TIMINGS,
    SUMMARY,
)
# Larger ones are not ours: a hundred thousand members need two megabytes.
_LARGEST = 64 << 20
_OURS_IN_PAGE = b'<meta name="generator" content="consilience '
_PART = re.compile(rf"{PARTS}/part-\d{{4,}}\.(parquet|npz)")
# Before summaries said what was written with them.
_BEFORE = {"cluster": LABELS, "ambiguous": AMBIGUOUS, "minority": SCORES}


def is_part(name: str) -> bool:
    """Whether a file of this name is one of several parts of the labels.

    >>> is_part("labels/part-0001.parquet"), is_part("labels/../part-0001.parquet")
    (True, False)
    """
    return _PART.fullmatch(name) is not None


def default_folder(source: Path, job: str = "") -> Path:
    """Where a run on a file writes unless told otherwise: ``consilience-STEM`` right here.

    Files of other kinds than CSV have their kind in it, so that none shares a folder.

    >>> str(default_folder(Path("there/cells.v2.csv.gz")))
    'consilience-cells.v2'
    >>> str(default_folder(Path("cells.parquet"), "minority-"))
    'consilience-minority-cells-parquet'
    """
    name = Path(source.name.removesuffix(".gz"))
    kind = name.suffix.lower().lstrip(".")
    return Path(f"consilience-{job}{name.stem or name}{'' if kind in ('', 'csv') else f'-{kind}'}")


def check_folder(folder: Path, *results: str, force: bool, resume: bool) -> tuple[str, ...]:
    """Raise, before any work is done, if a run could not write there or would destroy files.

    Parameters
    ----------
    folder : Path
        It need not exist.
    results : str
        Names of the files the run writes, beside the summary, the report and the timings.
    force : bool
        Whether results of an earlier run of ours may be replaced. Files that consilience did
        not write are never replaced: those that our ``summary.json`` beside them does not name.
    resume : bool
        Whether a run that was interrupted is gone on with; if there are results beside it, it
        was begun to replace them.

    Returns
    -------
    tuple of str
        Names of the files of an earlier run, which the new results replace.
    """
    check_writable(folder)
    interrupted = (folder / PLAN).exists()
    if interrupted and not _is_plan(folder / PLAN):
        raise InvalidParameterError(
            f"{str(folder)!r} holds a {PLAN} that is damaged, or that consilience did not "
            "write. Remove it, or name another folder with --out."
        )
    if interrupted and not (resume or force):
        raise InvalidParameterError(
            f"{str(folder)!r} holds a run that was interrupted. Go on with it by --resume, begin "
            "anew with --force, or name another folder with --out."
        )
    ours = _written_before(folder)
    there = [
        name for name in (*results, SUMMARY, REPORT, TIMINGS) if os.path.lexists(folder / name)
    ]
    foreign = [name for name in there if name not in ours or not (folder / name).is_file()]
    parts = folder / PARTS
    if os.path.lexists(parts):
        own = parts.is_dir() and not parts.is_symlink()
        if not own or any(f"{PARTS}/{path.name}" not in ours for path in parts.iterdir()):
            foreign.append(PARTS)
        there.append(PARTS)
    if foreign:
        raise InvalidParameterError(
            f"{str(folder)!r} holds a {foreign[0]} that consilience did not write, and would "
            "replace. Name another folder with --out."
        )
    if there and not (force or interrupted):
        raise InvalidParameterError(
            f"{str(folder)!r} holds the results of a run that was finished. Replace them with "
            "--force, or name another folder with --out."
        )
    return ours


def check_source(source: Path) -> None:
    """Raise if there is no such file, and name one that is spelt alike."""
    if source.exists():
        return
    there = [path.name for path in source.parent.iterdir()] if source.parent.is_dir() else []
    near = get_close_matches(source.name, there, n=1)
    hint = f" Did you mean {str(source.with_name(near[0]))!r}?" if near else ""
    raise InvalidParameterError(f"There is no file {str(source)!r}.{hint}")


def check_keeps(written: Iterable[Path], read: Iterable[Path], option: str) -> None:
    """Raise, whatever --force says, if a file that is read would be replaced by a result."""
    sources = [file for file in read if file.exists()]
    for target in written:
        same = [file for file in sources if target.exists() and target.samefile(file)]
        if same:
            raise InvalidParameterError(
                f"The results would replace {str(target)!r}, which this command reads. Name "
                f"another {option} with --out."
            )


def check_place(file: Path, option: str) -> None:
    """Raise, before any work is done, if there is no folder for a file that is to be written."""
    if not file.parent.is_dir():
        raise InvalidParameterError(
            f"{option} names {str(file)!r}, and there is no folder {str(file.parent)!r}. Make it, "
            "or name another file."
        )


def check_writable(folder: Path) -> None:
    """Raise if a folder, which need not exist, could not be written to."""
    if "\0" in str(folder):
        raise InvalidParameterError(
            f"{str(folder)!r} cannot be the name of a folder. Name another with --out."
        )
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


def _written_before(folder: Path) -> tuple[str, ...]:
    """Names of the result files in a folder that an earlier run wrote there."""
    try:
        facts = _facts(folder / SUMMARY)
        if isinstance(facts, dict) and "consilience" in facts:
            usual = [_BEFORE[facts["job"]], SUMMARY, REPORT] if facts.get("job") in _BEFORE else []
            named = facts.get("files", usual)
            parts = (name for name in named if isinstance(name, str) and is_part(name))
            return (*parts, *(name for name in RESULTS if name in named))
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    # Earlier versions could be killed between the report and its summary.
    return (REPORT,) if _is_our_page(folder / REPORT) else ()


def _is_plan(file: Path) -> bool:
    """Whether a plan is one of ours, or what a machine that lost power may leave of it."""
    try:
        facts = _facts(file)
        return facts is None or (isinstance(facts, dict) and "consilience_run" in facts)
    except (OSError, ValueError, RecursionError):
        return False


def _facts(file: Path) -> Any:
    """What a JSON file holds; None for one of zeros, or of nothing."""
    if file.stat().st_size > _LARGEST:
        raise ValueError("is too large")
    text = file.read_bytes().strip(b"\0")
    return json.loads(text) if text else None


def _is_our_page(file: Path) -> bool:
    try:
        with file.open("rb") as page:
            return _OURS_IN_PAGE in page.read(10_000)
    except OSError:
        return False
