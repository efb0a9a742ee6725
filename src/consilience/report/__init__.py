"""The report: results summarised to a dictionary, and the dictionary drawn as one HTML page.

`summarise_consensus` and `summarise_minority` turn results into plain values (text, numbers,
lists) that say and show everything; `render` and `write_report` only draw what is in there. The
summaries load on first use: a page needs no clustering, and a summary no template engine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not on first use: the module has the name of its function, and importing it later from anywhere
# would put the module in the function's place. It is light; the template engine loads when used.
from consilience.report._private import without_objects
from consilience.report.render import render, write_report

__all__ = [
    "render",
    "summarise_consensus",
    "summarise_minority",
    "without_objects",
    "write_report",
]

_HOMES = {
    "summarise_consensus": "consilience.report.consensus",
    "summarise_minority": "consilience.report.minority",
}

if TYPE_CHECKING:
    from consilience.report.consensus import summarise_consensus
    from consilience.report.minority import summarise_minority


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'consilience.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
