"""The files a run leaves, all of them written whole or none at all."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from consilience._files import written_whole
from consilience._formulas import guarded
from consilience._text import readable

__all__ = ["as_json", "write_files", "write_table"]


def write_files(folder: Path, writers: Mapping[str, Callable[[Path], None]]) -> list[Path]:
    """Write several files into a folder so that all of them appear, or none.

    The folder is made if need be, and taken away again if it stays empty.
    """
    made = _make_folder(folder)
    try:
        with ExitStack() as stack:
            partial = {name: stack.enter_context(written_whole(folder / name)) for name in writers}
            for name, write in writers.items():
                write(partial[name])
    except BaseException:
        for parent in made:
            if not any(parent.iterdir()):
                parent.rmdir()
        raise
    return [folder / name for name in writers]


def write_table(path: Path, *, header: list[str], columns: Sequence[Any]) -> None:
    """Write columns as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        cells = (map(guarded, np.asarray(column).tolist()) for column in columns)
        writer.writerows(zip(*cells, strict=True))


def as_json(facts: Mapping[str, Any]) -> str:
    """Facts as indented JSON; numbers that are not finite are refused."""
    return json.dumps(readable(facts), indent=2, allow_nan=False, default=str) + "\n"


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder; those that were missing, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
