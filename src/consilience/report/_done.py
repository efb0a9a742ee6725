"""What was done, as rows: what the caller says, what the result shows, and the versions."""

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn

from consilience import __version__

__all__ = ["done_rows"]


def done_rows(about: Mapping[str, str] | None, facts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Rows of the table of what was done; what the caller says wins over what we found.

    >>> done_rows({"seed": "0"}, {"Seed": "?", "Objects": "7"})[:2]
    [{'what': 'seed', 'value': '0'}, {'what': 'Objects', 'value': '7'}]
    """
    given = {str(what): str(value) for what, value in (about or {}).items()}
    known = {what.casefold() for what in given}
    versions = (
        f"consilience {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
    ours = {**facts, "Versions": versions}
    rows = given | {what: value for what, value in ours.items() if what.casefold() not in known}
    return [{"what": what, "value": value} for what, value in rows.items()]
