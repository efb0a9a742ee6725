"""A summary without any object of its own: for people who may not pass their data on."""

from collections.abc import Mapping
from typing import Any

__all__ = ["without_objects"]

# Sections that draw objects one by one, and figures of others that do.
_OF_OBJECTS = ("objects", "co-association", "dendrogram", "scores")
_VALUES = ("Here", "Others")
_NOTE = (
    "This page holds no object: no table of objects, no map, no matrix, no names. Figures are of "
    "whole groups."
)


def without_objects(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The same summary with figures of groups only.

    Parameters
    ----------
    summary : dict
        See `consilience.report.render`.

    Returns
    -------
    dict
        Without the table of objects, without sections that show objects one by one, and of what
        makes each group only the effects: medians, rules and examples are values of objects.
    """
    sections = [_kept(one) for one in summary["sections"] if one["id"] not in _OF_OBJECTS]
    return {
        **summary,
        "objects": {**summary["objects"], "shown": 0, "columns": []},
        "sections": [one for one in sections if one is not None],
        "notes": [*summary["notes"], _NOTE],
    }


def _kept(section: Mapping[str, Any]) -> dict[str, Any] | None:
    """A section without what is said of single objects; None where nothing is left."""
    if section["id"] != "profile":
        return dict(section)
    # Medians, quartiles, rules and examples are values that objects have.
    figures = [_without_values(one) for one in section.get("figures", [section["figure"]])]
    shown = [one for one in figures if one is not None]
    plain = {name: value for name, value in section.items() if name != "figures"}
    return {**plain, "figure": None, "figures": shown} if shown else None


def _without_values(figure: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if figure is None or figure["kind"] == "cards":
        return None
    if figure["kind"] != "table":
        return dict(figure)
    if "Effect" not in figure["columns"]:
        return None
    places = [i for i, name in enumerate(figure["columns"]) if name not in _VALUES]
    return {
        **figure,
        "columns": [figure["columns"][i] for i in places],
        "rows": [[row[i] for i in places] for row in figure["rows"]],
    }
