"""A summary as one HTML page that needs nothing else: no network, no folder beside it.

The template writes what can be read without a script; the summary travels in the page as JSON,
and one ES module (built from ``frontend/``) draws the figures from it.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from consilience import __version__
from consilience._files import written_whole
from consilience._optional import optional
from consilience._text import readable
from consilience.errors import InvalidInputError

__all__ = ["render", "write_report"]

_KINDS = {"consensus": "Consensus clustering", "minority": "Small groups in the noise"}
_SCHEMA = 1
_KEYS = ("kind", "title", "headline", "done", "notes", "clusters", "objects", "sections")
_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<circle cx='5.5' cy='6' r='4' fill='#1b5478'/><circle cx='10.5' cy='6' r='4' fill='#d08117' "
    "fill-opacity='.85'/><circle cx='8' cy='10.5' r='4' fill='#028261' fill-opacity='.85'/></svg>"
)


def render(summary: Mapping[str, Any], *, view: str = "") -> str:
    """The HTML page of a summary.

    Parameters
    ----------
    summary : dict
        What `summarise_consensus` or `summarise_minority` returned: text, finite numbers, lists.
    view : str, default=""
        What the page can be explored by, as `consilience.explore.static_data` packs it.

    Returns
    -------
    str
        One page with its data, style and script inside. Its content security policy forbids it
        to ask anything of a network and to run any script but its own. Texts of the summary are
        shown as they are; none can become markup.

    Raises
    ------
    InvalidInputError
        If a part of the summary is missing, or a value cannot be written as JSON.
    MissingPackageError
        If jinja2 is not installed (extra ``report``).

    Examples
    --------
    >>> nothing = {"headline": [], "done": [], "notes": [], "clusters": [], "sections": []}
    >>> objects = {"total": 0, "shown": 0, "columns": []}
    >>> summary = {"schema": 1, "kind": "consensus", "title": "No objects", "objects": objects}
    >>> page = render(summary | nothing)
    >>> page.startswith("<!DOCTYPE html>"), "<h1>No objects</h1>" in page
    (True, True)
    """
    markup = optional("markupsafe", extra="report", what="render").Markup
    _check(summary)
    summary = readable(dict(summary))
    style, script = static("report.css"), static("report.js")
    return _template().render(
        summary=summary,
        version=__version__,
        kind=_KINDS[summary["kind"]],
        known={key: _any_known(summary, key) for key in ("confidence", "stability")},
        cluster_name=_namer(summary["kind"]),
        cluster_words=_cluster_words(summary),
        object_words=_object_words(summary),
        number=_number,
        percent=_percent,
        policy=policy(style, script),
        icon="data:image/svg+xml," + _ICON.replace("#", "%23"),
        style=markup(style),
        script=markup(script),
        data=markup(_json(summary)),
        view=markup(_checked_view(view)),
    )


def write_report(summary: Mapping[str, Any], path: str | Path, *, view: str = "") -> None:
    """Write the page of a summary to a file, whole or not at all.

    Parameters
    ----------
    summary : dict
        See `render`.
    path : str or path
        A file; one that is there is replaced.
    view : str, default=""
        See `render`.
    """
    page = render(summary, view=view)
    with written_whole(Path(path)) as partial:
        partial.write_bytes(page.encode("utf-8"))


def _check(summary: Mapping[str, Any]) -> None:
    """Refuse what is not a summary, in words rather than from inside the template."""
    if summary.get("schema") != _SCHEMA:
        raise InvalidInputError(
            f"The summary's 'schema' must be {_SCHEMA}. Got {summary.get('schema')!r} instead: "
            "it is no summary, or another version of consilience made it."
        )
    missing = [key for key in _KEYS if key not in summary]
    if missing:
        raise InvalidInputError(f"The summary has no {missing[0]!r}: it is not one of a report.")
    if summary["kind"] not in _KINDS:
        allowed = ", ".join(map(repr, _KINDS))
        raise InvalidInputError(
            f"The 'kind' of a summary must be one of {allowed}. Got {summary['kind']!r} instead."
        )


def _checked_view(view: str) -> str:
    """Only letters of base64: nothing in them can end an element."""
    if re.fullmatch(r"[A-Za-z0-9+/=]*", view) is None:
        raise InvalidInputError("The 'view' parameter of render must be text of base64.")
    return view


@cache
def static(name: str) -> str:
    """A built file of the front end."""
    return (files("consilience.report") / "static" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    jinja2 = optional("jinja2", extra="report", what="render")
    text = (files("consilience.report") / "template.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(text)


def _json(summary: Mapping[str, Any]) -> str:
    """The summary as JSON that may stand inside a script element.

    Without a single "<" no text can end the element or open a comment; other letters that some
    parsers take for line ends are escaped with everything that is not ASCII.
    """
    try:
        text = json.dumps(summary, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"The summary cannot be written as JSON: {error}.") from error
    return text.replace("<", "\\u003c")


def policy(style: str, script: str) -> str:
    """Nothing from outside, no script but ours: told by their hashes."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")

    return (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; "
        f"style-src 'sha256-{digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _any_known(summary: Mapping[str, Any], key: str) -> bool:
    return any(row.get(key) is not None for row in summary["clusters"])


def _namer(kind: str) -> Any:
    rest = "background" if kind == "minority" else "noise"
    return lambda cluster: rest if cluster < 0 else f"cluster {cluster}"


def _cluster_words(summary: Mapping[str, Any]) -> str:
    words = ["How many objects each cluster has."]
    if _any_known(summary, "confidence"):
        words.append(
            "Confidence is the mean over its objects: 1 is certain, 0.5 is torn, and below 0.5 "
            "another cluster would suit better."
        )
    if _any_known(summary, "stability"):
        words.append("Stability says how well the single clusterings agree on it: 1 is always.")
    return " ".join(words)


def _object_words(summary: Mapping[str, Any]) -> str:
    total, shown = summary["objects"]["total"], summary["objects"]["shown"]
    which = f"All {total:,} objects" if shown == total else f"{shown:,} of the {total:,} objects"
    return (
        f"{which}. Sort by a column's head, look for a name, show one cluster; the file you "
        "download holds the rows you see."
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(share: float) -> str:
    text = f"{100 * share:.1f}"
    return "< 0.1 %" if share > 0 and text == "0.0" else f"{text} %"
