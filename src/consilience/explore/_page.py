"""The page that shows a view: with its data inside, or asking a local server for them."""

import base64
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from consilience import __version__
from consilience._text import readable
from consilience.errors import InvalidInputError
from consilience.explore._make import view
from consilience.explore._sent import sent
from consilience.explore._view import View
from consilience.report._thin import thinned
from consilience.report.render import policy, static

__all__ = [
    "MOST_STATIC",
    "live_page",
    "live_policy",
    "report_data",
    "static_data",
    "static_page",
    "thin",
]

#: Objects of a page that holds its own data.
MOST_STATIC = 20_000
_COLUMN_BYTES, _MEMBER_BYTES = 6 << 20, 3 << 20
# A report is written with every run: of more objects a view takes seconds to make.
_MOST_IN_REPORT, _SHOWN_IN_REPORT = 50_000, 5000
_LIVE = "; connect-src 'self'; frame-ancestors 'none'"


def live_page(title: str) -> str:
    """The page of a server: it asks for its data, and for answers."""
    return _filled(title, live_policy().partition("; frame-ancestors")[0], "")


def live_policy() -> str:
    """What that page may do: run its own script, and ask its own server."""
    return policy(static("report.css"), static("report.js")) + _LIVE


def static_page(shown: View) -> str:
    """One page that needs nothing else; objects are thinned where they are many, and it says so."""
    data = (
        '<script type="application/octet-stream" id="consilience-view">'
        f"{static_data(shown)}</script>\n"
    )
    return _filled(shown.title, policy(static("report.css"), static("report.js")), data)


def static_data(shown: View, most: int = MOST_STATIC, *, share: float = 1.0) -> str:
    """A view in text, for a page; ``share`` of the room that columns and members usually have."""
    few = thin(shown, most)
    room = {"column_bytes": int(share * _COLUMN_BYTES), "member_bytes": int(share * _MEMBER_BYTES)}
    packed = sent(few, **room, live=False)
    return base64.b64encode(packed).decode("ascii")


def report_data(result: Any) -> str:
    """What a report can be explored by; nothing where there are very many objects."""
    if result.n_objects > _MOST_IN_REPORT:
        return ""
    try:
        return static_data(view(result), _SHOWN_IN_REPORT, share=0.25)
    except InvalidInputError:  # objects of a kernel that are no rows of numbers, for one
        return ""


def thin(shown: View, most: int = MOST_STATIC) -> View:
    """At most so many objects, a share of every group."""
    if shown.n_objects <= most:
        return shown
    return shown.take(thinned(shown.labels.astype("int64"), most))


@cache
def _template() -> str:
    return (files("consilience.explore") / "page.html").read_text(encoding="utf-8")


def _filled(title: str, rules: str, data: str) -> str:
    values = {
        "policy": escape(rules, quote=True),
        "version": escape(__version__),
        "title": escape(str(readable(title))),
        "style": static("report.css"),
        "data": data,
        "script": static("report.js"),
    }
    # One pass over the template alone: nothing that was filled in is looked at again.
    parts = _template().split("@")
    return "".join(values[part] if i % 2 else part for i, part in enumerate(parts))
