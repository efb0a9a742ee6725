"""Ensemble clustering: many weak clusterings in, one consensus you can trust out.

Names load on first use, so that ``import consilience`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Where each public name lives; what is not listed here is not public at the top.
_HOMES = {
    "EAC": "consilience.consensus",
    "Ensemble": "consilience.ensemble",
    "NOISE": "consilience.ensemble",
    "UNSEEN": "consilience.ensemble",
    "relabel": "consilience.ensemble",
}
_ROOMS = ("consensus", "datasets", "ensemble", "errors", "evidence", "generate", "metrics")

__all__ = [
    "EAC",
    "NOISE",
    "UNSEEN",
    "Ensemble",
    "__version__",
    "consensus",
    "datasets",
    "ensemble",
    "errors",
    "evidence",
    "generate",
    "metrics",
    "relabel",
]

if TYPE_CHECKING:
    from consilience import consensus, datasets, ensemble, errors, evidence, generate, metrics
    from consilience.consensus import EAC
    from consilience.ensemble import NOISE, UNSEEN, Ensemble, relabel


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"consilience.{name}")
    raise AttributeError(f"module 'consilience' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
