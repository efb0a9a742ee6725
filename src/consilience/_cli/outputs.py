"""What the files of a run look like: tables and JSON."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from consilience._formulas import guarded
from consilience._text import readable

__all__ = ["as_json", "write_table"]


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
