"""Files ``NAME.jsonl.gz`` of a folder of the user's: one JSON object a line."""

import gzip
import json
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from consilience._words import listed, shown
from consilience.datasets._files import CUT_SHORT, refusing_damage
from consilience.datasets._load import _VARIABLE, _home
from consilience.errors import InvalidInputError

_ENDING = ".jsonl.gz"


def read_json_lines(
    name: str, data_home: str | PathLike[str] | None, fields: Mapping[str, type]
) -> list[dict[str, Any]]:
    """Every line of ``NAME.jsonl.gz``, with the fields wanted and their types checked.

    Raises
    ------
    InvalidInputError
        If there is no folder, no such file, or a line without the fields; the message says
        which line and what to do.
    """
    if data_home is None and not os.environ.get(_VARIABLE):
        raise InvalidInputError(
            f"No data folder is known. Pass data_home, or set the environment variable {_VARIABLE} "
            f"to the folder that holds {name}{_ENDING}: one JSON object a line, with the fields "
            f"{listed(map(repr, fields))}."
        )
    home = _home(data_home)
    path = home / f"{name}{_ENDING}"
    if not path.is_file():
        there = sorted(file.name for file in home.glob(f"*{_ENDING}"))
        raise InvalidInputError(
            f"There is no file {path.name!r} in {str(home)!r}. "
            f"{'It holds ' + listed(there) if there else f'It holds no {_ENDING} files'}."
        )
    with (
        refusing_damage(path, (*CUT_SHORT, UnicodeDecodeError)),
        gzip.open(path, "rt", encoding="utf-8") as file,
    ):
        lines = [_checked(path, number, line, fields) for number, line in enumerate(file, 1)]
    if not lines:
        raise InvalidInputError(f"{path.name!r} is empty: it holds no lines.")
    return lines


def _checked(path: Path, number: int, line: str, fields: Mapping[str, type]) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        # Python reads no number of some thousand digits, and says so without a ``msg``.
        other = "it is nested too deeply" if deep else "a number of too many digits"
        raise InvalidInputError(
            f"{path.name!r} line {number} is not JSON: {getattr(error, 'msg', other)}. Write one "
            "object a line."
        ) from error
    if not isinstance(record, dict):
        raise InvalidInputError(
            f"{path.name!r} line {number} must be a JSON object. Got {shown(record)} instead."
        )
    for field, kind in fields.items():
        if not isinstance(record.get(field), kind):
            raise InvalidInputError(
                f"{path.name!r} line {number} must have a field {field!r} of type "
                f"{kind.__name__}. Got {shown(record.get(field))} instead."
            )
    return record
